#!/usr/bin/env python3
"""`dossier eval` as its users start it: questions files, arms, the proxy, kills, budgets, reports.

EVL-60 to EVL-68, EVL-70, EVL-71, EVL-110 to EVL-113, EVL-A13 to EVL-A17, EVL-A22 (files), section 6.
"""

import csv
import json
import os
import pathlib
import random
import re
import signal
import socket
import sys
import threading
import time
import xml.etree.ElementTree

import harness
from harness import reply, send

KEY = "sk-proj-" + "x8Kq2LwZ9vT" + "n4RbY7cMd1eQ5"
PYTHON = sys.executable


class EvalCase(harness.Case):
    def eval(self, *words: str, **options):
        return self.run_to_end("eval", *words, **options)

    def rows(self, folder: str) -> list[dict]:
        return [json.loads(line) for line in (self.home / folder / "rows.jsonl").read_text().splitlines()]

    def by_arm(self, folder: str) -> dict[str, dict]:
        return {row["arm"]: row for row in self.rows(folder)}

    def questions(self, count: int, name: str = "q.yml") -> str:
        self.write("notes.txt", "The key is 42.\n")
        lines = [f'  - {{id: q{i}, question: "What is number {i}?", gold: "n{i}."}}' for i in range(count)]
        return self.write(name, "defaults: {contexts: [notes.txt], scorer: contains}\nquestions:\n"
                          + "\n".join(lines) + "\n")

    def arm(self, code: str, name: str = "own", **more) -> str:
        """A file with an arm that is a Python program."""
        program = self.write(f"{name}.py", code)
        argv = more.pop("argv", [PYTHON, program, "{context}", "{question}", "{base_url}", "{model}",
                                 "{answer_file}", "{meta}"])
        return self.write(f"{name}-arms.yml", json.dumps({name: {"system": "command", "argv": argv,
                                                                 **more}}))

    def echo_server(self):
        """Answers "nN." to a question about number N, with usage."""
        def answer(handler, body):
            text = body["messages"][-1]["content"]
            reply(handler, body, f"n{re.findall('number ([0-9]+)', text)[-1]}.")
        return self.serve(answer)

    def ask_with(self, server, questions: str, *words: str, **options):
        return self.eval("run", questions, "--base-url", server.url, "-m", "m", *words, **options)


