#!/usr/bin/env python3
"""`dossier agents` as people run it: engines are lines of shell over real git repositories."""

import json
import os
import pathlib
import signal
import subprocess

import agents_case
from agents_case import APPROVE, LOG_KEYS
import harness


class OneTask(agents_case.AgentsCase):
    def test_a_task_is_merged_and_everything_says_so(self):  # REP-A13, REP-43, REP-46, REP-50
        self.put("agent_notes/ready_for_review/2026-01-01__fact-001__x.md", "---\nid: fact-001\n---\n")
        self.commit()
        code, out, err = self.run_agents()
        self.assertEqual((code, out), (0, "fact-001 -> merged\n"), err)
        self.assertEqual(self.subjects(), ["agent:fact-001 merge", "base"])
        self.assertEqual((self.repo / "src/fact-001.txt").read_text(), "fact-001\n")
        body = self.git("log", "-1", "--format=%b", "main")
        result = self.results()["fact-001"]
        self.assertIn(f"Dossier-Run: {result['run']}", body)
        self.assertIn(f"Dossier-Patch-SHA256: {result['hash']}", body)
        self.assertEqual(set(result), LOG_KEYS)
        self.assertEqual(result["status"], "merged")
        self.assertEqual(result["merge"]["commit"], self.git("rev-parse", "main"))
        self.assertEqual((result["propose-exit"], result["review-exit"], result["usage"]), (0, 0, None))
        self.assertEqual(result["files"], ["src/fact-001.txt"])
        self.assertRegex(self.ledger()[0],
                         r"^- \d{4}-\d\d-\d\d \d\d:\d\dZ \| APPROVED \| fact-001 \| "
                         r"ready_for_review/2026-01-01__fact-001__x.md \| patch_sha256="
                         + result["hash"] + "$")
        self.assertIn("merged 1:\n  fact-001", err)
        self.assertEqual([line["event"] for line in self.log()],
                         ["run.started", "task.claimed", "engine.started", "engine.finished",
                          "patch.taken", "policy.checked", "review.started", "review.finished",
                          "approval.accepted", "merge.intent", "merge.done", "ledger.appended",
                          "task.finished", "run.finished"])
        self.assert_sound()

    def test_a_task_that_is_merged_is_not_worked_on_again(self):  # REP-49
        self.commit()
        self.run_agents()
        code, out, _ = self.run_agents()
        self.assertEqual((code, out), (0, "fact-001 -> skipped\n"))
        self.assertEqual(len(self.subjects()), 2)

    def test_the_header_names_no_task_that_is_merged(self):  # REP-14, REP-18
        tasks = [{"id": f"t{n}", "summary": f"Build {n}"} for n in (1, 2)]
        self.tasks(*tasks)
        self.commit()
        self.run_agents("--only", "t1")
        for words in (("header",), ("agents", "context")):
            head = json.loads(self.run_to_end(*words, "--json", "--trust-config", cwd=self.repo)[1])
            self.assertEqual([one["id"] for one in head["backlog"]], ["t2"])
            self.assertIn("Engineer: pick t2 — Build 2", head["next_work"])
        self.tasks({"id": "t1", "summary": "Build 1 anew"}, tasks[1])  # another task than was merged
        self.assertIn("pick t1", self.run_to_end("header", "--trust-config", cwd=self.repo)[1])
        self.tasks(*tasks)
        self.git("reset", "-q", "--hard", "HEAD~1")  # the merge is taken back
        self.assertIn("pick t1", self.run_to_end("header", "--trust-config", cwd=self.repo)[1])

    def test_a_merge_is_remembered_without_its_log(self):  # FLT-119
        self.commit()
        self.run_agents()
        for log in self.logs():
            log.unlink()
        code, out, err = self.run_agents()
        self.assertEqual((code, out), (0, "fact-001 -> skipped\n"), err)
        self.assertIn("says the ledger", self.results()["fact-001"]["reason"])
        self.assertEqual(self.subjects(), ["agent:fact-001 merge", "base"])
        self.git("reset", "-q", "--hard", "HEAD~1")   # taken back: the branch knows of no merge
        for log in self.logs():
            log.unlink()
        self.assertEqual(self.run_agents()[1], "fact-001 -> merged\n")

    def test_json_lists_in_the_order_of_the_tasks(self):  # REP-49
        self.tasks({"id": "b", "summary": "x", "priority": 9}, {"id": "a", "summary": "y"})
        self.commit()
        code, out, err = self.run_agents("--json", "--workers", "2")
        self.assertEqual(code, 0, err)
        self.assertEqual([r["task-id"] for r in json.loads(out)["results"]], ["b", "a"])

    def test_status_counts_the_last_word_on_each_task(self):  # REP-50, REP-A30
        self.commit()
        self.assertEqual(self.dossier("status")[1], "No runs recorded yet.\n")
        self.run_agents()
        log = self.logs()[0]
        with log.open("a") as file:
            file.write('garbage\n{"task-id":"old","status":"needs-fix","timestamp":1}\n{"v":1,"ru')
        code, out, err = self.dossier("status")
        self.assertEqual((code, out), (0, f"Latest run: {log.name}\n  merged: 1\n  needs-fix: 1\n"
                                          "Total tasks: 2\n"))
        self.assertIn("2 lines", err)
        self.assertEqual(self.dossier("status", "run-19")[0], 4)

    def test_the_latest_run_is_the_one_that_began_last(self):  # REP-50, 3.2
        self.commit()
        self.run_agents()
        first = self.logs()[0]
        first.rename(first.with_name("run-29990101-000000-ffffff.jsonl"))
        self.tasks({"id": "second", "summary": "x"})
        self.run_agents()
        code, out, _ = self.dossier("status")
        self.assertEqual(out.splitlines()[0], f"Latest run: {self.logs()[1].name}")
        self.assertNotIn("2999", out)

    def test_completion_knows_tasks_and_runs(self):  # CON-8
        self.tasks({"id": "fact-001", "summary": "Build it"}, {"id": "docs-2", "summary": "Say it"})
        self.commit()
        def offered(*words: str) -> str:
            return self.run_to_end("__complete", "--", *words, cwd=self.repo)[1]
        for words in (["agents", "run", "--only"], ["agents", "context", "--task"],
                      ["header", "--task"]):
            self.assertIn("docs-2", offered(*words, ""), words)
            self.assertNotIn("docs-2", offered(*words, "fa"), words)
            self.assertIn("Build it", offered(*words, "fa"), words)
        self.run_agents()
        for action in ("status", "resume"):
            self.assertIn(self.logs()[0].stem, offered("agents", action, ""))


