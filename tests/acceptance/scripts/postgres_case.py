"""A PostgreSQL server of a test's own, and workers over it.

The server lies in a temporary folder, listens on a socket there alone, and goes with the test. It
does not run as root: there the user `postgres` has it, whom Debian's package makes.
"""

import collections
import json
import os
import pathlib
import re
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import time

import harness

PROGRAMS = pathlib.Path("/usr/lib/postgresql/15/bin")
# Gives a process another clock; of Debian's package libfaketime.
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


class Cluster:
    def __init__(self, settings=("fsync=off",)):
        if not (PROGRAMS / "initdb").exists():
            raise AssertionError("PostgreSQL 15 is not here; scripts/setup --test installs it")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dossier-pg-"))
        self.settings = settings
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres")
        self.folder.chmod(0o755)
        self.run("initdb", "-D", str(self.folder / "data"), "-A", "trust", "-U", "postgres", "-N")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql:///postgres?host={self.folder}&user=postgres"

    def words(self, *words):
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        return (user if os.getuid() == 0 else []) + [str(PROGRAMS / words[0]), *words[1:]]

    def run(self, *words):
        subprocess.run(self.words(*words), check=True, cwd=self.folder, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)

    def start(self):
        options = f"-k {self.folder} -c listen_addresses= -c max_connections=300 " + \
            " ".join(f"-c {one}" for one in self.settings)
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-o", options, "-l",
                 str(self.folder / "data" / "log"), "start")

    def stop(self, how="fast"):
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", how, "stop")

    def close(self):
        try:
            self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")
        except subprocess.SubprocessError:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)

    def sql(self, statement: str) -> list:
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", "\t", self.url, "-c", statement],
                              capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise AssertionError(done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]