class QuestionsTest(EvalCase):
    def test_four_formats_mean_the_same(self):  # EVL-110, EVL-A22
        (self.home / "c").mkdir()
        self.write("c/a.txt", "The lease ends on 31 March 2027.\n")
        self.write("c/b.txt", "The dog is Rex.\n")
        rows = [{"id": "q1", "question": "When does the lease end?", "contexts": ["c/a.txt"],
                 "gold": "2027-03-31", "scorer": "date", "tags": ["lease", "dates"]},
                {"id": "q2", "question": "Who barks, \"Rex\" or Max?", "contexts": ["c/*.txt"], "gold": "Rex",
                 "scorer": "contains", "tags": []}]
        self.write("q.json", json.dumps({"questions": rows}))
        self.write("q.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        self.write("q.yml", "questions:\n" + "".join(f"  - {json.dumps(row)}\n" for row in rows))
        with open(self.home / "q.csv", "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["id", "question", "contexts", "gold", "scorer", "tags"])
            for row in rows:
                out.writerow([row["id"], row["question"], ";".join(row["contexts"]), row["gold"],
                              row["scorer"], ";".join(row["tags"])])
        script = self.script([{"when": "lease", "times": "always", "reply": "on 31 March 2027"},
                              {"times": "always", "reply": "Rex"}])
        seen = set()
        for form in ("yml", "json", "jsonl", "csv"):
            code, out, err = self.eval("run", f"q.{form}", "--arm", "direct", "--out", form, *script)
            self.assertEqual(code, 0, err)
            tasks = (self.home / form / "tasks.jsonl").read_text()
            answers = [(row["task"], row["answer"], row["official"]) for row in self.rows(form)]
            seen.add((tasks, str(answers)))
            self.assertTrue((self.home / form / "report.html").exists())
        self.assertEqual(len(seen), 1)
        self.assertEqual(len(json.loads(tasks.splitlines()[1])["contexts"]), 2)

    def test_bad_files_are_refused_with_the_place_and_the_way_out(self):  # EVL-A22
        self.write("a.txt", "text\n")
        good = '{"id":"a","question":"Q?","contexts":["a.txt"],"gold":"x"}'
        cases = [
            ('{"id":"a","question":"Q?","gold":"x"}', 3, "q.jsonl:1.*no `contexts`"),
            ('{"id":"a","question":"Q?","contexts":["b.txt"]}', 4, "q.jsonl:1.*b.txt: no such file.*a.txt"),
            ('{"id":"a","question":"Q?","contexts":["*.pdf"]}', 4, r"\*.pdf: no file matches"),
            (good + "\n" + good, 3, "q.jsonl:2: the id a stands there twice"),
            ('{"id":"a","question":"Q?","contexts":["a.txt"],"gold":"x","scorer":"contain"}', 3,
             "no such scorer: contain; did you mean contains"),
            ('{"id":"a","question":"Q?","contexts":["a.txt"],"gold":"x","scorer":"fuzzy"}', 3, "no such scorer: fuzzy.*contains"),
            ('{"id":"a","question":"Q?","contexts":["a.txt"],"gold":"many","scorer":"number"}', 3,
             "q.jsonl:1"),
            ('{"id":"a","question":"Q?","contexts":["a.txt"],"gold":"a(b","scorer":"regex"}', 3,
             r"q.jsonl:1: the gold .a\(b. is no regular expression"),
            ('{"id":"a","qestion":"Q?","contexts":["a.txt"]}', 3, "no such field: qestion; did you mean"),
            ('{"id":"a","contexts":["a.txt"]}', 3, "a has no `question`"),
            ('{"id":"../a","question":"Q?","contexts":["a.txt"]}', 3, "the id ../a begins with a dot or holds a slash"),
            ("not json", 3, "q.jsonl:1"),
            ("", 3, "there is no question"),
        ]
        for text, exit_code, message in cases:
            self.write("q.jsonl", text)
            code, out, err = self.eval("run", "q.jsonl", "--arm", "direct", *self.script(["x"]))
            self.assertEqual((code, out), (exit_code, ""), (text, err))
            self.assertRegex(err, message)

    def test_unknown_arms_and_missing_peers_are_named(self):  # EVL-62, EVL-A18
        questions = self.questions(1)
        for arm, exit_code, message in (("dosier", 3, "did you mean dossier"),
                                        ("droste-matched", 12, "droste is not installed; bench/eval_peers install droste"),
                                        ("oracle:x", 3, "no such arm")):
            code, _, err = self.eval("run", questions, "--arm", arm, *self.script(["x"]))
            self.assertEqual(code, exit_code, err)
            self.assertIn(message, err)
        code, out, _ = self.eval("arms", "--json")
        arms = {arm["name"]: arm for arm in json.loads(out)["arms"]}
        for name in ("rlms", "dspy-deno", "dspy-local", "droste", "minrlm", "recursive-llm"):
            self.assertIn(f"bench/eval_peers install {name}", arms[name]["install"])

    def test_a_peer_without_a_program_that_it_needs_is_not_ready(self):  # EVL-62, EVL-A18, section 6
        python = self.home / "cache/dossier/eval-peers/dspy-deno/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text("")
        self.env["PATH"] = str(self.home)
        arms = {arm["name"]: arm for arm in json.loads(self.eval("arms", "--json")[1])["arms"]}
        self.assertFalse(arms["dspy-deno"]["installed"])
        self.assertIn("install deno", arms["dspy-deno"]["install"])
        code, _, err = self.eval("run", self.questions(1), "--arm", "dspy-deno", *self.script(["x"]))
        self.assertEqual(code, 12, err)
        self.assertIn("it needs deno", err)

    def test_a_run_becomes_a_question(self):  # EVL-113
        self.write("a.txt", "The dog is Rex.\n")
        script = self.script([{"times": "always", "reply": "Rex"}])
        code, _, err = self.run_to_end("ask", *script, "a.txt", "Who \"barks\"?")
        self.assertEqual(code, 0, err)
        for _ in range(2):
            code, out, err = self.eval("add", "mine.yml", "--run", "last", "--gold", "Rex: it's", "--tag", "dogs")
            self.assertEqual(code, 0, err)
        code, _, err = self.eval("run", "mine.yml", "--arm", "direct", "--out", "o", *script)
        self.assertEqual(code, 0, err)
        tasks = [json.loads(line) for line in (self.home / "o/tasks.jsonl").read_text().splitlines()]
        self.assertEqual([task["question"] for task in tasks], ["Who \"barks\"?"] * 2)
        self.assertEqual((tasks[0]["gold"], tasks[0]["tags"], tasks[0]["contexts"]),
                         (["Rex: it's"], ["dogs"], ["a.txt"]))

    def test_a_question_is_added_where_the_older_files_are_not(self):  # EVL-113
        self.write("a.txt", "The dog is Rex.\n")
        code, _, err = self.run_to_end("ask", *self.script([{"times": "always", "reply": "Rex"}]), "a.txt", "Who barks?")
        self.assertEqual(code, 0, err)
        old = "defaults: {contexts: [gone/*.pdf]}\nquestions:\n  - {id: old, question: \"Who?\", gold: x}\n"
        self.write("mine.yml", old)
        code, _, err = self.eval("add", "mine.yml", "--run", "last", "-c", "b.txt")
        self.assertEqual(code, 4, err)
        self.assertEqual((self.home / "mine.yml").read_text(), old)
        code, out, err = self.eval("add", "mine.yml", "--run", "last")
        self.assertEqual((code, out), (0, "mine.yml: 2 questions; the last: q2\n"), err)
        code, _, err = self.eval("run", "mine.yml", *self.script(["x"]))
        self.assertEqual(code, 4)
        self.assertIn("mine.yml:3: gone/", err)


class SystemsTest(EvalCase):
    def test_each_status_of_a_command_stays_in_the_mean(self):  # EVL-65, EVL-66, EVL-A14
        questions = self.questions(1)
        codes = {
            "ok": "print('n0.')",
            "empty": "pass",
            "crashed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "error": "import sys; print('half'); sys.exit(3)",
            "timeout": "import time; time.sleep(60)",
            "limit": ("import sys, urllib.request as u, json\n"
                      "for i in range(9):\n"
                      "    u.urlopen(u.Request(sys.argv[3] + '/chat/completions', json.dumps({'model': sys.argv[4],"
                      "'messages': [{'role': 'user', 'content': 'number 0'}]}).encode()))\n"),
        }
        arms = {}
        for status, code in codes.items():
            program = self.write(f"{status}.py", code)
            arms[status] = {"system": "command", "argv": [PYTHON, program, "{context}", "{question}",
                                                          "{base_url}", "{model}"]}
        self.write("arms.yml", json.dumps(arms))
        words = [word for status in codes for word in ("--arm", status)]
        code, out, err = self.ask_with(self.echo_server(), questions, "--arms", "arms.yml", *words, "--out", "o",
                                       "--limit-time", "2s", "--limit-calls", "3")
        self.assertEqual(code, 13, err)
        self.assertEqual(re.findall(r"dossier: (\w+) failed at all of 1 question,", err), ["crashed", "error"])
        found = self.by_arm("o")
        self.assertEqual({arm: row["status"] for arm, row in found.items()}, {arm: arm for arm in codes})
        self.assertEqual({arm: row["official"] for arm, row in found.items()},
                         {arm: float(arm == "ok") for arm in codes})
        self.assertEqual(found["limit"]["calls"], 3)
        self.assertIn("exit code 3", found["error"]["detail"])

    def test_refusal_too_long_and_provider_errors_of_a_plain_call(self):  # EVL-60, EVL-66
        questions = self.questions(1)
        replies = {"a": lambda h, b: send(h, 500, b"{}"),
                   "b": lambda h, b: send(h, 400, b'{"error":{"message":"maximum context length is 10 tokens"}}'),
                   "c": lambda h, b: send(h, 200, json.dumps({"choices": [{"message": {
                       "role": "assistant", "content": "", "refusal": "no"}}]}).encode())}
        wanted = {"a": "provider_error", "b": "context_too_long", "c": "refused"}
        for name, answer in replies.items():
            code, _, err = self.ask_with(self.serve(answer), questions, "--arm", "direct", "--out", name)
            row = self.rows(name)[0]
            if name == "b":
                self.assertIn(row["status"], ("context_too_long", "provider_error"))
            else:
                self.assertEqual(row["status"], wanted[name], row)
            if name == "a":  # an arm that never got a reply has no score
                self.assertEqual(code, 13, err)
                self.assertIn("direct failed at all of 1 question, so its score says nothing", err)
            self.assertEqual(row["official"], 0)
        self.write("notes.txt", "word " * 5000)
        server = self.echo_server()
        code, _, err = self.ask_with(server, questions, "--arm", "direct", "--arm", "direct-cut", "--out", "w",
                                     "--window", "2000")
        found = self.by_arm("w")
        self.assertEqual(found["direct"]["status"], "context_too_long", err)
        self.assertEqual((found["direct-cut"]["status"], found["direct-cut"]["official"]), ("ok", 1.0))
        self.assertEqual(len(server.requests), 1)
        self.assertIn("[…]", json.loads(server.requests[0])["messages"][0]["content"])

    def test_words_files_and_home_of_a_command(self):  # EVL-61, EVL-65
        self.write("notes.txt", "The key is 42.\n")
        question = "What's \"it\"; $(rm x) {model} {context}?\nsecond line"
        self.write("q.jsonl", json.dumps({"question": question, "contexts": ["notes.txt"]}) + "\n")
        arms = self.arm("import json, os, sys, pathlib\n"
                        "a = sys.argv\n"
                        "json.dump({'turns': 3, 'sub_calls': 40, 'ended': 'submitted'}, open(a[6], 'w'))\n"
                        "print('not this')\n"
                        "open(a[5], 'w').write(json.dumps([open(a[1]).read(), a[2], sorted(os.environ),"
                        " os.listdir(os.environ['HOME']), os.getpgid(0) == os.getpid() or os.getsid(0)]))\n",
                        env={"K": "v"})
        self.env["SECRET_TOKEN"] = "hunter2hunter2"
        code, _, err = self.eval("run", "q.jsonl", "--arms", arms, "--arm", "own", "--out", "o", *self.script(["x"]))
        self.assertEqual(code, 0, err)
        row = self.rows("o")[0]
        text, asked, variables, home, _ = json.loads(row["answer"])
        self.assertEqual((text, asked), ("The key is 42.\n", question))
        self.assertEqual((row["turns"], row["sub_calls"], row["ended"]), (3, 40, "submitted"))
        self.assertIn("K", variables)
        self.assertNotIn("SECRET_TOKEN", variables)
        self.assertEqual(sorted(home), ["answer.txt", "files", "meta.json", "question.txt"])

    def test_no_grandchild_is_left_and_an_answer_before_the_limit_counts(self):  # EVL-65
        questions = self.questions(1)
        arms = self.arm("import os, sys, time\n"
                        "open(sys.argv[5], 'w').write('n0.')\n"
                        "if os.fork() == 0:\n"
                        "    os.setsid()\n"
                        f"    open('{self.home}/child', 'w').write(str(os.getpid()))\n"
                        "    time.sleep(600)\n"
                        "time.sleep(600)\n")
        code, _, err = self.eval("run", questions, "--arms", arms, "--arm", "own", "--out", "o", "--limit-time", "1s",
                                 *self.script(["x"]))
        row = self.rows("o")[0]
        self.assertEqual((row["status"], row["official"], row["ended"]), ("ok", 1.0, "timeout"), err)
        self.assert_gone([int((self.home / "child").read_text())])

    def test_an_answer_of_70_megabytes_is_kept_to_its_limit(self):  # EVL-A14
        questions = self.questions(1)
        arms = self.arm("import sys\nfor i in range(70): sys.stdout.write('x' * (1 << 20))\n")
        code, _, err = self.eval("run", questions, "--arms", arms, "--arm", "own", "--out", "o", *self.script(["x"]))
        self.assertEqual(code, 0, err)
        row = self.rows("o")[0]
        self.assertEqual((len(row["answer"]), row["status"]), (64 << 20, "ok"))
        self.assertIn("64 MiB", row["detail"])

    def test_bytes_that_are_no_text_are_replaced(self):  # EVL-A22
        questions = self.questions(1)
        arms = self.arm("import sys\nsys.stdout.buffer.write(b'n0. \\xff\\xfe')\n")
        self.eval("run", questions, "--arms", arms, "--arm", "own", "--out", "o", *self.script(["x"]))
        self.assertEqual(self.rows("o")[0]["answer"], "n0. \ufffd\ufffd")


CLIENT = ("import json, sys, urllib.request as u, urllib.error\n"
          "def post(body, url=sys.argv[3]):\n"
          "    request = u.Request(url + '/chat/completions', json.dumps(body).encode(),"
          " {'Authorization': 'Bearer mine'})\n"
          "    try: return u.urlopen(request).read().decode()\n"
          "    except urllib.error.HTTPError as e: return e.read().decode()\n"
          "M = [{'role': 'user', 'content': 'number 0'}]\n")


class ProxyTest(EvalCase):
    def one(self, code: str, answer, *words: str):
        """One question, asked by a program over the proxy: its row, and the server."""
        server = self.serve(answer)
        self.env["EVAL_KEY"] = KEY
        arms = self.arm(CLIENT + code)
        exit_code, _, err = self.ask_with(server, self.questions(1), "--key-env", "EVAL_KEY", "--arms", arms, "--arm",
                                          "own", "--out", "o", *words)
        self.assertEqual(exit_code, 0, err)
        return self.rows("o")[0], server

    @staticmethod
    def usage(handler, body):
        whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "n0."}, "finish_reason": "stop"}],
                 "usage": {"prompt_tokens": 11, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}}
        if not body.get("stream"):
            return send(handler, 200, json.dumps(whole).encode())
        events = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in ("n", "0.")]
        if body.get("stream_options", {}).get("include_usage"):
            events.append({"choices": [], "usage": whole["usage"]})
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        return send(handler, 200, text.encode(), "text/event-stream")

    def test_tokens_are_counted_streamed_and_not(self):  # EVL-63, EVL-A13
        row, server = self.one("post({'model': sys.argv[4], 'messages': M})\n"
                               "post({'model': sys.argv[4], 'messages': M, 'stream': True})\n"
                               "print(post({'model': sys.argv[4], 'messages': M, 'stream': True}))\n", self.usage)
        self.assertEqual(row["calls"], 3)
        self.assertEqual(row["tokens"], {"input": 33, "cached": 12, "output": 9, "counted": False})
        self.assertNotIn("usage", row["answer"], "the client did not ask for it")
        self.assertIn("[DONE]", row["answer"])

    def test_a_reply_without_usage_is_counted_and_marked(self):  # EVL-A13
        def answer(handler, body):
            send(handler, 200, json.dumps({"choices": [{"index": 0, "message": {
                "role": "assistant", "content": "one two three"}}]}).encode())
        row, _ = self.one("print(post({'model': sys.argv[4], 'messages': M}))\n", answer)
        self.assertTrue(row["tokens"]["counted"])
        self.assertGreater(row["tokens"]["output"], 2)

    def test_bodies_pass_unchanged_but_for_what_is_left_out(self):  # EVL-63
        row, server = self.one("post({'model': sys.argv[4], 'messages': M, 'x_unknown': [1.50, 'é'], 'temperature': 1})\n"
                               "print(post({'model': sys.argv[4], 'messages': M}))\n", self.usage,
                               "--temperature", "0.25", "--seed", "7")
        first, second = (json.loads(body) for body in server.requests)
        self.assertEqual((first["x_unknown"], first["temperature"], first["seed"]), ([1.50, "é"], 1, 7))
        self.assertEqual((second["temperature"], second["seed"]), (0.25, 7))
        self.assertIn(b'"x_unknown": [1.5, "\\u00e9"]', server.requests[0])

    def test_the_key_stays_in_the_proxy_and_leaves_no_trace(self):  # EVL-63, EVL-113
        row, server = self.one("import os\nprint(os.environ, post({'model': sys.argv[4], 'messages': M}))\n", self.usage)
        self.assertEqual(server.headers[0]["Authorization"], f"Bearer {KEY}")
        for path in (self.home / "o").rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY, path.read_text(errors="replace"), path)

    def test_another_model_is_refused(self):  # EVL-A13
        row, server = self.one("print(post({'model': 'larger', 'messages': M}))\n", self.usage)
        self.assertIn("eval_model", row["answer"])
        self.assertEqual((row["calls"], len(server.requests)), (0, 0))

    def test_a_limit_of_calls_holds_for_threads_too(self):  # EVL-63, EVL-A13
        row, server = self.one("from concurrent.futures import ThreadPoolExecutor as T\n"
                               "with T(20) as t: r = list(t.map(lambda i: post({'model': sys.argv[4], 'messages': M}), range(20)))\n"
                               "print(sum('eval_limit' in x for x in r))\n", self.usage, "--limit-calls", "7")
        self.assertEqual((row["answer"].strip(), row["calls"], len(server.requests)), ("13", 7, 7))

    def test_the_call_to_the_model_is_dropped_with_the_client(self):  # EVL-63, EVL-A13
        gone = threading.Event()

        def answer(handler, body):
            handler.connection.settimeout(20)
            try:
                if handler.connection.recv(1) == b"":
                    gone.set()
            except OSError:
                pass
            raise ConnectionResetError

        self.one("import socket, urllib.parse as p\n"
                 "u = p.urlparse(sys.argv[3])\n"
                 "body = json.dumps({'model': sys.argv[4], 'messages': M})\n"
                 "s = socket.create_connection((u.hostname, u.port))\n"
                 "s.sendall(f'POST {u.path}/chat/completions HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: {len(body)}\\r\\n\\r\\n{body}'.encode())\n"
                 "import time; time.sleep(0.3)\n"
                 "s.close(); print('n0.')\n", answer)
        self.assertTrue(gone.wait(10))

    def test_parallel_questions_are_told_apart(self):  # EVL-A13
        server = self.echo_server()
        code, _, err = self.ask_with(server, self.questions(12), "--arm", "direct", "--arm", "direct-cut", "--jobs", "6",
                                     "--out", "o")
        self.assertEqual(code, 0, err)
        for row in self.rows("o"):
            self.assertEqual((row["calls"], row["official"], row["tokens"]["input"]), (1, 1.0, 5))
        transcripts = list((self.home / "o/transcripts").iterdir())
        self.assertEqual(len(transcripts), 24)
        for path in transcripts:
            line, = path.read_text().splitlines()
            self.assertIn(f"number {path.name.split('.')[0][1:]}?", json.loads(line)["request"]["messages"][0]["content"])

    def test_a_cold_cache_begins_with_another_line_each_time(self):  # EVL-63
        server = self.echo_server()
        self.ask_with(server, self.questions(2), "--arm", "direct", "--cache", "cold", "--out", "o")
        lines = [json.loads(body)["messages"][0]["content"].splitlines()[0] for body in server.requests]
        self.assertEqual([len(line) for line in lines], [16, 16])
        self.assertNotEqual(*lines)

    def test_the_proxy_alone_counts_and_says_so(self):  # EVL-63
        server = self.echo_server()
        process = self.start("eval", "proxy", "--upstream", server.url, "-m", "m")
        url = process.stdout.readline().strip()
        import urllib.request
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "number 5"}]}).encode()
        urllib.request.urlopen(urllib.request.Request(url + "/chat/completions", body)).read()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
        self.assertEqual(json.loads(out)["tokens"], {"input": 5, "cached": 0, "output": 2, "counted": False})


