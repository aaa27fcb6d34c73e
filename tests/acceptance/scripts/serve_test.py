#!/usr/bin/env python3
"""`dossier serve` as its clients see it: OpenAI's endpoints, files, runs, keys, the page.

usage: serve_test.py --dossier PATH

The official Python client comes from $DOSSIER_OPENAI_PYTHON, else .cache/peers (scripts/setup --test).
"""

import base64
import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import harness

PEERS = pathlib.Path(__file__).resolve().parents[3] / ".cache/peers/bin/python3"
PYTHON = os.environ.get("DOSSIER_OPENAI_PYTHON", str(PEERS) if PEERS.exists() else sys.executable)
CODE = "```repl\nprint(len(context))\n```"
# What every server of these tests says: a direct reply, and a run of two turns.
REPLIES = [
    {"purpose": "direct", "when": "be slow", "delay": "30s", "reply": "late", "times": "always"},
    {"purpose": "direct", "when": "wait a little", "delay": "700ms", "reply": "waited", "times": "always"},
    {"purpose": "direct", "when": "fail now", "fail": {"status": 400}, "times": "always"},
    {"purpose": "direct", "when": "as JSON", "reply": {"n": 4}, "times": "always"},
    {"purpose": "direct", "when": "call it", "times": "always",
     "tool_calls": [{"name": "price", "id": "t1", "arguments": {"item": "A1"}}]},
    {"purpose": "root", "turn": 1, "reply": CODE, "times": "always"},
    {"purpose": "root", "turn": 2, "reply": "FINAL(counted)", "times": "always"},
    {"purpose": "direct", "reply": "hello", "usage": {"input": 10, "output": 2}, "times": "always"},
]


