#!/usr/bin/env python3
"""A chat session in a real terminal: CON-7, CON 3.2, A12."""

import os
import pathlib
import pty
import select
import signal
import stat
import struct
import termios
import fcntl
import time
import unittest

import harness


class Session:
    """A program on a terminal of its own."""

    def __init__(self, argv, env, columns=80):
        self.screen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self, limit: float) -> bool:
        if not select.select([self.fd], [], [], limit)[0]:
            return False
        try:
            got = os.read(self.fd, 65536)
        except OSError:
            return False
        self.screen += got
        return bool(got)

    def wait_for(self, text: bytes, limit: float = 60) -> bytes:
        """What came up to and with `text`; it is used up."""
        end = time.monotonic() + limit
        while text not in self.screen:
            left = end - time.monotonic()
            if left < 0 or not self.read(left):
                raise AssertionError(f"no {text!r} in {self.screen!r}")
        at = self.screen.index(text) + len(text)
        before, self.screen = self.screen[:at], self.screen[at:]
        return before

    def send(self, text: bytes):
        os.write(self.fd, text)

    def end(self, limit: float = 60) -> int:
        end = time.monotonic() + limit
        while time.monotonic() < end and self.read(end - time.monotonic()):
            pass
        if time.monotonic() >= end:
            raise AssertionError(f"it did not end: {self.screen!r}")
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def kill(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.fd)


class TerminalTest(harness.Case):
    def session(self, **env) -> Session:
        program = pathlib.Path(harness.DOSSIER).parent.parent / "tests" / "chat_session_program"
        session = Session([str(program), f"{self.home}/state/history"],
                          {**self.env, "TERM": "xterm-256color", **env})
        self.addCleanup(session.kill)
        session.prompt = self.ready(session)
        return session

    @staticmethod
    def ready(session):
        """The prompt is there, and with it the terminal's mode for editing."""
        return session.wait_for(b"\x1b[?2004h")

    def say(self, session, line: bytes, answer: bytes):
        session.send(line + b"\r")
        shown = session.wait_for(answer)
        self.ready(session)
        return shown

    def test_a_message_is_answered_and_ctrl_d_leaves(self):
        session = self.session()
        self.say(session, "naïve 東京".encode(), "<naïve 東京>".encode())
        session.send(b"\x04")
        self.assertEqual(session.end(), 0)

    def test_what_a_model_wrote_cannot_reach_the_terminal(self):
        session = self.session()
        self.say(session, b"escape", b"a^[[2J^[]0;title^Gz")
        session.send(b"/exit\r")
        self.assertEqual(session.end(), 0)

    def test_ctrl_c_stops_a_reply_and_twice_leaves(self):
        session = self.session()
        session.send(b"slow\r")
        session.wait_for(b"and")
        session.send(b"\x03")
        session.wait_for(b"kept as incomplete")
        self.ready(session)
        self.say(session, b"next", b"<next>")
        session.send(b"\x03")
        session.wait_for(b"again")
        self.ready(session)
        session.send(b"\x03")
        self.assertEqual(session.end(), 130)

    def test_ctrl_c_clears_the_line(self):
        session = self.session()
        session.send(b"half a thought\x03")
        self.ready(session)
        self.say(session, b"whole", b"<whole>")
        session.send(b"\x04")
        self.assertEqual(session.end(), 0)

    def test_commands_complete_and_reach_the_driver(self):
        session = self.session()
        self.say(session, b"one", b"<one>")
        self.say(session, b"/retry", b"<one>")
        self.say(session, b"/und\t", b"undone: turn 2")
        self.say(session, b"/fork other", b"now in other")
        session.send(b"/ex\t\t")
        session.wait_for(b"/exit  /exec")
        session.send(b"it\r")
        self.assertEqual(session.end(), 0)

    def test_a_message_may_have_several_lines(self):
        session = self.session()
        session.send(b"first\\\r")
        self.ready(session)
        self.say(session, b"second", b"second>")
        session.send(b"/multi\r")
        self.ready(session)
        session.send(b"x\r")
        self.ready(session)
        session.send(b"y\r")
        self.ready(session)
        self.assertIn(b"<x", self.say(session, b".", b"y>"))
        session.send(b"\x1b[200~pasted\rin \x07one\x1b[201~")
        session.wait_for(b"one")
        self.say(session, b"", b"in one>")
        session.send(b"\x04")
        self.assertEqual(session.end(), 0)

    def test_history_is_kept_privately(self):
        session = self.session()
        self.say(session, b"remember me", b"<remember me>")
        session.send(b"\x04")
        self.assertEqual(session.end(), 0)
        mode = os.stat(self.home / "state/history").st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o600)
        again = self.session()
        again.send(b"\x1b[A")
        again.wait_for(b"remember me")
        self.say(again, b"", b"<remember me>")
        again.send(b"\x04")
        self.assertEqual(again.end(), 0)

    def test_edit_sends_what_the_editor_left(self):
        editor = self.write("editor.sh", "#!/bin/sh\necho written outside > \"$1\"\n")
        os.chmod(editor, 0o755)
        session = self.session(EDITOR=editor)
        self.say(session, b"/edit", b"<written outside>")
        session.send(b"\x04")
        self.assertEqual(session.end(), 0)

    def test_a_term_signal_ends_it(self):
        session = self.session()
        os.kill(session.pid, signal.SIGTERM)
        self.assertEqual(session.end(), 143)

    def test_what_is_typed_has_no_style(self):
        shown = self.session().prompt
        self.assertGreater(shown.rindex(b"\x1b[0m"), shown.rindex(b"\x1b[1m"), shown)
        self.assertGreater(shown.rindex(b"\x1b[0m"), shown.rindex(b"\x1b[2m"), shown)

    def test_no_color_gives_no_colours(self):
        session = self.session(NO_COLOR="1")
        shown = self.say(session, b"**x** `y`", b"y`>")
        self.assertNotIn(b"\x1b[1m", shown)
        self.assertNotIn(b"\x1b[36m", shown)
        session.send(b"\x04")
        self.assertEqual(session.end(), 0)


if __name__ == "__main__":
    harness.main()
