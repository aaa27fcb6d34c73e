#!/usr/bin/python3
"""Headers with hostile texts, read back by PyYAML (YAML 1.1) and npm's yaml (YAML 1.2), compared
with what went in (A4).

usage: compare.py --dossier PATH [--count N] [--seed N] [--modules FOLDER]

FOLDER holds node_modules' `yaml` (default: .cache/npm of the source tree, which scripts/setup
fills); without it, or without node, only PyYAML reads. Fails without PyYAML.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    sys.exit("python3-yaml is not installed; scripts/setup --test installs it")

HERE = pathlib.Path(__file__).resolve().parent
MODULES = HERE.parents[1] / ".cache/npm"
PARTS = ["---", "...", ": ", ":", " #", "#", '"', "'", "\n", "\r\n", "\t", "\\", "[", "]", "{", "}",
         ",", "&a ", "*a", "!t ", "|", ">", "%", "@", "`", "no", "yes", "~", "null", "0123456",
         "12e4567", "0x1f", "12:30:45", "1_000", ".inf", "2026-01-01", "=", "<<", "?", "- ", " ",
         "\u00e9", "\U0001f600", "\u202e", "\u2066", "\u2028", "\u0085", "\ufeff", "\ufffe",
         "\uffff", "\u200e", "\u061c", "\x00", "\x01", "\x1b[2J", "\x7f", "\x9b", "fix: x", "a #b",
         "\\x41", "\\u0041", "$5", "{queue_md}", "\U0010ffff", "\u00a0", "\u3000", "word "]


def text_of(draw: random.Random) -> str:
    return "".join(draw.choice(PARTS) for _ in range(draw.randint(1, 7)))


def by_npm(text: str, modules: pathlib.Path):
    """What npm's yaml reads; None where it is not installed."""
    if not shutil.which("node") or not (modules / "node_modules/yaml").is_dir():
        return None
    done = subprocess.run(["node", str(HERE / "read_yaml.cjs"), str(modules)], input=text.encode(),
                          capture_output=True, check=True)
    return json.loads(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--modules", type=pathlib.Path, default=MODULES)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    # Ids and summaries stand in the backlog, which is capped: most texts are targets.
    tasks = [{"id": "t" + text_of(draw) + str(n), "summary": text_of(draw), "priority": n}
             for n in range(7)]
    tasks[0] |= {"id": "first", "targets": [text_of(draw) for _ in range(arguments.count)]}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "config").mkdir()
        (root / "config/tasks.json").write_text(json.dumps(tasks), "utf-8")
        ran = subprocess.run([arguments.dossier, "header", "--task", "first"], cwd=root,
                             env={"HOME": folder, "PATH": os.environ["PATH"]},
                             capture_output=True, check=False)
    if ran.returncode != 0:
        print(ran.stderr.decode())
        return 1
    text = ran.stdout.decode("utf-8")
    readers = {"PyYAML": yaml.safe_load(text), "npm yaml": by_npm(text, arguments.modules)}
    wrong = 0
    for name, value in readers.items():
        if value is None:
            print(f"{name}: not installed")
            continue
        pairs = list(zip(value["targets"], tasks[0]["targets"], strict=True))
        pairs += [(row[key], task[key]) for row, task in zip(value["backlog"], tasks, strict=True)
                  for key in ("id", "summary")]
        for read, given in pairs:
            if read != given:
                wrong += 1
                print(f"{name}: {given!r} was read as {read!r}")
        print(f"{name}: {len(pairs)} texts compared")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
