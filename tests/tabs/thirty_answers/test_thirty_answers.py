"""Thirty answers: what is counted, how likely each is, and that sampling many changes none."""

import copy
import csv
import io
import json
import random
from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import comb, prod

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import answer_params
from torch import Tensor

from playground.engine.generation import STOP_TOKEN, generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import ContextFullError, ModelConfig, Transformer
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distributions, NoTokenError, row_seed
from playground.models.answers import Answer, at_once
from playground.models.rows import answer_rows, generate_rows
from playground.models.text import LoadedModel
from playground.page.spreadsheet import csv_text
from playground.tabs.thirty_answers import values as answers_values
from playground.tabs.thirty_answers.among_others import greedy_among_others
from playground.tabs.thirty_answers.answers import (
    TEXT,
    AnswerRequest,
    AnswerSet,
    normalise,
    sample_answer_set,
    sample_answer_sets,
    sampling,
)
from playground.tabs.thirty_answers.batch_work import batch_work
from playground.tabs.thirty_answers.curve import VALUES, rarefy, sample_curve_pool
from playground.tabs.thirty_answers.figures import agreement_figure
from playground.tabs.thirty_answers.frequency import chi_square_test, predicted_vs_observed, wilson_interval
from playground.tabs.thirty_answers.kept_answers import KeptAnswers
from playground.tabs.thirty_answers.tree import answer_tree
from playground.tabs.thirty_answers.values import agreement_values, among_values, curve_values
from playground.words import say

SPREAD = SamplingParams(temperature=0.05, seed=4)  # the tiny model then gives some answers often and others once
PROMPT = "hello"


class Letters:
    """Token 1 is "b", token 2 "c", ..."""

    def encode_plain(self, text: str) -> list[int]:
        return [ord(letter) % 60 for letter in text]

    def decode(self, token_ids) -> str:
        return "".join(map(self.label, token_ids))

    def label(self, token_id: int) -> str:
        return chr(ord("a") + token_id)


class Chain:
    """A model whose next token depends on the last one only, with probabilities that one can multiply by hand."""

    def __init__(self, probs: dict[int, list[float]]) -> None:
        self.config = ModelConfig(vocab_size=len(next(iter(probs.values()))), num_layers=1, max_positions=64)
        self.logits = {last: torch.tensor(row).log() for last, row in probs.items()}
        self.device = torch.device("cpu")
        self.num_fed = 0

    def __call__(self, token_ids: Tensor, cache: KVCache, last_only: bool = True) -> Tensor:
        self.num_fed += token_ids.numel()
        keys = torch.zeros(len(token_ids), 1, token_ids.shape[1], 1)
        cache.update(keys, keys, 0)
        return torch.stack([self.logits[int(row[-1])] for row in token_ids])[:, None]


def loaded(model: Transformer | Chain, stop_ids: tuple[int, ...] = ()) -> LoadedModel:
    return LoadedModel("test", model, Letters(), False, stop_ids, 64)


@pytest.fixture
def tiny(model: Transformer) -> LoadedModel:
    """Tokens 30 to 45 stop, so that rows end at different times."""
    return loaded(model, tuple(range(30, 46)))


@pytest.fixture
def chain() -> LoadedModel:
    """Starts a, b or c; a ends or goes on with b; b ends or goes on with c; c ends. Token 3 stops."""
    start = ord("h") % 60  # the last letter of the prompt "h"
    probs = {start: [0.5, 0.3, 0.2, 0.0], 0: [0.0, 0.25, 0.0, 0.75], 1: [0.0, 0.0, 0.4, 0.6], 2: [0.0, 0.0, 0.0, 1.0]}
    model = Chain(probs)
    model.config = replace(model.config, vocab_size=61)  # for the prompt's letter
    model.logits = {last: torch.cat([row, torch.full((57,), -torch.inf)]) for last, row in model.logits.items()}
    return loaded(model, (3,))


CHAIN_ANSWERS = {"a": 0.375, "ab": 0.075, "abc": 0.05, "b": 0.18, "bc": 0.12, "c": 0.2}


def sampled(loaded_model: LoadedModel, params: SamplingParams, n: int, max_new_tokens: int = 24) -> AnswerSet:
    return sample_answer_sets(loaded_model, AnswerRequest(PROMPT, (params,), n, max_new_tokens))[0]


def answer(tiny: LoadedModel, *token_ids: int, prob: float = 0.5, reason: str = "stop token") -> Answer:
    steps = len(token_ids) + (reason == "stop token")
    return Answer(token_ids, tiny.tokenizer.decode(token_ids), prod([prob] * steps), 0.1, (prob,) * steps, reason)