def children_of(parent: int) -> list:
    """The processes that this one started."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(entry.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(entry.parent.name))
        except OSError:
            pass   # it has ended meanwhile
    return found


class CuttingProxy:
    """Before a server's socket: the reply to the first statement with these words never arrives."""

    def __init__(self, behind, words: bytes):
        self.behind, self.words, self.cuts = str(behind), words, 0
        self.folder = tempfile.mkdtemp(prefix="dossier-proxy-")

    def __enter__(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{self.folder}/.s.PGSQL.5432")
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{self.behind}/.s.PGSQL.5432")
            threading.Thread(target=self.serve, args=(client, server), daemon=True).start()

    def serve(self, client, server):
        cuts = False
        try:
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(1 << 16)
                    if source is client and self.words in data and not self.cuts:
                        cuts = True
                    elif source is server and cuts:
                        self.cuts += 1
                        return
                    if not data:
                        return
                    (server if source is client else client).sendall(data)
        except OSError:
            pass   # one of them is gone
        finally:
            client.close()
            server.close()


class CountingModel:
    """Three turns a run, one of them with a sub-call; the number in the question is in the answer."""

    def __init__(self, delay=0.0):
        self.delay = delay
        self.asked = collections.Counter()   # (run, step)
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.hold = threading.Event()        # cleared: the second turn gets no answer
        self.hold.set()
        self.held = threading.Event()

    def __call__(self, handler, body: dict):
        texts = [message["content"] if isinstance(message["content"], str) else
                 "".join(part.get("text", "") for part in message["content"])
                 for message in body["messages"]]
        sub = re.search(r"sub (\d+)", texts[-1]) if len(texts) == 1 else None
        if sub:
            key, text = (int(sub[1]), "sub"), "7"
        else:
            number = int(re.search(r"question (\d+)\?", "\n".join(texts))[1])
            turn = sum(message["role"] == "assistant" for message in body["messages"]) - 1
            turn = min(max(turn, 0), 2)
            key = (number, turn)
            text = ["```repl\nprint(len(context))\n```",
                    f"```repl\nseven = int(llm_query('sub {number}'))\nprint(seven)\n```",
                    f"```repl\nout = 'answer ' + str({number} * seven)\nprint(out)\n```\n"
                    "FINAL_VAR(out)"][turn]
        with self.lock:
            self.asked[key] += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if key[1] == 1 and not self.hold.is_set():
                self.held.set()
                self.hold.wait(60)
            time.sleep(self.delay)   # what a model takes
            harness.reply(handler, body, text)
        finally:
            with self.lock:
                self.at_once -= 1

    def of_run(self, number: int) -> int:
        return sum(count for (run, _), count in self.asked.items() if run == number)


class PostgresCase(harness.Case):
    SETTINGS = ("fsync=off",)

    def setUp(self):
        super().setUp()
        self.model = CountingModel()
        self.server = self.serve(self.model)
        self.cluster = Cluster(self.SETTINGS)
        self.addCleanup(self.cluster.close)
        self.context = self.write("text.txt", "one\ntwo\n")

    def worker_words(self, *words, cache="cache-one"):
        return ["worker", "--store", self.cluster.url, "--base-url", self.server.url, "-m",
                "some-model", "--retries", "0", "--cache-dir", str(self.home / cache), *words]

    def work(self, *words, cache="cache-one", limit=60):
        return self.run_to_end(*self.worker_words(*words, cache=cache), limit=limit)

    def put(self, number: int, *words):
        code, out, err = self.run_to_end("runs", "put", "--store", self.cluster.url, self.context,
                                         f"question {number}?", "--mode", "recursive", *words)
        self.assertEqual(code, 0, err)
        return out.strip()

    def shared_runs(self) -> dict:
        code, out, err = self.run_to_end("runs", "list", "--limit", "1000", "--json", "--store",
                                         self.cluster.url)
        self.assertEqual(code, 0, err)
        return {run["run"]: run for run in json.loads(out)["runs"]}

    def wait_until_ended(self, runs, limit: float):
        end = time.monotonic() + limit
        wanted = ",".join(f"'{run}'" for run in runs)
        while time.monotonic() < end:
            left = self.cluster.sql(f"SELECT count(*) FROM runs WHERE id IN ({wanted}) AND "
                                    "state IN ('queued','running')")
            if left == [["0"]]:
                return
            time.sleep(0.1)   # what happens in other processes is looked for
        self.fail(f"not ended in {limit} s: {self.cluster.sql('SELECT id, state FROM runs')}")

    def story(self, run: str) -> str:
        """What the store tells of a run, for the message of a test that failed."""
        rows = self.cluster.sql("SELECT state, worker, epoch, attempts, fruitless, result FROM runs "
                                f"WHERE id='{run}'")
        rows += self.cluster.sql("SELECT epoch, time, type, left(data::text, 200) FROM events "
                                 f"WHERE run='{run}' ORDER BY seq")
        return "\n".join(" | ".join(row) for row in rows)

    def assert_answered_once(self, run: str, number: int, status="final"):
        """One answer; every request known before it was sent; none again once its reply is known."""
        row = self.cluster.sql(f"SELECT state, result->>'answer', result->>'status' FROM runs "
                               f"WHERE id='{run}'")
        self.assertEqual(row, [["done", f"answer {number * 7}", status]], self.story(run))
        events = self.cluster.sql("SELECT seq, epoch, type, coalesce(data->>'hash',''), "
                                  "coalesce(data->>'from_cache','') FROM events "
                                  f"WHERE run='{run}' ORDER BY seq")
        self.assertEqual([int(event[0]) for event in events], list(range(1, len(events) + 1)))
        epochs = [int(event[1]) for event in events]
        self.assertEqual(epochs, sorted(epochs), "an event of an old epoch came behind a new one")
        self.assertEqual(sum(event[2] == "run.finished" for event in events), 1)
        answered, sent, resumed = set(), set(), False
        for _, _, kind, of, _ in events:
            if kind == "run.resumed":
                resumed, sent_before = True, set(sent)
            elif kind == "request.sent":
                self.assertNotIn(of, answered, "a request whose reply is recorded was sent again")
                if of in sent:
                    self.assertTrue(resumed and of in sent_before, "sent twice by one worker")
                    sent_before.discard(of)
                sent.add(of)
            elif kind == "reply.received":
                answered.add(of)
        known = sum(event[2] == "request.sent" for event in events)
        self.assertLessEqual(self.model.of_run(number), known,
                             "a request was sent that no event tells of")
