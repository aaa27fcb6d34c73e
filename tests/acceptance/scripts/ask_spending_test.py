#!/usr/bin/env python3
"""What `ask` says of money before it is spent, against a recording server: estimates are what is then
sent and paid, a killed run loses no finished item, and a budget holds over all runs of a user."""

import fcntl
import json
import os
import pty
import subprocess
import termios
import threading

import harness
from harness import reply

BATCHES, ITEMS = 30, 8
ROOT = ("```repl\n"
        "parts = [[f'batch {b} item {i}: ' + 'what does this line say, in one word? ' * (1 + (b * i) % 5)\n"
        f"          for i in range({ITEMS})] for b in range({BATCHES})]\n"
        "planned = [estimate(batch) for batch in parts]\n"
        "print('PLANNED', sum(p['calls'] for p in planned), sum(p['tokens'] for p in planned))\n"
        "kept = [str(r) for batch in parts for r in llm_query_batched(batch)]\n"
        "print('GOT', len(kept), len(set(kept)))\n```")


class AskSpendingTest(harness.Case):
    def served(self, stop_at: int = 0):
        """The root plans and asks; each item is answered with a word of its own. From the item number
        `stop_at` on nothing is answered."""
        self.items, self.answered, self.lock, self.stop_at = [], set(), threading.Lock(), stop_at
        self.reached, self.never = threading.Event(), threading.Event()
        self.addCleanup(self.never.set)

        def answer(handler, body):
            text = body["messages"][-1]["content"]
            if not text.startswith("batch "):
                done = any("GOT" in str(m["content"]) for m in body["messages"] if m["role"] == "user")
                return reply(handler, body, "FINAL: all asked" if done else ROOT)
            with self.lock:
                self.items.append(text)
                halt = self.stop_at and len(self.items) > self.stop_at
            if halt:
                self.reached.set()
                self.never.wait(60)
                return None
            word = "word" + text.split(":")[0].replace(" ", "_")
            with self.lock:
                self.answered.add(text)
            return reply(handler, body, word)

        return self.serve(answer)

    def words(self, *more: str) -> list[str]:
        return ["--mode", "recursive", "--votes", "1", "--context-text", "abc\n", "--seed", "7",
                "--temperature", "0", *more, "What do they say?"]

    def outputs(self, run: str) -> str:
        return "\n".join(str(event["data"].get("output")) for event in self.events(run)
                         if event["type"] == "block.done")

    def sent(self, run: str, kind: str = "subcall") -> list:
        return [event["data"] for event in self.events(run)
                if event["type"] == "request.sent" and event["data"]["purpose"] == kind]

    def test_an_estimate_is_what_is_sent(self):  # REC-78, REC-A33
        server = self.served()
        code, out, err = self.ask_server(server, *self.words("--json"))
        self.assertEqual(code, 0, err)
        run = json.loads(out)["run"]
        planned = self.outputs(run).split("PLANNED ")[1].split("\\n")[0].split()
        calls, tokens = int(planned[0]), int(planned[1].split("\n")[0].strip("'\"},"))
        self.assertEqual(calls, BATCHES * ITEMS)
        self.assertEqual(len(self.items), calls, "calls are exact")
        used = sum(request["tokens"] for request in self.sent(run))
        self.assertLess(abs(used - tokens), 0.01 * used, "tokens are within 1 %")
        self.assertIn(f"GOT {calls} {calls}", self.outputs(run))

    def test_a_killed_run_asks_no_finished_item_again(self):  # REC-A33
        whole = BATCHES * ITEMS
        server = self.served(stop_at=whole * 6 // 10)
        process = self.start("ask", "--base-url", server.url, "-m", "some-model", "--retries", "0",
                             *self.words("--quiet"), stderr=subprocess.DEVNULL)
        self.assertTrue(self.reached.wait(60), "it got to 60 %")
        # What is answered is also kept by the journal before the next batch begins.
        process.kill()
        process.wait()
        first, finished = list(self.items), set(self.answered)
        self.never.set()
        self.items, self.stop_at = [], 0
        code, out, err = self.ask_server(server, *self.words("--json"))
        self.assertEqual(code, 0, err)
        outcome = json.loads(out)
        self.assertIn(f"GOT {whole} {whole}", self.outputs(outcome["run"]))
        twice = finished.intersection(self.items)
        # Those of the batch in which it was killed may have been on their way to the store.
        self.assertLessEqual(len(twice), ITEMS, sorted(twice)[:3])
        self.assertLess(len(self.items), whole - len(first) + 2 * ITEMS)
        self.assertGreaterEqual(outcome["calls"]["cached"], len(finished) - ITEMS)

    def test_a_killed_run_that_is_resumed_asks_no_finished_item_again(self):  # REC-A33, REC-79
        whole = BATCHES * ITEMS
        server = self.served(stop_at=whole * 6 // 10)
        process = self.start("ask", "--base-url", server.url, "-m", "some-model", "--retries", "0",
                             *self.words("--quiet", "--cache", "off"), stderr=subprocess.DEVNULL)
        self.assertTrue(self.reached.wait(60), "it got to 60 %")
        process.kill()
        process.wait()
        run = self.runs()[0]["run"]
        finished = len([event for event in self.events(run) if event["type"] == "reply.received"
                        and event["data"]["purpose"] == "subcall"])
        self.assertGreater(finished, whole // 2)
        self.never.set()
        self.items, self.stop_at = [], 0
        code, out, err = self.run_to_end("runs", "resume", run, "--json")
        self.assertEqual(code, 0, err)
        self.assertIn(f"GOT {whole} {whole}", self.outputs(run))
        self.assertEqual(len(self.items), whole - finished, "each item that was not finished, once")

    def on_terminal(self, server, typed: bytes) -> tuple[int, str, str]:
        main, other = pty.openpty()
        self.addCleanup(os.close, main)
        process = self.start("ask", "--base-url", server.url, "-m", "some-model", "--retries", "0",
                             "--context-text", "abc\n", "--mode", "direct", "--progress", "none",
                             "--confirm-above", "0", "Which?", stdin=other, stderr=other, start_new_session=True,
                             preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(other)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(main, 4096)
        os.write(main, typed)
        out = process.stdout.read()
        return process.wait(60), out, shown.decode()

    def test_a_person_is_asked_on_the_terminal(self):  # REC-78
        server = self.serve(lambda handler, body: reply(handler, body, "abc"))
        code, out, shown = self.on_terminal(server, b"n\n")
        self.assertEqual((code, out.strip(), len(server.requests)), (12, "", 0), shown)
        self.assertIn("1 call", shown)
        code, out, shown = self.on_terminal(server, b"y\n")
        self.assertEqual((code, out.strip(), len(server.requests)), (0, "abc", 1), shown)

    def test_a_budget_holds_over_all_runs(self):  # REC-78
        config = self.home / "config" / "dossier" / "dossier.yml"
        config.parent.mkdir(parents=True)
        server = self.serve(lambda handler, body: reply(handler, body, "alpha"))
        ask = ["--context-text", "alpha\n", "--votes", "1", "--mode", "direct", "Which word?"]
        config.write_text("limits: {window: 5h, calls: 2}\n")
        for _ in range(2):
            code, out, err = self.ask_server(server, *ask)
            self.assertEqual((code, out), (0, "alpha\n"), err)
        code, out, err = self.ask_server(server, *ask)
        self.assertEqual((code, out), (10, ""), err)
        self.assertIn("limits.calls", err)
        self.assertEqual(len(server.requests), 2, "nothing more was sent")
        config.write_text("limits: {window: 5h, tokens: 100000}\n")
        self.assertEqual(self.ask_server(server, *ask)[0], 0, "another limit, another account")
        config.write_text("limits: {window: 5h, calls: 4}\n")
        chat = ["chat", "--base-url", server.url, "-m", "some-model", "Which word?"]
        self.assertEqual(self.run_to_end(*chat)[:2], (0, "alpha\n"))
        code, out, err = self.run_to_end(*chat)
        self.assertEqual((code, out), (10, ""), err + "turns of conversations keep to it, too")
        self.assertIn("limits.calls", err)
        self.assertEqual(len(server.requests), 4)
        config.write_text("limits: {window: 5h, usd: 1}\n")
        code, _, err = self.run_to_end(*chat)
        self.assertEqual(code, 2, err)
        self.assertIn("the price of some-model is unknown", err)
        self.assertEqual(len(server.requests), 4)
        config.write_text("limits: {window: 5h}\n")
        code, _, err = self.ask_server(server, *ask)
        self.assertEqual(code, 3, err)
        self.assertIn("limits.calls", err)


if __name__ == "__main__":
    harness.main()
