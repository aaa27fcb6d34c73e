#!/usr/bin/env python3
"""Runs of a store that machines share: queued, answered, taken over. SRV-70 to SRV-75.

The kills of SRV-A17 are these by default, and 8 workers, 500 runs and 100 kills with
DOSSIER_WORKERS=8 DOSSIER_RUNS=500 DOSSIER_KILLS=100 DOSSIER_DELAY=1: so long the model takes, so
that workers are at work when they die.
"""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import harness
import postgres_case

WORKERS, RUNS, KILLS = (int(os.environ.get(f"DOSSIER_{name}", usual))
                        for name, usual in (("WORKERS", 2), ("RUNS", 12), ("KILLS", 5)))
DELAY = float(os.environ.get("DOSSIER_DELAY", "0.3"))   # seconds of a reply


class WorkerTest(postgres_case.PostgresCase):
    def test_one_is_queued_and_answered(self):
        # SRV-70, SRV-71, SRV-74, SRV-75
        waiting = self.start("runs", "put", "--store", self.cluster.url, self.context,
                             "question 3?", "--mode", "recursive", "--wait", "--owner", "ann")
        self.assertIn("is queued", waiting.stderr.readline())
        self.assertEqual(self.cluster.sql("SELECT state, owner, epoch FROM runs"),
                         [["queued", "ann", "0"]])
        self.assertEqual(self.cluster.sql("SELECT size FROM blobs"), [["8"]])
        code, _, err = self.work("--once")
        self.assertEqual(code, 0, err)
        out, err = waiting.communicate(timeout=20)
        self.assertEqual((waiting.returncode, out), (0, "answer 21\n"), err)
        (run,) = self.shared_runs()
        self.assert_answered_once(run, 3)
        code, out, err = self.run_to_end("runs", "show", "last", "--store", self.cluster.url)
        self.assertEqual(code, 0, err)
        self.assertIn("answer 21", out)
        self.assertEqual(list((self.home / "cache-one").glob("*.db*")), [])

    def test_wrong_use_and_a_lost_database(self):
        # SRV-70, section 6: the password in no message
        word = "sesame"  # in no line that a reader of secrets would take for one
        self.env["PGPASSWORD"] = f"{word}-of-the-environment"
        url = f"postgresql://ann:{word}@127.0.0.1:1/dossier"
        for words in (["worker", "--store", url], ["runs", "list", "--store", url],
                      ["worker", "--store", f"postgresql:///d?password={word}"],
                      ["worker", "--store", f"postgresql://127.0.0.1:1/d?pass%77ord={word}"],
                      ["worker", "--store", f"postgresql://ann:{word}?2@127.0.0.1:1/d"]):
            code, _, err = self.run_to_end(*words)
            self.assertEqual(code, 2, err)
            for way in ("service", "~/.pgpass", "PGPASSWORD"):
                self.assertIn(way, err)
            self.assertNotIn(word, err)
        code, _, err = self.run_to_end("worker", "--store", "/some/folder")
        self.assertEqual(code, 2, err)
        port = harness.free_port()
        code, _, err = self.run_to_end("worker", "--store", f"postgresql://ann@127.0.0.1:{port}/d")
        self.assertEqual(code, 8, err)
        self.assertIn("127.0.0.1", err)
        self.assertIn("refused", err)
        self.assertNotIn(word, err)

    def test_many_make_the_tables_at_once(self):
        # SRV-70, SRV-A18: one makes them, nobody fails; a newer schema is refused
        many = [self.start("runs", "list", "--store", self.cluster.url) for _ in range(8)]
        for one in many:
            _, err = one.communicate(timeout=60)
            self.assertEqual(one.returncode, 0, err)
        self.cluster.sql("UPDATE meta SET value='99' WHERE key='schema'")
        for words in (["runs", "list", "--store", self.cluster.url], self.worker_words("--once")):
            code, _, err = self.run_to_end(*words)
            self.assertEqual(code, 3, err)
            self.assertIn("schema 99", err)

    def test_another_machine_goes_on(self):
        # SRV-73, SRV-74, SRV-A18: another cache folder, another release
        self.model.hold.clear()
        run = self.put(4)
        first = self.start(*self.worker_words("--lease", "2s"))
        self.assertTrue(self.model.held.wait(30))
        first.send_signal(signal.SIGKILL)
        first.wait()
        killed = time.monotonic()
        self.cluster.sql("UPDATE events SET data=jsonb_set(data::jsonb,'{version}','\"0.0.9\"')::json"
                         " WHERE seq=1")
        self.model.hold.set()
        code, _, err = self.run_to_end(*self.worker_words("--once", "--lease", "2s",
                                                          cache="cache-two"))
        # --once ends where nothing is queued; the run was still the dead worker's then.
        while self.shared_runs()[run]["state"] != "done":
            self.assertLess(time.monotonic() - killed, 2 + 5 + 10)
            code, _, err = self.run_to_end(*self.worker_words("--once", cache="cache-two"))
            self.assertEqual(code, 0, err)
        self.assert_answered_once(run, 4)
        self.assertEqual(self.model.asked[(4, 0)], 1)
        self.assertEqual(self.model.asked[(4, 1)], 2)   # in flight at the death
        kinds = self.cluster.sql(f"SELECT type, data->>'code' FROM events WHERE run='{run}'")
        self.assertIn(["warning", "version_changed"], kinds)
        self.assertIn(["run.resumed", ""], kinds)
        self.assertEqual(self.shared_runs()[run]["attempts"], 1)

    def test_a_stopped_worker_gives_back(self):
        # SRV-72, SRV-73: what is recorded stays
        self.model.hold.clear()
        run = self.put(5)
        first = self.start(*self.worker_words("--drain", "0s"))
        self.assertTrue(self.model.held.wait(30))
        first.send_signal(signal.SIGTERM)
        _, err = first.communicate(timeout=20)
        self.assertEqual(first.returncode, 0, err)
        self.assertEqual(self.shared_runs()[run]["state"], "queued")
        self.model.hold.set()
        code, _, err = self.work("--once", cache="cache-two")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.cluster.sql("SELECT state, result->>'answer' FROM runs"),
                         [["done", "answer 35"]])
        self.assertEqual(self.model.asked[(5, 0)], 1)
        self.assertEqual(self.shared_runs()[run]["attempts"], 0)

    def test_a_worker_without_its_lease_writes_nothing(self):
        # SRV-72: another one has the run; this one's own clock does not tell
        self.model.hold.clear()
        run = self.put(15)
        worker = self.start(*self.worker_words("--slots", "1"))
        self.assertTrue(self.model.held.wait(30))
        before = self.cluster.sql("UPDATE runs SET epoch=epoch+1, worker='another', "
                                  "lease_until=now()+interval '1h' RETURNING "
                                  f"(SELECT count(*) FROM events WHERE run='{run}')")
        self.model.hold.set()
        said = ""
        while "is over: it is no longer" not in said:
            said = worker.stderr.readline()
            self.assertTrue(said, "the worker ended")
            self.assertNotIn(": final", said)
        self.assertEqual(self.cluster.sql("SELECT count(*) FROM events"), before)
        self.assertEqual(self.cluster.sql("SELECT state, worker FROM runs"), [["running", "another"]])
        self.assertEqual(self.model.asked[(15, 2)] + self.model.asked[(15, "sub")], 0)

    def test_a_restarted_database_pauses_a_run(self):
        # SRV-75, SRV-A18
        self.model.hold.clear()
        run = self.put(6)
        worker = self.start(*self.worker_words("--lease", "30s"))
        self.assertTrue(self.model.held.wait(30))
        self.cluster.stop()
        self.model.hold.set()
        time.sleep(1)   # in which the next request would leave
        self.assertEqual(self.model.asked[(6, "sub")], 0, "sent, and not recorded")
        self.cluster.start()
        self.wait_until_ended([run], 25)
        self.assert_answered_once(run, 6)
        self.assertEqual(self.shared_runs()[run]["epoch"], 1)
        self.assertEqual(self.model.asked[(6, 1)], 1)
        self.end(worker)

    def test_a_crashed_database_pauses_a_run(self):
        # SRV-75: its connections end without a word, while the run is at work
        self.model.hold.clear()
        run = self.put(16)
        worker = self.start(*self.worker_words("--lease", "30s"))
        self.assertTrue(self.model.held.wait(30))
        self.cluster.stop("immediate")
        self.model.hold.set()
        time.sleep(0.5)   # in which the worker finds out
        self.cluster.start()
        self.wait_until_ended([run], 25)
        self.assert_answered_once(run, 16)
        self.assertEqual(self.shared_runs()[run]["epoch"], 1)
        self.end(worker)

    def test_a_recorded_answer_counts(self):
        # SRV-73: its worker went between the end of the run and its row
        run = self.put(17)
        self.assertEqual(self.work("--once")[0], 0)
        first = self.cluster.sql("SELECT result FROM runs")
        sent = sum(self.model.asked.values())
        for cut in ("false", "type='run.finished'"):
            self.cluster.sql(f"DELETE FROM events WHERE {cut}; UPDATE runs SET state='running', "
                             "result=NULL, worker='gone', lease_until=now()-interval '1s'")
            code, _, err = self.work("--once", cache="cache-two")
            self.assertEqual(code, 0, err)
            self.assert_answered_once(run, 17)
            self.assertEqual(sum(self.model.asked.values()), sent)
            if cut == "false":
                again = self.cluster.sql("SELECT result FROM runs")
                old, new = json.loads(first[0][0]), json.loads(again[0][0])
                for name in ("run", "status", "source", "answer", "turns", "calls", "citations"):
                    self.assertEqual(new[name], old[name], name)

    def test_a_worker_needs_a_model(self):
        # SRV-70: refused at its start, and nothing of the queue is spoilt
        run = self.put(18)
        store = ["worker", "--store", self.cluster.url, "--once"]
        for words, named in ((["-m", "opnai/gpt-5"], "opnai"), (["-m", "scripted"], "script"),
                             (["-m", "scripted", "--script", "missing.yml"], "missing.yml"),
                             ([], "model"), (["-m", "openai/gpt-5"], "OPENAI_API_KEY")):
            code, _, err = self.run_to_end(*store, *words)
            self.assertNotEqual(code, 0, err)
            self.assertIn(named, err)
            self.assertNotIn("is ready", err)
        self.assertEqual(self.shared_runs()[run]["state"], "queued")

    def test_a_run_for_another_worker_stays_queued(self):
        # SRV-71: this worker cannot open its model, and takes those behind it
        other, mine = (self.run_to_end("runs", "put", "--store", self.cluster.url, self.context,
                                       "How many?", "--mode", "direct", *words)[1].strip()
                       for words in (("-m", "opnai/gpt-5"), ()))
        code, _, err = self.run_to_end("worker", "--store", self.cluster.url, "--once",
                                       *self.script(["two"]))
        self.assertEqual(code, 0, err)
        self.assertEqual(self.shared_runs()[mine]["answer"], "two")
        self.assertEqual(err.count(f"{other}: left"), 1, err)
        self.assertEqual(self.cluster.sql(f"SELECT state, epoch FROM runs WHERE id='{other}'"),
                         [["queued", "1"]])
        code, out, err = self.run_to_end("runs", "show", other, "--store", self.cluster.url)
        self.assertEqual(code, 0, err)
        self.assertRegex(out, "State: queued")
        self.assertRegex(out, "Reason: .*opnai")
        code, out, err = self.run_to_end("runs", "show", other, "--json", "--store",
                                         self.cluster.url)
        shown = json.loads(out)
        self.assertEqual((code, shown["state"], shown["events"]), (0, "queued", []), err)
        self.assertIn("opnai", shown["reason"])

    def test_the_state_is_the_queues(self):
        # SRV-75: what show and list say of a run at work, and of one that was cancelled
        self.model.hold.clear()
        run, waits = self.put(21), self.put(22)
        url = ["--store", self.cluster.url]
        worker = self.start(*self.worker_words("--slots", "1"))
        self.assertTrue(self.model.held.wait(30))
        for state in ("running", "cancelled"):
            code, out, err = self.run_to_end("runs", "show", run, *url)
            self.assertEqual(code, 0, err)
            self.assertIn(f"State: {state}", out)
            self.assertIn(f"Status: {state};", out)
            self.assertNotIn("its process ended", out)
            code, out, err = self.run_to_end("runs", "list", "--status", state, "--json", *url)
            self.assertEqual([one["run"] for one in json.loads(out)["runs"]], [run], err)
            if state == "running":
                code, out, err = self.run_to_end("runs", "list", "--status", "queued", *url)
                self.assertEqual((code, out.split()[0], len(out.splitlines())), (0, waits, 1), err)
                # What the limit left no place for is told.
                code, out, err = self.run_to_end("runs", "list", "--limit", "1", *url)
                self.assertEqual((code, len(out.splitlines()), err),
                                 (0, 1, "dossier: 1 older run is not shown; --limit 2 shows all\n"))
                for limit, left in (("1", 1), ("2", 0)):
                    shown = json.loads(self.run_to_end("runs", "list", "--limit", limit, "--json", *url)[1])
                    self.assertEqual((len(shown["runs"]), shown["more"], shown["left_out"]),
                                     (int(limit), left > 0, left))
                self.cluster.sql(f"UPDATE runs SET priority=-1 WHERE id='{waits}'")
                self.assertEqual(self.run_to_end("runs", "cancel", run, *url)[0], 0)
        for words, named in ((["--status", "final", *url], "queued"), (["--status", "queued"],
                                                                       "--store")):
            code, _, err = self.run_to_end("runs", "list", *words)
            self.assertEqual(code, 2, err)
            self.assertIn(named, err)
        self.model.hold.set()
        self.end(worker)

    def test_a_worker_needs_a_sandbox(self):
        # SRV-70, SRV-71: none at its start is refused; one that breaks later costs no run, and this
        # worker takes no other
        folder = self.home / "installed"
        folder.mkdir()
        program = pathlib.Path(harness.DOSSIER)
        command = str(shutil.copy2(program, folder))
        run = self.put(19)
        serve = ["serve", "--bind", "127.0.0.1:0", *self.worker_words()[1:7]]
        for words in (self.worker_words("--once"), serve):
            code, _, err = self.run_to_end(*words, command=command)
            self.assertEqual(code, 12, err)
            self.assertIn("a worker runs code in the sandbox, which fails here: ", err)
        self.assertEqual(self.cluster.sql("SELECT state, epoch FROM runs"), [["queued", "0"]])
        self.cluster.sql("UPDATE runs SET not_before=now()+interval '1h'")
        python = shutil.copy2(program.with_name("dossier-python-worker"), folder)
        broken = self.start(*self.worker_words(), command=command)
        self.assertIn("is ready", broken.stderr.readline())
        os.unlink(python)
        for zygote in postgres_case.children_of(broken.pid):
            os.kill(zygote, signal.SIGKILL)
        self.cluster.sql("UPDATE runs SET not_before=now(); SELECT pg_notify('dossier_runs', '')")
        said = broken.stderr.readline()
        self.assertIn(f"{run}: left to other workers: ", said)
        self.assertEqual(self.cluster.sql("SELECT state, epoch FROM runs"), [["queued", "1"]])
        code, out, err = self.run_to_end("runs", "show", run, "--store", self.cluster.url)
        self.assertRegex(out, "Reason: .*cannot run its code")
        later = self.put(20)
        code, _, err = self.work("--once", cache="cache-two")
        self.assertEqual(code, 0, err)
        for one, number in ((run, 19), (later, 20)):
            self.assertEqual(self.cluster.sql(f"SELECT state, result->>'answer' FROM runs WHERE id='{one}'"),
                             [["done", f"answer {7 * number}"]])
        self.assertEqual(self.shared_runs()[later]["epoch"], 1, "the broken worker took another")
        self.end(broken)

    def test_an_end_whose_reply_is_lost_counts(self):
        # SRV-72: the connection broke behind the commit
        with postgres_case.CuttingProxy(self.cluster.folder, b"SET state=$4, result=$5") as proxy:
            self.put(23)
            words = self.worker_words("--once")
            words[words.index("--store") + 1] = f"postgresql:///postgres?host={proxy.folder}&user=postgres"
            code, _, err = self.run_to_end(*words)
        self.assertEqual((code, proxy.cuts), (0, 1), err)
        (run,) = self.shared_runs()
        self.assertIn(f"{run}: final\n", err)
        self.assert_answered_once(run, 23)

    def test_clocks_of_machines_do_not_count(self):
        # SRV-71, SRV-73, SRV-A18: one of them an hour ahead, one an hour behind
        def clock(offset: str):
            self.env.update(LD_PRELOAD=postgres_case.FAKETIME, FAKETIME=offset, DONT_FAKE_MONOTONIC="1")
        self.model.hold.clear()
        clock("+1h")
        run = self.put(24)
        self.assertEqual(self.cluster.sql("SELECT abs(extract(epoch FROM now()-created_at))<60 FROM runs"), [["t"]])
        ahead = self.start(*self.worker_words("--slots", "1", "--lease", "1s"))
        self.assertTrue(self.model.held.wait(30))
        clock("-1h")
        behind = self.start(*self.worker_words("--slots", "1", "--lease", "1s", cache="cache-two"))
        self.assertIn("is ready", behind.stderr.readline())
        # Longer than the lease that there is now: it is renewed, and nobody else's.
        self.cluster.sql("SELECT pg_sleep(extract(epoch FROM lease_until-now())+0.3) FROM runs")
        self.assertEqual(self.cluster.sql("SELECT epoch, state, lease_until<now()+interval '2s' FROM runs"),
                         [["1", "running", "t"]])
        ahead.kill()
        ahead.wait()
        self.model.hold.set()
        self.wait_until_ended([run], 1 + 5 + 10)
        self.assert_answered_once(run, 24)
        self.assertEqual(self.cluster.sql("SELECT epoch, attempts FROM runs"), [["2", "1"]])
        times = self.cluster.sql("SELECT DISTINCT round(extract(epoch FROM time-now())/3600) FROM events ORDER BY 1")
        self.assertEqual(times, [["-1"], ["1"]], "the clocks were not what this test is about")
        self.end(behind)

    def test_put_names_itself(self):
        # SRV-70: what is missing, and how this command is typed
        for words in ([], [self.context], ["one", "two"]):
            code, _, err = self.run_to_end("runs", "put", "--store", self.cluster.url, *words)
            self.assertEqual(code, 2, err)
            self.assertIn("runs put", err)
            self.assertNotIn("ask:", err)
            self.assertNotIn("dossier ask", err)

    def test_what_a_database_refuses_is_one_sentence(self):
        # SRV-70: with the way out, and no password
        host = f"host={self.cluster.folder}"
        self.cluster.sql("CREATE USER guest; REVOKE ALL ON SCHEMA public FROM public")
        word = "sesame"
        for address, code, *named in (
                (f"postgresql:///none?{host}&user=postgres", 8, 'no database "none"', "createdb"),
                (f"postgresql:///postgres?{host}&user=nobody", 8, 'no user "nobody"', "createuser"),
                (f"postgresql:///postgres?{host}&user=guest", 3, "guest", "GRANT"),
                (f"postgresql:///postgres?{host}&sllmode=1", 2, "sllmode"),
                (f"postgresql:///postgres?{host}&passw%6Frd={word}", 2, "PGPASSWORD"),
                (f"postgresql://ann:{word}/x@h/d", 2, "PGPASSWORD"),
                (f"postgresql://ann:{word}?x@h/d", 2, "address"),
                (f"postgrsql://ann:{word}@h/d", 2, "postgresql://HOST"),
                (f"host=h password={word}", 2, "postgresql://HOST"),
                (f"postgresql:///d?host={self.home}&user=ann", 8, str(self.home))):
            ended, _, err = self.run_to_end("runs", "list", "--store", address)
            self.assertEqual(ended, code, err)
            self.assertEqual(len(err.splitlines()), 1, err)
            for part in named:
                self.assertIn(part, err)
            for part in ("\t", word, "LINE 1", "\\t", "FATAL"):
                self.assertNotIn(part, err)

    def test_lost_leases_and_damage(self):
        # SRV-72, SRV-73, SRV-A18
        given_up, damaged = self.put(7), self.put(8)
        self.cluster.sql(f"UPDATE runs SET state='running', worker='gone', fruitless=2, "
                         f"lease_until=now()-interval '1s' WHERE id='{given_up}'")
        ((sha256,),) = self.cluster.sql("SELECT encode(sha256, 'hex') FROM blobs")
        self.cluster.sql("UPDATE blob_chunks SET data=set_byte(data, 0, 88)")
        # Runs of a machine share its cache: what lies there stays until something whole replaces it.
        cached = self.home / "cache-one" / "objects" / sha256[:2] / sha256
        cached.parent.mkdir(parents=True)
        cached.write_text("damaged\n")
        code, _, err = self.work("--once")
        self.assertEqual(code, 0, err)
        rows = dict(self.cluster.sql("SELECT id, state||' '||(result#>>'{error,message}') FROM runs"))
        self.assertEqual(rows[given_up], "failed abandoned by 3 workers")
        self.assertRegex(rows[damaged], "^failed the body [0-9a-f]{64} .*does not match its hash")
        self.assertEqual(sum(self.model.asked.values()), 0)
        self.assertEqual(cached.read_text(), "damaged\n")
        self.assertNotIn("oneX", "".join(path.read_text(errors="replace") for path in
                                         (self.home / "cache-one").rglob("*") if path.is_file()))

    def put_row(self, run: str, request: str):
        self.cluster.sql(f"INSERT INTO runs(id, owner, state, request) VALUES('{run}', 'eve', 'queued', "
                         f"'{request}')")

    def test_rows_of_others_end_themselves_alone(self):
        # SRV-71, SRV-75: whoever may write to the database gets no further
        good = self.put(9)
        (self.home / "victim/dir-1.db-live").mkdir(parents=True)
        self.write("victim/dir-1.db-live/kept.txt", "kept")
        outside = "/../victim/dir"
        for run in (outside, "20261127-010203-0000000G", "last"):
            self.put_row(run, self.cluster.sql(f"SELECT request FROM runs WHERE id='{good}'")[0][0])
        bad = {f"20261127-010203-0000000{n}": request for n, request in enumerate((
            "[1]", "[" * 5000 + "]" * 5000, *(json.dumps({"kind": "ask", "question": "x?", "mode": "direct", "seed": seed})
                                              for seed in (-1, 1.5, 1e300, "1", [])),
            json.dumps({"kind": "ask", "question": "x?", "mode": "direct", "seed": 1, "model": "command/claude/--flag"})))}
        for run, request in bad.items():
            self.put_row(run, request)
        self.assertEqual(set(self.shared_runs()), {good, *bad}, "the list shows what has an id")
        code, _, err = self.work("--once")
        self.assertEqual(code, 0, err)
        self.assert_answered_once(good, 9)
        rows = {row[0]: row[1:] for row in self.cluster.sql(
            f"SELECT id, state, result#>>'{{error,message}}' FROM runs WHERE id<>'{good}'")}
        self.assertEqual({state for state, _ in rows.values()}, {"failed"}, rows)
        self.assertIn("has not the form", rows[outside][1])
        self.assertIn("not a JSON object", rows["20261127-010203-00000000"][1])
        self.assertIn("seed", rows["20261127-010203-00000002"][1])
        self.assertIn("-m command/claude/--flag", rows["20261127-010203-00000007"][1])
        self.assertEqual([path.name for path in (self.home / "victim").rglob("*")], ["dir-1.db-live", "kept.txt"])
        self.assertEqual(self.run_to_end("runs", "show", outside, "--store", self.cluster.url)[0], 4)

    def test_events_that_another_wrote_end_the_lease(self):
        # SRV-72: a place that holds another event is not taken for one's own
        self.model.hold.clear()
        run = self.put(16)
        worker = self.start(*self.worker_words("--slots", "1"))
        self.assertTrue(self.model.held.wait(30))
        self.cluster.sql("INSERT INTO events(run, epoch, seq, time, call, type, data) SELECT run, epoch, n, time, "
                         f"0, 'warning', '{{}}' FROM events, generate_series(1, 60) n WHERE run='{run}' AND seq=1 "
                         "ON CONFLICT DO NOTHING")
        self.model.hold.set()
        said = ""
        while "somebody else wrote events" not in said:
            said = worker.stderr.readline()
            self.assertTrue(said, "the worker ended")
        self.assertEqual(self.cluster.sql("SELECT count(*) FROM events WHERE type='run.finished'"), [["0"]])

    def test_what_events_name_is_not_looked_for(self):
        # SRV-75: a path of another machine
        run = self.put(17)
        code, _, err = self.work("--once")
        self.assertEqual(code, 0, err)
        named = json.dumps({"name": "x", "path": str(self.home / "nothing"), "bytes": 5, "modified_ns": 1})
        self.cluster.sql("INSERT INTO events(run, epoch, seq, time, call, type, data) SELECT run, epoch, max(seq)+1, "
                         f"now(), 0, 'context.named', '{named}' FROM events WHERE run='{run}' GROUP BY run, epoch")
        code, out, err = self.run_to_end("runs", "show", run, "--store", self.cluster.url)
        self.assertEqual(code, 0, err)
        self.assertIn("not copied: ", out)
        self.assertNotIn("it is gone", out)

    def test_owners_have_their_share(self):
        # SRV-71: --per-owner, across workers
        self.model.delay = 0.05
        runs = [self.put(number, "--owner", "ann") for number in (11, 12, 13)]
        workers = [self.start(*self.worker_words("--per-owner", "1", cache=f"cache-{n}"))
                   for n in (1, 2)]
        self.wait_until_ended(runs, 40)
        self.assertEqual(self.model.most_at_once, 1)
        for worker in workers:
            self.end(worker)

    def test_workers_share_a_cache_folder(self):
        # SRV-A18: two of one machine, one of them killed at work; nothing of its cache harms
        self.model.hold.clear()
        runs = {self.put(number): number for number in (31, 32)}
        workers = [self.start(*self.worker_words("--slots", "1", "--lease", "2s")) for _ in range(2)]
        end = time.monotonic() + 30
        while sum(self.model.asked[(number, 1)] for number in runs.values()) < 2:
            self.assertLess(time.monotonic(), end, "two workers are not at work")
            time.sleep(0.05)   # what happens in other processes is looked for
        workers[0].kill()
        workers[0].wait()
        self.model.hold.set()
        self.wait_until_ended(runs, 25)
        self.end(workers[1])
        for run, number in runs.items():
            self.assert_answered_once(run, number)
        self.assertEqual(sorted(run["attempts"] for run in self.shared_runs().values()), [0, 1])

    def test_a_worker_without_a_cache_costs_no_run(self):
        # SRV-70, SRV-71: its cache breaks; it leaves what it took, and takes no other
        broken = self.start(*self.worker_words())
        self.assertIn("is ready", broken.stderr.readline())
        cache = self.home / "cache-one"
        shutil.rmtree(cache)
        cache.write_text("no folder")
        run = self.put(33)
        self.assertIn(f"{run}: left to other workers: ", broken.stderr.readline())
        self.assertEqual(self.cluster.sql("SELECT state, epoch FROM runs"), [["queued", "1"]])
        code, out, err = self.run_to_end("runs", "show", run, "--store", self.cluster.url)
        self.assertRegex(out, "Reason: .*cannot keep its texts: .*/cache-one")
        later = self.put(34)
        code, _, err = self.work("--once", cache="cache-two")
        self.assertEqual(code, 0, err)
        for one, number in ((run, 33), (later, 34)):
            self.assert_answered_once(one, number)
        self.assertEqual(self.shared_runs()[later]["epoch"], 1, "the broken worker took another")
        self.end(broken)
        code, _, err = self.work("--once")
        self.assertEqual(code, 4, err)
        self.assertIn("/cache-one: Not a directory", err)

    def test_no_worker_drops_what_another_one_has_at_work(self):
        # SRV-A18: a cache that is full, and a run that has been at work for an hour
        (self.home / "config" / "dossier").mkdir(parents=True)
        self.write("config/dossier/dossier.yml", "store:\n  limit: 1\n")
        self.model.hold.clear()
        slow = self.put(35)
        worker = self.start(*self.worker_words("--slots", "1"))
        self.assertTrue(self.model.held.wait(30))
        folder = self.home / "cache-one" / "objects"
        (text,) = (path for path in folder.rglob("*") if path.is_file() and path.read_bytes() == b"one\ntwo\n")
        os.utime(text, (1, 1))
        for number, context in ((36, self.write("other.txt", "three\n")), (37, self.context)):
            code, _, err = self.run_to_end("runs", "put", "--store", self.cluster.url, context,
                                           f"question {number}?", "--mode", "direct")
            self.assertEqual(code, 0, err)
            code, _, err = self.work("--once")
            self.assertEqual(code, 0, err)
            self.assertTrue(text.exists(), "a text of a run at work was dropped")
        self.assertGreater(text.stat().st_mtime, 1, "who takes it from the cache does not say so")
        self.model.hold.set()
        self.wait_until_ended([slow], 25)
        self.assert_answered_once(slow, 35)
        self.end(worker)

    def test_workers_die_at_any_point(self):
        # SRV-A17
        chance = random.Random(17)
        self.model.delay = DELAY
        lease = 3 if WORKERS > 2 else 2
        runs = {self.put(number): number for number in range(100, 100 + RUNS)}
        words = ["--lease", f"{lease}s", "--slots", "2"]
        workers = [self.start(*self.worker_words(*words, cache=f"cache-{n}"),
                              stderr=subprocess.DEVNULL) for n in range(WORKERS)]
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.05, 0.8))   # the point is chance
            at = chance.randrange(WORKERS)
            if chance.random() < 0.5:
                workers[at].send_signal(signal.SIGSTOP)
                time.sleep(lease + 0.5)             # past its lease
                workers[at].send_signal(signal.SIGCONT)
            else:
                workers[at].send_signal(signal.SIGKILL)
                workers[at].wait()
                workers[at] = self.start(*self.worker_words(*words, cache=f"cache-{at}"),
                                         stderr=subprocess.DEVNULL)
        self.wait_until_ended(runs, 30 + RUNS)
        for worker in workers:
            self.end(worker)
        for run, number in runs.items():
            self.assert_answered_once(run, number)
        taken_over, again = self.cluster.sql(
            "SELECT (SELECT count(*) FROM runs WHERE attempts>0), (SELECT count(*) FROM (SELECT 1 FROM "
            "events WHERE type='request.sent' GROUP BY run, data->>'hash' HAVING count(*)>1) r)")[0]
        self.assertGreater(int(taken_over), 0, "no worker died at work")
        if RUNS > 12:
            print(f"\n{taken_over} runs were taken over, {again} requests in flight sent again")
        stale = self.cluster.sql("SELECT count(*) FROM events JOIN runs ON run=id "
                                 "WHERE events.epoch>runs.epoch")
        self.assertEqual(stale, [["0"]])


if __name__ == "__main__":
    harness.main()