class Refusals(agents_case.AgentsCase):
    def status_after(self, *words: str):
        self.commit()
        code, _, err = self.run_agents(*words)
        self.assertEqual(self.subjects(), ["base"], err)
        result = self.results()["fact-001"]
        return code, result["status"], result["reason"]

    def test_what_approves_nothing(self):  # REP-A17, REP-41
        other = "APPROVED-" + "0" * 32
        cases = {"true": "neither", "touch .agent/APPROVED": "approval-unbound",
                 "echo APPROVED": "approval-unbound", f"touch .agent/{other}": "approval-mismatch",
                 f"echo {other}": "approval-mismatch", APPROVE + "; exit 3": "exit code 3"}
        self.commit()
        for number, (script, reason) in enumerate(cases.items()):
            self.reviewer(script)
            self.tasks({"id": f"t{number}", "summary": "x"})
            code, out, err = self.run_agents()
            self.assertEqual((code, out), (13, f"t{number} -> review-failed\n"), (script, err))
            self.assertIn(reason, self.results()[f"t{number}"]["reason"])
        self.assertEqual(self.subjects(), ["base"])

    def test_a_refusal_beats_the_token(self):  # REP-A17
        self.reviewer(APPROVE + "; echo NEEDS_CHANGES")
        self.assertEqual(self.status_after("--attempts", "1")[:2], (13, "needs-fix"))

    def test_feedback_reaches_the_second_attempt(self):  # REP-A18, REP-42
        self.engineer("mkdir -p src; cp \"$0\" src/prompt.txt")
        self.reviewer("if [ -e \"$HOME/seen\" ]; then " + APPROVE + "; else touch \"$HOME/seen\"; "
                      "echo '- FIX: say please' > .agent/review.txt; fi", writable=["~/"])
        self.commit()
        code, out, err = self.run_agents()
        self.assertEqual((code, out), (0, "fact-001 -> merged\n"), err)
        self.assertIn("FIX: say please", (self.repo / "src/prompt.txt").read_text())
        self.assertEqual(self.results()["fact-001"]["attempts"], 2)

    def test_the_last_refusal_leaves_both_notes(self):  # REP-A18, REP-42
        note = self.put("agent_notes/ready_for_review/2026-01-01__fact-001__x.md",
                        "---\nid: fact-001\nstatus: green\n---\nText\n")
        self.reviewer("echo '- VIOLATION: wrong' > .agent/review.txt")
        self.assertEqual(self.status_after("--attempts", "1")[:2], (13, "needs-fix"))
        self.assertEqual(note.read_text(), "---\nid: fact-001\nstatus: red\n---\nText\n")
        notes = list((self.repo / "agent_notes/notes_FROM_CTO").iterdir())
        self.assertEqual(len(notes), 1)
        self.assertRegex(notes[0].name, r"^\d{4}-\d\d-\d\d__judge__review-fact-001\.md$")
        self.assertIn("- VIOLATION: wrong", notes[0].read_text())

    def test_a_denied_path_is_refused_whatever_the_reviewer_says(self):  # REP-38, REP-2
        self.engineer("mkdir -p src secrets; echo a > src/a; echo b > secrets/b")
        code, status, reason = self.status_after("--attempts", "1")
        self.assertEqual((code, status), (12, "policy-violation"))
        self.assertIn("rule allow: secrets/b", reason)
        self.assertEqual(self.results()["fact-001"]["policy"]["not-allowed"], ["secrets/b"])

    def test_nothing_changed_and_a_failing_engine(self):  # REP-37, REP-35
        self.engineer("true")
        self.assertEqual(self.status_after()[:2], (13, "missing-patch"))
        self.engineer("mkdir -p src; echo x > src/x; exit 3")
        code, out, _ = self.run_agents()
        self.assertEqual((code, out), (13, "fact-001 -> engine-failed\n"))
        self.assertEqual(self.results()["fact-001"]["propose-exit"], 3)
        self.assertTrue(pathlib.Path(self.results()["fact-001"]["patch"]).exists())

    def test_a_failing_check_is_feedback(self):  # REP-40
        self.configure(checks=[{"name": "unit", "argv": ["sh", "-c", "echo broken; exit 1"]}])
        code, status, reason = self.status_after("--attempts", "1")
        self.assertEqual((code, status), (13, "needs-fix"))
        self.assertIn("the check unit failed: ended with exit code 1", reason)

    def test_a_check_that_ran_out_of_time_says_so(self):  # REP-40
        self.configure(checks=[{"name": "unit", "argv": ["sleep", "600"], "timeout": "1s"}])
        self.commit()
        code, _, err = self.run_agents("--attempts", "1")
        self.assertEqual(code, 13)
        self.assertIn("fact-001: check unit failed: ran out of its 1 s\n", err)
        self.assertIn("needs-fix: the check unit failed: ran out of its 1 s\n", err)

    def test_time_is_up_for_every_descendant(self):  # REP-A19, REP-35
        self.put("config/policy.yaml", json.dumps({"allow": ["src/**"], "propose-timeout-seconds": 1}))
        mark = f"{self.home}/mark"
        self.engineer(f": {mark}; trap '' TERM; setsid sh -c \": {mark}; trap '' TERM; echo begun >&2; "
                      "while :; do sleep 0.1; done\" & while :; do sleep 0.1; done")
        code, status, _ = self.status_after()
        self.assertEqual((code, status), (7, "timed-out"))
        err = next(self.state().glob("runs/*/fact-001/1/engineer.err")).read_text()
        self.assertEqual(err, "begun\n")
        self.assertEqual(self.running(mark), 0)

    def test_given_values_are_in_no_file(self):  # REP-A31
        self.env["THE_KEY"] = "a-very-secret-value"
        self.engineer("echo $THE_KEY; echo $THE_KEY >&2; mkdir -p src; echo x > src/x",
                      env_allow=["THE_KEY"])
        self.reviewer("echo \"- FIX: $THE_KEY\" > .agent/review.txt", env_allow=["THE_KEY"])
        self.put("agent_notes/scratch/a.md", "x")
        self.status_after("--attempts", "1")
        for path in self.home.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"a-very-secret-value", path.read_bytes(), path)


