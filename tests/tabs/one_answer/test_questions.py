"""What the questions Q3 to Q11 claim, computed on numbers small enough to check by eye; and that each has its words."""

import itertools
import json
import re
from types import SimpleNamespace

import pytest
import torch
from conftest import recorded

from playground.engine.generation import generate, timed
from playground.engine.params import RULES, SamplingParams
from playground.engine.sampling import next_token_distribution
from playground.engine.trace import Trace
from playground.models.answers import at_once
from playground.models.figure import answer_figure
from playground.models.tables import binding_stages, candidates_table, steps_table
from playground.page.controls import ALL_OFF, DEFAULTS
from playground.page.lesson import read_lesson
from playground.page.recording import record_run
from playground.page.requests import sampling_params
from playground.page.runs import RunStore
from playground.page.spreadsheet import csv_text
from playground.tabs.one_answer import findings
from playground.tabs.one_answer.questions import FINDINGS, Asked, Finding, read_setups
from playground.words import say

PROMPT = [5, 9, 2, 44]


def logits_of(*probs: float) -> torch.Tensor:
    return torch.tensor(probs, dtype=torch.float64).log().float()


def test_q3_a_seed_fixes_the_numbers_and_other_temperatures_diverge_where_the_table_says(model):
    params = SamplingParams(temperature=1.0, seed=3)
    trace = Trace.record(timed(generate(model, PROMPT, params, None, 12)))
    for row in findings.other_temperatures(trace, params, [1.0, 0.9, 1.3]).itertuples():
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
    tables = [findings.deciding_stages(logits, settings) for logits in (sure, unsure)]
    assert [table.num_kept.tolist() for table in tables] == [[1, 40, 1], [900, 40, 36]]  # 36: top-p within top-k's 40
    assert [table.binding_stage.tolist() for table in tables] == [["top-p", "top-k", "top-p"]] * 2


def test_q4_of_a_hundred_equal_tokens_both_together_leave_fewer_than_either():
    """The words said that the one which leaves fewer decides."""
    settings = [SamplingParams(top_k=40), SamplingParams(top_p=0.9), SamplingParams(top_k=40, top_p=0.9)]
    table = findings.deciding_stages(torch.zeros(100), dict(zip("kpb", settings, strict=True)))
    words = " ".join(read_lesson("one_answer")["Q4"].text.split())
    said = re.search(
        r"of (\d+) equal tokens k = 40 alone leaves (\d+), p = 0.9 alone leaves (\d+), .* leave (\d+)\.", words
    )
    assert [100, *table.num_kept] == list(map(int, said.groups()))


def test_q5_logits_3_2_1_keep_one_token_or_two():
    table = findings.orders(torch.tensor([3.0, 2.0, 1.0]), SamplingParams(temperature=0.5, top_p=0.8))
    assert dict(zip(table.rule, table.num_kept, strict=True)) == {
        "transformers": 1,
        "minimind": 1,
        "vllm": 1,
        "llama.cpp": 2,
    }
    assert table.probs.iloc[3] == pytest.approx([0.8808, 0.1192, 0], abs=5e-5)


def test_q6_top_p_counts_probability_not_tokens():
    trace = recorded(torch.stack([logits_of(*[0.2, *[0.8 / 99] * 99]), torch.zeros(100)]), [0, 1], [0.5, 0.5])
    table = findings.kept_per_step(trace, SamplingParams(top_p=0.1))
    assert table.num_kept.tolist() == [1, 10]  # only when all tokens are equal is a tenth of p a tenth of the tokens
    assert table.kept_mass.tolist() == pytest.approx([0.2, 0.1])
    assert table.share_of_tokens.tolist() == pytest.approx([0.01, 0.1])


def test_q7_zero_keeps_everything_and_fifty_throws_mass_away():
    table = findings.top_k_values(torch.zeros(200), [0, 1, 50, 200, 201])
    assert table.num_kept.tolist() == [200, 1, 50, 200, 200]
    assert table.lost_mass.tolist() == pytest.approx([0, 0.995, 0.75, 0, 0], abs=1e-6)


