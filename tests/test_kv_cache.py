"""What a cache must hold, whatever its kind: every key and value once, at its place, and nothing of another request."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import TINY, tiny_model

from playground.engine.cache_kinds import FIRST_CAPACITY, KINDS, CacheFullError, LayerCache, NoCache
from playground.engine.kv_cache import KVCache
from playground.engine.model import ModelConfig, Transformer
from playground.engine.params import SamplingParams
from playground.engine.sampling import next_token_distribution

PREFIX, BRANCH_A, BRANCH_B = [5, 9, 2, 44], [60, 0, 17], [3, 28, 31]


def numbered(start: int, count: int, rows: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """(rows, 2, count, 3) keys that tell position, row and head; values are their negatives."""
    positions = torch.arange(start, start + count).view(1, 1, -1, 1) + 0.25 * torch.arange(2).view(1, -1, 1, 1)
    keys = positions + 1000.0 * torch.arange(rows).view(-1, 1, 1, 1) + torch.zeros(3)
    return keys, -keys


def filled(length: int, num_layers: int = 2, rows: int = 1, **kind) -> KVCache:
    cache = KVCache(num_layers, **kind)
    for layer in range(num_layers):
        cache.update(*numbered(0, length, rows), layer)
    return cache


def feed(model: Transformer, token_ids: list[int], cache: KVCache) -> torch.Tensor:
    return model(torch.tensor([token_ids]), cache)[0]


def new_cache(kind: str) -> KVCache:
    return KVCache(2, kind, 40 if kind == "static" else None)


@pytest.mark.parametrize("kind", [{}, {"kind": "static", "max_length": 300}])
def test_update_returns_all_that_was_stored_and_the_new_rows_last(kind):
    cache, end = KVCache(1, **kind), 0
    for count in (3, 1, 1, 70, 1, 130):
        keys, values = cache.update(*numbered(end, count), 0)
        end += count
        assert torch.equal(keys, numbered(0, end)[0]) and torch.equal(values, -keys)
        assert cache.position == cache.get_seq_length() == end and isinstance(cache.position, int)
        assert cache.get_mask_sizes(4) == (end + 4, 0) and cache.get_query_offset() == end
        assert cache.layers[0].positions.tolist() == list(range(end))
        assert cache.layers[0].upcoming(2).tolist() == list(range(end + 2))


def test_growing_keeps_what_was_stored_in_every_layer():
    """nanochat#186: a larger buffer got the old entries in the wrong places."""
    cache = filled(FIRST_CAPACITY - 1, num_layers=3, rows=2)
    before = [[tensor.clone() for tensor in layer.stored()] for layer in cache.layers]
    for layer in range(3):
        cache.update(*numbered(FIRST_CAPACITY - 1, 9, rows=2), layer)
    for layer, (keys, values) in zip(cache.layers, before, strict=True):
        now_keys, now_values = layer.stored()
        assert torch.equal(now_keys[:, :, : FIRST_CAPACITY - 1], keys)
        assert torch.equal(now_values[:, :, : FIRST_CAPACITY - 1], values)
        assert torch.equal(now_keys, numbered(0, FIRST_CAPACITY + 8, rows=2)[0])


def test_most_tokens_are_stored_without_copying_the_others():
    cache = KVCache(1)
    places = set()
    for position in range(1000):
        keys, _ = cache.update(*numbered(position, 1), 0)
        places.add(keys.data_ptr())
    assert len(places) <= 5  # 64, 128, 256, 512, 1024
    assert cache.allocated_bytes <= 2.1 * cache.num_bytes


def test_a_hundred_tokens_of_the_course_s_model_are_204_800_bytes():
    config = ModelConfig()
    model = Transformer(config).requires_grad_(False)
    cache = KVCache(config.num_layers)
    assert cache.num_bytes == 0
    model(torch.zeros(1, 100, dtype=torch.long), cache)
    assert cache.num_bytes == 204_800
    assert cache.bytes_per_layer() == [51_200] * 4


def test_bytes_follow_the_formula():
    """B 1, T 2048, 8 layers, 4 KV heads, head 96, two bytes."""
    cache = KVCache(8)
    for layer in range(8):
        cache.update(*torch.zeros(2, 1, 4, 2048, 96, dtype=torch.bfloat16), layer)
    assert cache.num_bytes == 25_165_824


def test_a_static_cache_costs_its_whole_buffer_from_the_first_token():
    cache = filled(1, kind="static", max_length=50)
    assert cache.num_bytes == cache.allocated_bytes == 2 * 2 * 2 * 50 * 3 * 4  # K and V, layers, heads
    assert filled(50, kind="static", max_length=50).num_bytes == cache.num_bytes


