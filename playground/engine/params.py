"""The sliders' settings, and what the libraries mean by them."""

from dataclasses import dataclass
from math import isfinite


@dataclass(frozen=True)
class Rule:
    """What one library means by the sliders, read from the sources of transformers 5, MiniMind, vLLM v1, llama.cpp."""

    order: tuple[str, ...]
    past_p: bool = False  # top-p stops at the token that exceeds p, not at the one that reaches it
    keep_ties: bool = False  # top-k keeps all tokens as likely as the k-th


RULES = {
    # Our own rule: transformers' order, but exactly k tokens (transformers keeps all ties; the lowest id wins here).
    "transformers": Rule(("penalty", "temperature", "top-k", "top-p", "min-p")),
    "minimind": Rule(("temperature", "penalty", "top-k", "top-p", "min-p"), past_p=True, keep_ties=True),
    "vllm": Rule(("penalty", "temperature", "min-p", "top-k", "top-p"), keep_ties=True),
    "llama.cpp": Rule(("penalty", "top-k", "top-p", "min-p", "temperature")),
}


@dataclass(frozen=True)
class SamplingParams:
    temperature: float = 1.0  # 0 means greedy
    top_k: int = 0  # 0 means off
    top_p: float = 1.0  # 1 means off, 0 keeps the likeliest token only
    min_p: float = 0.0  # 0 means off
    repetition_penalty: float = 1.0  # 1 means off
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    penalty_counts_prompt: bool = True
    seed: int = 0
    rule: str = "transformers"

    def __post_init__(self) -> None:
        _check_number("temperature", self.temperature, 0, None)
        _check_number("top_p", self.top_p, 0, 1)
        _check_number("min_p", self.min_p, 0, 1)
        _check_number("repetition_penalty", self.repetition_penalty, 0, None)
        _check_number("presence_penalty", self.presence_penalty, None, None)
        _check_number("frequency_penalty", self.frequency_penalty, None, None)
        if self.repetition_penalty == 0:
            raise ValueError("repetition_penalty must be above 0; 1 turns it off")
        for name, off in (("top_k", "; 0 turns it off"), ("seed", "")):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} must be a whole number from 0 up{off}, got {value!r}")
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, got {self.rule!r}")

    @property
    def penalizes(self) -> bool:
        return (self.repetition_penalty, self.presence_penalty, self.frequency_penalty) != (1, 0, 0)


def _check_number(name: str, value: object, low: float | None, high: float | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{name} must be a number, got {value!r}")
    if (low is not None and value < low) or (high is not None and value > high):
        span = f"from {low} up" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be {span}, got {value}")
