"""The one table of the settings and stages between logits and a token: everything else reads it, the browser too.

A new sampler is a row of STAGES, its place in the orders of RULES, one function here, one in page/js/cuts.js, and a
field of SamplingParams. What a stage keeps is a stretch of the ranking without gaps: true of every sampler that decides
by a token's probability. Shapes: R rows, K places of the ranking, most likely first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

# Sums within this of p count as p: float32 logits say no more, and [.5, .3, .2] at p = .8 must keep two.
BOUNDARY = 1e-6
# Below this exponent a weight counts as 0, here and in the browser: e^-700 is near the smallest number of 64 bits.
LOWEST_EXPONENT = -700.0


@dataclass(frozen=True)
class Rule:
    """What one library means by the sliders, read from the sources of transformers 5, MiniMind, vLLM v1, llama.cpp."""

    order: tuple[str, ...]  # stages that a library lacks stand where they change its others least
    past_p: bool = False  # top-p stops at the token that exceeds p, not at the one that reaches it
    keep_ties: bool = False  # top-k keeps all tokens as likely as the k-th


RULES = {
    # Our own rule: transformers' order, but exactly k tokens (transformers keeps all ties; the lowest id wins here).
    "transformers": Rule(("penalty", "temperature", "top-n-sigma", "top-k", "top-p", "min-p", "typical-p")),
    "minimind": Rule(
        ("temperature", "penalty", "top-n-sigma", "top-k", "top-p", "min-p", "typical-p"), past_p=True, keep_ties=True
    ),
    "vllm": Rule(("penalty", "temperature", "top-n-sigma", "min-p", "top-k", "top-p", "typical-p"), keep_ties=True),
    "llama.cpp": Rule(("penalty", "top-n-sigma", "top-k", "typical-p", "top-p", "min-p", "temperature")),
}


def exp(numbers: np.ndarray) -> np.ndarray:
    """In place. By torch, whose exponential of many numbers is the quickest on every processor."""
    torch.from_numpy(numbers).exp_()
    return numbers


@dataclass(frozen=True)
class Ranked:
    """What a stage sees, in numpy: torch takes three times as long for a row of a hundred numbers."""

    scores: np.ndarray  # (R, K) float64 logits less the largest of the row
    start: np.ndarray  # (R, 1) the first place that is left
    stop: np.ndarray  # (R, 1) the place after the last; beyond K where nothing was cut and only K are looked at
    temperature: float
    whole: np.ndarray | None = None  # (R, 1) weights of the whole vocabulary at this temperature, where K is less

    @cached_property
    def probs(self) -> np.ndarray:
        """(R, M) as they stand before the stage, M the last place left in any row: 0 for what was cut."""
        most = min(int(self.stop.max()), self.scores.shape[-1])
        scores, moved = self.scores[:, :most], bool(self.start.any())
        if moved:  # exponents count from the most likely token that is left: at a low T all others would be 0
            scores = scores - np.take_along_axis(self.scores, self.start, -1)
        with np.errstate(over="ignore"):  # a temperature near 0: what is then -inf has the weight 0
            weights = exp(scores / self.temperature)
        if moved or int(self.stop.min()) < most:
            places = np.arange(most)
            weights[(places < self.start) | (places >= self.stop)] = 0
        total = weights.sum(-1, keepdims=True)
        if self.whole is not None:
            total = np.where(self.stop > self.scores.shape[-1], self.whole, total)
        weights /= total
        return weights


def keep_top_k(ranked: Ranked, k: float, rule: Rule) -> np.ndarray:
    num_places = ranked.scores.shape[-1]
    k = min(int(k), num_places)
    if not rule.keep_ties:
        return np.arange(num_places) < ranked.start + k
    last = np.minimum(ranked.start + k - 1, num_places - 1)
    return ranked.scores >= np.take_along_axis(ranked.scores, last, -1)


def keep_top_p(ranked: Ranked, p: float, rule: Rule) -> np.ndarray:
    """The smallest set of most likely tokens whose probability reaches p (Holtzman et al., arXiv 1904.09751)."""
    # [.5, .3, .2] at p = .6 keeps two: the second begins at .5, below .6.
    before = ranked.probs.cumsum(-1) - ranked.probs
    return before < p + (BOUNDARY if rule.past_p else -BOUNDARY)


def keep_min_p(ranked: Ranked, min_p: float, rule: Rule) -> np.ndarray:
    """At least min_p times as likely as the most likely token (arXiv 2407.01082)."""
    return ranked.probs >= (min_p - BOUNDARY) * ranked.probs.max(-1, keepdims=True)


def keep_typical_p(ranked: Ranked, p: float, rule: Rule) -> np.ndarray:
    """Tokens whose surprise -log p is nearest to the entropy, until their probability reaches p (arXiv 2202.00666)."""
    # [.5, .3, .2]: entropy 1.03, surprises .69, 1.20, 1.61. p = .2 keeps the second alone.
    probs, possible = ranked.probs, ranked.probs > 0
    surprise = -np.log(probs, out=np.full_like(probs, -np.inf), where=possible)
    entropy = np.multiply(probs, surprise, out=np.zeros_like(probs), where=possible).sum(-1, keepdims=True)
    distance = np.abs(surprise - entropy)  # infinite for what was cut
    places = distance.argsort(-1, kind="stable")
    reached = np.take_along_axis(probs, places, -1).cumsum(-1)
    last = np.minimum((reached < p - BOUNDARY).sum(-1, keepdims=True), probs.shape[-1] - 1)
    furthest = np.take_along_axis(distance, np.take_along_axis(places, last, -1), -1)
    return (distance <= furthest + BOUNDARY) & possible


def keep_top_n_sigma(ranked: Ranked, n: float, rule: Rule) -> np.ndarray:
    """Logits at most n standard deviations of all logits below the largest (arXiv 2411.07641). T does not matter."""
    finite = np.isfinite(ranked.scores)
    spread = ranked.scores.std(-1, keepdims=True, where=finite)
    return ranked.scores >= -n * spread - BOUNDARY


@dataclass(frozen=True)
class Setting:
    """One slider: a number field of SamplingParams."""

    field: str
    off: float
    low: float | None  # the smallest and the largest that is allowed; None: any
    high: float | None
    span: tuple[float, float | None]  # what the slider offers; None: up to the size of the vocabulary
    step: float
    whole: bool = False  # a whole number


@dataclass(frozen=True)
class Stage:
    """One row of the table. `keep` gives (R, K) True, in a stretch without gaps, for the tokens that stay."""

    settings: tuple[Setting, ...]
    keep: Callable[[Ranked, float, Rule], np.ndarray] | None = None  # None: the stage changes logits and cuts nothing
    needs_all: bool = False  # it can't be decided from the most likely tokens alone


STAGES = {
    "penalty": Stage(
        (
            Setting("repetition_penalty", 1, 0, None, (0.5, 2), 0.05),
            Setting("presence_penalty", 0, None, None, (-2, 2), 0.1),
            Setting("frequency_penalty", 0, None, None, (-2, 2), 0.1),
        )
    ),
    "temperature": Stage((Setting("temperature", 1, 0, None, (0, 2), 0.01),)),
    "top-k": Stage((Setting("top_k", 0, 0, None, (0, None), 1, whole=True),), keep_top_k),
    "top-p": Stage((Setting("top_p", 1, 0, 1, (0, 1), 0.01),), keep_top_p),
    "min-p": Stage((Setting("min_p", 0, 0, 1, (0, 1), 0.01),), keep_min_p),
    "typical-p": Stage((Setting("typical_p", 1, 0, 1, (0, 1), 0.01),), keep_typical_p, needs_all=True),
    "top-n-sigma": Stage((Setting("top_n_sigma", 0, 0, None, (0, 5), 0.05),), keep_top_n_sigma, needs_all=True),
}
SETTINGS = {setting.field: setting for stage in STAGES.values() for setting in stage.settings}
