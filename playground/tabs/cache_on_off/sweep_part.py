"""Two measurements over prompt lengths that take a while.

What is measured to its end is kept for every visitor, by model: it says something of the machine, not of who asked.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gradio as gr

from playground.models.text import LoadedModel
from playground.page.bar import Page
from playground.page.jobs import QUIET
from playground.page.lesson import Section
from playground.page.lesson_card import lesson_card
from playground.page.line import StoppedError
from playground.page.panel import Figure, figure_json, panel, plot_panel
from playground.page.requests import model_of
from playground.tabs.cache_on_off.figures import TimeLine, first_token_figure, sweep_figure
from playground.tabs.cache_on_off.race import RaceResult, RaceTick
from playground.tabs.cache_on_off.race_values import HOW_TIMED
from playground.tabs.cache_on_off.sweep import (
    ANSWER_LENGTHS,
    FIRST_TOKEN_NEW,
    PROMPT_LENGTHS,
    cells,
    first_token_lengths,
    race_at_length,
    sweep_frame,
    sweep_lengths,
)

TICK_SECONDS = 0.25
STOPPED = "Stopped. What was measured stays in this window."


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
    figure: Callable[[LoadedModel, list[RaceResult]], Figure]


@dataclass(frozen=True)
class Chain:
    """One visitor's measurement: of one model, whatever the visitor chooses meanwhile."""

    model_name: str
    lengths: list[int]
    results: dict[int, RaceResult] = field(default_factory=dict)  # by prompt length


def sweep_part(page: Page, lessons: dict[str, Section]) -> None:
    """K7: from which lengths on the cache is worth having."""

    def figure(loaded: LoadedModel, results: list[RaceResult]) -> Figure:
        frame = sweep_frame([cell for result in results for cell in cells(loaded, result, ANSWER_LENGTHS)])
        return sweep_figure(frame, sweep_lengths(loaded), ANSWER_LENGTHS)

    title, before = "## Without the cache: how many times more?", "Five prompts, answers of 1 to 128 tokens."
    most, longest = len(PROMPT_LENGTHS), max(ANSWER_LENGTHS)
    sweep = Measurement("sweep", title, "Measure all lengths", before, most, longest, sweep_lengths, figure)
    _measurement_part(page, sweep, "K7", lessons)


def first_token_part(page: Page, lessons: dict[str, Section]) -> None:
    """K8: what the first token waits for, and the later ones."""

    def figure(loaded: LoadedModel, results: list[RaceResult]) -> Figure:
        return first_token_figure(
            [TimeLine(result.prompt_length, result.on.seconds, result.off.seconds) for result in results]
        )

    title = "## The wait for the first token, and for each later one"
    before = f"Prompts of 16, 64 and 256 tokens and of the context's limit; {FIRST_TOKEN_NEW} new tokens each."
    first = Measurement("first", title, "Draw the time lines", before, 4, FIRST_TOKEN_NEW, first_token_lengths, figure)
    _measurement_part(page, first, "K8", lessons)


def _measurement_part(page: Page, what: Measurement, lesson: str, lessons: dict[str, Section]) -> None:
    finished: dict[str, Chain] = {}  # by model name, for everybody

    def draw(chain: Chain) -> dict:
        results = [chain.results[length] for length in chain.lengths if length in chain.results]
        return figure_json(what.figure(page.models[chain.model_name], results))

    def show(model_name: str) -> tuple[dict, dict]:
        chain = finished.get(model_name)
        # None would leave the picture of the other model
        return ({"text": summary(chain)}, draw(chain)) if chain else ({"text": what.before}, {})

    with gr.Row(elem_classes="race-buttons"):
        start = gr.Button(what.button, variant="primary", elem_id=f"{what.key}-start", scale=0, min_width=240)
        stop = gr.Button("Stop", elem_id=f"{what.key}-stop", scale=0, min_width=100)
        status = panel("job_status", {"buttons": [f"#{what.key}-start"]}, elem_id=f"{what.key}-status")
    with gr.Column(elem_classes="card"):
        gr.Markdown(what.title, elem_classes="card-title")
        picture = plot_panel(elem_id=f"{what.key}-picture")
    with gr.Row(elem_classes="lessons"):
        lesson_button = lesson_card(lesson, lessons[lesson])

    def measure(model_name: str) -> Iterator[tuple | None]:
        """The lengths one after another."""
        loaded = model_of(page.models, model_name)
        chain = Chain(model_name, what.lengths(loaded))
        yield {"text": f"{model_name}: warming up …"}, {}
        try:
            for length in chain.lengths:
                shown_at = time.perf_counter()
                for tick in race_at_length(loaded, length, what.num_new):
                    if tick.result:
                        chain.results[length] = tick.result
                    if time.perf_counter() - shown_at > TICK_SECONDS:
                        shown_at = time.perf_counter()
                        yield {"text": progress(chain, length, what.num_new, tick)}, None
                    else:
                        yield None
                yield (
                    {"text": f"{model_name}: {len(chain.results)} of {len(chain.lengths)} prompts measured."},
                    draw(chain),
                )
        except StoppedError:
            yield {"text": STOPPED}, None
            return
        finished[model_name] = chain
        yield show(model_name)

    outputs = [status, picture]
    page.jobs.on([start.click, lesson_button.click], measure, page.model_name, outputs, name=what.key, long=True)
    page.jobs.stop(stop, what.key)
    # Without a trigger: when the page is loaded and when another model is chosen.
    gr.on(None, show, page.model_name, outputs, queue=False, **QUIET)


def progress(chain: Chain, length: int, num_new: int, tick: RaceTick) -> str:
    return (
        f"{chain.model_name}, prompt {chain.lengths.index(length) + 1} of {len(chain.lengths)}: {length:,} tokens, "
        f"run {tick.repeat + 1} of {tick.repeats}, token {tick.index + 1} of {num_new} with the cache {tick.side}."
    )


def summary(chain: Chain) -> str:
    """How it was measured: of which model, how often, on what."""
    results = list(chain.results.values())
    repeats = sorted({result.repeats for result in results})
    runs = f"medians of {repeats[0]} to {repeats[-1]} runs" if len(repeats) > 1 else f"medians of {repeats[0]} runs"
    if repeats == [1]:
        runs = "one run"
    marks = [
        (" Noisy at prompts of {} tokens: measure again.", [r.prompt_length for r in results if r.noisy]),
        (" Run once, its scatter unknown: prompts of {} tokens.", [r.prompt_length for r in results if r.repeats == 1]),
    ]
    said = "".join(words.format(", ".join(f"{n:,}" for n in lengths)) for words, lengths in marks if lengths)
    return f"{chain.model_name}: {runs} of each side, {HOW_TIMED}. {results[-1].machine}.{said}"
