import json
import unittest

from base import WorkerTest
from fake_host import Text


class AnswersTest(WorkerTest):
    def test_each_form_hands_over_its_value(self) -> None:  # REC-25, 26, 27, REC-A6
        cases = [("FINAL(0)", "final", "0"), ("FINAL('')", "final", ""),
                 ("FINAL(False)", "final", "False"), ("FINAL('a', 3)", "final", "a 3"),
                 ("FINAL(llm_query('x'))", "final", "reply"),
                 ("FINAL([1, 2])", "final", "[1, 2]"),
                 ("FINAL_VAR(12)", "final_var", "12"),
                 ("total = 5\nFINAL_VAR('total')", "final_var", "5"),
                 ("FINAL_VAR('the text itself')", "final_var", "the text itself"),
                 ("PARTIAL('half')", "partial", "half"),
                 ("SUBMIT('s')", "submit", "s"), ("SUBMIT(answer='s')", "submit", "s"),
                 ("v = 'w'\nSUBMIT(variable='v')", "submit", "w"),
                 ("answer['content'] = 'c'\nanswer['ready'] = True", "answer_dict", "c"),
                 ("answer['ready'] = True\nanswer['content'] = 7", "answer_dict", "7"),
                 ("answer.update(content=[1], ready=True)", "answer_dict", "[1]"),
                 ("answer = {'content': 'r', 'ready': True}", "answer_dict", "r"),
                 ("answer['content'] = 'inner'\nFINAL(answer)", "final", "inner"),
                 ("answer['content'] = 'e'\nanswer['ready'] = True\n1/0", "answer_dict", "e")]
        for code, form, text in cases:
            self.start([Text("a.txt", "x", None, True)])
            answer = self.answer(code)
            self.assertEqual((answer["form"], answer["text"]), (form, text), code)

    def test_values_that_are_json_go_along(self) -> None:  # SBX-94
        self.assertEqual(self.answer("FINAL({'a': (1, 2)})")["value"], {"a": [1, 2]})
        for code in ("FINAL(2**63 - 1)", "FINAL(2**64 - 1)", "FINAL(-2**63)"):
            self.assertFalse(self.answer(code)["numbers_as_text"], code)
        for code in ("FINAL({1: 2})", "FINAL({1, 2})", "FINAL([{2**70}])"):
            self.assertNotIn("value", self.answer(code), code)

    def test_numbers_that_json_cannot_hold_are_texts_in_the_value(self) -> None:  # REC-26
        for code, value in (("FINAL(float('nan'))", "nan"), ("FINAL(2**70)", str(2**70)), ("FINAL(2**64)", str(2**64)), ("FINAL(-2**63 - 1)", str(-2**63 - 1)),
                            ("FINAL([1, {'a': float('inf')}, True])", [1, {"a": "inf"}, True])):
            handed = self.answer(code)
            self.assertEqual((handed["value"], handed["numbers_as_text"]), (value, True), code)
        self.assertEqual(self.answer("FINAL(2**70)")["text"], str(2**70))

    def test_a_schema_is_held_against_all_digits(self) -> None:  # REC-64
        self.start([Text("a.txt", "x", None, True)], schema={"type": "array"})
        self.assertEqual(self.answer("FINAL([2**70, float('inf')])")["text"], f'[{2**70}, "inf"]')

    def test_a_value_too_large_to_go_along_is_json_for_a_schema(self) -> None:  # REC-64
        self.start([Text("a.txt", "x", None, True)], schema={"type": "array"})
        code = "x = [{'i': i, 't': 'é' * 100} for i in range(60_000)]\n"
        for form in ("FINAL_VAR('x')", "FINAL(x)", "SUBMIT(x)"):
            handed = self.answer(code + form)
            self.assertNotIn("value", handed, form)
            self.assertEqual(len(json.loads(handed["text"])), 60_000, form)
            self.assertIn("é", handed["text"][:100], form)

    def test_the_first_call_stands_if_code_swallows_the_stop(self) -> None:  # REC-26
        swallow = "try:\n    FINAL('first')\nexcept BaseException:\n    pass\n"
        for rest in ("FINAL('second')", "PARTIAL('second')", "x = 1", "1/0", "SUBMIT('second')"):
            self.assertEqual(self.answer(swallow + rest)["text"], "first", rest)
        self.assertEqual(self.answer("try:\n    FINAL('e')\nexcept Exception:\n    pass\n"
                                     "FINAL('no')")["text"], "e")

    def test_a_ready_dict_comes_first_unless_it_is_empty(self) -> None:  # REC-28
        ready = "answer['ready'] = True\n"
        self.assertEqual(self.answer(ready + "answer['content'] = 'd'\nFINAL('f')")["text"], "d")
        self.assertEqual(self.answer("answer['content'] = ''\n" + ready + "FINAL('f')")["text"],
                         "f")

    def test_none_is_no_answer(self) -> None:  # REC-26
        self.assertIn("FINAL(None) is not an answer", self.error("FINAL(None)")["message"])
        self.assertIn("needs the answer", self.error("FINAL()")["message"])

    def test_an_unknown_variable_names_the_nearest(self) -> None:  # REC-27
        self.run_block("total_size = 1")
        message = self.error("FINAL_VAR('totalsize')")["message"]
        self.assertIn("'totalsize'; nearest: total_size", message)

    def test_nothing_leaks_into_the_next_block(self) -> None:  # REC-26, stale ready of REC-A6
        self.answer("answer['content'] = 'c'\nanswer['ready'] = True")
        result = self.run_block("print(1)")
        self.assertEqual((result["status"], result["answer"], result["draft"]), ("ok", None, "c"))
        self.answer("FINAL(1)")
        self.assertIsNone(self.run_block("print(2)")["answer"])

    def test_a_thread_of_an_earlier_block_answers_nothing(self) -> None:  # REC-26
        self.run_block("import threading\ngo = threading.Event()\n"
                       "def late():\n    go.wait()\n    FINAL('late')\n"
                       "t = threading.Thread(target=late)\nt.start()")
        self.assertIsNone(self.run_block("go.set()\nt.join()")["answer"])

    def test_a_thread_of_this_block_answers(self) -> None:
        self.assertEqual(self.answer("import threading\n"
                                     "t = threading.Thread(target=FINAL, args=(4,))\n"
                                     "t.start()\nt.join()")["text"], "4")
        self.assertEqual(self.host.errors, "")

    def test_the_draft_is_what_stands_in_answer(self) -> None:  # REC-60
        self.assertEqual(self.run_block("answer['content'] = 'so far'")["draft"], "so far")
        self.assertEqual(self.run_block("answer = 41")["draft"], "41")
        self.assertEqual(self.answer("answer['content'] = 2\nanswer['ready'] = True")["text"], "2")

    def test_a_value_without_text_is_said(self) -> None:
        result = self.run_block("class C:\n    def __str__(self):\n        1 / 0\n"
                                "answer.update(content=C(), ready=True)")
        self.assertEqual(result["status"], "ok")
        self.assertIn("could not be read: ZeroDivisionError", result["notes"][0])

    def test_submit_fills_the_schema(self) -> None:  # REC-64
        self.start([Text("a.txt", "x", None, True)],
                   schema={"properties": {"name": {}, "age": {}}})
        for code in ("SUBMIT('a', 3)", "SUBMIT('a', age=3)", "SUBMIT({'name': 'a', 'age': 3})"):
            answer = self.answer(code)
            self.assertEqual(answer["value"], {"name": "a", "age": 3}, code)
            self.assertEqual(answer["text"], '{"name": "a", "age": 3}')
        self.assertIn("takes 2 fields", self.error("SUBMIT(1, 2, 3)")["message"])


if __name__ == "__main__":
    unittest.main()
