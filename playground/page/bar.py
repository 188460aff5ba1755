"""The bar on top of every tab: model, prompt, sliders, Generate. It owns the recorded run that the pictures read."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from playground.models.loading import EMBEDDED
from playground.models.text import LoadedModel
from playground.page.controls import controls_panel
from playground.page.jobs import QUIET, Jobs
from playground.page.panel import panel
from playground.page.recording import record_run
from playground.page.requests import Text, model_of
from playground.page.runs import RunStore
from playground.words import say


@dataclass(frozen=True)
class Page:
    """What a tab needs of the page."""

    models: dict[str, LoadedModel]
    model_name: gr.Dropdown
    prompt: gr.Textbox
    controls: gr.HTML  # its value is a dict for `sampling_params` and `new_tokens`
    run: gr.HTML  # what the last press of Generate recorded
    runs: RunStore  # the same on this side, for exports and forks
    jobs: Jobs  # what runs the model runs through it

    @property
    def request(self) -> list[gr.components.Component]:
        """What most work begins with: model, prompt and sliders."""
        return [self.model_name, self.prompt, self.controls]


def build_bar(models: dict[str, LoadedModel]) -> Page:
    examples, runs = load_examples(), RunStore()
    with gr.Column(elem_id="bar"):
        with gr.Row(elem_id="bar-prompt", equal_height=True):
            model_name, prompt, example = _request_boxes(list(models), examples)
            start = gr.Button(say("page.bar.generate"), variant="primary", elem_id="generate", min_width=150, scale=0)
            stop = gr.Button(say("page.bar.stop"), elem_id="stop", min_width=80, scale=0)
        controls = controls_panel(next(iter(models.values())).model.config.vocab_size)
        run = panel("run_data", server_functions=[_vocabulary_of(models)], elem_id="run")

    def on_model(name: str):
        return gr.Dropdown(_example_choices(examples, name), value=None)

    def on_chosen_model(name: str, prompt: str | None):
        """A prompt that a person wrote stays; an example of the other model gives way to this one's first."""
        own = [entry["prompt"] for entry in examples.get(name, [])]
        is_example = any(prompt == entry["prompt"] for entries in examples.values() for entry in entries)
        return own[0] if own and is_example and prompt not in own else gr.skip()

    def on_example(prompt: Text | None):
        return prompt if prompt else gr.skip()

    model_name.change(on_model, model_name, example, queue=False, **QUIET)
    model_name.input(on_chosen_model, [model_name, prompt], prompt, queue=False, **QUIET)
    example.input(on_example, example, prompt, queue=False, **QUIET)
    page = Page(models, model_name, prompt, controls, run, runs, Jobs())
    page.jobs.on([start.click, prompt.submit], partial(record_run, models, runs), page.request, run, name="generate")
    page.jobs.stop(stop)
    _links(models, model_name, prompt)
    return page


def _links(models: dict[str, LoadedModel], model_name: gr.Dropdown, prompt: gr.Textbox) -> None:
    """What an address of the page sets of Gradio's components; links.js sets the rest."""
    link = panel("links", {"models": list(models)}, events=["opened"], elem_id="links")
    boxes = [model_name, prompt]
    link.opened(None, [link], boxes, js="({ model, prompt }) => [model, prompt]", queue=False, **QUIET)


def _request_boxes(names: list[str], examples: dict[str, list[dict]]) -> tuple[gr.Dropdown, gr.Textbox, gr.Dropdown]:
    """For the model, the prompt, and examples of prompts."""
    first = names[0]
    model_name = gr.Dropdown(
        names, value=first, label=say("page.bar.model"), elem_id="model", min_width=215, scale=1, filterable=False
    )
    own = [entry["prompt"] for entry in examples.get(first, [])]
    prompt = gr.Textbox(
        own[0] if own else say("page.bar.any_prompt"),
        label=say("page.bar.prompt"),
        lines=1,
        max_lines=3,
        elem_id="prompt",
        scale=5,
    )
    example = gr.Dropdown(
        _example_choices(examples, first),
        value=None,
        label=say("page.bar.examples"),
        elem_id="examples",
        min_width=200,
        scale=3,
    )
    return model_name, prompt, example


def _vocabulary_of(models: dict[str, LoadedModel]) -> Callable[[str], dict[str, Any]]:
    def vocabulary_of(name: str) -> dict[str, Any]:
        loaded = model_of(models, name)
        return {"labels": loaded.labels, "token_bytes": loaded.token_bytes, "trained_length": loaded.trained_length}

    return vocabulary_of


def load_examples(folder: Path = EMBEDDED) -> dict[str, list[dict]]:
    """For each model the prompts worth trying, each with what it shows. A folder without the file offers none."""
    path = folder / "examples.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def _example_choices(examples: dict[str, list[dict]], model_name: str) -> list[tuple[str, str]]:
    return [
        (say("page.bar.example", prompt=entry["prompt"], shows=entry["shows"]), entry["prompt"])
        for entry in examples.get(model_name, [])
    ]
