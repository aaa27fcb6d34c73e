"""What the process-level tests share: a fresh home, the command, servers that misbehave.

Each script is run as: SCRIPT.py --dossier PATH [unittest arguments]
"""

import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest


def is_sanitized(dossier: str) -> bool:
    """A sanitizer's runtime reserves terabytes: no limit on memory can hold in such a build."""
    program = pathlib.Path(dossier).read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


DOSSIER = ""
# Two images of one pixel.
PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9"
                    "fe92ef0000000049454e44ae426082")
OTHER_PNG = PNG[:-1] + b"\x83"


class Case(unittest.TestCase):
    """One fresh folder and store for every test."""

    HOMES = None  # the folder that they are made in; None: the system's for temporary files

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="dossier-process-", dir=self.HOMES))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
                    "TMPDIR": str(self.home), "XDG_DATA_HOME": f"{self.home}/data",
                    "XDG_CONFIG_HOME": f"{self.home}/config",
                    "XDG_CACHE_HOME": f"{self.home}/cache"}
        for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def write(self, name: str, content) -> str:
        path = self.home / name
        whole = path.with_name(f".{path.name}.whole")   # a process may be reading the one before
        whole.write_bytes(content if isinstance(content, bytes) else content.encode())
        whole.replace(path)
        return str(path)

    def script(self, replies: list) -> list[str]:
        return ["-m", "scripted", "--script", self.write("script.json", json.dumps(replies))]

    def take_images(self):
        """The scripted model takes images from now on."""
        folder = self.home / "config/dossier"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "dossier.yml").write_text("models: {data: [models.yaml]}\n")
        (folder / "models.yaml").write_text(json.dumps({"schema": "dossier.models/1", "models": [
            {"name": "scripted", "provider": "scripted", "window": 131072, "max_output": 16384, "as_of": "2026-11-27",
             "source": "a test", "image": {"tokens": 100}}]}))

    def start(self, *words: str, command: str = "", **options) -> subprocess.Popen:
        process = subprocess.Popen([command or DOSSIER, *words], env=self.env,
                                   **{"cwd": self.home, "stdin": subprocess.DEVNULL,
                                      "stdout": subprocess.PIPE,
                                      "stderr": subprocess.PIPE, "text": True, **options})
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process: subprocess.Popen):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    def run_to_end(self, *words: str, limit: float = 120, **options):
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=limit)
        return process.returncode, out, err

    def runs(self) -> list:
        code, out, err = self.run_to_end("runs", "list", "--json")
        self.assertEqual(code, 0, err)
        return json.loads(out)["runs"]

    def events(self, run: str) -> list:
        code, out, err = self.run_to_end("runs", "show", run, "--json")
        self.assertEqual(code, 0, err)
        return json.loads(out)["events"]

    def wait_for_event(self, process: subprocess.Popen, kind: str, limit: float = 90):
        """Reads the events that --progress json prints on stderr until one of `kind` comes."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            line = process.stderr.readline()
            if not line:
                self.fail(f"the command ended before {kind}")
            if f'"type":"{kind}"' in line:
                return json.loads(line)
        self.fail(f"no {kind} in {limit} s")

    def children_of(self, pid: int) -> list[int]:
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found += [int(entry.name), *self.children_of(int(entry.name))]
        return found

    def assert_gone(self, pids: list, limit: float = 10):
        end = time.monotonic() + limit
        left = pids
        while left and time.monotonic() < end:
            left = [pid for pid in left if pathlib.Path(f"/proc/{pid}").exists()]
            time.sleep(0.05)
        self.assertEqual(left, [], "processes are left behind")

    def serve(self, answer) -> "Server":
        server = Server(answer)
        self.addCleanup(server.close)
        return server

    def ask_server(self, server: "Server", *words: str, limit: float = 120):
        return self.run_to_end("ask", "--base-url", server.url, "-m", "some-model", "--retries", "0",
                               *words, limit=limit)


class Server:
    """A loopback HTTP server; `answer(handler, body)` writes the reply."""

    def __init__(self, answer):
        self.requests = []
        self.headers = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(length)
                outer.requests.append(body)
                outer.headers.append(dict(self.headers))
                try:
                    answer(self, json.loads(body) if body else {})
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            do_GET = do_POST

            def log_message(self, *_):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256  # the default of 5 makes the 6th connection at once wait seconds

            def handle_error(self, *_):
                pass

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()


def send(handler, status: int, body: bytes, kind: str = "application/json", headers=()):
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def chunk(text: str, finish=None) -> bytes:
    delta = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}
    return b"data: " + json.dumps(delta).encode() + b"\n\n"


def reply(handler, body: dict, text: str):
    """A whole reply in the form that the request asked for."""
    if body.get("stream"):
        send(handler, 200, chunk(text) + chunk("", "stop") + b"data: [DONE]\n\n",
             "text/event-stream")
    else:
        message = {"role": "assistant", "content": text}
        send(handler, 200, json.dumps({"choices": [{"index": 0, "message": message,
                                                    "finish_reason": "stop"}],
                                       "usage": {"prompt_tokens": 5, "completion_tokens": 2}
                                       }).encode())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    global DOSSIER
    at = sys.argv.index("--dossier")
    DOSSIER = str(pathlib.Path(sys.argv[at + 1]).resolve())
    del sys.argv[at:at + 2]
    unittest.main(module="__main__")
