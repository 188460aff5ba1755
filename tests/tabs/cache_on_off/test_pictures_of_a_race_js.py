"""What the scripts of the cache's tab work out and say, in node: results come from Python, as the page gets them."""

from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest
from conftest import TINY, tiny_model
from node import in_node
from test_race import result_of, side

from playground.engine.params import SamplingParams
from playground.engine.work import run_multiply_adds
from playground.models.text import LoadedModel
from playground.tabs.cache_on_off.race import RaceResult, race, race_result
from playground.tabs.cache_on_off.race_values import result_facts
from playground.tabs.cache_on_off.work_growth import work_growth
from playground.words import catalogue

GREEDY = SamplingParams(temperature=0.0)
SCRIPTS = {
    "words": "page/js/words.js",
    "comparison": "page/js/comparison.js",
    "race": "tabs/cache_on_off/race.js",
    "view": "tabs/cache_on_off/race_view.js",
    "work": "tabs/cache_on_off/work_picture.js",
    "growth": "tabs/cache_on_off/work_growth.js",
    "loop": "tabs/cache_on_off/loop.js",
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
                    gap: comparison.gapWords(given), why: comparison.whyNotAsFast(given),
                    ratios: comparison.keyRatios(given),
                    rows: Object.fromEntries(comparison.rows(given).map((row) => [row.key, row])) }""",
        facts,
    )
    assert said["verdict"] == "✓ The same 6 tokens, with the cache and without."
    assert "P + (N − 1) = 17" in said["counted"] and "P·N + N(N − 1)/2 = 87" in said["counted"]
    assert "matches the formula" in said["counted"] and "two logits is" in said["gap"]
    fed = [said["rows"]["fed"][column] for column in ("name", "on", "off", "ratio")]
    assert fed == ["tokens processed", "17", "87", "5.1 ×"]
    # 2 layers, 2 KV heads, 16 numbers, float32, K and V
    assert said["rows"]["cache"]["on"] == "17 tokens, 8,704 bytes"
    assert said["rows"]["again"]["on"] == "K and V 70, Q 0"
    assert said["ratios"][0] == ["5.1 ×", "fewer tokens processed"]
    assert "the last pass without the cache processed 17 tokens" in said["why"]


def test_a_count_that_is_not_the_formula_s_is_said_so(loaded, result):
    facts = result_facts(loaded, replace(result, on=replace(result.on, num_fed=[12, 2, 1, 1, 1, 1])))
    assert "does NOT match" in in_words("return comparison.counted(given)", facts)


def test_a_single_token_has_no_later_one_and_no_curve(loaded):
    facts = result_facts(loaded, race_result(race(loaded, [3, 4], GREEDY, 1, repeats=2)))
    said = in_words(
        """const rows = comparison.rows(given);
           return [comparison.verdict(given), comparison.whyNotAsFast(given), rows[3].on, rows[3].ratio,
                   comparison.leadWords(given)]""",
        facts,
    )
    assert said[0].startswith("✓ The same token") and "about 1, often just below" in said[1]
    assert said[2:] == ["–", "–", ""]


def test_what_made_the_texts_diverge_is_said_of_that_step_and_of_how_it_was_chosen(loaded):
    """It was compared with the largest gap of the whole run, and under sampling it spoke of the two best tokens."""
    on, off = side([1, 1, 1], token_ids=[5, 6, 7]), side([1, 1, 1], token_ids=[5, 8, 7])
    tie = result_of(on, off, [0.0, 1e-5, 3e-3], [1.0, 1.5e-5, 1.0])
    assert "1.0 · 10⁻⁵ there, and the top two tokens were closer than twice that" in verdict(loaded, tie)
    clear = verdict(loaded, result_of(on, off, [0.0, 1e-5, 3e-3], [1.0, 1e-3, 1.0]))
    assert clear == "✗ The texts diverge at token 2, and rounding does not explain it."
    sampled = verdict(loaded, replace(tie, greedy=False))
    assert "top two" not in sampled and "random number" in sampled and "1.0 · 10⁻⁵" in sampled
    ended = verdict(loaded, result_of(on, side([1], token_ids=[5]), [0.0], [1.0]))
    assert ended.startswith("✗ The texts diverge at token 2")


def said_of_time(loaded: LoadedModel, on: list[float], off: list[float]) -> list[str]:
    """Number and words, of repeats of one step."""
    result = result_of(side(*([each] for each in on)), side(*([each] for each in off)))
    return in_words("return comparison.keyRatios(given)[2]", result_facts(loaded, result))


def test_a_ratio_of_clocks_is_a_range_and_slower_is_not_called_faster(loaded):
    """Three tries of the same race gave 9.2, 5.1 and 3.8 ×; 0.6 stood there as "0.6 × faster"."""
    assert said_of_time(loaded, [1, 1, 1], [9.2, 5.1, 3.8])[0] == "3.8–9.2 ×"
    assert said_of_time(loaded, [1, 1], [2, 2]) == ["2.0 ×", "faster (range of 2 runs, this machine)"]
    number, words = said_of_time(loaded, [2, 2], [1, 1.25])
    assert number == "1.6–2.0 ×" and words.startswith("slower")
    for off in (0.95, 1.05, 1.15):  # one of the repeats hardly shows it, or shows the opposite
        assert "about the same" in said_of_time(loaded, [1, 1], [off, 0.97])[1]
    for off in (0.6, 1.5):
        assert "too much to tell" in said_of_time(loaded, [1, 1], [off, 0.97])[1]


def test_the_lead_is_said_only_where_there_is_a_clear_one(loaded):
    def lead(on: list[float], off: list[float], repeats: int = 2) -> str:
        result = result_of(side(*[on] * repeats), side(*[off] * repeats))
        return in_words("return comparison.leadWords(given)", result_facts(loaded, result))

    assert "from token 2 on" in lead([2, 1], [2, 4])
    assert lead([1, 1], [1, 1.05]).startswith("At no point")
    assert lead([1, 1], [3, 3], repeats=1) == ""


def test_how_far_the_seconds_can_be_trusted_is_said(loaded):
    def noise(on: list[float]) -> str:
        result = result_of(side(*([each] for each in on)), side(*[[1.0]] * len(on)))
        return in_words("return comparison.noise(given)", result_facts(loaded, result))

    assert "not known" in noise([1.0])
    assert noise([1.0, 1.1, 1.1]) == ""
    assert "differ by 50.0 %" in noise([1.0, 2.0, 2.0])


def test_large_numbers_have_names():
    numbers = [999, 15_200_000_000, 291_000_000, 999_999_999, 2e12]
    assert in_words("return given.map(comparison.large)", numbers) == [
        "999",
        "15.2 billion",
        "291 million",
        "1 billion",
        "2 trillion",
    ]


def test_a_result_is_stale_when_the_page_is_set_to_something_else():
    """Its settings were nowhere, and moving a slider left it as it was."""
    value = {"kind": "bar", "model": "m", "prompt": "p", "params": {"temperature": 1, "max_new_tokens": 64}}
    page = {"bar": {"model": "m", "prompt": "p"}, "params": {"temperature": 1, "max_new_tokens": 64, "vocab_size": 9}}

    def stale(change: dict, bar: dict = {}, params: dict = {}) -> bool:  # noqa: B006
        now = {"bar": page["bar"] | bar, "params": page["params"] | params}
        return in_words("return race.isStale(given[0], given[1])", [value | change, now])

    assert not stale({})
    assert stale({}, {"model": "other"}) and stale({}, {"prompt": "other"}) and stale({}, {}, {"temperature": 0})
    assert stale({}, {}, {"max_new_tokens": 8}) and not stale({"kind": "short"}, {}, {"max_new_tokens": 8})
    assert stale({"system": ""}, {}, {"system": "Hi"}) and not stale({"system": "Hi"}, {}, {"system": "Hi"})
    assert not stale({"kind": "course"}, {"prompt": "other"}) and stale({"kind": "course"}, {"model": "other"})


def test_the_clocks_of_a_replay_end_where_the_result_says(loaded):
    """694 ms on the clock and 1.13 s in the table were one run."""
    result = result_of(side([4, 1, 1], [1, 1, 1], [9, 9, 9]), side([5, 5, 5], [1, 2, 2], [3, 3, 3]))
    facts = result_facts(loaded, result)
    value = {"result": facts, "sides": {"on": {"clock": [4, 5, 6]}, "off": {"clock": [5, 10, 15]}}}
    said = in_words(
        """return { on: race.clockOf(given, "on"), end: race.endOf(given),
                    live: race.clockOf({ ...given, result: null }, "off"),
                    made: [0, 4.5, 6, 9].map((seconds) => race.madeAfter([4, 5, 6], seconds)) }""",
        value,
    )
    assert said["on"] == [4, 5, 6] == list(accumulate(facts["sides"]["on"]["seconds"]))
    assert facts["sides"]["on"]["total_seconds"] == 6 and facts["sides"]["off"]["total_seconds"] == said["end"] == 9
    assert said["live"] == [5, 10, 15] and said["made"] == [0, 1, 3, 3]


def test_the_first_difference_is_where_both_sides_have_a_token():
    script = "return view.firstDifference({ sides: { on: { token_ids: given[0] }, off: { token_ids: given[1] } } })"
    assert in_words(script, [[1, 2, 3], [1, 2]]) == -1
    assert in_words(script, [[1, 2, 3], [1, 9, 3]]) == 1


def test_what_is_computed_is_a_staircase_or_everything_under_it():
    """A prompt of 3 and three new tokens: what was fed ends at the step's position."""
    rows = in_words("return [[3, 1, 1], work.fedWithoutCache(3, 3)].map((fed) => work.rowsOf(3, fed))")
    assert [(row["start"], row["end"]) for row in rows[0]] == [(0, 3), (3, 4), (4, 5)]
    assert [(row["start"], row["end"]) for row in rows[1]] == [(0, 3), (0, 4), (0, 5)]


