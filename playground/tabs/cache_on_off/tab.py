"""Cache on and off: one answer written twice, the work beside it, and the usual causes when it is not the same."""

from collections.abc import Iterator, Mapping
from functools import partial

import gradio as gr

from playground.models.text import LoadedModel
from playground.page.bar import Page
from playground.page.jobs import QUIET
from playground.page.lesson import Section, read_lesson
from playground.page.lesson_card import TO_THE_TOP, lesson_card
from playground.page.line import StoppedError
from playground.page.panel import figure_json, panel, plot_panel
from playground.page.requests import (
    known_settings,
    model_of,
    new_tokens,
    prompt_ids_of,
    readable_errors,
    sampling_params,
)
from playground.tabs.cache_on_off.clinic_part import clinic_part
from playground.tabs.cache_on_off.figures import cumulative_figure, step_times_figure
from playground.tabs.cache_on_off.race import race
from playground.tabs.cache_on_off.race_values import race_values
from playground.tabs.cache_on_off.sweep import text_of_length
from playground.tabs.cache_on_off.sweep_part import first_token_part, sweep_part

COURSE_PROMPT, COURSE_NEW = 183, 64


def race_tab(page: Page) -> None:
    lessons = read_lesson("cache_on_off")
    with gr.Tab("Cache on / off", id="race"), gr.Tabs(elem_id="race-parts"):
        with gr.Tab("Race", id="race-run"):
            _race_part(page, lessons)
        with gr.Tab("First token", id="race-first"):
            first_token_part(page, lessons)
        with gr.Tab("Short and long", id="race-sweep"):
            sweep_part(page, lessons)
        with gr.Tab("Clinic", id="race-clinic"):
            clinic_part(page, lessons)


def _race_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Row(elem_classes="race-buttons"):
        start = gr.Button("Start both", variant="primary", elem_id="race-start", scale=0, min_width=180)
        stop = gr.Button("Stop", elem_id="race-stop", scale=0, min_width=100)
        course = gr.Button("183 + 64: the course's numbers", elem_id="race-course", scale=0, min_width=300)
        past_stop = gr.Checkbox(
            False, label="Exactly that many tokens, past the end token", elem_id="race-past", min_width=420, scale=0
        )
    with gr.Row(elem_classes="race-board"):
        with gr.Column(elem_classes="card race-area"):
            racers = panel("cache_on_off/race", elem_id="race-panel")
        with gr.Column(elem_classes="card work-area"):
            gr.Markdown("## The work, cell by cell", elem_classes="card-title")
            panel("cache_on_off/work_picture")
        with gr.Column(elem_classes="card race-outcome"):
            panel("cache_on_off/race_result", elem_id="race-result")
        with gr.Column(elem_classes="card race-curves"):
            per_step = plot_panel(elem_id="race-steps")
            in_sum = plot_panel(elem_id="race-sum")
    with gr.Row(elem_classes="lessons"):
        buttons = {key: lesson_card(key, lessons[key]) for key in ("K5", "K13", "K2")}

    def on_course(model_name, controls):
        with readable_errors():
            settings = known_settings(controls)
        return course_prompt(page.models[model_name]), settings | {"max_new_tokens": COURSE_NEW}, True

    def on_one_token(controls):
        with readable_errors():
            return known_settings(controls) | {"max_new_tokens": 1}

    inputs, outputs = [*page.request, past_stop], [racers, per_step, in_sum]
    quiet = {"queue": False, "js": TO_THE_TOP, **QUIET}
    course_outputs = [page.prompt, page.controls, past_stop]
    readies = [
        button.click(on_course, [page.model_name, page.controls], course_outputs, **quiet)
        for button in (course, buttons["K5"], buttons["K2"])
    ]
    readies.append(buttons["K13"].click(on_one_token, page.controls, page.controls, **quiet))
    begin = [start.click, *(ready.success for ready in readies)]
    for trigger in begin:
        page.jobs.on(trigger, partial(raced, page.models), inputs, outputs, name="race", long=True)
    page.jobs.stop(stop, "race")


def raced(
    models: Mapping[str, LoadedModel], model_name: str, prompt: str, controls: dict, past_stop: bool
) -> Iterator[tuple | None]:
    """For race.js, and the curves of the seconds."""
    loaded, params, count = model_of(models, model_name), sampling_params(controls), new_tokens(controls)
    prompt_ids, value = prompt_ids_of(loaded, prompt), None
    ticks = race(loaded, prompt_ids, params, count, past_stop=bool(past_stop))
    try:
        for new in race_values(loaded, prompt_ids, count, ticks):
            value = new or value
            yield new and (new, None, None)
    except StoppedError:
        yield stopped(value), None, None
        return
    result = value["result"]
    on, off = result["seconds"]["on"], result["seconds"]["off"]
    yield (
        value | {"phase": "done", "status": None},
        figure_json(step_times_figure(on, off)),
        figure_json(cumulative_figure(on, off, result["pays_from"])),
    )


def stopped(value: dict | None) -> dict | None:
    """What the panel shows of a run that was stopped: all that there is, and that it was not the whole."""
    return value and value | {"phase": "stopped", "status": "Stopped by hand: these are the tokens written so far."}


def course_prompt(loaded) -> str:
    """The prompt of the course's count: exactly 183 tokens, template included."""
    try:
        return text_of_length(loaded, COURSE_PROMPT)
    except ValueError as error:
        raise gr.Error(f"{error}.", print_exception=False) from None
