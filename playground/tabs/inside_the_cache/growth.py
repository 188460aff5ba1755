"""How the cache grows: bytes of each layer after each step, read from the tensors, and the formula beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import pandas as pd
import torch
from torch import Tensor

from playground.engine.cache_kinds import LayerCache
from playground.engine.kv_cache import KVCache
from playground.engine.model import ModelConfig, Transformer


@dataclass(frozen=True)
class CacheSize:
    """Bytes of a cache, factor by factor."""

    layers: int
    kv_heads: int
    head_dim: int
    bytes_per_number: int
    tokens: int

    @classmethod
    def of(cls, config: ModelConfig, tokens: int, **changes: int) -> "CacheSize":
        """In float32 unless `changes` says otherwise."""
        factors = {"layers": config.num_layers, "kv_heads": config.num_kv_heads, "head_dim": config.head_dim}
        return cls(**{**factors, "bytes_per_number": 4, "tokens": tokens, **changes})

    @property
    def factors(self) -> list[tuple[str, int]]:
        """By the names of inside_the_cache.factor in the catalogue."""
        return [("keys_and_values", 2), *vars(self).items()]

    @property
    def num_bytes(self) -> int:
        return prod(factor for _, factor in self.factors)


def ghost_sizes(config: ModelConfig, tokens: int, bytes_per_number: int = 4) -> dict[str, CacheSize]:
    """What the same text would take under another choice, by the names of inside_the_cache.ghost in the catalogue.

    Quantizers' scales, a few percent, are left out.
    """
    own = {"bytes_per_number": bytes_per_number}
    ghosts = {}
    if config.num_heads > config.num_kv_heads:
        ghosts["all_heads"] = CacheSize.of(config, tokens, kv_heads=config.num_heads, **own)
    for size, name in ((2, "two_bytes"), (1, "one_byte")):
        if size < bytes_per_number:
            ghosts[name] = CacheSize.of(config, tokens, bytes_per_number=size)
    return ghosts


def cache_growth(
    stored: Sequence[tuple[Tensor, Tensor]], prompt_length: int, kind: str | LayerCache = "dynamic"
) -> pd.DataFrame:
    """Hands a text's `stored_rows` to a cache as decoding did: the prompt's at once, then those of one token a step.

    Reads the tensors after each step; the model does not run. One row a step and layer: step, layer, tokens,
    filled_bytes, allocated_bytes, and copied_bytes, of rows that were stored before and had to move.
    """
    cache = KVCache(len(stored), kind)
    rows = []
    for step, end in enumerate(range(prompt_length, stored[0][0].shape[1] + 1)):
        start = cache.position
        for layer, pair in enumerate(stored):
            kept = cache.layers[layer]
            before = kept.buffers
            keys, values, positions = kept.update(*(tensor[None, :, start:end] for tensor in pair))
            moved = [buffer for name, buffer in before.items() if kept.buffers[name] is not buffer]
            copied = sum(buffer[:, :, :start].nbytes for buffer in moved)
            filled = keys.nbytes + values.nbytes
            rows.append((step, layer, len(positions), filled, kept.allocated_bytes, copied))
    return pd.DataFrame(rows, columns=["step", "layer", "tokens", "filled_bytes", "allocated_bytes", "copied_bytes"])


@torch.no_grad()
def stored_rows(model: Transformer, token_ids: Sequence[int]) -> list[tuple[Tensor, Tensor]]:
    """What each layer keeps of a text: keys and values, each (KV, T, D)."""
    cache = KVCache.of(model)
    model(torch.tensor([list(token_ids)], device=model.device), cache, last_only=True)
    return [tuple(tensor[0] for tensor in layer.stored()) for layer in cache.layers]