class Queue(agents_case.AgentsCase):
    def test_order_blocked_and_cycle(self):  # REP-A28, REP-32
        self.engineer("[ $1 = a ] && exit 1; mkdir -p src; echo x > src/$1.txt")
        self.tasks({"id": "c", "summary": "x", "depends_on": ["b"]},
                   {"id": "b", "summary": "x", "depends_on": ["a"]},
                   {"id": "a", "summary": "x"}, {"id": "d", "summary": "x", "priority": 1})
        self.commit()
        code, out, _ = self.run_agents()
        self.assertEqual((code, out), (13, "d -> merged\na -> engine-failed\nb -> blocked\n"
                                           "c -> blocked\n"))
        self.tasks({"id": "a", "summary": "x", "depends_on": ["b"]},
                   {"id": "b", "summary": "x", "depends_on": ["a"]})
        runs = len(self.logs())
        code, _, err = self.run_agents()
        self.assertEqual(code, 3)
        self.assertIn("a -> b -> a", err)
        self.assertEqual(len(self.logs()), runs)

    def test_the_folder_queue_moves_and_returns(self):  # REP-A28, REP-31
        (self.repo / "config/tasks.json").unlink()
        self.engineer("[ $1 = bad ] && exit 1; mkdir -p src; echo x > src/$1.txt")
        for name in ("good", "bad"):
            self.put(f"tasks/pending/{name}.json", json.dumps({"summary": "x"}))
        self.commit()
        self.run_agents()
        self.assertTrue((self.repo / "tasks/complete/good.json").exists())
        self.assertTrue((self.repo / "tasks/pending/bad.json").exists())
        self.assertEqual(list((self.repo / "tasks/current").iterdir()), [])

    def test_a_list_in_a_folder_of_a_queue_stays(self):  # REP-31: its other tasks would go with it
        (self.repo / "config/tasks.json").unlink()
        self.engineer("mkdir -p src; echo x > src/$1.txt")
        tasks = [{"id": name, "summary": "x"} for name in ("one", "two")]
        self.put("work/pending/list.json", json.dumps(tasks))
        self.commit()
        code, _, err = self.run_agents("--tasks", "work/pending/list.json", "--only", "one")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads((self.repo / "work/pending/list.json").read_text()), tasks)

    def test_many_tasks_and_workers_merge_each_once(self):  # REP-A23; $DOSSIER_TEST_TASKS of them
        count = int(os.environ.get("DOSSIER_TEST_TASKS", "16"))
        self.tasks(*[{"id": f"t{n}", "summary": "x"} for n in range(count)])
        self.commit()
        code, out, err = self.run_agents("--workers", "8", limit=1200)
        self.assertEqual(code, 0, err[-2000:])
        self.assertEqual(sorted(out.split("\n")[:-1]), sorted(f"t{n} -> merged" for n in range(count)))
        self.assert_consistent(count)

    def test_two_that_change_one_line(self):  # REP-A23, REP-43
        self.put("src/line.txt", "old\n")
        self.engineer("echo $1 > src/line.txt; touch \"$HOME/$1\"; i=0; "
                      "while [ $i -lt 200 ] && ! [ -e \"$HOME/one\" -a -e \"$HOME/two\" ]; do "
                      "sleep 0.05; i=$((i+1)); done", writable=["~/"])
        self.tasks({"id": "one", "summary": "x"}, {"id": "two", "summary": "x"})
        self.commit()
        code, out, err = self.run_agents("--workers", "2")
        # The loser tries again on the new tip, where its change is one of another line.
        self.assertEqual(code, 0, err)
        self.assertEqual(len(self.subjects()), 3)
        self.assertEqual(sorted(r["attempts"] for r in self.results().values()), [1, 2])
        self.git("reset", "-q", "--hard", "HEAD~2")
        for name in ("one", "two"):
            (self.home / name).unlink()
        code, out, err = self.run_agents("--workers", "2", "--attempts", "1")
        self.assertEqual(sorted(line.split(" -> ")[1] for line in out.splitlines()),
                         ["apply-failed", "merged"], err)

    def test_two_runs_share_one_queue(self):  # REP-A29, REP-49
        self.tasks(*[{"id": f"t{n}", "summary": "x"} for n in range(6)])
        self.commit()
        runs = [self.start("--trust-config", "agents", "run", *self.CONFINE, "--workers", "2",
                           cwd=self.repo) for _ in range(2)]
        ends = [run.communicate(timeout=300) for run in runs]
        self.assertEqual([run.returncode for run in runs], [0, 0], ends)
        self.assertEqual(len(self.logs()), 2)
        merged = [line for out, _ in ends for line in out.splitlines() if line.endswith("merged")]
        self.assertEqual(len(merged), 6)
        self.assert_consistent(6)

    def test_a_dry_run_changes_nothing(self):  # REP-A27, REP-48
        self.put("agent_notes/scratch/a.md", "x")
        self.commit()
        before = self.snapshot()
        code, out, err = self.run_agents("--dry-run")
        self.assertEqual(code, 0, err)
        self.assertIn("fact-001 -> skipped\n", out)
        patch = pathlib.Path(out.splitlines()[-1])
        self.assertIn("+fact-001", patch.read_text())
        self.assertEqual(self.snapshot(), before)

    def test_a_plan_starts_nothing(self):  # REP-A27
        self.tasks({"id": "b", "summary": "second", "depends_on": ["a"], "priority": 1},
                   {"id": "a", "summary": "first"})
        self.commit()
        before = self.snapshot()
        code, out, err = self.run_agents("--plan")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"Base: [0-9a-f]{40} \(refs/heads/main\)\nEngineer: maker\nReviewer: "
                              r"judge\n  1\. a  first  \([\d,]+ prompt tokens\)\n  2\. b  second")
        self.assertEqual((self.snapshot(), self.logs()), (before, []))

    def test_a_plan_needs_no_engine(self):
        self.tasks({"id": "a", "summary": "first"})
        self.put("dossier.yml", "")
        self.commit()
        code, out, err = self.run_agents("--plan")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"  1\. a  first  \([\d,]+ prompt tokens\)\n")
        for role in ("engineer", "reviewer"):
            self.assertIn(f"Would not start: no engine is chosen for the {role}: set agents.{role}", out)
        code, out, err = self.run_agents()
        self.assertEqual((code, out), (3, ""), err)
        self.assertIn("for 2 reasons:\n- no engine is chosen for the engineer", err)

    def test_broken_files_are_told_with_all_else(self):
        self.put("config/tasks.json", '[{"id": "a", "deps": []},\n {"id": "b"}]')
        self.put("config/policy.yaml", "max-fiels: 1")
        self.commit()
        for flags in (["--plan"], []):
            code, out, err = self.run_agents("--engineer", "makr", *flags)
            self.assertEqual((code, out), (3, ""), err)
            for text in ("nothing was started, for 4 reasons:", "\n- config/policy.yaml:1:1: unknown key max_fiels",
                         "config/tasks.json:1:14: task 1 (a): unknown key deps (depends_on?)\n",
                         "\n- config/tasks.json:2:3: task 2 (b): has no summary", "did you mean maker?"):
                self.assertIn(text, err)
            code, out, header = self.run_to_end("header", "--trust-config", cwd=self.repo)
            self.assertEqual((code, out), (3, ""), header)
            self.assertIn("config/tasks.json:2:3: task 2 (b): has no summary", header)


