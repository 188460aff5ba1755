"""Keys and values as whole numbers of 8, 4 or 2 bits, a lowest value and a step for each group of them (KIVI, arXiv
2402.02750).

Whole blocks of tokens are quantized; what has come since stands beside them as it is. A pass reads its own new tokens
unrounded, as in KIVI and transformers: so a prompt read in pieces reads its earlier pieces rounded.

Shapes: B batch rows, KV key/value heads, T new tokens, S stored tokens, D head size, N blocks, P tokens in a block,
X numbers of a group, Y groups of a block.
"""

import torch
from torch import Tensor

from playground.engine.arguments import shown, whole_number
from playground.engine.cache_kinds import LayerCache
from playground.words import say

CHANNEL, TOKEN = "channel", "token"  # whose numbers share a lowest value and a step


class QuantizedLayerCache(LayerCache):
    """`bits` 8, 4 or 2. A block is `block` tokens; at least the last `tail` tokens are kept unrounded.

    keys_by, values_by: "channel", the numbers of one place in the head over the tokens of a block make a group, or
    "token", the numbers of one token. KIVI has keys by channel, because a few channels of them are far larger than
    the others, and values by token.
    """

    def __init__(
        self, bits: int, block: int = 16, tail: int = 16, keys_by: str = CHANNEL, values_by: str = TOKEN
    ) -> None:
        if bits not in (8, 4, 2):
            raise ValueError(say("engine.cache.bits", value=shown(bits)))
        for by in (keys_by, values_by):
            if by not in (CHANNEL, TOKEN):
                raise ValueError(say("engine.cache.by", value=shown(by)))
        self.bits, self.block, self.tail = bits, whole_number("block", block, 1), whole_number("tail", tail, 0)
        self.by = {"keys": keys_by, "values": values_by}
        super().__init__()

    @property
    def num_quantized(self) -> int:
        """Tokens."""
        return self.buffers["keys_low"].shape[2] * self.block if "keys_low" in self.buffers else 0

    @property
    def num_bytes(self) -> int:
        return self.allocated_bytes

    @torch.inference_mode(False)
    def update(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        self._check_form(*keys.shape[:2], keys.shape[3], keys.dtype)
        new = {"keys": keys, "values": values}
        if self.seen:
            self.copied_bytes += sum(self.buffers[name].nbytes for name in new)
            new = {name: torch.cat([self.buffers[name], rows], 2) for name, rows in new.items()}
        read = [torch.cat([self._dequantized(name, keys), rows], 2) for name, rows in new.items()]
        self.buffers = {**self.buffers, **{name: rows.clone() for name, rows in new.items()}}
        self.seen += keys.shape[2]
        self._quantize_whole_blocks()
        return *read, self.positions

    def stored(self) -> tuple[Tensor, Tensor]:
        if not self.buffers:
            raise ValueError(say("engine.cache.empty"))
        return tuple(
            torch.cat([self._dequantized(name, self.buffers[name]), self.buffers[name]], 2) for name in self.by
        )

    def can_go_back_to(self, length: int) -> bool:
        """As far as it is unrounded: a rounded row was not when others read it."""
        return length == 0 or length >= self.num_quantized

    def truncate(self, length: int) -> None:
        super().truncate(length)
        if self.seen:
            rest = self.seen - self.num_quantized
            self.buffers = {**self.buffers, **{name: self.buffers[name][:, :, :rest].clone() for name in self.by}}

    def _quantize_whole_blocks(self) -> None:
        """What is older than the tail, as far as it makes whole blocks."""
        waiting = self.buffers["keys"].shape[2]
        count = max(0, waiting - self.tail) // self.block * self.block
        if not count:
            return
        made = dict(self.buffers)
        for name, by in self.by.items():
            rows = self.buffers[name]
            for part, added in zip(("codes", "low", "step"), self._quantized(rows[:, :, :count], by), strict=True):
                before = self.buffers.get(f"{name}_{part}")
                self.copied_bytes += 0 if before is None else before.nbytes
                made[f"{name}_{part}"] = added if before is None else torch.cat([before, added], 2)
            made[name] = rows[:, :, count:].clone()
        self.buffers = made

    def _quantized(self, rows: Tensor, by: str) -> tuple[Tensor, Tensor, Tensor]:
        """(B, KV, N P, D) to codes (B, KV, N, bytes), and lowest values and steps (B, KV, N, Y)."""
        batch, heads, _, size = rows.shape
        groups = rows.reshape(batch, heads, -1, self.block, size)
        groups = groups.transpose(-2, -1) if by == CHANNEL else groups  # (B, KV, N, Y, X)
        low, high = groups.aminmax(dim=-1, keepdim=True)
        step = ((high - low) / (2**self.bits - 1)).clamp(min=torch.finfo(rows.dtype).tiny)
        codes = ((groups - low) / step).round().clamp(0, 2**self.bits - 1).to(torch.uint8)
        return packed(codes.flatten(-2), self.bits), low[..., 0], step[..., 0]

    def _dequantized(self, name: str, like: Tensor) -> Tensor:
        """(B, KV, N P, D)"""
        if f"{name}_codes" not in self.buffers:
            return like[:, :, :0]
        by, size = self.by[name], like.shape[3]
        low, step = (self.buffers[f"{name}_{part}"][..., None] for part in ("low", "step"))
        codes = unpacked(self.buffers[f"{name}_codes"], self.bits, self.block * size)
        groups = codes.reshape(*low.shape[:-1], -1) * step + low
        groups = groups.transpose(-2, -1) if by == CHANNEL else groups
        return groups.reshape(*low.shape[:2], -1, size)


def packed(codes: Tensor, bits: int) -> Tensor:
    """(..., n) whole numbers below 2**bits as bytes (..., n * bits / 8, rounded up)."""
    a_byte = 8 // bits
    padded = torch.nn.functional.pad(codes, (0, -codes.shape[-1] % a_byte)).unflatten(-1, (-1, a_byte))
    shifts = torch.arange(0, 8, bits, device=codes.device)
    return (padded.int() << shifts).sum(-1).to(torch.uint8)


def unpacked(packed_codes: Tensor, bits: int, count: int) -> Tensor:
    """(..., count) the whole numbers again."""
    shifts = torch.arange(0, 8, bits, device=packed_codes.device)
    return (packed_codes.int()[..., None] >> shifts & 2**bits - 1).flatten(-2)[..., :count]
