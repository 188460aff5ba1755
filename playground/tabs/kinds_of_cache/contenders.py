"""The kinds of cache that are compared, each as large as the same number of bytes allows."""

from dataclasses import dataclass

import torch

from playground.engine.cache_kinds import LayerCache
from playground.engine.forgetting_caches import HeavyHitterLayerCache, SlidingLayerCache, StreamingLayerCache
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.quantized_cache import CHANNEL, TOKEN, QuantizedLayerCache

# Names of kinds_of_cache.kind in the catalogue.
FULL, QUANTIZED, TURNED, HEAVY, WINDOW, SINKS, STREAMING = (
    "full", "quantized", "turned", "heavy", "window", "sinks", "streaming",
)  # fmt: skip
FIRST_TOKENS = 4
BLOCK = 16  # tokens that are quantized together, and at least as many that stay as they are
BITS = (8, 4, 2)


@dataclass(frozen=True)
class Contender:
    name: str
    layer: LayerCache
    facts: dict[str, int]  # for what the page says of it


def bytes_per_token(model: Transformer) -> int:
    """Of one layer, unrounded."""
    return 2 * model.config.num_kv_heads * model.config.head_dim * model.embedding.element_size()


def contenders(model: Transformer, num_tokens: int, budget: int) -> list[Contender]:
    """For a text of `num_tokens`, in the bytes of `budget` tokens; the first keeps everything, whatever it costs.

    Quantized has as many bits as fit, and 2 where not even they do.
    """
    room = budget * bytes_per_token(model)
    bits = next((bits for bits in BITS if _quantized_bytes(model, num_tokens, bits) <= room), 2)
    first = min(FIRST_TOKENS, budget - 1)
    # A token of heavy hitters has one number more in each head: what it has been read.
    heavy = room // (bytes_per_token(model) + 4 * model.config.num_kv_heads)
    rotary = model.cos, model.signed_sin
    quantized = {"bits": bits, "block": BLOCK}
    sinks = {"first": first, "last": budget - first}
    return [
        Contender(FULL, LayerCache(), {}),
        Contender(QUANTIZED, QuantizedLayerCache(bits, BLOCK, BLOCK, CHANNEL, TOKEN), quantized),
        Contender(TURNED, QuantizedLayerCache(bits, BLOCK, BLOCK, TOKEN, CHANNEL), quantized),
        Contender(
            HEAVY,
            HeavyHitterLayerCache(heavy, max(1, heavy // 2)),
            {"read_most": heavy - max(1, heavy // 2), "last": max(1, heavy // 2)},
        ),
        Contender(WINDOW, SlidingLayerCache(budget), {"last": budget}),
        Contender(SINKS, SlidingLayerCache(budget - first, first), sinks),
        Contender(STREAMING, StreamingLayerCache(budget - first, first, rotary), sinks),
    ]


def _quantized_bytes(model: Transformer, num_tokens: int, bits: int) -> int:
    """Of one layer, measured."""
    layer = QuantizedLayerCache(bits, BLOCK, BLOCK)
    rows = model.embedding.new_zeros(1, model.config.num_kv_heads, num_tokens, model.config.head_dim)
    layer.update(rows, rows)
    return layer.num_bytes


def cache_of(model: Transformer, contender: Contender) -> KVCache:
    return KVCache.of(model, contender.layer)


def whole_pass(model: Transformer, cache: KVCache, token_ids: list[int]) -> torch.Tensor:
    """(T, V) logits of these tokens after what the cache has seen."""
    with torch.inference_mode():
        return model(torch.tensor([token_ids], device=model.device), cache)[0].float()
