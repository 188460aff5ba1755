"""The tokens in the order of their probability, and what the stages of a rule leave of it.

Shapes: R rows, V vocabulary, K places of the ranking that are looked at, most likely first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from playground.engine.params import SamplingParams
from playground.engine.stages import LOWEST_EXPONENT, RULES, STAGES, Ranked

HEAD = 128  # places of the ranking that are looked at first: they nearly always decide


def rank(logits: np.ndarray, depth: int | None = None) -> np.ndarray:
    """(R, V) token ids, or the first `depth` of each row: most likely first, the lowest id first among equals."""
    num_rows, vocab_size = logits.shape
    ids = np.broadcast_to(np.arange(vocab_size), logits.shape)
    if depth is not None and depth < vocab_size:
        least = np.partition(logits, -depth, axis=-1)[:, -depth, None]
        places = np.flatnonzero(logits >= least)
        if len(places) > num_rows * depth:  # equals at the edge: only the whole order tells which of them belong
            return rank(logits)[:, :depth]
        ids = places.reshape(num_rows, depth) % vocab_size
        logits = logits.reshape(-1)[places].reshape(num_rows, depth)
    # Plain integers sort many times faster than floats with their places. The bits of a float32, negative ones with
    # their low bits turned over, order as the float does; the token id breaks ties below them.
    bits = (logits.astype(np.float32, copy=False) + np.float32(0)).view(np.int32)  # + 0 makes -0.0 equal to 0.0
    keys = (~(bits ^ ((bits >> 31) & 0x7FFFFFFF))).astype(np.int64)
    keys <<= 32
    keys |= ids
    keys.sort(axis=-1)
    keys &= 0xFFFFFFFF
    return keys


class Ranking:
    """The order of R rows of logits, worked out once and only as deep as somebody looks."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits  # (R, V) after the penalties

    @cached_property
    def rows(self) -> np.ndarray:
        """(R, V) the logits."""
        return self.logits.cpu().numpy()

    @cached_property
    def whole(self) -> np.ndarray:
        """(R, V) token ids."""
        return rank(self.rows)

    @cached_property
    def head(self) -> np.ndarray:
        """(R, HEAD)"""
        known = "whole" in vars(self) or self.rows.shape[-1] <= HEAD
        return self.whole[:, :HEAD] if known else rank(self.rows, HEAD)

    def only(self, rows: Sequence[int]) -> "Ranking":
        picked = Ranking(self.logits[rows])
        for name in ("head", "whole"):
            if name in vars(self):
                setattr(picked, name, vars(self)[name][rows])
        return picked


@dataclass(frozen=True)
class Cut:
    """After one stage, for all rows: the places from `start` up to `stop` of the ranking stay, at this temperature."""

    name: str
    start: np.ndarray  # (R,)
    stop: np.ndarray  # (R,) the vocabulary's size where nothing was cut, also when fewer places are looked at
    temperature: float

    @property
    def num_kept(self) -> np.ndarray:
        """(R,) tokens with a probability above 0."""
        return self.stop - self.start


