"""Runs the table of rows.py: ours and each peer in turns, round by round, on one instant model server.

A round is one run of every engine behind a calibration loop. A round whose loop is 20 % off the reference is
run again, at most twice; all attempts count, none is thrown away. What cannot be run has a row that says why.
"""

import dataclasses
import hashlib
import pathlib
import shutil
import statistics
import sys
import time

import inputs
from engines import endings, plans, ratios, rows
from engines.model_server import QUESTION, ModelServer, Plan
from engines.systems import OURS, Asking, Library, Places, Sample, run_command, whys, words_of_command
from figure import Figure, megabytes, seconds
from timing import Failed

LIMIT, QUICK_LIMIT = 60.0, 20.0       # seconds of one run
ROWS, ENDINGS = 11 * 60.0, 4 * 60.0    # seconds of all runs of each; what is left then says so
QUICK = 60.0
GROUPS = (*dict.fromkeys(row.group for row in rows.TABLE), "ends", "first request")
_CALIBRATED = b"\0" * (4 << 20)
_LOOK = 0.01                          # seconds between looks at memory


def calibrate() -> float:
    """Seconds of a loop that is always the same."""
    start = time.monotonic()
    for _ in range(2):
        hashlib.sha256(_CALIBRATED).digest()
    return time.monotonic() - start


@dataclasses.dataclass
class Bench:
    """What all rows share. Library processes stay from row to row."""
    places: Places
    server: ModelServer
    quick: bool
    ends: float                 # of the monotonic clock: no row begins behind it
    reference: float            # seconds of the calibration loop
    libraries: dict[str, Library] = dataclasses.field(default_factory=dict)

    def library(self, engine: str) -> Library:
        return self.libraries.setdefault(engine, Library(engine, self.places))

    def text(self, size: int) -> pathlib.Path:
        """A file of about that many bytes that begins with `line`; read once, so that it is in the page cache."""
        return inputs.numbered_lines(self.places.folder, size)

    def drop_text(self, size: int) -> None:
        self.text(size).unlink()

    def close(self) -> None:
        for library in self.libraries.values():
            library.close()


