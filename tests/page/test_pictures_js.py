"""What the shared pictures compute before they draw: marks of axes, rows and bars of a step, columns of the cache."""

import base64
import struct
from typing import Any

import pytest
import torch
from conftest import recorded
from node import in_node

from playground.engine.params import SamplingParams
from playground.page.runs import Run, payload


def axis(expression: str, *given: Any) -> Any:
    return in_node(f"return {expression};", given, axis="page/js/axis.js")


# ---- axes


@pytest.mark.parametrize(
    ("top", "height", "marks"),
    [
        (3072, 187, [1, 10, 100, 1000, 3072]),
        (3072, 84, [1, 10, 100, 3072]),  # 1,000 would touch 3,072
        (151_936, 187, [1, 10, 100, 1000, 10_000, 151_936]),
        (10, 84, [1, 10]),
        (1, 84, [1]),
    ],
)
def test_powers_of_ten_give_way_to_the_top(top, height, marks):
    assert axis("axis.logMarks(given[0], given[1])", top, height) == marks


def test_marks_of_steps_are_round_and_not_too_many():
    assert axis("axis.stepMarks(10, 20)") == list(range(10))
    assert axis("axis.stepMarks(64, 8)") == [0, 10, 20, 30, 40, 50, 60]
    assert axis("axis.stepMarks(1, 0)") == [0]
    for num_steps, most in ((3, 1), (64, 5), (2000, 12), (7, 7)):
        marks = axis("axis.stepMarks(given[0], given[1])", num_steps, most)
        assert marks[0] == 0 and marks[-1] < num_steps and len(marks) <= max(most, 2)


def test_scales_reach_both_ends_and_a_domain_of_one_value_does_not_divide_by_zero():
    ends = "[given[0], (given[0] + given[1]) / 2, given[1]].map(axis.linearScale(given, [100, 20]))"
    assert axis(ends, 0, 8) == [100, 60, 20]
    assert axis("[5].map(axis.linearScale([5, 5], [100, 20]))") == [100]
    assert axis("[1, 10, 100].map(axis.logScale([1, 100], [0, 1]))") == pytest.approx([0, 0.5, 1])
    assert axis("axis.pointsOf([2, 4], (step) => 10 * step, (value) => value / 2)") == "0.0,1.0 10.0,2.0"


@pytest.mark.parametrize(
    ("key", "place"), [("ArrowRight", 0), ("ArrowDown", 0), ("ArrowLeft", 2), ("Home", 0), ("End", 3), ("x", None)]
)
def test_arrow_keys_go_round_the_chips(key, place):
    script = "return chips.placeAfter(given, 3, 4);"
    assert in_node(script, key, chips="page/js/chips.js") == place


# ---- one step

NOW = """
const now = { start: 0, stop: 3, chosenPlace: 1, sampledPlace: 2, numCandidates: 3, ranking: [7, 8, 9, 10, 11],
  modelProbs: [0.4, 0.3, 0.2, 0.06, 0.04], probs: [0.5, 0.3, 0.2, 0, 0],
  stages: [{ name: "top-k", cuts: true, probs: [0.5, 0.3, 0.2, 0, 0] },
           { name: "top-p", cuts: false, probs: [0.5, 0.3, 0.2, 0, 0] }] };
const even = (start, stop, size, chosenPlace) => ({ start, stop, chosenPlace, sampledPlace: start,
  numCandidates: stop - start, ranking: Array.from({ length: size }), modelProbs: Array(size).fill(1 / size),
  probs: Array.from({ length: size }, (_, place) => (place >= start && place < stop ? 1 / (stop - start) : 0)) });
const names = (rows) => rows.map(({ kind, place, count }) => (kind === "token" ? place : `${count} ${kind}`));
"""


def of_step(expression: str, given: Any = None) -> Any:
    return in_node(f"{NOW} return {expression};", given, candidates="page/js/candidates.js")


@pytest.mark.parametrize(
    ("start", "stop", "chosen", "size", "shown"),
    [
        (0, 3, 1, 20, [0, 1, 2, 3, 4, 5, "14 others"]),
        (0, 20, 1, 20, [0, 1, 2, 3, 4, 5, "14 more"]),
        (0, 9, 15, 20, [0, 1, 2, 3, 4, "4 more", 15, "10 others"]),  # the recorded token is always there
        (8, 12, 9, 20, [6, 7, 8, 9, 10, 11, "14 others"]),  # typical-p keeps tokens further down
        (8, 12, 0, 20, [0, 6, 7, 8, 9, 10, "1 more", "13 others"]),
        (18, 20, 19, 20, [14, 15, 16, 17, 18, 19, "14 others"]),  # never past the end
        (0, 2, 1, 3, [0, 1, 2]),
    ],
)
def test_the_rows_show_what_is_kept_and_the_recorded_token(start, stop, chosen, size, shown):
    assert of_step("names(candidates.rowsOf(even(...given), 6, false))", [start, stop, size, chosen]) == shown


