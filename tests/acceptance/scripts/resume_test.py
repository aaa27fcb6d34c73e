#!/usr/bin/env python3
"""A run that is killed goes on: REC-69, REC-A19. Its forks and comparisons: REC-70.

DOSSIER_KILL_POINTS sets at how many points it is killed (50).
"""

import collections
import hashlib
import json
import os
import random
import re
import signal
import threading

import harness

# What the model writes, turn by turn: code that asks one by one, in a batch, in threads and by
# map_llm; that draws at random; that fails.
TURNS = [
    "```repl\nimport random\nprint(len(context), random.random())\n```",
    "```repl\nfirst = llm_query_batched([f'item {i}: how long?' for i in range(12)])\n"
    "print(sum(int(r) for r in first))\n```",
    "```repl\nkinds = map_llm([f'text {i}' for i in range(9)], ['odd', 'even'], 'Which?', batch=3)\n"
    "print(kinds.counts)\n```",
    "```repl\nfrom concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(3) as pool:\n"
    "    second = list(pool.map(llm_query, [f'item {i}: again?' for i in range(20, 24)]))\n"
    "third = llm_query('item 99: ' + str(random.random()))\nprint(second, third)\n```",
    "```repl\nprint('before')\nraise ValueError('it fails')\n```",
    "```repl\ntotal = sum(int(r) for r in first + second)\nprint(total, random.random())\n```",
    "FINAL_VAR(total)",
]


def texts(body: dict) -> list:
    return [message["content"] if isinstance(message["content"], str) else
            "".join(part.get("text", "") for part in message["content"])
            for message in body["messages"]]


class Model:
    """Answers by what is asked alone, and counts how often each thing is."""

    def __init__(self, turns=TURNS):
        self.turns = turns
        self.asked = collections.Counter()
        self.lock = threading.Lock()
        self.child = []                # what children write, turn by turn; @: their number
        self.away = set()              # what gets no answer but status 500
        self.held = ("sub item 50", "child 50")  # what gets no answer while `hold` is cleared
        self.hold = threading.Event()
        self.hold.set()

    def __call__(self, handler, body: dict):
        last = texts(body)[-1]
        number = re.search(r"item (\d+):", last)
        items = re.findall(r"^(\d+): text (\d+)$", last, re.M)
        if number and len(body["messages"]) == 1:
            key, text = "sub " + last, number[1]
        elif items and "odd" in last:
            key = "map " + ",".join(item[1] for item in items)
            text = "\n".join(f"{at}: {'odd' if int(n) % 2 else 'even'}" for at, n in items)
        elif not any("What is the total?" in one for one in texts(body)[:4]) and self.child:
            child = re.search(r"child (\d+)", "\n".join(texts(body)))[1]
            turn = sum(message["role"] == "assistant" for message in body["messages"]) - 1
            key, text = f"child {child} turn {turn}", self.child[turn].replace("@", child)
        else:
            turn = sum(message["role"] == "assistant" for message in body["messages"]) - 1
            key, text = f"turn {turn}", self.turns[min(max(turn, 0), len(self.turns) - 1)]
        with self.lock:
            self.asked[key] += 1
        if key in self.away:
            return harness.send(handler, 500, b"{}")
        if key.startswith(self.held):
            self.hold.wait(60)
        return harness.reply(handler, body, text)


class ResumeCase(harness.Case):
    def setUp(self):
        super().setUp()
        self.write("notes.txt", "".join(f"line {i} of the notes\n" for i in range(9000)))
        self.model = Model()
        self.server = self.serve(self.model)
        self.ask = ["ask", "--base-url", self.server.url, "-m", "some-model", "--retries", "0",
                    "--mode", "recursive", "--forcing", "none", "--progress", "json", "-c", "notes.txt"]

    def run_to_end(self, *words: str, **options):
        """Without the events on stderr."""
        code, out, err = super().run_to_end(*words, **options)
        return code, out, "".join(line for line in err.splitlines(True) if line[:1] != "{")

    def forget_copy(self):
        """As where the context was too large to be copied."""
        name = hashlib.sha256((self.home / "notes.txt").read_bytes()).hexdigest()
        copies = [path for path in self.home.rglob(f"*{name[2:]}*") if path.is_file()]
        self.assertEqual(len(copies), 1, name)
        copies[0].unlink()

    def kill_at(self, count: int, *words: str):
        """Starts a run and kills it behind its `count`-th event; None if it came to its end."""
        process = self.start(*self.ask, *words, "What is the total?", start_new_session=True)
        for _ in range(count):
            if not process.stderr.readline():
                process.wait()
                return None
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        newest = self.runs()[0]
        return newest["run"] if newest["status"] == "interrupted" else None

    def answered(self, run: str) -> set:
        """What the model was asked, and the journal has the reply to."""
        keys, sent = set(), {}
        for event in self.events(run):
            data = event["data"]
            if event["type"] == "request.sent":
                text = data["messages"]
                sent[data["hash"]] = text.get("text", "") if isinstance(text, dict) else None
            if event["type"] != "reply.received":
                continue
            text = sent[data["hash"]]
            if data["purpose"] == "subcall":
                keys.add("sub " + text)
            elif data["purpose"] == "map":
                keys.add("map " + ",".join(re.findall(r"^\d+: text (\d+)$", text, re.M)))
            else:
                keys.add(f"turn {data['turn'] - 1}")
        return keys

    def unanswered(self, run: str) -> int:
        """How many requests were in flight when its process died."""
        open_now = collections.Counter()
        for event in self.events(run):
            if event["type"] == "request.sent":
                open_now[event["data"]["hash"]] += 1
            elif event["type"] == "reply.received" and "from_cache" not in event["data"]:
                open_now[event["data"]["hash"]] -= 1
        return sum(open_now.values())

    def prefix(self, run: str) -> list:
        return [json.dumps(event, sort_keys=True) for event in self.events(run)]


