"""A place on the page as an address and back, in node: for arbitrary places and for hostile addresses."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from node import in_node

from playground.page.controls import MOST_NEW_TOKENS, MOST_SEED, stage_table

VOCABULARY = 3072
FLAG = {"options": [True, False]}


def kinds() -> dict[str, Any]:
    """Of all settings, from the engine's table."""
    found: dict[str, Any] = {
        "seed": {"min": 0, "max": MOST_SEED, "whole": True},
        "max_new_tokens": {"min": 1, "max": MOST_NEW_TOKENS, "whole": True},
        "rule": {"options": list(stage_table()["rules"])},
        "penalty_counts_prompt": FLAG,
        "system": {"letters": 2000},
    }
    for stage in stage_table()["stages"].values():
        for each in stage:
            low, high = each["span"]
            found[each["field"]] = {"min": low, "max": VOCABULARY if high is None else high, "whole": each["whole"]}
    return found


OPENING = {
    "tab": ["playground"],
    "model": "chat",
    "prompt": "What should I do today?",
    "settings": {
        name: kind["options"][0] if "options" in kind else kind.get("max", "") for name, kind in kinds().items()
    },
    "answer": {},
    "forced": [],
    "step": None,
    "view": {"log": False, "layer": None},
    "fields": {},
    "pressed": None,
    "figure": None,
    "lecture": None,
}
KNOWN = {
    "opening": OPENING,
    "models": ["chat", "base"],
    "settings": kinds(),
    "view": {"log": FLAG, "layer": {"min": 0, "max": 99, "whole": True}},
    "vocabSize": VOCABULARY,
    "mostSteps": MOST_NEW_TOKENS,
}

# ---- arbitrary places

names = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,12}", fullmatch=True)
texts = st.text(max_size=40)


def value_of(kind: dict[str, Any]) -> st.SearchStrategy:
    if "options" in kind:
        return st.sampled_from(kind["options"])
    if "letters" in kind:
        return texts
    if kind["whole"]:
        return st.integers(kind["min"], kind["max"])
    return st.floats(kind["min"], kind["max"]).map(lambda number: number + 0.0)  # -0.0 is 0 in an address


@st.composite
def places(draw) -> dict[str, Any]:
    steps = sorted(draw(st.sets(st.integers(0, MOST_NEW_TOKENS - 1), max_size=6)))
    chosen = draw(st.sets(st.sampled_from(list(kinds())), max_size=5))
    answer = {name: draw(value_of(kinds()[name])) for name in chosen}
    if draw(st.booleans()):
        history = draw(st.lists(texts, min_size=1, max_size=2)) * 2
        answer |= {"prompt": draw(texts), "model": draw(st.sampled_from(KNOWN["models"]))}
        answer |= {"history": json.dumps(history, ensure_ascii=False, separators=(",", ":"))}
    lecture = st.fixed_dictionaries({"name": names, "step": st.integers(1, 999)})
    return {
        "tab": draw(st.lists(names, min_size=1, max_size=3)),
        "model": draw(st.sampled_from(KNOWN["models"])),
        "prompt": draw(texts),
        "settings": {name: draw(value_of(kind)) for name, kind in kinds().items()},
        "answer": answer,
        "forced": [[step, draw(st.integers(0, VOCABULARY - 1))] for step in steps],
        "step": draw(st.none() | st.integers(0, MOST_NEW_TOKENS - 1)),
        "view": {"log": draw(st.booleans()), "layer": draw(st.none() | st.integers(0, 99))},
        "fields": draw(st.dictionaries(names, texts, max_size=3)),
        "pressed": draw(st.none() | names),
        "figure": draw(st.none() | names),
        "lecture": draw(st.none() | lecture),
    }


def addresses_of(given_places: list[dict]) -> list[str]:
    script = "return given[0].map((place) => address.addressOf(place, given[1]))"
    return in_node(script, [given_places, OPENING], address="page/js/address.js")


def places_of(given_addresses: list[str]) -> list[dict]:
    script = "return given[0].map((text) => address.placeOf(text, given[1]))"
    return in_node(script, [given_addresses, KNOWN], address="page/js/address.js")


@settings(max_examples=6)
@given(st.lists(places(), min_size=10, max_size=30))
def test_every_place_comes_back_from_its_address(some):
    addresses = addresses_of(some)
    for place, address, found in zip(some, addresses, places_of([f"#{each}" for each in addresses]), strict=True):
        assert re.fullmatch(r"[\w.~%+/:,=&-]*", address, re.ASCII), (
            "nothing that a chat program cuts or a browser encodes"
        )
        assert found["refused"] == []
        assert found["place"] == place


def test_where_the_page_opens_needs_no_address_and_a_slider_needs_a_short_one():
    moved = OPENING | {"settings": OPENING["settings"] | {"temperature": 1.4}, "step": 2}
    assert addresses_of([OPENING, moved]) == ["", "temperature=1.4&step=2&tab=playground"]
    assert places_of([""])[0] == {"place": OPENING, "refused": []}


