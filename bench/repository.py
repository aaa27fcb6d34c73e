"""Repositories with notes and tasks, and what reads them beside us."""

import json
import os
import pathlib
import random
import subprocess
from collections.abc import Callable, Iterator

import timing

NOTES = 10_000
TASKS = 10_000
FILES = 50_000
COMMITS = 20_000


def _note(rng: random.Random, words: list[str], number: int) -> str:
    targets = json.dumps([f"src/{rng.choice(words)}.py", f"docs/{rng.choice(words)}.md"])
    body = " ".join(rng.choices(words, k=140))
    return f"---\nid: task-{number}\nstatus: {'red' if number % 9 == 0 else 'green'}\n" \
           f"rank: {number % 50}\ntargets: {targets}\n---\n# Note {number}\n\n{body}\n"


def _notes(root: pathlib.Path, count: int) -> None:
    rng = random.Random(33)
    words = [f"word{n}" for n in range(500)]
    queues = ["ready_for_review", "proposed_tasks", "notes_FROM_CTO", "scratch"]
    for queue in queues:
        (root / "agent_notes" / queue).mkdir(parents=True)
    for number in range(count):
        name = f"2026-01-{1 + number % 28:02}__task-{number}__slug.md"
        (root / "agent_notes" / queues[number % 4] / name).write_text(_note(rng, words, number))


def _tasks(count: int) -> tuple[str, str]:
    """The same tasks as EDN and as JSON, about 200 bytes each."""
    edn, tasks = [], []
    for n in range(count):
        summary = f"Build the part number {n} of the thing that is built, with its tests"
        edn.append(f'{{:id "fact-{n:05}" :summary "{summary}" :priority {n % 9}\n'
                   f'  :targets ["src/part_{n}.py" "tests/test_part_{n}.py"] :dependencies []}}')
        tasks.append({"id": f"fact-{n:05}", "summary": summary, "priority": n % 9,
                      "targets": [f"src/part_{n}.py", f"tests/test_part_{n}.py"],
                      "dependencies": []})
    return "[" + "\n ".join(edn) + "]\n", json.dumps(tasks)


def _history(files: int, commits: int) -> Iterator[bytes]:
    """A stream of `git fast-import`: all files in the first commit, one changed in each other."""
    rng = random.Random(34)
    paths = [f"src/part_{n % 250:03}/module_{n // 250:03}.py" for n in range(files)]

    def commit(number: int, changed: list[str]) -> bytes:
        subject = f"change {number}"
        lines = ["commit refs/heads/main", f"committer a <a@example.org> {1_700_000_000 + number} +0000",
                 f"data {len(subject)}", subject]
        for path in changed:
            text = f"VALUE = {number}  # {path} {rng.random()}\n"
            lines += [f"M 100644 inline {path}", f"data {len(text)}", text]
        return "\n".join(lines).encode() + b"\n"

    yield commit(0, paths)
    for number in range(1, commits):
        yield commit(number, [rng.choice(paths)])


def _large(root: pathlib.Path, files: int, commits: int, git: Callable[..., None]) -> None:
    """A work tree with a history, and few notes and tasks."""
    _notes(root, 100)
    git("init", "-q", "-b", "main")
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root,
                          stdin=subprocess.PIPE) as importer:
        for part in _history(files, commits):
            importer.stdin.write(part)
    git("reset", "-q", "--hard", "main")
    git("repack", "-q", "-a", "-d", "--write-bitmap-index")
    git("status", "--short")  # the index knows the times of the files


def make(folder: pathlib.Path, scale: float) -> pathlib.Path:
    """The inputs, made once."""
    target = folder / f"repository-{scale:g}"
    if (target / "large").exists():  # the part that was made last
        return target
    subprocess.run(["rm", "-rf", str(target)], check=True)
    building = folder / f"repository-{scale:g}.new"
    subprocess.run(["rm", "-rf", str(building)], check=True)
    _notes(building / "many", int(NOTES * scale))
    _notes(building / "few", 100)
    edn, text = _tasks(int(TASKS * scale))
    (building / "tasks.edn").write_text(edn)
    (building / "tasks.json").write_text(text)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"}
    for name in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{name}_NAME": "a", f"GIT_{name}_EMAIL": "a@example.org"}

    def git_in(root: pathlib.Path) -> Callable[..., None]:
        return lambda *words: subprocess.run(["git", *words], cwd=root, env=env, check=True,
                                             stdout=subprocess.DEVNULL)

    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "one"]):
        git_in(building / "few")(*words)
    _large(building / "large", int(FILES * scale), int(COMMITS * scale), git_in(building / "large"))
    building.rename(target)
    return target


def whole_command(dossier: str, path: pathlib.Path, env: dict[str, str]) -> dict[str, float]:
    """CPU seconds, least of 15 in turns: the header of 100 notes, and one git rev-parse."""
    few = str(path / "few")
    commands = {"ours": [dossier, "-C", few, "header", "--quiet"],
                "git": ["git", "-C", few, "rev-parse", "--short", "HEAD"]}
    runs = timing.interleaved(commands, 15, dict.fromkeys(commands, env))
    return {name: timing.least_cpu(some) for name, some in runs.items()}


def large_repository(dossier: str, path: pathlib.Path, env: dict[str, str]) -> dict[str, float]:
    """CPU seconds, least of 7 in turns: headers of a large repository, and what git takes."""
    large = str(path / "large")
    header = [dossier, "-C", large, "header", "--quiet"]
    commands = {"plain": header, "full": [*header, "--with", "dirty,upstream,commits"],
                "status": ["git", "-C", large, "status"],
                "log": ["git", "-C", large, "log", "-1"]}
    runs = timing.interleaved(commands, 7, dict.fromkeys(commands, env))
    return {name: timing.least_cpu(some) for name, some in runs.items()}


def head_of_each(path: pathlib.Path, env: dict[str, str]) -> float:
    """CPU seconds of `head -c 4096` of every note, least of 5."""
    names = path / "names"
    names.write_bytes(b"".join(bytes(name) + b"\0"
                               for name in sorted((path / "many").rglob("*.md"))))
    command = ["sh", "-c", 'xargs -0 -a "$0" head -q -c 4096 > /dev/null', str(names)]
    return timing.least_cpu(timing.interleaved({"head": command}, 5, {"head": env})["head"])


def json_loads(path: pathlib.Path) -> float:
    """CPU seconds of Python's json.loads of the tasks, in process."""
    script = ("import json, sys, time\ntext = open(sys.argv[1]).read()\nbest = 9\n"
              "for _ in range(7):\n  start = time.process_time()\n  json.loads(text)\n"
              "  best = min(best, time.process_time() - start)\nprint(best)")
    done = subprocess.run(["/usr/bin/python3", "-I", "-S", "-c", script, str(path / "tasks.json")],
                          check=True, capture_output=True, text=True)
    return float(done.stdout)
