"""What the scripts of the cache's tab work out and say, in node: results come from Python, as the page gets them."""

from dataclasses import replace
from typing import Any

import pytest
from conftest import TINY, tiny_model
from node import in_node
from test_race import result_of, side

from playground.engine.params import SamplingParams
from playground.models.text import LoadedModel
from playground.tabs.cache_on_off.race import RaceResult, race, race_result
from playground.tabs.cache_on_off.race_values import result_facts
from playground.words import catalogue

GREEDY = SamplingParams(temperature=0.0)
SCRIPTS = {
    "words": "page/js/words.js",
    "comparison": "page/js/comparison.js",
    "race": "tabs/cache_on_off/race.js",
    "sides": "tabs/cache_on_off/race_sides.js",
    "work": "tabs/cache_on_off/work_picture.js",
    "playerModule": "tabs/cache_on_off/player.js",
}


def in_words(script: str, given: Any = None) -> Any:
    script = f"words.use(given.catalogue); given = given.given; {script}"
    return in_node(script, {"catalogue": catalogue(), "given": given}, **SCRIPTS)


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    return LoadedModel("tiny", tiny_model(TINY), None, False, (), 128)


@pytest.fixture(scope="module")
def result(loaded: LoadedModel) -> RaceResult:
    return race_result(race(loaded, list(range(3, 15)), GREEDY, 6, repeats=2))


def verdict(loaded: LoadedModel, result: RaceResult) -> str:
    return in_words("return comparison.verdict(given)", result_facts(loaded, result))


def test_a_result_is_said(loaded, result):
    facts = result_facts(loaded, result)
    said = in_words(
        """return { verdict: comparison.verdict(given), counted: comparison.counted(given),
                    why: comparison.whyNotAsFast(given), ratios: comparison.keyRatios(given),
                    rows: Object.fromEntries(comparison.rows(given).map((row) => [row.key, row])) }""",
        facts,
    )
    assert said["verdict"].startswith("✓ All 6 tokens are equal. The largest difference of a logit in the run is ")
    assert said["counted"] == (
        "Tokens fed: P + (N − 1) = 17 and P·N + N(N − 1)/2 = 87 for P = 12, N = 6, matches the formula."
    )
    assert [said["rows"]["fed"][column] for column in ("name", "on", "off", "ratio")] == [
        "tokens fed",
        "17",
        "87",
        "5.1 ×",
    ]
    assert (
        said["rows"]["cache"]["on"] == "17 tokens · 8,704 bytes"
    )  # 2 layers, 2 KV heads, 16 numbers, float32, K and V
    assert said["rows"]["again"]["on"] == "K and V 70 · Q 0"
    assert said["ratios"][0] == ["5.1 ×", "fewer tokens fed"]
    assert "the last pass without the cache was over 17 tokens" in said["why"]


def test_a_count_that_is_not_the_formula_s_is_said_so(loaded, result):
    facts = result_facts(loaded, replace(result, on=replace(result.on, num_fed=[12, 2, 1, 1, 1, 1])))
    assert "does NOT match" in in_words("return comparison.counted(given)", facts)


def test_a_single_token_has_no_later_one(loaded):
    facts = result_facts(loaded, race_result(race(loaded, [3, 4], GREEDY, 1, repeats=1)))
    said = in_words(
        """const rows = comparison.rows(given);
           return [comparison.verdict(given), comparison.whyNotAsFast(given), rows[3].on, rows[3].ratio]""",
        facts,
    )
    assert said[0].startswith("✓ 1 token is equal.") and "nothing to save yet" in said[1]
    assert said[2:] == ["–", "–"]


def test_what_parted_the_two_sides_is_said_of_that_step_and_of_how_it_was_chosen(loaded):
    """It was compared with the largest gap of the whole run, and under sampling it spoke of the two best tokens."""
    on, off = side([1, 1, 1], token_ids=[5, 6, 7]), side([1, 1, 1], token_ids=[5, 8, 7])
    tie = result_of(on, off, [0.0, 1e-5, 3e-3], [1.0, 1.5e-5, 1.0])
    assert "1.0 · 10⁻⁵, and the two best tokens were closer than twice that" in verdict(loaded, tie)
    clear = verdict(loaded, result_of(on, off, [0.0, 1e-5, 3e-3], [1.0, 1e-3, 1.0]))
    assert clear == "✗ The tokens part at token 2. The largest difference of a logit in the run is 0.0030."
    sampled = verdict(loaded, replace(tie, greedy=False))
    assert "two best" not in sampled and "same number" in sampled and "1.0 · 10⁻⁵" in sampled
    ended = verdict(loaded, result_of(on, side([1], token_ids=[5]), [0.0], [1.0]))
    assert ended.startswith("✗ The tokens part at token 2.") and "rounding" not in ended


