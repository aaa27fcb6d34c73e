#!/usr/bin/env python3
"""What is done later: an engine that asks for it, a task that failed, a patch that was approved."""

import json

import agents_case
import harness


class TryAgainLater(agents_case.AgentsCase):
    def test_exit_75_starts_it_again(self):  # FLT-121
        self.configure(engineer_keys={"argv": ["sh", "-c", "mkdir -p src; echo x >> src/x; "
                                               "test $(wc -l < src/x) = 3 || exit 75"], "retry_wait": 0})
        self.commit()
        code, out, err = self.run_agents("--attempts", "1")
        self.assertEqual((code, out), (0, "fact-001 -> merged\n"), err)
        told = [line["text"] for line in self.log() if line["event"] == "warning"]
        self.assertEqual([line for line in told if "exit code 75" in line],
                         [f"maker asked to be tried again later (exit code 75): start {n} of 3" for n in (2, 3)])

    def test_not_for_ever(self):  # FLT-121
        self.configure(engineer_keys={"argv": ["sh", "-c", "mkdir -p src; echo x >> src/x; exit 75"],
                                      "retry_wait": 0})
        self.commit()
        self.run_agents("--attempts", "1")
        result = self.results()["fact-001"]
        self.assertEqual((result["status"], result["propose-exit"]), ("engine-failed", 75))


class Retry(agents_case.AgentsCase):
    def test_what_was_not_merged_is_tried_again(self):  # FLT-121
        self.tasks(*[{"id": name, "summary": "x"} for name in ("good", "bad", "left")])
        self.engineer("mkdir -p src; echo \"$1\" > src/$1.txt; test $1 != bad || test -e config/mended")
        self.commit()
        self.assertEqual(self.run_agents("--only", "good", "--only", "bad", "--attempts", "1")[0], 13)
        self.put("config/mended", "")
        self.commit("mended")
        code, out, err = self.dossier("retry")
        self.assertEqual((code, out), (0, "bad -> merged\n"), err)
        code, _, err = self.dossier("retry")
        self.assertEqual(code, 4, err)
        self.assertIn("left no task to try again", err)
        self.assertEqual(len(self.logs()), 2)
        self.assert_consistent(2)

    def test_a_run_is_named(self):  # FLT-121
        self.engineer("exit 1")
        self.commit()
        self.run_agents("--attempts", "1")
        self.assertEqual(self.dossier("retry", "run-1999")[0], 4)
        self.assertEqual(self.dossier("retry", self.logs()[0].stem)[0], 13)


