"""The probability of an answer under the settings, beside how often it was sampled."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import pandas as pd
import torch

from playground.tabs.thirty_answers.answers import TOKENS, AnswerSet
from playground.words import say

SIZES = (30, 300, 3000)  # of the samples
LEAST = 5  # expected answers below which a class says too little on its own
ROUNDING = 1e-9  # an answer that always comes is predicted, and bounded, within this of 1
Z = 1.96  # 95 of 100 intervals hold the true share


@dataclass(frozen=True)
class Agreement:
    """For each answer the predicted probability, and for each sample size the observed share with its interval."""

    # answer, predicted, model (at T = 1 with nothing cut), and for each size N: observed_N, low_N, high_N, inside_N
    frame: pd.DataFrame
    sizes: tuple[int, ...]
    chi_square: float
    degrees: int
    p_value: float  # how often a difference this large comes by chance when predicted and observed agree

    @property
    def num_inside(self) -> int:
        """Intervals of the largest sample that contain the predicted probability."""
        return int(self.frame[f"inside_{self.sizes[-1]}"].sum())


def wilson_interval(count: int, size: int, z: float = Z) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927). Unlike count / size +- error it says something at 0 and at all."""
    share = count / size
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def predicted_vs_observed(sampled: AnswerSet, sizes: Sequence[int] = SIZES, top: int = 8) -> Agreement:
    """The `top` likeliest answers of the set and a row for all others. Smaller samples are its first rows."""
    # Chosen by what is predicted, not by what came often: choosing the frequent ones would favour lucky counts.
    # Likewise none that is expected less than five times: it would be listed only where it happened to come.
    sizes = tuple(size for size in sizes if size <= len(sampled.answers)) or (len(sampled.answers),)
    likely = [
        group for group in sampled.compared_by(TOKENS).distinct if group.probability * len(sampled.answers) >= LEAST
    ]
    groups = sorted(likely, key=lambda group: (-group.probability, group.text))[:top]
    predicted = [group.probability for group in groups]
    names, rows_of = [group.text for group in groups], [set(group.rows) for group in groups]
    rest = max(1 - sum(predicted), 0.0)
    predicted.append(rest)
    names.append(say("thirty_answers.agreement.all_others"))
    rows_of.append(set(range(len(sampled.answers))).difference(*rows_of))
    model = [group.model_probability for group in groups]
    model.append(max(1 - sum(model), 0.0))
    frame = pd.DataFrame({"answer": names, "predicted": predicted, "model": model})
    for size in sizes:
        counts = [sum(row < size for row in rows) for rows in rows_of]
        intervals = [wilson_interval(count, size) for count in counts]
        frame[f"observed_{size}"] = [count / size for count in counts]
        frame[f"low_{size}"], frame[f"high_{size}"] = zip(*intervals, strict=True)
        frame[f"inside_{size}"] = [
            low - ROUNDING <= prob <= high + ROUNDING for prob, (low, high) in zip(predicted, intervals, strict=True)
        ]
    most = max(sizes)
    counts = [sum(row < most for row in rows) for rows in rows_of]
    return Agreement(frame, sizes, *chi_square_test(counts, [prob * most for prob in predicted]))


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
