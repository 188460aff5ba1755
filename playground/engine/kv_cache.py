"""What a decoder keeps between steps: the keys and values of every token seen, layer by layer.

Shapes: B batch rows, KV key/value heads, T new tokens, S stored tokens, D head size; keys are stored after rotary.
Method names follow the Cache protocol of transformers, so that its models accept these caches too.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

FIRST_CAPACITY = 64  # tokens; a growing buffer doubles from here


class CacheFullError(ValueError):
    """A fixed buffer has no room for the tokens offered; nothing was stored."""


class LayerCache:
    """Grows: keeps every token in a buffer that doubles when full, so that a token costs one row, not a copy of all."""

    def __init__(self) -> None:
        self.length = 0
        self._keys: Tensor | None = None  # (B, KV, capacity, D)
        self._values: Tensor | None = None

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Stores the T new rows; returns all S, the new ones last. They are views: read them before the next update."""
        num_new = keys.shape[2]
        self._reserve(self.length + num_new, keys, values)
        self._keys.narrow(2, self.length, num_new).copy_(keys)
        self._values.narrow(2, self.length, num_new).copy_(values)
        self.length += num_new
        return self.stored()

    def stored(self) -> tuple[Tensor, Tensor]:
        """(B, KV, S, D) keys and values."""
        return self._keys.narrow(2, 0, self.length), self._values.narrow(2, 0, self.length)

    @property
    def num_bytes(self) -> int:
        return 0 if self._keys is None else self.allocated_bytes // self._keys.shape[2] * self.length

    @property
    def allocated_bytes(self) -> int:
        return 0 if self._keys is None else self._keys.nbytes + self._values.nbytes

    def crop(self, length: int) -> None:
        self.length = min(self.length, length)

    def map_rows(self, change: Callable[[Tensor], Tensor]) -> None:
        """Replaces both buffers by `change` of them: clones, repeats or picks rows."""
        if self._keys is not None:
            self._keys, self._values = change(self._keys), change(self._values)

    def _reserve(self, length: int, keys: Tensor, values: Tensor) -> None:
        if self._keys is None:
            self._keys, self._values = self._longer(keys[:, :, :0], length), self._longer(values[:, :, :0], length)
        elif keys.shape[0] != self._keys.shape[0]:
            raise ValueError(f"the cache holds {self._keys.shape[0]} rows, got keys of {keys.shape[0]}")
        elif length > self._keys.shape[2]:
            self._keys, self._values = self._longer(self._keys, length), self._longer(self._values, length)

    @torch.inference_mode(False)  # a buffer made in inference mode could not be written outside of it
    def _longer(self, stored: Tensor, length: int) -> Tensor:
        """A buffer with room for `length` tokens that begins with `stored`."""
        rows, heads, old, size = stored.shape
        buffer = stored.new_empty(rows, heads, self._capacity(length), size)
        buffer.narrow(2, 0, old).copy_(stored)
        return buffer

    def _capacity(self, length: int) -> int:
        capacity = FIRST_CAPACITY
        while capacity < length:
            capacity *= 2
        return capacity


class StaticLayerCache(LayerCache):
    """A buffer of `max_length` tokens, allocated whole at the first token, as CUDA graphs and fixed budgets want it."""

    def __init__(self, max_length: int) -> None:
        super().__init__()
        self.max_length = max_length

    @property
    def num_bytes(self) -> int:
        return self.allocated_bytes  # an empty place costs as much as a filled one

    def _capacity(self, length: int) -> int:
        return self.max_length

    def _reserve(self, length: int, keys: Tensor, values: Tensor) -> None:
        if length > self.max_length:
            raise CacheFullError(
                f"a static cache of {self.max_length} tokens cannot take {length}: "
                "make max_length larger or ask for fewer tokens"
            )
        super()._reserve(length, keys, values)


class NoCache(LayerCache):
    """Keeps nothing: every step is fed the whole text again."""

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        return keys, values


KINDS = ("dynamic", "none", "static")


class KVCache:
    """One request's cache, a LayerCache for each layer.

    `position` is a plain int: how many tokens have been seen, and so the position of the next one.
    """

    def __init__(self, num_layers: int, kind: str = "dynamic", max_length: int | None = None) -> None:
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        if (kind == "static") != (max_length is not None):
            raise ValueError("max_length goes with kind='static', and only with it")
        if max_length is not None and max_length < 1:
            raise ValueError(f"max_length must be at least 1, got {max_length}")
        make = {"dynamic": LayerCache, "none": NoCache, "static": lambda: StaticLayerCache(max_length)}[kind]
        self.kind = kind
        self.max_length = max_length
        self.layers = [make() for _ in range(num_layers)]

    @property
    def position(self) -> int:
        return self.layers[0].length

    @property
    def num_bytes(self) -> int:
        """Bytes of all layers: what holds tokens, and for a static cache the whole buffer."""
        return sum(self.bytes_per_layer())

    @property
    def allocated_bytes(self) -> int:
        return sum(layer.allocated_bytes for layer in self.layers)

    def bytes_per_layer(self) -> list[int]:
        return [layer.num_bytes for layer in self.layers]

    def update(self, keys: Tensor, values: Tensor, layer_idx: int, *_unused, **_also) -> tuple[Tensor, Tensor]:
        """(B, KV, T, D) in, (B, KV, S, D) out. Further arguments of transformers' protocol are not needed here."""
        return self.layers[layer_idx].update(keys, values)

    def key_positions(self, num_new: int) -> Tensor:
        """(S,) the position of each key that `update` will return for `num_new` new tokens."""
        return torch.arange(self.position + num_new)

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.layers[layer_idx].length

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """The position of the first new token."""
        return self.layers[layer_idx].length

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """(S, position of the first key), as transformers builds its mask."""
        return self.layers[layer_idx].length + query_length, 0

    def clone(self) -> "KVCache":
        twin = KVCache(len(self.layers), self.kind, self.max_length)
        for ours, theirs in zip(self.layers, twin.layers, strict=True):
            theirs.length, theirs._keys, theirs._values = ours.length, ours._keys, ours._values
            theirs.map_rows(torch.clone)
        return twin

    def reset(self) -> None:
        """Empty, as for a new prompt."""
        self.layers = KVCache(len(self.layers), self.kind, self.max_length).layers

    def crop(self, length: int) -> None:
        """Forgets all tokens from position `length` on."""
        for layer in self.layers:
            layer.crop(length)

    def expand_rows(self, count: int) -> None:
        """One row becomes `count` rows that share a past: prefill once, answer many times."""
        for layer in self.layers:
            layer.map_rows(lambda tensor: tensor.repeat_interleave(count, dim=0))

    def select_rows(self, rows: Sequence[int]) -> None:
        """Keeps these rows, in this order: drops finished ones, or reorders."""
        for layer in self.layers:
            layer.map_rows(lambda tensor: tensor[list(rows)])
