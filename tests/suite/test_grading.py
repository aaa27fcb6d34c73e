import unittest

import grading
import questions
from grading import Question


def right(answer: str, *wanted, text: str = "How many?", **more) -> bool:
    return grading.is_right(answer, Question("table", (), text, wanted, **more))


def outcome(answer: str, code: int, run: str = "r", status: str = "", **more) -> str:
    question = Question("prose", (), "How many?", (7,), **more)
    row = {"answer": answer, "exit": code, "run": run, "status": status}
    return grading.outcome(row, question)


class NumbersTest(unittest.TestCase):
    def test_thousands_may_be_grouped(self):
        for answer in ("1234567", "1,234,567", "1.234.567 Euro", "1 234 567", "It is 1'234'567.",
                       "一共1234567米"):
            self.assertTrue(right(answer, 1234567), answer)
        self.assertTrue(right("Es sind 7.714.", 7714))

    def test_numbers_are_exact(self):
        for answer in ("41", "420", "42.5", "-42", "4 2", "B42", "about 40", "4.2"):
            self.assertFalse(right(answer, 42), answer)
        self.assertTrue(right("42", 42))
        self.assertTrue(right("**42**", 42))
        self.assertTrue(right("There are 42.0 of them", 42))

    def test_a_list_of_numbers_is_no_answer(self):
        self.assertFalse(right("41 or 42", 42))
        self.assertFalse(right("{'a': 42, 'b': 17}", 42))
        self.assertTrue(right("42 of 300", 42, also=(300,)))
        self.assertFalse(right("300 of 42", 42, also=(300,)))

    def test_a_number_of_the_question_may_come_back(self):
        self.assertTrue(right("In 2025 there were 42.", 42, text="How many in 2025?"))
        self.assertFalse(right("2025", 42, text="How many in 2025?"))
        self.assertTrue(right("6", 6, text="How many of the 6 are new?"))

    def test_small_numbers_may_be_words(self):
        self.assertTrue(right("Six files contain it.", 6))
        self.assertFalse(right("Seven files contain it.", 6))
        for answer in ("0", "zero", "None of them.", "There are no such rows."):
            self.assertTrue(right(answer, 0), answer)
        self.assertFalse(right("I do not know.", 0))

    def test_averages_are_rounded(self):
        self.assertTrue(right("11.30", 11.2987))
        self.assertTrue(right("11,3", 11.2987))
        self.assertFalse(right("11", 11.2987))
        self.assertFalse(right("11.4", 11.2987))


class NamesTest(unittest.TestCase):
    def test_names_are_words(self):
        self.assertTrue(right("R. Adeyemi", "R. Adeyemi"))
        self.assertFalse(right("helm", "elm"))
        self.assertTrue(right("是船长沈望舒。", "沈望舒"))

    def test_rivals(self):
        self.assertTrue(right("Morlaix, before Cancale", "Morlaix", rivals=("Cancale", "Paimpol")))
        self.assertFalse(right("Cancale, then Morlaix", "Morlaix", rivals=("Cancale", "Paimpol")))
        self.assertFalse(right("Morlaix, Cancale, Paimpol", "Morlaix", rivals=("Cancale", "Paimpol")))

    def test_a_count_beside_a_name_must_be_the_true_one(self):
        self.assertTrue(right("6a with 31", "6a", also=(31,)))
        self.assertFalse(right("6a with 30", "6a", also=(31,)))
        self.assertFalse(right("Kaub, 612", "Maxau", 612))
        self.assertFalse(right("Maxau", "Maxau", 612))
        self.assertTrue(right("612 cm at Maxau", "Maxau", 612))


class OutcomeTest(unittest.TestCase):
    def test_exit_code_flags(self):
        self.assertEqual(outcome("7", 0), "right")
        self.assertEqual(outcome("7", 13), "right but flagged")
        self.assertEqual(outcome("8", 0), "confidently wrong")
        self.assertEqual(outcome("8", 13), "wrong and flagged")
        self.assertEqual(outcome("", 1), "no answer")
        self.assertEqual(outcome("", 3, run=""), "failed")

    def test_what_is_not_in_the_text(self):
        for answer, code in (("", 1), ("8", 13), ("The text does not mention the cost.", 0),
                             ("No such information.", 0), ("It doesn't say.", 0), ("None", 0),
                             ("No price is given.", 0), ("El texto no indica el color.", 0), ("文中没有提到。", 0),
                             ("Das wird nicht erwähnt.", 0), ("No se menciona.", 0),
                             ("Le texte ne le dit pas.", 0)):
            self.assertEqual(outcome(answer, code, absent=True), "right", answer)
        for answer in ("8", "blue", "It is not mentioned, but 500 is likely."):
            self.assertEqual(outcome(answer, 0, absent=True), "confidently wrong", answer)
        self.assertEqual(outcome("", 3, run="", absent=True), "failed")
        self.assertEqual(outcome("", 6, status="failed", absent=True), "failed")

    def test_judged_counts(self):
        wanted = questions.Near(5, 2)
        self.assertTrue(right("7", wanted))
        self.assertFalse(right("8", wanted))
        self.assertFalse(right("5 and 8", wanted))


if __name__ == "__main__":
    unittest.main()
