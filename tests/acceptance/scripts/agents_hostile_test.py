#!/usr/bin/env python3
"""Engines that mean harm: what they leave must neither be merged nor run outside of their walls."""

import contextlib
import json
import os
import socket

import agents_case
import harness


class Hostile(agents_case.AgentsCase):
    """Each test says what an engine does, and what becomes of its task."""

    def outcome(self, *words: str) -> tuple[str, str, list[str]]:
        """Status and reason of the one task, and the rules that it broke."""
        self.commit()
        _, _, err = self.run_agents("--attempts", "1", *words)
        result = self.results().get("fact-001", {})
        self.assertIn("status", result, err)
        rules = [one["rule"] for one in result["policy"]["violations"]]
        return result["status"], result["reason"], rules

    def allow(self, **keys):
        self.put("config/policy.yaml", json.dumps({"allow": ["**"], **keys}))


class Links(Hostile):
    def test_a_link_behind_a_link_that_leaves_the_tree(self):  # REP-38
        self.allow(**{"allow-symlinks": True})
        (self.repo / "out").symlink_to("/etc")
        self.engineer("ln -s out/passwd inner")
        self.assertEqual(self.outcome()[::2], ("policy-violation", ["symlink"]))

    def test_two_links_that_leave_the_tree_together(self):  # REP-38
        self.allow(**{"allow-symlinks": True})
        self.engineer("mkdir -p a/b; echo x > a/b/file; ln -s a/b up; ln -s up/file good")
        self.assertEqual(self.outcome()[0], "merged")


class ControlFiles(Hostile):
    def test_tasks_that_a_flag_names(self):  # REP-38
        self.allow()
        self.put("work/queue.json", json.dumps([{"id": "fact-001", "summary": "x"}]))
        self.engineer("echo '[]' > work/queue.json")
        self.assertEqual(self.outcome("--tasks", "work/queue.json")[::2],
                         ("policy-violation", ["control-file"]))

    def test_notes_that_are_tasks(self):  # REP-30, REP-38
        self.allow()
        (self.repo / "config/tasks.json").unlink()
        self.put("agent_notes/proposed_tasks/2026-01-01__fact-001__x.md",
                 "---\nid: fact-001\nstatus: green\n---\n# Build it\n")
        self.configure(tasks=["notes:proposed_tasks"])
        self.engineer("cp agent_notes/proposed_tasks/* agent_notes/proposed_tasks/"
                      "2026-01-01__evil__x.md")
        self.assertEqual(self.outcome()[::2], ("policy-violation", ["control-file"]))


