"""Inside the cache: how it grows, why it may be kept, what attention reads."""

from collections.abc import Callable
from typing import Any

import gradio as gr

from playground.page.bar import Page
from playground.page.lesson import Section, read_lesson
from playground.page.line import Progress, Work, in_steps
from playground.page.panel import figure_json, panel, plot_panel
from playground.tabs.inside_the_cache.attention import attention_weights
from playground.tabs.inside_the_cache.attention_values import (
    MATRIX_ROWS,
    attention_value,
    mask_value,
    shapes_value,
    sinks_value,
)
from playground.tabs.inside_the_cache.figures import allocated_figure, growth_figure, reads_figure
from playground.tabs.inside_the_cache.growth import cache_growth, stored_rows
from playground.tabs.inside_the_cache.growth_values import formula_value, ghost_curves, heat_value
from playground.tabs.inside_the_cache.keeping_values import changes_value, swap_value, walk_value
from playground.tabs.inside_the_cache.question import Text, text_of
from playground.tabs.inside_the_cache.reads import count_reads
from playground.tabs.inside_the_cache.reads_values import classifier_value, heads_value, training_value
from playground.words import say

NOTHING = ""  # for a picture that this text is too short for; None would leave the one before it


def cache_tab(page: Page) -> None:
    words = read_lesson("inside_the_cache")
    sections = {
        "growth": _growth_section,
        "keeping": _keeping_section,
        "attention": _attention_section,
        "reads": _reads_section,
    }
    with gr.Tab(say("inside_the_cache.tab.title"), id="cache"), gr.Tabs(elem_id="cache-tabs", overflow_behavior="wrap"):
        for name, section in sections.items():
            with gr.Tab(say(f"inside_the_cache.tab.{name}"), id=name), gr.Column(elem_classes="cache-section"):
                section(page, words)


def _growth_section(page: Page, words: dict[str, Section]) -> None:
    source = _source(["layer"], has_steps=True)
    with gr.Row(elem_classes="cache-board one-one"):
        with gr.Column(elem_classes="cache-stack"):
            with _card(words["growth"]):
                panel("cache_growth")
            with _card(words["size"]):
                formula = panel("bars", elem_classes=["formula"])
        with _card(words["heat"]):
            heat = panel("inside_the_cache/heatmap")
    with gr.Row(elem_classes="cache-board one-one"):
        with _card(words["curve"]):
            curve = plot_panel(elem_id="growth-curve")
        with _card(words["allocated"]):
            allocated = plot_panel(elem_id="allocated-curve")

    _answer(page, source, growth_pictures, [heat, formula, curve, allocated])


def growth_pictures(text: Text) -> Work:
    """One pass over the text: its rows are what every picture of this part shows."""
    stored, prompt_length = stored_rows(text.loaded.model, text.stored_ids), len(text.prompt_ids)
    yield heat_value(text, stored), None, None, None
    growing = cache_growth(stored, prompt_length)
    last = growing[growing.step == growing.step.max()]
    tokens = growing.groupby("step").tokens.first().tolist()
    curve = growth_figure(growing, ghost_curves(text, tokens))
    yield None, formula_value(text, int(last.filled_bytes.sum())), figure_json(curve), None
    num_stored = len(text.stored_ids)
    lengths = (64, 128, 256, 512, 1024, 2048, num_stored)
    static_length = next(length for length in lengths if length >= num_stored)  # the smallest round one that would do
    static = cache_growth(stored, prompt_length, static_length)
    yield None, None, None, figure_json(allocated_figure(growing, static, static_length))


def _keeping_section(page: Page, words: dict[str, Section]) -> None:
    source = _source(["layer", "position"])
    with _card(words["keeping"]):
        moved = panel("inside_the_cache/changes")
    with gr.Row(elem_classes="cache-board two-one"):
        with _card(words["walk"]):
            walk = panel("inside_the_cache/stepper")
        with _card(words["swap"]):
            swap = panel("bars")

    _answer(page, source, keeping_pictures, [moved, walk, swap])


