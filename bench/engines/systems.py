"""The engines as the table runs them: in a process that stays, or as a whole command, and what that took."""

import contextlib
import dataclasses
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

import timing
from timing import Failed

HERE = pathlib.Path(__file__).resolve().parent
OURS = "dossier"
WINDOW = "20000000"  # tokens: no prompt of the table is too long for its model


@dataclasses.dataclass
class Sample:
    wall: float            # seconds
    cpu: float             # of the process and all that it started
    answer: str = ""
    error: str = ""        # what the engine said instead of an answer
    peak: int = 0          # bytes, where memory was looked at
    code: int = 0          # of the command's end


@dataclasses.dataclass(frozen=True)
class Asking:
    url: str
    context: pathlib.Path
    question: str
    turns: int = 30
    depth: int = 1
    limits: dict = dataclasses.field(default_factory=dict)  # of a peer, by its names

    def line(self) -> str:
        return json.dumps(dataclasses.asdict(self) | {"context": str(self.context)})


@dataclasses.dataclass
class Places:
    """Where the programs are, and where they may write."""
    dossier: str
    folder: pathlib.Path      # everything of this run
    peers: pathlib.Path       # environments of the peers, as bench/eval_peers makes them
    limit: float = 60.0       # seconds of one run

    def python(self, peer: str) -> str:
        return str(self.peers / peer / "bin/python")

    def missing(self, peer: str) -> str:
        """Why a peer cannot be run; "" if it can."""
        if os.access(self.python(peer), os.X_OK):
            return ""
        return f"not installed: {peer} (bench/eval_peers install {peer})"

    def version(self, peer: str) -> str:
        with contextlib.suppress(OSError):
            return (self.peers / peer / "version").read_text().strip()
        return peer

    def environment(self) -> dict[str, str]:
        """State folders of their own, no keys, nothing that is written beside the programs."""
        home = self.folder / "home"
        for name in ("data", "config", "state", "cache"):
            (home / name).mkdir(parents=True, exist_ok=True)
        kept = {name: value for name, value in os.environ.items()
                if not name.endswith("_API_KEY") and not name.startswith(("DOSSIER_", "XDG_"))}
        return kept | {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config"),
                       "XDG_STATE_HOME": str(home / "state"), "XDG_CACHE_HOME": str(home / "cache"),
                       "OPENAI_API_KEY": "none", "PYTHONDONTWRITEBYTECODE": "1",
                       # dspy and litellm fetch prices from the network at their start, unless told not to.
                       "LITELLM_LOCAL_MODEL_COST_MAP": "true"}


def whys(reasons: dict[str, str]) -> list[str]:
    """One sentence a peer; one for all that are not installed."""
    absent = sorted({name.partition("/")[0] for name, reason in reasons.items() if reason.startswith("not installed")})
    found = [f"not installed: {', '.join(absent)} (bench/eval_peers install {' '.join(absent)})"] if absent else []
    return found + [f"{name.partition('/')[0]}: {reason}" for name, reason in reasons.items()
                    if not reason.startswith("not installed")]


def cpu_of_tree(root: int) -> float:
    """Seconds of a process, of all below it, and of those below it that ended and were waited for."""
    tree, queue, ticks = timing.children_by_parent(), [root], 0
    while queue:
        pid = queue.pop()
        queue += tree.get(pid, [])
        with contextlib.suppress(OSError):
            words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(word) for word in words[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


class Library:
    """An engine in a process that stays: started with its first question, again after one that failed."""

    def __init__(self, engine: str, places: Places) -> None:
        self.engine, self._places = engine, places
        self._process: subprocess.Popen | None = None

    def ask(self, asking: Asking) -> Sample:
        process = self._process or self._start()
        before, start = cpu_of_tree(process.pid), time.monotonic()
        process.stdin.write(asking.line().encode() + b"\n")
        process.stdin.flush()
        said = self._line(process, start + self._places.limit)
        wall = time.monotonic() - start
        sample = Sample(wall, cpu_of_tree(process.pid) - before, said.get("answer", ""), said.get("error", ""))
        return sample

    def close(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()

    def _start(self) -> subprocess.Popen:
        if self.engine == OURS:
            program = pathlib.Path(self._places.dossier).with_name("dossier_bench")
            argv = [str(program), "library", str(self._places.folder / "runs")]
        else:
            argv = [self._places.python(self.engine), str(HERE / "peers.py"), self.engine]
        try:
            self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                             stderr=subprocess.DEVNULL, env=self._places.environment(),
                                             start_new_session=True)
        except OSError as error:
            raise Failed(f"{argv[0]}: {error.strerror}") from None
        return self._process

    def _line(self, process: subprocess.Popen, deadline: float) -> dict:
        line = bytearray()
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            block = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            if not block:
                self.close()
                raise Failed("its process ended" if ready else f"more than {self._places.limit:.0f} s")
            line += block
        return json.loads(line)


def words_of_command(engine: str, asking: Asking, places: Places, *more: str) -> list[str]:
    """The whole command: the engine's own, where it has one."""
    if engine == OURS:
        return [places.dossier, "ask", "--quiet", "--mode", "recursive", "--profile", "large", "--no-memory", "-m", "instant",
                "--base-url", asking.url, "--window", WINDOW,
                *(() if "--max-iterations" in more else ("--max-iterations", str(asking.turns))), *more,
                "-c", str(asking.context), asking.question]
    if engine == "droste" and not asking.limits:
        size = str(asking.context.stat().st_size + 1)
        return [str(pathlib.Path(places.python(engine)).with_name("droste")), asking.question, str(asking.context),
                "--provider", "openai", "--model", "instant", "--base-url", asking.url, "--api-key", "none",
                "--max-bytes", size, "--max-file-bytes", size, "--budget-tokens", str(1 << 40),
                "--max-iterations", str(asking.turns), "-q"]
    return [places.python(engine), str(HERE / "peers.py"), engine, "once", asking.line()]


def start_command(argv: list[str], places: Places) -> subprocess.Popen:
    """In a session of its own, as all that it starts: kill_command ends them."""
    try:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=places.environment(), cwd=places.folder, start_new_session=True)
    except OSError as error:
        raise Failed(f"{argv[0]}: {error.strerror}") from None


def kill_command(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def run_command(argv: list[str], places: Places, look_at_memory_every: float = 0.0) -> Sample:
    """A command to its end. Memory is that of all its processes, shared pages counted once; 0: not looked at."""
    start = time.monotonic()
    before = os.times()
    process = start_command(argv, places)
    peak = 0
    while True:
        try:
            out, err = process.communicate(timeout=look_at_memory_every or places.limit)
            break
        except subprocess.TimeoutExpired:
            if time.monotonic() - start > places.limit:
                kill_command(process)
                raise Failed(f"more than {places.limit:.0f} s") from None
            peak = max(peak, timing.tree_memory(process.pid)[0])
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    said = out.decode("utf-8", "replace").strip()
    last = (err.decode("utf-8", "replace").strip().splitlines() or [""])[-1]
    error = "" if process.returncode == 0 else f"ended with {process.returncode}: {last[:200]}"
    return Sample(time.monotonic() - start, cpu, said, error, peak, process.returncode)
