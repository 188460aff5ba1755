"""One answer, token by token: what each stage leaves, how sure the model was, and what else it could have said."""

import tomllib
from collections.abc import Callable, Mapping
from functools import partial
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
from playground.page.line import Work
from playground.page.panel import figure_json, panel
from playground.page.requests import RequestError, checked, sampling_params
from playground.page.run_file import LARGEST_FILE, from_json, to_json
from playground.page.runs import Run, RunStore, payload
from playground.page.spreadsheet import csv_text
from playground.tabs.one_answer.fork import go_on
from playground.tabs.one_answer.questions import FINDINGS, answer_question
from playground.tabs.one_answer.reading import reading_of
from playground.tabs.one_answer.turns import ask_on
from playground.words import say


def sampling_tab(page: Page) -> None:
    with gr.Tab(say("one_answer.tab"), id="sampling"), gr.Tabs(elem_id="answer-parts", overflow_behavior="wrap"):
        with gr.Tab(say("one_answer.part.stages"), id="answer-stages"), gr.Row(elem_classes="answer-tab"):
            lessons, live, branches = _stages_part(page)
        with gr.Tab(say("one_answer.part.sampler"), id="answer-sampler"), gr.Column(elem_classes="card"):
            sampler = panel("one_answer/sampler", events=["asked"], elem_id="sampler")
        with gr.Tab(say("one_answer.part.reading"), id="answer-reading"):
            with gr.Column(elem_classes="card"):
                panel("one_answer/reading", server_functions=[reading_of(page.models)], elem_id="reading")
            with gr.Column(elem_classes="card"):
                turns = panel("one_answer/turns", events=["asked"], elem_id="turns")
        with gr.Tab(say("one_answer.part.by_hand"), id="answer-by-hand"), gr.Column(elem_classes="card"):
            panel("one_answer/by_hand", elem_id="by-hand")

    go_on_from = partial(branch, page.models, page.runs)
    for asking, name in ((live, "live"), (branches, "fork"), (sampler, "sampler")):
        page.jobs.on(asking.asked, go_on_from, asking, asking, name=name, asks=True, trigger_mode="multiple")
    outputs = [lessons, page.model_name, page.prompt, page.controls, page.run]
    go_on_asking = partial(ask_on, page.recorder)
    boxes, how = [turns, page.controls], {"joins": True, "asks": True, "trigger_mode": "multiple"}
    page.jobs.on(turns.asked, go_on_asking, boxes, page.run, name="turn", **how)
    ask = partial(answer_question, page.models, page.runs)
    page.jobs.on(lessons.asked, ask, lessons, outputs, name="question", asks=True, trigger_mode="multiple")


def _stages_part(page: Page) -> tuple[gr.HTML, gr.HTML, gr.HTML]:
    """Questions, presets and exports at the side; the stages, the step and the answer beside them."""
    with gr.Column(elem_classes="answer-side card"):
        panel("one_answer/question_list", list(FINDINGS), elem_id="questions")
        panel("one_answer/presets", presets())
        files = [page_function(page, name) for name in ("table", "recording", "picture", "reopen")]
        largest = {"largest_file": LARGEST_FILE}
        exports = panel("one_answer/exports", largest, server_functions=files, events=["opened"], elem_id="exports")
    with gr.Column(elem_classes="answer-main"):
        lessons = panel("one_answer/questions", events=["asked", "closed"], elem_id="lessons")
        with gr.Column(elem_classes="card"):
            panel("one_answer/stages", {"pass": True})
        with gr.Row(elem_classes="answer-board"):
            with gr.Column(elem_classes="card area-candidates"):
                panel("distribution", {"full": True})
                panel("one_answer/formula")
            with gr.Column(elem_classes="card area-answer"):
                live = panel("one_answer/live", events=["asked"], elem_id="live-answer")
                panel("tokens")
                branches = panel("one_answer/fork", events=["asked"], elem_id="branches")
                panel("one_answer/whole_answer")

    bar = [page.model_name, page.prompt]
    chosen = "(given, model) => [given.model ?? model, given.prompt]"
    exports.opened(None, [exports, page.model_name], bar, js=chosen)
    lessons.closed(None, [lessons, page.model_name], bar, js=chosen)
    return lessons, live, branches


