"""The transformer, top to bottom: MiniMind-3's architecture, which is Qwen3's; switches cover Llama and Qwen2.

Shapes: B batch rows, T new tokens, S keys seen (stored and new), V vocabulary, C hidden size,
H query heads, KV key/value heads, G = H / KV query heads that share one, D head size.
"""

from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.engine.arguments import shown
from playground.engine.cache_kinds import LayerCache
from playground.engine.kv_cache import KVCache
from playground.engine.taps import any_tap, offer_attention, offer_hidden
from playground.words import say


class ContextFullError(ValueError):
    """More tokens than the model has positions for."""


@dataclass(frozen=True)
class ModelConfig:
    vocab_size: int = 3072
    hidden_size: int = 128
    num_layers: int = 4
    num_heads: int = 4
    num_kv_heads: int = 2
    head_dim: int = 32  # its own field: hidden / heads is wrong for many models
    intermediate_size: int = 448
    rope_theta: float = 1e6
    rms_norm_eps: float = 1e-6
    max_positions: int = 2048
    qk_norm: bool = True  # off for Llama and Qwen2
    qkv_bias: bool = False  # on for Qwen2
    tie_embeddings: bool = True
    causal: bool = True  # off for an encoder: every token of a pass reads every other

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not field.type and not (field.type is float and type(value) is int):
                raise ValueError(
                    say("engine.model.type", name=field.name, type=field.type.__name__, value=shown(value))
                )
            if field.type is not bool and value <= 0:
                raise ValueError(say("engine.model.above_0", name=field.name, value=shown(value)))
        if self.num_heads % self.num_kv_heads:
            raise ValueError(say("engine.model.heads", heads=self.num_heads, kv_heads=self.num_kv_heads))
        if self.head_dim % 2:
            raise ValueError(say("engine.model.head_dim", value=self.head_dim))


def check_room(config, cache: KVCache, num_new: int) -> None:
    """Raises ValueError for a cache of another number of layers, ContextFullError where the positions end."""
    if len(cache.layers) != config.num_layers:
        raise ValueError(say("engine.cache.layers", layers=len(cache.layers), wanted=config.num_layers))
    if cache.position + num_new > config.max_positions:
        count = cache.position + num_new
        raise ContextFullError(say("engine.model.context_full", count=count, most=config.max_positions))


def rotary_tables(config: ModelConfig) -> tuple[Tensor, Tensor]:
    """Cosines and signed sines of all positions, each (max_positions, D) (RoFormer, arXiv 2104.09864)."""
    frequencies = config.rope_theta ** (-torch.arange(0, config.head_dim, 2).float() / config.head_dim)
    angles = torch.outer(torch.arange(config.max_positions).float(), frequencies)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)


def rotate(heads: Tensor, cos: Tensor, signed_sin: Tensor) -> Tensor:
    """Turns each pair (i, i + D/2) by its position's angle. heads (B, any, T, D); tables (T, D) or (B, 1, T, D)."""
    first, second = heads.chunk(2, -1)  # the minus that one of them needs is already in the table
    return torch.addcmul(heads * cos, torch.cat((second, first), -1), signed_sin)


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x over its root mean square along the last axis, times the weight (arXiv 1910.07467)."""
    # x beside -x has mean 0, so LayerNorm divides both by the root mean square of x. That is one kernel on a CPU, where
    # torch's rms_norm is eight: for a single token it takes twice as long.
    size = x.shape[-1]
    return torch.layer_norm(torch.cat((x, -x), -1), (2 * size,), None, None, eps).narrow(-1, 0, size) * weight


def product(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x times a weight, or times what engine/packed.py has made of it."""
    return F.linear(x, weight, bias) if isinstance(weight, Tensor) else weight.product(x)


