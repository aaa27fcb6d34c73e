"""What the engines do at their ends: at each limit, behind a kill, and what they write and send by then."""

import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from engines import plans, ratios, rows
from engines.model_server import QUESTION
from engines.systems import OURS, Asking, cpu_of_tree, kill_command, run_command, start_command, whys, words_of_command
from figure import Figure, kilobytes, megabytes, seconds
from timing import Failed

_BLOCK = "total = sum(i * i for i in range(100000))\nprint({turn}, total)"
_FAILS = "raise ValueError('it fails')"
_PRICE = ("--price", "1/1")  # dollars for a million tokens


# (limit, flags of ours, {peer: arguments of its own}, code that fails, seconds of a reply). A peer that is not
# named has no such limit. What counts as a call differs: droste, dspy and minrlm count sub-calls alone.
_LIMITS = (
    ("iterations", ("--max-iterations", "3"),
     {"rlms": {"max_iterations": 3}, "dspy-local": {"max_iters": 3}, "droste": {"max_iterations": 3},
      "minrlm": {"max_iterations": 3}, "recursive-llm": {"max_iterations": 3}}, "", 0.0),
    ("calls", ("--max-calls", "5"),
     {"dspy-local": {"max_llm_calls": 3, "max_iters": 6}, "droste": {"subcalls": 3, "max_iterations": 6},
      "minrlm": {"max_sub_llm_calls": 3, "max_iterations": 6}, "recursive-llm": {"max_total_calls": 5}}, "", 0.0),
    ("tokens", ("--max-tokens", "12000"),
     {"rlms": {"max_tokens": 500}, "droste": {"tokens": 12_000}, "recursive-llm": {"max_total_tokens": 500}}, "", 0.0),
    ("cost", ("--max-cost", "0.012", *_PRICE),
     {"rlms": {"max_budget": 0.0005}, "recursive-llm": {"max_total_cost_usd": 0.0005}}, "", 0.0),
    ("time", ("--max-time", "2s"),
     {"rlms": {"max_timeout": 2.0}, "droste": {"wall_ms": 2000}, "minrlm": {"max_time_seconds": 2},
      "recursive-llm": {"max_elapsed_seconds": 2.0}}, "", 0.6),
    ("errors", ("--max-errors", "3"), {"rlms": {"max_errors": 3}}, _FAILS, 0.0),
)
_NO_LIMIT = "it has no such limit"


def _ask(bench, engine: str, plan, limits: dict, turns: int, flags: tuple[str, ...] = ()):
    """(sample, what the server heard) of one whole command."""
    bench.server.play(engine, plan)
    asking = Asking(bench.server.url(engine), bench.text(80 * rows.KB), QUESTION, turns=turns, limits=limits)
    argv = words_of_command(engine, asking, bench.places, *flags)
    return run_command(argv, bench.places), bench.server.heard(engine)


def _kept(sample, heard: dict) -> str:
    requests = heard["root"] + heard["sub"] + heard["child"]
    said = sample.answer.strip()
    if said == plans.DRAFT:
        verdict = "kept"
    elif said:
        verdict = f"another answer: {' '.join(said.split())[:50]!r}"
    else:
        verdict = f"lost: {sample.error[:90]}" if sample.error else "lost: an empty answer"
    return f"{verdict} ({requests} requests, {seconds(sample.wall)}, exit {sample.code})"


def _limits(bench) -> list[Figure]:
    """answer at each limit"""
    found = []
    for name, flags, peers, fails, delay in _LIMITS if not bench.quick else _LIMITS[:1]:
        what = f"limit of {name}, a draft stands: is it kept?"
        sample, heard = _ask(bench, OURS, plans.stubborn(OURS, fails, delay), {}, 30, flags)
        ours = _kept(sample, heard)
        reasons = {peer: bench.places.missing(peer) or ("" if peer in peers else _NO_LIMIT) for peer in rows.PEERS}
        found += [Figure(what, ours, group="ends", problem=why, goal="kept", met=ours.startswith("kept"))
                  for why in whys({peer: reason for peer, reason in reasons.items() if reason})]
        for peer in (peer for peer in rows.PEERS if not reasons[peer]):
            try:
                theirs = _kept(*_ask(bench, peer, plans.stubborn(peer, fails, delay), peers[peer], 30))
            except Failed as error:
                theirs = f"did not end: {error}"
            found.append(Figure(what, ours, f"{peer}: {theirs}", goal="kept", met=ours.startswith("kept"), group="ends"))
    return found


def _killed(bench, engine: str, argv: list[str], times: int = 1) -> tuple[float, float]:
    """Runs a command until a request is held for the `times`-th time, and kills it with all that it started.

    (seconds from its start to that request, CPU until then).
    """
    start = time.monotonic()
    process = start_command(argv, bench.places)
    try:
        while len(held := bench.server.heard(engine)["held"]) < times:
            if process.poll() is not None or time.monotonic() > start + bench.places.limit:
                raise Failed("it did not come to the middle of its run")
            time.sleep(0.005)
        return held[-1] - start, cpu_of_tree(process.pid)
    finally:
        kill_command(process)


