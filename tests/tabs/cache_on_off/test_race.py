"""Cache on against cache off: the same tokens, the work in closed form, and what the lesson's words claim."""

import inspect
import random
from dataclasses import replace

import pytest
import tokenizers
import torch
from conftest import TINY, tiny_model
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import playground.tabs.cache_on_off.race as race_module
import playground.tabs.cache_on_off.race_values as race_values_module
from playground.engine.cache_kinds import LayerCache
from playground.engine.generation import feed_unseen, generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import ModelConfig, Transformer
from playground.engine.params import SamplingParams
from playground.engine.work import (
    MultiplyAdds,
    fed_per_step,
    pass_multiply_adds,
    run_multiply_adds,
    times_read_again,
    tokens_fed_with_cache,
    tokens_fed_without_cache,
)
from playground.models.text import LoadedModel
from playground.models.tokenizer import Tokenizer
from playground.tabs.cache_on_off.figures import GapLine, gaps_figure, spelled_ratio, sweep_figure
from playground.tabs.cache_on_off.loop import LIT, loop_lines
from playground.tabs.cache_on_off.race import (
    OFF,
    ON,
    WARM_UP,
    RaceResult,
    SideResult,
    first_step,
    later_step,
    race,
    race_result,
)
from playground.tabs.cache_on_off.race_values import if_quick
from playground.tabs.cache_on_off.sweep import (
    STORY,
    cells,
    exact_cells,
    first_token_lengths,
    race_at_length,
    sweep_frame,
    sweep_lengths,
    text_of_length,
)
from playground.tabs.cache_on_off.work_growth import PROMPTS, work_growth

GREEDY = SamplingParams(temperature=0.0)
PROMPT = list(range(3, 15))


@pytest.fixture(scope="module")
def loaded(model) -> LoadedModel:
    return LoadedModel("tiny", model, None, False, (), 128)


@pytest.mark.parametrize("params", [GREEDY, SamplingParams(temperature=1.0, top_p=0.9, seed=7)])
def test_both_sides_write_the_same_and_feed_what_the_formulas_say(loaded, params):
    result = race_result(race(loaded, PROMPT, params, 10))
    assert result.equal and result.first_difference is None
    assert result.largest_gap < 1e-5
    assert len(result.on.token_ids) == len(result.gaps) == len(result.margins) == 10
    assert result.on.num_fed == [12] + [1] * 9
    assert result.off.num_fed == list(range(12, 22))
    assert (result.on.total_fed, result.off.total_fed) == (result.expected_fed_on, result.expected_fed_off) == (21, 165)


def test_the_courses_numbers_come_out():
    """Prompt 183 and 64 new tokens, counted in a run of the course's own architecture."""
    model = tiny_model(replace(ModelConfig(), vocab_size=61, num_layers=1))
    loaded = LoadedModel("course", model, None, False, (), 512)
    prompt_ids = [random.Random(0).randrange(61) for _ in range(183)]
    result = race_result(race(loaded, prompt_ids, GREEDY, 64, repeats=1))
    assert (result.on.total_fed, result.off.total_fed) == (246, 13_728)
    assert round(result.token_ratio, 1) == 55.8
    assert result.equal


@given(st.integers(1, 300), st.integers(1, 100))
def test_closed_forms_add_up_what_each_step_feeds(prompt_length, num_new):
    assert sum(fed_per_step(prompt_length, num_new, True)) == tokens_fed_with_cache(prompt_length, num_new)
    assert sum(fed_per_step(prompt_length, num_new, False)) == tokens_fed_without_cache(prompt_length, num_new)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize(
    "change", [{}, {"num_kv_heads": 1}, {"num_kv_heads": 4, "head_dim": 24}, {"tie_embeddings": False}]
)
def test_multiply_adds_are_what_torch_counts(cached, change):
    """torch counts two operations for a multiply-add; it sees attention as two products only in plain maths."""
    config = ModelConfig(vocab_size=61, hidden_size=48, num_layers=3, head_dim=16, intermediate_size=80)
    model = tiny_model(replace(config, **change))
    kind = "dynamic" if cached else "none"
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        list(generate(model, PROMPT, GREEDY, KVCache(3, kind), 7))
    assert counter.get_total_flops() == 2 * run_multiply_adds(model.config, 12, 7, cached).total


