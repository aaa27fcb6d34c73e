#!/usr/bin/env python3
"""Asks 20 questions over five sources, three seeds each, and prints what came of it.

usage: run.py --dossier PATH [--seeds 1,2,3] [--only SOURCE] [--question N] [--log-bytes N]
              [--results FILE] [-- FLAGS of dossier ask]

No question has code or prompt text of its own; the truth is computed by plain programs from the
same files (questions.py). Failures are listed with the answer that was given.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import questions
import sources


def shown(wanted: list) -> str:
    parts = []
    for part in wanted:
        if isinstance(part, questions.Near):
            parts.append(f"{part.value}±{part.tolerance}")
        elif isinstance(part, float):
            parts.append(f"{part:.2f}")
        else:
            parts.append(str(part))
    return ", ".join(parts)


def ask(dossier: str, context: list[str], question: str, seed: int, flags: list[str]) -> dict:
    command = [dossier, "ask", "--json", "--quiet", "--seed", str(seed), "--temperature", "0.2",
               *flags, *context, question]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    result = {"seconds": time.monotonic() - started, "exit": done.returncode,
              "answer": "", "calls": 0, "tokens": 0, "turns": 0, "run": "", "status": "",
              "mode": "", "warnings": [], "stderr": done.stderr[-400:]}
    try:
        report = json.loads(done.stdout)
        result.update(answer=report["answer"] or "", calls=report["calls"]["sent"],
                      tokens=report["tokens"]["input"] + report["tokens"]["output"],
                      turns=report["turns"], run=report["run"], status=report["status"], mode=report["mode"],
                      warnings=[warning["code"] for warning in report["warnings"]])
    except (ValueError, KeyError, TypeError):
        pass
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--only")
    parser.add_argument("--question", type=int)
    parser.add_argument("--log-bytes", type=int, default=200_000_000)
    parser.add_argument("--folder", default=os.path.expanduser("~/.cache/dossier/suite"))
    parser.add_argument("--results")
    parser.add_argument("flags", nargs="*")
    args = parser.parse_args()
    flags = args.flags or ["--model", "local"]
    folder = pathlib.Path(args.folder)
    contexts = sources.prepare(folder, args.log_bytes)
    seeds = [int(seed) for seed in args.seeds.split(",")]
    right_total = asked = 0
    failures, results = [], []
    print(f"{'question':<74} {'right':>6} {'seconds':>8} {'calls':>6} {'tokens':>8}")
    for number, (source, question, compute) in enumerate(questions.QUESTIONS, 1):
        if (args.only and source != args.only) or (args.question and number != args.question):
            continue
        wanted = compute(folder)
        rows = []
        for seed in seeds:
            row = ask(args.dossier, contexts[source], question, seed, flags)
            row.update(number=number, source=source, question=question, seed=seed,
                       wanted=shown(wanted), right=questions.is_right(row["answer"], wanted))
            rows.append(row)
            if not row["right"]:
                failures.append(row)
        right = sum(row["right"] for row in rows)
        right_total += right
        asked += len(rows)
        results += rows
        mean = {key: sum(row[key] for row in rows) / len(rows) for key in ("seconds", "calls", "tokens")}
        print(f"{number:>2} {source:<9} {question[:61]:<61} {right:>2} of {len(rows)} "
              f"{mean['seconds']:>7.1f} {mean['calls']:>6.1f} {mean['tokens']:>8.0f}", flush=True)
    print(f"\n{right_total} of {asked} right")
    for row in failures:
        answer = " ".join(row["answer"].split())[:150] or f"(none, exit {row['exit']}) {row['stderr'][-150:]}"
        print(f"  wrong: {row['number']} seed {row['seed']}: wanted {row['wanted']}; got: {answer}  "
              f"[run {row['run']}]")
    if args.results:
        pathlib.Path(args.results).write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