class Walls(Hostile):
    def escaped(self) -> bool:
        return (self.home / "escaped").exists()

    def test_a_repository_in_place_of_a_submodule_runs_nothing(self):  # REP-34
        self.allow()
        sub = self.home / "sub"
        sub.mkdir()
        self.git("init", "-q", "-b", "main", str(sub))
        (sub / "file").write_text("x\n")
        for words in (["add", "-A"], ["-c", "user.name=S", "-c", "user.email=s@s", "commit", "-qm", "x"]):
            self.git("-C", str(sub), *words)
        commit = self.git("-C", str(sub), "rev-parse", "HEAD")
        self.git("update-index", "--add", "--cacheinfo", f"160000,{commit},lib")
        self.git("commit", "-qm", "submodule")
        (self.repo / "lib").mkdir()
        self.engineer(
            "git init -q lib && cd lib && "
            f"git fetch -q {sub} main && git reset -q --hard FETCH_HEAD && "
            f"git config filter.x.clean 'touch {self.home}/escaped; cat' && "
            "echo '* filter=x' > .git/info/attributes && touch -d 2001-01-01 file && cd .. && "
            "mkdir -p src && echo x > src/x", readable=[str(sub)])
        status, reason, rules = self.outcome()
        self.assertFalse(self.escaped(), (status, reason))
        self.assertEqual(status, "merged", (reason, rules))

    def test_a_program_of_the_tree_is_not_the_reviewer(self):  # REP-41
        self.allow()
        self.put("tools/review.sh", "#!/bin/sh\nexit 1\n").chmod(0o755)
        script = "#!/bin/sh\n" + agents_case.APPROVE.replace("$0", "$1") + "\n"
        for argv in (["./tools/review.sh"], ["sh", "tools/review.sh"]):
            self.configure(reviewer_keys={"argv": [*argv, "{prompt_file}"]})
            self.engineer(f"cat > tools/review.sh <<'END'\n{script}END\n")
            status, reason, _ = self.outcome()
            self.assertEqual(status, "review-failed", (argv, reason))

    def test_what_an_engine_does_to_the_git_folder(self):  # REP-A20, REP-34, REP-36
        git = self.repo / ".git"
        run = f"touch {self.home}/escaped"
        cases = {f"printf '#!/bin/sh\n{run}\n' > {git}/hooks/post-commit; chmod +x {git}/hooks/*":
                 "hooks/post-commit",
                 f"git --git-dir={git} config core.fsmonitor '{run}'": "config",
                 f"git --git-dir={git} config filter.x.clean '{run}; cat'; echo '* filter=x' > .gitattributes": "config",
                 f"git --git-dir={git} config diff.x.textconv '{run}'; echo '* diff=x' > {git}/info/attributes": "config"}
        self.allow()
        self.commit()
        config = (git / "config").read_text()
        for number, (script, path) in enumerate(cases.items()):
            for walls in ([], ["--confine", "none"]):
                task = f"t{number}{len(walls)}"
                self.tasks({"id": task, "summary": "x"})
                self.engineer(f"{script}; mkdir -p src; echo x > src/$1")
                self.run_agents("--attempts", "1", *walls)
                result = self.results()[task]
                rules = [(one["rule"], one["path"]) for one in result["policy"]["violations"]]
                if walls:
                    self.assertEqual(result["status"], "policy-violation", script)
                    self.assertIn(("git-dir", path), rules, script)
                else:
                    self.assertEqual(result["status"], "merged", (script, result["reason"]))
                self.assertFalse(self.escaped(), script)
                self.assertEqual((git / "config").read_text(), config, script)
                self.assertFalse((git / "hooks/post-commit").exists())
        self.commit("tasks")
        self.assert_sound()

    def test_a_git_file_that_leads_elsewhere(self):  # REP-A20, REP-34
        self.engineer("git init -q .agent/own; echo \"gitdir: $PWD/.agent/own/.git\" > .git; "
                      "mkdir -p src; echo x > src/x")
        self.assertEqual(self.outcome()[::2], ("policy-violation", ["git-dir"]))

    def test_an_engineer_that_commits_and_hides_it(self):  # REP-37, REP-A14
        self.put("src/old", "old\n")
        self.engineer("echo new > src/old; echo y > src/y; git add -A; "
                      "git -c user.name=E -c user.email=e@e commit -qm mine; "
                      "git update-index --assume-unchanged src/old; git checkout -q --orphan away")
        self.assertEqual(self.outcome()[0], "merged")
        self.assertEqual(self.results()["fact-001"]["files"], ["src/old", "src/y"])
        self.assertEqual(self.subjects(), ["agent:fact-001 merge", "base"])

    def test_a_reviewer_that_changes_files(self):  # REP-41: thrown away
        self.reviewer("echo evil >> src/fact-001.txt; echo evil > src/evil; git add -A; "
                      "git -c user.name=E -c user.email=e@e commit -qm evil; " + agents_case.APPROVE)
        self.assertEqual(self.outcome()[0], "merged")
        self.assertEqual((self.repo / "src/fact-001.txt").read_text(), "fact-001\n")
        self.assertFalse((self.repo / "src/evil").exists())

    def test_a_reviewer_that_writes_a_hook(self):  # REP-34
        hook = self.repo / ".git/hooks/post-checkout"
        self.reviewer(f"touch {hook}; {agents_case.APPROVE}")
        self.assertEqual(self.outcome("--confine", "none")[::2], ("policy-violation", ["git-dir"]))
        self.assertFalse(hook.exists())

    def test_a_check_that_writes_a_hook(self):  # REP-34
        hook = self.repo / ".git/hooks/post-checkout"
        self.configure(checks=[{"name": "unit", "argv": ["sh", "-c", f"touch {hook}"]}])
        self.assertEqual(self.outcome("--confine", "none")[::2], ("policy-violation", ["git-dir"]))
        self.assertFalse(hook.exists())

    def test_an_engine_that_ends_its_supervisor(self):  # REP-35
        self.engineer("kill -9 $PPID; sleep 1")
        self.assertEqual(self.outcome("--confine", "none")[0], "engine-failed")

    def test_a_filter_that_the_tree_holds(self):  # REP-34, FLT-113
        self.allow()
        self.put("tools/clean.sh", "cat\n")
        self.put(".gitattributes", "*.x filter=ours\n")
        self.git("config", "filter.ours.clean", "sh tools/clean.sh")
        self.commit()
        self.engineer(f"echo 'touch {self.home}/escaped; cat' > tools/clean.sh; echo x > new.x")
        code, out, err = self.run_agents("--attempts", "1")
        self.assertFalse(self.escaped(), err)
        self.assertEqual(code, 12, err)
        self.assertIn("rule filter: new.x", out + err)

    def test_a_worktree_that_is_a_repository_of_its_own(self):  # FLT-112, FLT-118
        """Whatever an engine does with git, the user's repository knows nothing of it."""
        self.engineer("mkdir -p src && echo x > src/x && echo /nowhere > \"$(git rev-parse --git-dir)/commondir\";"
                      "rm -f \"$(git rev-parse --git-dir)/HEAD\"")
        self.assertEqual(self.outcome()[0], "merged")
        self.assertEqual(self.git("worktree", "list").count("\n"), 0)
        self.git("branch", "later")
        self.git("gc", "-q")

    def test_an_engine_makes_and_clones_repositories(self):  # FLT-118
        self.engineer("(cd \"$TMPDIR\" && git init -q own && cd own && echo x > x && git add x && "
                      "git -c user.name=E -c user.email=e@e commit -qm x && git clone -q . ../copy) && "
                      "mkdir -p src && cp \"$TMPDIR/copy/x\" src/x")
        self.assertEqual(self.outcome()[0], "merged")
        self.assertEqual((self.repo / "src/x").read_text(), "x\n")

    def test_a_damaged_repository_inside_is_no_set_of_plain_files(self):  # FLT-118
        self.allow()
        self.engineer("mkdir -p vendor/.git && echo x > vendor/x")
        self.assertEqual(self.outcome()[::2], ("policy-violation", ["submodule"]))