def test_a_pass_is_split_by_what_it_is_for(model):
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(torch.tensor([PROMPT]), KVCache(2), last_only=True)
    counted = counter.get_flop_counts()["Global"]
    work = pass_multiply_adds(model.config, 12, 12)
    assert counted[torch.ops.aten.bmm] == 2 * work.attention
    assert counted[torch.ops.aten.mm] == 2 * (work.projections + work.head)


@pytest.mark.parametrize("name", ["chat", "base"])
def test_what_doubling_the_answer_costs_after_a_short_prompt(request, name):
    """K5 says about 4 and 2 for the tokens, about 8 and 4 for attention, and less after a long prompt."""
    short, long = work_growth(request.getfixturevalue(name).model)["prompts"]
    assert (short["length"], long["length"]) == PROMPTS == (4, 183)

    def growth(prompt, side, part):
        return sum(prompt[side][part][:128]) / sum(prompt[side][part][:64])

    for part, off, on in (("tokens", 4, 2), ("projections", 4, 2), ("attention", 8, 4)):
        assert growth(short, "off", part) == pytest.approx(off, rel=0.12)
        assert growth(short, "on", part) == pytest.approx(on, rel=0.12)
        assert growth(long, "off", part) < growth(short, "off", part)
        assert growth(long, "on", part) < growth(short, "on", part)
    assert round(growth(long, "off", "tokens"), 2) == 2.30 and round(growth(long, "on", "tokens"), 2) == 1.26


def test_the_curves_are_the_work_of_a_run(loaded):
    work = work_growth(loaded.model)["prompts"][0]
    for cached, side_name in ((True, "on"), (False, "off")):
        total = run_multiply_adds(loaded.model.config, 4, 10, cached)
        assert sum(work[side_name]["multiply_adds"][:10]) == total.total
        assert sum(work[side_name]["attention"][:10]) == total.attention
    result = race_result(race(loaded, PROMPT[:4], GREEDY, 10, repeats=1))
    assert (work["on"]["tokens"][:10], work["off"]["tokens"][:10]) == (result.on.num_fed, result.off.num_fed)


def test_a_token_takes_as_much_of_the_cache_as_the_page_says_and_an_lstm_keeps_two_vectors_a_layer(loaded):
    facts, cache = work_growth(loaded.model), KVCache.of(loaded.model)
    list(generate(loaded.model, PROMPT, GREEDY, cache, 6))
    assert facts["bytes_per_token"] * cache.position == sum(cache.bytes_per_layer())
    hidden, layers = facts["hidden"], facts["layers"]
    network = torch.nn.LSTM(hidden, hidden, layers, batch_first=True)
    for length in (1, 10):
        _, state = network(torch.zeros(1, length, hidden))
        assert facts["state_bytes"] == sum(each.nbytes for each in state)


def test_the_code_on_the_page_is_the_code_that_runs():
    """Each line is one of the source's, in its order, and every line that is lit is there once."""
    lines = loop_lines()
    for part, function in (("loop", generate), ("feed", feed_unseen)):
        source = iter(line.strip() for line in inspect.getsource(function).splitlines())
        assert all(line["text"].strip() in source for line in lines if line["part"] == part)
    assert sorted(line["lit"] for line in lines if line["lit"]) == sorted(LIT)
    assert lines[0]["text"].startswith("for ") and lines[-1]["text"].startswith("return logits")


