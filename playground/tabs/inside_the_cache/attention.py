"""What attention reads: the weights of a text, one row worked out, who reads the first token, why the mask is added.

Shapes: L layers, H query heads, T tokens fed, S tokens seen.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.taps import tapped
from playground.models.altered import twin, unmasked
from playground.words import say


def attention_weights(model: Transformer, token_ids: Sequence[int], num_rows: int | None = None) -> Tensor:
    """(L, H, rows, T): what each of the last `num_rows` tokens, or each of all, reads. A decode step has one row."""
    return _last_rows(model, token_ids, num_rows, "weights")


def attention_scores(model: Transformer, token_ids: Sequence[int], num_rows: int | None = None) -> Tensor:
    """(L, H, rows, T) before the mask: there is a score for later tokens too, and only the mask hides it."""
    return _last_rows(model, token_ids, num_rows, "scores")


@torch.no_grad()
def _last_rows(model: Transformer, token_ids: Sequence[int], num_rows: int | None, value: str) -> Tensor:
    cache = KVCache.of(model)
    num_before = 0 if num_rows is None else max(0, len(token_ids) - num_rows)
    if num_before:  # as one more chunk, so that a long text needs no square of its length
        model(_batch(model, token_ids[:num_before]), cache, last_only=True)
    with tapped(model, value) as tap:
        model(_batch(model, token_ids[num_before:]), cache, last_only=True)
    return torch.cat(list(tap), 0)


@torch.no_grad()
def attention_vectors(
    model: Transformer, token_ids: Sequence[int], layer: int, num_rows: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (H, rows, D) of the last rows, keys and values (KV, T, D) of all tokens, in one layer."""
    cache = KVCache.of(model)
    with ExitStack() as stack:
        taps = [stack.enter_context(tapped(model, value)) for value in ("queries", "keys", "values")]
        model(_batch(model, token_ids), cache, last_only=True)
    queries, keys, values = (tap[layer][0] for tap in taps)
    return queries[:, -num_rows:], keys, values


def sink_shares(weights: Tensor) -> Tensor:
    """(L, H) mean weight that these rows (L, H, rows, T) give the first token (StreamingLLM, arXiv 2309.17453)."""
    return weights[..., 0].mean(-1)


def even_share(first_row: int, end: int) -> float:
    """What rows first_row to end - 1 would give the first token if each read all before it, and itself, alike."""
    return sum(1 / (row + 1) for row in range(first_row, end)) / (end - first_row)


@dataclass(frozen=True)
class Masked:
    """One row of scores, and what softmax makes of it under four ideas of hiding the later tokens."""

    scores: list[float]
    hidden: list[bool]
    rows: dict[str, list[float]]

    def leak(self, name: str) -> float:
        """Share of the weight that a hidden token gets. NaN where the row is NaN."""
        return sum(weight for weight, hidden in zip(self.rows[name], self.hidden, strict=True) if hidden)


# Names of inside_the_cache.mask.idea in the catalogue.
NO_MASK, ADDED, TIMES_ZERO, TIMES_INFINITY = "none", "added", "times_zero", "times_infinity"


def mask_row(scores: Sequence[float], hidden: Sequence[bool]) -> Masked:
    """[1, 2, 3], third hidden: adding gives .269 .731 0; times 0 leaves it e^0 of weight; times -inf breaks the row."""
    row, is_hidden = torch.tensor(list(scores), dtype=torch.float64), torch.tensor(list(hidden))
    ideas = {
        NO_MASK: row,
        ADDED: row.masked_fill(is_hidden, -torch.inf),
        TIMES_ZERO: row * (~is_hidden),
        TIMES_INFINITY: row * torch.where(is_hidden, -torch.inf, 1.0),
    }
    rows = {name: masked.softmax(-1).tolist() for name, masked in ideas.items()}
    return Masked(row.tolist(), is_hidden.tolist(), rows)


@dataclass(frozen=True)
class WorstLeak:
    """The row of a text that loses most weight to hidden tokens when its scores are multiplied by a mask of 0."""

    layer: int
    head: int
    row: int
    masked: Masked
    mean_leak: float  # of all rows, in all heads and layers, that have something to hide


