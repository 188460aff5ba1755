"""Inside the cache: how it grows, how big it is, why it is safe, what attention reads, and what people say about it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gradio as gr

from playground.engine.cache_kinds import ConcatenatedLayerCache, StaticLayerCache
from playground.engine.work import tokens_fed_without_cache
from playground.models.text import LoadedModel
from playground.page.bar import Page
from playground.page.lesson import Section, read_lesson
from playground.page.line import Progress, Work, in_steps
from playground.page.panel import figure_json, panel, plot_panel
from playground.page.requests import RequestError
from playground.tabs.inside_the_cache.attention import attention_weights
from playground.tabs.inside_the_cache.attention_values import (
    MATRIX_ROWS,
    attention_value,
    mask_value,
    shapes_value,
    sinks_value,
    vectors_value,
)
from playground.tabs.inside_the_cache.claims import claims_value
from playground.tabs.inside_the_cache.figures import allocated_figure, growth_figure, reads_figure
from playground.tabs.inside_the_cache.growth import cache_growth, stored_rows
from playground.tabs.inside_the_cache.growth_values import copies_value, formula_value, ghost_curves, heat_value
from playground.tabs.inside_the_cache.keeping_values import changes_value, swap_value, walk_value
from playground.tabs.inside_the_cache.question import Text, text_of
from playground.tabs.inside_the_cache.reads import count_reads
from playground.tabs.inside_the_cache.reads_values import (
    classifier_value,
    heads_value,
    repeat_value,
    training_value,
)
from playground.words import say

MOST_ROWS = 600_000  # of keys looked at for the reads: about ten seconds; the longest answer of this page has 500,000
NOTHING = ""  # for a picture that this text is too short for; None would leave the one before it
STORYTELLER = "minimind-base"  # in whose text another layer's cache does visible harm


def cache_tab(page: Page) -> None:
    words = read_lesson("inside_the_cache")
    sections = {
        "growth": _growth_section,
        "size": _size_section,
        "keeping": _keeping_section,
        "walk": _walk_section,
        "attention": _attention_section,
        "heads": _heads_section,
        "reads": _reads_section,
        "claims": _claims_section,
    }
    with (
        gr.Tab(say("inside_the_cache.tab.title"), id="cache"),
        gr.Tabs(elem_id="cache-parts", overflow_behavior="wrap"),
    ):
        for name, section in sections.items():
            with gr.Tab(say(f"inside_the_cache.tab.{name}"), id=name), gr.Column(elem_classes="cache-section"):
                section(page, words)


def _growth_section(page: Page, words: dict[str, Section]) -> None:
    source = _source(["layer"], has_steps=True)
    with _card(words["growth"]):
        panel("inside_the_cache/growth")
    with _card(words["heat"]):
        heat = panel("inside_the_cache/heatmap")

    _answer(page, source, growth_pictures, [heat])


def growth_pictures(text: Text) -> Work:
    yield (heat_value(text, stored_rows(text.loaded.model, text.stored_ids)),)


def _size_section(page: Page, words: dict[str, Section]) -> None:
    source = _source(["num_tokens"])
    with gr.Row(elem_classes="cache-board one-one"):
        with _card(words["size"]):
            size = panel("inside_the_cache/size")
        with _card(words["curve"]):
            curve = plot_panel(elem_id="growth-curve")
    with gr.Row(elem_classes="cache-board one-one"):
        with _card(words["allocated"]):
            allocated = plot_panel(elem_id="allocated-curve")
        with _card(words["copied"]):
            copied = panel("bars")

    _answer(page, source, size_pictures, [size, curve, allocated, copied])


def size_pictures(text: Text) -> Work:
    """One pass over the text; its rows are handed to each kind of buffer."""
    ids = text.measured_ids
    stored, prompt_length = stored_rows(text.loaded.model, ids), min(len(text.prompt_ids), len(ids))
    growing = cache_growth(stored, prompt_length)
    last = growing[growing.step == growing.step.max()]
    tokens = growing.groupby("step").tokens.first().tolist()
    curve = growth_figure(growing, ghost_curves(text, tokens))
    yield formula_value(text, int(last.filled_bytes.sum())), figure_json(curve), None, None
    lengths = (64, 128, 256, 512, 1024, 2048, len(ids))
    static_length = next(length for length in lengths if length >= len(ids))  # the smallest round one that would do
    static = cache_growth(stored, prompt_length, StaticLayerCache(static_length))
    yield None, None, figure_json(allocated_figure(growing, static, static_length)), None
    concatenated = cache_growth(stored, prompt_length, ConcatenatedLayerCache())
    copies = {"concatenated": concatenated, "growing": growing, "static": static}
    yield None, None, None, copies_value(copies) if len(tokens) > 1 else NOTHING


def _keeping_section(page: Page, words: dict[str, Section]) -> None:
    source = _source(["position"])
    with _card(words["keeping"]):
        changed = panel("inside_the_cache/changes")
    with _card(words["swap"]):
        swap = panel("bars")

    _answer(page, source, partial(keeping_pictures, page.models), [changed, swap])


def keeping_pictures(models: Mapping[str, LoadedModel], text: Text) -> Work:
    if len(text.stored_ids) < 2:
        yield NOTHING, None  # source.js says that the text is too short
    else:
        yield (yield from changes_value(text)), None
    yield None, (yield from swap_value(models.get(STORYTELLER, text.loaded))) or NOTHING


def _walk_section(page: Page, words: dict[str, Section]) -> None:
    source = _source(["layer"], has_steps=True)
    with gr.Row(elem_classes="cache-board one-one"):
        with _card(words["walk"]):
            walk = panel("inside_the_cache/stepper")
        with _card(words["formula"]):
            formula = panel("inside_the_cache/formula")

    _answer(page, source, walk_pictures, [walk, formula])


def walk_pictures(text: Text) -> Work:
    yield walk_value(text) if len(text.stored_ids) > 1 else NOTHING, None
    yield None, vectors_value(text)


def _attention_section(page: Page, words: dict[str, Section]) -> None:
    source = _source(["layer"], has_steps=True)
    with gr.Row(elem_classes="cache-board one-one"):
        with _card(words["attention"]):
            picture = panel("inside_the_cache/attention")
        with gr.Column(elem_classes="cache-stack"):
            with _card(words["mask"]):
                mask = panel("inside_the_cache/mask")
            with _card(words["sinks"]):
                sinks = panel("bars")

    _answer(page, source, attention_pictures, [picture, mask, sinks])


def attention_pictures(text: Text) -> Work:
    weights = attention_weights(text.loaded.model, text.stored_ids, MATRIX_ROWS)
    yield attention_value(text, weights), None, sinks_value(text, weights) or NOTHING
    yield None, mask_value(text) or NOTHING, None


def _heads_section(page: Page, words: dict[str, Section]) -> None:
    source = _source(["layer"])
    with gr.Row(elem_classes="cache-board one-one"):
        with _card(words["repeat"]):
            repeat = panel("inside_the_cache/repeat")
        with _card(words["heads"]):
            heads = panel("bars")
    with _card(words["shapes"]):
        shapes = panel("table")

    _answer(page, source, heads_pictures, [repeat, heads, shapes])


def heads_pictures(text: Text) -> Work:
    yield repeat_value(text), None, None
    yield None, None, (yield from shapes_value(text)) or NOTHING
    yield None, (yield from heads_value(text)), None


def _reads_section(page: Page, words: dict[str, Section]) -> None:
    source = _source([])
    with _card(words["reads"]):
        reads = plot_panel(elem_id="reads-curve")
    with gr.Row(elem_classes="cache-board one-one"):
        with _card(words["classifier"]):
            classifier = panel("table")
        with _card(words["training"]):
            training = panel("table")

    _answer(page, source, reads_pictures, [reads, classifier, training])


def reads_pictures(text: Text) -> Work:
    num_rows = tokens_fed_without_cache(len(text.prompt_ids), len(text.answer_ids))  # each pass looks at all of them
    if num_rows > MOST_ROWS:
        facts = {"prompt": len(text.prompt_ids), "answer": len(text.answer_ids)}
        raise RequestError(say("inside_the_cache.problem.too_many_reads", **facts))
    counting = count_reads(text.loaded.model, text.prompt_ids, text.answer_ids)
    counts = yield from in_steps(counting, of=len(text.answer_ids))  # the whole answer is fed again
    yield figure_json(reads_figure(counts, len(text.prompt_ids))), None, None
    yield None, (yield from classifier_value(text)), None
    yield None, None, (yield from training_value(text)) or NOTHING


def _claims_section(_page: Page, words: dict[str, Section]) -> None:
    with _card(words["claims"], needs_run=False):
        panel("inside_the_cache/claims", claims_value())


def _source(looks_at: list[str], has_steps: bool = False) -> gr.HTML:
    """What the section looks into, and where its pictures follow the step, a slider to walk through them.

    `looks_at` are the keys of the page's store that the pictures depend on besides the answer, as in `Question`.
    """
    with gr.Row(elem_classes="cache-head"):
        source = panel("inside_the_cache/source", {"looks_at": looks_at}, events=["asked"])
        if has_steps:
            panel("inside_the_cache/steps")
    return source


def _card(section: Section, needs_run: bool = True) -> gr.Column:
    with gr.Column(elem_classes=["card", *(["needs-run"] if needs_run else [])]) as card:
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