class Client:
    """Requests to one server, with a key or without."""

    def __init__(self, port: int, key: str = ""):
        self.port, self.key = port, key

    def open(self, method: str, path: str, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        data = json.dumps(body) if isinstance(body, (dict, list)) else body
        connection.request(method, path, data, {**sent, **{k.replace("_", "-"): v for k, v in headers.items()}})
        return connection, connection.getresponse()

    def ask(self, method: str, path: str, body=None, **headers):
        connection, response = self.open(method, path, body, **headers)
        text = response.read().decode()
        connection.close()
        try:
            return response.status, json.loads(text), dict(response.getheaders())
        except ValueError:
            return response.status, text, dict(response.getheaders())

    def chat(self, text, **more):
        body = {"model": "scripted", "messages": [{"role": "user", "content": text}], **more}
        return self.ask("POST", "/v1/chat/completions", body)

    def upload(self, name: str, data: bytes, purpose="user_data"):
        mark = "q7xz"
        body = (f"--{mark}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\n{purpose}\r\n"
                f"--{mark}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n"
                "Content-Type: application/octet-stream\r\n\r\n").encode() + data + f"\r\n--{mark}--\r\n".encode()
        return self.ask("POST", "/v1/files", body, Content_Type=f"multipart/form-data; boundary={mark}")


def events_of(text: str) -> list:
    """The events of a stream: (name, data), comments left out."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and line[0] != ":")
        if "data" in lines:
            found.append((lines.get("event", ""), lines["data"]))
    return found


class ServeCase(harness.Case):
    def server(self, *flags, replies=REPLIES, model=(), **options) -> Client:
        self.process = self.start("serve", "--bind", "127.0.0.1:0", *(model or self.script(replies)), *flags, **options)
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/(?:#key=(dsk_[a-z2-7]{52}))?$", line)
        self.assertTrue(found, line + self.process.stderr.read() if not found else "")
        return Client(int(found[1]), found[2] or "")

    def refused(self, *flags) -> tuple:
        bind = [] if "--bind" in flags else ["--bind", "127.0.0.1:0"]
        code, _, err = self.run_to_end("serve", *bind, *self.script(REPLIES), *flags)
        return code, err

    def key_file(self, *names) -> tuple:
        path = str(self.home / "keys")
        secrets = []
        for name in names:
            code, out, err = self.run_to_end("serve", "keys", "add", *name.split(), "--keys", path)
            self.assertEqual(code, 0, err)
            secrets.append(out.strip())
        return path, secrets

    def wait_until(self, holds, limit=30):
        end = time.monotonic() + limit
        while not holds():
            self.assertLess(time.monotonic(), end, "it never came")
            time.sleep(0.02)


class Access(ServeCase):
    def test_a_key_is_drawn_for_each_start_and_nothing_works_without_it(self):
        """SRV-40"""
        client = self.server()
        self.assertEqual(client.ask("GET", "/v1/models")[0], 200)
        status, body, headers = Client(client.port).ask("GET", "/v1/models")
        self.assertEqual((status, body["error"]["code"]), (401, "invalid_api_key"))
        self.assertIn("a key is needed", body["error"]["message"])
        status, wrong, _ = Client(client.port, "dsk_" + "a" * 52).ask("GET", "/v1/models")
        self.assertEqual(status, 401)
        self.assertIn("this key is not known here", wrong["error"]["message"])
        self.assertIn("X-Request-Id", headers)
        state = json.loads((self.home / "data/dossier/serve.json").read_text())
        self.assertEqual(state["key"], client.key)
        self.assertEqual((self.home / "data/dossier/serve.json").stat().st_mode & 0o777, 0o600)
        # SRV-A14: the key is in no argument, journal or log.
        line = pathlib.Path(f"/proc/{self.process.pid}/cmdline").read_text()
        self.assertNotIn(client.key, line)
        client.chat("hi " + client.key)
        self.assertEqual(subprocess.run(["grep", "-r", client.key, str(self.home / "data/dossier/runs")],
                                        capture_output=True).returncode, 1)

    def test_wrong_keys_are_counted(self):
        """SRV-40: ten failures a minute, then 429."""
        client = self.server()
        wrong = Client(client.port, "dsk_" + "a" * 52)
        self.assertEqual([wrong.ask("GET", "/v1/models")[0] for _ in range(11)], [401] * 10 + [429])

    def test_key_files(self):
        """SRV-40, SRV-A14: scopes, limits a minute, a key that is revoked, modes."""
        path, (ann, bob, eve) = self.key_file("ann", "bob --scope read", "eve --per-minute 2")
        client = self.server("--keys", path)
        self.assertEqual(client.key, "")
        self.assertEqual(Client(client.port, ann).chat("hi")[0], 200)
        status, body, _ = Client(client.port, bob).chat("hi")
        self.assertEqual((status, body["error"]["code"]), (403, "insufficient_scope"))
        self.assertNotIn(bob, json.dumps(body))
        self.assertEqual([Client(client.port, eve).ask("GET", "/v1/models")[0] for _ in range(3)],
                         [200, 200, 429])
        self.assertEqual(self.run_to_end("serve", "keys", "revoke", "ann", "--keys", path)[0], 0)
        self.assertEqual(Client(client.port, ann).chat("hi")[0], 401)
        code, out, _ = self.run_to_end("serve", "keys", "list", "--keys", path)
        self.assertEqual((code, [line.split()[0] for line in out.splitlines()]), (0, ["bob", "eve"]))
        self.assertNotIn("dsk_", out)
        os.chmod(path, 0o644)
        code, err = self.refused("--keys", path)
        self.assertEqual(code, 12)
        self.assertIn("chmod 600", err)

    def test_a_limit_below_zero_gives_no_money_back(self):
        """SRV-40: what an attacker found."""
        path, (ann,) = self.key_file("ann --max-usd-day 0.5")
        client = Client(self.server("--keys", path, "--price", "1/2").port, ann)
        client.chat("hi")
        spent = list((self.home / "data/dossier/server/spending").rglob("spent.json"))[0]
        before = spent.read_text()
        self.assertEqual(client.chat("hi", dossier={"max_usd": -5})[0], 400)
        self.assertEqual(client.ask("POST", "/api/v1/runs", {"question": "x", "text": "y", "max_usd": -9})[0], 400)
        self.assertEqual(client.ask("POST", "/v1/chat/completions",
                                    {"model": "nope", "messages": [{"role": "user", "content": "x"}]})[0], 404)
        self.assertAlmostEqual(json.loads(spent.read_text())["usd"], json.loads(before)["usd"], 9)

    def test_the_sums_of_the_server_hold_for_plain_models(self):
        """SRV-40, SRV-A6: a client only lowers them."""
        client = self.server("--price", "1000/1000", "--max-cost", "0.0001")
        self.assertEqual(client.chat("hi", dossier={"max_usd": 100})[0], 402)
        self.process.kill()
        client = self.server("--price", "1000/1000", "--max-usd-day", "0.02")
        codes = [client.chat("hi", max_tokens=2)[0] for _ in range(4)]
        self.assertEqual((codes[0], codes[-1]), (200, 429) if codes[-1] == 429 else (200, 402))

    def test_a_run_that_met_its_limit_is_not_tried_again(self):
        """SRV-43: 402 and the limit's name, of the engine and of a plain model."""
        client = self.server("--price", "1000/1000")
        asked = {"messages": [{"role": "user", "content": "How many?"}], "dossier": {"max_usd": 0.0001}}
        for model in ("dossier", "scripted"):
            code, answer, _ = client.ask("POST", "/v1/chat/completions", {"model": model, **asked})
            self.assertEqual((code, answer["error"]["code"]), (402, "limit"), answer)
            self.assertIn("cost", answer["error"]["message"])

    def test_others_contexts_bodies_and_names(self):
        """SRV-57, SRV-60, SRV-A14: nothing of another key by an id, a hash, or a name that was given anew."""
        path, (ann, bob) = self.key_file("ann", "bob")
        port = self.server("--keys", path).port
        client, other = Client(port, ann), Client(port, bob)
        _, file, _ = client.upload("a.txt", b"private words of ann")
        begun = client.ask("POST", "/api/v1/runs", {"question": "q", "text": "ANN-PRIVATE"})[1]
        client.ask("GET", f"/api/v1/runs/{begun['run']}/events")
        shown = other.ask("POST", "/v1/chat/completions", {
            "model": "dossier", "messages": [{"role": "user", "content": "x"}],
            "dossier": {"contexts": ["c37c5e455eb5a"], "mode": "recursive"}})
        self.assertEqual((shown[0], shown[1]["error"]["param"]), (400, "dossier.contexts[0]"))
        stored = next((self.home / "data/dossier/server/bodies/objects").rglob("[0-9a-f]" * 64)).name
        _, answer, _ = other.chat(f'what is "sha256":"{stored}"?')
        run = answer["dossier"]["run"]
        self.assertEqual(other.ask("GET", f"/api/v1/blobs/{stored}?run={run}")[0], 404)
        self.run_to_end("serve", "keys", "revoke", "ann", "--keys", path)
        fresh = Client(port, self.run_to_end("serve", "keys", "add", "ann", "--keys", path)[1].strip())
        self.assertEqual(fresh.ask("GET", "/api/v1/runs")[1]["runs"], [])
        self.assertEqual(fresh.ask("GET", f"/v1/files/{file['id']}")[0], 404)

    def test_wrong_keys_lock_nobody_out_and_refused_uploads_leave_nothing(self):
        """SRV-40, SRV-41, SRV-57"""
        path, (ann,) = self.key_file("ann --per-minute 13")
        client = Client(self.server("--keys", path).port, ann)
        for n in range(12):
            Client(client.port, f"wrong{n}").ask("GET", "/v1/models")
        self.assertEqual(client.ask("GET", "/v1/models")[0], 200)
        codes = [client.upload("a.txt", b"x" * 3000)[0] for _ in range(14)]
        self.assertEqual(codes[-1], 429)
        self.assertEqual(list((self.home / "data/dossier/server/uploads").iterdir()), [])

    def test_streams_on_one_connection(self):
        """SRV-55: the connection stays good behind [DONE]."""
        client = self.server()
        connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
        body = json.dumps({"model": "scripted", "stream": True, "messages": [{"role": "user", "content": "hi"}]})
        for _ in range(60):
            connection.request("POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {client.key}"})
            self.assertIn(b"[DONE]", connection.getresponse().read())
        connection.close()
        self.assertEqual(len(self.runs()), 20)   # of 60, the list's first page

    def test_what_another_server_could_read_otherwise_is_refused(self):
        """SRV-41"""
        client = self.server()
        for head in ("Transfer-Encoding: xchunked\r\n", "Host: evil.example\r\n", "Origin: http://localhost\r\nOrigin: http://b\r\n"):
            with socket.create_connection(("127.0.0.1", client.port), 30) as plug:
                plug.sendall(f"POST /v1/files HTTP/1.1\r\nHost: localhost\r\n{head}\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                text = b""
                while block := plug.recv(4096):
                    text += block
                self.assertTrue(text.startswith(b"HTTP/1.1 400 "), text)
                self.assertEqual(text.count(b"HTTP/1.1"), 1)

    def test_a_key_has_its_sum_of_a_day(self):
        """SRV-40, SRV-A6: what is used up sends nothing."""
        path, (ann, _) = self.key_file("ann --max-usd-day 0.0003", "bob")
        client = Client(self.server("--keys", path, "--price", "1/2").port, ann)
        # A request costs 10 + 2 * 2 millionths of a dollar.
        codes = [client.chat("hi", max_tokens=2)[0] for _ in range(40)]
        self.assertEqual(codes[0], 200)
        self.assertIn(codes[-1], (429, 402))  # 402: a rest that is too small for one request
        # At most 0.0003 dollars, and what was refused left no run.
        self.assertLessEqual(codes.count(200), 22)
        self.assertGreater(codes.count(200), 15)

    def test_who_leaves_pays_for_what_was_sent(self):
        """SRV-40, SRV-55: a plain model's client and a run's; neither nothing nor all that was held."""
        path, (ann,) = self.key_file("ann --max-usd-day 0.5")
        slow = [{"purpose": "direct", "reply": "late", "delay": "60s", "times": "always"},
                {"purpose": "root", "turn": 1, "reply": CODE, "usage": {"input": 1000, "output": 100}, "times": "always"},
                {"purpose": "root", "turn": 2, "reply": "FINAL(late)", "delay": "60s", "times": "always"}]
        client = Client(self.server("--keys", path, "--price", "1/1", "--max-usd-day", "5", replies=slow).port, ann)
        server = self.home / "data/dossier/server"
        before = 0.0
        for model, mode, requests in (("scripted", "direct", 1), ("dossier", "recursive", 2)):
            connection, response = client.open("POST", "/v1/chat/completions", {
                "model": model, "stream": True, "dossier": {"mode": mode}, "messages": [{"role": "user", "content": "How many?"}]})
            self.wait_until(lambda: (runs := self.runs()) and requests == len(
                [event for event in self.events(runs[0]["run"]) if event["type"] == "request.sent"]))
            response.close()
            connection.close()
            self.wait_until(lambda: self.runs()[0]["status"] == "interrupted")
            (day,) = server.glob("spending/ann.*/server/spent.json")
            for file in (day, server / "spent.json"):
                self.wait_until(lambda: json.loads(file.read_text())["held"] == 0)
                spent = json.loads(file.read_text())["usd"]
                self.assertTrue(before < spent < before + 0.04, (model, before, spent))
            before = spent
        # The journal has it, too, for budgets of the configuration.
        ended = [event["data"] for event in self.events(self.runs()[1]["run"]) if event["type"] == "run.finished"]
        self.assertGreater(ended[0]["nano_usd"], 0)

    def test_the_budget_of_the_configuration_holds_for_plain_models(self):
        """SRV-40: it counts their answers, and ends them."""
        folder = self.home / "config/dossier"
        folder.mkdir(parents=True)
        (folder / "dossier.yml").write_text("limits: {window: 5h, usd: 0.01}\n")
        client = self.server("--price", "100/100")   # 12 tokens an answer: 0.0012 dollars
        codes = [client.chat("hi", max_tokens=2)[0] for _ in range(10)]
        self.assertEqual((codes[0], codes[-1]), (200, 402), codes)

    def test_an_address_of_others_needs_keys(self):
        """SRV-5, section 6"""
        for flags in (["--bind", "0.0.0.0:0"], ["--bind", "0.0.0.0:0", "--no-auth"]):
            code, err = self.refused(*flags)
            self.assertEqual(code, 12, err)
            self.assertIn("--keys", err)

    def test_pages_of_others_may_not_ask(self):
        """SRV-5, SRV-40: forged Host and Origin."""
        client = self.server("--allow-origin", "https://mine.example", "--allow-host", "box")
        for headers, status in [({"Host": "evil.example"}, 403), ({"Host": "box:1"}, 200),
                                ({"Origin": "https://evil.example"}, 403),
                                ({"Origin": "https://mine.example"}, 200)]:
            self.assertEqual(client.ask("GET", "/v1/models", **headers)[0], status, headers)
        got = client.ask("OPTIONS", "/v1/chat/completions", Origin="https://mine.example")
        self.assertEqual((got[0], got[2]["Access-Control-Allow-Origin"]), (204, "https://mine.example"))

    def test_a_taken_port_is_named(self):
        """section 6, SRV-A23"""
        client = self.server()
        code, err = self.refused("--bind", f"127.0.0.1:{client.port}")
        self.assertEqual(code, 8)
        self.assertIn(str(client.port), err)


class Manners(ServeCase):
    def test_bad_requests(self):
        """SRV-43, SRV-50, SRV-52, SRV-53: each row its status, and the field that is wrong."""
        client = self.server()
        user = [{"role": "user", "content": "hi"}]
        rows = [
            ("not json", 400, None), ({"messages": user}, 400, "model"), ({"model": "scripted"}, 400, "messages"),
            ({"model": "scripted", "messages": []}, 400, "messages"),
            ({"model": "scripted", "messages": [{"role": "king", "content": "x"}]}, 400, "messages[0].role"),
            ({"model": "scripted", "messages": user, "n": 2}, 400, "n"),
            ({"model": "scripted", "messages": user, "logprobs": True}, 400, "logprobs"),
            ({"model": "scripted", "messages": user, "modalities": ["audio"]}, 400, "modalities"),
            ({"model": "scripted", "messages": user, "temperature": "hot"}, 400, "temperature"),
            ({"model": "scripted", "messages": user, "dossier": {"mode": "fast"}}, 400, "dossier.mode"),
            ({"model": "scripted", "messages": user, "dossier": {"paths": ["/etc/passwd"]}}, 400, "dossier.paths[0]"),
            ({"model": "scripted", "messages": user,
              "tools": [{"type": "function", "function": {"name": "dossier_read"}}]}, 400, "tools[0].function.name"),
            ({"model": "no-such-model", "messages": user}, 404, "model"),
            ({"model": "scripted", "messages": user, "dossier": {"max_usd": -5}}, 400, "dossier.max_usd"),
            ({"model": "scripted", "messages": user, "dossier": {"max_calls": 0}}, 400, "dossier.max_calls"),
            ({"model": "scripted", "messages": user, "dossier": {"max_usd": 1e11}}, 400, "dossier.max_usd"),
            ({"model": "scripted", "messages": user, "dossier": {"max_time_s": 1e300}}, 400, "dossier.max_time_s"),
            ({"model": "scripted", "messages": user, "dossier": {"max_usdd": 1}}, 400, "dossier"),
        ]
        for body, status, param in rows:
            got, answer, _ = client.ask("POST", "/v1/chat/completions", body)
            self.assertEqual((got, answer["error"]["param"]), (status, param), body)
        self.assertEqual(client.ask("GET", "/nothing")[0], 404)
        self.assertEqual(client.ask("DELETE", "/v1/models")[0], 405)
        deep = '{"a":' * 200 + "1" + "}" * 200
        self.assertEqual(client.ask("POST", "/v1/chat/completions", deep)[0], 400)

    def test_a_body_that_is_too_large_is_not_read(self):
        """SRV-41"""
        client = self.server("--max-body", "1M")
        with socket.create_connection(("127.0.0.1", client.port), 30) as plug:
            plug.sendall((f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {client.key}\r\n"
                          "Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n").encode())
            self.assertIn(b" 413 ", plug.recv(1000))

    def test_a_body_that_nobody_reads_is_not_taken(self):
        """SRV-41: else whoever has no key fills the memory."""
        client = self.server()
        for line in ("GET /healthz", "GET /viewer.js", "GET /v1/models", "DELETE /v1/files/x"):
            with socket.create_connection(("127.0.0.1", client.port), 30) as plug:
                plug.sendall((f"{line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {client.key}\r\n"
                              "Expect: 100-continue\r\nContent-Length: 67108864\r\n\r\n").encode())
                self.assertIn(b" 413 ", plug.recv(1000), line)
        self.assertEqual(client.ask("GET", "/healthz", "{}")[0], 200)   # as some clients send

    def test_a_refusal_reaches_a_client_that_is_still_sending(self):
        """SRV-41: the server reads on for a while, else the connection breaks."""
        client = self.server("--max-body", "1M")
        for key, status in (("dsk_" + "a" * 52, 401), (client.key, 413)):
            self.assertEqual(Client(client.port, key).ask("POST", "/v1/chat/completions", b"x" * (30 << 20))[0], status)

    def test_clients_that_read_nothing_hold_up_nobody(self):
        """SRV-42: as many as the listener has threads, and more, without a key."""
        client = self.server()
        for _ in range(6):
            plug = socket.create_connection(("127.0.0.1", client.port), 30)
            self.addCleanup(plug.close)
            plug.sendall(b"GET /viewer.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 150)
            plug.recv(1)
        began = time.monotonic()
        for _ in range(20):
            self.assertEqual(client.ask("GET", "/healthz")[0], 200)
        self.assertLess(time.monotonic() - began, 20)

    def test_files_that_nobody_reads_hold_up_nobody(self):
        """SRV-42, SRV-57: more than threads for what only looks."""
        client = self.server()
        file = client.upload("a.bin", b"x" * (12 << 20))[1]["id"]
        began = time.monotonic()
        for _ in range(20):
            plug = socket.socket()
            self.addCleanup(plug.close)
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plug.connect(("127.0.0.1", client.port))
            plug.sendall((f"GET /v1/files/{file}/content HTTP/1.1\r\nHost: localhost\r\n"
                          f"Authorization: Bearer {client.key}\r\n\r\n").encode())
            plug.recv(1)
        self.assertEqual(client.ask("GET", "/v1/models")[0], 200)
        self.assertLess(time.monotonic() - began, 20)

    def test_followers_are_bounded(self):
        """SRV-42, SRV-61: each takes two threads."""
        client = self.server()
        self.addCleanup(self.process.kill)   # ends the slow run
        connection, _ = client.open("POST", "/v1/chat/completions", {
            "model": "scripted", "stream": True, "messages": [{"role": "user", "content": "be slow"}]})
        self.addCleanup(connection.close)
        self.wait_until(lambda: client.ask("GET", "/api/v1/runs?status=running")[1]["runs"])
        path = f"/api/v1/runs/{self.runs()[0]['run']}/events"
        followers = [client.open("GET", path) for _ in range(128)]
        self.assertEqual({response.status for _, response in followers}, {200})
        status, body, headers = client.ask("GET", path)
        self.assertEqual((status, body["error"]["code"], headers["Retry-After"]), (429, "server_busy", "5"))
        for connection, response in followers:
            response.close()
            connection.close()

        def taken():
            connection, response = client.open("GET", path)
            connection.close()
            response.close()
            return response.status == 200
        self.wait_until(taken)

    def test_names_of_the_server(self):
        """SRV-5, SRV-40: in any case, and the address that it was told to listen on."""
        client = self.server("--allow-host", "Box.Example")
        self.assertEqual(client.ask("GET", "/healthz", Host="box.example")[0], 200)
        process = self.start("serve", "--bind", "127.0.0.2:0", *self.script(REPLIES))
        port = re.search(r"http://127\.0\.0\.2:(\d+)", process.stderr.readline())[1]
        connection = http.client.HTTPConnection("127.0.0.2", int(port), timeout=60)
        connection.request("GET", "/healthz")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()

    def test_what_is_too_much_is_told_so(self):
        """SRV-42, SRV-A13: exactly as many are taken as there is place for."""
        client = self.server("--max-running", "1", "--max-queue", "2")
        codes = []
        threads = [threading.Thread(target=lambda: codes.append(client.chat("wait a little")[0])) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(codes), [200] * 3 + [429] * 5)

    def test_runs_that_were_begun_hold_their_places(self):
        """SRV-42, SRV-44, SRV-60: what was answered 202 is still at work, and who only looks waits for none of it."""
        go_on, codes = threading.Event(), []
        self.addCleanup(go_on.set)
        provider = self.serve(lambda handler, body: go_on.wait(60) and harness.reply(handler, body, "hello"))
        client = self.server("--max-running", "2", "--max-queue", "1", model=["-m", "some-model", "--base-url", provider.url])
        begin = {"question": "How many?", "text": "x"}
        threads = [threading.Thread(target=lambda: codes.append(client.ask("POST", "/api/v1/runs", begin)[0])) for _ in range(8)]
        for thread in threads:
            thread.start()
        self.wait_until(lambda: sorted(codes) == [202] * 2 + [429] * 5)
        health = client.ask("GET", "/healthz")[1]
        self.assertEqual((health["running"], health["queue"]), (2, 1))
        self.assertIn("dossier_runs_running 2", client.ask("GET", "/metrics")[1])
        self.assertEqual(len(client.ask("GET", "/api/v1/runs?status=running")[1]["runs"]), 2)
        self.process.send_signal(signal.SIGTERM)   # the drain lets all three come to their end
        self.wait_until(lambda: client.ask("GET", "/healthz")[1]["status"] == "draining")
        go_on.set()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(codes), [202] * 3 + [429] * 5)
        self.assertEqual(self.process.wait(30), 0)
        self.assertEqual([run["status"] for run in self.runs()], ["final"] * 3)

    def test_a_model_that_refuses_for_good_is_not_asked_again(self):
        """SRV-43: OpenAI's clients try 5xx again."""
        client = self.server()
        status, body, _ = client.chat("fail now")
        self.assertEqual((status, body["error"]["type"]), (400, "invalid_request_error"), body)
        self.assertIn("refused the request (status 400)", body["error"]["message"])
        client = self.server(replies=[{"fail": {"status": 401}, "times": "always"}])
        status, _, headers = client.chat("hi")
        self.assertEqual((status, headers["X-Should-Retry"]), (502, "false"))

    def test_health_and_metrics(self):
        """SRV-45, SRV-A13: the numbers are those of the journal."""
        client = self.server()
        self.assertEqual(Client(client.port).ask("GET", "/healthz")[1]["status"], "ok")
        for _ in range(3):
            client.chat("hi")
        status, text, headers = client.ask("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertIn("version=0.0.4", headers["Content-Type"])
        self.assertIn('dossier_requests_total{route="/v1/chat/completions",code="200"} 3', text)
        self.assertIn('dossier_model_tokens_total{model="scripted",kind="input"} 30', text)
        for line in text.splitlines():
            self.assertRegex(line, r"^(# TYPE dossier_\w+ (counter|gauge|histogram)|dossier_\w+(\{[^}]*\})? [0-9.e+-]+)$")
        self.assertEqual(Client(client.port).ask("GET", "/metrics")[0], 401)

    def test_sums_are_those_of_the_key_that_looks(self):
        """SRV-45, SRV-A14: what others used is for an admin."""
        path, (ann, bob, eve) = self.key_file("ann", "bob --scope read", "eve --scope read,admin")
        port = self.server("--keys", path, "--price", "1/2").port
        Client(port, ann).chat("hi", max_tokens=2)
        seen = {name: Client(port, key).ask("GET", "/metrics")[1] for name, key in (("ann", ann), ("bob", bob), ("eve", eve))}
        for name, sees in (("ann", True), ("bob", False), ("eve", True)):
            self.assertEqual("dossier_cost_nano_usd_total 14000" in seen[name], sees, seen[name])
            self.assertEqual('kind="input"} 10' in seen[name], sees, seen[name])
            self.assertIn('dossier_requests_total{route="/v1/chat/completions",code="200"} 1', seen[name])

    def test_a_model_that_does_not_exist_is_refused_at_the_start(self):
        """SRV-50"""
        code, _, err = self.run_to_end("serve", "--bind", "127.0.0.1:0", "-m", "no-such-model", limit=30)
        self.assertNotEqual(code, 0)
        self.assertIn("no-such-model", err)

    def test_sigterm_lets_what_runs_come_to_its_end(self):
        """SRV-44, SRV-A15"""
        client = self.server()
        found = []
        thread = threading.Thread(target=lambda: found.append(client.chat("wait a little")))
        thread.start()
        self.wait_until(lambda: Client(client.port).ask("GET", "/healthz")[1]["running"] == 1)
        self.process.send_signal(signal.SIGTERM)
        thread.join()
        self.assertEqual(found[0][1]["choices"][0]["message"]["content"], "waited")
        self.assertEqual(self.process.wait(30), 0)

    def test_what_does_not_end_in_time_is_interrupted(self):
        """SRV-44"""
        client = self.server("--drain", "200ms")
        connection, response = client.open("POST", "/v1/chat/completions", {
            "model": "scripted", "stream": True, "messages": [{"role": "user", "content": "be slow"}]})
        self.wait_until(lambda: Client(client.port).ask("GET", "/healthz")[1]["running"] == 1)
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0)
        text = response.read().decode()
        connection.close()
        self.assertIn('"error"', text)
        self.assertNotIn("[DONE]", text)
        self.assertEqual(self.runs()[0]["status"], "interrupted")


class Chat(ServeCase):
    def test_a_plain_model_is_called_as_it_is(self):
        """SRV-50, SRV-54"""
        client = self.server()
        status, body, _ = client.chat("hi")
        choice = body["choices"][0]
        self.assertEqual((status, choice["message"]["content"], choice["finish_reason"]), (200, "hello", "stop"))
        self.assertEqual((body["usage"]["prompt_tokens"], body["usage"]["completion_tokens"]), (10, 2))
        self.assertEqual(body["dossier"]["mode"], "direct")
        self.assertEqual(self.runs()[0]["run"], body["dossier"]["run"])
        names = [model["id"] for model in client.ask("GET", "/v1/models")[1]["data"]]
        self.assertEqual(names, ["dossier", "dossier/scripted", "scripted"])
        self.assertEqual(client.ask("GET", "/v1/models/dossier/scripted")[1]["id"], "dossier/scripted")
        self.assertEqual(client.ask("GET", "/v1/models/other")[1]["error"]["code"], "model_not_found")
        self.assertIn("did you mean scripted?", client.chat("x", model="scriptid")[1]["error"]["message"])
        status, told, _ = client.ask("POST", "/v1/chat/completions", b"\x1f\x8b", Content_Encoding="gzip")
        self.assertEqual((status, told["error"]["code"]), (415, "unsupported_encoding"))  # SRV-41

    def test_a_client_names_no_program_and_no_address(self):
        """SRV-50: what runs on this machine, or is spoken to, is for the start to name."""
        client = self.server()
        for name in ("command/claude", "command/codex/--flag", "http://127.0.0.1:9/v1#m", "--flag"):
            for model in (name, f"dossier/{name}"):
                status, body, _ = client.ask("POST", "/v1/chat/completions", {
                    "model": model, "messages": [{"role": "user", "content": "x"}]})
                self.assertEqual(status, 403, body)
                self.assertIn(f"starting it with -m {name}", body["error"]["message"])
        run = client.chat("hi")[1]["dossier"]["run"]
        self.assertEqual(client.ask("POST", "/v1/responses", {"model": "command/claude", "input": "x"})[0], 403)
        self.assertEqual(len(self.runs()), 1, run)

    def test_what_is_long_becomes_a_document(self):
        """SRV-51, SRV-A11"""
        client = self.server("--inline-tokens", "200")
        long = "lorem ipsum dolor sit amet\n" * 300
        status, body, headers = client.ask("POST", "/v1/chat/completions", {
            "model": "dossier", "top_k": 3, "dossier": {"mode": "recursive"}, "messages": [
                {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Look at this."},
                {"role": "assistant", "content": "I did."},
                {"role": "user", "content": [{"type": "text", "text": "How many characters?"},
                                             {"type": "text", "text": long}]}]})
        self.assertEqual((status, body["choices"][0]["message"]["content"]), (200, "counted"), body)
        self.assertEqual(headers["X-Dossier-Warnings"], "ignored: top_k")
        started = self.events(body["dossier"]["run"])[0]["data"]
        question = started["question"] if isinstance(started["question"], str) else started["question"]["text"]
        for part in ("Be brief.", "assistant: I did.", "How many characters?",
                     "[message-4-2.txt: 8,100 characters, in context]"):
            self.assertIn(part, question)
        self.assertNotIn("lorem", question)   # a part of its own: its numbers are none that the person gave
        self.assertEqual([one["name"] for one in started["contexts"]], ["conversation.jsonl", "message-4-2.txt"])

    def test_what_a_request_shows_of_a_document_grounds_nothing(self):
        """SRV-51: a number of its last rows that no code printed is no answer."""
        rows = "\n".join(json.dumps({"id": n, "ms": n * 37 % 997}) for n in range(4000))
        client = self.server(replies=[{"purpose": "root", "turn": 1, "reply": "```repl\nprint(len(records))\n```"},
                                      {"reply": "FINAL: 407", "times": "always"}])
        _, body, _ = client.ask("POST", "/v1/chat/completions", {"model": "dossier", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "How many requests failed?"}, {"type": "text", "text": rows}]}]})
        self.assertEqual((body["dossier"]["status"], body["choices"][0]["finish_reason"]), ("partial", "length"), body)

    def test_files_of_a_request(self):
        """SRV-51, SRV-57, SRV-A11: by id, in place, and never another key's."""
        path, (ann, eve) = self.key_file("ann", "eve")
        port = self.server("--keys", path).port
        client, other = Client(port, ann), Client(port, eve)
        status, file, _ = client.upload("../a b.txt", b"one two three")
        self.assertEqual((status, file["filename"], file["bytes"]), (200, "a b.txt", 13))
        part = {"type": "file", "file": {"file_id": file["id"]}}
        inline = {"type": "file", "file": {"filename": "n.txt", "file_data": base64.b64encode(b"inline").decode()}}
        body = {"model": "dossier", "dossier": {"mode": "recursive"}, "messages": [
            {"role": "user", "content": [{"type": "text", "text": "How long?"}, part, inline]}]}
        status, answer, _ = client.ask("POST", "/v1/chat/completions", body)
        self.assertEqual(status, 200, answer)
        contexts = self.events(answer["dossier"]["run"])[0]["data"]["contexts"]
        self.assertEqual([one["name"] for one in contexts], ["a b.txt", "n.txt"])
        status, answer, _ = other.ask("POST", "/v1/chat/completions", body)
        self.assertEqual((status, answer["error"]["param"]), (400, "messages[0].content[1].file.file_id"))
        self.assertEqual(other.ask("GET", f"/v1/files/{file['id']}")[0], 404)
        self.assertEqual(other.ask("GET", f"/api/v1/runs/{self.runs()[0]['run']}")[0], 404)
        self.assertEqual(client.ask("GET", f"/v1/files/{file['id']}/content")[1], "one two three")
        self.assertEqual(client.ask("DELETE", f"/v1/files/{file['id']}")[1]["deleted"], True)
        self.assertEqual(client.ask("GET", "/v1/files")[1]["data"], [])

    def test_a_file_is_read_once_however_often_it_is_named(self):
        """SRV-51, SRV-57: a request of 10 KB took gigabytes."""
        client = self.server()
        file = client.upload("a.txt", b"a line of text\n" * 300_000)[1]
        parts = [{"type": "text", "text": "How long?"}] + [{"type": "file", "file": {"file_id": file["id"]}}] * 120
        status, answer, _ = client.ask("POST", "/v1/chat/completions", {
            "model": "dossier", "messages": [{"role": "user", "content": parts}]})
        self.assertEqual(status, 200, answer)
        contexts = self.events(answer["dossier"]["run"])[0]["data"]["contexts"]
        self.assertEqual([one["name"] for one in contexts], ["a.txt"])
        peak = re.search(r"VmHWM:\s*(\d+) kB", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())
        self.assertLess(int(peak[1]), 200 << 10)

    def test_deleted_files_and_broken_uploads_leave_nothing(self):
        """SRV-57"""
        server = self.home / "data/dossier/server"
        (server / "uploads").mkdir(parents=True)
        for name, age in (("old", 7_200), ("young", 60)):
            (server / "uploads" / name).write_text("half")
            os.utime(server / "uploads" / name, (time.time() - age,) * 2)
        client = self.server()
        self.assertEqual([path.name for path in (server / "uploads").iterdir()], ["young"])
        file = client.upload("a.txt", b"for nobody else")[1]
        self.assertTrue([path for path in (server / "bodies").rglob("*") if path.is_file()])
        client.ask("DELETE", f"/v1/files/{file['id']}")
        self.assertEqual([path for path in (server / "bodies").rglob("*") if path.is_file()], [])

    IMAGES = [
        {"purpose": "subcall", "reply": "two dots", "times": "always"},
        {"purpose": "root", "turn": 1, "times": "always",
         "reply": "```repl\nprint(llm_query('What is drawn?', media=['image_1', 'image_2']))\n```"},
        {"purpose": "root", "turn": 2, "reply": "FINAL(two dots)", "times": "always"},
        {"purpose": "direct", "reply": "seen", "times": "always"},
    ]

    @staticmethod
    def image(data: bytes = harness.PNG) -> dict:
        return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + base64.b64encode(data).decode()}}

    def test_images_of_a_run_are_shown_by_its_code(self):
        """SRV-51, REC-50: each by its name, in the place where it stood."""
        self.take_images()
        client = self.server(replies=self.IMAGES)
        status, body, _ = client.ask("POST", "/v1/chat/completions", {
            "model": "dossier", "dossier": {"mode": "recursive"}, "messages": [
                {"role": "user", "content": [{"type": "text", "text": "The old plan:"}, self.image()]},
                {"role": "assistant", "content": "I see."},
                {"role": "user", "content": [self.image(harness.OTHER_PNG), {"type": "text", "text": "What is drawn?"}]}]})
        self.assertEqual((status, body["choices"][0]["message"]["content"]), (200, "two dots"), body)
        events = self.events(body["dossier"]["run"])
        started = events[0]["data"]
        for part in ("user: The old plan:\n\n[image_1]", "[image_2]\n\nWhat is drawn?"):
            self.assertIn(part, started["question"])
        hashes = [hashlib.sha256(one).hexdigest() for one in (harness.PNG, harness.OTHER_PNG)]
        self.assertEqual([(one["name"], one["sha256"]) for one in started["media"]],
                         [("image_1", hashes[0]), ("image_2", hashes[1])])
        sent = [one["data"].get("media") for one in events if one["data"].get("purpose") == "subcall"]
        self.assertEqual([one["sha256"] for one in sent[0]], hashes)
        url = [self.image(one)["image_url"]["url"] for one in (harness.PNG, harness.OTHER_PNG)]
        status, body, _ = client.ask("POST", "/v1/responses", {
            "model": "dossier", "dossier": {"mode": "recursive"}, "input": [{"role": "user", "content": [
                {"type": "input_text", "text": "What is drawn?"}, *({"type": "input_image", "image_url": one} for one in url)]}]})
        self.assertEqual((status, body["output"][0]["content"][0]["text"]), (200, "two dots"), body)
        # A model that is called as it is gets them in their place, and no address is in the way of that.
        status, body, headers = client.chat([{"type": "text", "text": "?"}, {
            "type": "image_url", "image_url": {"url": self.image()["image_url"]["url"], "detail": "high"}}])
        self.assertEqual((status, body["choices"][0]["message"]["content"]), (200, "seen"), body)
        self.assertEqual(headers["X-Dossier-Warnings"], "ignored: image_url.detail")

    def test_an_image_that_cannot_be_shown_is_refused(self):
        """SRV-51, REC-50: nothing is lost on the way, and nothing is fetched."""
        self.take_images()
        client = self.server(replies=self.IMAGES)
        web = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
        note = {"type": "file", "file": {"filename": "n.txt", "file_data": base64.b64encode(b"note").decode()}}
        place = "messages[0].content[0].image_url.url"
        for content, extra, role, param, words in (
                ([web], {}, "user", place, "send the image as a data URL"),
                ([self.image(b"words")], {}, "user", place, "is no image (PNG, JPEG, GIF, WebP)"),
                ([self.image(harness.PNG[:20])], {}, "user", place, "its width and height cannot be read"),
                ([self.image(), note], {"mode": "direct"}, "user", None, "mode direct runs none"),
                ([self.image()], {"max_depth": 0}, "user", None, "at depth 0 code asks no model"),
                ([self.image()], {}, "assistant", "messages[0].content[0].type", "an image stands in a user message")):
            status, body, _ = client.ask("POST", "/v1/chat/completions", {
                "model": "dossier", "dossier": {"mode": "recursive", **extra},
                "messages": [{"role": role, "content": content}, {"role": "user", "content": "What is drawn?"}]})
            self.assertEqual((status, body.get("error", {}).get("param")), (400, param), body)
            self.assertIn(words, body["error"]["message"])
        self.assertEqual(self.runs(), [])

    def test_a_model_that_takes_no_images_says_so(self):
        """SRV-51, REC-50"""
        client = self.server(replies=self.IMAGES)
        status, body, _ = client.ask("POST", "/v1/chat/completions", {
            "model": "dossier", "dossier": {"mode": "recursive"},
            "messages": [{"role": "user", "content": [{"type": "text", "text": "?"}, self.image()]}]})
        self.assertEqual(status, 400, body)
        self.assertIn("the model scripted takes no images", body["error"]["message"])

    def test_uploads_that_are_cut_leave_nothing(self):
        """SRV-57, section 6"""
        client = self.server()
        with socket.create_connection(("127.0.0.1", client.port), 30) as plug:
            plug.sendall((f"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {client.key}\r\n"
                          "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 500\r\n\r\n--b\r\n").encode())
            plug.shutdown(socket.SHUT_WR)
            plug.recv(1000)
        self.assertEqual(list((self.home / "data/dossier/server/uploads").iterdir()), [])
        for body, kind in [("x", "text/plain"), ("--b\r\nno end", "multipart/form-data; boundary=b")]:
            self.assertEqual(client.ask("POST", "/v1/files", body, Content_Type=kind)[0], 400)
        self.assertEqual(list((self.home / "data/dossier/server/uploads").iterdir()), [])

    def test_streams(self):
        """SRV-55: the role at once, text, finish, usage, [DONE]; a late error has no [DONE]."""
        client = self.server()
        _, text, _ = client.chat("hi", stream=True, stream_options={"include_usage": True})
        chunks = [data for _, data in events_of(text)]
        self.assertEqual(chunks.pop(), "[DONE]")
        chunks = [json.loads(chunk) for chunk in chunks]
        self.assertEqual(chunks[0]["choices"][0]["delta"]["role"], "assistant")
        self.assertEqual("".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks[:-1]), "hello")
        self.assertEqual(chunks[-2]["choices"][0]["finish_reason"], "stop")
        self.assertEqual(chunks[-2]["dossier"]["run"], self.runs()[0]["run"])  # SRV-54
        self.assertEqual((chunks[-1]["choices"], chunks[-1]["usage"]["prompt_tokens"]), ([], 10))
        _, text, _ = client.chat("fail now", stream=True)
        self.assertIn('data: {"error":', text)
        self.assertNotIn("[DONE]", text)

    def test_silence_is_filled_and_a_client_that_leaves_ends_its_run(self):
        """SRV-55, SRV-A12: heartbeats while the model is silent; gone or detached."""
        client = self.server("--heartbeat", "100ms")
        for extra, status in [({}, "interrupted"), ({"dossier": {"detach": True}}, "running")]:
            connection, response = client.open("POST", "/v1/chat/completions", {
                "model": "scripted", "stream": True, "messages": [{"role": "user", "content": "be slow"}], **extra})
            beats = 0
            while beats < 2:
                beats += response.readline().startswith(b":")
            # The response holds the socket, too: it is gone only when both are closed.
            response.close()
            connection.close()
            end = time.monotonic() + 5
            while self.runs()[0]["status"] != status and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual(self.runs()[0]["status"], status)

    def test_schemas_and_tools_go_through(self):
        """SRV-52, SRV-53"""
        client = self.server()
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
        _, body, _ = client.chat("as JSON", response_format={
            "type": "json_schema", "json_schema": {"name": "count", "schema": schema}})
        self.assertEqual(json.loads(body["choices"][0]["message"]["content"]), {"n": 4})
        # What does not fit is asked for again, twice as `ask --repair` does; then it is handed over as it is.
        asked = {"type": "json_schema", "json_schema": {"name": "count", "schema": schema}}
        client = self.server(replies=[{"when": "not accepted", "reply": {"n": 5}, "times": "always"},
                                      {"reply": "not JSON at all", "times": "always"}])
        _, body, _ = client.chat("mend it", response_format=asked)
        self.assertEqual(json.loads(body["choices"][0]["message"]["content"]), {"n": 5})
        self.assertEqual((body["dossier"]["status"], body["dossier"]["warnings"]), ("final", []))
        _, text, _ = client.chat("mend it", response_format=asked, stream=True)
        said = [json.loads(data)["choices"][0]["delta"].get("content", "") for _, data in events_of(text) if data != "[DONE]"]
        self.assertEqual("".join(said), '{"n":5}')
        client = self.server(replies=[{"reply": "no", "times": "always"}])
        _, body, _ = client.chat("never", response_format=asked)
        self.assertEqual((body["dossier"]["status"], body["choices"][0]["message"]["content"]), ("partial", "no"))
        self.assertEqual(len([event for event in self.events(body["dossier"]["run"]) if event["type"] == "request.sent"]), 3)
        # SRV-43: a strict schema that was never met is no answer, of a run neither.
        strict = {**asked["json_schema"], "strict": True}
        asked = {"type": "json_schema", "json_schema": strict}
        for more in ({}, {"model": "dossier", "dossier": {"mode": "recursive"}}):
            status, body, _ = client.chat("never", response_format=asked, **more)
            self.assertEqual((status, body["error"]["code"]), (422, "schema"), body)
            _, text, _ = client.chat("never", response_format=asked, stream=True, **more)
            self.assertNotIn('"content":"no"', text)
            self.assertNotIn("[DONE]", text)
            self.assertEqual(json.loads(events_of(text)[-1][1])["error"]["code"], "schema")
        answer = {"model": "scripted", "input": "never", "text": {"format": {"type": "json_schema", **strict}}}
        self.assertEqual(client.ask("POST", "/v1/responses", answer)[0], 422)
        _, begun, _ = client.ask("POST", "/v1/responses", {**answer, "background": True})
        client.ask("GET", f"/v1/responses/{begun['id']}?stream=true")
        self.assertEqual(client.ask("GET", f"/v1/responses/{begun['id']}")[1]["status"], "failed")
        client = self.server()
        tool = {"type": "function", "function": {"name": "price", "parameters": {"type": "object"}}}
        _, body, _ = client.chat("call it", tools=[tool])
        choice = body["choices"][0]
        self.assertEqual(choice["finish_reason"], "tool_calls")
        self.assertEqual(choice["message"]["tool_calls"][0]["function"]["name"], "price")
        self.assertEqual(json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]), {"item": "A1"})

    def test_the_servers_own_tools_where_a_request_is_too_long(self):
        """SRV-53: the server calls its own, the client the others."""
        replies = [{"purpose": "direct", "when": "How many INFO lines", "reply": "asked", "times": "always"},
                   {"purpose": "direct", "turn": 1, "times": "always", "tool_calls": [
                        {"name": "dossier_search", "id": "s1", "arguments": {"query": "needle"}}]},
                   {"purpose": "direct", "when": "hay needle hay", "reply": "found it", "times": "always"}]
        client = self.server("--inline-tokens", "200", replies=replies)
        text = "hay hay hay\n" * 500 + "hay needle hay\n" + "hay hay\n" * 500
        tool = {"type": "function", "function": {"name": "price", "parameters": {"type": "object"}}}
        _, body, _ = client.ask("POST", "/v1/chat/completions", {"model": "dossier", "tools": [tool], "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Where is it?"}, {"type": "text", "text": text}]}]})
        self.assertEqual(body["choices"][0]["message"]["content"], "found it", body)
        # SRV-51: a question within one long text is shown, too.
        _, body, _ = client.ask("POST", "/v1/chat/completions", {"model": "dossier", "tools": [tool], "messages": [
            {"role": "user", "content": "INFO a request\n" * 500 + "How many INFO lines? Call price."}]})
        self.assertEqual(body["choices"][0]["message"]["content"], "asked", body)

    def test_a_model_that_never_ends_calling_the_servers_tools(self):
        """SRV-53, SRV-54: no call is announced that the reply does not have."""
        search = {"name": "dossier_search", "id": "s1", "arguments": {"query": "needle"}}
        client = self.server("--inline-tokens", "200", replies=[
            {"purpose": "direct", "tool_calls": [search], "times": "always"}])
        tool = {"type": "function", "function": {"name": "price", "parameters": {"type": "object"}}}
        _, body, _ = client.ask("POST", "/v1/chat/completions", {"model": "dossier", "tools": [tool], "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Where?"}, {"type": "text", "text": "hay\n" * 5000}]}]})
        self.assertEqual(body["choices"][0]["finish_reason"], "length", body)
        self.assertEqual((body["dossier"]["status"], body["dossier"]["warnings"][0]["code"]), ("partial", "tools"))


