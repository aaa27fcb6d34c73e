"""A git repository with tasks, a policy and engines that are lines of shell, for `dossier agents`."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import time

import harness

# What a reviewer that agrees does: the token stands in its prompt.
APPROVE = "grep -o 'APPROVED-[0-9a-f]*' \"$0\" | tail -1"
LOG_KEYS = {"v", "run", "seq", "time", "event", "task-id", "summary", "status", "reason", "targets",
            "confinement", "files", "policy", "propose-exit", "review-exit", "merge", "hash",
            "patch", "moved-branches", "task-digest", "timestamp", "attempts", "seconds", "usage"}


class AgentsCase(harness.Case):
    CONFINE = []  # flags; a machine without landlock needs ["--confine", "none"]

    def setUp(self):
        super().setUp()
        self.repo = self.home / "repo"
        self.repo.mkdir()
        self.env["GIT_CONFIG_NOSYSTEM"] = "1"
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")
        self.engineer("mkdir -p src; echo \"$1\" > src/$1.txt")
        self.reviewer(APPROVE)
        self.put("config/policy.yaml", json.dumps({"allow": ["src/**", "tests/**"]}))
        self.put("README.md", "A repository.\n")
        self.tasks({"id": "fact-001", "summary": "Build it"})

    # The repository.

    def put(self, name: str, content: str) -> pathlib.Path:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def git(self, *words: str, check=True) -> str:
        done = subprocess.run(["git", *words], cwd=self.repo, env=self.env, text=True,
                              capture_output=True)
        if check:
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout.strip()

    def commit(self, message="base"):
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def subjects(self) -> list[str]:
        return self.git("log", "--format=%s", "main").splitlines()

    def state(self) -> pathlib.Path:
        return self.repo / ".git/dossier"

    def snapshot(self) -> dict:
        """Everything that a run which changes nothing must leave as it was."""
        files = {}
        for path in sorted(self.repo.rglob("*")):
            name = path.relative_to(self.repo).as_posix()
            if path.is_file() and (not name.startswith(".git/") or name == ".git/index"):
                files[name] = path.read_bytes()
        files["refs"] = self.git("for-each-ref", "refs/heads", "refs/tags").encode()
        return files

    # What it says.

    def tasks(self, *tasks: dict):
        self.put("config/tasks.json", json.dumps(list(tasks)))

    def engineer(self, script: str, **keys):
        """$0 is the prompt's file, $1 the task's id."""
        self.configure(engineer_keys={"argv": ["sh", "-c", script, "{prompt_file}", "{task_id}"],
                                      **keys})

    def reviewer(self, script: str, **keys):
        self.configure(reviewer_keys={"argv": ["sh", "-c", script, "{prompt_file}", "{task_id}"],
                                      **keys})

    def configure(self, engineer_keys=None, reviewer_keys=None, **agents):
        self.agents = {**getattr(self, "agents", {}), **agents}
        engines = self.agents.setdefault("engines", {})
        if engineer_keys:
            engines["maker"] = engineer_keys
        if reviewer_keys:
            engines["judge"] = reviewer_keys
        self.agents.update(engineer="maker", reviewer="judge")
        self.put("dossier.yml", json.dumps({"agents": self.agents}))

    # Running it.

    def dossier(self, *words: str, **options):
        return self.run_to_end("--trust-config", "agents", *words, cwd=self.repo, **options)

    def run_agents(self, *words: str, **options):
        return self.dossier("run", *self.CONFINE, *words, **options)

    def run_until_begun(self, *words: str):
        """A run whose engineer has made the file `begun`."""
        run = self.start("--trust-config", "agents", "run", *self.CONFINE, *words,
                         cwd=self.repo)
        while not (self.home / "begun").exists():
            self.assertIsNone(run.poll())
            time.sleep(0.02)
        return run

    @staticmethod
    def running(mark: str) -> int:
        """How many processes have `mark` in their command line: behind the walls they have other numbers."""
        count = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                count += mark.encode() in path.read_bytes()
        return count

    def logs(self) -> list[pathlib.Path]:
        """The oldest first: of two runs in one second the names do not tell. A run that was killed
        before its first line has an empty log, and did nothing."""
        begun = {}
        for path in (self.state() / "runs").glob("run-*.jsonl"):
            first = path.read_text().partition("\n")[0]
            if first.endswith("}"):
                begun[path] = json.loads(first)["time"]
        return sorted(begun, key=begun.get)

    def log(self, which=-1) -> list[dict]:
        """`which`: a place in logs(), or one of its paths, which spares to look at all of them."""
        path = which if isinstance(which, pathlib.Path) else self.logs()[which]
        return [json.loads(line) for line in path.read_text().splitlines()]

    def results(self, which=-1) -> dict:
        """The last result line of every task."""
        return {line["task-id"]: line for line in self.log(which)
                if line["event"] == "task.finished"}

    def ledger(self) -> list[str]:
        path = self.repo / "finished_to_review.md"
        if not path.exists():
            path = self.state() / "finished_to_review.md"
        return path.read_text().splitlines() if path.exists() else []

    def assert_sound(self):
        done = subprocess.run(["git", "fsck", "--full", "--strict"], cwd=self.repo, env=self.env,
                              text=True, capture_output=True)
        problems = [line for line in (done.stdout + done.stderr).splitlines()
                    if not line.startswith(("dangling", "Checking", "notice"))]
        self.assertEqual(problems, [])
        self.assertEqual(self.git("status", "--porcelain", "--untracked-files=no"), "")

    def assert_consistent(self, tasks: int):
        """Commits, ledger and logs agree: each task was merged once."""
        self.assert_sound()
        merges = [s for s in self.subjects() if s.startswith("agent:")]
        self.assertEqual(sorted(merges), sorted(set(merges)))
        self.assertEqual(len(merges), tasks)
        self.assertEqual(sum(map(self.approved_merges, self.logs())), tasks)
        ids = [re.search(r"\| APPROVED \| (\S+) \|", line).group(1) for line in self.ledger()]
        self.assertEqual(sorted(ids), sorted(s.removeprefix("agent:").removesuffix(" merge")
                                             for s in merges))

    def approved_merges(self, which) -> int:
        """The merges of a log. Each uses up one approval of its own patch, each approval one review."""
        reviews, approvals, intents = {}, {}, {}
        merges = 0
        for line in self.log(which):
            task = line.get("task-id")
            if line["event"] == "review.finished" and line["verdict"] == "approved":
                reviews[task] = reviews.get(task, 0) + 1
            elif line["event"] == "approval.accepted":
                self.assertGreater(reviews.get(task, 0), 0, line)
                reviews[task] = 0
                approvals[task] = line["patch_sha256"]
            elif line["event"] == "merge.intent":
                intents[task] = line["patch_sha256"]
            elif line["event"] == "merge.done":
                self.assertEqual(approvals.pop(task, None), intents[task], line)
                merges += 1
        return merges
