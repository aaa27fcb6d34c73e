#!/usr/bin/env python3
"""`dossier chat --memory`: what is said once is known later, no block is ever shown, a killed chat
neither loses nor doubles an event.

$DOSSIER_TEST_KILLS is the number of kills (10), $DOSSIER_TEST_SEED draws other points.
"""

import json
import os
import random
import sqlite3
import threading
import time

import chat_case
from harness import chunk, reply, send

KILLS = int(os.environ.get("DOSSIER_TEST_KILLS", "10"))
SEED = int(os.environ.get("DOSSIER_TEST_SEED", "7"))
BLOCK = '<memory_update>{"core_set": {"compiler": "icpx"}}</memory_update>'


def streamed(text: str, size: int):
    """A reply in pieces of `size` bytes, which may part a letter."""
    def answer(handler, body):
        if not body.get("stream"):
            return reply(handler, body, text)
        pieces = [text[i:i + size] for i in range(0, len(text), size)]
        events = b"".join(chunk(piece) for piece in pieces) + chunk("", "stop")
        return send(handler, 200, events + b"data: [DONE]\n\n", "text/event-stream")
    return answer


class Memory(chat_case.ChatCase):
    def setUp(self):
        super().setUp()
        self.store = self.home / "notes" / "memory.sqlite"
        self.store.parent.mkdir()

    def remember(self, prompt: str, *words: str, conversation: str = "talk") -> str:
        return self.turn(prompt, f"--memory={self.store}", *words, conversation=conversation)

    def rows(self, query: str) -> list:
        with sqlite3.connect(f"file:{self.store}?mode=ro", uri=True) as database:
            return database.execute(query).fetchall()

    def events(self) -> list:
        """(kind, thread, ref, text) of the events that are shown, oldest first."""
        return self.rows("SELECT kind, thread, ref, text FROM records WHERE tier = 'recall' AND id "
                         "NOT IN (SELECT record_id FROM hidden) ORDER BY id")

    def prompt_text(self, number: int = -1) -> str:
        return "\n".join(str(m["content"]) for m in self.sent(number))


class Shared(Memory):
    def test_what_is_said_once_is_known_in_the_next_chat(self):
        """MEM-58, MEM-T26"""
        self.answers = [BLOCK + "Noted.", "icpx"]
        self.assertEqual(self.remember("The cluster wants icpx", conversation="monday"), "Noted.\n")
        self.assertNotIn("memory_update", json.dumps(self.stored("monday")))
        self.remember("Which compiler?", conversation="friday")
        self.assertIn("- compiler: icpx", self.prompt_text())
        self.assertIn("The cluster wants icpx", self.prompt_text())
        self.assertEqual([event[:3] for event in self.events()],
                         [("user_turn", "monday", "1"), ("assistant_turn", "monday", "1"),
                          ("user_turn", "friday", "1"), ("assistant_turn", "friday", "1")])

    def test_the_prefix_keeps_its_bytes_while_core_does(self):
        """MEM-58: system message, core and older turns open the next request byte for byte."""
        self.answers = [BLOCK + "one", "two", "three", "four"]
        for prompt in ("first", "second", "third", "fourth"):
            self.remember(prompt, "--no-compact")
        second, third, fourth = (self.sent(i) for i in (1, 2, 3))
        self.assertIn("icpx", json.dumps(second[:2]))
        self.assertEqual(second[:2], third[:2])
        self.assertEqual(third[:len(third) - 1], fourth[:len(third) - 1])

    def test_no_block_is_shown_whatever_the_pieces(self):
        """MEM-58, MEM-T26"""
        text = f"Grüße, before {BLOCK} and behind."
        for size in (1, 2, 3, 5, 7, 11, 17, 30, len(text)):
            self.answers = [streamed(text, size)]
            shown = self.remember("hi", "--stream", conversation=f"pieces-{size}")
            self.assertNotIn("memory", shown, size)
            self.assertIn("Grüße, before", shown, size)
            self.assertIn("and behind.", shown, size)
            self.assertEqual(self.stored(f"pieces-{size}")["messages"][-1]["content"],
                             shown.removesuffix("\n"), size)

    def test_a_reply_that_reads_is_answered(self):
        """MEM-25, MEM-30"""
        self.answers = [BLOCK + "Noted.", '<memory_update>{"core_get": "compiler"}</memory_update>',
                        "It is icpx."]
        self.remember("one")
        self.assertEqual(self.remember("two"), "It is icpx.\n")
        self.assertIn("**Core Memory Values:**\n  - compiler: icpx", self.prompt_text())
        self.assertEqual(len(self.server.requests), 3)

    def test_a_fork_of_a_conversation_does_not_leak(self):
        """MEM-58"""
        self.answers = ["one", BLOCK + "two", "three"]
        self.remember("first")
        code, _, err = self.run_to_end("conversations", "--conversations-path", str(self.folder),
                                       "fork", "talk", "--as", "copy")
        self.assertEqual(code, 0, err)
        self.remember("second")
        self.remember("other", conversation="copy")
        self.assertNotIn("icpx", self.prompt_text())
        self.assertEqual(len(self.rows("SELECT name FROM branches")), 2)

    def test_a_stateless_turn_is_kept_too(self):
        """MEM-58"""
        self.answers = [BLOCK + "Noted.", "icpx"]
        self.ok(f"--memory={self.store}", "The cluster wants icpx")
        self.ok(f"--memory={self.store}", "Which?")
        self.assertIn("- compiler: icpx", self.prompt_text())
        self.assertEqual(len(self.events()), 4)

    def test_an_unknown_branch_is_said_before_anything_is_paid_for(self):
        code, _, err = self.chat(f"--memory={self.store}", "--memory-branch", "n9", "hi")
        self.assertEqual(code, 4, err)
        self.assertIn('no branch "n9"; known: root', err)
        self.assertEqual(self.server.requests, [])


