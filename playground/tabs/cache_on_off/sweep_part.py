"""Two measurements over prompt lengths that take a while.

What is measured to its end is kept for every visitor, by model: it says something of the machine, not of who asked.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import gradio as gr

from playground.models.text import LoadedModel
from playground.numbers import count
from playground.page.bar import Page
from playground.page.jobs import QUIET
from playground.page.lesson import Section
from playground.page.lesson_card import lesson_card
from playground.page.line import StoppedError
from playground.page.panel import Figure, figure_json, panel, plot_panel
from playground.page.requests import RequestError, own_model_of
from playground.tabs.cache_on_off.figures import TimeLine, first_token_figure, sweep_figure
from playground.tabs.cache_on_off.race import OFF, ON, WARM_UP, RaceResult, RaceTick
from playground.tabs.cache_on_off.sweep import (
    ANSWER_LENGTHS,
    FIRST_TOKEN_NEW,
    PROMPT_LENGTHS,
    cells,
    exact_cells,
    first_token_lengths,
    race_at_length,
    sweep_frame,
    sweep_lengths,
)
from playground.words import say, told

TICK_SECONDS = 0.25


@dataclass(frozen=True)
class Chain:
    """One visitor's measurement: of one model, whatever the visitor chooses meanwhile."""

    loaded: LoadedModel
    lengths: list[int]
    results: dict[int, RaceResult] = field(default_factory=dict)  # by prompt length


@dataclass(frozen=True)
class Measurement:
    """Races over prompt lengths, and the picture of those that are done."""

    key: str  # of its texts and elements
    lesson: str
    num_new: int
    lengths: Callable[[LoadedModel], list[int]]
    figure: Callable[[LoadedModel, list[RaceResult]], Figure | None]  # None: there is nothing to draw yet
    before: dict  # what it says before anything is measured
    finished: dict[str, Chain] = field(default_factory=dict)  # by model name, for everybody

    def picture(self, chain: Chain) -> dict:
        figure = self.figure(
            chain.loaded, [chain.results[length] for length in chain.lengths if length in chain.results]
        )
        return figure_json(figure) if figure else {}  # None would leave the picture of the other model

    def shown(self, page: Page, model_name: str) -> tuple[dict, dict]:
        """What is known of a model: words, and the picture."""
        try:
            loaded = own_model_of(page.models, model_name)
        except RequestError as error:  # nothing was pressed yet: it is said where the picture would be
            return {"text": str(error)}, {}
        chain = self.finished.get(loaded.name)
        return {"text": summary(chain) if chain else self.before}, self.picture(chain or Chain(loaded, []))

    def measure(self, page: Page, model_name: str) -> Iterator[tuple | None]:
        """The lengths one after another."""
        loaded = own_model_of(page.models, model_name)
        chain = Chain(loaded, self.lengths(loaded))
        try:
            yield {"text": told("cache_on_off.measuring.warming_up", model=loaded.name)}, self.picture(chain)
            for length in chain.lengths:
                yield from self._raced(chain, length)
        except StoppedError:
            yield {"text": told("cache_on_off.measuring.stopped")}, None
            return
        self.finished[loaded.name] = chain
        yield self.shown(page, loaded.name)

    def _raced(self, chain: Chain, length: int) -> Iterator[tuple | None]:
        """One prompt."""
        shown_at = time.perf_counter()
        for tick in race_at_length(chain.loaded, length, self.num_new):
            if tick.result:
                chain.results[length] = tick.result
            if tick.repeat != WARM_UP and time.perf_counter() - shown_at > TICK_SECONDS:
                shown_at = time.perf_counter()
                yield {"text": progress(chain, length, self.num_new, tick)}, None
            else:
                yield None
        facts = {"model": chain.loaded.name, "done": len(chain.results), "of": len(chain.lengths)}
        yield {"text": told("cache_on_off.measuring.measured", **facts)}, self.picture(chain)


