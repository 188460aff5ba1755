"""One cache over several pretend devices, and one in a file: what each place holds, and what that costs."""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from statistics import median

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.placed_caches import (
    OffloadedLayerCache,
    ShardedLayerCache,
    Split,
    split_by_heads,
    split_by_layers,
)
from playground.tabs.kinds_of_cache.contenders import whole_pass

REPEATS = 5
BY_HEADS, BY_LAYERS = "heads", "layers"


def splits(model: Transformer, token_ids: list[int]) -> Generator[None, None, dict[tuple[str, int], Split]]:
    """By how it is split, and over how many devices."""
    found = {}
    size = model.embedding.element_size()
    hidden = model.config.hidden_size
    for devices in (2, 4):
        sharded = KVCache.of(model, ShardedLayerCache(devices))
        whole_pass(model, sharded, token_ids)
        found[BY_HEADS, devices] = split_by_heads(sharded.layers, hidden, size)
        yield
        cache = KVCache.of(model)
        whole_pass(model, cache, token_ids)
        found[BY_LAYERS, devices] = split_by_layers(cache.layers, devices, hidden, size)
        yield
    return found


@dataclass(frozen=True)
class FileTimes:
    """Medians of REPEATS. The file is read back while the operating system still has it in memory."""

    num_tokens: int
    num_bytes: int
    compute_seconds: float
    read_seconds: float


def file_times(
    model: Transformer, token_ids: list[int], lengths: Sequence[int]
) -> Generator[None, None, list[FileTimes]]:
    """A prompt of each length: computing its cache again against reading it from its file."""
    found = []
    for length in lengths:
        ids = token_ids[:length]
        stored = KVCache.of(model, OffloadedLayerCache())
        whole_pass(model, stored, ids)
        yield
        compute, read = [], []
        for _ in range(REPEATS):
            compute.append(_seconds(lambda ids=ids: whole_pass(model, KVCache.of(model), ids)))
            yield
            read.append(_seconds(lambda stored=stored: [_copies(layer) for layer in stored.layers]))
            yield
        found.append(FileTimes(length, stored.num_bytes, median(compute), median(read)))
    return found


def _copies(layer: OffloadedLayerCache) -> list:
    """Its rows, in memory."""
    return [rows.clone() for rows in layer.stored()]


def _seconds(work: Callable) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