def _command(bench, engine: str, turns: int) -> list[str]:
    asking = Asking(bench.server.url(engine), bench.text(80 * rows.KB), QUESTION, turns=turns + 2)
    return words_of_command(engine, asking, bench.places)


def _resume(bench) -> list[Figure]:
    """resume after a kill half-way"""
    turns = 6 if bench.quick else 100
    half, resume = turns // 2, [bench.places.dossier, "runs", "resume", "last"]
    blocks = _cpu_of_blocks(half)
    waits, cpus, repeated = [], [], 0
    for _ in range(1 if bench.quick else 3):
        plan = plans.busy(OURS, turns, _BLOCK)
        plan.hold, plan.hold_times = half + 1, 2
        bench.server.play(OURS, plan)
        _killed(bench, OURS, _command(bench, OURS, turns))
        wait, cpu = _killed(bench, OURS, resume, 2)  # killed again where it asks something new
        sample, heard = run_command(resume, bench.places), bench.server.heard(OURS)
        if sample.error or heard["root"] < turns:
            raise Failed(sample.error or f"the resumed run made {heard['root']} of {turns} requests")
        waits.append(wait)
        cpus.append(cpu)
        repeated = max(repeated, heard["root"] - turns)
    what = f"resume of {turns} turns killed half-way ({repeated} requests repeated), to its first new request"
    found = [_against_blocks(f"{what}, {kind}", values, half, blocks) for kind, values in (("wall time", waits), ("CPU", cpus))]
    what = "the same command again after a kill half-way: requests repeated"
    absent = {peer: bench.places.missing(peer) for peer in rows.PEERS if bench.places.missing(peer)}
    found += [_begun_again(bench, what, peer, repeated) for peer in rows.PEERS if peer not in absent]
    return found + [Figure(what, f"{repeated}", group="ends", problem=why) for why in whys(absent)]


def _against_blocks(what: str, values: list[float], half: int, blocks: float) -> Figure:
    interval = ratios.bootstrap([value / blocks for value in values])
    return Figure(what, seconds(statistics.median(values)), f"CPU of its {half} blocks {seconds(blocks)}", interval.median,
                  f"<= {rows.RESUME_GOAL:g} x", interval.median <= rows.RESUME_GOAL, group="ends", low=interval.low,
                  high=interval.high)


def _begun_again(bench, what: str, peer: str, repeated: int) -> Figure:
    """What a peer repeats whose command is simply given again."""
    turns = 20
    try:
        plan = plans.turns(plans.of_command(peer), turns)
        plan.hold = turns // 2 + 1
        bench.server.play(peer, plan)
        _killed(bench, peer, _command(bench, peer, turns))
        before = bench.server.heard(peer)["root"]
        again, heard = _ask(bench, peer, plans.turns(plans.of_command(peer), turns), {}, turns + 2)
        if again.error:
            raise Failed(again.error)
        return Figure(what, f"{repeated}", f"{peer}: {before + heard['root'] - turns} of {before}", group="ends",
                      goal="0", met=repeated == 0)
    except Failed as error:
        return Figure(what, f"{repeated}", group="ends", problem=f"{peer}: {error}")


def _cpu_of_blocks(count: int) -> float:
    code = "import time\nstart = time.process_time()\n" + "\n".join(_BLOCK.format(turn=turn) for turn in range(count))
    code += "\nprint('cpu', time.process_time() - start)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def _first_request(bench) -> list[Figure]:
    """first request in tokens"""
    sizes = {}
    reasons = {peer: bench.places.missing(peer) for peer in rows.PEERS if bench.places.missing(peer)}
    for engine in (OURS, *(peer for peer in rows.PEERS if peer not in reasons)):
        try:
            sample, heard = _ask(bench, engine, plans.turns(plans.of_command(engine), 1), {}, 30)
            if not heard["first"]:
                raise Failed(sample.error or "it sent no request")
            sizes[engine] = _size(bench, heard["first"])
        except Failed as error:
            if engine == OURS:
                raise
            reasons[engine] = str(error)
    tokens, characters = sizes.pop(OURS)
    what, ours = "first request over 80 KB, o200k tokens", f"{tokens:,} ({characters:,} characters)"
    found = [Figure(what, ours, f"{peer} {theirs:,} ({letters:,} characters)", tokens / theirs, group="first request")
             for peer, (theirs, letters) in sizes.items()]
    found += [Figure(what, ours, group="first request", problem=why) for why in whys(reasons)]
    return found


