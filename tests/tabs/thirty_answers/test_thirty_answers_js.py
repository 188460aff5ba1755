"""What the scripts of the tab "Thirty answers" compute, run by node."""

from typing import Any

import pytest
from node import in_node

from playground.words import catalogue

MODULES = {
    name: f"tabs/thirty_answers/{name}.js"
    for name in ("among", "answers", "asking", "asks_itself", "batch", "curve", "request", "texts", "tree_layout")
} | {"storeModule": "page/js/store.js", "words": "page/js/words.js"}


def in_tab(script: str, given: Any = None) -> Any:
    """`given` and the modules by their names, with the words of the catalogue."""
    job = {"given": given, "catalogue": catalogue()}
    return in_node(
        f"const {{ catalogue }} = given; given = given.given; words.use(catalogue); {script}", job, **MODULES
    )


# --- what is asked for, and whether it is there


REQUEST = """
const params = { temperature: 1, top_p: 0.9, seed: 3, rule: "vllm", max_new_tokens: 64, most_seed: 99 };
const about = { model: "m", prompt: "p", system: "Be brief.", history: [] };
const asked = request.requestFor(about, params);
"""


def test_a_request_holds_what_changes_the_answers_and_nothing_else():
    assert in_tab(f"""{REQUEST}
        const longer = request.requestFor(about, {{ ...params, max_new_tokens: 9 }});
        return [asked.prompt, asked.params.top_p, asked.params.rule, "max_new_tokens" in asked.params,
                request.isFor(longer, asked), request.requestFor(null, params), request.requestFor(about, null)];
    """) == ["p", 0.9, "vllm", False, True, None, None]


@pytest.mark.parametrize(
    ("change", "still"),
    [
        ({}, True),
        ({"prompt": "q"}, False),
        ({"model": "n"}, False),
        ({"params": {"temperature": 0.5}}, False),
        ({"params": {"seed": 4}}, False),
        ({"params": {"presence_penalty": 0}}, True),  # the sliders don't mention it
        ({"system": ""}, False),
        ({"system": None}, True),  # a base model's: it has none, whatever is in the box
        ({"history": ["q", "a"]}, False),
    ],
)
def test_what_was_sampled_is_old_when_model_prompt_or_a_setting_differs(change, still):
    sampled = "{ ...asked, ...given, params: { ...asked.params, ...given.params } }"
    assert in_tab(f"{REQUEST} return request.isFor({sampled}, asked);", change) is still


ITSELF = """
const rests = [], sent = [];
globalThis.window = globalThis;
globalThis.setTimeout = (act, ms) => rests.push({ act, ms });
globalThis.clearTimeout = (id) => { if (id) rests[id - 1].act = () => {}; };
const made = { classList: { toggle() {} }, setAttribute() {}, removeAttribute() {}, addEventListener() {},
  appendChild() {} };
globalThis.document = { createElement: () => ({ ...made }), querySelectorAll: () => [] };
const api = { setValue: (question) => sent.push(question), trigger: () => {} };
const itself = asks_itself.asksItself({ ...made }, api);
const rest = () => { for (const one of rests.filter(({ ms }) => ms === 600)) { one.act(); one.act = () => {}; } };
const want = (temperature, except = null) => itself.want({ prompt: "p", params: { temperature, top_p: 1 } }, except);
const answer = (place, more) => itself.hear({ ...more, job: { number: sent[place].number, state: "done" } });
"""


def test_a_picture_asks_when_the_hand_has_rested_and_again_when_the_page_says_something_else():
    assert in_tab(f"""{ITSELF}
        const first = [want(0.1), want(0.2), sent.length];
        rest();
        const told = [answer(0, {{}}), answer(0, {{ words: 1 }}), want(0.2)];
        const moved = [want(0.3), sent.length];
        rest();
        return [first, told, moved, sent.map(({{ params }}) => params.temperature)];
    """) == [[False, False, 0], [False, True, True], [False, 1], [0.2, 0.3]]


def test_what_comes_back_for_older_settings_is_not_taken_for_the_new_ones():
    assert in_tab(f"""{ITSELF}
        want(0.1); rest(); want(0.2);
        const late = [answer(0, {{ words: 1 }}), want(0.2), want(0.1)];
        want(0.2); rest(); want(0.1);
        rest(); // the answer for 0.2 is on its way and would take its place
        return [late, sent.map(({{ params }}) => params.temperature)];
    """) == [[True, False, True], [0.1, 0.2, 0.1]]


