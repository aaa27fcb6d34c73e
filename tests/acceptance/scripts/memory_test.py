#!/usr/bin/env python3
"""Memory as processes: many writers, kills at any point, a full disk, a lock that is held."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import time

import harness


class MemoryTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.store = str(self.home / "m.sqlite")
        self.env["DOSSIER_MEMORY"] = self.store
        self.ok("init")

    def ok(self, *words: str, **options) -> str:
        code, out, err = self.run_to_end("memory", *words, **options)
        self.assertEqual(code, 0, err)
        return out

    def json(self, *words: str) -> dict:
        return json.loads(self.ok(*words, "--json"))

    def lines(self, name: str, count: int, size: int = 40) -> str:
        """A file to load: `count` different texts."""
        return self.write(f"{name}.jsonl", "".join(
            json.dumps({"text": f"{name} {i} " + "word " * (size // 5), "ref": f"{name}-{i}"}) + "\n"
            for i in range(count)))

    def test_eight_processes_lose_nothing(self):  # MEM-T22, MEM-55
        writers, each = 8, 1000
        files = [self.lines(f"w{n}", each) for n in range(writers)]
        loads = [self.start("memory", "load", file) for file in files]
        for load in loads:
            out, err = load.communicate(timeout=300)
            self.assertEqual((load.returncode, out), (0, f"added {each}, unchanged 0\n"), err)
        with sqlite3.connect(self.store) as db:
            seqs = [row[0] for row in db.execute("SELECT seq FROM records ORDER BY seq")]
            newest = db.execute("SELECT max(seq), count(*) FROM ops").fetchone()
        self.assertEqual(len(set(seqs)), writers * each)
        self.assertEqual(newest[0], newest[1], "a number was left out")
        self.ok("check")

    def test_single_writes_of_many_processes_lose_nothing(self):  # MEM-T22, MEM-55
        adds = [self.start("memory", "add", f"fact {n}") for n in range(40)]
        ids = set()
        for add in adds:
            out, err = add.communicate(timeout=180)
            self.assertEqual(add.returncode, 0, err)
            ids.add(int(out))
        self.assertEqual(len(ids), 40)

    def test_a_kill_at_any_point_leaves_whole_blocks(self):  # MEM-T23, MEM-57
        chance = random.Random(11)
        texts = [{"text": f"text {n} of a block"} for n in range(300)]
        for kill in range(25):
            marked = [{**text, "ref": f"k{kill}"} for text in texts]
            reply = self.write("reply.txt", "<memory_update>" + json.dumps(
                {"core_set": {"last": str(kill)}, "recall_append": marked}) + "</memory_update>\nok")
            process = self.start("memory", "apply", reply)
            time.sleep(chance.uniform(0, 0.25))
            process.kill()
            process.communicate()
            with sqlite3.connect(self.store) as db:
                found = db.execute("SELECT count(*) FROM records WHERE ref = ?",
                                   (f"k{kill}",)).fetchone()[0]
            self.assertIn(found, (0, len(texts)))
            if found:
                self.assertEqual(self.ok("get", "last"), f"{kill}\n")
        self.ok("check")
        self.ok("set", "after", "all")

    def test_a_full_disk_undoes_the_block(self):  # section 6
        folder = self.home / "small"
        folder.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)],
                               capture_output=True, check=False)
        if mount.returncode != 0:
            self.skipTest("a small file system needs root")
        try:
            self.env["DOSSIER_MEMORY"] = str(folder / "m.sqlite")
            self.ok("init")
            self.ok("set", "kept", "yes")
            reply = self.write("reply.txt", "<memory_update>" + json.dumps(
                {"core_set": {"kept": "no"}, "archival_write": [
                    {"text": f"{n} " + "word " * 40000} for n in range(8)]}) + "</memory_update>")
            code, out, err = self.run_to_end("memory", "apply", reply)
            self.assertEqual((code, out), (1, ""), err)
            self.assertIn(str(folder / "m.sqlite"), err)
            self.assertEqual(self.ok("get", "kept"), "yes\n")
        finally:
            subprocess.run(["umount", str(folder)], check=False)

    def test_a_held_lock_is_told_with_its_holder(self):  # section 6, MEM-55
        with sqlite3.connect(self.store, isolation_level=None) as db:
            db.execute("BEGIN IMMEDIATE")
            waiting = self.start("memory", "set", "a", "b")
            self.assertEqual(self.ok("branches"), "root\n")  # readers never wait
            out, err = waiting.communicate(timeout=150)
            db.execute("ROLLBACK")
        self.assertEqual((waiting.returncode, out), (16, ""), err)
        self.assertIn(f"process {os.getpid()}", err)

    def test_reading_changes_no_byte(self):  # MEM-2, MEM-T18
        self.ok("set", "compiler", "icpx")
        self.ok("add", "The linker failed", "--tier", "archival")
        with sqlite3.connect(self.store) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = (self.home / "m.sqlite").read_bytes()
        for words in (["show", "--query", "linker"], ["get", "compiler"], ["search", "linker"],
                      ["history"], ["branches"], ["pressure"], ["export", "--all"], ["check"]):
            self.ok(*words)
        self.assertEqual((self.home / "m.sqlite").read_bytes(), before)

    def test_rendering_holds_every_budget(self):  # MEM-T18, MEM-34
        for n in range(12):
            self.ok("set", f"key{n}", "ä€😀" * 12)
            self.ok("add", f"event {n} " + "ö😀" * 20)
        whole = self.ok("show", "--no-limit")
        for budget in (0, 1, 39, 40, 41, 100, 333, 1000, 2999, 3000):
            shown = self.json("show", "--budget", str(budget), "--report")
            self.assertLessEqual(len(shown["text"]), budget)
            self.assertEqual(shown["report"]["rendered_chars"], len(shown["text"]))
        self.assertEqual(self.ok("show", "--no-limit"), whole)

    def test_ten_thousand_queries_give_the_same_bytes_twice(self):  # MEM-T30
        chance = random.Random(3)
        words = [f"w{n}" for n in range(400)]
        self.ok("load", self.write("t.jsonl", "".join(
            json.dumps({"text": " ".join(chance.choices(words, k=12)), "thread": f"t{i % 9}"}) + "\n"
            for i in range(300))))
        queries = self.write("q.jsonl", "".join(
            json.dumps({"id": i, "query": " ".join(chance.choices(words, k=3))}) + "\n"
            for i in range(10_000)))
        first = self.ok("search", "--queries", queries, limit=600)
        self.assertEqual(first.count("\n"), 10_000)
        self.assertEqual(self.ok("search", "--queries", queries, limit=600), first)

    def test_siblings_move_no_score(self):  # MEM-T12, MEM-39
        self.ok("load", self.write("t.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in (
            "The build failed: the linker could not find libfftw3",
            "Installed fftw3 from source, then built again", "Run finished in 41 seconds",
            "The linker failed again after the upgrade of fftw3"))))
        self.ok("fork", "mine")
        before = self.ok("search", "Why did the linker fail on fftw3?", "--branch", "mine")
        self.ok("fork", "sibling")
        self.ok("load", self.lines("linker fftw3", 1000), "--branch", "sibling")
        after = self.ok("search", "Why did the linker fail on fftw3?", "--branch", "mine")
        self.assertEqual(after, before)
        self.assertEqual([line.split()[1] for line in after.splitlines()],
                         ["0.125000000", "0.116883117", "0.111660079", "0.047619048"])

    def test_a_newer_store_is_left_alone(self):  # section 6
        with sqlite3.connect(self.store) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            db.execute("UPDATE meta SET value = 99 WHERE key = 'schema_version'")
        with sqlite3.connect(self.store) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = (self.home / "m.sqlite").read_bytes()
        code, out, err = self.run_to_end("memory", "set", "a", "b")
        self.assertEqual((code, out), (4, ""), err)
        self.assertRegex(err, r"version 99, this one knows 1")
        self.assertEqual((self.home / "m.sqlite").read_bytes(), before)

    def test_protected_keys_survive_fifty_oversized_values(self):  # MEM-T7, MEM-13
        self.ok("set", "RESOURCE_INDEX", "the index")
        self.ok("set", "mine", "pinned", "--pin")
        for n in range(50):
            self.ok("set", f"big{n}", f"{n} " + "x" * 3000)
        self.assertEqual(self.ok("get", "RESOURCE_INDEX"), "the index\n")
        self.assertEqual(self.ok("get", "mine"), "pinned\n")
        code, _, err = self.run_to_end("memory", "set", "CoreDigest", "x" * 17_000)
        self.assertEqual(code, 2, err)
        self.assertIn("too_large", err)
        self.assertIn("16000", err.replace(",", ""))

    def test_completion_knows_branches_and_keys(self):  # MEM-T29, CON-8
        self.ok("set", "compiler", "icpx")
        self.ok("fork", "n1")
        for words, wanted in ((["memory", "get", "comp"], "compiler"),
                              (["memory", "get", "x", "--branch", "n"], "n1"),
                              (["memory", "con"], "consolidate")):
            code, out, err = self.run_to_end("__complete", "--", *words)
            self.assertEqual(code, 0, err)
            self.assertIn(wanted, [line.split("\t")[0] for line in out.splitlines()])

    def test_an_interrupt_ends_a_long_search(self):  # 3.1: exit 130
        self.ok("load", self.lines("a", 2000))
        queries = self.write("q.jsonl", "".join(
            json.dumps({"id": i, "query": "word a"}) + "\n" for i in range(200_000)))
        process = self.start("memory", "search", "--queries", queries)
        self.assertTrue(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)


if __name__ == "__main__":
    harness.main()
