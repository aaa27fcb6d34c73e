#!/usr/bin/env python3
"""Our tasks as RLM-Bench reads them, and its results beside our scores: EVL-80, EVL-81, EVL-A18.

The readers here are strict ones of our own, after RLM-Bench's; the whole run, with its packages, is bench/rlm_bench/run.
"""

import pathlib
import random
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/rlm_bench"))

import rows  # noqa: E402 (found by the line above)

OOLONG = {"id": "aggregate-4K-w0-q0", "family": "aggregate", "window": "w0", "contexts": ["contexts/a.txt"], "question": "How many?",
          "gold": ["28"], "scorer": "oolong", "meta": {"context_len": 4000, "task_group": "counting", "num_labels": 6,
                                                       "task": "TASK_TYPE.NUMERIC_ONE_CLASS", "answer_type": "ANSWER_TYPE.NUMERIC"}}
LABEL = OOLONG | {"id": "aggregate-4K-w0-q1", "gold": ["ham"], "meta": OOLONG["meta"] | {"answer_type": "ANSWER_TYPE.LABEL"}}
NEEDLE = {"id": "ruler-4K-w0-q0", "family": "ruler", "window": "w1", "contexts": ["contexts/r.txt"], "question": "Which number?",
          "gold": ["3016653"], "scorer": "ruler", "meta": {"task": "niah_single_1", "context_len": 4096}}
CHOICE = {"id": "code-q3", "family": "code", "window": "w2", "contexts": ["contexts/c.py"], "gold": ["B"], "scorer": "choice",
          "question": "Which is never called?\n(A) _guarded\n(B) join\n(C) counts\n(D) listing\nFormat your response as follows: x",
          "meta": {}}
FREE = {"id": "code-q0", "family": "code", "window": "w2", "contexts": ["contexts/c.py"], "question": "Which file defines f?",
        "gold": ["c.py"], "scorer": "exact", "meta": {}}
OTHER = NEEDLE | {"id": "ruler-4K-w0-q9", "meta": {"task": "vt"}}
TASKS = [OOLONG, LABEL, NEEDLE, CHOICE, FREE, OTHER]

# What each reader of RLM-Bench takes from a row, and of which type.
STRICT = {
    "official_oolong": {"id": str, "context_len": int, "dataset": str, "context_window_text": str,
                        "context_window_text_with_labels": str, "question": str, "task_group": str, "task": str, "answer": str,
                        "answer_type": str, "input_subset": str, "num_labels": int, "context_window_id": str},
    "official_sniah": {"category": str, "prompt": str, "extra_info": dict},
    "official_longbench_v2": {"_id": str, "domain": str, "sub_domain": str, "question": str, "choice_A": str, "choice_B": str,
                              "choice_C": str, "choice_D": str, "answer": str, "context": str},
    "official_repoqa": {"id": str, "repo": str, "language": str, "question": str, "context": str, "answer": list}}


class RowsTest(unittest.TestCase):
    def setUp(self):
        self.found = rows.rows_of(TASKS, lambda task: f"plain {task['window']}")

    def test_every_row_has_what_a_strict_reader_takes(self):  # EVL-80, EVL-A18
        self.assertEqual({name: len(one["rows"]) for name, one in self.found.items()},
                         {"official_oolong": 2, "official_sniah": 1, "official_longbench_v2": 1, "official_repoqa": 1})
        self.assertEqual(set(self.found), set(rows.SHAPES))
        for name, one in self.found.items():
            self.assertEqual(len(one["rows"]), len(one["ids"]))
            for row in one["rows"]:
                self.assertEqual({field: type(value) for field, value in row.items()}, STRICT[name])
        answers = [row["answer"] for row in self.found["official_oolong"]["rows"]]
        self.assertEqual(answers, ["[28]", "['ham']"])
        self.assertTrue(all(map(rows.is_printed, answers)))
        needle = self.found["official_sniah"]["rows"][0]
        self.assertEqual(needle["extra_info"]["ground_truth"]["answers"], ["3016653"])
        self.assertTrue(needle["prompt"].endswith("Which number?"))
        choice = self.found["official_longbench_v2"]["rows"][0]
        self.assertEqual([choice[f"choice_{letter}"] for letter in "ABCD"], ["_guarded", "join", "counts", "listing"])
        self.assertEqual((choice["question"], choice["answer"]), ("Which is never called?", "B"))

    def test_windows_hold_no_gold_labels_but_where_that_is_asked_for(self):  # EVL-81
        plain = self.found["official_oolong"]["rows"][0]
        self.assertEqual(plain["context_window_text"], plain["context_window_text_with_labels"])
        labelled = rows.rows_of(TASKS, lambda task: "plain", lambda task: "labelled")["official_oolong"]["rows"][0]
        self.assertEqual([labelled["context_window_text"], labelled["context_window_text_with_labels"]], ["plain", "labelled"])

    def test_its_scores_stand_beside_ours(self):  # EVL-81
        ids = {"official_oolong": ["q0", "q1", "q2"]}
        drawn = [ids["official_oolong"][random.Random(seed).randrange(3)] for seed in range(4)]
        results = [{"runner_name": "dossier", "task_name": "official_oolong", "task_instance_seed": seed, "correct": seed % 2 == 0,
                    "partial_score": 0.5, "response": "x", "error": None if seed else "boom"} for seed in range(4)]
        self.assertEqual([rows.task_of(result, ids) for result in results], drawn)
        ours = {("dossier", name): {"official": 1.0, "lenient": 1.0} for name in set(drawn)}
        (line,) = rows.beside(results, ids, ours)
        self.assertEqual([line[name] for name in ("samples", "accuracy", "partial", "official", "lenient", "failed")],
                         [4, 50.0, 50.0, 100.0, 100.0, 1])
        (line,) = rows.beside(results, ids, {})
        self.assertIsNone(line["official"])


if __name__ == "__main__":
    unittest.main()