class Jail(Hostile):
    """What a check and an engine see: the worktree, the system, an empty home, and what is named."""

    def setUp(self):
        super().setUp()
        (self.home / "secret").write_text("the-user's-own\n")
        (self.home / ".ssh").mkdir()
        (self.home / ".ssh/id_rsa").write_text("the-user's-own\n")
        self.outside = self.home / "service.sock"
        self.abstract = f"dossier-test-{os.getpid()}-{id(self)}"
        self.heard = []
        places = [(socket.AF_UNIX, str(self.outside)), (socket.AF_UNIX, "\0" + self.abstract),
                  (socket.AF_INET, ("127.0.0.1", 0))]
        for family, place in places:
            server = socket.socket(family)
            server.bind(place)
            server.listen()
            self.addCleanup(server.close)
            self.heard.append(server)
        self.port = self.heard[-1].getsockname()[1]

    def visitors(self) -> int:
        """How many came to the user's sockets."""
        count = 0
        for server in self.heard:
            server.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                server.accept()[0].close()
                count += 1
        return count

    def check(self, *argv: str, **keys):
        self.configure(checks=[{"name": "unit", "argv": list(argv), **keys}])

    def told(self, name: str) -> str:
        """What a program of the one attempt printed."""
        found = list(self.state().glob(f"runs/run-*/fact-001/1/{name}"))
        return "".join(path.read_text() for path in sorted(found)[-1:])

    CONNECT = ("import socket,sys\ns=socket.socket(socket.{family})\n"
               "s.connect({place!r})\nprint('connected')")

    def attempts(self) -> dict:
        """Each does its thing and prints what it got; none may."""
        connect = [("AF_UNIX", str(self.outside)), ("AF_UNIX", "\0" + self.abstract),
                   ("AF_INET", ("127.0.0.1", self.port))]
        return {
            "home": ["sh", "-c", f"cat {self.home}/secret"],
            "home, by the variable": ["sh", "-c", "cat \"$HOME/.ssh/id_rsa\""],
            "checkout": ["sh", "-c", f"cat {self.repo}/dossier.yml"],
            "state": ["sh", "-c", f"cat {self.state()}/runs/*/fact-001/1/engineer.prompt"],
            "data": ["sh", "-c", f"ls {self.home}/data/* | grep ."],
            "processes": ["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep trust-c[o]nfig"],
            "write": ["sh", "-c", f"echo x > {self.repo}/planted; false"],
            "write to the system": ["sh", "-c", "echo x > /usr/planted"],
            **{f"connect {n}": ["python3", "-c", self.CONNECT.format(family=family, place=place)]
               for n, (family, place) in enumerate(connect)},
        }

    def test_a_check_that_looks_around(self):  # FLT-80
        for name, argv in self.attempts().items():
            with self.subTest(attempt=name):
                self.check(*argv)
                status, reason, _ = self.outcome()
                self.assertEqual((status, reason.partition(":")[0]), ("needs-fix", "the check unit failed"),
                                 self.told("check-1.*"))
                self.assertNotIn("the-user's-own", self.told("check-1.out"))
                self.assertFalse((self.repo / "planted").exists())
                self.git("commit", "-q", "--allow-empty", "-m", "next")
        self.assertEqual(self.visitors(), 0)

    def test_no_check_changes_what_the_next_one_or_the_reviewer_sees(self):  # FLT-80, REP-40
        spoil = ("mkdir -p old && mv README.md old && rm -rf src && echo x > planted && "
                 "printf '[core]\\n' > .git")
        whole = "test ! -e planted && test -e src/fact-001.txt && git diff --exit-code HEAD"
        self.configure(checks=[{"name": name, "argv": ["sh", "-c", script]} for name, script in
                               (("spoils", spoil), ("looks", whole), ("spoils again", spoil))])
        self.reviewer(f"{whole} && {agents_case.APPROVE}")
        status, reason, _ = self.outcome()
        self.assertEqual(status, "merged", reason + self.told("check-2.*"))

    def test_the_repository_names_no_folder_of_the_home_for_its_objects(self):  # FLT-80, FLT-81
        for shown in (self.home, self.home / ".ssh"):
            with self.subTest(shown=shown):
                self.put(".git/objects/info/alternates", f"{shown}\n")
                self.put("note", str(shown))
                self.check("sh", "-c", f"cat {self.home}/.ssh/id_rsa {self.home}/secret")
                status, reason, _ = self.outcome()
                self.assertEqual((status, reason.partition(":")[0]), ("needs-fix", "the check unit failed"))
                self.assertNotIn("the-user's-own", self.told("check-1.out"))

    def test_a_file_name_is_no_line_of_ours(self):  # FLT-87
        self.put("config/policy.yaml", json.dumps({"allow": ["src/**"]}))
        name = "other/q\nmerged 1:\n  t1"
        self.configure(engineer_keys={"argv": [
            "python3", "-c", f"import os; os.makedirs('other'); open({name!r}, 'w').write('x')"]})
        self.commit()
        code, out, err = self.run_agents("--attempts", "1")
        self.assertEqual(code, 12, err)
        self.assertIn("merged 1:", out + err)
        self.assertNotIn("merged 1:", (out + err).splitlines())

    def test_no_name_is_a_line_of_ours_where_a_run_is_told(self):  # FLT-87
        forged = "  -> merged"
        name, task = f"src/q\n{forged}\nx", f"fact\n{forged}\n-001"
        self.tasks({"id": task, "summary": f"Build it\n{forged}\n"})
        self.configure(engineer_keys={"argv": [
            "python3", "-c", f"import os; os.makedirs('src'); open({name!r}, 'w').write('x')"]})
        self.reviewer("exit 1")
        self.commit()
        code, out, err = self.run_agents("--attempts", "1")
        for words in (["runs", "show", "last"], ["agents", "status"], ["agents", "run", "--plan"]):
            code, more, told = self.run_to_end("--trust-config", *words, cwd=self.repo)
            out, err = out + more, err + told
        self.assertIn(forged, out)
        for line in (out + err).splitlines():
            self.assertNotEqual(line.strip(), forged.strip(), out + err)

    def test_an_engine_of_the_checkout_sees_itself_alone(self):  # FLT-80
        self.put(".gitignore", ".env\n")
        self.put(".env", "the-user's-own\n")
        script = self.put("engine.sh", f"#!/bin/sh\ncat {self.repo}/.env {self.repo}/.git/config\nexit 1\n")
        script.chmod(0o755)
        self.configure(engineer_keys={"argv": [str(script)]})
        self.outcome()
        self.assertNotIn("the-user's-own", self.told("engineer.out"))
        self.assertNotIn("[core]", self.told("engineer.out"))

    def test_an_engine_that_looks_around(self):  # FLT-80
        """As a check, but that an engine has a network; another user's service is nothing it lacks."""
        for name, argv in self.attempts().items():
            if name == "connect 2":
                continue
            with self.subTest(attempt=name):
                self.configure(engineer_keys={"argv": argv})
                status, reason, _ = self.outcome()
                self.assertEqual(status, "engine-failed", (reason, self.told("engineer.*")))
                self.assertNotIn("the-user's-own", self.told("engineer.out"))
                self.git("commit", "-q", "--allow-empty", "-m", "next")
        self.assertEqual(self.visitors(), 0)

    def test_what_is_named_is_there(self):  # FLT-80
        self.put("tools/helper.sh", "echo helped\n")
        (self.home / "cache-of-builds").mkdir()
        self.check("sh", "-c", "cat \"$HOME/secret\" && sh \"$0/helper.sh\" && echo x > \"$HOME/cache-of-builds/y\" && "
                   "! echo x > \"$HOME/secret\"", str(self.repo / "tools"),
                   readable=["~/secret", "tools"], writable=["~/cache-of-builds"])
        self.assertEqual(self.outcome()[0], "merged", self.told("check-1.*"))
        self.assertEqual((self.home / "cache-of-builds/y").read_text(), "x\n")
        self.assertEqual((self.home / "secret").read_text(), "the-user's-own\n")

    def test_a_check_has_a_network_where_it_is_configured(self):  # FLT-80
        self.check("python3", "-c", self.CONNECT.format(family="AF_INET", place=("127.0.0.1", self.port)),
                   network=True)
        self.assertEqual(self.outcome()[0], "merged", self.told("check-1.*"))
        self.assertEqual(self.visitors(), 1)

    def test_ordinary_checks_pass(self):  # FLT-80
        self.allow()
        self.put("src/main.c", "#include <stdio.h>\nint main(void) { puts(\"ok\"); }\n")
        self.put("Makefile", "test: main\n\t./main | grep ok\nmain: src/main.c\n\tcc -o main src/main.c\n")
        self.put("tests/test_it.py", "import tempfile, unittest, subprocess, pathlib\n"
                 "class T(unittest.TestCase):\n  def test(self):\n"
                 "    with tempfile.TemporaryDirectory() as d: pathlib.Path(d, 'x').write_text('y')\n"
                 "    pathlib.Path.home().joinpath('.cache').mkdir(exist_ok=True)\n"
                 "    self.assertEqual(subprocess.run(['true']).returncode, 0)\n")
        self.configure(checks=[
            {"name": "make", "argv": ["make", "test"]},
            {"name": "python", "argv": ["python3", "-m", "unittest", "discover", "tests"]},
            {"name": "git", "argv": ["sh", "-c", "git log --oneline | grep base && git diff --stat HEAD"]},
            {"name": "tree", "argv": ["./tests/run.sh"]}])
        self.put("tests/run.sh", "#!/bin/sh\nexec test -f src/fact-001.txt\n").chmod(0o755)
        self.assertEqual(self.outcome()[0], "merged",
                         [self.told(f"check-{n}.*") for n in range(1, 5)])
        checks = [line["result"] for line in self.log() if line["event"] == "check.finished"]
        self.assertEqual(checks, ["passed"] * 4)

    def test_the_records_of_runs_stay_hidden_in_a_folder_that_is_shown(self):  # FLT-80, FLT-110
        self.check("sh", "-c", f"test -f {self.repo}/dossier.yml && ls {self.state()}/runs | grep .",
                   readable=["~/"])
        self.assertEqual(self.outcome()[0], "needs-fix", self.told("check-1.*"))
        self.assertEqual(self.told("check-1.err"), "ls: cannot access "
                         f"'{self.state()}/runs': No such file or directory\n")

    def test_a_failing_check_is_told_its_walls(self):  # FLT-80
        self.engineer("mkdir -p src; cp \"$0\" src/prompt.txt; touch src/x$(ls src | wc -l)")
        self.check("sh", "-c", "test -f src/x2 || cat \"$HOME/secret\"")
        self.commit()
        self.run_agents()
        self.assertIn("It ran with an empty home, without network",
                      (self.state() / "runs").glob("run-*/fact-001/2/engineer.prompt").__next__().read_text())

    def test_what_results_say_of_the_walls(self):  # FLT-80
        self.outcome()
        self.assertEqual(self.results()["fact-001"]["confinement"], "jail")
        self.tasks({"id": "fact-001", "summary": "Again"})
        self.outcome("--confine", "none")
        self.assertEqual(self.results()["fact-001"]["confinement"], "none")
        code, _, err = self.run_agents("--degraded", "moat")
        self.assertEqual(code, 2, err)
        self.assertIn("--degraded moat: no such layer; it must be one of process, namespaces,", err)


