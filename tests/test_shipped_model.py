"""The shipped weights against the bars of the model card, on stories, wordings and names that were not trained on."""

import json
from pathlib import Path

import pytest
import torch

from playground import KVCache, SamplingParams
from training import evaluate
from training.evaluate import nucleus_sizes, repeats
from training.measuring import answer, answers, base, chat, greedy
from training.settings import MODEL_FOLDER

EXAMPLES = json.loads((MODEL_FOLDER / "examples.json").read_text())


def check(bars: list[evaluate.Bar]) -> None:
    missed = [f"{bar.what}: {bar.measured}, goal {bar.goal}" for bar in bars if not bar.holds]
    assert not missed, missed


def test_the_files_are_small():
    sizes = {path.name: path.stat().st_size for path in Path(MODEL_FOLDER).iterdir()}
    assert sum(sizes.values()) <= 8_000_000, sizes


def test_the_courses_numbers_come_out():
    """4 layers, 2 KV heads, head size 32, float32: 100 tokens are 204,800 bytes."""
    cache = KVCache(4)
    base().model(torch.tensor([list(range(3, 103))]), cache)
    assert cache.num_bytes == 204_800


def test_any_text_round_trips():
    for text in ("日本の首都は?", "수도는 어디입니까", "Столица Франции", "🙂👍🏽", " two  spaces\n", "naïve café"):
        assert base().tokenizer.decode(base().tokenizer.encode(text)) == text


def test_famous_names_and_the_roles_are_one_token():
    for name in (" France", " Paris", " Japan", " Tokyo", " Germany", " Berlin", "user", "assistant"):
        assert len(base().tokenizer.encode(name)) == 1, name


def test_bar_1_fresh_stories_and_facts_are_no_surprise():
    check(evaluate.fresh_losses())


def test_bar_2_the_base_model_writes_words():
    check(evaluate.dictionary_words())


def test_bar_3_facts_are_known_however_they_are_asked():
    check(evaluate.facts_known())


def test_bar_4_sure_facts_are_sure():
    check(evaluate.sure_facts())


def test_bar_5_temperature_is_visible():
    check(evaluate.temperature_is_visible())


def test_open_answers_keep_to_their_words_at_temperature_1():
    check(evaluate.stays_in_its_language())


def test_bar_6_the_nucleus_breathes():
    check(evaluate.nucleus_breathes())


def test_bar_7_it_says_when_it_does_not_know():
    check(evaluate.knows_its_limits())


def test_bar_7_answers_end():
    check(evaluate.answers_end())


def test_bar_8_greedy_loops_and_sampling_does_not():
    check(evaluate.greedy_loops())


def test_a_long_prompt_is_understood():
    """The page's experiments use prompts of several hundred tokens."""
    story = "Once there was a boy named Oscar. " + "He went to the park and saw a big tree. " * 24
    prompt = story + "Who is the story about?"
    assert 250 <= len(chat().prompt_ids(prompt)) <= 400
    assert greedy(prompt) == "The story is about Oscar."


def greedy_base(prompt: str) -> str:
    return answer(base(), prompt, SamplingParams(temperature=0.0), 60)[0]


def sampled_base(prompt: str, seed: int) -> str:
    return answer(base(), prompt, SamplingParams(seed=seed), 30)[0]


def first_nucleus(prompt: str) -> int:
    return nucleus_sizes(base(), prompt)[0]


def steps_with_a_hundred_candidates(prompt: str) -> int:
    return sum(size >= 100 for size in nucleus_sizes(base(), prompt)[:30])


SHOWN_BY_BASE = {
    "sure fact": lambda prompt: first_nucleus(prompt) == 1 or "Rome" in greedy_base(prompt),
    "unknown thing": lambda prompt: first_nucleus(prompt) <= 3,
    "open story": lambda prompt: len({sampled_base(prompt, seed) for seed in range(8)}) >= 5,
    "open word": lambda prompt: first_nucleus(prompt) >= 8,
    "greedy loop": lambda prompt: repeats(greedy_base(prompt)),
    "list that repeats": lambda prompt: repeats(greedy_base(prompt)),
    "real prose": lambda prompt: steps_with_a_hundred_candidates(prompt) >= 5 and repeats(greedy_base(prompt)),
}
SHOWN_BY_CHAT = {
    "sure fact": lambda prompt: len(set(answers(prompt, 0.85))) == 1,
    "unsure fact": lambda prompt: len(set(answers(prompt, 1.0))) > 1,
    "advice": lambda prompt: evaluate.distinct_answers(prompt)[-1] > 20,
    "open story": lambda prompt: evaluate.distinct_answers(prompt)[4] > 15,
    "sentence": lambda prompt: evaluate.distinct_answers(prompt)[4] > 15,
    "list": lambda prompt: greedy(prompt).count("a") >= 3 and evaluate.distinct_answers(prompt)[4] > 10,
    "name": lambda prompt: max(nucleus_sizes(chat(), prompt)) > 10,
    "unknown thing": lambda prompt: greedy(prompt) == "I do not know.",
    "invented answer": lambda prompt: greedy(prompt).startswith("The opposite of seven is"),
    "memory": lambda prompt: greedy(prompt) == "Your name is Zoltan.",
}


@pytest.mark.parametrize("example", EXAMPLES["minimind-base"], ids=lambda example: example["prompt"])
def test_a_base_example_shows_what_it_says(example):
    assert SHOWN_BY_BASE[example["kind"]](example["prompt"])


@pytest.mark.parametrize("example", EXAMPLES["minimind-chat"], ids=lambda example: example["prompt"])
def test_a_chat_example_shows_what_it_says(example):
    assert SHOWN_BY_CHAT[example["kind"]](example["prompt"])


def test_there_are_ten_examples_for_each_version():
    assert [len(EXAMPLES[name]) for name in ("minimind-base", "minimind-chat")] == [10, 10]
