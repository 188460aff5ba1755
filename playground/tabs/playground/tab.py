"""The first tab: everything on one screen, for the projector."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import gradio as gr
from pydantic import BaseModel

from playground.models.text import LoadedModel
from playground.page.bar import Page
from playground.page.line import in_steps
from playground.page.panel import panel
from playground.page.requests import RequestError, checked, model_of, new_tokens, prompt_ids_of, sampling_params
from playground.tabs.cache_on_off.race import OFF, ON, RaceResult, race
from playground.tabs.thirty_answers.answers import NUM_ANSWERS, AnswerRequest, drawing


def playground_tab(page: Page) -> None:
    with gr.Tab("Playground", id="playground"), gr.Row(elem_classes="board"):
        with gr.Column(elem_classes="card area-tokens"):
            panel("tokens")
        with gr.Column(elem_classes="card area-distribution"):
            panel("distribution")
        with gr.Column(elem_classes="card area-nucleus"):
            _title("Nucleus size at each step")
            panel("playground/nucleus")
        with gr.Column(elem_classes="card area-compare"):
            _title("Cache on and off")
            compare = gr.Button("Compare cache on / off", elem_id="compare", size="md")
            comparison = panel("playground/compare")
        with gr.Column(elem_classes="card area-cache"):
            _title("KV cache, layer by layer")
            panel("cache_growth")
        with gr.Column(elem_classes="card area-answers"):
            _title(f"Distinct answers among {NUM_ANSWERS}")
            answers = panel("playground/dots", events=["asked"])

    page.jobs.on(
        answers.asked, partial(dots, page.models), answers, answers, name="dots", asks=True, trigger_mode="multiple"
    )
    page.jobs.on(compare.click, partial(compared, page.models), page.request, comparison, name="compare", long=True)


class DotsQuestion(BaseModel):
    """Of dots.js: the run on the screen, and the present sliders."""

    model: str
    prompt: str
    params: dict


def dots(models: Mapping[str, LoadedModel], question: Any) -> Iterator[dict | None]:
    """For dots.js: 30 answers to the prompt of the run on the screen, under the present sliders."""
    asked = checked(DotsQuestion, question)
    if asked.model not in models:
        raise RequestError("This run's model is not loaded: its answers can't be sampled.")
    loaded, params = models[asked.model], sampling_params(asked.params)
    prompt_ids_of(loaded, asked.prompt)
    [drawn] = yield from in_steps(drawing(loaded, AnswerRequest(asked.prompt, (params,))))
    yield {
        "distinct": drawn.num_distinct,
        "groups": drawn.groups,
        "answers": [{"text": group.text, "count": len(group.rows)} for group in drawn.distinct],
        "max_new_tokens": drawn.max_new_tokens,
    }


def compared(models: Mapping[str, LoadedModel], model_name: str, prompt: str, controls: dict) -> Iterator[dict | None]:
    """For compare.js."""
    loaded, params, count = model_of(models, model_name), sampling_params(controls), new_tokens(controls)
    for tick in race(loaded, prompt_ids_of(loaded, prompt), params, count):
        yield comparison_value(tick.result) | {"model": loaded.name, "prompt": prompt} if tick.result else None


def comparison_value(result: RaceResult) -> dict:
    """For compare.js."""
    sides = {
        name: {
            "fed": side.total_fed,
            "first_seconds": side.first_token_seconds,
            "later_seconds": side.later_token_seconds,
            "total_seconds": side.total_seconds,
            "seconds": side.seconds,
        }
        for name, side in ((ON, result.on), (OFF, result.off))
    }
    return {
        "sides": sides,
        "expected": {ON: result.expected_fed_on, OFF: result.expected_fed_off},
        "prompt_length": result.prompt_length,
        "new_tokens": len(result.on.token_ids),
        "equal": result.equal,
        "first_difference": result.first_difference,
        "largest_gap": result.largest_gap,
        "token_ratio": result.token_ratio,
        "time_ratio": result.time_ratio,
        "repeats": result.repeats,
        "noisy": result.noisy,
        "machine": result.machine,
    }


def _title(text: str) -> None:
    gr.Markdown(f"## {text}", elem_classes="card-title")
