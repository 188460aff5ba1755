"""The models of a page whose visitors load others: each stays while somebody uses it, or while there is room."""

import gc
import threading
import time
import weakref
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from dataclasses import dataclass

import torch
from torch import nn

from playground.engine.packed import weight_bytes
from playground.models.files import CPU, ModelFileError, free_memory
from playground.models.text import LoadedModel
from playground.words import say

IN_USE_SECONDS = 200.0  # after the last request; an open page says every minute which answer it shows
MOST_LOADED = 4


@dataclass
class _Loaded:
    model: LoadedModel
    num_bytes: int
    used: float  # when it was last asked for, in seconds


class HeldModels(Mapping[str, LoadedModel]):
    """By name. Those given at the start stay; of those loaded later, the one not used for longest goes first.

    Whoever is at work with a model keeps it alive after it was let go: until that work has ended its bytes count.
    """

    def __init__(
        self, given: Mapping[str, LoadedModel], most_bytes: int | None = None, device: torch.device = CPU
    ) -> None:
        """most_bytes: of all that visitors load; half of what is free now unless given."""
        free = free_memory(device)
        self.most_bytes = most_bytes if most_bytes is not None else None if free is None else free // 2
        self._given, self._device = dict(given), device
        self._loaded: dict[str, _Loaded] = {}
        self._leaving: list[tuple[weakref.ref, int]] = []  # let go, with their bytes
        self._lock = threading.RLock()

    def __getitem__(self, name: str) -> LoadedModel:
        if name in self._given:
            return self._given[name]
        with self._lock:
            self.use(name)
            return self._loaded[name].model

    def __contains__(self, name: object) -> bool:
        return name in self._given or name in self._loaded

    def __iter__(self) -> Iterator[str]:
        return iter([*self._given, *self._loaded])

    def __len__(self) -> int:
        return len(self._given) + len(self._loaded)

    def values(self) -> ValuesView[LoadedModel]:
        """To look at only: a model that is merely listed is used by nobody."""
        return self._all().values()

    def items(self) -> ItemsView[str, LoadedModel]:
        """As `values`."""
        return self._all().items()

    def _all(self) -> dict[str, LoadedModel]:
        with self._lock:
            return self._given | {name: each.model for name, each in self._loaded.items()}

    def use(self, name: str) -> None:
        """Somebody still looks at what this model wrote."""
        with self._lock:
            if name in self._loaded:
                self._loaded[name].used = time.monotonic()

    def make_room(self, name: str, num_bytes: int) -> None:
        """Before so large a model is loaded: lets go of those that nobody uses. Raises ModelFileError."""
        with self._lock:
            while not self._has_room(num_bytes):
                self._let_go(self._unused(name, num_bytes))
            while self._needs_memory(num_bytes) and (unused := self._oldest_unused()):
                self._let_go(unused)

    def add(self, loaded: LoadedModel) -> None:
        """Raises ModelFileError where there is no room for it."""
        num_bytes = memory_of(loaded)
        with self._lock:
            self.make_room(loaded.name, num_bytes)
            self._loaded[loaded.name] = _Loaded(loaded, num_bytes, time.monotonic())

    @property
    def num_bytes(self) -> int:
        """Of all that visitors have loaded and that is still in memory."""
        self._leaving = [(model, size) for model, size in self._leaving if model() is not None]
        return sum(each.num_bytes for each in self._loaded.values()) + sum(size for _, size in self._leaving)

    def _has_room(self, num_bytes: int) -> bool:
        fits = self.most_bytes is None or self.num_bytes + num_bytes <= self.most_bytes
        return fits and len(self._loaded) < MOST_LOADED

    def _needs_memory(self, num_bytes: int) -> bool:
        free = free_memory(self._device)
        return free is not None and free < num_bytes

    def _oldest_unused(self) -> str | None:
        latest = time.monotonic() - IN_USE_SECONDS
        unused = {name: each.used for name, each in self._loaded.items() if each.used < latest}
        return min(unused, key=unused.__getitem__, default=None)

    def _unused(self, name: str, num_bytes: int) -> str:
        if self.most_bytes is not None and num_bytes > self.most_bytes:
            facts = {"name": name, "needed": num_bytes, "most": self.most_bytes}
            raise ModelFileError(say("models.held.too_large", **facts))
        unused = self._oldest_unused()
        if unused is None:
            raise ModelFileError(say("models.held.in_use", name=name))
        return unused

    def _let_go(self, name: str) -> None:
        gone = self._loaded.pop(name)
        self._leaving.append((weakref.ref(gone.model.model), gone.num_bytes))
        del gone
        gc.collect()  # modules refer to each other in circles


def memory_of(loaded: LoadedModel) -> int:
    """Bytes of the weights, and of the tables beside them."""
    module = getattr(loaded.model, "model", loaded.model)  # one of transformers is inside a decoder of ours
    if not isinstance(module, nn.Module):
        return 0
    return weight_bytes(module) + sum(table.nbytes for table in module.buffers())
