"""Thirty answers: how many are distinct, how that follows a slider, where they part, and what the batch computes."""

from functools import partial

import gradio as gr

from playground.page.bar import Page
from playground.page.controls import ALL_OFF
from playground.page.jobs import QUIET
from playground.page.lesson import read_lesson
from playground.page.lesson_card import lesson_card
from playground.page.panel import panel
from playground.page.requests import known_settings, readable_errors
from playground.tabs.thirty_answers.values import (
    MANY,
    agreement_values,
    all_values,
    among_values,
    asked_answers,
    curve_values,
)

CHAT = "minimind-chat"
OPEN, FACT = "What should I do today?", "What is the capital of France?"
AMONG_HEADERS = ["rows in the batch", "largest change of a logit", "closest two best", "same text"]


def answers_tab(page: Page) -> None:
    lessons = read_lesson("thirty_answers")
    with gr.Tab("Thirty answers", id="answers"):
        with gr.Row(elem_classes="answers-board"):
            with gr.Column(elem_classes="card answers-set"):
                answers = panel("thirty_answers/answers", events=["wanted"], elem_id="answers")
            with gr.Column(elem_classes="card answers-curve-card"):
                gr.Markdown("## Distinct answers against a slider", elem_classes="card-title")
                with gr.Row(elem_classes="answers-curve-bar"):
                    knob = gr.Radio(
                        [("temperature", "temperature"), ("top-p", "top_p"), ("top-k", "top_k")],
                        value="temperature",
                        label="Along",
                        elem_id="answers-knob",
                        min_width=380,
                        scale=0,
                    )
                    second = gr.Textbox(
                        FACT, label="Second prompt, to compare", elem_id="answers-second", max_lines=1, min_width=220
                    )
                    draw = gr.Button("Draw the curve", elem_id="answers-draw", min_width=160, scale=0)
                    stop_curve = gr.Button("Stop", elem_id="answers-stop-curve", min_width=80, scale=0)
                curve = panel("thirty_answers/curve", elem_id="answers-curve")
        with gr.Row(elem_classes="answers-lessons"):
            buttons = {key: lesson_card(key, lessons[key]) for key in ("Q1", "Q2", "Q13")}
        with gr.Column(elem_classes="card"):
            gr.Markdown(f"## {lessons['tree'].title}\n{lessons['tree'].text}", elem_classes="card-title")
            tree = panel("thirty_answers/tree", elem_id="answers-tree")
        with gr.Row(elem_classes="answers-board"):
            with gr.Column(elem_classes="card"):
                gr.Markdown(f"## {lessons['batch'].title}\n{lessons['batch'].text}", elem_classes="card-title")
                batch = panel("thirty_answers/batch", elem_id="answers-batch")
            with gr.Column(elem_classes="card"):
                gr.Markdown(f"## {lessons['agreement'].title}\n{lessons['agreement'].text}", elem_classes="card-title")
                with gr.Row():
                    many = gr.Button(f"Draw {MANY:,} answers", elem_id="answers-many", min_width=200, scale=0)
                    stop = gr.Button("Stop", elem_id="answers-stop", min_width=80, scale=0)
                agreement = panel("thirty_answers/agreement", elem_id="answers-agreement")
        with gr.Column(elem_classes="card", visible=False, elem_id="answers-among-card") as among_card:
            gr.Markdown(f"## {lessons['among'].title}\n{lessons['among'].text}", elem_classes="card-title")
            among_words = panel("job_status", {"buttons": ["#lesson-Q2"]})
            among = gr.Dataframe(headers=AMONG_HEADERS, datatype="str", interactive=False, wrap=True, elem_id="among")

    def on_preset(model_name, controls):
        model_name = CHAT if CHAT in page.models else model_name
        with readable_errors():
            return model_name, OPEN, known_settings(controls) | ALL_OFF, FACT, "temperature"

    jobs, models = page.jobs, page.models
    curve_inputs = [*page.request, knob, second]
    pictures = [answers, tree, batch]
    wanted = [answers, *page.request]
    jobs.on(
        answers.wanted,
        partial(asked_answers, models),
        wanted,
        pictures,
        name="answers",
        asks=True,
        trigger_mode="multiple",
    )
    drawn = [draw.click, second.submit, knob.input]
    jobs.on(drawn, partial(curve_values, models), curve_inputs, curve, name="curve", long=True)
    jobs.on(many.click, partial(agreement_values, models), page.request, agreement, name="agreement", long=True)
    preset = ([page.model_name, page.controls], [page.model_name, page.prompt, page.controls, second, knob])
    for key, outputs in (("Q1", [answers, curve]), ("Q13", [answers, curve, agreement])):
        ready = buttons[key].click(on_preset, *preset, queue=False, **QUIET)
        ready.success(None, None, None, js=_scroll_to("answers"))  # a low window shows the words or the pictures
        work, told = partial(all_values, models, len(outputs)), len(outputs)
        jobs.on(ready.success, work, curve_inputs, [*outputs, tree, batch], name=key, long=True, told=told)
    alone = buttons["Q2"].click(on_preset, *preset, queue=False, **QUIET)
    alone.success(lambda: gr.Column(visible=True), None, among_card, queue=False, **QUIET)
    jobs.on(alone.success, partial(among_values, models), page.request[:2], [among_words, among], name="Q2", long=True)
    alone.success(None, None, None, js=_scroll_to("answers-among-card"))
    jobs.stop(stop, "agreement", "Q13")
    jobs.stop(stop_curve, "curve", "Q1", "Q13")


def _scroll_to(elem_id: str) -> str:
    return f"() => document.getElementById('{elem_id}')?.scrollIntoView({{ block: 'nearest', behavior: 'smooth' }})"
