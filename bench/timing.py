"""Commands measured from outside: wall time, CPU time, memory of a whole process tree."""

import dataclasses
import os
import pathlib
import socket
import statistics
import subprocess
import time


class Failed(Exception):
    """A program that could not be measured; the text says why."""


@dataclasses.dataclass
class Run:
    wall: float    # seconds
    cpu: float     # seconds, user and system, with its children
    start: float   # of the monotonic clock
    peak: int      # bytes: the largest resident size of one process of it


def once(argv: list[str], env: dict[str, str] | None = None) -> Run:
    """Runs a command with its output thrown away. Raises Failed if it does not end well."""
    start = time.monotonic()
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, env=env)
    except OSError as error:
        raise Failed(f"{argv[0]}: {error.strerror}") from None
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stderr.close()
    if child.returncode != 0:
        lines = said.decode("utf-8", "replace").strip().splitlines() or [""]
        raise Failed(f"{' '.join(argv[:3])} … ended with {child.returncode}: {lines[-1]}")
    return Run(wall, usage.ru_utime + usage.ru_stime, start, usage.ru_maxrss * 1024)


def until_sent(argv: list[str], listener: socket.socket,
               env: dict[str, str] | None = None) -> Run:
    """What a command takes until the first byte of its request is at `listener`; then it is killed."""
    listener.settimeout(60)
    start = time.monotonic()
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env=env)
    try:
        connection, _ = listener.accept()
        with connection:
            sent = connection.recv(1) != b""
            wall = time.monotonic() - start
            child.kill()
    except TimeoutError:
        child.kill()
        sent = False
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if not sent:
        raise Failed(f"{' '.join(argv[:3])} … sent nothing")
    return Run(wall, usage.ru_utime + usage.ru_stime, start, usage.ru_maxrss * 1024)


def interleaved(commands: dict[str, list[str]], times: int,
                env: dict[str, dict[str, str]] | None = None) -> dict[str, list[Run]]:
    """Each command `times` times, in turns, so that a busy moment hits all of them."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(times):
        for name, argv in commands.items():
            runs[name].append(once(argv, (env or {}).get(name)))
    return runs


def median_wall(runs: list[Run]) -> float:
    return statistics.median(run.wall for run in runs)


def median_cpu(runs: list[Run]) -> float:
    return statistics.median(run.cpu for run in runs)


def least_cpu(runs: list[Run]) -> float:
    return min(run.cpu for run in runs)


def warm(path: pathlib.Path) -> None:
    """Reads a file into the page cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 22):
            pass


def children_by_parent() -> dict[int, list[int]]:
    tree: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            tree.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry))
    return tree


def tree_memory(root: int) -> tuple[int, int]:
    """(own, whole) bytes of a process and all below it; shared pages are counted once.

    `own` is memory that only they can give back: anonymous and shared memory. `whole` adds their
    share of mapped files, which the kernel may drop at any time.
    """
    tree, queue, own, whole = children_by_parent(), [root], 0, 0
    while queue:
        pid = queue.pop()
        queue += tree.get(pid, [])
        try:
            lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        sizes = {line.split()[0]: int(line.split()[1]) * 1024 for line in lines[1:]}
        own += sizes.get("Pss_Anon:", 0) + sizes.get("Pss_Shmem:", 0)
        whole += sizes.get("Pss:", 0)
    return own, whole


def peak_memory(argv: list[str], env: dict[str, str] | None = None) -> tuple[int, int]:
    """The largest `tree_memory` seen while a command runs, looked at every few milliseconds."""
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env=env)
    own = whole = 0
    while child.poll() is None:
        now = tree_memory(child.pid)
        own, whole = max(own, now[0]), max(whole, now[1])
        time.sleep(0.005)
    if child.returncode != 0:
        raise Failed(f"{' '.join(argv[:2])} ended with {child.returncode}")
    return own, whole