class Responses(ServeCase):
    def test_responses_are_kept_and_taken_up_again(self):
        """SRV-56"""
        client = self.server()
        _, first, _ = client.ask("POST", "/v1/responses", {"model": "scripted", "input": "hi", "store": True})
        self.assertEqual((first["status"], first["output"][0]["content"][0]["text"]), ("completed", "hello"))
        again = client.ask("GET", f"/v1/responses/{first['id']}")[1]
        self.assertEqual(again, first)
        whole = events_of(client.ask("GET", f"/v1/responses/{first['id']}?stream=true")[1])
        names = ["response.created", "response.in_progress", "response.output_item.added",
                 "response.content_part.added", "response.output_text.delta", "response.output_text.done",
                 "response.content_part.done", "response.output_item.done", "response.completed"]
        self.assertEqual([name for name, _ in whole], names)
        self.assertEqual([json.loads(data)["sequence_number"] for _, data in whole], list(range(9)))
        rest = events_of(client.ask("GET", f"/v1/responses/{first['id']}?stream=true&starting_after=6")[1])
        self.assertEqual(rest, whole[7:])
        _, second, _ = client.ask("POST", "/v1/responses", {"model": "scripted", "input": "and now?",
                                                            "previous_response_id": first["id"]})
        sent = next(event for event in self.events(second["dossier"]["run"]) if event["type"] == "request.sent")
        texts = json.dumps(sent["data"]["messages"])
        for said in ("hi", "hello", "and now?"):
            self.assertIn(said, texts)
        self.assertEqual(client.ask("DELETE", f"/v1/responses/{first['id']}")[1]["deleted"], True)
        self.assertEqual(client.ask("GET", f"/v1/responses/{first['id']}")[0], 404)
        for body in ({"conversation": "c"}, {"tools": [{"type": "web_search"}]}, {"input": 7}):
            self.assertEqual(client.ask("POST", "/v1/responses", {"model": "scripted", "input": "x", **body})[0], 400)

    def test_what_has_no_effect_is_named_as_the_client_named_it(self):
        """SRV-51, SRV-56"""
        self.take_images()
        client = self.server()
        image = {"type": "input_image", "detail": "high",
                 "image_url": "data:image/png;base64," + base64.b64encode(harness.PNG).decode()}
        asked = {"model": "scripted", "input": "hi"}
        shown = [{"role": "user", "content": [{"type": "input_text", "text": "hi"}, image]}]
        run = {"model": "dossier", "max_output_tokens": 9, "top_p": 0.5, "truncation": "auto", "dossier": {"mode": "recursive"}}
        for more, named in (({"tools": None, "user": None}, None), ({"user": "u"}, "ignored: user"),
                            ({"input": shown}, "ignored: input_image.detail"),
                            (run, "ignored: max_output_tokens, top_p, truncation")):
            status, body, headers = client.ask("POST", "/v1/responses", {**asked, **more})
            self.assertEqual((status, headers.get("X-Dossier-Warnings")), (200, named), body)

    def test_what_finds_no_place_leaves_nothing(self):
        """SRV-42, SRV-56"""
        go_on = threading.Event()
        self.addCleanup(go_on.set)
        provider = self.serve(lambda handler, body: go_on.wait(60) and harness.reply(handler, body, "hello"))
        client = self.server("--max-running", "1", "--max-queue", "1", model=["-m", "some-model", "--base-url", provider.url])
        asked = {"model": "some-model", "input": "hi", "background": True}
        for _ in range(2):
            self.assertEqual(client.ask("POST", "/v1/responses", asked)[0], 200)
        for more in ({}, {"stream": True}, {"background": False}) * 5:
            status, _, headers = client.ask("POST", "/v1/responses", {**asked, **more})
            self.assertEqual((status, headers["Retry-After"]), (429, "5"))
        # Other files come and go with the run that is at work.
        opened = [os.path.realpath(link) for link in pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()]
        self.assertLessEqual(len([path for path in opened if "/server/responses/" in path]), 2)
        self.assertEqual(len(list((self.home / "data/dossier/server/responses").iterdir())), 2)

    def test_in_the_background(self):
        """SRV-56: queued at once, cancelled by its id, and there after a restart."""
        client = self.server()
        _, first, _ = client.ask("POST", "/v1/responses", {"model": "scripted", "input": "be slow", "background": True})
        self.assertEqual(first["status"], "queued")
        client.ask("POST", f"/v1/responses/{first['id']}/cancel")
        events = events_of(client.ask("GET", f"/v1/responses/{first['id']}?stream=true")[1])
        self.assertEqual(events[-1][0], "response.failed")
        self.assertEqual(client.ask("GET", f"/v1/responses/{first['id']}")[1]["status"], "cancelled")
        _, second, _ = client.ask("POST", "/v1/responses", {"model": "scripted", "input": "be slow", "background": True})
        self.process.kill()
        self.process.wait()
        client = self.server("--no-auth")
        self.assertEqual(client.ask("GET", f"/v1/responses/{second['id']}")[1]["status"], "failed")


