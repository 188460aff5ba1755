"""The bar on top of every tab: model, prompt, sliders, Generate. It owns the recorded run that the pictures read."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
import torch

from playground.models.held import HeldModels
from playground.models.loading import EMBEDDED
from playground.models.text import LoadedModel
from playground.page.controls import controls_panel
from playground.page.jobs import QUIET, Jobs
from playground.page.line import Line
from playground.page.machine import useful_threads
from playground.page.model_box import Allowed, bind_model_box, model_box
from playground.page.panel import panel
from playground.page.recording import Recorder
from playground.page.requests import Text, model_of
from playground.page.runs import RunStore
from playground.words import say

# In the browser: what a person types in the meantime would be lost to an answer of the server.
PROMPT_FOR = """async (name, prompt) => {
  const { promptFor } = await import(new URL("scripts/page/js/examples.js", document.baseURI).href);
  return promptFor(name, prompt);
}"""


@dataclass(frozen=True)
class Page:
    """What a tab needs of the page."""

    models: Mapping[str, LoadedModel]
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


def build_bar(models: Mapping[str, LoadedModel], allowed: Allowed | None = None) -> Page:
    """allowed: what visitors may load beside these models; None: nothing."""
    examples, runs = load_examples(), RunStore()
    if allowed:
        models = HeldModels(models, device=torch.device(allowed.device))
    with gr.Column(elem_id="bar"):
        gr.Markdown(f"# {say('page.title')}\n{say('page.bar.about')}", elem_id="headline")
        with gr.Row(elem_id="bar-prompt"):
            model_name = _model_list(list(models))
            box = model_box() if allowed else None
            prompt = _prompt_box(examples, next(iter(models)))
            example = panel("examples", examples, events=["chosen"], elem_id="examples")
            start = gr.Button(say("page.bar.generate"), variant="primary", elem_id="generate", min_width=150, scale=0)
            stop = gr.Button(say("page.bar.stop"), elem_id="stop", min_width=80, scale=0)
        run = panel("run_data", server_functions=[_vocabulary_of(models), _show(models, runs)], elem_id="run")
    controls = controls_panel(next(iter(models)), _limits_of(models))  # outside: it stays in sight

    def on_example(prompt: Text):
        return prompt

    model_name.input(None, [model_name, prompt], prompt, js=PROMPT_FOR, queue=False, **QUIET)
    taken = example.chosen(on_example, example, prompt, queue=False, **QUIET)
    jobs = Jobs(Line(partial(useful_threads, models)))
    page = Page(models, model_name, prompt, controls, run, runs, jobs, Recorder(models, runs))
    for begins in ([start.click, prompt.submit], taken.success):
        page.jobs.on(begins, page.recorder.record, page.request, run, name="generate", joins=True)
    page.jobs.stop(stop)
    if allowed:
        bind_model_box(box, model_name, page.jobs, models, allowed)
    _links(models, model_name, prompt)
    return page


def _links(models: Mapping[str, LoadedModel], model_name: gr.Dropdown, prompt: gr.Textbox) -> None:
    """What an address of the page sets of Gradio's components; links.js sets the rest."""
    known = {"models": list(models), "more": isinstance(models, HeldModels)}  # the model box has those of now
    link = panel("links", known, events=["opened"], elem_id="links")
    boxes = [model_name, prompt]
    link.opened(None, [link], boxes, js="({ model, prompt }) => [model, prompt]", queue=False, **QUIET)


def _model_list(names: list[str]) -> gr.Dropdown:
    return gr.Dropdown(
        names,
        value=names[0],
        label=say("page.bar.model"),
        elem_id="model",
        min_width=215,
        scale=0,
        filterable=False,
        container=False,
    )


def _prompt_box(examples: dict[str, list[dict]], model_name: str) -> gr.Textbox:
    return gr.Textbox(
        first_prompt(examples, model_name),
        label=say("page.bar.prompt"),
        lines=1,
        max_lines=3,
        elem_id="prompt",
        scale=4,
        container=False,
    )


def first_prompt(examples: dict[str, list[dict]], model_name: str) -> str:
    """What the page opens with."""
    own = examples.get(model_name, [])
    return own[0]["prompt"] if own else say("page.bar.any_prompt")


def _show(models: Mapping[str, LoadedModel], runs: RunStore) -> Callable[[str], dict[str, bool]]:
    def show(run_id: str) -> dict[str, bool]:
        """What a page shows stays, with the model that wrote it."""
        run = runs.get(run_id)
        if run is not None and isinstance(models, HeldModels):
            models.use(run.model_name)
        return runs.show(run_id)

    return show


def _limits_of(models: Mapping[str, LoadedModel]) -> Callable[[str], dict[str, int]]:
    def limits_of(name: str) -> dict[str, int]:
        return {"vocab_size": model_of(models, name).model.config.vocab_size}

    return limits_of


def _vocabulary_of(models: Mapping[str, LoadedModel]) -> Callable[[str], dict[str, Any]]:
    def vocabulary_of(name: str) -> dict[str, Any]:
        loaded = model_of(models, name)
        return {"labels": loaded.labels, "token_bytes": loaded.token_bytes, "trained_length": loaded.trained_length}

    return vocabulary_of


def load_examples(folder: Path = EMBEDDED) -> dict[str, list[dict]]:
    """For each model the prompts worth trying, each with what it shows. A folder without the file offers none."""
    path = folder / "examples.json"
    return json.loads(path.read_text()) if path.is_file() else {}
