#!/usr/bin/env python3
"""Trees of calls: side by side, under one ledger, with few places, and stopped together:
REC-A16, REC-47, REC-48, REC-55."""

import json
import os
import signal
import subprocess

import harness

FOREVER = "100s"


def block(*lines: str) -> str:
    return "```repl\n" + "\n".join(lines) + "\n```"


class ChildrenTest(harness.Case):
    def ask(self, replies: list, *words: str):
        code, out, err = self.run_to_end("ask", *self.script(replies), "--mode", "recursive",
                                         "--progress", "none", "--context-text", "abc\n", *words,
                                         "What?", limit=300)
        return code, out.strip(), err

    def newest(self) -> list:
        return self.events(self.runs()[0]["run"])

    @staticmethod
    def of(events: list, kind: str) -> list:
        return [event for event in events if event["type"] == kind]

    def test_children_side_by_side_overlap(self):
        """All are asked before the first is answered: 16 take the time of one."""
        children = 16
        code, out, err = self.ask([
            {"purpose": "root", "path": "0", "times": 1, "reply": block(
                f"FINAL(' '.join(rlm_query_batched([f'child {{i}}' for i in range({children})])))")},
            {"purpose": "root", "when": "child", "times": children, "delay": "2s",
             "reply": block("FINAL('x')")}], "--max-depth", "2")
        self.assertEqual((code, out), (0, " ".join("x" * children)), err)
        events = [event for event in self.newest()
                  if event["call"] > 0 and event["type"] in ("request.sent", "reply.received")]
        kinds = [event["type"] for event in events]
        self.assertEqual(kinds[:children], ["request.sent"] * children)
        self.assertEqual(len({event["call"] for event in events}), children)

    def peak_of(self, *words: str, replies: list) -> int:
        """Megabytes that the command had in memory at most, beside what its workers had."""
        process = self.start("ask", *self.script(replies), "--mode", "recursive", "--max-depth", "2", "--forcing", "none", *words,
                             "What?", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss >> 10

    def test_children_share_the_part_that_all_are_given(self):  # REC-47
        path = self.write("large.txt", "one line of many words\n" * 620_000)
        peak = self.peak_of("-c", path, replies=[
            {"purpose": "root", "path": "0", "times": 1, "reply": block(
                "part = doc[0:10_000_000]",
                "FINAL(len(rlm_query_batched([f'child {i}' for i in range(16)], context=part)))")},
            {"purpose": "root", "when": "child", "times": 16, "delay": "1s", "reply": "FINAL(x)"}])
        self.assertLess(peak, 250)

    def test_lines_that_map_llm_is_to_label_are_not_copied_for_each_call(self):  # REC-79
        path = self.write("large.log", "one line of many words\n" * 190_000)
        peak = self.peak_of("-c", path, "--dialect", "javascript", replies=[
            {"purpose": "root", "path": "0", "times": 1, "reply": "```js\nconst all = [];\n"
             "for (let i = 0; i < 24; i++) all.push(map_llm(undefined, {labels: ['a', 'b'], batch: 100, dry: true}));\n"
             "const found = await Promise.all(all);\nSUBMIT({answer: `${found.length}`});\n```"}])
        self.assertLess(peak, 300)

    def test_a_long_text_that_repeats_itself_is_looked_for_at_once(self):  # REC-47
        path = self.write("a.txt", "a" * 4_000_000)
        code, out, err = self.run_to_end(
            "ask", *self.script([
                {"purpose": "root", "path": "0", "times": 1, "reply": block(
                    "FINAL(rlm_query('child', context='a' * 3_700_000 + 'b'))")},
                {"purpose": "root", "when": "child", "times": 1, "reply": "FINAL(x)"}]),
            "--mode", "recursive", "--max-depth", "2", "--forcing", "none", "-c", path, "What?", limit=40)
        self.assertEqual((code, out), (0, "x\n"), err)

    def test_any_depth_finishes_with_one_request_at_a_time(self):
        """A call that waits for its children holds no place. REC-48"""
        def ask_two(word: str) -> str:
            return block(f"a, b = rlm_query_batched(['{word} 1', '{word} 2'])",
                         "FINAL(str(int(a) + int(b)))")
        code, out, err = self.ask([
            {"purpose": "root", "path": "0", "times": 1, "reply": ask_two("deeper")},
            {"purpose": "root", "when": "deeper", "times": 2, "reply": ask_two("leaf")},
            {"purpose": "root", "when": "leaf", "times": 4,
             "reply": block("FINAL(str(int(llm_query('one'))))")},
            {"purpose": "subcall", "times": 4, "reply": "1"}],
            "--max-depth", "3", "--concurrency", "1")
        self.assertEqual((code, out), (0, "4"), err)
        depths = [event["data"]["depth"] for event in self.of(self.newest(), "call.started")]
        self.assertEqual(sorted(depths), [1, 1, 2, 2, 2, 2])

    def test_more_children_than_may_run_at_once_with_children_of_their_own(self):
        """80 calls wait for their children while 64 may run. REC-48"""
        code, out, err = self.ask([
            {"purpose": "root", "path": "0", "times": 1, "reply": block(
                "FINAL(str(len(rlm_query_batched(['middle'] * 80))))")},
            {"purpose": "root", "when": "middle", "times": 80,
             "reply": block("FINAL(rlm_query('leaf'))")},
            {"purpose": "root", "when": "leaf", "times": 80, "reply": block("FINAL('x')")}],
            "--max-depth", "3")
        self.assertEqual((code, out), (0, "80"), err)
        ended = self.of(self.newest(), "call.finished")
        self.assertEqual([event["data"]["status"] for event in ended], ["final"] * 160)

    def test_the_ledger_is_the_sum_of_all_replies(self):
        code, _, err = self.ask([
            {"purpose": "root", "path": "0", "times": 1, "reply": block(
                "rlm_query_batched(['middle 1', 'middle 2'])", "llm_query('own')", "FINAL('x')")},
            {"purpose": "root", "when": "middle", "times": 2,
             "reply": block("FINAL(rlm_query('leaf ' + llm_query('plain')))")},
            {"purpose": "root", "when": "leaf", "times": 2, "reply": block("FINAL('x')")},
            {"purpose": "subcall", "reply": "some words"}, {"purpose": "subcall", "reply": "more"},
            {"purpose": "subcall", "reply": "and more"}], "--max-depth", "3")
        self.assertEqual(code, 0, err)
        events = self.newest()
        replies, end = self.of(events, "reply.received"), events[-1]["data"]
        self.assertEqual(len(replies), 8)
        for name in ("input", "output"):
            self.assertEqual(sum(event["data"][name] for event in replies), end[name])
        self.assertEqual(end["calls"], len(replies))
        # Each child's own: with those of the root they make the whole.
        children = self.of(events, "call.finished")
        root = [event for event in replies if event["call"] == 0]
        self.assertEqual(sum(event["data"]["calls"] for event in children) + len(root), 8)
        self.assertEqual(sum(event["data"]["input"] for event in children)
                         + sum(event["data"]["input"] for event in root), end["input"])

    def test_cancelling_the_run_stops_all_calls_and_their_requests(self):
        process = self.start("ask", *self.script([
            {"purpose": "root", "path": "0", "times": 1,
             "reply": block("rlm_query_batched(['busy', 'busy', 'asks', 'asks'])")},
            {"purpose": "root", "when": "busy", "times": 2, "reply": block("while True: pass")},
            {"purpose": "root", "when": "asks", "times": 2, "reply": block("rlm_query('leaf')")},
            {"purpose": "root", "when": "leaf", "times": 2, "delay": FOREVER, "reply": "late"}]),
            "--mode", "recursive", "--max-depth", "3", "--context-text", "abc", "--progress", "json",
            "What?")
        leaves = blocks = 0
        while leaves < 2 or blocks < 4:
            event = self.wait_for_event_of(process)
            leaves += event["type"] == "request.sent" and event["call"] > 4
            blocks += event["type"] == "block.started" and event["call"] > 0
        children = self.children_of(process.pid)
        self.assertGreaterEqual(len(children), 5)  # a sandbox for each of five calls
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        self.assert_gone(children)
        events = self.newest()
        self.assertEqual(events[-1]["type"], "run.finished")
        started = {event["call"] for event in self.of(events, "call.started")}
        self.assertEqual({event["call"] for event in self.of(events, "call.finished")}, started)
        self.assertEqual(len(started), 6)

    def wait_for_event_of(self, process) -> dict:
        line = process.stderr.readline()
        self.assertTrue(line, "the command ended")
        return json.loads(line)

    def test_a_call_that_ends_takes_its_children_with_it(self):
        """A thread of the block still waits for a child when another hands the answer in."""
        code, out, err = self.ask([
            {"purpose": "root", "path": "0", "times": 1, "reply": block("FINAL(rlm_query('asks'))")},
            {"purpose": "root", "when": "asks", "times": 1, "reply": block(
                "import threading, time",
                "threading.Thread(target=rlm_query, args=('leaf',), daemon=True).start()",
                "while budget()['calls_left'] > 496: time.sleep(0.01)",  # until it is asked; one is kept
                "FINAL('done')")},
            {"purpose": "root", "when": "leaf", "times": 1, "delay": FOREVER, "reply": "late"}],
            "--max-depth", "3")
        self.assertEqual((code, out), (0, "done"), err)
        ends = {event["call"]: event["data"]["status"]
                for event in self.of(self.newest(), "call.finished")}
        self.assertEqual(ends, {1: "final", 2: "interrupted"})

    def test_a_child_that_kills_its_sandbox_fails_alone(self):
        code, out, err = self.ask([
            {"purpose": "root", "path": "0", "times": 1, "reply": block(
                "bad, good = rlm_query_batched(['dies', 'lives'])",
                "FINAL(f'{bad.ok} {good.ok}')")},
            {"purpose": "root", "when": "dies", "times": 9,
             "reply": block("import os", "os._exit(3)")},
            {"purpose": "root", "when": "Repeat|again|died|ended|What|Turn|dies", "path": "0.c1",
             "times": 9, "reply": block("import os", "os._exit(4)")},
            {"purpose": "extract", "path": "0.c1", "reply": ""},
            {"purpose": "root", "when": "lives", "times": 1, "reply": block("FINAL('x')")}],
            "--max-depth", "2", "--max-iterations", "4")
        self.assertEqual(out, "False True", err)
        self.assertEqual(code, 13)  # a sub-call of the block failed


if __name__ == "__main__":
    harness.main()
