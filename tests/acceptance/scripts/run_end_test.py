#!/usr/bin/env python3
"""The end of a run: what a terminal is told, what is kept of it, and what a dry run leaves alone."""

import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import termios
import unittest

import harness

CODE = "```repl\nprint(len(doc.grep('some')), len(context))\nFINAL(str(len(context)))\n```"
BODY = "```repl\nprint('x' * 9000)\nFINAL(str(len(context)))\n```"


class TerminalTest(harness.Case):
    """stdout is a pipe, stderr a terminal of a given width."""

    def told(self, *words: str, columns: int = 120) -> str:
        main, side = os.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.env.pop("COLUMNS", None)
        process = self.start("ask", *self.script([{"reply": CODE, "times": "always"}]),
                             "--mode", "recursive", *words, stderr=side)
        os.close(side)
        seen = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(main)
        process.stdout.read()
        process.wait()
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode()).replace("\r", "\n")

    def setUp(self):
        super().setUp()
        self.write("note.txt", "some words\n" * 400)
        self.ask = ("-c", "note.txt", "How long is it?")

    def test_a_terminal_gets_one_closing_line(self):  # FLT-34
        last = self.told(*self.ask).rstrip("\n").split("\n")[-1]
        self.assertRegex(last, r"^\d+ turns?, \d+ calls?, (about )?[\d,]+ tokens, .*; code read .*; "
                               r"dossier runs show last$")

    def test_a_narrow_one_gets_it_in_whole_parts(self):  # FLT-34
        text = self.told(*self.ask, columns=60)
        self.assertIn("\ndossier runs show last\n", text)
        self.assertTrue(all(len(line) < 60 for line in text.split("\n")[-4:]), text[-400:])

    def test_quiet_and_json_progress_are_left_alone(self):  # FLT-34
        for words in (["--quiet"], ["--progress", "json"]):
            self.assertNotIn("runs show last", self.told(*words, *self.ask), words)

    def test_a_pipe_is_left_alone(self):  # FLT-34
        _, _, err = self.run_to_end("ask", *self.script([{"reply": CODE, "times": "always"}]),
                                    "--mode", "recursive", *self.ask)
        self.assertNotIn("runs show last", err)


class StoreTest(harness.Case):
    def ask(self, *words: str, replies=None) -> tuple:
        return self.run_to_end(
            "ask", *self.script(replies or [{"reply": CODE, "times": "always"}]), "--mode",
            "recursive", *words, "How long is it?")

    def objects(self) -> int:
        folder = self.home / "data/dossier/runs/objects"
        return sum(path.is_file() for path in folder.rglob("*"))

    def test_a_large_context_is_named_and_its_change_is_told(self):  # FLT-33
        self.env["DOSSIER_STORE_COPY_LIMIT"] = "1K"
        path = self.write("large.txt", "some words\n" * 1000)
        code, out, err = self.ask("-c", "large.txt")
        self.assertEqual((code, out), (0, "11000\n"), err)
        self.assertEqual(self.objects(), 0)
        self.assertIn(f"not copied: {path}\n", self.run_to_end("runs", "show", "last")[1])
        os.utime(path)
        self.assertIn(f"not copied: {path}\n", self.run_to_end("runs", "show", "last")[1],
                      "the same bytes")
        self.write("large.txt", "some other\n" * 1000)
        self.assertIn("it has changed since\n", self.run_to_end("runs", "show", "last")[1])
        self.write("large.txt", "short")
        self.assertIn("it has changed since (now 5 B)", self.run_to_end("runs", "show", "last")[1])
        os.unlink(path)
        self.assertIn("it is gone", self.run_to_end("runs", "show", "last")[1])

    def test_a_store_above_its_limit_loses_the_oldest_runs(self):  # FLT-33
        self.env["DOSSIER_STORE_LIMIT"] = "300K"
        said = ""
        for number in range(8):
            self.write("note.txt", f"{number}\n" + "some words\n" * 8000)
            code, _, err = self.ask("-v", "-c", "note.txt")
            self.assertEqual(code, 0, err)
            said += err
        self.assertRegex(said, r"dossier: the store had more than 300.0 KiB: the oldest \d runs? "
                               r"were removed, [\d.]+ KiB freed")
        runs = self.runs()
        self.assertTrue(1 <= len(runs) < 6, len(runs))
        for run in runs:
            self.assertEqual(self.run_to_end("runs", "show", run["run"])[0], 0)

    def test_prune_beside_runs_leaves_what_they_need(self):  # FLT-33
        self.write("note.txt", "some words\n" * 4000)
        replies = [{"reply": BODY, "times": "always"}]
        for _ in range(3):
            self.ask("-c", "note.txt", replies=replies)
        others = [self.start("ask", *self.script(replies), "--mode", "recursive", "-c", "note.txt",
                             f"How long, {number}?") for number in range(4)]
        while any(process.poll() is None for process in others):
            self.assertEqual(self.run_to_end("runs", "prune", "--keep", "1")[0], 0)
        for process in others:
            out, err = process.communicate()
            self.assertEqual((process.returncode, out), (0, "44000\n"), err)
        for run in self.runs():
            for event in self.events(run["run"]):
                if event["type"] == "context.stored":
                    sha256 = event["data"]["sha256"]
                    body = self.home / f"data/dossier/runs/objects/{sha256[:2]}/{sha256}"
                    self.assertTrue(body.exists(), run["run"])

    def test_killed_prunes_leave_a_readable_store(self):  # FLT-33
        self.write("note.txt", "some words\n" * 4000)
        for _ in range(6):
            self.ask("-c", "note.txt", replies=[{"reply": BODY, "times": "always"}])
        for keep in (5, 4, 3, 2, 1):
            process = self.start("runs", "prune", "--keep", str(keep))
            try:
                process.wait(timeout=0.004 * keep)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            for run in self.runs():
                code, out, err = self.run_to_end("runs", "show", run["run"], "--messages")
                self.assertEqual(code, 0, err)
                self.assertNotIn("no such file", out)

    def test_an_interrupted_turn_is_none(self):  # FLT-32
        process = self.start(
            "ask", *self.script([{"reply": "```repl\nprint(1)\n```", "times": 1},
                                 {"reply": "late", "delay": "100s"}]),
            "--json", "--progress", "json", "--mode", "recursive", "What?")
        self.wait_for_event(process, "block.done")
        self.wait_for_event(process, "request.sent")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, json.loads(out)["turns"]), (130, 1), err)
        _, out, _ = self.run_to_end("runs", "show", "last")
        # The second request counts once it has left.
        self.assertRegex(out, r"Status: interrupted \(1 turn, (1 call|2 calls),")


