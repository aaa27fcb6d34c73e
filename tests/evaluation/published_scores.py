#!/usr/bin/env python3
"""The published scoring rules once more, in Python, and the 400 answers that both have to score alike.

usage: published_scores.py           checks that reference_scores.jsonl is what the rules here give
       published_scores.py --write   writes that file

Written from docs/spec/evaluation.md, not from the C++ rules: the two are independent. The rules lean on
what Python itself does (strip, split, int, sets, regular expressions), as the published code does.
"""

import datetime
import json
import random
import re
import sys
import unittest
from pathlib import Path

DATA = Path(__file__).with_name("reference_scores.jsonl")
PHRASES = ("more common", "less common", "same frequency")
ROWS = 400


def day_of(text):
    """The day that all of `text` names; None where a part is missing."""
    text = text.strip()
    for pattern, order in ((r"(\d{1,2})/(\d{1,2})/(\d{4})", "mdy"), (r"(\d{4})-(\d\d)-(\d\d)", "ymd")):
        if match := re.fullmatch(pattern, text, re.ASCII):
            parts = dict(zip(order, map(int, match.groups())))
            if order == "mdy" and parts["m"] > 12:
                parts["m"], parts["d"] = parts["d"], parts["m"]
            return make_day(parts)
    for form in ("%b %d, %Y", "%B %d, %Y", "%d %B %Y", "%d %b %Y"):
        try:
            return datetime.datetime.strptime(text, form).date()
        except ValueError:
            pass
    return None


def make_day(parts):
    try:
        return datetime.date(parts["y"], parts["m"], parts["d"])
    except ValueError:
        return None


def oolong(gold, answer_type, output):
    if ":" not in output:
        words = output.split()
        candidate = output if len(output) < 20 else words[-1] if words else ""
    else:
        candidate = output.split(":")[-1].strip()
        for char in "*[]":
            candidate = candidate.replace(char, "")
        if len(candidate) >= 20:
            candidate = next((phrase for phrase in PHRASES if phrase in candidate), candidate)
    if candidate == gold:
        return 1.0
    if candidate in PHRASES:
        return float(candidate in gold)
    if answer_type == "NUMERIC":
        try:
            return 0.75 ** abs(int(gold) - int(candidate))
        except ValueError:
            return 0.0
    if answer_type == "DATE":
        return float(day_of(candidate) is not None and day_of(candidate) == day_of(gold))
    return 0.0


def boxed(text):
    try:
        return int(text)
    except ValueError:
        pass
    if "," in text:
        return [part.strip() for part in text.split(",")]
    return text.strip().lower()


def oolong_real(gold, _, output):
    match = re.search(r"\\boxed\{\\text\{([^}]*)\}", output) or re.search(r"\\boxed\{([^}]*)\}", output)
    wanted, given = boxed(gold), boxed(match.group(1) if match else output)
    if type(wanted) is not type(given):
        return 0.0
    if isinstance(wanted, int):
        return 0.75 ** abs(wanted - given)
    if isinstance(wanted, list):
        return len(set(wanted) & set(given)) / len(wanted)
    return float(wanted == given)


def pairs(gold, _, output):
    def read(text):
        found = re.findall(r"\(\s*(\d+)\s*,\s*(\d+)\s*\)", text, re.ASCII)
        return {tuple(sorted(map(int, pair))) for pair in found if pair[0] != pair[1]}
    wanted, given = read(gold), read(output)
    if not wanted and not given:
        return 1.0
    return 2 * len(wanted & given) / (len(wanted) + len(given))


def ruler(gold, _, output):
    text = re.sub(r"[\x00-\x1f]", "\n", output.strip()).strip().lower()
    values = json.loads(gold)
    return sum(value.lower() in text for value in values) / len(values)


def choice(gold, _, output):
    text = output.replace("*", "")
    match = re.search(r"The correct answer is \(([A-D])\)", text) or re.search(r"The correct answer is ([A-D])", text)
    return float(match is not None and match.group(1) == gold)


RULES = {"oolong": oolong, "oolong-real": oolong_real, "pairs": pairs, "ruler": ruler, "choice": choice}

# Answers that the specification itself decides: (scorer, type, gold, answer, score).
NAMED = [
    ("oolong", "LABEL", "ham", "Label: [ ham ]", 0.0),
    ("oolong", "NUMERIC", "12", "Answer: 12 items", 0.0),
    ("oolong", "NUMERIC", "12", "12", 1.0),
    ("oolong", "LABEL", "ham", "", 0.0),
    ("oolong", "LABEL", "ham", "Label: **ham**", 1.0),
    ("oolong", "COMPARISON", "less common than", "Answer: ham is less common than spam", 1.0),
    ("oolong", "COMPARISON", "more common than", "Answer: ham is less common than spam", 0.0),
    ("oolong", "NUMERIC", "12", "Answer: 14", 0.5625),
    ("oolong", "DATE", "2023-01-06", "Date: 01/06/2023", 1.0),
    ("oolong", "DATE", "2023-01-06", "Date: January 2023", 0.0),
    ("oolong", "DATE", "2023-01-16", "Date: 16/01/2023", 1.0),
    ("oolong", "NUMERIC", "12", "Answer: 1_2", 1.0),
    ("oolong", "NUMERIC", "12", "Answer: \u0661\u0662", 1.0),
    ("oolong-real", "", "5", "so \\boxed{\\text{5}} it is", 1.0),
    ("oolong-real", "", "a, b", "\\boxed{b, c}", 0.5),
    ("oolong-real", "", "a, b", "\\boxed{A, B}", 0.0),
    ("oolong-real", "", "Paris", "\\boxed{ paris }", 1.0),
    ("oolong-real", "", "7", "\\boxed{seven}", 0.0),
    ("pairs", "", "", "", 1.0),
    ("pairs", "", "(1, 2)", "none", 0.0),
    ("pairs", "", "(1, 2)", "(2,1) (1, 2) (3, 3)", 1.0),
    ("ruler", "", '["Abc", "def"]', "it is ABC", 0.5),
    ("choice", "", "B", "**The correct answer is (B)**", 1.0),
    ("choice", "", "B", "The correct answer is B", 1.0),
    ("choice", "", "B", "The correct answer is A. No: The correct answer is (B)", 1.0),
    ("choice", "", "B", "B", 0.0),
]

