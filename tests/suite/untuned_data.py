"""What both halves of the untuned questions are made with: writers, and real texts of Debian.

The texts come from packages that are fetched by apt-get without installing them, as the novel of
sources.py is. TEXTS names them all; the runner says which could not be had.
"""

import csv
import datetime
import gzip
import json
import math
import pathlib
import random
import re
import subprocess
import tempfile
import textwrap

import questions
import sources
from grading import Question

# name: (package, file in the package)
TEXTS = {
    "policy": ("debian-policy", "usr/share/doc/debian-policy/policy.txt.gz"),
    "fhs": ("debian-policy", "usr/share/doc/debian-policy/fhs/fhs-3.0.txt.gz"),
    "developers": ("developers-reference", "usr/share/developers-reference/developers-reference.txt.gz"),
    "maintainers": ("maint-guide", "usr/share/doc/maint-guide/maint-guide.en.txt.gz"),
    "faq-de": ("debian-faq-de", "usr/share/doc/debian/FAQ/debian-faq.de.txt.gz"),
    "reference-de": ("debian-reference-de", "usr/share/debian-reference/debian-reference.de.txt.gz"),
    "faq-fr": ("debian-faq-fr", "usr/share/doc/debian/FAQ/debian-faq.fr.txt.gz"),
    "reference-fr": ("debian-reference-fr", "usr/share/debian-reference/debian-reference.fr.txt.gz"),
    "reference-es": ("debian-reference-es", "usr/share/debian-reference/debian-reference.es.txt.gz"),
    "proverbs-es": ("fortunes-es", "usr/share/games/fortunes/es/refranes.fortunes"),
    "reference-ja": ("debian-reference-ja", "usr/share/debian-reference/debian-reference.ja.txt.gz"),
    "reference-pt": ("debian-reference-pt", "usr/share/debian-reference/debian-reference.pt.txt.gz"),
    "reference-zh": ("debian-reference-zh-cn",
                     "usr/share/debian-reference/debian-reference.zh-cn.txt.gz"),
}


def fetch(cache: pathlib.Path) -> list[str]:
    """Makes the texts that are missing; returns the packages that could not be had."""
    cache.mkdir(parents=True, exist_ok=True)
    missing = []
    for package in sorted({package for package, _ in TEXTS.values()}):
        wanted = {cache / f"{name}.txt": file for name, (of, file) in TEXTS.items() if of == package}
        if all(path.exists() for path in wanted):
            continue
        sources.progress(f"fetching {package}")
        with tempfile.TemporaryDirectory() as folder:
            try:
                sources.unpack_package(package, pathlib.Path(folder))
                for path, file in wanted.items():
                    raw = (pathlib.Path(folder) / file).read_bytes()
                    path.write_bytes(gzip.decompress(raw) if file.endswith(".gz") else raw)
            except (OSError, subprocess.CalledProcessError):
                missing.append(package)
    return missing


def plant(cache: pathlib.Path, name: str, path: pathlib.Path, planted: list[tuple[float, str]],
          start: float = 0.0, size: int = 600_000) -> None:
    """Writes a part of a text, with each sentence as a paragraph of its own at its share of it."""
    text = (cache / f"{name}.txt").read_text("utf-8", "replace")
    gap = "\n%\n" if text.count("\n%\n") > 100 else "\n\n"
    first = text.find(gap, int(len(text) * start)) if start else 0
    text = text[first:].encode()[:size].decode("utf-8", "ignore")
    text = text[:text.rfind(gap)]
    for share, sentence in sorted(planted, reverse=True):
        at = text.find(gap, int(len(text) * share))
        indent = "" if gap != "\n\n" else "   "
        lines = textwrap.fill(sentence, 76, initial_indent=indent, subsequent_indent=indent,
                              break_long_words=False, break_on_hyphens=False)
        text = text[:at] + gap + lines + text[at:]
    path.write_text(text + "\n", "utf-8")


def write_table(path: pathlib.Path, rows: list[dict]) -> None:
    """CSV or TSV, by the name's end."""
    with path.open("w", encoding="utf-8", newline="") as out:
        form = {"delimiter": "\t", "lineterminator": "\n"} if path.suffix == ".tsv" else {}
        writer = csv.DictWriter(out, rows[0].keys(), **form)
        writer.writeheader()
        writer.writerows(rows)


