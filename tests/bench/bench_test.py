#!/usr/bin/env python3
"""The benchmarks run without anything beside them, and what they say is whole: EVL-90 to EVL-98, EVL-104, EVL-A24.

usage: bench_test.py --dossier PROGRAM [test…]     (dossier_bench lies beside it)
"""

import argparse
import contextlib
import html.parser
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from engines import plans, ratios, rows, table  # noqa: E402 (found by the line above)
from engines.model_server import QUESTION, ModelServer, Plan  # noqa: E402
from engines.systems import Sample  # noqa: E402
from figure import Figure  # noqa: E402
from timing import Failed  # noqa: E402
import page  # noqa: E402

DOSSIER = ""
_VOID = {"meta", "br"}


class Whole(html.parser.HTMLParser):
    """Whether every element that begins also ends, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def history(*values: float) -> list[dict]:
    return [{"commit": f"c{number}", "ratios": {"turn / rlms": value}} for number, value in enumerate(values)]


def noisy(middle: float, count: int) -> list[float]:
    return [middle * (1 + 0.02 * (number % 5 - 2)) for number in range(count)]


class StepTest(unittest.TestCase):  # EVL-104
    def test_a_step_is_named_by_its_first_commit(self):
        (step,) = ratios.steps(history(*noisy(0.10, 25), *noisy(0.13, 8)))
        self.assertEqual((step.metric, step.commit), ("turn / rlms", "c25"))
        self.assertAlmostEqual(step.before, 0.10, places=3)
        self.assertAlmostEqual(step.after, 0.13, places=3)

    def test_noise_and_one_bad_commit_are_none(self):
        self.assertEqual(ratios.steps(history(*noisy(0.10, 60))), [])
        values = noisy(0.10, 60)
        values[30] = 0.9
        self.assertEqual(ratios.steps(history(*values)), [])

    def test_twenty_before_and_five_behind_are_needed(self):
        self.assertEqual(ratios.steps(history(*[1.0] * 19, *[2.0] * 5)), [])
        self.assertEqual(ratios.steps(history(*[1.0] * 20, *[2.0] * 4)), [])
        self.assertEqual([step.commit for step in ratios.steps(history(*[1.0] * 20, *[2.0] * 5))], ["c20"])

    def test_one_per_cent_of_a_metric_without_noise_is_none(self):
        self.assertEqual(ratios.steps(history(*[1.0] * 20, *[1.009] * 5)), [])
        self.assertEqual(len(ratios.steps(history(*[1.0] * 20, *[1.02] * 5))), 1)

    def test_better_is_a_step_too_and_a_commit_may_lack_a_metric(self):
        lines = history(*noisy(0.10, 22), *noisy(0.05, 6))
        lines.insert(3, {"commit": "without", "ratios": {"other / rlms": 1.0}})
        self.assertEqual([step.commit for step in ratios.steps(lines)], ["c22"])

    def test_what_is_kept_holds_no_seconds(self):
        figures = [Figure("completion of 1 turn (CPU 20.00 ms)", "27.32 ms", "rlms 0.1.3 564.35 ms", 0.048),
                   Figure("the same", problem="not installed: droste")]
        self.assertEqual(page.ratios_of(figures), {"completion of 1 turn / rlms": 0.048})


class RoundTest(unittest.TestCase):  # EVL-98
    def test_a_round_that_is_off_is_run_again_twice_and_all_are_kept(self):
        for calibrations, expected in (([1.0], 1), ([1.19], 1), ([1.3, 1.0], 2), ([0.7, 1.3, 1.0], 3),
                                       ([1.3, 1.3, 1.3, 1.0], 3)):
            loop = iter(calibrations)
            found = ratios.attempts_of_round(lambda loop=loop: next(loop), lambda: "sample", 1.0)
            self.assertEqual(found, [(one, "sample") for one in calibrations[:expected]])

    def test_the_interval_holds_the_median_and_every_value_counts(self):
        interval = ratios.bootstrap([1.0, 1.1, 0.9, 1.05, 9.0])
        self.assertEqual(interval.median, 1.05)
        self.assertTrue(interval.low <= 1.05 <= interval.high)
        self.assertEqual(interval.high, 9.0, "the outlier was thrown away")
        self.assertEqual(ratios.bootstrap([2.0]), ratios.Interval(2.0, 2.0, 2.0))


class CheckTest(unittest.TestCase):  # EVL-98
    def test_a_run_that_did_other_work_is_a_failure_that_says_so(self):
        heard = {"root": 2, "sub": 40, "child": 0}
        table.check(Sample(1.0, 1.0, "line\n"), heard, 2, 40)
        for sample, change, said in ((Sample(1.0, 1.0, "other"), {}, "it answered 'other'"),
                                     (Sample(1.0, 1.0, "", "it fell"), {}, "it fell"),
                                     (Sample(1.0, 1.0, "line"), {"root": 3}, "3 turns instead of 2"),
                                     (Sample(1.0, 1.0, "line"), {"sub": 0}, "0 of 40 calls")):
            with self.assertRaisesRegex(Failed, said):
                table.check(sample, heard | change, 2, 40)


class PlanTest(unittest.TestCase):
    def test_every_engine_has_every_work_or_says_what_it_lacks(self):
        for row in rows.TABLE:
            for engine in ("dossier", *row.peers):
                try:
                    plan = plans.turns(engine, row.count) if row.work == "turns" else \
                        plans.sub_calls(engine, row.count, row.bytes) if row.work == "sub_calls" else \
                        getattr(plans, row.work)(engine, row.count, row.delay)
                except plans.Unable as unable:
                    self.assertTrue(str(unable), (row.what, engine))
                    continue
                self.assertEqual(len(plan.root), row.count if row.work == "turns" else 2)

    def test_the_rows_are_those_of_the_specification(self):
        found = {group: [row for row in rows.TABLE if row.group == group] for group in {row.group for row in rows.TABLE}}
        self.assertEqual(sorted(found), ["children", "completions", "large contexts", "sub-calls", "turns"])
        self.assertEqual([(row.how, row.count) for row in found["completions"]],  # EVL-90
                         [(how, count) for how in ("library", "command") for count in (1, 10, 30, 100)])
        self.assertEqual({row.size for row in found["turns"]} & {1_000, 10 ** 9}, {1_000, 10 ** 9})
        self.assertIn(5_000, [row.variables for row in found["turns"]])  # EVL-91
        self.assertEqual([(row.delay, row.count) for row in found["children"]],  # EVL-92
                         [(delay, count) for delay in (0.0, 0.05) for count in (1, 16, 100, 1000)])
        self.assertEqual([row.bytes or row.count for row in found["sub-calls"]],  # EVL-93
                         [10, 10_000, 1_000_000, 10_000_000, 40, 100, 1000])
        self.assertEqual([row.size for row in found["large contexts"]],  # EVL-94
                         [1_000_000, 50_000_000, 200_000_000, 1_000_000_000])


class ServerTest(unittest.TestCase):
    def test_it_knows_the_root_from_its_sub_calls_and_holds_one_request(self):
        with ModelServer() as server:
            server.play("one", Plan(["first", "second"], sub="yes", hold=2))

            def ask(text, timeout=10):
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)
                body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
                with contextlib.closing(connection):
                    connection.request("POST", "/one/v1/chat/completions", body)
                    answer = json.loads(connection.getresponse().read())
                return answer["choices"][0]["message"]["content"]

            self.assertEqual([ask(QUESTION), ask("Is it?")], ["first", "yes"])
            with self.assertRaises(TimeoutError):
                ask(QUESTION, 0.2)
            self.assertEqual([ask(QUESTION), ask(QUESTION)], ["second", "second"])
            heard = server.heard("one")
            self.assertEqual((heard["root"], heard["sub"], len(heard["held"]), len(heard["arrived"])), (3, 1, 1, 3))
            self.assertIn(QUESTION, heard["first"])


class QuickRunTest(unittest.TestCase):  # EVL-A24
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        home = pathlib.Path(cls.folder.name)
        environment = os.environ | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "no-peers")}
        cls.done = subprocess.run(
            ["/usr/bin/python3", str(ROOT / "bench/run"), "--dossier", DOSSIER, "--quick", "--only", "engines", "--folder",
             str(home / "files"), "--out", str(home / "report")], capture_output=True, text=True, env=environment,
            timeout=120, check=False)
        if cls.done.returncode != 0:
            raise AssertionError(f"bench/run ended with {cls.done.returncode}: {cls.done.stderr}")
        cls.report = home / "report"
        cls.left = sorted(path.name for path in (home / "files").iterdir())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def read(self, name: str) -> str:
        return (self.report / name).read_text(encoding="utf-8")

    def figures(self) -> list[dict]:
        return json.loads(self.read("page.json"))["rows"]

    def test_page_picture_and_json_are_valid(self):
        whole = Whole()
        text = self.read("report.html")
        whole.feed(text)
        self.assertEqual((whole.open, whole.wrong), ([], []))
        self.assertLessEqual({"table", "svg", "h1"}, whole.seen)
        for outside in ("http://", "https://", "<script"):
            self.assertNotIn(outside, text.replace("http://www.w3.org/2000/svg", ""))
        self.assertTrue(xml.etree.ElementTree.fromstring(self.read("ratios.svg")).tag.endswith("svg"))
        whole = json.loads(self.read("page.json"))
        self.assertEqual((whole["schema"], whole["machine"]["quick"]), ("dossier.bench/1", "yes, no result"))
        self.assertEqual(len(whole["missing"]), sum(bool(row["problem"]) for row in whole["rows"]))
        self.assertEqual(self.read("page.md").count("\n| "), len(whole["rows"]) + 2)

    def test_every_peer_that_is_missing_is_named_with_the_way_to_get_it(self):
        problems = " ".join(figure["problem"] for figure in self.figures())
        for peer in rows.PEERS:
            self.assertIn(peer, problems)
        self.assertIn("bench/eval_peers install", problems)
        self.assertIn("bench/eval_peers install", self.read("report.html"))

    def test_ours_is_measured_in_every_case(self):
        measured = {}
        for figure in self.figures():
            if figure["ours"]:
                measured.setdefault(figure["group"], []).append(figure["what"])
            else:
                self.assertNotIn("dossier:", figure["problem"], figure)
        self.assertEqual(sorted(measured), ["children", "completions", "ends", "first request", "large contexts",
                                            "sub-calls", "turns"])

    def test_the_answer_is_kept_and_nothing_asked_twice(self):  # EVL-95
        by_what = {figure["what"]: figure for figure in self.figures()}
        (limit,) = [figure for what, figure in by_what.items() if what.startswith("limit of iterations")]
        self.assertTrue(limit["ours"].startswith("kept"), limit)
        resumes = [what for what in by_what if what.startswith("resume of")]
        self.assertEqual([what.rpartition(", ")[2] for what in resumes], ["wall time", "CPU"])
        for what in resumes:
            self.assertIn("(0 requests repeated)", what)

    def test_the_first_request_is_counted(self):  # EVL-97
        (first,) = [figure for figure in self.figures() if figure["group"] == "first request"]
        tokens, characters = (int(word.replace(",", "").lstrip("(")) for word in first["ours"].split()[:2])
        self.assertTrue(200 < tokens < characters < 40_000, first)

    def test_nothing_is_left_behind(self):
        self.assertEqual(self.left, ["report"] if "report" in self.left else [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--dossier", required=True)
    found, rest = parser.parse_known_args()
    DOSSIER = str(pathlib.Path(found.dossier).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