def test_half_a_character_in_a_prompt_does_not_break_the_address():
    script = r"""const place = { ...given, prompt: "a\ud83d b\u{1F600}" };
    return address.addressOf(place, given);"""
    (address,) = [in_node(script, OPENING, address="page/js/address.js")]
    assert places_of([address])[0]["place"]["prompt"] == "a\ufffd b\U0001f600"


def test_a_prompt_of_five_thousand_words_is_carried_whole():
    long = OPENING | {"prompt": "to be or not to be? " * 1000}
    assert places_of(addresses_of([long]))[0]["place"]["prompt"] == long["prompt"]


# ---- hostile and mistaken addresses


@settings(max_examples=10)
@given(
    st.lists(
        st.text(max_size=60) | st.from_regex(r"[#a-z_.&=%:,0-9+-]{0,60}", fullmatch=True), min_size=30, max_size=60
    )
)
def test_whatever_stands_in_an_address_only_what_the_page_takes_is_taken(some):
    for found in places_of(some):
        for name, value in found["place"]["settings"].items():
            kind = KNOWN["settings"][name]
            if "letters" not in kind:
                assert value in kind["options"] if "options" in kind else kind["min"] <= value <= kind["max"]
        assert found["place"].keys() == OPENING.keys()
        assert found["place"]["model"] in KNOWN["models"]


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("temperature=2.1", "temperature"),
        ("temperature=NaN", "temperature"),
        ("temperature=Infinity", "temperature"),
        ("temperature=0x1", "temperature"),
        ("temperature=", "temperature"),
        ("top_k=1.5", "top_k"),
        ("seed=-1", "seed"),
        ("max_new_tokens=100000", "max_new_tokens"),
        ("rule=javascript:alert(1)", "rule"),
        ("model=../../etc/passwd", "model"),
        ("penalty_counts_prompt=1", "penalty_counts_prompt"),
        ("step=256", "step"),
        ("forced=2:1,2:3", "forced"),
        ("forced=5:1,2:3", "forced"),
        (f"forced=1:{VOCABULARY}", "forced"),
        ("tab=a b", "tab"),
        ("tab=a//b", "tab"),
        ("do=%23x%20*", "do"),
        ("figure=a>b", "figure"),
        ("lecture=decoding", "lecture"),
        ("lecture=../x:1", "lecture"),
        ("log=2", "log"),
        ("layer=-1", "layer"),
        (f"set.box={'x' * 2001}", "set.box"),
        ("set.1=x", "set.1"),
        ("answer.step=1", "answer.step"),
        ("answer.model=other", "answer.model"),
        ('history=["a", "b"]', "history"),
        ('answer.history=["a"]', "answer.history"),
        ('answer.history=["a", 5]', "answer.history"),
        ("answer.history=[]", "answer.history"),
        ('answer.history={"length": 2}', "answer.history"),
        ("answer.history=[", "answer.history"),
        (f"system={'x' * 2001}", "system"),
        ("__proto__=1", "__proto__"),
        ("constructor=1", "constructor"),
        ("answer.__proto__=1", "answer.__proto__"),
        ("hasOwnProperty=1", "hasOwnProperty"),
        ("nonsense=1", "nonsense"),
    ],
)
def test_what_the_page_would_not_take_is_refused_by_name(entry, name):
    (found,) = places_of([f"{entry}&top_p=0.5"])
    assert found["refused"] == [name]
    assert found["place"] == OPENING | {"settings": OPENING["settings"] | {"top_p": 0.5}}


def test_of_a_name_that_comes_twice_the_first_counts():
    """A step of a lecture goes before what all its steps share."""
    (found,) = places_of(["http://127.0.0.1:7860/#temperature=0.5&temperature=1&temperature=9"])
    assert found["place"]["settings"]["temperature"] == 0.5 and found["refused"] == []


def test_an_answer_is_written_again_only_when_something_it_came_from_differs():
    script = """
    const { wantedAnswer, isSameAnswer, differences } = address;
    const now = { model: "m", prompt: "p", temperature: 1 };
    const place = { model: "m", prompt: "p", settings: { temperature: 1 }, answer: {}, forced: [] };
    const written = wantedAnswer(place);
    return [
      isSameAnswer(wantedAnswer(place), { ...written, typical_p: 1 }),
      isSameAnswer(wantedAnswer({ ...place, forced: [[0, 1]] }), written),
      isSameAnswer(wantedAnswer({ ...place, settings: { temperature: 2 }, answer: { temperature: 1 } }), written),
      differences({ model: "m", prompt: "q", temperature: 0 }, now),
    ];"""
    made = in_node(script, address="page/js/address.js")
    assert made == [True, False, True, {"prompt": "q", "temperature": 0}]