class Runs(ServeCase):
    def test_runs_their_turns_and_bodies(self):
        """SRV-60"""
        client = self.server()
        _, begun, _ = client.ask("POST", "/api/v1/runs", {"question": "How many?", "text": "four words are here"})
        self.assertEqual(begun["status"], "running")
        client.ask("GET", f"/api/v1/runs/{begun['run']}/events")
        run = client.ask("GET", f"/api/v1/runs/{begun['run']}")[1]
        self.assertEqual(run["status"], "final")
        listed = client.ask("GET", "/api/v1/runs?q=how+MANY&limit=1")[1]
        self.assertEqual([one["run"] for one in listed["runs"]], [begun["run"]])
        self.assertEqual(listed["runs"], self.runs())  # as `dossier runs list --json` has them
        self.assertEqual(client.ask("GET", "/api/v1/runs?q=nothing+such")[1]["runs"], [])
        self.assertEqual(client.ask("GET", f"/api/v1/runs/{begun['run']}/tree")[1]["calls"][0]["requests"], 1)
        self.assertEqual(client.ask("GET", f"/api/v1/runs/{begun['run']}/turns/9")[0], 404)
        export = client.ask("GET", f"/api/v1/runs/{begun['run']}/export")[1]
        self.assertEqual([json.loads(line)["seq"] for line in export.splitlines()],
                         list(range(1, run["events"] + 1)))
        self.assertEqual([json.loads(line) for line in export.splitlines()], self.events(begun["run"]))
        self.assertEqual(client.ask("GET", f"/api/v1/blobs/{'0' * 64}?run={begun['run']}")[0], 404)
        status, told, _ = client.ask("POST", f"/api/v1/runs/{begun['run']}/cancel")
        self.assertEqual((status, told["error"]["code"]), (409, "not_running"))  # SRV-43
        self.assertEqual(client.ask("DELETE", f"/api/v1/runs/{begun['run']}")[1]["deleted"], True)
        self.assertEqual(client.ask("GET", "/api/v1/runs/20200101-000000-000000")[0], 404)

    def test_a_list_goes_on_behind_the_runs_of_others(self):
        """SRV-60: however many these are."""
        path, (ann,) = self.key_file("ann")
        client = Client(self.server("--keys", path).port, ann)
        run = client.ask("POST", "/api/v1/runs", {"question": "How many?", "text": "x"})[1]["run"]
        client.ask("GET", f"/api/v1/runs/{run}/events")
        with sqlite3.connect(self.home / "data" / "dossier" / "runs" / "journal.db") as journal:
            journal.executemany("INSERT INTO runs(run, started, status, question, model, answer) "
                                "VALUES(?, '2100-01-01T00:00:00.000Z', 'final', 'q', '', '')",
                                [(f"21000101-000000-{n:06x}",) for n in range(2100)])
        for query in ("", "?q=how+many", "?status=final&limit=1"):
            listed = client.ask("GET", "/api/v1/runs" + query)[1]
            self.assertEqual(([one["run"] for one in listed["runs"]], listed["next"]), ([run], None), query)

    def test_a_list_goes_on_behind_a_run_of_another_status(self):
        """SRV-60: the cursor's run may have ended since."""
        client = self.server()
        client.chat("hi")
        client.chat("fail now")
        for since, status in (("garbage", 400), ("2026-13-45", 400), ("2026-11-27", 200),
                              ("2026-11-27T10:00:00Z", 200)):
            self.assertEqual(client.ask("GET", f"/api/v1/runs?since={since}")[0], status, since)
        first = client.ask("GET", "/api/v1/runs?limit=1")[1]
        self.assertEqual(first["runs"][0]["status"], "failed")
        rest = client.ask("GET", f"/api/v1/runs?status=final&cursor={first['next']}")[1]
        self.assertEqual([run["question"] for run in rest["runs"]], ["hi"])
        status, body, _ = client.ask("GET", "/api/v1/runs?cursor=20200101-000000-000000")
        self.assertEqual((status, body["error"]["param"]), (400, "cursor"))

    def test_a_run_over_what_is_no_text_is_not_begun(self):
        """SRV-60"""
        client = self.server()
        for body, field in (({"text": 5}, "text"), ({"text": ["a"]}, "text"), ({"text": "t", "context": 7}, "context"),
                            ({"text": "t", "context": "c0123456789ab"}, "text"), ({"question": 1, "text": "t"}, "question")):
            status, said, _ = client.ask("POST", "/api/v1/runs", {"question": "q", **body})
            self.assertEqual((status, said["error"]["param"]), (400, field), said)
        self.assertEqual(self.runs(), [])

    def test_the_servers_own_command_line_is_for_an_admin(self):
        """SRV-60, SRV-A14"""
        path, (ann, eve) = self.key_file("ann", "eve --scope read,admin")
        port = self.server("--keys", path).port
        run = Client(port, ann).ask("POST", "/api/v1/runs", {"question": "q", "text": "x"})[1]["run"]
        for key, told in ((ann, False), (eve, True)):
            for way in ("", "/turns/0", "/events", "/export"):
                shown = Client(port, key).ask("GET", f"/api/v1/runs/{run}{way}")[1]
                text = shown if isinstance(shown, str) else json.dumps(shown)
                for part in ("--script", '"folder"', '"origin"'):
                    self.assertEqual(part in text, told, (way, text))
                self.assertIn('"question"', text)

    def test_a_query_that_means_nothing_is_refused(self):
        """SRV-60: with the values that there are."""
        client = self.server()
        for query, param, said in [("runs?status=finl", "status", "did you mean final?"), ("runs?limit=x", "limit", "from 1 to 500"),
                                   ("runs?limit=0", "limit", "from 1 to 500"), ("diff?a=last", "b", "diff?a=RUN&b=RUN")]:
            with self.subTest(query):
                client.chat("hi")
                status, body, _ = client.ask("GET", "/api/v1/" + query)
                self.assertEqual((status, body["error"]["param"]), (400, param), body)
                self.assertIn(said, body["error"]["message"])
        self.assertEqual(len(client.ask("GET", "/api/v1/runs?status=final&limit=2")[1]["runs"]), 2)
        # The command's list says that it is not all, too.
        code, out, err = self.run_to_end("runs", "list", "--limit", "3")
        self.assertEqual((code, len(out.splitlines())), (0, 3))
        self.assertIn("older runs; --limit 30", err)
        code, out, err = self.run_to_end("runs", "list", "--limit", "4")
        self.assertEqual((code, len(out.splitlines()), err), (0, 4, ""))
        self.assertEqual([json.loads(self.run_to_end("runs", "list", "--json", "--limit", n)[1])["more"] for n in "34"], [True, False])

    def test_events_go_on_without_gap_or_double(self):
        """SRV-61, SRV-A15: a reader that is cut off at each event goes on behind it."""
        client = self.server()
        _, answer, _ = client.ask("POST", "/v1/chat/completions", {
            "model": "dossier", "messages": [{"role": "user", "content": "x"}], "dossier": {"mode": "recursive"}})
        path = f"/api/v1/runs/{answer['dossier']['run']}/events"
        whole = client.ask("GET", path)[1]
        ids = re.findall(r"^id: (\d+)$", whole, re.M)
        self.assertEqual(ids, [str(n) for n in range(1, len(ids) + 1)])
        self.assertTrue(whole.rstrip().endswith("event: end\ndata: {}"))
        for n in ids:
            rest = client.ask("GET", path, Last_Event_ID=n)[1]
            self.assertEqual(re.findall(r"^id: (\d+)$", rest, re.M), ids[int(n):])
        self.assertEqual(client.ask("GET", path + f"?after={ids[-1]}")[1], "event: end\ndata: {}\n\n")