def written_alone(
    loaded_model: LoadedModel, prompt: str, params: SamplingParams, n: int = 30, max_new_tokens: int = 24
) -> AnswerSet:
    """The judge: each row by itself, one after another, its probabilities looked up in whole distributions."""
    prompt_ids, stop_ids, answers = loaded_model.prompt_ids(prompt), list(loaded_model.stop_ids), []
    for row in range(n):
        alone = replace(params, seed=row_seed(params.seed, row))
        steps = list(generate(loaded_model.model, prompt_ids, alone, None, max_new_tokens, stop_ids))
        ids = [step.token_id for step in steps]
        counted = [stop_ids if token_id in stop_ids else [token_id] for token_id in ids]
        pairs = list(zip(steps, counted, strict=True))
        probs = tuple(float(step.distribution.probs[these].sum()) for step, these in pairs)
        model_prob = prod(float(step.distribution.model_probs[these].sum()) for step, these in pairs)
        ids = ids[:-1] if steps[-1].stop_reason == STOP_TOKEN else ids
        text = loaded_model.tokenizer.decode(ids)
        answers.append(Answer(tuple(ids), text, prod(probs), model_prob, probs, steps[-1].stop_reason))
    return AnswerSet(prompt, params, max_new_tokens, tuple(answers), len(prompt_ids))


def answer_set(*answers: Answer) -> AnswerSet:
    return AnswerSet(PROMPT, SamplingParams(), 24, answers, prompt_length=5)


# --- the samples


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_answers_come_as_often_as_multiplying_by_hand_says(chain, seed):
    request = AnswerRequest("h", (SamplingParams(seed=seed),), 3000)
    answers = sample_answer_sets(chain, request)[0].answers
    assert {a.text: pytest.approx(a.probability, abs=1e-6) for a in answers} == CHAIN_ANSWERS
    counts = Counter(a.text for a in answers)
    _, degrees, p_value = chi_square_test(
        [counts[text] for text in CHAIN_ANSWERS], [3000 * p for p in CHAIN_ANSWERS.values()]
    )
    assert degrees == 5
    assert p_value > 0.001


def test_the_settings_change_the_predicted_probability_and_the_samples_alike(chain):
    """Top-p 0.7 cuts the start to a and b, and what follows b to its stop: .5 / .8 and .3 / .8."""
    answers = sample_answer_sets(chain, AnswerRequest("h", (SamplingParams(top_p=0.7),), 3000))[0]
    predicted = {group.text: group.probability for group in answers.distinct}
    assert predicted == {"a": pytest.approx(0.625), "b": pytest.approx(0.225), "bc": pytest.approx(0.15)}
    agreement = predicted_vs_observed(answers)
    assert agreement.p_value > 0.001
    assert agreement.frame["predicted"].sum() == pytest.approx(1)


def test_row_7_of_30_is_the_single_run_with_its_seed(tiny):
    prompt_ids = tiny.prompt_ids(PROMPT)
    answers = sampled(tiny, SPREAD, 30)
    for row in range(30):
        alone = generate(tiny.model, prompt_ids, replace(SPREAD, seed=row_seed(4, row)), None, 24, tiny.stop_ids)
        token_ids = [step.token_id for step in alone if step.token_id not in tiny.stop_ids]
        assert list(answers.answers[row].token_ids) == token_ids
    assert 3 <= answers.num_distinct <= 28  # otherwise this would show little


def test_more_rows_change_no_other_row(tiny):
    five, thirty = sample_answer_set(tiny, PROMPT, SPREAD, 5), sample_answer_set(tiny, PROMPT, SPREAD, 30)
    assert [a.token_ids for a in five.answers] == [a.token_ids for a in thirty.answers[:5]]
    other = replace(SPREAD, temperature=0.3, top_k=5)
    both = sample_answer_sets(tiny, AnswerRequest(PROMPT, (other, SPREAD)))
    assert [a.token_ids for a in both[1].answers] == [a.token_ids for a in thirty.answers]


def test_the_order_of_the_rows_changes_nothing(tiny):
    rows, order = answer_rows(SPREAD, 12), [7, 3, 11, 0, 5, 9, 1, 2, 10, 4, 8, 6]
    in_order, shuffled = ([[] for _ in order] for _ in range(2))
    for texts, some in ((in_order, rows), (shuffled, [rows[row] for row in order])):
        for step in generate_rows(tiny.model, tiny.prompt_ids(PROMPT), some, None, 24, tiny.stop_ids):
            for row, token_id in zip(step.rows, step.token_ids, strict=True):
                texts[row].append(token_id)
    assert shuffled == [in_order[row] for row in order]
    counted = sample_answer_set(tiny, PROMPT, SPREAD)
    mixed = replace(counted, answers=tuple(random.Random(1).sample(counted.answers, 30)))
    assert mixed.table().equals(counted.table())


