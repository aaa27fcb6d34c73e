#!/usr/bin/env python3
"""Fails when production code names a case of the specification.

Tests name cases, so that it can be seen which case has one. A reader of the code must never need a
number to understand a comment: the comment says what the case says. Everything is production code
here that is not a test or a page of documentation.

    python3 tests/words/case_ids.py [ROOT]
"""

import pathlib
import re
import sys

FOLDERS = ("bench", "cmake", "data", "examples", "fuzz", "include", "layouts", "prompts", "src", "testing", "workers")
CASE = re.compile(
    r"\b(?:ASM|CON|EVL|FLT|HSE|INS|INT|MEM|MOD|REC|REP|RSP|SBX|SML)-[A-Z]?\d+"
    r"|\bsmall-models \d"
    r"|//.*\((?:[ABKMNTY]\d{1,2}(?:, | to |-)?)+\)"  # a row of a table alone: (K1 to K3)
    r"|//.*\b(?:as|in|of) \d\.\d{1,2}\b(?! ?[\w%°])")  # a section: as in 5.4
ENDINGS_OF_TEXT = ("", ".cc", ".cmake", ".h", ".html", ".js", ".md", ".py", ".sh", ".txt", ".yaml", ".yml")


def is_production(path: pathlib.Path) -> bool:
    return (path.suffix in ENDINGS_OF_TEXT and path.stem != "test" and not path.stem.endswith("_test")
            and not path.stem.startswith("test_"))


def cases_named(root: pathlib.Path) -> list[str]:
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if not path.is_file() or not is_production(path):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.splitlines(), 1):
                for case in CASE.finditer(line):
                    found.append(f"{path.relative_to(root)}:{number}: {case.group()}")
    return found


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parents[2]
    found = cases_named(root)
    for line in found:
        print(line)
    if found:
        print(f"{len(found)} cases of the specification are named in production code: say in words what is meant")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
