"""Two measurements over prompt lengths that take a while: chains of short events, so that others' runs slip in.

What is measured is kept for every visitor, by model: it says something of the machine, not of who asked.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import gradio as gr
import plotly.graph_objects as go

from playground.experiments.race import RaceResult, RaceTick
from playground.experiments.sweep import (
    ANSWER_LENGTHS,
    FIRST_TOKEN_NEW,
    PROMPT_LENGTHS,
    cells,
    first_token_lengths,
    race_at_length,
    sweep_frame,
    sweep_lengths,
)
from playground.figures.race import TimeLine, first_token_figure, sweep_figure
from playground.models.loading import LoadedModel
from playground.ui.bar import MODEL_QUEUE, Page
from playground.ui.lesson import Section
from playground.ui.lesson_card import lesson_card
from playground.ui.panel import figure_json, plot_panel
from playground.ui.race_view import conditions

TICK_SECONDS = 0.25
MODEL_LINE = {"concurrency_id": MODEL_QUEUE, "concurrency_limit": 1, "show_progress": "hidden"}


@dataclass(frozen=True)
class Measurement:
    """Races over prompt lengths, and the picture of those that are done."""

    key: str
    title: str
    button: str
    before: str  # what it says before anything is measured
    most_lengths: int
    num_new: int
    lengths: Callable[[LoadedModel], list[int]]
    figure: Callable[[LoadedModel, list[RaceResult]], go.Figure]


def sweep_part(page: Page, lessons: dict[str, Section]) -> None:
    """K7: from which lengths on the cache is worth having."""

    def figure(loaded: LoadedModel, results: list[RaceResult]) -> go.Figure:
        frame = sweep_frame([cell for result in results for cell in cells(loaded, result, ANSWER_LENGTHS)])
        return sweep_figure(frame, sweep_lengths(loaded), ANSWER_LENGTHS)

    title, before = "## Without the cache: how many times more?", "Five prompts, answers of 1 to 128 tokens."
    most, longest = len(PROMPT_LENGTHS), max(ANSWER_LENGTHS)
    sweep = Measurement("sweep", title, "Measure all lengths", before, most, longest, sweep_lengths, figure)
    _measurement_part(page, sweep, "K7", lessons)


def first_token_part(page: Page, lessons: dict[str, Section]) -> None:
    """K8: what the first token waits for, and the later ones."""

    def figure(loaded: LoadedModel, results: list[RaceResult]) -> go.Figure:
        return first_token_figure(
            [TimeLine(result.prompt_length, result.on.seconds, result.off.seconds) for result in results]
        )

    title = "## The wait for the first token, and for each later one"
    before = f"Prompts of 16, 64 and 256 tokens and of the context's limit; {FIRST_TOKEN_NEW} new tokens each."
    first = Measurement("first", title, "Draw the time lines", before, 4, FIRST_TOKEN_NEW, first_token_lengths, figure)
    _measurement_part(page, first, "K8", lessons)


def _measurement_part(page: Page, what: Measurement, lesson: str, lessons: dict[str, Section]) -> None:
    kept: dict[str, dict[int, RaceResult]] = {}  # by model name and prompt length

    def show(model_name: str) -> dict:
        results = kept.get(model_name, {})
        if not results:
            return {}  # None would leave the picture of the other model
        return figure_json(what.figure(page.models[model_name], [results[length] for length in sorted(results)]))

    with gr.Row(elem_classes="race-buttons"):
        start = gr.Button(what.button, variant="primary", elem_id=f"{what.key}-start", scale=0, min_width=240)
        stop = gr.Button("Stop", elem_id=f"{what.key}-stop", scale=0, min_width=100)
        status = gr.Markdown(what.before, elem_id=f"{what.key}-status", elem_classes="race-status")
    with gr.Column(elem_classes="card"):
        gr.Markdown(what.title, elem_classes="card-title")
        first_model = next(iter(page.models))
        picture = plot_panel(lambda: show(first_model), elem_id=f"{what.key}-picture")  # asked at each page load
    with gr.Row(elem_classes="lessons"):
        lesson_button = lesson_card(lesson, lessons[lesson])

    def on_length(index: int, model_name: str) -> Iterator[tuple]:
        loaded = page.models[model_name]
        lengths = what.lengths(loaded)
        if index >= len(lengths):
            return
        if index == 0:
            kept[model_name] = {}
            yield {}, "Warming up …"
        shown_at = time.perf_counter()
        for tick in race_at_length(loaded, lengths[index], what.num_new):
            if time.perf_counter() - shown_at > TICK_SECONDS:
                shown_at = time.perf_counter()
                yield gr.skip(), _progress(index, lengths, what.num_new, tick)
            if tick.result:
                kept[model_name][lengths[index]] = tick.result
        yield show(model_name), _progress(index + 1, lengths, what.num_new, None, kept[model_name])

    outputs = [picture, status]
    first = gr.on([start.click, lesson_button.click], _at(on_length, 0), page.model_name, outputs, **MODEL_LINE)
    events = [first]
    for index in range(1, what.most_lengths):
        events.append(events[-1].success(_at(on_length, index), page.model_name, outputs, **MODEL_LINE))
    halted = stop.click(None, cancels=events, queue=False)
    halted.then(lambda: "Stopped. What was measured stays.", None, status, queue=False, show_progress="hidden")
    page.model_name.change(show, page.model_name, picture, show_progress="hidden", queue=False)


def _at(on_length: Callable, index: int) -> Callable:
    """One link of the chain; a generator function, as Gradio wants to see it."""

    def on_event(model_name: str) -> Iterator[tuple]:
        yield from on_length(index, model_name)

    return on_event


def _progress(
    done: int, lengths: list[int], num_new: int, tick: RaceTick | None, results: dict[int, RaceResult] | None = None
) -> str:
    """One line: how far it is, and at the end how it was measured."""
    if tick is not None:
        return (
            f"Prompt {done + 1} of {len(lengths)}: {lengths[done]:,} tokens, run {tick.repeat + 1} of {tick.repeats}, "
            f"token {tick.index + 1} of {num_new} with the cache {tick.side}."
        )
    if done < len(lengths):
        return f"{done} of {len(lengths)} prompts measured."
    noisy = [length for length, result in results.items() if result.noisy]
    warning = f" **Noisy at prompts of {', '.join(map(str, noisy))} tokens: measure again.**" if noisy else ""
    return conditions(results[lengths[-1]]).partition(" P =")[0] + f" {results[lengths[-1]].machine}." + warning