def test_a_curve_is_not_old_because_its_own_slider_moves():
    assert in_tab(f"""{ITSELF}
        want(0.1, "temperature"); rest(); answer(0, {{ words: 1 }});
        return [want(0.9, "temperature"), want(0.9)];
    """) == [True, False]


ASKING = """
const rests = [], sent = [];
globalThis.window = globalThis;
globalThis.requestAnimationFrame = () => {};
globalThis.setTimeout = (act, ms) => rests.push({ act, ms });
globalThis.clearTimeout = (id) => { if (id) rests[id - 1].act = () => {}; };
const rest = () => { for (const one of rests.filter(({ ms }) => ms === 300)) { one.act(); one.act = () => {}; } };
const { store } = storeModule;
const panel = asking.mount(null, { store, setValue: (question) => sent.push(question), trigger: () => {} });
const ask = (temperature) => asking.want({ model: "m", prompt: "p", params: { temperature } });
const settled = async () => { for (let turn = 0; turn < 5; turn += 1) await null; };
const answer = async (place, state, more = {}) => {
  panel.update({ ...sent[place], ...more, job: { number: sent[place].number, state } });
  await settled();
};
const shown = () => store.get().answers;
"""


def test_answers_are_asked_for_when_the_hand_has_rested_and_once_for_all_pictures():
    assert in_tab(f"""{ASKING}
        ask(0.1); ask(0.2); ask(0.3); ask(0.3);
        const before = sent.length;
        rest(); ask(0.3); rest();
        return [before, sent.map(({{ params }}) => params.temperature), "number" in sent[0]];
    """) == [0, [0.3], True]


def test_answers_that_are_there_are_not_asked_for_again():
    assert in_tab(f"""{ASKING}
        ask(0.1); rest(); await answer(0, "done");
        ask(0.2); ask(0.1); rest();
        return [sent.length, shown().value.params.temperature];
    """) == [1, 0.1]


def test_the_answers_to_an_older_question_are_never_shown():
    """They were taken for those of the new sliders, and the picture was no longer called stale."""
    assert in_tab(f"""{ASKING}
        ask(0.1); rest(); ask(0.2); rest();
        await answer(0, "done");
        const between = shown().value;
        await answer(1, "done");
        return [between, shown().asked.params.temperature, shown().value.params.temperature];
    """) == [None, 0.2, 0.2]


def test_a_question_that_is_refused_leaves_the_answers_before_it():
    assert in_tab(f"""{ASKING}
        ask(0.1); rest(); await answer(0, "done");
        ask(0.2); rest();
        panel.update({{ job: {{ number: sent[1].number, state: "failed", problem: "No." }} }});
        await settled();
        const refused = shown();
        ask(0.3); rest();
        return [refused.problem, refused.value.params.temperature, shown().problem];
    """) == ["No.", 0.1, None]


def test_the_line_below_says_where_the_answers_are():
    line = """
        const request = { model: "m", prompt: "p", params: { seed: 1 } }, older = { ...request, prompt: "q" };
        const value = { ...request, max_new_tokens: 24, seconds: 0.25, machine: "a machine" };
        const none = { asked: null, job: null, problem: null, value: null };
        const waits = { number: 1, state: "queued", ahead: 2 };
        const at = (patch) => answers.standing({ ...none, ...patch }, request, 30);
        return [at({}), at({ value }), at({ value: older }), at({ value: older, asked: request, job: waits }),
                at({ asked: request, problem: "No." }), at({ asked: older, problem: "No." })];
    """
    first, here, old, waiting, refused, refused_before = in_tab(line)
    assert first == {"line": "Sampling 30 answers …", "problem": "", "old": False}
    assert here["line"] == "Sampled in one batch in 250 ms on a machine." and not here["old"]
    assert old["line"].startswith("Stale") and old["old"]
    assert "2 in front of you" in waiting["line"] and waiting["old"]
    assert refused == {"line": "", "problem": "No.", "old": False}
    assert refused_before == first


def test_it_is_said_when_only_the_beginnings_of_the_answers_are_compared():
    """With the prompt of the page every row ended after 24 tokens: "distinct answers" compared fragments."""
    view = "const view = { groups: Array(30).fill(0), rows: given.map(([count, stop]) => ({ count, stop })) };"
    said = "return answers.cutWords(view, 24)"
    assert in_tab(view + said, [[20, "stop token"], [7, "length"], [3, "length"]]) == (
        "10 of 30 answers were stopped after 24 tokens, so only their first 24 tokens are compared."
    )
    assert in_tab(view + said, [[30, "stop token"]]) == "All answers are complete: whole answers are compared."


