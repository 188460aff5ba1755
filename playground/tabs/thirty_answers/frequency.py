"""The probability of an answer under the settings, beside how often it comes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import pandas as pd
import torch

from playground.tabs.thirty_answers.answers import TOKENS, AnswerSet

DRAWS = (30, 300, 3000)
LEAST = 5  # expected draws below which a class says too little on its own
ROUNDING = 1e-9  # an answer that always comes is stated, and bounded, within this of 1
Z = 1.96  # 95 of 100 intervals hold the true share


@dataclass(frozen=True)
class Agreement:
    """For each answer the stated probability, and for each number of draws the count with its interval."""

    # answer, stated, model (at T = 1 with nothing cut), and for each number: observed N, low N, high N, inside N
    frame: pd.DataFrame
    draws: tuple[int, ...]
    chi_square: float
    degrees: int
    p_value: float  # how often a difference this large comes by chance when stated and observed agree

    @property
    def num_inside(self) -> int:
        """Intervals of the largest number of draws that hold the stated probability."""
        return int(self.frame[f"inside {self.draws[-1]}"].sum())


def wilson_interval(count: int, draws: int, z: float = Z) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927). Unlike count / draws +- error it says something at 0 and at all."""
    share = count / draws
    middle = (share + z * z / (2 * draws)) / (1 + z * z / draws)
    half = z / (1 + z * z / draws) * sqrt(share * (1 - share) / draws + z * z / (4 * draws * draws))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def stated_against_observed(drawn: AnswerSet, draws: Sequence[int] = DRAWS, top: int = 8) -> Agreement:
    """The `top` likeliest answers of the set and a row for all others. Smaller numbers of draws are its first rows."""
    # Chosen by what is stated, not by what came often: choosing the frequent ones would favour lucky counts. Likewise
    # none that is expected less than five times: it would be listed only in the runs where it happened to come.
    draws = tuple(number for number in draws if number <= len(drawn.answers)) or (len(drawn.answers),)
    likely = [group for group in drawn.compared_by(TOKENS).distinct if group.probability * len(drawn.answers) >= LEAST]
    groups = sorted(likely, key=lambda group: (-group.probability, group.text))[:top]
    stated = [group.probability for group in groups]
    names, rows_of = [group.text for group in groups], [set(group.rows) for group in groups]
    rest = max(1 - sum(stated), 0.0)
    stated.append(rest)
    names.append("all others")
    rows_of.append(set(range(len(drawn.answers))).difference(*rows_of))
    model = [group.model_probability for group in groups]
    model.append(max(1 - sum(model), 0.0))
    frame = pd.DataFrame({"answer": names, "stated": stated, "model": model})
    for number in draws:
        counts = [sum(row < number for row in rows) for rows in rows_of]
        intervals = [wilson_interval(count, number) for count in counts]
        frame[f"observed {number}"] = [count / number for count in counts]
        frame[f"low {number}"], frame[f"high {number}"] = zip(*intervals, strict=True)
        frame[f"inside {number}"] = [
            low - ROUNDING <= prob <= high + ROUNDING for prob, (low, high) in zip(stated, intervals, strict=True)
        ]
    most = max(draws)
    counts = [sum(row < most for row in rows) for rows in rows_of]
    return Agreement(frame, draws, *chi_square_test(counts, [prob * most for prob in stated]))


def chi_square_test(counts: Sequence[int], expected: Sequence[float]) -> tuple[float, int, float]:
    """(statistic, degrees of freedom, p-value). Classes that expect fewer than 5 are put together first."""
    pairs = sorted(zip(expected, counts, strict=True))
    merged: list[list[float]] = []
    for mean, count in pairs:
        if merged and merged[-1][0] < LEAST:
            merged[-1][0] += mean
            merged[-1][1] += count
        else:
            merged.append([mean, count])
    degrees = len(merged) - 1
    if degrees < 1:
        return 0.0, 0, 1.0
    statistic = sum((count - mean) ** 2 / mean for mean, count in merged)
    p_value = torch.special.gammaincc(torch.tensor(degrees / 2).double(), torch.tensor(statistic / 2).double())
    return statistic, degrees, float(p_value)