def test_q8_the_tail_grows_with_temperature_and_min_p_cuts_it():
    table = findings.tail_at_temperatures(logits_of(0.9, 0.0999, 0.0001)[None], [1.0, 2.0], min_p=0.05)
    weights = [0.9**0.5, 0.0999**0.5, 0.0001**0.5]
    assert table.tail_mass.tolist() == pytest.approx([0.0001, weights[2] / sum(weights)], rel=1e-3)
    assert table.none_in_answer.tolist() == pytest.approx(
        [0.9999**100, (1 - weights[2] / sum(weights)) ** 100], rel=1e-3
    )
    assert table.tail_mass_with_min_p.tolist() == [0, 0]


def test_q9_only_what_was_not_renormalised_misses_one():
    params = SamplingParams(temperature=0.7, top_p=0.8, repetition_penalty=1.5)
    distribution = next_token_distribution(torch.tensor([2.0, 1.5, 1.0, 0.5, -1.0]), params, [0, 4])
    table = findings.five_meanings(distribution, [0, 1, 2])
    kept = next(stage.kept_mass for stage in distribution.stages if stage.name == "top-p")
    assert table.loc["sum"].tolist() == pytest.approx([1, 1, 1, kept, 1], abs=1e-6) and kept < 0.95
    assert table["cut"].div(kept).tolist() == pytest.approx(table["renormalised"].tolist(), abs=1e-6)


def test_q10_naive_division_raises_a_negative_logit():
    """transformers#2302: dividing a negative logit made a repeated word likelier."""
    logits = torch.tensor([2.0, -2.0, 0.0])
    up = findings.penalised_word(logits, 0, 2.0, [0, 1]).set_index("rule").logit
    down = findings.penalised_word(logits, 1, 2.0, [0, 1]).set_index("rule").logit
    order = ["none", "prompt", "answer", "naive"]
    assert up[order].tolist() == [2, 1, 2, 1]
    assert down[order].tolist() == [-2, -4, -2, -1]


def test_q11_presence_asks_whether_and_frequency_how_often():
    settings = {
        "repetition": SamplingParams(repetition_penalty=2.0),
        "presence": SamplingParams(presence_penalty=1.0),
        "frequency": SamplingParams(frequency_penalty=0.5),
    }
    table = findings.penalties_by_count(5.0, [0, 1, 5], settings)
    assert table[["repetition", "presence", "frequency"]].to_numpy().tolist() == [
        [5, 5, 5],
        [2.5, 4, 4.5],
        [2.5, 4, 2.5],
    ]


# ---- the questions as the page asks them: the embedded model, the sliders of the buttons, a whole answer


@pytest.fixture(scope="module")
def asked(base) -> dict[str, Asked]:
    """What each button of the tab has to work with."""
    found = {}
    for key, setup in read_setups().items():
        assert setup["model"] == base.name
        controls, runs = DEFAULTS | ALL_OFF | setup["settings"], RunStore()
        last = at_once(record_run({"base": base}, runs, "base", setup["prompt"], controls))
        found[key] = Asked(base, runs.get(last["id"]).trace, sampling_params(controls))
    return found


def test_every_question_has_its_words_its_sliders_and_its_numbers(asked):
    words = read_lesson("one_answer")
    assert list(words) == list(asked) == list(FINDINGS) == [f"Q{number}" for number in range(3, 12)]
    for key, each in asked.items():
        assert 2 <= len(re.findall(r"[.?!](?:\s|$)", words[key].text)) <= 3, f"{key}: two sentences"
        found = FINDINGS[key](each)
        assert json.loads(json.dumps([found.facts, found.rows])) == [found.facts, found.rows], "it goes to the browser"
        assert 0 <= found.step < len(each.trace.steps)
        assert say(f"one_answer.finding.{key}.sentence", **found.facts)[-1] in ".:"
        heads, *lines = table_of(key, found)
        assert lines and all(heads) and {len(line) for line in lines} == {len(heads)}


