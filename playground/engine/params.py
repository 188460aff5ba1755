"""The sliders' settings, checked once: see stages.py for what they do and where each may lie."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from playground.engine.arguments import number, shown, whole_number
from playground.engine.stages import RULES, SETTINGS, STAGES
from playground.words import say

MOST_SEEDS = 2**64  # the random generator knows no more


@dataclass(frozen=True)
class SamplingParams:
    """Numbers of numpy and torch are taken like Python's own. Raises ValueError naming the setting, rule and value."""

    temperature: float = 1.0  # 0 means greedy
    top_k: int = 0  # 0 means off
    top_p: float = 1.0  # 1 means off, 0 keeps the most likely token only
    min_p: float = 0.0  # 0 means off
    repetition_penalty: float = 1.0  # 1 means off
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    penalty_counts_prompt: bool = True
    seed: int = 0
    rule: str = "transformers"
    typical_p: float = 1.0  # 1 means off
    top_n_sigma: float = 0.0  # 0 means off

    def __post_init__(self) -> None:
        for setting in SETTINGS.values():
            take, value = whole_number if setting.whole else number, getattr(self, setting.field)
            self._put(setting.field, take(setting.field, value, setting.low, setting.high, setting.off))
        if self.repetition_penalty == 0:
            raise ValueError(say("engine.settings.repetition_penalty"))
        self._put("seed", whole_number("seed", self.seed, 0, MOST_SEEDS - 1))
        if not isinstance(self.rule, str) or self.rule not in RULES:
            raise ValueError(say("engine.settings.rule", rules=", ".join(RULES), value=shown(self.rule)))
        if not isinstance(self.penalty_counts_prompt, bool):
            name, value = "penalty_counts_prompt", self.penalty_counts_prompt
            raise ValueError(say("engine.settings.true_or_false", name=name, value=shown(value)))

    def _put(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    @cached_property
    def on(self) -> frozenset[str]:
        """The names of the stages that do something."""
        values = vars(self)
        return frozenset(
            name for name, stage in STAGES.items() if any(values[one.field] != one.off for one in stage.settings)
        )

    @property
    def penalizes(self) -> bool:
        return "penalty" in self.on

    def not_off(self) -> dict[str, float]:
        """The settings that do something, by field."""
        values = {setting.field: getattr(self, setting.field) for setting in SETTINGS.values()}
        return {field: value for field, value in values.items() if value != SETTINGS[field].off}
