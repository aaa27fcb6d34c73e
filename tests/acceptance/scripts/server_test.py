#!/usr/bin/env python3
"""Servers that are silent, lie, cut or send elsewhere; keys stay secret: MOD-3, 13, 14, 23, section 6,
MOD-A6, MOD-A7, REC-45 (never more in flight than allowed)."""

import json
import pathlib
import socket
import threading
import time

import harness
from harness import chunk, reply, send

KEY = "sk-proj-" + "x8Kq2LwZ9vT" + "n4RbY7cMd1eQ5"


def start_stream(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()


class ServerTest(harness.Case):
    def test_a_server_that_answers_is_asked_once(self):
        server = self.serve(lambda handler, body: reply(handler, body, "Green."))
        code, out, err = self.ask_server(server, "Which colour?")
        self.assertEqual((code, out), (0, "Green.\n"), err)
        body = json.loads(server.requests[0])
        self.assertEqual(body["model"], "some-model")
        self.assertIn("Which colour?", body["messages"][-1]["content"])

    def test_a_request_never_ends_with_the_assistant_nor_doubles_a_role(self):  # REC-7, REC-A3
        texts = iter(["```repl\nprint(1)\n```", "", "FINAL: two words"])
        server = self.serve(lambda handler, body: reply(handler, body, next(texts)))
        code, out, err = self.ask_server(server, "--mode", "recursive", "--context-text", "abc",
                                         "Which letter?")
        self.assertEqual((code, out), (0, "two words\n"), err)
        for request in server.requests:
            roles = [message["role"] for message in json.loads(request)["messages"]]
            self.assertEqual(roles[-1], "user")
            self.assertNotEqual(roles[1], "assistant", "an unknown model takes the user first")
            for before, after in zip(roles, roles[1:]):
                self.assertNotEqual(before, after)

    def test_system_bytes_are_equal_for_two_corpora(self):  # REC-5, REC-A3
        server = self.serve(lambda handler, body: reply(handler, body, "FINAL: two words"))
        for text, seed in (("abc", "1"), ("something else", "2")):
            code, _, err = self.ask_server(server, "--mode", "recursive", "--context-text", text,
                                           "--seed", seed, f"What about {text}?")
            self.assertEqual(code, 0, err)
        systems = [json.loads(request)["messages"][0] for request in server.requests]
        self.assertEqual(systems[0]["role"], "system")
        self.assertEqual(systems[0], systems[1])

    def test_a_server_that_never_answers_meets_the_idle_limit(self):
        release = threading.Event()
        self.addCleanup(release.set)
        server = self.serve(lambda handler, body: release.wait(60))
        began = time.monotonic()
        code, out, err = self.ask_server(server, "--idle-timeout", "500ms", "What?")
        self.assertEqual((code, out), (7, ""), err)
        self.assertIn("0.5 s", err)
        self.assertLess(time.monotonic() - began, 20)

    def test_a_stream_that_falls_silent_keeps_its_text_and_names_the_limit(self):
        release = threading.Event()
        self.addCleanup(release.set)

        def answer(handler, body):
            start_stream(handler)
            handler.wfile.write(chunk("Green"))
            handler.wfile.flush()
            release.wait(60)

        server = self.serve(answer)
        code, out, err = self.ask_server(server, "--idle-timeout", "500ms", "What?")
        self.assertEqual(out, "Green\n", err)
        self.assertIn("limit of silence of 0.5 s", err)

    def test_a_stream_that_is_cut_twice_keeps_its_text_as_a_part(self):
        def answer(handler, body):
            start_stream(handler)
            handler.wfile.write(chunk("Green as gr"))

        code, out, err = self.ask_server(self.serve(answer), "--json", "What?")
        result = json.loads(out)
        self.assertEqual((code, result["answer"]), (13, "Green as gr"), err)  # FLT-4
        self.assertIn("reply_cut", [warning["code"] for warning in result["warnings"]])

    def test_a_connection_closed_before_any_byte_names_the_host(self):
        def answer(handler, body):
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True

        server = self.serve(answer)
        code, out, err = self.ask_server(server, "What?")
        self.assertEqual((code, out), (8, ""), err)
        self.assertIn("127.0.0.1", err)

    def test_a_reply_that_is_no_reply_is_shown_in_part(self):
        for body, kind in ((b"<html>Welcome to the portal</html>", "text/html"),
                           (b"{\"choices\": 17}", "application/json"),
                           (b"{\"choices\": [", "application/json"),
                           (b"[" * 200000, "application/json"),
                           (b"\xff\xfe\x00", "application/json"),
                           (b"data: {\"choices\": 1}\n\n", "text/event-stream")):
            server = self.serve(lambda handler, _: send(handler, 200, body, kind))
            code, out, err = self.ask_server(server, "What?")
            self.assertEqual((code, out), (8, ""), (body[:40], err))
            self.assertLess(len(err), 2000)

    def test_invalid_utf8_in_a_reply_is_replaced(self):
        def answer(handler, body):
            start_stream(handler)
            handler.wfile.write(b'data: {"choices":[{"index":0,"delta":{"content":"gr\xff\xfen"}}]}\n\n')
            handler.wfile.write(chunk("", "stop") + b"data: [DONE]\n\n")

        code, out, err = self.ask_server(self.serve(answer), "What?")
        self.assertEqual(code, 0, err)
        self.assertEqual(out, "gr\ufffd\ufffdn\n")

    def test_an_endless_reply_is_stopped(self):
        def answer(handler, body):
            start_stream(handler)
            while True:
                handler.wfile.write(chunk("x" * 1_000_000))

        code, _, err = self.ask_server(self.serve(answer), "What?", limit=300)
        self.assertIn(code, (8, 13), err)

    def test_statuses_have_their_exit_codes(self):
        for status, wanted in ((401, 5), (403, 5), (404, 3), (429, 6), (500, 8), (413, 9)):
            server = self.serve(lambda handler, _: send(handler, status, b'{"error":{"message":"no"}}'))
            code, out, err = self.ask_server(server, "What?")
            self.assertEqual((code, out), (wanted, ""), (status, err))
            self.assertIn(str(status), err)

    def test_a_key_is_sent_and_stands_nowhere(self):  # MOD-A6
        def answer(handler, body):
            if len(server.requests) == 1:
                leak = f"```repl\nimport os\nprint(os.environ, '{KEY}')\n```"
                reply(handler, body, leak)
            else:
                send(handler, 401, json.dumps({"error": {"message": f"bad key {KEY}"}}).encode())

        server = self.serve(answer)
        self.env["OPENAI_API_KEY"] = "sk-other-00000000000000000000000000000000"
        self.env["MY_KEY"] = KEY
        code, out, err = self.ask_server(server, "--key-env", "MY_KEY", "--mode", "recursive",
                                         "--context-text", "abc", "-v", "What?")
        self.assertIn(KEY, server.headers[0].get("Authorization", ""))
        self.assertNotIn(KEY, out + err)
        for secret in (KEY, self.env["OPENAI_API_KEY"]):
            for path in pathlib.Path(self.home).rglob("*"):
                if path.is_file():
                    self.assertNotIn(secret.encode(), path.read_bytes(), path)
        self.assertNotIn("sk-other", json.dumps(server.headers))

    def test_a_key_of_a_file_stands_in_no_other_file(self):  # MOD-A6
        def answer(handler, body):
            if len(server.requests) == 1:
                leak = "```repl\nimport os\nprint(sorted(os.environ.items()))\n```"
                return reply(handler, body, leak)
            return send(handler, 401, json.dumps({"error": {"message": f"bad key {KEY}"}}).encode())

        server = self.serve(answer)
        (self.home / "config" / "dossier").mkdir(parents=True)
        key = pathlib.Path(self.write("key.txt", KEY + "\n"))
        key.chmod(0o600)
        config = pathlib.Path(self.write("config/dossier/dossier.yml", f"key_file: {key}\n"))
        config.chmod(0o600)
        self.env["OPENAI_BASE_URL"] = server.url
        self.env["SHOWN"] = f"Bearer {KEY}"
        code, out, err = self.run_to_end(
            "ask", "-m", "openai/gpt-5-mini", "--mode", "recursive", "--context-text", "abc", "-v",
            "--log-file", "run.log", "--record", "run.json", "What?")
        self.assertIn(KEY, server.headers[0].get("Authorization", ""), err)
        self.assertEqual(code, 5, err)
        # The variable that holds it reaches neither the model's code nor a context command.
        shown = self.run_to_end("context", "run", "--exec", "env")
        self.assertEqual(shown[0], 0, shown[2])
        self.assertNotIn(KEY, json.dumps([out, err, shown[1], shown[2]]) + str(server.requests))
        for path in pathlib.Path(self.home).rglob("*"):
            if path.is_file() and path != key:
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def test_a_redirect_to_another_host_gets_no_key(self):  # MOD-A7
        target = self.serve(lambda handler, body: reply(handler, body, "stolen"))
        elsewhere = target.url.replace("127.0.0.1", "localhost")
        server = self.serve(lambda handler, body: send(
            handler, 307, b"", headers=[("Location", elsewhere + "/chat/completions")]))
        self.env["MY_KEY"] = KEY
        code, out, err = self.ask_server(server, "--key-env", "MY_KEY", "What?")
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")
        for headers in target.headers:
            self.assertNotIn(KEY, json.dumps(headers))

    def test_a_batch_never_has_more_in_flight_than_allowed(self):  # REC-45, REC-A14
        lock, now, most = threading.Lock(), [0], [0]

        def answer(handler, body):
            text = body["messages"][-1]["content"]
            if "Question" in text:
                return reply(handler, body, "```repl\nr = llm_query_batched([f'item {i}' for i in range(40)])\n"
                                            "FINAL(' '.join(r))\n```")
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            time.sleep(0.02)
            with lock:
                now[0] -= 1
            return reply(handler, body, text.removeprefix("item "))

        server = self.serve(answer)
        code, out, err = self.ask_server(server, "--mode", "recursive", "--context-text", "abc",
                                         "--concurrency", "4", "Which items?")
        self.assertEqual((code, out), (0, " ".join(map(str, range(40))) + "\n"), err)
        self.assertLessEqual(most[0], 4)
        self.assertGreater(most[0], 1)

    def test_map_llm_asks_only_what_is_missing_again(self):  # REC-A18
        asked = []

        def answer(handler, body):
            text = body["messages"][-1]["content"]
            if "numbered items" not in text:
                return reply(handler, body, "```repl\nm = map_llm([f'text {i} is here' for i in range(500)], "
                                            "labels=['even', 'odd', 'none'])\n"
                                            "FINAL(f'{m.counts} {m.failed} {m.total}')\n```"
                             if "Question" in text else "x")
            lines = []
            for line in text.splitlines():
                number, _, rest = line.partition(": text ")
                if not rest or not number.isdigit():
                    continue
                index = int(rest.split()[0])
                first = index not in asked
                asked.append(index)
                if first and index % 7 == 3:
                    continue
                if first and index % 50 == 1:
                    lines.append(f"{number}: invented")
                else:
                    lines.append(f"{number}: {'odd' if index % 2 else 'even'}")
            return reply(handler, body, "\n".join(lines))

        server = self.serve(answer)
        code, out, err = self.ask_server(server, "--mode", "recursive", "--context-text", "abc",
                                         "--concurrency", "1", "Which items?")
        self.assertEqual((code, out), (0, "{'even': 250, 'odd': 250, 'none': 0} [] 500\n"), err)
        twice = {index for index in asked if asked.count(index) == 2}
        self.assertEqual(twice, {i for i in range(500) if i % 7 == 3 or i % 50 == 1})
        self.assertEqual(len(asked), 500 + len(twice))

    def test_equal_seeds_send_equal_requests(self):  # REC-A30
        sent = []
        for _ in range(2):
            texts = iter(["```repl\nimport random\nprint(random.random(), hash('x'))\n```",
                          "FINAL: two words"])
            server = self.serve(lambda handler, body: reply(handler, body, next(texts)))
            code, _, err = self.ask_server(server, "--mode", "recursive", "--context-text", "abc",
                                           "--seed", "7", "What?")
            self.assertEqual(code, 0, err)
            sent.append(server.requests)
        self.assertEqual(sent[0], sent[1])


if __name__ == "__main__":
    harness.main()