class Secrets(Hostile):
    VALUE = "s3cret-value-of-the-run"

    def test_a_value_that_the_engine_was_given(self):  # FLT-111
        self.env["HARBOUR_KEY"] = self.VALUE
        for script in ("echo one > src/x; printf 'one\n%s\n' \"$HARBOUR_KEY\" > src/key.txt",
                       "printf '\\0%s' \"$HARBOUR_KEY\" > src/key.txt",
                       "echo x > src/$HARBOUR_KEY"):
            self.configure(engineer_keys={"argv": ["sh", "-c", "mkdir -p src; " + script],
                                          "env_allow": ["HARBOUR_KEY"]})
            status, reason, rules = self.outcome()
            self.assertEqual((status, rules), ("policy-violation", ["secret"]), (script, reason))
            self.assertRegex(reason, r"(line \d|its name) holds the value of HARBOUR_KEY")
            for path in self.state().rglob("*"):
                if path.is_file():
                    self.assertNotIn(self.VALUE.encode(), path.read_bytes(), path)
            found = self.results()["fact-001"]["policy"]["violations"][0]
            self.assertIn("HARBOUR_KEY", found["value"])
        self.assertEqual(self.git("count-objects"), self.git("count-objects"))


class Approvals(Hostile):
    def test_a_file_that_a_test_of_the_engineer_makes(self):  # FLT-110
        """The reviewer runs what the engineer wrote, which reads the token and approves with a file."""
        self.allow()
        self.engineer("mkdir -p src; echo 'touch .agent/$(grep -o \"APPROVED-[0-9a-f]*\" \"$1\" | tail -1)'"
                      " > src/test.sh")
        self.reviewer("sh src/test.sh \"$0\"; echo NEEDS_CHANGES")
        self.assertEqual(self.outcome()[0], "needs-fix")
        self.reviewer("sh src/test.sh \"$0\"")
        self.assertEqual(self.outcome()[0], "review-failed")

    def test_a_reviewer_that_repeats_its_prompt(self):  # FLT-114
        self.put("config/prompts/reviewer.md", "Review {task_id}.\n**{approval_token}**\n")
        self.configure(prompts="config/prompts")
        self.commit()
        code, _, err = self.run_agents()
        self.assertEqual(code, 3, err)
        self.assertIn("line 2", err)
        self.put("config/prompts/reviewer.md", "Review {task_id}. Token:\n> is {approval_token}\n")
        self.reviewer("fold -w 5 -s \"$0\"; cat \"$0\"")
        self.assertEqual(self.outcome()[0], "review-failed")

    def test_a_verdict_in_markup_starts_no_engineer_again(self):  # FLT-115
        token = "$(grep -o 'APPROVED-[0-9a-f]*' \"$0\" | tail -1)"
        for number, line in enumerate([f"**{token}**", f"\\`{token}\\`",
                                       f'{{\\"result\\": \\"ok\\\\n{token}\\"}}']):
            self.tasks({"id": f"m{number}", "summary": "x"})
            self.reviewer(f'printf "%s\\n" "{line}"')
            self.commit(f"round {number}")
            self.run_agents()
            result = self.results()[f"m{number}"]
            self.assertEqual((result["status"], result["attempts"]), ("merged", 1), (line, result))

    def test_a_reviewer_that_says_nothing_is_asked_once_more(self):  # FLT-115
        self.reviewer(f"if [ -e '{self.home}/asked' ]; then {agents_case.APPROVE}; "
                      f"else echo hm; fi; : > '{self.home}/asked'")
        self.commit()
        _, _, err = self.run_agents("--confine", "none")
        events = [line["event"] for line in self.log()]
        self.assertEqual((events.count("engine.started"), events.count("review.started")), (1, 2), err)
        self.assertEqual(self.results()["fact-001"]["status"], "merged")


