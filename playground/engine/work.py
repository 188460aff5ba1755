"""How much a run computes, in closed form. P prompt tokens, N new tokens; a multiply-add is two operations."""

from dataclasses import dataclass

import torch

from playground.engine.model import ModelConfig

# Cache on or off, the sums of a pass are added in another order. That alone moves a logit by less than this: at least
# twice the largest of what the embedded models showed, on texts of 9 to 420 tokens (4e-5, 0.12, 0.4).
ROUNDING = {torch.float32: 1e-4, torch.float16: 0.25, torch.bfloat16: 0.8}


def tokens_fed_with_cache(prompt_length: int, num_new: int) -> int:
    """P + (N - 1): the prompt once, then each new token but the last, which nobody reads."""
    return prompt_length + num_new - 1


def tokens_fed_without_cache(prompt_length: int, num_new: int) -> int:
    """P N + N (N - 1) / 2: step n feeds the prompt and the n tokens written so far."""
    return prompt_length * num_new + num_new * (num_new - 1) // 2


def fed_per_step(prompt_length: int, num_new: int, cached: bool) -> list[int]:
    """(N,) tokens that go through the model at each step."""
    if cached:
        return [prompt_length] + [1] * (num_new - 1)
    return [prompt_length + step for step in range(num_new)]


@dataclass(frozen=True)
class MultiplyAdds:
    """Of one pass or many, by what they are for. Norms, rotary and softmax are no matrix products and are left out."""

    projections: int = 0  # q, k, v, output and the feed-forward: in proportion to the tokens fed
    attention: int = 0  # scores and the weighted sum: tokens fed times tokens seen
    head: int = 0  # logits of the last token: once a pass

    @property
    def total(self) -> int:
        return self.projections + self.attention + self.head

    def __add__(self, other: "MultiplyAdds") -> "MultiplyAdds":
        return MultiplyAdds(
            self.projections + other.projections, self.attention + other.attention, self.head + other.head
        )


def pass_multiply_adds(config: ModelConfig, num_fed: int, num_seen: int) -> MultiplyAdds:
    """One pass over `num_fed` new tokens that end at position `num_seen`, logits of the last token only.

    Attention is counted as it is computed: a rectangle of fed times seen, the masked half of a prefill included.
    """
    heads = config.num_heads * config.head_dim
    key_value_heads = 2 * config.num_kv_heads * config.head_dim
    per_token = config.hidden_size * (heads + key_value_heads + heads + 3 * config.intermediate_size)
    return MultiplyAdds(
        projections=config.num_layers * per_token * num_fed,
        attention=config.num_layers * 2 * heads * num_fed * num_seen,
        head=config.vocab_size * config.hidden_size,
    )


def run_multiply_adds(config: ModelConfig, prompt_length: int, num_new: int, cached: bool) -> MultiplyAdds:
    """A whole answer."""
    passes = (
        pass_multiply_adds(config, num_fed, prompt_length + step)
        for step, num_fed in enumerate(fed_per_step(prompt_length, num_new, cached))
    )
    return sum(passes, MultiplyAdds())


def times_read_again(prompt_length: int, num_new: int) -> list[int]:
    """(P + N - 1,) for each stored token: in how many later passes its key and value are read. A query: in none."""
    return [num_new - 1] * prompt_length + [num_new - 1 - step for step in range(1, num_new)]
