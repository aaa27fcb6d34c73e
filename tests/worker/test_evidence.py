"""What the output of a block stands on: data, or what the code says itself."""

import unittest

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
                            ("print(f'The total is {42}')", ["The total is", "42"]),
                            ("print(40 + 2)", ["42", "40", "2"]),
                            ("9**9 + 1", ["9", "1"]),  # never computed beside the block
                            ("print(-5)", ["-5"]),
                            ("FINAL(42)", ["42"]), ("answer['content'] = 'piano'", ["piano"]),
                            ("x = [1, 'b']\nprint(x)", ["1", "b"]), ("'the piano'", ["the piano"])):
            self.assertEqual(self.judged(code), (False, typed), code)

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
                           ("FINAL(context[0])", [[0, 0, size]])):
            self.assertEqual(self.run_block(code)["read"], read, code)
        self.assertEqual(self.run_block("print(context.count('one'))")["read"], [[0, 0, size]])
        self.assertEqual(self.run_block("print(doc[0:5])")["read"], [[0, 0, 5]])
        self.assertEqual(self.run_block("for line in open('a.txt'): pass")["read"], [[0, 0, size]])

    def test_a_search_that_finds_nothing_says_what_stands_there(self) -> None:  # FLT-36
        result = self.run_block("print(context.count('ONE'))")
        self.assertEqual(result["unmatched"], ["'ONE' stands nowhere in the text. 'one' does."])
        self.assertIn("'ONE' stands nowhere in the text. 'one' does.", result["notes"])
        again = self.run_block("FINAL(context.count('ONE'))")
        self.assertEqual(again["unmatched"], ["'ONE' stands nowhere in the text. 'one' does."])
        self.assertEqual(self.run_block("print(context.count('one'))")["unmatched"], [])


if __name__ == "__main__":
    unittest.main()
