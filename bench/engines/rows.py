"""The table of engine benchmarks as data: what is measured, on whom, and what is wanted of it.

A row is work, a figure of that work, and the engines that do it. `goals` are the most that ours may cost as
a multiple of another's; `ideal` is seconds that the model's own delay takes, `most` an absolute goal.
"""

import dataclasses
import math

RLMS, DSPY, DROSTE, MINRLM, RECURSIVE = PEERS = ("rlms", "dspy-local", "droste", "minrlm", "recursive-llm")
KB, MB, GB = 1_000, 1_000_000, 1_000_000_000
IN_FLIGHT = 64


@dataclasses.dataclass(frozen=True)
class Row:
    group: str                 # of rows: what they are about
    what: str
    work: str                  # turns | sub_calls | batch | children
    figure: str                # wall | turn | first_gap | peak | journal | first_request
    how: str = "library"       # or command
    count: int = 1             # turns, sub-calls or children
    variables: int = 0
    size: int = 80 * KB        # bytes of the context
    bytes: int = 0             # of a sub-call
    delay: float = 0.0         # seconds of the model
    peers: tuple[str, ...] = PEERS
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)  # peer: why it is not run
    goals: dict[str, float] = dataclasses.field(default_factory=dict)   # peer: ours / its
    ideal: float = 0.0         # seconds; its goal is goals["ideal"]
    most: float = 0.0          # in the figure's unit
    rounds: int = 5
    quick: bool = False        # a part of the quick run


def _ideal(count: int, delay: float) -> float:
    return math.ceil(count / IN_FLIGHT) * delay


_TOO_LONG = "left out: at its time for 16 these would take more than the limit of a run"
_AGAIN = "left out: it sends the text again each turn"
_GROWTH = "left out: its rows of 50 and 200 MB show the growth"
_SPEED = [
    *(Row("completions", f"completion of {count} turn{'s' * (count > 1)}, library", "turns", "wall", count=count,
          goals={RLMS: 1 / 50, DROSTE: 1 / 5} if count == 1 else {}, rounds=7 if count < 100 else 5,
          quick=count in (1, 10)) for count in (1, 10, 30, 100)),
    *(Row("completions", f"completion of {count} turn{'s' * (count > 1)}, whole command", "turns", "wall", how="command",
          count=count, goals={"droste/library": 2} if count == 1 else {}, rounds=2,
          peers=PEERS if count in (1, 100) else (DROSTE,), quick=count == 1) for count in (1, 10, 30, 100)),
    Row("turns", "one turn, no variables", "turns", "turn", count=20, goals={RLMS: 1 / 3}, quick=True),
    Row("turns", "one turn, 5,000 variables", "turns", "turn", count=20, variables=5_000, goals={RLMS: 1 / 3}),
    Row("turns", "a cell of 5,000 statements", "turns", "first_gap", count=3, variables=5_000, rounds=3),
    *(Row("turns", f"one turn, context of {name}", "turns", "turn", count=10, size=size, goals={RLMS: 1 / 3}, rounds=rounds,
          peers=PEERS if size < 100 * MB else (RLMS, DROSTE),
          left_out={} if size < 100 * MB else {DSPY: _AGAIN, MINRLM: _GROWTH, RECURSIVE: _GROWTH})
      for name, size, rounds in (("1 KB", KB, 3), ("1 MB", MB, 3), ("100 MB", 100 * MB, 2), ("1 GB", GB, 1))),
    *(Row("children", f"{count:,} child{'ren' * (count > 1)}, model of {delay * 1e3:.0f} ms", "children", "first_gap",
          count=count, delay=delay, ideal=_ideal(count, delay), rounds=5 if count < 100 else 2,
          peers=(RLMS,) if count <= most else (), left_out={} if count <= most else {RLMS: _TOO_LONG},
          goals=({"ideal": 1.3} if delay else {}) | ({RLMS: 1 / 100} if not delay else {}),
          quick=count == 1 and not delay)
      for delay, most in ((0.0, 100), (0.05, 16)) for count in (1, 16, 100, 1000)),
    *(Row("sub-calls", f"sub-call of {name}", "sub_calls", "first_gap", count=count, bytes=size, size=max(80 * KB, size),
          rounds=rounds, goals={RLMS: 1 / 10}, quick=size == 10)
      for name, size, count, rounds in (("10 B", 10, 50, 5), ("10 KB", 10 * KB, 50, 3), ("1 MB", MB, 10, 3),
                                        ("10 MB", 10 * MB, 3, 2))),
    *(Row("sub-calls", f"batch of {count:,} at 50 ms", "batch", "first_gap", count=count, delay=0.05, rounds=3,
          ideal=_ideal(count, 0.05), goals={"ideal": 1.15} if count == 1000 else {},
          peers=(RLMS, DSPY, DROSTE, MINRLM, RECURSIVE), quick=count == 40)
      for count in (40, 100, 1000)),
]
_LARGE = [
    Row("large contexts", f"whole command of 3 turns over {name}", "turns", "wall", how="command", count=3, size=size, rounds=rounds,
        peers=PEERS if size < GB else (RLMS, DROSTE), quick=size == MB,
        left_out={} if size < GB else {DSPY: _AGAIN, MINRLM: _GROWTH, RECURSIVE: _GROWTH})
    for name, size, rounds in (("1 MB", MB, 3), ("50 MB", 50 * MB, 2), ("200 MB", 200 * MB, 1), ("1 GB", GB, 1))
]
TABLE = _SPEED + _LARGE
# The largest memory of those runs, beside the size of the file.
MEMORY_GOAL = 1.2           # times the file, where code builds `context`
DOC_GOAL = 150 * MB         # where it uses `doc` alone
JOURNAL_GOAL = 64 * 1024    # bytes a turn
RESUME_GOAL = 2.0           # times the processor time of the blocks that are played again