def presets() -> list[dict]:
    """For presets.js: the settings of each."""
    settings = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))
    return [{"key": key, "settings": ALL_OFF | chosen} for key, chosen in settings.items()]


class ForkQuestion(BaseModel):
    """Of live.js, fork.js and sampler.js."""

    run: str
    shared: int = Field(ge=0)  # recorded steps that stay
    forced_id: int | None = Field(None, ge=0)
    params: dict
    only_next: bool = False  # one token: a person chooses each of them
    replace: bool = False  # nobody can ask for the run any more


def branch(models: Mapping[str, LoadedModel], runs: RunStore, question: Any, *, visitor: str = "") -> Work:
    """For live.js, fork.js and sampler.js: the run that goes on from a recorded one."""
    asked = checked(ForkQuestion, question)
    run, params = kept_run(runs, asked.run), sampling_params(asked.params)
    loaded = models.get(run.model_name)
    if loaded is None:
        raise RequestError(say("one_answer.branch.other_model", model=run.model_name))
    if len(run.labels) != loaded.model.config.vocab_size:
        raise RequestError(say("one_answer.branch.other_tokens", model=loaded.name))
    wanted = (run.trace, asked.shared, params, asked.forced_id, run.cache, run.max_new_tokens, loaded.stop_ids)
    try:
        new = yield from go_on(loaded.model, *wanted, only_next=asked.only_next)
    except (TypeError, ValueError) as error:
        raise RequestError(say("one_answer.branch.problem", reason=str(error))) from None
    kept = {"cache": new.cache, "system": run.system, "history": run.history}
    made = Run.of(loaded, run.prompt, new.trace, params, run.max_new_tokens, **kept)
    runs.put(made, visitor, replaces=run.id if asked.replace else None)
    # The logits of a forced step are sent again: among those of a large vocabulary, its new token had none of its own.
    return payload(made, asked.shared, shared=asked.shared, num_reused=new.num_reused, num_computed=new.num_fed)


def kept_run(runs: RunStore, run_id: str) -> Run:
    run = runs.get(run_id)
    if run is None:
        raise RequestError(say("one_answer.gone"))
    return run


def conditions_of(run: Run, params: SamplingParams) -> str:
    """Model, prompt and settings in one line, as conditions.js says them: a picture without can't be made again."""
    settings = [
        say("page.conditions.setting", name=say(f"page.controls.label.{name}"), value=value)
        for name, value in ({"temperature": params.temperature} | params.not_off()).items()
    ]
    if run.system:
        settings.insert(0, say("page.conditions.system", system=_shortened(run.system)))
    settings.append(say("page.conditions.seed", seed=run.params.seed))
    settings.append(say("page.conditions.rule", rule=params.rule))
    prompt = _shortened(run.prompt)
    return say("page.conditions.line", model=run.model_name, prompt=prompt, settings=", ".join(settings))


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


class Export(BaseModel):
    """What exports.js asks of a recorded run."""

    run: str
    params: dict[str, Any] = {}
    step: int = 0
    dark: bool = False


def page_function(page: Page, name: str) -> Callable[[Any], dict]:
    """One of the functions that exports.js calls; gradio knows them by their names."""
    runs = page.runs

    def table(asked: Export) -> dict:
        run = kept_run(runs, asked.run)
        return {"text": csv_text(steps_table(run.trace, run.labels, sampling_params(asked.params)))}

    def recording(asked: Export) -> dict:
        return {"text": to_json(kept_run(runs, asked.run))}

    def picture(asked: Export) -> dict:
        run = kept_run(runs, asked.run)
        params, step = sampling_params(asked.params), max(0, min(asked.step, len(run.trace) - 1))
        steps = steps_table(run.trace, run.labels, params)
        candidates = candidates_table(run.trace, run.labels, params, step)
        figure = answer_figure(steps, candidates, step, len(run.labels), conditions_of(run, params))
        return {"figure": figure_json(style.resolve(figure, dark=asked.dark))}

    def reopen(text: str) -> dict:
        run = from_json(text)
        runs.put_file(run)
        on_page = run.model_name in page.models
        return payload(run, labels=run.labels, token_bytes=run.token_bytes, on_page=on_page)

    return {"table": table, "recording": recording, "picture": picture, "reopen": reopen}[name]
