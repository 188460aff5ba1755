"""From logits to a token: what each slider keeps, under each library's rule, and what the random number then picks."""

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from transformers.generation import logits_process as theirs

from playground.engine.params import SamplingParams
from playground.engine.ranking import HEAD, rank
from playground.engine.sampling import (
    Distributions,
    NoTokenError,
    draw_uniforms,
    next_token_distribution,
    penalize,
    row_seed,
)
from playground.engine.stages import RULES, SETTINGS

COURSE = [3.0, 2.0, 1.0, 0.0, -1.0]
TRANSFORMERS_ORDER, TEMPERATURE_LAST = ["transformers", "vllm", "minimind"], ["llama.cpp"]


def logits_of(probs: list[float]) -> torch.Tensor:
    return torch.tensor(probs, dtype=torch.float64).log().float()


def probs_of(logits, **params) -> list[float]:
    return next_token_distribution(torch.as_tensor(logits), SamplingParams(**params)).probs.tolist()


def kept(logits, **params) -> set[int]:
    return {token_id for token_id, prob in enumerate(probs_of(logits, **params)) if prob > 0}


def draw(logits, uniforms, **params) -> list[int]:
    rows = torch.as_tensor(logits).expand(len(uniforms), -1)
    return Distributions.checked(rows, SamplingParams(**params)).choose(uniforms)[0]


# ---- each library's rule, on numbers worked out by hand


@pytest.mark.parametrize(
    ("logits", "params", "rules", "right"),
    [
        (COURSE, {"temperature": 2.0, "top_p": 0.8}, TRANSFORMERS_ORDER, [0.5065, 0.3072, 0.1863, 0, 0]),
        (COURSE, {"temperature": 2.0, "top_p": 0.8}, TEMPERATURE_LAST, [0.6225, 0.3775, 0, 0, 0]),
        (COURSE, {"temperature": 0.5, "top_p": 0.8}, TRANSFORMERS_ORDER, [1, 0, 0, 0, 0]),
        (COURSE, {"temperature": 0.5, "top_p": 0.8}, TEMPERATURE_LAST, [0.8808, 0.1192, 0, 0, 0]),
        (COURSE, {"temperature": 2.0, "min_p": 0.1}, TEMPERATURE_LAST, [0.5065, 0.3072, 0.1863, 0, 0]),
        (logits_of([0.4, 0.25, 0.19, 0.16]), {"top_p": 0.6, "min_p": 0.5}, ["transformers"], [0.6154, 0.3846, 0, 0]),
        (logits_of([0.4, 0.25, 0.19, 0.16]), {"top_p": 0.6, "min_p": 0.5}, ["vllm"], [1, 0, 0, 0]),
        (logits_of([0.4, 0.25, 0.19, 0.16]), {"top_p": 0.6, "min_p": 0.5}, ["llama.cpp"], [0.6154, 0.3846, 0, 0]),
    ],
)
def test_golden_vectors(logits, params, rules, right):
    """llama.cpp#4091: whether temperature comes before or after the cuts is two different nuclei."""
    for rule in rules:
        assert probs_of(logits, rule=rule, **params) == pytest.approx(right, abs=5e-5), rule


def test_min_p_after_a_high_temperature_keeps_all_five():
    for rule in TRANSFORMERS_ORDER:
        assert len(kept(COURSE, temperature=2.0, min_p=0.1, rule=rule)) == 5


@pytest.mark.parametrize(("top_p", "count"), [(0.5, 1), (0.75, 2), (0.875, 3)])
def test_a_sum_that_meets_p_exactly(top_p, count):
    """transformers#18976: at exact equality one token more was kept. MiniMind's rule does so on purpose."""
    for rule in RULES:
        assert len(kept(logits_of([0.5, 0.25, 0.125, 0.125]), top_p=top_p, rule=rule)) == count + (rule == "minimind")


def test_top_p_on_unordered_probabilities():
    """transformers#18976: [.3, .1, .1, .5] at p = .8."""
    assert kept(logits_of([0.3, 0.1, 0.1, 0.5]), top_p=0.8) == {0, 3}
    assert kept(logits_of([0.3, 0.1, 0.1, 0.5]), top_p=0.8, rule="minimind") == {0, 1, 3}


def test_the_token_that_crosses_p_stays():
    """esm#360: the token whose probability crosses p was dropped."""
    assert kept(logits_of([0.4, 0.3, 0.2, 0.1]), top_p=0.8) == {0, 1, 2}