def test_quadratic_becomes_linear_and_cubic_quadratic():
    """K5: doubling a long answer to a short prompt. Nothing is exponential."""
    config = ModelConfig()

    def growth(part: str, cached: bool) -> float:
        once, twice = (getattr(run_multiply_adds(config, 1, num_new, cached), part) for num_new in (400, 800))
        return twice / once

    assert growth("projections", False) == pytest.approx(4, rel=0.01)
    assert growth("projections", True) == pytest.approx(2, rel=0.01)
    assert growth("attention", False) == pytest.approx(8, rel=0.01)
    assert growth("attention", True) == pytest.approx(4, rel=0.01)
    assert tokens_fed_without_cache(1, 800) / tokens_fed_without_cache(1, 400) == pytest.approx(4, rel=0.01)


def test_multiply_adds_add_up():
    assert MultiplyAdds(1, 2, 3) + MultiplyAdds(10, 20, 30) == MultiplyAdds(11, 22, 33)
    assert MultiplyAdds(1, 2, 3).total == 6


class SpyLayer(LayerCache):
    """Counts how often each row is handed to a query of a later pass."""

    counts: tuple[int, ...] = ()

    def update(self, keys, values):
        all_keys, all_values, positions = super().update(keys, values)
        self.counts = (*(count + 1 for count in self.counts), *[0] * (all_keys.shape[2] - len(self.counts)))
        return all_keys, all_values, positions


def test_keys_and_values_are_read_again_in_every_later_pass(model):
    """K2 and K13: prompt rows N - 1 times, new token j N - 1 - j times; the last token never enters the cache."""
    cache = KVCache(2, SpyLayer())
    list(generate(model, PROMPT, GREEDY, cache, 6))
    assert list(cache.layers[0].counts) == times_read_again(12, 6) == [5] * 12 + [4, 3, 2, 1, 0]
    assert cache.position == tokens_fed_with_cache(12, 6) == 17


def test_after_the_run_the_cache_holds_all_but_the_last_token(loaded):
    """K13, in bytes: two layers, 2 KV heads, head size 16, keys and values, float32."""
    result = race_result(race(loaded, PROMPT, GREEDY, 6, repeats=1))
    assert result.on.cache_bytes == 17 * 2 * 2 * 2 * 16 * 4
    assert result.off.cache_bytes == 0


def test_old_queries_change_nothing(model, monkeypatch):
    """K2: in the last layer every query but the newest may be thrown away; the next token's logits stay as they are."""
    attend = torch.nn.functional.scaled_dot_product_attention
    calls = []

    def forgetful(queries, keys, values, attn_mask=None):
        calls.append(None)
        if len(calls) == model.config.num_layers:  # rows of a group stand one below the other: G blocks of T
            queries = queries.clone()
            blocks = queries.view(*queries.shape[:2], -1, len(PROMPT), queries.shape[-1])
            blocks[..., :-1, :] = 0
        return attend(queries, keys, values, attn_mask=attn_mask)

    right = model(torch.tensor([PROMPT]), KVCache(2), last_only=True)
    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", forgetful)
    without = model(torch.tensor([PROMPT]), KVCache(2), last_only=True)
    assert torch.equal(right, without)


def test_the_first_token_needs_the_same_work_on_both_sides(loaded):
    """K7 and K8: work and logits differ from the second token on. The time is about the same, and not more is said."""
    result = race_result(race(loaded, PROMPT, GREEDY, 4, repeats=1))
    assert result.on.num_fed[0] == result.off.num_fed[0] == len(PROMPT)
    assert result.gaps[0] == 0.0
    assert run_multiply_adds(loaded.model.config, 12, 1, True) == run_multiply_adds(loaded.model.config, 12, 1, False)


def test_the_side_whose_clock_is_behind_goes_next(loaded):
    """Neither side may be timed while the other runs, and both start together."""
    ticks = [tick for tick in race(loaded, PROMPT, GREEDY, 12, repeats=1) if tick.repeat == 0]
    assert {tick.side for tick in ticks[:2]} == {ON, OFF}
    clocks, done = {ON: 0.0, OFF: 0.0}, set()
    for tick in ticks:
        other = OFF if tick.side == ON else ON
        assert other in done or clocks[tick.side] <= clocks[other]
        clocks[tick.side] += tick.seconds
        assert tick.clock == pytest.approx(clocks[tick.side])
        if tick.stop_reason:
            done.add(tick.side)