def table_of(key: str, found: Finding) -> list[list[str]]:
    """The card's table in words: its heads, then its rows."""
    heads = [say(f"one_answer.finding.{key}.head.{name}", **found.facts) for name in found.rows[0]]
    return [heads, *(cells_of(key, row) for row in found.rows)]


def cells_of(key: str, row: dict) -> list[str]:
    return ["" if row[name] is None else say(f"one_answer.finding.{key}.cell.{name}", **row) for name in row]


def test_q3_a_temperature_that_changes_nothing_has_no_numbers():
    """One token has nearly all the probability: no temperature of the table makes the number fall on another."""
    certain = torch.tensor([[30.0, 0.0, 0.0]])
    loaded = SimpleNamespace(labels=["a", "b", "c"])
    found = FINDINGS["Q3"](Asked(loaded, recorded(certain, [0], [0.5]), SamplingParams()))
    assert table_of("Q3", found)[1:] == [[f"T = {value}", "none", "", "", ""] for value in (0.3, 0.7, 0.9, 1.1, 1.5)]


def test_q3_on_the_page_other_temperatures_diverge_though_the_seed_is_the_same(asked):
    table = findings.other_temperatures(asked["Q3"].trace, asked["Q3"].params, [0.3, 0.7, 0.9, 1.1, 1.5])
    assert table.first_difference.notna().sum() >= 3


def test_q4_on_the_page_top_p_keeps_few_where_the_model_is_sure_and_many_where_it_is_not(asked):
    found = FINDINGS["Q4"](asked["Q4"])
    unsure, sure = (
        {say(row["setting"]): row["num_kept"] for row in found.rows if row["where"]["key"].endswith(f".{name}")}
        for name in ("unsure", "sure")
    )
    assert unsure["top-k 40"] == sure["top-k 40"] == 40
    assert sure["top-p 0.9"] <= 2 and unsure["top-p 0.9"] >= 10
    sentence = say("one_answer.finding.Q4.sentence", **found.facts)
    assert sentence.startswith(f"With both on, step {found.step}, unsure: {unsure['both']} kept, top-p matters; step ")


def test_q5_on_the_page_more_tokens_stay_where_the_temperature_comes_last(asked):
    found = FINDINGS["Q5"](asked["Q5"])
    kept = {say(row["rule"]): row["kept_here"] for row in found.rows}
    assert kept["llama.cpp"] > kept["transformers"] == kept["vLLM"]
    assert table_of("Q5", found)[4][:3] == ["llama.cpp", "2", "0.881 0.119 0.000"]


def test_q6_on_the_page_top_p_of_a_tenth_usually_keeps_one_token(asked):
    table = findings.kept_per_step(asked["Q6"].trace, asked["Q6"].params)
    assert (table.num_kept == 1).mean() > 0.8
    assert table.num_kept.max() < asked["Q6"].trace.logits.shape[1] / 20, "nowhere near a tenth of the tokens"


def test_q7_on_the_page_the_hidden_fifty_throws_something_away(asked):
    losses = [findings.top_k_values(row, [50]).lost_mass[0] for row in asked["Q7"].trace.logits]
    assert 1e-4 < max(losses) < 0.5


def test_q8_on_the_page_a_warm_answer_of_a_hundred_tokens_holds_one_of_the_tail_and_min_p_prevents_it(asked):
    table = findings.tail_at_temperatures(asked["Q8"].trace.logits, [0.5, 1.8], 0.05).set_index("temperature")
    assert table.none_in_answer[0.5] > 0.9
    assert table.none_in_answer[1.8] < 0.01
    assert table.none_with_min_p[1.8] > 0.99
    logits = asked["Q8"].trace.logits
    plain, warm = torch.softmax(logits.double(), -1), torch.softmax(logits.double() / 1.8, -1)
    poor = (plain < 0.001 * plain.amax(-1, keepdim=True)) & (warm > plain)
    assert poor.sum(-1).double().mean() > 1000, "thousands of poor tokens, a little each"


