"""One loop writes one answer or thirty: the same tokens whatever the cache and the company, and an honest end."""

import dataclasses
import tracemalloc

import numpy as np
import pytest
import torch
from conftest import TINY, answer_params, tiny_model

from playground.engine.cache_kinds import KINDS, CacheFullError
from playground.engine.generation import CONTEXT_FULL, LENGTH, STOP_TOKEN, generate, timed
from playground.engine.kv_cache import KVCache
from playground.engine.model import ContextFullError
from playground.engine.params import SamplingParams
from playground.engine.sampling import NoTokenError, draw_uniforms, row_seed
from playground.engine.trace import Trace
from playground.models.rows import answer_rows, generate_rows, sample_answers

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
    runs = {kind: generate(model, prompt, GREEDY, KVCache(1, kind), 64) for kind in ("dynamic", "none")}
    fed = {kind: sum(step.num_fed for step in run) for kind, run in runs.items()}
    assert fed == {"dynamic": 246, "none": 13_728}
    assert round(fed["none"] / fed["dynamic"], 1) == 55.8


def test_a_rotary_base_cannot_change_under_stored_keys():
    """transformers#25104: keys of two rotary bases met in one cache. Here a model's base is fixed when it is made: what
    is written into its configuration afterwards changes no key."""
    own, changed = (tiny_model(dataclasses.replace(TINY)) for _ in range(2))
    object.__setattr__(changed.config, "rope_theta", 1e4)
    runs = [list(generate(model, PROMPT, SAMPLED, None, 8)) for model in (own, changed)]
    for one, other in zip(*runs, strict=True):
        assert torch.equal(one.distribution.logits, other.distribution.logits)


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


def test_a_cache_that_holds_another_text_keeps_the_common_beginning(model):
    """lmdeploy#1719, mistral.rs#126: the text in the cache was taken for the beginning of the new prompt, silently."""
    cache = KVCache(2)
    list(generate(model, [1, 2, 3, 4], SAMPLED, cache, 3))
    assert cache.position == 6
    for prompt, num_fed in (
        ([9, 8, 7, 6, 5, 10, 11, 14], 8),  # nothing in common
        ([9, 8, 7, 6, 2, 3], 2),  # four tokens
        ([9, 8, 7, 6, 2, 3], 1),  # the same again: its last token is fed for its logits
        ([9, 8], 1),
        ([9, 8, 7], 1),  # or whatever the answer to the one before began with
    ):
        steps = list(generate(model, prompt, SAMPLED, cache, 1))
        fresh = list(generate(model, prompt, SAMPLED, None, 1))
        assert steps[0].num_fed == num_fed and tokens(steps) == tokens(fresh), prompt
        assert cache.token_ids.tolist() == [prompt] and cache.position == len(prompt)


def test_a_conversation_that_goes_on_feeds_only_what_is_new(model):
    cache = KVCache(2)
    first = list(generate(model, PROMPT, SAMPLED, cache, 5))
    longer = [*PROMPT, *tokens(first), 7, 1]
    second = list(generate(model, longer, SAMPLED, cache, 4))
    assert second[0].num_fed == 3  # the last token of the first answer, never fed before, and the two new ones
    assert tokens(second) == tokens(generate(model, longer, SAMPLED, None, 4))


def test_a_cache_that_was_filled_behind_its_back_is_refused(model):
    cache = KVCache(2)
    for layer in range(2):
        cache.update(*torch.zeros(2, 1, 2, 5, 16), layer)
    with pytest.raises(ValueError, match="holds 5 tokens but knows only 0 of them"):
        next(generate(model, PROMPT, GREEDY, cache))
    batch = KVCache(2)
    model(torch.tensor([[1, 2], [3, 4]]), batch)
    with pytest.raises(ValueError, match="holds 2 texts"):
        next(generate(model, PROMPT, GREEDY, batch))


def test_two_answers_that_take_turns_on_one_cache_do_not_meet(model):
    cache = KVCache(2)
    right = [tokens(generate(model, prompt, SAMPLED, None, 6)) for prompt in (PROMPT, [9, 8, 7])]
    first, second = (generate(model, prompt, SAMPLED, cache, 6) for prompt in (PROMPT, [9, 8, 7]))
    steps = [(next(first), next(second)) for _ in range(6)]
    assert [tokens(one) for one in zip(*steps, strict=True)] == right
    assert [step.num_fed for step, _ in steps] == [5, 6, 7, 8, 9, 10]  # sharing costs all that the other dropped


OTHERS = [tiny_model().to(torch.bfloat16), tiny_model(dataclasses.replace(TINY, num_layers=3))]


