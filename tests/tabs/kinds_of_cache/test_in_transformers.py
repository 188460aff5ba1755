"""Our caches in models of transformers, those of transformers in our loop, and that loop as a program."""

import json
import warnings
from pathlib import Path

import pytest
import torch
import transformers
from conftest import TINY

from benchmarks.against_transformers import in_transformers
from playground.engine.cache_kinds import ConcatenatedLayerCache, LayerCache, StaticLayerCache
from playground.engine.forgetting_caches import (
    HeavyHitterLayerCache,
    SlidingLayerCache,
    StaticSlidingLayerCache,
    StreamingLayerCache,
)
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import rotary_tables
from playground.engine.params import SamplingParams
from playground.engine.placed_caches import OffloadedLayerCache, ShardedLayerCache
from playground.engine.quantized_cache import QuantizedLayerCache
from playground.models.adapter import TransformersCache, TransformersDecoder
from playground.models.loading import EMBEDDED
from playground.models.text import LoadedModel
from playground.tabs.kinds_of_cache.update_calls import pairings, recorded_calls, returned_by_theirs
from playground.tabs.kinds_of_cache.update_values import LOOP

PROMPT = [5, 9, 2, 44, 60, 0, 17, 17, 3, 28, 31, 12, 8, 50, 33]
GREEDY = SamplingParams(temperature=0)
WINDOW = 7
OURS = {
    "growing": LayerCache(),
    "torch.cat": ConcatenatedLayerCache(),
    "static": StaticLayerCache(40),
    "window": SlidingLayerCache(WINDOW),
    "first tokens and window": SlidingLayerCache(WINDOW, 2),
    "positions in the cache": StreamingLayerCache(WINDOW, 2, rotary_tables(TINY)),
    "static window": StaticSlidingLayerCache(WINDOW),
    "4 bits": QuantizedLayerCache(4, 4, 4),
    "sharded": ShardedLayerCache(2),
    "in a file": OffloadedLayerCache(),
}


@pytest.fixture(scope="module")
def theirs(model) -> transformers.PreTrainedModel:
    return in_transformers(model)


@pytest.fixture(scope="module")
def sliding(model) -> transformers.PreTrainedModel:
    """The same weights with windows in every layer."""
    made = in_transformers(model)
    config = made.config
    config.use_sliding_window, config.sliding_window = True, WINDOW
    config.layer_types = ["sliding_attention"] * config.num_hidden_layers
    remade = type(made)(config)
    remade.load_state_dict(made.state_dict())
    return remade.eval().requires_grad_(False)


def fed(model, cache: KVCache, sizes: list[int]) -> torch.Tensor:
    """(T, V)"""
    return torch.cat([model(piece, cache) for piece in torch.tensor([PROMPT]).split(sizes, dim=1)], 1)[0]


@pytest.mark.parametrize("kind", OURS.values(), ids=list(OURS))
@pytest.mark.parametrize("sizes", [[15], [9, 1, 5], [1] * 15], ids=str)
def test_our_kinds_work_in_a_model_of_transformers_as_in_ours(model, theirs, kind, sizes):
    decoder = TransformersDecoder(theirs)
    ours = fed(model, KVCache.of(model, kind), sizes)
    torch.testing.assert_close(fed(decoder, KVCache.of(decoder, kind), sizes), ours, atol=1e-4, rtol=0)
    right = [step.token_id for step in generate(model, PROMPT, GREEDY, KVCache.of(model, kind), 8)]
    steps = list(generate(decoder, PROMPT, GREEDY, KVCache.of(decoder, kind), 8))
    assert [step.token_id for step in steps] == right and [step.num_fed for step in steps] == [15] + [1] * 7


def test_a_cache_that_watches_queries_is_refused_there(theirs):
    decoder = TransformersDecoder(theirs)
    with pytest.raises(ValueError, match="must see the queries of every pass"):
        decoder(torch.tensor([PROMPT]), KVCache.of(decoder, HeavyHitterLayerCache(7, 3)))


def dynamic(model: transformers.PreTrainedModel) -> transformers.Cache:
    return transformers.DynamicCache(config=model.config)


def static(model: transformers.PreTrainedModel) -> transformers.Cache:
    return transformers.StaticCache(config=model.config, max_cache_len=40)


@pytest.mark.parametrize("make", [dynamic, static])
def test_their_caches_work_in_our_loop(model, theirs, make):
    decoder, cache = TransformersDecoder(theirs), TransformersCache(make(theirs), 2)
    steps = list(generate(decoder, PROMPT, GREEDY, cache, 8))
    assert [step.token_id for step in steps] == [step.token_id for step in generate(model, PROMPT, GREEDY, None, 8)]
    assert [step.num_fed for step in steps] == [15] + [1] * 7 and cache.position == 22
    places = 40 if make is static else 22
    assert steps[-1].cache_bytes == [2 * 2 * 16 * 4 * places] * 2
    assert cache.max_length == (40 if make is static else None)
    other = [*PROMPT[:5], 1, 2]  # another text: it begins anew, and says so by what it feeds
    again = list(generate(decoder, other, GREEDY, cache, 4))
    assert [step.num_fed for step in again] == [7, 1, 1, 1]
    assert [step.token_id for step in again] == [step.token_id for step in generate(model, other, GREEDY, None, 4)]