def test_rounding_does_not_add_a_token():
    """.5 + .3 is 0.8 only up to rounding; float32 logits say no more than that."""
    assert kept(logits_of([0.5, 0.3, 0.2]), top_p=0.8) == {0, 1}


def test_the_nucleus_is_that_of_what_top_k_left():
    logits = logits_of([0.4, 0.3, 0.2, 0.1])
    assert kept(logits, top_p=0.55) == {0, 1}
    assert kept(logits, top_p=0.55, top_k=2) == {0}


@pytest.mark.parametrize("rule", list(RULES))
def test_top_p_0_keeps_the_likeliest_and_1_keeps_all(rule):
    """transformers#24111: top_p = 0 masked every token."""
    assert kept(COURSE, top_p=0.0, rule=rule) == {0}
    assert kept(COURSE, top_p=1.0, rule=rule) == {0, 1, 2, 3, 4}
    assert kept([0.0] * 4, top_p=0.0, rule=rule) == {0}


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("top_k", [0, 4, 100])
def test_top_k_0_is_off_and_above_the_vocabulary_keeps_all(rule, top_k):
    """TransformerLens#1347, vllm#14234: top_k above the vocabulary crashed. litgpt#2309: 0 was taken as "keep none"."""
    assert probs_of([1.0, 2.0, 3.0, 0.0], top_k=top_k, rule=rule) == pytest.approx(
        torch.tensor([1.0, 2.0, 3.0, 0.0]).softmax(0).tolist(), abs=1e-6
    )
    assert kept([1.0, 2.0, 3.0, 0.0], top_k=top_k, temperature=0, rule=rule) == {2}


def test_ties_at_k():
    """vllm#5404: top_k = 1 with two equal tokens was random. Ours keeps exactly k, the lowest id first."""
    tied = [1.0, 5.0, 5.0, 0.0]
    assert set(draw(tied, draw_uniforms(0, 100), top_k=1)) == {1}
    assert kept(tied, top_k=1, rule="llama.cpp") == {1}
    for rule in ("vllm", "minimind"):
        assert kept(tied, top_k=1, rule=rule) == {1, 2}


@pytest.mark.parametrize("rule", list(RULES))
def test_temperature_0_is_greedy_whatever_else_is_set(rule):
    """nanoGPT#738: T = 0 divided by zero."""
    for others in ({}, {"top_k": 2}, {"top_p": 0.9}, {"min_p": 0.3}, {"top_p": 0.0}):
        assert probs_of([1.0, 3.0, 2.0], temperature=0, rule=rule, **others) == [0, 1, 0]
        assert draw([1.0, 3.0, 2.0], [0.0, 0.5, 1 - 2**-53], temperature=0, rule=rule, **others) == [1, 1, 1]
    assert draw([1.0, 5.0, 5.0, 0.0], [0.99], temperature=0, rule=rule) == [1]  # the lowest id among equals


def test_temperatures_near_0_and_far_above_1():
    assert probs_of([1.0, 3.0, 2.0], temperature=1e-30) == [0, 1, 0]
    assert probs_of([3.0, 3.0, 2.0], temperature=1e-30) == [0.5, 0.5, 0]
    assert probs_of([1.0, 3.0, 2.0], temperature=1e9) == pytest.approx([1 / 3] * 3)


def test_one_text_for_every_seed_is_no_bug():
    """llama.cpp#561: "the seed is broken". A sure model and top_p .1 keep one token; that number has to be shown."""
    logits = logits_of([0.9, 0.05, 0.03, 0.02])
    assert next_token_distribution(logits, SamplingParams(top_p=0.1)).num_candidates == 1
    assert {draw(logits, draw_uniforms(seed, 1), top_p=0.1)[0] for seed in range(50)} == {0}


@pytest.mark.parametrize("rule", list(RULES))
def test_equal_logits_keep_a_share_of_the_vocabulary(rule):
    assert len(kept([0.7] * 10, top_p=0.35, rule=rule)) == 4
    assert len(kept([0.7] * 10, min_p=1.0, rule=rule)) == 10
    assert len(kept([0.7], top_p=0.35, top_k=1, min_p=1.0, rule=rule)) == 1


# ---- against slower ways to the same


