#!/usr/bin/env python3
"""A chat session in a real terminal: CON-7, CON 3.2, A12."""

import json
import os
import pathlib
import pty
import select
import signal
import stat
import struct
import termios
import fcntl
import threading
import time
import unittest

import chat_case
import harness
from chat_case import block, counted, message

READY = b"\x1b[?2004h"  # the prompt is there, and with it the terminal's mode for editing


class Session:
    """A program on a terminal of its own."""

    def __init__(self, argv, env, columns=80, cwd=None):
        self.screen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if cwd:
                os.chdir(cwd)
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
        return session.wait_for(READY)

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


class RealSessionTest(chat_case.ChatCase):
    """`dossier chat` itself, against a recording server."""

    def session(self, *words: str, **env) -> Session:
        session = Session([harness.DOSSIER, *self.words(*words)],
                          {**self.env, "TERM": "xterm-256color", "XDG_STATE_HOME": f"{self.home}/state",
                           **env}, cwd=self.home)
        self.addCleanup(session.kill)
        session.wait_for(READY)
        return session

    def say(self, session, line: str, answer: str) -> bytes:
        session.send(line.encode() + b"\r")
        shown = session.wait_for(answer.encode())
        shown += session.wait_for(READY)
        return shown

    def leave(self, session):
        session.send(b"\x04")
        self.assertEqual(session.end(), 0)

    def texts(self, conversation: str = "talk") -> list[str]:
        return [m["content"] for m in self.stored(conversation)["messages"]]

    def only(self) -> str:
        names = [path.stem for path in self.folder.glob("*.json")]
        self.assertEqual(len(names), 1, names)
        return names[0]

    def test_choices_stand_without_what_is_typed(self):  # FLT-137
        session = self.session("--conversation", "talk")
        session.send(b"/model openai/gpt-5\t\t")
        shown = session.wait_for(b"openai/gpt-5-mini")
        self.assertNotIn(b"/model openai/gpt-5-mini", shown)
        session.send(b"\x15")
        self.leave(session)

    def test_turns_are_saved_undone_asked_again_and_forked(self):  # CON-A12
        self.configure(context_commands=[counted("a")])
        frozen = block("a", "out of a")
        session = self.session("--conversation", "talk")
        self.say(session, "one", "Reply 1")
        self.say(session, "two", "Reply 2")
        self.assertEqual(self.texts(), [frozen, "one", "Reply 1", "two", "Reply 2"])
        self.say(session, "/undo", "turn 2 is gone")
        self.assertEqual(self.texts(), [frozen, "one", "Reply 1"])
        self.say(session, "/retry", "Reply 3")
        self.assertEqual(self.texts(), [frozen, "one", "Reply 3"])
        self.assertEqual(self.sent(2), self.sent(0))
        self.say(session, "/fork other", "you are in other now")
        self.say(session, "three", "Reply 4")
        self.assertEqual(self.texts(), [frozen, "one", "Reply 3"])
        self.assertEqual(self.texts("other"), [frozen, "one", "Reply 3", "three", "Reply 4"])
        origin = self.stored("other")["metadata"]["dossier"]["forked_from"]
        self.assertEqual((origin["id"], origin["turn"]), ("talk", 1))
        self.assertEqual(self.runs_of("a"), 1)
        self.leave(session)

    def test_a_retry_that_fails_leaves_the_turn(self):
        session = self.session("--conversation", "talk")
        self.say(session, "/retry", "has no turn yet")
        self.say(session, "one", "Reply 1")
        before = self.path().read_bytes()
        self.answers = [lambda handler, body: harness.send(handler, 400, b"{}")]
        self.say(session, "/retry", "400")
        self.assertEqual(self.path().read_bytes(), before)
        self.say(session, "/retry", "Reply 3")
        self.assertEqual(self.texts(), ["one", "Reply 3"])
        self.leave(session)

    def test_ctrl_c_saves_what_came_and_a_retry_replaces_it(self):  # CON 3.2, CON-31, CON-A12
        stopped = threading.Event()
        self.addCleanup(stopped.set)

        def slow(handler, body):
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.end_headers()
            handler.wfile.write(harness.chunk("It began and "))
            handler.wfile.flush()
            stopped.wait(60)

        self.answers = [slow]
        session = self.session("--conversation", "talk")
        session.send(b"why?\r")
        session.wait_for(b"It began")  # the view holds back the word that may go on
        session.send(b"typed while")  # is still there when the reply was stopped
        time.sleep(0.1)
        session.send(b"\x03")
        shown = session.wait_for(b"kept as incomplete")
        self.assertNotIn(b"--resume-turn", shown)
        session.wait_for(b"typed while")
        session.send(b"\x15")
        self.assertEqual(self.texts(), ["why?", "It began and "])
        self.assertTrue(self.stored()["metadata"]["dossier"]["turns"][0]["incomplete"])
        _, out, _ = self.run_to_end("conversations", "show", "talk", "--conversations-path", str(self.folder))
        self.assertIn("[1] ASSISTANT (incomplete):\nIt began and ", out)
        self.leave(session)
        session = Session([harness.DOSSIER, *self.words("--conversation", "talk")],
                          {**self.env, "TERM": "xterm-256color", "XDG_STATE_HOME": f"{self.home}/state"}, cwd=self.home)
        self.addCleanup(session.kill)
        self.assertIn(b"the last reply is incomplete; /retry asks again", session.wait_for(READY))
        self.say(session, "/retry", "Reply 2")
        self.assertEqual(self.texts(), ["why?", "Reply 2"])
        self.leave(session)

    def test_ctrl_c_in_one_answer_says_so_on_a_line_of_its_own(self):  # CON-31
        for mode in ("off", "on"):
            self.slow("It began and ", "it ends.")
            session = self.once("--markdown", mode, "why?")
            session.wait_for(b"It began")
            session.send(b"\x03")
            shown = session.wait_for(b"incomplete")
            self.assertIn(b"\r\ndossier: warning: ", shown)
            self.assertEqual(session.end(), 130)
            self.assertNotIn(b"and", session.screen)

    def test_ctrl_c_before_the_first_word_saves_nothing(self):  # CON-31
        asked, stopped = threading.Event(), threading.Event()
        self.addCleanup(stopped.set)

        def silent(handler, body):
            asked.set()
            stopped.wait(60)

        self.answers = [silent]
        session = self.session("--conversation", "talk")
        session.send(b"why?\r")
        self.assertTrue(asked.wait(60))
        session.send(b"\x03")
        session.wait_for(b"nothing of this turn is saved")
        session.wait_for(READY)
        self.assertFalse(self.path().exists())
        session.send(b"\x03")
        session.wait_for(b"again")
        session.wait_for(READY)
        session.send(b"\x03")
        self.assertEqual(session.end(), 130)

    def test_an_exec_command_runs_with_the_next_message_only(self):  # CON 3.2
        session = self.session("--conversation", "talk", "--exec", "echo first")
        self.say(session, "one", "Reply 1")
        self.say(session, "/exec echo second", "runs with your next message")
        self.say(session, "two", "Reply 2")
        self.say(session, "three", "Reply 3")
        second = block("CLI Command 1", "second") + "\n\ntwo"
        self.assertEqual(self.texts(), [block("CLI Command 1", "first"), "one", "Reply 1", second,
                                        "Reply 2", "three", "Reply 3"])
        self.say(session, "/undo", "turn 3 is gone")
        self.say(session, "/retry", "Reply 4")
        self.assertEqual(self.texts()[-2:], [second, "Reply 4"])
        self.leave(session)

    def test_tables_and_a_new_context(self):  # CON 3.2
        self.configure(context_commands=[counted("a", "cat value")])
        value = pathlib.Path(self.write("value", "old"))
        session = self.session("--conversation", "talk")
        self.say(session, "/context", "runs with your first message")
        self.say(session, "one", "Reply 1")
        self.assertIn(b"ok", self.say(session, "/context", "outcome"))
        self.say(session, "/tokens", "your next message not counted")
        self.say(session, "/usage", f"turn 1: {self.server.url}#some-model")
        value.write_text("new")
        self.say(session, "/refresh", "a: changed")
        self.assertEqual(self.texts(), [block("a", "new"), "one", "Reply 1"])
        self.say(session, "two", "Reply 2")
        self.assertEqual(self.system(), block("a", "new"))
        self.assertEqual(self.runs_of("a"), 2)
        self.leave(session)

    def test_without_an_id_one_is_made_and_save_names_it(self):  # CON 3.2
        session = self.session()
        self.say(session, "one", "Reply 1")
        made = self.only()
        self.say(session, "/save kept", "you are in kept now")
        self.say(session, "two", "Reply 2")
        self.assertEqual(self.texts(made), ["one", "Reply 1"])
        self.assertEqual(self.texts("kept"), ["one", "Reply 1", "two", "Reply 2"])
        self.say(session, "/model other-model", "other-model answers from now on")
        self.say(session, "three", "Reply 3")
        self.assertEqual(json.loads(self.server.requests[-1])["model"], "other-model")
        self.assertTrue(self.stored("kept")["model"].endswith("#other-model"))  # FLT-139
        self.leave(session)
        history = self.home / "state/dossier/chat_history"
        self.assertEqual(stat.S_IMODE(history.stat().st_mode), 0o600)

    def test_no_save_keeps_nothing(self):  # CON 3.2
        session = self.session("--no-save")
        self.say(session, "one", "Reply 1")
        self.say(session, "two", "Reply 2")
        self.assertEqual([m["content"] for m in self.sent()], ["one", "Reply 1", "two"])
        self.leave(session)
        left = [path for path in self.home.rglob("*") if path.is_file()]
        self.assertEqual([path for path in left if b"Reply 1" in path.read_bytes()], [])
        self.assertFalse(self.folder.exists())

    def test_read_only_leaves_the_file(self):
        before = self.put([message("user", "q"), message("assistant", "a")])
        session = self.session("--conversation", "talk", "--read-only")
        self.say(session, "one", "Reply 1")
        self.say(session, "two", "Reply 2")
        self.assertEqual([m["content"] for m in self.sent()], ["q", "a", "one", "Reply 1", "two"])
        self.say(session, "/save copy", "kept as copy")
        self.leave(session)
        self.assertEqual(self.path().read_bytes(), before)
        self.assertEqual(self.texts("copy"), ["q", "a", "one", "Reply 1", "two", "Reply 2"])

    def test_control_bytes_are_shown_at_a_terminal_only(self):  # CON-7, CON-A12
        evil = "a\x1b[2J\x07z **b**"
        self.answers = [evil] * 5
        session = self.session()
        self.assertIn(b"a^[[2J^Gz", self.say(session, "q", "z"))
        self.leave(session)
        once = Session([harness.DOSSIER, *self.words("q")],
                       {**self.env, "TERM": "xterm-256color", "NO_COLOR": "1"}, cwd=self.home)
        self.addCleanup(once.kill)
        shown = once.wait_for(b"^Gz")
        self.assertEqual(once.end(), 0)
        self.assertIn(b"a^[[2J^Gz", shown)
        self.assertNotIn(b"\x1b[1m", shown)
        off = Session([harness.DOSSIER, *self.words("--markdown", "off", "q")],
                      {**self.env, "TERM": "xterm-256color"}, cwd=self.home)
        self.addCleanup(off.kill)
        off.wait_for(b"a^[[2J^Gz **b**")
        self.assertEqual(off.end(), 0)
        self.assertEqual(self.ok("q"), evil + "\n")
        self.env["NO_COLOR"] = "1"
        self.answers = ["**b**"]
        code, out, err = self.chat("--usage", "q")
        self.assertEqual((code, out), (0, "**b**\n"))
        self.assertNotIn("\x1b", out + err)

    def test_a_session_in_a_pipe(self):  # CON 3.2
        code, out, err = self.chat("--interactive", "--conversation", "talk",
                                   stdin="one\n/undo\ntwo\n")
        self.assertEqual((code, out), (0, "Reply 1\nReply 2\n"), err)
        self.assertEqual(self.texts(), ["two", "Reply 2"])
        self.assertNotIn("\x1b", out + err)
        code, _, err = self.chat("--interactive", "q")
        self.assertEqual(code, 2)
        self.assertIn("--interactive and a PROMPT exclude each other", err)

    def resize(self, session, columns: int):
        fcntl.ioctl(session.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def slow(self, first: str, rest: str):
        """A reply that comes in two parts, and what lets the second one come."""
        go_on = threading.Event()
        self.addCleanup(go_on.set)

        def answer(handler, body):
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.end_headers()
            handler.wfile.write(harness.chunk(first))
            handler.wfile.flush()
            go_on.wait(60)
            handler.wfile.write(harness.chunk(rest) + harness.chunk("", "stop") + b"data: [DONE]\n\n")
            handler.close_connection = True

        self.answers = [answer]
        return go_on

    def once(self, *words: str, **env) -> Session:
        session = Session([harness.DOSSIER, *self.words(*words)],
                          {**self.env, "TERM": "xterm-256color", **env}, cwd=self.home)
        self.addCleanup(session.kill)
        return session

    def test_text_follows_the_window(self):  # FLT-137
        go_on = self.slow("word " * 40, "word " * 40 + "end\n")
        session = self.once("-s", "q", NO_COLOR="1")
        before = session.wait_for(b"word\r\nword word")
        self.resize(session, 40)
        go_on.set()
        after = session.wait_for(b"end\r\n").split(b"\r\n", 1)[1]  # the open line was begun before
        self.assertEqual(session.end(), 0)
        widest = [max(len(line) for line in part.split(b"\r\n") if line.startswith(b"word"))
                  for part in (before, after)]
        self.assertGreater(widest[0], 60)
        self.assertLessEqual(widest[1], 40)

    def test_the_prompt_is_drawn_anew_in_a_narrower_window(self):  # FLT-137
        session = self.session("--conversation", "talk")
        session.send(b"hel")
        session.wait_for(b"hel")
        self.resize(session, 40)
        session.wait_for(b"\r\x1b[J")
        self.assertNotIn(b"some-model", session.wait_for(b"hel"))
        session.send(b"lo\r")
        session.wait_for(b"Reply 1")
        self.assertEqual(self.sent()[-1]["content"], "hello")
        self.leave(session)

    def test_a_waiting_command_shows_a_sign_of_life(self):  # FLT-137
        go_on = self.slow("", "done")
        session = self.once("q")
        session.wait_for("some-model 0 s".encode())
        go_on.set()
        session.wait_for(b"done")
        self.assertEqual(session.end(), 0)
        code, _, err = self.chat("q")
        self.assertEqual((code, "0 s" in err), (0, False), err)

    def test_what_is_typed_during_a_reply_is_kept_for_the_prompt(self):  # FLT-137
        go_on = self.slow("It began and ", "it ends.")
        session = self.session("--conversation", "talk")
        session.send(b"one\r")
        session.wait_for(b"It began")
        session.send("zwei fragen\r".encode())
        time.sleep(0.2)  # an echo would come by now
        go_on.set()
        shown = session.wait_for(b"ends.")
        self.assertNotIn(b"zwei", shown)
        session.wait_for(b"Reply 2")
        session.wait_for(READY)
        self.assertEqual(self.texts(), ["one", "It began and it ends.", "zwei fragen", "Reply 2"])
        self.leave(session)

    def test_a_large_paste_is_folded_and_sent_whole(self):  # FLT-137
        text = "\n".join(f"line {number}" for number in range(5000))
        session = self.session("--conversation", "talk")
        session.send(b"see \x1b[200~" + text.replace("\n", "\r").encode() + b"\x1b[201~")
        shown = session.wait_for(b"[5,000 lines pasted]")
        session.send(b" end\r")
        shown += session.wait_for(b"Reply 1")
        session.wait_for(READY)
        self.assertNotIn(b"line 17", shown)
        self.assertEqual(self.texts()[0], f"see {text} end")
        self.leave(session)

    def test_code_has_colours(self):  # FLT-137
        self.answers = ["```python\nreturn 'x'  # why\n```\n"]
        session = self.once("q")
        shown = session.wait_for(b"why")
        self.assertEqual(session.end(), 0)
        for part in (b"\x1b[1mreturn", b"\x1b[36m'x'", b"\x1b[2m# why"):
            self.assertIn(part, shown)

    def test_names_are_completed(self):  # FLT-137
        self.put([message("user", "q"), message("assistant", "a")], "other-talk")
        (self.home / "folder").mkdir()
        (self.home / "folder" / "notes.txt").write_text("x")
        session = self.session("--conversation", "talk")
        session.send(b"/model anthropic/claude-sonn\t")
        session.wait_for(b"et-")
        session.send(b"\x03")
        session.wait_for(READY)
        session.send(b"/fork other-\t")
        session.wait_for(b"talk")
        session.send(b"\x03")
        session.wait_for(READY)
        session.send(b"look at @fol\tno\t")
        session.wait_for(b"tes.txt")
        session.send(b"\x03")
        session.wait_for(READY)
        self.leave(session)

    def test_copy_hands_the_reply_to_the_terminal(self):  # FLT-141
        self.answers = ["Try\n```sh\nmake\n```\n"]
        session = self.session("--conversation", "talk")
        self.say(session, "/copy", "no reply to copy")
        self.say(session, "how?", "make")
        self.say(session, "/copy code", "\x1b]52;c;bWFrZQo=\x07")
        self.say(session, "/copy", "\x1b]52;c;VHJ5CmBgYHNoCm1ha2UKYGBgCg==\x07")
        self.leave(session)

    def test_a_typed_line_names_files(self):  # FLT-141
        self.write("a.txt", "alpha\n")
        session = self.session("--conversation", "talk")
        self.say(session, "first", "Reply 1")
        self.say(session, "look at @a.txt, @nobody", "with a.txt (6 bytes)")
        self.assertEqual(self.last_user(), block("a.txt", "alpha") + "\n\nlook at @a.txt, @nobody")
        self.say(session, "/retry", "Reply 3")
        self.assertEqual(self.sent(2), self.sent(1))
        self.leave(session)

    def test_another_model_is_asked_about_once(self):  # FLT-139
        self.put([message("user", "q"), message("assistant", "a")], model="gpt-4")
        for answer, stored in ((b"n\n", "gpt-4"), (None, "gpt-4"), (b"y\n", chat_case.MODEL)):
            if stored != "gpt-4":
                self.put([message("user", "q"), message("assistant", "a")], model="gpt-4")
            session = self.once("--conversation", "talk", "go on")
            if answer:
                session.wait_for(b"from now on?")
                session.send(answer)
            session.wait_for(b"Reply")
            self.assertEqual(session.end(), 0)
            self.assertEqual(self.stored()["model"].rpartition("#")[2], stored)

    def test_a_conversation_is_picked_from_a_list(self):  # FLT-136
        self.put([message("user", "first question"), message("assistant", "a")], "first")
        self.put([message("user", "second question"), message("assistant", "a")], "second")
        session = self.once("--pick", "go on")
        session.wait_for(b"nothing to leave:")
        session.send(b"\x1b[B\x1b[Bsecond\r")
        self.assertNotIn(b"^[[B", session.wait_for(b"second"))
        session.wait_for(b"Reply 1")
        self.assertEqual(session.end(), 0)
        self.assertEqual(self.sent()[0]["content"], "second question")
        session = self.once("--pick", "go on")
        session.wait_for(b"nothing to leave:")
        session.send(b"\x03")
        self.assertEqual(session.end(), 130)
        code, _, err = self.chat("--pick", "q")
        self.assertEqual((code, "--conversation" in err), (2, True), err)


if __name__ == "__main__":
    harness.main()