def test_a_bar_too_short_to_be_seen_has_no_row_unless_the_axis_is_logarithmic():
    kept = "stop: 2, numCandidates: 2, probs: [0.9, 0.1, 0, 0, 0]"
    small = f"{{ ...now, modelProbs: [0.9, 0.0996, 0.0002, 0.0001, 0.0001], {kept} }}"
    assert of_step(f"names(candidates.rowsOf({small}, 6, false))") == [0, 1, "3 others"]
    assert of_step(f"names(candidates.rowsOf({small}, 6, true))") == [0, 1, 2, 3, 4]


def test_bars_are_the_share_or_four_powers_of_ten():
    assert of_step("given.map((share) => candidates.barLength(share, false))", [0, 0.25, 1]) == [0, 0.25, 1]
    lengths = of_step("given.map((share) => candidates.barLength(share, true))", [0, 1e-9, 1e-4, 1e-2, 1])
    assert lengths == pytest.approx([0, 0, 0, 0.5, 1])


@pytest.mark.parametrize("case", [[0, 3, 20, 1], [0, 20, 20, 1], [0, 9, 20, 15], [8, 12, 20, 0], [0, 2, 3, 1]])
def test_the_rows_hold_every_token_and_all_probability(case):
    rows = of_step("candidates.rowsOf(even(...given), 6, false)", case)
    start, stop, size, _ = case
    tokens = [row["place"] for row in rows if row["kind"] == "token"]
    rest = {row["kind"]: row for row in rows if row["kind"] != "token"}
    kept = sum(start <= place < stop for place in tokens)
    assert len(tokens) + sum(row["count"] for row in rest.values()) == size
    assert kept + rest.get("more", {"count": 0})["count"] == stop - start
    assert kept / (stop - start) + rest.get("more", {"after": 0})["after"] == pytest.approx(1)
    assert len(tokens) / size + sum(row["model"] for row in rest.values()) == pytest.approx(1)


def test_what_is_kept_and_what_cut_the_rest():
    assert of_step("candidates.keptMass(now)") == pytest.approx(0.9)
    assert of_step("candidates.cutters(now)") == ["top-k"]


def test_the_sum_counts_rows_that_follow_each_other():
    rows = "given.map((places) => candidates.sumsBeforeTopP(now, places.map((place) => ({ kind: 'token', place }))))"
    sums = of_step(rows, [[0, 1, 2], [0, 1, 4], [2, 3]])
    assert [index for index, _ in sums[0]] == [0, 1, 2]
    assert [total for _, total in sums[0]] == pytest.approx([0.5, 0.8, 1])
    assert [index for index, _ in sums[1]] == [0, 1], "the last row stands out of its order"
    assert sums[2][0][1] == pytest.approx(1), "what stands above the first row counts"


def test_the_ruler_is_full_and_holds_the_sampled_token():
    near = of_step("candidates.rulerOf(now, 0.01)")
    assert [each["length"] for each in near["segments"]] == [0.5, 0.3, 0.2]
    assert near["rest"]["length"] == 0 and near["sampled"] == near["segments"][2]
    far = of_step(
        """candidates.rulerOf({ start: 0, stop: 4, sampledPlace: 3, probs: [0.9, 0.06, 0.03, 0.01] }, 0.05)"""
    )
    assert [each["place"] for each in far["segments"]] == [0, 1]
    assert far["rest"] == pytest.approx({"start": 0.96, "length": 0.04, "count": 2})
    assert far["sampled"] == pytest.approx({"start": 0.99, "length": 0.01})


def test_the_words_above_the_ruler_stay_inside_it():
    """They ran into the picture beside it where a low random number landed on another token."""
    given = [
        (letters, share * width, width) for letters in (5, 40, 90) for share in (0, 0.3, 0.6, 1) for width in (300, 800)
    ]
    script = "return given.map((each) => ruler.captionPlace(...each));"
    for (letters, _, width), place in zip(given, in_node(script, given, ruler="page/js/ruler.js"), strict=True):
        length = place["textLength"] or 9 * letters
        start = place["x"] - (length if place["text-anchor"] == "end" else 0)
        assert start >= 0 and start + length <= width


# ---- the cache


