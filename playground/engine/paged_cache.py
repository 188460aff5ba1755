"""Keys and values in blocks of a few tokens, which texts may share (PagedAttention of vLLM, arXiv 2309.06180).

A cache has a block table: which blocks hold its tokens, in order. Two texts that begin alike use the same blocks, and
who writes into a block that others use copies it first. A block is found again by all tokens up to its end, so a block
after another beginning is another block, and a block that is not full is never found.

Shapes: B batch rows (one here), KV key/value heads, P tokens in a block, T new tokens, S stored tokens, D head size.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakSet, ref

import torch
from torch import Tensor

from playground.engine.arguments import whole_number, whole_numbers
from playground.engine.cache_kinds import LayerCache
from playground.engine.kv_cache import KVCache
from playground.words import say


class Block:
    """Room for P tokens in every layer: `layers[layer]` is {"keys", "values"}, each (1, KV, P, D)."""

    def __init__(self, layers: list[dict[str, Tensor]]) -> None:
        self.layers = layers

    @property
    def num_bytes(self) -> int:
        return sum(tensor.nbytes for layer in self.layers for tensor in layer.values())


class BlockPool:
    """All blocks of a model, and the caches that use them."""

    def __init__(self, num_layers: int, block_size: int = 16) -> None:
        self.num_layers, self.block_size = num_layers, whole_number("block_size", block_size, 1)
        self.caches: WeakSet[PagedCache] = WeakSet()
        self.known: dict[tuple[int, ...], Block] = {}  # full blocks, by all token ids up to their end
        self.copied_bytes = 0  # by copy on write

    def cache(self, token_ids: Sequence[int] = ()) -> "PagedCache":
        """For a text: with the whole blocks of its beginning that are known already, at most all but its last token."""
        ids, table = tuple(whole_numbers("token_ids", token_ids)), []
        for end in range(self.block_size, len(ids), self.block_size):
            if ids[:end] not in self.known:
                break
            table.append(self.known[ids[:end]])
        return PagedCache(self, table, ids[: len(table) * self.block_size])

    def users(self, block: Block) -> int:
        """Caches whose table has it, and the pool itself where it can be found again."""
        return sum(block in cache.table for cache in self.caches) + (block in self.known.values())

    @property
    def blocks(self) -> list[Block]:
        """Each once."""
        tables = [block for cache in self.caches for block in cache.table]
        return list(dict.fromkeys([*tables, *self.known.values()]))

    @property
    def num_bytes(self) -> int:
        return sum(block.num_bytes for block in self.blocks)

    def forget_unused(self) -> None:
        """Drops the blocks that no cache has in its table."""
        used = {block for cache in self.caches for block in cache.table}
        self.known = {ids: block for ids, block in self.known.items() if block in used}


class PagedCache(KVCache):
    """One text. Its layers read and write the blocks of `table`."""

    def __init__(self, pool: BlockPool, table: Sequence[Block] = (), token_ids: Sequence[int] = ()) -> None:
        self.pool, self._begins_with = pool, (list(table), tuple(token_ids))
        super().__init__(pool.num_layers, [PagedLayer(self, layer) for layer in range(pool.num_layers)])
        self._take(*self._begins_with)
        pool.caches.add(self)

    def _take(self, table: Sequence[Block], token_ids: Sequence[int]) -> None:
        self.table = list(table)
        self.told = (torch.tensor([token_ids]),) if token_ids else ()
        for layer in self.layers:
            layer.seen = len(token_ids)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        table = self.table
        try:
            with super().all_or_nothing():
                yield
        except BaseException:
            self.table = table
            raise

    @contextmanager
    def one_pass(self, token_ids: Tensor) -> Iterator[None]:
        with super().one_pass(token_ids):
            yield
        if self.num_told != self.position:
            return
        ids, size = tuple(self.token_ids[0].tolist()), self.pool.block_size
        for index in range((self.position - token_ids.shape[1]) // size, self.position // size):
            self.pool.known.setdefault(ids[: (index + 1) * size], self.table[index])

    def writable(self, start: int, num_new: int, like: Tensor) -> list[Block]:
        """The table, with room for the tokens from position `start` on in blocks that nobody else reads."""
        size = self.pool.block_size
        table = list(self.table[: -(-start // size)])
        if start % size and self.pool.users(table[-1]) > 1:
            shared = table[-1]
            table[-1] = Block([{name: rows.clone() for name, rows in layer.items()} for layer in shared.layers])
            self.pool.copied_bytes += shared.num_bytes
        while len(table) * size < start + num_new:
            shape = 1, like.shape[1], size, like.shape[3]
            layers = range(self.pool.num_layers)
            table.append(Block([{name: like.new_zeros(shape) for name in ("keys", "values")} for _ in layers]))
        self.table = table
        return table

    def clone(self, rows: Sequence[int] | None = None) -> "PagedCache":
        """Shares all blocks."""
        if rows is not None and whole_numbers("rows", rows) != [0]:
            raise ValueError(say("engine.cache.one_row", count=len(rows)))
        twin = PagedCache(self.pool)
        twin._take(self.table, self.token_ids[0].tolist() if self.told else ())
        return twin

    def reset(self) -> None:
        self.table: list[Block] = []
        super().reset()

    def truncate(self, length: int) -> None:
        super().truncate(length)
        self.table = self.table[: -(-self.position // self.pool.block_size)]

    def select_rows(self, rows: Sequence[int]) -> None:
        if whole_numbers("rows", rows) != [0]:
            raise ValueError(say("engine.cache.one_row", count=len(rows)))


class PagedLayer(LayerCache):
    """One layer of a text in blocks. Attention of this project reads keys in one piece, so it copies them together; the
    kernels of a server read the blocks where they lie."""

    def __init__(self, cache: PagedCache, layer: int) -> None:
        self._cache, self.layer = ref(cache), layer  # a circle would keep blocks in use until it is looked for
        super().__init__()

    @property
    def cache(self) -> PagedCache:
        return self._cache()

    @property
    def num_bytes(self) -> int:
        """Of its blocks, shared or not, with the room in the last one."""
        return sum(rows.nbytes for block in self.cache.table for rows in block.layers[self.layer].values())

    allocated_bytes = num_bytes

    @torch.inference_mode(False)
    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, heads, num_new, size = keys.shape
        if batch > 1:
            raise ValueError(say("engine.cache.one_row", count=batch))
        self._check_form(batch, heads, size, keys.dtype)
        is_first = self.layer == 0  # it makes room for all layers
        table = self.cache.writable(self.seen, num_new, keys) if is_first else self.cache.table
        for name, rows in (("keys", keys), ("values", values)):
            for place in range(num_new):
                block, within = divmod(self.seen + place, self.cache.pool.block_size)
                table[block].layers[self.layer][name][:, :, within] = rows[:, :, place]
        self.seen += num_new
        return *self.stored(), self.positions

    def stored(self) -> tuple[Tensor, Tensor]:
        if not self.cache.table:
            raise ValueError(say("engine.cache.empty"))
        blocks = [block.layers[self.layer] for block in self.cache.table]
        return tuple(torch.cat([block[name] for block in blocks], 2)[:, :, : self.seen] for name in ("keys", "values"))

    def __len__(self) -> int:
        return 1 if self.seen else 0
