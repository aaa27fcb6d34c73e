#!/usr/bin/env python3
"""Limits of money and tokens against a recording server: what is reserved, sent and counted
(FLT-5 to 9), and how many requests are in flight (FLT-18)."""

import json
import threading

import harness
from harness import chunk, reply, send

BATCH = ("```repl\nr = llm_query_batched([f'item {i}' for i in range(400)])\n"
         "print(sum(x.ok for x in r), 'ok')\n```")
CODE = "```repl\nimport random\nprint('still looking at the letters', random.random())\n```"


def with_usage(handler, text: str, used: tuple, cached: int = 0):
    usage = {"choices": [], "usage": {"prompt_tokens": used[0], "completion_tokens": used[1],
                                      "prompt_tokens_details": {"cached_tokens": cached}}}
    send(handler, 200, chunk(text) + chunk("", "stop") +
         b"data: " + json.dumps(usage).encode() + b"\n\ndata: [DONE]\n\n", "text/event-stream")


class LimitsTest(harness.Case):
    def scripted(self, root: str, closing: str = "It is a.", item=(12, 80)):
        """A server whose root model always answers `root`, and whose sub-calls cost `item`."""
        self.bodies, self.lock = [], threading.Lock()

        def answer(handler, body):
            with self.lock:
                self.bodies.append(body)
            text = body["messages"][-1]["content"]
            if text.startswith("item "):
                return with_usage(handler, "fine", item)
            # The closing request is the one that names the reason.
            return reply(handler, body, closing if self.is_closing(text) else root)

        return self.serve(answer)

    @staticmethod
    def is_closing(text: str) -> bool:
        return "The work on the question ends here" in text

    def ask(self, server, *words: str):
        code, out, err = self.ask_server(server, "--mode", "recursive", "--context-text", "abc\n",
                                         "--json", "--votes", "1", *words, "Which letter comes first?")
        return code, json.loads(out) if out else None, err

    def assert_ends_at(self, limit: str, code: int, outcome: dict, err: str):
        hits = {hit["limit"]: hit for hit in outcome["limits_hit"]}
        self.assertIn(limit, hits, (outcome, err))
        self.assertLessEqual(hits[limit]["used"], hits[limit]["max"])
        self.assertEqual((code, outcome["status"], outcome["answer"]), (10, "extracted", "It is a."), err)
        closing = [body for body in self.bodies
                   if self.is_closing(body["messages"][-1]["content"])]
        self.assertEqual(len(closing), 1, "exactly one closing request")
        self.assertNotIn("error:", err)

    def test_a_batch_stays_within_the_money(self):  # FLT-5, FLT-6
        server = self.scripted(BATCH)
        code, outcome, err = self.ask(server, "--max-cost", "0.02", "--price", "1/5")
        self.assert_ends_at("cost", code, outcome, err)
        self.assertLessEqual(outcome["cost_usd"], 0.02)
        self.assertGreater(outcome["cost_usd"], 0.01, "and most of the rest is used")
        self.assertEqual(outcome["limits_hit"][0]["max"], 0.02)

    def test_a_batch_stays_within_the_tokens(self):  # FLT-5, FLT-6
        server = self.scripted(BATCH)
        code, outcome, err = self.ask(server, "--max-tokens", "30000")
        self.assert_ends_at("tokens", code, outcome, err)
        used = outcome["tokens"]["input"] + outcome["tokens"]["output"]
        self.assertLessEqual(used, 30000)
        self.assertGreater(used, 15000)
        for body in self.bodies:
            self.assertIn("max_tokens", body, "what is reserved is what may come")

    def test_a_reservation_shrinks_to_what_is_left(self):  # FLT-7
        server = self.scripted(CODE)
        code, outcome, err = self.ask(server, "--max-tokens", "8000", "--max-output", "30000")
        self.assert_ends_at("tokens", code, outcome, err)
        self.assertGreater(outcome["turns"], 1)
        caps = [body["max_tokens"] for body in self.bodies]
        self.assertGreaterEqual(min(caps), 256)
        self.assertLess(max(caps), 8000)

    def test_a_limit_too_small_for_a_request_sends_none(self):  # FLT-5, FLT-6
        server = self.scripted(CODE)
        code, outcome, err = self.ask(server, "--max-tokens", "100")
        self.assertEqual((code, self.bodies), (1, []), err)
        self.assertEqual(outcome["limits_hit"], [{"limit": "tokens", "max": 100, "used": 0}])

    def test_an_unknown_price_is_refused_before_anything_is_sent(self):  # FLT-8
        server = self.scripted(CODE)
        code, outcome, err = self.ask(server, "--max-cost", "0.02")
        self.assertEqual((code, self.bodies), (2, []), err)
        for words in ("--price", "models prices", "some-model"):
            self.assertIn(words, json.dumps(outcome) + err)
        for wrong in ("1", "1/", "a/b", "-1/2", "1/2/3"):
            self.assertEqual(self.ask(server, "--price", wrong)[0], 2, wrong)
        self.assertEqual(self.bodies, [])

    def test_a_price_may_be_of_one_model(self):  # FLT-8
        server = self.scripted("FINAL: two words")
        for price, code in (("other=1/5", 2), ("some-model=1/5", 0)):
            self.assertEqual(self.ask(server, "--max-cost", "1", "--price", price)[0], code, price)

    def test_tokens_of_a_cache_without_a_price_are_not_free(self):  # REC-78, MOD-24
        server = self.serve(lambda handler, body: with_usage(handler, "fine", (10_000, 10), 4_000))
        self.env["OPENAI_BASE_URL"] = server.url
        config = self.home / "config" / "dossier" / "dossier.yml"
        config.parent.mkdir(parents=True)
        config.write_text("limits: {window: 5h, usd: 0.002}\n")
        ask = ["ask", "-m", "gpt-4o", "--context-text", "hello\n", "--mode", "direct", "--votes", "1",
               "--max-output", "100", "--json", "what?"]
        code, out, err = self.run_to_end(*ask)
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["cost_usd"], 0.0251, "2.5 and 10 dollars for a million")
        code, _, err = self.run_to_end(*ask)
        self.assertEqual((code, len(server.requests)), (10, 1), err)
        self.assertIn("limits.usd", err)

    def test_an_estimate_counts_by_the_vocabulary_of_the_model(self):  # REC-78
        rows = "id,v\n" + "".join(f"{i * 7919 % 100003},{i * i * 104729 % 99991}\n" for i in range(80_000))
        place = self.write("d.csv", rows)
        code, out, err = self.run_to_end("tokens", "-m", "gpt-5-mini", place)
        self.assertEqual(code, 0, err)
        exact = int(out.split()[0].replace(",", ""))
        self.assertGreater(exact, 400_000, "more than one window, though bytes / 4 say less")
        ask = ["ask", "-m", "gpt-5-mini", "-c", place, "--estimate", "--json", "Which id is the largest?"]
        code, out, err = self.run_to_end(*ask)
        estimate = json.loads(out)
        self.assertEqual(code, 0, err)
        self.assertEqual((estimate["reading"]["tokens"], estimate["reading"]["calls"]), (exact, 2))
        self.assertNotIn("estimated", estimate["reading"])
        place = self.write("d.csv", rows * 8)
        estimate = json.loads(self.run_to_end(*ask)[1])
        self.assertTrue(estimate["reading"]["estimated"])
        self.assertTrue(8 * exact <= estimate["reading"]["tokens"] < 9 * exact, estimate)
        self.assertIn("(about ", self.run_to_end(*ask[:5], "--estimate", "Which?")[1])

    def test_an_estimate_is_of_the_prompt_and_the_reply(self):  # FLT-9
        server = self.serve(lambda handler, body: reply(handler, body, "Green."))  # no usage
        code, out, err = self.ask_server(server, "--json", "--max-output", "8000", "Which colour?")
        outcome = json.loads(out)
        self.assertEqual(code, 0, err)
        self.assertTrue(outcome["tokens"]["estimated"])
        self.assertEqual(outcome["tokens"]["input"], outcome["mode_reason"]["tokens"])
        self.assertLess(outcome["tokens"]["output"], 10)

    def in_flight(self, *flags: str) -> int:
        """The most sub-calls at once, of a server that lets them wait for each other."""
        lock, now, most = threading.Lock(), [0], [0]
        full = threading.Event()
        wanted = 64 if flags else 16

        def answer(handler, body):
            text = body["messages"][-1]["content"]
            if not text.startswith("item "):
                return reply(handler, body, "```repl\nr = llm_query_batched([f'item {i}' for i in "
                                            "range(96)])\nFINAL(str(len(r)))\n```")
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
                if now[0] >= wanted:
                    full.set()
            full.wait(20)
            with lock:
                now[0] -= 1
            return reply(handler, body, "fine")

        code, out, err = self.ask_server(self.serve(answer), "--mode", "recursive",
                                         "--context-text", "abc\n", *flags, "How many?")
        self.assertEqual((code, out), (0, "96\n"), err)
        return most[0]

    def test_the_flag_is_what_is_in_flight_and_the_default_is_data(self):  # FLT-18
        self.assertEqual(self.in_flight("--concurrency", "64"), 64)
        self.assertEqual(self.in_flight(), 16)


if __name__ == "__main__":
    harness.main()