class Walk:
    """The first K places of a ranking under the settings. A row is `open` where its cut may lie further down."""

    def __init__(
        self, logits: np.ndarray, ids: np.ndarray, params: SamplingParams, weights: dict[float, np.ndarray]
    ) -> None:
        """logits (R, V) after the penalties; ids (R, K), ranked; weights: by temperature, for every K the same."""
        self.logits, self.ids, self.params, self._weights = logits, ids, params, weights
        scores = torch.from_numpy(logits).gather(-1, torch.from_numpy(ids)).double().numpy()
        self.largest = scores[:, :1].copy()
        self.scores = np.subtract(scores, self.largest, out=scores)
        self.is_whole = ids.shape[-1] == logits.shape[-1]
        self.open = np.zeros(len(ids), dtype=bool)

    @cached_property
    def uncut(self) -> Cut:
        """What there is before the first stage."""
        start = np.zeros(len(self.ids), dtype=np.int64)
        return Cut("model", start, self._possible(1.0, start), 1.0)

    @cached_property
    def cuts(self) -> list[Cut]:
        """The stages in the order of the rule."""
        params, rule, cuts = self.params, RULES[self.params.rule], []
        start, stop, temperature = self.uncut.start, self.uncut.stop, self.uncut.temperature
        for name in rule.order:
            stage = STAGES[name]
            if name == "temperature" and params.temperature == 0:
                start, stop = np.zeros_like(start), np.ones_like(stop)  # the first, whatever the others say
            elif name == "temperature" and params.temperature != 1:
                temperature = float(params.temperature)
                stop = np.minimum(stop, self._possible(temperature, start))
            elif stage.keep and params.temperature != 0 and name in params.on:
                ranked = self._ranked(start, stop, temperature)
                kept = stage.keep(ranked, getattr(params, stage.settings[0].field), rule)
                start, stop = _stretch(kept, start, stop)
                self.open |= (stop == self.ids.shape[-1]) & (not self.is_whole)
            cuts.append(Cut(name, start, stop, temperature))
        return cuts

    @property
    def decides(self) -> bool:
        """Are all candidates of all rows among these places?"""
        return self.is_whole or (int(self.cuts[-1].stop.max()) < self.ids.shape[-1] and not self.open.any())

    @cached_property
    def probs(self) -> np.ndarray:
        """(R, M) after all stages, M the last place that is left in any row."""
        return self.probs_after(self.cuts[-1])

    def probs_after(self, cut: Cut) -> np.ndarray:
        return self._ranked(cut.start, cut.stop, cut.temperature).probs

    def choose(self, uniforms: Sequence[float], rows: Sequence[int]) -> tuple[list[int], list[float], list[int]]:
        """A token id and its probability for each number in [0, 1) of a row, and the numbers that need more places."""
        last, reached, num_places = self.cuts[-1], self.probs.cumsum(-1), self.ids.shape[-1]
        # Rounded sums may end below 1: the ruler is as long as they are, so that no mark lies behind its end.
        goes_on = last.stop > num_places
        marks = np.asarray(uniforms) * np.where(goes_on, 1.0, reached[:, -1])[rows]
        places = (reached[rows] <= marks[:, None]).sum(-1)
        further = self.open[rows] | (goes_on[rows] & (places >= num_places))
        places = np.minimum(places, np.minimum(last.stop[rows], reached.shape[-1]) - 1)
        return self.ids[rows, places].tolist(), self.probs[rows, places].tolist(), further.nonzero()[0].tolist()

    def _ranked(self, start: np.ndarray, stop: np.ndarray, temperature: float) -> Ranked:
        needs_whole = not self.is_whole and bool((stop > self.ids.shape[-1]).any())
        whole = self._whole_weight(temperature) if needs_whole else None
        return Ranked(self.scores, start[:, None], stop[:, None], temperature, whole)

    def _whole_weight(self, temperature: float) -> np.ndarray:
        """(R, 1) the weights of the whole vocabulary."""
        if temperature not in self._weights:
            scores = torch.from_numpy(self.logits).double().sub_(torch.from_numpy(self.largest))
            weights = (scores if temperature == 1 else scores.div_(temperature)).exp_()
            self._weights[temperature] = weights.numpy().sum(-1, keepdims=True)
        return self._weights[temperature]

    def _possible(self, temperature: float, start: np.ndarray) -> np.ndarray:
        """(R,) the place after the last token with a probability above 0, as likely tokens are left from `start` on;
        the vocabulary's size where these places can't tell."""
        largest = np.take_along_axis(self.scores, start[:, None], -1)
        vocab_size, num_places = self.logits.shape[-1], self.ids.shape[-1]
        with np.errstate(over="ignore"):  # a temperature near 0
            if ((self.scores[:, -1:] - largest) / temperature).min() >= LOWEST_EXPONENT:
                return np.full(len(self.ids), vocab_size)
            count = ((self.scores - largest) / temperature >= LOWEST_EXPONENT).sum(-1)
        return np.where(count < num_places, count, vocab_size)


def _stretch(kept: np.ndarray, start: np.ndarray, stop: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places [start, stop) that are True in `kept` (R, M); the first of them where none is: one token must stay."""
    places = np.arange(kept.shape[-1])
    kept = kept & (places >= start[:, None]) & (places < stop[:, None])
    count = kept.sum(-1)
    first = np.where(count > 0, kept.argmax(-1), start)
    return first, first + np.maximum(count, 1)