def read_table(path: pathlib.Path) -> list[dict]:
    with path.open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table, delimiter="\t" if path.suffix == ".tsv" else ","))


def write_lines(path: pathlib.Path, rows: list) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def read_lines(path: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def others(names, chosen: str) -> tuple[str, ...]:
    return tuple(sorted(set(names) - {chosen}))


def texts(block: str) -> list[str]:
    """Split at each end of a line and each slash between blanks."""
    return re.split(r"\n| / ", block.strip())


def day(rng: random.Random, years: tuple[int, ...]) -> str:
    return f"{rng.choice(years)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"


def first(counter) -> str:
    """The most frequent one, which must be the only one with its count."""
    (name, most), (_, second) = counter.most_common(2)
    if most == second:
        raise ValueError(f"{name} is not the only one with {most}")
    return name


def only_largest(rows: list, key) -> dict:
    ordered = sorted(rows, key=key)
    if key(ordered[-1]) == key(ordered[-2]):
        raise ValueError("two rows are the largest")
    return ordered[-1]


def write_pages(folder: pathlib.Path, seed: int, names: list[str], subjects: list[str],
                deeds: list[str], planted: dict[str, str]) -> None:
    """Short pages of made-up sentences under `names`; `planted` adds one sentence to some."""
    rng = random.Random(seed)
    for name in names:
        sentences = [f"{rng.choice(subjects)} {rng.choice(deeds)}." for _ in range(rng.randrange(8, 40))]
        if name in planted:
            sentences.insert(rng.randrange(2, len(sentences)), planted[name])
        lines = "\n".join(textwrap.fill(" ".join(sentences[at:at + 6]), 80)
                          + "\n" for at in range(0, len(sentences), 6))
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {path.stem.replace('-', ' ').title()}\n\n{lines}", "utf-8")


def write_sections(path: pathlib.Path, seed: int, heads: list[str], parts: str, planted: dict[int, str],
                   close: str = "") -> None:
    """A section a head; each sentence is a subject, a deed and an end, one line of `parts` each."""
    rng = random.Random(seed)
    subjects, deeds, ends = (line.split("/") for line in parts.strip("\n").split("\n"))
    sections = []
    for number, head in enumerate(heads):
        paragraphs = []
        for _ in range(rng.randrange(1, 4)):
            paragraphs.append([f"{rng.choice(subjects)} {rng.choice(deeds)}{rng.choice(ends)}."
                               for _ in range(rng.randrange(2, 6))])
        if number in planted:
            chosen = rng.choice(paragraphs)
            chosen.insert(rng.randrange(0, len(chosen) + 1), planted[number])
        body = "\n\n".join(textwrap.fill(" ".join(one), 84, break_on_hyphens=False) for one in paragraphs)
        sections.append(f"{head}\n\n{body}\n" + (f"\n{close}\n" if close else ""))
    path.write_text("\n".join(sections), "utf-8")


def evenings(start: datetime.date, step: int, count: int, form: str) -> list[str]:
    return [form.format(day=start + datetime.timedelta(days=step * number)) for number in range(count)]


def write_tree(folder: pathlib.Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def files_with(folder: pathlib.Path, word: str) -> list[str]:
    return [path.name for path in sorted(folder.rglob("*"))
            if path.is_file() and word in path.read_text("utf-8")]


def only(found: list[str]) -> str:
    (name,) = found
    return name


def write_texts(path: pathlib.Path, field: str, kinds: dict[str, list[str]]) -> None:
    """Short texts of two or more kinds, mixed, as CSV or NDJSON, numbered from one."""
    rows = [text for texts in kinds.values() for text in texts]
    random.Random(path.stem).shuffle(rows)
    records = [{"number": number, field: text} for number, text in enumerate(rows, 1)]
    (write_table if path.suffix == ".csv" else write_lines)(path, records)


def near(kinds: dict[str, list[str]], kind: str) -> questions.Near:
    """Within a tenth of the texts, rounded up."""
    return questions.Near(len(kinds[kind]), math.ceil(sum(map(len, kinds.values())) / 10))


def judged(folder: pathlib.Path, sets: list[tuple]) -> list[Question]:
    found = []
    for file, field, text, kind, kinds in sets:
        write_texts(folder / file, field, kinds)
        found.append(Question("judged", (file,), text, (near(kinds, kind),)))
    return found
