"""Static and continuous batching: the same answers, and exactly the steps that a calculation by hand gives."""

import math
import random

import pytest
from node import in_node

from playground.engine.generation import generate
from playground.engine.model import Transformer
from playground.models.answers import at_once
from playground.models.text import LoadedModel
from playground.page.line import Progress
from playground.tabs.serving import batching_values
from playground.tabs.serving.batching_values import SLOTS, WORKLOADS, batched, workload
from playground.tabs.serving.schedule import CONTINUOUS, GREEDY, STATIC, WAYS, Asked, Schedule, serve
from playground.words import catalogue


def steps_by_hand(lengths: list[int], num_slots: int, way: str) -> int:
    """On paper: groups that wait for their longest, or each request where a slot is free first."""
    if way == STATIC:
        return sum(max(lengths[place : place + num_slots]) for place in range(0, len(lengths), num_slots))
    free = [0] * num_slots
    for length in lengths:
        free[free.index(min(free))] += length
    return max(free)


def requests_of(chance: random.Random, count: int, longest: int = 12) -> list[Asked]:
    return [
        Asked(tuple(chance.randrange(61) for _ in range(chance.randint(1, 20))), chance.randint(1, longest))
        for _ in range(count)
    ]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(6))
def test_the_steps_are_those_of_the_calculation_and_the_tokens_those_of_each_alone(
    model: Transformer, way: str, seed: int
):
    chance = random.Random(seed)
    asked, num_slots = requests_of(chance, chance.randint(1, 9)), chance.choice((1, 2, 3, 4))
    schedule = at_once(serve(model, asked, num_slots, way))
    lengths = [request.max_new_tokens for request in asked]
    assert schedule.num_steps == steps_by_hand(lengths, num_slots, way)
    for request, served in zip(asked, schedule.served, strict=True):
        alone = generate(model, request.prompt_ids, GREEDY, None, request.max_new_tokens)
        assert list(served.token_ids) == [step.token_id for step in alone]
        assert served.bytes_a_token == 2 * 2 * 2 * 16 * 4
    assert_slots_are_held_by_one(schedule)
    decoding = {step for served in schedule.served for step in range(served.first + 1, served.end)}
    assert schedule.num_passes == len(asked) + len(decoding), "a prefill each, and one pass for all that decode"
    assert schedule.slot_use == sum(lengths) / (schedule.num_steps * num_slots)


def assert_slots_are_held_by_one(schedule: Schedule) -> None:
    taken = [(served.slot, step) for served in schedule.served for step in range(served.first, served.held_until)]
    assert len(taken) == len(set(taken)) and all(slot < schedule.num_slots for slot, _ in taken)
    if schedule.way == CONTINUOUS:
        assert all(served.held_until == served.end for served in schedule.served)


@pytest.mark.parametrize("num_slots", SLOTS)
def test_equal_lengths_give_a_ratio_of_one(chat: LoadedModel, num_slots: int):
    """The control: whatever is gained comes from different lengths alone."""
    asked = [Asked(request.prompt_ids, 5) for request in workload(chat, "equal")]
    static, continuous = (at_once(serve(chat.model, asked, num_slots, way)) for way in WAYS)
    assert static.num_steps / continuous.num_steps == 1.0 and static.slot_use == continuous.slot_use == 1.0
    assert [served.first for served in static.served] == [served.first for served in continuous.served]


def test_one_long_answer_among_short_ones_gives_what_is_published(chat: LoadedModel):
    """2 to 4.5 times fewer steps with 4 to 64 slots, on lengths as different as these."""
    lengths = [request.max_new_tokens for request in workload(chat, "one_long")]
    static, continuous = (steps_by_hand(lengths, 4, way) for way in WAYS)
    assert (static, static / continuous) == (256, pytest.approx(2, abs=0.7))


def test_times_add_up_to_the_whole(model: Transformer):
    schedule = at_once(serve(model, requests_of(random.Random(9), 6), 2, STATIC))
    last = max(range(6), key=lambda number: schedule.served[number].end)
    first, later = schedule.first_token_seconds()[last], schedule.later_token_seconds()[last]
    tokens = len(schedule.served[last].token_ids)
    assert first + (tokens - 1) * (later or 0) == pytest.approx(schedule.seconds)


def test_the_page_is_given_counts_first_and_a_range_of_times(chat: LoadedModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(batching_values, "ENOUGH_SECONDS", math.inf)  # a busy machine repeats too
    asked = {"model": chat.name, "workload": "ends", "slots": 4}
    came, value = [], None
    work = batched({chat.name: chat}, asked)
    while value is None:
        try:
            came.append(next(work))
        except StopIteration as end:
            value = end.value
    values = [each for each in came if isinstance(each, dict)]
    assert all(isinstance(each, dict | Progress) for each in came) and values[0]["repeats"] == 1
    assert value["same"] == 16 and value["repeats"] > 1
    static, continuous = value["ways"]
    assert static["steps"] > continuous["steps"] and static["seconds"][0] <= static["seconds"][1]
    ratio = in_node("return batching.stepRatio(given);", value["ways"], batching="tabs/serving/batching.js")
    assert ratio == static["steps"] / continuous["steps"]


@pytest.mark.parametrize("wrong", [{"workload": "x"}, {"slots": 3}, {"slots": "4"}, {"model": "x"}, {"slots": 10**9}])
def test_a_question_that_the_page_does_not_ask_is_refused(chat: LoadedModel, wrong: dict):
    asked = {"model": chat.name, "workload": WORKLOADS[0], "slots": 4} | wrong
    with pytest.raises(ValueError):
        next(batched({chat.name: chat}, asked))


@pytest.mark.parametrize(
    ("repeats", "times", "shown"),
    [(1, [6.0, 6.0], "one run only"), (3, [0.8, 2.0], "vary a lot"), (3, [1.5, 1.8], "1.5–1.8 ×")],
)
def test_a_range_of_times_is_shown_where_there_is_one(repeats: int, times: list[float], shown: str):
    given = {"repeats": repeats, "time_ratio": times, "ways": [{"steps": 9, "use": 0.5}, {"steps": 3, "use": 1.0}]}
    script = "words.use(given[1]); return batching.numbersOf(given[0]).map((each) => each.join(' '));"
    modules = {"batching": "tabs/serving/batching.js", "words": "page/js/words.js"}
    steps, _, time = in_node(script, [given, catalogue()], **modules)
    assert "3.0 ×" in steps and shown in time
