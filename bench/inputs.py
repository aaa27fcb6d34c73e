"""The files that are measured, generated once with a fixed seed into the cache folder.

Each is a block of a few megabytes of random content, repeated: no tool here gains by repetition.
"""

import csv
import io
import json
import pathlib
import random

_BLOCK = 8_000_000  # bytes
_WORDS = ("alpha beta gamma delta the of and a to in naïve façade Größe señor Ελλάδα κόσμος "
          "привет мир слово 東京 大阪 データ 你好 世界 مرحبا 🙂 🚀 — … € ½").split()


def _repeated(path: pathlib.Path, block: bytes, size: int, head: bytes = b"") -> pathlib.Path:
    """`path` with `head` and as many blocks as reach `size` bytes."""
    count = max(1, size // len(block))
    if path.exists() and path.stat().st_size == len(head) + count * len(block):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as out:
        out.write(head)
        for _ in range(count):
            out.write(block)
    return path


def mixed_text(folder: pathlib.Path, size: int) -> pathlib.Path:
    """Lines of Latin, Greek, Cyrillic, Chinese, Japanese and Arabic words, and some emoji."""
    rng = random.Random(1)
    lines, total = [], 0
    while total < _BLOCK:
        line = (" ".join(rng.choices(_WORDS, k=rng.randrange(4, 24))) + "\n").encode()
        lines.append(line)
        total += len(line)
    return _repeated(folder / f"mixed-{size}.txt", b"".join(lines), size)


def numbered_lines(folder: pathlib.Path, size: int) -> pathlib.Path:
    """At most `size` bytes, whose first word is `line`; in the page cache."""
    path = folder / f"lines-{size}.txt"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    block = "".join(f"line {i} of a text without much in it\n" for i in range(min(size // 30, 200_000) + 1)).encode()
    with open(path, "wb") as out:
        for _ in range(size // len(block)):
            out.write(block)
        out.write(block[:size % len(block)])
    return path


def ndjson(folder: pathlib.Path, size: int) -> pathlib.Path:
    """Log events with strings, numbers, a list and an object."""
    rng = random.Random(2)
    lines, total = [], 0
    while total < _BLOCK:
        event = {"time": f"2025-03-{rng.randrange(1, 29):02}T{rng.randrange(24):02}:15:00Z",
                 "level": rng.choice(["debug", "info", "warning", "error"]),
                 "status": rng.choice([200, 201, 404, 500]), "ms": round(rng.random() * 900, 3),
                 "path": f"/api/items/{rng.randrange(100_000)}?q=\"größe\"",
                 "tags": rng.sample(["a", "b", "c", "d"], 2),
                 "user": {"id": rng.randrange(10_000), "admin": rng.random() < 0.1}}
        line = (json.dumps(event, ensure_ascii=False) + "\n").encode()
        lines.append(line)
        total += len(line)
    return _repeated(folder / f"events-{size}.ndjson", b"".join(lines), size)


def csv_table(folder: pathlib.Path, size: int) -> pathlib.Path:
    """Orders; one row in ten has a quoted field with line ends and doubled quotes."""
    rng = random.Random(3)
    text = io.StringIO()
    writer = csv.writer(text)
    while text.tell() < _BLOCK:
        note = "first line\nsecond \"quoted\" line" if rng.random() < 0.1 else "none, really"
        writer.writerow([rng.randrange(10**9), rng.choice(["north", "south"]),
                         f"{rng.random() * 1000:.2f}", "2025-01-31", note])
    return _repeated(folder / f"orders-{size}.csv", text.getvalue().encode(), size,
                     head=b"id,region,amount,date,note\r\n")


def code_and_prose(folder: pathlib.Path, size: int) -> pathlib.Path:
    """C headers, Python and documentation of this system, a third each."""
    path = folder / f"code-and-prose-{size}.txt"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    text = b""
    for pattern in ("usr/include/**/*.h", "usr/lib/python3*/**/*.py", "usr/share/doc/**/*"):
        part = b""
        for file in sorted(pathlib.Path("/").glob(pattern)):
            try:
                content = file.read_bytes() if file.is_file() else b""
                content.decode("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            part += content
            if len(part) >= size // 3:
                break
        text += part[:size // 3].decode("utf-8", "ignore").encode()
    path.write_bytes(text)
    return path
