"""What the tab "Kinds of cache" claims, computed: on the embedded models, and its arithmetic by hand."""

import math
import os

import numpy as np
import pytest
import torch
from node import in_node

from playground.models.loading import load_model
from playground.models.text import LoadedModel
from playground.page.requests import RequestError
from playground.tabs.kinds_of_cache import long_text, many_stories
from playground.tabs.kinds_of_cache.comparison import Comparison, compare_kinds, kl_bits
from playground.tabs.kinds_of_cache.comparison_values import (
    BAR,
    BUDGETS,
    compared,
    comparison_value,
    perplexity_table,
    readers,
    runs,
)
from playground.tabs.kinds_of_cache.contenders import (
    FULL,
    HEAVY,
    QUANTIZED,
    SINKS,
    STREAMING,
    TURNED,
    WINDOW,
    bytes_per_token,
    contenders,
)
from playground.tabs.kinds_of_cache.long_text import perplexity, smoothed, surprise_by_kind, text_ids
from playground.tabs.kinds_of_cache.many_stories import right_answers
from playground.tabs.kinds_of_cache.stories import Story, places_of, stories
from playground.words import say

BUDGET = BUDGETS[2]


def at_once(work):
    """What a generator returns, or yields last as plain data."""
    last = None
    while True:
        try:
            made = next(work)
            last = made if isinstance(made, dict | tuple) else last
        except StopIteration as end:
            return end.value if end.value is not None else last


@pytest.fixture(scope="module")
def clara(chat: LoadedModel) -> Comparison:
    return at_once(compare_kinds(chat, chat.prompt_ids(stories()[0].prompt), BUDGET))


def test_the_story_that_the_page_opens_with(chat, clara):
    """At one budget few bits and heavy hitters still know the answer, and what forgets the beginning does not."""
    value = comparison_value(chat, stories()[0], clara, BUDGET)
    right = {kind["name"]: kind["is_right"] for kind in value["kinds"]}
    assert right == {
        FULL: True, QUANTIZED: True, TURNED: True, HEAVY: True, WINDOW: False, SINKS: False, STREAMING: False,
    }  # fmt: skip
    assert all(kind["fits"] for kind in value["kinds"][1:]) and not value["kinds"][0]["fits"]
    assert [value["labels"][place].strip("␣") for place in value["places"]] == ["Clara"] * len(value["places"])
    assert len(value["places"]) == stories()[0].prompt.count("Clara")


def test_a_comparison_measures_what_it_says(chat, clara):
    model, full = chat.model, clara.kinds[0]
    per_token, num_prompt = bytes_per_token(model) * 4, len(clara.prompt_ids)
    assert full.kl_bits == [0.0] * len(clara.answer_ids) and full.choices == clara.answer_ids
    assert full.num_bytes == [per_token * (num_prompt + step) for step in range(len(clara.answer_ids))]
    by_name = {kind.contender.name: kind for kind in clara.kinds}
    last = num_prompt + len(clara.answer_ids) - 1
    assert by_name[WINDOW].held[-1] == [list(range(last - BUDGET, last))] * 4
    first = [0, 1, 2, 3]
    assert by_name[SINKS].held == by_name[STREAMING].held
    assert by_name[SINKS].held[-1] == [first + list(range(last - BUDGET + 4, last))] * 4
    assert {len(layer) for layer in by_name[HEAVY].held[-1]} == {BUDGET - 1}
    assert by_name[QUANTIZED].held[-1] == [list(range(last))] * 4
    assert all(kind.num_bytes[-1] <= BUDGET * per_token for kind in clara.kinds[1:])
    for kind in clara.kinds:
        different = kind.equal_until(clara.answer_ids)
        assert (kind.answer_ids == clara.answer_ids) == (different == len(clara.answer_ids))
        assert kind.answer_ids[:different] == clara.answer_ids[:different]


def test_bits_are_as_many_as_fit(model):
    for budget in (24, 60, 120, 300):
        made = {each.name: each for each in contenders(model, 200, budget)}
        bits, room = made[QUANTIZED].facts["bits"], budget * bytes_per_token(model)
        rows = torch.zeros(1, 2, 200, 16)
        made[QUANTIZED].layer.update(rows, rows)
        assert bits == made[TURNED].facts["bits"] and (made[QUANTIZED].layer.num_bytes <= room or bits == 2)
    assert [contenders(model, 200, budget)[1].facts["bits"] for budget in (24, 80, 300)] == [2, 4, 8]


