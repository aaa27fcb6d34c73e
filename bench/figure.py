"""One figure of the table: what was measured, beside what, and whether that is as wanted."""

import dataclasses
import re


@dataclasses.dataclass
class Figure:
    what: str
    ours: str = ""
    peer: str = ""       # "wc -l 0.143 s"
    ratio: float = 0.0   # ours / peer, or peer / ours where the goal says "faster"
    goal: str = ""
    met: bool = False
    problem: str = ""    # why it could not be measured
    group: str = ""      # of rows: what they are about
    low: float = 0.0     # the interval of the ratio, where it was measured in rounds
    high: float = 0.0
    rounds: list = dataclasses.field(default_factory=list)  # every attempt: calibration, ours, peer, off

    @property
    def verdict(self) -> str:
        if not self.goal or (self.problem and not self.ours):
            return ""
        return "met" if self.met else "MISSED"

    @property
    def metric(self) -> str:
        """Its name from run to run: without what was measured this time."""
        peer = re.sub(r" [\d.,]+ [A-Za-z]+\b.*$", "", self.peer)     # "rlms 0.1.3 650 ms": the measure,
        peer = re.sub(r" \d[\w.]*$", "", peer)                       # and then the version
        return f"{re.sub(r' *[(][^)]*[)]', '', self.what)} / {peer}"

    @property
    def ratio_text(self) -> str:
        """With its interval, where there is one."""
        if self.problem or not self.ratio:
            return ""
        shown = short(self.ratio)
        return f"{shown} [{short(self.low)}, {short(self.high)}]" if self.high else shown


def short(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def seconds(value: float) -> str:
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.2f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} us"


def kilobytes(value: float) -> str:
    return f"{value / 1e3:,.0f} kB"


def megabytes(value: float) -> str:
    return f"{value / 1e6:.0f} MB"
