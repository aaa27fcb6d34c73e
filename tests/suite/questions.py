"""The 20 questions, each with a plain program that computes the truth from the same files.

A truth is a list of things that the answer must contain: an int (exact), a float (within 0.5 %),
a str (as a word, without case), or a Near (an int with a tolerance, for judged counts).
"""

import collections
import csv
import dataclasses
import functools
import json
import pathlib
import re


@dataclasses.dataclass(frozen=True)
class Near:
    value: int
    tolerance: int


@functools.cache
def packages(folder: pathlib.Path) -> tuple[dict, ...]:
    rows = []
    for stanza in (folder / "status").read_text("utf-8").split("\n\n"):
        row = dict(line.split(":", 1) for line in stanza.splitlines() if re.match(r"[A-Za-z-]+:", line))
        if row:
            rows.append({name: value.strip() for name, value in row.items()})
    return tuple(rows)


@functools.cache
def log(folder: pathlib.Path) -> dict:
    facts = {"status": collections.Counter(), "errors": collections.Counter(),
             "country": collections.Counter(), "checkout": [0, 0]}
    with (folder / "events.ndjson").open(encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            facts["status"][event["status"]] += 1
            facts["country"][event["user"]["country"]] += 1
            if event["level"] == "error":
                facts["errors"][event["service"]] += 1
            if event["service"] == "checkout":
                facts["checkout"][0] += event["duration_ms"]
                facts["checkout"][1] += 1
    return facts


@functools.cache
def orders(folder: pathlib.Path) -> tuple[dict, ...]:
    with (folder / "orders.csv").open(encoding="utf-8", newline="") as table:
        return tuple(csv.DictReader(table))


@functools.cache
def novel(folder: pathlib.Path) -> str:
    return (folder / "novel.txt").read_text("utf-8")


@functools.cache
def licences(_: pathlib.Path) -> dict:
    folder = pathlib.Path("/usr/share/common-licenses")
    return {path.name: path.read_text("utf-8") for path in sorted(folder.iterdir())
            if path.is_file() and not path.is_symlink()}


def truth(folder: pathlib.Path) -> dict:
    return json.loads((folder / "messages.truth.json").read_text())


def most(counter: collections.Counter) -> list:
    name, count = counter.most_common(1)[0]
    return [str(name), count]


def largest(rows) -> list:
    row = max(rows, key=lambda row: int(row.get("Installed-Size", 0)))
    return [row["Package"], int(row["Installed-Size"])]


def revenue(rows) -> list:
    totals = collections.Counter()
    for row in rows:
        totals[row["product"]] += int(row["quantity"]) * int(row["price_cents"])
    return [totals.most_common(1)[0][0]]


QUESTIONS = [
    ("packages", "Which package has the largest Installed-Size, and how large is it?",
     lambda folder: largest(packages(folder))),
    ("packages", "How many packages are in the section libs?",
     lambda folder: [sum(1 for row in packages(folder) if row.get("Section") == "libs")]),
    ("packages", "What is the sum of Installed-Size over all packages?",
     lambda folder: [sum(int(row.get("Installed-Size", 0)) for row in packages(folder))]),
    ("packages", "How many packages have the priority required?",
     lambda folder: [sum(1 for row in packages(folder) if row.get("Priority") == "required")]),
    ("log", "How many events have the status 503?", lambda folder: [log(folder)["status"][503]]),
    ("log", "Which service has the most events of level error, and how many?",
     lambda folder: most(log(folder)["errors"])),
    ("log", "What is the average duration_ms of the service checkout?",
     lambda folder: [log(folder)["checkout"][0] / log(folder)["checkout"][1]]),
    ("log", "From which user country do the most events come?",
     lambda folder: [log(folder)["country"].most_common(1)[0][0]]),
    ("orders", "How many orders are there?", lambda folder: [len(orders(folder))]),
    ("orders", "Which customer placed the most orders, and how many?",
     lambda folder: most(collections.Counter(row["customer"] for row in orders(folder)))),
    ("orders", "What is the average rating of the product chair?",
     lambda folder: [(lambda r: sum(r) / len(r))(
         [int(row["rating"]) for row in orders(folder) if row["product"] == "chair"])]),
    ("orders", "Which product has the highest total of quantity times price_cents?",
     lambda folder: revenue(orders(folder))),
    ("novel", "How many times does the name Darcy occur in the book?",
     lambda folder: [novel(folder).count("Darcy")]),
    ("novel", "How many chapters does the book have?",
     lambda folder: [len(re.findall(r"^Chapter \d+", novel(folder), re.M))]),
    ("novel", "Which of the names Elizabeth, Jane, Bingley and Wickham occurs most often?",
     lambda folder: [max(("Elizabeth", "Jane", "Bingley", "Wickham"), key=novel(folder).count)]),
    ("licences", "Which file is the longest, by characters?",
     lambda folder: [max(licences(folder), key=lambda name: len(licences(folder)[name]))]),
    ("licences", "How many of the files contain the word patent?",
     lambda folder: [sum(1 for text in licences(folder).values() if "patent" in text)]),
    ("licences", "How many files are there?", lambda folder: [len(licences(folder))]),
    ("messages", "How many of the messages are complaints rather than praise?",
     lambda folder: [Near(30 - truth(folder)["praise"], 3)]),
    ("messages", "How many of the messages are about a late or missing delivery?",
     lambda folder: [Near(truth(folder)["delivery"], 3)]),
]


def numbers(text: str) -> list[float]:
    found = re.findall(r"(?<![\w.])-?\d+(?:,\d{3})+(?:\.\d+)?|(?<![\w.])-?\d+(?:\.\d+)?", text)
    return [float(number.replace(",", "")) for number in found]


def holds(answer: str, wanted) -> bool:
    if isinstance(wanted, Near):
        return any(abs(number - wanted.value) <= wanted.tolerance for number in numbers(answer))
    if isinstance(wanted, int):
        return float(wanted) in numbers(answer)
    if isinstance(wanted, float):
        return any(abs(number - wanted) <= abs(wanted) * 0.005 for number in numbers(answer))
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", answer, re.I) is not None


def is_judged_right(answer: str, wanted: Near) -> bool:
    found = set(numbers(answer))  # a table of counts is no answer
    return len(found) == 1 and abs(found.pop() - wanted.value) <= wanted.tolerance


def is_right(answer: str, wanted: list) -> bool:
    return all(holds(answer, part) for part in wanted)
