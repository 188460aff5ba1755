"""How many users a machine serves before its memory is full of KV caches. memory.js computes the same in the browser.

A model comes as its config.json, under Hugging Face's names. Nothing here runs a model, except to measure one.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from playground.engine.kv_cache import KVCache
from playground.engine.model import ModelConfig, Transformer

TABLE = tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))
MOST = {"layers": 2000, "heads": 4096, "size": 1_000_000, "vocabulary": 10_000_000, "window": 10**9}


class ConfigError(ValueError):
    """An entry is missing or no sensible number: its name."""


@dataclass(frozen=True)
class Shape:
    """What decides the size of a cache."""

    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    window: int | None = None  # tokens, of the layers that slide
    sliding_layers: int = 0
    latent: int | None = None  # numbers a token and layer where keys and values are compressed (MLA, arXiv 2405.04434)
    own_heads: int = 0  # numbers a token and layer if every query head kept its own keys and values

    @property
    def numbers(self) -> int:
        """Stored of one token in one layer."""
        return 2 * self.kv_heads * self.head_dim if self.latent is None else self.latent


def shape_of(config: Mapping[str, Any]) -> Shape:
    """Raises ConfigError naming the entry."""
    layers = _number(config, ("num_hidden_layers", "n_layer"), MOST["layers"])
    heads = _number(config, ("num_attention_heads", "n_head"), MOST["heads"])
    hidden = _number(config, ("hidden_size", "n_embd"), MOST["size"])
    kv_heads = _number(config, ("num_key_value_heads",), MOST["heads"], heads)
    head_dim = _number(config, ("head_dim",), MOST["size"], hidden // heads)
    window, sliding = _sliding(config, layers)
    if config.get("kv_lora_rank") is None:
        return Shape(layers, heads, kv_heads, head_dim, hidden, window, sliding, None, 2 * heads * head_dim)
    latent, rotary, plain, values = (
        _number(config, (name,), MOST["size"])
        for name in ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
    )
    own_heads = heads * (plain + rotary + values)
    return Shape(layers, heads, kv_heads, head_dim, hidden, window, sliding, latent + rotary, own_heads)


def _number(config: Mapping[str, Any], names: tuple[str, ...], most: int, default: int | None = None) -> int:
    """The entry of the first name that is there."""
    value = next((config[name] for name in names if config.get(name) is not None), default)
    if type(value) is not int or not 1 <= value <= most:
        raise ConfigError(names[0])
    return value


def _sliding(config: Mapping[str, Any], layers: int) -> tuple[int | None, int]:
    """The window, and how many layers have it."""
    if config.get("sliding_window") is None or config.get("use_sliding_window") is False:
        return None, 0
    window = _number(config, ("sliding_window",), MOST["window"])
    kinds, every, first = (config.get(key) for key in ("layer_types", "sliding_window_pattern", "max_window_layers"))
    if isinstance(kinds, list):
        return window, min(layers, kinds.count("sliding_attention"))
    if type(every) is int and every > 0:
        return window, layers - layers // every  # every so many layers, one reads all
    if config.get("use_sliding_window") is True and type(first) is int:
        return window, max(0, layers - first)  # Qwen: only the layers from that one on
    return window, layers


def cache_bytes(shape: Shape, tokens: int, bits: int = 16) -> float:
    """Of one text of so many tokens. Quantizers' scales, a few percent, are left out."""
    sliding = shape.sliding_layers * min(tokens, shape.window or tokens)
    return shape.numbers * ((shape.layers - shape.sliding_layers) * tokens + sliding) * bits / 8


def bytes_per_token(shape: Shape, bits: int = 16) -> float:
    """Of one more token, while no window is full."""
    return shape.numbers * shape.layers * bits / 8


def parameters_of(config: Mapping[str, Any]) -> int | None:
    """Numbers in the weights of GPT-2, or of a model with a gated feed-forward (Llama, Mistral, Qwen); else None."""
    if type(config.get("num_parameters")) is int:
        return config["num_parameters"]
    shape, vocabulary = shape_of(config), config.get("vocab_size")
    if type(vocabulary) is not int or not 1 <= vocabulary <= MOST["vocabulary"] or _has_experts(config):
        return None
    hidden, kind = shape.hidden, config.get("model_type")
    if kind == "gpt2":
        positions = _number(config, ("n_positions",), MOST["vocabulary"], 1024)
        return (vocabulary + positions + 2) * hidden + shape.layers * (12 * hidden + 13) * hidden
    inner = config.get("intermediate_size")
    if type(inner) is not int or not 1 <= inner <= MOST["size"] or shape.latent is not None:
        return None
    rows = (shape.heads + 2 * shape.kv_heads) * shape.head_dim
    layer = hidden * (rows + shape.heads * shape.head_dim + 3 * inner + 2)
    layer += rows if kind == "qwen2" else 2 * shape.head_dim if kind == "qwen3" else 0  # biases, or norms of Q and K
    tables = 1 if config.get("tie_word_embeddings") else 2
    return tables * vocabulary * hidden + shape.layers * layer + hidden


