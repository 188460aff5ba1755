"""What the words beside "Thirty answers" claim, computed on the embedded model with the presets of their buttons."""

import pytest

from playground.engine.params import SamplingParams
from playground.models.text import LoadedModel
from playground.page.controls import ALL_OFF, DEFAULTS
from playground.page.lesson import read_lesson
from playground.tabs.thirty_answers.among_others import greedy_among_others
from playground.tabs.thirty_answers.answers import AnswerRequest, AnswerSet, sample_answer_sets
from playground.tabs.thirty_answers.frequency import predicted_vs_observed
from playground.tabs.thirty_answers.tab import FACT, OPEN


def thirty(chat: LoadedModel, prompt: str, *temperatures: float) -> list[AnswerSet]:
    """As the page samples them after a preset's button."""
    settings = [SamplingParams(**ALL_OFF | {"temperature": value}, seed=DEFAULTS["seed"]) for value in temperatures]
    return sample_answer_sets(chat, AnswerRequest(prompt, tuple(settings)))


def test_q1_one_answer_at_0_a_few_at_a_half_many_at_1_nearly_all_at_2(chat):
    counts = [sampled.num_distinct for sampled in thirty(chat, OPEN, 0, 0.5, 1, 2)]
    assert counts[0] == 1
    assert 2 <= counts[1] <= 9
    assert counts[2] > 10
    assert counts[3] >= 27
    assert counts == sorted(counts)


def test_q2_logits_move_by_about_a_hundred_thousandth_among_others(chat):
    results = greedy_among_others(chat, OPEN)
    assert [result.rows for result in results] == [2, 4, 8, 30]
    assert 1e-7 < max(result.largest_difference for result in results) < 1e-4
    for result in results:
        assert result.first_flip is None or result.can_flip


def test_q13_a_fact_stays_up_to_temperature_1_and_an_open_question_spreads(chat):
    at_half, at_1, at_2 = thirty(chat, FACT, 0.5, 1, 2)
    assert at_half.num_distinct <= 2 and at_1.num_distinct <= 4
    assert at_1.counts[0] >= 26
    assert at_2.num_distinct > 10
    assert thirty(chat, OPEN, 1)[0].num_distinct > 10
    # "what the model itself finds unlikely": a typical answer at 2 has a small fraction of the greedy one's probability
    greedy = thirty(chat, OPEN, 0)[0].answers[0].model_probability
    at_2 = sorted(answer.model_probability for answer in thirty(chat, OPEN, 2)[0].answers)
    assert at_2[15] < greedy / 1000


@pytest.mark.parametrize("prompt", [OPEN, FACT])
def test_q13_each_answer_comes_as_often_as_predicted(chat, prompt):
    request = AnswerRequest(prompt, (SamplingParams(**ALL_OFF, seed=DEFAULTS["seed"]),), 3000)
    agreement = predicted_vs_observed(sample_answer_sets(chat, request)[0])
    assert agreement.p_value > 0.001
    assert agreement.num_inside >= len(agreement.frame) - 2


def test_every_picture_of_the_tab_finds_its_words():
    lessons = read_lesson("thirty_answers")
    assert {"Q1", "Q2", "Q13", "tree", "batch", "agreement", "among"} <= lessons.keys()
    assert all(lessons[key].button for key in ("Q1", "Q2", "Q13"))
