"""Caches whose rows lie somewhere else: spread over several devices, or in a file.

Shapes: B batch rows, KV key/value heads, T new tokens, S stored tokens, D head size.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from playground.engine.arguments import whole_number
from playground.engine.cache_kinds import LayerCache
from playground.words import say


class ShardedLayerCache(LayerCache):
    """Each of `devices` pretend devices stores some of the KV heads, as in tensor parallelism (arXiv 1909.08053).

    A device stores whole heads. Where there are more devices than heads, several store the same one: then all devices
    together hold more than one would.
    """

    def __init__(self, devices: int) -> None:
        self.devices = whole_number("devices", devices, 1)
        super().__init__()

    def heads_of(self, device: int, num_heads: int) -> range:
        """Raises ValueError where heads and devices don't divide."""
        if num_heads % self.devices and self.devices % num_heads:
            raise ValueError(say("engine.cache.devices", devices=self.devices, heads=num_heads))
        first = device * num_heads // self.devices
        return range(first, first + max(1, num_heads // self.devices))

    def encode(self, name: str, rows: Tensor) -> dict[str, Tensor]:
        shares = (self.heads_of(device, rows.shape[1]) for device in range(self.devices))
        return {f"{name}_{device}": rows[:, heads.start : heads.stop] for device, heads in enumerate(shares)}

    def decode(self, name: str, stored: dict[str, Tensor]) -> Tensor:
        """Only for this pretence: a real device reads its own heads, with the queries that belong to them."""
        copies = max(1, self.devices // self._form[1])
        return torch.cat([stored[f"{name}_{device}"] for device in range(0, self.devices, copies)], 1)

    def bytes_of(self, device: int) -> int:
        """Of the stored tokens."""
        buffers = [self.buffers[f"{name}_{device}"] for name in ("keys", "values")] if self.buffers else []
        return sum(buffer[:, :, : self.num_stored].nbytes for buffer in buffers)


@dataclass(frozen=True)
class Split:
    """A cache over several devices: what each holds, and what must travel between them for one new token."""

    bytes_per_device: list[int]
    travelling_bytes: int  # sent by all devices together


def split_by_heads(layers: list[ShardedLayerCache], hidden_size: int, bytes_per_number: int) -> Split:
    """Every device works on every layer. Its heads add to the hidden vector, and so does its part of the feed-forward:
    two sums over all devices in each layer. A ring of n devices sends 2 (n - 1) vectors for one sum. No key travels."""
    devices = layers[0].devices
    held = [sum(layer.bytes_of(device) for layer in layers) for device in range(devices)]
    return Split(held, len(layers) * 2 * 2 * (devices - 1) * hidden_size * bytes_per_number)


def split_by_layers(layers: list[LayerCache], devices: int, hidden_size: int, bytes_per_number: int) -> Split:
    """Each device has some of the layers, in order, with their caches: the hidden vector goes from one to the next, and
    only one of them works at a time. No key travels."""
    held = [0] * devices
    for index, layer in enumerate(layers):
        held[index * devices // len(layers)] += layer.num_bytes
    return Split(held, (min(devices, len(layers)) - 1) * hidden_size * bytes_per_number)


class OffloadedLayerCache(LayerCache):
    """Keeps its rows in memory-mapped files: the operating system reads a page of them when it is needed.

    The files go when the layer does.
    """

    def clear(self) -> None:
        super().clear()
        self._folder = TemporaryDirectory(prefix="kv-cache-", ignore_cleanup_errors=True)
        self._num_files = 0

    @torch.inference_mode(False)
    def change_buffers(self, change: Callable[[Tensor], Tensor]) -> None:
        """Into new files, which belong to this layer alone."""
        self._folder = TemporaryDirectory(prefix="kv-cache-", ignore_cleanup_errors=True)

        def in_a_file(buffer: Tensor) -> Tensor:
            changed = change(buffer)
            return self._empty("", changed, changed.shape).copy_(changed)

        super().change_buffers(in_a_file)

    def files(self) -> list[Path]:
        return sorted(Path(self._folder.name).iterdir())

    def _empty(self, _name: str, like: Tensor, shape: tuple[int, ...]) -> Tensor:
        self._num_files += 1
        path = Path(self._folder.name) / str(self._num_files)
        return torch.from_file(str(path), shared=True, size=prod(shape), dtype=like.dtype).view(shape)
