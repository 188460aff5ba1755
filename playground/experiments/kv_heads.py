"""The same prompt with fewer or more key/value heads: bytes, and how far the next token's distribution moves."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.experiments.altered import with_kv_heads


@dataclass(frozen=True)
class KVHeads:
    num_kv_heads: int
    is_trained: bool
    bytes_per_layer: int  # measured
    probs: Tensor  # (V,) of the next token
    kl: float  # nats, from the trained model's distribution to this one
    most_moved: float  # largest change of a token's probability


@torch.no_grad()
def compare_kv_heads(model: Transformer, token_ids: Sequence[int]) -> list[KVHeads]:
    """One entry for each number of KV heads that divides the query heads and fits the trained groups."""
    trained, heads = model.config.num_kv_heads, model.config.num_heads
    counts = [n for n in range(1, heads + 1) if heads % n == 0 and (trained % n == 0 or n % trained == 0)]
    ids = torch.tensor([list(token_ids)], device=model.device)
    log_probs, sizes = {}, {}
    for count in counts:
        cache = KVCache(model.config.num_layers)
        logits = (model if count == trained else with_kv_heads(model, count))(ids, cache, last_only=True)
        log_probs[count] = logits[0, -1].double().log_softmax(-1)
        sizes[count] = cache.bytes_per_layer()[0]
    own = log_probs[trained]
    return [
        KVHeads(
            count,
            count == trained,
            sizes[count],
            other.exp(),
            max(0.0, float((own.exp() * (own - other)).sum())),
            float((own.exp() - other.exp()).abs().max()),
        )
        for count, other in log_probs.items()
    ]
