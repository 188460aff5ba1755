"""Why caching is safe: what changes stored keys and values, and what does not.

An experiment that runs the model several times stops between its passes, so that others may use the model.
Shapes: L layers, KV key/value heads, T tokens, D head size.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams
from playground.engine.work import ROUNDING
from playground.models.altered import (
    unmasked,
    with_mixing_feed_forward,
    with_scaled_feed_forward,
    with_shifted_positions,
)
from playground.tabs.inside_the_cache.growth import stored_rows
from playground.words import say

# Names of inside_the_cache.change in the catalogue.
CHANGED, UNMASKED, MIXED, SCALED, SHIFTED = "changed", "unmasked", "mixed", "scaled", "shifted"
FED_ON, APPENDED, ENCODED, EARLY = "fed_on", "appended", "encoded", "early"
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
    """Nine experiments on one text of at least two tokens; six, where it leaves the model no room for one more.

    CHANGED: `new_id` stands at `position`, which is 1 or later. UNMASKED: the same where every token reads every other.
    MIXED: the same where the feed-forward reads other tokens too. SCALED: the feed-forward of the first layer times
    `factor`. SHIFTED: every token one position later. FED_ON: the last eight tokens once more, or as many as there are
    and as find room, fed to the cache. APPENDED: the same, all computed anew. ENCODED: that where every token reads
    every other. EARLY: `early_id` stands at position 1.
    """
    ids, changed, early = (list(token_ids) for _ in range(3))
    length, room = len(ids), model.config.max_positions - len(ids)
    if not 1 <= position < length:
        raise ValueError(say("inside_the_cache.problem.position", last=length - 1, got=position))
    changed[position], early[1] = new_id, early_id
    added = ids[-MOST_ADDED:][:room]
    cache = KVCache.of(model)
    model(torch.tensor([ids], device=model.device), cache, last_only=True)
    before = _copies(cache)
    yield
    made = [Change(CHANGED, position, largest_change(before, stored_rows(model, changed)))]
    for name, altered in ((UNMASKED, unmasked(model)), (MIXED, with_mixing_feed_forward(model))):
        yield
        altered_before = stored_rows(altered, ids)
        yield
        made.append(Change(name, position, largest_change(altered_before, stored_rows(altered, changed))))
        if name == UNMASKED and added:
            yield
            encoded = largest_change(altered_before, stored_rows(altered, ids + added))
            made.append(Change(ENCODED, length, encoded, num_added=len(added)))
    yield
    with_scaled = stored_rows(with_scaled_feed_forward(model, 0, factor), ids)
    made.append(Change(SCALED, length, largest_change(before, with_scaled)))
    yield
    made.append(Change(SHIFTED, length, largest_change(before, stored_rows(with_shifted_positions(model), ids))))
    yield
    made.append(Change(EARLY, 1, largest_change(before, stored_rows(model, early))))
    if added:
        yield
        made += _with_more(model, ids, added, cache)
    return made


def _with_more(model: Transformer, ids: list[int], added: list[int], cache: KVCache) -> list[Change]:
    """FED_ON and APPENDED; `cache` holds `ids`."""
    before = _copies(cache)
    model(torch.tensor([added], device=model.device), cache, last_only=True)
    anew, rounding = stored_rows(model, ids + added), ROW_ROUNDING * ROUNDING[model.embedding.dtype]
    return [
        Change(FED_ON, len(ids), largest_change(before, _copies(cache)), num_added=len(added)),
        Change(APPENDED, len(ids), largest_change(before, anew), rounding, len(added)),
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
        """Steps whose most likely token changes."""
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


@torch.no_grad()
def most_likely_text(model: Transformer, prompt_ids: Sequence[int], num_new: int) -> Generator[None, None, list[int]]:
    """`num_new` tokens at temperature 0. Stops between the steps."""
    answer = []
    for step in generate(model, prompt_ids, SamplingParams(temperature=0), None, num_new):
        answer.append(step.token_id)
        yield
    return answer
