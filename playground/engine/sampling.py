"""From logits to a token: penalties, temperature, top-k, top-p, min-p, and the draw.

Shapes: R rows (answers, or steps of one answer), V vocabulary. Every cut keeps the likeliest tokens, so once a row is
ranked a stage is one number: how many of the ranking it keeps. Arithmetic is float64 on float32 logits, so that the
browser, which counts in float64 too, keeps the same tokens.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from playground.engine.params import RULES, SamplingParams
from playground.engine.stages import Cut, cuts_of, ranked_softmax


class NoTokenError(ValueError):
    """The logits allow no choice: NaN, infinite, or nothing but -inf."""


@dataclass(frozen=True)
class Stage:
    """One card of the pipeline, for one row."""

    name: str
    num_kept: int  # tokens still possible after the stage
    kept_mass: float  # the part of the probability before the stage that it kept; 1 when it cut nothing
    cuts: bool
    probs: Tensor  # (V,) after the stage, renormalised


class Distributions:
    """What R rows of logits become under the settings. All is derived when asked for: a greedy loop never sorts."""

    def __init__(
        self, logits: Tensor, params: SamplingParams, penalized: Tensor | None = None, ranking: Tensor | None = None
    ) -> None:
        """logits (R, V); penalized: the same after `penalize`; ranking: of `penalized`, where it is known already."""
        self.logits = logits
        self.params = params
        self.penalized = logits if penalized is None else penalized
        if ranking is not None:
            self.ranking = ranking  # a slider moves, the order of the tokens does not

    @classmethod
    def checked(
        cls, logits: Tensor, params: SamplingParams, seen: Sequence[Sequence[int]] | None = None
    ) -> "Distributions":
        """For logits fresh from a model; seen: for each row the token ids that penalties count. Raises NoTokenError."""
        penalized = penalize(logits, seen, params) if seen is not None and params.penalizes else logits
        if not all(map(isfinite, penalized.amax(-1).tolist())):
            raise NoTokenError(f"no token can be chosen: {_what_is_wrong(penalized)}")
        return cls(logits, params, penalized)

    def __len__(self) -> int:
        return len(self.logits)

    def __getitem__(self, row: int) -> "Distribution":
        return Distribution(self, row)

    @cached_property
    def ranking(self) -> Tensor:
        return rank(self.penalized)

    @cached_property
    def _scores(self) -> Tensor:
        """(R, V) float64, likeliest first, 0 for the likeliest."""
        scores = self.penalized.gather(-1, self.ranking).double()
        return scores.sub_(scores[:, :1].clone())

    @cached_property
    def cuts(self) -> list[Cut]:
        """The stages in the order of the rule."""
        return cuts_of(self._scores, self.params)

    @cached_property
    def num_candidates(self) -> Tensor:
        """(R,) how many tokens can still be chosen: the nucleus size."""
        if self.params.temperature == 0:
            return torch.ones(len(self), dtype=torch.long)
        return self.cuts[-1].num_kept

    @cached_property
    def candidate_probs(self) -> Tensor:
        """(R, K) float64, likeliest first; K is the largest number of candidates of any row."""
        return self.probs_after(self.cuts[-1])

    @property
    def ranked_probs(self) -> Tensor:
        """(R, V) float64, likeliest first."""
        return F.pad(self.candidate_probs, (0, self.logits.shape[-1] - self.candidate_probs.shape[-1]))

    def probs_after(self, cut: Cut) -> Tensor:
        """(R, K) as `candidate_probs`, when only the stages up to `cut` have been applied."""
        return ranked_softmax(self._scores, cut.num_kept, cut.temperature)

    def by_token_id(self, ranked: Tensor) -> Tensor:
        """(R, K) numbers of the K first of the ranking, put at their token ids: (R, V) float32, elsewhere 0."""
        numbers = torch.zeros(self.logits.shape, device=ranked.device)
        return numbers.scatter_(-1, self.ranking[:, : ranked.shape[-1]], ranked.float())

    def choose(self, uniforms: Sequence[float]) -> list[int]:
        """One token id a row: walk the candidates from the likeliest down until their sum passes the row's number."""
        if self.params.temperature == 0:
            return np.argmax(self.penalized.cpu().numpy(), -1).tolist()  # the lowest id among equals
        marks = torch.tensor(uniforms, dtype=torch.float64, device=self.candidate_probs.device)[:, None]
        return self.ranking.gather(-1, self.places_of(marks))[:, 0].tolist()

    def places_of(self, marks: Tensor) -> Tensor:
        """(R, M) numbers in [0, 1), M a row: the places in the ranking that they fall on."""
        reached = self.candidate_probs.cumsum(-1)
        # Rounded sums may end below 1: the ruler is as long as they are, so that no mark lies behind its end.
        places = torch.searchsorted(reached, marks * reached[:, -1:], right=True)
        return places.minimum(self.num_candidates[:, None] - 1)

    def let_go(self) -> None:
        """Forgets the large numbers that can be worked out again: a recorded run keeps all its steps."""
        for name in ("_scores", "candidate_probs"):
            self.__dict__.pop(name, None)