class AdHoc(agents_case.AgentsCase):
    def test_flags_behind_the_text_are_refused(self):  # REP-A33, REP-1
        self.commit()
        for words in (["do", "x", "--dry-run"], ["do", "-v"], ["do", "--no-such"]):
            code, out, err = self.dossier("prompt", *self.CONFINE, *words)
            self.assertEqual((code, out), (2, ""), err)
        self.assertIn("flag after the prompt text: put flags first, or use --",
                      self.dossier("prompt", "do", "x", "--dry-run")[2])
        for words in ([], ["--"], ["-", ], ["x", "--", "y"], ["--", "  "]):
            self.assertEqual(self.dossier("prompt", *words)[0], 2, words)

    def test_the_text_is_the_task(self):  # REP-A33, O-16
        self.engineer("mkdir -p src; cp \"$0\" src/prompt.txt")
        self.commit()
        code, out, err = self.dossier("prompt", *self.CONFINE, "--dry-run", "--targets", "src", "--",
                                      "--x", "y")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"^prompt-\d+ -> skipped\n")
        self.assertIn("+Targets: src", pathlib.Path(out.splitlines()[-1]).read_text())
        self.assertIn("--x y", pathlib.Path(out.splitlines()[-1]).read_text())
        code, out, err = self.dossier("prompt", *self.CONFINE, "-", stdin=subprocess.PIPE)
        self.assertEqual(code, 2, err)


