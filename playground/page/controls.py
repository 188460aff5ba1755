"""The sliders that every tab reads."""

from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

import gradio as gr

from playground.engine.params import SamplingParams
from playground.engine.stages import RULES, STAGES
from playground.page.panel import panel

# With these the first drag of each slider moves every picture: top-k would hide what the other two do.
DEFAULTS = {"temperature": 1.0, "top_k": 0, "top_p": 0.9, "min_p": 0.0, "seed": 1, "max_new_tokens": 64, "system": ""}
MOST_NEW_TOKENS = 256
MOST_SEED = 2**53 - 1  # a larger whole number would be rounded by the browser
# The model's own probabilities: no stage does anything. For presets that must not depend on where the sliders were.
ALL_OFF = {field.name: field.default for field in fields(SamplingParams) if field.name != "seed"}


def stage_table() -> dict[str, Any]:
    """The engine's one table of stages, settings and rules, as the browser reads it."""
    return {
        "stages": {name: [asdict(setting) for setting in stage.settings] for name, stage in STAGES.items()},
        "rules": {name: asdict(rule) for name, rule in RULES.items()},
    }


def controls_panel(model: str, limits_of: Callable[[str], dict[str, int]]) -> gr.HTML:
    """Its value is a dict like DEFAULTS. `limits_of` says how far the sliders reach for a model; `model` is chosen."""
    limits = {"most_new_tokens": MOST_NEW_TOKENS, "most_seed": MOST_SEED, **limits_of(model)}
    value = {**DEFAULTS, **limits, "table": stage_table(), "model": model}
    return panel("controls", value, server_functions=[limits_of], elem_id="controls")