@pytest.mark.parametrize("other", OTHERS, ids=["bfloat16", "three layers"])
def test_a_model_that_is_refused_leaves_the_cache_as_it_was(model, other):
    cache = KVCache(2)
    model(torch.tensor([PROMPT]), cache)
    with pytest.raises(ValueError, match=r"bfloat16|the cache has 2 layers, the model 3"):
        next(generate(other, [*PROMPT[:2], 7], GREEDY, cache))
    assert cache.position == 5 and cache.token_ids.tolist() == [PROMPT]
    longer = [*PROMPT, 1]
    assert tokens(generate(model, longer, GREEDY, cache, 4)) == tokens(generate(model, longer, GREEDY, None, 4))


# ---- one's own function between the model and the stages


def test_a_function_of_ones_own_changes_the_logits(model):
    """As logits_processors elsewhere: the text so far and its logits in, logits out."""
    seen = []

    def no_repeats(token_ids: list[int], logits: torch.Tensor) -> torch.Tensor:
        seen.append(list(token_ids))
        logits[token_ids] = -torch.inf
        return logits

    steps = list(generate(model, PROMPT, GREEDY, None, 8, logits_processors=[no_repeats]))
    text = [*PROMPT, *tokens(steps)]
    assert len(set(text)) == len(text) and seen == [text[:length] for length in range(5, 13)]
    trace = Trace(steps)
    assert trace.reread(GREEDY).first_difference is None
    assert trace.reread(SAMPLED).num_candidates[-1] <= TINY.vocab_size - len(set(text[:-1]))
    plus = lambda token_ids, logits: logits + torch.arange(61.0)  # noqa: E731
    first, second = (next(generate(model, PROMPT, GREEDY, None, 1, logits_processors=[plus] * n)) for n in (1, 2))
    own = next(generate(model, PROMPT, GREEDY, None, 1)).distribution.logits
    for step, times in ((first, 1), (second, 2)):
        torch.testing.assert_close(step.distribution.logits, own + times * torch.arange(61.0))


@pytest.mark.parametrize(("gives", "got"), [(lambda logits: logits[:3], r"\(3,\)"), (lambda logits: None, "None")])
def test_a_function_that_gives_no_row_of_logits_is_refused(model, gives, got):
    with pytest.raises(ValueError, match=rf"must give \(61,\) logits, got {got}"):
        next(generate(model, PROMPT, GREEDY, None, 1, logits_processors=[lambda ids, logits: gives(logits)]))


def test_many_answers_take_functions_of_ones_own_too(model):
    """The function is given the text of each branch; a row is still the run alone."""

    def no_repeats(token_ids: list[int], logits: torch.Tensor) -> torch.Tensor:
        logits[token_ids] = -torch.inf
        return logits

    answers = sample_answers(model, PROMPT, SAMPLED, 5, 8, logits_processors=[no_repeats])
    for answer, params in zip(answers, answer_params(SAMPLED, 5), strict=True):
        assert answer == tokens(generate(model, PROMPT, params, None, 8, logits_processors=[no_repeats]))
        assert len({*PROMPT, *answer}) == len(PROMPT) + 8


# ---- arguments


@pytest.mark.parametrize("make", [np.array, torch.tensor, tuple], ids=["numpy", "torch", "tuple"])
def test_vectors_and_numbers_of_other_libraries_are_taken(model, make):
    right = tokens(generate(model, PROMPT, SAMPLED, None, 6, [33], [4, 5]))
    ours = generate(model, make(PROMPT), SAMPLED, None, np.int64(6), make([33]), make([4, 5]))
    assert tokens(ours) == right
    assert len(sample_answers(model, make(PROMPT), SAMPLED, np.int32(3), torch.tensor(2))) == 3


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (np.ones((2, 2), dtype=int), "prompt_ids must be a whole number"),
        ([1.5], "prompt_ids must be a whole number"),
        ("words", "prompt_ids must be a list of token ids, got 'words'"),
        (7, "prompt_ids must be a list of token ids"),
    ],
)
def test_what_is_no_vector_of_ids_is_refused(model, prompt, message):
    with pytest.raises(ValueError, match=message):
        next(generate(model, prompt))


@pytest.mark.parametrize("asked", [50_000_000, 10**12])
def test_nothing_is_sized_by_what_was_asked(model, asked):
    """vllm#54175: random numbers for ten to the twelve tokens were made first, in a context of 128."""
    tracemalloc.start()
    assert len(list(generate(model, [1, 2, 3], SAMPLED, None, asked))) == 126
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6
    assert len(sample_answers(model, [1] * 120, SAMPLED, 2, asked)[0]) == 9


# ---- steps


def test_a_step_tells_what_happened(model):
    cache = KVCache(2)
    for index, step in enumerate(generate(model, PROMPT, SAMPLED, cache, 6)):
        assert step.index == index
        assert step.uniform == draw_uniforms(SAMPLED.seed, 6)[index]
        assert step.cache_bytes == cache.bytes_per_layer() == [(5 + index) * 2 * 2 * 16 * 4] * 2
        assert step.distribution.batch.choose([step.uniform])[0] == [step.token_id]
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