def measure(dossier: str, folder: pathlib.Path, quick: bool, groups: tuple[str, ...] = ()) -> list[Figure]:
    """All figures, or those of some groups. Writes below `folder`, which is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    places = Places(dossier, folder, eval_peers_home(), QUICK_LIMIT if quick else LIMIT)
    try:
        with ModelServer() as server:
            reference = statistics.median(calibrate() for _ in range(5))
            bench = Bench(places, server, quick, time.monotonic() + (QUICK if quick else ROWS), reference)
            wanted = [row for row in rows.TABLE if (row.quick or not quick) and (not groups or row.group in groups)]
            found: list[Figure] = []
            try:
                for number, row in enumerate(wanted):
                    # What earlier rows did not use is shared by those that are left.
                    share = (bench.ends - time.monotonic()) / (len(wanted) - number)
                    found += _guarded(bench, row, time.monotonic() + share)
                bench.ends = time.monotonic() + (QUICK if quick else ENDINGS)
                return found + endings.measure(bench, groups)
            finally:
                bench.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def eval_peers_home() -> pathlib.Path:
    """Where bench/eval_peers installs them."""
    import importlib.machinery
    path = pathlib.Path(__file__).resolve().parents[1] / "eval_peers"
    return importlib.machinery.SourceFileLoader("eval_peers", str(path)).load_module().home()


def _guarded(bench: Bench, row: rows.Row, until: float) -> list[Figure]:
    if time.monotonic() > bench.ends:
        return [Figure(row.what, group=row.group, problem="left out: the time for this part of the table is used up")]
    print(f"  {row.what}", file=sys.stderr, flush=True)
    try:
        return _measure_row(bench, row, until)
    except (Failed, OSError) as error:
        return [Figure(row.what, group=row.group, problem=f"{OURS}: {error}")]
    finally:
        if row.size >= 50 * rows.MB and not any(row.size == other.size for other in _after(row)):
            bench.drop_text(row.size)


def _after(row: rows.Row) -> list[rows.Row]:
    return rows.TABLE[rows.TABLE.index(row) + 1:]


def _measure_row(bench: Bench, row: rows.Row, until: float) -> list[Figure]:
    """At least one round; no further one behind `until`."""
    systems, reasons = [f"{OURS}/{row.how}"], dict(row.left_out)
    wanted = [f"{peer}/{row.how}" for peer in row.peers] + [name for name in row.goals if "/" in name]
    for system in wanted:
        peer = system.partition("/")[0]
        reason = bench.places.missing(peer)
        try:
            _plan(row, system)
        except plans.Unable as unable:
            reason = reason or str(unable)
        if reason:
            reasons[system] = reason
        else:
            systems.append(system)
    context = bench.text(row.size)
    for system in systems if row.how == "library" else []:
        _warm(bench, row, system, context, reasons)
    attempts: list[dict] = []
    for number in range(1 if bench.quick else row.rounds):
        if number and time.monotonic() > until:
            break
        found = ratios.attempts_of_round(calibrate, lambda: _round(bench, row, systems, context, reasons),
                                         bench.reference, lambda: time.monotonic() < until)
        attempts += [{"round": number, "calibration": calibration, "off": ratios.is_off(calibration, bench.reference),
                      "samples": samples} for calibration, samples in found]
    return _figures(bench, row, attempts, reasons)


def _warm(bench: Bench, row: rows.Row, system: str, context: pathlib.Path, reasons: dict[str, str]) -> None:
    """The first question of a process pays for imports and pools; none of it is counted."""
    engine = system.partition("/")[0]
    try:
        bench.server.play(engine, plans.turns(engine, 1))
        bench.library(engine).ask(Asking(bench.server.url(engine), context, QUESTION, turns=row.count + 2, depth=_depth(row)))
    except Failed as error:
        if engine == OURS:
            raise
        reasons[system] = str(error)


def _round(bench: Bench, row: rows.Row, systems: list[str], context: pathlib.Path,
           reasons: dict[str, str]) -> dict[str, dict]:
    """One run of each; one that fails is named and not run again."""
    samples = {}
    for system in systems:
        if system in reasons:
            continue
        try:
            samples[system] = _run(bench, row, system, context)
        except Failed as error:
            if system.startswith(OURS):
                raise
            reasons[system] = str(error)
    return samples


def _plan(row: rows.Row, system: str) -> Plan:
    engine, _, how = system.partition("/")
    if how == "command":
        engine = plans.of_command(engine)
    if row.work == "turns":
        return plans.turns(engine, row.count, row.variables)
    if row.work == "sub_calls":
        return plans.sub_calls(engine, row.count, row.bytes)
    return getattr(plans, row.work)(engine, row.count, row.delay)


def _depth(row: rows.Row) -> int:
    return 2 if row.work == "children" else 1


def _run(bench: Bench, row: rows.Row, system: str, context: pathlib.Path) -> dict:
    """Seconds of the row's figure, with the run's wall, CPU and memory."""
    engine, _, how = system.partition("/")
    plan = _plan(row, system)
    bench.server.play(engine, plan)
    asking = Asking(bench.server.url(engine), context, QUESTION, turns=len(plan.root) + 2, depth=_depth(row))
    if how == "library":
        sample = bench.library(engine).ask(asking)
    else:
        sample = run_command(words_of_command(engine, asking, bench.places), bench.places,
                             _LOOK if row.group == "large contexts" else 0.0)
    heard = bench.server.heard(engine)
    check(sample, heard, len(plan.root), 0 if row.work == "turns" else row.count)
    return {"value": _value(row, sample, heard), "wall": sample.wall, "cpu": sample.cpu, "peak": sample.peak}


def check(sample: Sample, heard: dict, turns: int, calls: int) -> None:
    """A run that did other work than was asked for is no figure."""
    if sample.error or sample.answer.strip() != "line":
        raise Failed(sample.error or f"it answered {sample.answer.strip()[:80]!r}")
    if heard["root"] != turns:
        raise Failed(f"it took {heard['root']} turns instead of {turns}")
    if heard["sub"] + heard["child"] < calls:  # it refused some, and went on without
        raise Failed(f"it asked {heard['sub'] + heard['child']} of {calls} calls that its code made")


def _value(row: rows.Row, sample: Sample, heard: dict) -> float:
    if row.figure == "wall":
        return sample.wall
    # From a reply to the next request of the root: what the engine did between them.
    gaps = [after - before for before, after in zip(heard["replied"], heard["arrived"][1:])]
    if row.figure == "turn":
        return statistics.median(gaps[1:])  # the first also starts what runs the code
    return gaps[0] / (row.count if row.work == "sub_calls" else 1)


def _figures(bench: Bench, row: rows.Row, attempts: list[dict], reasons: dict[str, str]) -> list[Figure]:
    ours_name = f"{OURS}/{row.how}"
    ours = [attempt["samples"][ours_name] for attempt in attempts]
    value = statistics.median(sample["value"] for sample in ours)
    what = f"{row.what} (CPU {seconds(statistics.median(sample['cpu'] for sample in ours))})"
    found = []
    others = [name for name in attempts[0]["samples"] if name != ours_name]
    for name in others:
        pairs = [(attempt, attempt["samples"][ours_name]["value"], attempt["samples"][name]["value"])
                 for attempt in attempts if name in attempt["samples"]]
        found.append(_beside(bench, row, what, name, pairs))
    if row.ideal:
        goal = row.goals.get("ideal", 0.0)
        pairs = [(attempt, attempt["samples"][ours_name]["value"], row.ideal) for attempt in attempts]
        found.append(_ratio(row.group, what, pairs, f"ideal {seconds(row.ideal)}", goal, seconds))
    if row.group == "large contexts":
        found += _memory(row, attempts, ours_name, others)
    if not found and not reasons:
        found.append(Figure(what, seconds(value), group=row.group, peer="no other engine was run"))
    for text in whys(reasons):
        found.append(Figure(row.what, seconds(value), group=row.group, problem=text))
    return found


def _beside(bench: Bench, row: rows.Row, what: str, name: str, pairs: list) -> Figure:
    peer, _, how = name.partition("/")
    goal = row.goals.get(name if how != row.how else peer, 0.0)
    shown = ("" if how == row.how else "in process, ") + bench.places.version(peer)
    cpu = statistics.median(attempt["samples"][name]["cpu"] for attempt, _, _ in pairs)
    theirs = f"{shown} {seconds(statistics.median(pair[2] for pair in pairs))} (CPU {seconds(cpu)})"
    return _ratio(row.group, what, pairs, theirs, goal, seconds)


def _ratio(group: str, what: str, pairs: list, peer: str, goal: float, unit) -> Figure:
    interval = ratios.bootstrap([ours / theirs for _, ours, theirs in pairs])
    kept = [{"round": attempt["round"], "off": attempt["off"], "calibration": attempt["calibration"], "ours": ours,
             "peer": theirs} for attempt, ours, theirs in pairs]
    return Figure(what, unit(statistics.median(pair[1] for pair in pairs)), peer, interval.median,
                  f"<= {goal:.3g} x" if goal else "", bool(goal) and interval.median <= goal, group=group,
                  low=interval.low, high=interval.high, rounds=kept)


def _memory(row: rows.Row, attempts: list[dict], ours_name: str, others: list[str]) -> list[Figure]:
    """The largest proportional memory of all processes, beside the file and beside the peers'."""
    peaks = [(attempt, attempt["samples"][ours_name]["peak"]) for attempt in attempts]
    name = row.what.partition("over ")[2]
    what = f"peak memory of all processes, code builds `context` of {name}"
    # Of a small file the processes themselves are most of the memory.
    goal = rows.MEMORY_GOAL if row.size >= 200 * rows.MB else 0.0
    found = [_ratio(row.group, what, [(attempt, peak, row.size) for attempt, peak in peaks], f"the file {megabytes(row.size)}",
                    goal, megabytes)]
    for other in others:
        pairs = [(attempt, attempt["samples"][ours_name]["peak"], attempt["samples"][other]["peak"]) for attempt in attempts
                 if other in attempt["samples"] and attempt["samples"][other]["peak"]]
        if pairs:
            theirs = megabytes(statistics.median(pair[2] for pair in pairs))
            found.append(_ratio(row.group, what, pairs, f"{other.partition('/')[0]} {theirs}", 0.0, megabytes))
    return found
