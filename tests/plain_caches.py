"""What each kind of cache does, said slowly: nothing is kept, the whole text is fed, and a mask built token by token
says who reads whom. They judge the kinds in playground/engine.

Shapes: KV key/value heads, T tokens of the text, S keys, D head size; one row.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from playground.engine.cache_kinds import NoCache
from playground.engine.model import rotate
from playground.engine.quantized_cache import CHANNEL


class PlainWindow(NoCache):
    """Every token reads itself and the `window - 1` before it, and the first `sinks`."""

    def __init__(self, window: int, sinks: int = 0) -> None:
        super().__init__()
        self.window, self.sinks = window, sinks

    def mask(self, positions: Tensor, num_new: int) -> Tensor:
        mask = torch.zeros(num_new, num_new, dtype=torch.bool)
        for query in range(num_new):
            for key in range(query + 1):
                mask[query, key] = query - key < self.window or key < self.sinks
        return mask


class PlainStreaming(NoCache):
    """As PlainWindow, with positions inside the cache: every query has its own copy of all keys, turned on until each
    stands as far from it as its place among those held says. Keys and values are (T x T) long."""

    def __init__(self, window: int, sinks: int, rotary: tuple[Tensor, Tensor]) -> None:
        super().__init__()
        self.window, self.sinks, self.rotary = window, sinks, rotary

    def held(self, query: int) -> list[int]:
        return [key for key in range(query + 1) if query - key < self.window or key < self.sinks]

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        num_tokens, copies = keys.shape[2], []
        for query in range(num_tokens):
            own, held = keys.clone(), self.held(query)
            for place, key in enumerate(held):
                distance = len(held) - 1 - place
                turn = query - key - distance
                cos, signed_sin = (table[turn : turn + 1] for table in self.rotary)
                own[:, :, key : key + 1] = rotate(keys[:, :, key : key + 1], cos, signed_sin)
            copies.append(own)
        return torch.cat(copies, 2), values.repeat(1, 1, num_tokens, 1), torch.arange(num_tokens)

    def mask(self, positions: Tensor, num_new: int) -> Tensor:
        mask = torch.zeros(num_new, num_new, num_new, dtype=torch.bool)
        for query in range(num_new):
            mask[query, query, self.held(query)] = True
        return mask.flatten(1)


class PlainHeavyHitters(NoCache):
    """Head by head and token by token: who has been read least leaves, the last `recent` never."""

    watches_queries = True

    def __init__(self, budget: int, recent: int) -> None:
        super().__init__()
        self.budget, self.recent = budget, recent

    def watch(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(KV, T, T)"""
        num_heads = queries.shape[1]
        group = num_heads // keys.shape[1]
        groups = [range(first, first + group) for first in range(0, num_heads, group)]
        return torch.stack([self.of_head(queries[0, list(of)], keys[0, head]) for head, of in enumerate(groups)])

    def of_head(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(T, T) of the queries (G, T, D) that read the same keys (T, D)."""
        num_tokens, size = keys.shape
        held: list[int] = []
        read = [0.0] * num_tokens
        mask = torch.zeros(num_tokens, num_tokens, dtype=torch.bool)
        for query in range(num_tokens):
            held.append(query)
            if len(held) > self.budget:
                old = [key for key in held if key <= query - self.recent]
                held.remove(min(old, key=lambda key: read[key]))
            for own in queries:
                scores = [float(own[query] @ keys[key]) / size**0.5 for key in held]
                for key, weight in zip(held, torch.tensor(scores).softmax(0).tolist(), strict=True):
                    read[key] += weight
            mask[query, held] = True
        return mask


def rounded_group(numbers: Tensor, bits: int) -> Tensor:
    """(n,) to the nearest of 2**bits numbers from the lowest to the highest, evenly spaced."""
    low, high = numbers.min(), numbers.max()
    step = (high - low) / (2**bits - 1)
    return numbers if step == 0 else low + ((numbers - low) / step).round() * step


class PlainQuantized(NoCache):
    """Reads each pass's own copy of all keys: rounded as far as whole blocks were older than the tail when it began.

    `sizes` are those of the passes. Keys and values are (passes x T) long, and the mask leaves each pass its own.
    """

    def __init__(self, sizes: Sequence[int], bits: int, block: int, tail: int, by: dict[str, str]) -> None:
        super().__init__()
        self.sizes, self.bits, self.block, self.tail, self.by = sizes, bits, block, tail, by

    def starts(self) -> list[int]:
        return [sum(self.sizes[:index]) for index in range(len(self.sizes))]

    def rounded(self, rows: Tensor, until: int, by: str) -> Tensor:
        """(1, KV, T, D) with the first `until` tokens rounded block by block."""
        made = rows.clone()
        for head in range(rows.shape[1]):
            for start in range(0, until, self.block):
                stretch = slice(start, start + self.block)
                if by == CHANNEL:
                    for place in range(rows.shape[3]):
                        made[0, head, stretch, place] = rounded_group(rows[0, head, stretch, place], self.bits)
                else:
                    for token in range(start, start + self.block):
                        made[0, head, token] = rounded_group(rows[0, head, token], self.bits)
        return made

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        untils = [max(0, start - self.tail) // self.block * self.block for start in self.starts()]
        copies = [
            torch.cat([self.rounded(rows, until, self.by[name]) for until in untils], 2)
            for name, rows in (("keys", keys), ("values", values))
        ]
        return *copies, torch.arange(keys.shape[2])

    def mask(self, positions: Tensor, num_new: int) -> Tensor:
        mask = torch.zeros(num_new, len(self.sizes) * num_new, dtype=torch.bool)
        for index, (start, size) in enumerate(zip(self.starts(), self.sizes, strict=True)):
            for query in range(start, start + size):
                mask[query, index * num_new : index * num_new + query + 1] = True
        return mask
