"""How a figure is measured: two ways in turn, in one process, on one thread, and the medians of both."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Figure:
    """One line of the report."""

    figure: str  # what is measured, and in which unit `ours` and `peer` are
    ours: float
    peer: float
    ratio: float
    goal: str
    holds: bool
    conditions: str


def alternate(ours: Callable[[], object], peer: Callable[[], object], rounds: int = 9) -> tuple[float, float, float]:
    """Median milliseconds of both, and the median of peer / ours over the rounds; the first round warms up.

    Seconds of the processor, not of the clock: with one thread they are the same on a quiet machine, and on a busy one
    they leave the neighbours out. Each round times both, so what slows the machine slows both.
    """
    pairs = []
    for number in range(rounds + 1):
        order = (ours, peer) if number % 2 else (peer, ours)
        times = {way: _milliseconds(way) for way in order}
        pairs.append((times[ours], times[peer]))
    pairs = pairs[1:]
    return median(a for a, _ in pairs), median(b for _, b in pairs), median(b / a for a, b in pairs)


def _milliseconds(run: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    run()
    return 1000 * (time.process_time() - start)


def rounded(value: float) -> float:
    return float(f"{value:.4g}")