class MergeLater(agents_case.AgentsCase):
    def test_an_approved_patch_of_a_dry_run(self):  # FLT-121
        self.put("src/other.txt", "1\n")
        self.commit()
        self.assertEqual(self.run_agents("--dry-run")[0], 0)
        self.assertEqual(self.subjects(), ["base"])
        self.put("src/other.txt", "2\n")
        self.commit("meanwhile")
        code, out, err = self.dossier("merge", "fact-001")
        self.assertEqual((code, out), (0, "fact-001 -> merged\n"), err)
        self.assertEqual(self.subjects(), ["agent:fact-001 merge", "meanwhile", "base"])
        self.assertEqual((self.repo / "src/fact-001.txt").read_text(), "fact-001\n")
        events = [line["event"] for line in self.log()]
        self.assertNotIn("engine.started", events)
        self.assertNotIn("review.started", events)
        self.assertIn("| APPROVED | fact-001 |", self.ledger()[0])
        self.assert_sound()
        code, _, err = self.dossier("merge", "fact-001")
        self.assertEqual(code, 4, err)
        self.assertIn("left no approved patch of fact-001 to merge: merged", err)

    def test_the_checks_run_over_what_the_branch_gets(self):  # FLT-121, REP-40
        self.configure(checks=[{"name": "unit", "argv": [
            "sh", "-c", "test ! -e src/other.txt || grep fine src/other.txt"]}])
        self.commit()
        self.assertEqual(self.run_agents("--dry-run")[0], 0)
        self.put("src/other.txt", "broken\n")
        self.commit("meanwhile")
        code, out, err = self.dossier("merge", "fact-001")
        self.assertEqual((code, out), (13, "fact-001 -> needs-fix\n"), err)
        self.assertIn("the check unit failed", err)
        self.assertEqual(self.subjects(), ["meanwhile", "base"])
        self.put("src/other.txt", "fine\n")
        self.commit("mended")
        code, out, err = self.dossier("merge", "fact-001")
        self.assertEqual((code, out), (0, "fact-001 -> merged\n"), err)
        self.assertEqual([line["result"] for line in self.log() if line["event"] == "check.finished"],
                         ["passed"])
        self.assertNotIn("review.started", [line["event"] for line in self.log()])
        self.assert_sound()

    def test_without_checks_only_by_name_and_aloud(self):  # FLT-121
        self.configure(checks=[{"name": "unit", "argv": ["sh", "-c", "test ! -e src/other.txt"]}])
        self.commit()
        self.run_agents("--dry-run")
        self.put("src/other.txt", "x\n")
        self.commit("meanwhile")
        code, out, err = self.dossier("merge", "fact-001", "--no-checks")
        self.assertEqual((code, out), (0, "fact-001 -> merged\n"), err)
        self.assertIn("warning: fact-001: --no-checks: no check runs over what refs/heads/main gets", err)
        self.assertIn("--no-checks", [line["text"] for line in self.log() if line["event"] == "warning"][0])

    def test_where_the_branch_changed_the_same_file_it_is_reviewed_again(self):  # FLT-121, REP-43
        self.put("src/fact-001.txt", "".join(f"line {n}\n" for n in range(40)))
        self.engineer("sed -i '1s/$/ begun/' src/fact-001.txt")
        self.commit()
        self.run_agents("--dry-run")
        self.put("src/fact-001.txt", (self.repo / "src/fact-001.txt").read_text() + "more\n")
        self.commit("meanwhile")
        code, _, err = self.dossier("merge", "fact-001")
        self.assertEqual(code, 0, err)
        self.assertIn("review.started", [line["event"] for line in self.log()])
        self.assertEqual((self.repo / "src/fact-001.txt").read_text().count("begun"), 1)
        self.assertIn("more\n", (self.repo / "src/fact-001.txt").read_text())

    def test_only_what_was_approved_and_is_the_same_task(self):  # FLT-121
        self.reviewer("echo NEEDS_CHANGES")
        self.commit()
        self.run_agents("--dry-run", "--attempts", "1")
        code, _, err = self.dossier("merge", "fact-001")
        self.assertEqual(code, 4, err)
        self.assertIn("left no approved patch of fact-001 to merge: needs-fix", err)
        self.assertEqual(self.dossier("merge", "fact-002")[0], 4)
        self.reviewer(agents_case.APPROVE)
        self.commit("approves")
        self.run_agents("--dry-run")
        self.tasks({"id": "fact-001", "summary": "Something else"})
        code, _, err = self.dossier("merge", "fact-001")
        self.assertEqual(code, 3, err)
        self.assertIn("task fact-001 has changed since its patch was approved", err)
        self.assertEqual(self.subjects(), ["approves", "base"])

    def test_no_engine_works_again_where_the_approved_patch_is_refused(self):  # FLT-121
        self.commit()
        self.assertEqual(self.run_agents("--dry-run")[0], 0)
        self.put("config/policy.yaml", json.dumps({"allow": ["tests/**"]}))
        self.commit("another policy")
        before = self.subjects()
        code, out, err = self.dossier("merge", "fact-001")
        self.assertEqual((code, self.subjects()), (12, before), out + err)
        self.assertNotIn("engine.started", [line["event"] for line in self.log()])


