"""Caches that hold a fixed number of tokens, however long the text gets: which ones is what tells them apart.

Each gives what one would get by feeding the text token by token, whatever the size of the pieces it comes in.
Shapes: B batch rows, H query heads, KV key/value heads, G = H / KV, T new tokens, S stored tokens, D head size.
"""

import torch
from torch import Tensor

from playground.engine.arguments import whole_number
from playground.engine.cache_kinds import LayerCache
from playground.engine.model import rotate
from playground.words import say


class SlidingLayerCache(LayerCache):
    """Holds the last `window` tokens and, with `sinks`, the first ones too.

    Keys are stored after rotary and keep their positions in the text: the first tokens move away from the query.
    """

    def __init__(self, window: int, sinks: int = 0) -> None:
        self.window, self.sinks = whole_number("window", window, 1), whole_number("sinks", sinks, 0)
        super().__init__()

    def reads(self, query: int | Tensor, keys: Tensor) -> Tensor:
        return (keys > query - self.window) | (keys < self.sinks)


class StreamingLayerCache(SlidingLayerCache):
    """The first tokens and the last, at positions inside the cache (StreamingLLM, arXiv 2309.17453).

    The paper stores keys before rotary and turns them by their place in the cache, so that no distance grows beyond the
    budget. Here keys are stored after rotary. Only the distance to the first tokens would grow, so they are turned on
    when they are read: after another query they stand somewhere else, and each query of a pass has copies of its own.
    """

    def __init__(self, window: int, sinks: int, rotary: tuple[Tensor, Tensor]) -> None:
        """rotary: cosines and signed sines of the model, each (positions, D)."""
        super().__init__(window, sinks)
        self.rotary = rotary

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """S counts the copies: first those for the first query, and so on, then the window."""
        num_new = keys.shape[2]
        keys, values, positions = super().update(keys, values)
        count = int((positions < self.sinks).sum())
        turns = self._turns(self.seen - num_new, num_new)
        if not count or not turns[-1]:
            return keys, values, positions
        cos, signed_sin = (table[turns.to(table.device)].repeat_interleave(count, 0) for table in self.rotary)
        turned = rotate(keys[:, :, :count].repeat(1, 1, num_new, 1), cos.to(keys.dtype), signed_sin.to(keys.dtype))
        keys = torch.cat([turned, keys[:, :, count:]], 2)
        values = torch.cat([values[:, :, :count].repeat(1, 1, num_new, 1), values[:, :, count:]], 2)
        return keys, values, torch.cat([positions[:count].repeat(num_new), positions[count:]])

    def upcoming(self, num_new: int) -> Tensor:
        positions = super().upcoming(num_new)
        count = int((positions < self.sinks).sum())
        if not count or not self._turns(self.seen, num_new)[-1]:
            return positions
        return torch.cat([positions[:count].repeat(num_new), positions[count:]])

    def mask(self, positions: Tensor, num_new: int) -> Tensor | None:
        mask = super().mask(positions, num_new)
        copies = positions[positions < self.sinks]
        count = len(copies.unique())
        if mask is not None and len(copies) > count:
            mask[:, : len(copies)] &= torch.arange(len(copies)) // count == torch.arange(num_new)[:, None]
        return mask

    def _turns(self, start: int, num_new: int) -> Tensor:
        """(T,) by how many positions the first tokens are turned on for each of these queries."""
        return (torch.arange(start, start + num_new) + 1 - self.window - self.sinks).clamp(min=0)