class WrongUse(agents_case.AgentsCase):
    def test_configuration_that_cannot_work(self):  # section 6
        self.commit()
        cases = [(["--engineer", "makr"], 4, "did you mean maker?"),
                 (["--target", "mian"], 4, "did you mean main?"),
                 (["--only", "fact-01"], 4, "fact-001"),
                 (["--workers", "65"], 2, "--workers"), (["--attempts", "0"], 2, "--attempts")]
        for words, wanted, text in cases:
            code, out, err = self.run_agents(*words)
            self.assertEqual((code, out), (wanted, ""), (words, err))
            self.assertIn(text, err)
        self.configure(engineer_keys={"argv": ["no-such-engine"]})
        code, _, err = self.run_agents()
        self.assertEqual(code, 3)
        self.assertIn("no-such-engine", err)
        self.git("checkout", "-q", "--detach")
        self.engineer("true")
        code, _, err = self.run_agents()
        self.assertEqual(code, 4)
        self.assertIn("--target", err)
        self.assertEqual(self.logs(), [])

    def test_engines_of_a_project_need_trust(self):  # REP-A34
        (self.repo / "dossier.yml").unlink()
        self.put("agentnet.edn", '{:engineer "e" :reviewer "e" :engines {:e {:argv ["touch" '
                                 f'"{self.home}/started"]}}}}}}')
        self.commit()
        code, out, err = self.run_to_end("agents", "run", *self.CONFINE, cwd=self.repo)
        self.assertEqual((code, out), (12, ""), err)
        self.assertFalse((self.home / "started").exists())

    def test_outside_of_a_repository(self):  # section 6
        code, _, err = self.run_to_end("agents", "status", cwd=self.home)
        self.assertEqual(code, 4)
        self.assertIn("no git repository", err)


class BeforeTheFirstEngine(agents_case.AgentsCase):
    IDENTITY = "git does not know who commits here"

    def setUp(self):
        super().setUp()
        self.engineer("touch \"$HOME/ran\"; mkdir -p src; echo \"$1\" > src/$1.txt",
                      writable=["~/"])

    def lose_identity(self):
        for name in ("user.name", "user.email"):
            self.git("config", "--unset", name)

    def begin_merge(self):
        self.git("checkout", "-q", "-b", "side")
        self.put("side.txt", "x")
        self.commit("side")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "--no-commit", "side")

    def refused(self, *words: str) -> str:
        """What the command said that started no engine and changed nothing."""
        before = self.snapshot()
        code, out, err = self.dossier(*(words or ["run", *self.CONFINE]))
        self.assertEqual((code, out), (3, ""), err)
        self.assertEqual(self.snapshot(), before)
        self.assertFalse((self.home / "ran").exists(), err)
        return err

    def test_all_that_is_wrong_is_told_at_once(self):  # FLT-120
        self.commit()
        self.begin_merge()
        self.lose_identity()
        self.configure(checks=[{"name": "unit", "argv": ["no-such-check"]},
                               {"name": "lint", "argv": ["/nowhere/lint"]}])
        self.reviewer("true", argv=["no-such-judge"])
        err = self.refused()
        self.assertEqual(self.logs(), [])
        self.assertIn("nothing was started, for 5 reasons:\n", err)
        lines = [line for line in err.splitlines() if line.startswith("- ")]
        wanted = [["engine judge: there is no program no-such-judge", "PATH is"],
                  [self.IDENTITY, "`git config user.name NAME`", "`git config user.email ADDRESS`"],
                  [f"a merge is in progress in {self.repo}", "`git merge --abort`"],
                  ["check unit: there is no program no-such-check", "install it"],
                  ["check lint: there is no program /nowhere/lint", "correct its path"]]
        self.assertEqual(len(lines), len(wanted), err)
        for line, texts in zip(lines, wanted):
            for text in texts:
                self.assertIn(text, line)
        code, out, _ = self.dossier("run", "--plan", *self.CONFINE)
        self.assertEqual(code, 0)
        self.assertEqual(out.count("Would not start: "), 5)
        plan = json.loads(self.dossier("run", "--plan", "--json", *self.CONFINE)[1])
        self.assertEqual(len(plan["problems"]), 5)

    def test_one_reason_is_one_sentence_and_a_way_out(self):  # FLT-120
        self.commit()
        self.lose_identity()
        self.assertIn("dossier: nothing was started: " + self.IDENTITY, self.refused())
        self.git("config", "user.name", "Ada")
        self.assertIn(self.IDENTITY, self.refused("prompt", *self.CONFINE, "--", "Do it"))
        self.git("config", "user.email", "ada@example.org")
        self.assertEqual(self.run_agents()[:2], (0, "fact-001 -> merged\n"))

    def test_what_a_dry_run_does_not_need_is_not_asked_for(self):  # FLT-120
        self.commit()
        self.begin_merge()
        self.lose_identity()
        code, out, err = self.run_agents("--dry-run")
        self.assertEqual((code, out.splitlines()[0]), (0, "fact-001 -> skipped"), err)
        self.configure(checks=[{"name": "unit", "argv": ["no-such-check"]}])
        code, _, err = self.run_agents("--dry-run")
        self.assertEqual(code, 3)
        self.assertIn("check unit: there is no program no-such-check", err)

    def test_a_check_of_the_tree_is_looked_for_in_the_branch(self):  # FLT-120
        checks = [{"name": "unit", "argv": ["./src/unit.sh"]}]
        self.configure(checks=checks)
        self.tasks({"id": "a", "summary": "x", "targets": ["tests"]})
        self.commit()
        self.assertIn("check unit: there is no program src/unit.sh in refs/heads/main; commit it",
                      self.refused())
        # A task may add it: a warning, and the task is worked on.
        self.tasks({"id": "b", "summary": "x", "targets": ["src"]})
        self.engineer("mkdir -p src; printf '#!/bin/sh\\n' > src/unit.sh; chmod +x src/unit.sh")
        code, out, err = self.run_agents()
        self.assertEqual((code, out), (0, "b -> merged\n"), err)
        self.assertIn("warning: check unit: there is no program src/unit.sh in refs/heads/main; ", err)
        self.tasks({"id": "c", "summary": "x", "targets": ["tests"]})
        self.engineer("mkdir -p tests; echo x > tests/$1")
        code, out, err = self.run_agents()
        self.assertEqual((code, out), (0, "c -> merged\n"), err)
        self.assertNotIn("src/unit.sh", err)
        self.tasks({"id": "d", "summary": "x", "targets": ["tests"]})
        (self.repo / "src/unit.sh").chmod(0o644)
        self.commit("a file")
        self.assertIn("src/unit.sh is no program in refs/heads/main; `git update-index --chmod=+x "
                      "src/unit.sh`", self.refused())
        # A link counts as what it leads to.
        (self.repo / "src/unit.sh").chmod(0o755)
        (self.repo / "unit").symlink_to("src/unit.sh")
        self.commit("a link")
        self.configure(checks=[{"name": "unit", "argv": ["./unit"]}])
        self.assertEqual(self.run_agents()[:2], (0, "d -> merged\n"))

    def test_nothing_to_start_needs_nothing(self):  # FLT-120
        self.commit()
        self.lose_identity()
        self.tasks()
        code, out, err = self.run_agents()
        self.assertEqual((code, out), (0, ""))
        self.assertIn("nothing to do: no task waits in config/tasks.json or tasks/pending; write", err)
        self.assertIn("no task waits in config/other.json;", self.run_agents(
            "--tasks", self.put("config/other.json", "[]").relative_to(self.repo).as_posix())[2])

    def test_local_changes_of_a_target_cost_nothing(self):  # FLT-120
        self.put("src/a.txt", "1\n")
        self.tasks({"id": "a", "summary": "x", "targets": ["src/a.txt"]},
                   {"id": "new", "summary": "x", "targets": ["./src/new.txt"]},
                   {"id": "free", "summary": "x", "targets": ["src", "src/free.txt"]})
        self.commit()
        for name in ("a", "new", "other"):
            self.put(f"src/{name}.txt", "mine\n")
        code, out, err = self.run_agents()
        self.assertEqual((code, out), (13, "a -> blocked\nfree -> merged\nnew -> blocked\n"), err)
        self.assertIn(f"src/a.txt has changes in {self.repo} that are not committed; commit, stash", err)
        self.assertIn("src/new.txt has changes", err)
        started = [line["task-id"] for line in self.log() if line["event"] == "engine.started"]
        self.assertEqual(started, ["free"])

    def test_local_changes_that_are_found_at_the_merge(self):  # REP-A21
        self.put("src/fact-001.txt", "1\n")
        self.commit()
        self.put("src/fact-001.txt", "mine\n")
        code, out, err = self.run_agents()
        self.assertEqual((code, out), (13, "fact-001 -> apply-failed\n"), err)
        self.assertIn("files that are not committed are in the way: src/fact-001.txt; commit, stash or "
                      "move them away, then `dossier agents merge fact-001` merges the patch", err)
        self.git("stash", "-q")
        self.assertEqual(self.dossier("merge", "fact-001")[:2], (0, "fact-001 -> merged\n"))

    def test_a_resume_looks_too(self):  # FLT-120
        self.engineer("touch \"$HOME/begun\"; sleep 600", writable=["~/"])
        self.commit()
        run = self.run_until_begun()
        run.kill()
        run.communicate()
        self.engineer("mkdir -p src; echo x > src/x")
        self.lose_identity()
        self.assertIn(self.IDENTITY, self.refused("resume"))
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")
        self.assertEqual(self.dossier("resume")[:2], (0, "fact-001 -> merged\n"))

    def test_a_limit_that_cannot_be_measured_is_told(self):  # FLT-116
        self.commit()
        code, _, err = self.run_agents("--max-cost", "0.01", "--dry-run")
        self.assertEqual(code, 0, err)
        self.assertIn("warning: --max-cost cannot count what judge or maker uses, a program whose "
                      "cost is unknown, and so limits nothing; --max-seconds limits it", err)
        self.assertLess(err.index("--max-cost"), err.index("claimed"))
        self.assertIn("--max-cost", [line for line in self.log() if line["event"] == "warning"][0]["text"])
        err = self.run_agents("--max-seconds", "600", "--dry-run")[2]
        self.assertNotIn("cannot count", err)
        self.configure(engineer_keys={"builtin": True})
        script = self.write("replies.json", json.dumps([{"reply": "x", "times": "always"}]))
        err = self.run_agents("--max-tokens", "1000", "--dry-run", "--script", script)[2]
        self.assertIn("--max-tokens cannot count what judge uses, a program whose cost is unknown; "
                      "--max-seconds", err)


