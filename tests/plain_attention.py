"""One attention layer as in the paper, to be read beside playground/engine/model.py: slow, plain, and without a cache.

"Attention Is All You Need" (Vaswani et al. 2017, arXiv 1706.03762, section 3.2), and what models have changed in it
since: several query heads share one key/value head (arXiv 2305.13245), queries and keys are brought to one length
(Qwen3) and turned by their position (RoFormer, arXiv 2104.09864). In float64, one head and one position at a time.

Shapes: T tokens, C hidden size, D head size; a vector is (C,) or (D,).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from playground.engine.model import ModelConfig


@dataclass(frozen=True)
class Attended:
    output: Tensor  # (T, C) what the layer adds to the hidden values
    queries: Tensor  # (heads, T, D) normed and turned
    weights: Tensor  # (heads, T, T) how much of each value a query reads


def rms_norm(vector: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Divided by the root of its mean square, then scaled number by number."""
    return vector / (vector.square().mean() + eps).sqrt() * weight


def turned(vector: Tensor, position: int, theta: float) -> Tensor:
    """Each pair (i, i + D/2) is a point in a plane, rotated by position * theta**(-2i / D)."""
    half, result = len(vector) // 2, vector.clone()
    for i in range(half):
        angle = torch.tensor(position * theta ** (-2 * i / len(vector)), dtype=torch.float64)
        x, y = vector[i], vector[i + half]
        result[i] = x * angle.cos() - y * angle.sin()
        result[i + half] = x * angle.sin() + y * angle.cos()
    return result


def softmax(scores: list[Tensor]) -> list[Tensor]:
    powers = [score.exp() for score in scores]
    return [power / sum(powers) for power in powers]


def attention(normed: Tensor, tensors: dict[str, Tensor], config: ModelConfig) -> Attended:
    """`normed` (T, C); `tensors` of one layer by their names in a checkpoint, such as "q_proj.weight"."""

    def heads(letter: str, num_heads: int) -> list[list[Tensor]]:
        """For each head the vector of each position: W x + b, where the rows of W are D for each head."""
        rows = [tensors[f"{letter}_proj.weight"] @ x + tensors.get(f"{letter}_proj.bias", 0) for x in normed]
        made = [[row.split(config.head_dim)[head] for row in rows] for head in range(num_heads)]
        if letter == "v":
            return made
        if config.qk_norm:
            made = [[rms_norm(x, tensors[f"{letter}_norm.weight"], config.rms_norm_eps) for x in head] for head in made]
        return [[turned(x, position, config.rope_theta) for position, x in enumerate(head)] for head in made]

    queries, keys = heads("q", config.num_heads), heads("k", config.num_kv_heads)
    values = heads("v", config.num_kv_heads)
    num_tokens, group = len(normed), config.num_heads // config.num_kv_heads
    read = torch.zeros(num_tokens, config.num_heads, config.head_dim, dtype=torch.float64)
    weights = read.new_zeros(config.num_heads, num_tokens, num_tokens)  # of what comes later they stay 0
    for head in range(config.num_heads):
        shared = head // group  # the key/value head of this query head
        for position in range(num_tokens):
            earlier = range(position + 1)  # itself too
            scores = [queries[head][position] @ keys[shared][other] / config.head_dim**0.5 for other in earlier]
            for other, weight in zip(earlier, softmax(scores), strict=True):
                weights[head, position, other] = weight
                read[position, head] += weight * values[shared][other]
    output = torch.stack([tensors["o_proj.weight"] @ side_by_side for side_by_side in read.flatten(1)])
    return Attended(output, torch.stack([torch.stack(head) for head in queries]), weights)