FRAMES = ("{}", "Answer: {}", "Label: {}", "**Answer:** {}", "Answer: **{}**", "The answer is {}", "Answer: [{}]",
          " {} ", "Answer: {}.", "I counted all lines with care: {}", "Result:\n{}", "Answer:{}", "Date: {}",
          "User: {}\n", "It must be: the {}", "\u00a0{}\u00a0", "Answer: '{}'", "x: y: {}")
GIVEN = {
    "LABEL": ["ham", "spam", "Ham", "entity", "numeric value", "a label that is longer than twenty"],
    "NUMERIC": ["12", "13", " 7", "+12", "-12", "012", "1,200", "12.0", "1_2", "1__2", "_12", "twelve", "12 items",
                "\u0661\u0662", "99999999999999999999", ""],
    "DATE": ["01/06/2023", "2023-01-06", "Jan 6, 2023", "6 January 2023", "06/01/2023", "16/01/2023", "2023-02-30",
             "January 2023", "01/06/23", "Jan 06, 2023", "2023-1-6", "May 3, 2024"],
    "COMPARISON": ["ham is more common than spam", "more common", "less common than", "same frequency as",
                   "a is less common", "ham is same frequency as spam", "More common than the other"],
    "MONTH_YEAR": ["March 2023", "march 2023", "03/2023", "September 2024"],
}
GOLD = {"LABEL": ["ham", "spam", "numeric value"], "NUMERIC": ["12", "0", "7"],
        "DATE": ["2023-01-06", "2023-01-16", "2024-05-03"],
        "COMPARISON": ["more common than", "less common than", "same frequency as", "the same frequency"],
        "MONTH_YEAR": ["March 2023", "September 2024"]}
OTHERS = {
    "oolong-real": (["5", "a, b, c", "Paris"],
                    ["\\boxed{5}", "\\boxed{\\text{6}}", "5", "\\boxed{a, c}", "a, b, c", "\\boxed{c,b,a}", "paris",
                     "\\boxed{Paris}", "\\boxed{ 5 } \\boxed{6}", "\\boxed{", "", "\\boxed{a}"]),
    "pairs": (["(1, 2)\n(3, 4)", "", "(10001, 20002)"],
              ["(1, 2)", "(2, 1)\n(4, 3)", "[(1,2),(3,4),(5,6)]", "1, 2", "( 1 , 2 )", "(1, 2, 3)", "((1, 2))",
               "(10001,20002)", "(a, b)", "(1 2)"]),
    "ruler": (['["1234567"]', '["Red-fox", "blue-owl"]'],
              ["1234567", "It is 1234567.", "red-fox and BLUE-OWL", "red-\x01fox", "none", "", "blue-owl\x00"]),
    "choice": (["A", "C"],
               ["The correct answer is (A)", "The correct answer is C", "the correct answer is (C)", "A",
                "The correct answer is ( A )", "The correct answer is Definitely", "**The correct answer is (C)**"]),
}


def make_rows():
    rows = [dict(zip(("scorer", "type", "gold", "answer"), row[:4])) for row in NAMED]
    seen = {tuple(row.values()) for row in rows}
    draw = random.Random(20)
    while len(rows) < ROWS:
        scorer = draw.choice(["oolong"] * 5 + sorted(OTHERS))
        if scorer == "oolong":
            kind = draw.choice(sorted(GIVEN))
            gold, answer = draw.choice(GOLD[kind]), draw.choice(FRAMES).format(draw.choice(GIVEN[kind]))
        else:
            kind, (gold, answer) = "", map(draw.choice, OTHERS[scorer])
        row = {"scorer": scorer, "type": kind, "gold": gold, "answer": answer}
        if tuple(row.values()) not in seen:
            seen.add(tuple(row.values()))
            rows.append(row)
    for row in rows:
        row["score"] = RULES[row["scorer"]](row["gold"], row["type"], row["answer"])
    return rows


class PublishedScoresTest(unittest.TestCase):
    # EVL-54, EVL-A7
    def test_the_stored_rows_are_what_the_rules_give(self):
        stored = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(stored, make_rows())
        self.assertEqual(len(stored), ROWS)

    # EVL-45, EVL-46, EVL-47, EVL-48, EVL-49: what the specification decides by name.
    def test_the_named_examples(self):
        for scorer, kind, gold, answer, score in NAMED:
            with self.subTest(scorer=scorer, answer=answer):
                self.assertEqual(RULES[scorer](gold, kind, answer), score)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        DATA.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in make_rows()), encoding="utf-8")
    else:
        unittest.main()