def test_a_distance_is_counted_in_bits():
    """From (1/2, 1/4, 1/4) coded as (1/4, 1/2, 1/4): 1/2 log2 2 - 1/4 log2 2 = 1/4 of a bit."""
    right, own = torch.tensor([[0.5, 0.25, 0.25]]).log(), torch.tensor([[0.25, 0.5, 0.25]]).log()
    assert kl_bits(right, own) == pytest.approx([0.25])
    logits = torch.randn(3, 50, generator=torch.Generator().manual_seed(1))
    other = torch.randn(3, 50, generator=torch.Generator().manual_seed(2))
    p, q = (np.exp(each.numpy().astype(float)) for each in (logits, other))
    p, q = p / p.sum(1, keepdims=True), q / q.sum(1, keepdims=True)
    assert kl_bits(logits, other) == pytest.approx((p * np.log2(p / q)).sum(1).tolist())


def test_positions_are_sent_as_runs():
    assert runs([0, 1, 2, 5, 9, 10]) == [[0, 3], [5, 1], [9, 2]] and runs([]) == []


def test_an_answer_is_right_when_it_names_what_was_asked_for():
    story = Story("There was a cat named Tom.", "What is Tom?", "cat")
    assert story.is_right("Tom is a cat.")
    assert not story.is_right("Tom is a dog.") and not story.is_right("Tom is a dog. Tom is a cat.")
    assert not story.is_right("")


def only(monkeypatch, module, *names: str) -> None:
    """Not all kinds are needed to see it."""
    monkeypatch.setattr(module, "contenders", lambda *given: [c for c in contenders(*given) if c.name in names])


def test_lesson_k16_rounding_keeps_all_answers_and_a_window_fewer_than_half(chat, monkeypatch):
    only(monkeypatch, many_stories, QUANTIZED, WINDOW)
    found = at_once(right_answers(chat, stories(), BUDGET))
    assert sum(found[QUANTIZED]) == len(stories()) == 20
    assert sum(found[WINDOW]) < 10


def test_lesson_sinks_the_papers_shape_is_not_there_and_the_distance_is(base, monkeypatch):
    """A window without the first tokens reads on; the full cache collapses beyond 512 tokens; the first tokens do harm
    at their places in the text and none at their places in the cache."""
    only(monkeypatch, long_text, FULL, WINDOW, SINKS, STREAMING)
    found = at_once(surprise_by_kind(base, text_ids(base, stories()), BUDGET))
    inside = {name: perplexity(nats[:511]) for name, nats in found.items()}
    beyond = {name: perplexity(nats[511:]) for name, nats in found.items()}
    assert base.trained_length == 512 and max(inside.values()) < 1.6
    assert beyond[WINDOW] < 1.6 and beyond[STREAMING] < 1.6
    assert beyond[FULL] > 4 and beyond[SINKS] > 2.5


def test_a_real_model_that_is_loaded_is_offered_for_the_long_text(chat, base, model):
    real, other = (
        LoadedModel("real", model, chat.tokenizer, True, (), 9000),
        LoadedModel("x", object(), None, True, (), 9),
    )
    models = {"real": real, "x": other, "minimind-chat": chat, "minimind-base": base}
    assert readers(models) == ["minimind-base", "real"] and readers({"minimind-base": base}) == ["minimind-base"]
    nats = {WINDOW: torch.full((9,), math.log(4)), FULL: torch.tensor([0.0] * 4 + [math.log(2)] * 5)}
    ends = perplexity_table("m", nats, 5, 56)
    assert [[say(cell) for cell in row] for row in ends["rows"]] == [
        ["Window", "4.00", "4.00"], ["Everything", "1.00", "2.00"],
    ]  # fmt: skip
    longer = perplexity_table("real", nats, None, 56)
    assert [row[2] for row in longer["rows"]] == ["–", "–"]
    assert "trained on longer texts" in say(longer["note"])


