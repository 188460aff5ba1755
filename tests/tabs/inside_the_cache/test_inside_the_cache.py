"""What the tab "Inside the cache" claims, computed on the tiny model: its numbers are random, the laws hold."""

import copy
import math

import pytest
import torch
from transformers import DynamicCache

import playground.engine.model as model_module
from playground.engine.cache_kinds import ConcatenatedLayerCache, StaticLayerCache
from playground.engine.kv_cache import KVCache
from playground.engine.model import ModelConfig
from playground.engine.taps import tapped
from playground.models.altered import (
    twin,
    unmasked,
    with_kv_heads,
    with_mixing_feed_forward,
    with_scaled_feed_forward,
    with_shifted_positions,
)
from playground.models.answers import at_once
from playground.tabs.inside_the_cache.attention import (
    ADDED,
    NO_MASK,
    TIMES_INFINITY,
    TIMES_ZERO,
    attention_scores,
    attention_vectors,
    attention_weights,
    even_share,
    mask_need,
    mask_row,
    pass_shapes,
    sink_shares,
    worst_leak,
)
from playground.tabs.inside_the_cache.classifier import read_once
from playground.tabs.inside_the_cache.growth import (
    CacheSize,
    cache_growth,
    ghost_sizes,
    stored_rows,
)
from playground.tabs.inside_the_cache.keeping import (
    APPENDED,
    CHANGED,
    EARLY,
    ENCODED,
    FED_ON,
    MIXED,
    SCALED,
    SHIFTED,
    UNMASKED,
    changes,
    largest_change,
    most_likely_text,
    swap_caches,
)
from playground.tabs.inside_the_cache.keeping_values import SWAPPED_TOKENS
from playground.tabs.inside_the_cache.kv_heads import compare_kv_heads, repeated_heads
from playground.tabs.inside_the_cache.reads import count_reads
from playground.tabs.inside_the_cache.training_cache import train_with_cache
from playground.tabs.inside_the_cache.walk import CACHE, COMPUTED, walk_token
from playground.words import say

PROMPT, ANSWER = [5, 9, 2, 40, 17, 33], [8, 21, 50, 3]
TEXT = PROMPT + ANSWER[:-1]  # what the cache holds at the end: the last token is chosen, never fed


def logits_of(model, ids):
    return model(torch.tensor([ids]), KVCache(model.config.num_layers))


# Growth


def test_the_course_counts_204800_bytes_for_100_tokens():
    size = CacheSize.of(ModelConfig(), 100)
    assert math.prod(factor for _, factor in size.factors) == size.num_bytes == 204_800


@pytest.mark.parametrize(
    ("kind", "num_sizes"), [("dynamic", 2), (StaticLayerCache(70), 1), (ConcatenatedLayerCache(), 4)]
)
def test_growth_is_that_of_a_cache_which_the_model_fills_step_by_step(model, kind, num_sizes):
    cache = KVCache(model.config.num_layers, kind)
    prompt, answer = [5] * 63, [9, 2, 40, 17]  # grows over the first buffer's end
    decoded = []
    for step, ids in enumerate([prompt, *([token_id] for token_id in answer[:-1])]):
        model(torch.tensor([ids]), cache)
        for number, layer in enumerate(cache.layers):
            filled = sum(tensor.nbytes for tensor in layer.stored())
            decoded.append([step, number, len(layer.positions), filled, layer.allocated_bytes])
    growth = cache_growth(stored_rows(model, prompt + answer[:-1]), len(prompt), kind)
    assert growth.drop(columns="copied_bytes").values.tolist() == decoded
    assert growth.allocated_bytes.nunique() == num_sizes


def test_doubling_copies_now_and_then_and_concatenating_every_time(model):
    """A growing buffer was said to cost a row a token and no copy: it copies everything when it is full."""
    stored = stored_rows(model, [5] * 70)  # 60 of the prompt, then ten steps; the first buffer holds 64
    before = [0, *cache_growth(stored, 60).groupby("step").filled_bytes.sum()][:-1]  # each step's, not yet grown
    copied = {
        kind: cache_growth(stored, 60, layer).groupby("step").copied_bytes.sum().tolist()
        for kind, layer in (
            ("doubling", "dynamic"),
            ("static", StaticLayerCache(128)),
            ("concatenated", ConcatenatedLayerCache()),
        )
    }
    assert copied["concatenated"] == before
    assert copied["doubling"] == [0] * 5 + [before[5]] + [0] * 5
    assert copied["static"] == [0] * 11