def keeping_pictures(text: Text) -> Work:
    if len(text.stored_ids) < 2:
        yield NOTHING, NOTHING, NOTHING  # source.js says that the text is too short
        return
    yield None, walk_value(text), None
    yield (yield from changes_value(text)), None, None
    yield None, None, (yield from swap_value(text)) or NOTHING


def _attention_section(page: Page, words: dict[str, Section]) -> None:
    source = _source(["layer"], has_steps=True)
    with gr.Row(elem_classes="cache-board two-one"):
        with _card(words["attention"]):
            picture = panel("inside_the_cache/attention")
        with gr.Column(elem_classes="cache-stack"):
            with _card(words["mask"]):
                mask = panel("inside_the_cache/mask")
            with _card(words["sinks"]):
                sinks = panel("bars")
    with _card(words["shapes"]):
        shapes = panel("table")

    _answer(page, source, attention_pictures, [picture, sinks, mask, shapes])


def attention_pictures(text: Text) -> Work:
    weights = attention_weights(text.loaded.model, text.stored_ids, MATRIX_ROWS)
    yield attention_value(text, weights), sinks_value(text, weights) or NOTHING, None, None
    yield None, None, mask_value(text) or NOTHING, None
    yield None, None, None, (yield from shapes_value(text)) or NOTHING


def _reads_section(page: Page, words: dict[str, Section]) -> None:
    source = _source([])
    with gr.Row(elem_classes="cache-board one-one"):
        with _card(words["reads"]):
            reads = plot_panel(elem_id="reads-curve")
        with _card(words["heads"]):
            heads = panel("bars")
    with gr.Row(elem_classes="cache-board one-one"):
        with _card(words["classifier"]):
            classifier = panel("table")
        with _card(words["training"]):
            training = panel("table")

    _answer(page, source, reads_pictures, [reads, heads, classifier, training])


def reads_pictures(text: Text) -> Work:
    counting = count_reads(text.loaded.model, text.prompt_ids, text.answer_ids)
    counts = yield from in_steps(counting, of=len(text.answer_ids))  # the whole answer is fed again
    yield figure_json(reads_figure(counts, len(text.prompt_ids))), None, None, None
    yield None, (yield from heads_value(text)), None, None
    yield None, None, (yield from classifier_value(text)), None
    yield None, None, None, (yield from training_value(text)) or NOTHING


def _source(looks_at: list[str], has_steps: bool = False) -> gr.HTML:
    """What the section looks into, and where its pictures follow the step, a slider to walk through them.

    `looks_at` are the keys of the page's store, "layer" and "position", that the pictures depend on besides the answer.
    """
    with gr.Row(elem_classes="cache-head"):
        source = panel("inside_the_cache/source", {"looks_at": looks_at}, events=["asked"])
        if has_steps:
            panel("steps")
    return source


def _card(section: Section) -> gr.Column:
    with gr.Column(elem_classes="card needs-run") as card:
        gr.Markdown(f"## {section.title}", elem_classes="card-title")
        gr.Markdown(section.text, elem_classes="card-words")
    return card


def _answer(page: Page, source: gr.HTML, pictures: Callable[[Text], Work], outputs: list[gr.HTML]) -> None:
    """Runs the experiments when the answer, the layer or the token looked at is another one.

    `pictures` yields a tuple with each output's value, None for those that are not ready: each is sent when it is made.
    """

    def look(asked: Any) -> Work:
        made = 0
        for each in pictures(text_of(page.models, asked)):
            if not isinstance(each, tuple):
                yield each
                continue
            yield None, *each
            made += sum(value is not None for value in each)
            yield Progress(made, len(outputs))

    name = f"inside-{source._id}"  # each section asks for itself
    page.jobs.on(
        source.asked, look, source, [source, *outputs], name=name, long=True, asks=True, trigger_mode="multiple"
    )
