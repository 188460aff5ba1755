"""May the cache be on in training? Gradients flow through it; it is what training does that leaves it no use.

Training feeds the whole text at once and asks for every next token (teacher forcing): one pass, nothing to read again.
And where activations are recomputed to save memory, the second forward would write every row twice.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer


@dataclass(frozen=True)
class TrainingCache:
    loss: float  # nats per token, cache on
    loss_difference: float
    gradient_difference: float  # largest, over all weights
    gradient_size: float  # largest gradient, to compare with
    rows_after_forward: int
    rows_after_recomputing: int  # what gradient checkpointing would leave in the first layer


def train_with_cache(model: Transformer, token_ids: Sequence[int]) -> TrainingCache:
    """One training step's gradients on a copy of the model, with the cache on and off."""
    if len(token_ids) < 2:
        raise ValueError("at least two tokens are needed: one to read, one to predict")
    student = copy.deepcopy(model).requires_grad_(True)
    ids = torch.tensor([list(token_ids)], device=model.device)
    losses, gradients, caches = [], [], []
    with torch.enable_grad():
        for kind in ("dynamic", "none"):
            cache = KVCache.of(model, kind)
            logits = student(ids[:, :-1], cache)
            loss = F.cross_entropy(logits[0].float(), ids[0, 1:])
            gradients.append(torch.autograd.grad(loss, list(student.parameters())))
            losses.append(loss.item())
            caches.append(cache)
    rows_after_forward = caches[0].position
    return TrainingCache(
        loss=losses[0],
        loss_difference=abs(losses[0] - losses[1]),
        gradient_difference=max(float((on - off).abs().max()) for on, off in zip(*gradients, strict=True)),
        gradient_size=max(float(gradient.abs().max()) for gradient in gradients[1]),
        rows_after_forward=rows_after_forward,
        rows_after_recomputing=_rows_after_recomputing(student, ids[:, :-1]),
    )


@torch.no_grad()
def _rows_after_recomputing(model: Transformer, ids: torch.Tensor) -> int:
    """The forward is run again with the same cache, as recomputation in the backward pass does."""
    cache = KVCache.of(model)
    for _ in range(2):
        model(ids, cache, last_only=True)
    return cache.position
