"""One loop writes one answer or thirty: the same tokens whatever the cache and the company, and an honest end."""

import dataclasses
import time

import pytest
import torch
from conftest import TINY, tiny_model

from playground.engine.generation import (
    CONTEXT_FULL,
    LENGTH,
    STOP_TOKEN,
    answer_params,
    generate,
    generate_rows,
    sample_answers,
    timed,
)
from playground.engine.kv_cache import KINDS, CacheFullError, KVCache
from playground.engine.model import ContextFullError
from playground.engine.params import SamplingParams
from playground.engine.sampling import NoTokenError, draw_uniforms, row_seed

PROMPT = [5, 9, 2, 44, 60]
GREEDY = SamplingParams(temperature=0)
SAMPLED = SamplingParams(temperature=1.2, top_p=0.95, top_k=40, seed=3)
PENALISED = SamplingParams(temperature=0.9, repetition_penalty=1.4, frequency_penalty=0.2, seed=4)


def new_cache(kind: str, max_length: int = 128) -> KVCache:
    return KVCache(TINY.num_layers, kind, max_length if kind == "static" else None)


def tokens(steps) -> list[int]:
    return [step.token_id for step in steps]


class Breaks:
    """A model whose logits are spoilt from its `after`-th pass on."""

    def __init__(self, model, after: int, spoil: float) -> None:
        self.model, self.config, self.device = model, model.config, model.device
        self.passes, self.after, self.spoil = 0, after, spoil

    def __call__(self, *arguments, **named) -> torch.Tensor:
        logits = self.model(*arguments, **named)
        self.passes += 1
        return logits if self.passes <= self.after else torch.full_like(logits, self.spoil)


# ---- what a cache may change: the work, never the text


@pytest.mark.parametrize("params", [GREEDY, SAMPLED, PENALISED], ids=["greedy", "sampled", "penalised"])
def test_a_cache_changes_the_work_not_the_text(model, params):
    """transformers#25420: with the cache on, other tokens came out. The cache must not use up random numbers either."""
    runs = {kind: list(generate(model, PROMPT, params, new_cache(kind), 32)) for kind in KINDS}
    assert tokens(runs["dynamic"]) == tokens(runs["none"]) == tokens(runs["static"])
    assert [step.num_fed for step in runs["dynamic"]] == [5] + [1] * 31
    assert [step.num_fed for step in runs["none"]] == list(range(5, 37))
    for cached, uncached in zip(runs["dynamic"], runs["none"], strict=True):
        assert (cached.distribution.logits - uncached.distribution.logits).abs().max() < 1e-5
        assert cached.uniform == uncached.uniform


def test_the_course_s_numbers_of_tokens_fed():
    """183 prompt tokens and 64 new ones: 246 go through the model with a cache, 13,728 without, 55.8 times as many."""
    model = tiny_model(dataclasses.replace(TINY, max_positions=256, hidden_size=16, num_layers=1))
    prompt = [index % 61 for index in range(183)]
    fed = {
        kind: sum(step.num_fed for step in generate(model, prompt, GREEDY, KVCache(1, kind), 64)) for kind in KINDS[:2]
    }
    assert fed == {"dynamic": 246, "none": 13_728}
    assert round(fed["none"] / fed["dynamic"], 1) == 55.8


def test_a_rotary_base_cannot_change_under_stored_keys(model):
    """transformers#25104: keys of two rotary bases met in one cache. Here a model's base is fixed when it is made."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.config.rope_theta = 1e4


def test_the_cache_passed_in_is_the_one_filled(model):
    """transformers#30108: another object was filled, and the caller's stayed empty."""
    cache = KVCache(2)
    list(generate(model, PROMPT, GREEDY, cache, max_new_tokens=3))
    assert cache.position == len(PROMPT) + 2  # the last token is chosen, not yet fed


