"""Why code found nothing: constants that fit nothing in the data, in whatever form they stand."""

import json
import unittest

from base import WorkerTest
from fake_host import Text

ROWS = [{"id": i, "status": ("Open", "Closed", "Pending")[i % 3], "amount": i * 5,
         "tags": ["alpha", "beta"], "user": {"city": "Oslo"}} for i in range(300)]


class ReasonsTest(WorkerTest):
    def setUp(self) -> None:
        super().setUp()
        self.start([Text("t.ndjson", "".join(json.dumps(row) + "\n" for row in ROWS))])

    def test_a_constant_that_stands_nowhere_is_named_in_whatever_form_it_is_sought(self) -> None:
        for code in ("len([r for r in records if r['status'] == 'open'])",
                     "Counter(r['status'] for r in records)['open']",
                     "Counter(r['status'] for r in records).get('open', 0)",
                     "c = Counter(r['status'] for r in records)\nc['open']",
                     "[r['status'] for r in records].count('open')",
                     "want = 'open'\nsum(r['status'] == want for r in records)",
                     "sum(r['status'].startswith('open') for r in records)",
                     "sum(bool(re.search('open', r['status'])) for r in records)",
                     "sum(bool(re.search(r'\\bopen\\b', r['status'])) for r in records)",
                     "sum(bool(re.compile('o' + 'pen').match(r['status'])) for r in records)",
                     "d = {}\nfor r in records: d.setdefault(r['status'], []).append(r)\n"
                     "len(d.get('open', []))",
                     "n = 0\nfor r in records:\n    match r['status']:\n        case 'open': n += 1\n"
                     "print(n)",
                     "len([1 for r in records if not r['status'] != 'open'])",
                     "sum(r['status'] in ('open', 'OPEN') for r in records)",
                     "def f(r): return r['status'] == 'open'\nsum(map(f, records))",
                     "def f(s): return sum(r['status'] == s for r in records)\nf('open')",
                     "sum(json.loads(line)['status'] == 'open' for line in open('t.ndjson'))",
                     "doc.count('open')", "doc.grep('open')", "len(doc.grep('\"open\"'))",
                     "max([r['amount'] for r in records if r['status'] == 'open'], default=0)",
                     "x = [r['amount'] for r in records if r['status'] == 'open']\n"
                     "min(x) if x else None",
                     "for s in ('open', 'closed'): print(s, sum(r['status'] == s for r in records))",
                     "counts = {'open': 0}\nfor r in records:\n    if r['status'] in counts: "
                     "counts[r['status']] += 1\nprint(counts)"):
            self.start([Text("t.ndjson", self.host.texts[0].text)])
            result = self.run_block(code)
            self.assertIsNone(result["error"], code)
            told = " ".join(result["unmatched"])
            self.assertRegex(told, "'\"?open", code)
            self.assertRegex(told, "'\"?Open", code)
            self.assertIn(result["unmatched"][0], result["notes"], code)

    def test_an_item_of_a_list_is_no_part_of_a_text(self) -> None:
        result = self.run_block("sum('a' in r['tags'] for r in records)")
        self.assertIn("No row has 'a' in tags. Its values: 'alpha' (300), 'beta' (300).",
                      result["unmatched"])

    def test_the_values_of_the_field_are_told_where_it_is_known(self) -> None:
        result = self.run_block("Counter(r['status'] for r in records)['open']")
        self.assertEqual(result["unmatched"], [
            "'open' stands nowhere in the text. 'Open' does. status: 'Open' (100), 'Closed' (100), "
            "'Pending' (100)."])

    def test_what_no_other_form_would_find_is_proved(self) -> None:  # FLT-36
        for code, proved in (
                ("print(doc.count('lighthouse'))", True), ("print(doc.grep('lighthouse'))", True),
                ("print(sum('lighthouse' in line for line in doc))", True),
                ("print(doc.count('OSLO'))", False), ("print(doc.count('pen ding'))", False),
                ("print(doc.count('Clósed'))", False),
                ("print(sum(r['amount'] < 0 for r in records))", True),
                ("print(sum(r['amount'] == 7777 for r in records))", True),
                ("print(sum(r['amount'] == '25' for r in records))", False),
                ("print(sum(r['amount'] is None or r['amount'] == '' for r in records))", True),
                ("print(sum(r['status'] == '' for r in records))", True),
                ("print(len(records) - len({r['id'] for r in records}))", True),
                ("print(sum(r['status'] == 'Lost' for r in records))", False),
                ("print(sum(r['status'] in ('Lost', 'Gone') for r in records), "
                 "Counter(r['status'] for r in records))", True),
                ("print(sum(r['status'] == 'Open' and r['amount'] < 0 for r in records))", False)):
            self.start([Text("t.ndjson", self.host.texts[0].text)])
            result = self.run_block(code)
            with self.subTest(code):
                shows = "Counter" in code
                self.assertEqual(result["proves_nothing"], proved and not shows)
                self.assertEqual([result["unmatched"], [text for text, *_ in result["gaps"]]] == [[], []],
                                 proved or "amount'] < 0" in code, result)

    def test_a_condition_is_settled_where_all_values_are_shown_later(self) -> None:  # FLT-36
        result = self.run_block("print(sum(r['status'] == 'Lost' for r in records))")
        self.assertEqual(len(result["unmatched"]), 1)
        later = self.run_block("print(Counter(r['status'] for r in records))")
        self.assertEqual(later["settled"], result["unmatched"])
        handed = self.run_block("c = Counter(r['status'] for r in records)\nprint(c)\nFINAL(c['Gone'])")
        self.assertEqual((handed["unmatched"], handed["gaps"]), ([], []))

    def test_a_number_beyond_all_values_is_told_and_proves_the_zero(self) -> None:  # FLT-36
        result = self.run_block("sum(r['amount'] > 1_000_000_000 for r in records)")
        self.assertIn("Its values go from", result["notes"][0])
        self.assertEqual(result["unmatched"], [])
        result = self.run_block("sum(r['amount'] > 1_000_000_000 and r['status'] == 'open' for r in records)")
        self.assertEqual(len(result["unmatched"]), 1)
        self.assertIn("'open'", result["unmatched"][0])

    def test_a_zero_is_proved_where_all_values_were_shown(self) -> None:
        shown = "c = Counter(r['status'] for r in records)\nprint(c)"
        for code in ("print(c['cancelled'])", "print(sum(r['status'] == 'cancelled' for r in records))",
                     "print('cancelled:', c.get('cancelled', 0))",
                     "print(len(records) - sum(r['status'] != 'cancelled' for r in records), 5)"):
            self.start([Text("t.ndjson", self.host.texts[0].text)])
            self.run_block("from collections import Counter\n" + shown)
            result = self.run_block(code)
            self.assertEqual((result["unmatched"], result["gaps"]), ([], []), code)
        for code in ("print(c['open'])", "print(sum(r['status'] == 'Pendin' for r in records))"):
            self.assertEqual(len(self.run_block(code)["unmatched"]), 1, code)

    def test_a_part_of_the_rows_proves_no_range(self) -> None:
        result = self.run_block("print(sum(r['id'] for r in records), sum(r['amount'] > 10000 for r in records))")
        self.assertEqual((result["unmatched"], result["notes"]), ([], []))

    def test_a_search_in_either_case_finds_the_other_one(self) -> None:
        result = self.run_block("import pandas as pd\ndf = pd.DataFrame(records)\n"
                                "print(df['status'].str.contains('OPEN', case=False).sum())")
        self.assertEqual((self.host.output, result["unmatched"], result["gaps"]), ("100\n", [], []))

    def join(self, code: str, key: object, looked: object) -> dict:
        people = "".join(json.dumps({"id": key, "name": f"n{i}"}) + "\n" for i in range(30))
        orders = "".join(json.dumps({"who": looked, "total": i}) + "\n" for i in range(30))
        self.start([Text("people.ndjson", people), Text("orders.ndjson", orders)])
        result = self.run_block("people, orders = contexts['people.ndjson'].records, "
                                "contexts['orders.ndjson'].records\n" + code)
        self.assertIsNone(result["error"], code)
        return result

    def test_fields_that_would_meet_if_they_were_written_alike_are_told(self) -> None:
        by_get = ("names = {p['id']: p['name'] for p in people}\n"
                  "print(sum(o['total'] for o in orders if names.get(o['who']) == 'n29'))")
        codes = (by_get, "ids = set(p['id'] for p in people)\nprint(sum(o['who'] in ids for o in orders))",
                 "ids = {p['id'] for p in people}\nprint(len([o for o in orders if o['who'] not in ids]))",
                 "print(sum(p['id'] == o['who'] for p in people for o in orders))",
                 "d = {}\nfor p in people: d[p['id']] = p\nn = 0\nfor o in orders:\n    who = o['who']\n"
                 "    if who in d: n += 1\nprint(n)",
                 "d = {}\nfor p in people: d.setdefault(p['id'], []).append(p)\n"
                 "print(sum(len(d.get(o['who'], [])) for o in orders))")
        for code in codes:
            for key, looked in ((7, "7"), ("001", "1"), ("Anna", "Anna "), ("ANNA", "anna")):
                result = self.join(code, key, looked)
                told = [text for text in result["unmatched"] if "if they were written alike" in text]
                self.assertEqual(len(told), 1, (code, key, result))
                self.assertIn(told[0], result["notes"], code)
                self.assertIn(told[0], [text for text, *_ in result["gaps"]], code)
            for key, looked in ((7, 7), ("Anna", "Bob")):
                self.assertEqual(self.join(code, key, looked)["gaps"], [], (code, key))
        reason = self.join(by_get, 7, "7")["unmatched"][:1]
        result = self.run_block("print(sum(names.get(int(o['who'])) == 'n29' for o in orders))")
        self.assertEqual((self.host.output, result["settled"][:1]), ("30\n", reason))

    def test_what_is_no_search_in_data_is_not_named(self) -> None:
        for code in ("print('none found', 0)", "print(f'{0:5d}')", "0 if 'x'.join([]) else 0",
                     "stats = {'hits': 0}\nstats['hits'] += 0 * len(records)\nprint(stats['hits'])",
                     "len([r for r in records if r['status'].lower() == 'open' and r['amount'] < 0 "
                     "* 5])", "print(context.split('§')[0][:0])",
                     "state = 'start'\nn = 0\nfor r in records[:3]:\n    if state == 'begin': n += 1\n"
                     "    state = 'start'\nprint(n)",
                     "sum(type(r['id']).__name__ == 'complex' for r in records)",
                     "sum(r['status'] in ('open', 'Open') and r['amount'] > 1490 for r in records)",
                     "n = 0\nfor r in records[:2]:\n"
                     "    if llm_query('Say sehr-gut or mies: ' + str(r)) == 'sehr-gut': n += 1\n"
                     "print(n)",
                     "import json\nreply = json.loads('{\"verdict\": 0}') if llm_query('hm') else {}\n"
                     "print(reply['verdict'])",
                     "m = map_llm(records[:2], labels=['lob', 'Open'], field='status')\n"
                     "m.counts['lob']"):
            self.start([Text("t.ndjson", self.host.texts[0].text)])
            result = self.run_block(code)
            self.assertIsNone(result["error"], code)
            named = [text for text in result["unmatched"] if "amount" not in text]
            self.assertEqual(named, [], code)

    def test_dressed_zeros_say_nothing(self) -> None:
        filtered = "x = [r for r in records if r['status'] == 'open']\n"
        for shown in ("f'{len(x)} of {len(records)} tickets are open'",
                      "'No ticket is open.' if not x else x[0]", "f'{100 * len(x) / 300:.2f} %'",
                      "f'The average is {0.0 * len(x):.2f}'", "{'open': len(x), 'closed': 0}",
                      "[len(x), 0]", "print(len(x), 'open tickets')", "[x, x]", "'Out of 300: ' + '0'"):
            self.start([Text("t.ndjson", self.host.texts[0].text)])
            result = self.run_block(filtered + shown)
            self.assertIn("'Open' (100)", " ".join(result["notes"]), shown)

    def test_a_reason_is_settled_by_a_block_that_finds_something_on_the_same_condition(self) -> None:
        reason = self.run_block("sum(r['status'] == 'open' for r in records)")["unmatched"]
        self.assertEqual(len(reason), 1)
        self.assertEqual(self.run_block("print(records[0])")["settled"], [])
        self.assertEqual(self.run_block("sum(r['amount'] > 5 for r in records)")["settled"], [])
        result = self.run_block("sum(r['status'] == 'Open' for r in records)")
        self.assertEqual(result["settled"], reason)

    def test_names_of_the_language_are_no_data(self) -> None:  # FLT-36
        for code in ("r = records[0]\nprint([x for x in dir(r) if not x.startswith('_')])",
                     "for x in vars(str):\n    if x[:1] != '_': print(x)"):
            self.assertEqual(self.run_block(code)["unmatched"], [], code)
        self.assertNotEqual(self.run_block("print([r for r in records if r['status'].startswith('zq')])")["unmatched"],
                            [])

    def test_a_pattern_is_looked_up_by_the_texts_that_it_requires(self) -> None:
        from dossier_seek import required

        for pattern, texts in (("open", [("open",)]), (r"^\s*open\b", [("open",)]),
                               ("[Oo]pen", [("pen",)]), ("(?i)open", []), ("open|closed", [("open", "closed")]),
                               ("(open)+x?", [("open",)]), ("(", []), ("a.*bc", [("bc",)])):
            self.assertEqual(list(required(pattern)), texts, pattern)

    def test_a_search_for_a_misspelt_text_proves_nothing(self) -> None:  # FLT-36
        filling = "The wind blew over the empty fields and nobody came by that day.\n" * 40
        self.start([Text("note.txt", filling + "The access number of the vault is 739205.\n" + filling)])
        for code, other in (("print(doc.grep('acces number'))", "access number"),
                            ("print(context.count('Acces Number'))", "access number"),
                            ("print([x for x in context.splitlines() if 'numbr of' in x])", "number of")):
            with self.subTest(code):
                self.start([Text("note.txt", filling + "The access number of the vault is 739205.\n" + filling)])
                result = self.run_block(code)
                self.assertIn(f"{other!r} does.", " ".join(result["unmatched"]))
                self.assertFalse(result["proves_nothing"])
        for code in ("print(doc.grep('lighthouse'))", "print(context.count('telephone'))", "print(doc.grep('empty harbour'))",
                     "print('keeper' in context)", "print(context.count('house'))", "print(doc.grep('PIN code'))"):
            with self.subTest(code):
                self.start([Text("note.txt", filling + "The access number of the vault is 739205.\n" + filling)])
                self.assertEqual(self.run_block(code)["unmatched"], [])

    def test_what_there_was_no_time_to_look_for_is_not_named(self) -> None:
        import dossier_reasons  # a session puts the worker on the path

        before, dossier_reasons._SECONDS = dossier_reasons._SECONDS, -1
        try:
            self.assertEqual(self.run_block("doc.count('zzzz')")["unmatched"], [])
        finally:
            dossier_reasons._SECONDS = before
        self.assertEqual(list(self.run_block("doc.count('zzzz')")["notes"]), ["'zzzz' stands nowhere in the text."])


if __name__ == "__main__":
    unittest.main()
