"""Inside the cache: how it grows, why it may be kept, what attention reads."""

from collections.abc import Callable, Iterator
from typing import Any

import gradio as gr

from playground.page.bar import Page
from playground.page.lesson import Section, read_lesson
from playground.page.panel import figure_json, panel, plot_panel
from playground.page.requests import RequestError
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
from playground.tabs.inside_the_cache.heads_values import classifier_value, heads_value, training_value
from playground.tabs.inside_the_cache.keeping_values import changes_value, swap_value, walk_value
from playground.tabs.inside_the_cache.reads import count_reads
from playground.tabs.inside_the_cache.values import Text, formula_value, ghost_curves, heat_value


def cache_tab(page: Page) -> None:
    words = read_lesson("inside_the_cache")
    with gr.Tab("Inside the cache", id="cache"), gr.Tabs(elem_id="cache-tabs"):
        with gr.Tab("How it grows", id="growth"):
            _growth_section(page, words)
        with gr.Tab("Why it may be kept", id="keeping"):
            _keeping_section(page, words)
        with gr.Tab("What attention reads", id="attention"):
            _attention_section(page, words)
        with gr.Tab("Reads, heads, training", id="more"):
            _more_section(page, words)


def _growth_section(page: Page, words: dict[str, Section]) -> None:
    with gr.Column(elem_classes="cache-section"):
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

    _answer(page, source, growth_pictures, [formula, curve, allocated, heat])


def growth_pictures(text: Text) -> tuple:
    """One pass over the text: its rows are what every picture of this part shows."""
    stored, prompt_length = stored_rows(text.loaded.model, text.stored_ids), len(text.prompt_ids)
    growing = cache_growth(stored, prompt_length)
    room = prompt_length + len(text.answer_ids)  # the smallest round buffer that would do
    static_length = next(length for length in (64, 128, 256, 512, 1024, 2048, room) if length >= room)
    static = cache_growth(stored, prompt_length, static_length)
    last = growing[growing.step == growing.step.max()]
    tokens = growing.groupby("step").tokens.first().tolist()
    return (
        formula_value(text, int(last.filled_bytes.sum())),
        figure_json(growth_figure(growing, ghost_curves(text, tokens))),
        figure_json(allocated_figure(growing, static, static_length)),
        heat_value(text, stored),
    )


def _keeping_section(page: Page, words: dict[str, Section]) -> None:
    with gr.Column(elem_classes="cache-section"):
        source = _source(["layer", "position"])
        with _card(words["keeping"]):
            moved = panel("inside_the_cache/changes")
        with gr.Row(elem_classes="cache-board two-one"):
            with _card(words["walk"]):
                walk = panel("inside_the_cache/stepper")
            with _card(words["swap"]):
                swap = panel("bars")

    _answer(page, source, lambda text: keeping_pictures(text, words), [moved, walk, swap])


def keeping_pictures(text: Text, words: dict[str, Section]) -> tuple:
    if len(text.stored_ids) < 2:
        return None, None, None  # cache_source.js says that the text is too short
    return changes_value(text, words), walk_value(text, words), swap_value(text)


def _attention_section(page: Page, words: dict[str, Section]) -> None:
    with gr.Column(elem_classes="cache-section"):
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

    _answer(page, source, attention_pictures, [picture, sinks, shapes, mask])


def attention_pictures(text: Text) -> tuple:
    weights = attention_weights(text.loaded.model, text.stored_ids, MATRIX_ROWS)
    return attention_value(text, weights), sinks_value(text, weights), shapes_value(text), mask_value(text)


def _more_section(page: Page, words: dict[str, Section]) -> None:
    with gr.Column(elem_classes="cache-section"):
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

    _answer(page, source, more_pictures, [reads, heads, classifier, training])


def more_pictures(text: Text) -> tuple:
    counts = count_reads(text.loaded.model, text.prompt_ids, text.answer_ids)
    figure = figure_json(reads_figure(counts, len(text.prompt_ids)))
    return figure, heads_value(text), classifier_value(text), training_value(text)


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


def _answer(page: Page, source: gr.HTML, on_text: Callable[[Text], tuple], outputs: list[gr.HTML]) -> None:
    """Runs the experiments when the answer, the layer or the token looked at is another one."""

    def look(question: Any) -> Iterator[tuple]:
        pictures = on_text(checked_text(page, question))
        yield {}, *pictures

    name = f"inside {source._id}"  # each section asks for itself
    page.jobs.on(
        source.asked, look, source, [source, *outputs], name=name, long=True, asks=True, trigger_mode="multiple"
    )


def checked_text(page: Page, request: dict[str, Any] | None) -> Text:
    """The browser's request, checked: it comes from outside. RequestError says what is wrong."""
    request = request if isinstance(request, dict) else {}
    prompt_ids, answer_ids, name = (request.get(key) for key in ("prompt_ids", "token_ids", "model"))
    if not (isinstance(prompt_ids, list) and isinstance(answer_ids, list) and prompt_ids and answer_ids):
        raise RequestError("There is no answer to look into yet: press Generate first.")
    loaded = page.models.get(name) if isinstance(name, str) else None
    if loaded is None:
        raise RequestError("The model of this answer is not loaded: press Generate.")
    config = loaded.model.config
    ids = [*prompt_ids, *answer_ids]
    if not all(type(token_id) is int and 0 <= token_id < config.vocab_size for token_id in ids):
        raise RequestError(f"Token ids must lie from 0 to {config.vocab_size - 1}.")
    if len(ids) > config.max_positions:
        room = f"{config.max_positions:,} positions"
        raise RequestError(f"The text has {len(ids):,} tokens; the model has {room}.")
    num_stored = len(ids) - 1
    layer = _within(request.get("layer"), 0, config.num_layers - 1, default=min(1, config.num_layers - 1))
    position = _within(request.get("position"), 1, max(1, num_stored - 1), default=max(1, num_stored // 2))
    return Text(loaded, list(prompt_ids), list(answer_ids), layer, position)


def _within(number: Any, low: int, high: int, default: int) -> int:
    return min(max(number, low), high) if type(number) is int else default
