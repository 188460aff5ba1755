"""What a run recorded is all that another setting needs: re-reading it equals working each step out again."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
from conftest import recorded

from playground.engine.generation import generate, timed
from playground.engine.kv_cache import KVCache
from playground.engine.params import RULES, SamplingParams
from playground.engine.sampling import NoTokenError, draw_uniforms, next_token_distribution
from playground.engine.trace import Trace
from playground.models.tables import trace_frame

PROMPT = [5, 9, 2, 44, 5]
RECORDED = SamplingParams(temperature=1.1, top_p=0.9, seed=7)

SETTINGS = [
    SamplingParams(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, rule=rule, **penalties)
    for rule, temperature, (top_k, top_p, min_p), penalties in product(
        RULES,
        (0, 0.4, 1.0, 2.0),
        ((0, 1.0, 0.0), (5, 0.7, 0.02)),
        (
            {},
            {"repetition_penalty": 1.3, "frequency_penalty": 0.2},
            {"presence_penalty": 0.5, "penalty_counts_prompt": False},
        ),
    )
]


@pytest.fixture(scope="module")
def trace(model) -> Trace:
    return Trace.record(timed(generate(model, PROMPT, RECORDED, KVCache(2), 12)))


def test_rereading_equals_working_out_every_step_again(trace):
    for params in SETTINGS:
        reread = trace.reread(params)
        for index, step in enumerate(trace.steps):
            seen = trace.token_ids[:index] if not params.penalty_counts_prompt else PROMPT + trace.token_ids[:index]
            again = next_token_distribution(step.distribution.logits, params, seen)
            assert reread.num_candidates[index] == again.num_candidates, params
            assert reread.chosen_ids[index] == again.batch.choose([step.uniform])[0][0], params
            torch.testing.assert_close(reread.probs[index], again.probs, atol=1e-7, rtol=0)
            assert [stage.num_kept for stage in reread.distributions[index].stages] == [
                stage.num_kept for stage in again.stages
            ]


@pytest.mark.parametrize(
    "params", [RECORDED, SamplingParams(repetition_penalty=1.4, top_k=20, seed=2), SamplingParams(temperature=0)]
)
def test_under_its_own_settings_a_run_reads_as_it_was_written(model, params):
    trace = Trace.record(timed(generate(model, PROMPT, params, None, 12)))
    reread = trace.reread(trace.params)
    assert reread.chosen_ids == reread.token_ids == trace.token_ids
    assert reread.first_difference is None
    assert reread.num_candidates == [step.distribution.num_candidates for step in trace.steps]


def test_a_trace_knows_what_it_was_asked_for(model):
    """Penalties counted a prompt that the trace had not been told, or forgot the tokens that the answer began with."""
    params = SamplingParams(temperature=0.9, repetition_penalty=1.6, presence_penalty=0.4, seed=3)
    whole = list(generate(model, PROMPT, params, None, 14))
    for given in (0, 5):
        answer_ids = [step.token_id for step in whole[:given]]
        trace = Trace(generate(model, PROMPT, params, None, 14, answer_ids=answer_ids))
        assert trace.token_ids == [step.token_id for step in whole[given:]]
        assert trace.reread(params).first_difference is None
        for view, step in zip(trace.steps, whole[given:], strict=True):
            assert (view.index, view.stop_reason) == (step.index, step.stop_reason)
            torch.testing.assert_close(view.distribution.probs, step.distribution.probs, atol=1e-6, rtol=0)
        assert trace_frame(trace)["step"].tolist() == list(range(given, 14))
    plain = Trace(generate(model, PROMPT))  # settings and length not said
    assert plain.params == SamplingParams() and plain.reread(plain.params).first_difference is None


def test_a_trace_begins_where_its_answer_begins(model):
    with pytest.raises(ValueError, match="not at step 3"):
        Trace(list(generate(model, PROMPT, RECORDED, None, 6))[3:])


def test_a_token_that_a_person_chose_is_no_difference():
    trace = Trace(recorded(torch.zeros(3, 4), [3, 0, 0], [0.1, 0.1, 0.9]).steps, forced=[0])
    assert trace.reread(SamplingParams()).first_difference == 2


def test_rereading_a_run_equals_another_run_until_the_first_difference(model, trace):
    """Up to there the new settings would have written the same text; the path after it is no longer theirs."""
    firsts = []
    for params in (replace(RECORDED, temperature=1.05), replace(RECORDED, top_p=0.7), replace(RECORDED, top_k=25)):
        other = [step.token_id for step in generate(model, PROMPT, params, None, 12)]
        reread = trace.reread(params)
        first = reread.first_difference
        assert reread.chosen_ids[: first + 1] == other[: first + 1]
        assert reread.chosen_ids[first] != trace.token_ids[first]
        firsts.append(first)
    assert max(firsts) > 0


def test_the_same_random_number_falls_on_another_token_when_a_slider_moves():
    logits = torch.tensor([0.5, 0.3, 0.2]).log()[None]
    trace = recorded(logits, [1], [0.6])  # ruler: .5, .8, 1
    assert trace.reread(SamplingParams()).chosen_ids == [1]
    assert trace.reread(SamplingParams(top_k=1)).chosen_ids == [0]
    assert trace.reread(SamplingParams(top_k=1)).first_difference == 0


def test_a_penalty_sees_the_path_up_to_each_step_and_the_prompt_if_asked():
    """transformers#36642: prompt [0], logits [4, 4], penalty 2: with the prompt [2, 4], without it [4, 4]."""
    trace = recorded(torch.full((2, 2), 4.0), [1, 1], [0.5, 0.5], prompt_ids=[0])
    for counts_prompt, right in ((True, [[2, 4], [2, 2]]), (False, [[4, 4], [4, 2]])):
        params = SamplingParams(repetition_penalty=2.0, penalty_counts_prompt=counts_prompt)
        assert trace.reread(params).distributions.penalized.tolist() == right


