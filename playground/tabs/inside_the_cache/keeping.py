"""Why keys and values may be kept: what changes them, and what does not.

An experiment that runs the model several times stops between its passes, so that others may use the model.
Shapes: L layers, KV key/value heads, T tokens, D head size.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.work import ROUNDING
from playground.models.altered import unmasked, with_scaled_feed_forward
from playground.tabs.inside_the_cache.growth import stored_rows
from playground.words import say

CHANGED, UNMASKED, EARLY, APPENDED, FED_ON, SCALED = "changed", "unmasked", "early", "appended", "fed_on", "scaled"
MOST_ADDED = 8  # tokens
# Of a logit's: computed anew, rows moved by at most 9e-6, 0.016 and 0.19 where logits moved by 4e-5, 0.12 and 0.4.
ROW_ROUNDING = 0.4


@dataclass(frozen=True)
class Change:
    """One experiment: what was done, and how far every stored row moved by it."""

    name: str
    from_position: int  # the first token that is another or new; all before it are "earlier"
    by_row: Tensor  # (L, T) largest change of any number in K or V of that layer and position
    rounding: float = 0.0  # what another order of adding may do to a row; passes of one size add in one order
    num_added: int = 0  # tokens

    @property
    def earlier(self) -> list[float]:
        """(L,) largest change among the earlier tokens."""
        return self.by_row[:, : self.from_position].amax(1).tolist()

    @property
    def later(self) -> list[float]:
        """(L,) from the changed token on."""
        later = self.by_row[:, self.from_position :]
        return later.amax(1).tolist() if later.numel() else [0.0] * len(later)


@torch.no_grad()
def changes(
    model: Transformer, token_ids: Sequence[int], position: int, new_id: int, early_id: int, factor: float = 1.5
) -> Generator[None, None, list[Change]]:
    """Six experiments on one text of at least two tokens; four, where it leaves the model no room for one more.

    CHANGED: `new_id` stands at `position`, which is 1 or later. UNMASKED: the same where every token reads every other.
    EARLY: `early_id` stands at position 1. APPENDED: the last eight tokens once more, or as many as there are and as
    find room, all computed anew. FED_ON: the same fed to the cache. SCALED: the feed-forward of the first layer times
    `factor`.
    """
    ids, changed, early = (list(token_ids) for _ in range(3))
    length, room = len(ids), model.config.max_positions - len(ids)
    if not 1 <= position < length:
        raise ValueError(say("inside_the_cache.problem.position", last=length - 1, got=position))
    changed[position], early[1] = new_id, early_id
    cache = KVCache.of(model)
    model(torch.tensor([ids], device=model.device), cache, last_only=True)
    before = _copies(cache)
    yield
    with_changed = largest_change(before, stored_rows(model, changed))
    yield
    unmasked_before = stored_rows(unmasked(model), ids)
    yield
    with_unmasked = largest_change(unmasked_before, stored_rows(unmasked(model), changed))
    yield
    with_early = largest_change(before, stored_rows(model, early))
    yield
    with_more = _with_more(model, ids, ids[-MOST_ADDED:][:room], cache)
    yield
    with_scaled = largest_change(before, stored_rows(with_scaled_feed_forward(model, 0, factor), ids))
    return [
        Change(CHANGED, position, with_changed),
        Change(UNMASKED, position, with_unmasked),
        Change(EARLY, 1, with_early),
        *with_more,
        Change(SCALED, length, with_scaled),
    ]


def _with_more(model: Transformer, ids: list[int], added: list[int], cache: KVCache) -> list[Change]:
    """APPENDED and FED_ON; `cache` holds `ids`. None where no token can be added."""
    if not added:
        return []
    before = _copies(cache)
    model(torch.tensor([added], device=model.device), cache, last_only=True)
    anew, rounding = stored_rows(model, ids + added), ROW_ROUNDING * ROUNDING[model.embedding.dtype]
    return [
        Change(APPENDED, len(ids), largest_change(before, anew), rounding, len(added)),
        Change(FED_ON, len(ids), largest_change(before, _copies(cache)), num_added=len(added)),
    ]


def largest_change(before: list[tuple[Tensor, Tensor]], after: list[tuple[Tensor, Tensor]]) -> Tensor:
    """(L, T) over the tokens that both have: the largest absolute difference in a row of keys or values."""
    layers = []
    for old, new in zip(before, after, strict=True):
        length = old[0].shape[1]
        layers.append(torch.stack([(a - b[:, :length]).abs().amax((0, 2)) for a, b in zip(old, new, strict=True)]))
    return torch.stack(layers).amax(1)


def _copies(cache: KVCache) -> list[tuple[Tensor, Tensor]]:
    """Keys and values of each layer, (KV, T, D); they stay when the cache goes on."""
    return [tuple(tensor[0].clone() for tensor in layer.stored()) for layer in cache.layers]


@dataclass(frozen=True)
class SwappedCache:
    """N steps of a known text with each layer's own cache, and with others reading one layer's. V vocabulary."""

    logits: Tensor  # (N, V)
    swapped_logits: Tensor  # (N, V)
    rounding: float  # largest difference of the logits with each layer's own cache to those without any cache

    @property
    def largest_difference(self) -> float:
        return float((self.logits - self.swapped_logits).abs().max())

    @property
    def other_choices(self) -> int:
        """Steps whose likeliest token is another one."""
        return int((self.logits.argmax(-1) != self.swapped_logits.argmax(-1)).sum())

    @property
    def worst_step(self) -> int:
        """Where a token's probability changes most."""
        return int((self.logits.softmax(-1) - self.swapped_logits.softmax(-1)).abs().amax(-1).argmax())


@torch.no_grad()
def swap_caches(
    model: Transformer, past_ids: Sequence[int], next_ids: Sequence[int], source: int, targets: Sequence[Sequence[int]]
) -> Generator[None, None, list[SwappedCache]]:
    """Stores the past, puts layer `source`'s keys and values of it into other layers, feeds the next tokens.

    One result for each list of layers in `targets`.
    """
    if not past_ids or not next_ids:
        raise ValueError(say("inside_the_cache.problem.two_tokens"))
    past, following = (torch.tensor([list(ids)], device=model.device) for ids in (past_ids, next_ids))
    cache = KVCache.of(model)
    anew = model(torch.cat([past, following], 1), cache)[0, -len(next_ids) :].float()
    yield
    cache.reset()
    model(past, cache, last_only=True)
    yield
    swapped = [cache.clone() for _ in targets]
    for other, layers in zip(swapped, targets, strict=True):
        for layer in layers:
            other.layers[layer] = cache.clone().layers[source]
    logits = []
    for kept in (cache, *swapped):
        logits.append(model(following, kept)[0].float())
        yield
    own, *others = logits
    rounding = float((own - anew).abs().max())
    return [SwappedCache(own, other, rounding) for other in others]
