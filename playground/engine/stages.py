"""The stages in the order of a library's rule: how much of each row's ranking temperature, top-k, top-p, min-p leave.

Shapes: R rows, V vocabulary. `scores` (R, V): float64 logits after the penalties, likeliest first, which is 0.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.engine.params import RULES, Rule, SamplingParams

# Sums within this of p count as p: float32 logits say no more, and [.5, .3, .2] at p = .8 must keep two.
BOUNDARY = 1e-6


@dataclass(frozen=True)
class Cut:
    """One stage for all rows: the first `num_kept` of the ranking stay, at this temperature."""

    name: str
    num_kept: Tensor  # (R,)
    kept_mass: Tensor  # (R,)
    temperature: float


def cuts_of(scores: Tensor, params: SamplingParams) -> list[Cut]:
    return _greedy_cuts(scores, params) if params.temperature == 0 else _sampling_cuts(scores, params)


def ranked_softmax(scores: Tensor, num_kept: Tensor, temperature: float) -> Tensor:
    """(R, K) softmax of each row's first `num_kept` scores, K the largest of these. Scores start at 0: no overflow."""
    most = int(num_kept.max())
    weights = (scores[:, :most] / temperature).exp_()
    if int(num_kept.min()) < most:
        weights.masked_fill_(torch.arange(most, device=scores.device) >= num_kept[:, None], 0)
    return weights.div_(weights.sum(-1, keepdim=True))


def _greedy_cuts(scores: Tensor, params: SamplingParams) -> list[Cut]:
    """T = 0 keeps the first of the ranking, whatever the other sliders say."""
    everything, whole = _uncut(scores)
    one = torch.ones_like(everything)
    likeliest = ranked_softmax(scores, everything, 1.0)[:, 0]
    cuts, greedy = [], False
    for name in RULES[params.rule].order:
        if name == "temperature":
            cuts.append(Cut(name, one, likeliest, 1.0))
            greedy = True
        else:
            cuts.append(Cut(name, one if greedy else everything, whole, 1.0))
    return cuts


def _sampling_cuts(scores: Tensor, params: SamplingParams) -> list[Cut]:
    rule = RULES[params.rule]
    kept, whole = _uncut(scores)
    temperature = 1.0
    probs: Tensor | None = None  # (R, K) as they stand before the next cut, worked out only when a cut needs them
    cuts = []
    for name in rule.order:
        mass = whole
        if name == "temperature":
            temperature, probs = float(params.temperature), None
        elif name in ("top-k", "top-p", "min-p") and _is_on(name, params):
            if probs is None:
                probs = ranked_softmax(scores, kept, temperature)
            kept = torch.minimum(kept, _COUNT[name](probs, scores, params, rule))
            probs = probs[:, : int(kept.max())]
            probs = probs.masked_fill(torch.arange(probs.shape[-1], device=scores.device) >= kept[:, None], 0)
            mass = probs.sum(-1)
            probs.div_(mass[:, None])
        cuts.append(Cut(name, kept, mass, temperature))
    return cuts


def _uncut(scores: Tensor) -> tuple[Tensor, Tensor]:
    """(R,) all tokens kept, and (R,) with all of their probability."""
    rows, vocab_size = scores.shape
    everything = torch.full((rows,), vocab_size, device=scores.device)
    return everything, torch.ones(rows, dtype=torch.float64, device=scores.device)


def _is_on(name: str, params: SamplingParams) -> bool:
    return {"top-k": params.top_k > 0, "top-p": params.top_p < 1, "min-p": params.min_p > 0}[name]


def _count_top_k(probs: Tensor, scores: Tensor, params: SamplingParams, rule: Rule) -> Tensor:
    k = min(params.top_k, scores.shape[-1])
    if not rule.keep_ties:
        return torch.full((len(scores),), k, device=scores.device)
    return (scores >= scores[:, k - 1 : k]).sum(-1)


def _count_top_p(probs: Tensor, scores: Tensor, params: SamplingParams, rule: Rule) -> Tensor:
    """The smallest set of likeliest tokens whose probability reaches p (Holtzman et al., arXiv 1904.09751)."""
    # [.5, .3, .2] at p = .6 keeps two: the second begins at .5, below .6. The likeliest always stays.
    before = probs.cumsum(-1) - probs
    limit = params.top_p + (BOUNDARY if rule.past_p else -BOUNDARY)
    return ((before < limit) & (probs > 0)).sum(-1).clamp(min=1)


def _count_min_p(probs: Tensor, scores: Tensor, params: SamplingParams, rule: Rule) -> Tensor:
    """At least min_p times as likely as the likeliest (arXiv 2407.01082)."""
    return (probs >= (params.min_p - BOUNDARY) * probs[:, :1]).sum(-1).clamp(min=1)


_COUNT = {"top-k": _count_top_k, "top-p": _count_top_p, "min-p": _count_min_p}
