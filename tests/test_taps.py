"""A tap sees the passes of its own thread, changes nothing, and its weights are those the model uses."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from conftest import tiny_model

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.taps import VALUES, tapped

IDS = [[5, 9, 2, 40, 17]]


def run(model: Transformer, ids=IDS, cache: KVCache | None = None) -> torch.Tensor:
    return model(torch.tensor(ids), cache or KVCache(model.config.num_layers))


def test_a_tap_changes_no_bit_of_the_logits(model):
    plain = run(model)
    for value in VALUES:
        with tapped(model, value):
            assert torch.equal(run(model), plain), value


def test_each_row_of_weights_sums_to_1_and_reads_no_later_key(model):
    with tapped(model, "weights") as weights:
        run(model)
    assert len(weights.passes[-1]) == model.config.num_layers
    for layer in range(model.config.num_layers):
        assert weights[layer].shape == (1, 4, 5, 5)
        torch.testing.assert_close(weights[layer].sum(-1), torch.ones(1, 4, 5))
        assert (weights[layer].triu(1) == 0).all()


@pytest.mark.parametrize("split", [[5], [3, 2], [4, 1], [1, 1, 1, 1, 1]])
def test_weights_times_values_is_what_the_layer_reads(model, split):
    """However the text is cut into chunks: the last row of the weights mixes the values into the same output."""
    cache, start = KVCache(model.config.num_layers), 0
    with tapped(model, "weights") as weights, tapped(model, "values") as values, tapped(model, "hidden") as hidden:
        for length in split:
            run(model, [IDS[0][start : start + length]], cache)
            start += length
    shared = model.config.num_heads // model.config.num_kv_heads
    read = weights[0] @ values[0].repeat_interleave(shared, 1)  # (B, H, T, D)
    block = model.blocks[0]
    after = hidden[0] + read.transpose(1, 2).flatten(2) @ block.attention.output.T
    normed = torch.nn.functional.rms_norm(after, after.shape[-1:], block.feed_forward_norm, block.eps)
    torch.testing.assert_close(after + block.feed_forward(normed), hidden[1], atol=1e-5, rtol=1e-5)


def test_scores_before_the_mask_become_the_weights(model):
    with tapped(model, "scores") as scores, tapped(model, "weights") as weights:
        run(model)
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    for layer in range(model.config.num_layers):
        assert torch.isfinite(scores[layer]).all()  # also those that the mask hides
        torch.testing.assert_close(scores[layer].masked_fill(later, -torch.inf).softmax(-1), weights[layer])


def test_every_pass_is_kept_and_copied(model):
    """The cache writes on; what a tap has read stays as it was."""
    cache = KVCache(model.config.num_layers)
    with tapped(model, "keys") as keys:
        run(model, [[5, 9]], cache)
        first = keys[0].clone()
        cache.truncate(1)
        run(model, [[33]], cache)
    assert [len(one) for one in keys.passes] == [2, 2]
    assert torch.equal(keys.passes[0][0], first)
    assert not torch.equal(keys.passes[1][0], first)


def test_another_thread_is_not_recorded(model):
    with tapped(model) as weights:
        other = threading.Thread(target=run, args=(model,))
        other.start()
        other.join()
        assert not weights.passes
        run(model)
    assert len(weights.passes) == 1


def test_another_task_is_not_recorded(model):
    """Both wait for each other inside their passes' `with`, as two visitors of one server do."""

    async def visitor(ids, arrive, wait):
        with tapped(model, "hidden") as hidden:
            arrive.set()
            await wait.wait()
            run(model, [ids])
            return [one[0].shape[1] for one in hidden.passes]

    async def both():
        one, two = asyncio.Event(), asyncio.Event()
        return await asyncio.gather(visitor([1, 2, 3], one, two), visitor([4, 5], two, one))

    with ThreadPoolExecutor(1) as thread:  # browser tests of the same session keep a loop running in this one
        assert thread.submit(lambda: asyncio.run(both())).result() == [[3], [2]]


def test_another_model_is_not_recorded(model):
    with tapped(model) as weights:
        run(tiny_model())
    assert not weights.passes


def test_a_closed_tap_is_closed_even_after_an_error(model):
    with pytest.raises(RuntimeError), tapped(model) as weights:
        raise RuntimeError
    run(model)
    assert not weights.passes
    with pytest.raises(LookupError, match="recorded nothing"):
        weights[0]


def test_an_unknown_value_is_named(model):
    with pytest.raises(ValueError, match="'wieghts'"), tapped(model, "wieghts"):
        pass
