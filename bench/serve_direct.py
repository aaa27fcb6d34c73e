#!/usr/bin/env python3
"""Direct requests a second through `dossier serve`, beside the same loopback model alone.

usage: serve_direct.py --dossier PATH [--seconds 3] [--connections 8] [--rounds 3]

The model is `dossier models serve-script`, whose replies are at once. A client of plain sockets keeps so many connections
busy; rounds alternate between model and serve, so that both see the same load. One line of JSON: requests a second of
both (medians), their ratio, and milliseconds of processor time that serve takes for a request.
"""

import argparse
import json
import os
import pathlib
import re
import selectors
import socket
import statistics
import subprocess
import tempfile
import time

BODY = json.dumps({"model": "fast", "messages": [{"role": "user", "content": "Say hello."}]}).encode()


def request(port: int, path: str) -> bytes:
    return (f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(BODY)}\r\n\r\n").encode() + BODY


def whole(data: bytes) -> bool:
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return False
    length = re.search(rb"content-length: *(\d+)", head, re.I)
    return len(body) >= int(length[1]) if length else body.endswith(b"0\r\n\r\n")


def rate(port: int, path: str, connections: int, seconds: float) -> float:
    """Requests a second that were answered with 200."""
    sent, selector, done = request(port, path), selectors.DefaultSelector(), 0
    for _ in range(connections):
        one = socket.create_connection(("127.0.0.1", port))
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one.sendall(sent)
        selector.register(one, selectors.EVENT_READ, bytearray())
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        for key, _ in selector.select(0.1):
            data = key.data
            data += key.fileobj.recv(65536)
            if not whole(data):
                continue
            assert data.startswith(b"HTTP/1.1 200"), bytes(data[:300])
            data.clear()
            done += 1
            key.fileobj.sendall(sent)
    took = time.monotonic() - begun
    for key in list(selector.get_map().values()):
        key.fileobj.close()
    return done / took


def cpu_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        script = pathlib.Path(home, "replies.json")
        script.write_text(json.dumps([{"reply": "hello", "times": "always"}]))
        environment = {"HOME": home, "PATH": os.environ["PATH"], "XDG_DATA_HOME": home + "/data"}
        model = subprocess.Popen([given.dossier, "models", "serve-script", str(script)], env=environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        model_port = int(re.search(r"127\.0\.0\.1:(\d+)", model.stdout.readline())[1])
        serve = subprocess.Popen([given.dossier, "serve", "--bind", "127.0.0.1:0", "--no-auth", "-m", "fast",
                                  "--base-url", f"http://127.0.0.1:{model_port}/v1"], env=environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            port = int(re.search(r"127\.0\.0\.1:(\d+)", serve.stderr.readline())[1])
            path = "/v1/chat/completions"
            rate(port, path, given.connections, 0.5)
            alone, through, cost, count = [], [], 0.0, 0.0
            for _ in range(given.rounds):
                alone.append(rate(model_port, path, given.connections, given.seconds))
                before = cpu_seconds(serve.pid)
                through.append(rate(port, path, given.connections, given.seconds))
                cost += cpu_seconds(serve.pid) - before
                count += through[-1] * given.seconds
            print(json.dumps({"model_a_second": round(statistics.median(alone)),
                              "serve_a_second": round(statistics.median(through)),
                              "ratio": round(statistics.median(through) / statistics.median(alone), 3),
                              "serve_cpu_ms": round(1000 * cost / count, 3), "load": os.getloadavg()[0]}))
        finally:
            serve.terminate()
            model.terminate()
            serve.wait()
            model.wait()


if __name__ == "__main__":
    main()