class Branches(agents_case.AgentsCase):
    def test_a_branch_a_task_and_the_text_of_a_pull_request(self):  # FLT-121
        self.tasks({"id": "one", "summary": "Build `one`", "description": "Because."},
                   {"id": "two", "summary": "Build two"})
        self.configure(checks=[{"name": "unit", "argv": ["true"]}])
        self.commit()
        before = self.snapshot()
        code, out, err = self.run_agents("--branch", "--workers", "2")
        self.assertEqual((code, sorted(out.splitlines())), (0, ["one -> skipped", "two -> skipped"]), err)
        after = self.snapshot()
        self.assertEqual({k: v for k, v in before.items() if k != "refs"},
                         {k: v for k, v in after.items() if k != "refs"})
        self.assertEqual(self.git("branch", "--format=%(refname:short)").splitlines(),
                         ["agent/one", "agent/two", "main"])
        self.assertEqual(self.git("diff", "--name-only", "main", "agent/one"), "src/one.txt")
        self.assertEqual(self.git("log", "-1", "--format=%s|%an", "agent/one"), "agent:one Build `one`|Ada")
        self.assertEqual([result["moved-branches"] for result in self.results().values()], [[], []])
        reason = self.results()["one"]["reason"]
        self.assertIn("on branch agent/one", reason)
        self.assertIn(reason, err)
        text = open(reason.rpartition(": ")[2]).read()
        for part in ("# Build `one`\n\nBecause.\n", "- `src/one.txt`\n", "- `unit: passed`\n", "Approved by `judge`"):
            self.assertIn(part, text)
        self.assert_sound()
        # A second run leaves alone what waits for a person; a merge of theirs, or of ours, goes on.
        code, _, err = self.run_agents("--branch")
        self.assertIn("waits on branch agent/one", err)
        for words in ([], ["--dry-run"]):
            code, out, err = self.run_agents("--only", "one", *words)
            self.assertEqual((code, out), (0, "one -> skipped\n"), err)
            self.assertIn("waits on branch agent/one", err)
        self.assertEqual(self.dossier("merge", "one")[:2], (0, "one -> merged\n"))
        story = self.run_to_end("runs", "show", "last")[1]
        self.assertIn("\nTask one: ", story)
        self.assertNotIn("not started", story)
        # What the branch held is merged: a task that has changed since is worked on anew.
        self.tasks({"id": "one", "summary": "Build it again"})
        self.engineer("echo more >> src/one.txt")
        self.assertEqual(self.run_agents()[:2], (0, "one -> merged\n"))
        self.assertEqual(self.dossier("run", "--branch", "--dry-run")[0], 2)


class Tidy(agents_case.AgentsCase):
    def left(self) -> list[str]:
        return sorted(path.name for path in (self.state() / "runs").iterdir() if path.is_dir())

    def refs(self) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname)", "refs/dossier").splitlines()

    def test_what_finished_runs_left(self):  # FLT-121
        self.tasks({"id": "done", "summary": "x"}, {"id": "waits", "summary": "x"})
        self.commit()
        self.run_agents("--only", "done")
        self.run_agents("--only", "waits", "--dry-run")
        runs = self.left()
        self.assertEqual(len(runs), 2)
        self.assertEqual(self.dossier("gc")[:2], (0, ""))
        told = self.dossier("gc", "--older-than", "1ms", "--tell")
        self.assertEqual(self.left(), runs)
        code, out, err = self.dossier("gc", "--older-than", "1ms")
        self.assertEqual((code, out), (0, told[1]), err)
        self.assertIn("refs/dossier/", out)
        # The patch that may still be merged is there, and so are the logs.
        self.assertEqual(len(self.left()), 1)
        self.assertEqual([ref.split("/")[3] for ref in self.refs()], ["waits"])
        self.assertEqual(len(self.logs()), 2)
        self.assertEqual(self.dossier("merge", "waits")[0], 0)
        self.dossier("gc", "--older-than", "1ms")
        self.assertEqual((self.left(), self.refs()), ([], []))
        self.assert_sound()

    def test_worktrees_of_a_killed_run_go_and_it_can_still_go_on(self):  # FLT-121
        self.engineer("touch \"$HOME/begun\"; sleep 600", writable=["~/"])
        self.commit()
        run = self.run_until_begun()
        code, out, err = self.dossier("gc", "--older-than", "1ms")  # somebody is at it
        self.assertEqual((code, out), (0, ""), err)
        self.env["XDG_DATA_HOME"] = str(self.home / "elsewhere")  # whose journal does not know the run
        code, out, err = self.dossier("gc", "--older-than", "1h")
        self.assertEqual((code, out), (0, ""), err)
        self.assertNotEqual([path for path in (self.home / "cache").rglob("w1")], [])
        self.env["XDG_DATA_HOME"] = str(self.home / "data")
        run.kill()
        run.communicate()
        self.assertNotEqual([path for path in (self.home / "cache").rglob("w1")], [])
        code, out, err = self.dossier("gc", "--older-than", "1ms")
        self.assertIn("worktrees of run-", out, err)
        self.assertEqual([path for path in (self.home / "cache").rglob("w1")], [])
        self.engineer("mkdir -p src; echo x > src/x")
        self.assertEqual(self.dossier("resume")[:2], (0, "fact-001 -> merged\n"))


if __name__ == "__main__":
    harness.main()
