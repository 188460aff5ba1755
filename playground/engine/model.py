"""The transformer, top to bottom: MiniMind-3's architecture, which is Qwen3's; switches cover Llama and Qwen2.

Shapes: B batch rows, T new tokens, S keys seen (stored and new), V vocabulary, C hidden size,
H query heads, KV key/value heads, G = H / KV query heads that share one, D head size.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.engine.kv_cache import KVCache
from playground.engine.taps import any_tap, offer_attention, offer_hidden


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

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not field.type and not (field.type is float and type(value) is int):
                raise ValueError(f"{field.name} must be of type {field.type.__name__}, got {value!r}")
            if field.type is not bool and value <= 0:
                raise ValueError(f"{field.name} must be above 0, got {value}")
        if self.num_heads % self.num_kv_heads:
            raise ValueError(f"num_heads ({self.num_heads}) must be a multiple of num_kv_heads ({self.num_kv_heads})")
        if self.head_dim % 2:
            raise ValueError(f"head_dim must be even for rotary positions, got {self.head_dim}")


def rotary_tables(config: ModelConfig) -> tuple[Tensor, Tensor]:
    """Cosines and signed sines of all positions, each (max_positions, D) (RoFormer, arXiv 2104.09864)."""
    frequencies = config.rope_theta ** (-torch.arange(0, config.head_dim, 2).float() / config.head_dim)
    angles = torch.outer(torch.arange(config.max_positions).float(), frequencies)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([cos, cos], -1), torch.cat([-sin, sin], -1)


def rotate(heads: Tensor, cos: Tensor, signed_sin: Tensor) -> Tensor:
    """Turns each pair (i, i + D/2) by its position's angle. heads (B, any, T, D); tables (T, D)."""
    # Rolling by half swaps the two halves; the minus that one of them needs is already in the table.
    return torch.addcmul(heads * cos, heads.roll(heads.shape[-1] // 2, -1), signed_sin)


def causal_mask(query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """(T, S) True where a query may read a key: the key does not come after the query."""
    return key_positions <= query_positions[:, None]


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

    def forward(
        self, x: Tensor, rotary: tuple[Tensor, Tensor], mask: Tensor | None, cache: KVCache, layer: int
    ) -> Tensor:
        config = self.config
        batch, num_new, _ = x.shape
        heads = F.linear(x, self.qkv, self.qkv_bias).view(batch, num_new, -1, config.head_dim).transpose(1, 2)
        # Queries and keys are treated alike, so they go through norm and rotation together.
        turned, values = heads.split_with_sizes([config.num_heads + config.num_kv_heads, config.num_kv_heads], 1)
        if config.qk_norm:
            turned = F.rms_norm(turned, (config.head_dim,), None, config.rms_norm_eps) * self._qk_norm()
        queries, keys = rotate(turned, *rotary).split_with_sizes([config.num_heads, config.num_kv_heads], 1)
        keys, values = cache.update(keys, values, layer)  # (B, KV, S, D)
        # The G query heads of a group stand one below the other as G*T rows: they read the same keys, none is copied.
        queries = queries.reshape(batch, config.num_kv_heads, -1, config.head_dim)  # (B, KV, G*T, D)
        if any_tap():
            offer_attention(self, layer, queries, keys, values, mask)
        read = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        read = read.reshape(batch, config.num_heads, num_new, config.head_dim).transpose(1, 2)
        return F.linear(read.reshape(batch, num_new, -1), self.output)

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
        gate, up = F.linear(x, self.gate_up).chunk(2, dim=-1)
        return F.linear(F.silu(gate) * up, self.down)


class Block(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.size, self.eps = (config.hidden_size,), config.rms_norm_eps
        self.attention_norm = nn.Parameter(torch.ones(config.hidden_size))
        self.attention = Attention(config)
        self.feed_forward_norm = nn.Parameter(torch.ones(config.hidden_size))
        self.feed_forward = FeedForward(config)

    def forward(
        self, x: Tensor, rotary: tuple[Tensor, Tensor], mask: Tensor | None, cache: KVCache, layer: int
    ) -> Tensor:
        if any_tap():
            offer_hidden(self, layer, x)
        # `forward` by name: torch's module call looks for hooks each time, which costs a small model 4 % of a step.
        normed = F.rms_norm(x, self.size, self.attention_norm, self.eps)
        x = x + self.attention.forward(normed, rotary, mask, cache, layer)
        return x + self.feed_forward.forward(F.rms_norm(x, self.size, self.feed_forward_norm, self.eps))


class Transformer(nn.Module):
    """Token ids in, logits out. Nothing of a request is stored in it: what has been seen lives in the cache."""

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

        Raises ContextFullError beyond `max_positions`, and CacheFullError: both before anything is stored.
        """
        num_new, start = token_ids.shape[1], cache.position
        if start + num_new > self.config.max_positions:
            raise ContextFullError(
                f"{start + num_new} tokens, but the model's context ends at {self.config.max_positions}: "
                "shorten the prompt or ask for fewer new tokens"
            )
        rotary = self.cos[start : start + num_new], self.signed_sin[start : start + num_new]
        mask = self.mask(num_new, cache)
        x = F.embedding(token_ids, self.embedding)  # (B, T, C)
        for layer, block in enumerate(self.blocks):
            x = block.forward(x, rotary, mask, cache, layer)
        if last_only:
            x = x[:, -1:]
        x = F.rms_norm(x, (self.config.hidden_size,), self.final_norm, self.config.rms_norm_eps)
        return F.linear(x, self.embedding if self.head is None else self.head)

    def mask(self, num_new: int, cache: KVCache) -> Tensor | None:
        """(G*T, S) True where a new token may read a key; None where it may read all. Asked before the cache is fed."""
        if num_new == 1:
            return None  # one query, and no key after it
        query_positions = torch.arange(cache.position, cache.position + num_new, device=self.device)
        mask = causal_mask(query_positions, cache.key_positions(num_new).to(self.device))
        return mask.repeat(self.config.num_heads // self.config.num_kv_heads, 1)

    def load_checkpoint_tensors(self, tensors: dict[str, Tensor]) -> None:
        """Takes the names of MiniMind, Qwen3 and Llama checkpoints.

        Raises ValueError naming the first missing, unknown or misshapen tensor.
        """
        tensors = {name.removeprefix("model."): tensor for name, tensor in tensors.items()}
        if self.head is None:
            tensors.pop("lm_head.weight", None)
        with torch.no_grad():
            for name, ours in self._checkpoint_views():
                theirs = tensors.pop(name, None)
                if theirs is None:
                    raise ValueError(f"the checkpoint has no tensor {name!r}")
                if theirs.shape != ours.shape:
                    raise ValueError(f"{name!r} has shape {tuple(theirs.shape)}, expected {tuple(ours.shape)}")
                ours.copy_(theirs)
        if tensors:
            raise ValueError(f"the checkpoint holds {min(tensors)!r}, which this configuration has no place for")

    def checkpoint_tensors(self) -> dict[str, Tensor]:
        """The weights under the names of MiniMind and Qwen3 checkpoints."""
        return {
            name if name == "lm_head.weight" else f"model.{name}": view.detach().clone()
            for name, view in self._checkpoint_views()
        }

    def _checkpoint_views(self) -> Iterator[tuple[str, Tensor]]:
        """Each checkpoint name with the part of our (fused) parameters that it names."""
        config = self.config
        head_rows = [heads * config.head_dim for heads in (config.num_heads, config.num_kv_heads, config.num_kv_heads)]
        yield "embed_tokens.weight", self.embedding
        for layer, block in enumerate(self.blocks):
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
        yield "norm.weight", self.final_norm
        if self.head is not None:
            yield "lm_head.weight", self.head
