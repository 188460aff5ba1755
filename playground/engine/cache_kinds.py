"""What one layer keeps between steps, and how: each kind of cache is one class.

A layer owns `seen`, how many tokens went through it, `positions`, where those that it still holds stand in the text,
and `buffers`, every tensor that it holds. Bytes, copies, rows and devices are one loop over the buffers, and the mask
comes from the positions: a new kind overrides `reads` (what it forgets) or `encode` and `decode` (how it stores).
Here are those that keep every token, or none; the others are in forgetting_caches.py, quantized_cache.py,
paged_cache.py and placed_caches.py.

Shapes: B batch rows, KV key/value heads, T new tokens, S stored tokens, D head size; keys are stored after rotary.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from playground.words import say

FIRST_CAPACITY = 64  # tokens; a growing buffer doubles from here


class CacheFullError(ValueError):
    """A fixed buffer has no room for the tokens offered; nothing was stored."""


class LayerCache:
    """Grows: keeps every token in buffers that double when full, so that a token costs one row, not a copy of all."""

    max_length: int | None = None  # tokens that it can take in; None: as many as come
    watches_queries = False  # what it forgets depends on what is read: the model calls `watch` in place of `mask`

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.seen = 0
        self.buffers: dict[str, Tensor] = {}  # each (B, KV, capacity, any size)
        self._kept: Tensor | None = None  # what `positions` gives; None: all that were seen
        self._form: tuple[int, int, int, torch.dtype] | None = None  # B, KV, D, number format, of the first update
        self._room = 0  # tokens that fit into the buffers
        self.copied_bytes = 0  # of rows that were stored before and had to move, since it was empty

    # ---- what a kind may override; it holds no state of its own besides its settings

    def reads(self, query: int | Tensor, keys: Tensor) -> Tensor:
        """Which keys, by their positions (S,), a query at `query` may read: (S,), or (T, S) for queries (T, 1).

        A key that is once out of reach must stay so: it is deleted.
        """
        raise NotImplementedError(say("engine.cache.keeps_all"))

    def encode(self, name: str, rows: Tensor) -> dict[str, Tensor]:
        """What is stored of new "keys" or "values" (B, KV, T, D): tensors (B, KV, T, any size), by their names."""
        return {name: rows}

    def decode(self, name: str, stored: dict[str, Tensor]) -> Tensor:
        """(B, KV, S, D) "keys" or "values" from what was stored."""
        return stored[name]

    @property
    def positions(self) -> Tensor:
        """(S,) of the tokens that are stored, in ascending order; (KV, S) where each head holds tokens of its own."""
        return torch.arange(self.num_stored) if self._kept is None else self._kept

    @property
    def num_stored(self) -> int:
        return self.seen if self._kept is None else self._kept.shape[-1]

    # ---- what the model does

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Stores T new tokens. Returns keys and values (B, KV, S, D) and their positions (S,), the new ones last.

        They are views: read them before the next update. What is forgotten is forgotten afterwards.
        """
        batch, heads, num_new, size = keys.shape
        if self._form != (batch, heads, size, keys.dtype):
            self._check_form(batch, heads, size, keys.dtype)
        self._forget(self.seen)
        start = self.num_stored
        new = self.encode("keys", keys) | self.encode("values", values)
        if start + num_new > self._room:
            self._make_room(start + num_new, new)
        for name, rows in new.items():
            self.buffers[name].narrow(2, start, num_new).copy_(rows)
        if self._kept is not None:
            new_positions = torch.arange(self.seen, self.seen + num_new)
            self._kept = torch.cat([self._kept, new_positions.expand(*self._kept.shape[:-1], -1)], -1)
        self.seen += num_new
        read = *self.stored(), self.positions
        self._forget(self.seen - 1)
        return read

    def stored(self) -> tuple[Tensor, Tensor]:
        """(B, KV, S, D) keys and values of the tokens at `positions`."""
        if not self.buffers:
            raise ValueError(say("engine.cache.empty"))
        length = self.num_stored
        filled = {name: buffer.narrow(2, 0, length) for name, buffer in self.buffers.items()}
        return self.decode("keys", filled), self.decode("values", filled)

    def upcoming(self, num_new: int) -> Tensor:
        """(S,) the positions that `update` will return for `num_new` new tokens."""
        held = self.positions
        if self.forgets:
            held = held[self.reads(self.seen, held)]
        return torch.cat([held, torch.arange(self.seen, self.seen + num_new)])

    def mask(self, positions: Tensor, num_new: int) -> Tensor | None:
        """(T, S) True where the last `num_new` of these positions may read; None where one token may read all.

        Where each head holds tokens of its own: (KV, T, S).
        """
        if num_new == 1:
            return None
        queries = positions[-num_new:, None]
        not_later = positions <= queries
        return not_later & self.reads(queries, positions) if self.forgets else not_later

    # ---- what all kinds can do

    @property
    def forgets(self) -> bool:
        return type(self).reads is not LayerCache.reads

    def __len__(self) -> int:
        """Rows of the batch."""
        return next((buffer.shape[0] for buffer in self.buffers.values()), 0)

    @property
    def num_bytes(self) -> int:
        """Of the stored tokens."""
        return self.allocated_bytes // self._room * self.num_stored if self._room else 0

    @property
    def allocated_bytes(self) -> int:
        return sum([buffer.nbytes for buffer in self.buffers.values()])

    @torch.inference_mode(False)  # a buffer made in inference mode could not be written outside of it
    def change_buffers(self, change: Callable[[Tensor], Tensor]) -> None:
        """Replaces each buffer by `change` of it: copies, repeats or picks rows, moves to a device."""
        self.buffers = {name: change(buffer) for name, buffer in self.buffers.items()}
        for buffer in self.buffers.values():
            self._room, self._form = buffer.shape[2], (buffer.shape[0], *self._form[1:])

    def can_go_back_to(self, length: int) -> bool:
        """Is all still there that a token at position `length` would read?"""
        if not self.forgets or length >= self.seen:
            return True
        before = torch.arange(length)
        return bool(torch.isin(before[self.reads(length, before)], self.positions).all())

    def truncate(self, length: int) -> None:
        """Forgets the tokens from position `length` on, where it can go back to it."""
        if length == 0:
            self.clear()
        if self._kept is not None and length < self.seen:
            self._kept = self._kept[self._kept < length]
        self.seen = min(self.seen, length)

    def _check_form(self, batch: int, heads: int, size: int, dtype: torch.dtype) -> None:
        """Remembers the form of the first keys. Raises ValueError for later ones that differ."""
        if self._form in (None, (batch, heads, size, dtype)):
            self._form = batch, heads, size, dtype
            return
        rows, held_heads, held_size, held_dtype = self._form
        if (held_heads, held_size, held_dtype) == (heads, size, dtype):
            raise ValueError(say("engine.cache.rows", rows=rows, other=batch))
        held = {"kv_heads": held_heads, "size": held_size, "dtype": str(held_dtype)}
        other = {"other_kv_heads": heads, "other_size": size, "other_dtype": str(dtype)}
        raise ValueError(say("engine.cache.other_model", **held, **other))

    def _forget(self, query: int) -> None:
        """Drops what no query from position `query` on may read."""
        if not self.forgets:
            return
        positions = self.positions
        readable = self.reads(query, positions)
        if not readable.all():
            self._drop(readable)

    @torch.inference_mode(False)
    def _drop(self, keep: Tensor) -> None:
        """Moves the rows to keep (S,) into new buffers with room for the next token: never over what is stored."""
        places, length, room = keep.nonzero()[:, 0], int(keep.sum()), self._room

        def moved(buffer: Tensor) -> Tensor:
            shorter = torch.empty_like(buffer[:, :, : max(min(room, length + 1), 1)])
            shorter[:, :, :length] = buffer.index_select(2, places.to(buffer.device))
            self.copied_bytes += shorter[:, :, :length].nbytes
            return shorter

        self._kept = self.positions[keep]
        self.change_buffers(moved)

    @torch.inference_mode(False)
    def _make_room(self, length: int, new: dict[str, Tensor]) -> None:
        """Buffers for `length` tokens that begin with what was stored."""
        self._room, stored = self._capacity(length), self.buffers
        self.buffers = {}
        for name, rows in new.items():
            batch, heads, _, size = rows.shape
            self.buffers[name] = buffer = self._empty(name, rows, (batch, heads, self._room, size))
            if name in stored:
                buffer[:, :, : stored[name].shape[2]] = stored[name]
                self.copied_bytes += stored[name].nbytes

    def _capacity(self, length: int) -> int:
        return max(FIRST_CAPACITY, 1 << (length - 1).bit_length())

    def _empty(self, _name: str, like: Tensor, shape: tuple[int, ...]) -> Tensor:
        return like.new_empty(shape)


class ConcatenatedLayerCache(LayerCache):
    """Makes new tensors for every update and copies all rows into them, as torch.cat in transformers' DynamicLayer."""

    def _capacity(self, length: int) -> int:
        return length


class StaticLayerCache(LayerCache):
    """A buffer of `max_length` tokens, allocated whole at the first token, as CUDA graphs and fixed budgets want it."""

    def __init__(self, max_length: int) -> None:
        super().__init__()
        self.max_length = max_length

    @property
    def num_bytes(self) -> int:
        return self.allocated_bytes  # an empty place costs as much as a filled one

    def _capacity(self, length: int) -> int:
        if length > self.max_length:
            raise CacheFullError(say("engine.cache.full", size=self.max_length, count=length))
        return self.max_length


class NoCache(LayerCache):
    """Keeps nothing: every step is fed the whole text again."""

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return keys, values, torch.arange(keys.shape[2])


KINDS = {"dynamic": LayerCache, "none": NoCache, "static": StaticLayerCache}