def test_doubling_is_the_ratio_of_two_whole_answers(loaded):
    prompt = work_growth(loaded.model)["prompts"][0]
    factors = in_words('return ["on", "off"].map((side) => growth.doubling(given, side, "multiply_adds", 16))', prompt)
    works = [[run_multiply_adds(TINY, 4, num_new, cached).total for num_new in (16, 32)] for cached in (True, False)]
    assert factors == pytest.approx([twice / once for once, twice in works])


def test_the_slice_of_the_loop_is_what_the_cache_has_not_seen():
    run = {"promptIds": [7, 8, 9], "tokenIds": [1, 2, 3], "numFed": [3, 1, 1]}
    script = """return [0, 1, 2].map((step) => [loop.unseenAt(given, step, true), loop.unseenAt(given, step, false)])
                  .concat([[loop.spelledIds([1, 2]), loop.spelledIds(Array.from({ length: 12 }, (_, id) => id))]])"""
    first, second, third, spelled = in_words(script, run)
    assert first == [[7, 8, 9], [7, 8, 9]]
    assert second == [[1], [7, 8, 9, 1]] and third == [[2], [7, 8, 9, 1, 2]]
    assert spelled == ["1, 2", "0, 1, 2, 3, …, 8, 9, 10, 11"]


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
        const stands = !clock.playing;
        clock.play(1); clock.reset();
        return { shown, seen, stands, ended: [clock.playing, clock.seconds] };
    """
    assert in_words(script) == {
        "shown": [0, 0, 0.5, 1, 1.5, 1],
        "seen": [2],
        "stands": True,
        "ended": [False, 0],
    }
