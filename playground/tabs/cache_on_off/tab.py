"""Cache on and off: one answer written twice, the work beside it, and the usual causes when it is not the same."""

from functools import partial

import gradio as gr

from playground.page.bar import Page
from playground.page.jobs import QUIET
from playground.page.lesson import Section, read_lesson
from playground.page.lesson_card import TO_THE_TOP, lesson_card
from playground.page.panel import panel
from playground.page.requests import known_settings, model_of
from playground.tabs.cache_on_off.clinic_part import clinic_part
from playground.tabs.cache_on_off.race_values import raced
from playground.tabs.cache_on_off.sweep import text_of_length
from playground.tabs.cache_on_off.sweep_part import first_token_part, sweep_part
from playground.words import say

COURSE_PROMPT, COURSE_NEW = 183, 64


def race_tab(page: Page) -> None:
    lessons = read_lesson("cache_on_off")
    with gr.Tab(say("cache_on_off.tab"), id="race"), gr.Tabs(elem_id="race-parts"):
        with gr.Tab(say("cache_on_off.race.tab"), id="race-run"):
            _race_part(page, lessons)
        with gr.Tab(say("cache_on_off.first.tab"), id="race-first"):
            first_token_part(page, lessons)
        with gr.Tab(say("cache_on_off.sweep.tab"), id="race-sweep"):
            sweep_part(page, lessons)
        with gr.Tab(say("cache_on_off.clinic.tab"), id="race-clinic"):
            clinic_part(page, lessons)


def _race_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Row(elem_classes="race-buttons"):
        texts = {name: say(f"cache_on_off.race.{name}") for name in ("start", "stop", "course", "past_stop")}
        start = gr.Button(texts["start"], variant="primary", elem_id="race-start", scale=0, min_width=180)
        stop = gr.Button(texts["stop"], elem_id="race-stop", scale=0, min_width=100)
        course = gr.Button(texts["course"], elem_id="race-course", scale=0, min_width=300)
        past_stop = gr.Checkbox(False, label=texts["past_stop"], elem_id="race-past", min_width=420, scale=0)
    racers = _race_board()
    with gr.Row(elem_classes="lessons"):
        buttons = {key: lesson_card(key, lessons[key]) for key in ("K5", "K13", "K2")}

    def on_course(model_name: str, controls: dict):
        settings = known_settings(controls)
        prompt = text_of_length(model_of(page.models, model_name), COURSE_PROMPT)
        return prompt, settings | {"max_new_tokens": COURSE_NEW}, True

    def on_one_token(controls: dict):
        return known_settings(controls) | {"max_new_tokens": 1}

    quiet = {"queue": False, "js": TO_THE_TOP, **QUIET}
    course_inputs, course_outputs = [page.model_name, page.controls], [page.prompt, page.controls, past_stop]
    readies = [
        button.click(on_course, course_inputs, course_outputs, **quiet)
        for button in (course, buttons["K5"], buttons["K2"])
    ]
    readies.append(buttons["K13"].click(on_one_token, page.controls, page.controls, **quiet))
    work, inputs = partial(raced, page.models), [*page.request, past_stop]
    for trigger in (start.click, *(ready.success for ready in readies)):
        page.jobs.on(trigger, work, inputs, racers, name="race", long=True, trigger_mode="multiple")
    page.jobs.stop(stop, "race")


def _race_board() -> gr.HTML:
    """The pictures of a race; the first of them hears of the job."""
    with gr.Row(elem_classes="race-board"):
        with gr.Column(elem_classes="card race-area"):
            racers = panel("cache_on_off/race", elem_id="race-panel")
        with gr.Column(elem_classes="card work-area"):
            gr.Markdown(f"## {say('cache_on_off.work.title')}", elem_classes="card-title")
            panel("cache_on_off/work_picture")
        with gr.Column(elem_classes="card race-outcome"):
            panel("cache_on_off/race_result", elem_id="race-result")
        with gr.Column(elem_classes="card race-curves"):
            panel("cache_on_off/curve", {"figure": "steps"}, elem_id="race-steps")
            panel("cache_on_off/curve", {"figure": "sum"}, elem_id="race-sum")
    return racers
