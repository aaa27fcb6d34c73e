#!/usr/bin/env python3
"""Ctrl-C at every stage of `ask`: REC-61, REC-57, contract 6."""

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

    def test_a_term_signal_ends_with_its_own_code(self):
        process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]),
                             "--progress", "json", "What?")
        self.wait_for_event(process, "request.sent")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 143)


if __name__ == "__main__":
    harness.main()
