#!/usr/bin/env python3
"""Kills, full disks, closed outputs, two processes on one store: contract 6, REC-60, REC-68."""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time

import harness

ASK = ("--mode", "recursive", "--context-text", "abc", "Which letter?")
REPLIES = ["```repl\nprint(context)\n```", "```repl\nFINAL(context[0])\n```"]


class SurvivalTest(harness.Case):
    def test_a_kill_at_any_point_leaves_a_readable_journal(self):
        chance = random.Random(7)
        for _ in range(12):
            process = self.start("ask", *self.script(REPLIES), *ASK)
            children = self.children_of(process.pid)
            time.sleep(chance.uniform(0, 1.2))
            children += self.children_of(process.pid)
            process.kill()
            process.communicate()
            self.assert_gone(children)
            for run in self.runs():
                self.assertTrue(self.events(run["run"]))
        code, out, err = self.run_to_end("ask", *self.script(REPLIES), *ASK)
        self.assertEqual((code, out), (0, "a\n"), err)
        self.assertEqual(self.runs()[0]["status"], "final")

    def test_two_processes_on_one_store_lose_nothing(self):
        processes = [self.start("ask", *self.script(REPLIES), *ASK) for _ in range(5)]
        for process in processes:
            out, err = process.communicate(timeout=180)
            self.assertEqual((process.returncode, out), (0, "a\n"), err)
        runs = self.runs()
        self.assertEqual([run["status"] for run in runs], ["final"] * 5)
        for run in runs:
            events = self.events(run["run"])
            self.assertEqual([event["seq"] for event in events],
                             list(range(1, len(events) + 1)))
            self.assertEqual(events[-1]["type"], "run.finished")

    def test_a_full_disk_under_the_journal_does_not_lose_the_answer(self):
        data = self.home / "data"
        data.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", str(data)],
                               capture_output=True, check=False)
        if mount.returncode != 0:
            self.skipTest("a small file system needs root")
        try:
            reply = "```repl\nprint('" + "x" * 300000 + "')\n```"
            code, out, err = self.run_to_end(
                "ask", *self.script([reply, reply, "```repl\nFINAL(context[0])\n```"]), "--json",
                *ASK)
            result = json.loads(out)
            self.assertEqual((code, result["answer"]), (0, "a"), err)
            self.assertIn("journal_failed", [w["code"] for w in result["warnings"]])
            self.assertIn(str(data), err)
            self.run_to_end("runs", "list")
        finally:
            subprocess.run(["umount", str(data)], check=False)

    def test_a_file_size_limit_does_not_lose_the_answer(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

        reply = "```repl\nprint('" + "x" * 300000 + "')\n```"
        code, out, err = self.run_to_end(
            "ask", *self.script([reply, "```repl\nFINAL(context[0])\n```"]), *ASK,
            preexec_fn=limit)
        self.assertEqual((code, out), (0, "a\n"), err)

    def folder(self, files: int) -> str:
        folder = self.home / f"many{files}"
        folder.mkdir(exist_ok=True)
        for i in range(files):
            (folder / f"{i:04}.txt").write_text(f"word {i}\n")
        return str(folder)

    def test_more_files_than_the_soft_limit_of_open_ones(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 1024))

        block = "```repl\nFINAL(f'{len(contexts)} {contexts[-1].strip()}')\n```"
        for mode, reply in (("recursive", block), ("direct", "many")):
            with self.subTest(mode=mode):
                code, out, err = self.run_to_end(
                    "ask", *self.script([{"times": "always", "reply": reply}]), "-c", self.folder(200), "--mode", mode,
                    "--forcing", "none", "--quiet", "What?", preexec_fn=limit)
                self.assertEqual((code, out, err), (0, "200 word 199\n" if mode == "recursive" else "many\n", ""))

    def test_more_files_than_may_be_open_are_an_error(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))

        code, out, err = self.run_to_end(
            "ask", *self.script([{"times": "always", "reply": "FINAL(part)"}]), "-c", self.folder(200), "--mode", "direct",
            "--forcing", "none", "What?", preexec_fn=limit)
        self.assertEqual((code, out), (4, ""), err)
        self.assertIn("Too many open files; each file of a context stays open: give fewer, or raise the limit", err)

    def test_a_store_that_cannot_be_written_names_its_path(self):
        self.write("data", "a file where a folder should be")
        code, out, err = self.run_to_end("ask", *self.script(["a"]), "What?")
        self.assertEqual((code, out), (4, ""), err)
        self.assertIn(f"{self.home}/data", err)

    def test_a_closed_stdout_ends_with_141(self):
        read, write = os.pipe()
        os.close(read)
        process = self.start("ask", *self.script(["a" * 100000]), "What?", stdout=write)
        os.close(write)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 141)
        self.assertEqual(self.runs()[0]["status"], "final")

    def test_a_closed_stderr_changes_nothing(self):
        read, write = os.pipe()
        os.close(read)
        process = self.start("ask", *self.script(REPLIES), "--progress", "json", *ASK, stderr=write)
        os.close(write)
        out, _ = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (0, "a\n"))

    def test_a_file_that_grows_while_it_is_read_is_used_as_copied_and_told(self):
        path = self.home / "growing.txt"
        path.write_bytes(b"0123456789abcde\n" * 1_500_000)  # a copy is kept, see store.copy_limit
        stop = time.monotonic() + 30
        process = self.start("ask", *self.script(["```repl\nFINAL(context[0])\n```"]), "--json",
                             "--mode", "recursive", "-c", str(path), "Which letter?")
        with path.open("ab") as file:
            while process.poll() is None and time.monotonic() < stop:
                file.write(b"more of the same\n" * 100)
                file.flush()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        result = json.loads(out)
        self.assertEqual(result["answer"], "0")
        changed = [w for w in result["warnings"] if w["code"] == "context_changed"]
        self.assertTrue(changed, result["warnings"])
        self.assertRegex(changed[0]["data"], r"growing\.txt changed .*\d bytes, now \d")

    def test_one_line_of_300_megabytes_is_a_context(self):
        path = self.home / "line.txt"
        with path.open("wb") as file:
            for _ in range(300):
                file.write(b"0123456789" * 100_000)
        code, out, err = self.run_to_end(
            "ask", *self.script(["```repl\nprint(len(doc), doc.line_count)\n"
                                 "FINAL(doc[299_999_999:300_000_000])\n```"]),
            "--mode", "recursive", "-c", str(path), "Which digit is the last?", limit=300)
        self.assertEqual((code, out), (0, "9\n"), err)
        run = self.runs()[0]["run"]
        journal = sum(len(json.dumps(event)) for event in self.events(run))
        self.assertLess(journal, 100_000)  # REC-68: whatever the size of the context

    def test_a_batch_of_large_values_comes_whole(self):  # REC-49
        block = ("```repl\nr = llm_query_batched([f'item {i}' for i in range(40)], schema={'type': 'object'})\n"
                 "FINAL(sum(len(x['text']) for x in r))\n```")
        code, out, err = self.run_to_end("ask", *self.script([
            {"purpose": "root", "times": 1, "reply": block},
            {"purpose": "subcall", "times": "always", "reply": json.dumps({"text": "x" * 300_000})}]), *ASK)
        self.assertEqual((code, out), (0, "12000000\n"), err)

    def test_the_journal_of_a_turn_is_small_beside_what_was_said(self):
        replies = [f"```repl\nprint('number', {n})\n```" for n in range(10)] + ["FINAL: it is a"]
        code, out, err = self.run_to_end("ask", *self.script(replies), *ASK)
        self.assertEqual((code, out), (0, "it is a\n"), err)
        database = pathlib.Path(self.env["XDG_DATA_HOME"]).rglob("journal.db*")
        self.assertLess(sum(path.stat().st_size for path in database), 10 * 64 * 1024)

    def test_a_message_is_stored_once_however_often_it_is_sent(self):  # REC-68
        said, turns = 15_000, 12
        replies = [f"```repl\nprint('{chr(97 + n)}' * {said})\n```" for n in range(turns)]
        code, out, err = self.run_to_end(
            "ask", *self.script([*replies, "FINAL: it is a"]), "--mode", "recursive", "--forcing",
            "reference", "-c", str(self.write("note.txt", "abc " * 500)), "Which letter?")
        self.assertEqual((code, out), (0, "it is a\n"), err)
        stored = sum(path.stat().st_size for path in pathlib.Path(
            self.env["XDG_DATA_HOME"]).rglob("objects/*/*") if path.is_file())
        # Each output twice: as printed, and as the message that showed it.
        self.assertLess(stored, turns * (2 * said + 1_000))
        code, out, _ = self.run_to_end("runs", "show", self.runs()[0]["run"], "--turn",
                                       str(turns), "--messages")
        self.assertIn("a" * 1000, out)
        self.assertIn("k" * 1000, out)


if __name__ == "__main__":
    harness.main()