class Beginning(ServeCase):
    def test_a_first_start_says_what_is_missing(self):
        """SRV-41: no key yet, no model yet."""
        code, out, err = self.run_to_end("serve", "keys", "list")
        self.assertEqual((code, out), (0, "no keys yet; `dossier serve keys add NAME` makes one\n"), err)
        self.assertEqual(json.loads(self.run_to_end("serve", "keys", "list", "--json")[1])["keys"], [])
        process = self.start("serve", "--bind", "127.0.0.1:0")
        self.assertIn("serving", process.stderr.readline())
        self.assertIn("no request can be answered yet: no model is here yet", process.stderr.readline())


class Page(ServeCase):
    def test_the_page_is_small_and_takes_nothing_from_elsewhere(self):
        """SRV-62"""
        client = Client(self.server().port)
        total = 0
        for address in ("/", "/viewer.js", "/viewer.css"):
            status, text, headers = client.ask("GET", address)
            self.assertEqual(status, 200)
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertIsNone(re.search(r"https?://|innerHTML|insertAdjacentHTML|document\.write|eval\(", text))
            total += len(text)
        self.assertLess(total, 200_000)
        self.assertEqual(Client(self.server("--no-viewer").port).ask("GET", "/")[0], 404)


    def test_the_page_rounds_no_number_and_tells_a_warning_in_words(self):
        """SRV-63: its own functions, run by the JavaScript worker."""
        page = Client(self.server().port).ask("GET", "/viewer.js")[1]
        wanted = [re.search(r"^%s.*?^}$" % re.escape(start), page, re.M | re.S)[0] for start in ("function exact(", "function told(")]
        empty = re.search(r"^const isEmpty = .*?;$", page, re.M | re.S)[0]
        script = self.write("page.js", empty + "\n" + "\n".join(wanted) + r"""
const got = exact('{"seed":1584157811860708583,"n":12,"f":0.12345678901234567891,"text":"no 1584157811860708583, \\"9999999999999999999\\""}');
print(got.seed, got.n, got.f, got.text);
print(told({by: "map_llm", failed_calls: 2, none: null, of: [1, {n: 3}]}));
""")
        code, out, err = self.run_to_end("sandbox", "run", "--dialect", "javascript", "--sandbox", "degraded", script)
        self.assertEqual(code, 0, out + err)
        self.assertIn('1584157811860708583 12 0.12345678901234568 no 1584157811860708583, "9999999999999999999"', out)
        self.assertIn("by map_llm, failed calls 2, of 1, n 3", out)