class Attention(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        heads_out = (config.num_heads + 2 * config.num_kv_heads) * config.head_dim
        self.qkv = nn.Parameter(torch.empty(heads_out, config.hidden_size))  # one product instead of three
        self.qkv_bias = nn.Parameter(torch.zeros(heads_out)) if config.qkv_bias else None
        self.q_norm = nn.Parameter(torch.ones(config.head_dim)) if config.qk_norm else None
        self.k_norm = nn.Parameter(torch.ones(config.head_dim)) if config.qk_norm else None
        self.output = nn.Parameter(torch.empty(config.hidden_size, config.num_heads * config.head_dim))

    def forward(self, x: Tensor, rotary: tuple[Tensor, Tensor], cache: LayerCache, layer: int) -> Tensor:
        config = self.config
        batch, num_new, _ = x.shape
        heads = product(x, self.qkv, self.qkv_bias).view(batch, num_new, -1, config.head_dim).transpose(1, 2)
        # Queries and keys are treated alike, so they go through norm and rotation together.
        turned, values = heads.split_with_sizes([config.num_heads + config.num_kv_heads, config.num_kv_heads], 1)
        if config.qk_norm:
            turned = rms_norm(turned, self._qk_norm(), config.rms_norm_eps)
        queries, keys = rotate(turned, *rotary).split_with_sizes([config.num_heads, config.num_kv_heads], 1)
        keys, values, positions = cache.update(keys, values)  # (B, KV, S, D), (S,)
        mask = cache.mask(positions, num_new) if config.causal else None
        if cache.watches_queries:
            mask = cache.watch(queries, keys)
        if mask is not None and num_new > 1:  # that of one token, (S,) or a row of the batch each, fits as it is
            groups = config.num_heads // config.num_kv_heads
            mask = mask.to(x.device).repeat(*(1,) * (mask.ndim - 2), groups, 1)  # (G*T, S) or (KV, G*T, S)
        # The G query heads of a group stand one below the other as G*T rows: they read the same keys, none is copied.
        queries = queries.reshape(batch, config.num_kv_heads, -1, config.head_dim)  # (B, KV, G*T, D)
        if any_tap():
            offer_attention(self, layer, queries, keys, values, mask)
        read = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        read = read.reshape(batch, config.num_heads, num_new, config.head_dim).transpose(1, 2)
        return product(read.reshape(batch, num_new, -1), self.output)

    def _qk_norm(self) -> Tensor:
        """(H + KV, 1, D) the norm weights of all query and key heads."""
        config = self.config
        q_norm, k_norm = self.q_norm.expand(config.num_heads, 1, -1), self.k_norm.expand(config.num_kv_heads, 1, -1)
        return torch.cat((q_norm, k_norm))


class FeedForward(nn.Module):
    """SwiGLU (arXiv 2002.05202)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_up = nn.Parameter(torch.empty(2 * config.intermediate_size, config.hidden_size))
        self.down = nn.Parameter(torch.empty(config.hidden_size, config.intermediate_size))

    def forward(self, x: Tensor) -> Tensor:
        gate, up = product(x, self.gate_up).chunk(2, dim=-1)
        return product(F.silu(gate) * up, self.down)


class Block(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.eps = config.rms_norm_eps
        self.attention_norm = nn.Parameter(torch.ones(config.hidden_size))
        self.attention = Attention(config)
        self.feed_forward_norm = nn.Parameter(torch.ones(config.hidden_size))
        self.feed_forward = FeedForward(config)

    def forward(self, x: Tensor, rotary: tuple[Tensor, Tensor], cache: LayerCache, layer: int) -> Tensor:
        if any_tap():
            offer_hidden(self, layer, x)
        # `forward` by name: torch's module call looks for hooks each time, which costs a small model 4 % of a step.
        x = x + self.attention.forward(rms_norm(x, self.attention_norm, self.eps), rotary, cache, layer)
        return x + self.feed_forward.forward(rms_norm(x, self.feed_forward_norm, self.eps))


class Transformer(nn.Module):
    """Token ids in, logits out. Nothing of a request is stored in it: what has been seen lives in the cache."""

    weight_format = "float32"  # another one where engine/packed.py has packed the weights

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Parameter(torch.empty(config.vocab_size, config.hidden_size))
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.num_layers))
        self.final_norm = nn.Parameter(torch.ones(config.hidden_size))
        self.head = None if config.tie_embeddings else nn.Parameter(torch.empty(config.vocab_size, config.hidden_size))
        cos, signed_sin = rotary_tables(config)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("signed_sin", signed_sin, persistent=False)
        self.initialise()

    @property
    def device(self) -> torch.device:
        return self.embedding.device

    def initialise(self, std: float = 0.02, seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=std, generator=generator)

    def forward(self, token_ids: Tensor, cache: KVCache, last_only: bool = False) -> Tensor:
        """Logits (B, T, V) of the new tokens (B, T), or (B, 1, V) of the last. The cache takes in keys and values.

        Raises ContextFullError beyond `max_positions`, CacheFullError, and ValueError for a cache of another model or
        what are no token ids.
        Whatever ends it early, the cache is as it was.
        """
        try:  # asking first would cost every token a look at all ids
            _, num_new = token_ids.shape
            x = F.embedding(token_ids, self.embedding)  # (B, T, C)
        except (AttributeError, ValueError, IndexError, RuntimeError) as error:
            last = self.config.vocab_size - 1
            raise ValueError(say("engine.model.token_ids", last=last, value=shown(token_ids))) from error
        check_room(self.config, cache, num_new)
        with cache.one_pass(token_ids):
            places = cache.places(num_new)
            rotary = self.cos[places], self.signed_sin[places]
            for layer, (block, kept) in enumerate(zip(self.blocks, cache.layers, strict=True)):
                x = block.forward(x, rotary, kept, layer)
        if last_only:
            x = x[:, -1:]
        x = rms_norm(x, self.final_norm, self.config.rms_norm_eps)
        return product(x, self.embedding if self.head is None else self.head)
