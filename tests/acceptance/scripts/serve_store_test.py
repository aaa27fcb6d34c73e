#!/usr/bin/env python3
"""`dossier serve --store postgresql://…`: the runs API over a queue that machines share. SRV-70, SRV-60, SRV-61, SRV-75."""

import json
import re
import signal
import threading

import harness
import postgres_case
from serve_test import Client, events_of

TEXT = "".join(f"line {number} of a text that is too long for one plain call\n" for number in range(3000))


class ServeStoreTest(postgres_case.PostgresCase):
    def key_file(self, *names) -> tuple:
        path = str(self.home / "keys")
        secrets = []
        for name in names:
            code, out, err = self.run_to_end("serve", "keys", "add", *name.split(), "--keys", path)
            self.assertEqual(code, 0, err)
            secrets.append(out.strip())
        return path, secrets

    def model_words(self) -> list:
        return ["--base-url", self.server.url, "-m", "some-model", "--retries", "0"]

    def serving(self, *words) -> int:
        """The port of a server that is started."""
        self.process = self.start("serve", "--bind", "127.0.0.1:0", "--store", self.cluster.url, *words)
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        self.assertTrue(found, line)
        return int(found[1])

    def ask(self, client: Client, number: int) -> str:
        status, begun, headers = client.ask("POST", "/api/v1/runs", {"question": f"question {number}?", "text": TEXT})
        self.assertEqual((status, begun.get("status")), (202, "queued"), begun)
        self.assertEqual(headers["Location"], "/api/v1/runs/" + begun["run"])
        return begun["run"]

    def stored(self, run: str) -> list:
        return [int(row[0]) for row in self.cluster.sql(f"SELECT seq FROM events WHERE run='{run}' ORDER BY seq")]

    def test_a_server_works_on_the_queue_and_shows_it_live(self):
        # SRV-70, SRV-60, SRV-61, SRV-75: owners see their own, and no poll is waited for
        path, (ann, bob, eve, root) = self.key_file("ann", "bob", "eve --max-usd-day 1", "root --scope read,run,admin")
        self.model.hold.clear()
        port = self.serving("--keys", path, *self.model_words())
        client = Client(port, ann)
        self.assertEqual(Client(port).ask("GET", "/healthz")[1]["store"], "postgresql")
        run = self.ask(client, 3)
        self.assertEqual(self.cluster.sql("SELECT owner FROM runs"), [["ann"]])
        self.assertTrue(self.model.held.wait(30))
        connection, response = client.open("GET", f"/api/v1/runs/{run}/events")
        self.addCleanup(connection.close)
        seen, so_far = "", len(self.stored(run))
        while len(events_of(seen)) < so_far:
            seen += response.readline().decode()
        self.assertNotIn("event: end", seen)
        connection.sock.settimeout(4)   # less than a poll: what comes, comes by a notice
        self.model.hold.set()
        while "event: end" not in seen:
            line = response.readline().decode()
            self.assertTrue(line, "the stream ended by itself")
            seen += line
        self.assertEqual([json.loads(data)["seq"] for name, data in events_of(seen) if name != "end"],
                         self.stored(run))
        self.assert_answered_once(run, 3, "partial")   # of a long text that no model read
        for key, visible in ((ann, True), (bob, False), (root, True)):
            one = Client(port, key)
            listed = one.ask("GET", "/api/v1/runs")[1]["runs"]
            self.assertEqual([row["run"] for row in listed], [run] if visible else [])
            for address in ("", "/tree", "/turns/1", "/export", "/events"):
                self.assertEqual(one.ask("GET", f"/api/v1/runs/{run}{address}")[0], 200 if visible else 404, address)
        self.assertEqual(Client(port, bob).ask("POST", f"/api/v1/runs/{run}/cancel", {})[0], 404)
        status, shown, _ = client.ask("GET", f"/api/v1/runs/{run}")
        self.assertEqual((shown["status"], shown["state"], shown["owner"], shown["finished"]["status"]),
                         ("partial", "done", "ann", "partial"))
        self.assertEqual(shown["about"]["question"], "question 3?")
        status, refused, _ = Client(port, eve).ask("POST", "/api/v1/runs", {"question": "x", "text": "y"})
        self.assertEqual(status, 403)
        self.assertIn("eve", refused["error"]["message"])
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)
        self.assertEqual(self.process.returncode, 0)

    def test_workers_elsewhere_do_what_a_server_takes(self):
        # SRV-70, SRV-61, SRV-A15: --max-running 0; a reader that is cut off at every event
        port = self.serving("--no-auth", "--max-running", "0")
        client = Client(port)
        self.assertEqual(client.chat("hi")[0], 503)
        run, other = self.ask(client, 4), self.ask(client, 5)
        status, shown, _ = client.ask("GET", f"/api/v1/runs/{run}")
        self.assertEqual((status, shown["status"], shown["events"], shown["about"]["question"]),
                         (200, "queued", 0, "question 4?"))
        self.cluster.sql(f"UPDATE runs SET priority=1 WHERE id='{run}'")
        got = []

        def follow():
            while True:
                connection, response = client.open("GET", f"/api/v1/runs/{run}/events",
                                                   Last_Event_ID=str(got[-1] if got else 0))
                block = ""
                while block.count("\n\n") < 1 or block.startswith(":"):
                    block = (block if "\n\n" not in block else "") + response.readline().decode()
                name, data = events_of(block)[0]
                connection.close()
                if name == "end":
                    return
                got.append(json.loads(data)["seq"])

        reader = threading.Thread(target=follow)
        reader.start()
        self.model.hold.clear()
        worker = self.start(*self.worker_words("--slots", "1"))
        self.assertTrue(self.model.held.wait(30))
        # The one at work here is cancelled there, and taken up again.
        status, told, _ = client.ask("POST", f"/api/v1/runs/{run}/cancel", {})
        self.assertEqual((status, told["status"]), (202, "cancelled"))
        reader.join(20)
        self.assertFalse(reader.is_alive())
        self.assertEqual(client.ask("POST", f"/api/v1/runs/{run}/cancel", {})[0], 409)
        self.assertEqual(client.ask("GET", "/api/v1/runs?status=cancelled")[1]["runs"][0]["run"], run)
        self.assertEqual(client.ask("GET", f"/api/v1/runs/{run}")[1]["status"], "interrupted")
        self.model.hold.set()
        for body, status in (({"max_turns": 3}, 400), ({}, 202), ({}, 409)):
            self.assertEqual(client.ask("POST", f"/api/v1/runs/{run}/resume", body)[0], status, body)
        self.assertEqual(client.ask("POST", f"/api/v1/runs/{run}/fork", {"at": 1})[0], 400)
        follow()
        self.assertEqual(got, self.stored(run))
        self.wait_until_ended([run, other], 30)
        self.assertEqual(self.model.asked[(4, 0)], 1, "what was answered before is not asked again")
        self.assertEqual([row["answer"] for row in client.ask("GET", "/api/v1/runs?limit=1")[1]["runs"]], ["answer 35"])
        page = client.ask("GET", "/api/v1/runs?limit=1")[1]
        rest = client.ask("GET", f"/api/v1/runs?limit=1&cursor={page['next']}")[1]
        self.assertEqual(([row["run"] for row in rest["runs"]], rest["next"]), ([run], None))
        self.assertEqual([row["run"] for row in client.ask("GET", "/api/v1/runs?q=Question+4")[1]["runs"]], [run])
        diff = client.ask("GET", f"/api/v1/diff?a={run}&b={other}")
        self.assertEqual((diff[0], diff[1]["equal"]), (200, False))
        self.end(worker)

    def test_what_cannot_be_together_is_refused(self):
        # SRV-70, section 6: one sentence that names the flag
        store = ["--store", self.cluster.url]
        nowhere = f"postgresql://ann@127.0.0.1:{harness.free_port()}/d"
        for words, code, named in ((["--max-running", "0"], 2, "--store"),
                                   (["--store", "/some/folder"], 2, "postgresql://HOST"),
                                   (["--store", "postgresql://ann:sesame@h/d"], 2, "PGPASSWORD"),
                                   ([*store, "--max-usd-day", "1", *self.model_words()], 2, "--max-cost"),
                                   ([*store, "-m", "opnai/gpt-5"], 3, "opnai"),
                                   ([*store], None, "--max-running 0"),
                                   (["--store", nowhere, *self.model_words()], 8, "refused")):
            ended, _, err = self.run_to_end("serve", "--bind", "127.0.0.1:0", *words)
            self.assertEqual(ended, code or ended, err)
            self.assertNotEqual(ended, 0)
            self.assertIn(named, err)
            self.assertNotIn("sesame", err)
            self.assertEqual(len(err.splitlines()), 1, err)


if __name__ == "__main__":
    harness.main()