def slow_probs(logits: list[float], params: SamplingParams) -> tuple[np.ndarray, float]:
    """The stages one after another on whole vectors, without a ranking; and how near a cut came to an edge."""
    rule, scores, gap = RULES[params.rule], np.array(logits), 1.0

    def softmax() -> np.ndarray:
        weights = np.exp(scores - scores.max())
        return weights / weights.sum()

    for name in rule.order:
        by_likeliest = sorted(range(len(scores)), key=lambda token_id: (-scores[token_id], token_id))
        keep = np.ones(len(scores), dtype=bool)
        if name == "temperature":
            scores = scores / params.temperature
        elif name == "top-k" and params.top_k:
            k = min(params.top_k, len(scores))
            keep = scores >= scores[by_likeliest[k - 1]]
            if not rule.keep_ties:
                keep[by_likeliest[k:]] = False
        elif name == "top-p" and params.top_p < 1:
            keep[:] = False
            total = 0.0
            for token_id in by_likeliest:
                keep[token_id] = True
                total += softmax()[token_id]
                gap = min(gap, abs(total - params.top_p))
                if total > params.top_p + 1e-6 if rule.past_p else total >= params.top_p - 1e-6:
                    break
        elif name == "min-p" and params.min_p > 0:
            ratios = softmax() / softmax().max()
            keep = ratios >= params.min_p - 1e-6
            gap = min(gap, float(abs(ratios - params.min_p).min()))
        elif name == "top-n-sigma" and params.top_n_sigma > 0:
            finite = scores[np.isfinite(scores)]
            distance = scores - (finite.max() - params.top_n_sigma * finite.std())
            keep = distance >= -1e-6
            gap = min(gap, float(abs(distance).min()))
        elif name == "typical-p" and params.typical_p < 1:
            probs = softmax()
            possible = [token_id for token_id in range(len(scores)) if probs[token_id] > 0]
            entropy = -sum(probs[token_id] * math.log(probs[token_id]) for token_id in possible)
            away = {token_id: abs(-math.log(probs[token_id]) - entropy) for token_id in possible}
            total, last = 0.0, 0.0
            for token_id in sorted(possible, key=lambda token_id: away[token_id]):
                last = away[token_id]
                total += probs[token_id]
                gap = min(gap, abs(total - params.typical_p))
                if total >= params.typical_p - 1e-6:
                    break
            keep = np.array([token_id in away and away[token_id] <= last + 1e-6 for token_id in range(len(scores))])
            gap = min([gap, *(abs(away[a] - away[b]) for a in possible for b in possible if a < b)])
        scores = np.where(keep, scores, -np.inf)
    return softmax(), gap


thousandths = st.integers(0, 1000).map(lambda number: number / 1000)
distinct = st.lists(st.integers(-60, 60), min_size=1, max_size=24, unique=True)
tied = st.lists(st.sampled_from([0, 1, 10]), min_size=1, max_size=8)
sliders = {
    "temperature": st.sampled_from([0.1, 0.5, 0.85, 1.0, 1.3, 2.0, 3.0]),
    "top_k": st.sampled_from([0, 1, 2, 3, 5, 10, 20, 50]),
    "top_p": st.one_of(st.just(1.0), thousandths),
    "min_p": st.one_of(st.just(0.0), thousandths),
    "typical_p": st.one_of(st.just(1.0), thousandths),
    "top_n_sigma": st.one_of(st.just(0.0), st.integers(1, 40).map(lambda number: number / 10)),
}


@settings(max_examples=400)
@given(
    numbers=st.one_of(distinct, tied), rule=st.sampled_from(list(RULES)), **{name: sliders[name] for name in sliders}
)
def test_every_rule_equals_the_slow_way(numbers, **params):
    logits = torch.tensor(numbers) / 7
    right, _ = slow_probs(logits.tolist(), SamplingParams(**params))
    ours = next_token_distribution(logits, SamplingParams(**params))
    assert ours.num_candidates == (right > 0).sum()
    np.testing.assert_allclose(ours.probs, right, atol=1e-6)


