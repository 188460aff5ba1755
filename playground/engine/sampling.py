"""From logits to a token: penalties, the stages, and the choice.

Shapes: R rows (answers, or steps of one answer), V vocabulary, K places of the ranking. Arithmetic is float64 on
float32 logits, so that the browser, which counts in float64 too, keeps the same tokens.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, log
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from playground.engine.arguments import whole_number, whole_numbers
from playground.engine.params import SamplingParams
from playground.engine.ranking import HEAD, Cut, Ranking, Walk
from playground.engine.stages import RULES, STAGES
from playground.words import say, told


class NoTokenError(ValueError):
    """The logits allow no choice: NaN, infinite, or nothing but -inf."""

    def __init__(self, message: str, row: int = 0) -> None:
        super().__init__(message)
        self.row = row  # the first that has none


class Candidate(NamedTuple):
    token_id: int
    prob: float  # after all stages
    model_prob: float
    logit: float


@dataclass(frozen=True)
class StageResult:
    """One card of the pipeline, for one row."""

    name: str
    num_kept: int  # tokens still possible after the stage
    kept_mass: float  # the part of the probability before the stage that it kept; 1 when it cut nothing
    cuts: bool
    probs: Tensor  # (V,) after the stage, renormalised


class Distributions:
    """What R rows of logits become under the settings.

    Worked out when somebody asks, and only as deep as it takes: a greedy answer never ranks, others rank a few places.
    """

    def __init__(self, logits: Tensor, params: SamplingParams, ranking: Ranking | None = None) -> None:
        """logits (R, V); ranking: the order of the penalised logits, where it is known."""
        self.logits = logits
        self.params = params
        self.order = Ranking(logits) if ranking is None else ranking
        self._weights: dict[float, np.ndarray] = {}  # of the whole vocabulary, by temperature

    @classmethod
    def checked(
        cls, logits: Tensor, params: SamplingParams, seen: Sequence[Sequence[int]] | None = None
    ) -> "Distributions":
        """For logits fresh from a model; seen: for each row the token ids that penalties count. Raises NoTokenError."""
        penalized = penalize(logits, seen, params) if seen is not None and params.penalizes else logits
        for row, largest in enumerate(penalized.amax(-1).tolist()):
            if not isfinite(largest):
                raise NoTokenError(say("engine.logits.none", reason=_what_is_wrong(penalized[row])), row)
        return cls(logits, params, Ranking(penalized))

    def __len__(self) -> int:
        return len(self.logits)

    def __getitem__(self, row: int) -> "Distribution":
        return Distribution(self, row)

    def only(self, rows: Sequence[int], params: SamplingParams | None = None) -> "Distributions":
        """These rows, perhaps under other settings with the same penalties: what is known of the order is kept."""
        rows, params = list(rows), params or self.params
        if rows == list(range(len(self))):
            return self if params is self.params else Distributions(self.logits, params, self.order)
        order = self.order.only(rows)
        return Distributions(order.logits if self.logits is self.penalized else self.logits[rows], params, order)

    @property
    def penalized(self) -> Tensor:
        """(R, V) logits that the stages see."""
        return self.order.logits

    @property
    def ranking(self) -> Tensor:
        """(R, V) token ids, most likely first; the lowest id first among equals."""
        return torch.from_numpy(self.order.whole.copy())

    @cached_property
    def head(self) -> Walk:
        """As much of the ranking as nearly always decides."""
        return self._walk(self.order.head if self._can_be_cut_short else self.order.whole)

    @property
    def _can_be_cut_short(self) -> bool:
        """Are the most likely tokens enough to work out the stages?"""
        return not any(STAGES[name].needs_all for name in self.params.on)

    @cached_property
    def walk(self) -> Walk:
        """As much of the ranking as holds all candidates."""
        if self.head.decides:
            return self.head
        if self._can_be_cut_short and any(STAGES[name].keep for name in self.params.on):
            wider = self._walk(self.order.whole[:, : 4 * HEAD])
            if wider.decides:
                return wider
        return self._whole_walk

    @cached_property
    def _whole_walk(self) -> Walk:
        return self._walk(self.order.whole)

    def _walk(self, ids: np.ndarray) -> Walk:
        return Walk(self.order.rows, ids, self.params, self._weights)

    @property
    def cuts(self) -> list[Cut]:
        """The stages in the order of the rule."""
        return self.walk.cuts

    @property
    def num_candidates(self) -> Tensor:
        """(R,) how many tokens can still be chosen: the nucleus size."""
        if self.params.temperature == 0:
            return torch.ones(len(self), dtype=torch.long)
        return torch.from_numpy(self.cuts[-1].num_kept)

    @property
    def probs(self) -> Tensor:
        """(R, V) float64 by token id, after all stages; cut tokens have 0."""
        return self.by_token_id(self.walk.probs)

    @property
    def entropy(self) -> Tensor:
        """(R,) of `probs`, in nats."""
        probs = torch.from_numpy(self.walk.probs)
        return (-torch.xlogy(probs, probs).sum(-1)).clamp(min=0) + 0.0  # of a single token 0, not -0

    def by_token_id(self, ranked: np.ndarray) -> Tensor:
        """(R, K) numbers along the ranking, put at their token ids: (R, V), elsewhere 0."""
        ids = self.walk.ids if ranked.shape[-1] <= self.walk.ids.shape[-1] else self.order.whole
        ids = torch.from_numpy(ids[:, : ranked.shape[-1]])
        return torch.zeros(self.logits.shape, dtype=torch.float64).scatter_(-1, ids, torch.from_numpy(ranked))

    def choose(self, uniforms: Sequence[float], rows: Sequence[int] | None = None) -> tuple[list[int], list[float]]:
        """For each number in [0, 1) a token id of its row, and the token's probability after all stages.

        Walks the candidates from the most likely down until their sum passes the number. Without `rows` one a row.
        """
        rows = list(range(len(self))) if rows is None else list(rows)
        if self.params.temperature == 0:
            best = self.order.rows.argmax(-1)  # the lowest id among equals
            return best[rows].tolist(), [1.0] * len(rows)
        token_ids, probs, further = self.head.choose(uniforms, rows)
        if further:
            need = sorted({rows[place] for place in further})
            marks, at = [uniforms[place] for place in further], [need.index(rows[place]) for place in further]
            found_ids, found_probs, _ = self.only(need)._whole_walk.choose(marks, at)
            for place, token_id, prob in zip(further, found_ids, found_probs, strict=True):
                token_ids[place], probs[place] = token_id, prob
        return token_ids, probs


@dataclass(frozen=True, repr=False)
class Distribution:
    """One row: what the model says about the next token, and what the settings make of it."""

    batch: Distributions
    row: int = 0

    @property
    def logits(self) -> Tensor:
        """(V,) as the model gave them."""
        return self.batch.logits[self.row]

    @property
    def model_probs(self) -> Tensor:
        """(V,) softmax of the logits, before any stage."""
        return torch.softmax(self.logits.double(), -1)

    @property
    def probs(self) -> Tensor:
        """(V,) after all stages; cut tokens have 0 and the whole sums to 1."""
        return self._row.probs[0]

    @property
    def num_candidates(self) -> int:
        return int(self._row.num_candidates[0])

    @property
    def ranking(self) -> Tensor:
        """(V,) token ids, most likely first; the lowest id first among equals."""
        return self.batch.ranking[self.row]

    @property
    def entropy(self) -> float:
        """Of `probs`, in nats."""
        return float(self._row.entropy[0])

    @property
    def stages(self) -> list[StageResult]:
        row, results = self._row, []
        walk = row._whole_walk
        before = walk.uncut
        for cut in walk.cuts:
            start, stop, cuts = int(cut.start[0]), int(cut.stop[0]), bool(cut.num_kept < before.num_kept)
            mass = float(walk.probs_after(replace(before, temperature=cut.temperature))[0, start:stop].sum())
            probs = row.by_token_id(walk.probs_after(cut))[0]
            results.append(StageResult(cut.name, stop - start, mass if cuts else 1.0, cuts, probs))
            before = cut
        return results

    @property
    def candidate_ids(self) -> Tensor:
        """Token ids that can still be chosen, most likely first."""
        last = self._row.cuts[-1]
        return torch.from_numpy(self._row.walk.ids[0, int(last.start[0]) : int(last.stop[0])])

    def choose(self, uniform: float) -> int:
        """The token that this number in [0, 1) falls on."""
        return self.batch.choose([uniform], [self.row])[0][0]

    def top(self, n: int = 10) -> list[Candidate]:
        """The n most likely tokens under the settings, or as many as can be chosen."""
        ids = self.candidate_ids[: whole_number("n", n)]
        columns = (ids, self.probs[ids], self.model_probs[ids], self.logits[ids])
        return [Candidate(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]

    def __repr__(self) -> str:
        first = ", ".join(f"{one.token_id}: {one.prob:.3g}" for one in self.top(3))
        return say("engine.distribution.shown", count=self.num_candidates, size=len(self.logits), first=first)

    @property
    def _row(self) -> Distributions:
        return self.batch.only([self.row])


def next_token_distribution(
    logits: Tensor | Sequence[float], params: SamplingParams, seen_ids: Sequence[int] = ()
) -> Distribution:
    """(V,) logits under the settings; `seen_ids` are the tokens that penalties count.

    Vectors of numpy are taken too. Raises NoTokenError, and ValueError for what is no vector or no token id.
    """
    logits = torch.as_tensor(logits)
    if logits.ndim != 1 or not len(logits) or logits.is_complex() or logits.dtype == torch.bool:
        shape, dtype = str(tuple(logits.shape)), str(logits.dtype)
        raise ValueError(say("engine.logits.not_a_vector", shape=shape, dtype=dtype))
    seen = whole_numbers("seen_ids", seen_ids, 0, len(logits) - 1)
    own = logits.detach().to(torch.float32, copy=True)  # the caller may write into its vector again
    return Distributions.checked(own[None], params, [seen])[0]


def penalize(logits: Tensor, seen: Iterable[Sequence[int]], params: SamplingParams) -> Tensor:
    """Repetition (CTRL, arXiv 1909.05858, sign-aware), then presence and frequency (OpenAI's formula)."""
    # Under a rule that divides by the temperature first, subtracting x there is subtracting x * T here.
    order = RULES[params.rule].order
    late = order.index("temperature") < order.index("penalty")
    scale = params.temperature if late and params.temperature > 0 else 1.0
    penalized = logits.clone()
    for row, token_ids in zip(penalized, seen, strict=True):
        counts = Counter(token_ids)
        ids = torch.tensor(list(counts), dtype=torch.long, device=logits.device)
        times = torch.tensor(list(counts.values()), dtype=logits.dtype, device=logits.device)
        scores = row[ids]
        scores = torch.where(scores > 0, scores / params.repetition_penalty, scores * params.repetition_penalty)
        row[ids] = scores - scale * (params.presence_penalty + params.frequency_penalty * times)
    return penalized


def draw_uniforms(seed: int, count: int) -> np.ndarray:
    """(count,) numbers in [0, 1), the i-th for step i: they depend on the seed alone, not on cache, batch, settings."""
    return np.random.Generator(np.random.Philox(key=seed)).random(count)


def row_seed(seed: int, row: int) -> int:
    """The seed with which a run alone gives row `row` of a batch with this seed. Row 0 is the seed itself; others fit a
    JavaScript number."""
    if row == 0:
        return seed
    return int(np.random.SeedSequence(seed, spawn_key=(row,)).generate_state(1, np.uint64)[0] >> 11)


def kl_bits(true: Tensor, other: Tensor) -> list[float]:
    """(N,) KL divergence of two rows of logits (N, V): how many bits more a token costs, on average, when it comes from
    `true` and is coded with `other`."""
    log_true, log_other = true.double().log_softmax(-1), other.double().log_softmax(-1)
    probs = log_true.exp()
    bits = torch.where(probs > 0, probs * (log_true - log_other), 0).sum(-1) / log(2)
    return bits.clamp(min=0).tolist()


def _what_is_wrong(logits: Tensor) -> dict:
    num_nan = int(logits.isnan().sum())
    if num_nan:
        return told("engine.logits.fault.nan", count=num_nan, size=logits.numel())
    if bool((logits == torch.inf).any()):
        return told("engine.logits.fault.infinite")
    return told("engine.logits.fault.all_impossible")
