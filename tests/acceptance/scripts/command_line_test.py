#!/usr/bin/env python3
"""What only processes show: closed pipes, silent stdin, real shells, terminals (CON-5 to CON-8, A2, A6)."""

import os
import pathlib
import pty
import re
import select
import stat
import subprocess
import time
import unittest

import harness

HEAVY = ("libcurl", "libsqlite", "libpq", "libarchive", "libssl", "libpython")


class ClosedStdoutTest(harness.Case):
    def test_a_reader_that_goes_away_is_141_and_no_message(self):  # CON-5, A6, D21
        for words in (["man"], ["--help"], ["help", "config-keys"], ["config", "show", "--origin"],
                      ["completion", "bash"], ["--version"]):
            read, write = os.pipe()
            os.close(read)
            process = self.start(*words, stdout=write)
            os.close(write)
            _, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err), (141, ""), words)

    def test_a_full_disk_is_no_closed_pipe(self):  # CON-4
        script, words = self.script(["a", "a"]), ["--context-text", "abc", "--mode", "direct", "Which?"]
        for command in (["man"], ["inspect", self.write("a.txt", "a\n")], ["ask", *script, *words]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                code, _, err = self.run_to_end(*command, stdout=full)
            self.assertEqual(code, 1, command)
            self.assertIn("stdout: No space left", err)


class StdinTest(harness.Case):
    def test_a_silent_pipe_ends_by_its_timeout_without_a_request(self):  # CON-6, A6
        read, write = os.pipe()
        self.addCleanup(os.close, write)
        code, out, err = self.run_to_end("ask", *self.script(["a"]), "--context-text", "abc",
                                         "--stdin-timeout", "300ms", "-", stdin=read)
        os.close(read)
        self.assertEqual((code, out), (7, ""))
        self.assertIn("stdin stayed silent", err)
        self.assertEqual(self.runs(), [])


class SandboxFolderTest(harness.Case):
    def test_a_relative_folder_means_what_it_means_outside(self):  # FLT-52
        self.home.chmod(0o755)  # the worker is no root
        (self.home / "given").mkdir()
        text = self.write("given/note.txt", "42\n")
        code = self.write("code.py", f"print(open({text!r}).read())")
        for folder in ("given", "./given/", "../" + self.home.name, f"{self.home}/given/"):
            status, out, err = self.run_to_end("sandbox", "run", "--sandbox-read", folder, code)
            self.assertEqual((status, out.strip()), (0, "42"), f"{folder}: {err}")


class LibrariesTest(harness.Case):
    def test_the_quick_commands_load_no_heavy_library(self):  # CON-8, section 7
        (self.home / "conversations").mkdir()
        for words in (["--version"], ["--help"], ["completion", "bash"], ["man"],
                      ["__complete", "--", "ask", "-m", "o"],
                      ["__complete", "--", "ask", "--conversation", ""], ["config", "show"]):
            # The dynamic linker itself says what it loads, also what is loaded later.
            env = {**self.env, "LD_DEBUG": "files"}
            done = subprocess.run([harness.DOSSIER, *words], env=env, cwd=self.home, check=True,
                                  capture_output=True, text=True)
            self.assertIn("libc.so", done.stderr)
            for library in HEAVY:
                self.assertNotIn(library, done.stderr, words)


class LogFileTest(harness.Case):
    def test_messages_are_appended_privately_and_without_secrets(self):  # CON-2, D17, A3
        log = self.home / "run.log"
        key = "sk-" + "x8Kq2LwZ9vT" + "n4RbY7cMd1eQ5"
        for _ in range(2):
            self.run_to_end("--log-file", str(log), "config", "get", key)
        self.assertEqual(stat.S_IMODE(log.stat().st_mode), 0o600)
        lines = log.read_text("utf-8").splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("unknown key", lines[0])
        self.assertNotIn(key, "".join(lines))


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, case: harness.Case, words: list[str], env: dict):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(case.home)
            os.execvpe(words[0], words, env)
        self.seen = b""
        self.status = None
        case.addCleanup(self.end)

    def end(self):
        if self.status is None:
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
            self.status = -1
        os.close(self.fd)

    def wait_for(self, text: bytes, limit: float = 60) -> bool:
        until = time.monotonic() + limit
        while text not in self.seen and time.monotonic() < until:
            if not select.select([self.fd], [], [], 1)[0]:
                continue
            try:
                self.seen += os.read(self.fd, 65536)
            except OSError:
                break
        return text in self.seen

    def send(self, text: bytes):
        os.write(self.fd, text)

    def exit_code(self) -> int:
        self.wait_for(b"\0 never", limit=60)  # to the end of the output
        _, status = os.waitpid(self.pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        return self.status


class TrustOnTerminalTest(harness.Case):
    def ask(self, *before: str) -> Terminal:
        words = [*before, harness.DOSSIER, "ask", *self.script(["a"]), "--context-text", "abc", "What?"]
        return Terminal(self, words, {**self.env, "TERM": "dumb"})

    def test_yes_is_remembered_and_no_is_a_refusal(self):  # CON-15, A2
        self.write("dossier.yml", "log_file: run.log\n")
        terminal = self.ask("sh", "-c", 'read go; exec "$@"', "-")
        terminal.send(b"go\ny\n")  # before the question stands there: no answer
        self.assertTrue(terminal.wait_for(b"[y/N]"), terminal.seen)
        terminal.send(b"n\n")
        self.assertEqual(terminal.exit_code(), 12)
        terminal = self.ask()
        self.assertTrue(terminal.wait_for(b"[y/N]"), terminal.seen)
        terminal.send(b"y\n")
        self.assertEqual(terminal.exit_code(), 0)
        terminal = self.ask()
        self.assertEqual(terminal.exit_code(), 0)
        self.assertNotIn(b"[y/N]", terminal.seen)


class FolderOnTerminalTest(harness.Case):
    def ask(self, folder: str) -> Terminal:
        words = ["env", "-C", folder, harness.DOSSIER, "ask", *self.script(["a"]), "What?"]
        return Terminal(self, words, {**self.env, "TERM": "dumb"})

    def test_without_a_context_the_current_folder_is_read_and_said(self):  # FLT-41
        (self.home / "notes").mkdir()
        self.write("notes/a.txt", "alpha\n")
        terminal = self.ask("notes")
        self.assertEqual(terminal.exit_code(), 0, terminal.seen)
        self.assertIn(b"the files below the current folder are read", terminal.seen)

    def test_the_home_folder_and_the_root_have_to_be_named(self):  # FLT-41
        for folder, said in ((str(self.home), b"your home folder"), ("/", b"folder is /")):
            terminal = self.ask(folder)
            self.assertEqual(terminal.exit_code(), 2, terminal.seen)
            self.assertIn(said, terminal.seen)


class ShellTest(harness.Case):
    """The completion scripts in the shells themselves."""

    def setUp(self):
        super().setUp()
        self.env["PATH"] = f"{pathlib.Path(harness.DOSSIER).parent}:{self.env['PATH']}"
        self.write("notes.txt", "x")
        for shell in ("bash", "zsh", "fish"):
            code, script, err = self.run_to_end("completion", shell)
            self.assertEqual(code, 0, err)
            self.write(f"completion.{shell}", script)

    def shell(self, *words: str) -> str:
        done = subprocess.run(words, env=self.env, cwd=self.home, check=True, capture_output=True,
                              text=True, timeout=60, stdin=subprocess.DEVNULL)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def bash(self, line: str) -> list[str]:
        words = re.findall(r"[^ =:]+|[=:]", line)  # as bash parts them
        return self.shell("bash", "--norc", "-c", f"""source completion.bash
            COMP_WORDS=({' '.join(words)}) COMP_CWORD={len(words) - 1}
            COMP_LINE='{line}' COMP_POINT={len(line)}
            _dossier; printf '%s\\n' "${{COMPREPLY[@]}}" """).split()

    def test_bash(self):  # CON-8
        self.assertEqual(self.bash("dossier confi"), ["config"])
        self.assertEqual(self.bash("dossier ask --max-c"), ["--max-calls", "--max-cost"])
        self.assertEqual(self.bash("dossier ask -c not"), ["notes.txt"])
        self.assertEqual(self.bash("dossier config get compaction.ho"), ["compaction.horizon"])
        # bash parts at the sign; only what stands behind it is handed back.
        self.assertEqual(self.bash("dossier ask --mode=re"), ["recursive"])

    def test_names_that_are_there_complete(self):  # FLT-137
        self.run_to_end("chat", *self.script(["a"]), "--conversation", "my-talk", "What?")
        self.assertEqual(self.bash("dossier conversations show my-"), ["my-talk"])
        self.assertEqual(self.bash("dossier context show my-"), ["my-talk"])
        self.assertEqual(self.bash("dossier runs show la"), ["last"])
        run = self.runs()[0]["run"]
        self.assertEqual(self.bash(f"dossier runs show {run[:6]}"), [run])
        # Somebody else made up the name: for the shell it is a word.
        lists = self.home / "data/dossier/model-lists"
        lists.mkdir(parents=True)
        (lists / "x.yaml").write_text("schema: dossier.models/1\nmodels:\n"
                                      "- {name: 'zz$(reboot)', provider: openai, as_of: 2026-11-25, source: x, "
                                      "status: reported}\n")
        self.assertEqual(self.bash("dossier ask -m openai/zz"), ["openai/zz\\$\\(reboot\\)"])

    def test_zsh(self):  # CON-8
        terminal = Terminal(self, ["zsh", "-f", "-i"], {**self.env, "TERM": "dumb", "PS1": "> "})
        terminal.send(b"autoload -U compinit; compinit -u -D; source completion.zsh; print REA''DY\n")
        self.assertTrue(terminal.wait_for(b"READY"), terminal.seen)
        terminal.send(b"dossier config get compaction.hor\t")
        self.assertTrue(terminal.wait_for(b"compaction.horizon"), terminal.seen)
        terminal.send(b"\x15dossier ask -c note\t")
        self.assertTrue(terminal.wait_for(b"notes.txt"), terminal.seen)

    def test_fish(self):  # CON-8
        def offered(line: str) -> list[str]:
            found = self.shell("fish", "--no-config", "-c",
                               f"source completion.fish; complete -C '{line}'")
            return [answer.split("\t")[0] for answer in found.splitlines()]
        self.assertEqual(offered("dossier confi"), ["config"])
        self.assertEqual(offered("dossier ask --max-c"), ["--max-calls", "--max-cost"])
        self.assertEqual(offered("dossier ask -c not"), ["notes.txt"])


class ManualTest(harness.Case):
    def test_every_page_is_clean_roff(self):  # CON-8
        _, offered, _ = self.run_to_end("__complete", "--", "man", "")
        pages = [line.split("\t")[0] for line in offered.splitlines()]
        self.assertIn("ask", pages)
        for page in ["", *pages]:
            _, roff, _ = self.run_to_end("man", *page.split())
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=roff,
                                  capture_output=True, text=True, check=True)
            self.assertEqual(done.stderr, "", page)

    def test_a_text_that_is_not_utf8_is_refused_before_anything_is_sent(self):
        bad = b"caf\xe9?"
        script = self.script(["a"])
        for words in ([bad], ["--context-text", bad, "Which?"], ["-m", bad, "Which?"]):
            with self.subTest(words=words):
                code, out, err = self.run_to_end("ask", *script, *words)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn("not UTF-8: byte 3", err)
                self.assertEqual(self.runs(), [])
        code, _, err = self.run_to_end("chat", *script, "--system", bad, "Which?")
        self.assertEqual(code, 2, err)
        self.assertIn("--system", err)


if __name__ == "__main__":
    harness.main()