@settings(max_examples=400)
@given(
    numbers=distinct,
    penalty=st.sampled_from([1.0, 0.8, 1.2, 2.0]),
    seen=st.sets(st.integers(0, 23)),
    **{name: choices for name, choices in sliders.items() if name != "top_n_sigma"},  # transformers has none
)
def test_our_rule_is_that_of_transformers(numbers, penalty, seen, **params):
    logits, seen_ids = torch.tensor([numbers]) / 7, sorted(token_id for token_id in seen if token_id < len(numbers))
    ours = SamplingParams(repetition_penalty=penalty, **params)
    distribution = next_token_distribution(logits[0], ours, seen_ids)
    penalized = distribution.batch.penalized[0]
    assume(len(set(penalized.tolist())) == len(numbers))  # at a tie transformers keeps more than k
    assume(slow_probs(penalized.tolist(), ours)[1] > 1e-5)  # they count in float32: an edge may fall either way

    ids, scores = torch.tensor([seen_ids], dtype=torch.long), logits
    scores = theirs.RepetitionPenaltyLogitsProcessor(penalty)(ids, scores) if seen_ids else scores
    scores = theirs.TemperatureLogitsWarper(params["temperature"])(ids, scores)
    scores = theirs.TopKLogitsWarper(params["top_k"])(ids, scores) if params["top_k"] else scores
    scores = theirs.TopPLogitsWarper(params["top_p"])(ids, scores) if params["top_p"] < 1 else scores
    scores = theirs.MinPLogitsWarper(params["min_p"])(ids, scores)
    assume(params["typical_p"] > 0)  # theirs refuses 0; ours keeps the token that is nearest
    if params["typical_p"] < 1:
        scores = theirs.TypicalLogitsWarper(params["typical_p"])(ids, scores)
    assert distribution.num_candidates == int(scores.isfinite().sum())
    torch.testing.assert_close(distribution.probs, scores[0].double().softmax(-1), atol=1e-5, rtol=0)


@settings(max_examples=200)
@given(
    numbers=st.one_of(distinct, tied), rule=st.sampled_from(list(RULES)), uniform=st.floats(0, 1 - 2**-53), **sliders
)
def test_what_is_drawn_has_a_probability_and_all_sums_to_1(numbers, uniform, **params):
    logits = torch.tensor(numbers) / 7
    distribution = next_token_distribution(logits, SamplingParams(**params))
    assert float(distribution.probs.double().sum()) == pytest.approx(1, abs=1e-6)
    assert distribution.probs[draw(logits, [uniform], **params)[0]] > 0
    assert 1 <= distribution.num_candidates <= len(numbers)
    assert (distribution.probs > 0).sum() == distribution.num_candidates
    assert 0 <= distribution.entropy <= math.log(distribution.num_candidates) + 1e-9


@pytest.mark.parametrize("rule", list(RULES))
def test_rows_together_are_what_they_are_alone(rule):
    rows = torch.randn(9, 50, generator=torch.Generator().manual_seed(4)) * 3
    params = SamplingParams(temperature=0.8, top_k=30, top_p=0.9, min_p=0.01, rule=rule)
    together = Distributions.checked(rows, params)
    uniforms = draw_uniforms(0, 9)
    for row, chosen in enumerate(together.choose(uniforms)[0]):
        alone = next_token_distribution(rows[row], params)
        assert torch.equal(together[row].probs, alone.probs)
        assert together[row].num_candidates == alone.num_candidates
        assert alone.batch.choose([uniforms[row]])[0] == [chosen]


@pytest.mark.parametrize("temperature", [0.3, 1.0, 5.0])
def test_a_ranking_that_is_looked_at_only_in_part_chooses_what_the_whole_one_does(temperature):
    """Most draws are decided by the first places of the ranking. Flat rows, and numbers far down, need all of it."""
    generator = torch.Generator().manual_seed(6)
    logits = torch.randn(40, 12 * HEAD, generator=generator) * torch.linspace(0.1, 6, 40)[:, None]
    uniforms = torch.rand(40, generator=generator, dtype=torch.float64).tolist()
    uniforms[::5] = [1 - 2**-53] * 8
    for more in ({}, {"top_p": 0.9}, {"top_k": 50}, {"top_k": HEAD + 9, "top_p": 0.99}, {"min_p": 0.001}):
        for rule in RULES:
            rows = Distributions.checked(logits, SamplingParams(temperature, rule=rule, **more))
            token_ids, probs = rows.choose(uniforms)
            ruler = rows.probs.gather(-1, rows.ranking).cumsum(-1)
            marks = torch.tensor(uniforms, dtype=torch.float64)[:, None] * ruler[:, -1:]
            places = torch.searchsorted(ruler, marks, right=True).clamp(max=12 * HEAD - 1)
            assert token_ids == rows.ranking.gather(-1, places)[:, 0].tolist()
            assert probs == pytest.approx(rows.probs[range(40), token_ids].tolist(), rel=1e-9)


def test_looking_at_part_of_the_ranking_was_enough():
    """The quick way is used: a sharp row is never ranked whole, however its settings are asked about."""
    rows = Distributions.checked(torch.randn(4, 20 * HEAD) * 4, SamplingParams(0.8, 40, 0.9))
    rows.choose([0.1, 0.5, 0.9, 0.99])
    assert rows.num_candidates.max() <= 40 and rows.entropy.min() >= 0 and rows.probs.shape == (4, 20 * HEAD)
    assert "whole" not in vars(rows.order)