def test_a_trace_keeps_columns_and_nothing_that_was_worked_out(model):
    """64 steps stay in memory: what can be worked out again (an order, 64-bit probabilities) must not."""
    steps = list(generate(model, PROMPT, PENALISED, None, 4))
    assert all(step.distribution.probs[step.token_id] > 0 for step in steps)  # worked out, and held by the steps alone
    tensors = [value for value in vars(Trace(steps)).values() if torch.is_tensor(value)]
    assert [tensor.nbytes for tensor in tensors] == [4 * TINY.vocab_size * 4]


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


def test_time_is_measured_around_each_step(monkeypatch):
    """On a clock of the test's own: what an item takes is what passes between asking for it and getting it."""
    clock = [10.0]
    monkeypatch.setattr("playground.engine.generation.time.perf_counter", lambda: clock[0])

    def slow_then_quick():
        clock[0] += 5
        yield "slow"
        clock[0] += 0.25
        yield "quick"

    pairs = []
    for pair in timed(slow_then_quick()):
        pairs.append(pair)
        clock[0] += 100  # what the listener does is not counted
    assert pairs == [("slow", 5), ("quick", 0.25)]


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
        ({"prompt_ids": [1, 61]}, "prompt_ids must be a whole number from 0 to 60, got 61"),
        ({"prompt_ids": [-1, 3]}, "prompt_ids must be a whole number from 0 to 60, got -1"),
        ({"rows": []}, "at least one answer"),
        ({"max_new_tokens": 0}, "max_new_tokens must be a whole number from 1 up, got 0"),
    ],
)
def test_a_request_that_cannot_be_is_refused(model, arguments, message):
    request = {"prompt_ids": PROMPT, "rows": [(GREEDY, 0)], "max_new_tokens": 4} | arguments
    with pytest.raises(ValueError, match=message):
        next(generate_rows(model, **request))


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
        list(generate_rows(Breaks(model, after=2, spoil=float("nan")), PROMPT, answer_rows(SAMPLED, 5), None, 8))


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
    for step in generate_rows(model, PROMPT, answer_rows(params, 30), new_cache(kind), 12, stop_ids):
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
    batch = generate_rows(model, PROMPT, [(GREEDY, 0)] * 8, None, 16, share=False)
    for step, rows in zip(by_itself, batch, strict=True):
        assert rows.token_ids == [step.token_id] * 8
        assert rows.logits.shape[0] == (8 if step.index else 1)
        assert (rows.logits - step.distribution.logits).abs().max() < 1e-5


def test_rows_share_one_prefill(model):
    steps = list(generate_rows(model, PROMPT, answer_rows(SAMPLED, 30), None, 4, share=False))
    assert [step.num_fed for step in steps] == [len(PROMPT), 30, 30, 30]


def test_answers_that_begin_alike_are_fed_once(model):
    """Each pass feeds one row for each different beginning; told apart or not, the answers are the same."""
    rows = answer_rows(dataclasses.replace(SAMPLED, temperature=0.3), 30)
    shared, apart = (list(generate_rows(model, PROMPT, rows, None, 6, share=share)) for share in (True, False))
    texts = [[] for _ in rows]
    for step, other in zip(shared, apart, strict=True):
        assert step.num_fed == (len({tuple(text) for text in texts}) if step.index else len(PROMPT))
        for row, token_id in zip(step.rows, step.token_ids, strict=True):
            texts[row].append(token_id)
        assert dict(zip(step.rows, step.token_ids, strict=True)) == dict(zip(other.rows, other.token_ids, strict=True))
    assert 1 < shared[1].num_fed < 30


def test_rows_may_each_have_settings_of_their_own(model):
    row_params = [GREEDY, SAMPLED, PENALISED, SamplingParams(temperature=2, min_p=0.1, seed=9), GREEDY]
    row_params += [dataclasses.replace(SAMPLED, rule=rule, seed=8) for rule in ("llama.cpp", "minimind")]
    answers = [[] for _ in row_params]
    for step in generate_rows(model, PROMPT, [(params, params.seed) for params in row_params], None, 10):
        for place, (row, token_id) in enumerate(zip(step.rows, step.token_ids, strict=True)):
            answers[row].append(token_id)
            distribution = step.distribution(place)
            assert distribution.batch.params == row_params[row]
            assert step.probs[place] == pytest.approx(float(distribution.probs[token_id]), abs=1e-12)
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
    rest = list(generate(model, PROMPT, params, cache, 20, answer_ids=tokens(whole)[:7]))
    assert tokens(rest) == tokens(whole)[7:]
    assert [step.index for step in rest] == list(range(7, 20))
    assert [step.uniform for step in rest] == [step.uniform for step in whole][7:]
    assert [step.num_fed for step in rest] == [1] * 13
    assert rest[-1].stop_reason == LENGTH


def test_a_beginning_as_long_as_the_answer_is_refused(model):
    with pytest.raises(ValueError, match="above the 4 tokens given, got 4"):
        next(generate(model, PROMPT, GREEDY, None, 4, answer_ids=[1, 2, 3, 4]))
