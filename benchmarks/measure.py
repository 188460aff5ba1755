"""How a figure is measured and judged, so that an idle, a slow and a busy machine say the same.

Two ways run in turn in one process, and what counts is the ratio of their times: what slows the machine slows both.
Times are of the processor, not of the clock, so other programs are left out. And a goal is missed only when every one
of MOST_SETS sets of rounds misses it.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

MOST_SETS = 3


class Took(NamedTuple):
    ms: float
    others_ms: float = 0.0  # of it, by other threads of this process


Way = Callable[[], Took]  # does its work once and says how long it took


@dataclass(frozen=True)
class Goal:
    """Met when peer / ours reaches `ratio`; or, where `most_ms` is given, when ours takes no longer than that."""

    ratio: float
    most_ms: float | None = None  # the goal in words; `ratio` is what it comes to on a machine that is slower
    remark: str = ""

    def is_met(self, ours_ms: float, ratio: float) -> bool:
        return ratio >= self.ratio or (self.most_ms is not None and ours_ms <= self.most_ms)

    def __str__(self) -> str:
        by_clock = "" if self.most_ms is None else f"ours <= {self.most_ms:g} ms or, on a slower machine, "
        return f"{by_clock}ratio >= {self.ratio:g}" + (f", {self.remark}" if self.remark else "")


@dataclass(frozen=True)
class Figure:
    """One line of the report: medians over the rounds of the set that decided."""

    figure: str  # what is measured, beside which peer
    ours: float  # milliseconds, unless the figure names another unit
    peer: float
    ratio: float  # peer / ours of one round
    ratio_range: tuple[float, float]
    goal: str
    holds: bool
    sets: int  # how many were taken: another one only while the goal is missed
    conditions: str


def processor_time(run: Callable[[], object], parts: int = 1) -> Way:
    """Milliseconds of the processor (user and system) for one of the `parts` equal things that `run` does.

    Those of every thread of this process: a way that hands work to a thread must pay for it. A thread that is left over
    from something else counts as well; so `compare` tells how much was not done by the thread that measures.
    """

    def way() -> Took:
        gc.collect()
        process, thread = time.process_time(), time.thread_time()
        run()
        process, thread = time.process_time() - process, time.thread_time() - thread
        return Took(1000 * process / parts, 1000 * max(process - thread, 0) / parts)

    return way


def compare(figure: str, ours: Way, peer: Way, goal: Goal, conditions: str, rounds: int = 9) -> Figure:
    """Takes sets of rounds until one meets the goal, MOST_SETS at most."""
    sets, holds = 0, False
    while not holds and sets < MOST_SETS:
        sets += 1
        pairs = _alternate(ours, peer, rounds)
        ours_ms, peer_ms = (median(took.ms for took in side) for side in zip(*pairs, strict=True))
        ratios = [theirs.ms / mine.ms for mine, theirs in pairs]
        holds = goal.is_met(ours_ms, median(ratios))
    return Figure(
        figure,
        _rounded(ours_ms),
        _rounded(peer_ms),
        _rounded(median(ratios)),
        (_rounded(min(ratios)), _rounded(max(ratios))),
        str(goal),
        holds,
        sets,
        f"{conditions}, median of {rounds} rounds{_other_threads(pairs)}",
    )


def _alternate(ours: Way, peer: Way, rounds: int) -> list[tuple[Took, Took]]:
    """Both once a round, each first in every other round; a round before them warms up and does not count."""
    pairs = []
    for number in range(rounds + 1):
        if number % 2:
            mine = ours()
            theirs = peer()
        else:
            theirs = peer()
            mine = ours()
        pairs.append((mine, theirs))
    return pairs[1:]


def _other_threads(pairs: list[tuple[Took, Took]]) -> str:
    shares = [sum(took.others_ms for took in side) / sum(took.ms for took in side) for side in zip(*pairs, strict=True)]
    if max(shares) < 0.01:
        return ""
    return f"; other threads of the process: {shares[0]:.0%} of ours, {shares[1]:.0%} of the peer's"


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
