"""How the number of distinct answers follows a setting, and how it would vary over other seeds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import pandas as pd

from playground.engine.params import SamplingParams
from playground.models.text import LoadedModel
from playground.tabs.thirty_answers.answers import (
    ANSWER_TOKENS,
    NUM_ANSWERS,
    TOKENS,
    AnswerRequest,
    AnswerSet,
    sample_answer_sets,
)
from playground.words import say

# What each axis of the page steps through. Top-k 0 means off: every token may be chosen.
VALUES: dict[str, tuple[float, ...]] = {
    "temperature": (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2),
    "top_p": (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1),
    "top_k": (1, 2, 3, 5, 10, 20, 50, 100, 0),
}
POOL = 120  # rows a point, from which the band is worked out
WIDTH = 1.645  # standard deviations: about nine of ten other seeds


@dataclass(frozen=True)
class CurvePoint:
    value: float  # of the setting
    num_distinct: int  # in the first `n` rows: what the page shows for this seed
    expected: float  # mean over seeds, by rarefaction of the pool
    low: float  # about nine of ten seeds give a number between low and high
    high: float


@dataclass(frozen=True)
class Curve:
    prompt: str
    knob: str  # temperature, top_p or top_k
    n: int
    pool_size: int
    points: tuple[CurvePoint, ...]

    def to_frame(self) -> pd.DataFrame:
        """A row for each value of the setting: prompt, the setting, distinct, expected, low, high, answers, pool."""
        frame = pd.DataFrame(self.points).rename(columns={"value": self.knob, "num_distinct": "distinct"})
        frame.insert(0, "prompt", self.prompt)
        return frame.assign(answers=self.n, pool=self.pool_size)


@dataclass(frozen=True)
class CurvePool:
    """The answers behind a curve: a set for each value of the setting."""

    knob: str
    sets: tuple[AnswerSet, ...]

    @property
    def prompt(self) -> str:
        return self.sets[0].prompt

    @property
    def values(self) -> list[float]:
        return [getattr(sampled.params, self.knob) for sampled in self.sets]

    def curve(self, n: int = NUM_ANSWERS, compare: str = TOKENS) -> Curve:
        """Counts among the first n rows, and the band from all of them; a pool of n rows gives no band."""
        pairs = zip(self.values, self.sets, strict=True)
        points = [_point(value, sampled.compared_by(compare), n) for value, sampled in pairs]
        return Curve(self.prompt, self.knob, n, len(self.sets[0].answers), tuple(points))


def curve_request(
    prompt: str,
    params: SamplingParams,
    knob: str = "temperature",
    rows: int = POOL,
    max_new_tokens: int = ANSWER_TOKENS,
    values: Sequence[float] = (),
) -> AnswerRequest:
    """All values of the setting share the same random numbers; the other settings stay as in `params`."""
    settings = tuple(replace(params, **{knob: value}) for value in tuple(values) or VALUES[knob])
    return AnswerRequest(prompt, settings, rows, max_new_tokens)


def sample_curve_pool(
    loaded_model: LoadedModel, prompt: str, params: SamplingParams, knob: str = "temperature", *more, **options
) -> CurvePool:
    """All values of the setting and all rows share one prefill. Arguments as of `curve_request`."""
    request = curve_request(prompt, params, knob, *more, **options)
    return CurvePool(knob, tuple(sample_answer_sets(loaded_model, request)))


def _point(value: float, pool: AnswerSet, n: int) -> CurvePoint:
    first = replace(pool, answers=pool.answers[:n])
    expected, deviation = rarefy(pool.counts, n)
    # `expected` is itself known only as well as the pool is large: that widens the band a little.
    half = WIDTH * deviation * sqrt(1 + n / len(pool.answers))
    low, high = expected - half, expected + half
    return CurvePoint(value, first.num_distinct, expected, max(low, 1.0), min(high, float(n)))


def rarefy(counts: Sequence[int], n: int) -> tuple[float, float]:
    """(mean, standard deviation) over seeds of the distinct answers among n, from a pool with these counts.

    Hurlbert's mean and Heck's variance (1971, 1975) speak of n taken from the pool without replacement. Such samples
    vary less than fresh ones, by the part n / pool that is always the same: the variance is divided by what is left.
    """
    pool = sum(counts)
    if n > pool:
        raise ValueError(say("thirty_answers.curve.small_pool", pool=pool, count=n))
    sizes, times = np.unique(np.asarray(counts), return_counts=True)
    absent = _chance_of_absence(sizes, pool, n)  # of an answer seen `size` times, among n of the pool
    mean = min(float((times * (1 - absent)).sum()), float(n))  # rounding may go a little beyond
    if n == pool:
        return mean, 0.0
    both_absent = _chance_of_absence(sizes[:, None] + sizes[None, :], pool, n)
    pairs = times[:, None] * times[None, :] - np.diag(times)
    variance = (times * absent * (1 - absent)).sum() + (pairs * (both_absent - np.outer(absent, absent))).sum()
    return mean, float(np.sqrt(max(variance, 0.0) / (1 - n / pool)))


def _chance_of_absence(sizes: np.ndarray, pool: int, n: int) -> np.ndarray:
    """C(pool - size, n) / C(pool, n): that n of the pool hold none of `size` given ones."""
    log_factorial = np.concatenate([[0.0], np.log(np.arange(1, pool + 1)).cumsum()])
    others = pool - sizes
    possible = others >= n
    others = np.where(possible, others, n)
    logs = log_factorial[others] - log_factorial[others - n] - log_factorial[pool] + log_factorial[pool - n]
    return np.where(possible, np.exp(logs), 0.0)