@pytest.mark.parametrize("make", [dynamic, static])
@pytest.mark.parametrize("sizes", [[15], [9, 6], [4] + [1] * 11], ids=str)
def test_their_sliding_layers_are_our_windows(model, sliding, make, sizes):
    """unsloth-zoo#691: mask and keys disagreed where a chunk crossed the window."""
    decoder = TransformersDecoder(sliding)
    names = {type(layer).__name__ for layer in make(sliding).layers}
    assert names == {"StaticSlidingWindowLayer" if make is static else "DynamicSlidingWindowLayer"}
    right = fed(model, KVCache.of(model, SlidingLayerCache(WINDOW)), [15])
    torch.testing.assert_close(fed(decoder, TransformersCache(make(sliding), 2), sizes), right, atol=1e-4, rtol=0)
    ours = [step.token_id for step in generate(model, PROMPT, GREEDY, KVCache.of(model, SlidingLayerCache(WINDOW)), 8)]
    steps = generate(decoder, PROMPT, GREEDY, TransformersCache(make(sliding), 2), 8)
    assert [step.token_id for step in steps] == ours


def test_a_pass_that_fails_empties_their_cache(theirs, monkeypatch):
    decoder, cache = TransformersDecoder(theirs), TransformersCache(dynamic(theirs), 2)
    decoder(torch.tensor([PROMPT]), cache)
    broken = cache.theirs.layers[1]
    monkeypatch.setattr(broken, "update", lambda *_a, **_k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        decoder(torch.tensor([[1]]), cache)
    monkeypatch.undo()
    assert cache.position == 0 and cache.token_ids.numel() == 0


# ---- what the page says of the call


@pytest.mark.parametrize(
    "name", ["DynamicLayer", "StaticLayer", "DynamicSlidingWindowLayer", "StaticSlidingWindowLayer"]
)
@pytest.mark.parametrize("sizes", [[15, 1, 1, 1], [3, 1, 1, 1, 1, 1], [1] * 9], ids=str)
def test_what_their_classes_return_is_what_the_page_says(name, sizes):
    limit = 30 if name == "StaticLayer" else 5
    given = {
        "DynamicLayer": (),
        "StaticLayer": (limit,),
        "DynamicSlidingWindowLayer": (limit,),
        "StaticSlidingWindowLayer": (100, limit),
    }[name]
    layer, seen = getattr(transformers.cache_utils, name)(*given), 0
    for num_new in sizes:
        keys, _ = layer.update(*torch.zeros(2, 1, 2, num_new, 16))
        assert keys.shape[2] == returned_by_theirs(name, seen, num_new, limit)
        seen += num_new


def test_the_calls_are_those_of_the_model(model):
    def recorded(kind):
        work = recorded_calls(model, PROMPT, [7, 8, 9, 10], kind)
        while True:
            try:
                next(work)
            except StopIteration as end:
                return end.value

    made = {pairing.name: recorded(pairing.layer) for pairing in pairings(18)}
    for passes in made.values():
        assert [[call.given for call in calls] for calls in passes] == [[(1, 2, 15, 16)] * 2] + [
            [(1, 2, 1, 16)] * 2
        ] * 3
    keys = {name: [calls[0].returned[2] for calls in passes] for name, passes in made.items()}
    all_of_them = [15, 16, 17, 18]
    for name in ("growing", "concatenated", "static", "quantized"):
        assert keys[name] == all_of_them
    assert keys["window"] == keys["static_window"] == [15, 12, 12, 12]
    same = {name: [calls[1].same_buffer for calls in passes[1:]] for name, passes in made.items()}
    assert same["static"] == same["static_window"] == same["growing"] == [True] * 3
    assert same["concatenated"] == same["window"] == [False] * 3
    moved = {name: [calls[0].copied_bytes for calls in passes[1:]] for name, passes in made.items()}
    row = 2 * 2 * 16 * 4
    assert moved["concatenated"] == [15 * row, 16 * row, 17 * row] and moved["static"] == [0, 0, 0]


# ---- the program


def test_the_program_on_the_page_gives_the_answer_of_the_page(chat: LoadedModel, tmp_path: Path, capsys):
    """The very lines, with the name of a folder in place of a model of the hub."""
    in_transformers(chat.model).save_pretrained(tmp_path)
    template = (
        "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    (tmp_path / "tokenizer.json").write_bytes((EMBEDDED / "tokenizer.json").read_bytes())
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "chat_template": template}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    code = LOOP.read_text()
    name = '"HuggingFaceTB/SmolLM2-135M-Instruct"'
    assert code.count(name) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)  # of a name that the next version no longer has
        exec(compile(code.replace(name, repr(str(tmp_path))), LOOP.name, "exec"), {})
    ours = chat.generate("What is the capital of France?", GREEDY, max_new_tokens=20).text
    assert capsys.readouterr().out.strip() == ours.strip() == "The capital of France is Paris."