def test_the_cache_of_transformers_makes_a_new_tensor_for_every_token():
    cache_of_transformers = DynamicCache()
    kept = []  # all of them, so that no memory is used again
    for _ in range(5):
        kept.append(cache_of_transformers.update(torch.ones(1, 2, 1, 16), torch.ones(1, 2, 1, 16), 0)[0])
    assert len({keys.data_ptr() for keys in kept}) == 5
    assert [keys.shape[2] for keys in kept] == [1, 2, 3, 4, 5]


def test_the_tensors_are_as_large_as_the_formula_says(model):
    growth = cache_growth(stored_rows(model, TEXT), len(PROMPT))
    for _, rows in growth.groupby("step"):
        assert rows.filled_bytes.sum() == CacheSize.of(model.config, rows.tokens.iloc[0]).num_bytes
        assert rows.filled_bytes.nunique() == 1  # every layer keeps as much
    per_step = growth.groupby("step").tokens.first()
    assert per_step.tolist() == [6, 7, 8, 9]  # the prompt at once, then one by one; prompt + new - 1 at the end


def test_a_static_buffer_is_allocated_whole_and_filled_slowly(model):
    growth = cache_growth(stored_rows(model, TEXT), len(PROMPT), StaticLayerCache(64)).groupby("step").sum()
    assert growth.allocated_bytes.tolist() == [CacheSize.of(model.config, 64).num_bytes] * 4
    assert growth.filled_bytes.tolist() == [CacheSize.of(model.config, tokens).num_bytes for tokens in (6, 7, 8, 9)]


def test_ghosts_are_the_formula_with_one_factor_changed():
    ghosts = {name: size.num_bytes for name, size in ghost_sizes(ModelConfig(), 100).items()}
    assert ghosts == {"all_heads": 409_600, "two_bytes": 102_400, "one_byte": 51_200}


def test_stored_rows_are_those_of_a_cache_filled_token_by_token(model):
    cache = KVCache(model.config.num_layers)
    for token_id in TEXT:
        model(torch.tensor([[token_id]]), cache)
    for layer, (keys, values) in enumerate(stored_rows(model, TEXT)):
        torch.testing.assert_close((keys[None], values[None]), cache.layers[layer].stored(), atol=1e-5, rtol=1e-5)


# Altered models


def test_altered_models_leave_the_shared_one_as_it_was(model):
    before = logits_of(model, TEXT)
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    altered_models = (
        unmasked(model),
        with_scaled_feed_forward(model, 0, 2.0),
        with_kv_heads(model, 1),
        with_mixing_feed_forward(model),
    )
    for altered in altered_models:
        assert not torch.allclose(logits_of(altered, TEXT), before)
    with_shifted_positions(model)
    assert torch.equal(logits_of(model, TEXT), before)
    assert torch.equal(logits_of(twin(model), TEXT), before)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.state_dict().items())


def test_repeating_heads_costs_memory_and_changes_nothing(model):
    torch.testing.assert_close(logits_of(with_kv_heads(model, 4), TEXT), logits_of(model, TEXT), atol=1e-5, rtol=0)


def test_one_head_for_a_group_is_the_mean_of_its_heads(model):
    config = model.config
    shape = config.head_dim, config.hidden_size
    after_queries = config.num_heads * config.head_dim
    own = model.blocks[0].attention.qkv[after_queries:].view(2, 2, *shape)  # K and V, heads
    shared = with_kv_heads(model, 1).blocks[0].attention.qkv[after_queries:].view(2, 1, *shape)
    torch.testing.assert_close(shared[:, 0], (own[:, 0] + own[:, 1]) / 2)


# Why it is safe


@pytest.fixture(scope="module")
def experiments(model):
    made = at_once(changes(model, TEXT, position=5, new_id=60, early_id=50))
    return {change.name: change for change in made}


def test_a_later_token_changes_nothing_before_it(experiments):
    assert experiments[CHANGED].earlier == [0.0, 0.0]  # exactly, in every layer
    assert min(experiments[CHANGED].later) > 0.1


def test_without_the_mask_the_second_layer_feels_a_later_token(experiments):
    """Reason 1. An encoder has no mask: neither a changed token nor a new one leaves the earlier rows alone."""
    for name in (UNMASKED, ENCODED):
        first, second = experiments[name].earlier
        assert first == 0.0  # the first layer's K and V come from the token alone
        assert second > 0.01


