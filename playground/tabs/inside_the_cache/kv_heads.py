"""Grouped heads: how the stored ones are repeated for the query heads that read them, and what fewer of them save.

Shapes: H query heads, KV key/value heads, T tokens, V vocabulary, D head size.
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.taps import tapped
from playground.models.altered import with_kv_heads


@dataclass(frozen=True)
class RepeatedHeads:
    """One layer's stored keys and values, and what the query heads read."""

    stored: tuple[int, ...]  # (1, KV, T, D)
    repeated: tuple[int, ...]  # (1, H, T, D)
    stored_bytes: int  # keys and values
    repeated_bytes: int  # if the copies were kept
    difference: float  # of the last row's weights from repeated keys to the model's own, which copies none


@torch.no_grad()
def repeated_heads(model: Transformer, token_ids: Sequence[int], layer: int) -> RepeatedHeads:
    """Spells out repeat_kv: query head h reads key/value head h // (H / KV)."""
    cache = KVCache.of(model)
    with ExitStack() as stack:
        taps = [stack.enter_context(tapped(model, value)) for value in ("queries", "weights")]
        model(torch.tensor([list(token_ids)], device=model.device), cache, last_only=True)
    queries, weights = (tap[layer][:, :, -1:] for tap in taps)  # (1, H, 1, D), (1, H, 1, T)
    stored = cache.layers[layer].stored()
    group = model.config.num_heads // model.config.num_kv_heads
    keys, values = (heads.repeat_interleave(group, 1) for heads in stored)  # (1, H, T, D)
    own = (queries @ keys.transpose(-2, -1) / model.config.head_dim**0.5).softmax(-1)
    return RepeatedHeads(
        stored=tuple(stored[0].shape),
        repeated=tuple(keys.shape),
        stored_bytes=sum(tensor.nbytes for tensor in stored),
        repeated_bytes=keys.nbytes + values.nbytes,
        difference=float((own - weights).abs().max()),
    )


@dataclass(frozen=True)
class KVHeads:
    num_kv_heads: int
    is_trained: bool
    bytes_per_layer: int  # measured
    log_probs: Tensor  # (T, V) of the next token after each position
    kl: float  # nats, from the trained model's distributions to these, mean over the text
    same_choice: float  # share of positions where the most likely token is the trained model's


@torch.no_grad()
def compare_kv_heads(model: Transformer, token_ids: Sequence[int]) -> Generator[None, None, list[KVHeads]]:
    """One entry for each number of KV heads that divides the query heads and fits the trained groups.

    Stops between the passes.
    """
    trained, heads = model.config.num_kv_heads, model.config.num_heads
    counts = [n for n in range(1, heads + 1) if heads % n == 0 and (trained % n == 0 or n % trained == 0)]
    ids = torch.tensor([list(token_ids)], device=model.device)
    log_probs, sizes = {}, {}
    for count in counts:
        cache = KVCache.of(model)
        logits = (model if count == trained else with_kv_heads(model, count))(ids, cache)
        yield
        log_probs[count] = logits[0].double().log_softmax(-1)
        sizes[count] = cache.bytes_per_layer()[0]
        yield
    own, compared = log_probs[trained], []
    for count, other in log_probs.items():
        kl = max(0.0, float((own.exp() * (own - other)).sum(-1).mean()))
        same_choice = float((own.argmax(-1) == other.argmax(-1)).double().mean())
        compared.append(KVHeads(count, count == trained, sizes[count], other, kl, same_choice))
        yield
    return compared
