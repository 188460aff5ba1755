"""The model's attention, a whole text through every layer, is the paper's: tests/plain_attention.py is the judge."""

import pytest
import torch
from conftest import TINY, tiny_model
from plain_attention import Attended, attention, rms_norm
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import ModelConfig, Transformer
from playground.engine.taps import tapped
from playground.models.checkpoint import tensors_of

TOKENS = torch.tensor([[5, 9, 2, 44, 60, 0, 17, 17, 3, 28]])
ARCHITECTURES = {
    "qwen3": {},
    "one KV head": {"num_kv_heads": 1},
    "a KV head for each query head": {"num_kv_heads": 4},
    "llama": {"qk_norm": False, "rope_theta": 1e4},
    "qwen2": {"qk_norm": False, "qkv_bias": True},
}


@pytest.fixture(params=list(ARCHITECTURES))
def any_model(request) -> Transformer:
    """Norm weights and biases random too, so that none of them can be left out unnoticed."""
    model = tiny_model(ModelConfig(**{**vars(TINY), **ARCHITECTURES[request.param]}))
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        if parameter.ndim == 1:
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model


def layer_tensors(model: Transformer, layer: int) -> dict[str, Tensor]:
    """Of one layer, by their names in a checkpoint without the layer's own prefix, in float64."""
    prefix = f"model.layers.{layer}."
    own = {name: tensor for name, tensor in tensors_of(model).items() if name.startswith(prefix)}
    return {name.removeprefix(prefix).removeprefix("self_attn."): tensor.double() for name, tensor in own.items()}


def plain_layer(hidden: Tensor, tensors: dict[str, Tensor], config: ModelConfig) -> tuple[Attended, Tensor]:
    """Attention, and the hidden values (T, C) that leave the layer: each half is added to what came in."""

    def normed(hidden: Tensor, name: str) -> Tensor:
        return torch.stack([rms_norm(x, tensors[name], config.rms_norm_eps) for x in hidden])

    attended = attention(normed(hidden, "input_layernorm.weight"), tensors, config)
    hidden = hidden + attended.output
    x = normed(hidden, "post_attention_layernorm.weight")
    gate, up = x @ tensors["mlp.gate_proj.weight"].T, x @ tensors["mlp.up_proj.weight"].T
    return attended, hidden + (gate * gate.sigmoid() * up) @ tensors["mlp.down_proj.weight"].T


@pytest.mark.parametrize("chunks", [[10], [4, 1, 5], [1] * 10], ids=["whole", "uneven chunks", "token by token"])
def test_every_layer_attends_as_in_the_paper(any_model: Transformer, chunks: list[int]):
    config, cache = any_model.config, KVCache(any_model.config.num_layers)
    with tapped(any_model, "hidden") as hidden, tapped(any_model, "queries") as queries, tapped(any_model) as weights:
        for chunk in TOKENS.split(chunks, dim=1):
            any_model(chunk, cache)

    def entering(layer: int) -> Tensor:
        return torch.cat([one_pass[layer][0] for one_pass in hidden.passes])

    for layer in range(config.num_layers):
        attended, leaving = plain_layer(entering(layer).double(), layer_tensors(any_model, layer), config)
        start = 0
        for number, size in enumerate(chunks):
            end = start + size
            assert_alike(queries.passes[number][layer][0], attended.queries[:, start:end])
            assert_alike(weights.passes[number][layer][0], attended.weights[:, start:end, :end])
            start = end
        if layer + 1 < config.num_layers:
            assert_alike(entering(layer + 1), leaving)


def assert_alike(ours: Tensor, plain: Tensor) -> None:
    torch.testing.assert_close(ours.double(), plain, atol=1e-5, rtol=1e-5)
