#!/usr/bin/env python3
"""What `dossier eval` does with a real model: opinions of a judge (EVL-55), recorded runs replayed (EVL-102), the nightly
comparison (EVL-103). The model here is a script, which the program cannot tell from one."""

import json
import pathlib
import re
import sys

import harness

WRAPPER = '''#!{python}
import subprocess, sys
words = [{dossier!r}, *sys.argv[1:]]
if sys.argv[1:2] == ["ask"] and {question!r}:
    sys.exit(subprocess.run(words[:-1] + ["-"], input=sys.stdin.read() + {question!r}, text=True).returncode)
sys.exit(subprocess.run(words).returncode)
'''


class RealCase(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("numbers.txt", "".join(f"{i}\n" for i in range(1, 60)))

    def program(self, name: str, question: str = "") -> str:
        path = self.write(name, WRAPPER.format(python=sys.executable, dossier=harness.DOSSIER, question=question))
        pathlib.Path(path).chmod(0o755)
        return path

    def model(self):
        """Answers questions about the numbers, and judges: 10 where the answer stands before the question, else 4."""
        def answer(handler, body):
            text = body["messages"][-1]["content"]
            text = text if isinstance(text, str) else "".join(part.get("text", "") for part in text)
            if "<rubric>" in text:
                said = "Fine.\nScore: " + ("10" if text.index("<answer>") < text.index("<question>") else "4")
            elif "How many" in text:
                said = "59"
            else:
                said = "1770"
            reply = {"id": "1", "object": "chat.completion", "model": "some-model", "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}}
            data = json.dumps(reply).encode()
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        return self.serve(answer)


class JudgeTest(RealCase):
    def test_a_judge_gives_an_opinion_in_both_orders_and_no_score(self):  # EVL-55
        self.write("q.yml", json.dumps({"defaults": {"contexts": ["numbers.txt"]}, "questions": [
            {"id": "sum", "question": "What is the sum?", "gold": "1770", "scorer": "judge", "rubric": "Names the sum."},
            {"id": "count", "question": "How many are there?", "gold": "59", "scorer": "exact"}]}))
        server = self.model()
        ask = ["eval", "run", "q.yml", "--arm", "direct", "--base-url", server.url, "-m", "some-model", "--out", "o"]
        code, _, err = self.run_to_end(*ask)
        self.assertEqual(code, 2, err)
        self.assertIn("--judge", err)
        code, out, err = self.run_to_end(*ask, "--judge", "some-model", "--min-score", "0.9")
        self.assertEqual(code, 0, err)  # the opinion of 0.7 does not pull the score of 1.0 below
        rows = {row["task"]: row for row in map(json.loads, (self.home / "o/rows.jsonl").read_text().splitlines())}
        self.assertEqual([rows["sum"][name] for name in ("official", "opinion", "rule")], [None, 0.7, "opinion"])
        self.assertEqual([rows["count"][name] for name in ("official", "opinion")], [1.0, None])
        judged = [body for body in map(bytes.decode, server.requests) if "<rubric>" in body]
        self.assertEqual(sorted(body.index("<answer>") < body.index("<question>") for body in judged), [False, True])
        self.assertTrue(all("Names the sum." in body for body in judged))
        self.assertIn("opinion of a judge is 70.0 of 100", out)
        self.assertIn("no score", out)
        self.assertIn("a model's opinion", (self.home / "o/report.html").read_text().replace("&#39;", "'"))
        code, out, err = self.run_to_end("eval", "score", "o")  # asks nobody, keeps the opinion
        self.assertIn("0 of 2 rows", out, err)

    def test_a_gate_takes_no_opinion(self):  # EVL-55
        self.write("q.yml", json.dumps({"questions": [{"question": "Why?", "scorer": "judge", "rubric": "Says why.",
                                                       "contexts": ["numbers.txt"]}]}))
        code, _, err = self.run_to_end("eval", "run", "q.yml", "--judge", "m", "-m", "m", "--base-url", "http://127.0.0.1:9/v1",
                                       "--min-score", "0.5")
        self.assertEqual(code, 2, err)
        self.assertIn("an opinion is no score", err)
        self.write("q.yml", json.dumps({"questions": [{"question": "Why?", "scorer": "judge", "contexts": ["numbers.txt"]}]}))
        code, _, err = self.run_to_end("eval", "run", "q.yml", "--judge", "m")
        self.assertEqual(code, 3, err)
        self.assertIn("needs a `rubric:`", err)


class GateTest(RealCase):
    def setUp(self):
        super().setUp()
        self.write("small.yml", json.dumps({"defaults": {"contexts": ["numbers.txt"], "scorer": "exact"}, "questions": [
            {"id": "sum", "question": "What is the sum?", "gold": "1770"},
            {"id": "count", "question": "How many are there?", "gold": "59"}]}))
        suite = {"questions": "small.yml", "flags": ["--mode", "direct"]}
        self.write("gates.yml", json.dumps({
            "suites": [{"name": "unused", "questions": "small.yml", "script": "none.yaml"}],
            "recorded": [{"name": "small/recorded", "recording": "recorded", "model": "some-model", **suite}],
            "nightly": [{"name": "small/nightly", "repeats": 2, **suite}]}))

    def gate(self, *words: str):
        return self.run_to_end("eval", "gate", "--gates", "gates.yml", *words, limit=300)

    def test_recorded_runs_are_replayed_and_changed_prompts_are_listed(self):  # EVL-102
        base = self.program("base")
        code, out, err = self.gate("--base", base, "--tier", "2")
        self.assertEqual(code, 13, err)
        self.assertIn("there is no recording", out)
        server = self.model()
        code, out, err = self.gate("--record", "-m", "some-model", "--base-url", server.url)
        self.assertEqual((code, len(out.splitlines())), (0, 2), err)
        asked = len(server.requests)
        code, out, err = self.gate("--base", base, "--tier", "2")
        self.assertEqual((code, out), (0, "no difference\n"), err)
        changed = self.program("changed", question=" Think.")
        code, out, err = self.gate("--base", base, "--head", changed, "--tier", "2")
        self.assertEqual(code, 13, err)
        for task in ("sum", "count"):
            self.assertRegex(out, rf"(?m)^record +prompts of {task}  small/recorded  request 1 was not recorded.*--record")
        self.assertEqual(len(server.requests), asked, "a replay asks nobody")
        # Another answer to the same prompts is worse.
        path = next((self.home / "recorded").glob("sum.jsonl"))
        wrapper = self.write("wrong", "#!/bin/sh\n" f"{harness.DOSSIER} \"$@\" | sed 's/1770/1771/g'\n")
        pathlib.Path(wrapper).chmod(0o755)
        code, out, err = self.gate("--base", base, "--head", wrapper, "--tier", "2")
        self.assertEqual(code, 15, (out, err, path))
        self.assertIn("worse   answers  small/recorded", out)

    def test_the_nightly_run_says_how_scores_differ(self):  # EVL-103
        server = self.model()
        code, out, err = self.gate("--base", self.program("base"), "--tier", "3", "-m", "some-model", "--base-url", server.url)
        self.assertEqual(code, 13, err)
        self.assertRegex(out, r"^unclear +score  small/nightly  \+0.0 points, too few to tell: 2 tasks in 1 window")
        self.assertNotIn("equal", out)
        self.assertEqual(len(server.requests), 8, "two programs, two tasks, two repeats")
        seeds = {json.loads(body).get("seed") for body in server.requests}
        self.assertEqual(len(seeds), 1, seeds)
        rows = [json.loads(line) for line in (self.home / "eval-gate/nightly-0/rows.jsonl").read_text().splitlines()]
        self.assertEqual({row["arm"] for row in rows}, {"base", "head"})

    def test_suites_say_what_their_kind_needs(self):
        for key, suite, said in (("recorded", {"name": "x", "questions": "small.yml"}, "`recording:` and `model:`"),
                                 ("nightly", {"name": "x", "questions": "small.yml", "script": "s"}, "the model is that of -m"),
                                 ("nightly", {"name": "x", "questions": "small.yml", "repeats": 0}, "`repeats:`")):
            self.write("gates.yml", json.dumps({"suites": [{"name": "u", "questions": "small.yml", "script": "s"}], key: [suite]}))
            code, _, err = self.gate("--base", "x", "--tier", "2")
            self.assertEqual(code, 3, err)
            self.assertIn(said, err)


if __name__ == "__main__":
    harness.main()
