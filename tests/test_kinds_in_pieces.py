"""Every kind of cache against its slow, obvious way, for any text fed in any pieces."""

from dataclasses import replace
from itertools import accumulate

import pytest
import torch
from conftest import TINY, tiny_model
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_caches import PlainHeavyHitters, PlainQuantized, PlainStreaming, PlainWindow, rounded_group

from playground.engine.cache_kinds import ConcatenatedLayerCache, LayerCache, NoCache, StaticLayerCache
from playground.engine.forgetting_caches import (
    HeavyHitterLayerCache,
    SlidingLayerCache,
    StaticSlidingLayerCache,
    StreamingLayerCache,
)
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import rotary_tables
from playground.engine.paged_cache import BlockPool
from playground.engine.params import SamplingParams
from playground.engine.placed_caches import OffloadedLayerCache, ShardedLayerCache, split_by_heads, split_by_layers
from playground.engine.quantized_cache import CHANNEL, TOKEN, QuantizedLayerCache, packed, unpacked

GREEDY = SamplingParams(temperature=0)
ROW_BYTES = 2 * 16 * 4  # of a token in one layer of the tiny model, keys or values: KV heads, head size, float32


@st.composite
def texts_in_pieces(draw, most: int = 26) -> tuple[list[int], list[int]]:
    """Token ids, and the sizes of the passes that feed them."""
    ids = draw(st.lists(st.integers(0, TINY.vocab_size - 1), min_size=1, max_size=most))
    cuts = draw(st.sets(st.integers(1, len(ids)), max_size=8)) | {len(ids)}
    ends = sorted(cuts)
    return ids, [end - start for start, end in zip([0, *ends], ends, strict=False)]


def fed(model, cache: KVCache, ids: list[int], sizes: list[int]) -> torch.Tensor:
    """(T, V)"""
    return torch.cat([model(piece, cache) for piece in torch.tensor([ids]).split(sizes, dim=1)], 1)[0]


def whole(model, kind: LayerCache, ids: list[int]) -> torch.Tensor:
    return model(torch.tensor([ids]), KVCache.of(model, kind))[0]


def assert_same(ours: torch.Tensor, right: torch.Tensor) -> None:
    torch.testing.assert_close(ours, right, atol=1e-4, rtol=0)


@settings(max_examples=40)
@given(texts_in_pieces(), st.integers(1, 9), st.integers(0, 4))
def test_windows_in_any_pieces(model, text, window, sinks):
    ids, sizes = text
    right = whole(model, PlainWindow(window, sinks), ids)
    assert_same(fed(model, KVCache.of(model, SlidingLayerCache(window, sinks)), ids, sizes), right)
    if not sinks:
        static = KVCache.of(model, StaticSlidingLayerCache(window))
        assert_same(fed(model, static, ids, sizes), right)
        held = range(max(0, len(ids) - window), len(ids))
        assert sorted(static.layers[0].positions.tolist()) == list(held)
        assert static.num_bytes == 2 * 2 * window * ROW_BYTES  # two layers, keys and values


@settings(max_examples=30)
@given(texts_in_pieces(), st.integers(1, 9), st.integers(0, 4))
def test_positions_inside_the_cache_in_any_pieces(model, text, window, sinks):
    ids, sizes = text
    rotary = model.cos, model.signed_sin
    right = whole(model, PlainStreaming(window, sinks, rotary), ids)
    assert_same(fed(model, KVCache.of(model, StreamingLayerCache(window, sinks, rotary)), ids, sizes), right)


def test_positions_inside_the_cache_differ_from_those_in_the_text_once_it_is_full(model):
    """Up to there both are windowed attention."""
    ids, rotary = list(range(1, 20)), (model.cos, model.signed_sin)
    ours = whole(model, StreamingLayerCache(5, 2, rotary), ids)
    other = whole(model, SlidingLayerCache(5, 2), ids)
    assert_same(ours[:7], other[:7])
    assert (ours[7:] - other[7:]).abs().amax(-1).min() > 1e-3