class LookingBack(agents_case.AgentsCase):
    def show(self, *words: str) -> str:
        code, out, err = self.run_to_end("runs", "show", "last", *words)
        self.assertEqual((code, err), (0, ""))
        self.assertNotIn("not a body", out)
        return out

    def test_runs_tells_what_a_run_of_agents_did(self):  # FLT-117
        self.engineer("[ $1 = bad ] && exit 3; mkdir -p src; echo x > src/$1.txt")
        self.configure(checks=[{"name": "unit", "argv": ["true"]}])
        self.tasks({"id": "good", "summary": "Build \x1b[31mit"}, {"id": "bad", "summary": "Fail"},
                   {"id": "last", "summary": "Later", "depends_on": ["bad"]})
        self.commit()
        self.assertEqual(self.run_agents("--workers", "2")[0], 13)
        listed = self.runs()[0]
        self.assertEqual((listed["kind"], listed["status"]), ("agents", "partial"))
        out = self.run_to_end("runs", "list")[1]
        self.assertRegex(out, f"^{listed['run']} +agents +partial +agents: 3 tasks")
        story = self.show()
        commit = self.git("rev-parse", "--short=12", "main")
        self.assertTrue(story.startswith(f"Run: {listed['run']} (agents)\nRepository: {self.repo}\n"
                                         "Branch: refs/heads/main\nEngines: maker + judge\n"), story)
        self.assertRegex(story, "\nTask good: Build \\^\\[\\[31mit\n"
                         "  maker works\n    exit 0, [0-9.]+ s, of unknown cost\n"
                         "  patch of 1 file, \\+1 -0: src/good.txt\n  check unit passed\n"
                         "  judge reviews\n    exit 0, [0-9.]+ s, of unknown cost\n"
                         f"  verdict: approved\n  merged as {commit}\n  -> merged\n")
        self.assertRegex(story, "\nTask bad: Fail\n  maker works\n    exit 3, .*\n(  .*\n)*"
                         "  -> engine-failed: the engineer ended with exit code 3\n")
        self.assertIn("\nTask last: Later\n  -> blocked: bad, which it depends on,", story)
        self.assertIn("\nStatus: partial (1 blocked, 1 engine-failed, 1 merged)\n", story)
        folder = self.state() / "runs" / listed["run"]
        self.assertIn(f"\nPrompts and output: {folder}\n", story)
        self.assertIn("task.finished", self.show("--events"))
        for flags in (["--messages"], ["--turn", "1"]):
            code, out, err = self.run_to_end("runs", "show", "last", *flags)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(f"{flags[0]} is for runs of ask and chat, and {listed['run']} is one of "
                          f"agents: its prompts are shown by the files below {folder}", err)

    def test_what_was_refused_is_told_by_its_rule(self):  # FLT-117
        self.engineer("mkdir -p secrets; echo b > secrets/b")
        self.commit()
        self.run_agents("--attempts", "2")
        story = self.show()
        self.assertEqual(story.count("  policy: rule allow, secrets/b"), 2)
        self.assertIn("  maker works, attempt 2\n", story)
        self.assertIn("  -> policy-violation: rule allow: secrets/b\n", story)
        self.engineer("mkdir -p src; echo b > src/b")
        self.configure(checks=[{"name": "unit", "argv": ["false"]}])
        self.tasks({"id": "next", "summary": "x"})
        self.run_agents("--attempts", "1")
        self.assertIn("  check unit failed: ended with exit code 1\n", self.show())
        self.configure(checks=[])
        self.reviewer("echo '- FIX: say please' > .agent/review.txt")
        self.run_agents("--attempts", "1")
        self.assertRegex(self.show(), "  verdict: needs-changes")

    def test_a_killed_run_says_how_it_goes_on(self):  # FLT-117
        self.engineer("touch \"$HOME/begun\"; sleep 600", writable=["~/"])
        self.tasks({"id": "a", "summary": "x"}, {"id": "b", "summary": "y"})
        self.commit()
        run = self.run_until_begun()
        run.kill()
        run.communicate()
        story = self.show()
        self.assertIn("\nTask a: x\n  maker works\n\nTask b: y\n  not started\n", story)
        self.assertIn(f"\nStatus: interrupted; `dossier agents resume {self.runs()[0]['run']}` goes on\n",
                      story)
        code, _, err = self.run_to_end("runs", "resume", "last")
        self.assertEqual(code, 2)
        self.assertIn(f"`dossier agents resume {self.runs()[0]['run']}` goes on with this run", err)
        self.assertEqual(self.dossier("resume", "--abandon")[0], 0)
        self.assertIn("\nStatus: abandoned\n", self.show())
        self.assertEqual(len(json.loads(self.run_to_end(
            "runs", "list", "--status", "abandoned", "--json")[1])["runs"]), 1)