@pytest.mark.skipif(not os.environ.get("SMOLLM2"), reason="SMOLLM2=1 runs it: it fetches 93 MB")
def test_lesson_sinks_real_on_a_real_model_a_window_alone_reads_twice_as_badly(monkeypatch):
    only(monkeypatch, long_text, WINDOW, SINKS, STREAMING)
    real = load_model("smollm2")
    found = at_once(surprise_by_kind(real, text_ids(real, stories()), BUDGET))
    perplexities = {name: perplexity(nats) for name, nats in found.items()}
    assert perplexities[WINDOW] > 2 * max(perplexities[SINKS], perplexities[STREAMING])


def test_perplexity_is_the_number_of_equally_likely_tokens():
    assert perplexity(torch.full((8,), math.log(4))) == pytest.approx(4)
    nats = torch.tensor([math.log(2)] * 4 + [math.log(8)] * 4 + [0.0])
    assert smoothed(nats, 4) == [(4, pytest.approx(2)), (8, pytest.approx(8))]  # the rest makes no stretch


def test_any_prompt_of_the_bar_can_be_compared_and_what_can_not_is_refused(chat):
    models = {"minimind-chat": chat}
    value = at_once(compared(models, {"story": BAR, "budget": 24}, "minimind-chat", "What is the capital of France?"))
    assert value["word"] is None and value["kinds"][0]["is_right"] and "Paris" in value["kinds"][0]["answer"]
    for asked, message in (
        ({"story": "99", "budget": 24}, "no such story"),
        ({"story": "-1", "budget": 24}, "no such story"),
        ({"story": "0", "budget": 23}, "budget"),
        ({"story": "0", "budget": "24"}, "budget"),
        ({"story": 0, "budget": 24}, "story"),
    ):
        with pytest.raises(ValueError, match=f"(?i){message}"):
            at_once(compared(models, asked, "minimind-chat", ""))
    with pytest.raises(RequestError, match="at most 512"):
        at_once(compared(models, {"story": BAR, "budget": 24}, "minimind-chat", "the dog " * 600))


def test_places_are_found_however_the_word_is_written(chat):
    ids = chat.prompt_ids('"Clara!" said Clara.')
    assert [chat.tokenizer.label(ids[place]).strip("␣") for place in places_of(chat, ids, "Clara")].count("Clara") >= 1


# ---- the arithmetic of the pictures


def test_runs_are_cut_where_few_bits_end():
    script = "return [given.cut, 0, 99].map((rounded) => strip.pieces([[0, 4], [10, 5]], rounded));"
    cut, none, all_of_them = in_node(script, {"cut": 12}, strip="tabs/kinds_of_cache/strip.js")
    assert [(piece["start"], piece["count"], piece["isRounded"]) for piece in cut] == [
        (0, 4, True), (10, 2, True), (12, 3, False),
    ]  # fmt: skip
    assert [piece["isRounded"] for piece in none] == [False, False]
    assert [piece["isRounded"] for piece in all_of_them] == [True, True]


def test_the_picture_opens_where_the_kinds_are_furthest_apart(chat, clara):
    value = comparison_value(chat, stories()[0], clara, BUDGET)
    script = "return [compare.widestStep(given), compare.verdict(given), compare.numSteps(given)];"
    step, verdict, count = in_node(script, value, compare="tabs/kinds_of_cache/compare.js")
    assert value["labels"][value["prompt_length"] + step].strip("␣") == "Clara" and count == len(clara.answer_ids)
    assert say(verdict).startswith("3 of 6 caches with the bytes of 56 tokens still answer “Clara”.")


def test_kinds_that_watch_queries_are_not_offered_to_models_of_transformers(chat):
    other = LoadedModel("other", object(), chat.tokenizer, True, (), 512)
    with pytest.raises(RequestError, match="other runs on transformers' own code"):
        at_once(compared({"other": other}, {"story": "0", "budget": 24}, "other", ""))


def test_the_call_is_told_in_shapes():
    call = {"given": [1, 2, 1, 32], "returned": [1, 2, 15, 32], "theirs": 20}
    script = """return [update.shapeOf(given.given), update.shapeOfTheirs(given),
                        update.shapeOfTheirs({ ...given, theirs: null }), update.maskOnes(50), update.maskOnes(3)];"""
    made = in_node(script, call, update="tabs/kinds_of_cache/update.js")
    assert made == ["(1, 2, 1, 32)", "(1, 2, 20, 32)", "–", {"hidden": 10, "shown": 40}, {"hidden": 0, "shown": 3}]
