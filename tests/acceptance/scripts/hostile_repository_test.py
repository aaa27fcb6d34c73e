#!/usr/bin/env python3
"""Repositories that somebody sent: what their git folder names never runs, whichever command reads them.

Each vector plants one way in which git is made to start a program. A marker file tells that it ran. The
last test proves that the vectors bite: it lets git itself, without our walls, fall into them.
"""

import copy
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import harness

HOOKS = ("applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit "
         "post-index-change post-merge post-rewrite pre-applypatch pre-auto-gc pre-commit "
         "pre-merge-commit pre-push pre-rebase prepare-commit-msg reference-transaction "
         "sendemail-validate update").split()


def config(*entries):
    """A vector of settings: pairs of a key and a value, in which RUN is the program."""
    def plant(case):
        for key, value in entries:
            case.git("config", "--add", key, value.replace("RUN", case.program))
    return plant


def attributed(attributes, *entries):
    """The same, with attributes that the tree brings along."""
    def plant(case):
        case.put(".gitattributes", attributes + "\n")
        case.git("add", ".gitattributes")
        case.git("commit", "-qm", "attributes")
        config(*entries)(case)
    return plant


def info_attributed(attributes, *entries):
    def plant(case):
        config(*entries)(case)
        (case.repo / ".git/info").mkdir(exist_ok=True)
        (case.repo / ".git/info/attributes").write_text(attributes + "\n")
    return plant


def named_filter(section, attributes):
    """A filter whose section git's files can hold and its command line cannot."""
    def plant(case):
        case.put(".gitattributes", attributes + "\n")
        case.git("add", ".gitattributes")
        case.git("commit", "-qm", "attributes")
        with open(case.repo / ".git/config", "a") as file:
            file.write(f'[filter "{section}"]\n\tclean = "{case.program}; cat"\n'
                       f'\tsmudge = "{case.program}; cat"\n\trequired\n')
    return plant


def included(head):
    def plant(case):
        case.put(".gitattributes", "* filter=x\n")
        case.git("add", ".gitattributes")
        case.git("commit", "-qm", "attributes")
        (case.repo / ".git/more").write_text(f'[filter "x"]\n\tclean = "{case.program}; cat"\n'
                                             f'\tsmudge = "{case.program}; cat"\n')
        with open(case.repo / ".git/config", "a") as file:
            file.write(f"[{head}]\n\tpath = more\n")
    return plant


def worktree_config(case):
    attributed("* filter=x", ("extensions.worktreeConfig", "true"))(case)
    (case.repo / ".git/config.worktree").write_text(f'[filter "x"]\n\tclean = "{case.program}; cat"\n')


def hooks(folder):
    def plant(case):
        place = case.repo / folder
        place.mkdir(parents=True, exist_ok=True)
        for name in HOOKS:
            (place / name).write_text(f"#!/bin/sh\n{case.program}\n")
            (place / name).chmod(0o755)
        if folder != ".git/hooks":
            case.git("config", "core.hooksPath", str(place))
    return plant


