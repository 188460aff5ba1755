"""What the words beside "Thirty answers" claim, computed on the embedded model with the presets of their buttons."""

from dataclasses import replace

import pytest

from playground.engine.generation import STOP_TOKEN
from playground.engine.params import SamplingParams
from playground.models.text import LoadedModel
from playground.page.bar import load_examples
from playground.page.controls import ALL_OFF, DEFAULTS
from playground.page.lesson import read_lesson
from playground.tabs.thirty_answers.among_others import greedy_among_others
from playground.tabs.thirty_answers.answers import AnswerRequest, AnswerSet, sample_answer_set, sample_answer_sets
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
    assert {"Q1", "Q2", "Q13", "curve", "tree", "batch", "agreement", "among"} == lessons.keys()
    assert all(lessons[key].button for key in ("Q1", "Q2", "Q13"))


# ---- what assets/model/examples.json says of its prompts

SHOWS = {entry["prompt"]: entry["shows"] for entries in load_examples().values() for entry in entries}
NOTHING_CUT = SamplingParams(**ALL_OFF, seed=DEFAULTS["seed"])


def test_uranium_is_misspelled_twice_in_thirty_and_once_not_known(chat):
    """The example said that five of thirty are wrong."""
    prompt = "What is the symbol of uranium?"
    right, at_1 = (thirty(chat, prompt, temperature)[0] for temperature in (0, 1))
    assert [group.text for group in right.distinct] == ["The symbol of uranium is U."]
    counts = {group.text: len(group.rows) for group in at_1.distinct}
    unknown = counts.pop("I do not know.")
    wrong = sum(count for text, count in counts.items() if text != "The symbol of uranium is U.")
    assert (wrong, unknown) == (2, 1)
    assert "two of thirty answers misspell the name and one says “I do not know”" in SHOWS[prompt]


def candidates(loaded: LoadedModel, prompt: str) -> list[int]:
    """At each step of the greedy answer, how many tokens top-p 0.9 leaves."""
    trace = loaded.generate(prompt, replace(NOTHING_CUT, temperature=0), max_new_tokens=24)
    return trace.reread(replace(NOTHING_CUT, top_p=0.9)).num_candidates


def test_what_the_examples_say_of_open_and_certain_steps(base, chat):
    story = candidates(base, "Once upon a time")
    assert max(story) > 15 and story.count(1) == len(story) / 2 and "half of the tokens" in SHOWS["Once upon a time"]
    assert candidates(base, "The little dog")[0] > 1
    assert candidates(base, "She was very")[0] == pytest.approx(20, abs=3)
    assert candidates(base, "My favorite color is")[0] == 10 and "ten colors" in SHOWS["My favorite color is"]
    assert max(candidates(base, 'Emma: "I am')) > 100
    for prompt, opened in (
        ("Tell me a story about a dragon.", 2),
        ("Write a sentence about a dog.", 3),
        ("Name three animals.", 3),
        ("Give me a name for a dog.", 1),
    ):
        assert sum(count > 2 for count in candidates(chat, prompt)) - (prompt.startswith("Give")) == opened, prompt


def test_what_the_examples_say_of_thirty_answers(base, chat):
    assert [one.num_distinct for one in thirty(chat, OPEN, 0, 1.3)] == [1, 30] and "more than 20" in SHOWS[OPEN]
    assert [one.num_distinct for one in thirty(chat, FACT, 0, 0.5, 1)] == [1, 1, 1]
    assert all(text.startswith(" Paris") for text in texts(base, "The capital of France is", 0.9))
    assert not any("know" in text for text in texts(base, "The capital of Narnia is", 1))
    asks = [text for text in texts(base, "Question: What is the capital of Italy? Answer:", 1) if "Question" in text]
    assert len(asks) > 15
    assert texts(base, "We went to the zoo, and we saw", 0)[0].count("turtle") > 5
    zoo = sample_answer_set(base, "We went to the zoo, and we saw", replace(NOTHING_CUT, temperature=0.7), 30, 64)
    assert zoo.num_distinct > 25 and sum(answer.stop_reason == STOP_TOKEN for answer in zoo.answers) > 20
    assert texts(base, "In the box there was", 0)[0].count("puppet") > 5
    penalty = replace(NOTHING_CUT, temperature=0, repetition_penalty=1.3)
    assert base.generate("In the box there was", penalty, max_new_tokens=24).text.count("puppet") == 1
    assert set(texts(chat, "What is the capital of Wakanda?", 0)) == {"I do not know."}
    assert set(texts(chat, "My name is Zoltan. What is my name?", 0)) == {"Your name is Zoltan."}


def texts(loaded: LoadedModel, prompt: str, temperature: float) -> list[str]:
    return [answer.text for answer in thirty(loaded, prompt, temperature)[0].answers]