# ---- the samplers that do not keep the most likely tokens, or look at all logits


def test_typical_p_keeps_what_surprises_as_much_as_the_whole_does():
    """[.5, .3, .2] has entropy 1.03 and surprises .69, 1.20, 1.61: the second is nearest, then the first."""
    logits = logits_of([0.5, 0.3, 0.2])
    assert [kept(logits, typical_p=p) for p in (0, 0.2, 0.31, 0.81, 1)] == [{1}, {1}, {0, 1}, {0, 1, 2}, {0, 1, 2}]
    distribution = next_token_distribution(logits, SamplingParams(typical_p=0.2))
    assert distribution.num_candidates == 1 and distribution.probs.tolist() == [0, 1, 0]
    assert distribution.stages[-1].kept_mass == pytest.approx(0.3)
    assert draw(logits, [0.0, 0.999], typical_p=0.2) == [1, 1]


def test_top_n_sigma_follows_the_paper_s_formula():
    """Keeps logits of at least max - n sigma. [3, 2, 1, 0, -1]: sigma is the root of 2, 1.41."""
    sizes = {n: len(kept(COURSE, top_n_sigma=n)) for n in (0.5, 1, 1.5, 2.9, 0)}
    assert sizes == {0.5: 1, 1: 2, 1.5: 3, 2.9: 5, 0: 5}
    warmer = [kept(COURSE, top_n_sigma=1.5, temperature=temperature) for temperature in (0.1, 1, 3)]
    assert warmer == [{0, 1, 2}] * 3  # the set does not follow the temperature
    logits = torch.randn(3072, generator=torch.Generator().manual_seed(2)) * 3
    right = set((logits >= logits.max() - 1.2 * logits.std(correction=0)).nonzero().flatten().tolist())
    assert kept(logits, top_n_sigma=1.2) == right and 1 < len(right) < 3072


@pytest.mark.parametrize("rule", list(RULES))
def test_candidates_are_the_tokens_with_a_probability_above_0(rule):
    """Places in the ranking were counted: tokens of logit -inf, or whose probability is 0 at a low temperature, too."""
    logits = torch.tensor([2.0, -math.inf, 1.0, -math.inf, 0.0])
    for params in ({}, {"top_k": 4}, {"temperature": 1e-3}, {"temperature": 2.0, "typical_p": 0.9}):
        distribution = next_token_distribution(logits, SamplingParams(rule=rule, **params))
        for stage in distribution.stages:
            assert stage.num_kept == int((stage.probs > 0).sum()), (params, stage.name)
        assert distribution.num_candidates == int((distribution.probs > 0).sum()) <= 3


def test_the_top_tokens_are_those_that_can_be_chosen():
    distribution = next_token_distribution(logits_of([0.1, 0.6, 0.3]), SamplingParams(top_k=2))
    top = distribution.top(5)
    assert [(one.token_id, one.prob, one.model_prob) for one in top] == [
        (1, pytest.approx(2 / 3), pytest.approx(0.6)),
        (2, pytest.approx(1 / 3), pytest.approx(0.3)),
    ]
    assert distribution.candidate_ids.tolist() == [1, 2]
    assert [one.token_id for one in next_token_distribution(torch.zeros(9), SamplingParams()).top(3)] == [0, 1, 2]


@pytest.mark.parametrize("count", [2.5, -1, None, "3"])
def test_a_number_of_top_tokens_that_can_not_be_is_named(count):
    with pytest.raises(ValueError, match="n must be a whole number from 0 up"):
        next_token_distribution(torch.zeros(9), SamplingParams()).top(count)


# ---- the cards of the pipeline


def test_each_stage_tells_what_it_kept():
    logits = logits_of([0.4, 0.3, 0.2, 0.1])
    stages = next_token_distribution(logits, SamplingParams(top_k=3, top_p=0.5, min_p=0.8)).stages
    assert [(stage.name, stage.num_kept, stage.cuts) for stage in stages] == [
        ("penalty", 4, False),
        ("temperature", 4, False),
        ("top-n-sigma", 4, False),
        ("top-k", 3, True),
        ("top-p", 2, True),
        ("min-p", 1, True),
        ("typical-p", 1, False),
    ]
    assert [stage.kept_mass for stage in stages] == pytest.approx([1, 1, 1, 0.9, 7 / 9, 4 / 7, 1])
    assert stages[3].probs.tolist() == pytest.approx([4 / 9, 3 / 9, 2 / 9, 0])
    assert stages[-1].probs.tolist() == pytest.approx([1, 0, 0, 0])