def test_after_a_reset_the_next_prompt_starts_afresh(model):
    """litgpt#1593, transformers#48809: the next prompt was answered with the one before still in the cache."""
    cache = KVCache(2)
    list(generate(model, PROMPT, SAMPLED, cache, 8))
    cache.reset()
    other = [7, 7, 1]
    again, fresh = (list(generate(model, other, SAMPLED, used, 8)) for used in (cache, KVCache(2)))
    assert tokens(again) == tokens(fresh)
    assert all(torch.equal(a.distribution.logits, b.distribution.logits) for a, b in zip(again, fresh, strict=True))


def test_a_cached_beginning_is_not_fed_again(model):
    prefix = KVCache(2)
    model(torch.tensor([PROMPT[:3]]), prefix)
    branches = [list(generate(model, PROMPT[:3] + end, SAMPLED, prefix.clone(), 6)) for end in ([44, 60], [1, 2, 3])]
    assert [branch[0].num_fed for branch in branches] == [2, 3]
    assert prefix.position == 3
    assert tokens(branches[0]) == tokens(generate(model, PROMPT, SAMPLED, None, 6))
    assert tokens(branches[1]) == tokens(generate(model, [*PROMPT[:3], 1, 2, 3], SAMPLED, None, 6))


# ---- steps


def test_a_step_tells_what_happened(model):
    cache = KVCache(2)
    for index, step in enumerate(generate(model, PROMPT, SAMPLED, cache, 6)):
        assert step.index == index
        assert step.uniform == draw_uniforms(SAMPLED.seed, 6)[index]
        assert step.cache_bytes == cache.bytes_per_layer() == [(5 + index) * 2 * 2 * 16 * 4] * 2
        assert step.distribution.batch.choose([step.uniform]) == [step.token_id]
        assert step.distribution.probs[step.token_id] > 0
        assert step.stop_reason == (LENGTH if index == 5 else None)


def test_the_steps_are_those_of_the_whole_text_fed_at_once(model):
    steps = list(generate(model, PROMPT, SAMPLED, None, 10))
    whole = model(torch.tensor([PROMPT + tokens(steps)[:-1]]), KVCache(2))[0, len(PROMPT) - 1 :]
    torch.testing.assert_close(torch.stack([step.distribution.logits for step in steps]), whole, atol=1e-5, rtol=0)


def test_what_a_run_leaves_can_be_used_like_any_other_tensor(model):
    """Steps run in inference mode, whose tensors cannot be written or learned from outside; none may leave it."""
    cache = KVCache(2)
    steps = list(generate(model, PROMPT, SAMPLED, cache, 4))
    model(torch.tensor([[7]]), cache)  # writes into the buffers
    assert cache.position == len(PROMPT) + 4
    weights = torch.ones(TINY.vocab_size, requires_grad=True)
    (steps[0].distribution.logits * weights).sum().backward()
    assert torch.equal(weights.grad, steps[0].distribution.logits)


def test_a_recorded_step_keeps_its_logits_and_their_order_alone(model):
    """64 steps stay in memory: what can be worked out again (64-bit scores and probabilities) must not."""
    for step in list(generate(model, PROMPT, SAMPLED, None, 4)):
        held = {id(value): value for value in vars(step.distribution.batch).values() if torch.is_tensor(value)}
        assert sum(tensor.nbytes for tensor in held.values()) <= TINY.vocab_size * (4 + 8) + 8  # + the nucleus size
        assert step.distribution.probs[step.token_id] > 0  # and it can be


def test_one_seed_one_text(model):
    texts = {
        seed: tokens(generate(model, PROMPT, dataclasses.replace(SAMPLED, seed=seed), None, 12)) for seed in range(8)
    }
    assert len({tuple(text) for text in texts.values()}) == 8
    assert texts[5] == tokens(generate(model, PROMPT, dataclasses.replace(SAMPLED, seed=5), None, 12))


def test_stopping_to_iterate_stops_the_model(model):
    counting = Breaks(model, after=1000, spoil=0)
    cache, steps = KVCache(2), generate(counting, PROMPT, GREEDY, None, 50)
    next(steps), next(steps)
    steps.close()
    assert counting.passes == 2
    for step in generate(model, PROMPT, GREEDY, cache, 50):
        if step.index == 2:
            break
    assert cache.position == len(PROMPT) + 2


