"""The same text with fewer or more key/value heads: bytes, and how far the next token's distributions move."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.models.altered import with_kv_heads


@dataclass(frozen=True)
class KVHeads:
    num_kv_heads: int
    is_trained: bool
    bytes_per_layer: int  # measured
    log_probs: Tensor  # (T, V) of the next token after each position
    kl: float  # nats, from the trained model's distributions to these, mean over the text
    same_choice: float  # share of positions where the likeliest token is the trained model's


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