@pytest.mark.parametrize("rule", list(RULES))
def test_the_last_stage_is_the_distribution(rule):
    params = SamplingParams(temperature=0.7, top_k=4, top_p=0.9, min_p=0.05, repetition_penalty=1.3, rule=rule)
    distribution = next_token_distribution(torch.tensor([3.0, 2.0, 1.0, 0.0, -1.0, 2.5]), params, [0, 5])
    assert tuple(stage.name for stage in distribution.stages) == RULES[rule].order
    assert torch.equal(distribution.stages[-1].probs, distribution.probs)
    assert distribution.stages[-1].num_kept == distribution.num_candidates


@pytest.mark.parametrize("rule", list(RULES))
def test_greedy_cuts_at_the_temperature_stage(rule):
    stages = next_token_distribution(logits_of([0.1, 0.7, 0.2]), SamplingParams(temperature=0, rule=rule)).stages
    assert [stage.name for stage in stages if stage.cuts] == ["temperature"]
    (greedy,) = [stage for stage in stages if stage.cuts]
    assert greedy.kept_mass == pytest.approx(0.7) and greedy.probs.tolist() == [0, 1, 0]


def test_model_probabilities_are_the_plain_softmax_whatever_the_settings():
    """transformers#14498: which probabilities are the "logprobs"? The model's own are before every stage."""
    logits = torch.tensor(COURSE)
    params = SamplingParams(temperature=0.1, top_k=1, repetition_penalty=3.0)
    distribution = next_token_distribution(logits, params, [0])
    torch.testing.assert_close(distribution.model_probs, logits.double().softmax(0))
    assert torch.equal(distribution.logits, logits)


def test_entropy_is_that_of_the_kept_tokens():
    logits = logits_of([0.5, 0.25, 0.125, 0.125])
    assert next_token_distribution(logits, SamplingParams()).entropy == pytest.approx(1.75 * math.log(2))
    assert next_token_distribution(logits, SamplingParams(temperature=0)).entropy == 0
    assert next_token_distribution(torch.zeros(8), SamplingParams(top_k=4)).entropy == pytest.approx(math.log(4))


def test_the_likeliest_rank_first_and_the_lowest_id_among_equals():
    assert rank(np.array([[0.0, 2.0, -0.0, 2.0, -3.0, -1.5, -np.inf, 1e-40]], dtype=np.float32)).tolist() == [
        [1, 3, 7, 0, 2, 5, 4, 6]
    ]
    generator = torch.Generator().manual_seed(0)
    rows = (torch.randn(6, 500, generator=generator) * 20).round() / 7
    assert rank(rows.numpy()).tolist() == rows.sort(dim=-1, descending=True, stable=True).indices.tolist()
    assert rank(rows.double().numpy()).tolist() == rank(rows.numpy()).tolist()


# ---- penalties


def penalised(logits: list[float], seen: list[int], **params) -> list[float]:
    return penalize(torch.tensor([logits]), [seen], SamplingParams(**params))[0].tolist()


def test_a_repetition_penalty_lowers_negative_logits_too():
    """transformers#2302: dividing a negative logit by the penalty made the token likelier."""
    assert penalised([2.0, -2.0], [0, 1], repetition_penalty=2.0) == [1, -4]
    assert penalised([2.0, -2.0, 4.0], [0, 0, 0], repetition_penalty=2.0) == [1, -2, 4]  # once, however often seen


def test_presence_and_frequency_follow_the_published_formula():
    right = [3, 3.5, 5]
    assert penalised([5.0, 5.0, 5.0], [0, 0, 1], frequency_penalty=0.5, presence_penalty=1.0) == right


def test_without_a_penalty_what_was_seen_changes_nothing():
    assert probs_of(COURSE) == next_token_distribution(torch.tensor(COURSE), SamplingParams(), [0, 1]).probs.tolist()


def test_where_the_temperature_comes_first_an_amount_is_taken_from_the_divided_logits():
    """MiniMind divides before it penalises. Repetition does not notice; presence does."""
    logits, presence = torch.tensor([3.0, 2.0, 1.0]), {"presence_penalty": 0.5, "temperature": 2.0}
    seen = torch.tensor([0.5, 0, 0])
    minimind = next_token_distribution(logits, SamplingParams(rule="minimind", **presence), [0]).probs
    torch.testing.assert_close(minimind, (logits / 2 - seen).double().softmax(0), atol=1e-7, rtol=0)
    ours = next_token_distribution(logits, SamplingParams(**presence), [0]).probs
    torch.testing.assert_close(ours, ((logits - seen) / 2).double().softmax(0), atol=1e-7, rtol=0)
    repetition = {"repetition_penalty": 1.5, "temperature": 2.0}
    pair = [next_token_distribution(logits, SamplingParams(rule=rule, **repetition), [0]) for rule in RULES]
    assert all(torch.allclose(one.probs, pair[0].probs) for one in pair)


