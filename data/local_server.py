"""Runs and watches the local model server of dossier.

    python3 local_server.py launch.json     the watcher: starts a server, ends it when nobody asks
    python3 local_server.py --serve         the server itself on xllamacpp; parameters on stdin

launch.json holds the parameters and the key, is readable by its owner only, and is removed once
read. When the server answers, the watcher writes the state file; while the state file names it, it
keeps running. It ends after `idle_seconds` without work, when the state file is gone or names
another watcher, on SIGTERM, and when the server dies; why stands in the failure file.
"""

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

LOG_BYTES = 1 << 20
PR_SET_PDEATHSIG = 1
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def write_private(path, value):
    """Whole or not at all, readable by the owner only."""
    temporary = f"{path}.{os.getpid()}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.rename(temporary, path)


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        return value if isinstance(value, dict) else None
    except (OSError, ValueError):
        return None


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def die_with_parent():
    """A watcher that is killed outright must not leave a server behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# --- the server on xllamacpp -------------------------------------------------------------------


def serve():
    die_with_parent()
    options = json.loads(sys.stdin.readline())
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = options["path"]
    params.model_alias = {options["model"]}
    params.n_ctx = options["window"] * options["slots"]
    params.n_parallel = options["slots"]
    params.cpuparams.n_threads = options["threads"]
    params.cpuparams_batch.n_threads = options["threads"]
    params.hostnames = ["127.0.0.1"]
    params.port = options["port"]
    params.api_keys = [options["key"]]
    params.warmup = True
    params.endpoint_slots = True
    params.endpoint_metrics = True
    server = xllamacpp.Server(params)
    print("listening on", server.listening_address, flush=True)
    while True:
        time.sleep(3600)


# --- the watcher -------------------------------------------------------------------------------


class Watcher:
    def __init__(self, options):
        self.options = options
        self.folder = options["folder"]
        self.state_path = os.path.join(self.folder, "server.json")
        self.stats_path = os.path.join(self.folder, "stats.json")
        self.failure_path = os.path.join(self.folder, "failure.json")
        self.log_path = os.path.join(self.folder, "server.log")
        self.key_path = os.path.join(self.folder, "server.key")
        self.child = None
        self.port = 0
        self.counters = None
        self.speed = None
        self.active = time.time()
        self.stopping = False

    def get(self, target, seconds):
        """The body of an answer, or None if there is none in time."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{target}",
            headers={"Authorization": "Bearer " + self.options["key"]},
        )
        try:
            with OPENER.open(request, timeout=seconds) as answer:
                return answer.read(1 << 20).decode("utf-8", "replace")
        except (OSError, urllib.error.URLError, ValueError):
            return None

    def start(self):
        self.port = free_port()
        options = self.options
        if options["runtime"] == "llama-server":
            fd = os.open(self.key_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "w") as file:
                file.write(options["key"] + "\n")
            argv = [options["program"], "--model", options["path"], "--alias", options["model"],
                    "--host", "127.0.0.1", "--port", str(self.port),
                    "--ctx-size", str(options["window"] * options["slots"]),
                    "--parallel", str(options["slots"]), "--threads", str(options["threads"]),
                    "--api-key-file", self.key_path, "--slots", "--metrics", "--no-webui"]
            self.child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
            return
        self.child = subprocess.Popen([sys.executable, "-I", os.path.abspath(__file__), "--serve"],
                                      stdin=subprocess.PIPE, text=True)
        try:
            self.child.stdin.write(json.dumps(dict(options, port=self.port)) + "\n")
            self.child.stdin.close()
        except OSError:
            pass  # it has ended already; wait_until_ready says why

    def wait_until_ready(self):
        while not self.stopping:
            if self.child.poll() is not None:
                return False
            if self.get("/health", 2) is not None and self.get("/v1/models", 2) is not None:
                return True
            time.sleep(0.05)
        return False

    def publish(self):
        kept = ("key", "model", "path", "window", "slots", "threads", "runtime", "version",
                "idle_seconds")
        state = {name: self.options[name] for name in kept}
        state.update(pid=os.getpid(), server_pid=self.child.pid, port=self.port,
                     started=int(time.time()))
        write_private(self.state_path, state)

    def watch(self):
        while not self.stopping:
            time.sleep(min(1.0, max(0.05, self.options["idle_seconds"] / 10)))
            if self.child.poll() is not None:
                return self.fail()
            state = read_json(self.state_path)
            if state is None or state.get("pid") != os.getpid():
                return None
            self.look()
            self.trim_log()
            if time.time() - self.last_use() > self.options["idle_seconds"]:
                return None
        return None

    def last_use(self):
        try:
            return max(self.active, os.stat(self.state_path).st_mtime)
        except OSError:
            return self.active

    def look(self):
        """Work shows in the counters, or in a server too busy to tell them."""
        text = self.get("/metrics", 5)
        if text is None:
            self.active = time.time()
            return
        counters = dict(re.findall(r"^llamacpp:(\w+)(?:\{[^}]*\})? ([0-9.eE+-]+)$", text, re.M))
        busy = float(counters.get("requests_processing", 0)) > 0
        if not busy and counters == self.counters:
            return
        if self.counters is not None:
            def grown(name):
                return float(counters.get(name, 0)) - float(self.counters.get(name, 0))
            seconds = grown("tokens_predicted_seconds_total")
            if seconds > 0:
                self.speed = grown("tokens_predicted_total") / seconds
        changed = self.counters is not None
        self.counters = counters
        if busy or changed:
            self.active = time.time()
            write_private(self.stats_path,
                          {"last_active": self.active, "tokens_per_second": self.speed})

    def trim_log(self):
        """Keeps the end of the log. Its writers append, so the file can be cut below them."""
        try:
            if os.stat(self.log_path).st_size < 2 * LOG_BYTES:
                return
            with open(self.log_path, "r+b") as log:
                log.seek(-LOG_BYTES, os.SEEK_END)
                tail = log.read()
                log.seek(0)
                log.truncate()
                log.write(tail)
        except OSError:
            pass

    def fail(self):
        code = self.child.returncode
        reason = {"exit_code": code if code >= 0 else None}
        if code < 0:
            reason["signal"] = -code
        write_private(self.failure_path, reason)
        return None

    def end(self):
        state = read_json(self.state_path)
        if state is not None and state.get("pid") == os.getpid():
            remove(self.state_path)
            remove(self.stats_path)
        remove(self.key_path)
        if self.child is not None and self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(3)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()

    def run(self):
        def stop(*_):
            self.stopping = True
            # The wait for the server to end belongs to end(); here only the loops are left.

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        remove(self.failure_path)
        try:
            self.start()
            if self.wait_until_ready():
                self.publish()
                self.watch()
            elif not self.stopping:
                self.fail()
        finally:
            self.end()


def main():
    if sys.argv[1] == "--serve":
        serve()
        return
    options = read_json(sys.argv[1])
    remove(sys.argv[1])
    if options is None:
        sys.exit("the parameters cannot be read")
    Watcher(options).run()


main()
