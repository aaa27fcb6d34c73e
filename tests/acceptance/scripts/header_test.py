#!/usr/bin/env python3
"""`dossier header` over real repositories and notes with times.

usage: header_test.py --dossier PATH [unittest arguments]
"""

import os
import subprocess
import unittest

import harness

NOW = 1_768_644_000  # 2026-01-17T10:00:00Z
TASKS = '[{:id "fact-001" :summary "Build src/factorial.py" :priority 1 ' \
        ':targets ["src/factorial.py" "tests/test_factorial.py"]}]'
EXAMPLE = '''---  # agent_context
repo:
  branch: "main"
  head: "%s"
  recent_window: "180s"
pending:
  - id: "task-217"
    age: "5m ago"
    files: ["src/auth/", "docs/api.md"]
backlog:
  - {id: "fact-001", summary: "Build src/factorial.py"}
hotspots: []
targets: ["src/factorial.py", "tests/test_factorial.py"]
policy: ["patch-only", ".agent/* only", "minimal diff", "respect targets", "+≤800 lines", "files≤10"]
next_work:
  - "CTO: review task-217 (5m ago)"
  - "Engineer: pick fact-001 — Build src/factorial.py"
mode: "propose"
...
'''


class HeaderTest(harness.Case):
    def setUp(self):
        super().setUp()
        self.root = self.home / "repository"
        self.root.mkdir()

    def git(self, *words: str, folder=None) -> str:
        env = {**self.env, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        for role in ("AUTHOR", "COMMITTER"):
            env |= {f"GIT_{role}_NAME": "a", f"GIT_{role}_EMAIL": "a@example.org"}
        return subprocess.run(["git", *words], cwd=folder or self.root, env=env, check=True,
                              capture_output=True, text=True).stdout.strip()

    def put(self, name: str, text: str = "", age: float = 0) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        os.utime(path, (NOW - age, NOW - age))

    def header(self, *words: str, folder=None, **env: str):
        return subprocess.run([harness.DOSSIER, "header", "--now", "2026-01-17T10:00:00Z", *words],
                              cwd=folder or self.root, env={**self.env, **env}, check=False,
                              capture_output=True, text=True)

    def commit(self) -> str:
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "one")
        return self.git("rev-parse", "--short", "HEAD")

    def example(self) -> str:
        self.put("config/tasks.edn", TASKS)
        self.put("config/policy.edn", "{:max-lines-added 800 :max-files 10}")
        self.put("agent_notes/ready_for_review/2026-01-17__task-217__feat-auth.md",
                 '---\ntargets: ["src/auth/", "docs/api.md"]\n---\n# Auth\n', age=300)
        return EXAMPLE % self.commit()

    def test_the_example_of_the_spec_in_two_locales_and_time_zones(self):  # REP-21, A3
        expected = self.example()
        for env in ({}, {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo"},
                    {"LC_ALL": "C", "TZ": "America/New_York"}):
            ran = self.header("--task", "fact-001", **env)
            self.assertEqual((ran.stdout, ran.stderr, ran.returncode), (expected, "", 0))

    def test_a_folder_below_and_inherited_variables_change_nothing(self):  # REP-11
        expected = self.example()
        (self.root / "src/deep").mkdir(parents=True)
        ran = self.header("--task", "fact-001", folder=self.root / "src/deep", GIT_DIR="/nowhere",
                          GIT_INDEX_FILE="/nowhere")
        self.assertEqual(ran.stdout, expected)

    def repo(self, **options) -> list[str]:
        lines = self.header(**options).stdout.splitlines()
        return [line.strip() for line in lines[2:4]]

    def test_odd_states_of_a_repository(self):  # REP-9, A8
        self.git("init", "-q", "-b", "feature/x")
        self.assertEqual(self.repo(), ['branch: "feature/x"', 'head: "HEAD"'])
        self.git("commit", "-q", "--allow-empty", "-m", "one")
        self.git("tag", "feature/x")
        head = f'head: "{self.git("rev-parse", "--short", "HEAD")}"'
        self.assertEqual(self.repo(), ['branch: "feature/x"', head])
        self.git("worktree", "add", "-q", "-b", "linked", str(self.home / "linked"))
        self.assertEqual(self.repo(folder=self.home / "linked"), ['branch: "linked"', head])
        self.git("checkout", "-q", "--detach")
        self.assertEqual(self.repo(), ['branch: "HEAD"', head])

    def test_git_that_hangs_or_is_missing_ends_nothing(self):  # REP-9, section 6
        self.commit()
        tools = self.home / "tools"
        tools.mkdir()
        ran = self.header(PATH=str(tools))
        self.assertEqual(ran.returncode, 0)
        self.assertIn('head: "HEAD"', ran.stdout)
        self.assertIn("git is not installed", ran.stderr)

    def test_pending_and_hotspots(self):  # REP-13, REP-15, A5
        self.commit()
        for number in range(9):
            self.put(f"agent_notes/ready_for_review/d__r{number}__x.md", age=200 + number)
        self.put("agent_notes/ready_for_review/d__red__x.md", "---\nstatus: red # no\n---\n", 10)
        self.put("agent_notes/scratch/edge.md", age=180)
        self.put("agent_notes/scratch/late.md", age=181)
        out = self.header().stdout
        self.assertEqual(out.count('  - id: "r'), 7)
        self.assertNotIn('id: "red"', out)
        self.assertIn('hotspots:\n  - {path: "ready_for_review/d__red__x.md", age: "just now"}\n'
                      '  - {path: "scratch/edge.md", age: "3m ago"}\ntargets', out)

    def test_the_age_step_rounds_the_clock_down(self):  # REP-6
        self.put("agent_notes/scratch/a.md", age=30)
        self.assertIn('age: "30s ago"', self.header().stdout)
        self.assertIn('age: "just now"', self.header("--age-step", "1d").stdout)

    def test_changed_files_are_hotspots_where_configured(self):  # REP-15
        self.commit()
        self.put("dossier.yml", "header: {hotspots: [files], with: [dirty]}\n", age=9_000)
        self.put("src/new.cc", age=20)
        self.put("agent_notes/scratch/a.md", age=20)
        out = self.header().stdout
        self.assertIn("  dirty: true\n", out)
        self.assertNotIn('"scratch/a.md"', out)

    def test_extras(self):  # REP-19
        self.commit()
        out = self.header("--with", "dirty,upstream,commits,date,environment").stdout
        self.assertIn('  dirty: false\n  upstream: null\n  commits: ["one"]\n'
                      '  date: "2026-01-17"\n  environment: {os: "', out)


if __name__ == "__main__":
    harness.main()
