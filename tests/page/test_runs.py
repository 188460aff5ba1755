"""A recorded run outlives its request in a bounded store, and others go on from it."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from playground.engine.generation import CONTEXT_FULL, LENGTH, STOP_TOKEN, generate, timed
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.trace import Trace
from playground.models.answers import at_once
from playground.models.tables import steps_table, trace_frame
from playground.page import runs as runs_module
from playground.page.run_file import from_json, to_json
from playground.page.runs import Run, RunStore, payload
from playground.tabs.one_answer.fork import go_on

PROMPT = [5, 9, 2, 44]
PARAMS = SamplingParams(temperature=1.2, top_k=30, seed=8)


def recorded_run(model, steps: int = 12, params: SamplingParams = PARAMS) -> Run:
    cache = KVCache(model.config.num_layers)
    trace = Trace.record(timed(generate(model, PROMPT, params, cache, steps)))
    labels = [f"t{token_id}" for token_id in range(model.config.vocab_size)]
    pieces = [labels[token_id] for token_id in trace.token_ids]
    return Run("tiny", "a prompt", trace, params, steps, pieces, labels, labels, cache=cache)


# ---- the store


def test_the_oldest_run_goes_first_and_the_newest_always_stays(model):
    runs = [recorded_run(model, 3) for _ in range(4)]
    store = RunStore(most_runs=3)
    for run in runs:
        store.put(run)
    assert [store.get(run.id) is not None for run in runs] == [False, True, True, True]

    small = RunStore(most_bytes=runs[0].num_bytes + 1)
    for run in runs:
        small.put(run)
    assert len(small) == 1 and small.get(runs[-1].id).trace.token_ids == runs[-1].trace.token_ids


def room_for(runs: int, model) -> dict[str, int]:
    return {"most_bytes": int((runs + 0.5) * recorded_run(model, 3).num_bytes)}


def put(store: RunStore, model, *visitors: str) -> list[str]:
    """A run of each visitor, and their ids."""
    runs = [recorded_run(model, 3) for _ in visitors]
    for run, visitor in zip(runs, visitors, strict=True):
        store.put(run, visitor)
    return [run.id for run in runs]


def test_who_fills_the_store_loses_his_own_oldest_and_nobody_else_a_run(model):
    """One person's thousand runs pushed out what a class had on the screen."""
    store = RunStore(**room_for(6, model))
    of_class = put(store, model, "ann", "ben", "cem")
    greedy = put(store, model, *["greedy"] * 20)
    assert all(store.get(run_id) for run_id in of_class)
    assert [store.get(run_id) is not None for run_id in greedy] == [False] * 17 + [True] * 3


def test_a_class_larger_than_the_store_loses_who_has_been_away_longest(model):
    store = RunStore(**room_for(3, model))
    ann, ben, cem = put(store, model, "ann", "ben", "cem")
    assert store.get(ann)  # she asked for something: ben has been away longest
    [dan] = put(store, model, "dan")
    assert [store.get(each) is not None for each in (ann, ben, cem, dan)] == [True, False, True, True]


def test_the_run_on_an_open_page_stays(model, monkeypatch):
    store = RunStore(**room_for(2, model), most_open_bytes=room_for(5, model)["most_bytes"])
    [first, second, third] = put(store, model, "ann", "ann", "ann")  # ann looks at an earlier one again
    assert store.get(first) is None
    assert store.show(second) == {"kept": True} and store.show(first) == {"kept": False}
    visitors = [f"visitor {number}" for number in range(8)]
    put(store, model, *visitors)
    assert store.get(second) and store.get(third)
    for visitor in visitors:
        store.show(*put(store, model, visitor))
    assert len(store) == 5, "however many pages say so"
    monkeypatch.setattr(runs_module, "SHOWN_SECONDS", -1.0)  # the pages were closed
    [last] = put(store, model, "the next one")
    assert len(store) == 2 and store.get(last)


