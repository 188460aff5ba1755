"""The transformer against transformers' own, and its laws: causality, positions, masks, chunks."""

import pytest
import torch
import transformers
from conftest import TINY, tiny_model
from torch.nn import functional as F

from benchmarks.against_transformers import in_transformers
from playground.engine.cache_kinds import LayerCache
from playground.engine.kv_cache import KVCache
from playground.engine.model import ContextFullError, ModelConfig, Transformer, rotary_tables, rotate
from playground.models.checkpoint import load_tensors, tensors_of

TOKENS = torch.tensor([[5, 9, 2, 44, 60, 0, 17, 17, 3, 28, 31, 12]])

# Our switches and the class of transformers with that architecture.
ARCHITECTURES = {
    "qwen3": ({}, transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
    "untied": ({"tie_embeddings": False}, transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
    "one KV head": ({"num_kv_heads": 1}, transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
    "llama": ({"qk_norm": False, "rope_theta": 1e4}, transformers.LlamaConfig, transformers.LlamaForCausalLM),
    "qwen2": ({"qk_norm": False, "qkv_bias": True}, transformers.Qwen2Config, transformers.Qwen2ForCausalLM),
}


def randomised(config: ModelConfig) -> Transformer:
    """Biases and norm weights random too, so that none of them can be left out unnoticed."""
    ours = tiny_model(config)
    generator = torch.Generator().manual_seed(1)
    for parameter in ours.parameters():
        if parameter.ndim == 1:
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return ours


@pytest.fixture(scope="module", params=list(ARCHITECTURES))
def pair(request) -> tuple[Transformer, transformers.PreTrainedModel]:
    switches, config_class, model_class = ARCHITECTURES[request.param]
    ours = randomised(ModelConfig(**{**vars(TINY), **switches}))
    return ours, in_transformers(ours, config_class, model_class)


def fed_in_chunks(model: Transformer, tokens: torch.Tensor, sizes: list[int], kind: str = "dynamic") -> torch.Tensor:
    cache = KVCache(model.config.num_layers, kind, tokens.shape[1] if kind == "static" else None)
    return torch.cat([model(chunk, cache) for chunk in tokens.split(sizes, dim=1)], dim=1)


@pytest.mark.parametrize("sizes", [[12], [1] * 12, [4, 1, 5, 2]], ids=["whole", "token by token", "uneven chunks"])
def test_logits_are_those_of_transformers(pair, sizes):
    ours, theirs = pair
    torch.testing.assert_close(fed_in_chunks(ours, TOKENS, sizes), theirs(TOKENS).logits, atol=1e-4, rtol=0)


def test_rows_of_a_batch_are_those_of_transformers(pair):
    ours, theirs = pair
    tokens = torch.cat([TOKENS, TOKENS.flip(1), (TOKENS + 7) % 61])
    torch.testing.assert_close(fed_in_chunks(ours, tokens, [5, 7]), theirs(tokens).logits, atol=1e-4, rtol=0)


@pytest.mark.filterwarnings("ignore:`past_key_values` is deprecated")  # the only name that all of transformers 5 knows
@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_a_transformers_model_accepts_our_cache(pair, kind):
    ours, theirs = pair
    cache = KVCache(ours.config.num_layers, kind, 12 if kind == "static" else None)
    chunks = [
        theirs(chunk, past_key_values=cache, use_cache=True).logits for chunk in TOKENS.split([5, 1, 4, 2], dim=1)
    ]
    torch.testing.assert_close(torch.cat(chunks, 1), theirs(TOKENS).logits, atol=1e-5, rtol=0)
    assert cache.position == 12


def test_our_weights_come_back_under_the_names_of_checkpoints(pair):
    ours, _ = pair
    twin = Transformer(ours.config)
    load_tensors(twin, tensors_of(ours))
    assert torch.equal(fed_in_chunks(twin, TOKENS, [12]), fed_in_chunks(ours, TOKENS, [12]))


def test_last_only_gives_the_last_row(model):
    torch.testing.assert_close(model(TOKENS, KVCache(2), last_only=True)[:, 0], model(TOKENS, KVCache(2))[:, -1])


@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_a_prompt_fed_in_two_parts_gives_the_logits_of_the_whole(model, kind):
    """transformers#25420, #36536: with the cache on, the logits were others."""
    whole, parts = fed_in_chunks(model, TOKENS, [12], "none"), fed_in_chunks(model, TOKENS, [4, 8], kind)
    assert (whole - parts).abs().max() < 1e-5


def test_a_cached_step_continues_at_its_own_position(model):
    """mlx-lm#93: the token after a cached prompt was rotated as if it stood at position 0."""
    cache = KVCache(2)
    model(torch.tensor([[5, 6, 7]]), cache)
    assert cache.position == 3
    last = model(torch.tensor([[8]]), cache)[:, -1]
    whole = model(torch.tensor([[5, 6, 7, 8]]), KVCache(2))[:, -1]
    torch.testing.assert_close(last, whole, atol=1e-5, rtol=0)
    at_zero = model(torch.tensor([[8]]), KVCache(2))[:, -1]
    assert (whole - at_zero).abs().max() > 1e-2  # the test would see the fault


@pytest.mark.parametrize(("num_queries", "right"), [(1, [3.0]), (2, [2.5, 3.0])])
def test_fewer_queries_than_keys_stand_at_the_end(num_queries, right):
    """pytorch#108108: the causal flag aligned the first query with the first key, so [1.0, 1.5] came out."""
    values = torch.arange(1.0, 6.0).view(1, 1, 5, 1)
    queries, keys = torch.zeros(1, 1, num_queries, 1), torch.zeros(1, 1, 5, 1)
    mask = LayerCache().mask(torch.arange(5), num_queries)  # none for a single query: it may read all
    read = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    assert read.flatten().tolist() == pytest.approx(right)


def test_attention_over_a_cache_averages_all_that_came_before():
    """pytorch#108108, in our own layer: where all keys are alike, a query reads the mean of the values it sees."""
    model = randomised(ModelConfig(**{**vars(TINY), "num_layers": 1}))
    attention = model.blocks[0].attention
    rows = (TINY.num_heads + TINY.num_kv_heads) * TINY.head_dim
    attention.qkv[:rows] = 0  # queries and keys
    x, cache = torch.randn(1, 5, TINY.hidden_size, generator=torch.Generator().manual_seed(2)), KVCache(1)
    values = F.linear(x, attention.qkv[rows:]).view(5, TINY.num_kv_heads, 1, TINY.head_dim)
    means = values.cumsum(0) / torch.arange(1, 6).view(5, 1, 1, 1)
    right = F.linear(means.expand(-1, -1, 2, -1).reshape(5, -1), attention.output)
    for start, end in ((0, 3), (3, 5)):  # two queries over five keys at last
        rotary = model.cos[start:end], model.signed_sin[start:end]
        read = attention(x[:, start:end], rotary, cache.layers[0], 0)
        torch.testing.assert_close(read[0], right[start:end], atol=1e-5, rtol=0)


def test_a_later_token_changes_nothing_before_it(model):
    changed = TOKENS.clone()
    changed[0, 8] = 1
    before, after = (fed_in_chunks(model, tokens, [12]) for tokens in (TOKENS, changed))
    assert torch.equal(before[:, :8], after[:, :8])
    assert not torch.allclose(before[:, 8:], after[:, 8:], atol=1e-3)


def test_rotation_by_position_leaves_only_the_distance_in_a_score():
    cos, signed_sin = rotary_tables(TINY)
    query, key = torch.randn(2, 1, 1, 1, TINY.head_dim, generator=torch.Generator().manual_seed(0))

    def score(query_position: int, key_position: int) -> float:
        turned = [
            rotate(head, cos[[position]], signed_sin[[position]])
            for head, position in ((query, query_position), (key, key_position))
        ]
        return float((turned[0] * turned[1]).sum())

    assert score(7, 3) == pytest.approx(score(104, 100), abs=1e-4)
    assert score(7, 3) != pytest.approx(score(3, 7), abs=1e-2)
    assert score(0, 0) == pytest.approx(float((query * key).sum()), abs=1e-5)


def test_all_positions_can_be_used_and_not_one_more(model):
    """A context that ends is said so, and the cache is as it was."""
    cache, full = KVCache(2), TINY.max_positions
    model(torch.zeros(1, full - 1, dtype=torch.long), cache)
    stored = [layer.stored()[0].clone() for layer in cache.layers]
    with pytest.raises(ContextFullError, match=f"{full + 1} tokens.*ends at {full}"):
        model(torch.zeros(1, 2, dtype=torch.long), cache)
    assert cache.position == full - 1
    assert all(torch.equal(layer.stored()[0], keys) for layer, keys in zip(cache.layers, stored, strict=True))
    model(torch.zeros(1, 1, dtype=torch.long), cache)
    assert cache.position == full


def test_the_difference_in_sixteen_bits_is_small_and_reported(record_property):
    """transformers#25420: in bfloat16 a cache may change the logits by rounding. Reported, never promised to be 0."""
    model = tiny_model().to(torch.bfloat16)
    gap = (fed_in_chunks(model, TOKENS, [12]).float() - fed_in_chunks(model, TOKENS, [4, 8]).float()).abs().max()
    record_property("largest logit difference in bfloat16", float(gap))
    assert gap < 0.1


@pytest.mark.parametrize(
    ("field", "value"), [("num_layers", 0), ("vocab_size", -1), ("num_kv_heads", 3), ("head_dim", 7), ("num_heads", 0)]
)
def test_an_impossible_configuration_names_the_field(field, value):
    with pytest.raises(ValueError, match=field):
        ModelConfig(**{field: value})


def test_nothing_of_a_request_stays_in_the_model(model):
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    first = model(TOKENS, KVCache(2))
    model(TOKENS.flip(1), KVCache(2))
    assert torch.equal(model(TOKENS, KVCache(2)), first)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize(
    "token_ids", [[[1, 2]], torch.tensor([1, 2]), torch.tensor([[1, 61]]), torch.tensor([[-1]]), torch.ones(1, 2)]
)
def test_what_are_no_token_ids_is_said_in_a_sentence_and_changes_nothing(model, token_ids):
    """It was "index out of range in self", or a list of the tensor types that an operation takes."""
    cache = KVCache(2)
    with pytest.raises(ValueError, match=r"token ids must be \(B, T\) whole numbers from 0 to 60, got"):
        model(token_ids, cache)
    assert cache.position == 0
