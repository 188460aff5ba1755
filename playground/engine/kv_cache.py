"""What a decoder keeps between steps: the keys and values of the tokens seen, layer by layer.

Shapes: B batch rows, KV key/value heads, T new tokens, S stored tokens, D head size. Method names follow the Cache
protocol of transformers, so that its models accept these caches too.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from playground.engine.arguments import shown, whole_number, whole_numbers
from playground.engine.cache_kinds import KINDS, LayerCache, NoCache, StaticLayerCache
from playground.words import say


class KVCache:
    """One request's cache: a LayerCache for each layer, and the token ids that they hold.

    `position` is a plain int: how many tokens have been seen, and so the position of the next one.
    """

    def __init__(
        self, num_layers: int, kind: str | LayerCache | Sequence[LayerCache] = "dynamic", max_length: int | None = None
    ) -> None:
        """kind: one of KINDS, a layer (or its class) that all are like, or one for each layer; max_length in tokens."""
        num_layers = whole_number("num_layers", num_layers)
        is_one = isinstance(kind, str | type | LayerCache)
        kinds = [_layer(kind, max_length)] * num_layers if is_one else [_layer(one, max_length) for one in kind]
        if len(kinds) != num_layers:
            raise ValueError(say("engine.cache.kinds", kinds=len(kinds), layers=num_layers))
        if len({isinstance(layer, NoCache) for layer in kinds}) > 1:
            raise ValueError(say("engine.cache.mixed"))
        self.layers = [copy.copy(layer) for layer in kinds]
        self.reset()

    @classmethod
    def of(cls, model, kind: str | LayerCache | Sequence[LayerCache] = "dynamic", max_length: int | None = None):
        """An empty cache with as many layers as the model."""
        return cls(model.config.num_layers, kind, max_length)

    @property
    def position(self) -> int:
        return self.layers[0].seen if self.layers else 0

    def places(self, num_new: int) -> slice:
        """The positions of the next `num_new` tokens."""
        return slice(self.position, self.position + num_new)

    @property
    def max_length(self) -> int | None:
        """Tokens that it can take in; None: as many as come."""
        return min((layer.max_length for layer in self.layers if layer.max_length is not None), default=None)

    @property
    def num_bytes(self) -> int:
        """Bytes of all layers: what holds tokens, and for a static cache the whole buffer."""
        return sum(self.bytes_per_layer())

    @property
    def allocated_bytes(self) -> int:
        return sum(layer.allocated_bytes for layer in self.layers)

    def bytes_per_layer(self) -> list[int]:
        return [layer.num_bytes for layer in self.layers]

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """If anything ends the `with` early, an interrupt too, the cache is left as it was."""
        before, told = [dict(vars(layer)) for layer in self.layers], self.told
        try:
            yield
        except BaseException:  # passes never write over what is stored, so what there was is all there
            for layer, state in zip(self.layers, before, strict=True):
                vars(layer).update(state)
            self.told = told
            raise

    @contextmanager
    def one_pass(self, token_ids: Tensor) -> Iterator[None]:
        """Around a pass of a model over these ids (B, T): all or nothing, and the cache learns what it holds."""
        start, known = self.position, self.num_told
        with self.all_or_nothing():
            yield
        if known == start < self.position:  # else this kind keeps nothing, or somebody has not told what it holds
            few = self.told if len(self.told) < 64 else (self.token_ids,)
            self.told = (*few, token_ids.detach().cpu().clone())

    @property
    def num_told(self) -> int:
        return sum([ids.shape[1] for ids in self.told])

    @property
    def token_ids(self) -> Tensor:
        """(B, tokens seen) what it holds, as far as it was told."""
        return torch.cat(self.told, 1) if self.told else torch.empty(0, 0, dtype=torch.long)

    def keep_common(self, token_ids: Sequence[int]) -> int:
        """Keeps what it holds of the beginning of this text and drops the rest. Returns how many tokens it holds now.

        At least the last token of the text is left to be fed. Raises ValueError for a batch of rows, and where it was
        filled without being told with what.
        """
        rows = self.token_ids.tolist()
        if self.num_told != self.position:
            raise ValueError(say("engine.cache.unknown_text", count=self.position, known=self.num_told))
        if len(rows) > 1:
            raise ValueError(say("engine.cache.texts", count=len(rows)))
        held = rows[0] if rows else []
        most = min(len(held), max(len(token_ids) - 1, 0))
        common = next((place for place in range(most) if held[place] != token_ids[place]), most)
        if common < self.position:
            # What a forgetting kind has dropped can't be had back: then it begins anew.
            self.truncate(common if all(layer.can_go_back_to(common) for layer in self.layers) else 0)
        return self.position

    def update(self, keys: Tensor, values: Tensor, layer_idx: int, *_unused, **_also) -> tuple[Tensor, Tensor]:
        """(B, KV, T, D) in, (B, KV, S, D) out. Further arguments of transformers' protocol are not needed here."""
        if layer_idx >= len(self.layers):
            raise ValueError(say("engine.cache.layer", layers=len(self.layers), number=layer_idx + 1))
        return self.layers[layer_idx].update(keys, values)[:2]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.layers[layer_idx].seen

    def get_query_offset(self, layer_idx: int = 0) -> int:
        """The position of the first new token."""
        return self.layers[layer_idx].seen

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """(S, position of the first key): transformers assumes that the keys are consecutive."""
        layer = self.layers[layer_idx]
        positions = layer.upcoming(query_length)
        if query_length == 1 or not layer.forgets:
            return len(positions), layer.seen + query_length - len(positions)
        raise ValueError(say("engine.cache.mask"))

    def clone(self, rows: Sequence[int] | None = None) -> "KVCache":
        """A copy; with `rows`, only these rows, in this order."""
        twin = copy.copy(self)
        twin.layers = [copy.copy(layer) for layer in self.layers]
        if rows is None:
            twin.change_buffers(torch.clone)
        else:
            twin._pick(whole_numbers("rows", rows))
        return twin

    def reset(self) -> None:
        """Empty, as for a new prompt."""
        self.told: tuple[Tensor, ...] = ()  # token ids (B, T), pass by pass
        for layer in self.layers:
            layer.clear()

    def truncate(self, length: int) -> None:
        """Forgets all tokens from position `length` on. (`crop` of transformers counts from the end.)

        Raises ValueError where earlier ones are gone already, and then changes nothing.
        """
        length = whole_number("length", length)
        if not all(layer.can_go_back_to(length) for layer in self.layers):
            raise ValueError(say("engine.cache.forgot", length=length))
        for layer in self.layers:
            layer.truncate(length)
        self.told = (self.token_ids[:, :length],) if length else ()

    def select_rows(self, rows: Sequence[int]) -> None:
        """Keeps these rows, in this order: drops finished ones, repeats, or reorders. All or nothing."""
        rows_now = max((len(layer) for layer in self.layers), default=0)
        picked = whole_numbers("rows", rows, 0, rows_now - 1 if rows_now else None)
        if not picked:
            raise ValueError(say("engine.cache.no_rows"))
        moved = [row for row, source in enumerate(picked) if row != source]
        with self.all_or_nothing():
            if 2 * len(moved) > len(picked) or len(picked) > rows_now:
                self._pick(picked)
            else:
                self._move(picked, moved)

    def _pick(self, rows: list[int], change: Callable[[Tensor], Tensor] | None = None) -> None:
        index = torch.tensor(rows)  # index_select is five times as quick as buffer[rows]
        self.change_buffers(change or (lambda buffer: buffer.index_select(0, index.to(buffer.device))))
        self.told = (self.token_ids.index_select(0, index),) if self.told else ()

    def _move(self, rows: list[int], moved: list[int]) -> None:
        """As `_pick`, where most rows stay in their places: a long past is not copied."""
        places, sources = torch.tensor(moved, dtype=torch.long), torch.tensor([rows[row] for row in moved])
        overwritten: list[tuple[Tensor, Tensor]] = []

        def move(buffer: Tensor) -> Tensor:
            if moved:
                at = places.to(buffer.device)
                taken = buffer.index_select(0, sources.to(buffer.device))
                overwritten.append((buffer, buffer.index_select(0, at)))
                buffer.index_copy_(0, at, taken)
            return buffer[: len(rows)]

        try:
            self._pick(rows, move)
        except BaseException:
            for buffer, before in overwritten:
                buffer.index_copy_(0, places.to(buffer.device), before)
            raise

    def change_buffers(self, change: Callable[[Tensor], Tensor]) -> None:
        """Of every layer."""
        for layer in self.layers:
            layer.change_buffers(change)


def _layer(kind: str | type[LayerCache] | LayerCache, max_length: int | None) -> LayerCache:
    if isinstance(kind, type) and issubclass(kind, LayerCache):
        kind = kind()
    if isinstance(kind, LayerCache):
        if max_length is not None:
            raise ValueError(say("engine.cache.max_length"))
        return kind
    if kind not in KINDS:
        raise ValueError(say("engine.cache.kind", kinds=", ".join(KINDS), value=shown(kind)))
    if (kind == "static") != (max_length is not None):
        raise ValueError(say("engine.cache.max_length"))
    return KINDS[kind]() if max_length is None else StaticLayerCache(whole_number("max_length", max_length, 1))
