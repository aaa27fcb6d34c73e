#!/usr/bin/env python3
"""Follows the links of pages: links.py FOLDER prints those that lead nowhere.

Looked at are links to files and to headings, of every Markdown page in the folder and below; links to other
hosts are not.
"""

import pathlib
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$|^    [^\n]*$|`[^`\n]*`", re.S | re.M)


def headings(page: pathlib.Path) -> set[str]:
    """The names by which its headings are linked to."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.S | re.M)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.+)$", text, re.M)}


def broken(folder: pathlib.Path) -> list[str]:
    found = []
    for page in sorted(folder.rglob("*.md")):
        for link in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
            place, _, heading = link.partition("#")
            if re.match(r"[a-z]+:", place):
                continue
            target = page.parent / place if place else page
            if not target.exists() or (heading and heading not in headings(target)):
                found.append(f"{page.relative_to(folder)}: {link}")
    return found


if __name__ == "__main__":
    lines = broken(pathlib.Path(sys.argv[1]))
    print("\n".join(lines))
    sys.exit(1 if lines else 0)
