"""Whole runs of `dossier agents` with engines of shell, beside what git alone would take."""

import json
import pathlib
import resource
import subprocess
import time
from collections.abc import Callable

import timing

_APPROVE = "grep -o 'APPROVED-[0-9a-f]*' \"$0\" | tail -1"
FILES = 2_000
_CHANGED = 300


def _git(folder: pathlib.Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=B", "-c", "user.email=b@example.org", *words], cwd=folder,
                   check=True, capture_output=True)


def _said(folder: pathlib.Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True,
                          text=True).stdout.strip()


def repository(folder: pathlib.Path, tasks: int, engineer: str, files: int = FILES,
               reviewer: str = "") -> pathlib.Path:
    """A repository of small files; the engines are lines of shell, $1 the task's id."""
    root = folder / "agent-runs"
    for number in range(files):
        path = root / f"src/d{number % 40}/f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n" * 20)
    config = root / "config"
    config.mkdir()
    (config / "policy.json").write_text(json.dumps({"allow": ["src/**"]}))
    (config / "tasks.json").write_text(json.dumps(
        [{"id": f"t{number}", "summary": "x"} for number in range(tasks)]))
    engines = {name: {"argv": ["sh", "-c", script, "{prompt_file}", "{task_id}"]}
               for name, script in {"maker": engineer, "judge": f"{reviewer}{_APPROVE}"}.items()}
    (root / "dossier.yml").write_text(json.dumps(
        {"agents": {"engineer": "maker", "reviewer": "judge", "engines": engines}}))
    _git(root, "init", "-q", "-b", "main")
    _git(root, "config", "user.name", "B")
    _git(root, "config", "user.email", "b@example.org")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "base")
    return root


def run(dossier: str, root: pathlib.Path, env: dict[str, str], *flags: str) -> timing.Run:
    env = env | {"XDG_CACHE_HOME": str(root.parent / "agent-cache")}
    return timing.once(["env", "-C", str(root), dossier, "--trust-config", "-q", "agents", "run", *flags],
                       env)


CHANGE = (f"for n in $(seq 0 {_CHANGED - 1}); do echo changed >> src/d$((n % 40))/f$n.txt; done")


def _timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds of wall time and of CPU, children included."""
    def cpu() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    start, before = time.monotonic(), cpu()
    work()
    return time.monotonic() - start, cpu() - before


def git_alone(root: pathlib.Path) -> tuple[float, float]:
    """Two worktrees, the same change, and the patch of it.

    They stay: where thousands of files were deleted in the last seconds, ext4 takes several times as
    long to make new ones, and whoever is measured next would pay for it.
    """
    return _timed(lambda: _propose(root))


def git_by_hand(root: pathlib.Path) -> tuple[float, float]:
    """All git commands of one task, up to the merged checkout: what a script would run for it.

    A tree of the candidate for the reviewer, a commit, a merge that moves branch and checkout, both
    worktrees removed.
    """
    def work() -> None:
        first, second = _propose(root)
        _git(first, "commit", "-qm", "agent:t0 merge")
        _git(second, "checkout", "-q", "--detach", _said(first, "rev-parse", "HEAD"))
        _git(root, "merge", "-q", "--ff-only", _said(first, "rev-parse", "HEAD"))
        for place in (first, second):
            _git(root, "worktree", "remove", "--force", str(place))

    return _timed(work)


def _propose(root: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    first, second = root.parent / "agent-w1", root.parent / "agent-w2"
    for place in (first, second):
        _git(root, "worktree", "add", "-q", "--detach", str(place))
    subprocess.run(["sh", "-c", CHANGE], cwd=first, check=True)
    _git(first, "add", "-A")
    _git(first, "diff", "--cached", "--binary")
    return first, second