class Trees(Hostile):
    def test_names_that_are_no_utf8(self):  # REP-7, section 5
        self.engineer("mkdir -p src; touch \"src/$(printf 'a\\377b')\"; echo x > src/x")
        self.commit()
        code, out, err = self.run_agents("--json")
        self.assertEqual(code, 0, err)
        json.loads(out)
        self.assertEqual(len(self.results()["fact-001"]["files"]), 2)
        self.assert_consistent(1)

    def test_what_no_commit_holds(self):  # REP-37
        self.engineer("mkdir -p src; mkfifo src/pipe; echo x > src/x; mkdir src/empty")
        self.assertEqual(self.outcome()[0], "merged")
        self.assertEqual(self.results()["fact-001"]["files"], ["src/x"])

    def test_a_tracked_file_that_grows_without_end(self):  # REP-37: too-large, before hashing
        self.put("src/big", "x")
        self.engineer("truncate -s 200G src/big")
        self.assertEqual(self.outcome()[::2], ("policy-violation", ["too-large"]))

    def test_folders_deeper_than_a_path(self):  # REP-33: removal
        self.engineer("mkdir -p src; echo x > src/x; cd src; "
                      "python3 -c \"import os\nfor i in range(3000):\n os.mkdir('d'); os.chdir('d')\n"
                      "open('f', 'w')\"")
        status, reason, _ = self.outcome()
        self.assertIn(status, ("merged", "policy-violation"), reason)
        trees = [path for path in (self.home / "cache").rglob("w1")]
        self.assertEqual(trees, [])

    def test_names_that_differ_in_case_alone(self):
        self.engineer("mkdir -p src; echo a > src/name; echo b > src/Name")
        self.assertEqual(self.outcome()[0], "merged")

    def test_a_rename_into_a_denied_folder(self):  # REP-38
        self.allow(deny=["secrets/**"])
        self.put("open/key", "x\n" * 30)
        self.engineer("mkdir -p Secrets; git mv open/key Secrets/key")
        self.assertEqual(self.outcome()[::2], ("policy-violation", ["deny"]))

    def test_attributes_and_modules(self):  # REP-38
        self.allow()
        self.engineer("echo '* -diff' > .gitattributes; echo '[submodule \"x\"]' > .gitmodules")
        self.assertEqual(self.outcome()[::2], ("policy-violation", ["control-file"]))