@pytest.mark.parametrize("rule", ["transformers", "minimind", "vllm", "llama.cpp"])
@pytest.mark.parametrize("penalty", [1.0, 1.3])
def test_answers_that_share_their_passes_are_those_written_alone(tiny, rule, penalty):
    settings = tuple(
        replace(SPREAD, rule=rule, repetition_penalty=penalty, top_p=top_p, top_k=top_k, min_p=min_p)
        for top_p, top_k, min_p in [(1, 0, 0), (0.8, 0, 0), (1, 6, 0), (0.9, 8, 0.05)]
    )
    together = sample_answer_sets(tiny, AnswerRequest(PROMPT, settings, 12, 10))
    for ours, params in zip(together, settings, strict=True):
        judge = written_alone(tiny, PROMPT, params, 12, 10)
        assert [(a.token_ids, a.stop_reason) for a in ours.answers] == [
            (a.token_ids, a.stop_reason) for a in judge.answers
        ]
        for one, other in zip(ours.answers, judge.answers, strict=True):
            assert one.token_probs == pytest.approx(other.token_probs, rel=1e-3)
            assert one.model_probability == pytest.approx(other.model_probability, rel=1e-3)


def test_more_branches_than_are_fed_at_once_wait_and_come_out_the_same(tiny, monkeypatch):
    whole = sampled(tiny, replace(SPREAD, temperature=0.2), 60)
    monkeypatch.setattr("playground.models.rows.MAX_BRANCHES", 7)
    parts = sampled(tiny, replace(SPREAD, temperature=0.2), 60)
    assert [a.token_ids for a in parts.answers] == [a.token_ids for a in whole.answers]
    assert whole.num_distinct > 40


def test_the_largest_random_number_still_falls_on_a_token_that_was_kept(tiny, monkeypatch):
    """Probabilities may sum to a hair below 1: a number above that sum must not choose a token that was cut."""
    almost_one = np.nextafter(1, 0)
    monkeypatch.setattr("playground.engine.generation.draw_uniforms", lambda seed, count: np.full(count, almost_one))
    settings = tuple(replace(SPREAD, temperature=1.0, top_k=k) for k in range(2, 60))
    sets = sample_answer_sets(tiny, AnswerRequest(PROMPT, settings, 1))
    assert all(prob > 0 for found in sets for prob in found.answers[0].token_probs)


@pytest.mark.parametrize("seed", range(4))
def test_a_number_on_the_boundary_of_two_tokens_falls_alike_together_and_alone(chain, seed, monkeypatch):
    """Rounded probabilities end below 1. One way measured its numbers by that sum and another did not, so a number
    exactly at the end of the first token was that token for one and the next token for the other."""
    start = ord("h") % 60
    for attempt in range(100):
        chain.model.logits[start] = torch.randn(61, generator=torch.Generator().manual_seed(100 * seed + attempt))
        reached = Distributions(chain.model.logits[start][None], SamplingParams()).walk.probs.cumsum(-1)[0]
        if reached[-1] < 1:
            break
    assert reached[-1] < 1
    chain.model.logits |= {last: torch.zeros(61) for last in range(61) if last not in chain.model.logits}
    on_the_edge = float(reached[0])
    monkeypatch.setattr("playground.engine.generation.draw_uniforms", lambda _seed, count: np.full(count, on_the_edge))
    together = sample_answer_set(chain, "h", SamplingParams(), 2, 1)
    assert together.answers[0].token_ids == written_alone(chain, "h", SamplingParams(), 2, 1).answers[0].token_ids


def test_answers_that_are_no_longer_wanted_stop_computing(chain):
    steps = sampling(chain, AnswerRequest("h", (SamplingParams(),), 300))
    next(steps), next(steps)
    assert chain.model.num_fed == 4  # the prompt and the three first letters; ended answers need no more


def test_a_prompt_without_room_is_refused_and_a_full_context_ends_the_answer(tiny):
    with pytest.raises(ContextFullError, match="129 tokens, but there is room for 128"):
        sample_answer_set(tiny, "x" * 129, SPREAD, 3)
    answers = sample_answer_set(replace(tiny, stop_ids=()), "x" * 120, SPREAD, 3).answers
    assert {a.stop_reason for a in answers} == {"context full"}


def test_logits_that_are_not_numbers_are_reported_not_sampled_from(chain):
    chain.model.logits[0] = torch.full((61,), torch.nan)
    with pytest.raises(NoTokenError, match="NaN"):
        sample_answer_sets(chain, AnswerRequest("h", (SamplingParams(),), 30))


# --- honest ends