def test_q9_on_the_page_one_column_of_five_does_not_sum_to_one(asked):
    sums = list(FINDINGS["Q9"](asked["Q9"]).rows[-1].values())[1:]
    assert [total == pytest.approx(1, abs=1e-4) for total in sums] == [True, True, True, False, True]


def test_q9_on_the_page_each_of_the_five_numbers_is_another(asked):
    """The step shown had a penalty that touched none of its tokens, so two of the five columns were the same."""
    rows = [list(row.values())[1:] for row in FINDINGS["Q9"](asked["Q9"]).rows[:-1]]
    for left, right in itertools.pairwise(zip(*rows, strict=True)):
        assert max(abs(one - other) for one, other in zip(left, right, strict=True)) > 0.005
    assert "`" not in say("one_answer.finding.Q9.sentence", step=0)


def test_q10_on_the_page_the_rank_tells_what_a_percentage_of_so_rare_a_word_can_not(asked):
    """Its probability was 0.001 % before and after."""
    found = FINDINGS["Q10"](asked["Q10"])
    assert "prob" not in found.rows[0]
    likely, rare = (
        [row for row in found.rows if row["word"] == word] for word in dict.fromkeys(row["word"] for row in found.rows)
    )
    for rows, naive_helps in ((likely, True), (rare, False)):
        rank = {row["rule"]["key"].rpartition(".")[2]: row["rank"] for row in rows}
        assert rank["prompt"] > rank["none"] == rank["answer"]
        assert (rank["naive"] > rank["none"]) == naive_helps and (rank["naive"] < rank["none"]) != naive_helps


def test_q10_on_the_page_the_penalty_lowers_words_of_the_prompt_and_naive_division_raises_one(asked):
    each = asked["Q10"]
    logits, prompt_ids = each.trace.logits[0], each.trace.prompt_ids
    tables = {
        word: findings.penalised_word(logits, word, each.params.repetition_penalty, prompt_ids).set_index("rule").logit
        for word in prompt_ids
    }
    assert all(table["prompt"] < table["none"] for table in tables.values())
    assert any(table["naive"] > table["none"] for table in tables.values() if table["none"] < 0)


# ---- the tables and the picture that a person takes home


def test_the_table_of_all_steps_says_what_each_stage_left(model):
    trace = Trace.record(timed(generate(model, PROMPT, SamplingParams(seed=5), None, 10)))
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
def test_a_token_that_looks_like_a_formula_stays_text_in_a_spreadsheet_and_itself_in_the_picture(model, token):
    trace = Trace.record(timed(generate(model, PROMPT, SamplingParams(seed=5), None, 4)))
    steps, candidates = (
        steps_table(trace, [token] * 61, SamplingParams()),
        candidates_table(trace, [token] * 61, SamplingParams(), 2),
    )
    assert set(steps.token) == set(candidates.token) == {token}
    assert f",'{token}," in csv_text(steps)
    assert f"'{token}" not in answer_figure(steps, candidates, 2, 61, "a prompt").to_json()


def test_tags_in_tokens_stay_text_in_the_picture(model):
    """Plotly turns <b> and links in labels into markup; a token or a prompt from a file may hold anything."""
    trace = Trace.record(timed(generate(model, PROMPT, SamplingParams(seed=5), None, 4)))
    labels = ['<a href="https://example.org">x</a>'] * 61
    params = SamplingParams()
    tables = steps_table(trace, labels, params), candidates_table(trace, labels, params, 2)
    text = answer_figure(*tables, 2, 61, "<b>prompt</b>").to_json()
    assert "<a" not in text and "\\u003ca" not in text and "<b>" not in text and "\\u003cb" not in text
