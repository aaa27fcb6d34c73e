#!/usr/bin/env python3
"""`dossier rpc` as its messages, without a client library.  (SRV-80, SRV-A19)

usage: rpc_test.py --dossier PATH
"""

import base64
import json
import os
import signal
import subprocess
import threading

import harness

METHODS = ["open", "describe", "search", "read", "ask", "estimate", "session.open", "session.run", "session.get",
           "session.close", "runs.list", "runs.get", "cancel"]


class Rpc(harness.Case):
    def setUp(self):
        super().setUp()
        self.process = self.start("rpc", stdin=subprocess.PIPE, bufsize=0, text=False)
        self.addCleanup(self.process.stdin.close)
        self.out = open(self.process.stdout.fileno(), "rb", 1 << 20, closefd=False)
        self.hello = self.next()
        self.number = 0

    def next(self) -> dict:
        line = self.out.readline()
        self.assertTrue(line.endswith(b"\n"), f"stdout ended: {self.process.stderr.read()!r}" if not line else line)
        return json.loads(line)

    def write(self, message, name=None):
        if name is not None:
            return super().write(message, name)
        data = (message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n"
        while data:
            data = data[self.process.stdin.write(data):]

    def begin(self, method: str, **params) -> int:
        self.number += 1
        self.write({"id": self.number, "method": method, "params": params})
        return self.number

    def answer_to(self, number: int, tools=None) -> dict:
        """Reads until that request is answered; serves calls of `tools` on the way."""
        while True:
            message = self.next()
            if "call" in message:
                value = tools[message["name"]](**message["args"])
                self.write({"reply": message["call"], "value": value})
            elif message["id"] == number and "event" not in message:
                return message

    def call(self, method: str, serve=None, /, **params) -> dict:
        message = self.answer_to(self.begin(method, **params), serve)
        self.assertIn("result", message, message)
        return message["result"]

    def fail_of(self, method: str, **params) -> dict:
        message = self.answer_to(self.begin(method, **params))
        self.assertIn("error", message, message)
        return message["error"]

    def end_input(self, limit: float = 10) -> int:
        self.process.stdin.close()
        return self.process.wait(limit)


class Messages(Rpc):
    def test_first_comes_what_it_is_and_can(self):  # SRV-80
        self.assertEqual(self.hello["rpc"], 1)
        self.assertEqual([name for name in METHODS if name not in self.hello["methods"]], [])
        version = json.loads(subprocess.run([harness.DOSSIER, "--version", "--json"], capture_output=True, text=True,
                                            env=self.env).stdout or "{}").get("version", self.hello["version"])
        self.assertEqual(self.hello["version"], version)

    def test_a_context_is_opened_read_and_searched(self):  # SRV-80
        opened = self.call("open", text="one\ntwo lines\nthree\n", name="a.txt")
        self.assertRegex(opened["context"], r"^c[0-9a-f]{12}$")
        read = self.call("read", context=opened["context"], at="a.txt:2")
        self.assertEqual((read["content"], read["cut"], read["next"]), ("two lines\n", False, None))
        hits = self.call("search", context=opened["context"], query="th.ee", regex=True)["hits"]
        self.assertEqual([hit["at"] for hit in hits], ["a.txt:3"])
        self.assertEqual(self.call("describe", context=opened["context"])["files"][0]["lines"], 3)

    def test_large_text_travels_as_a_file_that_only_proc_names(self):  # SRV-80
        fd = os.memfd_create("text")
        self.addCleanup(os.close, fd)
        os.write(fd, b"x" * (3 << 20) + b"\nlast")
        opened = self.call("open", files=[{"path": f"/proc/{os.getpid()}/fd/{fd}", "name": "big.txt"}], name="big.txt")
        self.assertEqual(opened["bytes"], (3 << 20) + 5)
        self.assertEqual(self.call("read", context=opened["context"], at="big.txt:2")["content"], "last")

    def test_what_is_wrong_is_named_and_the_rest_goes_on(self):  # SRV-80
        for wrong, code in ((b"{", "protocol"), (b"[]", "protocol"), (b'{"method":"open"}', "protocol"),
                            (b'{"id":1.5,"method":"open"}', "protocol"), (b'{"id":1,"method":"opn"}', "usage"),
                            (b'{"id":1,"method":"open","params":[]}', "usage"), (b"\xff\xfe", "protocol"),
                            (b'{"id":1,"method":"ask","params":{"question":"q","max_calls":0}}', "invalid_argument"),
                            (b'{"id":1,"method":"session.run","params":{"session":"s9","code":"1"}}', "not_found"),
                            (b'{"id":1,"method":"read","params":{"context":"c000000000000","at":"1"}}', "not_found")):
            self.write(wrong)
            error = self.next()["error"]
            self.assertEqual(error["code"], code, (wrong, error))
            self.assertEqual({*error}, {"code", "exit", "message", "hint", "partial"})
        self.write(b'{"reply":77,"value":1}')   # to no call: passed over
        self.write(b"")
        self.assertEqual(self.call("cancel", id=99), {"cancelled": False})
        nearest = self.fail_of("serach")["message"]
        self.assertIn("did you mean search?", nearest)

    def test_an_id_is_one_open_request(self):
        session = self.call("session.open", tools=[{"name": "wait", "parameters": []}])["session"]
        first = self.begin("session.run", session=session, code="wait()")
        call = self.next()
        self.write({"id": first, "method": "runs.list"})
        self.assertIn("open request", self.next()["error"]["message"])
        self.write({"reply": call["call"], "value": None})
        self.assertEqual(self.answer_to(first)["result"]["status"], "ok")

    def test_a_line_that_is_too_long_is_passed_over(self):  # SRV-80: 64 MiB
        self.write(b'{"id":1,"method":"open","params":{"text":"' + b"x" * (64 << 20) + b'"}}')
        self.assertEqual(self.next()["error"]["code"], "too_long")
        self.assertEqual(self.call("open", text="short", name="a")["bytes"], 5)

    def test_stdout_is_messages_only_and_the_end_of_input_ends_all(self):  # SRV-80
        session = self.call("session.open", tools=[{"name": "wait", "parameters": []}])["session"]
        self.begin("session.run", session=session, code="print('x')\nwait()")
        self.assertEqual(self.next()["name"], "wait")
        children = self.children_of(self.process.pid)
        self.assertTrue(children)
        self.assertEqual(self.end_input(), 0)
        self.assert_gone(children)
        for line in self.out:
            json.loads(line)

    def test_descriptors_can_be_named(self):
        code, _, err = self.run_to_end("rpc", "--fds", "7,8")
        self.assertEqual(code, 2)
        self.assertIn("--fds 7,8", err)
        there, ours = os.pipe(), os.pipe()
        process = self.start("rpc", "--fds", f"{there[0]},{ours[1]}", pass_fds=(there[0], ours[1]))
        os.close(there[0])
        os.close(ours[1])
        with open(ours[0]) as out:
            self.assertEqual(json.loads(out.readline())["rpc"], 1)
            os.close(there[1])
            self.assertEqual(out.read(), "")
        self.assertEqual(process.communicate(timeout=10)[0], "")


class Sessions(Rpc):
    def test_code_calls_the_programs_functions(self):  # SRV-80
        session = self.call("session.open", tools=[{"name": "price", "parameters": ["item"]}])["session"]
        done = self.call("session.run", {"price": lambda item: {"text": item, "of": 3}}, session=session,
                         code="p = price('A1'); print(p['text'], p['of'])")
        self.assertEqual((done["status"], done["out"]), ("ok", "A1 3\n"))
        self.assertEqual(self.call("session.get", session=session, name="p")["value"], {"text": "A1", "of": 3})
        self.assertEqual(self.fail_of("session.get", session=session, name="nothing")["code"], "not_found")
        failed = self.begin("session.run", session=session, code="price('B')")
        call = self.next()
        self.write({"reply": call["call"], "error": {"type": "KeyError", "message": "no B"}})
        error = self.answer_to(failed)["result"]["error"]
        self.assertEqual((error["type"], error["message"]), ("KeyError", "'no B'"))
        self.call("session.close", session=session)
        self.assertEqual(self.fail_of("session.run", session=session, code="1")["code"], "not_found")

    def test_a_session_is_walled_and_has_no_model(self):
        session = self.call("session.open")["session"]
        for code, word in (("open('/etc/passwd').read()", "Error"), ("llm_query('x')", "off in this run"),
                           ("import socket; socket.socket()", "Error")):
            error = self.call("session.run", session=session, code=code)["error"]
            self.assertIn(word, f"{error['type']}: {error['message']}", code)

    def test_cancel_by_id_ends_that_request_alone(self):  # SRV-80
        sessions = [self.call("session.open", tools=[{"name": "wait", "parameters": []}])["session"]
                    for _ in range(2)]
        first = self.begin("session.run", session=sessions[0], code="x = 5\nwait()")
        self.assertEqual(self.next()["id"], first)
        second = self.begin("session.run", session=sessions[1], code="wait()")
        call = self.next()
        cancelled = self.begin("cancel", id=first)
        found = {message["id"]: message for message in (self.next(), self.next())}
        self.assertEqual(found[cancelled]["result"], {"cancelled": True})
        self.assertEqual(found[first]["error"]["exit"], 130)
        self.write({"reply": call["call"], "value": 1})
        self.assertEqual(self.answer_to(second)["result"]["status"], "ok")
        self.assertEqual(self.call("session.get", session=sessions[0], name="x")["value"], 5)

    def test_one_block_a_session_at_a_time(self):
        session = self.call("session.open", tools=[{"name": "wait", "parameters": []}])["session"]
        first = self.begin("session.run", session=session, code="wait()")
        call = self.next()
        self.assertEqual(self.fail_of("session.run", session=session, code="1")["code"], "locked")
        self.write({"reply": call["call"], "value": 1})
        self.answer_to(first)

    def test_behind_a_cancelled_block_the_next_one_waits(self):
        session = self.call("session.open", tools=[{"name": "wait", "parameters": []}])["session"]
        first = self.begin("session.run", session=session,
                           code="try:\n    wait()\nexcept BaseException:\n    sum(range(10**7))\n    raise")
        self.next()
        self.begin("cancel", id=first)
        self.assertEqual(self.call("session.run", session=session, code="x = 1\nprint(x)")["out"], "1\n")

    def test_values_of_a_block_are_fetched_from_files(self):  # SRV-80, SRV-90
        fd = os.memfd_create("text")
        self.addCleanup(os.close, fd)
        os.write(fd, "é".encode() * (1 << 20))
        session = self.call("session.open", plain=True)["session"]
        done = self.call("session.run", session=session, before="t = _dossier_fetch('t'); j = _dossier_fetch('j', 'json')",
                         code="print(len(t), t[0], j)", after="del j",
                         variables={"t": {"path": f"/proc/{os.getpid()}/fd/{fd}"}, "j": {"text": "[1]"}})
        self.assertEqual(done["out"], f"{1 << 20} é [1]\n")
        self.assertEqual([one["name"] for one in done["variables"]], ["t"])


class Many(Rpc):
    def test_a_thousand_requests_at_once_and_one_that_is_never_answered(self):  # SRV-A19
        sessions = [self.call("session.open", tools=[{"name": "f", "parameters": ["n"]}])["session"] for _ in range(20)]
        stuck = self.begin("session.run", session=sessions[0], code="f(-1)")
        self.assertEqual(self.next()["args"], {"n": -1})   # and never a reply
        wanted = {self.begin("open", text=f"text {n}", name=f"{n}.txt"): n for n in range(1000)}
        code = "import threading\nout = [0] * 8\ndef g(n): out[n] = f(n)\n" \
               "ts = [threading.Thread(target=g, args=(n,)) for n in range(8)]\n" \
               "[t.start() for t in ts]; [t.join() for t in ts]\nprint(sum(out))"
        runs = {self.begin("session.run", session=name, code=code) for name in sessions[1:]}
        found, sums = {}, {}
        while len(found) < len(wanted) or len(sums) < len(runs):
            message = self.next()
            if "call" in message:   # from a thread of the code, answered by one of ours
                threading.Thread(target=self.write, args=({"reply": message["call"],
                                                           "value": message["args"]["n"] * 10},)).start()
            elif message["id"] in wanted:
                found[message["id"]] = message["result"]["bytes"]
            else:
                sums[message["id"]] = message["result"]["out"]
        self.assertEqual(found, {number: len(f"text {n}") for number, n in wanted.items()})
        self.assertEqual({*sums.values()}, {"280\n"})
        self.assertEqual({*sums}, runs)
        self.begin("cancel", id=stuck)
        self.assertEqual(self.answer_to(stuck)["error"]["code"], "cancelled")

    def test_a_parent_that_is_killed_takes_all_along(self):  # SRV-A19
        program = ("import subprocess, sys, json\n"
                   "p = subprocess.Popen([sys.argv[1], 'rpc'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
                   "p.stdout.readline()\n"
                   "def call(m):\n    p.stdin.write(json.dumps(m).encode() + b'\\n'); p.stdin.flush()\n"
                   "    return json.loads(p.stdout.readline())\n"
                   "s = call({'id': 1, 'method': 'session.open', 'params': {'tools': [{'name': 'f', 'parameters': []}]}})\n"
                   "call({'id': 2, 'method': 'session.run', 'params': {'session': s['result']['session'], 'code': 'f()'}})\n"
                   "print(p.pid, flush=True)\nimport time; time.sleep(60)\n")
        parent = self.start("-c", program, harness.DOSSIER, command="/usr/bin/python3")
        pid = int(parent.stdout.readline())
        family = [pid, *self.children_of(pid)]
        self.assertGreater(len(family), 1)
        parent.send_signal(signal.SIGKILL)
        self.assert_gone(family)


class Asking(Rpc):
    SCRIPT = ["```repl\nprint(sum(r['n'] for r in records))\n```", "FINAL: 6"]

    def context(self) -> str:
        return self.call("open", text="".join(f'{{"n":{n}}}\n' for n in (1, 2, 3)), name="n.ndjson")["context"]

    def script_of(self, replies) -> str:
        return "script:" + harness.Case.write(self, "replies.json", json.dumps(replies))

    def test_an_answer_with_its_events(self):  # SRV-80
        number = self.begin("ask", question="What is the sum?", context=self.context(), mode="recursive",
                            model=self.script_of(self.SCRIPT), events=True)
        events = []
        while "event" in (message := self.next()):
            self.assertEqual(message["id"], number)
            events.append(message["event"])
        self.assertEqual(message["result"]["answer"], "6")
        kinds = [event["type"] for event in events if event["type"] != "text"]
        self.assertEqual((kinds[0], kinds[-1]), ("run.started", "run.finished"))
        self.assertEqual([event["seq"] for event in events if event["type"] != "text"], [*range(1, len(kinds) + 1)])
        run = self.call("runs.get", run=message["result"]["run"])
        self.assertEqual([event["type"] for event in run["events"]], kinds)
        self.assertEqual({event["run"] for event in run["events"]}, {run["run"]})
        listed = self.call("runs.list", limit=1)["runs"][0]
        self.assertEqual((listed["run"], listed["kind"]), (run["run"], "ask"))

    def test_code_of_a_run_calls_tools(self):  # SRV-80, SRV-82
        replies = ["```repl\nprint(add(a=2, b=records[2]['n']))\n```", "FINAL: 5"]
        schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                  "required": ["a", "b"]}
        got = []
        number = self.begin("ask", question="?", context=self.context(), mode="recursive",
                            model=self.script_of(replies), tools=[{"name": "add", "schema": schema}])
        message = self.answer_to(number, {"add": lambda a, b: got.append((a, b)) or a + b})
        self.assertEqual(got, [(2, 3)])
        self.assertEqual((message.get("result") or message["error"]["partial"])["answer"], "5", message)

    def test_code_of_a_run_shows_images(self):  # SRV-80, REC-50
        self.take_images()
        replies = ["```repl\nprint(llm_query('Which?', media=['plan', 'other']))\n```", "a dot", "FINAL: a dot"]
        plan = harness.Case.write(self, "plan.png", harness.PNG)
        found = self.call("ask", question="?", mode="recursive", model=self.script_of(replies), media=[
            {"name": "plan", "place": plan}, {"name": "other", "data": base64.b64encode(harness.OTHER_PNG).decode()}])
        self.assertEqual(found["answer"], "a dot")
        sent = [event["data"]["media"] for event in self.call("runs.get", run=found["run"])["events"]
                if event["type"] == "request.sent" and event["data"]["purpose"] == "subcall"]
        self.assertEqual([[one["name"] for one in media] for media in sent], [["plan", "other"]])
        for media, words in (({"name": "plan", "data": "?"}, "/media/0/data: is no base64"),
                             ({"name": "plan"}, 'the image "plan" needs a place'),
                             ({"name": "7", "place": plan}, "begins with a letter"),
                             ({"name": "plan", "place": plan + "x"}, "plan.pngx")):
            error = self.fail_of("ask", question="?", mode="recursive", model=self.script_of(replies), media=[media])
            self.assertIn(words, error["message"])

    def test_what_is_in_hand_stands_in_the_error(self):  # SRV-83
        schema = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
        error = self.fail_of("ask", question="?", context=self.context(), mode="recursive", schema=schema, repairs=0,
                             model=self.script_of([self.SCRIPT[0], *["FINAL: six"] * 9]), max_turns=3)
        self.assertEqual((error["code"], error["exit"]), ("schema", 11), error)
        self.assertEqual(error["partial"]["schema"], "dossier.ask/1")


if __name__ == "__main__":
    harness.main()
