#!/usr/bin/env python3
"""Contexts of every kind and size against a plain reading of the same file (SBX-A9, SBX-30 to 32).

usage: context_test.py --dossier PATH [--megabytes N]

`len`, slices at random places, `grep`, `count` and `records` of the session must say what Python
says that reads the file itself. The large ones have 200 MB, or --megabytes.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

SLICES = 200

# Runs in the sandbox and, with the text under the same names, here.
LOOK = '''
import hashlib, json, random
def look(text):
    draw, digest = random.Random(5), hashlib.sha256()
    size = len(text)
    for _ in range(SLICES):
        start = draw.randrange(size + 1)
        digest.update(text[start:start + draw.randrange(3000)].encode())
    return [size, digest.hexdigest()]
'''

IN_SANDBOX = LOOK.replace("SLICES", str(SLICES)) + '''
found = {"doc": look(doc), "context": look(context) if WHOLE else None,
         "grep": [m.start for m in doc.grep("needle [0-9]+", max=50)],
         "grep_total": doc.grep("needle", max=1).total, "count": doc.count("needle"),
         "lines": doc.line_count,
         "records": [len(records), records[len(records) - 1]["n"]] if RECORDS else None}
print(json.dumps(found))
'''


def small_contexts() -> dict[str, str]:
    texts = {"empty": "", "one character": "x", "one wide character": "🙂",
             "CRLF": "a needle 1\r\nb\r\nneedle 2",
             "emoji": "🙂 needle 1 ü\n" * 999}
    for size in (4095, 4096, 4097):
        texts[f"{size} bytes"] = ("0123456 needle 9\n" * 300)[:size]
    return texts


def large_text(size: int, letters: str) -> str:
    """Lines of about 100 characters; every 5,000th holds a needle."""
    draw = random.Random(11)
    lines = [" ".join("".join(draw.choices(letters, k=8)) for _ in range(11)) for _ in range(997)]
    body = "\n".join(lines) + "\n"
    pieces, bytes_of_body, number, written = [], len(body.encode()), 0, 0
    while written < size:
        pieces += [body, f"needle {number}\n"]
        written += bytes_of_body + 12
        number += 1
    return "".join(pieces)


def plain(path: pathlib.Path, whole: bool, records: bool) -> dict:
    """The same from the file, without the sandbox."""
    text = path.read_bytes().decode()
    names = {"SLICES": SLICES}
    exec(LOOK.replace("SLICES", str(SLICES)), names)
    hits = [match.start() for match in re.finditer("needle [0-9]+", text)]
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    rows = [json.loads(line) for line in text.splitlines()] if records else []
    return {"doc": names["look"](text), "context": names["look"](text) if whole else None,
            "grep": hits[:50], "grep_total": sum("needle" in line for line in lines.split("\n")),
            "count": text.count("needle"),
            "lines": lines.count("\n") + (bool(lines) and not lines.endswith("\n")),
            "records": [len(rows), rows[-1]["n"]] if records else None}


def check(dossier: str, folder: pathlib.Path, name: str, text: str, records: bool = False) -> bool:
    path, block = folder / ("data.ndjson" if records else "data.txt"), folder / "block.py"
    path.write_bytes(text.encode())
    whole = not records
    block.write_text(IN_SANDBOX.replace("WHOLE", str(whole)).replace("RECORDS", str(records)))
    done = subprocess.run([dossier, "sandbox", "run", "--cell-memory", "6G", "-c", str(path),
                           str(block)], capture_output=True, text=True)
    found = json.loads(done.stdout) if done.returncode == 0 else done.stderr[-2000:]
    wanted = plain(path, whole, records)
    good = found == wanted
    print(f"{'ok' if good else 'FAILED'}: {name}, {len(text):,} characters")
    if not good:
        for key, value in wanted.items():
            if not isinstance(found, dict) or found.get(key) != value:
                print(f"  {key}: {found.get(key) if isinstance(found, dict) else found}, "
                      f"not {value}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--megabytes", type=int, default=200)
    arguments = parser.parse_args()
    size = arguments.megabytes * 1_000_000
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for about, text in small_contexts().items():
            good &= check(arguments.dossier, folder, about, text)
        for about, letters in (("ASCII", "abcdefghij"), ("Latin-1", "abcdéüñß"),
                               ("mixed", "abcé東京🙂")):
            good &= check(arguments.dossier, folder, about, large_text(size, letters))
        rows = "".join(f'{{"n": {n}, "text": "needle {n} é"}}\n' for n in range(size // 400))
        good &= check(arguments.dossier, folder, "records", rows, records=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