class Off(Memory):
    def test_without_memory_no_file_is_made(self):
        """MEM-54, MEM-T28"""
        self.answers = [BLOCK + "Noted."]
        self.configure(memory={"enabled": True})
        code, out, err = self.chat("--no-memory", "hi")
        self.assertEqual((code, out), (0, "Noted.\n"), err)
        self.assertIn("memory", err)
        self.assertNotIn("memory_update", self.prompt_text())
        self.assertEqual(list(self.home.rglob("memory.sqlite*")), [])

    def test_a_preview_makes_no_file(self):
        self.ok(f"--memory={self.store}", "--dry-run", "hi")
        self.assertFalse(self.store.exists())
        self.assertEqual(self.server.requests, [])

    def test_nothing_is_kept_with_no_save(self):
        self.remember("hi", conversation="kept")
        before = self.events()
        self.ok(f"--memory={self.store}", "--no-save", "secret")
        self.assertEqual(self.events(), before)

    def test_flags_that_exclude_each_other(self):
        for words in (("--memory", "--no-memory"), ("--memory-branch", "n1")):
            code, _, err = self.chat(*words, "hi")
            self.assertEqual(code, 2, err)
            self.assertIn("--memory", err)


class Kills(Memory):
    def setUp(self):
        super().setUp()
        self.asked = threading.Event()
        self.chance = random.Random(SEED)

    def answer(self, handler, body):
        self.asked.set()
        number = len(self.server.requests)
        reply(handler, body, f'<memory_update>{{"recall_append": {{"text": "note {number}"}}}}</memory_update>'
              f"Reply {number}")

    def turns(self) -> list:
        """What the file says: (kind, ref, text)."""
        if not self.path().exists():
            return []
        kinds = {"user": "user_turn", "assistant": "assistant_turn"}
        said = [m for m in self.stored()["messages"] if m["role"] in kinds]
        return [(kinds[m["role"]], str(i // 2 + 1), m["content"]) for i, m in enumerate(said)]

    def test_a_killed_chat_neither_loses_nor_doubles_an_event(self):
        """MEM-57, MEM-58, MEM-T26"""
        begun = time.monotonic()
        self.remember("warm")
        whole = time.monotonic() - begun
        for number in range(KILLS):
            self.asked.clear()
            process = self.start(*self.words("--conversation", "talk", f"--memory={self.store}",
                                             f"prompt {number}"))
            self.asked.wait(60)
            time.sleep(self.chance.uniform(0, whole / 2))
            process.kill()
            process.communicate(timeout=60)
            saved = self.turns()
            if not saved or saved[-2][2] != f"prompt {number}":
                self.ok("--conversation", "talk", f"--memory={self.store}", "--resume-turn")
            events = [(kind, ref, text) for kind, thread, ref, text in self.events()
                      if thread == "talk"]
            self.assertEqual(events, self.turns())
            notes = [text for kind, _, _, text in self.events() if kind == "llm_insight"]
            self.assertEqual(len(notes), len(set(notes)), "a block was applied twice")
            self.assertEqual(len(notes), len(events) // 2)


if __name__ == "__main__":
    chat_case.main()
