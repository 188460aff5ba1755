"""The first tab: everything on one screen, for the projector."""

from functools import partial

import gradio as gr

from playground.page.bar import Page
from playground.page.panel import panel
from playground.tabs.cache_on_off.race_values import raced
from playground.tabs.thirty_answers.answers import NUM_ANSWERS
from playground.words import say


def playground_tab(page: Page) -> None:
    with gr.Tab(say("playground.tab"), id="playground"), gr.Row(elem_classes="board"):
        with gr.Column(elem_classes="card area-tokens"):
            panel("tokens")
            panel("pinned")
        with gr.Column(elem_classes="card area-distribution"):
            panel("distribution")
        with gr.Column(elem_classes="card area-nucleus"):
            _title("playground.title.nucleus")
            panel("playground/nucleus")
        with gr.Column(elem_classes="card area-compare"):
            _title("playground.title.compare")
            compare = gr.Button(say("playground.compare_button"), elem_id="compare", size="md")
            comparison = panel("playground/compare")
        with gr.Column(elem_classes="card area-cache"):
            _title("playground.title.cache")
            panel("cache_growth")
        with gr.Column(elem_classes="card area-answers"):
            _title("playground.title.dots", count=NUM_ANSWERS)
            panel("thirty_answers/dots", {"count": NUM_ANSWERS})

    work = partial(raced, page.models)
    page.jobs.on(compare.click, work, page.request, comparison, name="compare", long=True, trigger_mode="multiple")


def _title(key: str, **facts: int) -> None:
    gr.Markdown(f"## {say(key, **facts)}", elem_classes="card-title")
