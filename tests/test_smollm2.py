"""A real model of 135 million weights. Opt-in: SMOLLM2=1 fetches it once (93 MB) and runs these."""

import os

import pytest
import torch

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.models.loading import load_model
from playground.models.text import LoadedModel
from playground.page.bar import load_examples

pytestmark = pytest.mark.skipif(not os.environ.get("SMOLLM2"), reason="SMOLLM2=1 runs it: it fetches 93 MB")
QUESTION, GREEDY = "What is the capital of France?", SamplingParams(temperature=0)


@pytest.fixture(scope="module")
def smollm2() -> LoadedModel:
    return load_model("smollm2")


def test_it_answers_a_question_of_fact(smollm2):
    trace = smollm2.generate(QUESTION, GREEDY)
    assert "Paris" in trace.text and trace.stop_reason == "stop token"


def test_with_the_cache_and_without_it_writes_the_same(smollm2):
    ids, steps = smollm2.prompt_ids(QUESTION), {}
    for kind in ("dynamic", "none"):
        cache = KVCache.of(smollm2.model, kind)
        steps[kind] = list(generate(smollm2.model, ids, GREEDY, cache, 24))
    on, off = (torch.stack([step.distribution.logits for step in steps[kind]]) for kind in ("dynamic", "none"))
    assert [step.token_id for step in steps["dynamic"]] == [step.token_id for step in steps["none"]]
    print(f"largest gap of a logit: {(on - off).abs().max():.1e}")
    torch.testing.assert_close(on, off, atol=1e-3, rtol=0)


def test_a_token_takes_as_much_of_the_cache_as_its_shape_says(smollm2):
    """30 layers, 3 key/value heads of 64 numbers, keys and values, 4 bytes."""
    cache = KVCache.of(smollm2.model)
    smollm2.model(torch.arange(100)[None], cache)
    assert cache.num_bytes == 100 * 2 * 30 * 3 * 64 * 4 == 100 * 46_080


def test_its_examples_show_what_they_say(smollm2):
    answers = {
        example["prompt"]: smollm2.generate(example["prompt"], GREEDY, max_new_tokens=40)
        for example in load_examples()["smollm2"]
    }
    assert "spacetime" in answers["What is gravity?"].text
    assert answers["Name three fruits."].text.startswith("1. ") and "\n3. " in answers["Name three fruits."].text
    sky = answers["What color is the sky?"]
    assert "blue" in sky.text and sky.stop_reason == "length"
    sea = answers["Write one sentence about the sea."]
    counts = sea.reread(SamplingParams(top_p=0.9)).num_candidates
    assert min(counts) == 1 and max(counts) > 100
    fruits = smollm2.answers("Name three fruits.", SamplingParams(top_p=0.9, seed=1), n=12, max_new_tokens=24)
    assert len({answer.text for answer in fruits}) > 10


def test_thirty_answers_are_written_together(smollm2):
    answers = smollm2.answers("Name one animal.", SamplingParams(seed=1), n=30, max_new_tokens=16)
    assert len(answers) == 30 and 5 < len({answer.text for answer in answers}) <= 30


def test_it_remembers_the_first_question_when_it_is_asked_a_second(smollm2):
    cache = KVCache.of(smollm2.model)
    first = smollm2.generate(QUESTION, GREEDY, cache=cache)
    held = cache.position
    talk = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": first.text}]
    talk.append({"role": "user", "content": "And of Italy?"})
    second = smollm2.generate(talk, GREEDY, cache=cache)
    assert second.num_fed[0] == len(smollm2.prompt_ids(talk)) - held < 20
    assert "Rome" in second.text
