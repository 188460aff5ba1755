"""What a new kind of cache takes, on a window and on one that is written here alone, held against the slow ways."""

import pytest
import torch
import transformers
from conftest import TINY, tiny_model

from benchmarks.against_transformers import in_transformers
from playground.engine.cache_kinds import LayerCache, NoCache
from playground.engine.forgetting_caches import SlidingLayerCache as Sliding
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams
from playground.models.adapter import TransformersDecoder

TOKENS = [5, 9, 2, 44, 60, 0, 17, 17, 3, 28, 31, 12, 8, 50, 33]
CHUNKS = [[15], [9, 1, 5], [4, 4, 4, 3], [3, 1, 1, 5, 1, 4], [1] * 15]
GREEDY = SamplingParams(temperature=0)


class EightBit(LayerCache):
    """Whole numbers from 0 to 255 with a lowest value and a step for each row of each head."""

    def encode(self, name, rows):
        low, high = rows.aminmax(dim=-1, keepdim=True)
        step = ((high - low) / 255).clamp(min=1e-12)
        return {name: ((rows - low) / step).round().to(torch.uint8), f"{name} low": low, f"{name} step": step}

    def decode(self, name, stored):
        return stored[f"{name} low"] + stored[name] * stored[f"{name} step"]


class RoundedWhole(NoCache):
    """The judge of EightBit: no cache, and every key and value rounded, number by number, before it is read."""

    def update(self, keys, values):
        return rounded(keys), rounded(values), torch.arange(keys.shape[2])


def rounded(rows: torch.Tensor) -> torch.Tensor:
    flat = rows.reshape(-1, rows.shape[-1]).tolist()
    for row in flat:
        low, step = min(row), (max(row) - min(row)) / 255
        row[:] = [low + round((number - low) / step) * step for number in row]
    return torch.tensor(flat).view(rows.shape)


KINDS = {
    "window": Sliding(4),
    "window and sinks": Sliding(4, sinks=2),
    "window of 1": Sliding(1),
    "wider than the text": Sliding(40),
    "8 bit": EightBit(),
}


@pytest.fixture(scope="module")
def theirs(model) -> transformers.PreTrainedModel:
    return in_transformers(model)


def judged(model: Transformer, theirs, kind: LayerCache, ids: list[int]) -> torch.Tensor:
    """(T, V) without any cache: windowed attention over the whole text by transformers, dequantised by ours."""
    if isinstance(kind, EightBit):
        return model(torch.tensor([ids]), KVCache.of(model, RoundedWhole()))[0]
    mask = torch.full((1, 1, len(ids), len(ids)), torch.finfo(torch.float32).min)
    for query in range(len(ids)):
        for key in range(query + 1):
            if query - key < kind.window or key < kind.sinks:
                mask[0, 0, query, key] = 0
    return theirs(torch.tensor([ids]), attention_mask=mask).logits[0]