def test_a_warm_up_lets_others_pass_between_its_passes_and_counts_for_nothing(loaded):
    """All of its passes were one piece of work: with a long prompt nobody else's turn came for seconds."""
    ticks = list(race(loaded, PROMPT, GREEDY, 3, repeats=1))
    assert [(tick.side, tick.index) for tick in ticks[:4]] == [(ON, 0), (ON, 1), (OFF, 0), (OFF, 1)]
    assert [tick.repeat for tick in ticks] == [WARM_UP] * 4 + [0] * 6
    assert ticks[-1].result.on.total_fed == 12 + 2


def test_repeats_are_timed_and_each_brings_a_result(loaded):
    results = [tick.result for tick in race(loaded, PROMPT, GREEDY, 3, repeats=3) if tick.result]
    assert [result.repeats for result in results] == [1, 2, 3]
    assert [len(result.off.totals) for result in results] == [1, 2, 3]


def test_a_race_that_took_long_is_run_once(loaded, monkeypatch):
    """A second run began when the time was used up: a minute-long race took two."""
    monkeypatch.setattr(race_module, "ENOUGH_SECONDS", 0.0)
    results = [tick.result for tick in race(loaded, PROMPT, GREEDY, 3, repeats=3) if tick.result]
    assert [result.repeats for result in results] == [1]
    assert results[0].spread is None and not results[0].noisy


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_result_says_how_it_was_chosen(loaded, temperature):
    params = SamplingParams(temperature=temperature)
    assert race_result(race(loaded, PROMPT, params, 2, repeats=1)).greedy == (temperature == 0)


def test_a_lead_is_that_of_the_logits_the_choice_is_made_of(loaded):
    """Penalties move the two best apart or together, so a near tie is one after them."""
    params = SamplingParams(temperature=0.0, repetition_penalty=1.5)
    steps = list(generate(loaded.model, PROMPT, params, KVCache(2, "none"), 4))
    tops = [step.distribution.batch.penalized[0].topk(2).values.tolist() for step in steps]
    assert race_result(race(loaded, PROMPT, params, 4, repeats=1)).margins == [best - second for best, second in tops]


def test_a_race_ends_at_the_stop_token_unless_told_to_write_on(loaded):
    greedy = [step.token_id for step in generate(loaded.model, PROMPT, GREEDY, None, 8)]
    stopping = replace(loaded, stop_ids=(greedy[2],))
    result = race_result(race(stopping, PROMPT, GREEDY, 8, repeats=1))
    first = greedy.index(greedy[2])
    assert result.on.token_ids == result.off.token_ids == greedy[: first + 1]
    assert len(race_result(race(stopping, PROMPT, GREEDY, 8, repeats=1, past_stop=True)).on.token_ids) == 8


def test_wrong_requests_are_refused_before_anything_runs(loaded):
    with pytest.raises(ValueError, match="prompt is empty"):
        next(race(loaded, [], GREEDY, 4))
    with pytest.raises(ValueError, match="room for 128"):
        next(race(loaded, [1] * 129, GREEDY, 4))


def test_a_stopped_race_runs_no_further_step(loaded, monkeypatch):
    passes = []
    forward = Transformer.forward
    monkeypatch.setattr(
        Transformer, "forward", lambda self, *given, **more: passes.append(1) or forward(self, *given, **more)
    )
    ticks = race(loaded, PROMPT, GREEDY, 50)
    for _ in range(5):
        next(ticks)
    before = len(passes)
    ticks.close()
    assert len(passes) == before


