"""Weights kept in fewer bits, multiplied by torch's own kernels (FBGEMM) with vectors in float32.

A step reads every weight once, and reading is most of its time: half as many bytes take about half as long.
float16 rounds the weights. int8 rounds them to whole numbers with one scale a row, and the vectors of each pass with
one scale for all: so what else is in a pass moves a logit a little. Shapes: N outputs, K inputs.
"""

import warnings
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from playground.engine.model import Transformer
from playground.words import say

FORMATS = ("float32", "float16", "int8")


class PackedWeight:
    """Of one product, with its bias."""

    def __init__(self, weight: Tensor, bias: Tensor | None, form: str) -> None:
        self.num_bytes = weight.numel() * (2 if form == "float16" else 1)
        if form == "float16":
            self._parts = (torch.ops.quantized.linear_prepack_fp16(weight, bias),)
            self._multiply = torch.ops.quantized.linear_dynamic_fp16
            return
        # Seven bits for a weight and eight for a number of a vector: the kernel adds two products in sixteen bits.
        scales = weight.abs().amax(1).clamp(min=1e-12).double() / 63  # (N,)
        with warnings.catch_warnings(action="ignore"):  # that it goes in a later torch; requirements.txt pins this one
            whole = torch.quantize_per_channel(
                weight, scales, torch.zeros(len(weight), dtype=torch.long), 0, torch.qint8
            )
        self._parts = (torch.ops.quantized.linear_prepack(whole, bias), False)
        self._multiply = torch.ops.quantized.linear_dynamic

    def product(self, x: Tensor) -> Tensor:
        """(..., K) to (..., N)"""
        return self._multiply(x, *self._parts)


def pack(model: Transformer, form: str) -> None:
    """Packs every matrix, one after another, and frees it. The table of embeddings stays: rows of it are looked up.

    Raises ValueError for a model that is not on the processor in float32, or a torch without these kernels.
    """
    for _ in packing(model, form):
        pass


def packing(model: Transformer, form: str) -> Iterator[None]:
    """The same, and yields after each matrix: a large model takes seconds."""
    if form == "float32":
        return
    if (why_not := obstacle(model, form)) is not None:
        raise ValueError(why_not)
    head = model.embedding if model.head is None else model.head
    yield _replace(model, "head", head, None, form)
    for block in model.blocks:
        attention, feed_forward = block.attention, block.feed_forward
        yield _replace(attention, "qkv", attention.qkv, attention.qkv_bias, form)
        yield _replace(attention, "output", attention.output, None, form)
        yield _replace(feed_forward, "gate_up", feed_forward.gate_up, None, form)
        # A few numbers that go into this product are very large (arXiv 2402.17762): one scale would lose the rest.
        yield _replace(feed_forward, "down", feed_forward.down, None, "float16")
    model.weight_format = form


def obstacle(model: Transformer, form: str) -> str | None:
    """Why it can't be packed, in a sentence; None: it can."""
    if model.device.type != "cpu" or model.embedding.dtype != torch.float32 or model.weight_format != "float32":
        return say("engine.packed.place", form=form)
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        return say("engine.packed.kernels", form=form)
    return None


def weight_bytes(model: nn.Module) -> int:
    """Of all weights, packed or not."""
    packed = [part for module in model.modules() for part in vars(module).values() if isinstance(part, PackedWeight)]
    return sum(weight.nbytes for weight in model.parameters()) + sum(part.num_bytes for part in packed)


def _replace(module: nn.Module, name: str, weight: Tensor, bias: Tensor | None, form: str) -> None:
    packed = PackedWeight(weight.detach(), None if bias is None else bias.detach(), form)
    delattr(module, name)
    setattr(module, name, packed)
