"""Thirty answers: how many are different, how that follows a slider, where they diverge, what the batch computes."""

from collections.abc import Callable
from functools import partial

import gradio as gr

from playground.page.bar import Page
from playground.page.controls import ALL_OFF
from playground.page.jobs import QUIET
from playground.page.lesson import Section, read_lesson
from playground.page.lesson_card import lesson_card
from playground.page.line import Work
from playground.page.panel import panel
from playground.page.requests import known_settings, model_of
from playground.tabs.thirty_answers.answers import NUM_ANSWERS
from playground.tabs.thirty_answers.frequency import SIZES
from playground.tabs.thirty_answers.kept_answers import KeptAnswers
from playground.tabs.thirty_answers.values import agreement_values, among_values, curve_values
from playground.words import say

CHAT = "minimind-chat"
OPEN, FACT = say("thirty_answers.open_question"), say("thirty_answers.fact")
COUNT = {"count": NUM_ANSWERS}  # that the words of a picture say before there are answers
_SAID = "(model, prompt) => ({ model, prompt: prompt ?? '' })"


def shared_answers(page: Page) -> None:
    """One set of thirty answers for all pictures of them, whichever tab is open. It shows nothing itself."""
    names = [page.model_name, page.prompt]
    said = panel("thirty_answers/bar", {"model": page.model_name.value, "prompt": page.prompt.value})
    gr.on([page.model_name.change, page.prompt.change], None, names, said, js=_SAID, queue=False, **QUIET)
    asking = panel("thirty_answers/asking", events=["asked"])
    _answers(page, asking, KeptAnswers().values, "answers", long=False)


def answers_tab(page: Page) -> None:
    lessons = read_lesson("thirty_answers")
    with gr.Tab(say("thirty_answers.tab"), id="answers"), gr.Tabs(elem_id="answers-parts", overflow_behavior="wrap"):
        with gr.Tab(say("thirty_answers.part.count"), id="answers-count"), gr.Row(elem_classes="answers-board"):
            with gr.Column(elem_classes="card answers-set"):
                panel("thirty_answers/answers", COUNT, elem_id="answers")
            with gr.Column():
                with gr.Column(elem_classes="card"):
                    _title(lessons["curve"])
                    curve = panel("thirty_answers/curve", events=["asked"], elem_id="answers-curve")
                _question(page, lessons, "Q1")
        with gr.Tab(say("thirty_answers.part.tree"), id="answers-diverge"), gr.Column(elem_classes="card"):
            _title(lessons["tree"])
            panel("thirty_answers/tree", elem_id="answers-tree")
        with gr.Tab(say("thirty_answers.part.odds"), id="answers-odds"), gr.Row(elem_classes="answers-board is-wide"):
            with gr.Column(elem_classes="card"):
                _title(lessons["agreement"])
                agreement = panel("thirty_answers/agreement", events=["asked"], elem_id="answers-agreement")
            _question(page, lessons, "Q13")
        with gr.Tab(say("thirty_answers.part.batch"), id="answers-together"):
            with gr.Column(elem_classes="card"):
                _title(lessons["batch"])
                panel("thirty_answers/batch", {"most": max(SIZES)}, elem_id="answers-batch")
            with gr.Row(elem_classes="answers-board"):
                with gr.Column(elem_classes="card"):
                    _title(lessons["among"])
                    among = panel("thirty_answers/among", events=["asked"], elem_id="answers-among")
                _question(page, lessons, "Q2")

    _answers(page, curve, curve_values, "curve", long=True)
    _answers(page, agreement, agreement_values, "agreement", long=True)
    _answers(page, among, among_values, "among", long=False)


def _answers(page: Page, asking: gr.HTML, work: Callable[..., Work], name: str, *, long: bool) -> None:
    """The panel asks by itself, and is given what comes of it."""
    options = {"name": name, "long": long, "asks": True, "trigger_mode": "multiple"}
    page.jobs.on(asking.asked, partial(work, page.models), asking, asking, **options)


def _question(page: Page, lessons: dict[str, Section], key: str) -> None:
    """What people ask, and a button that asks the model in the bar: the pictures then follow by themselves."""
    button = lesson_card(key, lessons[key])

    def on_preset(model_name: str, controls: dict):
        model_name = CHAT if CHAT in page.models else model_of(page.models, model_name).name
        return model_name, OPEN, known_settings(controls) | ALL_OFF

    boxes = [page.model_name, page.prompt, page.controls]
    button.click(on_preset, [page.model_name, page.controls], boxes, queue=False, **QUIET)


def _title(section: Section) -> None:
    gr.Markdown(f"## {section.title}\n{section.text}", elem_classes="card-title")