def test_how_far_the_seconds_can_be_trusted_is_said(loaded):
    def noise(on: list[float]) -> str:
        result = result_of(side([1], on), side([1], [1.0] * len(on)))
        return in_words("return comparison.noise(given)", result_facts(loaded, result))

    assert "is not known" in noise([1.0])
    assert noise([1.0, 1.1]) == ""
    assert noise([1.0, 2.0]).startswith("Noisy: the repeats lie 66.7 % apart.")


def test_large_numbers_have_names():
    numbers = [999, 15_200_000_000, 291_000_000, 999_999_999, 2e12]
    assert in_words("return given.map(comparison.large)", numbers) == [
        "999",
        "15.2 billion",
        "291 million",
        "1 billion",
        "2 trillion",
    ]


def test_a_side_stands_as_its_clock_says():
    said = in_words(
        """const clock = [0.5, 0.6, 0.8, 0.9];
           return { made: [0, 0.55, 0.8, 9].map((seconds) => race.madeAfter(clock, seconds)),
                    times: [sides.stepTimes(clock), sides.stepTimes([0.5]), sides.stepTimes([])],
                    rates: [race.rateOf("auto", 0.8), race.rateOf("auto", 20), race.rateOf("0.1", 3),
                            race.rateOf("auto", 0)] }"""
    )
    assert said["made"] == [0, 1, 3, 4]
    assert said["times"][0] == {"first": 0.5, "later": pytest.approx(0.1)}
    assert said["times"][1:] == [{"first": 0.5, "later": None}, {"first": None, "later": None}]
    assert said["rates"] == [0.1, 1, 0.1, 1]


def test_the_first_difference_is_where_both_sides_have_a_token():
    script = "return sides.firstDifference({ sides: { on: { token_ids: given[0] }, off: { token_ids: given[1] } } })"
    assert in_words(script, [[1, 2, 3], [1, 2]]) == -1
    assert in_words(script, [[1, 2, 3], [1, 9, 3]]) == 1


def test_the_work_is_a_line_or_a_triangle_on_a_block():
    """Prompt of 3, two new tokens after the first: what was fed ends at the step's position."""
    said = in_words(
        """return [[3, 1, 1], [3, 4, 5]].map((fed) => work.rowsOf(3, fed)).concat(
             [work.repeatedRows("on", 3, [3, 1, 1]), work.repeatedRows("off", 3, [3, 4, 5])])"""
    )
    assert [(row["start"], row["newest"], row["end"]) for row in said[0]] == [(0, 0, 3), (3, 3, 4), (4, 4, 5)]
    assert [(row["start"], row["newest"], row["end"]) for row in said[1]] == [(0, 0, 3), (0, 3, 4), (0, 4, 5)]
    assert said[2:] == [3 + 4, 3 + 4]  # read from the cache; or computed again


def test_a_player_ends_where_the_recording_does_and_says_so_once():
    script = """
        const frames = [];
        globalThis.requestAnimationFrame = (act) => frames.push(act);
        globalThis.cancelAnimationFrame = () => frames.splice(0);
        const shown = [], seen = [];
        const clock = playerModule.player({ end: () => 2, rate: () => 0.5, show: () => shown.push(clock.seconds),
                                            seen: () => seen.push(clock.seconds) });
        clock.play(0);
        for (let now = 0; frames.length; now += 1000) frames.shift()(now);
        const ended = [...shown];
        clock.toggle(); clock.seek(9); clock.toggle(); const stands = clock.playing;
        return { ended, seen, stands, last: clock.seconds };
    """
    assert in_words(script) == {"ended": [0, 0, 0.5, 1, 1.5, 2], "seen": [2], "stands": False, "last": 2}
