"""Logits of a large vocabulary, short enough for the browser: the largest one by one, and the tail in bins.

page/js/binned.js reads this. N steps, V vocabulary, S tokens of a step that are sent one by one, B bins of its tail.
"""

import base64
from collections.abc import Mapping, Sequence
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


def unbinned(value: Mapping[str, Any], num_steps: int, vocab_size: int) -> np.ndarray:
    """(N, V) float32 of what `binned` made. Exact for the tokens that were sent one by one. The others get values that
    have the mean, the deviation and the bounds of their bin; which token of a bin had which logit is not known.

    Raises ValueError, or another error of a wrong type, for what `binned` does not make.
    """
    sizes = np.array(value["sizes"], dtype=np.int64).reshape(num_steps, 2)
    ids = _unpacked(value["ids"], {2: "<u2", 4: "<u4"}[value["id_bytes"]]).astype(np.int64)
    logits, counts = _unpacked(value["logits"], "<f4"), _unpacked(value["counts"], "<u4").astype(np.int64)
    bins = _unpacked(value["bins"], "<f4").reshape(len(counts), 4)
    num_tokens, num_bins = sizes.sum(0)
    if sizes.min(initial=0) < 0 or len(ids) != num_tokens or len(logits) != num_tokens or len(counts) != num_bins:
        raise ValueError("sizes")
    tokens_end, bins_end = sizes.cumsum(0).T
    rows = np.empty((num_steps, vocab_size), dtype=np.float32)
    for row, (tokens, each), end, last in zip(rows, sizes, tokens_end, bins_end, strict=True):
        sent, in_bins = ids[end - tokens : end], slice(last - each, last)
        in_tail = np.ones(vocab_size, dtype=bool)
        in_tail[sent] = False  # an id beyond the vocabulary is an IndexError
        if in_tail.sum() != vocab_size - tokens or counts[in_bins].sum() != vocab_size - tokens:
            raise ValueError("tokens")
        row[sent] = logits[end - tokens : end]
        # Below the largest ones, also where they are equal: else other tokens would stand among them.
        limit = np.nextafter(row[sent[value["top"] - 1]], np.float32(-np.inf))
        row[in_tail] = np.minimum(_spread(counts[in_bins], bins[in_bins]), limit)
    return rows


def _unpacked(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype=kind)


def _spread(counts: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """Values of the tokens of bins, from the largest down: in even distances around the mean, within the bounds."""
    highest, lowest, depth, deviation = (np.repeat(column, counts) for column in bins.T.astype(np.float64))
    count = np.repeat(counts, counts)
    place = np.arange(len(count)) - np.repeat(np.cumsum(counts) - counts, counts)
    # In units of their own deviation: that of n even distances on a length of 1 is the root of (1 - 1/n^2) / 12.
    from_the_middle = 0.5 - (place + 0.5) / count
    units = from_the_middle / np.sqrt((1 - 1 / np.maximum(count, 2) ** 2) / 12)
    values = np.clip(highest - depth + deviation * units, lowest, highest)
    if np.isnan(values).any() or (values == np.inf).any():
        raise ValueError("bins")
    return values
