"""The sliders that every tab reads."""

from typing import Any

import gradio as gr

from playground.engine.sampling import SamplingParams
from playground.ui.panel import panel

# What MiniMind's generate uses when nothing is said.
DEFAULTS = {"temperature": 0.85, "top_k": 50, "top_p": 0.85, "min_p": 0.0, "seed": 1, "max_new_tokens": 64}
MOST_NEW_TOKENS = 256


def controls_panel(vocab_size: int) -> gr.HTML:
    """Its value is a dict like DEFAULTS. `controls.settled` comes when the hand has rested for 300 ms."""
    return panel(
        "controls",
        {**DEFAULTS, "vocab_size": vocab_size, "most_new_tokens": MOST_NEW_TOKENS},
        events=["settled"],
        elem_id="controls",
    )


def sampling_params(controls: dict[str, Any] | None) -> SamplingParams:
    """The settings of the sliders, or gr.Error with one sentence that says what is wrong."""
    fields = SamplingParams.__dataclass_fields__
    given = {key: value for key, value in (controls or {}).items() if key in fields}
    try:
        return SamplingParams(**given)
    except (TypeError, ValueError) as error:
        raise gr.Error(f"{str(error)[:1].upper()}{str(error)[1:]}.", print_exception=False) from None


def new_tokens(controls: dict[str, Any] | None) -> int:
    """How many tokens to write at most, or gr.Error."""
    count = (controls or DEFAULTS).get("max_new_tokens")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_NEW_TOKENS:
        raise gr.Error(
            f"New tokens must be a whole number from 1 to {MOST_NEW_TOKENS}, got {count!r}.", print_exception=False
        )
    return count