@pytest.mark.parametrize(
    "params",
    [{"temperature": 0}, {"temperature": 1e-4}, {"temperature": 2, "top_k": 1}, {"temperature": 2, "top_p": 0}],
)
def test_where_only_one_token_can_be_chosen_there_is_exactly_one_answer(tiny, params):
    greedy = [step.token_id for step in generate(tiny.model, tiny.prompt_ids(PROMPT), SamplingParams(temperature=0))][
        :24
    ]
    greedy = greedy[: next((place for place, token in enumerate(greedy) if token in tiny.stop_ids), 24)]
    answers = sample_answer_set(tiny, PROMPT, SamplingParams(**params))
    assert answers.num_distinct == answers.compared_by(TEXT).num_distinct == 1
    assert answers.counts == [30]
    assert list(answers.answers[0].token_ids) == greedy
    assert answers.answers[0].probability == pytest.approx(1)


# --- probabilities


def test_an_answers_probability_is_the_product_of_its_tokens_as_the_slow_way_finds_them(tiny):
    params = replace(SPREAD, top_p=0.9, top_k=20)
    together, alone = (sample(tiny, PROMPT, params, 4) for sample in (sample_answer_set, written_alone))
    for found, judge in zip(together.answers, alone.answers, strict=True):
        assert found.token_probs == pytest.approx(judge.token_probs, rel=1e-3)
        assert found.probability == pytest.approx(judge.probability, rel=1e-3)
        assert found.model_probability == pytest.approx(judge.model_probability, rel=1e-3)


@pytest.mark.parametrize("stop_ids", [[3, 3], [3, 10**6], torch.tensor([3])])
def test_stop_ids_may_be_said_twice_or_name_no_token(chain, stop_ids):
    """The probability of an end was counted once for each time that it was named."""
    answers = sample_answer_set(replace(chain, stop_ids=stop_ids), "h", SamplingParams(seed=3), 200)
    assert {g.text: pytest.approx(g.model_probability, abs=1e-6) for g in answers.distinct} == CHAIN_ANSWERS


def test_greedy_predicts_1_and_still_tells_what_the_model_thought(tiny):
    found = sample_answer_set(tiny, PROMPT, SamplingParams(temperature=0), 1).answers[0]
    assert found.probability == 1
    assert 0 < found.model_probability < 1


# --- counting


def test_the_same_words_before_two_kinds_of_stop_are_one_answer(chain):
    """Cut at the first stop token, whichever it is; its probability is that of both together."""
    chain.model.logits[2] = torch.cat([torch.tensor([0.0, 0.0, 0.0, 0.5, 0.5]).log(), torch.full((56,), -torch.inf)])
    both = replace(chain, stop_ids=(3, 4))
    answers = sample_answer_set(both, "h", SamplingParams(seed=3), 200)
    assert {g.text: pytest.approx(g.probability, abs=1e-6) for g in answers.distinct} == CHAIN_ANSWERS
    assert {g.text: g.length for g in answers.distinct} == {text: len(text) for text in CHAIN_ANSWERS}


def test_texts_are_compared_without_case_spaces_and_one_final_full_stop():
    assert normalise(" The  Dog. ") == normalise("the dog") == "the dog"
    assert normalise("Wait..") == "wait."
    assert normalise("no. 5") == "no. 5"
    assert normalise("A\n b .") == "a b"
    assert normalise("STRASSE") == normalise("straße")
    assert normalise("") == normalise(" . ") == ""


def test_the_switch_merges_spellings_and_names_the_most_frequent(tiny):
    class Words(Letters):
        def decode(self, token_ids):
            return {(1,): "Paris.", (2,): "paris", (3,): "Rome"}[tuple(token_ids)]

    words = replace(tiny, tokenizer=Words())
    raw = answer_set(*(answer(words, token, prob=0.4) for token in (1, 2, 2, 3, 2)))
    assert (raw.num_distinct, raw.counts, raw.groups) == (3, [3, 1, 1], [1, 0, 0, 2, 0])
    text = raw.compared_by(TEXT)
    assert (text.num_distinct, text.counts, text.groups) == (2, [4, 1], [0, 0, 0, 1, 0])
    assert text.table()["answer"].tolist() == ["paris", "Rome"]
    assert text.table()["probability"].tolist() == pytest.approx([0.32, 0.16])
    assert text.table()["share"].tolist() == pytest.approx([0.8, 0.2])


# --- the curve


