#!/usr/bin/env python3
"""Fails when docs/security.md does not say what a command promises (FLT-91).

Every command of `dossier --help`, and every command below `sandbox`, stands in backticks in the first
cell of a row of the page's table of commands.

    python3 tests/words/security_page.py build/release/bin/dossier [PAGE]
"""

import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"^\| ([^|]*) \|", re.M)
COMMAND = re.compile(r"^  ([a-z][a-z-]*)(?:  |$)")


def commands(program: str, *words: str) -> list[str]:
    """The names below "Commands:" in the help of a command."""
    text = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True).stdout
    part = text.split("\nCommands:\n", 1)[1].split("\n\n", 1)[0]
    return [" ".join([*words, found[1]]) for line in part.splitlines() if (found := COMMAND.match(line))]


def main() -> int:
    root = pathlib.Path(__file__).resolve().parents[2]
    page = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root / "docs" / "security.md"
    if not page.is_file():
        print(f"{page} is not there")
        return 1
    section = page.read_text(encoding="utf-8").split("## What each command promises", 1)[-1].split("\n## ", 1)[0]
    named = {name for cell in ROW.findall(section) for name in re.findall(r"`([^`]+)`", cell)}
    wanted = commands(sys.argv[1]) + commands(sys.argv[1], "sandbox")
    missing = [name for name in wanted if name not in named and not (name == "sandbox" and "sandbox exec" in named)]
    for name in missing:
        print(f"{page.name} does not say what `dossier {name}` promises")
    if len(wanted) < 20:
        print(f"only {len(wanted)} commands were found in the help")
        return 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