@settings(max_examples=40)
@given(texts_in_pieces(), st.integers(1, 9), st.integers(1, 9))
def test_heavy_hitters_in_any_pieces(model, text, budget, recent):
    ids, sizes = text
    kind = HeavyHitterLayerCache(max(budget, recent), min(budget, recent))
    right = whole(model, PlainHeavyHitters(kind.budget, kind.recent), ids)
    cache = KVCache.of(model, kind)
    assert_same(fed(model, cache, ids, sizes), right)
    for layer in cache.layers:
        last = set(range(max(0, len(ids) - kind.recent), len(ids)))
        for positions in layer.positions.expand(2, -1).tolist():
            assert len(positions) == min(len(ids), kind.budget) and positions == sorted(set(positions))
            assert last <= set(positions)
        # and in each head what the token has been read
        assert layer.num_bytes == layer.positions.shape[-1] * (2 * ROW_BYTES + 2 * 4)


@settings(max_examples=30)
@given(
    texts_in_pieces(),
    st.sampled_from([8, 4, 2]),
    st.integers(1, 5),
    st.integers(0, 6),
    st.sampled_from([TOKEN, CHANNEL]),
)
def test_quantized_in_any_pieces(model, text, bits, block, tail, keys_by):
    ids, sizes = text
    values_by = CHANNEL if keys_by == TOKEN else TOKEN
    by = {"keys": keys_by, "values": values_by}
    cache = KVCache.of(model, QuantizedLayerCache(bits, block, tail, keys_by, values_by))
    right = whole(model, PlainQuantized(sizes, bits, block, tail, by), ids)
    assert_same(fed(model, cache, ids, sizes), right)
    assert cache.layers[0].num_quantized == max(0, len(ids) - tail) // block * block


@settings(max_examples=25)
@given(texts_in_pieces(), st.integers(1, 7))
def test_kinds_that_keep_all_in_any_pieces(model, text, block_size):
    ids, sizes = text
    right = whole(model, NoCache(), ids)
    kinds = [ConcatenatedLayerCache(), StaticLayerCache(40), ShardedLayerCache(2), ShardedLayerCache(4)]
    caches = [KVCache.of(model, kind) for kind in (*kinds, OffloadedLayerCache())]
    for cache in (*caches, BlockPool(2, block_size).cache()):
        assert_same(fed(model, cache, ids, sizes), right)


KINDS = {
    "window": SlidingLayerCache(7),
    "sinks": SlidingLayerCache(7, 2),
    "positions in the cache": StreamingLayerCache(7, 2, rotary_tables(TINY)),
    "static window": StaticSlidingLayerCache(7),
    "heavy hitters": HeavyHitterLayerCache(7, 3),
    "quantized": QuantizedLayerCache(4, 4, 4),
    "concatenated": ConcatenatedLayerCache(),
    "sharded": ShardedLayerCache(2),
    "in a file": OffloadedLayerCache(),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_pass_that_fails_leaves_the_cache_as_it_was(model, kind):
    """A token that fails in the second layer has already been written in the first."""
    ids = list(range(1, 20))
    for failing in ([33], [33, 34, 35]):
        cache = KVCache.of(model, kind)
        fed(model, cache, ids, [12, 1, 6])
        right = fed(model, cache.clone(), [5, 7, 9], [1, 2])
        broken, works = cache.layers[1], cache.layers[1].update
        broken.update = lambda *_: 1 / 0
        with pytest.raises(ZeroDivisionError):
            model(torch.tensor([failing]), cache)
        broken.update = works
        assert cache.position == 19
        assert_same(fed(model, cache, [5, 7, 9], [1, 2]), right)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "heavy hitters"])
def test_rows_are_picked_with_all_that_a_layer_stores(model, name):
    """transformers#45510: picking rows touched only the unquantized tail of a quantized layer."""
    two = torch.tensor([list(range(1, 16)), list(range(40, 25, -1))])
    batch, alone = KVCache.of(model, KINDS[name]), KVCache.of(model, KINDS[name])
    model(two[:, :11], batch)
    model(two[1:, :11], alone)
    right = model(two[1:, 11:], alone)
    assert_same(model(two[1:, 11:], batch.clone([1])), right)
    batch.select_rows([1, 1, 0])
    assert_same(model(two[[1, 1, 0], 11:], batch)[:2], right.expand(2, -1, -1))


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_generating_goes_on_where_the_cache_ends(model, kind):
    steps = list(generate(model, list(range(1, 16)), GREEDY, KVCache.of(model, kind), 9))
    assert [step.num_fed for step in steps] == [15] + [1] * 8
    again = KVCache.of(model, kind)
    other = [step.token_id for step in generate(model, list(range(3, 30)), GREEDY, again, 3)]
    assert len(other) == 3
    assert [step.token_id for step in generate(model, list(range(1, 16)), GREEDY, again, 9)] == [
        step.token_id for step in steps
    ]  # what it held of another text is dropped