def test_rarefaction_is_the_mean_over_all_subsets():
    pool = [0, 0, 0, 0, 1, 1, 2, 3]
    numbers = [len(set(some)) for some in combinations(pool, 3)]
    mean, deviation = rarefy([4, 2, 1, 1], 3)
    assert len(numbers) == comb(8, 3)
    assert mean == pytest.approx(np.mean(numbers))
    assert deviation == pytest.approx(np.std(numbers) / np.sqrt(1 - 3 / 8))
    assert rarefy([4, 2, 1, 1], 8) == (pytest.approx(4), 0)
    assert rarefy([4, 2, 1, 1], 1) == (pytest.approx(1), pytest.approx(0, abs=1e-6))
    assert rarefy([9], 5) == (pytest.approx(1), pytest.approx(0, abs=1e-6))


def test_the_band_holds_about_nine_of_ten_other_seeds(tiny):
    """Each point's band, from its own pool, against the counts of 60 other seeds."""
    values = (0.02, 0.04, 0.06)
    curve = sample_curve_pool(tiny, PROMPT, SPREAD, values=values, max_new_tokens=6).curve()
    settings = tuple(SamplingParams(temperature=value, seed=1000 + seed) for value in values for seed in range(60))
    sets = sample_answer_sets(tiny, AnswerRequest(PROMPT, settings, 30, 6))
    counts = np.array([found.num_distinct for found in sets]).reshape(3, 60)
    for point, others in zip(curve.points, counts, strict=True):
        assert np.mean((point.low <= others) & (others <= point.high)) > 0.8
        assert abs(point.expected - others.mean()) < 1.5
        assert others.std() > 0.5


def test_each_point_of_the_curve_counts_the_thirty_answers_of_its_setting(tiny):
    for knob in ("temperature", "top_p", "top_k"):
        curve = sample_curve_pool(tiny, PROMPT, SPREAD, knob, 40, 8).curve()
        assert len(curve.points) == len(VALUES[knob])
        for point, value in list(zip(curve.points, VALUES[knob], strict=True))[::3]:
            alone = written_alone(tiny, PROMPT, replace(SPREAD, **{knob: value}), 30, 8)
            assert point.num_distinct == alone.num_distinct
        assert all(1 <= point.low <= point.expected <= point.high <= 30 for point in curve.points)
        assert curve.points[0].num_distinct == 1  # T = 0, p = 0, k = 1
    assert len(VALUES["temperature"]) >= 9
    assert (min(VALUES["temperature"]), max(VALUES["temperature"])) == (0, 2)


# --- predicted and observed


def test_wilson_intervals_are_those_of_the_textbook():
    assert wilson_interval(0, 30) == (0, pytest.approx(0.1135, abs=1e-4))
    assert wilson_interval(30, 30) == (pytest.approx(0.8865, abs=1e-4), 1)
    assert wilson_interval(15, 30) == (pytest.approx(0.3315, abs=1e-4), pytest.approx(0.6685, abs=1e-4))


def test_predicted_probability_and_frequency_agree_in_30_300_and_3000_samples(tiny):
    agreement = predicted_vs_observed(sampled(tiny, SPREAD, 3000, 6))
    assert agreement.sizes == (30, 300, 3000)
    assert agreement.p_value > 0.001
    assert agreement.num_inside >= len(agreement.frame) - 2
    widths = [(agreement.frame[f"high_{n}"] - agreement.frame[f"low_{n}"]).mean() for n in (30, 300, 3000)]
    assert widths[0] > 2.5 * widths[1] > 6 * widths[2]  # ten times the answers, about a third of the width


def test_an_answer_that_always_comes_agrees_with_what_is_predicted(tiny):
    """At T = 0 one of two intervals did not: that of 3,000 in 3,000 ended a rounding below 1."""
    for params in (SamplingParams(temperature=0), SamplingParams(temperature=1e-4), SamplingParams(top_k=1)):
        agreement = predicted_vs_observed(sampled(tiny, params, 3000, 6))
        assert agreement.num_inside == len(agreement.frame) == 2


def test_thirty_samples_are_the_first_thirty_rows(chain):
    answers = sample_answer_sets(chain, AnswerRequest("h", (SamplingParams(),), 3000))[0]
    frame = predicted_vs_observed(answers).frame.set_index("answer")
    for size in (30, 300, 3000):
        counts = Counter(a.text for a in answers.answers[:size])
        assert {text: frame.loc[text, f"observed_{size}"] * size for text in CHAIN_ANSWERS} == pytest.approx(
            {text: counts[text] for text in CHAIN_ANSWERS}
        )


def test_answers_too_rare_to_judge_are_put_together(tiny):
    """Each would be listed only when it happened to come, always more often than predicted."""
    agreement = predicted_vs_observed(sampled(replace(tiny, stop_ids=()), replace(SPREAD, temperature=0.5), 300, 12))
    assert agreement.frame["answer"].tolist() == ["all others"]
    assert agreement.frame["observed_300"].tolist() == [1]
    assert agreement.sizes == (30, 300)


