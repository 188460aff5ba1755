"""Two runs of one prompt, cache on and off, as the browser takes them: numbers, labels and ids, no words."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from playground.engine.params import SamplingParams
from playground.engine.work import run_multiply_adds, times_read_again
from playground.models.text import LoadedModel
from playground.page.panel import figure_json
from playground.page.recording import TICK_SECONDS
from playground.page.requests import (
    RequestError,
    affordable,
    known_settings,
    new_tokens,
    own_model_of,
    prompt_ids_of,
    sampling_params,
    system_of,
)
from playground.tabs.cache_on_off.figures import cumulative_figure, step_times_figure
from playground.tabs.cache_on_off.race import (
    OFF,
    ON,
    WARM_UP,
    RaceResult,
    RaceTick,
    SideResult,
    first_step,
    later_step,
    race,
)
from playground.tabs.cache_on_off.sweep import text_of_length
from playground.words import say

SHORT_NEW = 16  # few enough that each step can be seen in the picture
COURSE, COURSE_PROMPT, COURSE_NEW = "course", 183, 64
QUICK_SECONDS = 2.0  # a race that nobody has asked for may take so long
LEAST_CURVE = 3  # points of a curve


@dataclass(frozen=True)
class RaceRequest:
    """What is raced, whatever the page's own boxes say meanwhile."""

    name: str  # of [race.kind] in the words
    loaded: LoadedModel
    prompt: str
    params: SamplingParams
    settings: dict[str, Any]  # the sliders, as they go back to the page
    max_new_tokens: int
    past_stop: bool = False
    system: str = ""  # the system prompt; "": none

    @classmethod
    def of(
        cls,
        name: str,
        models: Mapping[str, LoadedModel],
        model_name: str,
        prompt: str,
        controls: dict,
        max_new_tokens: int,
        past_stop: bool = False,
    ) -> "RaceRequest":
        loaded, params = own_model_of(models, model_name), sampling_params(controls)
        system = system_of(loaded, controls) if name != COURSE else ""  # the prompt of the course is counted
        return cls(name, loaded, prompt, params, known_settings(controls), max_new_tokens, past_stop, system)

    def values(self, is_quick: bool = False) -> Iterator[dict | None]:
        """The race as it goes. `is_quick`: it ends after the warm-up where it would take too long to begin unasked."""
        prompt_ids = raced_ids(self.loaded, self.prompt, self.max_new_tokens, self.system)
        ticks = race(self.loaded, prompt_ids, self.params, self.max_new_tokens, past_stop=self.past_stop)
        if is_quick:
            ticks = if_quick(ticks, self.max_new_tokens)
        about = {"kind": self.name, "model": self.loaded.name, "prompt": self.prompt, "params": self.settings}
        about |= {"past_stop": self.past_stop, "asked": self.max_new_tokens}
        if self.loaded.is_chat and self.name != COURSE:  # else whatever stands in its box makes no difference
            about["system"] = self.system
        for value in race_values(self.loaded, prompt_ids, self.max_new_tokens, ticks):
            yield value and about | value


def raced(
    models: Mapping[str, LoadedModel], model_name: str, prompt: str, controls: dict, past_stop: bool = False
) -> Iterator[dict | None]:
    """With the bar's own number of new tokens: for race.js, and for compare.js of the first tab."""
    count = new_tokens(controls)
    yield from RaceRequest.of("bar", models, model_name, prompt, controls, count, past_stop).values()


def raced_short(
    models: Mapping[str, LoadedModel], model_name: str, prompt: str, controls: dict, past_stop: bool = False
) -> Iterator[dict | None]:
    """An answer so short that every step can be seen."""
    yield from RaceRequest.of("short", models, model_name, prompt, controls, SHORT_NEW, past_stop).values()


def raced_unasked(
    models: Mapping[str, LoadedModel], _question: Any, model_name: str, prompt: str, controls: dict
) -> Iterator[dict | None]:
    """When the tab is opened for the first time."""
    yield from RaceRequest.of("short", models, model_name, prompt, controls, SHORT_NEW).values(is_quick=True)


def raced_course(models: Mapping[str, LoadedModel], model_name: str, controls: dict) -> Iterator[dict | None]:
    """The numbers of the course; the bar stays as it is."""
    prompt = text_of_length(own_model_of(models, model_name), COURSE_PROMPT)
    yield from RaceRequest.of(COURSE, models, model_name, prompt, controls, COURSE_NEW, past_stop=True).values()


def if_quick(ticks: Iterator[RaceTick], max_new_tokens: int) -> Iterator[RaceTick]:
    """The ticks, or only those of the warm-up where that says that both sides would take more than QUICK_SECONDS."""
    passes = {ON: 0.0, OFF: 0.0}  # seconds of the newest pass
    for tick in ticks:
        if tick.repeat == WARM_UP:
            passes[tick.side] = tick.seconds
        elif max_new_tokens * sum(passes.values()) > QUICK_SECONDS:
            return
        else:
            passes = dict.fromkeys(passes, 0.0)
        yield tick


def raced_ids(loaded: LoadedModel, prompt: Any, count: int, system: str = "") -> list[int]:
    """Of the prompt, where `count` new tokens are not too much without a cache; else RequestError says how many are."""
    prompt_ids, config = prompt_ids_of(loaded, prompt, system=system), loaded.model.config
    length = len(prompt_ids)
    count = min(count, config.max_positions - length + 1)
    most = affordable(count, lambda num_new: run_multiply_adds(config, length, num_new, cached=False).total)
    if most < count:
        raise RequestError(say("cache_on_off.race.too_long", tokens=length, count=count, most=most))
    return prompt_ids