class StaticSlidingLayerCache(SlidingLayerCache):
    """A window in a buffer that is allocated once: the token at position p lies in place p modulo the window.

    A new token overwrites the one that has just left the window, and no other row moves (Mistral's rolling buffer,
    arXiv 2310.06825). StaticSlidingWindowLayer of transformers moves all rows by one place instead.
    """

    def __init__(self, window: int) -> None:
        super().__init__(window)

    @property
    def num_stored(self) -> int:
        return min(self.seen, self.window)

    @property
    def positions(self) -> Tensor:
        """(S,) in the order of the places."""
        if self.seen <= self.window:
            return torch.arange(self.seen)
        last = self.seen - 1
        return last - (last - torch.arange(self.window)) % self.window

    @property
    def num_bytes(self) -> int:
        return self.allocated_bytes

    def upcoming(self, num_new: int) -> Tensor:
        if num_new == 1:
            after = StaticSlidingLayerCache(self.window)
            after.seen = self.seen + 1
            return after.positions
        return torch.arange(max(0, self.seen - self.window + 1), self.seen + num_new)

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        batch, heads, num_new, size = keys.shape
        self._check_form(batch, heads, size, keys.dtype)
        if not self._room:
            self._make_room(self.window, {"keys": keys, "values": values})
        if num_new > 1:
            return self._update_with_several(keys, values)
        for name, rows in (("keys", keys), ("values", values)):
            # Over a row that no query can read any more: if the pass fails, nothing is lost.
            self.buffers[name].narrow(2, self.seen % self.window, 1).copy_(rows)
        self.seen += 1
        return *self.stored(), self.positions

    @torch.inference_mode(False)
    def _update_with_several(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Into a new buffer: earlier queries of these tokens still read what the later ones overwrite."""
        positions = self.upcoming(keys.shape[2])
        held = positions[positions < self.seen] % self.window
        places = positions[-self.window :] % self.window
        read, moved = [], {}
        for name, rows in (("keys", keys), ("values", values)):
            buffer = self.buffers[name]
            read.append(torch.cat([buffer[:, :, held.to(buffer.device)], rows], 2))
            moved[name] = torch.empty_like(buffer)
            moved[name][:, :, places.to(buffer.device)] = read[-1][:, :, -self.window :]
            self.copied_bytes += buffer[:, :, : len(held)].nbytes
        self.buffers = moved
        self.seen += keys.shape[2]
        return *read, positions

    def can_go_back_to(self, length: int) -> bool:
        return length == 0 or length >= self.seen or self.seen < self.window

    def _capacity(self, _length: int) -> int:
        return self.window


class HeavyHitterLayerCache(LayerCache):
    """Each head holds `budget` tokens: the last `recent`, and of those before them the ones that have been read most
    (H2O, arXiv 2306.14048).

    What a token has been read is the sum of the attention weights that the head's queries have given it. When a token
    comes and there is no room, the one read least leaves. As in the paper each head chooses for itself; where query
    heads share keys and values, which the paper's models do not, their weights are added up and they choose together,
    since they share the row. One row of a batch only: others would choose others.
    """

    watches_queries = True

    def __init__(self, budget: int, recent: int) -> None:
        self.recent = whole_number("recent", recent, 1)
        self.budget = whole_number("budget", budget, self.recent)
        super().__init__()

    def clear(self) -> None:
        super().clear()
        self._watched = 0  # tokens whose queries have been seen

    @property
    def forgets(self) -> bool:
        return True

    def encode(self, name: str, rows: Tensor) -> dict[str, Tensor]:
        """With the keys, a place for what the token will have been read: the kind pays for that number too."""
        more = {"attention": rows.new_zeros(*rows.shape[:3], 1, dtype=torch.float32)} if name == "keys" else {}
        return {name: rows} | more

    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        if keys.shape[0] > 1:
            raise ValueError(say("engine.cache.one_row", count=keys.shape[0]))
        if self._watched < self.seen:
            raise ValueError(say("engine.cache.unwatched"))
        return super().update(keys, values)

    @torch.inference_mode(False)
    def watch(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(KV, T, S) what each of the new tokens may read; what none of those to come may read is forgotten afterwards.

        queries (1, H, T, D) and keys (1, KV, S, D) as attention reads them.
        """
        num_heads, (_, _, num_new, size) = keys.shape[1], queries.shape
        grouped = queries[0].unflatten(0, (num_heads, -1))  # (KV, G, T, D)
        scores = grouped @ keys[0, :, None].transpose(-2, -1) / size**0.5  # (KV, G, T, S)
        positions = self.positions.to(keys.device).expand(num_heads, -1)  # (KV, S)
        held = positions < self.seen - num_new  # (KV, S) by the token of this turn, as many in each head
        attention = self.buffers["attention"].clone()
        read = attention[0, :, : positions.shape[1], 0]  # (KV, S) a view
        rows = []
        for turn in range(num_new):
            query = self.seen - num_new + turn
            held = held | (positions == query)
            if int(held[0].sum()) > self.budget:
                may_leave = held & (positions <= query - self.recent)
                leaving = read.masked_fill(~may_leave, torch.inf).argmin(-1, keepdim=True)
                held = held.scatter(-1, leaving, False)
            weights = scores[:, :, turn].masked_fill(~held[:, None], -torch.inf).softmax(-1)  # (KV, G, S)
            read += weights.float().sum(1)
            rows.append(held)
        self.buffers = {**self.buffers, "attention": attention}
        self._watched = self.seen
        if not held.all():
            self._drop(held.cpu())
        return torch.stack(rows, 1)

    @torch.inference_mode(False)
    def _drop(self, keep: Tensor) -> None:
        """The rows to keep (KV, S), as many in each head."""
        places = keep.nonzero()[:, 1].view(len(keep), -1)  # (KV, kept)
        length, room = places.shape[1], self._room

        def moved(buffer: Tensor) -> Tensor:
            shorter = torch.empty_like(buffer[:, :, : max(min(room, length + 1), 1)])
            index = places.to(buffer.device)[None, :, :, None].expand(-1, -1, -1, buffer.shape[3])
            shorter[:, :, :length] = buffer.gather(2, index)
            self.copied_bytes += shorter[:, :, :length].nbytes
            return shorter

        self._kept = self.positions.expand(len(keep), -1).gather(1, places)
        self.change_buffers(moved)

    def mask(self, positions: Tensor, num_new: int) -> Tensor | None:
        return None  # `watch` gives it

    def upcoming(self, num_new: int) -> Tensor:
        """(S,) or (KV, S)."""
        new = torch.arange(self.seen, self.seen + num_new)
        return torch.cat([self.positions, new.expand(*self.positions.shape[:-1], -1)], -1)

    def can_go_back_to(self, length: int) -> bool:
        return length == 0 or length >= self.seen

    def _forget(self, query: int) -> None:
        """`watch` does."""
