"""Kinds of cache: what each keeps, what that costs and what is lost; the calls behind it; those of transformers."""

from collections.abc import Callable
from functools import partial

import gradio as gr

from playground.models.held import HeldModels
from playground.page.bar import Page
from playground.page.jobs import QUIET
from playground.page.lesson import Section, read_lesson
from playground.page.lesson_card import lesson_card
from playground.page.line import Work
from playground.page.panel import panel, plot_panel
from playground.tabs.kinds_of_cache.blocks_values import shared_blocks, where_it_lies
from playground.tabs.kinds_of_cache.comparison_values import (
    BUDGETS,
    SOME_BUDGETS,
    all_stories,
    along_a_text,
    compared,
    readers,
)
from playground.tabs.kinds_of_cache.stories import stories
from playground.tabs.kinds_of_cache.update_values import loop_text, theirs_value, update_calls
from playground.words import say


def kinds_tab(page: Page) -> None:
    lessons = read_lesson("kinds_of_cache")
    parts = {
        "budget": _budget_part,
        "stories": _stories_part,
        "long": _long_part,
        "update": _update_part,
        "blocks": _blocks_part,
        "places": _places_part,
        "theirs": _theirs_part,
    }
    with gr.Tab(say("kinds_of_cache.tab.title"), id="kinds"), gr.Tabs(elem_id="kinds-parts", overflow_behavior="wrap"):
        for name, part in parts.items():
            title = say(f"kinds_of_cache.tab.{name}")
            with gr.Tab(title, id=f"kinds-{name}"), gr.Column(elem_classes="kinds-part"):
                part(page, lessons)


def _budget_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('kinds_of_cache.compare.title')}", elem_classes="card-title")
        about = {"stories": [_named(index) for index in range(len(stories()))], "budgets": BUDGETS}
        picture = panel("kinds_of_cache/compare", about, elem_id="kinds-comparison", events=["asked"])
    with gr.Row(elem_classes="lessons"):
        lesson_card("K16", lessons["K16"])

    work, inputs = partial(compared, page.models), [picture, *page.request]
    page.jobs.on(picture.asked, work, inputs, picture, name="kinds", long=True, asks=True, trigger_mode="multiple")


def _named(index: int) -> str:
    story = stories()[index]
    return say("kinds_of_cache.compare.story", number=index + 1, question=story.question, word=story.word)


def _budget_choice(elem_id: str) -> gr.Radio:
    return gr.Radio(
        [str(budget) for budget in SOME_BUDGETS],
        value=str(BUDGETS[2]),
        label=say("kinds_of_cache.stories.budget"),
        elem_id=elem_id,
    )


def _stories_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('kinds_of_cache.stories.title')}", elem_classes="card-title")
        gr.Markdown(say("kinds_of_cache.stories.text", count=len(stories())), elem_classes="card-words")
        with gr.Row(elem_classes="kinds-choices"):
            budget = _budget_choice("kinds-stories-budget")
            start, stop = _buttons("stories")
        status = panel("job_status", elem_id="kinds-stories-status")
        bars = panel("bars", elem_id="kinds-stories-bars")
    _measure(page, "stories", [start.click], stop, all_stories, [budget, page.model_name], status, [bars])


def _long_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('kinds_of_cache.long.title')}", elem_classes="card-title")
        gr.Markdown(say("kinds_of_cache.long.text"), elem_classes="card-words")
        with gr.Row(elem_classes="kinds-choices"):
            budget = _budget_choice("kinds-long-budget")
            label = say("kinds_of_cache.long.reader")
            names = readers(page.models)
            reader = gr.Radio(names, value=names[0], visible=len(names) > 1, label=label, elem_id="kinds-long-reader")
            start, stop = _buttons("long")
        status = panel("job_status", elem_id="kinds-long-status")
        with gr.Row(elem_classes="kinds-two"):
            curve = plot_panel(elem_id="kinds-long-curve")
            table = panel("table", elem_id="kinds-long-table")
    with gr.Row(elem_classes="lessons"):
        lesson_card("sinks", lessons["sinks"])
        button = lesson_card("sinks_real", lessons["sinks_real"])
    button.visible = len(names) > 1
    chosen = button.click(lambda: readers(page.models)[:2][-1], None, reader, queue=False, **QUIET)

    if isinstance(page.models, HeldModels):
        _offer_readers(page, reader, button)
    begins = [start.click, chosen.success]
    _measure(page, "long", begins, stop, along_a_text, [budget, reader], status, [curve, table])