def test_opened_files_take_nobodys_place(model):
    """200 tiny files in five seconds, and everybody's runs were gone."""
    store = RunStore(**room_for(2, model), most_file_bytes=room_for(3, model)["most_bytes"])
    kept = put(store, model, "ann", "ben")
    files = [recorded_run(model, 3) for _ in range(50)]
    for file in files:
        store.put_file(file)
    assert all(store.get(run_id) for run_id in kept)
    assert [store.get(file.id) is not None for file in files] == [False] * 47 + [True] * 3


def held_bytes(thing: object, known: set[int] | None = None) -> int:
    """Of all that hangs on it, each piece of memory once, views of it not again: the slow, obvious count."""
    known = set() if known is None else known
    if isinstance(thing, torch.Tensor):
        thing = thing.numpy()
    if isinstance(thing, np.ndarray):
        while isinstance(thing.base, np.ndarray):
            thing = thing.base
        place, size, inner = thing.ctypes.data, thing.nbytes, ()
    else:
        place, size = id(thing), sys.getsizeof(thing)
        inner = [*thing.items()] if isinstance(thing, dict) else []
        inner += list(thing) if isinstance(thing, list | tuple | set | frozenset) else []
        inner += list(vars(thing).values()) if hasattr(thing, "__dict__") and not isinstance(thing, type) else []
    if place in known:
        return 0
    known.add(place)
    return size + sum(held_bytes(one, known) for one in inner)


def test_what_is_kept_of_a_run_is_what_is_counted(model):
    """Branches kept all that was worked out from them, tables left a ranking behind, and texts weighed nothing."""
    run, store = recorded_run(model), RunStore()
    branch = at_once(go_on(model, run.trace, 4, PARAMS, 3, run.cache, 12))
    _ = branch.trace.reread(PARAMS).probs, [step.distribution.ranking for step in branch.trace.steps]
    labels = [f"{place} " * 100 for place in range(61)]
    store.put(replace(run, trace=branch.trace, cache=branch.cache, labels=labels))
    kept = store._runs[run.id]
    before = held_bytes(kept)
    assert sum(map(len, labels)) < before < kept.num_bytes + 12_000  # bytes: names and numbers of the steps
    for _ in range(2):
        steps_table(store.get(run.id).trace, labels, SamplingParams(temperature=0.3))
        assert payload(store.get(run.id))["logits"]
    assert held_bytes(kept) < before + 2000  # the order of the logits stays with who asked for it


def test_opened_files_fill_the_store_by_their_texts(model):
    data = json.loads(to_json(recorded_run(model, 2)))
    data["labels"] = [f"{place}" * 10_000 for place in range(10, 71)]
    store, files = RunStore(most_file_bytes=3_000_000), [from_json(json.dumps(data)) for _ in range(6)]
    for file in files:
        store.put_file(file)
    assert sum(store.get(file.id) is not None for file in files) == 2  # of 1.2 MB each; their logits are nearly nothing


def test_texts_of_the_pages_own_vocabulary_are_shared_and_not_counted(chat):
    trace = Trace.record(timed(generate(chat.model, PROMPT, PARAMS, None, 2)))
    assert Run.of(chat, "a prompt", trace, PARAMS, 2).num_bytes < 2 * 4 * chat.model.config.vocab_size + 1000


def test_ids_can_not_be_guessed_from_one_another(model):
    ids = {recorded_run(model, 1).id for _ in range(20)}
    assert len(ids) == 20 and all(len(run_id) == 16 for run_id in ids)


# ---- going on from the middle


def test_the_recorded_token_forced_again_gives_the_recorded_answer(model):
    run = recorded_run(model)
    for place in (0, 5, 11):
        branch = at_once(go_on(model, run.trace, place, PARAMS, run.trace.token_ids[place], run.cache, 12))
        assert branch.trace.token_ids == run.trace.token_ids
        assert torch.allclose(branch.trace.logits, run.trace.logits, atol=1e-5)
        assert branch.trace.stop_reason == LENGTH


