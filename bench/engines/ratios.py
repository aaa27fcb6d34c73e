"""Ratios of rounds: their median and interval, which rounds a busy machine spoiled, and steps in a history."""

import dataclasses
import random
import statistics

RESAMPLES = 2_000
CALIBRATION_OFF = 0.20     # of the calibration loop beside the median of those before the first round
MOST_REPEATS = 2           # of a round that is off
STEP_NEW, STEP_OLD = 5, 20  # commits on both sides of a step
STEP_DEVIATIONS = 3.0


@dataclasses.dataclass(frozen=True)
class Interval:
    median: float
    low: float
    high: float


def bootstrap(values: list[float], seed: int = 1) -> Interval:
    """The median with the middle 95 % of the medians of resamples; of at least one value."""
    draw = random.Random(seed)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return Interval(statistics.median(values), medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1])


def is_off(calibration: float, reference: float) -> bool:
    """Whether the machine ran so much faster or slower in a round that its seconds mean little."""
    return abs(calibration / reference - 1) > CALIBRATION_OFF


def attempts_of_round(calibrate, work, reference: float, has_time=lambda: True) -> list[tuple[float, object]]:
    """(calibration, what `work()` gave) of a round, and of its repeats while it is off. All of them count.

    It is not run again once `has_time()` says no.
    """
    attempts = []
    while len(attempts) <= MOST_REPEATS:
        calibration = calibrate()
        attempts.append((calibration, work()))
        if not is_off(calibration, reference) or not has_time():
            break
    return attempts


@dataclasses.dataclass(frozen=True)
class Step:
    metric: str
    commit: str      # the first of the five
    before: float    # median of the twenty
    after: float     # median of the five


def steps(history: list[dict]) -> list[Step]:
    """Where a ratio changed for good: {"commit": ID, "ratios": {metric: number}} a line, the oldest first.

    A step is where the median of five commits is more than three median deviations away from the median of
    the twenty before. Places in a row that show it are one step: the first of them tells, and of its five
    commits the first that is nearer to the new median is named. Commits that lack a metric are passed over.
    Twenty equal values have no deviation: any change is a step then, but for one of 1 % and less.
    """
    found: list[Step] = []
    for metric in sorted({name for line in history for name in line["ratios"]}):
        points = [(line["commit"], line["ratios"][metric]) for line in history if metric in line["ratios"]]
        in_step = False
        for at in range(STEP_OLD, len(points) - STEP_NEW + 1):
            step = _step_at(metric, points, at)
            if step and not in_step:
                found.append(step)
            in_step = step is not None
    return found


def _step_at(metric: str, points: list[tuple[str, float]], at: int) -> Step | None:
    old, new = [value for _, value in points[at - STEP_OLD:at]], points[at:at + STEP_NEW]
    before, after = statistics.median(old), statistics.median(value for _, value in new)
    deviation = max(statistics.median(abs(value - before) for value in old), abs(before) * 0.01 / STEP_DEVIATIONS)
    if abs(after - before) <= STEP_DEVIATIONS * deviation:
        return None
    first = next(number for number, (_, value) in enumerate(new, at) if abs(value - after) <= abs(value - before))
    return Step(metric, points[first][0], before, statistics.median(value for _, value in points[first:first + STEP_NEW]))
