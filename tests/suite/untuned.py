#!/usr/bin/env python3
"""Asks questions that nothing was tuned on: how often is an answer right, wrong, or flagged?

usage: untuned.py --dossier PATH --half tune|held|second|third|fourth|fifth|sixth [--seeds 1,2,3] [--only KIND]
                  [--question N] [--results FILE] [--show] [-- FLAGS of dossier ask]
       untuned.py --half tune|held|second|third|fourth|fifth|sixth --check [--show]

KIND is table, prose, folder, judged or short (small contexts). An answer is flagged when the exit code is not 0. --check
asks no model: it makes the data twice, compares the bytes, and prints each question with its truth.
The held half is asked once a release, and nobody who tunes reads it (docs/small-models.md): its
questions, truths and answers are printed with --show only. The file of --results holds them.
The second to sixth halves are newer sets of the same make, asked once at most and unread as well.
"""

import argparse
import collections
import hashlib
import importlib
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

import grading
import questions
import run
import untuned_data

HALVES = {"tune": "untuned_questions", "held": "untuned_held", "second": "untuned_second",
          "third": "untuned_third", "fourth": "untuned_fourth", "fifth": "untuned_fifth",
          "sixth": "untuned_sixth"}
UNREAD = {"held", "second", "third", "fourth", "fifth", "sixth"}
PER_KIND = {"table": 12, "prose": 12, "folder": 6, "judged": 6}
# Questions over contexts that fit one plain call.
SHORT = {"tune": 24, "third": 12, "fourth": 12, "fifth": 12, "sixth": 12}
KINDS = [*PER_KIND, "short"]


def prepare(half: str, folder: pathlib.Path, cache: pathlib.Path) -> list[grading.Question]:
    """Always anew: a file of an older version of this program must not be asked about."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return importlib.import_module(HALVES[half]).prepare(folder, cache)


def digests(folder: pathlib.Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def shown(question: grading.Question) -> str:
    return "(not in the text)" if question.absent else run.shown(list(question.wanted))


def as_answer(question: grading.Question) -> str:
    """The shortest right answer, and what grading must therefore accept."""
    if question.absent:
        return "The text does not mention it."
    return ", ".join(str(part.value if isinstance(part, questions.Near) else part)
                     for part in question.wanted)


def problems(half: str, asked: list[grading.Question], folder: pathlib.Path) -> list[str]:
    """What is wrong with a half itself, found without a model."""
    found = []
    counts = collections.Counter(question.kind for question in asked)
    expected = collections.Counter(PER_KIND | {"short": SHORT.get(half, 0)})
    if counts != expected:
        found.append(f"{half}: {dict(counts)} questions instead of {dict(expected)}")
    for number, question in enumerate(asked, 1):
        if missing := [name for name in question.context if not (folder / name).exists()]:
            found.append(f"{half} {number}: no file {missing}")
        if not grading.is_right(as_answer(question), question):
            found.append(f"{half} {number}: the truth itself is not taken as right")
        if question.kind == "prose" and not question.absent:
            text = (folder / question.context[0]).read_text("utf-8")
            for part in question.wanted:
                places = len(grading.places(text, str(part)))
                if places != 1:
                    found.append(f"{half} {number}: {part} stands {places} times in the text")
    return found


def check(half: str, cache: pathlib.Path, show: bool) -> int:
    with tempfile.TemporaryDirectory() as top:
        once, again, beside = (pathlib.Path(top) / name for name in ("once", "again", "beside"))
        asked, asked_again = prepare(half, once, cache), prepare(half, again, cache)
        asked_beside = [one for other in sorted(HALVES.keys() - {half})
                        for one in prepare(other, beside / other, cache)]
        found = problems(half, asked, once)
        first, second = digests(once), digests(again)
        shared = set(first.values()) & set(digests(beside).values())
    found += [f"{half}: {name} differs when it is made again"
              for name in sorted(first.keys() | second) if first.get(name) != second.get(name)]
    if asked != asked_again:
        found.append(f"{half}: the questions or truths differ when they are made again")
    if shared or {one.text for one in asked} & {one.text for one in asked_beside}:
        found.append("the halves share a file or a question")
    for number, question in enumerate(asked if show else [], 1):
        print(f"{number:>2} {question.kind:<7} {' '.join(question.context):<28} {question.text}\n"
              f"{'':>11}{shown(question)}")
    whole = hashlib.sha256(json.dumps([first, [repr(one) for one in asked]]).encode()).hexdigest()
    print(f"{len(asked)} questions, {len(first)} files (digest {whole[:12]}), "
          f"{'with problems:' if found else 'the same when made again, none shared with another half'}")
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


def arguments(question: grading.Question, folder: pathlib.Path) -> list[str]:
    found = []
    for name in question.context:
        path = folder / name
        found += ["-r", "-c", str(path)] if path.is_dir() else ["-c", str(path)]
    return found


def print_row(row: dict, show: bool) -> None:
    answer = " ".join(row["answer"].split())[:60] or f"(none) {row['stderr'][-60:].strip()}"
    print(f"{row['number']:>2} {row['kind']:<7} seed {row['seed']}  {row['outcome']:<17} "
          f"exit {row['exit']:<3} {row['seconds']:>6.1f} s {row['tokens']:>7} tokens  {row['mode']:<9}  "
          + (f"wanted {row['wanted'][:30]}, got {answer!r}  " if show else "")
          + " ".join(row["warnings"]), flush=True)


def print_totals(rows: list[dict]) -> None:
    for kind in [*KINDS, "all"]:
        of_kind = [row for row in rows if kind in (row["kind"], "all")]
        if of_kind:
            counts = collections.Counter(row["outcome"] for row in of_kind)
            print(f"{kind:<7} {counts['right'] + counts['right, flagged']:>3} of {len(of_kind)} right: "
                  + "; ".join(f"{counts[name]} {name}" for name in grading.OUTCOMES)
                  + f"; medians {statistics.median(row['seconds'] for row in of_kind):.1f} s, "
                  f"{statistics.median(row['tokens'] for row in of_kind):.0f} tokens")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dossier")
    parser.add_argument("--half", choices=HALVES, required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--show", action="store_true", help="print what an unread half asks, too")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--question", type=int)
    parser.add_argument("--folder", default=os.path.expanduser("~/.cache/dossier/untuned"))
    parser.add_argument("--results")
    parser.add_argument("flags", nargs="*")
    args = parser.parse_args()
    show = args.show or args.half not in UNREAD
    folder = pathlib.Path(args.folder)
    if missing := untuned_data.fetch(folder / "debian"):
        print(f"untuned: apt-get cannot download {', '.join(missing)}; is the list of packages "
              "there (apt-get update)?", file=sys.stderr)
        return 1
    if args.check:
        return check(args.half, folder / "debian", show)
    if not args.dossier:
        parser.error("--dossier is needed, unless --check is given")
    rows = []
    for number, question in enumerate(prepare(args.half, folder / args.half, folder / "debian"), 1):
        if args.only not in (None, question.kind) or args.question not in (None, number):
            continue
        for seed in map(int, args.seeds.split(",")):
            row = run.ask(args.dossier, arguments(question, folder / args.half), question.text, seed,
                          args.flags or ["--model", "local"])
            row.update(number=number, kind=question.kind, question=question.text, seed=seed,
                       wanted=shown(question), outcome=grading.outcome(row, question))
            rows.append(row)
            print_row(row, show)
            if args.results:  # after each: a run that is cut off keeps what it has
                pathlib.Path(args.results).write_text(json.dumps(rows, indent=1, ensure_ascii=False))
    print()
    print_totals(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
