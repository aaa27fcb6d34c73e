#!/usr/bin/env python3
"""Ctrl-C at every stage of `ask`: REC-61, REC-57, contract 6."""

import os
import pathlib
import signal
import time

import harness


class InterruptTest(harness.Case):
    def check(self, process, run: bool, out: str = ""):
        children = self.children_of(process.pid)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        found, err = process.communicate(timeout=30)
        # One second is the promise on an idle machine; a busy one gets slack, a hang does not.
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(found, out)
        self.assert_gone(children)
        if run:
            newest = self.runs()[0]
            self.assertEqual(newest["status"], "interrupted")
            self.assertIn(newest["run"], err)
            return newest["run"]
        return None

    def test_while_the_model_is_silent(self):
        process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]),
                             "--progress", "json", "--mode", "recursive", "What?")
        self.wait_for_event(process, "request.sent")
        self.check(process, run=True)

    def test_while_code_runs_the_draft_is_printed(self):
        process = self.start(
            "ask", *self.script(["```repl\nanswer['content'] = 'perhaps'\nprint(1)\n```",
                                 "```repl\nwhile True: pass\n```"]),
            "--mode", "recursive", "--context-text", "abc", "--progress", "json", "What?")
        self.wait_for_event(process, "block.done")
        self.wait_for_event(process, "block.started")
        self.check(process, run=True, out="perhaps\n")

    def test_while_sub_calls_are_in_flight(self):
        process = self.start(
            "ask", *self.script(["```repl\nllm_query_batched(['x'] * 50)\n```",
                                 {"purpose": "subcall", "reply": "late", "delay": "100s"}]),
            "--mode", "recursive", "--context-text", "abc", "--progress", "json", "What?")
        self.wait_for_event(process, "bridge.call")
        run = self.check(process, run=True)
        self.assertEqual(self.events(run)[-1]["type"], "run.finished")

    def test_while_a_server_is_silent(self):
        server = self.serve(lambda handler, body: time.sleep(60))
        process = self.start("ask", "--base-url", server.url, "-m", "some-model", "--progress",
                             "json", "--mode", "recursive", "What?")
        self.wait_for_event(process, "request.sent")
        self.check(process, run=True)

    def wait_for_open(self, process, name: str):
        """Until the command holds a file whose path ends so; the promise is about a started one."""
        end = time.monotonic() + 60
        folder = pathlib.Path(f"/proc/{process.pid}/fd")
        while time.monotonic() < end:
            for entry in folder.iterdir():
                try:
                    if os.readlink(entry).endswith(name):
                        return
                except OSError:
                    continue
            self.assertIsNone(process.poll(), "the command ended before it opened " + name)
        self.fail(f"{name} was not opened")

    def test_at_the_start(self):
        process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]), "What?")
        self.wait_for_open(process, "journal.db")
        self.check(process, run=False)

    def test_while_a_large_file_is_scanned(self):
        path = self.home / "large.txt"
        block = b"a line that is neither short nor long\n" * 27_000
        with path.open("wb") as out:
            for _ in range(300):
                out.write(block)
        process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]),
                             "--mode", "recursive", "-c", str(path), "What?")
        self.wait_for_open(process, "large.txt")
        self.check(process, run=False)

    def test_while_stdin_is_silent(self):
        read, write = os.pipe()
        self.addCleanup(os.close, write)
        process = self.start("ask", *self.script(["no"]), "-c", "-", "What?", stdin=read)
        os.close(read)
        self.wait_for_open(process, "journal.db")
        self.check(process, run=False)

    def test_while_the_closing_request_is_answered(self):
        process = self.start(
            "ask", *self.script(["```repl\nanswer['content'] = 'perhaps'\nprint(1)\n```",
                                 {"purpose": "extract", "reply": "late", "delay": "100s"}]),
            "--mode", "recursive", "--max-iterations", "1", "--context-text", "abc", "--progress",
            "json", "What?")
        self.wait_for_event(process, "limit.reached")
        self.wait_for_event(process, "request.sent")
        self.check(process, run=True, out="perhaps\n")

    def test_between_a_retry_and_the_next(self):
        process = self.start(
            "ask", *self.script([{"fail": {"status": 503, "headers": {"Retry-After": "90"}},
                                  "times": "always"}]),
            "--mode", "recursive", "--context-text", "abc", "--progress", "json", "What?")
        self.wait_for_event(process, "request.sent")
        self.check(process, run=True)

    def test_one_sentence_says_what_happened(self):
        process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]),
                             "--mode", "recursive", "--quiet", "What?")
        self.wait_for_open(process, "journal.db-wal")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        lines = err.strip().splitlines()
        self.assertLessEqual(len(lines), 1, err)

    def test_a_term_signal_ends_with_its_own_code(self):
        process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]),
                             "--progress", "json", "What?")
        self.wait_for_event(process, "request.sent")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 143)


if __name__ == "__main__":
    harness.main()
