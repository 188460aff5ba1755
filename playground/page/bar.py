"""The bar on top of every tab: model, prompt, sliders, Generate. It owns the recorded run that the pictures read."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from playground.models.loading import EMBEDDED
from playground.models.text import LoadedModel
from playground.page.controls import controls_panel
from playground.page.jobs import QUIET, Jobs
from playground.page.panel import panel
from playground.page.recording import Recorder
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
    recorder: Recorder  # of answers

    @property
    def vocabulary_of(self) -> Callable[[str], dict[str, Any]]:
        return _vocabulary_of(self.models)

    @property
    def request(self) -> list[gr.components.Component]:
        """What most work begins with: model, prompt and sliders."""
        return [self.model_name, self.prompt, self.controls]


def build_bar(models: dict[str, LoadedModel]) -> Page:
    examples, runs = load_examples(), RunStore()
    with gr.Column(elem_id="bar"):
        gr.Markdown(f"# {say('page.title')}\n{say('page.bar.about')}", elem_id="headline")
        with gr.Row(elem_id="bar-prompt"):
            model_name, prompt = _request_boxes(list(models), examples)
            example = panel("examples", examples, events=["chosen"], elem_id="examples")
            start = gr.Button(say("page.bar.generate"), variant="primary", elem_id="generate", min_width=150, scale=0)
            stop = gr.Button(say("page.bar.stop"), elem_id="stop", min_width=80, scale=0)
        run = panel("run_data", server_functions=[_vocabulary_of(models), runs.show], elem_id="run")
    controls = controls_panel(next(iter(models.values())).model.config.vocab_size)  # outside: it stays in sight

    def on_chosen_model(name: str, prompt: str | None):
        """A prompt that a person wrote stays; an example of the other model gives way to this one's first."""
        own = [entry["prompt"] for entry in examples.get(name, [])]
        is_example = any(prompt == entry["prompt"] for entries in examples.values() for entry in entries)
        return own[0] if own and is_example and prompt not in own else gr.skip()

    def on_example(prompt: Text):
        return prompt

    model_name.input(on_chosen_model, [model_name, prompt], prompt, queue=False, **QUIET)
    taken = example.chosen(on_example, example, prompt, queue=False, **QUIET)
    page = Page(models, model_name, prompt, controls, run, runs, Jobs(), Recorder(models, runs))
    for begins in ([start.click, prompt.submit], taken.success):
        page.jobs.on(begins, page.recorder.record, page.request, run, name="generate", joins=True)
    page.jobs.stop(stop)
    _links(models, model_name, prompt)
    return page


def _links(models: dict[str, LoadedModel], model_name: gr.Dropdown, prompt: gr.Textbox) -> None:
    """What an address of the page sets of Gradio's components; links.js sets the rest."""
    link = panel("links", {"models": list(models)}, events=["opened"], elem_id="links")
    boxes = [model_name, prompt]
    link.opened(None, [link], boxes, js="({ model, prompt }) => [model, prompt]", queue=False, **QUIET)


def _request_boxes(names: list[str], examples: dict[str, list[dict]]) -> tuple[gr.Dropdown, gr.Textbox]:
    """For the model and the prompt."""
    first = names[0]
    model_name = gr.Dropdown(
        names,
        value=first,
        label=say("page.bar.model"),
        elem_id="model",
        min_width=215,
        scale=0,
        filterable=False,
        container=False,
    )
    prompt = gr.Textbox(
        first_prompt(examples, first),
        label=say("page.bar.prompt"),
        lines=1,
        max_lines=3,
        elem_id="prompt",
        scale=4,
        container=False,
    )
    return model_name, prompt


def first_prompt(examples: dict[str, list[dict]], model_name: str) -> str:
    """What the page opens with."""
    own = examples.get(model_name, [])
    return own[0]["prompt"] if own else say("page.bar.any_prompt")


def _vocabulary_of(models: dict[str, LoadedModel]) -> Callable[[str], dict[str, Any]]:
    def vocabulary_of(name: str) -> dict[str, Any]:
        loaded = model_of(models, name)
        return {"labels": loaded.labels, "token_bytes": loaded.token_bytes, "trained_length": loaded.trained_length}

    return vocabulary_of


def load_examples(folder: Path = EMBEDDED) -> dict[str, list[dict]]:
    """For each model the prompts worth trying, each with what it shows. A folder without the file offers none."""
    path = folder / "examples.json"
    return json.loads(path.read_text()) if path.is_file() else {}