def test_penalising_leaves_the_recorded_logits_alone():
    logits = torch.tensor([[1.0, 2.0]])
    Distributions.checked(logits, SamplingParams(repetition_penalty=5.0), [[0, 1]])
    assert logits.tolist() == [[1, 2]]


# ---- no token can be chosen


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        ([1.0, math.nan, 2.0], "1 of 3 logits are NaN"),
        ([-math.inf] * 3, "all logits are -inf"),
        ([1.0, math.inf], r"\+inf"),
    ],
)
@pytest.mark.parametrize("temperature", [0, 1])
def test_logits_without_a_choice_are_an_error_and_never_a_token(logits, message, temperature):
    with pytest.raises(NoTokenError, match=message):
        next_token_distribution(torch.tensor(logits), SamplingParams(temperature=temperature))


def test_a_penalty_beyond_float32_is_an_error_too():
    with pytest.raises(NoTokenError):
        next_token_distribution(torch.tensor([1.0, 2.0]), SamplingParams(repetition_penalty=1e-45), [1])


def test_an_impossible_token_is_never_drawn():
    logits, marks = [0.0, -math.inf, 1.0], [0.0, 0.3, 0.999, 1 - 2**-53]
    assert 1 not in draw(logits, marks)
    assert kept(logits) == {0, 2}


def test_rounding_at_the_end_of_the_ruler_draws_no_token_without_probability():
    """At T = .001 all tokens but one have probability 0, and rounded sums may end below a mark next to 1."""
    logits = torch.randn(400, 300, generator=torch.Generator().manual_seed(1))
    for temperature in (1e-3, 0.02, 1.0):
        rows = Distributions.checked(logits, SamplingParams(temperature=temperature))
        probs = rows.probs
        for row, token_id in enumerate(rows.choose([1 - 2**-53] * 400)[0]):
            assert probs[row, token_id] > 0


def test_a_number_beyond_the_ruler_falls_on_its_last_token():
    """A run from a file brought 1, and the draw looked for a token behind the last."""
    rows = Distributions.checked(torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]]), SamplingParams(top_k=2))
    assert rows.choose([1.0, 1.5])[0] == [2, 1]


# ---- the draw


def test_the_draw_is_a_mark_on_a_ruler():
    """The candidates lie side by side from the likeliest down; the token under the mark is drawn."""
    logits = logits_of([0.25, 0.5, 0.25])  # ruler: token 1 up to .5, token 0 up to .75, token 2 to the end
    assert draw(logits, [0.0, 0.49, 0.51, 0.74, 0.76, 0.999]) == [1, 1, 0, 0, 2, 2]
    assert draw(logits, [0.0, 0.6, 0.7, 0.999], top_k=2) == [1, 1, 0, 0]  # the ruler is stretched over what is kept
    assert draw([0.0] * 4, [0.0, 0.25, 0.5, 0.75]) == [0, 1, 2, 3]  # an end belongs to the next token


def test_tokens_are_drawn_as_often_as_they_are_likely():
    logits = torch.tensor([3.0, 2.0, 1.0, 0.0, -1.0, 2.5, 0.5, 1.5])
    params = {"temperature": 1.3, "top_p": 0.95}
    expected = 20_000 * np.array(probs_of(logits, **params))
    counts = np.bincount(draw(logits, draw_uniforms(11, 20_000), **params), minlength=8)
    possible = expected > 0
    assert counts[~possible].sum() == 0
    chi_square = ((counts - expected)[possible] ** 2 / expected[possible]).sum()
    assert chi_square < 24.3  # exceeded once in a thousand with 7 degrees of freedom


def test_random_numbers_depend_on_the_seed_and_the_step_alone():
    assert draw_uniforms(5, 10).tolist() == draw_uniforms(5, 100)[:10].tolist()
    assert draw_uniforms(5, 3).tolist() != draw_uniforms(6, 3).tolist()
    numbers = draw_uniforms(0, 10_000)
    assert numbers.min() >= 0 and numbers.max() < 1 and abs(numbers.mean() - 0.5) < 0.02


def test_rows_have_seeds_of_their_own_that_a_browser_can_hold():
    seeds = [row_seed(7, row) for row in range(200)]
    assert seeds[0] == 7 and len(set(seeds)) == 200 and max(seeds) < 2**53
    assert seeds == [row_seed(7, row) for row in range(200)]
    assert row_seed(8, 1) not in seeds