@dataclass(frozen=True)
class Distribution:
    """One row: what the model says about the next token, and what the settings make of it."""

    batch: Distributions
    row: int

    @property
    def logits(self) -> Tensor:
        """(V,) as the model gave them."""
        return self.batch.logits[self.row]

    @property
    def model_probs(self) -> Tensor:
        """(V,) softmax of the logits, before any stage."""
        return torch.softmax(self.logits.double(), -1).float()

    @property
    def probs(self) -> Tensor:
        """(V,) after all stages; cut tokens have 0 and the whole sums to 1."""
        return self._row.by_token_id(self._row.candidate_probs)[0]

    @property
    def num_candidates(self) -> int:
        return int(self.batch.num_candidates[self.row])

    @property
    def ranking(self) -> Tensor:
        """(V,) token ids, likeliest first; the lowest id first among equals."""
        return self.batch.ranking[self.row]

    @property
    def entropy(self) -> float:
        """Of `probs`, in nats."""
        probs = self._row.candidate_probs
        return float(-torch.xlogy(probs, probs).sum())

    @property
    def stages(self) -> list[Stage]:
        row, stages, before = self._row, [], len(self.logits)
        for cut in row.cuts:
            kept = int(cut.num_kept[0])
            probs = row.by_token_id(row.probs_after(cut))[0]
            stages.append(Stage(cut.name, kept, float(cut.kept_mass[0]), kept < before, probs))
            before = kept
        return stages

    @property
    def _row(self) -> Distributions:
        """This row alone, so that looking at one row of thirty does not work out the others."""
        if len(self.batch) == 1:
            return self.batch
        row = slice(self.row, self.row + 1)
        batch = self.batch
        return Distributions(batch.logits[row], batch.params, batch.penalized[row], batch.ranking[row])


def next_token_distribution(logits: Tensor, params: SamplingParams, seen_ids: Sequence[int] = ()) -> Distribution:
    """(V,) logits under the settings; `seen_ids` are the tokens that penalties count. Raises NoTokenError."""
    return Distributions.checked(logits[None], params, [seen_ids])[0]


def rank(logits: Tensor) -> Tensor:
    """(R, V) token ids, likeliest first; the lowest id first among equals."""
    if logits.device.type != "cpu" or logits.dtype != torch.float32:
        return logits.sort(dim=-1, descending=True, stable=True).indices
    # numpy sorts plain integers many times faster than torch sorts floats with their places. The bits of a float32,
    # negative ones with their low bits turned over, order as the float does; the token id breaks ties below them.
    bits = (logits + 0.0).view(torch.int32)  # + 0.0 makes -0.0 equal to 0.0
    ordered = (bits >> 31).bitwise_and_(0x7FFFFFFF).bitwise_xor_(bits)
    keys = ordered.bitwise_not_().long().bitwise_left_shift_(32).bitwise_or_(torch.arange(logits.shape[-1]))
    keys.numpy().sort(axis=-1)
    return keys.bitwise_and_(0xFFFFFFFF)


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
    return np.random.Generator(np.random.Philox(key=seed % 2**64)).random(count)


def row_seed(seed: int, row: int) -> int:
    """The seed with which a run alone gives row `row` of a batch with this seed. Row 0 is the seed itself; others fit a
    JavaScript number."""
    if row == 0:
        return seed
    return int(np.random.SeedSequence(seed, spawn_key=(row,)).generate_state(1, np.uint64)[0] >> 11)


def _what_is_wrong(logits: Tensor) -> str:
    num_nan = int(logits.isnan().sum())
    if num_nan:
        return f"{num_nan} of {logits.numel()} logits are NaN"
    return "a logit is +inf" if bool((logits == torch.inf).any()) else "all logits are -inf"