class Stopping(agents_case.AgentsCase):
    def test_an_interrupt_stops_engines_and_a_resume_goes_on(self):  # REP-52, REP-51
        self.engineer("if [ -e \"$HOME/again\" ]; then mkdir -p src; echo x > src/x; else "
                      "touch \"$HOME/begun\"; sleep 600; fi", writable=["~/"])
        self.commit()
        run = self.run_until_begun()
        children = self.children_of(run.pid)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=10)
        self.assertEqual((run.returncode, out), (130, "fact-001 -> interrupted\n"), err)
        self.assert_gone(children, limit=1)
        (self.home / "again").touch()
        code, out, err = self.dossier("resume")
        self.assertEqual((code, out), (0, "fact-001 -> merged\n"), err)
        self.assert_consistent(1)
        self.assertEqual(self.dossier("resume")[0], 4)

    def test_what_was_done_since_is_not_done_again(self):  # REP-49, REP-51
        """By another run, after the kill: a merge, a branch, and a task that has left its queue."""
        (self.repo / "config/tasks.json").unlink()
        for name, words in (("merged", []), ("branched", ["--branch"])):
            self.engineer("touch \"$HOME/begun\"; sleep 600", writable=["~/"])
            self.put(f"tasks/pending/{name}.json", json.dumps({"summary": "x"}))
            self.commit(name)
            (self.home / "begun").unlink(missing_ok=True)
            run = self.run_until_begun(*words)
            run.kill()
            run.communicate()
            killed = self.logs()[-1].stem
            (self.repo / "tasks/current").mkdir(exist_ok=True)
            for task in (self.repo / "tasks/current").iterdir():
                task.rename(self.repo / "tasks/pending" / task.name)
            self.engineer("mkdir -p src; echo \"$1\" > src/$1.txt; touch \"$HOME/$1\"", writable=["~/"])
            self.assertEqual(self.run_agents(*words)[0], 0)
            (self.home / name).unlink()
            before = self.git("for-each-ref", "refs/heads")
            code, out, err = self.dossier("resume", killed)
            self.assertEqual((code, out), (0, f"{name} -> skipped\n"), err)
            self.assertFalse((self.home / name).exists())
            self.assertEqual(self.git("for-each-ref", "refs/heads"), before)
        self.assertTrue((self.repo / "tasks/complete/merged.json").exists())
        self.assertTrue((self.repo / "tasks/pending/branched.json").exists())

    def test_who_follows_a_run_that_was_killed_is_let_go(self):  # 3.2
        self.engineer("touch \"$HOME/begun\"; sleep 600", writable=["~/"])
        self.commit()
        run = self.run_until_begun()
        run.kill()
        run.communicate()
        code, out, err = self.dossier("status", "--follow", limit=30)
        self.assertEqual((code, out.splitlines()[-1]), (0, "Total tasks: 0"), err)

    def test_the_budget_of_time_holds_for_the_run(self):  # REP-53, REP-2
        self.engineer("sleep 600")
        self.tasks({"id": "a", "summary": "x"}, {"id": "b", "summary": "x"})
        self.commit()
        code, out, err = self.run_agents("--max-seconds", "1", limit=30)
        self.assertEqual((code, out), (10, "a -> budget\n"), err)

    def test_a_changed_policy_or_task_is_not_gone_on_with(self):  # REP-51
        self.engineer("touch \"$HOME/begun\"; sleep 600", writable=["~/"])
        self.commit()
        run = self.run_until_begun()
        run.kill()
        run.communicate()
        self.tasks({"id": "fact-001", "summary": "Another"})
        code, _, err = self.dossier("resume")
        self.assertEqual(code, 3, err)
        self.assertIn("--abandon", err)
        code, out, _ = self.dossier("resume", "--abandon")
        self.assertEqual(code, 0)
        self.assertIn("is closed", out)
        self.assertEqual(self.git("worktree", "list").count("\n"), 0)

    def test_every_fault_point_then_a_resume(self):  # REP-A25, REP-51
        points = ["after-claim", "after-engine", "after-patch", "after-approval", "after-intent",
                  "after-prepare", "after-tree", "after-ref", "after-ledger"]
        self.put("agent_notes/scratch/a.md", "x")
        self.commit()
        for number, point in enumerate(points, 1):
            self.tasks({"id": f"t-{point}", "summary": "x"})
            self.env["DOSSIER_TEST_FAULT"] = point
            code, _, err = self.run_agents()
            if code == 0:
                self.skipTest("this build has no fault points")
            self.assertEqual(code, -signal.SIGKILL, (point, err))
            del self.env["DOSSIER_TEST_FAULT"]
            code, out, err = self.dossier("resume")
            self.assertEqual(code, 0, (point, out, err))
            self.git("add", "-A", "config")
            self.git("commit", "-qm", "tasks")
            self.assert_consistent(number)
            self.assertEqual(self.results()[f"t-{point}"]["status"], "merged", point)