def test_a_frame_has_a_row_for_every_step(trace):
    frame = trace_frame(trace)
    assert list(frame.columns) == [
        *("step", "token_id", "model_prob", "prob", "rank", "num_candidates", "entropy", "uniform", "num_fed"),
        *("cache_bytes", "seconds"),
    ]
    assert frame["step"].tolist() == list(range(12))
    assert frame["token_id"].tolist() == trace.token_ids
    assert frame["uniform"].tolist() == draw_uniforms(RECORDED.seed, 12).tolist()
    assert frame["num_fed"].tolist() == [5] + [1] * 11
    assert frame["cache_bytes"].tolist() == [sum(step.cache_bytes) for step in trace.steps]
    assert (frame["seconds"] > 0).all()
    for row, step in zip(frame.itertuples(), trace.steps, strict=True):
        distribution, token_id = step.distribution, step.token_id
        assert row.model_prob == pytest.approx(float(distribution.model_probs[token_id]), abs=1e-7)
        assert row.prob == pytest.approx(float(distribution.probs[token_id]), abs=1e-7)
        assert row.rank == 1 + int((distribution.logits > distribution.logits[token_id]).sum())
        assert row.num_candidates == distribution.num_candidates
        assert row.entropy == pytest.approx(distribution.entropy, abs=1e-9)


def test_a_frame_under_other_settings(trace):
    greedy = trace_frame(trace, SamplingParams(temperature=0))
    assert greedy["num_candidates"].tolist() == [1] * 12
    assert greedy["entropy"].tolist() == [0] * 12
    assert set(greedy["prob"]) <= {0.0, 1.0}
    assert greedy["model_prob"].tolist() == trace_frame(trace)["model_prob"].tolist()


def test_a_certain_step_has_no_entropy_and_an_even_one_the_most():
    trace = recorded(torch.tensor([[100.0, 0, 0, 0], [0, 0, 0, 0]]), [0, 3], [0.1, 0.9])
    frame = trace_frame(trace, SamplingParams())
    assert frame["entropy"].tolist() == pytest.approx([0, math.log(4)])
    assert frame["rank"].tolist() == [1, 4]  # the lowest id first among equals


def test_rereading_changes_nothing_that_was_recorded(trace):
    before = trace.logits.clone()
    for params in SETTINGS[:8]:
        trace.reread(params).probs.zero_()
    assert torch.equal(trace.logits, before)
    assert torch.equal(trace.logits, torch.stack([step.distribution.logits for step in trace.steps]))


def test_a_penalty_beyond_float32_is_a_clear_error(trace):
    with pytest.raises(NoTokenError, match="step 0: "):
        trace.reread(SamplingParams(repetition_penalty=1e-45))


def test_a_trace_remembers_how_the_answer_ended(trace):
    assert trace.stop_reason == "length" and trace.prompt_ids == PROMPT and len(trace.seconds) == 12


def test_an_empty_trace_is_refused():
    with pytest.raises(ValueError, match="at least one step"):
        Trace([])
