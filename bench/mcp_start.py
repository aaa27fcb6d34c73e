#!/usr/bin/env python3
"""How fast a tool server is there, and what it holds: spawn to the answer of tools/list, resident
memory then, tokens of the list; and `hook read` of a large file against `dossier --version`.

usage: mcp_start.py --dossier PATH [--large BYTES] [--rounds N] [NAME=COMMAND LINE]...

Other servers, such as `repomix="npx repomix --mcp"`, are started the same way, in the same run. One line
of JSON a server; times are medians, in milliseconds. What cannot be started is said.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

ASK = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}},
       {"jsonrpc": "2.0", "method": "notifications/initialized"},
       {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]


def resident(pid: int) -> int:
    """KiB of a process and of all that it started."""
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout.split()
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    own = next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)
    return own + sum(resident(int(child)) for child in children)


class Server:
    def __init__(self, argv: list):
        self.began = time.monotonic()
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        for message in ASK:
            self.send(message)
        self.tools = self.answer(2)["result"]["tools"]
        self.took = (time.monotonic() - self.began) * 1000

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def answer(self, number):
        while line := self.process.stdout.readline():
            try:
                message = json.loads(line)
            except ValueError:
                continue   # some print other things on stdout, too
            if isinstance(message, dict) and message.get("id") == number:
                return message
        raise OSError("it ended without an answer")

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stdout.close()


def tokens(dossier: str, tools: list) -> int:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"tools": tools}, file, separators=(",", ":"), ensure_ascii=False)
        file.flush()
        out = subprocess.run([dossier, "tokens", "--encoding", "o200k_base", file.name], check=True,
                             capture_output=True, text=True).stdout
    return int("".join(c for c in out.split()[0] if c.isdigit()))


def measure(name: str, argv: list, arguments) -> dict:
    times, memory, tools = [], [], []
    for _ in range(arguments.rounds):
        server = Server(argv)
        times.append(server.took)
        memory.append(resident(server.process.pid))
        tools = server.tools
        server.end()
    return {"server": name, "ms": round(statistics.median(times), 1), "resident_kib": int(statistics.median(memory)),
            "tools": len(tools), "tokens": tokens(arguments.dossier, tools)}


def timed(argv: list, stdin: str, rounds: int) -> float:
    took = []
    for _ in range(rounds):
        with open(stdin) as file:
            began = time.monotonic()
            subprocess.run(argv, stdin=file, stdout=subprocess.DEVNULL, check=True)
            took.append((time.monotonic() - began) * 1000)
    return statistics.median(took)


def large(arguments, folder: str) -> dict:
    """Growth on opening a large log, and the hook."""
    path = pathlib.Path(folder) / "large.log"
    line = "2026-11-26 10:00:00 INFO request served in 12 ms by worker 7\n" * 1000
    with open(path, "w") as file:
        for _ in range(arguments.large // len(line) + 1):
            file.write(line)
    message = pathlib.Path(folder) / "hook.json"
    message.write_text(json.dumps({"tool_name": "Read", "cwd": folder, "tool_input": {"file_path": str(path)}}))
    version = timed([arguments.dossier, "--version"], str(message), 15)
    hook = timed([arguments.dossier, "hook", "read"], str(message), 15)
    server = Server([arguments.dossier, "mcp", "--root", folder])
    before = resident(server.process.pid)
    began = time.monotonic()
    server.send({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
                 "params": {"name": "open", "arguments": {"paths": [str(path)]}}})
    opened = server.answer(3)["result"]
    took = time.monotonic() - began
    after = resident(server.process.pid)
    server.end()
    return {"bytes": path.stat().st_size, "open_s": round(took, 2), "growth_kib": after - before,
            "opened": "context" in opened.get("structuredContent", {}),
            "version_ms": round(version, 2), "hook_ms": round(hook, 2), "hook_ratio": round(hook / version, 2)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("others", nargs="*")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = f"{folder}/data"
        servers = [("dossier", [arguments.dossier, "mcp", "--root", folder])]
        servers += [(one.split("=", 1)[0], shlex.split(one.split("=", 1)[1])) for one in arguments.others]
        for name, argv in servers:
            try:
                print(json.dumps(measure(name, argv, arguments)), flush=True)
            except (OSError, KeyError, ValueError) as error:
                print(json.dumps({"server": name, "not_started": str(error)}))
        if arguments.large:
            print(json.dumps(large(arguments, folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
