"""May the cache be on in training? Gradients flow through it; it is what training does that leaves it no use.

Training feeds the whole text at once and asks for every next token (teacher forcing): one pass, nothing to read again.
And where activations are recomputed to save memory, the second forward would write every row twice.
"""

import copy
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.words import say


@dataclass(frozen=True)
class TrainingCache:
    loss: float  # nats per token, cache on
    loss_difference: float
    gradient_difference: float  # largest, over all weights
    gradient_size: float  # largest gradient, to compare with
    rows_after_forward: int
    rows_after_recomputing: int  # what gradient checkpointing would leave in the first layer


def train_with_cache(model: Transformer, token_ids: Sequence[int]) -> Generator[None, None, TrainingCache]:
    """One training step's gradients on a copy of the model, with the cache on and off. Stops between the passes."""
    if len(token_ids) < 2:
        raise ValueError(say("inside_the_cache.problem.two_tokens"))
    student = copy.deepcopy(model).requires_grad_(True)
    ids = torch.tensor([list(token_ids)], device=model.device)
    cache = KVCache.of(model)
    loss, gradients = _learn(student, ids, cache)
    yield
    loss_without, gradients_without = _learn(student, ids, KVCache.of(model, "none"))
    yield
    again = KVCache.of(model)  # the forward is run twice with it, as recomputation in the backward pass does
    for _ in range(2):
        with torch.no_grad():
            student(ids[:, :-1], again, last_only=True)
        yield
    moved = [on - off for on, off in zip(gradients, gradients_without, strict=True)]
    return TrainingCache(
        loss=loss,
        loss_difference=abs(loss - loss_without),
        gradient_difference=max(float(difference.abs().max()) for difference in moved),
        gradient_size=max(float(gradient.abs().max()) for gradient in gradients_without),
        rows_after_forward=cache.position,
        rows_after_recomputing=again.position,
    )


@torch.enable_grad()
def _learn(student: Transformer, ids: Tensor, cache: KVCache) -> tuple[float, tuple[Tensor, ...]]:
    """Loss, in nats per token, and the gradient of each weight."""
    logits = student(ids[:, :-1], cache)
    loss = F.cross_entropy(logits[0].float(), ids[0, 1:])
    return loss.item(), torch.autograd.grad(loss, list(student.parameters()))