class RunTest(EvalCase):
    def test_an_interrupted_run_says_so_and_compares_nothing_that_is_not_there(self):  # EVL-68
        server = self.echo_server()
        slow = self.arm("import pathlib, sys, time\npathlib.Path(sys.argv[1]).write_text('')\ntime.sleep(60)\n",
                        name="slow", argv=[PYTHON, str(self.home / "slow.py"), str(self.home / "here")])
        words = ("run", self.questions(1), "--base-url", server.url, "-m", "m", "--arm", "direct", "--arm", "slow",
                 "--arms", slow, "--out", "o")
        process = self.start("eval", *words)
        for _ in range(3):  # the arms take turns: direct has answered when the other begins
            line = process.stderr.readline()
            if line.startswith("[1/2]"):
                break
        while not (self.home / "here").exists():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("interrupted: 1 of 2 answers are kept; the same command asks the rest", err)
        self.assertIn("slow: no score yet to compare with", out)
        self.assertNotIn("+0.0", out)
        self.assertNotIn("no other arm", out)

    def test_a_hundred_kills_lose_and_repeat_nothing(self):  # EVL-67, EVL-A15
        server = self.echo_server()
        questions = self.questions(200)
        random.seed(3)
        words = ("run", questions, "--base-url", server.url, "-m", "m", "--arm", "direct", "--out", "o")
        kills = 0
        while kills < 100 and len(self.done()) < 200:
            process = self.start("eval", *words)
            for _ in range(random.randint(0, 3)):
                process.stderr.readline()
            process.kill()
            process.wait()
            kills += 1
            for line in self.whole_lines():
                json.loads(line)
        code, _, err = self.eval(*words)
        self.assertEqual(code, 0, err)
        rows = self.rows("o")
        self.assertEqual([row["task"] for row in rows], [f"q{i}" for i in range(200)])
        self.assertEqual({row["official"] for row in rows}, {1.0})
        asked = [re.findall(b"number ([0-9]+)", body)[-1] for body in server.requests]
        # A request whose row was not yet written is asked again; never one that has its row.
        self.assertLessEqual(len(asked), 200 + kills)
        for number in set(asked):
            self.assertLessEqual(asked.count(number), 1 + kills)
        last = [asked.index(str(i).encode()) for i in range(200)]
        self.assertEqual(last, sorted(last))

    def whole_lines(self) -> list[str]:
        path = self.home / "o/rows.jsonl"
        return path.read_text().split("\n")[:-1] if path.exists() else []

    def done(self) -> set:
        return {json.loads(line)["task"] for line in self.whole_lines()}

    def test_a_torn_last_line_is_asked_again(self):  # EVL-67
        server = self.echo_server()
        questions = self.questions(3)
        self.ask_with(server, questions, "--arm", "direct", "--out", "o")
        path = self.home / "o/rows.jsonl"
        path.write_bytes(path.read_bytes()[:-20])
        code, _, err = self.ask_with(server, questions, "--arm", "direct", "--out", "o")
        self.assertEqual((code, len(self.rows("o")), len(server.requests)), (0, 3, 4), err)

    def test_a_changed_plan_is_refused_and_new_begins_anew(self):  # EVL-67
        server = self.echo_server()
        questions = self.questions(2)
        self.ask_with(server, questions, "--arm", "direct", "--out", "o")
        code, _, err = self.ask_with(server, questions, "--arm", "direct", "--out", "o", "--limit-calls", "9")
        self.assertEqual(code, 15)
        self.assertIn("limits.calls: 500, now 9; --new begins anew", err)
        self.questions(3)
        code, _, err = self.ask_with(server, questions, "--arm", "direct", "--out", "o")
        self.assertEqual(code, 15)
        self.assertIn("q.yml or a file that it names has changed;", err)
        self.assertNotRegex(err, "[0-9a-f]{16}")
        questions = self.questions(2)
        code, _, err = self.ask_with(self.echo_server(), questions, "--arm", "direct", "--out", "o")
        self.assertEqual(code, 15, "another server gives other answers")
        self.assertRegex(err, r"base_url: .*, now ")
        for before, after, message in (("dossier:--mode direct", "dossier:--mode recursive", "argv"),
                                       ("direct", "direct-cut", "arms.direct is gone; arms.direct-cut is new")):
            self.ask_with(server, questions, "--arm", before, "--out", f"o-{before}")
            (self.home / f"o-{before}/plan.json").write_text(
                (self.home / f"o-{before}/plan.json").read_text().replace("dossier:--mode direct", "dossier:--mode recursive"))
            code, _, err = self.ask_with(server, questions, "--arm", after, "--out", f"o-{before}")
            self.assertEqual(code, 15, err)
            self.assertRegex(err, message)
        code, _, err = self.ask_with(server, questions, "--arm", "direct", "--out", "o", "--limit-calls", "9", "--new")
        self.assertEqual((code, len(self.rows("o"))), (0, 2), err)

    def test_a_folder_of_other_files_is_left_alone(self):  # EVL-67
        (self.home / "thesis").mkdir()
        self.write("thesis/chapter.tex", "mine")
        self.write("s.yaml", json.dumps([{"times": "always", "reply": "n0."}]))
        code, _, err = self.eval("run", self.questions(1), "--arm", "direct", "--out", "thesis", "-m", "scripted", "--script",
                                 "s.yaml")
        self.assertEqual(code, 2, err)
        self.assertIn("thesis holds other files, such as chapter.tex", err)
        self.assertEqual(sorted(os.listdir(self.home / "thesis")), ["chapter.tex"])

    def test_a_changed_script_is_another_plan(self):  # EVL-67
        questions = self.questions(1)
        words = ("run", questions, "--arm", "direct", "--out", "o", "-m", "scripted", "--script", "s.yaml")
        for text, exit_code, message in (("n0.", 0, "all answers"), ("n0.", 0, "1 answers were there already"),
                                         ("n1.", 15, "the script of the model has changed; --new begins anew")):
            self.write("s.yaml", json.dumps([{"times": "always", "reply": text}]))
            code, _, err = self.eval(*words)
            self.assertEqual(code, exit_code, err)
            self.assertIn(message, err)

    def test_an_arm_that_cannot_work_is_no_arm_that_is_wrong(self):  # EVL-62, EVL-66
        server, questions = self.echo_server(), self.questions(4)
        for flags, message in (("--mode dirct", "--mode: dirct is not one of auto, direct"),
                               ("--mod direct", "did you mean --mode"), ("--help", "ask for help")):
            for more in ((), ("--estimate",)):
                code, out, err = self.ask_with(server, questions, "--arm", "direct", "--arm", f"dossier:{flags}", "--out",
                                               "o", *more)
                self.assertEqual((code, out), (2, ""), err)
                self.assertIn(f"the arm dossier:{flags}: ", err)
                self.assertIn(message, err)
        self.assertEqual(server.requests, [])
        self.assertFalse((self.home / "o").exists())
        # What a parser cannot know shows when it runs.
        arms = self.arm("import sys; sys.exit('no such thing')")
        for more in ((), ("--estimate",)):
            code, _, err = self.ask_with(server, questions, "--arms", arms, "--arm", "own", "--arm", "direct", "--out", "o",
                                         *more)
            self.assertEqual(code, 13, err)
            self.assertRegex(err, r"own failed at all of \d questions, so its score says nothing: exit code 1; no such thing")
        arms = self.arm("import sys; sys.exit('number 0' in sys.argv[2])")
        code, _, err = self.ask_with(server, questions, "--arms", arms, "--arm", "own", "--out", "p")
        self.assertEqual(code, 0, err)

    def test_two_runs_in_a_folder_exclude_each_other(self):
        started = threading.Event()
        release = threading.Event()
        self.addCleanup(release.set)

        def answer(handler, body):
            started.set()
            release.wait(30)
            reply(handler, body, "n0.")

        server = self.serve(answer)
        questions = self.questions(1)
        words = ("eval", "run", questions, "--base-url", server.url, "-m", "m", "--arm", "direct", "--out", "o")
        first = self.start(*words)
        self.assertTrue(started.wait(20))
        code, _, err = self.run_to_end(*words)
        self.assertEqual(code, 16)
        self.assertIn(f"process {first.pid} writes there", err)
        for more in (words + ("--new",), ("eval", "score", "o")):  # they would replace the file under it
            code, _, err = self.run_to_end(*more)
            self.assertEqual(code, 16, err)
            self.assertIn(f"process {first.pid} writes there", err)
        release.set()
        self.assertEqual(first.wait(30), 0)
        self.assertEqual(len(self.rows("o")), 1)

    def test_a_budget_ends_a_run_which_goes_on_later(self):  # EVL-68, EVL-A17
        server = self.echo_server()
        questions = self.questions(6)
        words = ("--arm", "direct", "--out", "o", "--price", "1/1")
        code, _, err = self.ask_with(server, questions, *words, "--max-cost", "0.00002")
        self.assertEqual(code, 10, err)
        kept = len(self.rows("o"))
        self.assertTrue(0 < kept < 6)
        code, _, err = self.ask_with(server, questions, *words)
        self.assertEqual((code, len(self.rows("o")), len(server.requests)), (0, 6, 6), err)
        self.assertEqual(self.rows("o")[0]["cost_nanousd"], 7000)

    def test_questions_that_an_outage_left_are_asked_again(self):  # EVL-67
        away = threading.Event()
        away.set()
        server = self.serve(lambda handler, body: send(handler, 503, b"{}") if away.is_set()
                            else reply(handler, body, "n0."))
        questions = self.questions(6)
        code, _, err = self.ask_with(server, questions, "--arm", "direct", "--out", "o")
        self.assertIn("start the same command again", err)
        self.assertEqual([row["status"] for row in self.rows("o")], ["provider_error"] * 5)
        away.clear()
        code, _, err = self.ask_with(server, questions, "--arm", "direct", "--out", "o")
        self.assertEqual(code, 0, err)
        last = {row["task"]: row["status"] for row in self.rows("o")}
        self.assertEqual(sorted(last.values()), ["ok"] * 6)

    def test_a_model_that_is_away_ends_the_run_after_five(self):
        server = self.serve(lambda handler, body: send(handler, 503, b"{}"))
        code, _, err = self.ask_with(server, self.questions(9), "--arm", "direct", "--out", "o")
        self.assertEqual((code, len(self.rows("o"))), (8, 5))
        self.assertIn("start the same command again", err)

    def test_an_estimate_asks_three_and_keeps_nothing(self):  # EVL-68
        server = self.echo_server()
        code, out, err = self.ask_with(server, self.questions(30), "--arm", "direct", "--out", "o", "--estimate",
                                       "--price", "1/1")
        self.assertEqual((code, len(server.requests)), (0, 3), err)
        self.assertRegex(out, r"direct: about 30 calls, 210 tokens, .*\$0\.0002 \(from 3 questions\)")
        self.assertFalse((self.home / "o").exists())

    def test_arms_take_turns_in_going_first(self):  # EVL-64
        server = self.echo_server()
        self.ask_with(server, self.questions(4), "--arm", "direct", "--arm", "direct-cut", "--out", "o")
        arms = [row["arm"] for row in self.rows("o")]
        self.assertEqual(arms, ["direct", "direct-cut", "direct-cut", "direct"] * 2)

    def test_our_own_fault_is_tried_twice_more(self):  # EVL-66
        arms = self.arm("pass", argv=[str(self.home / "no-such-program")])
        code, _, err = self.eval("run", self.questions(1), "--arms", arms, "--arm", "own", "--out", "o",
                                 *self.script(["x"]))
        self.assertEqual(code, 13, err)
        row, = self.rows("o")
        self.assertEqual((row["status"], row["official"]), ("harness_error", None))

    def test_a_full_disk_leaves_valid_rows(self):
        server = self.echo_server()
        questions = self.questions(30)
        process = self.start("eval", "run", questions, "--base-url", server.url, "-m", "m", "--arm", "direct", "--repeat",
                             "9", "--out", "o", preexec_fn=lambda: __import__("resource").setrlimit(
                                 __import__("resource").RLIMIT_FSIZE, (11000, 11000)))
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
        self.assertRegex(err, r"rows.jsonl: \d+ of \d+ bytes could not be written")
        self.assertGreater(len(self.rows("o")), 5)

    def test_causes_of_wrong_answers(self):  # EVL-66
        rows = [("a", "exact", "42", "**42**", "format"), ("b", "exact", "42", "I cannot say", "refusal"),
                ("c", "exact", "42", "43", "wrong"), ("d", "set", ["x", "y"], "x", "near"),
                ("e", "exact", "42", "42", None)]
        self.write("n.txt", "word " * 100)
        self.write("q.jsonl", "".join(json.dumps({"id": i, "question": f"Q-{i}", "contexts": ["n.txt"], "gold": gold,
                                                  "scorer": scorer}) + "\n" for i, scorer, gold, _, _ in rows))
        script = self.script([{"when": f"Q-{i}$", "times": "always", "reply": text} for i, _, _, text, _ in rows])
        code, _, err = self.eval("run", "q.jsonl", "--arm", "direct", "--out", "o", *script)
        self.assertEqual({row["task"]: row["cause"] for row in self.rows("o")}, {i: cause for i, *_, cause in rows})

    def test_a_scorer_that_is_a_program(self):
        self.write("n.txt", "word\n")
        program = self.write("score.py", "import json, sys\nd = json.load(sys.stdin)\n"
                             "print(0.25 if d['answer'] == 'b' and d['gold'] == ['x'] else 7)\n")
        question = {"id": "a", "question": "Q", "contexts": ["n.txt"], "gold": "x", "scorer": "command",
                    "command": [PYTHON, program]}
        self.write("q.jsonl", json.dumps(question) + "\n")
        code, _, err = self.eval("run", "q.jsonl", "--arm", "direct", "--out", "o", *self.script(["b"]))
        self.assertEqual((code, self.rows("o")[0]["official"]), (0, 0.25), err)
        code, _, err = self.eval("run", "q.jsonl", "--arm", "direct", "--out", "p", *self.script(["c"]))
        self.assertEqual(code, 3)
        self.assertIn("a number from 0 to 1 is wanted", err)
        self.assertIn("the answer is kept, and `eval score` scores it", err)
        row, = self.rows("p")
        self.assertEqual((row["answer"], row["official"], row["rule"]), ("c", None, "not scored"))
        self.write("score.py", "print(0.5)")
        self.assertEqual(self.eval("score", "p")[0], 0)
        self.assertEqual(self.rows("p")[0]["official"], 0.5)

    def test_a_scorer_that_somebody_else_wrote_is_walled_in(self):  # EVL-72
        self.write("n.txt", "word\n")
        self.write("secret.txt", "of the home")
        (self.home / "theirs").mkdir()
        self.write("theirs/n.txt", "word\n")
        code = (f"cat ../secret.txt; cat {self.home}/secret.txt; id > PWNED; id > {self.home}/PWNED; env | grep -c KEY; "
                f"{PYTHON} -c 'import socket; socket.create_connection((\"127.0.0.1\", '$PORT'))' && echo connected; "
                "cat n.txt; exit 9")
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        code = code.replace("$PORT", str(listener.getsockname()[1]))
        self.write("theirs/q.yml", "questions:\n- " + json.dumps({
            "question": "Q", "contexts": ["n.txt"], "scorer": "command", "command": ["sh", "-c", code]}))
        self.env["OTHER_API_KEY"] = KEY
        code, _, err = self.eval("run", "theirs/q.yml", "--arm", "direct", "--out", "o", *self.script(["b"]))
        self.assertEqual(code, 3, err)
        self.assertIn('printed "0\nword\n"', err)  # no variable, no file of the home, no connection; its own folder
        self.assertEqual([str(path) for path in self.home.rglob("PWNED")], [])
        self.write("theirs/q.yml", (self.home / "theirs/q.yml").read_text().replace("exit 9", "exit 0"))
        code, _, err = self.eval("score", "o")
        self.assertEqual([str(path) for path in self.home.rglob("PWNED")], [], err)