def test_a_feed_forward_that_mixed_tokens_would_change_earlier_rows(model, experiments):
    """Reason 2. As it is, a token's vector comes from that vector alone."""
    first, second = experiments[MIXED].earlier
    assert first == 0.0 and second > 0.001
    vectors = torch.randn(1, 6, model.config.hidden_size, generator=torch.Generator().manual_seed(0))
    others = torch.cat([vectors[:, :3], vectors[:, 3:].flip(1)], 1)
    feed_forward = model.blocks[0].feed_forward
    torch.testing.assert_close(feed_forward(vectors)[:, :3], feed_forward(others)[:, :3], atol=1e-6, rtol=0)


def test_stored_rows_need_the_weights_that_made_them(experiments):
    """Reason 3. And the feed-forward does touch the keys and values of later layers."""
    first, second = experiments[SCALED].earlier
    assert first == 0.0 and second > 0.01


def test_keys_are_stored_for_their_position_and_values_are_not(model, experiments):
    """Reason 4."""
    assert min(experiments[SHIFTED].earlier) > 0.01  # from the first layer on
    own, shifted = stored_rows(model, TEXT), stored_rows(with_shifted_positions(model), TEXT)
    for (keys, values), (shifted_keys, shifted_values) in zip(own, shifted, strict=True):
        assert (keys - shifted_keys).abs().max() > 0.01
        torch.testing.assert_close(values, shifted_values, atol=1e-5, rtol=0)  # only the distance of two tokens counts
    moved = stored_rows(model, [1, *TEXT])[0][0][:, 1:]  # layer 1: a token's key, and nothing else than its position
    torch.testing.assert_close(moved, shifted[0][0], atol=1e-5, rtol=0)


def test_the_four_reasons_are_enough(model, experiments):
    """With all of them, what is stored is what any longer text would compute again."""
    assert experiments[CHANGED].earlier == experiments[FED_ON].earlier == [0.0, 0.0]
    for length in range(1, len(TEXT)):
        change = largest_change(stored_rows(model, TEXT[:length]), stored_rows(model, TEXT))
        assert change.max() < 1e-5


def test_appending_changes_nothing_that_is_stored(experiments):
    assert experiments[FED_ON].earlier == [0.0, 0.0]
    assert max(experiments[APPENDED].earlier) <= experiments[APPENDED].rounding  # anew, in a larger matrix product
    assert {name: change.num_added for name, change in experiments.items() if change.num_added} == {
        APPENDED: 8,
        FED_ON: 8,
        ENCODED: 8,
    }


@pytest.mark.parametrize("length", [9, 11, 13, 19])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_only_rows_computed_in_a_larger_product_may_round_in_every_number_format(base, dtype, length):
    """The embedded model's numbers are of the size that the bound was measured for."""
    model = copy.deepcopy(base.model).to(dtype)
    text = base.prompt_ids("Once upon a time, there was a little girl who had a red ball and a small dog")[:length]
    made = {change.name: change for change in at_once(changes(model, text, position=6, new_id=100, early_id=200))}
    assert max(made[CHANGED].earlier) == max(made[EARLY].earlier) == max(made[FED_ON].earlier) == 0
    assert max(made[APPENDED].earlier) <= made[APPENDED].rounding < max(made[CHANGED].later)
    assert max(made[UNMASKED].earlier) > made[UNMASKED].rounding == 0  # however small, it is no rounding


def test_as_many_tokens_are_added_as_there_are_and_as_find_room(model):
    def added(token_ids):
        return {change.num_added for change in at_once(changes(model, token_ids, 1, 60, 50))} - {0}

    room = model.config.max_positions
    assert added(TEXT[:3]) == {3}
    assert added([5] * (room - 3)) == {3} and added([5] * (room - 1)) == {1}
    names = [change.name for change in at_once(changes(model, [5] * room, 1, 60, 50))]
    assert names == [CHANGED, UNMASKED, MIXED, SCALED, SHIFTED, EARLY]


def test_an_early_token_changes_the_rows_after_it(experiments):
    change = experiments[EARLY]
    assert change.earlier == [0.0, 0.0]
    assert (change.by_row[1, 1:] > 1e-4).all()  # in layer 2, every row from it on
    assert (change.by_row[0, 2:] == 0).all()  # in layer 1, the row of the token itself alone