# ---- what each costs


def copied_rows(model, kind: LayerCache, length: int) -> float:
    """How many rows of keys and values moved in a layer while tokens came one by one."""
    cache = KVCache.of(model, kind)
    fed(model, cache, [7] * length, [1] * length)
    return cache.layers[0].copied_bytes / (2 * ROW_BYTES)


def test_an_append_copies_what_its_kind_says(model):
    n, window = 100, 10
    assert copied_rows(model, ConcatenatedLayerCache(), n) == n * (n - 1) / 2  # 0 + 1 + ... + 99
    assert copied_rows(model, LayerCache(), n) == 64  # once, when the buffer of 64 was full
    assert copied_rows(model, StaticLayerCache(n), n) == 0
    assert copied_rows(model, StaticSlidingLayerCache(window), n) == 0
    assert copied_rows(model, SlidingLayerCache(window), n) == pytest.approx((n - window) * (window - 1), rel=0.02)


def test_heavy_hitters_keep_what_is_read_and_a_window_does_not(model):
    """One key that every query of a head likes: it stays in that head, whatever comes; the other head likes another."""
    layer = HeavyHitterLayerCache(budget=4, recent=2)
    keys = torch.zeros(1, 2, 12, 16)
    keys[:, 0, 3] = keys[:, 1, 5] = 5.0
    read, _, _ = layer.update(keys, keys)
    layer.watch(torch.ones(1, 4, 12, 16), read)
    first, second = layer.positions.tolist()
    assert 3 in first and 3 not in second and 5 in second and 5 not in first
    assert first[-2:] == second[-2:] == [10, 11]
    keys, _ = layer.stored()
    assert keys[0, 0, first.index(3), 0] == keys[0, 1, second.index(5), 0] == 5


def test_heavy_hitters_ask_to_see_the_queries(model):
    layer, rows = HeavyHitterLayerCache(4, 2), torch.zeros(1, 2, 3, 16)
    layer.update(rows, rows)
    with pytest.raises(ValueError, match="must see the queries of every pass"):
        layer.update(rows, rows)
    with pytest.raises(ValueError, match="holds one row, got 2"):
        HeavyHitterLayerCache(4, 2).update(rows.expand(2, -1, -1, -1), rows.expand(2, -1, -1, -1))


@pytest.mark.parametrize(
    ("bits", "right"), [(8, [-1, -0.5059, 0, 2]), (4, [-1, -0.6, 0, 2]), (2, [-1, -1, 0, 2])], ids=str
)
def test_numbers_are_rounded_by_half_a_step_at_most(bits, right):
    """transformers#35185: 4 bits broke one model and not another."""
    rows = torch.tensor([-1.0, -0.5, 0, 2]).view(1, 1, 1, 4)
    layer = QuantizedLayerCache(bits, block=1, tail=0, keys_by=TOKEN)
    layer.update(rows, -rows)
    keys, values = layer.stored()
    assert keys.flatten().tolist() == pytest.approx(right, abs=1e-4)
    assert torch.equal(keys.flatten(), rounded_group(rows.flatten(), bits))
    assert (values + rows).abs().max() <= 3 / (2**bits - 1) / 2 + 1e-6


