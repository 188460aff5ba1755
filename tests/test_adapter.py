"""Models of transformers in our loop: their own `generate` is the judge."""

import pytest
import torch
import transformers

from playground.engine.cache_kinds import KINDS
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import ContextFullError
from playground.engine.params import SamplingParams
from playground.engine.sampling import row_seed
from playground.models.adapter import TransformersDecoder
from playground.models.rows import sample_answers

PROMPT = [5, 9, 2, 44, 60]
COMMON = {"vocab_size": 61, "bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
SMALL = COMMON | {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4}
MODELS = {
    "gpt2": transformers.GPT2Config(**COMMON, n_embd=32, n_layer=3, n_head=4, n_positions=64),
    "gemma": transformers.GemmaConfig(**SMALL, num_key_value_heads=2, head_dim=8, max_position_embeddings=64),
    "gemma with windows": transformers.Gemma3TextConfig(
        **SMALL, num_key_value_heads=1, head_dim=8, max_position_embeddings=64, sliding_window=4
    ),
}


@pytest.fixture(scope="module", params=list(MODELS))
def theirs(request) -> transformers.PreTrainedModel:
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(MODELS[request.param])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.2)  # at the usual size one token would hold all the probability
    return model.eval()


@pytest.mark.parametrize("kind", list(KINDS))
def test_greedy_tokens_are_those_of_their_generate(theirs, kind):
    right = theirs.generate(torch.tensor([PROMPT]), attention_mask=torch.ones(1, 5), max_new_tokens=12, do_sample=False)
    model = TransformersDecoder(theirs)
    cache = KVCache.of(model, kind, 64 if kind == "static" else None)
    steps = list(generate(model, PROMPT, SamplingParams(temperature=0), cache, 12))
    assert [step.token_id for step in steps] == right[0, 5:].tolist()
    assert [step.num_fed for step in steps] == ([5, *[1] * 11] if kind != "none" else list(range(5, 17)))
    whole = theirs(torch.tensor([[*PROMPT, *(step.token_id for step in steps)]])).logits[0, 4:-1]
    torch.testing.assert_close(torch.stack([step.distribution.logits for step in steps]), whole, atol=1e-4, rtol=0)


def test_many_answers_are_runs_alone(theirs):
    model, params = TransformersDecoder(theirs), SamplingParams(top_p=0.9, seed=3)
    answers = sample_answers(model, PROMPT, params, 6, 8)
    for row in (0, 3, 5):
        alone = SamplingParams(top_p=0.9, seed=row_seed(3, row))
        assert answers[row] == [step.token_id for step in generate(model, PROMPT, alone, None, 8)]


def test_their_context_ends_as_ours_does(theirs):
    model, cache = TransformersDecoder(theirs), KVCache(3)
    assert len(list(generate(model, [1] * 62, SamplingParams(), cache, 10))) == 3
    with pytest.raises(ContextFullError, match="65 tokens"):
        model(torch.tensor([[1]]), cache)
    assert cache.position == 64
    with pytest.raises(ValueError, match="the cache has 2 layers, the model 3"):
        model(torch.tensor([[1]]), KVCache(2))
