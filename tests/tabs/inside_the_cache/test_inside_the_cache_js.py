"""The arithmetic of the pictures of "Inside the cache", in node, against Python's or by hand."""

import numpy as np
import pytest
from node import in_node

from playground.tabs.inside_the_cache.attention import attention_vectors, attention_weights, mask_row
from playground.tabs.inside_the_cache.walk import walk_token

FOLDER = "tabs/inside_the_cache"


@pytest.mark.parametrize("scores", [[1, 2, 3], [0.5, -2, -1], [4, 4, 0], [-20, 20, 7.5]])
def test_the_mask_played_with_is_the_mask_of_python(scores):
    made = in_node("return mask.maskRow(given)", scores, mask=f"{FOLDER}/mask.js")
    rows = {idea: [float(weight) for weight in weights] for idea, weights in made}
    expected = mask_row(scores, [False, False, True]).rows
    assert list(rows) == list(expected)
    for idea, row in expected.items():
        np.testing.assert_allclose(rows[idea], row, atol=1e-12)


def test_only_an_added_mask_is_called_right():
    """A score above 0 times -inf works too, and is called luck."""
    script = """return [[1, 2, 3], [1, 2, 0]].map((scores) =>
        mask.maskRow(scores).map(([idea, weights]) => mask.verdictOf(idea, weights[2]).key.split(".").at(-1)));"""
    lucky, broken = in_node(script, mask=f"{FOLDER}/mask.js")
    assert lucky == ["reads_future", "right", "leaks", "lucky"]
    assert broken == ["reads_future", "right", "leaks", "broken"]


# Two heads, three tokens: a prompt of two, one that was written. Rows 1 | .25 .75 | .5 .25 .25, and the reverse.
WEIGHTS = """
const rows = [[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25]];
const reversed = rows.map((row, from) => [...row.slice(0, from + 1).reverse(), ...row.slice(from + 1)]);
const sent = (firstRow) => ({ layer: 1, num_layers: 4, num_heads: 2, prompt_length: 2, first_row: firstRow,
  labels: ["a", "b", "c"],
  weights: Uint16Array.from([rows, reversed].flatMap((head) => head.slice(firstRow).flat()), (one) => one * 65535) });
"""


def test_a_step_looks_at_its_own_row_and_frames_what_it_computes():
    made = in_node(
        WEIGHTS
        + """return [[0, 0], [0, 1], [0, 9]].map(([head, step]) => {
            const { row, firstNew, largest } = reading.lookAt(sent(0), head, step, 300);
            return [row, firstNew, Math.round(100 * largest)];
        });""",
        reading=f"{FOLDER}/reading.js",
    )
    assert made == [[1, 0, 75], [2, 2, 75], [2, 2, 75]]  # the first token's 1 would make all others pale


def test_a_weight_is_a_head_s_or_the_mean_of_all():
    script = """return [0, 1, -1, 7].map((head) => {
        const look = reading.lookAt(sent(0), head, 1, 300);
        return [0, 1, 2].map((to) => reading.weightAt(look, 2, to)); });"""
    own, other, mean, gone = in_node(WEIGHTS + script, reading=f"{FOLDER}/reading.js")
    assert own == pytest.approx([0.5, 0.25, 0.25], abs=1e-4) and other == pytest.approx([0.25, 0.25, 0.5], abs=1e-4)
    assert mean == gone == pytest.approx([0.375, 0.25, 0.375], abs=1e-4)  # another model may have fewer heads


def test_what_a_step_computes_is_counted():
    script = """return [[0, 0], [0, 1], [2, 0]].map(([first, step]) =>
        reading.workOf(reading.lookAt(sent(first), 0, step, 300)));"""
    prompt, step, missing = in_node(WEIGHTS + script, reading=f"{FOLDER}/reading.js")
    assert prompt == {"key": "inside_the_cache.attention.prompt", "facts": {"rows": 2, "scores": 4, "hidden": 1}}
    assert step == {"key": "inside_the_cache.attention.step", "facts": {"rows": 3, "scores": 9, "hidden": 3}}
    assert missing["key"].endswith(".gone") and missing["facts"] == {"kept": 1, "work": prompt}


