"""What results leave out: parts of the rows, failures that are passed over, vacuous conditions."""

import json
import unittest

from base import WorkerTest
from fake_host import Text

ROWS = [{"id": i, "status": ("open", "Closed", "on hold")[i % 3], "amount": i * 5,
         "price": f"1,{i:03d}.50" if i % 10 == 0 else f"{i}.50", "fee": "" if i % 2 else str(i),
         "region": ("EU", "US")[i % 2], "name": f"N{i}"} for i in range(300)]
TEXT = "".join(json.dumps(row) + "\n" for row in ROWS)


class GapsTest(WorkerTest):
    def gaps(self, *blocks: str) -> list[str]:
        """Of the last of some blocks."""
        self.start([Text("t.ndjson", TEXT)])
        for code in blocks:
            result = self.run_block(code)
            self.assertIsNone(result["error"], (code, result["error"]))
        return [text for text, *_ in result["gaps"]]

    def check(self, cases: tuple, sentence: str) -> None:
        for case in cases:
            blocks = case if isinstance(case, tuple) else (case,)
            told = self.gaps(*blocks)
            with self.subTest(case):
                if sentence:
                    self.assertRegex(" ".join(told), sentence)
                else:
                    self.assertEqual(told, [])

    def test_a_last_row_that_was_looked_at_or_adds_up_the_others_may_be_left_out(self) -> None:
        self.check((
            ("print(records[-1])", "print(sum(r['amount'] for r in records[:-1]))"),
            ("print(records[-3:])", "rows = list(records)\nprint(sum(r['amount'] for r in rows[:-2]))"),
            "print(records[-1])\nprint(sum(r['amount'] for r in records[:-1]))",
        ), "")
        self.check((
            "print(sum(r['amount'] for r in records[:-1]))",
            ("print(records[-1])", "print(sum(r['amount'] for r in records[:-20]))"),
            ("print(records[0])", "print(sum(r['amount'] for r in records[1:]))"),
            ("print(records[0]['name'].split('N')[-1])", "print(sum(r['amount'] for r in records[:-1]))"),
        ), "Only ")
        total = {"name": "all", "amount": sum(row["amount"] for row in ROWS)}
        self.start([Text("t.ndjson", TEXT + json.dumps(total) + "\n")])
        for rows in ("records", "list(records)"):
            self.assertEqual(self.run_block(f"print(sum(r['amount'] for r in {rows}[:-1]))")["gaps"], [])

    def test_a_count_of_filled_cells_is_told_and_a_sum_of_them_is_not(self) -> None:  # FLT-36
        self.start([Text("t.ndjson", TEXT)])
        for code, told in (("print(sum(1 for r in records if r['amount']))", True),
                           ("print(len([r for r in records if r['amount'] is not None]))", True),
                           ("print(sum(r['amount'] for r in records))", False),
                           ("total = sum([r['amount'] for r in records])\nprint(total)", False),
                           ("print(sum(r['amount'] for r in records if r['region'] == 'EU'))", False)):
            notes = " ".join(self.run_block(code)["notes"])
            self.assertEqual("counts the rows that have a value" in notes, told, (code, notes))

    def test_siblings_of_known_slips(self) -> None:  # FLT-36
        cities = ("Oslo", "oslo", "OSLO ", "Rome")
        rows = [{"id": i, "city": cities[i % 4], "amount": f"1,{i:03d}" if i % 5 == 0 else i} for i in range(120)]
        wrong = {"print(sum('Oslo' in r['city'] for r in records))": "60 rows have it in another written form",
                 "print(sum(int(r['amount']) for r in records if str(r['amount']).isdigit()))": "24 rows have a amount like '1,000'"}
        right = ("print(sum('Rome' in r['city'] for r in records))", "print(sum('oslo' in r['city'].lower() for r in records))",
                 "print([r for r in records if 'Oslo' in r['city']][:2])", "print(sum(str(r['id']).isdigit() for r in records))",
                 "print(sum(int(r['id']) for r in records if str(r['id']).isdigit()))")
        self.start([Text("t.ndjson", "".join(json.dumps(row) + "\n" for row in rows))])
        for code in (*wrong, *right):
            self.runtime.reset_session([])
            told = " ".join(text for text, *_ in self.run_block(code)["gaps"])
            self.assertEqual(wrong.get(code, "") in told if code in wrong else told == "", True, (code, told))

    def test_a_part_of_all_is_a_part_however_it_is_cut(self) -> None:  # FLT-36
        self.check((
            "print(doc[:6000].count('open'))", "t = doc[0:6000]\nn = t.count('open')\nprint(n)",
            "print(context[:len(context) // 2].count('open'))",
            "print(sum(r['amount'] for r in records[:len(records) // 2]))",
            "rows = list(records)\nprint(sum(r['amount'] for r in rows[:int(len(rows) * 0.5)]))",
            "ch = list(doc.chunks(2000))\nprint(sum(str(x).count('open') for x in ch[:3]))",
            "ch = doc.chunks(2000)\nprint(sum(str(x).count('open') for x in ch[:3]))",
        ), "Only .* are in what the code works with")
        self.check((
            "print(doc[:6000])", "print(doc[:len(doc)].count('open'))",
            "print(context[:len(context) // 2].count('x') + context[len(context) // 2:].count('x'))",
            "ch = doc.chunks(2000)\nprint(sum(str(x).count('open') for x in ch[:len(ch)]))",
            "ch = doc.chunks(2000)\nprint(llm_query('q: ' + str(ch[:2][0])) and 1)",
            "part = doc[:6000]\nprint(sum(map(int, '12')))",
        ), "")
        self.start([Text(f"{i}.txt", f"note {i} of boats\n") for i in range(30)])
        told = self.run_block("print(sum('boats' in text for text in context[:5]))")["gaps"]
        self.assertRegex(told[0][0], "Only 5 of 30 documents")

    def test_marks_of_missing_values_hide_no_order_of_numbers_by_letters(self) -> None:
        self.check((
            "print(max(['98', '130', 'N/A', '7']))", "print(min(['98', '130', '-', '7']))",
            "print(max(str(r['id']) if r['id'] % 9 else 'n/a' for r in records))",
            "print(max(records, key=lambda r: r['fee'] or 'N/A')['name'])",
            "print(max(['98', '97', 'N/A']))",
        ), "letter by letter")
        self.check(("print(min(['10', '20', 'N/A']))", "print(max(['Anna', 'Bob', '12', '7', 'Cid']))",
                    "print(max(r['region'] for r in records))"), "")

    def test_a_negated_condition_that_every_row_meets_is_told(self) -> None:  # FLT-36
        self.check((
            "print(len([r for r in records if r['status'] != 'closed']))",
            "print(sum(r['status'] not in ('closed',) for r in records))",
            "print(sum(not r['status'] == 'closed' for r in records))",
            "print(sum(not r['status'].startswith('closed') for r in records))",
            "print(sum('closed' not in r['status'] for r in records))",
            "print(sum(r['status'].lower() != 'Closed' for r in records))",
            "print(len(records) - sum(r['status'] == 'closed' for r in records))",
            "n = 0\nfor r in records:\n    if r['status'] == 'closed':\n        continue\n    n += 1\nprint(n)",
            "n = 0\nfor r in records:\n    s = r['status']\n    if s != 'closed': n += 1\nprint(n)",
            "done = 'closed'\nprint(sum(r['status'] != done for r in records))",
            "print(sum(r.get('status') != 'closed' for r in records))",
            "print(sum((r['status'] or '').upper() != 'Closed' for r in records))",
            "print(sum(r.status != 'closed' for r in records))",
            "print(sum(r['status'] in ('open', 'on-hold') for r in records))",
            ("rows = [r for r in records if r['status'] != 'closed']", "print(len(rows))"),
            ("rows = [r for r in records if r['status'] != 'closed']",
             "total = sum(r['amount'] for r in rows)", "print(total / 7)"),
            "df = pd.DataFrame(records) if 0 else None\nimport pandas as pd\ndf = pd.DataFrame(records)\n"
            "print(len(df[df['status'] != 'closed']))",
            "import pandas as pd\ndf = pd.DataFrame(records)\nprint(len(df[~df['status'].isin(['closed'])]))",
        ), "Its values: .*'Closed' \\(100\\)")
        self.check(("print(sum(r['region'] != 'Europe' for r in records))",), "No row has region == 'Europe'")
        self.check(("print(sum('\"status\": \"closed\"' not in line for line in context.splitlines()))",),
                   "Closed")
        self.check(("print(sum(r['amount'] != '5' for r in records))",), "amount == '5'")

    def test_one_of_like_tables_is_a_part_by_its_name_too(self) -> None:  # FLT-36
        rows = "".join(json.dumps({"qty": i}) + "\n" for i in range(40))
        for code, told in (("print(sum(r['qty'] for r in contexts['jan.ndjson'].records))", True),
                           ("print(sum(r['qty'] for n in contexts for r in contexts[n].records))", False),
                           ("print(contexts['note.txt'].text.count('x'))", False)):
            self.start([Text("jan.ndjson", rows), Text("feb.ndjson", rows), Text("note.txt", "x y", None, True)])
            gaps = self.run_block(code)["gaps"]
            self.assertEqual([gap[2] for gap in gaps], [["jan.ndjson"]] if told else [], code)

    def test_a_condition_that_another_one_fits_for_is_not(self) -> None:
        self.check((
            "print(sum(r['status'] in ('Closed', 'closed', 'CLOSED') for r in records))",
            "print(sum(r['status'] == 'closed' or r['status'] == 'Closed' for r in records))",
            "print(sum(r['status'].lower() != 'closed' for r in records))",
            "print(sum(r['region'] not in ('', 'N/A', None) for r in records))",
            "rate = {'EU': 2}\nfor r in records:\n    if r['region'] == 'EU': x = 1\n    elif r['region'] == 'US':"
            " x = 2\n    elif r['region'] == 'ASIA': x = 3\nprint(x, len(records))",
            "print(sum(r['name'] != 'Miller' for r in records))",
            "print(sum(r['amount'] > 10000 or r['amount'] < 50 for r in records))",
            "rows = [dict(r, status=r['status'].lower()) for r in records]\n"
            "print(sum(r['status'] != 'closed' for r in rows))",
            "def kind(r): return 'closed' if r['status'] == 'Closed' else 'other'\n"
            "print(sum(kind(r) != 'closed' for r in records))",
            "import csv, io\nrows = list(csv.DictReader(io.StringIO('id,amount\\n1,5\\n')))\n"
            "print(sum(r['amount'] == '5' for r in rows), len(records))",
            ("print(sum(r['status'] != 'closed' for r in records))",
             "print(sum(r['status'] != 'Closed' for r in records))"),
            ("rows = list(records)\nprint(sum(r['status'] != 'closed' for r in rows))",
             "print(sum(r['status'] != 'Closed' for r in rows))"),
        ), "")

    def test_failures_that_the_code_passes_over_are_told_with_numbers(self) -> None:  # FLT-36
        for handler in (":\n        pass", " ValueError:\n        continue", " Exception as e:\n        x = 0"):
            code = "total = 0\nfor r in records:\n    try:\n        total += float(r['price'])\n" \
                   f"    except{handler}\nprint(total)"
            self.assertIn("In the `try` of line 3, 30 of 300 passes failed and the code passes over them "
                          "(ValueError: could not convert string to float: '1,000.50').",
                          self.gaps(code), code)
        self.check((
            "total = 0\nfor r in records:\n    try: total += r['amout']\n    except KeyError: pass\nprint(total + 1)",
            "def num(t):\n    try:\n        return float(t)\n    except ValueError:\n        return 0.0\n"
            "print(sum(num(r['price']) for r in records))",
            ("def num(t):\n    try:\n        return float(t)\n    except ValueError:\n        return None\n",
             "prices = [num(r['price']) for r in records]", "print(max(p for p in prices if p))"),
            "from contextlib import suppress\nt = 0\nfor r in records:\n    with suppress(ValueError):\n"
            "        t += float(r['price'])\nprint(t)",
            "t = 0\ntry:\n    for r in records:\n        t += float(r['price'])\nexcept ValueError:\n    pass\nprint(t + 1)",
        ), "passes failed")

    def test_missing_values_and_failures_that_are_dealt_with_are_none(self) -> None:
        self.check((
            "t = 0\nfor r in records:\n    try: t += float(r['fee'])\n    except ValueError: pass\nprint(t)",
            "t = 0\nfor r in records:\n    try: t += float(r['price'])\n    except ValueError: "
            "t += float(r['price'].replace(',', ''))\nprint(t)",
            "bad = []\nfor r in records:\n    try: float(r['price'])\n    except ValueError: bad.append(r['id'])\n"
            "print(len(bad))",
            "def num(t):\n    try: return int(t)\n    except ValueError: pass\n    try: return float(t)\n"
            "    except ValueError: pass\n    return float(t.replace(',', ''))\nprint(sum(num(r['price']) for r in records))",
            "def num(t):\n    for f in (float, lambda t: float(t.replace(',', ''))):\n        try:\n            return f(t)\n"
            "        except ValueError:\n            continue\nprint(sum(num(r['price']) for r in records))",
            "try:\n    import pandas_of_tomorrow\nexcept ImportError:\n    pandas_of_tomorrow = None\nprint(len(records))",
            ("t = 0\nfor r in records:\n    try: t += float(r['price'])\n    except ValueError: pass\nprint(t)",
             "t = 0\nfor r in records:\n    t += float(r['price'].replace(',', ''))\nprint(t)"),
        ), "")

    def test_a_result_of_a_part_of_the_rows_is_told(self) -> None:  # FLT-36
        self.check((
            "print(sum(r['amount'] for r in records[:100]))",
            "rows = list(records)[:100]\nprint(len([r for r in rows if r['amount'] > 5]))",
            ("rows = list(records)[:100]", "print(max(r['amount'] for r in rows))"),
            "import itertools\nprint(sum(r['amount'] for r in itertools.islice(records, 100)))",
            "import random\nprint(sum(r['amount'] for r in random.sample(list(records), 100)))",
            "lines = context.splitlines()\nprint(sum('open' in line for line in lines[:100]))",
            "n = 0\nfor i, r in enumerate(records):\n    if i >= 100: break\n    n += r['amount']\nprint(n)",
            "n = t = 0\nfor r in records:\n    t += r['amount']\n    n += 1\n    if n == 100:\n        break\nprint(t)",
            "print(Counter(r['status'] for r in records[::10]))",
            "N = 100\nprint(sum(r['amount'] for r in records[:N]))",
            "c = {}\nfor r in records[:100]:\n    c[r['status']] = c.get(r['status'], 0) + 1\nprint(c)",
            "import pandas as pd\ndf = pd.DataFrame(records[:100])\nprint(df['amount'].sum())",
            "print(sum(r['amount'] for r in records.head(100)))",
            "print(len(doc.grep('open', max=50)))", "hits = doc.grep('open', 50)\nprint(len(hits), hits.total)",
            "print(sum('open' in line for line in doc.lines(0, 100)))",
            "text = open('t.ndjson').read(5000)\nprint(text.count('open'))",
            "print(context[:5000].count('open'))", "print(len(re.findall('open', context[:5000])))",
            "part = context[:5000]\nprint(sum('open' in line for line in part.splitlines()))",
            "print(sum(r['amount'] for r in records[1:]))", "t = 0\nfor i in range(50): t += records[i]['amount']\nprint(t)",
            "print(sum(records[i]['amount'] for i in range(50)))",
            "rows = list(records)\nprint(sum(r['amount'] for r in rows[:-1]))",
            "t = i = 0\nwhile i < 50:\n    t += records[i]['amount']\n    i += 1\nprint(t)",
            "print(5 in [r['id'] for r in records[:10]], records[0] in records[:5])",
            "print(sum(r['amount'] for _, r in zip(range(50), records)))",
            "t = 0\nfor _, r in zip(range(50), records):\n    t += r['amount']\nprint(t)",
            "def f():\n    t = 0\n    for i, r in enumerate(records):\n        if i >= 50: return t\n"
            "        t += r['amount']\nprint(f())",
            "data = {'rows': [json.loads(l) for l in context.splitlines()]}\n"
            "print(sum(r['amount'] for r in data['rows'][:50]))",
            "def load(): return list(records)[:100]\nprint(sum(r['amount'] for r in load()))",
            ("def load():\n    return list(records)[:100]", "rows = load()", "print(sum(r['amount'] for r in rows))"),
            "def main():\n    t = 0\n    for r in records[:100]:\n        t += r['amount']\n    return t\nprint(main())",
            "with open('t.ndjson') as f:\n    lines = f.readlines()[:100]\nprint(sum('open' in l for l in lines))",
            "names = []\nfor r in records[:100]:\n    names.append(r['name'])\nprint(len(names))",
        ), "Only |does not go through")
        self.assertIn("Only 100 of 300 rows are in what the code works with: records[:100].",
                      self.gaps("print(sum(r['amount'] for r in records[:100]))"))

    def test_a_look_at_rows_and_what_is_whole_after_all_is_none(self) -> None:
        self.check((
            "print(sum(r['amount'] for r in records[:5]))\nFINAL(sum(r['amount'] for r in records))",
            "print(records[:5])", "for r in records[:5]: print(r)", "records[:3]",
            "print([r['name'] for r in records[:5]])", "print(records[0]['name'], records[-1])",
            "for i, r in enumerate(records):\n    if i == 3: break\n    print(r)",
            "for r in records:\n    if r['id'] == 77:\n        print(r['name'])\n        break",
            "print(next(r['name'] for r in records if r['id'] == 7))",
            "top = sorted(records, key=lambda r: -r['amount'])[:10]\nprint(sum(r['amount'] for r in top))",
            ("rows = sorted(records, key=lambda r: r['amount'])", "print(sum(r['amount'] for r in rows[:10]))"),
            "print(Counter(r['name'] for r in records).most_common()[:3])",
            "rows = [l.split(',') for l in context.splitlines()[1:]]\nprint(len(rows))",
            "print(sum(r['amount'] for r in records[:100]) + sum(r['amount'] for r in records[100:]))",
            ("n = sum(1 for r in records[:40])", "n += sum(1 for r in records[40:])\nprint(n)"),
            ("print(len([r for r in records[:40] if r['amount']]))", "print(len([r for r in records if r['amount']]))"),
            "print(Counter(r['name'][:2] for r in records))",
            "for i in range(0, len(records), 50):\n    part = records[i:i + 50]\n    print(sum(r['amount'] for r in part))",
            "print(sum(r['amount'] for r in records[:1000]))",
            "print(sum(1 for r in list(records) + list(records)[:100]))",
            "t = i = 0\nwhile i < 300:\n    t += records[i]['amount']\n    i += 1\nprint(t)",
            "print(sum(r['amount'] for _, r in zip(range(900), records)))",
            "for _, r in zip(range(5), records): print(r)",
            "def f(n):\n    for r in records:\n        if r['id'] == n: return r['name']\nprint(f(7))",
            "print([r['name'][:2] for r in records if r['region'][:1] == 'E'])",
            "rows = [0 for i in range(30)]\nprint([rows[i] for i in range(30) if rows[i]])",
            "for i in range(2):\n    part = records[i * 100:]\n    print(part[i]['name'])",
            "print(len(doc.grep('open')))", "print(doc.grep('open', max=5).total, doc.grep('on hold', max=3))",
            "print(doc.lines(0, 3))\nprint(sum('open' in line for line in doc.lines(0, 1000)))",
            "n = 0\nwith open('t.ndjson') as f:\n    while part := f.read(4096):\n        n += part.count('open')\nprint(n)",
            "print(re.findall(r'\"id\": (\\d+)', context[:1500])[0])", "print(re.search('Closed', context[:2000]).group(0))",
            "for line in context[:3000].splitlines():\n    if 'Closed' in line: print(line)",
            "for i, line in enumerate(open('t.ndjson')):\n    if i > 50: break\n    if 'N17' in line: print(line)",
            "lines = context.splitlines()\nprint(sum('open' in line for line in lines[5:]))",
            "print(context[:500])", "print(context[:2000].splitlines()[:3])",
            "best = records[0]\nfor r in records[1:]:\n    if r['amount'] > best['amount']: best = r\nprint(best['name'])",
            "print(max(b['amount'] - a['amount'] for a, b in zip(records, records[1:])))",
        ), "")


    def test_slips_that_raise_nothing_are_told(self) -> None:  # FLT-36
        self.check((
            "print(len([r for r in records if r['status'] == 'open' or 'on hold']))",
            "n = 0\nfor r in records:\n    if r['status'] == 'open' or 'on hold': n += 1\nprint(n)",
            "print(sum(r['status'] == 'open' or 'x' != '' and 'y' for r in records) if 0 else "
            "len([r for r in records if 'EU' and r['region'] == 'US']))",
        ), "stands in it alone")
        self.check(("print(sum({r['amount'] for r in records}))",), "in a set")
        self.check(("print(sum(r['status'] is not 'clos' + 'ed' or r['id'] is not 7 for r in records))",),
                   "one object")
        self.check((
            "print(sum(float(r['price']) for r in records if r['price'].replace('.', '', 1).isdigit()))",
            "t = 0\nfor r in records:\n    p = r['price']\n    if p.replace('.', '').isnumeric():\n        t += float(p)\n"
            "print(t)",
            "print(sum(r['price'] for r in records if isinstance(r['price'], (int, float))) + 1)",
        ), "takes for no number")
        self.check((
            "rows = (r for r in records if r['amount'] > 5)\nn = len(list(rows))\n"
            "print(n, sum(r['amount'] for r in rows))",
            "f = open('t.ndjson')\nn = sum(1 for _ in f)\nprint(n, sum('open' in line for line in f))",
            "rows = filter(None, records)\nfor s in ('EU', 'US'):\n    print(s, sum(r['region'] == s for r in rows))",
        ), "is an iterator")
        self.check((
            "print(max(str(r['amount']) for r in records))", "print(max(records, key=lambda r: r['fee'])['name'])"
            if 0 else "print(min((r['fee'] for r in records if r['fee']), key=lambda t: t))",
            "print(max([r['fee'] for r in records if r['fee']]))",
            "print(sum(r['fee'] > '100' for r in records))",
            "days = [f\"{r['id'] % 28 + 1}/12/2024\" for r in records]\nprint(max(days))",
        ), "letter by letter")

    def test_a_count_of_filled_fields_is_told_of_their_amounts(self) -> None:  # FLT-36
        rows = [{"id": i, "kind": "ab"[i % 2], "paid": i * 1.5 if i % 3 else "", "note": "x" if i % 5 else ""}
                for i in range(60)]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        for told, code in (
                (True, "print(sum(1 for r in records if r['kind'] == 'a' and r['paid'] != ''))"),
                (True, "n = 0\nfor r in records:\n    if r['kind'] == 'a' and r['paid']: n += 1\nprint(n)"),
                (True, "print(len([r for r in records if r.get('paid') is not None]))"),
                (False, "print(sum(r['paid'] for r in records if r['paid'] != ''))"),
                (False, "print(sum(1 for r in records if r['paid'] != '' and r['paid'] > 9))"),
                (False, "print(sum(1 for r in records if r['paid'] == ''))"),
                (False, "print(sum(1 for r in records if r['note'] != ''))"),
                (False, "print([r['id'] for r in records if r['paid'] != ''])")):
            self.start([Text("t.ndjson", text)])
            notes = " ".join(self.run_block(code)["notes"])
            with self.subTest(code):
                self.assertEqual("compute it from r['paid']" in notes, told, notes)

    def test_code_that_is_like_a_slip_and_is_none(self) -> None:
        self.check((
            "print(max(r['name'] for r in records))", "print(max(f'{r[\"id\"]:04d}' for r in records))",
            "print(max(r['amount'] for r in records), sum(r['name'] > 'N100' for r in records))",
            "rows = (r for r in records if r['amount'] > 5)\nprint(sum(r['amount'] for r in rows))",
            "with open('t.ndjson') as f:\n    n = sum(1 for _ in f)\nwith open('t.ndjson') as f:\n"
            "    print(n, sum('open' in line for line in f))",
            "f = open('t.ndjson')\nn = sum(1 for _ in f)\nf.seek(0)\nprint(n, len(f.read()))",
            "name = records[0]['name'] or 'nobody'\nprint(name, len(records))",
            "print(sum(int(r['fee']) for r in records if r['fee'].isdigit()))",
            "t = 0\nfor r in records:\n    if r['price'].isdigit(): t += 1\n    else: t += float(r['price'].replace(',', ''))\n"
            "print(t)",
            "print(sum(r['amount'] for r in records if isinstance(r['amount'], int)))",
            "print(len([r for r in records if r['status'] == 'open' or r['status'] == 'on hold']))",
            "print(sum(r['fee'] is not None for r in records))",
            "def stats(v): return sum(v) / max(1, len(v))\nprint(stats([r['amount'] for r in records]))",
        ), "")


if __name__ == "__main__":
    unittest.main()
