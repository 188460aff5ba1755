"""The same weights with one thing changed. The shared model is not touched: only what differs is new memory.

Shapes: KV key/value heads, D head size, C hidden size.
"""

import copy
from collections.abc import Callable, Generator
from dataclasses import replace

import torch
from torch import Tensor, nn

from playground.engine.model import Attention, ModelConfig, Transformer
from playground.engine.packed import packing


def twin(model: Transformer) -> Transformer:
    """A second model that shares every weight; its parts can be exchanged without the first one noticing."""
    second = copy.copy(model)
    second._modules = dict(model._modules)
    second.blocks = nn.ModuleList(model.blocks)
    return second


def unmasked(model: Transformer) -> Transformer:
    """Every token of a pass reads every other one, also those after it."""
    return _with_attentions(model, replace(model.config, causal=False), lambda attention: attention)


def with_scaled_feed_forward(model: Transformer, layer: int, factor: float) -> Transformer:
    """The feed-forward of one layer writes `factor` times what it wrote."""
    second = twin(model)
    block = copy.deepcopy(model.blocks[layer])
    block.feed_forward.down.mul_(factor)
    second.blocks[layer] = block
    return second


def with_kv_heads(model: Transformer, num_kv_heads: int) -> Transformer:
    """Fewer key/value heads: the mean of the trained ones in a group; more: each one repeated.

    An illustration. Nobody trained these weights to share heads; a model converted so is trained on afterwards
    (grouped-query attention, arXiv 2305.13245). Repeated heads give the same logits and cost more memory.
    """
    config = replace(model.config, num_kv_heads=num_kv_heads)
    return _with_attentions(model, config, lambda attention: _regrouped(attention, num_kv_heads))


def _with_attentions(model: Transformer, config: ModelConfig, change: Callable[[Attention], Attention]) -> Transformer:
    """Every layer's attention changed, and told of this configuration."""
    second = twin(model)
    second.config = config
    for layer, block in enumerate(model.blocks):
        new_block = copy.copy(block)
        new_block._modules = dict(block._modules)
        new_block.attention = change(copy.copy(block.attention))
        new_block.attention.config = config
        second.blocks[layer] = new_block
    return second


def _regrouped(regrouped: Attention, num_kv_heads: int) -> Attention:
    old = regrouped.config
    regrouped._parameters = dict(regrouped._parameters)
    sizes = [heads * old.head_dim for heads in (old.num_heads, old.num_kv_heads, old.num_kv_heads)]
    for name in ("qkv", "qkv_bias"):
        tensor = getattr(regrouped, name)
        if tensor is not None:
            queries, keys, values = tensor.split(sizes)
            parts = [queries, *(_group(part, old.num_kv_heads, num_kv_heads) for part in (keys, values))]
            setattr(regrouped, name, nn.Parameter(torch.cat(parts), requires_grad=False))
    return regrouped


def _group(rows: Tensor, old_heads: int, new_heads: int) -> Tensor:
    """(old heads * D, ...) to (new heads * D, ...)."""
    heads = rows.view(old_heads, -1, *rows.shape[1:])
    if new_heads < old_heads:
        heads = heads.view(new_heads, old_heads // new_heads, *heads.shape[1:]).mean(1)
    else:
        heads = heads.repeat_interleave(new_heads // old_heads, 0)
    return heads.reshape(-1, *rows.shape[1:])


def with_mixing_feed_forward(model: Transformer) -> Transformer:
    """Every feed-forward reads, beside its own token, the mean of all tokens of the pass. No transformer does that."""
    second = twin(model)
    for layer, block in enumerate(model.blocks):
        mixing = copy.copy(block)
        mixing._modules = dict(block._modules) | {"feed_forward": _Mixing(block.feed_forward)}
        second.blocks[layer] = mixing
    return second


class _Mixing(nn.Module):
    def __init__(self, own: nn.Module) -> None:
        super().__init__()
        self.own = own

    def forward(self, x: Tensor) -> Tensor:
        return self.own.forward((x + x.mean(-2, keepdim=True)) / 2)


def with_shifted_positions(model: Transformer, by: int = 1) -> Transformer:
    """Every token stands `by` places later in the rotary tables; the last `by` positions begin at 0 again."""
    second = twin(model)
    second._buffers = {name: table.roll(-by, 0) for name, table in model._buffers.items()}
    return second


def packed_copy(model: Transformer, form: str) -> Generator[None, None, Transformer]:
    """Its matrices in fewer bits, beside the whole ones (engine/packed.py). Yields after each matrix.

    Raises ValueError as `pack` does.
    """
    second = _apart(model)
    yield from packing(second, form)
    return second


def _apart(module: nn.Module) -> nn.Module:
    """The same weights in modules of their own: taking one out leaves the first model whole."""
    own = copy.copy(module)
    own._parameters = dict(module._parameters)
    own._modules = {name: _apart(part) for name, part in module._modules.items()}
    return own