def test_time_is_measured_around_each_step():
    def slow_then_quick():
        time.sleep(0.05)
        yield "slow"
        yield "quick"

    (first, slow), (second, quick) = timed(slow_then_quick())
    assert (first, second) == ("slow", "quick")
    assert slow >= 0.05 > quick >= 0


# ---- the end


def test_max_new_tokens_counts_the_new_ones(model):
    """toyllm#107, minimind#232: the limit was taken for prompt and answer together."""
    steps = list(generate(model, PROMPT, GREEDY, None, max_new_tokens=3))
    assert len(steps) == 3 and steps[-1].stop_reason == LENGTH


def test_a_stop_token_ends_the_answer(model):
    free = tokens(generate(model, PROMPT, SAMPLED, None, 20))
    stop_id = next(token_id for index, token_id in enumerate(free) if index > 2 and token_id not in free[:index])
    steps = list(generate(model, PROMPT, SAMPLED, None, 20, stop_ids=[stop_id]))
    assert tokens(steps) == free[: free.index(stop_id) + 1]
    assert [step.stop_reason for step in steps] == [None] * (len(steps) - 1) + [STOP_TOKEN]


def test_a_stop_token_at_the_last_place_is_called_a_stop_token(model):
    last = tokens(generate(model, PROMPT, SAMPLED, None, 4))
    assert list(generate(model, PROMPT, SAMPLED, None, 4, last[-1:]))[-1].stop_reason == STOP_TOKEN


@pytest.mark.parametrize(("length", "new"), [(120, 9), (127, 2), (128, 1)])
def test_the_context_ends_after_its_last_position(model, length, new):
    for kind in KINDS:
        steps = list(generate(model, [1] * length, SAMPLED, new_cache(kind), 64))
        assert (len(steps), steps[-1].stop_reason) == (new, CONTEXT_FULL), kind


def test_a_static_cache_ends_the_answer_when_it_is_full(model):
    cache = new_cache("static", 8)
    steps = list(generate(model, PROMPT, SAMPLED, cache, 64))
    assert (len(steps), steps[-1].stop_reason, cache.position) == (4, CONTEXT_FULL, 8)
    assert tokens(steps) == tokens(generate(model, PROMPT, SAMPLED, None, 4))


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_without_room_is_refused_before_anything_runs(model, kind):
    counting, cache = Breaks(model, after=1000, spoil=0), new_cache(kind)
    with pytest.raises(ContextFullError, match=r"prompt has 129 tokens.*room for 128: shorten it"):
        next(generate(counting, [1] * 129, GREEDY, cache))
    assert counting.passes == 0 and cache.position == 0
    with pytest.raises(ContextFullError, match=r"prompt has 5 tokens.*room for 4"):
        next(generate(counting, PROMPT, GREEDY, new_cache("static", 4)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"prompt_ids": []}, "prompt is empty"),
        ({"prompt_ids": [1, 61]}, "from 0 to 60, got 1 to 61"),
        ({"prompt_ids": [-1, 3]}, "from 0 to 60, got -1 to 3"),
        ({"row_params": []}, "at least one answer"),
        ({"max_new_tokens": 0}, "max_new_tokens must be at least 1, got 0"),
    ],
)
def test_a_request_that_cannot_be_is_refused(model, arguments, message):
    request = {"prompt_ids": PROMPT, "row_params": [GREEDY], "max_new_tokens": 4} | arguments
    with pytest.raises(ValueError, match=message):
        next(generate_rows(model, **request))


def test_a_cache_that_leaves_nothing_to_feed_is_refused(model):
    cache = KVCache(2)
    list(generate(model, PROMPT, GREEDY, cache, 4))
    with pytest.raises(ValueError, match=r"already holds 8 tokens.*reset or crop"):
        next(generate(model, PROMPT, GREEDY, cache, 4))


