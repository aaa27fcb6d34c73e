#!/usr/bin/env python3
"""`dossier chat` killed at random points: no finished turn is lost, every file stays readable.

$DOSSIER_TEST_KILLS is the number of kills (40), $DOSSIER_TEST_SEED draws other points.
"""

import collections
import dataclasses
import json
import os
import pathlib
import random
import sqlite3
import sys
import threading
import time

import chat_case
from chat_case import counted
from harness import reply

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "conversation"))
import strict_reader  # noqa: E402

KILLS = int(os.environ.get("DOSSIER_TEST_KILLS", "40"))
SEED = int(os.environ.get("DOSSIER_TEST_SEED", "11"))


@dataclasses.dataclass
class Seen:
    """What the kills met, for the last line of the report."""

    early: int = 0      # before the request; nothing was saved
    asked: int = 0      # the request was there; --resume-turn asked again
    recovered: int = 0  # the reply was there; --resume-turn saved it without another request
    saved: int = 0      # the file was the new one
    finished: int = 0   # the command had ended


class Kills(chat_case.ChatCase):
    def setUp(self):
        super().setUp()
        self.asked = threading.Event()
        self.thinking = 0  # seconds before a reply
        self.seen = Seen()
        self.chance = random.Random(SEED)

    def answer(self, handler, body):
        self.asked.set()
        time.sleep(self.thinking)
        reply(handler, body, f"Reply {len(self.server.requests)}")

    def messages(self, conversation: str) -> list:
        """Read as the format says; ValueError says what is wrong with the file."""
        if not self.path(conversation).exists():
            return []
        return strict_reader.read(self.path(conversation))["messages"]

    def times_of_a_turn(self) -> tuple[float, float]:
        """Seconds of a whole turn, and from its request to its end: the middle one of three."""
        whole, tail = [], []
        for number in range(3):
            self.asked.clear()
            begun = time.monotonic()
            process = self.start(*self.words("--conversation", "talk", f"warm {number}"))
            self.assertTrue(self.asked.wait(60))
            asked = time.monotonic()
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
            whole.append(time.monotonic() - begun)
            tail.append(time.monotonic() - asked)
        return sorted(whole)[1], sorted(tail)[1]

    def kill_one(self, conversation: str, prompt: str, whole: float, tail: float):
        """A third of the kills come at any time, the others behind the arrival of the request."""
        self.asked.clear()
        process = self.start(*self.words("--conversation", conversation, prompt))
        if self.chance.random() < 1 / 3:
            time.sleep(self.chance.uniform(0, whole))
        else:
            self.asked.wait(60)
            time.sleep(self.chance.uniform(0, tail))
        process.kill()
        process.communicate(timeout=60)
        return process.returncode

    def check(self, conversation: str, prompt: str, before: list, code: int):
        after = self.messages(conversation)
        self.assertEqual(after[:len(before)], before, "an older turn changed")
        if code == 0:
            self.seen.finished += 1
            self.assertNotEqual(after, before, "a turn that ended well is not there")
        if after != before:
            self.seen.saved += code != 0
        elif self.asked.is_set():
            self.resume(conversation)
        else:
            self.seen.early += 1
            return
        pair = [m for m in self.messages(conversation)[len(before):] if m["role"] != "system"]
        self.assertEqual([m["role"] for m in pair], ["user", "assistant"])
        self.assertEqual(pair[0]["content"], prompt)
        self.assertRegex(pair[1]["content"], r"^Reply \d+$")

    def resume(self, conversation: str):
        """The journal holds the turn: no command runs again, no reply is paid for twice."""
        asked, ran = len(self.server.requests), self.runs_of("a")
        self.ok("--conversation", conversation, "--resume-turn")
        self.assertEqual(self.runs_of("a"), ran)
        if len(self.server.requests) == asked:
            self.seen.recovered += 1
        else:
            self.seen.asked += 1

    def check_journal(self):
        """Every run can be listed and shown; SQLite finds nothing wrong."""
        runs = self.runs()
        self.assertTrue(runs)
        for run in runs:
            events = self.events(run["run"])
            self.assertEqual([event["seq"] for event in events], list(range(1, len(events) + 1)))
        databases = [path for path in (self.home / "data").rglob("*")
                     if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3"]
        self.assertTrue(databases)
        for path in databases:
            with sqlite3.connect(path) as database:
                self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])

    def test_kills_at_random_points_lose_no_finished_turn(self):  # CON-29 CON-31 CON-A5 CON-M4
        self.configure(context_commands=[counted("a")])
        times = self.times_of_a_turn()
        for number in range(KILLS):
            conversation = f"new-{number}" if number % 5 == 4 else "talk"
            prompt = f"turn {number}"
            before = self.messages(conversation)
            code = self.kill_one(conversation, prompt, *times)
            self.check(conversation, prompt, before, code)
            self.runs()
        self.check_journal()
        code, _, err = self.chat("--conversation", "talk", "--resume-turn")
        self.assertIn(code, (0, 4), err)
        self.turn("last")
        self.assertEqual(self.messages("talk")[-2]["content"], "last")
        code, out, err = self.run_to_end("conversations", "list", "--json", "--limit", "100000",
                                         "--conversations-path", str(self.folder))
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(json.loads(out)["conversations"]),
                         len(list(self.folder.glob("[!.]*.json"))))
        print(f"{KILLS} kills, seed {SEED}: {self.seen}", file=sys.stderr)

    def test_no_kill_makes_a_context_command_run_twice(self):  # FLT-142 CON-M4
        self.configure(context_commands=[counted("a"), counted("b", "sleep 0.02; echo b")])
        self.thinking = 0.05  # so that kills meet each part of a turn
        whole, _ = self.times_of_a_turn()
        ends = collections.Counter()
        for number in range(KILLS):
            for name in "ab":
                (self.home / f"runs.{name}").unlink(missing_ok=True)
            words = ("--conversation", f"once-{number}")
            process = self.start(*self.words(*words, "q"))
            time.sleep(self.chance.uniform(0, whole))
            process.kill()
            process.communicate(timeout=60)
            code, _, err = self.chat(*words, "--resume-turn")
            self.assertLessEqual(max(map(self.runs_of, "ab")), 1, (number, code, err))
            ends[code] += 1
            if code == 1:  # it was killed while they ran
                self.assertIn("--refresh-context", err)
                self.ok(*words, "--resume-turn", "--refresh-context")
            elif code == 0:
                self.assertEqual((self.runs_of("a"), self.runs_of("b")), (1, 1))
            else:
                self.assertEqual(code, 4, err)  # it had ended, or not begun
        print(f"{KILLS} kills, seed {SEED}: exits of --resume-turn {dict(ends)}", file=sys.stderr)


if __name__ == "__main__":
    chat_case.main()