def test_a_change_at_the_first_token_has_no_earlier_rows(model):
    with pytest.raises(ValueError, match="from 1 to 8"):
        at_once(changes(model, TEXT, position=0, new_id=60, early_id=50))


def test_one_layers_cache_is_of_no_use_in_another(model):
    (same,) = at_once(swap_caches(model, PROMPT, ANSWER, source=1, targets=[[1]]))
    assert same.largest_difference == same.other_choices == 0
    torch.testing.assert_close(same.logits, logits_of(model, PROMPT + ANSWER)[0, 6:], atol=1e-5, rtol=1e-5)
    assert same.rounding < 1e-5
    _, swapped = at_once(swap_caches(model, PROMPT, ANSWER, source=0, targets=[[0], [1]]))
    assert swapped.largest_difference > 0.05
    moved = (swapped.logits.softmax(-1) - swapped.swapped_logits.softmax(-1)).abs()
    assert moved[swapped.worst_step].max() == moved.max()


def test_another_layers_cache_does_harm_that_one_sees(base):
    """The card showed two equal bars of 100 % and argued against its own text."""
    prompt_ids = base.prompt_ids(say("inside_the_cache.swap.prompt"))
    answer_ids = at_once(most_likely_text(base.model, prompt_ids, SWAPPED_TOKENS))
    fed = [prompt_ids[-1], *answer_ids[:-1]]
    second, every = at_once(swap_caches(base.model, prompt_ids[:-1], fed, 0, [[1], [1, 2, 3]]))
    assert len(fed) == SWAPPED_TOKENS and second.rounding < 1e-3
    step = second.worst_step
    before, after = (logits[step].softmax(-1) for logits in (second.logits, second.swapped_logits))
    best = before.argmax()
    assert before[best] - after[best] > 0.15
    assert second.other_choices >= 2 and every.other_choices >= 3


# The walk of the second token through the second layer


def test_the_second_token_computes_its_own_rows_and_fetches_those_of_the_first(model):
    stages = {stage.name: stage.rows for stage in walk_token(model, TEXT).stages}
    assert [(row.what, row.position, row.source) for row in stages["fetch"]] == [("key", 0, CACHE), ("value", 0, CACHE)]
    assert [(row.what, row.position) for row in stages["project"]] == [("query", 1), ("key", 1), ("value", 1)]
    assert {row.source for row in stages["project"]} == {COMPUTED}
    assert [row.what for row in stages["keep"]] == ["key", "value"]  # not the query
    assert sum(stages["weigh"][0].numbers) == pytest.approx(1)


def test_what_the_walk_spells_out_is_what_the_model_does(model):
    """Its output is what enters the next layer, and of the last layer what the head reads."""
    with tapped(model, "hidden") as hidden:
        logits = logits_of(model, TEXT[:2])
    torch.testing.assert_close(walk_token(model, TEXT, layer=0).output, hidden[1][0, 1], atol=1e-5, rtol=1e-5)
    output = walk_token(model, TEXT, layer=1).output
    normed = torch.nn.functional.rms_norm(output, output.shape, model.final_norm, model.config.rms_norm_eps)
    torch.testing.assert_close(model.embedding @ normed, logits[0, 1], atol=1e-5, rtol=1e-5)


def test_the_rows_from_the_cache_are_those_that_would_be_computed_again(model):
    assert walk_token(model, TEXT).anew_difference < 1e-5
    fetched = walk_token(model, TEXT, position=5).stages[2].rows
    assert len(fetched) == 10
    keys, _ = stored_rows(model, TEXT)[1]
    assert fetched[8].numbers == pytest.approx(keys[0, 4, :6].tolist(), abs=1e-5)


@pytest.mark.parametrize(("position", "layer"), [(0, 1), (9, 1), (1, 2)])
def test_a_walk_needs_a_past_and_a_layer(model, position, layer):
    with pytest.raises(ValueError, match=r"position|layer"):
        walk_token(model, TEXT, position, layer)


# Attention


def test_each_row_sums_to_1_and_no_token_reads_a_later_one(model):
    weights = attention_weights(model, TEXT)
    assert weights.shape == (2, 4, 9, 9)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, 9))
    assert (weights.triu(1) == 0).all()


