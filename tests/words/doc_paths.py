#!/usr/bin/env python3
"""Fails when a page of docs names a file that is not there.

Looked at are links to other pages, in all of docs, and files that pages name in backticks, by the end of
their path (`loop/call_loop.cc`). Left out are names with a placeholder (`fuzz/NAME_fuzz.cc`), and
docs/decisions, which may tell of what is gone.

    python3 tests/words/doc_paths.py [ROOT]
"""

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)#:\s]+\.md)[)#]")
FILE = re.compile(r"`([\w-]+/[\w./-]+\.(?:h|cc|yaml))`")


def main() -> int:
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    tracked = subprocess.run(["git", "-C", root, "ls-files"], check=True, capture_output=True, text=True)
    ends = {"/".join(parts[i:]) for line in tracked.stdout.splitlines()
            for parts in [line.split("/")] for i in range(len(parts))}
    missing = []
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md")]
    for page in sorted([*pages, *(root / "src").rglob("README.md")]):
        text = page.read_text(encoding="utf-8")
        missing += [f"{page.relative_to(root)}: {link}" for link in LINK.findall(text)
                    if not (page.parent / link).exists()]
        if page.parent.name != "decisions":
            missing += [f"{page.relative_to(root)}: {file}" for file in FILE.findall(text)
                        if "NAME" not in file and file not in ends]
    for line in missing:
        print(line)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