class BuiltIn(agents_case.AgentsCase):
    def script_of(self, rules: list) -> list[str]:
        return ["--script", self.write("replies.json", json.dumps(rules))]

    def call(self, name: str, **arguments) -> dict:
        return {"tool_calls": [{"id": "1", "name": name, "arguments": arguments}],
                "finish": "tool_calls"}

    def test_a_model_writes_and_a_model_approves(self):  # REP-A32, REP-54
        self.configure(engineer_keys={"builtin": True}, reviewer_keys={"builtin": True})
        self.commit()
        token = "(APPROVED-[0-9a-f]{32})"
        rules = [{**self.call("write_file", path="secrets/x", content="no"),
                  "path": "fact-001.engineer", "turn": 1},
                 {**self.call("write_file", path="src/x.txt", content="yes\n"),
                  "path": "fact-001.engineer", "turn": 2},
                 {**self.call("finish", summary="done"), "path": "fact-001.engineer", "turn": 3},
                 {**self.call("verdict", verdict="approved", comments="fine"),
                  "path": "fact-001.reviewer"}]
        code, out, err = self.run_agents("--attempts", "1", *self.script_of(rules))
        # A verdict without the token is bound to nothing.
        self.assertEqual((code, out), (13, "fact-001 -> review-failed\n"), err)
        self.assertIn("approval-unbound", self.results()["fact-001"]["reason"])
        transcript = next(self.state().glob("runs/*/fact-001/1/engineer.out")).read_text()
        self.assertIn("secrets/x must not be changed: rule allow", transcript)
        self.assertEqual(self.results()["fact-001"]["files"], ["src/x.txt"])
        self.assertGreater(self.results()["fact-001"]["usage"]["input"], 0)

    def test_what_a_model_wrote_is_merged(self):  # REP-A32
        self.configure(engineer_keys={"builtin": True})
        self.commit()
        rules = [self.call("write_file", path="src/x.txt", content="yes\n"),
                 self.call("finish", summary="done")]
        code, out, err = self.run_agents(*self.script_of(rules))
        self.assertEqual((code, out), (0, "fact-001 -> merged\n"), err)
        self.assertEqual((self.repo / "src/x.txt").read_text(), "yes\n")
        self.assert_consistent(1)

    def test_forty_turns_end_the_loop(self):  # REP-A32
        self.configure(engineer_keys={"builtin": True})
        self.commit()
        rules = [{**self.call("list_files"), "times": "always"}]
        code, out, err = self.run_agents(*self.script_of(rules))
        self.assertEqual((code, out), (13, "fact-001 -> engine-failed\n"), err)
        self.assertIn("40 turns", self.results()["fact-001"]["reason"])


if __name__ == "__main__":
    harness.main()
