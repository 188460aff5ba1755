"""The call by which a layer hands its new keys and values to the cache, with the shapes that it had.

Shapes: B batch rows, KV key/value heads, T new tokens, S keys to read, D head size.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch

from playground.engine.cache_kinds import ConcatenatedLayerCache, LayerCache, StaticLayerCache
from playground.engine.forgetting_caches import SlidingLayerCache, StaticSlidingLayerCache
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams
from playground.engine.quantized_cache import QuantizedLayerCache
from playground.tabs.kinds_of_cache.contenders import whole_pass

STEPS = 8  # passes after the prompt's
WINDOW, BLOCK = 12, 4  # tokens: small enough that the first steps meet both


@dataclass(frozen=True)
class Pairing:
    """A kind of this page, and the class of transformers that does the same; None: there is none."""

    name: str  # of kinds_of_cache.update.kind in the catalogue
    layer: LayerCache
    theirs: str | None


def pairings(longest: int) -> list[Pairing]:
    """longest: tokens for which a static buffer has room."""
    return [
        Pairing("concatenated", ConcatenatedLayerCache(), "DynamicLayer"),
        Pairing("growing", LayerCache(), None),
        Pairing("static", StaticLayerCache(longest), "StaticLayer"),
        Pairing("window", SlidingLayerCache(WINDOW), "DynamicSlidingWindowLayer"),
        Pairing("static_window", StaticSlidingLayerCache(WINDOW), "StaticSlidingWindowLayer"),
        Pairing("quantized", QuantizedLayerCache(4, BLOCK, BLOCK), "QuantizedLayer"),
    ]


@dataclass(frozen=True)
class Call:
    """One layer's call in one pass. Shapes of the keys; the values have the same."""

    given: tuple[int, ...]  # (B, KV, T, D)
    returned: tuple[int, ...]  # (B, KV, S, D)
    num_stored: int  # tokens, afterwards
    num_bytes: int
    copied_bytes: int
    same_buffer: bool  # no tensor of the layer was replaced by another


def recorded_calls(
    model: Transformer, prompt_ids: Sequence[int], answer_ids: Sequence[int], kind: LayerCache
) -> Generator[None, None, list[list[Call]]]:
    """For each pass, of each layer: the prompt's first, then one for each token of the answer but the last."""
    cache = KVCache.of(model, kind)
    passes: list[list[Call]] = []
    for layer in cache.layers:
        layer.update = _recorded(layer, passes)
    for ids in (list(prompt_ids), *([token_id] for token_id in answer_ids[:-1])):
        passes.append([])
        whole_pass(model, cache, ids)
        yield
    return passes


def _recorded(layer: LayerCache, passes: list[list[Call]]):
    """`layer.update`, which notes what it is given and returns."""
    update = layer.update

    def noted(keys: torch.Tensor, values: torch.Tensor):
        moved, before = layer.copied_bytes, {id(buffer) for buffer in layer.buffers.values()}
        read = update(keys, values)
        now = {id(buffer) for buffer in layer.buffers.values()}
        numbers = layer.num_stored, layer.num_bytes, layer.copied_bytes - moved
        passes[-1].append(Call(tuple(keys.shape), tuple(read[0].shape), *numbers, before == now))
        return read

    return noted


def answer_of(model: Transformer, prompt_ids: Sequence[int]) -> Generator[None, None, list[int]]:
    """Whose tokens are fed: so many steps, whatever would end the answer."""
    answer_ids = []
    for step in generate(model, prompt_ids, SamplingParams(temperature=0), None, STEPS + 1):
        answer_ids.append(step.token_id)
        yield
    return answer_ids


def returned_by_theirs(name: str, seen: int, num_new: int, limit: int) -> int:
    """S of the class of transformers; `limit` is its window or its whole length."""
    if name == "StaticLayer":
        return limit  # all places; a mask hides the empty ones
    if name == "DynamicSlidingWindowLayer":
        return min(seen, limit - 1) + num_new
    if name == "StaticSlidingWindowLayer":
        return limit if seen + num_new <= limit else min(seen, limit - 1) + num_new
    return seen + num_new
