"""What the output of a block stands on: data, or what the code says itself."""

import ast
import sys
import time
import unittest
from unittest import mock

from base import WorkerTest
from fake_host import Text


class EvidenceTest(WorkerTest):
    def setUp(self) -> None:
        super().setUp()
        self.start([Text("a.txt", "one two three\n" * 50, None, True)])

    def judged(self, code: str) -> tuple[bool, list[str]]:
        result = self.run_block(code)
        return result["touches_data"], result["typed"]

    def test_a_literal_stands_on_nothing(self) -> None:  # FLT-15
        for code, typed in (("print(100)", ["100"]), ("n = 100\nprint(n)", ["100"]),
                            ("print(f'The total is {42}')", ["The total is 42", "The total is", "42"]),
                            ("print(40 + 2)", ["42", "40", "2"]),
                            ("9**2 + 1", ["82", "81", "9", "2", "1"]),
                            ("print(-5)", ["-5"]),
                            ("FINAL(42)", ["42"]), ("answer['content'] = 'piano'", ["piano"]),
                            ("x = [1, 'b']\nprint(x)", ["1", "b"]), ("'the piano'", ["the piano"])):
            self.assertEqual(self.judged(code), (False, typed), code)

    def test_days_that_data_must_equal_or_begin_with(self) -> None:  # FLT-36
        self.start([Text("d.txt", "01.02.2025;8\n")])
        for code, days in (("d = '01.02.2025'\nprint(sum(r == d for r in doc))", ["01.02.2025"]),
                           ("print([r for r in doc if r.startswith('2025-02-01')])", ["2025-02-01"]),
                           ("print([r for r in doc if '2025-02-01' <= r < '2025-03-01'])", []),
                           ("print([r for r in doc if r.endswith('02.2025')])", [])):
            self.assertEqual(self.run_block(code)["days"], days, code)

    def test_what_code_makes_of_constants_alone_is_typed(self) -> None:  # FLT-15
        for code in ("print('13' + '43')", "import sys\nsys.stdout.write('1343')",
                     "import sys\nprint(1343, file=sys.stdout)", "print(int('0x53f', 16))",
                     "FINAL(int('1343'))", "print(chr(49) + '343')",
                     "print(''.join(chr(c) for c in (49, 51, 52, 51)))",
                     "print(''.join(map(chr, [49, 51, 52, 51])))", "print('3431'[::-1])",
                     "print('x1343'.strip('x'))", "print('1x43'.replace('x', '3'))",
                     "a, b = '13', '43'\nprint(f'{a}{b}')", "part = '13'\nprint(part + '43')",
                     "print('13', '43', sep='')", "print('', end='1343')", "print(1300 + 40 + 3)",
                     "print({'a': 1343}['a'])", "print('%s43' % 13)", "str(1343)",
                     "print(bytes.fromhex('31333433').decode())", "print(2 * 671 + True)",
                     "import json\nprint(json.loads('[1343]')[0])",
                     "parts = ['13', '43']\nprint(''.join(parts))",
                     "x = 0\nx += 1343\nprint(x)", "def g():\n    return 1343\nprint(g())",
                     "g = lambda: 1343\nFINAL(g())", "d = {}\nprint(d.get('k', 1343))",
                     "print(next(iter([]), 1343))", "print(max([], default=1343))"):
            for block in (code, "len(context)\n" + code):
                touches, typed = self.judged(block)
                self.assertEqual((touches, "1343" in typed), (block != code, True), block)

    def test_a_choice_that_data_make_between_constants_is_not_typed(self) -> None:
        for code in ("n = len(context)\nprint([1343, 0][n == 0])",
                     "print({True: 1343, False: 0}[len(context) > 1])"):
            self.assertEqual(self.judged(code), (True, []), code)

    def test_what_would_be_long_is_not_computed(self) -> None:
        from dossier_fold import Unknown, fold  # a session puts the worker on the path

        for code in ("9**9**9", "'%999999999d' % 1", "'a' * 10**12", "1 << 10**12", "pow(9, 10**9)",
                     "sum(range(10**15))", "'{:9999999999}'.format(1)", "'{:{}}'.format(1, 10**9)",
                     "f'{1:9999999999}'", "'a'.zfill(10**12)", "bytes(10**12)", "'a'" + "+'a'" * 900,
                     "len([a for a in range(1999) for b in range(1999)])"):
            with self.assertRaises(Unknown, msg=code):
                fold(ast.parse(code, mode="eval").body, {})

    def test_a_list_that_was_filled_from_data_is_data(self) -> None:
        for fill in ("found = []\nfor w in context.split(): found.append(w)",
                     "found = {}\nfor w in context.split(): found[w] = 1",
                     "import bisect\nfound = []\nfor w in context.split(): bisect.insort(found, w)"):
            self.assertEqual(self.judged(fill + "\nprint(len(found))"), (True, []), fill)
            self.assertEqual(self.judged("print(len(found), sorted(found)[0])"), (True, []), fill)

    def test_what_came_out_of_data_is_no_literal(self) -> None:  # FLT-15
        for code in ("print(len(context))", "n = context.count('one')\nprint(n)",
                     "print(sum(1 for line in context.splitlines() if len(line) > 3))",
                     "print('yes' if 'two' in context else 'no')",
                     "FINAL(doc.count('one'))", "best = max(['one', 'two'], key=context.count)\n"
                     "print(best)", "with open('a.txt') as f:\n    print(f.readline())"):
            self.assertEqual(self.judged(code), (True, []), code)

    def test_a_name_computed_from_data_carries_it_into_later_blocks(self) -> None:
        self.run_block("n = len(context)")
        self.assertEqual(self.judged("print(n + 1)"), (True, ["1"]))
        self.run_block("n = 3")
        self.assertEqual(self.judged("print(n)"), (False, ["3"]))

    def test_a_label_beside_a_value_is_typed_and_the_value_is_not(self) -> None:
        self.assertEqual(self.judged("print('Total:', len(context))"), (True, ["Total:"]))

    def test_what_code_read_is_told(self) -> None:  # FLT-12
        size = len("one two three\n" * 50)
        self.assertEqual(self.run_block("print(len(context))")["read"], [])
        for code, read in (("print(context[:5])", [[0, 0, 5]]), ("x = context[-3:]", [[0, size - 3, 3]]),
                           ("for i in range(0, 40, 10): context[i:i + 10].count('one')", [[0, 0, 40]]),
                           ("context[2:4]; context[10:12]", [[0, 2, 2], [0, 10, 2]]),
                           ("context = 'own'; context[:2]", []), ("context[5:2]", []),
                           ("for line in context.splitlines()[1:3]: print(line)", [[0, 14, 28]]),
                           ("print(context.splitlines())", [[0, 0, size]]),
                           ("FINAL(context[0])", [[0, 0, size]])):
            self.assertEqual(self.run_block(code)["read"], read, code)
        self.assertEqual(self.run_block("print(context.count('one'))")["read"], [[0, 0, size]])
        self.assertEqual(self.run_block("print(doc[0:5])")["read"], [[0, 0, 5]])
        self.assertEqual(self.run_block("for line in open('a.txt'): pass")["read"], [[0, 0, size]])

    def test_one_text_of_several_is_read_alone(self) -> None:  # FLT-12
        self.start([Text(f"{name}.txt", name * 9, None, True) for name in "abc"])
        self.assertEqual(self.run_block("print(context[1])")["read"], [[1, 0, 9]])
        self.assertEqual(len(self.run_block("print(context[1], context)")["read"]), 4)

    def test_another_name_for_the_text_reads_no_more_than_its_slices(self) -> None:  # FLT-12
        size = len("one two three\n" * 50)
        self.assertEqual(self.run_block("c = context\nprint(c[:5])")["read"], [[0, 0, 5]])
        self.assertEqual(self.run_block("print(c[3:7], len(c))")["read"], [[0, 3, 4]])
        self.assertEqual(self.run_block("print(c.count('one'))")["read"], [[0, 0, size]])
        self.assertEqual(self.run_block("c = 'own text'\nprint(c[:5])")["read"], [])

    def test_scattered_reads_stay_quick(self) -> None:  # FLT-12
        self.start([Text("a.txt", "x" * 10_000, None, True)])
        text = sys.modules["dossier_text"]  # the one of this session
        with mock.patch.object(text, "joined", wraps=text.joined) as joined:
            read = self.run_block("for i in range(0, 9_000, 3): doc[i:i+1]")["read"]
        self.assertEqual((len(read), joined.call_count), (1_000, 1))
        self.assertEqual(len(self.run_block("print(doc[:2], doc[5])")["read"]), 2)

    def test_a_file_counts_about_as_far_as_it_was_read(self) -> None:  # FLT-12
        self.start([Text("a.txt", "one two three\n" * 10_000, None, True)])
        (_, first, length), = self.run_block("print(open('a.txt').readline())")["read"]
        self.assertEqual((first, length <= 256), (0, True))
        (_, _, length), = self.run_block("for l in doc: print(l); break")["read"]
        self.assertLessEqual(length, 256)
        (_, _, length), = self.run_block("for l in open('a.txt'): pass")["read"]
        self.assertEqual(length, 140_000)

    def test_a_constant_that_a_branch_put_in_place_of_data_is_typed(self) -> None:  # FLT-15
        for code in ("try:\n    n = len(context['x'])\nexcept Exception:\n    n = 1343\nFINAL(n)",
                     "print(context and 1343)", "FINAL(max(1343, len(context)))",
                     "print(min(1343, 10 * len(context)))"):
            self.assertIn("1343", self.judged(code)[1], code)
        for code in ("try:\n    n = len(context)\nexcept Exception:\n    n = 1343\nFINAL(n)",
                     "print(max(0, -len(context)))",
                     "try:\n    n = len(context['x'])\nexcept Exception:\n    n = 0\nFINAL(n)"):
            self.assertEqual(self.judged(code)[1], [], code)

    def test_a_constant_that_a_function_returns_behind_except_is_typed(self) -> None:  # FLT-15
        code = ("def total():\n    try:\n        return sum(int(context[i]) for i in range(3))\n"
                "    except Exception:\n        {}\nprint(total())")
        for rescue in ("return 1343", "n = 1343\n        return n"):
            self.assertIn("1343", self.judged(code.format(rescue))[1], rescue)
        data = "def total():\n    n = len(context)\n    return n\nprint(total())"
        self.assertEqual(self.judged(data), (True, []))

    def test_a_name_that_a_loop_binds_too_is_no_constant(self) -> None:
        for code in ("n = 0\nfor c in context:\n    n += 1\nprint(n)",
                     "n = 7\nn = len(context)\nprint(n)"):
            self.assertEqual(self.judged(code), (True, []), code)

    def test_a_block_of_many_assignments_is_judged_in_proportion(self) -> None:  # EVL-91
        from dossier_code import Parsed  # a session puts the worker on the path
        from dossier_evidence import Evidence

        def seconds(count: int) -> float:
            parsed = Parsed("\n".join(f"v{number} = {number}" for number in range(count)), {})
            start = time.process_time()
            Evidence().judge(parsed)
            return time.process_time() - start

        few, many = (min(seconds(count) for _ in range(2)) for count in (1_000, 8_000))
        self.assertLess(many / few, 24)

    def test_a_search_that_finds_nothing_says_what_stands_there(self) -> None:  # FLT-36
        result = self.run_block("print(context.count('ONE'))")
        self.assertEqual(result["unmatched"], ["'ONE' stands nowhere in the text. 'one' does."])
        self.assertIn("'ONE' stands nowhere in the text. 'one' does.", result["notes"])
        again = self.run_block("FINAL(context.count('ONE'))")
        self.assertEqual(again["unmatched"], ["'ONE' stands nowhere in the text. 'one' does."])
        self.assertEqual(self.run_block("print(context.count('one'))")["unmatched"], [])


if __name__ == "__main__":
    unittest.main()