def fed(model, cache: KVCache, sizes: list[int], ids: list[int] = TOKENS) -> torch.Tensor:
    return torch.cat([model(chunk, cache) for chunk in torch.tensor([ids]).split(sizes, dim=1)], 1)[0]


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
@pytest.mark.parametrize("sizes", CHUNKS, ids=str)
def test_any_chunking_gives_what_the_slow_way_gives(model, theirs, kind, sizes):
    """litgpt#2182: a prompt longer than the window was cut first and read afterwards. nanochat#452: decoding forgot the
    window. unsloth-zoo#691: mask and keys disagreed where a chunk crossed it."""
    right = judged(model, theirs, kind, TOKENS)
    torch.testing.assert_close(fed(model, KVCache.of(model, kind), sizes), right, atol=1e-4, rtol=0)
    adapted = TransformersDecoder(theirs)
    torch.testing.assert_close(fed(adapted, KVCache.of(adapted, kind), sizes), right, atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_generating_with_it_is_generating_the_slow_way(model, theirs, kind):
    text = list(TOKENS)
    for _ in range(8):
        text.append(int(judged(model, theirs, kind, text)[-1].argmax()))
    for decoder in (model, TransformersDecoder(theirs)):
        steps = list(generate(decoder, TOKENS, GREEDY, KVCache.of(decoder, kind), 8))
        assert [step.token_id for step in steps] == text[len(TOKENS) :]
        assert [step.num_fed for step in steps] == [15] + [1] * 7


def test_a_window_holds_as_many_tokens_as_it_is_wide(model):
    """mlx-lm#950: max - 1, or a negative size. transformers#35350: the position became the number of kept rows."""
    for kind, held in ((Sliding(4), [4, 4, 4, 4]), (Sliding(4, sinks=2), [4, 5, 6, 6])):
        for length, right in zip((4, 5, 9, 100), held, strict=True):
            cache = KVCache.of(model, kind)
            fed(model, cache, [length], [7] * length)
            layer = cache.layers[0]
            assert (len(layer.positions), cache.position, layer.seen) == (right, length, length)
            assert layer.positions[-4:].tolist() == list(range(length - 4, length))
            assert layer.num_bytes == right * 2 * 2 * 16 * 4


def test_what_is_announced_is_what_is_returned(model):
    """VeloxQuant-MLX#370: a mask made before tokens were dropped had another width than the keys."""
    layer = Sliding(4, sinks=1)
    for num_new in (3, 1, 1, 6, 1, 2):
        announced = layer.upcoming(num_new)
        keys, _, positions = layer.update(*torch.randn(2, 1, 2, num_new, 16))
        assert announced.tolist() == positions.tolist() and keys.shape[2] == len(positions)
        mask = layer.mask(positions, num_new)
        assert mask is None if num_new == 1 else mask.shape == (num_new, len(positions))


def test_a_window_hides_what_is_outside_of_it(model):
    """nanochat#452: decoding at position 10 with a window of 3, another token at 5 changed the logits."""
    changed = [*TOKENS[:5], 1, *TOKENS[6:]]
    one_layer = tiny_model(type(TINY)(**{**vars(TINY), "num_layers": 1}))
    rows = [fed(one_layer, KVCache.of(one_layer, Sliding(3)), [10, 1], ids[:11])[-1] for ids in (TOKENS, changed)]
    assert torch.equal(*rows)


def test_eight_bits_round_by_half_a_step_at_most():
    """transformers#35185: [-1, -.5, 0, 2] comes back as [-1, -.5059, 0, 2]."""
    rows = torch.tensor([-1.0, -0.5, 0, 2]).view(1, 1, 1, 4)
    keys, values, _ = EightBit().update(rows, -rows)
    assert keys.flatten().tolist() == pytest.approx([-1, -0.5059, 0, 2], abs=1e-4)
    assert (values + rows).abs().max() <= 3 / 255 / 2 + 1e-6
    assert keys.flatten().tolist() == pytest.approx(rounded(rows).flatten().tolist(), abs=1e-6)


def test_eight_bits_cost_a_quarter_and_two_scales(model):
    cache = KVCache.of(model, EightBit())
    fed(model, cache, [15])
    assert cache.bytes_per_layer() == [15 * 2 * 2 * (16 * 1 + 2 * 4)] * 2  # K and V, heads; numbers and scales
    assert set(cache.layers[0].buffers) == {
        f"{name}{part}" for name in ("keys", "values") for part in ("", " low", " step")
    }


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_copies_rows_and_resets_take_all_of_it_along(model, kind):
    """transformers#45510: picking rows touched only a part of what a quantized layer stores."""
    two = torch.tensor([TOKENS, TOKENS[::-1]])
    batch = KVCache.of(model, kind)
    model(two[:, :11], batch)
    branch, first = batch.clone(), batch.clone([1])
    batch.select_rows([1, 1, 0])
    model(two[[1, 1, 0], 11:], batch)
    alone = KVCache.of(model, kind)
    model(two[1:, :11], alone)
    right = model(two[1:, 11:], alone)
    torch.testing.assert_close(model(two[1:, 11:], first), right, atol=1e-5, rtol=0)
    torch.testing.assert_close(model(two[:, 11:], branch)[1:], right, atol=1e-5, rtol=0)
    assert batch.layers[1].stored()[0].shape[0] == 3 and batch.token_ids.tolist() == two[[1, 1, 0]].tolist()
    batch.reset()
    assert (batch.position, batch.allocated_bytes, type(batch.layers[0])) == (0, 0, type(kind))
    torch.testing.assert_close(
        fed(model, batch, [9, 6])[None], model(two[:1], KVCache.of(model, kind)), atol=1e-5, rtol=0
    )


def test_what_has_been_forgotten_can_not_be_gone_back_to(model):
    cache = KVCache.of(model, Sliding(4))
    fed(model, cache, [15])
    with pytest.raises(ValueError, match="can't go back to 9 tokens: it has forgotten some"):
        cache.truncate(9)
    assert cache.position == 15
    steps = list(generate(model, [*TOKENS[:9], 1, 2], GREEDY, cache, 3))  # so this begins anew, and says so
    assert [step.num_fed for step in steps] == [11, 1, 1]
    fresh = generate(model, [*TOKENS[:9], 1, 2], GREEDY, KVCache.of(model, Sliding(4)), 3)
    assert [step.token_id for step in steps] == [step.token_id for step in fresh]


def test_layers_may_be_of_different_kinds(model):
    cache = KVCache.of(model, [Sliding(3), LayerCache()])
    fed(model, cache, [10, 5])
    assert [len(layer.positions) for layer in cache.layers] == [3, 15]
    with pytest.raises(ValueError, match="3 kinds of layer were given for a cache of 2 layers"):
        KVCache.of(model, [LayerCache()] * 3)


def test_a_transformers_model_alone_is_told_that_it_can_not_mask_for_it(theirs):
    cache = KVCache(2, Sliding(4))
    with pytest.raises(ValueError, match=r"playground\.models\.adapter"):
        theirs(torch.tensor([TOKENS]), cache=cache, use_cache=True)