def sweep_part(page: Page, lessons: dict[str, Section]) -> None:
    """K7: from which lengths on the cache is worth having."""

    def figure(loaded: LoadedModel, results: list[RaceResult]) -> Figure:
        lengths, measured = sweep_lengths(loaded), {result.prompt_length: result for result in results}
        rows = [
            cells(loaded, measured[length], ANSWER_LENGTHS)
            if length in measured
            else exact_cells(loaded, length, ANSWER_LENGTHS)
            for length in lengths
        ]
        return sweep_figure(sweep_frame([cell for row in rows for cell in row]), lengths, ANSWER_LENGTHS)

    longest = max(ANSWER_LENGTHS)
    before = told("cache_on_off.sweep.before", prompts=len(PROMPT_LENGTHS), tokens=longest)
    _measurement_part(page, Measurement("sweep", "K7", longest, sweep_lengths, figure, before), lessons)


def first_token_part(page: Page, lessons: dict[str, Section]) -> None:
    """K8: what the first token waits for, and the later ones."""

    def figure(_loaded: LoadedModel, results: list[RaceResult]) -> Figure | None:
        lines = [TimeLine(result.prompt_length, result.on.seconds, result.off.seconds) for result in results]
        return first_token_figure(lines) if lines else None

    before = told("cache_on_off.first.before", tokens=FIRST_TOKEN_NEW)
    _measurement_part(page, Measurement("first", "K8", FIRST_TOKEN_NEW, first_token_lengths, figure, before), lessons)


def _measurement_part(page: Page, what: Measurement, lessons: dict[str, Section]) -> None:
    title, button = (say(f"cache_on_off.{what.key}.{name}") for name in ("title", "start"))
    with gr.Row(elem_classes="race-buttons"):
        kept, key = ["kept-for-all"], what.key  # no link presses it
        start = gr.Button(button, variant="primary", elem_id=f"{key}-start", elem_classes=kept, scale=0, min_width=240)
        stop = gr.Button(say("cache_on_off.race.stop"), elem_id=f"{what.key}-stop", scale=0, min_width=100)
        status = panel("job_status", {"buttons": [f"#{what.key}-start"]}, elem_id=f"{what.key}-status")
    with gr.Column(elem_classes="card race-measured"):
        gr.Markdown(f"## {title}", elem_classes="card-title")
        picture = plot_panel(elem_id=f"{what.key}-picture")
    with gr.Row(elem_classes="lessons"):
        lesson_card(what.lesson, lessons[what.lesson])

    outputs, measure = [status, picture], partial(what.measure, page)
    page.jobs.on(start.click, measure, page.model_name, outputs, name=what.key, long=True, trigger_mode="multiple")
    page.jobs.stop(stop, what.key)
    # Without a trigger: when the page is loaded and when another model is chosen.
    gr.on(None, partial(what.shown, page), page.model_name, outputs, queue=False, **QUIET)


def progress(chain: Chain, length: int, num_new: int, tick: RaceTick) -> dict:
    facts = {
        "model": chain.loaded.name,
        "prompt": chain.lengths.index(length) + 1,
        "of": len(chain.lengths),
        "length": length,
        "run": tick.repeat + 1,
        "runs": tick.repeats,
        "token": tick.index + 1,
        "tokens": num_new,
    }
    keys = {ON: "cache_on_off.measuring.progress_on", OFF: "cache_on_off.measuring.progress_off"}
    return told(keys[tick.side], **facts)


def summary(chain: Chain) -> dict:
    """How it was measured: of which model, how often, on what."""
    results = list(chain.results.values())
    repeats = [result.repeats for result in results]
    noisy = [result.prompt_length for result in results if result.noisy]
    once = [result.prompt_length for result in results if result.repeats == 1]
    return told(
        "cache_on_off.measuring.summary",
        model=chain.loaded.name,
        least=min(repeats),
        most=max(repeats),
        differ=max(repeats) - min(repeats),
        machine=results[-1].machine,
        num_noisy=len(noisy),
        noisy=", ".join(map(count, noisy)),
        num_once=len(once),
        once=", ".join(map(count, once)),
    )
