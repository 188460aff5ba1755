"""The sliders that every tab reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from html import escape
from typing import Any

import gradio as gr

from playground.engine.arguments import whole_number
from playground.engine.params import SamplingParams
from playground.engine.stages import RULES, STAGES
from playground.page.panel import panel
from playground.words import say

# What MiniMind's generate uses when nothing is said.
DEFAULTS = {"temperature": 0.85, "top_k": 50, "top_p": 0.85, "min_p": 0.0, "seed": 1, "max_new_tokens": 64}
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


def controls_panel(vocab_size: int) -> gr.HTML:
    """Its value is a dict like DEFAULTS."""
    limits = {"vocab_size": vocab_size, "most_new_tokens": MOST_NEW_TOKENS, "most_seed": MOST_SEED}
    return panel("controls", {**DEFAULTS, **limits, "table": stage_table()}, elem_id="controls")


def sampling_params(controls: dict[str, Any] | None) -> SamplingParams:
    """The settings of the sliders, or gr.Error with one sentence that says what is wrong."""
    known = {field.name for field in fields(SamplingParams)}
    with readable_errors():
        return page_params({key: value for key, value in (controls or {}).items() if key in known})


def page_params(settings: dict[str, Any]) -> SamplingParams:
    """Settings that the browser can carry. Raises as SamplingParams does."""
    whole_number("seed", settings.get("seed", 0), 0, MOST_SEED)
    return SamplingParams(**settings)


@contextmanager
def readable_errors() -> Iterator[None]:
    """What the engine refuses (full context, unusable logits, a wrong setting) reaches the visitor as one sentence."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise readable(str(error)) from None


def readable(sentence: str) -> gr.Error:
    """Gradio shows the words of an error as HTML, and they may quote what a visitor sent: here they are text."""
    sentence = f"{sentence[:1].upper()}{sentence[1:]}".rstrip(".")
    return gr.Error(f"{escape(sentence)}.", print_exception=False)


def new_tokens(controls: dict[str, Any] | None) -> int:
    """How many tokens to write at most, or gr.Error."""
    count = (controls or DEFAULTS).get("max_new_tokens")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_NEW_TOKENS:
        sentence = say("page.controls.new_tokens", most=MOST_NEW_TOKENS, value=repr(count))
        raise gr.Error(sentence, print_exception=False)
    return count