def test_a_pointer_finds_the_two_tokens():
    """300 px: names on 75, then cells of 26 by 22."""
    script = """const look = reading.lookAt(sent(0), 0, 1, 300);
        return [[80, 48], [130, 26], [10, 26]].map(([x, y]) => reading.pointedAt(look, x, y));"""
    read, hidden, beside = in_node(WEIGHTS + script, reading=f"{FOLDER}/reading.js")
    assert read["key"].endswith(".share") and read["facts"]["share"] == pytest.approx(0.5, abs=1e-4)
    assert (read["facts"]["from"], read["facts"]["to"], read["facts"]["reader"], read["facts"]["read"]) == (
        2,
        0,
        "c",
        "a",
    )
    assert hidden["key"].endswith(".hidden") and (hidden["facts"]["from"], hidden["facts"]["to"]) == (1, 2)
    assert beside["key"].endswith(".step")


def test_rows_of_a_heat_map_fill_with_the_steps():
    script = """const sent = { prompt_length: 5, first_row: 3, labels: Array(6).fill("x") };
        return [0, 1, 4, 9].map((step) => heatmap.rowsAt(sent, step));"""
    assert in_node(script, heatmap=f"{FOLDER}/heatmap.js") == [
        {"total": 5, "numStored": 2, "firstNew": 0},  # the prompt's come at once
        {"total": 6, "numStored": 3, "firstNew": 2},
        {"total": 9, "numStored": 6, "firstNew": 5},
        {"total": 9, "numStored": 6, "firstNew": 5},  # the last token is chosen and never fed
    ]


def test_a_pointer_on_a_heat_map_finds_head_place_and_number():
    """Two heads of three numbers on 100 px a number: names on 128, a gap of 8 between the heads, titles on 28."""
    script = """
        const value = { num_heads: 2, head_dim: 3, first_row: 7, labels: ["a", "b"], largest: { keys: 2 },
          keys: Int8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -127, 0]) };
        const cell = heatmap.cellWidth(value, 736);
        const look = { value, name: "keys", numStored: 2, firstNew: 0, width: 736, cell };
        const at = (x, y, more = {}) => heatmap.pointedAt({ ...look, ...more }, x, y);
        return [at(560, 60), at(560, 60, { numStored: 1 }), at(20, 60), at(560, 5)];"""
    number, later, beside, above = in_node(script, heatmap=f"{FOLDER}/heatmap.js")
    assert number["facts"] == {"position": 8, "token": "b", "head": 2, "place": 2, "number": -2}
    assert later["key"].endswith(".later") and beside["key"].endswith(".token") and above is None


def test_the_boxes_of_the_walk_say_what_a_stage_works_with(model):
    stages = [
        {"name": stage.name, "rows": [vars(row) for row in stage.rows]} for stage in walk_token(model, [5, 9, 2]).stages
    ]
    script = """return given.stages.map((_, stage) => ["x", "Q", "K", "V"].map((letter) =>
        [0, 1].map((position) => stepper.boxState(given, stage, letter, position))));"""
    made = in_node(script, {"position": 1, "stages": stages}, stepper=f"{FOLDER}/stepper.js")
    by_name = {stage["name"]: dict(zip("xQKV", boxes, strict=True)) for stage, boxes in zip(stages, made, strict=True)}
    assert by_name["arrive"] == {
        "x": ["gone", "computed"], "Q": ["gone", "later"], "K": ["there", "later"], "V": ["there", "later"],
    }  # fmt: skip
    assert by_name["fetch"]["K"] == by_name["fetch"]["V"] == ["cache", "there"]
    assert by_name["score"]["K"] == ["cache", "computed"] and by_name["score"]["V"] == ["there", "there"]
    assert by_name["mix"]["V"] == ["cache", "computed"]
    assert by_name["keep"] == {
        "x": ["gone", "gone"], "Q": ["gone", "gone"], "K": ["there", "computed"], "V": ["there", "computed"],
    }  # fmt: skip


def test_a_change_is_none_rounding_or_real():
    made = in_node(
        "return given.map((one) => changes.sizeOf(one, 1e-4))", [0, 1e-4, 2e-4], changes=f"{FOLDER}/changes.js"
    )
    assert made == ["zero", "rounding", "real"]


def test_a_section_asks_for_what_it_looks_at_when_the_answer_is_complete():
    script = """const run = { logits: [], model: "m", promptIds: [1], tokenIds: [2], id: "r" };
        const state = { run, layer: 3, position: null, step: 5 };
        const early = { ...state, run: { ...run, logits: null } };
        return [source.requestOf(early, ["layer"]), source.requestOf(state, ["layer"])];"""
    early, complete = in_node(script, source=f"{FOLDER}/source.js")
    assert early is None
    assert complete == {"model": "m", "prompt_ids": [1], "token_ids": [2], "layer": 3}


