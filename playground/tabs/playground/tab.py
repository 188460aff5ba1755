"""The first tab: what one drag does, at a glance."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gradio as gr

from playground.engine.generation import timed
from playground.models.text import LoadedModel
from playground.page.bar import Page
from playground.page.browser_files import SameForAll
from playground.page.controls import DEFAULTS
from playground.page.line import Work
from playground.page.panel import panel
from playground.page.recording import record_run
from playground.page.requests import RequestError, model_of
from playground.tabs.cache_on_off.race_values import raced
from playground.tabs.thirty_answers.answers import NUM_ANSWERS
from playground.tabs.thirty_answers.values import answer_values
from playground.words import say

QUICK_STEP_SECONDS = 0.03


def playground_tab(page: Page) -> None:
    with gr.Tab(say("playground.tab"), id="playground"), gr.Row(elem_classes="board"):
        with gr.Column(elem_classes="card area-tokens"):
            panel("tokens")
            panel("playground/opening", server_functions=[_opening(page)])
            panel("pinned")
        with gr.Column(elem_classes="card area-distribution"):
            panel("distribution")
        with _mini("nucleus", "sampling"):
            panel("playground/nucleus", elem_classes=["mini-row"])
        with _mini("answers", "answers", count=NUM_ANSWERS):
            panel("thirty_answers/dots", {"count": NUM_ANSWERS})
        with _mini("compare", "race"):
            compare = gr.Button(say("playground.compare_button"), elem_id="compare", size="sm")
            comparison = panel("playground/compare")
        with _mini("cache", "cache"):
            panel("playground/cache", elem_classes=["mini-row"])

    work = partial(raced, page.models)
    page.jobs.on(compare.click, work, page.request, comparison, name="compare", long=True, trigger_mode="multiple")


def _mini(name: str, tab: str, **facts: int) -> gr.Column:
    """A small live picture whose title opens the tab that has the large one."""
    card = gr.Column(elem_classes=f"card mini area-{name}")
    with card:
        panel("playground/mini_title", {"text": say(f"playground.title.{name}", **facts), "tab": tab})
    return card


def _opening(page: Page) -> Callable[[], SameForAll]:
    """Made once, when the server starts, and the same for every visitor: a page load runs nothing."""
    name, prompt = page.model_name.value, page.prompt.value
    asked = {"model": name, "prompt": prompt, "params": _settings()}
    is_quick = _is_quick(model_of(page.models, name), prompt)  # else the page asks for them by itself
    made = {  # the answers first: torch is slow at its first passes, and the run tells how long it took
        "answers": _last(answer_values(page.models, asked)) if is_quick else None,
        "vocabulary": page.vocabulary_of(name),
        "run": _last(record_run(page.models, page.runs, name, prompt, DEFAULTS)),
        "comparison": _race(page, name, prompt) if is_quick else None,
    }

    answer = SameForAll(made)

    def opening(_nothing: Any = None) -> SameForAll:
        return answer

    return opening


def _is_quick(loaded: LoadedModel, prompt: str) -> bool:
    """Whether a step takes so little that the server can make more than one answer before it opens."""
    steps = list(timed(loaded.steps(prompt, max_new_tokens=4, stop_ids=())))
    return min(seconds for _, seconds in steps[1:]) < QUICK_STEP_SECONDS


def _race(page: Page, name: str, prompt: str) -> dict[str, Any] | None:
    """None of a model whose work can't be counted."""
    try:
        return _last(raced(page.models, name, prompt, DEFAULTS))
    except RequestError:
        return None


def _settings() -> dict[str, Any]:
    return {key: value for key, value in DEFAULTS.items() if key != "max_new_tokens"}


def _last(work: Work) -> dict[str, Any]:
    """What a piece of work returns, or yields last."""
    made: Any = None
    while True:
        try:
            made = next(work) or made
        except StopIteration as end:
            return end.value or made
