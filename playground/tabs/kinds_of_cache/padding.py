"""A prompt with padding in front or behind, as in a batch of prompts of different lengths: what changes its logits.

One row is enough: padding acts on the row that it stands in.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.engine.cache_kinds import NoCache
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer

LEFT, RIGHT = "left", "right"


class PaddedLayer(NoCache):
    """Hides the padding, where a mask says which tokens are real: (T,)."""

    def __init__(self, real: Tensor | None) -> None:
        super().__init__()
        self.real = real

    def mask(self, positions: Tensor, num_new: int) -> Tensor | None:
        causal = super().mask(positions, num_new)
        if self.real is None or causal is None:
            return causal
        # Padding reads itself: a row that reads nothing has no softmax.
        return causal & self.real | torch.eye(num_new, dtype=torch.bool)


class PaddedCache(KVCache):
    """Gives the tokens positions of its own, (T,)."""

    def __init__(self, num_layers: int, real: Tensor | None, positions: Tensor) -> None:
        super().__init__(num_layers, PaddedLayer(real))
        self.own_positions = positions

    def places(self, num_new: int) -> Tensor:
        return self.own_positions


@dataclass(frozen=True)
class Padded:
    """One way to pad, and what came of it."""

    side: str
    has_mask: bool
    has_positions: bool  # counted from the first real token
    reads_last: bool  # the logits of the last column, whatever stands there
    difference: float  # largest of a logit, from the prompt alone
    next_id: int  # most likely next token


CASES = (
    # side, mask, positions, reads the last column
    (LEFT, True, True, True),
    (LEFT, True, False, True),
    (LEFT, False, False, True),
    (RIGHT, True, True, False),
    (RIGHT, False, False, False),
    (RIGHT, True, True, True),
)


@torch.no_grad()
def pad_ways(model: Transformer, prompt_ids: list[int], num_pads: int, pad_id: int) -> tuple[int, list[Padded]]:
    """The next token of the prompt alone, and every way to pad it."""
    alone = model(torch.tensor([prompt_ids], device=model.device), KVCache.of(model), last_only=True)[0, -1].float()
    found = []
    for side, has_mask, has_positions, reads_last in CASES:
        pads = [pad_id] * num_pads
        ids = pads + prompt_ids if side == LEFT else prompt_ids + pads
        real = torch.ones(len(ids), dtype=torch.bool)
        real[: num_pads if side == LEFT else 0] = False
        if side == RIGHT:
            real[len(prompt_ids) :] = False
        counted = (real.long().cumsum(0) - 1).clamp(min=0)  # [0, 0, 1, 1] -> [0, 0, 0, 1]
        positions = counted if has_positions else torch.arange(len(ids))
        cache = PaddedCache(model.config.num_layers, real if has_mask else None, positions.to(model.device))
        logits = model(torch.tensor([ids], device=model.device), cache)[0].float()
        last = len(ids) - 1 if reads_last or side == LEFT else len(prompt_ids) - 1
        difference = float((logits[last] - alone).abs().max())
        found.append(Padded(side, has_mask, has_positions, reads_last, difference, int(logits[last].argmax())))
    return int(alone.argmax()), found
