"""Tensors under the names that MiniMind, Qwen3 and Llama checkpoints give them, in and out of our transformer."""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from playground.engine.model import Transformer
from playground.words import say


def load_tensors(model: Transformer, tensors: dict[str, Tensor]) -> None:
    """Raises ValueError naming the first missing, unknown or misshapen tensor."""
    for _ in loading_tensors(model, tensors):
        pass


@torch.no_grad()
def loading_tensors(model: Transformer, tensors: Mapping[str, Tensor]) -> Iterator[int]:
    """The same, tensor by tensor: the bytes of each once it is in its place."""
    # Old Llama files also hold the rotary frequencies, which the configuration gives.
    kept = {name: tensor for name, tensor in tensors.items() if not name.endswith("rotary_emb.inv_freq")}
    tensors = {name.removeprefix("model."): tensor for name, tensor in kept.items()}
    if model.head is None:
        tensors.pop("lm_head.weight", None)  # tied: the embedding once more
    for name, ours in _views(model):
        theirs = tensors.pop(name, None)
        if theirs is None:
            raise ValueError(say("models.checkpoint.missing", name=repr(name)))
        if theirs.shape != ours.shape:
            shape, expected = str(tuple(theirs.shape)), str(tuple(ours.shape))
            raise ValueError(say("models.checkpoint.shape", name=repr(name), shape=shape, expected=expected))
        ours.copy_(theirs)
        yield ours.nbytes
    if tensors:
        raise ValueError(say("models.checkpoint.unknown", name=repr(min(tensors))))


def tensors_of(model: Transformer) -> dict[str, Tensor]:
    """The weights, copied, under the names of MiniMind and Qwen3 checkpoints."""
    return {
        name if name == "lm_head.weight" else f"model.{name}": view.detach().clone() for name, view in _views(model)
    }


def _views(model: Transformer) -> Iterator[tuple[str, Tensor]]:
    """Each checkpoint name with the part of our (fused) parameters that it names."""
    config = model.config
    head_rows = [heads * config.head_dim for heads in (config.num_heads, config.num_kv_heads, config.num_kv_heads)]
    yield "embed_tokens.weight", model.embedding
    for layer, block in enumerate(model.blocks):
        prefix, attention, feed_forward = f"layers.{layer}.", block.attention, block.feed_forward
        yield prefix + "input_layernorm.weight", block.attention_norm
        for letter, rows in zip("qkv", attention.qkv.split(head_rows), strict=True):
            yield f"{prefix}self_attn.{letter}_proj.weight", rows
        if config.qkv_bias:
            for letter, rows in zip("qkv", attention.qkv_bias.split(head_rows), strict=True):
                yield f"{prefix}self_attn.{letter}_proj.bias", rows
        if config.qk_norm:
            yield prefix + "self_attn.q_norm.weight", attention.q_norm
            yield prefix + "self_attn.k_norm.weight", attention.k_norm
        yield prefix + "self_attn.o_proj.weight", attention.output
        yield prefix + "post_attention_layernorm.weight", block.feed_forward_norm
        for name, rows in zip(("gate", "up"), feed_forward.gate_up.chunk(2), strict=True):
            yield f"{prefix}mlp.{name}_proj.weight", rows
        yield prefix + "mlp.down_proj.weight", feed_forward.down
    yield "norm.weight", model.final_norm
    if model.head is not None:
        yield "lm_head.weight", model.head