def test_the_sign_of_a_number_is_seen_without_any_colour():
    """Green for above 0 and grey for below were one colour to a deuteranope."""
    up, down, nothing = in_node("return given.map(heatmap.barOf)", [0.5, -0.5, 0], heatmap=f"{FOLDER}/heatmap.js")
    assert up["top"] + up["high"] == down["top"] and up["high"] == down["high"] > 0
    assert nothing["high"] == 0


def test_a_row_of_attention_is_worked_out_as_the_model_does(model):
    """Head 3 of four reads the second of two key/value heads."""
    ids = [5, 9, 2, 40, 17]
    queries, keys, values = attention_vectors(model, ids, 1, num_rows=2)
    sent = {"q": queries, "k": keys, "v": values}
    given = {
        "num_heads": 4, "num_kv_heads": 2, "head_dim": 16, "first_row": 3, "labels": ["x"] * 5,
        **{name: heads.flatten().tolist() for name, heads in sent.items()},
    }  # fmt: skip
    script = """const { q, k, v, ...more } = given;
        const [queries, keys, values] = [q, k, v].map((each) => Float32Array.from(each));
        return [3, 4].map((row) => formula.rowOf({ ...more, queries, keys, values }, 2, row));"""
    made = in_node(script, given, formula=f"{FOLDER}/formula.js")
    expected = attention_weights(model, ids)[1, 2]
    for row, worked in zip((3, 4), made, strict=True):
        np.testing.assert_allclose(worked["weights"], expected[row, : row + 1], atol=1e-5)
        assert worked["most"] == int(expected[row].argmax())
        read = (expected[row, : row + 1] @ values[1, : row + 1])[:3]
        np.testing.assert_allclose(worked["read"], read, atol=1e-5)


def test_play_lasts_three_seconds_at_most_and_ends_at_the_last_step():
    script = "return given.map(([elapsed, from, last]) => steps.playedTo(elapsed, from, last));"
    cases = [[0, 0, 4], [500, 0, 4], [5000, 0, 4], [1500, 0, 200], [3000, 0, 200], [0, 0, 0], [300, 3, 4]]
    assert in_node(script, cases, steps=f"{FOLDER}/steps.js") == [0, 2, 4, 100, 200, 0, 4]


def test_the_pictures_stand_at_the_last_step_unless_told_otherwise():
    script = """const run = { numSteps: 5 };
        const states = [[null, run], [2, run], [9, run], [null, null]];
        return states.map(([cacheStep, run]) => steps.stepOf({ cacheStep, run }));"""
    assert in_node(script, steps=f"{FOLDER}/steps.js") == [4, 2, 4, 0]


def test_an_answer_is_stale_once_the_bar_says_something_else():
    script = """const run = { model: "m", prompt: "p", params: { temperature: 1, seed: 2 } };
        const bar = { model: "m", prompt: "p" };
        const params = { temperature: 1, seed: 2, max_new_tokens: 7 };
        return [{ run, bar, params }, { run, bar: null, params: null }, { run: null, bar, params },
          { run, bar: { ...bar, prompt: "q" }, params }, { run, bar: { ...bar, model: "n" }, params },
          { run, bar, params: { ...params, temperature: 0.5 } }].map(source.isStale);"""
    assert in_node(script, source=f"{FOLDER}/source.js") == [False, False, False, True, True, True]


def test_query_heads_read_the_heads_of_their_group():
    made = in_node(
        "return given.map(([stored, queries]) => repeat.groupsOf(stored, queries))",
        [[2, 4], [1, 3], [4, 4]],
        repeat=f"{FOLDER}/repeat.js",
    )
    assert made == [[0, 0, 1, 1], [0, 0, 0], [0, 1, 2, 3]]


def test_the_table_of_changes_has_a_line_for_each_token():
    script = """words.use({ "inside_the_cache.change.column": "{title}, layer {layer}",
          "inside_the_cache.heat.token": "{position} {token}", "inside_the_cache.heat.column.token": "token" });
        return changes.tableOf({ labels: ["a", "b"] }, { maps: [{ title: "T", cells: [[0, 0.5], [0, 2]] }] });"""
    made = in_node(script, changes=f"{FOLDER}/changes.js", words="page/js/words.js")
    assert made["columns"] == ["token", "T, layer 1", "T, layer 2"]
    assert [row[1:] for row in made["rows"]] == [["0", "0"], ["0.50", "2.0"]]