def test_the_length_is_read_from_the_right_axis():
    """minimind#550: (batch, heads, length, head) read as (batch, length, heads, head) made 2 heads the length."""
    cache = KVCache(1)
    cache.update(*torch.zeros(2, 1, 2, 5, 16), 0)
    assert cache.position == cache.get_seq_length() == 5


def test_an_overflow_says_so_and_leaves_the_cache_as_it_was(model):
    cache = KVCache(2, "static", 6)
    feed(model, [5, 9, 2, 44], cache)
    before = [[tensor.clone() for tensor in layer.stored()] for layer in cache.layers]
    with pytest.raises(CacheFullError, match=r"static cache of 6 tokens cannot take 7.*max_length larger"):
        feed(model, [1, 2, 3], cache)
    assert cache.position == 4
    for layer, tensors in zip(cache.layers, before, strict=True):
        assert all(torch.equal(now, then) for now, then in zip(layer.stored(), tensors, strict=True))
    fresh = feed(model, [5, 9, 2, 44, 1, 2], KVCache(2))
    torch.testing.assert_close(feed(model, [1, 2], cache), fresh[4:], atol=1e-5, rtol=0)  # it goes on as if nothing was


def test_an_overflow_at_the_first_token_allocates_nothing(model):
    cache = KVCache(2, "static", 3)
    with pytest.raises(CacheFullError):
        feed(model, [1, 2, 3, 4], cache)
    assert cache.position == 0 and cache.allocated_bytes == 0


def test_no_cache_keeps_nothing(model):
    cache = KVCache(2, "none")
    whole = feed(model, PREFIX, cache)
    assert cache.position == 0 and cache.num_bytes == 0 and cache.allocated_bytes == 0
    assert torch.equal(feed(model, PREFIX, cache), whole)


@pytest.mark.parametrize("kind", KINDS)
def test_reset_forgets_the_prompt_before(model, kind):
    """litgpt#1593, transformers#48809: the second prompt was answered with the first one still in the cache."""
    cache = new_cache(kind)
    feed(model, PREFIX, cache)
    cache.reset()
    assert cache.position == 0 and cache.allocated_bytes == 0
    assert torch.equal(feed(model, BRANCH_B, cache), feed(model, BRANCH_B, new_cache(kind)))


@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_two_continuations_of_one_prefix_do_not_meet(model, kind):
    """transformers#32681: two prompts after one cached prefix wrote into the same cache."""
    prefix = new_cache(kind)
    feed(model, PREFIX, prefix)
    first, second = prefix.clone(), prefix.clone()
    feed(model, BRANCH_A, first)
    branch = feed(model, BRANCH_B, second)
    fresh = new_cache(kind)
    feed(model, PREFIX, fresh)
    assert torch.equal(branch, feed(model, BRANCH_B, fresh))  # to the bit
    assert (prefix.position, first.position, second.position) == (4, 7, 7)
    after_a = KVCache(2)
    feed(model, PREFIX, after_a)
    feed(model, BRANCH_A, after_a)
    assert torch.equal(feed(model, [7], first), feed(model, [7], after_a))  # B left nothing in A either
    assert torch.equal(prefix.layers[1].stored()[0], fresh.layers[1].stored()[0][:, :, :4])
    assert type(first.layers[0]) is KINDS[kind] and first.max_length == prefix.max_length


def test_looking_at_the_next_token_appends_nothing(model):
    """transformers#37078: asking for the next token's probabilities stored a token each time."""
    cache = KVCache(2)
    feed(model, PREFIX[:-1], cache)
    looks = []
    for _ in range(2):
        logits = feed(model, PREFIX[-1:], cache.clone())[-1]
        looks.append(next_token_distribution(logits, SamplingParams()).probs)
        assert cache.position == 3
    assert torch.equal(*looks)


@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_truncating_takes_tokens_back(model, kind):
    cache = new_cache(kind)
    feed(model, PREFIX + BRANCH_A, cache)
    cache.truncate(4)
    assert cache.position == 4
    fresh = feed(model, PREFIX + BRANCH_B, new_cache(kind))
    torch.testing.assert_close(feed(model, BRANCH_B, cache), fresh[4:], atol=1e-5, rtol=0)
    cache.truncate(100)
    assert cache.position == 7


def test_truncating_lowers_the_bytes():
    cache = filled(10)
    cache.truncate(4)
    assert cache.num_bytes == filled(4).num_bytes


