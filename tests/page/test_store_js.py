"""Who hears of a change in the store, and when. The frames of a browser are run by hand here."""

from typing import Any

from node import in_node

FRAMES = """
const { store } = storeModule;
const frames = [];
globalThis.requestAnimationFrame = (act) => frames.push(act);
const nextFrame = () => { for (const act of frames.splice(0)) act(); };
const heard = [];
const hears = (name, keys) => store.on(keys, (state) => heard.push(name));
const vocabSize = 3, logits = Float32Array.from([3, 2, 1, 3, 2, 1]);
const runOf = (more = {}) => ({ id: "a", model: "m", prompt: "p", system: "s", history: [], numSteps: 2, vocabSize,
  logits, tokenIds: [0, 1], promptIds: [], uniforms: [0.1, 0.9], forced: new Set(),
  params: { temperature: 0, seed: 4 }, maxNewTokens: 9, ...more });
"""


def in_store(script: str) -> Any:
    return in_node(FRAMES + script, storeModule="page/js/store.js", runs="page/js/run_data.js")


def test_a_listener_hears_only_of_the_keys_that_it_reads():
    """A hover redrew every picture in sight, and five of them had guards of their own against it."""
    heard = in_store("""
        hears("curve", ["run", "step"]); hears("formula", ["step", "hover"]);
        store.set({ hover: 7 }); nextFrame();
        store.set({ step: 0 }); nextFrame();
        store.set({ hover: 7 }); nextFrame();
        return heard;
    """)
    assert heard == ["formula"], "the second and third set nothing else than what there was"


def test_many_changes_before_a_frame_are_heard_of_once():
    assert in_store("""
        hears("one", ["hover", "log"]);
        for (let token = 0; token < 40; token += 1) store.set({ hover: token, log: token % 2 === 0 });
        const before = [...heard], asked = frames.length;
        nextFrame(); nextFrame();
        return { before, asked, heard, hover: store.get().hover };
    """) == {"before": [], "asked": 1, "heard": ["one"], "hover": 39}


def test_a_listener_without_keys_hears_of_every_frame_and_one_that_left_of_none():
    assert in_store("""
        hears("all", null); const leave = hears("gone", ["hover"]);
        store.set({}); nextFrame();
        leave(); store.set({ hover: 1 }); nextFrame();
        return heard;
    """) == ["all", "all"]


def test_what_a_listener_sets_is_heard_of_in_the_next_frame_by_all_and_only_once():
    assert in_store("""
        store.on(["step"], () => { heard.push("sets"); store.set({ hover: 5 }); });
        hears("later", ["hover"]);
        store.set({ run: runOf(), step: 1 }); nextFrame();
        const first = [...heard];
        nextFrame(); nextFrame();
        return { first, heard };
    """) == {"first": ["sets"], "heard": ["sets", "later"]}


def test_reread_follows_the_run_and_the_sliders_and_nothing_else():
    found = in_store("""
        hears("curve", ["reread"]);
        store.set({ run: runOf() }); nextFrame();
        const none = store.get().reread;
        store.set({ params: { temperature: 0, seed: 1 } }); nextFrame();
        const before = store.get().reread;
        store.set({ hover: 2 }); nextFrame();
        const same = store.get().reread === before;
        store.set({ params: { temperature: 5, seed: 1 } });
        const candidates = store.get().reread.numCandidates; // not a frame later
        nextFrame();
        return { none, same, candidates, heard };
    """)
    assert found == {"none": None, "same": True, "candidates": [3, 3], "heard": ["curve", "curve"]}


def test_the_step_stays_inside_a_shorter_run():
    assert in_store("""
        store.set({ run: runOf({ numSteps: 9, tokenIds: Array(9).fill(0), logits: null }), step: 8 });
        const before = store.get().step;
        store.set({ run: runOf() });
        return [before, store.get().step];
    """) == [8, 1]


def test_the_recipe_names_what_the_settings_alone_would_not_write():
    """At T = 0 the settings write token 0 twice: the 1 at the second step was written under others, or chosen."""
    found = in_store("""
        store.set({ run: runOf({ logits: null }) });
        const writing = store.get().recipe;
        store.set({ run: runOf() });
        const before = store.get().recipe;
        store.set({ params: { temperature: 1, seed: 2 } }); nextFrame();
        return { writing, before, kept: store.get().recipe === before };
    """)
    assert found["writing"] is None and found["kept"]
    assert found["before"] == {
        "model": "m",
        "prompt": "p",
        "system": "s",
        "history": [],
        "params": {"temperature": 0, "seed": 4},
        "maxNewTokens": 9,
        "forced": [[1, 1]],
    }


def test_a_new_run_begins_at_its_step_and_one_of_the_same_name_stays_where_it_is():
    """Without sliders nobody knows which step is the most open: the last one is shown, as of an answer that grows."""
    assert in_store("""
        const places = [];
        const see = () => { const { step, layer, position } = store.get(); places.push([step, layer, position]); };
        runs.show(store, runOf(), 1); see();
        store.set({ layer: 3, position: 2 });
        runs.show(store, runOf()); see();
        runs.show(store, runOf({ id: "b" })); see();
        runs.show(store, runOf({ id: "c", model: "n" })); see();
        return places;
    """) == [[1, None, None], [1, 3, 2], [1, 3, None], [1, None, None]]