def test_frequencies_that_disagree_are_noticed(chain):
    """The judge itself: answers sampled at temperature 1.3 do not come as often as temperature 1 predicts."""
    warm, plain = (
        sample_answer_sets(chain, AnswerRequest("h", (SamplingParams(temperature=t),), 3000))[0] for t in (1.3, 1)
    )
    predicted = {a.text: a.probability for a in plain.answers}
    lied = replace(warm, answers=tuple(replace(a, probability=predicted[a.text]) for a in warm.answers))
    assert predicted_vs_observed(lied).p_value < 1e-6
    assert predicted_vs_observed(warm).p_value > 0.001


def test_chi_square_p_values_are_those_of_the_table():
    assert chi_square_test([60, 40], [50, 50]) == (pytest.approx(4), 1, pytest.approx(0.0455, abs=1e-4))
    assert chi_square_test([100, 0], [98, 2])[1] == 0  # too few expected to say anything


# --- what the page is given


def question(loaded_model: LoadedModel, prompt: str, **more: str) -> dict:
    """What a picture of the tab asks, at temperature 1 with nothing cut."""
    return {"model": loaded_model.name, "prompt": prompt, "params": {"temperature": 1}} | more


def test_the_mark_of_an_answer_is_named_for_the_settings_and_the_models_own_stands_beside(chain):
    """At top-p 0.7 the mark says 62.5 % for "a"; it was called the prediction of the model, which says 37.5 %."""
    for top_p, names in ((1, []), (0.7, ["the model alone"])):
        answers = sample_answer_sets(chain, AnswerRequest("h", (SamplingParams(top_p=top_p),), 300))[0]
        agreement = predicted_vs_observed(answers)
        figure = agreement_figure(agreement.frame, agreement.sizes)
        marks = [trace for trace in figure.data if "samples" not in trace.name]
        assert [trace.name for trace in marks] == [*names, "with these settings"]
    place = agreement.frame["answer"].tolist().index("a")
    assert [trace.x[place] for trace in marks] == [pytest.approx(0.375), pytest.approx(0.625)]


def test_a_curve_says_how_far_it_is_and_stops_where_it_is_left(chain):
    """The Stop of the curve takes hold between two values; the whole pool used to be one."""
    request = ({chain.name: chain}, question(chain, "h", knob="temperature", second=""))
    values = list(curve_values(*request))
    figures = [place for place, value in enumerate(values) if isinstance(value, dict)]
    assert len(figures) == 2 and figures[-1] == len(values) - 1
    assert all(value.done <= value.of for place, value in enumerate(values) if place not in figures)
    assert figures[0] > 1 and figures[1] > figures[0] + 1
    fed, curve = chain.model.num_fed, curve_values(*request)
    next(curve)
    curve.close()
    assert chain.model.num_fed - fed < 6


def test_a_batch_of_others_lets_short_work_pass_after_each_step(chain):
    """One answer alone and the batches of 2, 4, 8 and 30 were one piece, and everybody else waited for it."""
    fed, values, among = [], [], among_values({chain.name: chain}, {"model": chain.name, "prompt": "h"})
    while True:
        try:
            values.append(next(among))
        except StopIteration as end:
            value = end.value
            break
        fed.append(chain.model.num_fed)
    assert set(values) == {None}
    assert [row["rows"] for row in value["rows"]] == [2, 4, 8, 30]
    assert max(np.diff(fed)) <= 30  # at the most a step of the largest batch between two


def test_three_thousand_answers_say_how_many_there_are_and_rest_before_they_are_judged(chain):
    *told, value = agreement_values({chain.name: chain}, question(chain, "h"))
    assert [each.of for each in told] == [3000] * len(told)
    done = [each.done for each in told]
    assert done == sorted(done) and done[-2:] == [3000, 3000] and done[0] < 3000
    assert "confidence intervals (3,000 samples) contain the predicted share" in say(value["words"])


def test_the_same_question_is_answered_without_the_model_and_any_other_by_it(chain):
    kept, asked = KeptAnswers(), question(chain, "h")

    def fed_for(loaded_model: LoadedModel, asked: dict) -> tuple[dict, int]:
        before = loaded_model.model.num_fed
        value = at_once(kept.values({chain.name: loaded_model}, asked))
        return value, loaded_model.model.num_fed - before

    first, fed = fed_for(chain, asked)
    assert fed > 0
    first["views"].clear()  # what one visitor is given is nobody else's
    again, fed = fed_for(chain, asked | {"number": 7, "params": {"temperature": 1.0, "seed": 0}})
    alone = at_once(answers_values.answer_values({chain.name: chain}, asked))
    measured = {"seconds": again["seconds"]}
    assert fed == 0 and again == json.loads(json.dumps(alone | measured))
    others = [asked | {"prompt": "hh"}, *(asked | {"params": each} for each in ({"seed": 1}, {"temperature": 0.9}))]
    assert all(fed_for(chain, other)[1] > 0 for other in others) and len(kept) == 4
    assert fed_for(replace(chain, model=copy.copy(chain.model)), asked)[1] > 0  # the name is not the model


