#!/usr/bin/env python3
"""Runs that servers began, taken up again: by the server, and by the command.  (SRV-60, SRV-A15)

usage: run_again_test.py --dossier PATH
"""

import json
import signal
import time

import harness
import serve_test

CODE = "```repl\nprint('counted', len(context.splitlines()))\n```"
FIRST = {"purpose": "root", "turn": 1, "reply": CODE, "times": "always"}
SLOW = [FIRST, {"purpose": "root", "turn": 2, "reply": "FINAL(late)", "delay": "60s", "times": "always"}]
FAST = [FIRST, {"purpose": "root", "turn": 2, "reply": "FINAL(counted)", "times": "always"}]


class AgainCase(serve_test.ServeCase):
    def begin(self, client, question="How many?", text="four words are here") -> str:
        status, body, _ = client.ask("POST", "/api/v1/runs", {"question": question, "text": text})
        self.assertEqual(status, 202, body)
        return body["run"]

    def end_of(self, client, run: str) -> list:
        """Follows a run to its end: the events."""
        return serve_test.events_of(client.ask("GET", f"/api/v1/runs/{run}/events")[1])

    def interrupted(self, client) -> str:
        """A run that was cancelled while its second turn waits for the model."""
        run = self.begin(client)
        connection, response = client.open("GET", f"/api/v1/runs/{run}/events")
        turn = 0
        while turn < 2:
            line = response.readline().decode()
            self.assertTrue(line, "the run ended by itself")
            turn += line.startswith("event: turn.started")
        connection.close()
        self.assertEqual(client.ask("POST", f"/api/v1/runs/{run}/cancel")[0], 202)
        self.assertEqual(self.end_of(client, run)[-1][0], "end")
        self.assertEqual(client.ask("GET", f"/api/v1/runs/{run}")[1]["status"], "interrupted")
        return run

    def requests_of(self, run: str) -> list:
        return [event["data"].get("turn") for event in self.events(run) if event["type"] == "request.sent"]


# serve and mcp decide by themselves whether code is written; a long text makes it so.
LONG = "four words are here\n" * 6000


