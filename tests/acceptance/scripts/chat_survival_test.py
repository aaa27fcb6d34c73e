#!/usr/bin/env python3
"""`dossier chat` when it is killed, interrupted, closed, or run many times at once."""

import signal
import subprocess
import threading
import time

import chat_case
from chat_case import counted
from harness import chunk


def start_stream(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()


class Survival(chat_case.ChatCase):
    def setUp(self):
        super().setUp()
        self.release = threading.Event()
        self.addCleanup(self.release.set)

    def half(self, handler, _):
        """Half a reply, then nothing."""
        start_stream(handler)
        handler.wfile.write(chunk("Half a "))
        handler.wfile.flush()
        self.started.set()
        self.release.wait(60)

    def begin(self, *words: str, **options) -> subprocess.Popen:
        self.started = threading.Event()
        return self.start(*self.words(*words), **options)

    def pairs(self, conversation: str = "talk") -> list:
        roles = [m["role"] for m in self.stored(conversation)["messages"] if m["role"] != "system"]
        self.assertEqual(roles, ["user", "assistant"] * (len(roles) // 2))
        return roles

    def test_a_kill_before_the_first_reply_leaves_no_file_and_can_go_on(self):  # CON-M4
        self.configure(context_commands=[counted("a")])
        self.answers = [self.half]
        process = self.begin("--conversation", "talk", "first")
        self.assertTrue(self.started.wait(60))
        process.kill()
        process.communicate()
        self.assertFalse(self.path().exists())
        self.ok("--conversation", "talk", "--resume-turn")
        self.assertEqual((self.runs_of("a"), len(self.pairs())), (1, 2))
        self.assertEqual(self.stored()["messages"][1]["content"], "first")

    def test_parallel_turns_are_all_kept(self):  # CON-A4 CON-B19 CON-D13
        self.configure(context_commands=[counted("a")])
        self.turn("first")
        running = [self.begin("--conversation", "talk", f"turn {n}") for n in range(32)]
        for process in running:
            _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(len(self.pairs()), 66)
        answers = {m["content"] for m in self.stored()["messages"] if m["role"] == "user"}
        self.assertEqual(answers, {"first"} | {f"turn {n}" for n in range(32)})

    def test_two_creators_run_the_commands_once(self):  # CON-30 CON-A4
        self.configure(context_commands=[counted("a", "sleep 0.3; echo done")])
        running = [self.begin("--conversation", "talk", f"turn {n}") for n in range(4)]
        for process in running:
            _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual((self.runs_of("a"), len(self.pairs())), (1, 8))

    def test_wait_holds_the_lock_all_turn(self):  # 3.2
        self.turn("first")
        self.answers = [self.half, "second reply"]
        slow = self.begin("--conversation", "talk", "--wait", "slow")
        self.assertTrue(self.started.wait(60))
        quick = self.start(*self.words("--conversation", "talk", "quick"))
        with self.assertRaises(subprocess.TimeoutExpired):
            quick.wait(timeout=1)
        self.release.set()
        slow.communicate(timeout=60)
        quick.communicate(timeout=60)
        self.assertEqual((quick.returncode, len(self.pairs())), (0, 6))

    def test_closed_stdout_keeps_the_turn(self):  # CON-5 CON-A6 CON-D5
        def answer(handler, _):
            start_stream(handler)
            for number in range(200):
                handler.wfile.write(chunk(f"word {number} "))
                handler.wfile.flush()
                if number == 10:
                    self.closed.wait(60)
            handler.wfile.write(chunk("end", "stop") + b"data: [DONE]\n\n")

        for words in (("--stream",), ()):
            self.closed = threading.Event()
            self.answers = [answer]
            process = self.begin("-q", "--conversation", "talk", *words, "q", text=False)
            if words:
                process.stdout.read(1)
            process.stdout.close()
            self.closed.set()
            err = process.stderr.read()
            process.wait(timeout=60)
            self.assertEqual((process.returncode, err), (141, b""))
            self.assertTrue(self.stored()["messages"][-1]["content"].endswith("word 199 end"))
        self.closed = threading.Event()
        self.answers = [answer]
        process = self.begin("-q", "--stream", "q", text=False)
        process.stdout.read(1)
        process.stdout.close()
        self.closed.set()
        err = process.stderr.read()
        process.wait(timeout=60)
        self.assertEqual((process.returncode, err), (141, b""))

    def test_ctrl_c_in_the_context_phase(self):  # CON-N19
        self.configure(context_commands=[counted("a", "sleep 60")])
        process = self.begin("--conversation", "talk", "q")
        while not self.runs_of("a"):
            time.sleep(0.02)
        children = self.children_of(process.pid)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual((process.returncode, self.path().exists()), (130, False))
        self.assert_gone(children)

    def test_ctrl_c_in_the_reply_keeps_what_came(self):  # CON-31
        self.answers = [self.half, "Whole"]
        process = self.begin("--conversation", "talk", "q")
        self.assertTrue(self.started.wait(60))
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, "Half a \n"), err)
        turn = self.stored()["metadata"]["dossier"]["turns"][-1]
        self.assertTrue(turn["incomplete"])
        self.assertGreater(turn["usage"]["input"], 0, "a prompt that was sent is paid for")
        self.assertGreater(turn["usage"]["output"], 0)
        self.assertTrue(turn["usage"]["estimated"])
        self.ok("--conversation", "talk", "--resume-turn")
        self.assertEqual([m["content"] for m in self.stored()["messages"]], ["q", "Whole"])

    def test_ctrl_c_before_the_reply_saves_nothing(self):  # CON-31
        def silent(handler, _):
            self.started.set()
            self.release.wait(60)

        self.answers = [silent]
        process = self.begin("--conversation", "talk", "q")
        self.assertTrue(self.started.wait(60))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual((process.returncode, self.path().exists()), (130, False))
        self.configure(limits={"window": "5h", "tokens": 1})
        code, _, err = self.chat("--no-save", "q")
        self.assertEqual(code, 10, err + "what was interrupted counts for the limits of the window")
        self.assertIn("limits.tokens", err)

    def test_a_broken_stream_is_kept_as_incomplete(self):  # CON-31
        def broken(handler, _):
            start_stream(handler)
            handler.wfile.write(chunk("Half a "))

        self.answers = [broken]
        code, out, err = self.chat("--conversation", "talk", "q")
        self.assertEqual((code, out), (13, "Half a \n"), err)
        self.assertIn("--resume-turn", err)

    def test_retries_are_announced(self):  # CON-46
        def busy(handler, _):
            handler.send_response(503)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        self.answers = [busy, "fine"]
        words = [w for w in self.words("q")]
        words[words.index("--retries") + 1] = "2"
        code, out, err = self.run_to_end(*words)
        self.assertEqual((code, out), (0, "fine\n"), err)
        self.assertIn("attempt 1 failed", err)


if __name__ == "__main__":
    chat_case.main()
