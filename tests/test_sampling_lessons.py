"""What the questions Q3 to Q11 claim, computed on numbers small enough to check by eye; and that each has its words."""

import re
import threading

import pytest
import torch
from conftest import recorded

from playground.engine.generation import generate, timed
from playground.engine.sampling import RULES, SamplingParams, next_token_distribution
from playground.engine.trace import Trace
from playground.experiments import sampling_lessons as lessons
from playground.experiments.sampling_table import as_cell, binding_stages, candidates_table, steps_table
from playground.figures.sampling import answer_figure
from playground.ui.bar import run_payloads
from playground.ui.controls import DEFAULTS, sampling_params
from playground.ui.lesson import read_lesson
from playground.ui.runs import RunStore
from playground.ui.sampling_questions import FINDINGS, PENALTIES_OFF, Asked, read_setups

PROMPT = [5, 9, 2, 44]


def logits_of(*probs: float) -> torch.Tensor:
    return torch.tensor(probs, dtype=torch.float64).log().float()


def test_q3_a_seed_fixes_the_numbers_and_other_temperatures_part_where_the_table_says(model):
    params = SamplingParams(temperature=1.0, seed=3)
    trace = Trace.record(timed(generate(model, PROMPT, params, None, 12)), PROMPT)
    for row in lessons.other_temperatures(trace, params, [1.0, 0.9, 1.3]).itertuples():
        again = list(generate(model, PROMPT, SamplingParams(temperature=row.temperature, seed=3), None, 12))
        assert [step.uniform for step in again] == [step.uniform for step in trace.steps]
        same = [now.token_id == then for now, then in zip(again, trace.token_ids, strict=True)]
        assert row.first_difference == (same.index(False) if False in same else None)
        if row.first_difference is not None:
            assert (row.token_then, row.token_now) == (
                trace.token_ids[row.first_difference],
                again[row.first_difference].token_id,
            )


def test_q4_top_p_follows_the_model_and_top_k_does_not():
    sure, unsure = torch.zeros(1000).index_fill(0, torch.tensor([7]), 20.0), torch.zeros(1000)
    settings = {
        "p": SamplingParams(top_p=0.9),
        "k": SamplingParams(top_k=40),
        "both": SamplingParams(top_p=0.9, top_k=40),
    }
    table = lessons.who_binds({"sure": sure, "unsure": unsure}, settings)
    assert table.num_kept.tolist() == [1, 40, 1, 900, 40, 36]  # 36: top-p counts within the 40 of top-k
    assert table.binds.tolist() == ["top-p", "top-k", "top-p", "top-p", "top-k", "top-p"]


def test_q5_logits_3_2_1_keep_one_token_or_two():
    table = lessons.orders(torch.tensor([3.0, 2.0, 1.0]), SamplingParams(temperature=0.5, top_p=0.8))
    assert dict(zip(table.rule, table.num_kept, strict=True)) == {
        "transformers": 1,
        "minimind": 1,
        "vllm": 1,
        "llama.cpp": 2,
    }
    assert table.probs.iloc[3] == pytest.approx([0.8808, 0.1192, 0], abs=5e-5)


def test_q6_top_p_counts_probability_not_tokens():
    trace = recorded(torch.stack([logits_of(*[0.2, *[0.8 / 99] * 99]), torch.zeros(100)]), [0, 1], [0.5, 0.5])
    table = lessons.kept_per_step(trace, SamplingParams(top_p=0.1))
    assert table.num_kept.tolist() == [1, 10]  # only when all tokens are equal is a tenth of p a tenth of the tokens
    assert table.kept_mass.tolist() == pytest.approx([0.2, 0.1])
    assert table.share_of_tokens.tolist() == pytest.approx([0.01, 0.1])


def test_q7_zero_keeps_everything_and_fifty_throws_mass_away():
    table = lessons.top_k_values(torch.zeros(200), [0, 1, 50, 200, 201])
    assert table.num_kept.tolist() == [200, 1, 50, 200, 200]
    assert table.lost_mass.tolist() == pytest.approx([0, 0.995, 0.75, 0, 0], abs=1e-6)


def test_q8_the_tail_grows_with_temperature_and_min_p_cuts_it():
    table = lessons.tail_at_temperatures(logits_of(0.9, 0.0999, 0.0001)[None], [1.0, 2.0], min_p=0.05)
    weights = [0.9**0.5, 0.0999**0.5, 0.0001**0.5]
    assert table.tail_mass.tolist() == pytest.approx([0.0001, weights[2] / sum(weights)], rel=1e-3)
    assert table.none_in_answer.tolist() == pytest.approx(
        [0.9999**100, (1 - weights[2] / sum(weights)) ** 100], rel=1e-3
    )
    assert table.tail_mass_with_min_p.tolist() == [0, 0]