CLIENT = """
import json, sys
import openai
client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key=sys.argv[2], max_retries=0)
found = {"models": [model.id for model in client.models.list()]}
ask = [{"role": "user", "content": "hi"}]
whole = client.chat.completions.create(model="dossier", messages=ask)
found["whole"] = [whole.choices[0].message.content, whole.usage.prompt_tokens]
found["streamed"] = "".join(chunk.choices[0].delta.content or "" for chunk in client.chat.completions.create(
    model="scripted", messages=ask, stream=True) if chunk.choices)
tool = {"type": "function", "function": {"name": "price", "parameters": {"type": "object", "properties": {}}}}
called = client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "call it"}], tools=[tool])
found["tool"] = called.choices[0].message.tool_calls[0].function.name
schema = {"name": "n", "schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
found["schema"] = client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "as JSON"}],
    response_format={"type": "json_schema", "json_schema": schema}).choices[0].message.content
file = client.files.create(file=("a.txt", b"one two"), purpose="user_data")
found["file"] = [file.filename, client.files.content(file.id).text, len(list(client.files.list()))]
first = client.responses.create(model="scripted", input="hi")
found["response"] = first.output_text
found["kinds"] = [event.type for event in client.responses.create(model="scripted", input="hi", stream=True)]
late = client.responses.create(model="scripted", input="wait a little", background=True)
while late.status in ("queued", "in_progress"):
    late = client.responses.retrieve(late.id)
found["late"] = late.output_text
try:
    client.chat.completions.create(model="nope", messages=ask)
except openai.NotFoundError as error:
    found["missing"] = error.code
client.files.delete(file.id)
print(json.dumps(found))
"""


class OfficialClient(ServeCase):
    def test_it_finds_all_that_it_looks_for(self):
        """SRV-A10: PyPI's openai."""
        client = self.server()
        done = subprocess.run([PYTHON, "-c", CLIENT, f"http://127.0.0.1:{client.port}", client.key],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["models"], ["dossier", "dossier/scripted", "scripted"])
        self.assertEqual(found["whole"], ["hello", 10])
        self.assertEqual(found["streamed"], "hello")
        self.assertEqual(found["tool"], "price")
        self.assertEqual(json.loads(found["schema"]), {"n": 4})
        self.assertEqual(found["file"], ["a.txt", "one two", 1])
        self.assertEqual((found["response"], found["late"]), ("hello", "waited"))
        self.assertEqual((found["kinds"][0], found["kinds"][-1]), ("response.created", "response.completed"))
        self.assertEqual(found["missing"], "model_not_found")


if __name__ == "__main__":
    harness.main()
