#!/usr/bin/env python3
"""Fails when a page of docs names a file that is not there.

Looked at are links to other pages, in all of docs, and files below src/ and data/ that the glossary and
the specification name in backticks.

    python3 tests/words/doc_paths.py [ROOT]
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#:\s]+\.md)[)#]")
FILE = re.compile(r"`((?:src|data)/[\w./-]+\.(?:h|cc|yaml))`")


def main() -> int:
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    docs = root / "docs"
    missing = []
    for page in sorted([root / "README.md", root / "CONTRIBUTING.md", *docs.rglob("*.md")]):
        text = page.read_text(encoding="utf-8")
        missing += [f"{page.relative_to(root)}: {link}" for link in LINK.findall(text)
                    if not (page.parent / link).exists()]
        if page.name == "glossary.md" or page.parent.name == "spec":
            missing += [f"{page.relative_to(root)}: {file}" for file in FILE.findall(text) if not (root / file).exists()]
    for line in missing:
        print(line)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
