"""One token through one layer, with a cache: each row it reads and each row it computes, with the real numbers.

Shapes: T tokens, H query heads, KV key/value heads, D head size, C hidden size.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer, rms_norm
from playground.engine.taps import VALUES, tapped
from playground.tabs.inside_the_cache.growth import stored_rows
from playground.words import say

CACHE, COMPUTED = "cache", "computed"
NUM_SHOWN = 6  # numbers of a row that fit on a slide


@dataclass(frozen=True)
class Row:
    """The first few numbers of one vector; heads are split, and head 0 is shown."""

    what: str  # vector, query, key, value, scores, weights, read
    position: int
    source: str  # CACHE or COMPUTED
    numbers: list[float]
    length: int  # numbers in the whole row, all heads


@dataclass(frozen=True)
class WalkStage:
    name: str
    rows: list[Row]


@dataclass(frozen=True)
class LayerWalk:
    """Token `position` (from 0) through layer `layer` (from 0)."""

    position: int
    layer: int
    stages: list[WalkStage]
    anew_difference: float  # the stored rows against the same rows computed again without a cache: largest difference
    output: Tensor  # (C,) what leaves the layer


@torch.no_grad()
def walk_token(model: Transformer, token_ids: Sequence[int], position: int = 1, layer: int = 1) -> LayerWalk:
    """Feeds the tokens before `position` to a cache, then that one token, and writes down what the layer does."""
    if not 1 <= position < len(token_ids):
        raise ValueError(say("inside_the_cache.problem.position", last=len(token_ids) - 1, got=position))
    if not 0 <= layer < model.config.num_layers:
        raise ValueError(say("inside_the_cache.problem.layer", last=model.config.num_layers - 1, got=layer))
    cache = KVCache.of(model)
    model(torch.tensor([token_ids[:position]], device=model.device), cache, last_only=True)
    with ExitStack() as stack:
        taps = {name: stack.enter_context(tapped(model, name)) for name in VALUES}
        model(torch.tensor([token_ids[position : position + 1]], device=model.device), cache, last_only=True)
    inner = {name: tap[layer][0] for name, tap in taps.items()}  # without the batch axis
    read, after_attention, output = _finish_layer(model, layer, inner)
    anew = stored_rows(model, token_ids[: position + 1])[layer]
    kept = inner["keys"], inner["values"]
    difference = max(float((new - old)[:, :position].abs().max()) for new, old in zip(anew, kept, strict=True))
    return LayerWalk(position, layer, _stages(position, inner, read, after_attention, output), difference, output)


def _finish_layer(model: Transformer, layer: int, inner: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """The rest of the layer, spelled out: what is read (H, D), the vector after attention (C,), and after the layer."""
    block, config = model.blocks[layer], model.config
    shared = config.num_heads // config.num_kv_heads
    values = inner["values"].repeat_interleave(shared, 0)  # (H, S, D)
    read = (inner["weights"] @ values)[:, 0]
    after_attention = inner["hidden"][0] + F.linear(read.flatten(), block.attention.output)
    normed = rms_norm(after_attention, block.feed_forward_norm, block.eps)
    return read, after_attention, after_attention + block.feed_forward(normed)


def _stages(
    position: int, inner: dict[str, Tensor], read: Tensor, after_attention: Tensor, output: Tensor
) -> list[WalkStage]:
    def row(what: str, numbers: Tensor, source: str = COMPUTED, at: int = position, length: int | None = None) -> Row:
        return Row(what, at, source, numbers[:NUM_SHOWN].tolist(), length or numbers.numel())

    def head_row(what: str, heads: Tensor, at: int, source: str) -> Row:
        return row(what, heads[0, at], source, at, heads.shape[0] * heads.shape[2])

    queries, keys, values = inner["queries"], inner["keys"], inner["values"]
    own = [head_row("key", keys, position, COMPUTED), head_row("value", values, position, COMPUTED)]
    stored = [
        head_row(what, heads, at, CACHE) for at in range(position) for what, heads in (("key", keys), ("value", values))
    ]
    query = row("query", queries[0, 0], length=queries.shape[0] * queries.shape[2])
    return [
        WalkStage("arrive", [row("vector", inner["hidden"][0])]),
        WalkStage("project", [query, *own]),
        WalkStage("fetch", stored),
        WalkStage("score", [Row("scores", position, COMPUTED, inner["scores"][0, 0].tolist(), position + 1)]),
        WalkStage("weigh", [Row("weights", position, COMPUTED, inner["weights"][0, 0].tolist(), position + 1)]),
        WalkStage("mix", [row("read", read[0], length=read.numel()), row("vector", after_attention)]),
        WalkStage("feed_forward", [row("vector", output)]),
        WalkStage("keep", own),
    ]