@pytest.mark.parametrize("params", [GREEDY, SAMPLED, PENALISED], ids=["greedy", "sampled", "penalised"])
@pytest.mark.parametrize("spoil", [float("nan"), -float("inf"), float("inf")])
def test_logits_without_a_choice_name_their_step_and_choose_no_token(model, params, spoil):
    came = []
    with pytest.raises(NoTokenError, match="step 3: no token can be chosen"):
        for step in generate(Breaks(model, after=3, spoil=spoil), PROMPT, params, None, 8):
            came.append(step.token_id)
    assert len(came) == 3


def test_one_spoilt_row_of_many_names_the_step(model):
    with pytest.raises(NoTokenError, match="step 2: "):
        list(generate_rows(Breaks(model, after=2, spoil=float("nan")), PROMPT, answer_params(SAMPLED, 5), None, 8))


# ---- thirty answers


def alone(model, params: SamplingParams, max_new_tokens: int, stop_ids=()) -> list[int]:
    return tokens(generate(model, PROMPT, params, None, max_new_tokens, stop_ids))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("params", [GREEDY, SAMPLED, PENALISED], ids=["greedy", "sampled", "penalised"])
def test_each_of_thirty_rows_is_a_run_alone(model, params, kind):
    """omlx#2172: when finished rows left, one that went on lost keys. vllm#5898: greedy text depended on the batch."""
    stop_ids = alone(model, params, 12)[3:6]
    answers = {row: [] for row in range(30)}
    ends, counts = {}, []
    for step in generate_rows(model, PROMPT, answer_params(params, 30), new_cache(kind), 12, stop_ids):
        counts.append(len(step.rows))
        for place, row in enumerate(step.rows):
            answers[row].append(step.token_ids[place])
            ends[row] = step.stop_reasons[place]
    for row, token_ids in answers.items():
        by_itself = list(generate(model, PROMPT, answer_params(params, 30)[row], None, 12, stop_ids))
        assert token_ids == tokens(by_itself), row
        assert ends[row] == by_itself[-1].stop_reason
    assert counts == sorted(counts, reverse=True)
    if params is not GREEDY:
        assert set(ends.values()) == {STOP_TOKEN, LENGTH} and counts[-1] < 30  # the test saw rows leave


def test_greedy_rows_have_the_logits_of_a_run_alone(model):
    """vllm#5898: one prompt alone and among 8. Where tokens flip, the two best lie closer than rounding."""
    by_itself = generate(model, PROMPT, GREEDY, None, 16)
    for step, rows in zip(by_itself, generate_rows(model, PROMPT, [GREEDY] * 8, None, 16), strict=True):
        assert rows.token_ids == [step.token_id] * 8
        for row in rows.distributions:
            assert (row.logits - step.distribution.logits).abs().max() < 1e-5


def test_rows_share_one_prefill(model):
    fed = [step.num_fed for step in generate_rows(model, PROMPT, answer_params(SAMPLED, 30), None, 4)]
    assert fed == [len(PROMPT), 30, 30, 30]


def test_rows_may_each_have_settings_of_their_own(model):
    row_params = [GREEDY, SAMPLED, PENALISED, SamplingParams(temperature=2, min_p=0.1, seed=9), GREEDY]
    row_params += [dataclasses.replace(SAMPLED, rule=rule, seed=8) for rule in ("llama.cpp", "minimind")]
    answers = [[] for _ in row_params]
    for step in generate_rows(model, PROMPT, row_params, None, 10):
        for row, token_id, distribution in zip(step.rows, step.token_ids, step.distributions, strict=True):
            answers[row].append(token_id)
            assert dataclasses.replace(distribution.batch.params, seed=0) == dataclasses.replace(
                row_params[row], seed=0
            )
    assert answers == [alone(model, params, 10) for params in row_params]


def test_an_answer_ends_before_its_first_stop_token(model):
    """transformers#31261: a row ran on past its end, or was filled up, so that its text had tokens it never wrote."""
    free = [alone(model, params, 12) for params in answer_params(SAMPLED, 6)]
    stop_id = free[0][1]
    answers = sample_answers(model, PROMPT, SAMPLED, 6, 12, [stop_id])
    assert answers == [text[: text.index(stop_id)] if stop_id in text else text for text in free]
    assert len(answers[0]) == 1 and max(len(answer) for answer in answers) == 12


