"""Side by side every answer is what it is alone, whoever else is being written, comes or leaves."""

import random
from dataclasses import replace

import pytest
import torch
from conftest import TINY

from playground.engine import batching, generation
from playground.engine.batching import Batch
from playground.engine.generation import Step, generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import ContextFullError, Transformer
from playground.engine.params import SamplingParams
from playground.engine.sampling import NoTokenError

ROUNDING = 1e-4
SETTINGS = (
    SamplingParams(),
    SamplingParams(temperature=0),
    SamplingParams(temperature=1.5, top_k=7),
    SamplingParams(top_p=0.8, min_p=0.02),
    SamplingParams(repetition_penalty=1.3, presence_penalty=0.5),
    SamplingParams(temperature=0.7, frequency_penalty=0.4, penalty_counts_prompt=False, rule="vllm"),
)


def question(chance: random.Random) -> tuple:
    prompt = [chance.randrange(TINY.vocab_size) for _ in range(chance.randint(1, 40))]
    params = replace(chance.choice(SETTINGS), seed=chance.randrange(10**9))
    stop_ids = chance.sample(range(TINY.vocab_size), chance.randint(0, 2))
    return prompt, params, chance.randint(1, 30), stop_ids


def alone(model: Transformer, prompt: list, params: SamplingParams, most: int, stop_ids: list) -> list[Step]:
    return list(generate(model, prompt, params, None, most, stop_ids))


def assert_same(written: list[Step], expected: list[Step]) -> None:
    for step, wanted in zip(written, expected, strict=True):
        for name in ("index", "token_id", "uniform", "num_fed", "cache_bytes", "stop_reason", "request"):
            assert getattr(step, name) == getattr(wanted, name), name
        torch.testing.assert_close(step.distribution.logits, wanted.distribution.logits, atol=ROUNDING, rtol=0)


def test_an_answer_that_begins_with_a_kept_cache_is_what_a_new_start_writes(model: Transformer):
    """Among others; the cache that it was copied from stays as it was."""
    greedy, batch, kept = SamplingParams(temperature=0), Batch(model), KVCache.of(model)
    first = [step.token_id for step, _ in batch.generate([5, 9, 2], greedy, kept, 6)]
    talk, copied, others = [5, 9, 2, *first, 7, 30], kept.clone(), [[4], [8, 8, 1]]
    writing = [batch.generate(prompt, greedy, KVCache.of(model), 20) for prompt in others]
    for other in writing:
        next(other)
    held, on = kept.position, batch.generate(talk, replace(greedy, temperature=1.0, seed=3), copied, 12)
    steps = []
    for step, _ in on:
        steps.append(step)
        for other in writing:
            next(other)
    expected = alone(model, talk, replace(greedy, temperature=1.0, seed=3), 12, [])
    assert [step.token_id for step in steps] == [step.token_id for step in expected]
    assert [step.cache_bytes for step in steps] == [step.cache_bytes for step in expected]
    assert [step.num_fed for step in steps] == [len(talk) - held, *[1] * 11] and held == 3 + 5
    assert kept.position == held and copied.position == len(talk) + 11


@pytest.mark.parametrize("seed", range(40))
def test_every_answer_of_a_mixture_is_what_it_is_alone(model: Transformer, seed: int):
    """Visitors come, write a step in any order, stop and leave, as chance has it."""
    chance, batch = random.Random(seed), Batch(model)
    asked = [question(chance) for _ in range(chance.randint(2, 12))]
    waiting, under_way, done = list(enumerate(asked)), {}, {}
    stopped = set()
    while waiting or under_way:
        if waiting and (not under_way or chance.random() < 0.3):
            number, (prompt, params, most, stop_ids) = waiting.pop()
            cache = KVCache.of(model)
            under_way[number] = batch.generate(prompt, params, cache, most, stop_ids), [], cache
        number = chance.choice(list(under_way))
        writing, steps, cache = under_way[number]
        if chance.random() < 0.01:
            writing.close()
            stopped.add(number)
            done[number] = steps, cache
            del under_way[number]
            continue
        try:
            step, seconds = next(writing)
            assert seconds > 0
            steps.append(step)
        except StopIteration:
            done[number] = steps, cache
            del under_way[number]
    assert len(batch) == 0
    for number, (prompt, params, most, stop_ids) in enumerate(asked):
        steps, cache = done[number]
        expected = alone(model, prompt, params, most, stop_ids)
        assert_same(steps, expected[: len(steps)] if number in stopped else expected)
        text = [*prompt, *(step.token_id for step in expected)]
        assert cache.token_ids.flatten().tolist() == text[: cache.position], "the cache holds the text"
        if steps and number not in stopped:
            assert cache.position == len(text) - 1
            kept = model(torch.tensor([text[-1:]]), cache)[0, -1]
            torch.testing.assert_close(kept, model(torch.tensor([text]), KVCache.of(model))[0, -1], atol=1e-4, rtol=0)


