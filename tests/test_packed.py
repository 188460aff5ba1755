"""Weights in fewer bits give nearly the logits of the whole ones, and say so where something needs the whole ones."""

import dataclasses

import pytest
import torch
from conftest import TINY, tiny_model
from test_hugging_face import written

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.packed import PackedWeight, pack, weight_bytes
from playground.engine.params import SamplingParams
from playground.models.adapter import TransformersDecoder
from playground.models.altered import packed_copy
from playground.models.answers import at_once, write_answers
from playground.models.files import ModelFileError
from playground.models.loading import load_model
from playground.page.requests import RequestError, own_model_of

IDS = torch.tensor([[5, 9, 2, 44, 60, 0, 17, 17, 3, 28, 31, 12]])


def test_a_product_is_that_of_the_rounded_numbers():
    """The slow way: round, turn back, multiply."""
    torch.manual_seed(0)
    weight, bias, x = torch.randn(24, 16), torch.randn(24), 3 * torch.randn(2, 5, 16)
    half = PackedWeight(weight, bias, "float16").product(x)
    torch.testing.assert_close(half, x @ weight.half().float().T + bias, atol=1e-5, rtol=0)
    steps = weight.abs().amax(1, keepdim=True) / 63
    step = (x.max() - x.min()) / 255  # eight bits from the smallest number to the largest, and 0 is one of them
    zero = (-x.min() / step).round()
    rounded_x = ((x / step + zero).round().clamp(0, 255) - zero) * step
    rounded = rounded_x @ ((weight / steps).round() * steps).T + bias
    torch.testing.assert_close(PackedWeight(weight, bias, "int8").product(x), rounded, atol=0.02, rtol=0)
    assert (rounded - (x @ weight.T + bias)).abs().max() > 0.1  # so the tolerance tells them apart


@pytest.mark.parametrize(("form", "most"), [("float16", 1e-3), ("int8", 0.08)])
@pytest.mark.parametrize("tied", [True, False])
def test_logits_are_off_by_the_rounding_of_the_weights(form, most, tied):
    """Relative to how far the logits spread."""
    config = dataclasses.replace(TINY, tie_embeddings=tied, qkv_bias=True)
    whole, packed = tiny_model(config), tiny_model(config)
    pack(packed, form)
    right = whole(IDS, KVCache(2))
    off = (packed(IDS, KVCache(2)) - right).abs()
    assert 0 < off.max() < most * right.std() * 4 and off.mean() < most * right.std()
    assert packed.weight_format == form and whole.weight_format == "float32"


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("form", ["float16", "int8"])
def test_a_packed_copy_gives_the_logits_of_packed_weights_and_leaves_the_model_whole(form, tied):
    config = dataclasses.replace(TINY, tie_embeddings=tied, qkv_bias=True)
    whole, packed = tiny_model(config), tiny_model(config)
    before, num_bytes = whole(IDS, KVCache(2)), weight_bytes(whole)
    copy = at_once(packed_copy(whole, form))
    pack(packed, form)
    assert torch.equal(copy(IDS, KVCache(2)), packed(IDS, KVCache(2)))
    assert torch.equal(whole(IDS, KVCache(2)), before) and whole.weight_format == "float32"
    assert copy.weight_format == form and copy.embedding is whole.embedding  # what is not packed is no new memory
    assert weight_bytes(whole) == num_bytes > weight_bytes(copy)


@pytest.mark.parametrize("form", ["float16", "int8"])
def test_everything_that_writes_answers_writes_with_packed_weights(chat, form):
    packed = load_model("minimind-chat", weights=form)
    prompt = packed.prompt_ids("What is the capital of France?")
    steps = list(generate(packed.model, prompt, SamplingParams(temperature=0), None, 16, packed.stop_ids))
    assert "Paris" in packed.tokenizer.decode([step.token_id for step in steps])
    settings = [SamplingParams(seed=2)]
    [answers] = at_once(write_answers(packed.model, packed.tokenizer, prompt, settings, 5, 8, packed.stop_ids))
    assert len(answers) == 5
    with pytest.raises(RequestError, match=rf"are packed \({form}\): .* only without --weights"):
        own_model_of({"chat": packed}, "chat")
    assert own_model_of({"chat": chat}, "chat") is chat


def test_what_can_not_be_packed_is_told(tmp_path):
    written(tmp_path, "Llama", rope_parameters={"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0})
    theirs = load_model(tmp_path)
    assert isinstance(theirs.model, TransformersDecoder)
    with pytest.raises(RequestError, match="runs on transformers' own code: its answers can be seen"):
        own_model_of({"theirs": theirs}, "theirs")
    with pytest.raises(ModelFileError, match="whose weights can't be packed into int8 here"):
        load_model(tmp_path, weights="int8")
    with pytest.raises(ModelFileError, match="float16 weights need a model on the processor in float32"):
        load_model("minimind-chat", dtype=torch.bfloat16, weights="float16")
