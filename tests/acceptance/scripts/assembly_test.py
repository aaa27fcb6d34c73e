#!/usr/bin/env python3
"""One prompt, the same bytes wherever it is made; kills while logs and counts are written."""

import json
import os
import pathlib
import random
import time

import harness

LAYOUT = """schema: dossier.layout/1
name: mixed
sections:
  - {name: rules, zone: system, text: "Be brief."}
  - {name: files, zone: stable, source: files, with: {paths: [src]}, fit: first-of,
     alternatives: [full, outline, names], weight: 2}
  - {name: notes, zone: stable, source: file, with: {path: notes.md}, trust: untrusted,
     fit: head, weight: 1}
  - {name: question, zone: request, source: var, with: {var: question}, required: true}
"""
NAMES = ["Zebra.py", "apple.py", "äpfel.py", "B.py", "i.py", "ı.py", "10.py", "9.py", "日本.py"]


class AssemblyTest(harness.Case):
    def project(self, name: str) -> pathlib.Path:
        folder = self.home / name
        (folder / "src").mkdir(parents=True)
        layouts = folder / ".dossier/layouts"
        layouts.mkdir(parents=True)
        (layouts / "mixed.yaml").write_text(LAYOUT, "utf-8")
        draw = random.Random(5)
        for file in draw.sample(NAMES, len(NAMES)):  # another order of creation is no other order
            text = "".join(f"def f{n}():\n    return '{file}'\n" for n in range(30))
            (folder / "src" / file).write_text(text, "utf-8")
        (folder / "notes.md").write_text("".join(f"line {n}, café\n" for n in range(300)), "utf-8")
        return folder

    def assemble(self, folder: pathlib.Path, *flags: str, **options) -> str:
        process = self.start("--trust-config", "assemble", "mixed", "-D", "question=Which is last?", "--json",
                             "--seed", "1", "--now", "2026-11-21T23:36:43Z", *flags,
                             cwd=folder, **options)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        return out

    def test_folders_locales_and_processors_change_no_byte(self):  # ASM-T1, ASM-38, ASM-112
        first = self.assemble(self.project("one"))
        report = json.loads(first)["report"]
        self.assertIn("cut", [section["outcome"] for section in
                              json.loads(self.assemble(self.home / "one", "--budget", "2000"))
                              ["report"]["sections"]])
        self.assertEqual(report["sections"][1]["outcome"], "kept")
        second = self.project("another folder")
        for budget in ((), ("--budget", "6000"), ("--budget", "2000")):
            want = self.assemble(self.home / "one", *budget)
            self.assertEqual(self.assemble(second, *budget), want, budget)
            for locale in ("C", "POSIX", "C.UTF-8", "tr_TR.UTF-8", "de_DE.UTF-8"):
                self.env |= {"LANG": locale, "LC_ALL": locale}
                self.assertEqual(self.assemble(second, *budget), want, locale)
            for processors in ({min(os.sched_getaffinity(0))}, os.sched_getaffinity(0)):
                def bind(chosen=processors):
                    os.sched_setaffinity(0, chosen)

                self.assertEqual(self.assemble(second, *budget, preexec_fn=bind), want, processors)

    def test_a_kill_while_a_log_is_written_leaves_whole_pairs(self):  # ASM-T15, ASM-T20
        folder, logs = self.project("one"), self.home / "logs"
        chance = random.Random(3)
        for _ in range(25):
            process = self.start("assemble", "mixed", "-D", "question=Go", "--log-dir", str(logs),
                                 cwd=folder)
            # Between the start of the command and the end of its writes.
            until = time.monotonic() + chance.uniform(0, 0.3)
            while process.poll() is None and time.monotonic() < until:
                time.sleep(0.001)
            process.kill()
            process.communicate()
        for path in logs.glob("*.json"):
            document = json.loads(path.read_text("utf-8"))
            text = path.with_suffix(".md").read_text("utf-8")
            self.assertTrue(document["messages"]["turns"], path)
            self.assertIn("Go", text[-200:], path)
        before = {path: path.read_bytes() for path in logs.glob("*_*.json")}
        self.assemble(folder, "--log-dir", str(logs))
        after = {path: path.read_bytes() for path in logs.glob("*_*.json")}
        self.assertEqual({path: after[path] for path in before}, before, "none is overwritten")
        self.assertEqual(len(after), len(before) + 1)

    def test_a_kill_while_counts_are_kept_changes_no_number(self):  # ASM-60, ASM-T20
        folder = self.project("one")
        draw = random.Random(9)
        for number in range(60):
            words = " ".join(draw.choices(["alpha", "beta", "gamma", "delta"], k=4000))
            (folder / f"src/large{number}.txt").write_text(words, "utf-8")
        pack = ("pack", "--seed", "1", "--json", "src")
        code, want, err = self.run_to_end(*pack, "--no-cache", cwd=folder)
        self.assertEqual(code, 0, err)
        for _ in range(25):
            process = self.start(*pack, cwd=folder)
            until = time.monotonic() + draw.uniform(0, 0.3)
            while process.poll() is None and time.monotonic() < until:
                time.sleep(0.001)
            process.kill()
            process.communicate()
            number = draw.randrange(60)  # one file is new each time, so that something is kept
            path = folder / f"src/large{number}.txt"
            path.touch()
        for _ in range(2):
            code, out, err = self.run_to_end(*pack, cwd=folder)
            self.assertEqual((code, out), (0, want), err)


if __name__ == "__main__":
    harness.main()