def test_a_row_of_a_batch_says_how_far_logits_move_and_where_the_text_diverges():
    row = {"rows": 8, "change": 0.0000123, "lead": 0.25, "flip": None}
    assert in_tab("return given.map(among.cellsOf)", [row, row | {"flip": 3}]) == [
        [8, "1.2 · 10⁻⁵", "0.2500", "yes"],
        [8, "1.2 · 10⁻⁵", "0.2500", "no, diverges at step 3"],
    ]


# --- the curve


@pytest.mark.parametrize(
    ("value", "place"), [(0, 0), (0.5, 1), (0.75, 1.5), (2, 3), (5, 3), (-1, 0)], ids=lambda number: str(number)
)
def test_a_slider_is_on_the_axis_in_proportion(value, place):
    marks = {"knob": "temperature", "values": [0, 0.5, 1, 2], "places": [0, 1, 2, 3]}
    assert in_tab("return curve.placeOf(given.value, given.marks)", {"value": value, "marks": marks}) == place


@pytest.mark.parametrize(("k", "place"), [(1, 0), (10, 1), (31.6227766, 1.5), (100, 2), (3072, 2), (0, 3)])
def test_top_k_is_on_the_axis_by_ratios_and_off_at_its_end(k, place):
    marks = {"knob": "top_k", "values": [1, 10, 100, 0], "places": [0, 1, 2, 3]}
    assert in_tab("return curve.placeOf(given.k, given.marks)", {"k": k, "marks": marks}) == pytest.approx(place)


# --- the batch


def test_ended_rows_stay_in_one_picture_and_leave_in_the_other():
    """Rows of 3, 1 and 2 steps."""
    kinds = """
        const draw = (cells) => cells.reduce((grid, { step, line, row, kind }) => {
          (grid[line] ??= [])[step] = `${row}${kind[0]}`; return grid; }, []);
        return [draw(batch.paddedCells(given)), draw(batch.droppedCells(given))];
    """
    padded, dropped = in_tab(kinds, {"steps": [3, 1, 2]})
    assert padded == [["0l", "0l", "0e"], ["1e", "1f", "1f"], ["2l", "2e", "2f"]]
    assert dropped == [["0l", "0l", "0e"], ["1e", "2e"], ["2l"]]


def test_cells_fit_beside_each_other_and_below_each_other():
    assert in_tab("return given.map(([width, columns]) => batch.cellSize(width, columns))", [
        [1000, 24], [600, 24], [400, 24], [400, 24 * 40], [2000, 4],
    ]) == [16, 12, 11, 4, 16]  # fmt: skip


def test_the_table_names_what_each_way_of_writing_a_batch_saves():
    """Rows of 3, 1 and 2 steps after a prompt of 5 tokens: the last token of each is never fed."""
    batch = {
        "steps": [3, 1, 2],
        "prompt_length": 5,
        "filled": 3,
        "minimind": 21,
        "padded": 11,
        "dropped": 8,
        "merged": 7,
    }
    ways = in_tab("return batch.waysOf(given, 3000)", batch)
    assert [tokens for _way, tokens, _why in ways] == [21, 11, 8, 7]
    assert [why for _way, _tokens, why in ways[:3]] == [
        "3 × (5 of the prompt + 2)",
        "5 of the prompt once + 3 × 2: sharing the prompt saves 10",
        "5 of the prompt once + 3: dropping finished rows saves 3",
    ]


# --- the tree

TREE = {
    "text": "the ", "count": 4, "rows": [0, 1, 2, 3], "split": 1, "probability": 1, "stop": "",
    "children": [
        {"text": "dog", "count": 3, "rows": [0, 1, 2], "split": 0.75, "probability": 0.75, "stop": "", "children": [
            {"text": " ran", "count": 2, "rows": [0, 1], "split": 0.5, "probability": 0.4, "stop": "length",
             "children": []},
            {"text": "", "count": 1, "rows": [2], "split": 0.5, "probability": 0.4, "stop": "stop token",
             "children": []},
        ]},
        {"text": "cat", "count": 1, "rows": [3], "split": 0.25, "probability": 0.25, "stop": "stop token",
         "children": []},
    ],
}  # fmt: skip
LAID = "const layout = tree_layout.layOut(given); const { nodes } = layout;"


