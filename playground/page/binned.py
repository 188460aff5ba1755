"""Logits of a large vocabulary, short enough for the browser: the largest one by one, and the tail in bins.

page/js/binned.js reads this. N steps, V vocabulary, S tokens of a step that are sent one by one, B bins of its tail.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playground.engine.ranking import rank

WHOLE_UP_TO = 8_192  # tokens in a vocabulary: up to here all logits are sent
TOP = 1_024  # tokens sent one by one, besides those that occur in the text
HALF = 64  # bins that an even split by logit would have, and as many by rank; together twice as many


@dataclass(frozen=True)
class BinnedStep:
    """One step. Every token is either among `ids` or in one bin; both stand in the order of the logits."""

    ids: np.ndarray  # (S,) the TOP largest, then the others
    logits: np.ndarray  # (S,) float32
    bins_before: np.ndarray  # (S,) uint8: how many bins come before a token in the ranking
    counts: np.ndarray  # (B,) tokens in a bin
    bins: np.ndarray  # (B, 4) float32: highest logit, lowest, highest less the mean, standard deviation


def binned(logits: np.ndarray, prompt_ids: Sequence[int], token_ids: Sequence[int], first: int = 0) -> dict[str, Any]:
    """The steps of (N, V) float32 from `first` on, for the browser.

    Tokens of the prompt and of the answer so far are sent one by one: penalties change them, and one was sampled.
    """
    tops = rank(logits[first:], TOP)
    steps = [
        _step(row, top, {*prompt_ids, *token_ids[: step + 1]}, token_ids[step])
        for step, (row, top) in enumerate(zip(logits[first:], tops, strict=True), first)
    ]
    id_type = "<u2" if logits.shape[1] <= 2**16 else "<u4"
    return {
        "top": TOP,
        "sizes": [[len(step.ids), len(step.counts)] for step in steps],
        "id_bytes": int(id_type[-1]),
        "ids": _packed([step.ids for step in steps], id_type),
        "logits": _packed([step.logits for step in steps], "<f4"),
        "bins_before": _packed([step.bins_before[TOP:] for step in steps], "u1"),  # no bin comes before the TOP
        "counts": _packed([step.counts for step in steps], "<u4"),
        "bins": _packed([step.bins for step in steps], "<f4"),
    }


def _packed(columns: list[np.ndarray], kind: str) -> str:
    return base64.b64encode(b"".join(column.astype(kind).tobytes() for column in columns)).decode()


def _step(row: np.ndarray, top: np.ndarray, occurring: set[int], token_id: int) -> BinnedStep:
    others = np.array(sorted(occurring.difference(top.tolist())), dtype=np.int64)
    others = others[np.argsort(-row[others], kind="stable")]
    in_tail = np.ones(len(row), dtype=bool)
    in_tail[top] = in_tail[others] = False
    tail = np.sort(row[in_tail])[::-1]
    first_places = _first_places(tail)
    if token_id in others:  # its rank is exact, because a bin ends there
        logit, earlier = row[token_id], np.arange(len(row)) < token_id
        place = np.count_nonzero(in_tail & ((row > logit) | ((row == logit) & earlier)))
        first_places = np.union1d(first_places, [place] if place < len(tail) else []).astype(np.int64)
    counts = np.diff(first_places, append=len(tail))
    bins, before_others = np.empty((0, 4)), np.zeros(len(others))
    if len(tail):
        bins = _summaries(tail, first_places, counts)
        means = bins[:, 0] - bins[:, 2]
        before_others = (means[None] > row[others, None]).sum(-1)
        before_others[others == token_id] = (first_places < place).sum() if token_id in others else 0
    ids = np.concatenate([top, others])
    return BinnedStep(ids, row[ids], np.concatenate([np.zeros(len(top)), before_others]), counts, bins)


def _first_places(tail: np.ndarray) -> np.ndarray:
    """Where each bin begins in the tail, (M,) from the largest down. Half of what decides is the logarithm of a token's
    rank, so that no rank is far off, and half its logit, so that no weight is. Impossible tokens have their own bin.
    """
    num_possible = int(np.count_nonzero(tail > -np.inf))
    possible = tail[:num_possible].astype(np.float64)
    if not num_possible:
        return np.zeros(min(len(tail), 1), dtype=np.int64)
    depth = possible[0] - possible
    rank_logs = np.log1p(np.arange(num_possible) / TOP) / np.log1p(num_possible / TOP)
    bin_of = (HALF * (rank_logs + depth / max(depth[-1], 1e-30))).astype(np.int64)
    firsts = np.flatnonzero(np.diff(bin_of, prepend=-1))
    return np.append(firsts, num_possible) if num_possible < len(tail) else firsts


def _summaries(tail: np.ndarray, first_places: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(B, 4). The mean is measured from the highest logit: a float32 of the mean itself would be too coarse."""
    highest, lowest = tail[first_places], tail[first_places + counts - 1]
    with np.errstate(invalid="ignore"):  # -inf less -inf
        depth = np.repeat(highest, counts).astype(np.float64) - tail
        mean = np.add.reduceat(depth, first_places) / counts
        variance = np.add.reduceat((depth - np.repeat(mean, counts)) ** 2, first_places) / counts
    return np.stack([highest, lowest, np.nan_to_num(mean), np.sqrt(np.nan_to_num(variance))], axis=1)