def test_answers_are_those_of_their_seeds(model):
    answers = sample_answers(model, PROMPT, SAMPLED, n=5, max_new_tokens=6)
    for row, answer in enumerate(answers):
        assert answer == alone(model, dataclasses.replace(SAMPLED, seed=row_seed(SAMPLED.seed, row)), 6)
    assert sample_answers(model, PROMPT, SAMPLED, n=2, max_new_tokens=6) == answers[:2]


def test_a_penalty_that_leaves_the_prompt_out_counts_the_answer_alone(model):
    """transformers#36642: does the penalty count the prompt? A setting says so."""
    everything = SamplingParams(temperature=0, repetition_penalty=1e6)
    answer_only = dataclasses.replace(everything, penalty_counts_prompt=False)
    prompt = tokens(generate(model, PROMPT, GREEDY, None, 1)) + PROMPT
    for params, counted in ((everything, prompt), (answer_only, [])):
        steps = list(generate(model, prompt, params, None, 2))
        for step, seen in zip(steps, (counted, [*counted, steps[0].token_id]), strict=True):
            changed = (step.distribution.batch.penalized != step.distribution.batch.logits)[step.distribution.row]
            assert set(changed.nonzero().flatten().tolist()) == set(seen)


def test_a_full_static_cache_is_an_error_of_its_own(model):
    with pytest.raises(CacheFullError):
        model(torch.tensor([PROMPT]), KVCache(2, "static", 4))


# ---- the trained model


def test_the_embedded_model_writes_the_same_with_and_without_a_cache(chat):
    prompt = chat.prompt_ids("What is the capital of France?")
    params = SamplingParams(temperature=0.8, top_p=0.9, seed=1)
    runs = []
    for kind in ("dynamic", "none"):
        cache = KVCache(chat.model.config.num_layers, kind)
        runs.append(tokens(generate(chat.model, prompt, params, cache, 24, chat.stop_ids)))
    assert runs[0] == runs[1]


def test_thirty_answers_of_the_embedded_model_are_thirty_runs(chat):
    prompt, params = chat.prompt_ids("Tell me about the sea."), SamplingParams(seed=2)
    answers = sample_answers(chat.model, prompt, params, 30, 16, chat.stop_ids)
    for row in (0, 7, 29):
        by_itself = tokens(generate(chat.model, prompt, answer_params(params, 30)[row], None, 16, chat.stop_ids))
        assert answers[row] == [token_id for token_id in by_itself if token_id not in chat.stop_ids]
    assert len({tuple(answer) for answer in answers}) > 1


# ---- an answer that goes on from a given beginning


@pytest.mark.parametrize("params", [GREEDY, SAMPLED, PENALISED], ids=["greedy", "sampled", "penalised"])
def test_going_on_from_its_own_beginning_writes_the_same_answer(model, params):
    """The random numbers and the penalties of step 7 are those of step 7, however the first seven tokens came."""
    whole = list(generate(model, PROMPT, params, None, 20))
    cache = KVCache(TINY.num_layers)
    list(generate(model, PROMPT, params, cache, 20))
    cache.crop(len(PROMPT) + 6)
    rest = list(generate(model, PROMPT, params, cache, 20, answer_ids=tokens(whole)[:7]))
    assert tokens(rest) == tokens(whole)[7:]
    assert [step.index for step in rest] == list(range(7, 20))
    assert [step.uniform for step in rest] == [step.uniform for step in whole][7:]
    assert [step.num_fed for step in rest] == [1] * 13
    assert rest[-1].stop_reason == LENGTH


def test_a_beginning_as_long_as_the_answer_is_refused(model):
    with pytest.raises(ValueError, match="above the 4 tokens given, got 4"):
        next(generate(model, PROMPT, GREEDY, None, 4, answer_ids=[1, 2, 3, 4]))
