#!/usr/bin/env python3
"""Daily tasks with a model in a shell, by hand: what is typed, what it costs, what goes wrong.

usage: daily.py [--dossier PATH] [--peers FOLDER]... [--rounds N] [--only TEXT]

bench/daily.yaml holds the tasks. All tools talk to one stand-in server on loopback
(stand_in_server.py), so no model's time is in the figures: keystrokes are the characters typed and
one return a line; seconds are processor time, the least of N rounds, each in a fresh home. The
embedded model works in a process of its own: there they are of the clock, its start included. FOLDER
holds the peers' commands (a venv's bin, npm's node_modules/.bin); one that is not there is named.
The server gets Ollama's port in a network namespace of its own.
"""

import argparse
import base64
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time

import yaml

from stand_in_server import StandIn

HERE = pathlib.Path(__file__).resolve().parent
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
TOOLS = ("llm", "repomix", "dossier")
KEY = "sk-stand-in"
LIMIT = 300  # seconds of one command
RANKS = {"o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",  # tiktoken's names for its cached vocabularies
         "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"}


def keystrokes(commands: list[str], answers: int) -> int:
    """Each character and one return a line; a key is pasted, an address typed."""
    return sum(len(command.replace("{key}", "p")) + 1 for command in commands) + answers


class Shell:
    """A fresh home and folder, in which commands run one after the other on a terminal."""

    def __init__(self, plan: dict, task: dict, dossier: str, peers: list[str], server: StandIn) -> None:
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="daily-"))
        self.folder, self.home, programs = (self.top / name for name in ("work", "home", "bin"))
        for folder in (self.folder, self.home, programs):
            folder.mkdir()
        (programs / "dossier").symlink_to(dossier)
        for name, text in plan["files"].items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        (self.folder / plan["picture"]).write_bytes(PIXEL)
        ranks = self.top / "ranks"  # which it would fetch once
        ranks.mkdir()
        for name, cached in RANKS.items():
            if (HERE.parent / f".cache/ranks/{name}.tiktoken").exists():
                shutil.copy(HERE.parent / f".cache/ranks/{name}.tiktoken", ranks / cached)
        if task.get("local"):  # the weights that `dossier models pull` brought
            data = self.home / ".local/share/dossier"
            data.parent.mkdir(parents=True)
            data.mkdir()
            for name in ("models", "local"):
                shutil.copytree(pathlib.Path.home() / ".local/share/dossier" / name, data / name, symlinks=True,
                                copy_function=os.link, ignore=shutil.ignore_patterns("*.sock", "*.lock"))
        self.server = server
        self.env = {"HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "xterm", "OPENAI_BASE_URL": server.url,
                    "PATH": ":".join([str(programs), *peers, "/usr/bin", "/bin"]), "TIKTOKEN_CACHE_DIR": str(ranks)}

    def run(self, command: str) -> tuple[str, str, float, int]:
        """(what it printed, how it failed or "", processor seconds, answers typed)."""
        command = command.replace("{address}", self.server.address).replace("{key}", KEY)
        if match := re.fullmatch(r"export (\w+)=(.*)", command):
            self.env[match[1]] = match[2]
            return "", "", 0.0, 0
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ours, theirs = pty.openpty()
        process = subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=self.env, stdin=theirs,
                                   stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        printed, answers, until = b"", 0, time.monotonic() + LIMIT
        while time.monotonic() < until:
            if not select.select([ours], [], [], until - time.monotonic())[0]:
                break
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the terminal is closed: all of its programs have ended
                break
            printed += piece
            asked = printed.count(b"[Y/n]")
            if asked > answers:
                os.write(ours, b"\n")
                answers = asked
        if process.poll() is None and time.monotonic() >= until:
            process.kill()
        code = process.wait()
        os.close(ours)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed.decode("utf-8", "replace"))
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        last = (text.strip().splitlines() or ["nothing printed"])[-1]
        return text, f"exit {code}: {last}" if code else "", seconds, answers

    def end(self) -> None:
        shutil.rmtree(self.top, ignore_errors=True)


def attempt(task: dict, tool: str, shell: Shell) -> tuple[str, float, int]:
    """(what went wrong or "", processor seconds, answers typed)."""
    text, seconds, answers, server = "", 0.0, 0, shell.server
    if tool in task.get("before", {}):
        shell.run(task["before"][tool])
    for command in task[tool]:
        if command == task.get("skip"):
            continue
        text, failed, used, typed = shell.run(command)
        seconds, answers = seconds + used, answers + typed
        if failed:
            return failed, seconds, answers
    if not re.search(task["prints"], text):
        return f"prints {text.strip()[-80:]!r}", seconds, answers
    if "sends" in task and not (server.bodies and re.search(task["sends"], server.bodies[-1])):
        return "the request lacks it", seconds, answers
    return "", seconds, answers


def measure(task: dict, tool: str, plan: dict, arguments: argparse.Namespace) -> str:
    """Cells of the table: keystrokes, seconds, what went wrong."""
    if tool not in task:
        return " | "
    best, wrong, answers = float("inf"), "", 0
    for _ in range(arguments.rounds):
        port = 11434 if task.get("ollama") else 0
        with StandIn([tuple(rule) for rule in plan["replies"]], {"/page": plan["page"]}, port) as server:
            shell = Shell(plan, task, arguments.dossier, arguments.peers, server)
            if "first" not in task:
                shell.env["OPENAI_API_KEY"] = KEY
            if port or task.get("local"):
                del shell.env["OPENAI_BASE_URL"]
            start = time.monotonic()
            wrong, seconds, answers = attempt(task, tool, shell)
            if task.get("local"):
                seconds = time.monotonic() - start
                shell.run("dossier models stop")
            shell.end()
        best = min(best, seconds)
        if wrong:
            break
    if wrong:
        print(f"{task['task']}, {tool}: {wrong}", file=sys.stderr)
    return f"{keystrokes(task[tool], answers)} | {'**fails**' if wrong else f'{best:.2f}'}"


def main() -> int:
    if "--inside" not in sys.argv:
        inside = ["unshare", "-rn", "--", sys.executable, *sys.argv, "--inside"]
        return subprocess.run(inside, check=False).returncode
    sys.argv.remove("--inside")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dossier", default=str(HERE.parent / "build/release/bin/dossier"))
    parser.add_argument("--peers", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    plan = yaml.safe_load((HERE / "daily.yaml").read_text("utf-8"))
    tasks = plan["tasks"] + [task | {"first": True} for task in plan["first"]]
    print("| task | " + " | ".join(f"{tool}: keystrokes | seconds" for tool in TOOLS) + " |")
    print("| --- |" + " --- | --- |" * len(TOOLS))
    for task in tasks:
        if arguments.only in task["task"]:
            cells = [measure(task, tool, plan, arguments) for tool in TOOLS]
            print(f"| {task['task']} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
