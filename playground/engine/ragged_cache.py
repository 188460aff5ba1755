"""Keys and values of several texts of different lengths, a row each: slot n of a row holds its token at position n.

So no text is padded in front, and a row comes and goes without moving the others. A mask hides what lies behind the end
of a shorter text. Shapes: B rows, KV key/value heads, T tokens of one text, S slots, D head size.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from playground.engine.cache_kinds import FIRST_CAPACITY
from playground.engine.kv_cache import KVCache


class RaggedLayer:
    """One layer of all rows; the model asks for `update` and `mask`."""

    watches_queries = False

    def __init__(self, cache: "RaggedCache") -> None:
        self.cache = cache
        self.buffers: list[Tensor] = []  # keys and values: (rows, KV, slots, D), as many as there is room for
        self.bytes_a_token = 0

    def update(self, *new: Tensor) -> tuple[Tensor, Tensor, None]:
        """Stores keys and values (B, KV, 1, D) of one token a row. Returns those of all tokens, (B, KV, S, D)."""
        num_rows, num_slots = len(self.cache), self.cache.position + 1
        for buffer, rows in zip(self.buffers, new, strict=True):
            buffer[self.cache.ends] = rows[:, :, 0]
        keys, values = [buffer[:num_rows, :, :num_slots] for buffer in self.buffers]
        return keys, values, None

    def mask(self, _positions: None, _num_new: int) -> Tensor:
        return self.cache.filled

    def write(self, row: int, *text: Tensor) -> None:
        """Keys and values (1, KV, T, D) of a whole text."""
        if not self.buffers:
            self.buffers = [rows[:, :, :0] for rows in text]
            self.bytes_a_token = sum(rows[0, :, 0].nbytes for rows in text)
        self.make_room(row + 1, text[0].shape[2])
        for buffer, rows in zip(self.buffers, text, strict=True):
            buffer[row, :, : rows.shape[2]] = rows[0]

    @torch.inference_mode(False)  # a buffer made in inference mode could not be written outside of it
    def make_room(self, num_rows: int, num_slots: int) -> None:
        rows, heads, slots, size = self.buffers[0].shape
        if num_rows > rows or num_slots > slots:
            shape = max(num_rows, rows), heads, max(FIRST_CAPACITY, slots, 1 << (num_slots - 1).bit_length()), size
            held, self.buffers = self.buffers, [buffer.new_zeros(shape) for buffer in self.buffers]  # numbers, not NaN
            for buffer, old in zip(self.buffers, held, strict=True):
                buffer[:rows, :, :slots] = old


class RaggedCache:
    """Takes in whole caches and gives them back; between, each pass adds one token to every row."""

    def __init__(self, num_layers: int) -> None:
        self.layers = [RaggedLayer(self) for _ in range(num_layers)]
        self.texts: list[list[int]] = []  # the token ids that each row holds

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def position(self) -> int:
        """Of the next token of the longest text."""
        return max(map(len, self.texts), default=0)

    def places(self, _num_new: int) -> Tensor:
        """(B, 1, 1) the position of each row's new token."""
        return self.lengths[:, None, None]

    def add(self, cache: KVCache) -> None:
        """The text of a cache that keeps all tokens becomes the last row."""
        for layer, full in zip(self.layers, cache.layers, strict=True):
            layer.write(len(self), *full.stored())
        self.texts.append(cache.token_ids[0].tolist())

    def remove(self, row: int, cache: KVCache) -> None:
        """Gives a cache that holds the beginning of the row's text the rest. The last row moves into its place."""
        text, last, start = self.texts[row], len(self) - 1, cache.position
        if start < len(text):
            with cache.one_pass(torch.tensor([text[start:]])):
                for layer, own in zip(self.layers, cache.layers, strict=True):
                    own.update(*[buffer[row : row + 1, :, start : len(text)] for buffer in layer.buffers])
        for buffer in [buffer for layer in self.layers for buffer in layer.buffers]:
            buffer[row] = buffer[last]
            buffer[last] = 0  # NaN would reach through the mask: 0 times NaN is NaN
        self.texts[row] = self.texts[last]
        self.texts.pop()

    def bytes_per_layer(self, num_tokens: int) -> list[int]:
        """That one row with so many tokens holds."""
        return [num_tokens * layer.bytes_a_token for layer in self.layers]

    @contextmanager
    def one_pass(self, token_ids: Tensor) -> Iterator[None]:
        """Around a pass of a model over one token a row (B, 1); one that fails leaves the rows as they were."""
        lengths, device = torch.tensor([len(text) for text in self.texts]), token_ids.device
        filled = torch.arange(self.position + 1) <= lengths[:, None]  # (B, S), with the new token
        self.filled = filled[:, None, None].to(device)
        self.lengths = lengths.to(device)
        self.ends = torch.arange(len(self), device=device), slice(None), self.lengths
        for layer in self.layers:
            layer.make_room(len(self), self.position + 1)
        yield
        for text, [token_id] in zip(self.texts, token_ids.tolist(), strict=True):
            text.append(token_id)
