"""Each planted fault leaves its own trace, the engine stays whole, and the two steps tell sampling from cache."""

from dataclasses import replace

import pytest
import torch
from conftest import TINY, tiny_model

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.work import ROUNDING as ROUNDINGS
from playground.models.text import LoadedModel
from playground.tabs.cache_on_off.clinic import (
    CHUNK,
    FAULTS,
    clinic_runs,
    examine,
    hidden_fault,
    in_format,
    in_three_formats,
    stale_prompt,
)
from playground.tabs.cache_on_off.race import race_result

ROUNDING = ROUNDINGS[torch.float32]
SAMPLING = SamplingParams(temperature=1.0, seed=3)
PROMPT = [7 * place % 61 for place in range(1, 41)]  # longer than two chunks
IN_SAMPLING = {"seed", "settings", "stream"}
IN_CACHE = {"position", "mask", "stale"}
IN_16_BIT = {"bfloat16", "float16"}


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    return LoadedModel("tiny", tiny_model(TINY), None, False, (), 128)


def see(loaded, fault, **more):
    return race_result(examine(loaded, PROMPT, SAMPLING, fault, **more))


def test_every_fault_belongs_to_one_family():
    assert {"none"} | IN_SAMPLING | IN_CACHE | IN_16_BIT == set(FAULTS)


@pytest.mark.parametrize("fault", ["none", *sorted(IN_SAMPLING)])
def test_greedy_first_a_sampling_fault_is_gone(loaded, fault):
    result = see(loaded, fault, greedy=True)
    assert result.equal and result.largest_gap < ROUNDING


@pytest.mark.parametrize("fault", sorted(IN_SAMPLING))
def test_sampled_the_texts_part_though_the_logits_agree(loaded, fault):
    result = see(loaded, fault)
    assert not result.equal and result.largest_gap < ROUNDING


def test_nothing_wrong_is_equal_sampled_too(loaded):
    result = see(loaded, "none")
    assert result.equal and result.on.uniforms == result.off.uniforms


def test_random_numbers_tell_a_seed_from_settings(loaded):
    assert see(loaded, "seed").on.uniforms != see(loaded, "seed").off.uniforms
    settings = see(loaded, "settings")
    assert settings.on.uniforms[:1] == settings.off.uniforms[:1]


def test_a_global_stream_is_another_one_at_each_run(loaded):
    first, second = see(loaded, "stream"), see(loaded, "stream")
    assert first.on.uniforms != second.on.uniforms
    assert see(loaded, "seed").on.uniforms == see(loaded, "seed").on.uniforms


@pytest.mark.parametrize("fault", sorted(IN_CACHE))
def test_a_cache_fault_shows_under_greedy_and_stays_in_float32(loaded, fault):
    assert see(loaded, fault, greedy=True).largest_gap > 100 * ROUNDING
    assert see(loaded, fault, greedy=True, in_float32=True).largest_gap > 100 * ROUNDING


def test_where_the_gap_begins_tells_prefill_from_steps(loaded):
    position, mask = see(loaded, "position", greedy=True), see(loaded, "mask", greedy=True)
    assert position.gaps[0] == 0.0 and position.gaps[1] > 100 * ROUNDING
    assert mask.gaps[0] > 100 * ROUNDING and mask.on.num_fed[0] == len(PROMPT)


def test_a_stale_cache_is_fed_too_few_tokens(loaded):
    last_prompt = [11, 12, 13, 14, 15]
    result = see(loaded, "stale", greedy=True, last_prompt_ids=last_prompt)
    assert result.on.num_fed[0] == len(PROMPT) - len(last_prompt)
    assert result.gaps[0] > 100 * ROUNDING


def test_a_last_prompt_longer_than_this_one_leaves_a_token_to_feed(loaded):
    assert see(loaded, "stale", greedy=True, last_prompt_ids=[5] * 60).on.num_fed[0] == 1


@pytest.mark.parametrize("fault", sorted(IN_16_BIT))
def test_16_bits_open_a_gap_that_float32_closes(loaded, fault):
    assert see(loaded, fault, greedy=True).largest_gap > ROUNDING
    assert see(loaded, fault, greedy=True, in_float32=True).largest_gap < ROUNDING