def side(*runs: list[float], token_ids: list[int] | None = None) -> SideResult:
    """Seconds of each step, a list for each repeat."""
    token_ids = token_ids or list(range(len(runs[0])))
    ones, marks = [1] * len(token_ids), [0.5] * len(token_ids)
    return SideResult(token_ids, ones, list(runs), marks, 0, "length")


def result_of(on: SideResult, off: SideResult, gaps=(0.0,), margins=(1.0,)) -> RaceResult:
    return RaceResult(4, on, off, list(gaps), list(margins), "a machine")


def test_where_the_cache_is_clearly_ahead():
    # After two steps both clocks show 5; after the third 6 against 8.
    on, off = [4, 1, 1], [3, 2, 3]
    assert result_of(side(on, on), side(off, off)).pays_from == 2
    assert result_of(side([1, 1], [1, 1]), side([2, 2], [2, 2])).pays_from == 0
    assert result_of(side([5, 1], [5, 1]), side([1, 1], [1, 1])).pays_from is None


def test_a_lead_that_may_be_chance_is_none():
    """One race of a single token was "ahead from token 1 on" and, repeated, from token 2 or 3."""
    assert result_of(side([1, 1]), side([2, 2])).pays_from is None  # run once
    assert result_of(side([1, 1], [1, 1]), side([1.05, 1.05], [1.05, 1.05])).pays_from is None  # 5 % ahead
    assert result_of(side([1, 1], [1, 1]), side([2, 2], [1, 1])).pays_from is None  # ahead in one of two repeats


@given(
    st.lists(
        st.tuples(
            st.lists(st.floats(0.1, 9), min_size=4, max_size=4), st.lists(st.floats(0.1, 9), min_size=4, max_size=4)
        ),
        min_size=1,
        max_size=5,
    )
)
def test_the_numbers_of_a_run_hold_together(pairs):
    """Medians of steps and of totals told two stories: 1.0 for the first token, 7.4 for each later one, 9.2 in all."""
    result = result_of(side(*(on for on, _ in pairs)), side(*(off for _, off in pairs)))
    for each in (result.on, result.off):
        first, later = first_step(each.seconds), later_step(each.seconds)
        assert first + 3 * later == pytest.approx(each.total_seconds)
        assert min(each.totals) <= each.total_seconds <= max(each.totals)
    low, high = result.time_range()
    assert low * (1 - 1e-9) <= result.time_ratio <= high * (1 + 1e-9)


def test_a_run_whose_repeats_disagree_is_noisy():
    ones = side([1.0], [1.0], [1.0])
    assert not result_of(side([1.0], [1.1], [1.2]), ones).noisy
    assert result_of(side([1.0], [1.1], [1.5]), ones).noisy


def test_a_race_that_nobody_asked_for_begins_only_where_it_takes_no_time(loaded, monkeypatch):
    ticks = list(if_quick(race(loaded, PROMPT, GREEDY, 4, repeats=1), 4))
    assert ticks[-1].result is not None
    monkeypatch.setattr(race_values_module, "QUICK_SECONDS", 0.0)
    ticks = list(if_quick(race(loaded, PROMPT, GREEDY, 4, repeats=1), 4))
    assert ticks and {tick.repeat for tick in ticks} == {WARM_UP}


def test_the_first_difference_and_near_ties():
    on, off = side([1, 1, 1], token_ids=[5, 6, 7]), side([1, 1, 1], token_ids=[5, 8, 7])
    assert result_of(on, off).first_difference == 1
    shorter = side([1, 1], token_ids=[5, 6])
    assert result_of(shorter, on).first_difference == 2  # one side ended, the other wrote on
    # Each of the two best may move by the gap: a lead of up to twice the gap can be turned over.
    assert result_of(on, on, [0.1, 0.1, 0.1], [0.3, 0.2, 0.05]).near_ties == [1, 2]


