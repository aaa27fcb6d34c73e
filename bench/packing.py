"""`dossier pack` beside repomix (npm), files-to-prompt and redcon (PyPI): cost, budgets, and prefixes that survive."""

import json
import os
import pathlib
import random
import shutil
import subprocess

import environment
import timing
from timing import Failed

# Installed with the compiler: some 10 MB in some 800 files, without a repository around.
_SOURCE = pathlib.Path("/usr/include/c++/12")
_TIMES = 5


def tree(folder: pathlib.Path) -> pathlib.Path:
    """A private copy: files only, no links, no ignore files."""
    copy = folder / "pack-tree"
    if not copy.exists():
        if not _SOURCE.is_dir():
            raise Failed(f"{_SOURCE} is not there")
        shutil.copytree(_SOURCE, copy)
    return copy


def size_of(path: pathlib.Path) -> tuple[int, int]:
    """Files and bytes below a folder."""
    files = [file for file in path.rglob("*") if file.is_file()]
    return len(files), sum(file.stat().st_size for file in files)


def counts_exactly(dossier: str, env: dict[str, str]) -> bool:
    """Whether counts are those of o200k_base, which costs more than an estimate."""
    done = subprocess.run([dossier, "tokens", "--json", "-"], input=b"text", capture_output=True,
                          env={**os.environ, **env})
    return done.returncode == 0 and json.loads(done.stdout)["exact"]


def commands(dossier: str, path: pathlib.Path, out: pathlib.Path) -> dict[str, list[str]]:
    """Ours with and without kept counts, and the peers, each writing a file."""
    ours = [dossier, "pack", "-q", "-o", str(out / "ours.txt"), str(path)]
    return {"cold": [*ours, "--no-cache"], "warm": ours,
            "repomix": [environment.REPOMIX, "--quiet", "-o", str(out / "repomix.xml"), str(path)],
            "files-to-prompt": [environment.FILES_TO_PROMPT, "-o", str(out / "ftp.txt"), str(path)]}


def measure(dossier: str, folder: pathlib.Path,
            env: dict[str, str]) -> dict[str, list[timing.Run]]:
    """The runs of each command, in turns; one unmeasured run of each fills the caches."""
    out = folder / "pack-out"
    out.mkdir(parents=True, exist_ok=True)
    programs = commands(dossier, tree(folder), out)
    own = env | {"XDG_CACHE_HOME": str(folder / "state/cache")}
    environments = {name: own for name in programs}
    timing.interleaved(programs, 1, environments)
    return timing.interleaved(programs, _TIMES, environments)


def for_a_task(dossier: str, folder: pathlib.Path, env: dict[str, str],
               budget: int) -> tuple[dict[str, list[timing.Run]], dict[str, int]]:
    """The runs of both programs that rank files by a task, nothing kept, and the o200k tokens of what each made."""
    task, path, out = "find where a range is sorted in parallel", tree(folder), folder / "pack-out"
    out.mkdir(parents=True, exist_ok=True)
    made = {name: out / f"task-{name}.txt" for name in ("ours", "redcon")}
    programs = {
        "ours": [dossier, "pack", "-q", "--no-cache", "--task", task, "--budget", str(budget),
                 "-o", str(made["ours"]), str(path)],
        "redcon": ["/bin/sh", "-c", 'exec "$0" "$@" >"$OUT"', environment.REDCON, "-q", "pack", task, "--repo",
                   str(path), "--max-tokens", str(budget), "--skip-cache", "--format", "context-only"]}
    own = env | {"XDG_CACHE_HOME": str(folder / "state/cache"), "OUT": str(made["redcon"])}
    runs = timing.interleaved(programs, _TIMES, {name: own for name in programs})
    tokens = {}
    for name, file in made.items():
        done = subprocess.run([dossier, "tokens", "--json", str(file)], check=True, capture_output=True,
                              env={**os.environ, **own})
        tokens[name] = json.loads(done.stdout)["tokens"]
    return runs, tokens


def _git(path: pathlib.Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *words],
                   cwd=path, check=True, capture_output=True)


def _repository(path: pathlib.Path) -> list[pathlib.Path]:
    """1,000 files in 50 commits, with a fixed seed. Returns them, the newest last."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    _git(path, "init", "-q")
    draw = random.Random(18)
    files = []
    for index in range(1000):
        file = path / f"m{draw.randrange(37)}" / f"f{index}.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"value_{draw.randrange(100)} = {draw.randrange(10 ** 6)}\n"
                                for _ in range(draw.randrange(20, 60))), "utf-8")
        files.append(file)
        if index % 20 == 19:
            _git(path, "add", "-A")
            _git(path, "commit", "-qm", str(index))
    return files


def _kept(before: bytes, after: bytes) -> float:
    return len(os.path.commonprefix([before, after])) / len(before)


def prefixes(dossier: str, folder: pathlib.Path, env: dict[str, str]) -> dict[str, dict[str, float]]:
    """The share of bytes that a second pack begins with, by case and program."""
    path = folder / "pack-repository"
    files = _repository(path)
    out = folder / "pack-out"
    out.mkdir(parents=True, exist_ok=True)

    def pack(name: str, where: pathlib.Path, locale: str) -> bytes:
        file = out / "prefix.txt"
        argv = ([dossier, "pack", "-q", "--seed", "1", "-o", str(file), str(where)]
                if name == "ours" else
                [environment.REPOMIX, "--quiet", "-o", str(file), str(where)])
        subprocess.run(argv, check=True, capture_output=True, env=env | {"LC_ALL": locale})
        return file.read_bytes()

    shares: dict[str, dict[str, float]] = {}
    before = {name: pack(name, path, "C.UTF-8") for name in ("ours", "repomix")}

    def compare(case: str, where: pathlib.Path, locale: str = "C.UTF-8") -> None:
        shares[case] = {name: _kept(text, pack(name, where, locale))
                        for name, text in before.items()}

    compare("nothing changed", path)
    edited = random.Random(7).choice(files[-50:])
    text = edited.read_text("utf-8")
    edited.write_text(text.replace("\n", "\nedited = 1\n", 1), "utf-8")
    compare("a line in one of the 50 newest files", path)
    edited.write_text(text, "utf-8")
    added = path / "a_new_file.py"
    added.write_text("x = 1\n", "utf-8")
    compare("one new file", path)
    added.unlink()
    clone = folder / "pack clone"
    shutil.rmtree(clone, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", str(path), str(clone)], check=True, capture_output=True)
    compare("another folder and locale", clone, "POSIX")
    return shares
