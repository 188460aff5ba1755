"""How big the cache of so many tokens is: measured, by the formula, and by the formulas that are usual and wrong."""

from dataclasses import replace

import torch

from playground.engine.cache_kinds import LayerCache
from playground.engine.kv_cache import KVCache
from playground.engine.model import ModelConfig

TOKENS = 100


def measured(config: ModelConfig, tokens: int, dtype: torch.dtype = torch.float32) -> int:
    """Bytes in the tensors of a cache that holds so many tokens."""
    cache = KVCache(config.num_layers, LayerCache())
    rows = torch.zeros(1, config.num_kv_heads, tokens, config.head_dim, dtype=dtype)
    for layer in cache.layers:
        layer.update(rows, rows)
    return cache.num_bytes


def formulas(config: ModelConfig, tokens: int, bytes_per_number: int) -> dict[str, float]:
    """Bytes by name of kinds_of_cache.formula; the first is right."""
    heads, size, layers = config.num_kv_heads, config.head_dim, config.num_layers
    right = 2 * layers * heads * size * bytes_per_number * tokens
    return {
        "right": right,
        "all_heads": right / heads * config.num_heads,
        "hidden_by_heads": right / size * (config.hidden_size / config.num_heads),
        "bits": right * 8,
        "keys_only": right / 2,
        "one_layer": right / layers,
    }


def by_kv_heads(config: ModelConfig, tokens: int, dtype: torch.dtype = torch.float32) -> dict[int, int]:
    """Measured bytes, for every number of KV heads that the query heads can share."""
    shared = [heads for heads in range(1, config.num_heads + 1) if config.num_heads % heads == 0]
    return {heads: measured(replace(config, num_kv_heads=heads), tokens, dtype) for heads in shared}
