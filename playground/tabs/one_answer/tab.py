"""One answer, token by token: what each stage leaves, how sure the model was, and what else it could have said."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import gradio as gr

from playground import style
from playground.engine.model import ContextFullError
from playground.engine.params import SamplingParams
from playground.engine.sampling import NoTokenError
from playground.models.figure import answer_figure
from playground.models.tables import candidates_table, steps_table
from playground.page.bar import MODEL_LINE, Page
from playground.page.controls import ALL_OFF, sampling_params
from playground.page.panel import figure_json, panel
from playground.page.runs import Run, RunFileError, RunStore, from_json, payload, to_json
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

    def on_go_on(question: dict | None) -> dict:
        return go_on_value(page, question or {})

    def on_question(question: dict | None) -> Iterator[tuple]:
        yield from answer_question(page, question or {})

    for asking in (live, branches):
        asking.asked(on_go_on, asking, asking, trigger_mode="multiple", **MODEL_LINE)
    request = [page.model_name, page.prompt, page.controls, page.run]
    lessons.asked(on_question, lessons, [*request, lessons], trigger_mode="multiple", **MODEL_LINE)


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


def go_on_value(page: Page, question: dict) -> dict:
    """For live.js and fork.js: the run that goes on from a recorded one, or one sentence in `problem`."""
    reply = {"reply": question.get("number")}
    run = page.runs.get(str(question.get("run")))
    if run is None:
        return reply | {"problem": GONE}
    loaded = page.models.get(run.model_name)
    if loaded is None:
        return reply | {"problem": f"This run was written by {run.model_name}, which is not on this page."}
    if len(run.labels) != loaded.model.config.vocab_size:
        return reply | {"problem": f"This run was written with other tokens than {loaded.name} has on this page."}
    try:
        params = sampling_params(question.get("params"))
        shared, forced_id = int(question.get("shared")), question.get("forced_id")
        new = go_on(loaded.model, run.trace, shared, params, forced_id, run.cache, run.max_new_tokens, loaded.stop_ids)
    except gr.Error as error:
        return reply | {"problem": error.message}
    except (TypeError, ValueError, NoTokenError, ContextFullError) as error:
        return reply | {"problem": f"The model can't go on from there: {error}."}
    branch = Run.of(loaded, run.prompt, new.trace, params, run.max_new_tokens, cache=new.cache)
    page.runs.put(branch, replaces=run.id if question.get("replace") else None)
    known = shared + (forced_id is not None)  # steps whose logits the browser has
    return reply | payload(branch, known, shared=known, num_reused=new.num_reused, num_fed=new.num_fed)


def conditions_of(run: Run, params: SamplingParams) -> str:
    """Model, prompt and settings in one line: a picture without them can't be made again."""
    on = [f"{name} {value}" for name, value in params.not_off().items() if name != "temperature"]
    settings = ", ".join([f"temperature {params.temperature}", *on, f"seed {run.params.seed}", f"{params.rule} order"])
    prompt = run.prompt if len(run.prompt) <= 60 else f"{run.prompt[:59]}…"
    return f"{run.model_name}: “{prompt}” · {settings}"


def page_function(runs: RunStore, name: str):
    """One of the functions that exports.js calls; gradio knows them by their names."""

    def table(question: dict) -> dict:
        run = runs.get(str(question.get("run")))
        if run is None:
            return {"problem": GONE}
        return {"text": csv_text(steps_table(run.trace, run.labels, sampling_params(question.get("params"))))}

    def recording(question: dict) -> dict:
        run = runs.get(str(question.get("run")))
        return {"text": to_json(run)} if run else {"problem": GONE}

    def picture(question: dict) -> dict:
        run = runs.get(str(question.get("run")))
        if run is None:
            return {"problem": GONE}
        params, step = sampling_params(question.get("params")), int(question.get("step") or 0)
        step = max(0, min(step, len(run.trace) - 1))
        steps = steps_table(run.trace, run.labels, params)
        candidates = candidates_table(run.trace, run.labels, params, step)
        figure = answer_figure(steps, candidates, step, len(run.labels), conditions_of(run, params))
        return {"figure": figure_json(style.resolve(figure, dark=bool(question.get("dark"))))}

    def reopen(text: str) -> dict:
        try:
            run = from_json(text)
        except RunFileError as error:
            return {"problem": str(error)}
        runs.put(run)
        return payload(run, labels=run.labels, token_bytes=run.token_bytes)

    return {"table": table, "recording": recording, "picture": picture, "reopen": reopen}[name]
