"""Does a cache help a model that reads a text once and answers with one choice? There is no second pass to read it."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from playground.engine.generation import timed
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.taps import tapped
from playground.engine.work import pass_multiply_adds

REPEATS = 5


@dataclass(frozen=True)
class OnePass:
    """One forward pass over a text."""

    kind: str  # of cache
    num_fed: int  # tokens computed, read from the tensors
    rows_from_cache: int  # keys that were there before the pass
    multiply_adds: int
    kept_bytes: int
    seconds: float  # median of the repeats
    logits: Tensor  # (V,)


@torch.no_grad()
def read_once(
    model: Transformer, token_ids: Sequence[int], kind: str, repeats: int = REPEATS
) -> Generator[None, None, OnePass]:
    """The pass of a classifier: all tokens in, the logits of the last one out. Stops between the passes."""
    ids = torch.tensor([list(token_ids)], device=model.device)
    cache = KVCache.of(model, kind)
    with tapped(model, "queries") as queries, tapped(model, "keys") as keys:
        logits = model(ids, cache, last_only=True)
    yield
    num_fed, num_seen = queries[0].shape[2], keys[0].shape[2]
    runs = (model(ids, KVCache.of(model, kind), last_only=True) for _ in range(repeats))
    times = []
    for _, seconds in timed(runs):
        times.append(seconds)
        yield
    return OnePass(
        kind,
        num_fed,
        num_seen - num_fed,
        pass_multiply_adds(model.config, num_fed, num_seen).total,
        cache.num_bytes,
        median(times),
        logits[0, -1].float(),
    )