@given(st.lists(st.integers(0, 3), max_size=20), st.sampled_from([2, 4, 8]))
def test_packing_loses_nothing(numbers, bits):
    codes = torch.tensor(numbers, dtype=torch.uint8)
    stored = packed(codes, bits)
    assert len(stored) == -(-len(numbers) * bits // 8)
    assert unpacked(stored, bits, len(numbers)).tolist() == numbers


def test_fewer_bits_cost_fewer_bytes(model):
    """A group of 16 numbers has a lowest value and a step of four bytes each."""
    for bits in (8, 4, 2):
        cache = KVCache.of(model, QuantizedLayerCache(bits, block=16, tail=16))
        fed(model, cache, [7] * 48, [48])
        numbers = 2 * 2 * 16 * 32  # keys and values, KV heads, head size, 32 tokens in whole blocks
        assert cache.bytes_per_layer() == [numbers * bits // 8 + numbers // 16 * 8 + 16 * 2 * ROW_BYTES] * 2


def test_sharded_by_heads_and_by_layers():
    config = replace(TINY, num_layers=4)
    model = tiny_model(config)
    for devices, share in ((2, 1 / 2), (4, 1 / 2)):  # two KV heads: with four devices each head is stored twice
        cache = KVCache.of(model, ShardedLayerCache(devices))
        fed(model, cache, [7] * 10, [10])
        split = split_by_heads(cache.layers, config.hidden_size, 4)
        assert split.bytes_per_device == [int(4 * 10 * 2 * ROW_BYTES * share)] * devices
        assert split.travelling_bytes == 4 * 2 * 2 * (devices - 1) * 64 * 4
    cache = KVCache.of(model)
    fed(model, cache, [7] * 10, [10])
    assert split_by_layers(cache.layers, 2, 64, 4).bytes_per_device == [cache.num_bytes // 2] * 2
    assert split_by_layers(cache.layers, 4, 64, 4).travelling_bytes == 3 * 64 * 4
    with pytest.raises(ValueError, match="2 KV heads can't be shared evenly by 3 devices"):
        fed(model, KVCache.of(model, ShardedLayerCache(3)), [7], [1])


def test_offloaded_rows_lie_in_files_that_go_with_the_cache(model):
    cache = KVCache.of(model, OffloadedLayerCache())
    fed(model, cache, [7] * 20, [20])
    files = [path for layer in cache.layers for path in layer.files()]
    assert len(files) == 4 and sum(path.stat().st_size for path in files) == cache.allocated_bytes
    twin = cache.clone()
    fed(model, twin, [8], [1])
    assert cache.position == 20 and twin.position == 21
    del cache, twin
    assert not any(path.exists() for path in files)


@pytest.mark.parametrize("prefix", [12, 64])
def test_what_has_gone_can_not_be_gone_back_to(model, prefix):
    for kind in (StaticSlidingLayerCache(7), HeavyHitterLayerCache(7, 3)):
        cache = KVCache.of(model, kind)
        fed(model, cache, [7] * prefix, [prefix])
        with pytest.raises(ValueError, match="has forgotten some"):
            cache.truncate(5)
        assert cache.position == prefix
    cache = KVCache.of(model, QuantizedLayerCache(2, 4, 4))
    fed(model, cache, [7] * prefix, [prefix])
    with pytest.raises(ValueError, match="has forgotten some"):
        cache.truncate(prefix - 8)
    cache.truncate(prefix - 2)
    assert cache.position == prefix - 2 and cache.layers[0].stored()[0].shape[2] == prefix - 2


def test_a_peek_and_a_growing_position(model):
    """mlx-lm#950, transformers#35350: after 4, 5, 9 and 100 tokens a window of 4 holds 4; the next position is 100."""
    for kind in (SlidingLayerCache(4), StaticSlidingLayerCache(4), HeavyHitterLayerCache(4, 2)):
        for length in accumulate([4, 1, 4, 91]):
            cache = KVCache.of(model, kind)
            fed(model, cache, [7] * length, [length])
            assert (cache.layers[0].positions.shape[-1], cache.position) == (4, length)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SlidingLayerCache(0), "window must be a whole number from 1 up"),
        (lambda: HeavyHitterLayerCache(3, 4), "budget must be a whole number from 4 up"),
        (lambda: QuantizedLayerCache(3), "8, 4 or 2 bits, got 3"),
        (lambda: QuantizedLayerCache(4, keys_by="row"), "by channel or by token, got 'row'"),
    ],
)
def test_a_kind_that_can_not_be_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