def test_a_decode_step_computes_the_last_row_and_the_rows_before_it_are_as_they_were(model):
    whole = attention_weights(model, TEXT)
    torch.testing.assert_close(whole[:, :, :-1, :-1], attention_weights(model, TEXT[:-1]), atol=1e-5, rtol=1e-5)
    last = pass_shapes(model, TEXT, past=8)
    assert last.weights == (1, 4, 1, 9)  # one row; without a cache it would be all nine again


def test_even_share_is_what_rows_without_preference_give():
    uniform = torch.ones(6, 6).tril() / torch.arange(1, 7)[:, None]
    assert sink_shares(uniform[None, None, 4:]).item() == pytest.approx(even_share(4, 6))
    assert even_share(4, 6) == pytest.approx((1 / 5 + 1 / 6) / 2)


def test_the_last_rows_alone_are_those_of_the_whole_matrix(model):
    for rows_of in (attention_weights, attention_scores):
        torch.testing.assert_close(
            rows_of(model, TEXT, num_rows=4), rows_of(model, TEXT)[:, :, 5:], atol=1e-5, rtol=1e-5
        )


def test_shapes_are_new_by_past_plus_new(model):
    prefill, chunk, step = (pass_shapes(model, TEXT[:end], past) for end, past in ((6, 0), (9, 6), (9, 8)))
    assert (prefill.mask, chunk.mask, step.mask) == ((6, 6), (3, 9), None)
    size = model.config.head_dim
    assert chunk.queries == (1, 4, 3, size) and chunk.keys == (1, 2, 9, size) and chunk.weights == (1, 4, 3, 9)
    assert step.queries == (1, 4, 1, size) and step.keys == step.values == (1, 2, 9, size) and step.past == 8
    assert step.keys_of_minimind == (1, 9, 2, size)


def test_one_row_worked_out_is_the_models(model):
    queries, keys, values = attention_vectors(model, TEXT, 1, num_rows=3)
    assert queries.shape == (4, 3, 16) and keys.shape == values.shape == (2, 9, 16)
    scores = queries[3, -1] @ keys[1].T / 16**0.5  # the last query head reads the last key/value head
    torch.testing.assert_close(scores.softmax(-1), attention_weights(model, TEXT)[1, 3, -1], atol=1e-6, rtol=1e-5)


def test_a_mask_is_added_not_multiplied():
    masked = mask_row([1, 2, 3], [False, False, True])
    assert masked.rows[ADDED] == pytest.approx([0.2689, 0.7311, 0], abs=1e-4)
    assert masked.leak(ADDED) == 0
    assert masked.leak(TIMES_ZERO) == pytest.approx(1 / (math.e + math.e**2 + 1))  # e^0 = 1: about 9 % leaks
    assert masked.rows[TIMES_INFINITY] == masked.rows[ADDED]  # works here, by luck: the score was positive
    assert masked.leak(NO_MASK) > 0.6


def test_multiplying_by_infinity_breaks_on_a_score_of_0_or_below():
    for score in (-3, 0):
        assert all(math.isnan(weight) for weight in mask_row([1, 2, score], [False, False, True]).rows[TIMES_INFINITY])


def test_the_models_own_scores_leak_when_the_mask_is_multiplied(model):
    row = attention_scores(model, TEXT)[1, 0, 3]
    masked = mask_row(row.tolist(), [position > 3 for position in range(9)])
    assert masked.leak(TIMES_ZERO) > 0.3  # five hidden tokens of nine, each with e^0
    assert masked.rows[ADDED] == pytest.approx(attention_weights(model, TEXT)[1, 0, 3].tolist(), abs=1e-5)


def test_the_worst_leak_is_the_largest_of_all_rows(model, base):
    scores = attention_scores(model, TEXT, num_rows=4)
    worst = worst_leak(scores)
    leaks = {
        (layer, head, row): mask_row(
            scores[layer, head, row - 5].tolist(), [position > row for position in range(9)]
        ).leak(TIMES_ZERO)
        for layer in range(2)
        for head in range(4)
        for row in (5, 6, 7)  # the last row, 8, has nothing to hide
    }
    assert worst.masked.leak(TIMES_ZERO) == pytest.approx(max(leaks.values()))
    assert leaks[worst.layer, worst.head, worst.row] == pytest.approx(max(leaks.values()))
    assert worst.mean_leak == pytest.approx(sum(leaks.values()) / len(leaks))
    assert worst_leak(attention_scores(model, TEXT[:1])) is None
    text = base.prompt_ids("Once upon a time, there was a little girl who had a red ball")
    assert worst_leak(attention_scores(base.model, text)).masked.leak(TIMES_ZERO) > 0.5  # a model's own scores, too


