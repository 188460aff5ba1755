"""Blocks that texts share: found by all tokens before them, and copied by whoever writes."""

import gc

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.paged_cache import BlockPool
from playground.engine.params import SamplingParams

PROMPT = [5, 9, 2, 44, 60, 0, 17, 17, 3, 28]
BLOCK_BYTES = 2 * 2 * 2 * 4 * 16 * 4  # keys and values, layers, KV heads, 4 tokens, head size, float32


def feed(model, cache: KVCache, ids: list[int]) -> torch.Tensor:
    return model(torch.tensor([ids]), cache)[0]


def test_only_whole_blocks_after_the_same_beginning_are_found(model):
    """openvino.genai#3722, vllm#12621: a block with the same tokens after another beginning was shared."""
    pool = BlockPool(2, block_size=4)
    first = pool.cache()
    feed(model, first, [1, 2, 3, 4, 5, 6, 7, 8])
    assert pool.cache([1, 2, 3, 4, 5, 6, 7, 8, 9]).position == 8
    assert pool.cache([1, 2, 3, 4, 5, 6, 7, 8]).position == 4  # the last token is left to be fed
    assert pool.cache([1, 2, 3, 4, 5, 6, 7]).position == 4
    assert pool.cache([9, 2, 3, 4, 5, 6, 7, 8, 9]).position == 0
    assert pool.cache([1, 2, 3]).position == 0


@settings(max_examples=30)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=40), st.integers(1, 9), st.integers(0, 40))
def test_hits_are_the_whole_blocks_of_what_is_common(model, ids, block_size, cut):
    """vllm#53749, #54607: none at all. The slow way compares the texts token by token."""
    pool = BlockPool(2, block_size)
    held = pool.cache()
    feed(model, held, ids)
    other = [*ids[:cut], 0, *ids[cut:]]
    common = 0
    while common < len(ids) and ids[common] == other[common]:
        common += 1
    cache = pool.cache(other)
    assert cache.position == min(common, len(other) - 1) // block_size * block_size
    right = feed(model, KVCache.of(model), other)[-1]
    torch.testing.assert_close(feed(model, cache, other[cache.position :])[-1], right, atol=1e-4, rtol=0)


def test_a_shared_prefix_is_stored_once_and_written_by_nobody(model):
    pool = BlockPool(2, block_size=4)
    first = pool.cache()
    feed(model, first, PROMPT)  # two whole blocks, and two tokens in a third
    twins = [first.clone() for _ in range(3)]
    assert pool.num_bytes == 3 * BLOCK_BYTES and pool.copied_bytes == 0
    before = [tensor.clone() for tensor in first.layers[1].stored()]
    rows = [feed(model, twin, [token])[-1] for twin, token in zip(twins, (7, 8, 9), strict=True)]
    assert pool.num_bytes == 6 * BLOCK_BYTES and pool.copied_bytes == 3 * BLOCK_BYTES  # each has its own third block
    assert all(torch.equal(now, then) for now, then in zip(first.layers[1].stored(), before, strict=True))
    for row, token in zip(rows, (7, 8, 9), strict=True):
        right = feed(model, KVCache.of(model), [*PROMPT, token])[-1]
        torch.testing.assert_close(row, right, atol=1e-4, rtol=0)
    feed(model, twins[0], [1])  # its block is its own now
    assert pool.copied_bytes == 3 * BLOCK_BYTES


def test_going_back_into_a_known_block_does_not_change_it(model):
    pool = BlockPool(2, block_size=4)
    cache = pool.cache()
    feed(model, cache, PROMPT[:8])
    cache.truncate(6)
    feed(model, cache, [1, 1])
    right = feed(model, KVCache.of(model), PROMPT)[8:]
    torch.testing.assert_close(feed(model, pool.cache(PROMPT), PROMPT[8:]), right, atol=1e-4, rtol=0)


def test_a_pass_that_fails_leaves_table_and_blocks_as_they_were(model):
    pool = BlockPool(2, block_size=4)
    cache = pool.cache()
    feed(model, cache, PROMPT)
    twin, table = cache.clone(), list(cache.table)
    works = twin.layers[1].update
    twin.layers[1].update = lambda *_: 1 / 0
    with pytest.raises(ZeroDivisionError):
        feed(model, twin, [7, 8, 9])
    twin.layers[1].update = works
    assert twin.table == table and twin.position == 10
    right = feed(model, KVCache.of(model), [*PROMPT, 7])[-1:]
    torch.testing.assert_close(feed(model, twin, [7]), right, atol=1e-4, rtol=0)


def test_blocks_go_when_nobody_uses_them(model):
    pool = BlockPool(2, block_size=4)
    cache = pool.cache()
    feed(model, cache, PROMPT)
    gc.disable()
    try:
        del cache  # without a circle they go at once
        assert len(pool.blocks) == 2  # those that can be found again
        pool.forget_unused()
        assert pool.blocks == []
    finally:
        gc.enable()


def test_an_answer_goes_on_from_a_known_prefix(model):
    pool, greedy = BlockPool(2, block_size=4), SamplingParams(temperature=0)
    alone = [step.token_id for step in generate(model, PROMPT, greedy, None, 6)]
    first = list(generate(model, PROMPT, greedy, pool.cache(PROMPT), 6))
    again = list(generate(model, PROMPT, greedy, pool.cache(PROMPT), 6))
    assert [step.token_id for step in first] == [step.token_id for step in again] == alone
    assert (first[0].num_fed, again[0].num_fed) == (10, 2)


def test_other_rows_are_refused(model):
    cache = BlockPool(2).cache()
    with pytest.raises(ValueError, match="holds one row, got 2"):
        model(torch.tensor([[1], [2]]), cache)
    feed(model, cache, [1])
    with pytest.raises(ValueError, match="holds one row"):
        cache.select_rows([0, 0])