def test_two_branches_from_one_cache_do_not_meet(model):
    """transformers#32681: the second continuation of a shared prefix read what the first had written."""
    run = recorded_run(model)
    kept = [layer.stored()[0].clone() for layer in run.cache.layers]
    for token_id in (3, 17):
        branch = at_once(go_on(model, run.trace, 4, PARAMS, token_id, run.cache, 12))
        alone = at_once(go_on(model, run.trace, 4, PARAMS, token_id, None, 12))
        assert branch.trace.token_ids == alone.trace.token_ids
        assert branch.trace.token_ids[:5] == [*run.trace.token_ids[:4], token_id]
        assert (branch.num_reused, branch.num_fed) == (len(PROMPT) + 4, 7)
        assert (alone.num_reused, alone.num_fed) == (0, len(PROMPT) + 4 + 7)
    assert all(torch.equal(layer.stored()[0], keys) for layer, keys in zip(run.cache.layers, kept, strict=True))


def test_new_settings_go_on_from_the_first_step_that_they_change(model):
    """What the page does under a moving slider: the steps before are the same, so nobody need write them again."""
    run = recorded_run(model)
    settings = [SamplingParams(temperature=1.2 - 0.01 * tenth, top_k=30, seed=8) for tenth in range(1, 60)]
    places = [run.trace.reread(other).first_difference for other in settings]
    other, place = next(pair for pair in zip(settings, places, strict=True) if pair[1])
    branch = at_once(go_on(model, run.trace, place, other, None, run.cache, 12))
    assert branch.trace.token_ids == [step.token_id for step in generate(model, PROMPT, other, None, 12)]
    assert branch.num_reused == len(PROMPT) + place - 1


def test_a_forced_end_ends_the_answer(model):
    run = recorded_run(model)
    branch = at_once(go_on(model, run.trace, 4, PARAMS, 7, run.cache, 12, stop_ids=[7]))
    assert (len(branch.trace.steps), branch.trace.stop_reason, branch.num_fed) == (5, STOP_TOKEN, 0)


@pytest.mark.parametrize(("place", "token_id"), [(12, 3), (-1, 3), (2, 61), (2, -1)])
def test_a_place_or_token_that_does_not_exist_is_named(model, place, token_id):
    run = recorded_run(model)
    with pytest.raises(ValueError, match=r"12 steps|no token has id"):
        at_once(go_on(model, run.trace, place, PARAMS, token_id, run.cache, 12))


def test_a_branch_of_a_run_without_times_has_none(model):
    """It had the seconds of its new steps only, and its table failed."""
    run = recorded_run(model)
    untimed = from_json(json.dumps(json.loads(to_json(run)) | {"seconds": []}))
    for forced_id in (None, 3):
        branch = at_once(go_on(model, untimed.trace, 4, SamplingParams(seed=4), forced_id, None, 12))
        assert branch.trace.seconds == [] and len(trace_frame(branch.trace)) == 12


def test_a_token_forced_at_the_last_step_of_a_full_context_ends_the_branch(model):
    """It said that the prompt is too long: shorten it."""
    room = model.config.max_positions
    cache = KVCache.of(model)
    prompt = [5] * (room - 1)
    trace = Trace.record(timed(generate(model, prompt, PARAMS, cache, 12)))
    assert (len(trace), trace.stop_reason) == (2, CONTEXT_FULL)
    for place, num_steps in ((1, 2), (0, 2)):
        branch = at_once(go_on(model, trace, place, PARAMS, 3, cache, 12))
        assert (len(branch.trace), branch.trace.stop_reason) == (num_steps, CONTEXT_FULL)
        assert branch.trace.token_ids[place] == 3
    again = at_once(go_on(model, trace, 2, PARAMS, None, cache, 12))
    assert (again.trace.token_ids, again.trace.stop_reason) == (trace.token_ids, CONTEXT_FULL)
