"""Tests that hold for some rows while others have the same value in another written form."""

import json
import unittest

from base import WorkerTest
from fake_host import Text

ROWS = [{"id": i, "status": ("Open", "Closed", "closed", "CLOSED ")[i % 4], "size": "1,000" if i % 15 == 0 else "1000",
         "pay": "on-hold" if i % 12 == 1 else "on hold" if i % 4 == 1 else "paid",
         "city": ("Zürich", "Bern", "Zurich")[i % 3], "plan": "Pro." if i % 20 == 0 else "Pro",
         "tags": ["red"] if i % 3 else ["Red"], "sku": f"AB{'-' * (i % 2)}{i % 5}",
         "text": f"{i} asks a Refund" if i % 7 == 0 else f"{i} wants refund" if i % 7 == 1 else f"{i} came",
         "mail": f"an e-mail {i}" if i % 9 == 0 else f"an email {i}" if i % 9 == 1 else f"phoned {i}",
         "kind": ("apple", "pear")[i % 2], "element": ("Co", "CO2", "C")[i % 3], "version": f"1.{i}",
         "word": "Polish and polish" if i % 2 else "polish only", "level": ("INFO", "ERROR")[i % 2]} for i in range(120)]
LOG = "".join(f"{i} {('error', 'Error', 'info')[i % 3]}: disk re{'-' * (i % 2)}mounted, no error\n"
              if i % 5 == 0 else f"{i} {('error', 'Error', 'info')[i % 3]}: disk\n" for i in range(300))


class FormsTest(WorkerTest):
    def check(self, cases: tuple, sentence: str, log: bool = False) -> None:
        for code in cases:
            self.start([Text("log.txt", LOG, plain=True) if log else
                        Text("t.ndjson", "".join(json.dumps(row) + "\n" for row in ROWS))])
            result = self.run_block(code)
            with self.subTest(code):
                self.assertIsNone(result["error"])
                told = " ".join(text for text, *_ in result["gaps"])
                self.assertRegex(told, sentence or "^$")
                self.assertEqual(result["unmatched"], [])

    def test_other_forms_of_a_value_of_a_field_are_told(self) -> None:  # FLT-36
        self.check((
            "print(sum(r['status'] == 'Closed' for r in records))",
            "print(sum(r['status'] != 'Closed' for r in records))",
            "print(len([r for r in records if r.get('status') in ('Closed',)]))",
            "want = 'Closed'\nrows = [r for r in records if r.status == want]\nprint(sum(r['id'] for r in rows))",
            "print(sum(r['status'].startswith('Clo') for r in records))",
            "print(sum(bool(re.fullmatch('Closed', r['status'])) for r in records))",
            "c = Counter(r['status'] for r in records)\nprint(c['Closed'])",
            "by = {}\nfor r in records: by.setdefault(r['status'], []).append(r['id'])\nprint(sum(by['Closed']))",
            "import pandas as pd\ndf = pd.DataFrame(records)\nprint(len(df[df['status'] == 'Closed']))",
        ), r"60 rows have it in another written form than status .* looks for: "
           r"'closed' \(30\), 'CLOSED ' \(30\)")
        self.check((
            "print(sum(r['pay'] == 'on hold' for r in records))", "print(sum(r['city'] == 'Zürich' for r in records))",
            "print(sum(r['city'] == 'Zurich' for r in records))", "print(sum(r['plan'] == 'Pro' for r in records))",
            "print(sum(r['size'] == '1000' for r in records))",
            "print(len([r for r in records if 'red' in r['tags']]))",
            "print(sum(r['sku'] == 'AB-1' for r in records))",
        ), "another written form")

    def test_other_forms_of_a_word_are_told_where_it_is_counted(self) -> None:  # FLT-36
        self.check((
            "print(sum('refund' in r['text'] for r in records))", "print(sum(r['text'].count('refund') for r in records))",
            "print(f\"{len([r for r in records if re.search(r'refund', r['text'])])} ask\")",
            "print(sum('email' in r['mail'] for r in records))",
            "p = re.compile(r'\\bemail\\b')\nprint(sum(1 for r in records if p.search(r['mail'])))",
            "import pandas as pd\ndf = pd.DataFrame(records)\nprint(df['text'].str.contains('refund').sum())",
        ), "another written form")
        self.check((
            "print(sum('error' in line for line in context.splitlines()))", "print(context.count('error'))",
            "print(len(re.findall('error', context)))", "print(len(doc.grep('error')))",
            "lines = context.splitlines()\nprint(len([x for x in lines if 'remounted' in x]))",
        ), "another written form", log=True)

    def test_a_block_that_counts_the_other_forms_too_leaves_none_out(self) -> None:  # FLT-36
        self.check(("print(sum(r['status'] == 'Closed' for r in records), "
                    "sum(r['status'].strip().lower() == 'closed' for r in records))",), "")

    def test_code_that_takes_all_forms_or_only_looks_is_left_alone(self) -> None:
        self.check((
            "print(sum(r['status'].strip().lower() == 'closed' for r in records))",
            "print(sum(r['status'] in ('Closed', 'closed', 'CLOSED ') for r in records))",
            "def norm(s): return s.strip().title()\nprint(sum(norm(r['status']) == 'Closed' for r in records))",
            "c = Counter(r['status'].strip().lower() for r in records)\nprint(c['closed'])",
            "print(sum(r['kind'] == 'apple' for r in records), sum(r['version'] == '1.1' for r in records))",
            "print(sum(r['element'] == 'Co' for r in records), sum('Polish' in r['word'] for r in records))",
            "print(sum(r['level'] == 'ERROR' for r in records))",
            "print(sum('refund' in r['text'].lower() for r in records))",
            "print(sum(bool(re.search('[Rr]efund', r['text'])) for r in records))",
            "print(sum(bool(re.search('refund', r['text'], re.I)) for r in records))",
            "print(sum(float(r['size'].replace(',', '')) == 1000 for r in records))",
            "for r in records:\n    if 'refund' in r['text']: print(r['text'])",
        ), "")
        self.check((
            "print(context.lower().count('error'))", "print([x for x in context.splitlines() if 'error' in x][0])",
            "print(doc.grep('error', max=2))", "print(len(re.findall('re-?mounted', context)))",
            "print(sum('disk' in line for line in context.splitlines()))",
            "print(len(doc.grep('error', ignore_case=True)))",
        ), "", log=True)


if __name__ == "__main__":
    unittest.main()
