"""Values that are there and that code passes over, or of which it drops the point."""

import json
import unittest

from base import WorkerTest
from fake_host import Text

ROWS = [{"id": i, "price": f"USD {i}.50" if i % 10 == 0 else f"{i}.50", "qty": str(i) if i % 6 == 0 else i,
         "weight": f"about {i} kg" if i % 8 == 0 else str(i), "code": f"A{i}" if i % 2 else str(i),
         "day": ("2024/03/%02d" if i % 10 == 0 else "2024-03-%02d") % (i % 28 + 1),
         "cur": ("EUR", "USD", "GBP")[i % 3], "ratio": i + 0.5, "cents": f"{i}.50",
         "fee": "" if i % 2 else str(i), "note": "n/a" if i % 4 == 0 else str(i), "name": f"N{i}",
         "who": None if i % 10 == 0 else f"P{i}", **({"Total": i} if i % 10 == 0 else {"total": i})}
        for i in range(120)]
LOOP = "t = 0\nfor r in records:\n    try:\n        t += {}\n    except {}\nprint(t)"
LINES = "rows = [json.loads(line) for line in context.splitlines()]\n"


class LossesTest(WorkerTest):
    texts = [("t.ndjson", "".join(json.dumps(row) + "\n" for row in ROWS))]

    def check(self, cases: tuple, sentence: str) -> None:
        for code in cases:
            self.start([Text(*text) for text in self.texts])
            result = self.run_block(code)
            with self.subTest(code):
                self.assertIsNone(result["error"])
                told = " ".join(text for text, *_ in result["gaps"])
                self.assertRegex(told, sentence or "^$")

    def test_a_value_that_is_there_may_not_be_passed_over(self) -> None:  # FLT-36
        self.check((
            LOOP.format("float(r['price'])", "ValueError: continue"),
            LOOP.format("float(r['weight'])", "ValueError: pass"),
            LOOP.format("r['qty'] + 1", "TypeError: continue"),
            LOOP.format("r.qty", "(TypeError, KeyError): t += 0"),
            LOOP.format("len(str(r['id'])) + len(r['qty'].strip())", "AttributeError: continue"),
            LINES + "t = 0\nfor r in rows:\n    try: t += r['total']\n    except KeyError: continue\nprint(t)",
            "rates = {'EUR': 1, 'USD': 0.9}\n" + LOOP.format("r['id'] * rates[r['cur']]", "KeyError: pass"),
            "from datetime import datetime\n"
            + LOOP.format("datetime.strptime(r['day'], '%Y-%m-%d').day", "ValueError: pass"),
            "v = []\nfor r in records:\n    try: v.append(float(r['price']))\n    except ValueError: v.append(0)\n"
            "print(sum(v) / len(v))",
            "v, bad = [], 0\nfor r in records:\n    try: v.append(float(r['price']))\n"
            "    except ValueError: bad += 1\nprint(sum(v))",
            "v = {}\nfor r in records:\n    try: v[r['id']] = float(r['price'])\n"
            "    except ValueError: v[r['id']] = float('nan')\nprint(sum(x for x in v.values() if x == x))",
            "import contextlib\nt = 0\nfor r in records:\n    with contextlib.suppress(ValueError, TypeError):\n"
            "        t += float(r['weight'])\nprint(t)",
            "n = 0\nfor line in (context + '{\"id\": 3\\n').splitlines():\n    try: n += json.loads(line)['id'] > 1\n"
            "    except ValueError: pass\nprint(n)",
        ), "passes failed")
        self.check(("import pandas as pd\ndf = pd.DataFrame(records)\n"
                    "print(pd.to_numeric(df['price'], errors='coerce').sum())",),
                   "makes nothing of 12 of 120 values")

    def test_a_value_that_is_missing_may_be(self) -> None:
        self.check((
            LOOP.format("float(r['fee'])", "ValueError: continue"),
            LOOP.format("float(r['note'])", "ValueError: pass"),
            LOOP.format("int(r['code'])", "ValueError: pass"),
            LOOP.format("len(r['who'])", "TypeError: continue"),
            LOOP.format("len(r['who'].strip())", "AttributeError: t += 0"),
            LOOP.format("float(r['price'])", "ValueError: t += float(r['price'].split()[-1])"),
            "t, bad = 0, 0\nfor r in records:\n    try: t += float(r['price'])\n    except ValueError: bad += 1\n"
            "print(t, bad)",
            "c = {}\nfor r in records:\n    try: c[r['name']] += 1\n    except KeyError: c[r['name']] = 1\nprint(len(c))",
            "c = {}\nfor r in records:\n    try: c[r['cur']]\n    except KeyError: c[r['cur']] = 0\n"
            "    c[r['cur']] += 1\nprint(c)",
            "names = {r['id']: r['name'] for r in records if r['id'] != 3}\n"
            + LOOP.format("len(names[r['id']])", "KeyError: continue"),
            "n = 0\nfor line in (context + '\\n\\n').split('\\n'):\n    try: n += json.loads(line)['id'] > 1\n"
            "    except ValueError: continue\nprint(n)",
            "t = 0\nfor word in 'one 2 three four five six'.split():\n    try: t += int(word)\n"
            "    except ValueError: pass\nprint(t, len(records))",
        ), "")

    def test_the_point_of_a_decimal_number_is_not_dropped(self) -> None:  # FLT-36
        self.check((
            "print(sum(float(str(r['ratio']).replace('.', '')) for r in records))",
            "print(sum(float(r['cents'].replace('.', '').replace(',', '.')) for r in records))",
            "def num(x):\n    s = str(x).replace('.', '').replace(',', '.')\n    return float(s)\n"
            "print(sum(num(r['ratio']) for r in records))",
            "print(sum(float(re.sub(r'[^0-9]', '', str(r['ratio']))) for r in records))",
            "print(sum(int(''.join(c for c in str(r['ratio']) if c.isdigit())) for r in records))",
        ), "The point of a decimal number is lost: '0.50?' is read as 050?")
        self.check((
            "print(sum(float(r['cents'].replace('.', '')) for r in records) / 100)",
            "print(sum(str(r['ratio']).replace('.', '', 1).isdigit() for r in records))",
            "print(sum(int(str(r['id']).replace('.', '')) for r in records))",
            "print(sum(float(t.replace('.', '').replace(',', '.')) for t in ['1.234,50', '2.000']), len(records))",
            "print(max(r['name'].replace('.', '') for r in records))",
            "print(sum(int(re.sub(r'\\D', '', t)) for t in ['+49 12', '12.03.2024']), len(records))",
        ), "")


if __name__ == "__main__":
    unittest.main()