def test_who_takes_turns_shares_every_pass(model: Transformer):
    """Four visitors, ten tokens each: four prefills and nine passes together, not forty."""
    batch = Batch(counting(model, passes := []))
    writers = [batch.generate([3, number], SamplingParams(seed=number), KVCache.of(model), 10) for number in range(4)]
    for _ in range(10):
        for writing in writers:
            next(writing)
    assert passes == [(1, 2)] * 4 + [(4, 1)] * 9
    assert batch.num_passes == len(passes)


def counting(model: Transformer, passes: list) -> Transformer:
    """The same model, which writes down the shape of every pass."""

    class Counting(Transformer):
        def forward(self, token_ids, cache, last_only=False):
            passes.append(tuple(token_ids.shape))
            return super().forward(token_ids, cache, last_only)

    twin = Counting(model.config)
    twin.load_state_dict(model.state_dict())
    return twin.requires_grad_(False)


def test_a_long_prompt_is_fed_in_pieces_that_are_reported_as_one(model: Transformer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(generation, "PIECE_TOKENS", 16)
    monkeypatch.setattr(batching, "PIECE_TOKENS", 16)
    prompt, params = [number % 61 for number in range(100)], SamplingParams(seed=1)
    batch = Batch(counting(model, passes := []))
    came = list(batch.generate(prompt, params, KVCache.of(model), 8))
    assert [step is None for step, _ in came[:7]] == [True] * 6 + [False]
    assert passes[:7] == [(1, 16)] * 6 + [(1, 4)] and batch.num_passes == len(passes)
    assert_same([step for step, _ in came if step], alone(model, prompt, params, 8, []))


def test_a_long_text_goes_alone(model: Transformer, monkeypatch: pytest.MonkeyPatch):
    """All rows are read as far as the longest."""
    monkeypatch.setattr(batching, "MOST_TOKENS", 20)
    batch = Batch(counting(model, passes := []))
    writers = [batch.generate([1] * length, SamplingParams(seed=9), KVCache.of(model), 8) for length in (30, 5, 6)]
    for _ in range(8):
        for writing in writers:
            next(writing)
    assert passes.count((2, 1)) == 7 and passes.count((1, 1)) == 7


def test_what_is_refused_leaves_nothing_behind(model: Transformer):
    batch, params = Batch(model), SamplingParams()
    with pytest.raises(ContextFullError):
        next(batch.generate([1] * 200, params, KVCache.of(model), 4))
    with pytest.raises(ValueError):
        next(batch.generate([], params, KVCache.of(model), 4))
    assert len(batch) == 0


def test_who_gets_no_logits_is_told_alone(model: Transformer):
    """NaN in one visitor's cache reaches nobody else, also not who comes into the same row later."""
    batch, expected = Batch(model), alone(model, [5, 6], SamplingParams(seed=2), 12, [])
    caches = [KVCache.of(model) for _ in range(3)]
    good, bad = (batch.generate([5, 6], SamplingParams(seed=2), cache, 12) for cache in caches[:2])
    written = [next(good)[0].token_id]
    next(bad)
    caches[1].change_buffers(lambda buffer: torch.full_like(buffer, torch.nan))
    written.append(next(good)[0].token_id)
    with pytest.raises(NoTokenError, match="step 1"):
        next(bad)
    later = batch.generate([5, 6], SamplingParams(seed=2), caches[2], 12)
    both = [[written, good], [[], later]]
    for _ in range(12):
        for tokens, writing in both:
            tokens += [step.token_id for step, _ in [next(writing, (None, 0))] if step]
    assert written == both[1][0] == [step.token_id for step in expected]
