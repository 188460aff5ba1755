"""What batching.js is given: both ways of serving the same requests, run in turn on the loaded model."""

import time
from collections.abc import Mapping
from statistics import median_low
from typing import Any, Literal

from pydantic import BaseModel

from playground.models.text import LoadedModel
from playground.page.line import Progress, Work
from playground.page.machine import machine
from playground.page.requests import checked, own_model_of, prompt_ids_of
from playground.tabs.serving.schedule import CONTINUOUS, STATIC, WAYS, Asked, Schedule, serve
from playground.words import say

NUM_REQUESTS = 16
SLOTS = (2, 4, 8, 16)
MOST_NEW, SHORT, LONG, EQUAL = 64, 8, 64, 24  # tokens
WORKLOADS = ("ends", "one_long", "equal")
REPEATS, ENOUGH_SECONDS = 3, 6.0  # after so many seconds no further repeat begins


class BatchingQuestion(BaseModel):
    """Of batching.js."""

    model: str
    workload: Literal[WORKLOADS]
    slots: Literal[SLOTS]


def workload(loaded: LoadedModel, name: str) -> list[Asked]:
    """Sixteen prompts of different lengths, and how their answers end."""
    requests = []
    for number in range(NUM_REQUESTS):
        ids = tuple(prompt_ids_of(loaded, say(f"serving.request.{number + 1}")))
        if name == "ends":
            requests.append(Asked(ids, MOST_NEW, tuple(loaded.stop_ids)))
        elif name == "one_long":
            requests.append(Asked(ids, SHORT if number % 4 else LONG))
        else:
            requests.append(Asked(ids, EQUAL))
    return requests


def batched(models: Mapping[str, LoadedModel], question: Any) -> Work:
    """The counts after one repeat of each way, then the times of all."""
    asked = checked(BatchingQuestion, question)
    loaded = own_model_of(models, asked.model)
    requests = workload(loaded, asked.workload)
    yield from _run(loaded, requests[:2], 2, STATIC)  # the first passes of a process are slow
    runs: dict[str, list[Schedule]] = {way: [] for way in WAYS}
    start = time.perf_counter()
    for repeat in range(REPEATS):
        for way in WAYS if repeat % 2 else WAYS[::-1]:
            runs[way].append((yield from _run(loaded, requests, asked.slots, way)))
        yield _value(asked.slots, runs)
        if time.perf_counter() - start > ENOUGH_SECONDS:
            break
    return _value(asked.slots, runs)


def _run(loaded: LoadedModel, requests: list[Asked], slots: int, way: str) -> Work:
    steps = serve(loaded.model, requests, slots, way)
    while True:
        try:
            yield Progress(next(steps), len(requests))
        except StopIteration as end:
            return end.value


def _value(slots: int, runs: dict[str, list[Schedule]]) -> dict:
    fixed, continuous = (runs[way][0] for way in WAYS)
    ratios = [a.seconds / b.seconds for a, b in zip(runs[STATIC], runs[CONTINUOUS], strict=True)]
    return {
        "slots": slots,
        "repeats": len(ratios),
        "same": sum(a.token_ids == b.token_ids for a, b in zip(fixed.served, continuous.served, strict=True)),
        "time_ratio": [min(ratios), max(ratios)],
        "ways": [_way_value(runs[way]) for way in WAYS],
        "machine": machine(),
    }


def _way_value(repeats: list[Schedule]) -> dict:
    totals = [each.seconds for each in repeats]
    shown = repeats[totals.index(median_low(totals))]  # all its times are of one repeat, so that they add up
    times = zip(shown.served, shown.first_token_seconds(), shown.later_token_seconds(), strict=True)
    return {
        "way": shown.way,
        "steps": shown.num_steps,
        "passes": shown.num_passes,
        "use": shown.slot_use,
        "seconds": [min(totals), max(totals)],
        "served": [
            {
                "prompt": each.prompt_length,
                "tokens": len(each.token_ids),
                "slot": each.slot,
                "first": each.first,
                "end": each.end,
                "held": each.held_until,
                "first_seconds": first,
                "later_seconds": later,
            }
            for each, first, later in times
        ],
    }