def _size(bench, body: str) -> tuple[int, int]:
    """(tokens, characters) of the messages of a request."""
    parts = []
    for message in json.loads(body)["messages"]:
        content = message.get("content") or ""
        parts.append(content if isinstance(content, str) else "".join(part.get("text", "") for part in content))
    text = "\n".join(parts)
    path = bench.places.folder / "request.txt"
    path.write_text(text, encoding="utf-8")
    sample = run_command([bench.places.dossier, "tokens", "--encoding", "o200k_base", str(path)], bench.places)
    if sample.error:
        raise Failed(sample.error)
    return int(sample.answer.split()[0].replace(",", "")), len(text)


def _bytes_below(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _journal(bench) -> list[Figure]:
    """bytes that a turn is recorded in"""
    found = []
    for name, size in (("1 MB", rows.MB), ("50 MB", 50 * rows.MB), ("200 MB", 200 * rows.MB), ("1 GB", rows.GB)):
        if bench.quick and size > rows.MB:
            break
        what = f"bytes recorded a turn, context of {name}"
        try:
            found.append(_a_turn(bench, what, size))
        except Failed as error:
            found.append(Figure(what, group="large contexts", problem=str(error)))
        if size > rows.MB:
            bench.drop_text(size)
    found.append(Figure("bytes recorded a turn", group="large contexts",
                        problem="dspy, droste, minrlm and recursive-llm: record nothing by themselves"))
    return found


def _a_turn(bench, what: str, size: int) -> Figure:
    """Ours beside the log that rlms writes where it is told to."""
    few, many = 2, 12
    ours = (_recorded(bench, OURS, many, size) - _recorded(bench, OURS, few, size)) / (many - few)
    figure = Figure(what, kilobytes(ours), group="large contexts", goal=f"<= {rows.JOURNAL_GOAL // 1024} KiB",
                    met=ours <= rows.JOURNAL_GOAL, problem=bench.places.missing("rlms"))
    if size == rows.GB:
        figure.problem = "rlms: left out, its log of the 200 MB row shows the growth"
    if figure.problem:
        return figure
    try:
        theirs = (_recorded(bench, "rlms", 3, size) - _recorded(bench, "rlms", 1, size)) / 2
        figure.peer, figure.ratio = f"rlms, its log {kilobytes(theirs)}", ours / theirs if theirs else 0.0
    except Failed as error:
        figure.problem = f"rlms: {error}"
    return figure


def _recorded(bench, engine: str, turns: int, size: int) -> int:
    """Bytes that one run leaves behind."""
    log = bench.places.folder / "log"
    data = bench.places.folder / "home/data"
    for folder in (log, data):
        shutil.rmtree(folder, ignore_errors=True)
    bench.server.play(engine, plans.turns(engine, turns))
    asking = Asking(bench.server.url(engine), bench.text(size), QUESTION, turns=turns + 2,
                    limits={} if engine == OURS else {"log_dir": str(log)})
    sample = run_command(words_of_command(engine, asking, bench.places), bench.places)
    if sample.error:
        raise Failed(f"{engine}: {sample.error}")
    found = _bytes_below(data if engine == OURS else log)
    shutil.rmtree(log, ignore_errors=True)
    return found


def _doc_memory(bench) -> list[Figure]:
    """peak memory where code uses `doc` alone"""
    found = []
    for name, size in (("1 MB", rows.MB), ("200 MB", 200 * rows.MB), ("1 GB", rows.GB)):
        if bench.quick and size > rows.MB:
            break
        bench.server.play(OURS, plans.turns("dossier-doc", 3))
        asking = Asking(bench.server.url(OURS), bench.text(size), QUESTION, turns=30)
        sample = run_command(words_of_command(OURS, asking, bench.places), bench.places, 0.01)
        if sample.error:
            raise Failed(sample.error)
        found.append(Figure(f"peak memory of all processes, code uses `doc` alone of {name}", megabytes(sample.peak),
                            f"goal {megabytes(rows.DOC_GOAL)}", sample.peak / rows.DOC_GOAL, "<= 1 x",
                            sample.peak <= rows.DOC_GOAL, group="large contexts"))
        if size > rows.MB:
            bench.drop_text(size)
    return found


_PARTS = ((_limits, "ends"), (_resume, "ends"), (_first_request, "first request"), (_doc_memory, "large contexts"),
          (_journal, "large contexts"))


def measure(bench, groups: tuple[str, ...] = ()) -> list[Figure]:
    """All, or those of some groups."""
    found = []
    for part in [part for part, group in _PARTS if not groups or group in groups]:
        if time.monotonic() > bench.ends:
            found.append(Figure(part.__doc__, problem="left out: the time for this part of the table is used up"))
            continue
        print(f"  {part.__doc__}", file=sys.stderr, flush=True)
        try:
            found += part(bench)
        except (Failed, OSError) as error:
            found.append(Figure(part.__doc__, problem=f"{OURS}: {error}"))
    return found