class ByTheServer(AgainCase):
    def begin(self, client, question="How many?", text=LONG) -> str:
        return super().begin(client, question, text)

    def test_resume_goes_on_where_it_was_and_asks_nothing_twice(self):
        """SRV-60, SRV-63: POST runs/ID/resume."""
        client = self.server(replies=SLOW)
        run = self.interrupted(client)
        # As any other it is cancelled, whoever goes on with it.
        self.assertEqual(client.ask("POST", f"/api/v1/runs/{run}/resume", {})[0], 202)
        begun = time.monotonic()
        self.assertEqual(client.ask("POST", f"/api/v1/runs/{run}/cancel")[0], 202)
        self.end_of(client, run)
        self.assertLess(time.monotonic() - begun, 20)
        self.assertEqual(client.ask("GET", f"/api/v1/runs/{run}")[1]["status"], "interrupted")
        self.script(FAST)
        status, body, headers = client.ask("POST", f"/api/v1/runs/{run}/resume", {})
        self.assertEqual((status, body), (202, {"run": run, "status": "running"}))
        self.assertEqual(headers["Location"], f"/api/v1/runs/{run}")
        self.assertEqual(self.end_of(client, run)[-1][0], "end")
        finished = client.ask("GET", f"/api/v1/runs/{run}")[1]["finished"]
        self.assertEqual((finished["status"], finished["answer"]["text"]), ("final", "counted"))
        self.assertEqual(self.requests_of(run).count(1), 1)  # the second was in flight each time
        # What is finished is not resumed, and what is not there is not found.
        status, body, _ = client.ask("POST", f"/api/v1/runs/{run}/resume", {})
        self.assertEqual(status, 404)
        self.assertIn("is finished (final)", body["error"]["message"])
        self.assertEqual(client.ask("POST", "/api/v1/runs/r-none/resume", {})[0], 404)
        self.assertEqual(client.ask("POST", f"/api/v1/runs/{run}/resume", {"max_usd": -1})[0], 400)

    def test_fork_and_diff_as_the_command_does(self):
        """SRV-60, SRV-A14: POST runs/ID/fork, GET diff?a&b; another key's run is none; the key pays for its fork."""
        path, keys = self.key_file("ann --max-usd-day 0.5", "bob", "eve --scope read")
        paid = [{**reply, "usage": {"input": 1000, "output": 1000}} for reply in FAST]
        port = self.server("--keys", path, "--price", "1/1", replies=paid).port
        ann, bob, eve = (serve_test.Client(port, key) for key in keys)
        run = self.begin(ann)
        self.end_of(ann, run)
        status, body, _ = ann.ask("POST", f"/api/v1/runs/{run}/fork", {"question": "x"})
        self.assertEqual((status, body["error"]["param"]), (400, "at"))
        status, body, _ = ann.ask("POST", f"/api/v1/runs/{run}/fork", {"at": 9})
        self.assertEqual(status, 404)
        self.assertIn("has no turn 9", body["error"]["message"])
        self.assertEqual(bob.ask("POST", f"/api/v1/runs/{run}/fork", {"at": 0})[0], 404)
        self.assertEqual(eve.ask("POST", f"/api/v1/runs/{run}/fork", {"at": 0})[0], 403)
        # SRV-60: a program of this machine is for the start to name
        status, body, _ = ann.ask("POST", f"/api/v1/runs/{run}/fork", {"at": 1, "model": "command/claude"})
        self.assertEqual(status, 403, body)
        self.assertIn("starting it with -m command/claude", body["error"]["message"])
        status, body, _ = ann.ask("POST", f"/api/v1/runs/{run}/fork", {"at": 1, "question": "How few?"})
        self.assertEqual(status, 202, body)
        fork = body["run"]
        self.assertEqual((body["from"], fork == run), (run, False))
        self.end_of(ann, fork)
        about = ann.ask("GET", f"/api/v1/runs/{fork}")[1]
        self.assertEqual((about["status"], about["about"]["question"]), ("final", "How few?"))
        # Its first turn is the other run's; it began behind that one's end.
        self.assertGreaterEqual(about["started"], self.events(run)[-1]["time"])
        self.assertEqual(bob.ask("GET", f"/api/v1/runs/{fork}")[0], 404)
        status, diff, _ = ann.ask("GET", f"/api/v1/diff?a={run}&b={fork}")
        self.assertEqual(status, 200, diff)
        self.assertEqual((diff["equal"], diff["question"]), (False, ["How many?", "How few?"]))
        code, out, _ = self.run_to_end("runs", "diff", run, fork, "--json")
        self.assertEqual((code, json.loads(out)), (15, diff))
        self.assertEqual(bob.ask("GET", f"/api/v1/diff?a={run}&b={fork}")[0], 404)
        # Two turns of the run and one of the fork, 0.002 dollars each.
        (spent,) = (self.home / "data/dossier/server/spending").glob("ann.*/server/spent.json")
        end = time.monotonic() + 10
        while json.loads(spent.read_text())["usd"] > 0.0061 and time.monotonic() < end:
            time.sleep(0.05)  # it is settled behind the run's last event
        self.assertAlmostEqual(json.loads(spent.read_text())["usd"], 0.006)

    def test_a_fork_is_measured_by_its_own_part(self):
        """SRV-60: max_usd counts the turns that it takes over, and no others."""
        client = self.server("--price", "1/1", replies=[{**reply, "usage": {"input": 1000, "output": 20000}} for reply in FAST])
        run = self.begin(client)   # two turns, 0.021 dollars each
        self.end_of(client, run)
        path = f"/api/v1/runs/{run}/fork"
        status, body, _ = client.ask("POST", path, {"at": 1, "max_usd": 0.02})
        self.assertEqual(status, 402, body)
        status, body, _ = client.ask("POST", path, {"at": 0, "max_usd": 0.03})
        self.assertEqual(status, 202, body)
        self.end_of(client, body["run"])

    def test_a_field_that_nobody_knows_is_refused(self):
        """SRV-60: a limit that is misspelt would be none, and cost money."""
        client = self.server(replies=FAST)
        run = self.begin(client)
        self.end_of(client, run)
        path = f"/api/v1/runs/{run}"
        for address, body, field, meant in [
                (path + "/resume", {"max_cals": 3}, "max_cals", "did you mean max_calls?"),
                (path + "/resume", {"model": "other"}, "model", "one of max_usd, "),
                (path + "/fork", {"at": 0, "quesion": "x"}, "quesion", "did you mean question?"),
                ("/api/v1/runs", {"question": "x", "text": "y", "max_cals": 3}, "max_cals", "did you mean max_calls?")]:
            with self.subTest(address, field=field):
                status, said, _ = client.ask("POST", address, body)
                self.assertEqual((status, said["error"]["param"]), (400, field), said)
                self.assertIn(meant, said["error"]["message"])
        self.assertEqual(client.ask("POST", path + "/fork", {"at": 0, "model": 5})[1]["error"]["param"], "model")
        self.assertEqual(client.ask("POST", path + "/resume", [1])[0], 400)
        self.assertEqual([one["run"] for one in self.runs()], [run])

    def test_a_client_raises_no_limit_of_the_server(self):
        """SRV-60: the server's --max-calls holds for what a client goes on with."""
        client = self.server("--max-calls", "3", replies=[
            {"purpose": "root", "turn": turn, "reply": f"```repl\nprint({turn}, len(context))\n```"}
            for turn in range(1, 20)] * 2)
        run = self.begin(client)
        self.end_of(client, run)
        status, begun, _ = client.ask("POST", f"/api/v1/runs/{run}/fork", {"at": 0, "max_calls": 50})
        self.assertEqual(status, 202, begun)
        self.end_of(client, begun["run"])
        self.assertEqual(len(self.requests_of(begun["run"])), len(self.requests_of(run)))

    def test_a_limit_that_is_no_whole_number_is_refused(self):
        """SRV-60: it would be none."""
        client = self.server(replies=FAST)
        for wrong in (2.5, 1.0, 1e300, "3", 0, -1, True):
            status, said, _ = client.ask("POST", "/api/v1/runs", {"question": "q", "text": "t", "max_calls": wrong})
            self.assertEqual((status, said["error"]["param"]), (400, "max_calls"), wrong)

    def test_a_fork_that_cannot_begin_leaves_no_run(self):
        """SRV-60: by the API and by the command."""
        client = self.server(replies=FAST)
        run = self.begin(client)
        self.end_of(client, run)
        status, said, _ = client.ask("POST", f"/api/v1/runs/{run}/fork", {"at": 1, "model": "opnai/gpt-5"})
        self.assertEqual(status, 400, said)
        self.assertIn("opnai", said["error"]["message"])
        code, out, err = self.run_to_end("runs", "fork", run, "--at", "1", "--model", "opnai/gpt-5")
        self.assertNotEqual(code, 0, out)
        self.assertIn("opnai", err)
        code, out, err = self.run_to_end("runs", "fork", run, "--at", "1", "--dry-run")
        self.assertEqual((code, out), (0, f"{run} can be forked behind turn 1; nothing was made\n"), err)
        self.assertEqual([one["run"] for one in self.runs()], [run])

    def test_a_run_that_this_server_is_at_is_not_resumed(self):
        """SRV-60: 409, whether it was begun or taken up here."""
        client = self.server(replies=SLOW)
        run = self.begin(client)
        status, said, _ = client.ask("POST", f"/api/v1/runs/{run}/resume", {})
        self.assertEqual(status, 409, said)
        self.assertIn("at work in this server", said["error"]["message"])
        client.ask("POST", f"/api/v1/runs/{run}/cancel")
        self.end_of(client, run)
        self.assertEqual(client.ask("POST", f"/api/v1/runs/{run}/resume")[0], 202)
        self.assertEqual(client.ask("POST", f"/api/v1/runs/{run}/resume")[0], 409)
        client.ask("POST", f"/api/v1/runs/{run}/cancel")
        self.end_of(client, run)

    def test_a_deleted_run_says_so_and_does_not_go_on(self):
        """SRV-60: what DELETE leaves."""
        client = self.server(replies=FAST)
        run = self.begin(client, question="A private question?")
        self.end_of(client, run)
        self.assertEqual(client.ask("DELETE", f"/api/v1/runs/{run}")[1]["deleted"], True)
        (listed,) = self.runs()
        self.assertEqual((listed["question"], listed["answer"], listed["status"]), ("(deleted)", "", "final"))
        code, out, err = self.run_to_end("runs", "show", run, "--messages")
        self.assertEqual(code, 0, err)
        self.assertIn("Question: (deleted)\n", out)
        self.assertRegex(out, r"answer:\n +\(deleted\)\n")
        for raw in ("left_out", "not a body", "private", "{"):
            self.assertNotIn(raw, out)
        status, said, _ = client.ask("POST", f"/api/v1/runs/{run}/fork", {"at": 0})
        self.assertEqual(status, 404)
        self.assertIn("were deleted", said["error"]["message"])

    def test_what_is_deleted_is_in_no_file(self):
        """SRV-60: nor is the copy of its context, once no other run is over the same."""
        client = self.server(replies=FAST)

        def kept() -> list:
            return [path for path in (self.home / "data").rglob("*")
                    if path.is_file() and b"a private word" in path.read_bytes()]

        runs = [self.begin(client, text=LONG + "a private word\n") for _ in range(3)]
        for run in runs:
            self.end_of(client, run)
        for run, stays in zip((runs[1], runs[2], runs[0]), (True, True, False)):
            self.assertEqual(client.ask("DELETE", f"/api/v1/runs/{run}")[1]["deleted"], True)
            self.assertEqual(bool(kept()), stays, kept())


