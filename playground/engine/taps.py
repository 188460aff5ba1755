"""Reads inner values of a pass for the length of a `with`, in this thread or task only.

A torch hook would sit on the model that all visitors share and record their passes too. A tap sits in a context
variable: a thread or task that did not open it does not see it, and while none is open a layer pays one look-up.

Shapes: B batch rows, T new tokens, S keys seen, C hidden size, H query heads, KV key/value heads,
G = H / KV query heads that share one, D head size.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor, nn

from playground.engine.arguments import shown
from playground.words import say

VALUES = (
    "hidden",  # (B, T, C) what enters the layer
    "queries",  # (B, H, T, D) after rotary
    "keys",  # (B, KV, S, D) all that are read, stored and new
    "values",  # (B, KV, S, D)
    "scores",  # (B, H, T, S) queries times keys over the root of D, before the mask
    "weights",  # (B, H, T, S) after mask and softmax: each row sums to 1
)


class Tap:
    """What was read: `tap[layer]` of the latest pass, `tap.passes[number][layer]` of all."""

    def __init__(self, model: nn.Module, value: str) -> None:
        if value not in VALUES:
            raise ValueError(say("engine.tap.value", values=", ".join(VALUES), value=shown(value)))
        self.value = value
        self.passes: list[list[Tensor]] = []
        self._blocks = list(model.blocks)

    def __getitem__(self, layer: int) -> Tensor:
        if not self.passes:
            raise LookupError(say("engine.tap.nothing"))
        return self.passes[-1][layer]

    def listens_to(self, module: nn.Module, layer: int) -> bool:
        """Is `module` the layer, or the attention of the layer, of the model that this tap is on?"""
        return layer < len(self._blocks) and module in (self._blocks[layer], self._blocks[layer].attention)

    def take(self, layer: int, tensor: Tensor) -> None:
        if layer == 0:
            self.passes.append([])
        self.passes[-1].append(tensor)


_open_taps: ContextVar[tuple[Tap, ...]] = ContextVar("open_taps", default=())


@contextmanager
def tapped(model: nn.Module, value: str = "weights") -> Iterator[Tap]:
    """Records one of VALUES in every pass of `model` that this thread or task makes inside the `with`.

    Several taps may be open at once. No `yield` inside the `with`: a paused generator would leave it open for others.
    """
    tap = Tap(model, value)
    token = _open_taps.set((*_open_taps.get(), tap))
    try:
        yield tap
    finally:
        _open_taps.reset(token)


def any_tap() -> bool:
    return bool(_open_taps.get())


def offer_hidden(block: nn.Module, layer: int, hidden: Tensor) -> None:
    """Called by a block with the vectors that enter it."""
    for tap in _open_taps.get():
        if tap.value == "hidden" and tap.listens_to(block, layer):
            tap.take(layer, hidden)


def offer_attention(
    attention: nn.Module, layer: int, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None
) -> None:
    """Called by an attention with queries (B, KV, G*T, D) and mask (G*T, S) or (KV, G*T, S).

    Copies: the cache's views will change.
    """
    config = attention.config
    batch, _, _, head_dim = queries.shape
    for tap in _open_taps.get():
        if tap.value == "hidden" or not tap.listens_to(attention, layer):
            continue
        if tap.value in ("keys", "values"):
            tap.take(layer, (keys if tap.value == "keys" else values).clone())
        elif tap.value == "queries":
            tap.take(layer, queries.reshape(batch, config.num_heads, -1, head_dim))
        else:
            scores = queries @ keys.transpose(-2, -1) / head_dim**0.5  # (B, KV, G*T, S)
            if tap.value == "weights":
                scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
                scores = scores.softmax(-1)
            tap.take(layer, scores.reshape(batch, config.num_heads, -1, keys.shape[2]))