def test_each_leaf_of_the_tree_has_a_line_and_the_thickest_branch_goes_straight_on():
    script = f"{LAID} return nodes.map(({{ label, depth, line, left, width }}) => [label, depth, line, left, width]);"
    nodes = in_tab(script, TREE)
    assert [node[:3] for node in nodes] == [["the ", 0, 0], ["dog", 1, 0], [" ran", 2, 0], ["■", 2, 1], ["cat", 1, 2]]
    places = {label: (left, width) for label, _depth, _line, left, width in nodes}
    assert places["dog"] == places["cat"], "of the same depth and length"
    assert places["dog"][0] == sum(places["the "]) + 140
    assert in_tab(f"{LAID} return layout.height", TREE) == 3 * 38


def test_a_long_text_is_cut_in_its_node_and_an_answer_without_text_is_called_empty():
    label = "return tree_layout.layOut(given).nodes[0].label"
    leaf = TREE["children"][1]
    assert in_tab(label, leaf | {"text": "x" * 40}) == "x" * 33 + "…"
    assert in_tab(label, leaf | {"text": "a\nb"}) == "a⏎b"
    assert in_tab(label, leaf | {"text": "", "stop": ""}) == "(empty)"


def test_what_a_screen_reader_hears_of_a_node():
    said = in_tab(f"{LAID} return nodes.map((placed) => tree_layout.spoken(placed, 4));", TREE)
    assert said[1] == "dog: 3 of 4, 75.0 % at this split, splits into 2"
    assert said[3] == "■ ends here: 1 of 4, 50.0 % at this split, ended: the model stopped"
    assert in_tab(f"{LAID} return nodes.map(({{ item, depth }}) => tree_layout.listed(item, depth));", TREE) == [
        "the", "dog (75.0 %)", "ran (50.0 %)", "ends here (50.0 %)", "cat (25.0 %)",
    ]  # fmt: skip


def test_arrow_keys_walk_to_children_neighbours_and_across_branches():
    walk = """
        let here = nodes[0];
        return ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowDown", "ArrowUp", "Home"].map((key) => {
          here = tree_layout.nextNode(nodes, here, key);
          return here.label;
        });
    """
    assert in_tab(LAID + walk, TREE) == ["dog", " ran", "■", "dog", "cat", "dog", "the "]
    ends = 'return [["ArrowLeft", 0], ["ArrowRight", 4], ["ArrowDown", 4], ["x", 1]].map(([key, place]) => \
        tree_layout.nextNode(nodes, nodes[place], key) ?? null)'
    assert in_tab(LAID + ends, TREE) == [None] * 4


def test_the_point_under_the_pointer_stays_there_when_the_tree_is_zoomed():
    x, y = in_tab("""
        const before = { x: 12, y: 30, scale: 0.9 }, after = tree_layout.zoomed(before, 1.5, 200, 100);
        return [(200 - after.x) / after.scale - (200 - before.x) / before.scale,
                (100 - after.y) / after.scale - (100 - before.y) / before.scale];
    """)
    assert (x, y) == (pytest.approx(0), pytest.approx(0))
    assert in_tab("return [9, 0.01].map((by) => tree_layout.zoomed({ x: 0, y: 0, scale: 1 }, by, 0, 0).scale)") == [
        3,
        0.05,
    ]


def test_a_node_outside_the_frame_is_brought_in_and_one_inside_moves_nothing():
    script = """
        const view = { x: 0, y: 0, scale: 1 }, frame = { width: 300, height: 200 };
        return given.map(([left, line, width]) => {
          const { x, y } = tree_layout.showing(view, { left, line, width }, frame);
          return [x, y];
        });
    """
    moves = in_tab(script, [[50, 2, 100], [400, 2, 100], [-80, 2, 100], [50, 20, 100], [50, -3, 100]])
    assert moves == [[0, 0], [-216, 0], [96, 0], [0, 170 - 20.5 * 38], [0, 30 + 2.5 * 38]]


def test_the_whole_tree_fits_into_the_frame_when_that_is_asked_for():
    whole = in_tab("""
        const layout = { width: 2000, height: 900 }, frame = { width: 800, height: 400 };
        const readable = tree_layout.readableScale(layout, frame.width);
        return [readable, tree_layout.fitted(layout, frame, readable.scale, false).scale,
                tree_layout.fitted(layout, frame, readable.scale, true)];
    """)
    assert whole[0] == {"scale": 1, "height": 640} and whole[1] == 1
    assert whole[2] == {"scale": 0.388, "x": 12, "y": pytest.approx((400 - 900 * 0.388) / 2)}