def test_a_decode_step_needs_no_mask_and_a_chunk_does(model):
    need = mask_need(model, TEXT)
    assert need.decode_step == 0.0
    assert need.chunk > 0.01 and need.chunk_length == 4


# Reads


def test_an_old_query_is_never_read_again_and_an_old_key_by_every_later_pass(model):
    reads = at_once(count_reads(model, PROMPT, ANSWER))
    assert reads["query"].tolist() == [0] * 9
    assert reads["key"].tolist() == reads["value"].tolist() == [3] * 6 + [2, 1, 0]


def test_a_query_that_is_read_again_is_counted(model, monkeypatch):
    """A model that kept its queries, too, and gave all of them to attention."""
    offer, kept = model_module.offer_attention, {}

    def offer_all(attention, layer, queries, keys, values, mask):
        config = attention.config
        heads = queries.reshape(1, config.num_heads, -1, config.head_dim)
        kept[layer] = heads = torch.cat([kept.get(layer, heads[:, :, :0]), heads], 2)
        offer(attention, layer, heads.reshape(1, config.num_kv_heads, -1, config.head_dim), keys, values, mask)

    monkeypatch.setattr(model_module, "offer_attention", offer_all)
    reads = at_once(count_reads(model, PROMPT, ANSWER))
    assert reads["query"].tolist() == reads["key"].tolist() == [3] * 6 + [2, 1, 0]


def test_a_key_that_is_forgotten_is_not_counted(model, monkeypatch):
    """As many rows are read as there are tokens, but the first one's key is another row each time."""
    offer = model_module.offer_attention

    def offer_others(attention, layer, queries, keys, values, mask):
        keys = keys.clone()
        keys[:, :, 0] = torch.rand(keys.shape[1], keys.shape[3])
        offer(attention, layer, queries, keys, values, mask)

    monkeypatch.setattr(model_module, "offer_attention", offer_others)
    reads = at_once(count_reads(model, PROMPT, ANSWER))
    assert reads["key"].tolist() == [0] + [3] * 5 + [2, 1, 0]
    assert reads["value"].tolist() == [3] * 6 + [2, 1, 0]


# Heads, one pass, training


def test_bytes_go_with_the_key_value_heads(model):
    one, two, four = at_once(compare_kv_heads(model, TEXT))
    per_head = 2 * 9 * model.config.head_dim * 4  # K and V, tokens, head size, float32
    assert [heads.bytes_per_layer for heads in (one, two, four)] == [per_head, 2 * per_head, 4 * per_head]
    assert two.is_trained and two.kl == 0
    assert one.kl > 1e-3 and one.same_choice < 1
    assert four.kl < 1e-6 and four.same_choice == 1
    torch.testing.assert_close(two.log_probs, logits_of(model, TEXT)[0].double().log_softmax(-1))


def test_stored_heads_are_repeated_for_the_query_heads_that_read_them(model):
    made = repeated_heads(model, TEXT, layer=1)
    assert made.stored == (1, 2, 9, 16) and made.repeated == (1, 4, 9, 16)
    assert made.stored_bytes == 2 * 2 * 9 * 16 * 4 and made.repeated_bytes == 2 * made.stored_bytes
    assert made.difference < 1e-6


def test_a_classifier_does_the_same_work_with_and_without_a_cache(model):
    cached, uncached = (at_once(read_once(model, TEXT, kind)) for kind in ("dynamic", "none"))
    assert cached.num_fed == uncached.num_fed == len(TEXT)
    assert cached.rows_from_cache == uncached.rows_from_cache == 0
    assert cached.multiply_adds == uncached.multiply_adds
    assert torch.equal(cached.logits, uncached.logits)
    assert cached.kept_bytes == CacheSize.of(model.config, len(TEXT)).num_bytes and uncached.kept_bytes == 0


def test_gradients_flow_through_a_cache_and_are_the_same(model):
    result = at_once(train_with_cache(model, TEXT))
    assert result.loss_difference < 1e-6 and result.gradient_difference < 1e-6
    assert result.gradient_size > 1e-3
    assert result.rows_after_forward == 8 and result.rows_after_recomputing == 16
    assert not any(parameter.requires_grad for parameter in model.parameters())
