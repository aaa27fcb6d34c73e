import unittest

from base import WorkerTest
from fake_host import Text


class HistoryTest(WorkerTest):
    def test_moved_messages_are_read_when_named(self) -> None:  # REC-63
        self.start([Text("a.txt", "x", None, True)])
        self.host.history = ["[output of turn 1]\none", "[reply of turn 2]\ntwo ü"]
        self.assertNotIn("history", self.host.methods())
        for code, output in [("len(history)", "2"), ("history[-1]", "[reply of turn 2]\ntwo ü"),
                             ("history[0:1]", "['[output of turn 1]\\none']"),
                             ("[text[-3:] for text in history]", "['one', 'o ü']"),
                             ("'two' in history[1]", "True"), ("bool(history)", "True")]:
            self.assertEqual(self.printed(f"print({code})"), output + "\n", code)

    def test_without_any_it_is_empty(self) -> None:  # REC-63
        self.start([Text("a.txt", "x", None, True)])
        self.assertEqual(self.printed("print(len(history), list(history), bool(history))"),
                         "0 [] False\n")

    def test_a_place_that_is_not_there_is_named(self) -> None:  # REC-63
        self.start([Text("a.txt", "x", None, True)])
        error = self.error("history[3]")
        self.assertEqual(error["type"], "IndexError")
        self.assertIn("history holds 0 messages; there is no history[3]", error["message"])


if __name__ == "__main__":
    unittest.main()