# ---- settings and vectors of every kind


def test_every_setting_of_the_table_is_a_field_that_is_off_by_default():
    for name, setting in SETTINGS.items():
        assert getattr(SamplingParams(), name) == setting.off and not SamplingParams().not_off()


def test_numbers_and_vectors_of_numpy_and_torch_are_taken_like_pythons():
    """cmdstanpy#647: "must be a whole number, got np.int64(7)"."""
    params = SamplingParams(np.float32(0.5), np.int64(50), seed=np.int64(7), min_p=torch.tensor(0.25))
    assert params == SamplingParams(0.5, 50, seed=7, min_p=0.25)
    assert type(params.top_k) is int and type(params.seed) is int and type(params.temperature) is float
    plain = next_token_distribution(torch.tensor(COURSE), SamplingParams(presence_penalty=1.0), [0, 2])
    for logits, seen in ((np.array(COURSE), np.array([0, 2])), (COURSE, torch.tensor([0, 2]))):
        assert next_token_distribution(logits, SamplingParams(presence_penalty=1.0), seen).probs.equal(plain.probs)


@pytest.mark.parametrize("seen", [[-1], [4], [1.5], "ab", 3])
def test_ids_that_penalties_can_not_count_are_refused(seen):
    """unsloth#6923: -1 penalised the last token of the vocabulary; the id after it was an IndexError."""
    with pytest.raises(ValueError, match=r"seen_ids must be .*(from 0 to 3|a list)"):
        next_token_distribution(torch.ones(4), SamplingParams(presence_penalty=2.0), seen)


@pytest.mark.parametrize("logits", [torch.ones(2, 3), torch.ones(0), torch.ones(3, dtype=torch.bool), 1.0])
def test_what_is_no_vector_of_logits_is_refused(logits):
    with pytest.raises(ValueError, match="logits must be a vector"):
        next_token_distribution(logits, SamplingParams())


def test_a_distribution_is_a_value():
    """It was worked out late from memory that the caller could change."""
    logits = torch.tensor(COURSE, requires_grad=True)
    distribution = next_token_distribution(logits, SamplingParams(top_k=3))
    before = probs_of(COURSE, top_k=3)
    with torch.no_grad():
        logits[0] = -9
    distribution.ranking.zero_()
    assert distribution.probs.tolist() == before


@pytest.mark.parametrize(
    "params", [{"top_k": 2**63}, {"temperature": 5e-324}, {"temperature": 1e300}, {"top_n_sigma": 1e300}]
)
@pytest.mark.filterwarnings("error")
def test_settings_at_the_end_of_what_a_number_can_be(params):
    distribution = next_token_distribution(torch.tensor(COURSE), SamplingParams(**params))
    assert float(distribution.probs.sum()) == pytest.approx(1) and distribution.choose(0.5) in range(5)


def test_seeds_that_would_be_the_same_are_refused():
    """vllm#57018: seeds 0 and 2^64 gave the same numbers."""
    assert draw_uniforms(2**64 - 1, 1) != draw_uniforms(0, 1)
    with pytest.raises(ValueError, match="seed must be a whole number from 0 to 18446744073709551615"):
        SamplingParams(seed=2**64)


def test_a_certain_token_has_entropy_0_and_not_minus_0():
    """heretic#141."""
    for params in ({"temperature": 0}, {"top_k": 1}, {"typical_p": 0}):
        assert str(next_token_distribution(torch.tensor(COURSE), SamplingParams(**params)).entropy) == "0.0"


# ---- settings that cannot be


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("temperature", "warm"),
        ("temperature", None),
        ("top_p", 1.1),
        ("top_p", True),
        ("typical_p", 1.01),
        ("top_n_sigma", -1),
        ("penalty_counts_prompt", "yes"),
        ("temperature", torch.ones(2)),
        ("top_p", -0.1),
        ("min_p", 2),
        ("top_k", -1),
        ("top_k", 2.5),
        ("top_k", True),
        ("top_k", "many"),
        ("seed", -1),
        ("seed", None),
        ("repetition_penalty", 0),
        ("repetition_penalty", -1),
        ("presence_penalty", math.nan),
        ("frequency_penalty", "x"),
        ("rule", "dice"),
        ("rule", []),
        ("temperature", 10**400),
    ],
)
def test_a_setting_that_cannot_be_is_named(field, value):
    with pytest.raises(ValueError, match=field):
        SamplingParams(**{field: value})