class SilentStdinTest(harness.Case):
    def test_a_silent_stdin_ends_at_its_time(self):  # FLT-28
        process = self.start("ask", *self.script(["a"]), "--stdin-timeout", "300ms", "-c", "-",
                             "Which letter?", stdin=subprocess.PIPE)
        self.assertEqual(process.wait(timeout=60), 7)
        self.assertIn("stdin stayed silent for 300 ms", process.stderr.read())
        process.stdin.close()


class DryRunTest(harness.Case):
    def files(self) -> set:
        return {str(path.relative_to(self.home)) for path in self.home.rglob("*")}

    def test_it_leaves_nothing_and_starts_nothing(self):  # FLT-35
        self.write("note.txt", "some words\n" * 400)
        before = self.files()
        for words in (["-m", "local"], [], ["-m", "local", "--mode", "recursive"],
                      ["-m", "local", "--record", "record.jsonl"], ["-m", "openai/gpt-5-mini"]):
            command = [harness.DOSSIER, "ask", "--dry-run", *words, "-c", "note.txt", "How long?"]
            trace = self.home / "trace"
            if shutil.which("strace"):
                command = ["strace", "-f", "-o", str(trace), "-e",
                           "trace=execve,connect,bind,listen", *command]
            ran = subprocess.run(command, env=self.env, cwd=self.home, capture_output=True,
                                 stdin=subprocess.DEVNULL, timeout=60, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(json.loads(ran.stdout)["schema"], "dossier.plan/1")
            if trace.exists():
                calls = trace.read_text()
                trace.unlink()
                self.assertEqual(calls.count("execve("), 1, calls)
                self.assertNotRegex(calls, r"(connect|bind|listen)\(")
            self.assertEqual(self.files(), before, words)

    def test_it_shows_the_messages_that_a_run_sends(self):  # FLT-35
        self.write("note.txt", "some words\n" * 400)
        words = [*self.script([{"reply": CODE, "times": "always"}]), "--seed", "1", "--mode",
                 "recursive", "-c", "note.txt", "How long is it?"]
        _, out, _ = self.run_to_end("ask", "--dry-run", *words)
        self.assertFalse((self.home / "data").exists())
        planned = texts_in(json.loads(out)["messages"]["turns"])
        self.run_to_end("ask", *words)
        _, story, _ = self.run_to_end("runs", "show", "last", "--messages")
        self.assertIn("How long is it?", " ".join(planned))
        for line in "\n".join(planned).split("\n"):
            self.assertIn(line.strip(), story)


def texts_in(value) -> list:
    """Every string under the name `text`."""
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    if not isinstance(value, dict):
        return []
    own = [value["text"]] if isinstance(value.get("text"), str) else []
    return own + [text for item in value.values() for text in texts_in(item)]


if __name__ == "__main__":
    harness.main()