def _has_experts(config: Mapping[str, Any]) -> bool:
    return any(config.get(name) is not None for name in ("n_routed_experts", "num_experts", "num_local_experts"))


@dataclass(frozen=True)
class Setup:
    """Of a server. Bytes, and bytes a second."""

    memory: float
    bandwidth: float
    tokens: int  # of one user: prompt and answer
    cache_bits: int = 16
    weight_bits: int = 16
    usable: float = 0.9  # share of the memory for weights and caches; the rest is for everything else
    parameters: float = 0
    active_parameters: float = 0  # read for each token: all, or of a mixture of experts the chosen ones


@dataclass(frozen=True)
class Plan:
    per_token: float  # bytes
    per_user: float
    weights: float
    room: float  # for caches; below 0: the weights alone don't fit
    users: int
    tokens_per_second: float  # at most, of one user alone: weights and cache are read once for each token


def plan(shape: Shape, setup: Setup) -> Plan:
    per_user = cache_bytes(shape, setup.tokens, setup.cache_bits)
    weights = setup.parameters * setup.weight_bits / 8
    room = setup.memory * setup.usable - weights
    read = setup.active_parameters * setup.weight_bits / 8 + per_user
    return Plan(
        bytes_per_token(shape, setup.cache_bits),
        per_user,
        weights,
        room,
        max(0, int(room // per_user)),
        setup.bandwidth / read,
    )


def changes(shape: Shape, setup: Setup) -> list[tuple[str, Shape, Setup]]:
    """One thing changed at a time, by the names of serving.change in the catalogue; first as it is."""
    found = [("now", shape, setup)]
    if shape.latent is not None:
        found.append(("own_heads", replace(shape, latent=shape.own_heads), setup))
    elif shape.kv_heads < shape.heads:
        found.append(("own_heads", replace(shape, kv_heads=shape.heads), setup))
    else:
        group = max(size for size in range(1, 9) if shape.heads % size == 0)
        if group > 1:
            found.append(("grouped", replace(shape, kv_heads=shape.heads // group), setup))
    found += [(f"bits_{bits}", shape, replace(setup, cache_bits=bits)) for bits in (8, 4) if bits < setup.cache_bits]
    if shape.sliding_layers:
        found.append(("no_window", replace(shape, window=None, sliding_layers=0), setup))
    elif (window := window_for(setup.tokens)) < setup.tokens:
        found.append(("window", replace(shape, window=window, sliding_layers=shape.layers), setup))
    return found


def window_for(tokens: int) -> int:
    """The window that is shown: Mistral's, or for short texts a quarter."""
    return 4096 if tokens > 4096 else max(1, tokens // 4)


def wrong_formulas(shape: Shape) -> dict[str, float]:
    """Bytes that a usual mistake gives, over the right ones, by the names of serving.wrong in the catalogue."""
    right, head_of_hidden = shape.numbers, shape.hidden / shape.heads
    if shape.latent is not None:
        return {"mla_heads": shape.own_heads / right, "mla_twice": 2.0, "bits": 8.0, "one_layer": 1 / shape.layers}
    return {
        "all_heads": shape.heads / shape.kv_heads,
        "one_of_two": 0.5,
        "hidden": 2 * shape.hidden / right,
        "head_of_hidden": head_of_hidden / shape.head_dim,
        "bits": 8.0,
        "one_layer": 1 / shape.layers,
    }


# ---- measured


def hugging_face_names(config: ModelConfig) -> dict[str, Any]:
    """The entries of a loaded model, as the presets have them."""
    return {
        "model_type": "qwen3" if config.qk_norm else "qwen2" if config.qkv_bias else "llama",
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": config.num_kv_heads,
        "head_dim": config.head_dim,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "vocab_size": config.vocab_size,
        "tie_word_embeddings": config.tie_embeddings,
    }


@torch.no_grad()
def measured_bytes(model: Transformer, token_ids: list[int]) -> int:
    """Of all tensors that a cache holds of this text."""
    cache = KVCache.of(model)
    model(torch.tensor([token_ids], device=model.device), cache, last_only=True)
    return sum(tensor.nbytes for layer in cache.layers for tensor in layer.stored())