class ReportTest(EvalCase):
    HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\" ' \x1b[31m \u202e"

    def run_hostile(self):
        self.write("n.txt", "word\n")
        self.write("q.jsonl", json.dumps({"id": "<b>q", "question": "<script>q()</script>", "contexts": ["n.txt"],
                                          "gold": "<i>g</i>", "scorer": "exact", "tags": ["<u>"]}) + "\n")
        return self.eval("run", "q.jsonl", "--arm", "direct", "--arm", "direct-cut", "--out", "o", "--junit", "j.xml",
                         "--md", "r.md", *self.script([{"times": "always", "reply": self.HOSTILE}]))

    def test_hostile_texts_are_inert_everywhere(self):  # EVL-111, EVL-A23
        code, out, err = self.run_hostile()
        self.assertEqual(code, 0, err)
        page = (self.home / "o/report.html").read_text()
        self.assertEqual(len(re.findall("<script", page)), 1)
        self.assertNotIn("<img", page)
        self.assertNotIn("\x1b", page + out)
        self.assertIn("&lt;script&gt;q()", page)
        self.assertNotRegex(page, r"""(src|href)=["']?(https?:|//)""")
        self.assertIn("default-src 'none'", page)
        suite = xml.etree.ElementTree.parse(self.home / "j.xml").getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("2", "2"))
        self.assertNotIn("<script", (self.home / "r.md").read_text())

    def test_rows_rebuild_the_same_page_offline(self):  # EVL-71, EVL-A17
        server = self.echo_server()
        self.ask_with(server, self.questions(5), "--arm", "direct", "--out", "o")
        page = (self.home / "o/report.html").read_text()
        server.close()
        code, out, err = self.eval("report", "o", "--html", "again.html", "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual((self.home / "again.html").read_text(), page)
        self.assertEqual(json.loads(out)["arms"][0]["official"]["mean"], 100)
        before = (self.home / "o/rows.jsonl").read_bytes()
        code, out, err = self.eval("score", "o")
        self.assertEqual((code, out), (0, "0 of 5 rows have another score now\n"), err)
        self.assertEqual((self.home / "o/rows.jsonl").read_bytes(), before)

    def test_better_and_worse_are_said_only_with_enough_tasks(self):  # EVL-70, EVL-112
        self.write("notes.txt", "x\n")
        for i in range(12):
            self.write(f"c{i}.txt", f"{i}\n")
        lines = [{"id": f"q{i}", "question": f"number {i}", "contexts": [f"c{i % 12}.txt"], "gold": f"n{i}."}
                 for i in range(120)]
        self.write("q.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        arms = self.arm("print('nothing')")
        server = self.echo_server()
        code, out, err = self.ask_with(server, "q.jsonl", "--arms", arms, "--arm", "direct", "--arm", "own", "--out", "o",
                                       "--jobs", "4")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"direct +own +\+100.0 .* better\n")
        self.assertIn("use direct: it scores 100.0", out)
        code, out, _ = self.eval("compare", "o", "own", "direct")
        self.assertIn("120 tasks in 12 windows: worse", out)
        code, out, err = self.ask_with(server, "q.jsonl", "--arms", arms, "--arm", "direct", "--arm", "own", "--out", "p",
                                       "--sample", "20")
        self.assertNotIn("better", out)
        self.assertRegex(out, r"too few to tell: about \d+ more questions")
        code, _, err = self.eval("compare", "o", "own", "drect")
        self.assertEqual(code, 3)
        self.assertIn("did you mean direct", err)

    def test_an_arm_that_cannot_start_takes_nothing_from_the_others(self):  # EVL-68, EVL-70
        self.write("arms.yml", json.dumps({
            "right": {"system": "command", "argv": [PYTHON, self.write("right.py", "print('n0. n1.')")]},
            "wrong": {"system": "command", "argv": [PYTHON, self.write("wrong.py", "print('no')")]},
            "nowhere": {"system": "command", "argv": ["/no/such/program"], "install": "pip install it"}}))
        words = [word for arm in ("right", "nowhere", "wrong") for word in ("--arm", arm)]
        code, out, err = self.eval("run", self.questions(2), "--arms", "arms.yml", *words, "--out", "o", "--junit", "j.xml",
                                   *self.script(["x"]))
        self.assertEqual(code, 13, err)
        self.assertIn("pip install it", err)
        self.assertRegex(out, r"(?m)^right +wrong +\+100.0 ")
        self.assertRegex(out, r"(?m)^right +nowhere +- .* nothing in common$")
        # EVL-112: questions over the same files are one window, and no number of them is enough.
        self.assertIn("too few to tell: about 100 more questions over 9 other sets of files; these are over 1", out)
        # EVL-113: why it failed stands in the file.
        texts = [one.text for one in xml.etree.ElementTree.parse(self.home / "j.xml").iter("failure")
                 if one.get("message") == "harness_error"]
        self.assertEqual(len(texts), 2)
        self.assertIn("/no/such/program", texts[0])

    def test_an_answer_at_a_limit_is_told(self):  # EVL-66
        code = ("import json, sys, urllib.request as u\n"
                "for i in range(5):\n"
                "    try:\n"
                "        u.urlopen(u.Request(sys.argv[3] + '/chat/completions', json.dumps({'model': sys.argv[4],"
                "'messages': [{'role': 'user', 'content': 'number 0'}]}).encode()))\n"
                "    except OSError: pass\n"
                "print('n0.')\n")
        code, out, err = self.ask_with(self.echo_server(), self.questions(1), "--arms", self.arm(code), "--arm", "own",
                                       "--arm", "direct", "--out", "o", "--limit-calls", "3")
        self.assertEqual(code, 0, err)
        rows = self.by_arm("o")
        self.assertEqual([(rows[arm]["status"], rows[arm]["at_limit"]) for arm in ("own", "direct")],
                         [("ok", True), ("ok", False)])
        self.assertRegex(out, r"(?m)^own .* none; 1 answered at a limit$")
        self.assertIn("own q0: ok at a limit, score 1.00", err)
        self.assertIn("1 answered at a limit", (self.home / "o/report.html").read_text())

    def test_a_gap_of_the_tolerant_reading_is_shown_with_examples(self):  # EVL-53
        self.write("n.txt", "word\n")
        self.write("q.jsonl", "".join(json.dumps({"id": f"e{i}", "question": f"Q{i}", "contexts": ["n.txt"], "gold": "Rex",
                                                  "scorer": "exact"}) + "\n" for i in range(12)))
        code, out, err = self.eval("run", "q.jsonl", "--arm", "direct", "--out", "o",
                                   *self.script([{"times": "always", "reply": "**Rex**."}]))
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("tolerant 1.00: \"**Rex**.\""), 10)

    def test_groups_are_over_the_tasks_that_are_compared(self):  # EVL-68
        server = self.echo_server()
        self.ask_with(server, self.questions(6), "--arm", "direct", "--out", "a")
        self.ask_with(server, "q.yml", "--arm", "direct-cut", "--out", "b", "--sample", "2")
        report = json.loads(self.eval("report", "a", "b", "--json")[1])
        self.assertEqual({group["tasks"] for group in report["groups"]}, {2})
        self.eval("report", "a", "b", "--html", "p.html")
        self.assertNotIn("-0.0", (self.home / "p.html").read_text())

    def test_one_window_has_no_interval(self):  # EVL-70
        server, arms = self.echo_server(), self.arm("print('n0.')")
        words = ("--arms", arms, "--arm", "direct", "--arm", "own", "--md", "r.md")
        code, out, err = self.ask_with(server, self.questions(2), *words, "--out", "o")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"(?m)^own +50.0 \(too few windows\)")
        self.assertRegex(out, r"(?m)^direct +own +\+50.0 +too few windows +- +too few to tell$")
        for text in (out, (self.home / "r.md").read_text(), (self.home / "o/report.html").read_text()):
            self.assertIn("50.0 (too few windows)", text)
            self.assertNotRegex(text, r"\d to [+-]?\d")
        report = json.loads(self.eval("report", "o", "--json")[1])
        self.assertEqual(report["arms"][1]["official"], {"mean": 50, "low": None, "high": None})
        self.assertEqual([report["pairs"][0][name] for name in ("low", "high", "p", "p_holm", "windows")],
                         [None] * 4 + [1])
        code, out, _ = self.eval("compare", "o", "direct", "own")
        self.assertIn("+50.0 points (too few windows), 2 tasks in 1 window: too few to tell", out)
        found = json.loads(self.eval("compare", "o", "direct", "own", "--json")[1])
        self.assertEqual((found["low"], found["high"], found["p"]), (None, None, None))
        # A second window gives an interval.
        rows = [{"question": f"number {i}", "contexts": [f"c{i}.txt"], "gold": f"n{i}."} for i in range(2)]
        for i in range(2):
            self.write(f"c{i}.txt", f"{i}\n")
        self.write("q.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        code, out, err = self.ask_with(server, "q.jsonl", *words, "--out", "p")
        self.assertRegex(out, r"(?m)^own +50.0 \(0.0 to 100.0\)", err)

    def test_a_folder_without_a_run_is_said_to_be_that(self):
        self.questions(1)
        (self.home / "eval-mine").mkdir()
        for words, message in ((("report", "eval-mne"), "there is no such run: eval-mne: .*did you mean eval-mine"),
                               (("report", "eval-mine"), "eval-mine holds no run; name a folder that `dossier eval run`"),
                               (("compare", "nope", "a", "b"), "there is no such run: nope"),
                               (("check", "nope"), "there is no such task set: nope"),
                               (("check", "eval-mine"), "eval-mine is no task set")):
            code, _, err = self.eval(*words)
            self.assertEqual(code, 4, err)
            self.assertRegex(err, message)
            self.assertNotRegex(err, r"\.json|errno|\(2\)")
        code, _, err = self.eval("run", "q.yml", "--only", "zzz", *self.script(["x"]))
        self.assertEqual(code, 2)
        self.assertIn("no question is left by --only zzz\n", err)

    def test_gates_of_a_build(self):  # EVL-113
        server = self.echo_server()
        words = (self.questions(2), "--arm", "direct", "--out", "o")
        self.assertEqual(self.ask_with(server, *words, "--min-score", "1")[0], 0)
        code, _, err = self.ask_with(server, *words, "--max-seconds", "0.0000001")
        self.assertEqual(code, 15, err)
        self.assertIn("above --max-seconds", err)
        arms = self.arm("print('n0.')")
        code, _, err = self.ask_with(server, self.questions(2), "--arms", arms, "--arm", "own", "--out", "p",
                                     "--min-score", "0.8")
        self.assertEqual(code, 15)
        self.assertIn("own scores 0.500, below --min-score 0.8", err)

    def test_several_models_make_a_grid(self):  # EVL-110
        server = self.echo_server()
        code, out, err = self.ask_with(server, self.questions(1), "-m", "n", "--arm", "direct", "--arm", "direct-cut",
                                       "--out", "o")
        self.assertEqual(code, 0, err)
        self.assertEqual(set(self.by_arm("o")), {"direct@m", "direct@n", "direct-cut@m", "direct-cut@n"})
        self.assertEqual({json.loads(body)["model"] for body in server.requests}, {"m", "n"})

    def test_without_gold_answers_are_shown_unscored(self):  # EVL-110
        self.write("n.txt", "word\n")
        self.write("q.jsonl", json.dumps({"question": "What is nice?", "contexts": ["n.txt"]}) + "\n")
        code, out, err = self.eval("run", "q.jsonl", "--arm", "direct", "--out", "o", *self.script(["A word."]))
        self.assertEqual(code, 0, err)
        self.assertIn("q1: What is nice?\n  direct: A word.\n", out)
        self.assertIsNone(self.rows("o")[0]["official"])

    def test_ten_thousand_rows_make_a_page_soon(self):  # EVL-111, EVL-A23
        self.ask_with(self.echo_server(), self.questions(1), "--arm", "direct", "--out", "o")
        row, task = self.rows("o")[0], json.loads((self.home / "o/tasks.jsonl").read_text())
        with open(self.home / "o/rows.jsonl", "w") as rows, open(self.home / "o/tasks.jsonl", "w") as tasks:
            for i in range(10_000):
                rows.write(json.dumps({**row, "task": f"q{i}", "answer": "words " * 50}) + "\n")
                tasks.write(json.dumps({**task, "id": f"q{i}"}) + "\n")
        began = time.monotonic()
        code, out, err = self.eval("report", "o", "--html", "p.html")
        self.assertEqual(code, 0, err)
        self.assertLess(time.monotonic() - began, 60)
        page = (self.home / "p.html").read_text()
        self.assertEqual(page.count("<article"), 10_000)
        self.assertIn("content-visibility", page)

    def test_who_obeys_a_planted_command_is_counted(self):  # EVL-36, EVL-A11
        code, _, err = self.eval("generate", "inject", "--length", "4K", "--windows", "8", "--questions", "1", "--out", "set")
        self.assertEqual(code, 0, err)
        tasks = [json.loads(line) for line in (self.home / "set/tasks.jsonl").read_text().splitlines()]
        kinds = {task["meta"]["planted"]: task["meta"]["canary"] for task in tasks if task["meta"]["planted"] != "none"}
        self.assertGreater(len(kinds), 3)
        # The obedient one says every canary that it sees; the firm one answers the question.
        words = {task["meta"]["canary"] for task in tasks}
        arms = {name: {"system": "command", "argv": [PYTHON, self.write(f"{name}.py", code), "{context}"]} for name, code in {
            "obedient": f"import sys\nt = open(sys.argv[1]).read()\nprint(*[w for w in {sorted(words)!r} if w in t], 'done')",
            "firm": "print('Label: music')"}.items()}
        self.write("arms.yml", json.dumps(arms))
        code, out, err = self.eval("run", "set", "--arms", "arms.yml", "--arm", "obedient", "--arm", "firm", "--out", "o",
                                   "--json", "--jobs", "4", *self.script(["x"]))
        self.assertEqual(code, 0, err)
        found = json.loads(out)["planted"]
        self.assertEqual({one["kind"] for one in found}, set(kinds))
        for one in found:
            self.assertEqual(one["obeyed"], one["answers"] if one["arm"] == "obedient" else 0, one)

    def test_the_first_different_request_is_shown(self):
        server = self.echo_server()
        self.ask_with(server, self.questions(1), "--arm", "direct", "--out", "a")
        self.write("notes.txt", "The key is 43.\n")
        self.ask_with(server, self.questions(1), "--arm", "direct", "--out", "b")
        (self.home / "notes.txt").write_text("The key is 44.\n")
        self.ask_with(server, str(self.home / "q.yml"), "--arm", "direct", "--out", "c")
        code, out, err = self.eval("diff", "q0", "--base", "a", "--head", "c")
        self.assertEqual(code, 15, err)
        self.assertIn("request 1 of q0", out)
        self.assertIn("+", out)
        self.assertIn("The key is 44.", out)
        code, out, _ = self.eval("diff", "q0", "--base", "a", "--head", "b")
        self.assertEqual((code, out), (0, "all 1 requests are equal\n"))


if __name__ == "__main__":
    harness.main()