def test_q9_only_what_was_not_renormalised_misses_one():
    params = SamplingParams(temperature=0.7, top_p=0.8, repetition_penalty=1.5)
    distribution = next_token_distribution(torch.tensor([2.0, 1.5, 1.0, 0.5, -1.0]), params, [0, 4])
    table = lessons.five_meanings(distribution, [0, 1, 2])
    kept = next(stage.kept_mass for stage in distribution.stages if stage.name == "top-p")
    assert table.loc["sum"].tolist() == pytest.approx([1, 1, 1, kept, 1], abs=1e-6) and kept < 0.95
    assert table["cut, not renormalised"].div(kept).tolist() == pytest.approx(table["renormalised"].tolist(), abs=1e-6)


def test_q10_naive_division_raises_a_negative_logit():
    """transformers#2302: dividing a negative logit made a repeated word likelier."""
    logits = torch.tensor([2.0, -2.0, 0.0])
    up = lessons.penalised_word(logits, 0, 2.0, [0, 1]).set_index("rule").logit
    down = lessons.penalised_word(logits, 1, 2.0, [0, 1]).set_index("rule").logit
    order = ["no penalty", "counts the prompt", "counts the answer only", "naive division"]
    assert up[order].tolist() == [2, 1, 2, 1]
    assert down[order].tolist() == [-2, -4, -2, -1]


def test_q11_presence_asks_whether_and_frequency_how_often():
    settings = {
        "repetition": SamplingParams(repetition_penalty=2.0),
        "presence": SamplingParams(presence_penalty=1.0),
        "frequency": SamplingParams(frequency_penalty=0.5),
    }
    table = lessons.penalties_by_count(5.0, [0, 1, 5], settings)
    assert table[["repetition", "presence", "frequency"]].to_numpy().tolist() == [
        [5, 5, 5],
        [2.5, 4, 4.5],
        [2.5, 4, 2.5],
    ]


def test_every_question_has_its_words_its_sliders_and_its_numbers(chat, base):
    words, setups = read_lesson("sampling"), read_setups()
    assert list(words) == list(setups) == list(FINDINGS) == [f"Q{number}" for number in range(3, 12)]
    models = {loaded.name: loaded for loaded in (chat, base)}
    for key, setup in setups.items():
        assert 2 <= len(re.findall(r"[.?!](?:\s|$)", words[key].text)) <= 3, f"{key}: two sentences"
        controls, runs = DEFAULTS | PENALTIES_OFF | setup["settings"] | {"max_new_tokens": 12}, RunStore()
        *_, last = run_payloads(models[setup["model"]], setup["prompt"], controls, threading.Event(), runs)
        asked = Asked(models[setup["model"]], runs.get(last["id"]).trace, sampling_params(controls), setup)
        found = FINDINGS[key](asked)
        assert found.sentence and found.rows
        assert {len(row) for row in found.rows} == {len(found.columns)}
        assert 0 <= found.step < len(last["token_ids"])


# ---- the tables and the picture that a person takes home


def test_the_table_of_all_steps_says_what_each_stage_left(model):
    trace = Trace.record(timed(generate(model, PROMPT, SamplingParams(seed=5), None, 10)), PROMPT)
    labels = [f"t{token_id}" for token_id in range(61)]
    for rule in RULES:
        params = SamplingParams(temperature=0.8, top_k=20, top_p=0.7, min_p=0.1, rule=rule)
        table = steps_table(trace, labels, params)
        for step, row in enumerate(table.itertuples()):
            distribution = next_token_distribution(trace.logits[step], params)
            stages = distribution.stages
            assert [table[f"kept_after_{stage.name}"][step] for stage in stages] == [s.num_kept for s in stages]
            cutting = [stage.name for stage in stages if stage.cuts]
            assert row.binding_stage == binding_stages(trace, params)[step] == (cutting[-1] if cutting else "none")
            assert row.token == labels[trace.token_ids[step]]


def test_the_written_token_is_always_among_the_candidates():
    trace = recorded(logits_of(0.5, 0.3, 0.15, 0.05)[None], [3], [0.99])
    table = candidates_table(trace, ["a", "b", "c", "d"], SamplingParams(top_p=0.7), 0, top=2)
    assert table.token.tolist() == ["a", "d"] and table.written.tolist() == [False, True]
    assert table.kept.tolist() == [True, False]
    assert table["top-p"].tolist() == pytest.approx([0.625, 0])


@pytest.mark.parametrize("token", ["=1+1", "+", "-x", "@SUM(A1)"])
def test_a_token_that_looks_like_a_formula_stays_text_in_a_spreadsheet(token):
    assert as_cell(token) == f"'{token}"


def test_tags_in_tokens_stay_text_in_the_picture(model):
    """Plotly turns <b> and links in labels into markup; a token or a prompt from a file may hold anything."""
    trace = Trace.record(timed(generate(model, PROMPT, SamplingParams(seed=5), None, 4)), PROMPT)
    labels = ['<a href="https://example.org">x</a>'] * 61
    params = SamplingParams()
    tables = steps_table(trace, labels, params), candidates_table(trace, labels, params, 2)
    text = answer_figure(*tables, 2, 61, "<b>prompt</b>").to_json()
    assert "<a" not in text and "\\u003ca" not in text and "<b>" not in text and "\\u003cb" not in text