def test_one_row_becomes_many_that_share_a_past(model):
    cache = KVCache(2)
    feed(model, PREFIX, cache)
    cache.select_rows([0, 0, 0])
    rows = model(torch.tensor([BRANCH_A, BRANCH_B, BRANCH_A]), cache)
    for row, branch in zip(rows, (BRANCH_A, BRANCH_B, BRANCH_A), strict=True):
        alone = feed(model, PREFIX + branch, KVCache(2))[4:]
        torch.testing.assert_close(row, alone, atol=1e-5, rtol=0)


def test_rows_are_picked_with_all_their_keys():
    """transformers#46612: the rows of a batch were reordered, their cache was not."""
    cache = filled(5, rows=3)
    cache.select_rows([2, 0, 0])
    for layer in cache.layers:
        keys, values = layer.stored()
        assert keys[:, 0, 0, 0].tolist() == [2000, 0, 0] and torch.equal(values, -keys)


def test_a_row_that_leaves_takes_nothing_from_the_others():
    """omlx#2172: when a finished row was dropped, the next token overwrote a key of a row that went on."""
    cache = filled(5, rows=2)
    cache.select_rows([1])
    for layer in range(2):
        keys, _ = cache.update(numbered(5, 1, rows=2)[0][1:], numbered(5, 1, rows=2)[1][1:], layer)
        assert torch.equal(keys, numbered(0, 6, rows=2)[0][1:])
    assert cache.position == 6


# ---- a pass is all or nothing


class StopsInside(LayerCache):
    """Is interrupted in its `after`-th update, when other layers have stored the token already."""

    after = 99

    def update(self, keys, values):
        self.after -= 1
        if self.after < 0:
            raise KeyboardInterrupt
        return super().update(keys, values)


@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_a_pass_that_is_interrupted_leaves_the_cache_as_it_was(model, kind):
    cache = new_cache(kind)
    cache.layers[1] = StopsInside()
    feed(model, PREFIX, cache)
    cache.layers[1].after = 0
    before = [[tensor.clone() for tensor in layer.stored()] for layer in cache.layers]
    with pytest.raises(KeyboardInterrupt):
        feed(model, BRANCH_A, cache)
    cache.layers[1].after = 99
    assert [layer.seen for layer in cache.layers] == [4, 4] and cache.token_ids.tolist() == [PREFIX]
    for layer, tensors in zip(cache.layers, before, strict=True):
        assert all(torch.equal(now, then) for now, then in zip(layer.stored(), tensors, strict=True))
    right = feed(model, PREFIX + BRANCH_B, KVCache(2))[4:]
    torch.testing.assert_close(feed(model, BRANCH_B, cache), right, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            tiny_model().to(torch.bfloat16),
            r"2 KV heads of size 16 in torch\.float32, got 2 of size 16 in torch\.bfloat16",
        ),
        (tiny_model(replace(TINY, num_kv_heads=4)), "2 KV heads of size 16 .* got 4 of size 16"),
        (tiny_model(replace(TINY, head_dim=32)), "2 KV heads of size 16 .* got 2 of size 32"),
        (tiny_model(replace(TINY, num_layers=4)), "the cache has 2 layers, the model 4"),
        (tiny_model(replace(TINY, num_layers=1)), "the cache has 2 layers, the model 1"),
    ],
)
def test_a_cache_of_another_model_is_refused_and_stays_as_it_was(model, other, message):
    """TransformerLens#1260, vllm#54338: lengths 4, 3, 3, 3 after a raw torch error. transformers#27985: an IndexError
    with half of the layers written."""
    cache = KVCache(2)
    feed(model, PREFIX, cache)
    with pytest.raises(ValueError, match=message):
        feed(other, BRANCH_A, cache)
    assert [layer.seen for layer in cache.layers] == [4, 4]
    right = feed(model, PREFIX + BRANCH_A, KVCache(2))[4:]
    torch.testing.assert_close(feed(model, BRANCH_A, cache), right, atol=1e-5, rtol=0)


@pytest.mark.parametrize("num_layers", [0, 1, 8])
def test_a_cache_of_other_layers_is_refused(model, num_layers):
    with pytest.raises(ValueError, match=f"the cache has {num_layers} layers, the model 2"):
        feed(model, PREFIX, KVCache(num_layers))


