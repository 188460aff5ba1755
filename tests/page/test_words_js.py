"""The page's numbers and words are Python's: both sides are given the same and must say the same, in node."""

import json
import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from node import in_node as run_in_node

from playground import numbers, words

SPELLINGS = ["count", "plain", "percent", "milliseconds", "seconds", "ratio", "small"]
EDGES = [0.0, -0.0, 5e-324, 1e-300, 1e-7, 1e21, 1e300, 1.7976931348623157e308, math.nan, math.inf, -math.inf]
HALVES = [0.5, 1.5, 2.5, 0.05, 0.125, 1.005, 9.95, 9.995, 99.95, 999.5, 0.00005, 0.00015, 0.09995, 0.9994999, 999_999.5]
USUAL = [
    0.97345,
    0.9994,
    0.9995,
    0.99999,
    0.0001,
    0.00009999,
    55.8,
    204_800,
    1023.99,
    1024,
    1_048_576,
    1024**3,
    3.14159,
]


def in_node(script: str, given: object) -> list:
    """What `script`, which sees the modules `numbers` and `words` and `given`, makes of it."""
    code = f"""
        const odd = {{ nan: NaN, inf: Infinity, "-inf": -Infinity }};
        const revived = (value) =>
          Array.isArray(value) ? value.map(revived)
          : typeof value !== "object" || value === null ? value
          : "odd" in value ? odd[value.odd]
          : Object.fromEntries(Object.entries(value).map(([key, one]) => [key, revived(one)]));
        const attempt = (work) => {{ try {{ return work(); }} catch {{ return null; }} }};
        return ((given) => ({script}))(revived(given));
    """
    return run_in_node(code, _odd(given), numbers="page/js/numbers.js", words="page/js/words.js")


def _odd(value):
    if isinstance(value, float) and not math.isfinite(value):
        return {"odd": str(value)}
    if isinstance(value, dict):
        return {key: _odd(one) for key, one in value.items()}
    return [_odd(one) for one in value] if isinstance(value, list | tuple) else value


def in_python(text: str, facts: dict) -> str | None:
    try:
        return words._said("text", words.parse(text), facts, None)
    except (KeyError, TypeError, ValueError):
        return None


FLOATS = st.one_of(st.floats(), st.floats(-2, 2), st.floats(-1e7, 1e7), st.integers(-(2**53), 2**53))


@settings(max_examples=3)
@given(st.lists(FLOATS, min_size=300, max_size=500))
def test_a_number_is_spelled_alike_on_both_sides(drawn):
    values = [*EDGES, *(sign * value for value in HALVES + USUAL for sign in (1, -1)), *drawn]
    script = f"""given.map((value) => [{json.dumps(SPELLINGS)}.map((name) => numbers[name](value)),
        numbers.bytes(value), [0, 1, 2, 4].map((digits) => numbers.decimals(value, digits))])"""
    for value, theirs in zip(values, in_node(script, values), strict=True):
        ours = [getattr(numbers, name)(value) for name in SPELLINGS]
        decimals = [numbers.decimals(value, digits) for digits in (0, 1, 2, 4)]
        assert [ours, numbers.bytes_(value), decimals] == theirs, value


@pytest.mark.parametrize(
    ("spelled", "wanted"),
    [
        (numbers.count(1234567), "1,234,567"),
        (numbers.count(-1234), "−1,234"),
        (numbers.count(0.85), "0.85"),
        (numbers.plain(12345), "12345"),
        (numbers.percent(0.973), "97.3 %"),
        (numbers.percent(0.0512), "5.12 %"),
        (numbers.percent(0.99999), "> 99.9 %"),
        (numbers.percent(1), "100.0 %"),
        (numbers.percent(0.00001), "< 0.01 %"),
        (numbers.percent(-0.00001), "> −0.01 %"),
        (numbers.bytes_(204_800), "200 KiB"),
        (numbers.bytes_(2304), "2.25 KiB"),
        (numbers.bytes_(512), "512 B"),
        (numbers.milliseconds(0.00421), "4.21 ms"),
        (numbers.milliseconds(0.25), "250 ms"),
        (numbers.milliseconds(1.25), "1.25 s"),
        (numbers.ratio(55.81), "55.8 ×"),
        (numbers.small(0.00002), "2.0 · 10⁻⁵"),
        (numbers.small(0.2512), "0.25"),
        (numbers.small(-1e-30), "−1.0 · 10⁻³⁰"),
    ],
)
def test_the_spellings_of_the_page(spelled, wanted):
    assert spelled == wanted


SAID = """given.map(([text, facts]) => attempt(() => {
    words.use({ text });
    return words.say("text", facts);
}))"""
FACTS = [0, 1, 2, 1.0, 1.0001, -3.5, 1e-9, 12345.678, 2e12, math.inf, math.nan, True, None, "", "a", "'{b}#", "é"]


@pytest.mark.parametrize("seed", range(5))
def test_every_text_of_the_catalogue_is_said_alike_on_both_sides(seed):
    """Facts of a wrong kind included: then both refuse."""
    asked, chance = [], Random(seed)
    for text in words.catalogue().values():
        names = sorted(words.facts_of(words.parse(text)))
        asked.append([text, {name: chance.choice(FACTS) for name in names}] if names else [text, {}])
    texts, facts = zip(*asked, strict=True)
    assert [in_python(text, given_) for text, given_ in zip(texts, facts, strict=True)] == in_node(SAID, asked)


PIECES = ["'", "''", "{n}", "{s}", "{n, plural, ", "one {", "=0 {", "=1 {", "other {", "}", "#", " a ", "{n, percent}",
          "{n, .2}", "{n, half}", "{", ",", "{ s }", "é"]  # fmt: skip


@settings(max_examples=4)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), min_size=100, max_size=200))
def test_any_text_is_read_alike_on_both_sides(texts):
    texts += ["{n, plural, =0 {none} one {# token of '{s}'} other {{s}''s # tokens}}", "it's '{'n'}' and # {n}"]
    asked = [[text, {"n": n, "s": "it's"}] for text in texts for n in (0, 1, 1.0001, 1234, math.nan)]
    assert [in_python(text, facts) for text, facts in asked] == in_node(SAID, asked)


def test_what_python_told_the_page_says():
    texts = {"a": "{one} of {n, plural, one {# row} other {# rows}}", "b": "row {n}"}
    told = {"key": "a", "facts": {"one": {"key": "b", "facts": {"n": 3}}, "n": 1200}}
    script = "(words.use(given[0]), [words.say(given[1])])"
    assert in_node(script, [texts, told]) == ["row 3 of 1,200 rows"]


def test_what_a_panel_was_given_is_shown_as_it_is_or_said():
    told = {"key": "b", "facts": {"n": 3}}
    script = "(words.use({ b: 'row {n}' }), given.map(words.text))"
    assert in_node(script, ["as it is", told, 1234.5, 0, None]) == ["as it is", "row 3", "1,234.5", "0", ""]


@pytest.mark.parametrize("asked", ['"b"', '"a"', '"a", { n: null }'])
def test_an_unknown_key_or_a_missing_fact_is_an_error_that_names_it(asked):
    script = f"""(words.use({{ a: "{{n}}" }}), (() => {{ try {{ return words.say({asked}); }}
                 catch (error) {{ return [error.message]; }} }})())"""
    (said,) = in_node(script, [])
    assert said in ('no text is called "b"', 'a asks for "n"', 'a: "n" can\'t be said, got null')
