#!/usr/bin/env python3
"""What others wrote cannot act on a terminal, whichever command prints it; in a pipe it is exact. FLT-87

Each command runs twice over the same hostile text: on a pseudo-terminal, where no control character
of it may arrive, and in a pipe, where the bytes are as they were.
"""

import json
import os
import re
import subprocess

import harness
from terminal_test import Session

# A title, a link, the clipboard, colours, a C1 control, text that runs backwards, marks of direction.
HOSTILE = ("a\x1b]0;title\x07b\x1b]8;;http://x.example\x1b\\c\x1b]52;c;eA==\x07d\x1b[2Je\x1b[31mf"
           "\u009b3Jg\u202eh\u2066i\u200fj")
# What the program itself sends: colours, a line that is drawn again. Of the hostile text nothing of
# the kind is left, since its escape character is shown.
OWN = re.compile(r"\x1b\[(?:[0-9;]*m|K|J|[0-9]+A)|\r")
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class TerminalOutput(harness.Case):
    def on_terminal(self, *words: str, asked: bytes = b"", typed: bytes = b"") -> str:
        env = {**self.env, "TERM": "xterm-256color", "COLUMNS": "400"}
        session = Session([harness.DOSSIER, *words], env, columns=400, cwd=self.home)
        self.addCleanup(session.kill)
        shown = session.wait_for(asked)
        if typed:
            session.send(typed)
        session.end()
        return (shown + session.screen).decode("utf-8", "strict")

    def piped(self, *words: str) -> bytes:
        done = subprocess.run([harness.DOSSIER, *words], env=self.env, cwd=self.home, timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.stdout

    def assert_tame(self, shown: str, sign: str = "title"):
        self.assertIn(sign, shown)
        left = OWN.sub("", shown.replace("\r\n", "\n"))
        self.assertEqual(ACTS.findall(left), [], repr(left))
        self.assertNotIn("\x1b[31m", shown)

    def check(self, *words: str, exact=HOSTILE, sign: str = "title"):
        """`exact`: what stands in the output of a pipe, byte for byte; None: a line cannot hold it.
        `sign`: of the hostile text, so that it is known to be shown."""
        with self.subTest(command=words[:2]):
            self.assert_tame(self.on_terminal(*words), sign)
            if exact is not None:
                self.assertIn(exact.encode(), self.piped(*words))

    def test_answers(self):
        script = self.script([{"reply": HOSTILE, "times": "always"}])
        self.write("context.txt", "x\n")
        self.check("ask", "--mode", "direct", "-c", "context.txt", *script, "what?")
        self.check("chat", "--no-save", *script, "what?")
        self.check("chat", "--no-save", "--markdown", "off", *script, "what?")

    def test_what_programs_print(self):
        printing = f"import sys; sys.stdout.write({HOSTILE!r})"
        self.check("sandbox", "exec", "--", "python3", "-c", printing)
        self.check("sandbox", "exec", "--", "python3", "-c", printing.replace("stdout", "stderr"), exact=None)
        block = self.write("block.py", f"print({HOSTILE!r})\n")
        self.check("sandbox", "run", block)
        # Read from a file: on the command line the shell would need it without NUL and quotes.
        self.write("said", HOSTILE)
        # Of what a context command prints, colours and their kin are no part.
        self.check("context", "run", "--argv", "cat", "said", exact="abcdefg\u202eh", sign="abcdefg")

    def test_conversations(self):
        folder = self.home / "conv"
        folder.mkdir()
        stored = {"id": "talk", "model": "m", "created_at": "2026-11-21T12:47:14.000000Z",
                  "updated_at": "2026-11-21T12:47:15.250000Z", "metadata": {},
                  "messages": [{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": HOSTILE}]}
        (folder / "talk.json").write_text(json.dumps(stored))
        (folder / "talk.json").chmod(0o600)
        place = ["--conversations-path", str(folder)]
        self.check("conversations", "export", *place, "talk")
        self.check("conversations", "export", "--format", "jsonl", *place, "talk", exact=None)
        self.check("conversations", "show", *place, "talk", exact=None)
        self.check("conversations", "list", *place, exact=None)

    def test_files_and_their_names(self):
        self.write("text.txt", HOSTILE + "\n")
        self.check("pack", "text.txt")
        name = HOSTILE.replace("/", "_")
        (self.home / name).write_text("x\n")
        self.check("tokens", name, exact=None)
        self.check("pack", name, exact=None)
        os.remove(self.home / name)
        # In errors.
        for command in (["inspect"], ["tokens"], ["pack"], ["ask", "-c"], ["sandbox", "run"], ["trust"]):
            self.check(*command, name, *(["what?"] if command[0] == "ask" else []), exact=None)

    def test_memory(self):
        self.piped("memory", "init")
        self.piped("memory", "set", "title", HOSTILE)
        self.check("memory", "get", "title", exact=None)
        self.check("memory", "show", exact=None)

    def test_a_question_stays_on_its_line(self):
        """A name in a question begins no line of its own."""
        name = "good.yml\nTrust \x1b]0;title\x07all?"
        folder = self.home / "project"
        folder.mkdir()
        (folder / name).write_text("context_commands: [{name: x, command: ls}]\n")
        shown = self.on_terminal("trust", f"project/{name}", asked=b"[y/N] ", typed=b"n\n")
        self.assert_tame(shown)
        question = [line for line in shown.replace("\r\n", "\n").split("\n") if "[y/N]" in line]
        self.assertEqual(len(question), 1, shown)
        self.assertTrue(question[0].startswith("Trust ") and "good.yml\\nTrust" in question[0], question)


if __name__ == "__main__":
    harness.main()