def worst_leak(scores: Tensor) -> WorstLeak | None:
    """scores (L, H, rows, T) of the last rows of a text, before the mask. None where no row has a later token."""
    num_rows, length = scores.shape[2:]
    rows = torch.arange(length - num_rows, length)
    hidden = torch.arange(length) > rows[:, None]  # (rows, T)
    if not hidden.any():
        return None
    weights = scores.double().masked_fill(hidden.to(scores.device), 0.0).softmax(-1)
    leaks = (weights * hidden.to(scores.device)).sum(-1)[:, :, hidden.any(-1)]  # (L, H, rows with something to hide)
    layer, head, place = (int(index) for index in torch.unravel_index(leaks.argmax(), leaks.shape))
    masked = mask_row(scores[layer, head, place].tolist(), hidden[place].tolist())
    return WorstLeak(layer, head, int(rows[place]), masked, float(leaks.mean()))


@dataclass(frozen=True)
class MaskNeed:
    """Largest difference of the last logits with and without the mask, for the same text fed in two ways."""

    decode_step: float  # the last token alone, after the others
    chunk: float  # the last `chunk_length` tokens together
    chunk_length: int


@torch.no_grad()
def mask_need(model: Transformer, token_ids: Sequence[int], chunk_length: int = 4) -> MaskNeed:
    chunk_length = min(chunk_length, len(token_ids) - 1)
    if chunk_length < 2:
        raise ValueError(say("inside_the_cache.problem.three_tokens", got=len(token_ids)))
    cache, differences = KVCache.of(model), []
    model(_batch(model, token_ids[:-1]), cache, last_only=True)
    for num_last in (1, chunk_length):
        cache.truncate(len(token_ids) - num_last)
        last = _batch(model, token_ids[-num_last:])
        masked, open_ = (one(last, cache.clone())[0, -1] for one in (model, unmasked(model)))
        differences.append(float((masked - open_).abs().max()))
    return MaskNeed(*differences, chunk_length)


@dataclass(frozen=True)
class PassShapes:
    """The tensors of a pass, named as the transformers documents name it."""

    past: int
    new: int
    queries: tuple[int, ...]  # (batch, query heads, new, head size)
    keys: tuple[int, ...]  # (batch, KV heads, past + new, head size), in the order of transformers and of this page
    values: tuple[int, ...]
    keys_of_minimind: tuple[int, ...]  # (batch, past + new, KV heads, head size), the order in MiniMind
    weights: tuple[int, ...]  # (batch, query heads, new, past + new)
    mask: tuple[int, int] | None  # (new, past + new); None where no mask is needed


@torch.no_grad()
def pass_shapes(model: Transformer, token_ids: Sequence[int], past: int) -> PassShapes:
    """Shapes read from the tensors of the pass that takes in all tokens from position `past` on."""
    first_layer = twin(model)  # all layers have the same shapes, and the weights of a long prefill are large
    first_layer.config, first_layer.blocks = replace(model.config, num_layers=1), model.blocks[:1]
    cache, num_new = KVCache.of(first_layer), len(token_ids) - past
    if past:
        first_layer(_batch(model, token_ids[:past]), cache, last_only=True)
    mask = cache.layers[0].mask(cache.layers[0].upcoming(num_new), num_new)
    with ExitStack() as stack:
        names = ("queries", "keys", "values", "weights")
        taps = {name: stack.enter_context(tapped(first_layer, name)) for name in names}
        first_layer(_batch(model, token_ids[past:]), cache, last_only=True)
    shapes = {name: tuple(tap[0].shape) for name, tap in taps.items()}
    minimind = tuple(taps["keys"][0].transpose(1, 2).shape)
    width = None if mask is None else tuple(mask.shape)
    return PassShapes(past, num_new, keys_of_minimind=minimind, mask=width, **shapes)


def _batch(model: Transformer, token_ids: Sequence[int]) -> Tensor:
    return torch.tensor([list(token_ids)], device=model.device)
