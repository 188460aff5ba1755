"""How often each row is read again during a run: why K and V are kept, and Q is not."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack

import pandas as pd
import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.taps import tapped

TAPS = {"query": "queries", "key": "keys", "value": "values"}


@torch.no_grad()
def count_reads(
    model: Transformer, prompt_ids: Sequence[int], answer_ids: Sequence[int]
) -> Generator[int, None, pd.DataFrame]:
    """Feeds an answer as decoding did and looks, in every pass, at what the last layer's attention is given to read.

    A row is known again by its numbers. One row a position: `query`, `key`, `value`, in how many passes after the one
    that made it the row was among those read. Yields after each pass how many there have been.
    """
    cache = KVCache.of(model)
    fed = [list(prompt_ids), *([token_id] for token_id in answer_ids[:-1])]
    total = sum(len(ids) for ids in fed)
    counts = {name: [0] * total for name in TAPS}
    made: dict[str, dict[bytes, list[int]]] = {name: {} for name in TAPS}  # a row's numbers to its positions
    for done, ids in enumerate(fed, 1):
        start = cache.position
        with ExitStack() as stack:
            taps = {name: stack.enter_context(tapped(model, value)) for name, value in TAPS.items()}
            model(torch.tensor([ids], device=model.device), cache, last_only=True)
        for name, tap in taps.items():
            rows = _rows(tap[-1])
            for row in set(rows):
                for position in made[name].get(row, ()):
                    counts[name][position] += 1
            for position, row in enumerate(rows[-len(ids) :], start):
                made[name].setdefault(row, []).append(position)
        yield done
    return pd.DataFrame({"position": range(total), **counts})


def _rows(heads: Tensor) -> list[bytes]:
    """(1, heads, rows, D): the numbers of each row, all heads."""
    return [row.tobytes() for row in heads[0].transpose(0, 1).flatten(1).float().cpu().numpy()]
