"""One answer, token by token: what each stage leaves, how sure the model was, and what else it could have said."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from pathlib import Path
from typing import Any

import gradio as gr
from pydantic import BaseModel, Field

from playground import style
from playground.engine.params import SamplingParams
from playground.models.figure import answer_figure
from playground.models.tables import candidates_table, steps_table
from playground.models.text import LoadedModel
from playground.page.bar import Page
from playground.page.controls import ALL_OFF
from playground.page.panel import figure_json, panel
from playground.page.requests import RequestError, checked, sampling_params, sentence
from playground.page.runs import Run, RunStore, from_json, payload, to_json
from playground.page.spreadsheet import csv_text
from playground.tabs.one_answer.fork import go_on
from playground.tabs.one_answer.questions import answer_question, questions
from playground.words import say

GONE = "This run is no longer kept on the server: press Generate to record it again."


def sampling_tab(page: Page) -> None:
    with gr.Tab("One answer", id="sampling"), gr.Column(elem_classes="answer-tab"):
        lessons = panel("one_answer/questions", {"questions": questions()}, events=["asked"], elem_id="lessons")
        with gr.Column(elem_classes="card"):
            panel("one_answer/stages", {"presets": presets()})
        with gr.Row(elem_classes="answer-board"):
            with gr.Column(elem_classes="card area-answer"):
                live = panel("one_answer/live", events=["asked"], elem_id="live-answer")
                panel("tokens")
            with gr.Column(elem_classes="card area-candidates"):
                panel("distribution", {"full": True})
                panel("one_answer/formula")
            with gr.Column(elem_classes="card area-whole"):
                panel("one_answer/whole_answer")
        with gr.Column(elem_classes="card"):
            branches = panel("one_answer/fork", events=["asked"], elem_id="branches")
        files = [page_function(page.runs, name) for name in ("table", "recording", "picture", "reopen")]
        panel("one_answer/exports", server_functions=files, elem_id="exports")

    go_on_from = partial(branch, page.models, page.runs)
    for asking, name in ((live, "live"), (branches, "fork")):
        page.jobs.on(asking.asked, go_on_from, asking, asking, name=name, asks=True, trigger_mode="multiple")
    outputs = [lessons, page.model_name, page.prompt, page.controls, page.run]
    ask = partial(answer_question, page.models, page.runs)
    page.jobs.on(lessons.asked, ask, lessons, outputs, name="question", asks=True, trigger_mode="multiple")


def presets() -> list[dict]:
    """For stages.js: the settings of each preset, its name and what is said of it."""
    settings = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))
    return [
        {
            "name": say(f"one_answer.preset.{key}.name"),
            "says": say(f"one_answer.preset.{key}.text"),
            "settings": ALL_OFF | chosen,
        }
        for key, chosen in settings.items()
    ]


class ForkQuestion(BaseModel):
    """Of live.js and fork.js."""

    run: str
    shared: int = Field(ge=0)  # recorded steps that stay
    forced_id: int | None = Field(None, ge=0)
    params: dict
    replace: bool = False  # nobody can ask for the run any more


def branch(models: Mapping[str, LoadedModel], runs: RunStore, question: Any) -> Iterator[dict | None]:
    """For live.js and fork.js: the run that goes on from a recorded one."""
    asked = checked(ForkQuestion, question)
    run, params = runs.get(asked.run), sampling_params(asked.params)
    if run is None:
        raise RequestError(GONE)
    loaded = models.get(run.model_name)
    if loaded is None:
        raise RequestError(f"This run was written by {run.model_name}, which is not on this page.")
    if len(run.labels) != loaded.model.config.vocab_size:
        raise RequestError(f"This run was written with other tokens than {loaded.name} has on this page.")
    wanted = (run.trace, asked.shared, params, asked.forced_id, run.cache, run.max_new_tokens, loaded.stop_ids)
    try:
        new = yield from go_on(loaded.model, *wanted)
    except (TypeError, ValueError) as error:
        raise RequestError(f"The model can't go on from there: {error}.") from None
    made = Run.of(loaded, run.prompt, new.trace, params, run.max_new_tokens, cache=new.cache)
    runs.put(made, replaces=run.id if asked.replace else None)
    known = asked.shared + (asked.forced_id is not None)  # steps whose logits the browser has
    yield payload(made, known, shared=known, num_reused=new.num_reused, num_fed=new.num_fed)


def conditions_of(run: Run, params: SamplingParams) -> str:
    """Model, prompt and settings in one line: a picture without them can't be made again."""
    on = [f"{name} {value}" for name, value in params.not_off().items() if name != "temperature"]
    settings = ", ".join([f"temperature {params.temperature}", *on, f"seed {run.params.seed}", f"{params.rule} order"])
    prompt = run.prompt if len(run.prompt) <= 60 else f"{run.prompt[:59]}…"
    return f"{run.model_name}: “{prompt}” · {settings}"


class FileQuestion(BaseModel):
    """Of exports.js."""

    run: str
    params: dict | None = None
    step: int = 0
    dark: bool = False


def page_function(runs: RunStore, name: str) -> Callable[[Any], dict]:
    """One of the functions that exports.js calls; gradio knows them by their names."""

    def asked_run(question: Any) -> tuple[FileQuestion, Run]:
        asked = checked(FileQuestion, question)
        run = runs.get(asked.run)
        if run is None:
            raise RequestError(GONE)
        return asked, run

    def table(question: dict) -> dict:
        asked, run = asked_run(question)
        return {"text": csv_text(steps_table(run.trace, run.labels, sampling_params(asked.params)))}

    def recording(question: dict) -> dict:
        return {"text": to_json(asked_run(question)[1])}

    def picture(question: dict) -> dict:
        asked, run = asked_run(question)
        params, step = sampling_params(asked.params), max(0, min(asked.step, len(run.trace) - 1))
        steps = steps_table(run.trace, run.labels, params)
        candidates = candidates_table(run.trace, run.labels, params, step)
        figure = answer_figure(steps, candidates, step, len(run.labels), conditions_of(run, params))
        return {"figure": figure_json(style.resolve(figure, dark=asked.dark))}

    def reopen(text: str) -> dict:
        run = from_json(text)
        runs.put(run)
        return payload(run, labels=run.labels, token_bytes=run.token_bytes)

    return in_words({"table": table, "recording": recording, "picture": picture, "reopen": reopen}[name])


def in_words(answer: Callable[[Any], dict]) -> Callable[[Any], dict]:
    """What is refused is a sentence in `problem`: an error of a server function would be a failure of the server."""

    @wraps(answer)
    def answered(question: Any) -> dict:
        try:
            return answer(question)
        except (TypeError, ValueError) as error:
            return {"problem": sentence(str(error))}

    return answered