def _offer_readers(page: Page, reader: gr.Radio, button: gr.Button) -> None:
    """Those of now: visitors load models while the page is open, and what they load they choose."""

    def now():
        names = readers(page.models)
        return gr.update(choices=names, visible=len(names) > 1), gr.update(visible=len(names) > 1)

    def on_model(current: str | None):
        offered, shown = now()
        value = current if current in offered["choices"] else offered["choices"][0]
        return offered | {"value": value}, shown

    gr.on(None, now, None, [reader, button], queue=False, **QUIET)  # when the page is opened
    page.model_name.change(on_model, reader, [reader, button], queue=False, **QUIET)


def _update_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('kinds_of_cache.update.title')}", elem_classes="card-title")
        gr.Markdown(say("kinds_of_cache.update.text"), elem_classes="card-words")
        calls = panel("kinds_of_cache/update", elem_id="kinds-update-panel", events=["asked"])
        gr.Markdown(say("kinds_of_cache.update.compile"), elem_classes="card-words")
    work, inputs = partial(update_calls, page.models), [calls, *page.request]
    page.jobs.on(calls.asked, work, inputs, calls, name="kinds-update", long=True, asks=True, trigger_mode="multiple")


def _blocks_part(page: Page, _lessons: dict[str, Section]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say('kinds_of_cache.blocks.title')}", elem_classes="card-title")
        gr.Markdown(say("kinds_of_cache.blocks.text"), elem_classes="card-words")
        blocks = panel("kinds_of_cache/blocks", elem_id="kinds-blocks", events=["asked"])
    _ask_once(page, blocks, shared_blocks, "kinds-blocks")


def _places_part(page: Page, _lessons: dict[str, Section]) -> None:
    _tables(page, "places", ["devices", "files"], where_it_lies)


def _tables(page: Page, name: str, tables: list[str], measure: Callable[..., Work]) -> None:
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {say(f'kinds_of_cache.{name}.title')}", elem_classes="card-title")
        picture = panel("kinds_of_cache/tables", {"tables": tables}, elem_id=f"kinds-{name}-tables", events=["asked"])
    _ask_once(page, picture, measure, f"kinds-{name}")


def _ask_once(page: Page, picture: gr.HTML, measure: Callable[..., Work], name: str) -> None:
    """The picture asks by itself when it is first seen."""
    work, inputs = partial(measure, page.models), [picture, page.model_name]
    page.jobs.on(picture.asked, work, inputs, picture, name=name, long=True, asks=True, trigger_mode="multiple")


def _theirs_part(_page: Page, lessons: dict[str, Section]) -> None:
    with gr.Row(elem_classes="kinds-two"):
        with gr.Column(elem_classes="card"):
            gr.Markdown(f"## {say('kinds_of_cache.theirs.title')}", elem_classes="card-title")
            gr.Markdown(say("kinds_of_cache.theirs.text"), elem_classes="card-words")
            panel("kinds_of_cache/code", loop_text(), elem_id="kinds-loop")
        with gr.Column(elem_classes="card"):
            gr.Markdown(f"## {say('kinds_of_cache.theirs.kinds_title')}", elem_classes="card-title")
            panel("table", theirs_value(), elem_id="kinds-where")


def _buttons(name: str) -> tuple[gr.Button, gr.Button]:
    start = gr.Button(
        say(f"kinds_of_cache.{name}.start"), variant="primary", elem_id=f"kinds-{name}-start", scale=0, min_width=150
    )
    stop = gr.Button(say("kinds_of_cache.stop"), elem_id=f"kinds-{name}-stop", scale=0, min_width=90)
    return start, stop


def _measure(page, name, begins, stop, measure, inputs, status, outputs) -> None:
    """A measurement of a budget on a model, whose values come together at the end."""

    def work(tokens: str, model_name: str):
        for made in measure(page.models, int(tokens) if tokens.isdecimal() else 0, model_name):
            yield made if not isinstance(made, dict | tuple) else (None, *(made if isinstance(made, tuple) else [made]))

    for event in begins:
        page.jobs.on(event, work, inputs, [status, *outputs], name=f"kinds-{name}", long=True)
    page.jobs.stop(stop, f"kinds-{name}")