class ByTheCommand(AgainCase):
    def test_a_chat_that_kept_no_text_says_so(self):
        script = self.script([{"reply": "a quiet reply", "times": "always"}])
        code, _, err = self.run_to_end("chat", "--no-log", *script, "Hello?")
        self.assertEqual(code, 0, err)
        code, out, err = self.run_to_end("runs", "show", "last")
        self.assertEqual(code, 0, err)
        self.assertIn("(not kept)", out)
        for raw in ("objects/", "No such file", "left_out", "a quiet reply"):
            self.assertNotIn(raw, out)

    def test_a_run_of_serve(self):
        """SRV-A15: `dossier runs resume` goes on with what a server began."""
        client = self.server("--max-calls", "9", replies=SLOW)
        run = super().begin(client, text=LONG)
        with self.subTest("the server is killed"):
            connection, response = client.open("GET", f"/api/v1/runs/{run}/events")
            turn = 0
            while turn < 2:
                turn += response.readline().startswith(b"event: turn.started")
            connection.close()
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self.script(FAST)
        code, out, err = self.run_to_end("runs", "resume", run)
        self.assertEqual((code, out), (0, "counted\n"), err)
        line = self.events(run)[0]["data"]["argv"]
        self.assertEqual(line[:2], ["dossier", "ask"])
        self.assertEqual(line[line.index("--max-calls") + 1], "9")

    def test_a_request_that_was_passed_on_says_what_to_do(self):
        client = self.server()
        client.chat("hi")
        (run,) = self.runs()
        code, _, err = self.run_to_end("runs", "resume", run["run"])
        self.assertEqual(code, 2)
        self.assertIn("send the request again", err)

    def test_a_run_of_mcp(self):
        process = self.start("mcp", *self.script(SLOW), "--price", "0/0", stdin=-1)
        def ask(number, method, **params):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
            process.stdin.flush()
            while True:
                message = json.loads(process.stdout.readline())
                if message.get("id") == number:
                    return message["result"]
        ask(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"})
        opened = ask(2, "tools/call", name="open", arguments={"text": LONG})["structuredContent"]
        begun = ask(3, "tools/call", name="ask", arguments={"context": opened["context"], "question": "How many?",
                                                            "wait_s": 0})["structuredContent"]
        self.assertEqual(begun["status"], "running")
        process.stdin.close()
        process.wait(timeout=20)
        self.script(FAST)
        code, out, err = self.run_to_end("runs", "resume", begun["run"])
        self.assertEqual((code, out), (0, "counted\n"), err)

    def test_a_run_of_rpc_says_what_to_do(self):
        process = self.start("rpc", stdin=-1)
        process.stdout.readline()
        path = self.write("script.json", json.dumps(FAST))
        params = {"question": "How many?", "model": "script:" + path}
        process.stdin.write(json.dumps({"id": 1, "method": "ask", "params": params}) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        (run,) = self.runs()
        code, _, err = self.run_to_end("runs", "resume", run["run"])
        self.assertEqual(code, 2)
        self.assertIn("ask again from that program", err)


if __name__ == "__main__":
    harness.main()
