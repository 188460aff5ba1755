"""Cache on and off: one answer written twice, the work beside it, and the usual causes when it is not the same."""

from functools import partial

import gradio as gr

from playground.page.bar import Page
from playground.page.jobs import QUIET
from playground.page.lesson import Section, read_lesson
from playground.page.lesson_card import lesson_card
from playground.page.panel import panel
from playground.page.requests import RequestError, own_model_of
from playground.tabs.cache_on_off.clinic_part import clinic_part, formats_part
from playground.tabs.cache_on_off.loop import loop_lines
from playground.tabs.cache_on_off.race_values import SHORT_NEW, raced, raced_course, raced_short, raced_unasked
from playground.tabs.cache_on_off.sweep_part import first_token_part, sweep_part
from playground.tabs.cache_on_off.work_growth import work_growth
from playground.words import say


def race_tab(page: Page) -> None:
    lessons = read_lesson("cache_on_off")
    with gr.Tab(say("cache_on_off.tab"), id="race"), gr.Tabs(elem_id="race-parts", overflow_behavior="wrap"):
        with gr.Tab(say("cache_on_off.race.tab"), id="race-run"):
            _race_part(page)
        with gr.Tab(say("cache_on_off.times.tab"), id="race-times"):
            _times_part()
        with gr.Tab(say("cache_on_off.loop.tab"), id="race-loop"):
            _loop_part(lessons)
        with gr.Tab(say("cache_on_off.growth.tab"), id="race-growth"):
            _growth_part(page, lessons)
        with gr.Tab(say("cache_on_off.first.tab"), id="race-first"):
            first_token_part(page, lessons)
        with gr.Tab(say("cache_on_off.sweep.tab"), id="race-sweep"):
            sweep_part(page, lessons)
        with gr.Tab(say("cache_on_off.clinic.tab"), id="race-clinic"):
            clinic_part(page, lessons)
        with gr.Tab(say("cache_on_off.formats.tab"), id="race-bits"):
            formats_part(page, lessons)


def _race_part(page: Page) -> None:
    with gr.Row(elem_classes="race-buttons"):
        texts = {name: say(f"cache_on_off.race.{name}") for name in ("bar", "course", "stop", "past_stop")}
        short = say("cache_on_off.race.short", count=SHORT_NEW)
        start = gr.Button(short, variant="primary", elem_id="race-start", scale=0, min_width=160)
        course = gr.Button(texts["course"], elem_id="race-course", scale=0, min_width=160)
        own = gr.Button(texts["bar"], elem_id="race-bar", scale=0, min_width=160)
        stop = gr.Button(texts["stop"], elem_id="race-stop", scale=0, min_width=90)
        past_stop = gr.Checkbox(
            False, label=texts["past_stop"], elem_id="race-past", min_width=160, scale=0, container=False
        )
    with gr.Column(elem_classes="card race-area"):
        racers = panel("cache_on_off/race", elem_id="race-panel", events=["asked"])
    for trigger, work, inputs in (
        (start.click, raced_short, [*page.request, past_stop]),
        (own.click, raced, [*page.request, past_stop]),
        (course.click, raced_course, [page.model_name, page.controls]),
    ):
        work = partial(work, page.models)
        page.jobs.on(trigger, work, inputs, racers, name="race", long=True, trigger_mode="multiple")
    work = partial(raced_unasked, page.models)
    page.jobs.on(racers.asked, work, [racers, *page.request], racers, name="race", long=True, asks=True)
    page.jobs.stop(stop, "race")


def _times_part() -> None:
    """The numbers of the race, and where its time went."""
    with gr.Column(elem_classes="card race-outcome"):
        gr.Markdown(f"## {say('cache_on_off.times.title')}", elem_classes="card-title")
        panel("cache_on_off/race_result", elem_id="race-result")
        with gr.Row(elem_classes="race-curves"):
            panel("cache_on_off/curve", {"figure": "steps"}, elem_id="race-steps")
            panel("cache_on_off/curve", {"figure": "sum"}, elem_id="race-sum")


def _loop_part(lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('cache_on_off.loop.title')}", elem_classes="card-title")
        panel("cache_on_off/loop", {"lines": loop_lines()}, elem_id="race-loop-panel")
    with gr.Row(elem_classes="lessons"):
        for key in ("K13", "K2"):
            lesson_card(key, lessons[key])


def _growth_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('cache_on_off.growth.title')}", elem_classes="card-title")
        growth = panel("cache_on_off/work_growth", elem_id="race-growth-panel")
    with gr.Row(elem_classes="lessons"):
        lesson_card("K5", lessons["K5"])

    def on_model(name: str):
        try:
            return work_growth(own_model_of(page.models, name).model)
        except RequestError as error:  # nothing was pressed yet: it is said where the picture would be
            return {"problem": str(error)}

    # Without a trigger: when the page is loaded and when another model is chosen.
    gr.on(None, on_model, page.model_name, growth, queue=False, **QUIET)