@pytest.mark.parametrize("length", [-2, -9])
def test_a_length_below_0_is_refused(length):
    """transformers#47433: cutting 5 tokens to -2 left a position of -2."""
    cache = filled(5)
    with pytest.raises(ValueError, match=f"length must be a whole number from 0 up, got {length}"):
        cache.truncate(length)
    assert cache.position == 5
    cache.truncate(0)
    assert (cache.position, cache.num_bytes) == (0, 0)


@pytest.mark.parametrize("rows", [[], [3], [-1], [0.5], [True], 2])
def test_rows_that_a_cache_does_not_have_are_refused(rows):
    cache = filled(4, rows=3)
    with pytest.raises(ValueError, match=r"rows must be|at least one row"):
        cache.select_rows(rows)
    assert len(cache.layers[0]) == 3
    cache.select_rows(torch.tensor([2, 0]))
    assert cache.layers[1].stored()[0][:, 0, 0, 0].tolist() == [2000, 0]


@pytest.mark.parametrize("rows", [[0, 1, 2, 0], [3, 2, 1, 0]], ids=["moved in place", "copied"])
def test_picking_rows_that_is_interrupted_leaves_the_cache_as_it_was(monkeypatch, rows):
    """Rows move inside the buffers where most of them stay: half of the layers had the new rows, half the old."""
    cache = filled(4, rows=4)
    before = [[tensor.clone() for tensor in layer.stored()] for layer in cache.layers]
    layer, change_buffers = cache.layers[1], cache.layers[1].change_buffers

    def interrupted(change):
        change_buffers(change)
        raise KeyboardInterrupt

    monkeypatch.setattr(layer, "change_buffers", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache.select_rows(rows)
    for kept, tensors in zip(cache.layers, before, strict=True):
        assert all(torch.equal(now, then) for now, then in zip(kept.stored(), tensors, strict=True))
    monkeypatch.undo()
    cache.select_rows(rows)
    assert cache.layers[1].stored()[0][:, 0, 0, 0].tolist() == [1000 * row for row in rows]


def test_a_cache_changed_in_inference_mode_goes_on_outside_of_it(model):
    """A copy made there could not be written any more."""
    cache = KVCache(2)
    feed(model, PREFIX, cache)
    with torch.inference_mode():
        twin = cache.clone()
        twin.select_rows([0])
    assert torch.equal(feed(model, BRANCH_A, twin), feed(model, BRANCH_A, cache))


def test_a_cache_keeps_its_own_copy_of_the_ids(model):
    ids, cache = torch.tensor([PREFIX]), KVCache(2)
    model(ids, cache)
    ids[0, :] = 1
    twin = cache.clone()
    model(torch.tensor([[7]]), twin)
    assert (cache.token_ids.tolist(), twin.token_ids.tolist()) == ([PREFIX], [[*PREFIX, 7]])


def test_a_cache_cut_to_nothing_is_like_new(model):
    cache = KVCache(2)
    model(torch.tensor([BRANCH_A, BRANCH_B]), cache)
    cache.truncate(0)
    assert (cache.position, cache.allocated_bytes, cache.token_ids.numel()) == (0, 0, 0)
    assert torch.equal(feed(model, PREFIX, cache), feed(model, PREFIX, KVCache(2)))


def test_layers_that_keep_and_layers_that_do_not_are_not_mixed():
    with pytest.raises(ValueError, match="either all layers keep tokens or none does"):
        KVCache(2, [NoCache(), LayerCache()])
    assert [type(layer) for layer in KVCache(2, NoCache).layers] == [NoCache] * 2


def test_an_empty_layer_has_nothing_to_show():
    for cache in (KVCache(1), KVCache(1, "none")):
        with pytest.raises(ValueError, match="holds nothing"):
            cache.layers[0].stored()


def test_a_cache_is_made_for_a_model(model):
    assert len(KVCache.of(model).layers) == 2 and KVCache.of(model, "static", 9).max_length == 9
    assert len(KVCache(np.int64(3), "static", np.int32(9)).layers) == 3
    with pytest.raises(ValueError, match="num_layers must be a whole number from 0 up, got -1"):
        KVCache(-1)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="holds 2 rows, got keys of 3"):
        filled(5, rows=2).update(*numbered(5, 1, rows=3), 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "big"}, "kind must be one of dynamic, none, static.*'big'"),
        ({"kind": "static"}, "max_length goes with"),
        ({"max_length": 5}, "max_length goes with"),
        ({"kind": "static", "max_length": 0}, "max_length must be a whole number from 1 up, got 0"),
    ],
)
def test_a_cache_that_cannot_be_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        KVCache(TINY.num_layers, **settings)