def test_kept_answers_are_bounded_and_the_one_not_asked_for_longest_goes(chain, monkeypatch):
    kept, models = KeptAnswers(), {chain.name: chain}
    ask = [question(chain, "h", params={"seed": seed}) for seed in range(4)]
    monkeypatch.setattr(KeptAnswers, "most_bytes", 3 * len(json.dumps(at_once(kept.values(models, ask[0])))) + 3000)
    for seed in (1, 2, 0, 3):
        at_once(kept.values(models, ask[seed]))
    assert len(kept) == 3
    fed = chain.model.num_fed
    at_once(kept.values(models, ask[0]))
    assert chain.model.num_fed == fed
    at_once(kept.values(models, ask[1]))
    assert chain.model.num_fed > fed
    monkeypatch.setattr(KeptAnswers, "most_bytes", 0)
    at_once(kept.values(models, ask[2]))
    assert len(kept) == 0


@pytest.mark.parametrize("prompt", ["=1+h", "+h", "-h", "@h"])
def test_no_csv_of_the_tab_holds_a_cell_that_a_spreadsheet_runs(chain, prompt):
    answers = sample_answer_set(chain, prompt, SamplingParams(), 6)
    answers = replace(answers, answers=tuple(replace(answer, text=prompt) for answer in answers.answers))
    *_, curve = curve_values({chain.name: chain}, question(chain, prompt, knob="temperature", second=""))
    texts = [answers_values.answers_csv(answers), *(view["csv"] for view in curve["views"].values())]
    texts.append(csv_text(predicted_vs_observed(answers).frame))
    for text in texts:
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert not any(cell.startswith(("=", "+", "@", "-h")) for cell in cells)
        assert f"'{prompt}" in cells or text is texts[-1]


def test_numbers_and_plain_words_go_to_csv_as_they_are():
    frame = pd.DataFrame({"token": ["-", "a-b", "'"], "logit": [-1.5, 2.0, 0.0]})
    assert csv_text(frame) == "token,logit\n'-,-1.5\na-b,2.0\n',0.0\n"
    assert frame["token"][0] == "-"


def test_a_table_is_written_as_pandas_writes_it():
    columns = {"text": ['say "a, b"', "two\nlines", None], "share": [0.1 + 0.2, np.nan, 1e-12], "n": [1, 2, 3]}
    frame = pd.DataFrame(columns | {"is_kept": [True, False, True]})
    for header in (True, False):
        assert csv_text(frame, header) == frame.to_csv(index=False, header=header)
    assert csv_text(frame[:0]) == "text,share,n,is_kept\n"


# --- the tree


def test_the_tree_merges_common_beginnings(tiny):
    tree = answer_tree(tiny, answer_set(*(answer(tiny, *ids) for ids in [(0, 1, 2), (0, 1, 3), (0, 1), (0, 1, 2)])))
    assert (tree.text, tree.count, tree.stop_reason) == ("ab", 4, "")
    assert [(child.text, child.count) for child in tree.children] == [("c", 2), ("", 1), ("d", 1)]
    assert [child.probability for child in tree.children] == pytest.approx([0.0625, 0.125, 0.0625])
    assert all(child.stop_reason == "stop token" and child.split_probability == 0.5 for child in tree.children)


def test_the_tree_of_a_run_holds_every_row_once_with_its_probability(tiny):
    answers = sample_answer_set(tiny, PROMPT, SPREAD)
    tree = answer_tree(tiny, answers)
    ends = [node for node in tree.walk() if node.stop_reason]
    assert sorted(row for node in ends for row in node.rows) == list(range(30))
    for node in ends:
        assert node.probability == pytest.approx(answers.answers[node.rows[0]].probability)
    for node in tree.walk():
        assert node.count == len(node.rows) == sum(child.count for child in node.children) or not node.children
        assert sum(child.split_probability for child in node.children) <= 1 + 1e-9


def test_one_answer_is_a_tree_without_forks(tiny):
    tree = answer_tree(tiny, answer_set(answer(tiny, 0, 1), answer(tiny, 0, 1)))
    assert (tree.text, tree.count, tree.children, tree.probability) == ("ab", 2, (), 0.125)


