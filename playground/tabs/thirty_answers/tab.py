"""Thirty answers: how many are distinct, how that follows a slider, where they diverge, and what the batch computes."""

from functools import partial

import gradio as gr
from gradio.events import Dependency

from playground.page.bar import Page
from playground.page.controls import ALL_OFF
from playground.page.jobs import QUIET
from playground.page.lesson import Section, read_lesson
from playground.page.lesson_card import lesson_card
from playground.page.panel import panel
from playground.page.requests import known_settings, model_of
from playground.tabs.thirty_answers.answers import NUM_ANSWERS
from playground.tabs.thirty_answers.curve import VALUES
from playground.tabs.thirty_answers.figures import knob_name
from playground.tabs.thirty_answers.frequency import SIZES
from playground.tabs.thirty_answers.values import (
    agreement_values,
    among_values,
    answer_values,
    curve_and_agreement,
    curve_values,
)
from playground.words import say

CHAT, KNOBS = "minimind-chat", tuple(VALUES)
OPEN, FACT = say("thirty_answers.open_question"), say("thirty_answers.fact")
COUNT = {"count": NUM_ANSWERS}  # that the words of a picture say before there are answers
AMONG_COLUMNS = ("rows", "change", "lead", "same")
_SAID = "(model, prompt) => ({ model, prompt: prompt ?? '' })"


def shared_answers(page: Page) -> None:
    """One set of thirty answers for all pictures of them, whichever tab is open. It shows nothing itself."""
    names = [page.model_name, page.prompt]
    said = panel("thirty_answers/bar", {"model": page.model_name.value, "prompt": page.prompt.value})
    gr.on([page.model_name.change, page.prompt.change], None, names, said, js=_SAID, queue=False, **QUIET)
    asking = panel("thirty_answers/asking", events=["asked"])
    work = partial(answer_values, page.models)
    page.jobs.on(asking.asked, work, asking, asking, name="answers", asks=True, trigger_mode="multiple")


def answers_tab(page: Page) -> None:
    lessons = read_lesson("thirty_answers")
    with gr.Tab(say("thirty_answers.tab"), id="answers"):
        with gr.Row(elem_classes="answers-board"):
            with gr.Column(elem_classes="card answers-set"):
                panel("thirty_answers/answers", COUNT, elem_id="answers")
            with gr.Column(elem_classes="card answers-curve-card"):
                knob, second, curve = _curve_card(page)
        with gr.Row(elem_classes="answers-lessons"):
            buttons = {key: lesson_card(key, lessons[key]) for key in ("Q1", "Q2", "Q13")}
        with gr.Column(elem_classes="card"):
            _title(lessons["tree"])
            panel("thirty_answers/tree", elem_id="answers-tree")
        with gr.Row(elem_classes="answers-board"):
            with gr.Column(elem_classes="card"):
                _title(lessons["batch"])
                panel("thirty_answers/batch", {"most": max(SIZES)}, elem_id="answers-batch")
            with gr.Column(elem_classes="card"):
                _title(lessons["agreement"])
                agreement = _agreement_card(page)
        with gr.Column(elem_classes="card", visible=False, elem_id="answers-among-card") as among_card:
            _title(lessons["among"])
            among_status = panel("job_status", {"buttons": ["#lesson-Q2"]})
            headers = [say(f"thirty_answers.among.column.{column}") for column in AMONG_COLUMNS]
            among = gr.Dataframe(headers=headers, datatype="str", interactive=False, wrap=True, elem_id="among")
    _lesson_events(page, buttons, knob, second, curve, agreement)
    alone = _sets_the_bar(page, buttons["Q2"], knob, second)
    alone.success(lambda: gr.Column(visible=True), None, among_card, queue=False, **QUIET)
    work, outputs = partial(among_values, page.models), [among_status, among]
    page.jobs.on(alone.success, work, page.request[:2], outputs, name="Q2", long=True)
    alone.success(None, None, None, js=_scroll_to("answers-among-card"))


def _curve_card(page: Page) -> tuple[gr.Radio, gr.Textbox, gr.HTML]:
    gr.Markdown(f"## {say('thirty_answers.curve.title')}", elem_classes="card-title")
    with gr.Row(elem_classes="answers-curve-bar"):
        knob = gr.Radio(
            [(knob_name(knob), knob) for knob in KNOBS],
            value=KNOBS[0],
            label=say("thirty_answers.curve.knob"),
            elem_id="answers-knob",
            min_width=380,
            scale=0,
        )
        label = say("thirty_answers.curve.second")
        second = gr.Textbox(FACT, label=label, elem_id="answers-second", max_lines=1, min_width=220)
        plot = gr.Button(say("thirty_answers.curve.button"), elem_id="answers-plot", min_width=160, scale=0)
        stop = gr.Button(say("thirty_answers.stop"), elem_id="answers-stop-curve", min_width=80, scale=0)
    curve = panel("thirty_answers/curve", COUNT, elem_id="answers-curve")
    plotted, work = [plot.click, second.submit, knob.input], partial(curve_values, page.models)
    page.jobs.on(plotted, work, [*page.request, knob, second], curve, name="curve", long=True)
    page.jobs.stop(stop, "curve", "Q1", "Q13")
    return knob, second, curve


def _agreement_card(page: Page) -> gr.HTML:
    with gr.Row():
        label = say("thirty_answers.agreement.button", count=max(SIZES))
        many = gr.Button(label, elem_id="answers-many", min_width=200, scale=0)
        stop = gr.Button(say("thirty_answers.stop"), elem_id="answers-stop", min_width=80, scale=0)
    agreement = panel("thirty_answers/agreement", elem_id="answers-agreement")
    work = partial(agreement_values, page.models)
    page.jobs.on(many.click, work, page.request, agreement, name="agreement", long=True)
    page.jobs.stop(stop, "agreement", "Q13")
    return agreement


def _lesson_events(
    page: Page,
    buttons: dict[str, gr.Button | None],
    knob: gr.Radio,
    second: gr.Textbox,
    curve: gr.HTML,
    agreement: gr.HTML,
) -> None:
    """Each sets the bar, and so the tab asks for thirty answers; the longer work waits in line."""
    inputs = [*page.request, knob, second]
    for key, work, outputs in (("Q1", curve_values, [curve]), ("Q13", curve_and_agreement, [curve, agreement])):
        ready = _sets_the_bar(page, buttons[key], knob, second)
        ready.success(None, None, None, js=_scroll_to("answers"))  # a low window shows the words or the pictures
        work = partial(work, page.models)
        page.jobs.on(ready.success, work, inputs, outputs, name=key, long=True, told=len(outputs))


def _sets_the_bar(page: Page, button: gr.Button, knob: gr.Radio, second: gr.Textbox) -> Dependency:
    def on_preset(model_name: str, controls: dict):
        model_name = CHAT if CHAT in page.models else model_of(page.models, model_name).name
        return model_name, OPEN, known_settings(controls) | ALL_OFF, FACT, KNOBS[0]

    boxes = [page.model_name, page.prompt, page.controls, second, knob]
    return button.click(on_preset, [page.model_name, page.controls], boxes, queue=False, **QUIET)


def _title(section: Section) -> None:
    gr.Markdown(f"## {section.title}\n{section.text}", elem_classes="card-title")


def _scroll_to(elem_id: str) -> str:
    return f"() => document.getElementById('{elem_id}')?.scrollIntoView({{ block: 'nearest', behavior: 'smooth' }})"