def test_fewer_bits_a_larger_gap_and_greedy_parts_only_at_near_ties(loaded):
    results = {dtype: race_result(ticks) for dtype, ticks in in_three_formats(loaded, PROMPT, 48)}
    gaps = [results[dtype].largest_gap for dtype in ("float32", "float16", "bfloat16")]
    assert gaps[0] < ROUNDING
    assert gaps[2] > 3 * gaps[1] > 3 * 1000 * gaps[0]  # 8, 11 and 24 significant bits
    for result in results.values():
        assert result.equal or result.first_difference in result.near_ties


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_fault_leaves_model_and_settings_as_they_were(loaded, fault):
    before = [parameter.clone() for parameter in loaded.model.parameters()]
    see(loaded, fault)
    assert all(map(torch.equal, before, loaded.model.parameters()))
    assert see(loaded, "none").equal


@pytest.mark.parametrize("fault", sorted(set(FAULTS) - IN_16_BIT - {"stream"}))
def test_the_side_without_cache_is_the_engines_own_run(loaded, fault):
    """Only the cached side is tampered with, so the other one is the truth."""
    params = SamplingParams(temperature=0.0)
    _, off = clinic_runs(loaded, PROMPT, params, fault, 6)
    alone = generate(loaded.model, PROMPT, params, KVCache(2, "none"), 6)
    assert [step.token_id for step in off()] == [step.token_id for step in alone]


def test_a_prompt_of_one_chunk_needs_no_chunks(loaded):
    """The whole prompt in one piece without a mask: still a fault, still no crash."""
    result = race_result(examine(loaded, PROMPT[:CHUNK], SAMPLING, "mask", greedy=True))
    assert result.gaps[0] > 100 * ROUNDING


@pytest.mark.parametrize("fault", list(FAULTS))
def test_a_fault_among_the_tokens_of_the_prompt_needs_two(loaded, fault):
    """With one token these faults change nothing, while the card said that the gap is large at the first token."""
    if fault not in {"mask", "stale"}:
        assert race_result(examine(loaded, [5], SAMPLING, fault, 3)).on.token_ids
        return
    with pytest.raises(ValueError, match="at least two tokens"):
        examine(loaded, [5], SAMPLING, fault, 3)
    assert race_result(examine(loaded, [5, 9], SAMPLING, fault, 3, greedy=True)).gaps[0] > 100 * ROUNDING


def test_a_model_loaded_in_16_bits_is_judged_in_float32_by_a_copy(loaded):
    """The test "in float32" ran the 16-bit model and then called the cache wrong."""
    coarse = replace(loaded, model=in_format(loaded.model, torch.bfloat16))
    assert see(coarse, "none", greedy=True).largest_gap > 100 * ROUNDING
    for fault in ("none", "bfloat16", "float16", "stream"):
        assert see(coarse, fault, greedy=True, in_float32=True).largest_gap < ROUNDING
    results = {dtype: race_result(ticks) for dtype, ticks in in_three_formats(coarse, PROMPT)}
    assert results["float32"].largest_gap < ROUNDING < results["float16"].largest_gap
    assert coarse.model.embedding.dtype == torch.bfloat16


@pytest.mark.parametrize("fault", list(FAULTS))
def test_every_fault_stops_where_the_context_is_full(loaded, fault):
    """The global stream raised an error there."""
    prompt_ids = (PROMPT * 4)[:126]  # of 128: two are fed after it, a third token is chosen and has no room
    result = race_result(examine(loaded, prompt_ids, SAMPLING, fault))
    assert len(result.off.token_ids) == 3 and result.off.stop_reason == "context full"


def test_a_stale_cache_of_the_same_text_would_be_no_fault():
    assert stale_prompt([1, 2, 3], [[1, 2, 9], [5, 2]]) == [5, 2]  # [1, 2] would be kept, and it is right
    assert stale_prompt([1, 2, 3], [[1], [5]]) == [5]
    assert stale_prompt([1, 4, 3], [[1, 2, 9], [5, 2]]) == [1, 2, 9]


def test_a_case_number_hides_the_same_fault_for_everybody():
    assert [hidden_fault(case) for case in range(9)] == [hidden_fault(case) for case in range(9)]
    assert {hidden_fault(case) for case in range(200)} == set(FAULTS)


def test_an_unknown_fault_is_named(loaded):
    with pytest.raises(ValueError, match="fault must be one of none, seed"):
        see(loaded, "gremlin")
