"""One attempt against one column, and the table of all.

    row = attempt_once(attempt, column, Places(dossier, peers))   # {"verdict": "refused", …}

Verdicts: through, refused, ended, late, hangs, "not applicable" (no cell in a language of that engine), void (the
control did not get through either, or the engine did not start). Thread-safety: pure functions, and one jail a call.
"""

import dataclasses
import json
import pathlib
import statistics
import sys

import engines
import jail

VERDICTS = ("through", "refused", "ended", "late", "hangs", "not applicable", "void")
LIMIT = 4.0      # seconds of a cell
PATIENCE = 3.0   # seconds over the limit: late
GIVE_UP = 12.0   # seconds over the limit: it hangs
RECOVERY = 0.05  # seconds until ours answers the next cell


@dataclasses.dataclass(frozen=True)
class Places:
    dossier: str
    peers: pathlib.Path


def load_attempts(path: pathlib.Path) -> list[dict]:
    import yaml
    attempts = yaml.safe_load(path.read_text())
    ids = [attempt["id"] for attempt in attempts]
    twice = {name for name in ids if ids.count(name) > 1}
    if twice:
        raise ValueError(f"{path}: {', '.join(sorted(twice))} stands twice")
    return attempts


def language_for(attempt: dict, column: engines.Column) -> str:
    """The language in which this engine gets the attempt; "" where there is none."""
    language = attempt.get("language", "python")
    if language == "python":
        return "python"
    if "pyodide" in attempt and "pyodide" in column.languages:
        return "pyodide"
    return language if language in column.languages else ""


def attempt_once(attempt: dict, column: engines.Column, places: Places) -> dict:
    language = language_for(attempt, column)
    row = {"attempt": attempt["id"], "column": column.name}
    if not language:
        return row | {"verdict": "not applicable", "why": f"no {attempt['language']} in it"}
    limit = float(attempt.get("limit", LIMIT))
    most = int(attempt.get("caps", {}).get("processes", 260))
    words = engines.command(column, 0, limit, attempt["oracle"].get("requests", 0), language == "javascript")
    words = [word.replace("127.0.0.1:0/", "127.0.0.1:$PORT$/") for word in words]
    if column.engine == "control" and language != "javascript":
        words[-1] = "$PORT$"
    spec = {"engine": column.engine, "dialect": column.dialect, "words": words, "namespaces": column.namespaces,
            "cell": attempt["pyodide" if language == "pyodide" else "cell"], "language": language, "limit": limit,
            "oracle": attempt["oracle"], "final": attempt.get("final"), "terminal": "escapes" in attempt["oracle"],
            "processes": most,
            "patience": attempt.get("patience", PATIENCE), "give_up": attempt.get("give_up", GIVE_UP)}
    plan = jail.Plan(words=[engines.PYTHON, "-I", "/opt/board/observer.py", json.dumps(spec)],
                     binds=engines.binds(column, places.dossier, places.peers), processes=most + 60, seconds=limit + 90)
    with jail.Jail(plan) as one:
        status, out, err = one.wait()
    try:
        return row | json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        return row | {"verdict": "void", "why": f"the observer ended with {status}: {err.strip()[-300:]}"}


def attempt_ours(attempt: dict, column: engines.Column, places: Places) -> dict:
    """As attempt_once; a slow recovery is measured twice more, because another program may have had the processor."""
    row = attempt_once(attempt, column, places)
    for _ in range(2):
        if row["verdict"] != "refused" or (row["recovery"] or 0) < RECOVERY:
            break
        row = attempt_once(attempt, column, places)
    return row


def judge_void(rows: list[dict]) -> list[dict]:
    """An attempt that the control cannot do proves nothing: all its verdicts are void."""
    helpless = {row["attempt"] for row in rows if row["column"] == "control" and row["verdict"] != "through"}
    return [row | {"verdict": "void", "why": "the control does not get through"}
            if row["attempt"] in helpless and row["verdict"] != "not applicable" else row for row in rows]


def faults_of_ours(rows: list[dict]) -> list[str]:
    """What our columns must not have: an effect, a run that is lost or late, a slow recovery, a void."""
    faults = []
    for row in rows:
        if not row["column"].startswith("dossier"):
            continue
        if row["verdict"] not in ("refused", "not applicable"):
            faults.append(f"{row['column']} {row['attempt']}: {row['verdict']}: {row['why']}")
        elif (row.get("recovery") or 0) >= RECOVERY:
            faults.append(f"{row['column']} {row['attempt']}: the next cell took {1000 * row['recovery']:.0f} ms")
    return faults


def summary(rows: list[dict], versions: dict) -> dict:
    """dossier.scoreboard/1"""
    modes = {column.name: column.says for column in engines.COLUMNS}
    columns = []
    for name in dict.fromkeys(row["column"] for row in rows):
        own = [row for row in rows if row["column"] == name]
        slow = sorted(row["recovery"] for row in own if row.get("recovery") is not None)
        columns.append({"column": name, "version": versions.get(name, ""), "mode": modes.get(name, ""),
                        "verdicts": {verdict: sum(row["verdict"] == verdict for row in own) for verdict in VERDICTS},
                        "recovery_ms": {"median": round(1000 * statistics.median(slow), 1), "worst": round(1000 * slow[-1], 1)}
                        if slow else None})
    return {"schema": "dossier.scoreboard/1", "columns": columns, "absent": engines.ABSENT, "rows": rows}


def page(board: dict, attempts: list[dict], date: str) -> str:
    """The board as Markdown."""
    lines = [f"Run on {date}.", "", "| engine | what runs | version | " + " | ".join(VERDICTS) + " | next cell, median | worst |",
             "| --- | --- | --- |" + " ---: |" * (len(VERDICTS) + 2)]
    for one in board["columns"]:
        recovery = one["recovery_ms"] or {"median": "", "worst": ""}
        lines.append(f"| {one['column']} | {one['mode']} | {one['version']} | " + " | ".join(str(one["verdicts"][v]) for v in VERDICTS) +
                     f" | {recovery['median']} ms | {recovery['worst']} ms |".replace("|  ms", "| "))
    names = [one["column"] for one in board["columns"] if one["column"] != "control"]
    lines += ["", "| attempt | | " + " | ".join(names) + " |", "| --- | --- |" + " --- |" * len(names)]
    found = {(row["attempt"], row["column"]): row["verdict"] for row in board["rows"]}
    for attempt in attempts:
        lines.append(f"| {attempt['id']} | {attempt['name']} | " +
                     " | ".join(found.get((attempt["id"], name), "") for name in names) + " |")
    lines += ["", *(f"Not run: {name}: {why}." for name, why in board["absent"].items())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit("this is a module; bench/sandbox/run uses it")
