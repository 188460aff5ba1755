"""Two models side by side: one prompt, two answers, the distributions at every step, and what each costs."""

from functools import partial
from typing import Any

import gradio as gr

from playground.page.bar import Page
from playground.page.lesson import read_lesson
from playground.page.lesson_card import lesson_card
from playground.page.panel import panel
from playground.tabs.two_models.pair_values import compared
from playground.tabs.two_models.sides import PackedCopy, choices
from playground.words import say


def two_models_tab(page: Page) -> None:
    def choices_now(_question: Any) -> dict[str, Any]:
        return choices(page.models)

    with gr.Tab(say("two_models.tab.title"), id="two"), gr.Column(elem_id="two-models"):
        with gr.Column(elem_classes="card"):
            gr.Markdown(f"## {say('two_models.compare.title')}", elem_classes="card-title")
            picture = panel(
                "two_models/compare",
                choices(page.models),
                elem_id="two-answers",
                events=["asked"],
                server_functions=[page.vocabulary_of, choices_now],
            )
        with gr.Column(elem_classes="card"):
            panel("two_models/distributions", elem_id="two-distributions")
        with gr.Row(elem_classes="two-row"):
            with gr.Column():
                with gr.Column(elem_classes="card"):
                    panel("two_models/divergence", elem_id="two-divergence")
                lesson_card("bits", read_lesson("two_models")["bits"])
            with gr.Column(elem_classes="card"):
                gr.Markdown(f"## {say('two_models.cost.title')}", elem_classes="card-title")
                costs = panel("table", elem_id="two-costs")

    work = partial(compared, page.models, PackedCopy())
    inputs, outputs = [picture, page.prompt, page.controls], [picture, costs]
    page.jobs.on(picture.asked, work, inputs, outputs, name="two", long=True, asks=True, trigger_mode="multiple")