# --- the batch


def test_the_work_of_a_batch_is_what_was_fed(tiny):
    prompt_ids, rows = tiny.prompt_ids(PROMPT), answer_rows(SPREAD, 30)
    apart, shared = (
        list(generate_rows(tiny.model, prompt_ids, rows, None, 24, tiny.stop_ids, share)) for share in (False, True)
    )
    work = batch_work(sample_answer_set(tiny, PROMPT, SPREAD))
    assert work.dropped == sum(step.num_fed for step in apart)
    assert work.merged == sum(step.num_fed for step in shared)
    assert work.num_steps == len(apart) == len(shared)
    assert work.minimind == minimind_tokens_fed(tiny, prompt_ids, answer_params(SPREAD, 30))
    assert work.merged < work.dropped < work.padded < work.minimind
    assert 0 < work.filled < 30 * work.num_steps


def test_dropping_finished_rows_saves_the_padding_and_sharing_the_prompt_the_rest(tiny):
    """The page said 750 against 279 tokens of dropping them: most of it came from the prompt, read 30 times or once."""
    work = batch_work(sample_answer_set(tiny, PROMPT, SPREAD))
    assert work.padded - work.dropped == work.filled
    assert work.minimind - work.padded == 29 * len(tiny.prompt_ids(PROMPT))


def minimind_tokens_fed(tiny: LoadedModel, prompt_ids: list[int], row_params: list[SamplingParams]) -> int:
    """MiniMind's loop, slow and obvious: the prompt once a row; all rows go on until the last has ended."""
    lengths = [len(list(generate(tiny.model, prompt_ids, params, None, 24, tiny.stop_ids))) for params in row_params]
    fed, finished, step = len(row_params) * len(prompt_ids), [False] * len(row_params), 0
    while not all(finished):
        step += 1
        finished = [length <= step for length in lengths]
        if not all(finished):
            fed += len(row_params)  # an ended row is fed the end token
    return fed


def test_rows_that_agree_are_fed_once_in_a_pool(chain):
    answers = sample_answer_sets(chain, AnswerRequest("h", (SamplingParams(),), 300))[0]
    assert chain.model.num_fed == batch_work(answers).merged == 1 + 6  # the prompt; a, ab, abc, b, bc, c


# --- alone and among others


def test_a_greedy_answer_is_the_same_among_others_up_to_rounding(tiny):
    results = greedy_among_others(tiny, PROMPT)
    assert [result.rows for result in results] == [2, 4, 8, 30]
    for result in results:
        assert result.largest_difference < 1e-4
        assert result.smallest_gap > 2 * result.largest_difference  # so no choice can change
        assert result.first_flip is None and result.text == result.text_alone


def test_what_others_write_after_the_greedy_row_has_ended_is_not_its_text(chain):
    chain.model.logits[2] = torch.full((61,), -torch.inf).index_fill(0, torch.tensor([2]), 0)  # "c" goes on for ever
    results = greedy_among_others(chain, "h")
    assert {(result.text, result.text_alone, result.first_flip) for result in results} == {("a", "a", None)}


def test_a_batch_that_disturbs_its_rows_is_noticed(tiny):
    """The judge itself: a model that adds 0.5 to one logit in a batch."""

    class Disturbed:
        config, device = tiny.model.config, tiny.model.device

        def __call__(self, token_ids, cache, last_only=True):
            logits = tiny.model(token_ids, cache, last_only).clone()
            logits[:, :, 7] += 0.5 * (len(token_ids) > 1)
            return logits

    results = greedy_among_others(replace(tiny, model=Disturbed()), PROMPT)
    assert all(result.largest_difference > 0.4 for result in results)


def test_a_flip_needs_the_two_best_closer_than_twice_the_change(tiny):
    """The best falls by d and the second rises by d: a gap of 1.5 d is no protection, one of 2.5 d is."""
    change = 0.01

    class TwoBest:
        config, device = tiny.model.config, tiny.model.device
        gap = 0.0

        def __call__(self, token_ids, cache, last_only=True):
            logits = torch.zeros_like(tiny.model(token_ids, cache, last_only))
            moved = change * (len(token_ids) > 1)
            logits[..., 0], logits[..., 1] = 5 + self.gap - moved, 5 + moved
            return logits

    for gap, flips in ((1.5 * change, True), (2.5 * change, False)):
        model = TwoBest()
        model.gap = gap
        for result in greedy_among_others(replace(tiny, model=model), PROMPT, max_new_tokens=3):
            assert result.largest_difference == pytest.approx(change, rel=1e-3)
            assert result.smallest_gap == pytest.approx(gap, rel=1e-3)
            assert (result.first_flip is not None) == result.can_flip == flips
