#!/usr/bin/env python3
"""Prints the tables of src/base/text/secret_detection.cc: how usual each pair of letters and each
change of character class is in names that people write.

usage: letter_pairs.py FOLDER ...   (source code; each name counts once, however often it is used)

The tables of the repository were made of Perl's library and of Python packages, none of which is in
the corpora that the detector is judged on.
"""

import collections
import math
import pathlib
import re
import sys

NAME = re.compile(rb"[A-Za-z0-9]+(?:[-_./+=][A-Za-z0-9]+)*")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CLASSES = ("start", "lower", "upper", "digit", "other")
STEPS = 4  # a cost is told in quarters of a bit


def class_of(c):
    return 1 if c.islower() else 2 if c.isupper() else 3 if c.isdigit() else 4


def names_in(folders):
    files = collections.defaultdict(set)
    for folder in folders:
        for number, path in enumerate(pathlib.Path(folder).rglob("*")):
            if path.suffix not in (".py", ".pm", ".pl", ".pod", ".h") or not path.is_file():
                continue
            for name in set(NAME.findall(path.read_bytes())):
                if 3 <= len(name) <= 40:
                    files[name].add((folder, number))
    # A name that stands in one file only may be a value made at random.
    return [name.decode() for name, where in files.items() if len(where) > 1]


def costs(counts, width):
    rows = []
    for row in counts:
        total = sum(row) + width
        rows.append([round(STEPS * -math.log2((n + 1) / total)) for n in row])
    return rows


def main():
    letters = [[0] * 26 for _ in range(27)]
    classes = [[0] * 5 for _ in range(5)]
    names = names_in(sys.argv[1:])
    for name in names:
        before, kind = None, 0
        for c in name:
            now = class_of(c)
            classes[kind][now] += 1
            if now in (1, 2):
                # The first letter of a word has none in front of it: word, aWord, a_word.
                first = kind not in (1, 2) or (kind == 1 and now == 2)
                row = 26 if first else LETTERS.index(before)
                letters[row][LETTERS.index(c.lower())] += 1
                before = c.lower()
            kind = now
    print(f"// {len(names)} names.")
    for label, row in zip(LETTERS + " ", costs(letters, 26)):
        print(f'    "{"".join(chr(ord("@") + min(cost, 58)) for cost in row)}",  // {label}'.replace("\\", "\\\\"))
    for label, row in zip(CLASSES, costs(classes, 5)):
        print(f"    {{{', '.join(map(str, row))}}},  // {label}")


if __name__ == "__main__":
    main()