def race_values(
    loaded: LoadedModel, prompt_ids: Sequence[int], max_new_tokens: int, ticks: Iterator[RaceTick]
) -> Iterator[dict | None]:
    """A few times a second, when a repeat has ended, and with the curves at the end; None after the steps between."""
    value: dict[str, Any] = {
        "id": secrets.token_hex(6),
        "prompt_length": len(prompt_ids),
        "max_new": max_new_tokens,
        "sides": {side: {"token_ids": [], "labels": [], "fed": [], "clock": []} for side in (ON, OFF)},
        "ends": None,  # the step in which a stop token was written, where the answer goes on behind it
        "again": None,  # the run that is written only for the clocks, and how many are planned
        "result": None,
        "figures": None,
    }
    shown_at = perf_counter()
    for tick in ticks:
        if tick.repeat == WARM_UP:
            yield None  # there is nothing to see yet, and it may be all there will be
            continue
        if tick.repeat == 0:
            side = value["sides"][tick.side]
            side["token_ids"].append(tick.token_id)
            side["labels"].append(loaded.tokenizer.label(tick.token_id))
            side["fed"].append(tick.num_fed)
            side["clock"].append(tick.clock)
            if value["ends"] is None and tick.token_id in loaded.stop_ids:
                value["ends"] = tick.index
        elif tick.repeat > 0:
            value["again"] = {"run": tick.repeat + 1, "of": tick.repeats}
        if tick.result:
            value["result"] = result_facts(loaded, tick.result)
            value["max_new"] = max(len(side["token_ids"]) for side in value["sides"].values())
        if tick.result or perf_counter() - shown_at > TICK_SECONDS:
            yield _copied(value)
            shown_at = perf_counter()
        else:
            yield None
    if value["result"]:
        yield _copied(value) | {"figures": curves(value["result"])}


def _copied(value: dict) -> dict:
    """The race goes on while the page is sent this."""
    sides = {side: {key: list(items) for key, items in columns.items()} for side, columns in value["sides"].items()}
    return value | {"sides": sides}


def curves(facts: dict) -> dict | None:
    """Of the seconds; None for an answer of so few tokens that there is nothing to see."""
    on, off = (facts["sides"][side]["seconds"] for side in (ON, OFF))
    if len(on) < LEAST_CURVE:
        return None
    return {
        "steps": figure_json(step_times_figure(on, off)),
        "sum": figure_json(cumulative_figure(on, off, facts["pays_from"])),
    }


def result_facts(loaded: LoadedModel, result: RaceResult) -> dict:
    """What page/js/comparison.js says of a result. Counts are exact; seconds are of the repeat with the median total,
    ranges are over all repeats."""
    on, off, config = result.on, result.off, loaded.model.config
    size = loaded.model.embedding.element_size()
    bytes_per_token = 2 * config.num_layers * config.num_kv_heads * config.head_dim * size
    has_later = min(len(on.token_ids), len(off.token_ids)) > 1
    return {
        "sides": {ON: _side_facts(loaded, result, on, True), OFF: _side_facts(loaded, result, off, False)},
        "expected": {ON: result.expected_fed_on, OFF: result.expected_fed_off},
        "prompt_length": result.prompt_length,
        "new_tokens": len(on.token_ids),
        "equal": result.equal,
        "first_difference": result.first_difference,
        "largest_gap": result.largest_gap,
        **_why_diverged(result),
        "token_ratio": result.token_ratio,
        "time_ratio": result.time_ratio,
        "time_ranges": {
            "first": result.time_range(first_step),
            "later": result.time_range(later_step) if has_later else None,
            "total": result.time_range(),
        },
        "repeats": result.repeats,
        "spread": result.spread,
        "noisy": result.noisy,
        "machine": result.machine,
        "pays_from": result.pays_from,
        "cache_tokens": on.cache_bytes // bytes_per_token,
        "cache_bytes": on.cache_bytes,
        "read_again": sum(times_read_again(result.prompt_length, len(on.token_ids))),
        "last_pass": _last_pass(result) if has_later else None,
        "num_weights": sum(parameter.numel() for parameter in loaded.model.parameters()),
    }


def _side_facts(loaded: LoadedModel, result: RaceResult, side: SideResult, cached: bool) -> dict:
    config = loaded.model.config
    return {
        "fed": side.total_fed,
        "multiply_adds": run_multiply_adds(config, result.prompt_length, len(side.token_ids), cached).total,
        "first_seconds": first_step(side.seconds),
        "later_seconds": later_step(side.seconds),
        "total_seconds": side.total_seconds,
        "total_range": [min(side.totals), max(side.totals)],
        "seconds": side.seconds,
    }


def _why_diverged(result: RaceResult) -> dict:
    """How so little can change a token: the gap of the step where the sides diverge, and how it did it. None for both
    where that does not explain it."""
    step = result.first_difference
    explained = step is not None and step < len(result.gaps)  # else they are equal, or one side had ended
    if not explained or (result.greedy and step not in result.near_ties):
        return {"gap_there": None, "diverged_by": None}
    return {"gap_there": result.gaps[step], "diverged_by": "tie" if result.greedy else "sampling"}


def _last_pass(result: RaceResult) -> dict:
    """The last pass without the cache against a pass over one token."""
    return {"fed": result.off.num_fed[-1], "times": result.off.seconds[-1] / later_step(result.on.seconds)}
