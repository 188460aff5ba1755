"""What the boxes and the top-k slider make of a hand, in node: no browser is needed for it."""

from math import log

import pytest
from node import in_node

from playground.page.controls import stage_table
from playground.words import catalogue, say

BOX = {"key": "temperature", "min": 0, "max": 2, "whole": False}
WHOLE = {"key": "top_k", "min": 0, "max": 6400, "whole": True}


def made_of(expression: str, *given) -> object:
    """What an expression, which sees `controls`, `stages` with the table in it, and `given`, makes of them."""
    return in_node(f"return {expression};", given, controls="page/js/controls.js")


@pytest.mark.parametrize("vocab_size", [61, 6400, 151_936])
def test_every_k_finds_a_position_of_the_slider_that_means_nearly_the_same(vocab_size):
    """The slider has 199 marks from 1 to V by equal ratios: none is further than half a ratio, and rounding, away."""
    script = """given[0].map((k) => {
        const position = controls.topKPosition(k, given[1]);
        return [position, controls.topKAt(Math.round(position), given[1])];
    })"""
    ks = sorted({*range(1, min(vocab_size, 7000) + 1), *range(1, vocab_size, 97), vocab_size})
    pairs = made_of(script, ks, vocab_size)
    for k, (position, again) in zip(ks, pairs, strict=True):
        assert 1 <= position <= 200
        assert abs(log(again / k)) <= log(vocab_size) / 199 / 2 + log(1 + 0.5 / again) + 1e-9, k
    assert [position for position, _ in pairs] == sorted(position for position, _ in pairs)


@pytest.mark.parametrize("vocab_size", [61, 6400])
def test_the_ends_of_the_slider_are_off_one_and_the_vocabulary(vocab_size):
    at = made_of("given[0].map((position) => controls.topKAt(position, given[1]))", [0, 1, 200], vocab_size)
    assert at == [0, 1, vocab_size]
    ks = [0, 1, vocab_size, vocab_size + 1, -3]
    assert made_of("given[0].map((k) => controls.topKPosition(k, given[1]))", ks, vocab_size) == [0, 1, 200, 200, 0]


@pytest.mark.parametrize(
    ("text", "spec", "value"),
    [
        ("0.7", BOX, 0.7),
        ("0,7", BOX, 0.7),
        (" 2 ", BOX, 2),
        ("0", BOX, 0),
        ("50", WHOLE, 50),
        ("1,000", WHOLE, 1000),  # was read as the decimal number 1.000, and top-k became 1
        ("6,400", WHOLE, 6400),
    ],
)
def test_a_number_is_read_with_a_point_a_comma_and_spaces(text, spec, value):
    assert made_of("controls.readNumber(given[0], given[1])", text, spec) == {"value": value}


@pytest.mark.parametrize(
    ("text", "spec"),
    [(text, BOX) for text in ("", "  ", "abc", "1e", "2.01", "-0.1", "Infinity", "NaN", "1,000,5", "0.7 or so")]
    + [(text, WHOLE) for text in ("", "1.5", "1,5", "6401", "-1", "ten")],
)
def test_what_is_no_such_number_is_one_sentence_with_the_range(text, spec):
    made = made_of("controls.readNumber(given[0], given[1])", text, spec)
    whole = spec["whole"]
    sentence = "Top-k must be a whole number from 0 to 6,400." if whole else "Temperature must be a number from 0 to 2."
    assert made.keys() == {"problem"} and say(made["problem"]) == sentence


def test_there_is_a_slider_with_words_for_every_setting_of_the_table():
    offered = made_of("controls.sliders(given[0])", {"vocab_size": 6400})
    assert [slider["key"] for slider in offered["main"]] == ["temperature", "top_p", "top_k"]
    more = ["top_n_sigma", "min_p", "typical_p", "repetition_penalty", "presence_penalty", "frequency_penalty"]
    assert sorted(slider["key"] for slider in offered["more"]) == sorted(more)
    assert [slider["key"] for slider in offered["more"]][-3:] == more[-3:], "the penalties stand last"
    settings = {each["field"]: each for stage in stage_table()["stages"].values() for each in stage}
    for slider in offered["main"] + offered["more"]:
        setting = settings[slider["key"]]
        assert f"page.controls.label.{slider['key']}" in catalogue()
        assert [slider["min"], slider["max"]] == [setting["span"][0], setting["span"][1] or 6400]
        assert slider["off"] == setting["off"] and slider["whole"] == setting["whole"]


def test_the_page_offers_the_rules_that_python_knows():
    rules = stage_table()["rules"]
    assert made_of("stages.ruleNames()") == list(rules)
    for name, rule in rules.items():
        assert made_of("stages.ruleOf({ rule: given[0] })", name) == {**rule, "order": list(rule["order"])}


def test_a_stage_is_on_when_one_of_its_settings_is_not_off():
    off = {each["field"]: each["off"] for stage in stage_table()["stages"].values() for each in stage}
    ask = "stages.stageNames().filter((name) => stages.isOn(name, given[0]))"
    assert made_of(ask, off) == made_of(ask, {}) == []
    assert made_of(ask, off | {"presence_penalty": 0.1, "typical_p": 0}) == ["penalty", "typical-p"]


@pytest.mark.parametrize(
    ("name", "prompt", "stands"),
    [
        ("small", "large first", "small first"),
        ("small", "small second", "small second"),
        ("small", "typed by hand", "typed by hand"),
        ("small", None, None),
        ("without", "large first", "large first"),
    ],
)
def test_an_example_gives_way_to_the_chosen_model_s_and_what_was_typed_stays(name, prompt, stands):
    examples = {"small": ["small first", "small second"], "large": ["large first"]}
    given = {model: [{"prompt": each, "shows": ""} for each in own] for model, own in examples.items()}
    script = "return examples.promptFor(...given);"
    assert in_node(script, [name, prompt, given], examples="page/js/examples.js") == stands