@pytest.fixture(scope="module")
def talker(tmp_path_factory) -> LoadedModel:
    """A small model with a tokenizer and a chat template, for what needs texts."""
    path = tmp_path_factory.mktemp("talker") / "tokenizer.json"
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=alphabet, special_tokens=["<|im_start|>", "<|im_end|>"]
    )
    tokenizer.train_from_iterator([STORY, *["user\n", "assistant\n"] * 20], trainer)
    tokenizer.save(str(path))
    ours = Tokenizer(path)
    model = tiny_model(replace(TINY, vocab_size=ours.vocab_size, max_positions=320))
    return LoadedModel("talker", model, ours, True, (1,), 320)


def test_a_text_makes_a_prompt_of_exactly_that_length(talker):
    for length in range(17, 300):  # cuts inside words too
        assert len(talker.prompt_ids(text_of_length(talker, length))) == length


def test_a_prompt_shorter_than_the_template_is_refused(talker):
    with pytest.raises(ValueError, match="at least"):
        text_of_length(talker, 3)


def test_a_sweep_row_holds_exact_ratios_and_measured_times(talker):
    result = race_result(race_at_length(talker, 64, 16, repeats=1))
    frame = sweep_frame(cells(talker, result, (1, 4, 16)))
    assert frame.num_new.tolist() == [1, 4, 16]
    assert frame.token_ratio.tolist() == [1.0, (64 * 4 + 6) / 67, (64 * 16 + 120) / 79]
    assert frame.multiply_add_ratio[0] == 1.0
    assert (frame.time_ratio == frame.seconds_off / frame.seconds_on).all()
    assert frame.multiply_add_ratio.is_monotonic_increasing


def test_a_measured_ratio_near_1_is_no_finding():
    """The table printed 0.9 for one new token, which no cache can be the reason of."""
    said = [spelled_ratio(ratio, "time_ratio") for ratio in (0.5, 0.9, 1.1, 5.14)]
    assert said == ["0.5", "≈ 1", "≈ 1", "5.1"] and spelled_ratio(1.1, "token_ratio") == "1.1"


def test_equal_logits_have_no_point_in_the_chart():
    """A log axis has no 0: they were drawn at 1e-8, and the next gap looked like an event."""
    lead, gaps = gaps_figure([GapLine("float16", [0.0, 0.02, 0.0], [1.0, 0.5, 0.2], None)]).data
    assert gaps.y == (None, 0.02, None) and lead.y == (1.0, 0.5, 0.2)


def test_a_sweep_row_ends_where_the_context_does(talker):
    result = race_result(race_at_length(talker, 300, 64, repeats=1))
    measured, exact = cells(talker, result, (1, 16, 64)), exact_cells(talker, 300, (1, 16, 64))
    assert [cell.num_new for cell in measured] == [cell.num_new for cell in exact] == [1, 16]
    assert [cell.token_ratio for cell in measured] == [cell.token_ratio for cell in exact]
    figure = sweep_figure(sweep_frame(exact), [300], (1, 16, 64))  # what is exact is there before anything is measured
    told = spelled_ratio(exact[1].token_ratio, "token_ratio"), spelled_ratio(exact[1].multiply_add_ratio, "time_ratio")
    assert tuple(table.text[0][1] for table in figure.data) == told
    assert sweep_lengths(talker) == [16, 64, 183, 256]


def test_shorter_answers_are_the_beginning_of_the_long_one(talker):
    result = result_of(side([4, 1, 1, 1]), side([4, 4, 4, 4]))
    assert [(cell.seconds_on, cell.seconds_off) for cell in cells(talker, result, (1, 2, 4))] == [
        (4, 4),
        (5, 8),
        (7, 16),
    ]


def test_first_token_prompts_reach_to_the_contexts_limit(talker):
    assert first_token_lengths(talker) == [16, 64, 256, 313]
    result = race_result(race_at_length(talker, 313, 8, repeats=1))
    assert result.prompt_length == 313 and len(result.on.token_ids) == 8
    assert result.on.num_fed[0] == result.off.num_fed[0] == 313