class KillTest(ResumeCase):
    def test_killed_at_any_point_nothing_is_asked_twice(self):  # REC-69, REC-A19, REC-A18
        points = int(os.environ.get("DOSSIER_KILL_POINTS", "50"))
        process = self.start(*self.ask, "--seed", "7", "What is the total?")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        events = len(err.splitlines())
        rng = random.Random(11)
        for number in range(points):
            count = rng.randrange(1, events)
            with self.subTest(count=count):
                # A folder of its own each time: no reply comes from the store of another run.
                self.env["XDG_DATA_HOME"] = str(self.home / f"data-{number}")
                self.model.asked.clear()
                run = self.kill_at(count, "--seed", "7")
                if not run:  # it was faster than the kill
                    continue
                known, before = self.answered(run), self.prefix(run)
                code, found, err = self.run_to_end("runs", "resume", run)
                self.assertEqual((code, found), (0, out), err)
                self.assertNotIn("replay_diverged", err)
                twice = {key for key, times in self.model.asked.items() if times > 1}
                self.assertEqual(twice & known, set(), "paid for twice")
                after = self.prefix(run)
                self.assertEqual(after[:len(before)], before, "the prefix of the journal changed")
                kinds = [event["type"] for event in self.events(run)[len(before):]]
                self.assertEqual((kinds[0], kinds[-1]), ("run.resumed", "run.finished"))
                self.assertEqual(self.runs()[0]["status"], "final")

    def test_killed_again_and_again(self):  # REC-69
        whole = len(self.start(*self.ask, "What is the total?").communicate(timeout=120)[1]
                    .splitlines())
        self.env["XDG_DATA_HOME"] = str(self.home / "again")
        self.model.asked.clear()
        run = self.kill_at(whole // 4)
        for _ in range(3):
            known, asked = self.answered(run), dict(self.model.asked)
            process = self.start("runs", "resume", run, start_new_session=True)
            for _ in range(whole // 6):
                if not process.stderr.readline():
                    break
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self.assertEqual({key: self.model.asked[key] for key in known},
                             {key: asked[key] for key in known})
        if self.runs()[0]["status"] == "interrupted":
            code, out, err = self.run_to_end("runs", "resume", run)
            self.assertEqual((code, out), (0, "152\n"), err)
        self.assertEqual(self.runs()[0]["answer"], "152")


class ChildrenTest(ResumeCase):
    """A tree of calls: each is repeated by itself, whatever the order in which children run."""

    def setUp(self):
        super().setUp()
        self.ask += ["--max-depth", "2"]
        self.model.turns = [
            "```repl\nfirst = rlm_query_batched([f'child {i}: how long is it?' for i in range(5)])\n"
            "print(list(first))\n```",
            "```repl\ntotal = sum(int(r) for r in first) + int(rlm_query('child 9: and this?'))\n"
            "print(total)\n```", "FINAL_VAR(total)"]
        self.model.child = ["```repl\nmine = int(llm_query('item @: how long?'))\nprint(mine)\n```",
                            "FINAL_VAR(mine)"]

    def answered_in_all(self, run: str) -> int:
        return sum(event["type"] == "reply.received" for event in self.events(run))

    def test_killed_at_any_point_a_tree_goes_on(self):  # REC-69, REC-47
        process = self.start(*self.ask, "What is the total?")
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (0, "19\n"), err)
        events = len(err.splitlines())
        rng = random.Random(5)
        for number in range(max(1, int(os.environ.get("DOSSIER_KILL_POINTS", "50")) // 5)):
            count = rng.randrange(1, events)
            with self.subTest(count=count):
                self.env["XDG_DATA_HOME"] = str(self.home / f"data-{number}")
                self.model.asked.clear()
                run = self.kill_at(count)
                if not run:
                    continue
                before, known = self.prefix(run), self.answered_in_all(run)
                code, found, err = self.run_to_end("runs", "resume", run)
                self.assertEqual((code, found), (0, out), err)
                self.assertNotIn("replay_diverged", err)
                after = self.events(run)
                self.assertEqual(self.prefix(run)[:len(before)], before)
                sent = sum(event["type"] == "request.sent" for event in after[len(before):])
                self.assertEqual(sent + known, self.answered_in_all(run), "each reply once")
                paths = [event["data"]["path"] for event in after
                         if event["type"] == "call.started"]
                self.assertEqual(sorted(paths), sorted(set(paths)), "each child is one call")
                for call in {event["call"] for event in after} - {0}:
                    kinds = [event["type"] for event in after if event["call"] == call]
                    self.assertEqual((kinds[0], kinds[-1]), ("call.started", "call.finished"))

    def test_a_replay_of_a_tree(self):  # REC-70, REC-47
        code, _, err = self.run_to_end(*self.ask, "What is the total?")
        self.assertEqual(code, 0, err)
        self.model.asked.clear()
        code, out, err = self.run_to_end("runs", "replay", "last")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(self.model.asked, {})


class OtherwiseTest(ResumeCase):
    def test_a_block_that_prints_the_clock_is_live_from_there(self):  # REC-69, REC-A19
        self.model.turns = ["```repl\nimport time\nprint(time.time_ns())\n```",
                            "```repl\nprint('on')\n```", "```repl\nprint('and on')\n```",
                            "FINAL(done)"]
        process = self.start(*self.ask, "When?", start_new_session=True)
        done = 0
        while done < 3:
            done += '"type":"block.done"' in process.stderr.readline()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        run = self.runs()[0]["run"]
        code, out, err = self.run_to_end("runs", "resume", run)
        self.assertEqual((code, out), (0, "done\n"), err)
        kinds = [event["type"] for event in self.events(run)]
        self.assertIn("replay.diverged", kinds)
        self.assertIn("replay_diverged", [event["data"].get("code") for event in self.events(run)])
        self.assertEqual(self.model.asked["turn 0"], 1, "what came before is not asked again")
        self.assertEqual(self.model.asked["turn 1"], 2, "it was shown something else")

    def test_a_context_that_has_changed_is_taken_from_its_copy(self):  # REC-69, FLT-33
        run = self.kill_at(12)
        with (self.home / "notes.txt").open("a") as notes:
            notes.write("one more line\n")
        code, out, err = self.run_to_end("runs", "resume", run)
        self.assertEqual((code, out), (0, "152\n"), err)
        self.assertIn("notes.txt has changed since the run began; its stored copy is used", err)
        code, out, err = self.run_to_end("runs", "replay", run)
        self.assertEqual(code, 0, out + err)

    def test_a_context_that_has_changed_and_was_not_copied_is_refused(self):  # REC-69, FLT-33
        run = self.kill_at(12)
        self.forget_copy()
        before = self.prefix(run)
        self.write("notes.txt", "something else\n" * 9000)
        code, _, err = self.run_to_end("runs", "resume", run)
        self.assertEqual(code, 4, err)
        self.assertIn("notes.txt is not what it was when run", err)
        (self.home / "notes.txt").unlink()
        self.assertEqual(self.prefix(run), before)

    def test_what_is_finished_or_runs_is_not_resumed(self):  # REC-69, section 6
        self.model.held = ("turn 1",)  # so it cannot end before it is asked about
        self.model.hold.clear()
        self.addCleanup(self.model.hold.set)
        process = self.start(*self.ask, "What is the total?")
        self.wait_for_event(process, "turn.started")
        run = self.runs()[0]["run"]
        code, _, err = self.run_to_end("runs", "resume", run)
        self.assertIn("is still running", err)
        self.model.hold.set()
        process.communicate(timeout=120)
        code, _, err = self.run_to_end("runs", "resume", run)
        self.assertEqual(code, 4)
        self.assertIn(f"dossier runs fork {run} --at", err)

    def test_stdin_comes_from_the_store(self):  # REC-69
        notes = open(self.home / "notes.txt")
        self.addCleanup(notes.close)
        process = self.start("ask", "--base-url", self.server.url, "-m", "some-model", "--mode",
                             "recursive", "--forcing", "none", "--progress", "json", "-c", "-", "What is the total?",
                             stdin=notes, start_new_session=True)
        self.wait_for_event(process, "reply.received")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        code, out, err = self.run_to_end("runs", "resume", "last")
        self.assertEqual((code, out), (0, "152\n"), err)

    def test_ctrl_c_names_the_way_on(self):  # REC-61, REC-69
        self.model.turns = [*TURNS[:2], "```repl\nprint(llm_query('item 50: slow?'))\n```",
                            "FINAL(at last)"]
        self.model.hold.clear()
        process = self.start(*self.ask, "What is the total?")
        for _ in range(3):
            self.wait_for_event(process, "block.started")
        self.wait_for_event(process, "request.sent")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        run = self.runs()[0]["run"]
        self.assertIn(f"dossier runs resume {run}", err)
        self.model.hold.set()
        known = self.answered(run)
        code, out, err = self.run_to_end("runs", "resume", run)
        self.assertEqual((code, out), (0, "at last\n"), err)
        self.assertNotIn("replay_diverged", err)
        twice = {key for key, times in self.model.asked.items() if times > 1}
        self.assertEqual(twice & known, set())

    def test_a_provider_that_was_away_is_asked_again_where_it_failed(self):  # REC-62, REC-69
        self.model.away = {"turn 3"}
        code, _, err = self.run_to_end(*self.ask, "What is the total?")
        self.assertEqual(code, 8, err)
        run = self.runs()[0]["run"]
        self.assertEqual(self.runs()[0]["status"], "failed")
        self.model.away = set()
        code, out, err = self.run_to_end("runs", "resume", run)
        self.assertEqual((code, out), (0, "152\n"), err)
        self.assertEqual({key for key, times in self.model.asked.items() if times > 1}, {"turn 3"})

    def test_one_plain_call_goes_on_too(self):  # REC-2, REC-69
        self.write("short.txt", "a few words\n")
        self.model.turns = ["plain answer"]
        words = ["ask", "--base-url", self.server.url, "-m", "some-model", "--mode", "direct",
                 "--validate", "test -e done || sleep 600", "--progress", "json", "-c", "short.txt",
                 "What?"]
        process = self.start(*words, start_new_session=True)
        self.wait_for_event(process, "reply.received")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.write("done", "")
        self.model.asked.clear()
        code, out, err = self.run_to_end("runs", "resume", "last")
        self.assertEqual((code, out), (0, "plain answer\n"), err)
        self.assertEqual(self.model.asked, {})

    def test_javascript_goes_on_too(self):  # REC-69
        self.model.turns = [
            "```js\nvar first = await llm_query('item 3: how long?'); print(first);\n```",
            "```js\nprint(Math.random() < 1, first);\n```", 'SUBMIT({"variable": "first"})']
        self.ask += ["--dialect", "javascript"]
        process = self.start(*self.ask, "How long?", start_new_session=True)
        for _ in range(2):
            self.wait_for_event(process, "block.done")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        code, out, err = self.run_to_end("runs", "resume", "last")
        self.assertEqual((code, out), (0, "3\n"), err)
        self.assertEqual({key for key, n in self.model.asked.items() if n > 1} - {"turn 2"}, set())

    def test_a_run_goes_on_in_its_own_out_dir(self):  # REC-69, REC-83
        self.model.turns = [
            "```repl\nopen('/out/log.txt', 'a').write('one\\n')\nsave_file('whole.txt', 'mine')\n```",
            "```repl\nopen('/out/log.txt', 'a').write('two\\n')\nprint('on')\n```",
            "```repl\nprint(llm_query('item 50: slow?'))\n```", "FINAL(done)"]
        self.model.hold.clear()
        process = self.start(*self.ask, "--out-dir", "results", "What?", start_new_session=True)
        for _ in range(2):
            self.wait_for_event(process, "block.done")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.model.hold.set()
        self.write("results/theirs.txt", "of the user")
        code, out, err = self.run_to_end("runs", "resume", "last", "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual([(file["name"], file["bytes"]) for file in json.loads(out)["files"]],
                         [("log.txt", 8), ("whole.txt", 4)])
        self.assertEqual((self.home / "results/log.txt").read_text(), "one\ntwo\n")
        self.assertEqual((self.home / "results/theirs.txt").read_text(), "of the user")
        # A comparison leaves the folder alone.
        (self.home / "results/log.txt").write_text("kept")
        code, out, err = self.run_to_end("runs", "replay", "last")
        self.assertEqual(code, 0, out + err)
        self.assertEqual((self.home / "results/log.txt").read_text(), "kept")

    def test_a_fork_has_a_folder_of_its_own(self):  # REC-70, REC-83
        self.model.turns = ["```repl\nsave_file('one.txt', 'first')\nprint(context[:3])\n```",
                            "```repl\nsave_file('two.txt', 'second')\nprint(1)\n```", "FINAL(done)"]
        code, _, err = self.run_to_end(*self.ask, "--out-dir", "results/", "What?")
        self.assertEqual(code, 0, err)
        (self.home / "results/one.txt").write_text("kept")
        code, out, err = self.run_to_end("runs", "fork", "last", "--at", "1", "--json")
        self.assertEqual(code, 0, err)
        outcome = json.loads(out)
        folder = f"results-{outcome['run']}"
        self.assertEqual([(file["path"], file["bytes"]) for file in outcome["files"]],
                         [(f"{folder}/one.txt", 5), (f"{folder}/two.txt", 6)])
        self.assertIn(f"files of the fork go to {folder}", err)
        self.assertEqual((self.home / "results/one.txt").read_text(), "kept")
        self.assertEqual((self.home / folder / "one.txt").read_text(), "first")
        code, out, err = self.run_to_end("runs", "replay", outcome["run"])
        self.assertEqual(code, 0, out + err)

    def test_trust_is_asked_for_again(self):  # REC-69, FLT-83
        self.ask[1:1] = ["--trust-config"]
        run = self.kill_at(12)
        before = self.prefix(run)
        self.write("dossier.yml", json.dumps({"context_commands": [
            {"name": "log", "command": f"touch {self.home}/ran"}]}))
        for words in (["resume", run], ["replay", run], ["fork", run, "--at", "0"]):
            code, _, err = self.run_to_end("runs", *words)
            self.assertEqual(code, 12, err)
            self.assertIn("dossier.yml is not trusted", err)
        self.assertEqual(self.prefix(run), before)
        code, out, err = self.run_to_end("--trust-config", "runs", "resume", run)
        self.assertEqual((code, out), (0, "152\n"), err)

    def test_limits_may_be_raised(self):  # REC-69
        run = self.kill_at(60, "--max-calls", "40")
        lost = self.unanswered(run)
        code, out, err = self.run_to_end("runs", "resume", run, "--max-calls", "400",
                                         "--max-iterations", "20", "--max-time", "10m", "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["answer"], "152")
        calls = json.loads(out)["calls"]
        self.assertEqual(calls["sent"], 27 + lost, "those of both processes")
        self.assertEqual(calls["failed"], lost)
        self.assertNotIn("replay_diverged", err)

    def test_the_limit_of_time_counts_what_was_used(self):  # REC-57, REC-69
        run = self.kill_at(20, "--max-time", "600s")
        told = [event["data"]["seconds_left"] for event in self.events(run)
                if event["type"] == "turn.started"]
        code, out, err = self.run_to_end("runs", "resume", run)
        self.assertEqual((code, out), (0, "152\n"), err)
        self.assertNotIn("replay_diverged", err)
        later = [event["data"]["seconds_left"] for event in self.events(run)
                 if event["type"] == "turn.started"]
        self.assertEqual(later[:len(told)], told)
        self.assertTrue(all(0 < left <= 600 for left in later), later)

    def test_what_was_in_flight_at_a_kill_counts_with_its_prompt(self):  # REC-69, section 6
        self.model.turns = [*TURNS[:2], "```repl\nprint(llm_query('item 50: slow?'))\n```",
                            "FINAL(at last)"]
        self.model.hold.clear()
        process = self.start(*self.ask, "What is the total?", start_new_session=True)
        for _ in range(3):
            self.wait_for_event(process, "block.started")
        self.wait_for_event(process, "request.sent")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.model.hold.set()
        run = self.runs()[0]["run"]
        self.assertEqual(self.unanswered(run), 1)
        code, out, err = self.run_to_end("runs", "resume", run, "--json")
        self.assertEqual(code, 0, err)
        found = json.loads(out)
        replies = [event["data"] for event in self.events(run) if event["type"] == "reply.received"]
        self.assertEqual(found["calls"]["sent"], len(replies) + 1)
        self.assertGreater(found["tokens"]["input"], sum(one["input"] for one in replies))

    def test_what_of_a_batch_waits_its_turn_is_not_lost_at_a_kill(self):  # REC-55, REC-69, REC-79
        self.model.turns = ["```repl\nr = llm_query_batched([f'item 50: {i}?' for i in range(30)])\n"
                            "FINAL(sum(x.ok for x in r))\n```"]
        self.model.hold.clear()
        process = self.start(*self.ask, "--concurrency", "2", "--max-calls", "40", "What is the total?",
                             start_new_session=True)
        self.wait_for_event(process, "block.started")
        for _ in range(2):
            self.wait_for_event(process, "request.sent")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.model.hold.set()
        run = self.runs()[0]["run"]
        self.assertEqual(self.unanswered(run), 2)
        code, out, err = self.run_to_end("runs", "resume", run, "--json")
        self.assertEqual(code, 0, err)
        found = json.loads(out)
        self.assertEqual((found["answer"], found["calls"]["sent"]), ("30", 1 + 2 + 30))

    def test_what_children_wait_with_is_not_lost_at_a_kill(self):  # REC-47, REC-55, REC-69
        self.model.turns = ["```repl\nr = rlm_query_batched([f'child 50: {i}?' for i in range(9)])\n"
                            "FINAL(sum(x.ok for x in r))\n```"]
        self.model.child = ["FINAL(done)"]
        self.model.hold.clear()
        process = self.start(*self.ask, "--max-depth", "2", "--concurrency", "2", "--max-calls", "14",
                             "What is the total?", start_new_session=True)
        self.wait_for_event(process, "block.started")
        seen = collections.Counter()
        while seen["call.started"] < 9 or seen["request.sent"] < 2:
            line = process.stderr.readline()
            self.assertTrue(line, "the command ended before all children had begun")
            seen[json.loads(line)["type"] if line[:1] == "{" else ""] += 1
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.model.hold.set()
        run = self.runs()[0]["run"]
        self.assertEqual(self.unanswered(run), 2, "seven children only waited")
        code, out, err = self.run_to_end("runs", "resume", run, "--json")
        self.assertEqual(code, 0, err)
        found = json.loads(out)
        self.assertEqual((found["answer"], found["calls"]["sent"]), ("9", 1 + 2 + 9))

    def test_what_never_left_is_shown_with_its_prompt_and_asked_later(self):  # REC-47, REC-55, REC-68, REC-69
        self.model.turns = ["```repl\nr = rlm_query_batched([f'child 50: {i}?' for i in range(9)])\n"
                            "FINAL(sum(x.ok for x in r))\n```"]
        self.model.child = ["FINAL(done)"]
        self.model.hold.clear()
        process = self.start(*self.ask, "--max-depth", "2", "--concurrency", "2", "What is the total?")
        self.wait_for_event(process, "block.started")
        seen = collections.Counter()
        while seen["turn.started"] < 9 or seen["request.sent"] < 2:
            seen[json.loads(process.stderr.readline())["type"]] += 1
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.model.hold.set()
        run = self.runs()[0]["run"]
        events = self.events(run)
        self.assertEqual(sum(event["type"] == "request.sent" for event in events), 1 + 2)
        unsent = [event["data"] for event in events if event["data"].get("unsent")]
        self.assertTrue(unsent)
        for data in unsent:
            self.assertTrue(data["messages"] and data["hash"] and data["tokens"])
        code, out, err = self.run_to_end("runs", "show", run, "--messages")
        self.assertEqual(code, 0, err)
        self.assertIn("child 50: ", out)
        code, out, err = self.run_to_end("runs", "export", run, "--format", "md")
        self.assertEqual(code, 0, err)
        code, out, err = self.run_to_end("runs", "resume", run, "--json")
        self.assertEqual(code, 0, err)
        found = json.loads(out)
        self.assertEqual((found["answer"], found["calls"]["sent"]), ("9", 1 + 2 + 9))
        code, out, err = self.run_to_end("runs", "replay", run)
        self.assertEqual(code, 0, out + err)

    def test_what_an_orderly_stop_cancels_counts_too(self):  # REC-55, REC-69
        self.model.turns = ["```repl\nr = llm_query_batched([f'item 50: {i}?' for i in range(9)])\n"
                            "FINAL(sum(x.ok for x in r))\n```"]
        self.model.hold.clear()
        process = self.start(*self.ask, "--concurrency", "2", "What is the total?")
        self.wait_for_event(process, "block.started")
        for _ in range(2):
            self.wait_for_event(process, "request.sent")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.model.hold.set()
        run = self.runs()[0]["run"]
        code, out, err = self.run_to_end("runs", "resume", run, "--json")
        self.assertEqual(code, 0, err)
        found = json.loads(out)
        self.assertEqual((found["answer"], found["calls"]["sent"]), ("9", 1 + 2 + 9))


class ForkTest(ResumeCase):
    def setUp(self):
        super().setUp()
        code, self.out, err = self.run_to_end(*self.ask, "What is the total?")
        self.assertEqual(code, 0, err)
        self.parent = self.runs()[0]["run"]
        self.before = self.prefix(self.parent)
        self.model.asked.clear()

    def test_a_fork_shares_the_turns_before(self):  # REC-70
        self.model.turns = TURNS[:3] + ["```repl\nprint(len(first))\n```", "FINAL(otherwise)"]
        code, out, err = self.run_to_end("runs", "fork", self.parent, "--at", "3", "--question",
                                         "What else?")
        self.assertEqual((code, out), (0, "otherwise\n"), err)
        self.assertEqual(set(self.model.asked), {"turn 3", "turn 4"}, "the first turns are shared")
        self.assertIn(b"What else?", self.server.requests[-1])
        self.assertEqual(self.prefix(self.parent), self.before, "the parent is untouched")
        fork = self.runs()[0]["run"]
        self.assertNotEqual(fork, self.parent)
        forked = [event["data"] for event in self.events(fork) if event["type"] == "run.forked"]
        self.assertEqual((forked[0]["from"], forked[0]["turn"]), (self.parent, 3))

    def test_a_fork_that_cannot_begin_leaves_nothing_behind(self):  # REC-70
        self.forget_copy()
        path = self.home / self.ask[self.ask.index("-c") + 1]
        path.write_text(path.read_text() + "more")
        for edit in (["--question", "What else?"], ["--dry-run"]):
            code, out, err = self.run_to_end("runs", "fork", self.parent, "--at", "1", *edit)
            self.assertEqual((code, out), (4, ""), err)
            self.assertIn(f"is not what it was when run {self.parent} began", err)
        self.assertEqual([run["run"] for run in self.runs()], [self.parent])

    def fork_killed(self, *edits: str) -> str:
        """A fork at turn 3 that is killed while its first own turn waits."""
        self.model.turns = [*TURNS[:3], "```repl\nprint(llm_query('item 50: slow?'))\n```",
                            "FINAL(otherwise)"]
        self.model.hold.clear()
        process = self.start("runs", "fork", self.parent, "--at", "3", *edits,
                             start_new_session=True)
        while "item 50" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.model.hold.set()
        fork = self.runs()[0]["run"]
        self.assertNotEqual(fork, self.parent)
        return fork

    def test_a_fork_that_is_killed_goes_on_as_one(self):  # REC-69, REC-70
        fork = self.fork_killed("--question", "What else?", "--model", "another-model")
        count = len(self.server.requests)
        code, out, err = self.run_to_end("runs", "resume", fork)
        self.assertEqual((code, out), (0, "otherwise\n"), err)
        roots = [body for body in self.server.requests[count:] if len(body) > 2000]
        self.assertTrue(roots)
        for body in roots:
            self.assertIn(b"What else?", body)
            self.assertNotIn(b"What is the total?", body)
            self.assertIn(b"another-model", body)

    def test_a_fork_of_a_fork_keeps_its_question_and_model(self):  # REC-70
        self.model.turns = [*TURNS[:3], "```repl\nprint(len(first))\n```", "FINAL(otherwise)"]
        code, _, err = self.run_to_end("runs", "fork", self.parent, "--at", "3", "--question",
                                       "What else?", "--model", "another-model")
        self.assertEqual(code, 0, err)
        code, _, err = self.run_to_end("runs", "fork", "last", "--at", "2")
        self.assertEqual(code, 0, err)
        self.assertIn(b"What else?", self.server.requests[-1])
        self.assertIn(b"another-model", self.server.requests[-1])
        code, out, err = self.run_to_end("runs", "replay", "last")
        self.assertEqual(code, 0, out + err)

    def test_a_cell_that_is_killed_runs_once(self):  # REC-69, REC-70
        self.write("cell.py", "print(llm_query('item 50: slow?'))")
        fork = self.fork_killed("--cell", "cell.py")
        code, _, err = self.run_to_end("runs", "resume", fork)
        self.assertEqual(code, 0, err)
        replies = [event["data"]["body"]["text"] for event in self.events(fork)
                   if event["type"] == "reply.received" and event["data"]["purpose"] == "root"]
        self.assertEqual(sum("slow?" in reply and "```repl\nprint(llm" in reply
                             for reply in replies[:4]), 1, replies)

    def test_a_fork_stands_under_its_own_question(self):  # REC-70
        self.model.turns = [*TURNS[:3], "```repl\nprint(len(first))\n```", "FINAL(otherwise)"]
        code, out, err = self.run_to_end("runs", "fork", self.parent, "--at", "3", "--question",
                                         "What else?", "--json")
        self.assertEqual(code, 0, err)
        fork = self.runs()[0]
        self.assertEqual(fork["question"], "What else?")
        self.assertEqual(self.runs()[1]["question"], "What is the total?")
        for words in (["show"], ["export", "--format", "md"], ["export", "--format", "html"]):
            code, shown, err = self.run_to_end("runs", words[0], fork["run"], *words[1:])
            self.assertEqual(code, 0, err)
            self.assertIn("What else?", shown, words)
        code, shown, _ = self.run_to_end("runs", "diff", self.parent, fork["run"])
        self.assertEqual(code, 15)
        self.assertIn("  - What is the total?\n  + What else?\n", shown)
        code, shown, err = self.run_to_end("runs", "show", "--messages", "--turn", "4", fork["run"])
        self.assertIn("What else?", shown, err)
        self.assertNotIn("What is the total?", shown)
        code, shown, err = self.run_to_end("runs", "replay", fork["run"])
        self.assertEqual(code, 0, shown + err)
        code, _, err = self.run_to_end("eval", "add", "mine.yml", "--run", fork["run"])
        self.assertEqual(code, 0, err)
        self.assertIn("What else?", (self.home / "mine.yml").read_text())
        # It counts what it asked itself.
        found = json.loads(out)
        events = self.events(fork["run"])
        start = [event["type"] for event in events].index("run.forked")
        replies = [event["data"] for event in events[start:] if event["type"] == "reply.received"]
        self.assertEqual(found["calls"]["sent"], len(replies))
        self.assertEqual(found["tokens"]["input"], sum(one["input"] for one in replies))
        self.assertEqual(found["calls"]["shared"], 18, "of its parent")

    def test_a_cell_of_ones_own(self):  # REC-70
        self.write("cell.py", "total = 1000 + len(first)\nFINAL_VAR('total')")
        code, out, err = self.run_to_end("runs", "fork", self.parent, "--at", "2", "--cell", "cell.py")
        self.assertEqual((code, out), (0, "1012\n"), err)
        self.assertEqual(self.model.asked, {}, "nothing was asked")

    def test_a_turn_that_is_not_there(self):  # REC-70
        code, _, err = self.run_to_end("runs", "fork", self.parent, "--at", "70")
        self.assertEqual(code, 4)
        self.assertIn("has no turn 70", err)

    def test_a_replay_asks_nothing_and_compares(self):  # REC-70
        self.server.close()
        code, out, err = self.run_to_end("runs", "replay", self.parent)
        self.assertEqual(code, 0, out + err)
        self.assertIn("came out as recorded", out)
        self.assertEqual(self.model.asked, {})
        self.assertEqual(self.prefix(self.parent), self.before, "nothing is written")

    def test_a_comparison_takes_the_recorded_verdicts(self):  # REC-70
        self.model.turns = ["```repl\nvalue = 41\n```", "FINAL_VAR(value)",
                            "```repl\nvalue = 42\n```", "FINAL_VAR(value)"]
        code, out, err = self.run_to_end(*self.ask, "--validate", "echo x >> judged; grep -q 42",
                                         "Which?")
        self.assertEqual((code, out), (0, "42\n"), err)
        judged = (self.home / "judged").read_text()
        self.assertEqual(judged, "x\nx\n")
        code, out, err = self.run_to_end("runs", "replay", "last")
        self.assertEqual(code, 0, out + err)
        self.assertEqual((self.home / "judged").read_text(), judged, "the command did not run")


    def test_a_comparison_calls_no_tool(self):  # REC-65, REC-70
        self.write("tools.yml", json.dumps([{
            "name": "mark", "description": "x", "parameters": {"word": {"type": "string"}},
            "command": ["/bin/sh", "-c", "echo x >> called; cat"]}]))
        self.model.turns = ["```repl\nimport time\nprint(mark('same'))\nprint(mark(str(time.time_ns())))\n```",
                            "FINAL(done)"]
        code, _, err = self.run_to_end(*self.ask, "--tools", "tools.yml", "When?")
        self.assertEqual(code, 0, err)
        self.assertEqual((self.home / "called").read_text(), "x\nx\n")
        code, out, err = self.run_to_end("runs", "replay", "last")
        self.assertEqual(code, 15, out + err)
        self.assertEqual((self.home / "called").read_text(), "x\nx\n")


class FilesTest(ResumeCase):
    def test_what_is_no_regular_file_is_refused_at_once(self):  # REC-65, MOD-25
        os.mkfifo(self.home / "pipe")
        for file in ("pipe", "/dev/zero"):
            for words in ([*self.ask, "--tools", file, "What?"], ["runs", "import", file],
                          ["ask", "-m", "scripted", "--script", file, "-c", "notes.txt", "What?"],
                          [*self.ask, "--replay", file, "What?"]):
                code, _, err = self.run_to_end(*words, limit=30)
                self.assertEqual(code, 3, (words, err))
                self.assertIn("is no regular file", err)


class ToolsTest(ResumeCase):
    def test_a_tool_at_its_limit_ends_with_all_that_it_started(self):  # REC-65
        self.write("tools.yml", json.dumps([{
            "name": "slow", "description": "x", "timeout": "500ms",
            "command": ["/bin/sh", "-c", "setsid sleep 4711 & echo $! > pid; exec sleep 4711"]}]))
        self.model.turns = ["```repl\ntry:\n    slow()\nexcept RuntimeError as e:\n    print(e)\n```",
                            "FINAL(done)"]
        code, out, err = self.run_to_end(*self.ask, "--tools", "tools.yml", "--json", "What?")
        self.assertEqual(code, 0, err)
        self.assertIn("did not end within 500 ms", json.dumps(self.events(self.runs()[0]["run"])))
        self.assert_gone([int((self.home / "pid").read_text())])


if __name__ == "__main__":
    harness.main()
