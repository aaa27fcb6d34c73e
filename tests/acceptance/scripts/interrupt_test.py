#!/usr/bin/env python3
"""Ctrl-C, a closed terminal and kill at every stage of `ask`: REC-61, REC-57, contract 6."""

import json
import os
import pathlib
import shutil
import signal
import time

import harness

# A worker that comes to `stage` and no further. The frame is sandbox.md section 5.
STUCK_WORKER = """#!/usr/bin/python3 -IS
import os, struct, time
hello = (b'{"protocol":1,"worker":"dossier-python-worker","version":"0.1.0","language":"python",'
         b'"language_version":"3","features":[]}')
if "%(stage)s" != "hello":
    os.write(3, struct.pack("<IBBHQII", len(hello), 1, 1, 0, 1, 0, len(hello)) + hello)
time.sleep(600)
"""


class InterruptTest(harness.Case):
    def check_text(self, process, out: str):
        """As `check`; what was on stderr, too."""
        return self.check(process, run=True, out=out), self.err

    def check(self, process, run: bool, out: str = "", by=signal.SIGINT):
        children = self.children_of(process.pid)
        began = time.monotonic()
        process.send_signal(by)
        found, err = process.communicate(timeout=30)
        self.err = err
        # One second is the promise on an idle machine; a busy one gets slack, a hang does not.
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(process.returncode, 128 + by, err)
        self.assertEqual(found, out)
        self.assert_gone(children)
        if run:
            newest = self.runs()[0]
            self.assertEqual(newest["status"], "interrupted")
            self.assertIn(newest["run"], err)
            return newest["run"]
        return None

    def wait_for(self, what, found):
        end = time.monotonic() + 90
        while not (value := found()):
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)
        return value

    def with_worker(self, stage: str):
        """The command in a folder of its own, beside a worker that gets stuck."""
        folder = self.home / stage
        folder.mkdir()
        try:
            os.link(harness.DOSSIER, folder / "dossier")
        except OSError:  # another file system
            shutil.copy(harness.DOSSIER, folder / "dossier")
        worker = folder / "dossier-python-worker"
        worker.write_text(STUCK_WORKER % {"stage": stage})
        worker.chmod(0o755)
        return str(folder / "dossier")

    def test_while_the_worker_starts(self):
        for stage in ("hello", "fork"):  # hello: Python loads, the self test runs
            with self.subTest(stage=stage):
                process = self.start("ask", *self.script(["```repl\nprint(1)\n```"]), "--mode",
                                     "recursive", "--progress", "json", "What?",
                                     command=self.with_worker(stage))
                self.wait_for_event(process, "code.extracted")
                self.check(process, run=True)

    def test_while_a_session_opens(self):
        process = self.start(
            "ask", *self.script([{"reply": "```repl\nprint(1)\n```", "delay": "3s"}]), "--mode",
            "recursive", "--progress", "json", "What?")
        self.wait_for_event(process, "request.sent")
        # The zygote's child is the session that will be opened.
        def spare():
            children = self.children_of(process.pid)
            return [pid for child in children for pid in self.children_of(child)]

        # A busy machine may have started a second one by now: whichever is taken, it does not answer.
        for session in self.wait_for("the session's process", spare):
            os.kill(session, signal.SIGSTOP)
        self.wait_for_event(process, "code.extracted")
        self.check(process, run=True)

    def test_while_code_does_not_listen(self):
        process = self.start(
            "ask", *self.script(["```repl\nanswer['content'] = 'perhaps'\nprint(1)\n```",
                                 "```repl\nsum(range(10**11))\n```"]),
            "--mode", "recursive", "--context-text", "abc", "--progress", "json", "What?")
        self.wait_for_event(process, "block.done")
        self.wait_for_event(process, "block.started")
        self.check(process, run=True, out="perhaps\n")

    def test_the_draft_of_the_block_that_runs_is_printed(self):
        process = self.start(
            "ask", *self.script(["```repl\nanswer['content'] = 'perhaps'\nllm_query('x')\n```",
                                 {"purpose": "subcall", "reply": "late", "delay": "100s"}]),
            "--mode", "recursive", "--context-text", "abc", "--progress", "json", "What?")
        self.wait_for_event(process, "bridge.call")
        run = self.check(process, run=True, out="perhaps\n")
        done = [event for event in self.events(run) if event["type"] == "block.done"]
        self.assertEqual([event["data"]["status"] for event in done], ["interrupted"])

    def test_the_first_answer_of_a_vote_is_printed(self):
        """Another attempt was under way: what is said of the end is how the process ends."""
        process = self.start(
            "ask", *self.script(["```repl\nprint(7)\nanswer['content'] = 'seven'\n"
                                 "answer['ready'] = True\n```",
                                 {"reply": "late", "delay": "100s"}]),
            "--mode", "recursive", "--votes", "2", "--context-text", "abc", "--progress", "json", "What?")
        self.wait_for_event(process, "block.done")
        self.wait_for_event(process, "request.sent")
        _, err = self.check_text(process, out="seven\n")
        self.assertIn("interrupted; the answer so far is not confirmed; `dossier runs resume", err)
        self.assertNotIn("(exit 13)", err)

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

    def test_while_a_large_batch_is_made_ready(self):
        path = self.write("large.txt", "a line that is neither short nor long\n" * 3_000)
        process = self.start(
            "ask", *self.script(["```repl\nllm_query_batched([doc[0:60_000]] * 4_000)\n```",
                                 {"purpose": "subcall", "reply": "late", "delay": "100s"}]),
            "--mode", "recursive", "-c", str(path), "--progress", "json", "What?")
        self.wait_for_event(process, "bridge.call")
        self.check(process, run=True)

    def test_a_run_that_was_stopped_is_shown_with_one_status(self):
        process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]),
                             "--progress", "json", "--mode", "recursive", "What?")
        self.wait_for_event(process, "request.sent")
        run = self.check(process, run=True)
        _, out, _ = self.run_to_end("runs", "show", run)
        self.assertEqual(out.count("Status: "), 1, out)
        self.assertIn("Status: interrupted (0 turns, 1 call", out)

    def test_while_the_files_of_a_folder_are_read(self):
        folder = self.home / "many"
        folder.mkdir()
        text = "a line that is neither short nor long\n" * 30_000
        for number in range(150):
            (folder / f"{number}.txt").write_text(text)
        process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]),
                             "--mode", "recursive", "-c", str(folder), "What?")
        self.wait_for_open(process, ".txt")
        self.check(process, run=False)
        self.assertEqual(self.err.count("\n"), 1, self.err)

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

    def test_other_signals_end_the_run_with_their_own_code(self):
        for by in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=by):
                process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]),
                                     "--progress", "json", "--mode", "recursive", "What?")
                self.wait_for_event(process, "request.sent")
                self.check(process, run=True, by=by)

    def test_a_closed_terminal_ends_no_run_that_was_started_to_outlive_it(self):
        process = self.start("ask", *self.script([{"reply": "late", "delay": "1s"}]), "--progress",
                             "json", "--mode", "direct", "What?",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_event(process, "request.sent")
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, "late\n"), err)

    def test_a_run_whose_process_was_killed_is_not_listed_as_running(self):
        process = self.start("ask", *self.script([{"reply": "late", "delay": "100s"}]),
                             "--progress", "json", "--mode", "recursive", "What?")
        self.wait_for_event(process, "request.sent")
        self.assertEqual([run["status"] for run in self.runs()], ["running"])
        children = self.children_of(process.pid)
        process.kill()
        process.wait()
        self.assert_gone(children)
        run, = self.runs()
        self.assertEqual(run["status"], "interrupted")
        for status, found in (("interrupted", 1), ("running", 0)):
            _, out, _ = self.run_to_end("runs", "list", "--status", status, "--json")
            self.assertEqual(len(json.loads(out)["runs"]), found, status)
        _, out, _ = self.run_to_end("runs", "show", run["run"])
        self.assertIn("Status: interrupted (its process ended", out)


if __name__ == "__main__":
    harness.main()
