"""How often each stored row is read again during a run: why K and V are kept, and Q is not."""

from collections.abc import Sequence

import pandas as pd
import torch

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.taps import tapped


@torch.no_grad()
def count_reads(model: Transformer, prompt_ids: Sequence[int], answer_ids: Sequence[int]) -> pd.DataFrame:
    """Feeds an answer as decoding did and counts in the tensors of one layer: every layer reads alike.

    One row a position: `query`, `key`, `value`, in how many passes that row took part after the one that made it.
    """
    cache = KVCache(model.config.num_layers)
    fed = [list(prompt_ids), *([token_id] for token_id in answer_ids[:-1])]
    total = sum(len(ids) for ids in fed)
    counts = {name: [-1] * total for name in ("query", "key", "value")}  # the pass that makes a row brings it to 0
    end = 0
    for ids in fed:
        with tapped(model, "queries") as queries, tapped(model, "keys") as keys, tapped(model, "values") as values:
            model(torch.tensor([ids], device=model.device), cache, last_only=True)
        end += len(ids)
        for name, tap in (("query", queries), ("key", keys), ("value", values)):
            num_rows = tap[0].shape[2]
            for position in range(end - num_rows, end):
                counts[name][position] += 1
    return pd.DataFrame({"position": range(total), **counts})