def test_a_pointer_over_the_cache_finds_the_column_that_was_drawn_there():
    script = """
        const layout = growth.layOut(given.width, given.run, 0);
        const at = (x) => growth.positionAt(layout, x);
        return { layout, edges: [43, 44, given.width - 3, given.width].map(at),
                 columns: Array.from({ length: given.width - 46 }, (_, x) => at(44 + x)) };
    """
    run = {"cacheBytes": [[8, 8]] * 64, "promptLength": 2000, "maxNewTokens": 64}
    found = in_node(script, {"width": 500, "run": run}, growth="page/js/cache_growth.js")
    assert not found["layout"]["toScale"] and found["layout"]["cell"] == 3
    assert found["edges"] == [None, 0, 2062, None]
    assert found["columns"] == sorted(found["columns"]), "positions run from left to right"
    assert set(range(2000, 2063)) <= set(found["columns"]), "every answer token can be pointed at"


# ---- the numbers of a curve

SEVEN_EIGHT = base64.b64encode(struct.pack("<2d", 7, 8)).decode()  # as Plotly writes a vector of numpy
CURVE = {
    "data": [
        {"name": "=sum", "x": [0, 10, 2], "y": [1.5, 2, None]},
        {
            "name": "a, b",
            "x": [10, 0],
            "y": {"dtype": "f8", "bdata": base64.b64encode(struct.pack("<2d", 7, 8)).decode()},
        },
        {"name": "hidden", "x": [0], "y": [1], "visible": False},
    ],
    "layout": {"xaxis": {"title": {"text": "new<br>token"}}, "yaxis": {"title": {"text": "KiB"}}},
}


def test_a_curve_is_a_table_with_a_row_for_each_place_and_a_column_for_each_name():
    table = in_node("return curves.tableOf(given);", CURVE, curves="page/js/plot_table.js")
    assert table == {"columns": ["new token", "=sum", "a, b"], "rows": [[0, 1.5, 8], [10, 2, 7]]}
    saved = in_node("return curves.csvOf(given);", table, curves="page/js/plot_table.js")
    assert saved == 'new token,\'=sum,"a, b"\r\n0,1.5,8\r\n10,2,7', "no formula for a spreadsheet"


# ---- a run on its way to the browser


LOGITS = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))


def sent(token_ids: list[int], num_logits: int, **more: Any) -> dict:
    """What Python sends of a run: the logits of its last `num_logits` steps."""
    trace = recorded(LOGITS[: len(token_ids)], token_ids, [0.1, 0.5, 0.9, 0.3][: len(token_ids)], [1, 2])
    run = Run("tiny", "a prompt", trace, SamplingParams(seed=7), 9, list("wxyz"), list("abcde"), ["61"] * 5, id="r1")
    return payload(run, len(token_ids) - num_logits if num_logits else None, **more)


TAKE = "const vocabulary = { labels: [...'abcde'], token_bytes: Array(5).fill('61'), trained_length: 2048 };"


def test_the_browser_takes_in_what_python_sends():
    script = f"{TAKE} return runs.decode(given, vocabulary);"
    run = in_node(script, sent([4, 0, 2], 3), runs="page/js/run_data.js")
    assert torch.equal(torch.tensor(run["logits"]).reshape(3, 5), LOGITS[:3]), "every bit of them"
    assert run["order"]["steps"][0]["ids"] == LOGITS[0].argsort(descending=True).tolist()
    assert [run["labels"], run["promptLabels"], run["forced"]] == [["e", "a", "c"], ["b", "c"], []]
    assert [run["numSteps"], run["vocabSize"], run["promptLength"], run["maxNewTokens"]] == [3, 5, 2, 9]
    assert run["params"]["seed"] == 7 and run["id"] == "r1"
    missing = [name for name, value in run.items() if value is None]
    assert missing == ["held"], "a name that one side spells otherwise: `held` comes only with a conversation"
    writing = in_node(script, sent([4, 0, 2], 0), runs="page/js/run_data.js")
    assert writing["logits"] is None and "order" not in writing


def test_a_run_that_goes_on_from_another_is_the_run_sent_whole():
    script = f"""{TAKE}
        const [base, rest, whole] = given;
        const told = ({{ logits, order, tokenIds, trainedLength }}) => JSON.stringify(
            [logits, order.steps.map((step) => [step.ids, step.scores]), order.places, tokenIds, trainedLength]);
        const decoded = runs.decode(whole, vocabulary);
        return told(runs.continueRun(runs.decode(base, vocabulary), rest)) === told(decoded);
    """
    given = [sent([4, 0], 2), sent([4, 3, 1, 2], 2, shared=2), sent([4, 3, 1, 2], 4)]
    assert in_node(script, given, runs="page/js/run_data.js")