class Branch(Hostile):
    """While the reviewer reads, the branch renames the folder of the patch: it is reviewed again."""

    def set_up(self, second_review: str) -> None:
        self.allow()
        self.git("config", "merge.directoryRenames", "true")
        for name in ("a", "b", "c"):
            self.put(f"old/{name}.txt", f"{name}\n" * 50)
        self.engineer("echo new > old/new.txt")
        self.reviewer(f"if ! [ -e $HOME/moved ]; then touch $HOME/moved; cd {self.repo}; "
                      "unset GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES; "
                      f"git mv old new && git commit -qm moved; cd - >/dev/null; {second_review} fi; "
                      + agents_case.APPROVE, writable=["~/"])

    def test_the_second_approval_is_for_what_is_merged(self):  # REP-43
        self.set_up("")
        status, reason, _ = self.outcome("--confine", "none")
        self.assertEqual(status, "merged", reason)
        self.assertTrue((self.repo / "new/new.txt").exists())
        reviews = [line for line in self.log() if line["event"] == "approval.accepted"]
        self.assertEqual(len(reviews), 2)
        self.assert_consistent(1)

    def test_the_checks_run_over_what_is_merged(self):  # REP-40, REP-43
        self.configure(checks=[{"name": "unit", "argv": ["sh", "-c", "test ! -e new"]}])
        self.set_up("")
        status, reason, _ = self.outcome("--confine", "none")
        self.assertEqual((status, reason.partition(":")[0]), ("needs-fix", "the check unit failed"))
        self.assert_consistent(0)

    def test_the_second_review_ends_with_the_time_of_the_run(self):  # REP-43, REP-53
        self.set_up("else sleep 600;")
        status, reason, _ = self.outcome("--confine", "none", "--max-seconds", "5")
        self.assertEqual(status, "budget", reason)
        self.assert_consistent(0)

    def test_the_second_reviewer_leaves_the_git_folder_alone_too(self):  # REP-34, REP-43
        self.set_up(f"else echo true > {self.repo}/.git/hooks/post-merge;")
        status, reason, rules = self.outcome("--confine", "none")
        self.assertEqual((status, rules), ("policy-violation", ["git-dir"]), reason)
        self.assertIn("rule git-dir: ", reason)
        self.assert_consistent(0)


if __name__ == "__main__":
    harness.main()