def promisor(*entries):
    """A partial clone that misses an object, and a remote that runs a program to bring it."""
    def plant(case):
        blob = case.git("rev-parse", "HEAD:src/a.txt")
        (case.repo / f".git/objects/{blob[:2]}/{blob[2:]}").unlink(missing_ok=True)
        config(("extensions.partialClone", "origin"), ("remote.origin.promisor", "true"),
               ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"), *entries)(case)
    return plant


def signed(*entries):
    """A commit with a signature, and a program to check it."""
    def plant(case):
        tree = case.git("rev-parse", "HEAD^{tree}")
        head = case.git("rev-parse", "HEAD")
        text = (f"tree {tree}\nparent {head}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n"
                "gpgsig -----BEGIN PGP SIGNATURE-----\n \n eA==\n -----END PGP SIGNATURE-----\n\nx\n")
        done = subprocess.run(["git", "hash-object", "-t", "commit", "-w", "--stdin"],
                              input=text, cwd=case.repo, env=case.env, text=True,
                              capture_output=True, check=True)
        case.git("update-ref", "refs/heads/main", done.stdout.strip())
        config(("log.showSignature", "true"), ("commit.gpgSign", "true"), *entries)(case)
    return plant


def submodule(case):
    """A submodule whose own settings, and whose own hooks, name the program."""
    sub = case.repo / "lib"
    sub.mkdir()
    for words in (["init", "-q", "-b", "main"], ["config", "user.name", "S"],
                  ["config", "user.email", "s@s"]):
        case.git("-C", str(sub), *words)
    (sub / "file").write_text("x\n")
    case.git("-C", str(sub), "add", "-A")
    case.git("-C", str(sub), "commit", "-qm", "x")
    commit = case.git("-C", str(sub), "rev-parse", "HEAD")
    case.put(".gitmodules", '[submodule "lib"]\n\tpath = lib\n\turl = ./lib\n')
    case.git("add", ".gitmodules")
    case.git("update-index", "--add", "--cacheinfo", f"160000,{commit},lib")
    case.git("commit", "-qm", "submodule")
    config(("submodule.recurse", "true"), ("diff.submodule", "diff"))(case)
    case.git("-C", str(sub), "config", "filter.x.clean", f"{case.program}; cat")
    case.git("-C", str(sub), "config", "core.fsmonitor", case.program)
    (sub / ".git/info").mkdir(exist_ok=True)
    (sub / ".git/info/attributes").write_text("* filter=x\n")
    os.utime(sub / "file", (1, 1))


def nested(case):
    sub = case.repo / "vendor"
    sub.mkdir()
    case.git("-C", str(sub), "init", "-q")
    (sub / "file").write_text("x\n")
    case.git("-C", str(sub), "config", "core.fsmonitor", case.program)


def git_file(case):
    """`.git` is a file that leads to a hostile folder elsewhere."""
    attributed("* filter=x", ("filter.x.clean", "RUN; cat"))(case)
    config(("core.worktree", str(case.repo)))(case)  # else it is not this folder's
    (case.repo / ".git").rename(case.home / "elsewhere")
    (case.repo / ".git").write_text(f"gitdir: {case.home}/elsewhere\n")


def attributes_file(case):
    case.put("outside", "* filter=x\n")
    config(("core.attributesFile", str(case.repo / "outside")), ("filter.x.clean", "RUN; cat"))(case)


VECTORS = {
    "a clean filter": attributed("* filter=x", ("filter.x.clean", "RUN; cat")),
    "a smudge filter": attributed("* filter=x", ("filter.x.smudge", "RUN; cat")),
    "a filter process": attributed("* filter=x", ("filter.x.process", "RUN")),
    "a required filter": info_attributed("* filter=x", ("filter.x.clean", "RUN; cat"),
                                         ("filter.x.required", "true")),
    "a filter with = in its name": named_filter("a=b", "* filter=a=b"),
    "a filter with dots in its name": named_filter("a.clean.b", "* filter=a.clean.b"),
    "a filter without a name": named_filter("", "* filter="),
    "a filter in capitals": named_filter("FILTER", "* filter=FILTER"),
    "a filter in an included file": included("include"),
    "a filter included for this folder": included('includeIf "gitdir:**"'),
    "a filter included for this branch": included('includeIf "onbranch:main"'),
    "a filter of the worktree's settings": worktree_config,
    "a filter by an attributes file": attributes_file,
    "a monitor": config(("core.fsmonitor", "RUN")),
    "a monitor with a version": config(("core.fsmonitorHookVersion", "2"),
                                       ("core.fsmonitor", "RUN")),
    "hooks": hooks(".git/hooks"),
    "hooks elsewhere": hooks("tools/hooks"),
    "hooks by name": config(("hook.x.command", "RUN"), ("hook.x.event", "post-index-change")),
    "pagers": config(("core.pager", "RUN"), ("pager.status", "RUN"), ("pager.log", "RUN"),
                     ("pager.diff", "RUN"), ("pager.config", "RUN")),
    "editors": config(("core.editor", "RUN"), ("sequence.editor", "RUN")),
    "an external diff": config(("diff.external", "RUN; true")),
    "a text conversion": attributed("* diff=x", ("diff.x.textconv", "RUN; cat"),
                                    ("diff.x.cachetextconv", "false")),
    "a diff command": attributed("* diff=x", ("diff.x.command", "RUN; true")),
    "a merge driver": attributed("* merge=x", ("merge.x.driver", "RUN")),
    "a default merge driver": info_attributed("* merge", ("merge.default", "x"),
                                              ("merge.x.driver", "RUN")),
    "a server by ssh": promisor(("remote.origin.url", "ssh://host/x"), ("core.sshCommand", "RUN")),
    "a program as a server": promisor(("remote.origin.url", "ext::sh -c RUN"),
                                      ("protocol.ext.allow", "always")),
    "a server's own program": promisor(("remote.origin.url", "/"),
                                       ("remote.origin.uploadpack", "RUN; git-upload-pack")),
    "a proxy": promisor(("remote.origin.url", "git://127.0.0.1:9/x"), ("core.gitProxy", "RUN")),
    "a helper for keys": promisor(("remote.origin.url", "http://127.0.0.1:9/x"),
                                  ("credential.helper", "!RUN"), ("core.askPass", "RUN")),
    "a signature program": signed(("gpg.program", "RUNNER")),
    "an ssh signature program": signed(("gpg.format", "ssh"), ("gpg.ssh.program", "RUNNER"),
                                       ("gpg.program", "RUNNER"),
                                       ("gpg.ssh.defaultKeyCommand", "RUN")),
    "aliases": config(*((f"alias.{name}", "!RUN") for name in
                        ("status", "log", "config", "rev-parse", "ls-files", "st"))),
    "trailers": config(("trailer.x.key", "X"), ("trailer.x.command", "RUN"),
                       ("trailer.x.ifmissing", "add")),
    "refs of others": config(("core.alternateRefsCommand", "RUN")),
    "clean-ups": config(("gc.auto", "1"), ("gc.autoDetach", "false")),
    "a filter for patches": config(("interactive.diffFilter", "RUN"), ("add.interactive", "true")),
    "tools": config(("diff.tool", "x"), ("difftool.x.cmd", "RUN"), ("merge.tool", "x"),
                    ("mergetool.x.cmd", "RUN")),
    "a submodule": submodule,
    "a repository inside": nested,
    "a git folder elsewhere": git_file,
}


def pipe(name):
    """A pipe in place of a file that git reads."""
    def plant(case):
        path = case.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    return plant


def named_pipe(*lines):
    """Settings that name a pipe, or a device without an end."""
    def plant(case):
        os.mkfifo(case.repo / ".git/pipe")
        with open(case.repo / ".git/config", "a") as file:
            file.write("\n".join(lines) + "\n")
    return plant


def included_pipe(case):
    named_pipe("[INCLUDE]", "path = ../more")(case)
    case.put("more", '[core]\n\tx = 1\n[includeIf "onbranch:**"]\n\tpath = .git/pipe\n')


def worktree_pipe(case):
    config(("extensions.worktreeConfig", "true"))(case)
    pipe(".git/config.worktree")(case)


def borrowed_pipe(case):
    pack = case.home / "lent/pack"
    pack.mkdir(parents=True, exist_ok=True)
    (case.repo / ".git/objects/info").mkdir(exist_ok=True)
    (case.repo / ".git/objects/info/alternates").write_text(f"{case.home}/lent\n")
    if not (pack / "pack-1.idx").exists():
        (pack / "pack-1.pack").write_text("")
        os.mkfifo(pack / "pack-1.idx")


# In each of these git waits for ever.
STALLS = {
    "the settings": pipe(".git/config"),
    "the settings of the worktree": worktree_pipe,
    "included settings": named_pipe("[include]", "path = pipe"),
    "settings that are included twice removed": included_pipe,
    "settings for this folder": named_pipe('[includeIf "gitdir:**"]', "path = \\", "pipe"),
    "a device as settings": named_pipe("[include]", "path = /dev/zero"),
    "settings of a user": named_pipe("[include]", "path = ~nobody/x"),
    "attributes": named_pipe("[core]", "attributesFile = .git/pipe", "[core]", "attributesFile=/dev/tty"),
    "ignored names": named_pipe("[core]", "excludesFile = /dev/zero"),
    "own ignored names": pipe(".git/info/exclude"),
    "the index": pipe(".git/index"),
    "packed references": pipe(".git/packed-refs"),
    "a reference": pipe(".git/refs/heads/main"),
    "the log of HEAD": pipe(".git/logs/HEAD"),
    "the log of a reference": pipe(".git/logs/refs/heads/main"),
    "borrowed objects": pipe(".git/objects/info/alternates"),
    "a borrowed pack": borrowed_pipe,
}


ELSEWHERE = tempfile.TemporaryDirectory(prefix="dossier-history-")
HISTORY = pathlib.Path(ELSEWHERE.name) / "repository"


class Hostile(harness.Case):
    def setUp(self):
        super().setUp()
        self.env["GIT_CONFIG_NOSYSTEM"] = "1"
        self.plant_marker()

    def plant_marker(self):
        self.marker = self.home / "ran"
        runner = self.home / "runner"
        runner.write_text(f"#!/bin/sh\n: > '{self.marker}'\nexit 0\n")
        runner.chmod(0o755)
        self.program = str(runner)

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.repo, env=self.env, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout.strip()

    def put(self, name: str, content: str):
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def make_history(self):
        """Once for all vectors: git starts ten times for it."""
        self.repo = HISTORY
        self.repo.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")
        for number in range(3):
            self.put(f"src/{'abc'[number]}.txt", f"{number}\n" * 20)
        self.put("config/tasks.json", json.dumps([{"id": "t1", "summary": "x"}]))
        self.put("config/policy.yaml", json.dumps({"allow": ["src/**"]}))
        self.git("add", "-A")
        self.git("commit", "-qm", "one")
        self.git("branch", "side")
        self.put("src/b.txt", "changed\n" * 3)
        self.git("commit", "-qam", "two")

    def make(self, name: str, plant):
        """A repository with some history, the vector, and a work tree in which git has to look at
        each file again."""
        if not HISTORY.is_dir():
            self.make_history()
        self.repo = self.home / f"repo{len(list(self.home.glob('repo*')))}"
        shutil.copytree(HISTORY, self.repo, symlinks=True)
        plant(self)
        for path in self.repo.glob("src/*.txt"):
            os.utime(path, (1, 1))
        self.put("src/new.txt", "new\n")
        self.marker.unlink(missing_ok=True)
        self.env["RUNNER"] = self.program
        text = (self.repo / ".git")
        config_file = (self.home / "elsewhere/config") if text.is_file() else text / "config"
        config_file.write_text(config_file.read_text().replace("RUNNER", self.program))

    def check(self, words, name, **options):
        code, out, err = self.run_to_end(*words, cwd=self.repo, **options)
        self.assertFalse(self.marker.exists(), f"{name}: ran by {' '.join(words)}\n{out}{err}")
        return code, out, err

    def each(self, *commands, limit=60, besides=()):
        for name, plant in VECTORS.items():
            if name in besides:
                continue
            with self.subTest(name):
                self.make(name, plant)
                for words in commands:
                    self.check(words, name, limit=limit)


class Reading(Hostile):
    def test_the_header(self):  # FLT-81
        self.each(["header", "--with", "dirty,upstream,commits,date,environment"])

    def test_packing_and_inspecting(self):  # FLT-81
        self.each(["pack", "."], ["inspect", "src/a.txt"])

    def test_what_agents_read(self):  # FLT-81
        self.each(["agents", "context"], ["agents", "status"], ["agents", "lint-notes"])

    def test_settings_and_trust(self):  # FLT-81
        self.each(["config", "show"], ["doctor"], ["paths"])


class Stalling(Hostile):
    def test_git_is_not_called_where_it_would_wait(self):  # FLT-81
        for name, plant in STALLS.items():
            with self.subTest(name):
                self.make(name, lambda case: None)
                plant(self)
                for words in (["header", "--with", "dirty,commits"], ["pack", "."], ["agents", "status"]):
                    code, out, err = self.run_to_end(*words, cwd=self.repo, limit=8)
                    if words[0] != "agents":
                        self.assertEqual(code, 0, (words, err))
                        self.assertRegex(err, "no ordinary file|is not followed|no regular file")

    def test_an_object_that_is_a_pipe_costs_one_wait(self):  # FLT-81
        self.make("an object", lambda case: None)
        name = self.git("rev-parse", "HEAD")
        pipe(f".git/objects/{name[:2]}/{name[2:]}")(self)
        for words in (["header", "--with", "dirty,commits"], ["pack", "."]):
            code, _, err = self.run_to_end(*words, cwd=self.repo, limit=16)
            self.assertEqual(code, 0, err)

    def test_files_that_settings_may_name(self):
        self.make("none", lambda case: None)
        self.put("more", "[user]\n\tname = B\n")
        with open(self.repo / ".git/config", "a") as file:
            file.write("[include]\n\tpath = ../more\n\tpath = nothing\n\tpath = ~/none\n"
                       "[core]\n\texcludesFile = /dev/null\n\tattributesFile = ../none\n")
        code, out, err = self.run_to_end("header", "--with", "dirty,commits", cwd=self.repo)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("branch: \"main\"", out)


class Commands(Hostile):
    """Programs of the user's that call git in the repository, by a flag."""

    LINE = ("git status; git diff; git diff HEAD; git diff HEAD~1 --stat; git log -p -3; "
            "git show --show-signature HEAD; git ls-files -m; git stash list; git st")

    def test_context_commands(self):  # FLT-81
        # Open: a command line of the user's own that runs `git diff` over a lazily fetched object, or
        # over a submodule with settings of its own, still starts what those settings name.
        self.each(["context", "run", "--exec", self.LINE],
                  besides=("a server's own program", "a submodule"))

    def test_the_users_own_programs_still_run(self):
        """What the user's own settings name is the user's."""
        self.make("none", lambda case: None)
        (self.home / ".gitconfig").write_text(f"[alias]\n\tmine = !{self.program}\n")
        code, out, err = self.run_to_end("context", "run", "--exec", "git mine", cwd=self.repo)
        self.assertEqual(code, 0, err)
        self.assertTrue(self.marker.exists(), out + err)

    def test_commands_of_a_model(self):  # FLT-81
        argv = [["git", "status"], ["git", "diff"], ["git", "log", "-p", "-n", "2"], ["git", "show"]]
        for name, plant in VECTORS.items():
            with self.subTest(name):
                self.make(name, plant)
                replies = [{"tool_calls": [{"name": "run_command",
                                            "arguments": {"argv": words, "reason": "x"}}]}
                           for words in argv] + ["done"]
                self.check(["chat", "--allow-commands", "--no-save", *self.script(replies), "q"], name)


class Work(Hostile):
    ENGINEER = ("echo 'more' >> src/a.txt; echo x > src/$1.txt; git status >&2; git add -A; "
                "git -c user.name=E -c user.email=e@e commit -qm mine >&2; git diff HEAD~1 >&2; "
                "git log -p -1 >&2; true")
    REVIEWER = "git diff HEAD~1 >&2; grep -o 'APPROVED-[0-9a-f]*' \"$0\" | tail -1"

    def configure(self):
        engine = lambda script: {"argv": ["sh", "-c", script, "{prompt_file}", "{task_id}"]}
        self.put("dossier.yml", json.dumps({"agents": {
            "engineer": "maker", "reviewer": "judge",
            "engines": {"maker": engine(self.ENGINEER), "judge": engine(self.REVIEWER)}}}))

    def test_a_run_of_agents(self):  # FLT-81, FLT-113
        for name, plant in VECTORS.items():
            with self.subTest(name):
                self.make(name, plant)
                self.configure()
                # The branch is checked out, with a file that differs from what a merge would write.
                code, out, err = self.check(["--trust-config", "agents", "run", "--attempts", "1"], name,
                                            limit=120)
                self.check(["header", "--with", "dirty"], name)
                if "filter" in name or "server" in name or "signature" in name or name in (
                        "a proxy", "a helper for keys", "a git folder elsewhere"):
                    continue  # refused, an object is missing, or no key signs
                self.assertIn("t1 -> merged", out, f"{name}: {out}{err}")

    def test_a_merge_of_two_changes_uses_gits_own_driver(self):  # FLT-113
        """The branch moves while the engineer works, so that git has to merge the file."""
        for name in ("a merge driver", "a default merge driver"):
            with self.subTest(name):
                self.make(name, VECTORS[name])
                self.git("checkout", "-q", "--", "src")
                (self.repo / "src/new.txt").unlink()
                self.ENGINEER = "sed -i '$ s/.*/last/' src/c.txt"
                self.REVIEWER = (f"if [ ! -e '{self.home}/moved' ]; then : > '{self.home}/moved'; cd "
                                 f"'{self.repo}' && sed -i '1 s/.*/first/' src/c.txt && git -c "
                                 "core.hooksPath=/dev/null commit -qam other >&2; cd - >&2; fi; "
                                 "grep -o 'APPROVED-[0-9a-f]*' \"$0\" | tail -1")
                self.configure()
                (self.home / "moved").unlink(missing_ok=True)
                code, out, err = self.check(
                    ["--trust-config", "agents", "run", "--confine", "none"], name, limit=120)
                self.assertIn("t1 -> merged", out, out + err)
                text = (self.repo / "src/c.txt").read_text()
                self.assertTrue(text.startswith("first\n") and text.endswith("last\n"), text)

    def test_a_patch_that_a_filter_would_change_is_refused(self):  # FLT-113
        self.make("filter", VECTORS["a clean filter"])
        self.configure()
        code, out, err = self.check(["--trust-config", "agents", "run", "--attempts", "1"], "filter")
        self.assertEqual(code, 12, out + err)
        self.assertIn("rule filter", out + err)


class Control(Hostile):
    def test_without_walls_the_vectors_bite(self):
        """A vector that git never falls into proves nothing about us."""
        bitten, started = [], []
        self.env |= {"EDITOR": "true", "GIT_TERMINAL_PROMPT": "0"}
        line = (Commands.LINE + "; git commit -qam x; git checkout -q side; git checkout -q main; "
                "git merge -q side; git gc --auto; git commit -q --amend --trailer a=b; "
                "git fetch -q; git difftool -y HEAD~1; git add -p; git rebase -q -i HEAD~1; true")
        for number, (name, plant) in enumerate(VECTORS.items()):
            case = copy.copy(self)  # with a home of its own, as some wait until they are killed
            case.home = self.home / f"case{number}"
            case.home.mkdir()
            case.env = self.env | {"HOME": str(case.home)}
            case.plant_marker()
            case.make(name, plant)
            started.append((name, case, case.start(
                "-s", "KILL", "20", "sh", "-c", line, command="timeout", cwd=case.repo,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)))
        for name, case, process in started:
            process.wait()
            if case.marker.exists():
                bitten.append(name)
        self.assertGreaterEqual(len(bitten), 25, sorted(set(VECTORS) - set(bitten)))


if __name__ == "__main__":
    harness.main()
