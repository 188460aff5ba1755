"""Two runs of one prompt, cache on and off, as the browser takes them: numbers, labels and ids, no words."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

from playground.engine.work import run_multiply_adds, times_read_again
from playground.models.text import LoadedModel
from playground.page.panel import figure_json
from playground.page.recording import TICK_SECONDS
from playground.page.requests import (
    RequestError,
    affordable,
    model_of,
    new_tokens,
    prompt_ids_of,
    sampling_params,
)
from playground.tabs.cache_on_off.figures import cumulative_figure, step_times_figure
from playground.tabs.cache_on_off.race import OFF, ON, RaceResult, RaceTick, SideResult, race
from playground.words import say


def raced(
    models: Mapping[str, LoadedModel], model_name: str, prompt: str, controls: dict, past_stop: bool = False
) -> Iterator[dict | None]:
    """A comparison as it goes: for race.js, and for compare.js of the first tab."""
    loaded, params, count = model_of(models, model_name), sampling_params(controls), new_tokens(controls)
    prompt_ids = raced_ids(loaded, prompt, count)
    ticks = race(loaded, prompt_ids, params, count, past_stop=bool(past_stop))
    about = {"model": loaded.name, "prompt": prompt}
    for value in race_values(loaded, prompt_ids, count, ticks):
        yield value and about | value


def raced_ids(loaded: LoadedModel, prompt: Any, count: int) -> list[int]:
    """Of the prompt, where `count` new tokens are not too much without a cache; else RequestError says how many are."""
    prompt_ids, config = prompt_ids_of(loaded, prompt), loaded.model.config
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
        "again": None,  # the run that is written only for the clocks, and how many are planned
        "result": None,
        "figures": None,
    }
    shown_at = perf_counter()
    for tick in ticks:
        if tick.repeat == 0:
            side = value["sides"][tick.side]
            side["token_ids"].append(tick.token_id)
            side["labels"].append(loaded.tokenizer.label(tick.token_id))
            side["fed"].append(tick.num_fed)
            side["clock"].append(tick.clock)
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
    yield _copied(value) | {"figures": curves(value["result"])}


def _copied(value: dict) -> dict:
    """The race goes on while the page is sent this."""
    sides = {side: {key: list(items) for key, items in columns.items()} for side, columns in value["sides"].items()}
    return value | {"sides": sides}


def curves(facts: dict) -> dict:
    on, off = (facts["sides"][side]["seconds"] for side in (ON, OFF))
    return {
        "steps": figure_json(step_times_figure(on, off)),
        "sum": figure_json(cumulative_figure(on, off, facts["pays_from"])),
    }


def result_facts(loaded: LoadedModel, result: RaceResult) -> dict:
    """What page/js/comparison.js says of a result. Counts are exact; seconds are medians over the repeats."""
    on, off, config = result.on, result.off, loaded.model.config
    size = loaded.model.embedding.element_size()
    bytes_per_token = 2 * config.num_layers * config.num_kv_heads * config.head_dim * size
    return {
        "sides": {ON: _side_facts(loaded, result, on, True), OFF: _side_facts(loaded, result, off, False)},
        "expected": {ON: result.expected_fed_on, OFF: result.expected_fed_off},
        "prompt_length": result.prompt_length,
        "new_tokens": len(on.token_ids),
        "equal": result.equal,
        "first_difference": result.first_difference,
        "largest_gap": result.largest_gap,
        **_why_parted(result),
        "token_ratio": result.token_ratio,
        "time_ratio": result.time_ratio,
        "repeats": result.repeats,
        "spread": result.spread,
        "noisy": result.noisy,
        "machine": result.machine,
        "pays_from": result.pays_from,
        "cache_tokens": on.cache_bytes // bytes_per_token,
        "cache_bytes": on.cache_bytes,
        "read_again": sum(times_read_again(result.prompt_length, len(on.token_ids))),
        "last_pass": _last_pass(result),
        "num_weights": sum(parameter.numel() for parameter in loaded.model.parameters()),
    }


def _side_facts(loaded: LoadedModel, result: RaceResult, side: SideResult, cached: bool) -> dict:
    config = loaded.model.config
    return {
        "fed": side.total_fed,
        "multiply_adds": run_multiply_adds(config, result.prompt_length, len(side.token_ids), cached).total,
        "first_seconds": side.first_token_seconds,
        "later_seconds": side.later_token_seconds,
        "total_seconds": side.total_seconds,
        "seconds": side.seconds,
    }


def _why_parted(result: RaceResult) -> dict:
    """How so little can change a token: the gap of the step where the sides part, and how it did it. None for both
    where that does not explain it."""
    step = result.first_difference
    explained = step is not None and step < len(result.gaps)  # else they are equal, or one side had ended
    if not explained or (result.greedy and step not in result.near_ties):
        return {"gap_there": None, "parted_by": None}
    return {"gap_there": result.gaps[step], "parted_by": "tie" if result.greedy else "sampling"}


def _last_pass(result: RaceResult) -> dict | None:
    """The last pass without the cache against a pass over one token; None where a side has no later token."""
    if min(len(result.on.token_ids), len(result.off.token_ids)) < 2:
        return None
    return {"fed": result.off.num_fed[-1], "times": result.off.seconds[-1] / result.on.later_token_seconds}
