"""Models of transformers in our loop: their own `generate` is the judge."""

from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from test_hugging_face import SIZES, assert_refused, assert_same_answer, change_config, shuffled, written
from test_tokenizer import small_tokenizer_file

from playground.engine.cache_kinds import KINDS
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import ContextFullError
from playground.engine.params import SamplingParams
from playground.engine.sampling import row_seed
from playground.models import adapter, hugging_face
from playground.models.adapter import TransformersDecoder
from playground.models.loading import load_model
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
    return shuffled(transformers.AutoModelForCausalLM.from_config(MODELS[request.param]))


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


FOLDERS = {
    "gpt2": transformers.GPT2Config(
        vocab_size=280, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=1, eos_token_id=2
    ),
    "gemma": transformers.GemmaConfig(**SIZES, head_dim=16),
    "phi": transformers.PhiConfig(**SIZES),
    "mistral with a window": transformers.MistralConfig(**SIZES, sliding_window=4),
    "llama with stretched positions": transformers.LlamaConfig(
        **SIZES, rope_parameters={"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}
    ),
}


def written_by_transformers(folder: Path, config: transformers.PretrainedConfig) -> transformers.PreTrainedModel:
    torch.manual_seed(0)
    theirs = shuffled(transformers.AutoModelForCausalLM.from_config(config))
    theirs.save_pretrained(folder)
    small_tokenizer_file(folder / "tokenizer.json", vocab_size=280)
    return theirs


@pytest.mark.parametrize("kind", list(FOLDERS))
def test_a_folder_of_another_kind_runs_on_their_code(tmp_path, kind):
    theirs = written_by_transformers(tmp_path, FOLDERS[kind])
    loaded = load_model(tmp_path)
    assert isinstance(loaded.model, TransformersDecoder) and loaded.name == tmp_path.name
    assert_same_answer(loaded, theirs)
    trace = loaded.generate("hello", SamplingParams(seed=1), max_new_tokens=4, stop_ids=())
    assert len(trace) == 4 and trace.logits.shape == (4, 280)
    assert len(loaded.answers("hello", n=3, max_new_tokens=2)) == 3


def test_its_weights_are_checked_too(tmp_path):
    written_by_transformers(tmp_path, FOLDERS["gpt2"])
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    norm = next(name for name in tensors if name.endswith("ln_f.weight"))
    save_file(tensors | {norm: torch.ones(9)}, file)
    assert_refused(tmp_path, r"ln_f\.weight' has shape \(9,\), expected \(32,\)")
    save_file({name: tensor for name, tensor in tensors.items() if name != norm}, file)
    assert_refused(tmp_path, r"the weights of '.*ln_f\.weight' are missing")
    file.write_bytes(file.read_bytes()[:5000])
    assert_refused(tmp_path, r"model\.safetensors is not a readable safetensors file")
    file.unlink()
    assert_refused(tmp_path, r"holds no \.safetensors file; weights of other kinds are never loaded")


def test_no_code_of_a_folder_is_run(tmp_path):
    written_by_transformers(tmp_path, FOLDERS["gpt2"])
    (tmp_path / "own.py").write_text("raise SystemExit('the code of the folder was run')")
    change_config(tmp_path, auto_map={"AutoModelForCausalLM": "own.Model", "AutoConfig": "own.Config"})
    assert isinstance(load_model(tmp_path).model, TransformersDecoder)
    change_config(tmp_path, model_type="own", architectures=["OwnForCausalLM"])
    assert_refused(tmp_path, r"config\.json describes .*own, OwnForCausalLM.*; a folder can be read whose")


def test_a_model_that_keeps_something_else_is_refused(tmp_path):
    """Mamba has a state of fixed size: there is no key and no value in it."""
    config = transformers.MambaConfig(vocab_size=280, hidden_size=16, num_hidden_layers=2, state_size=4)
    written_by_transformers(tmp_path, config)
    assert_refused(tmp_path, r"config\.json describes mamba, which keeps something else than keys and values")


def test_without_transformers_the_line_that_installs_it_is_said(tmp_path, monkeypatch):
    written_by_transformers(tmp_path, FOLDERS["gpt2"])
    monkeypatch.setattr("playground.models.sources.find_spec", lambda _name: None)
    assert_refused(tmp_path, r"needs packages that are not installed \(transformers\): pip install .*'transformers>=5")


def test_layers_that_lie_in_different_places_give_the_same(tmp_path, monkeypatch):
    """As over several GPUs, which are not here: one layer is on the disk, and comes when it is needed."""
    theirs = written_by_transformers(tmp_path, FOLDERS["gpt2"])
    places = {f"transformer.{name}": "cpu" for name in ("wte", "wpe", "drop", "h.0", "ln_f")} | {"lm_head": "cpu"}
    laid = {"device_map": places | {"transformer.h.1": "disk"}, "offload_folder": str(tmp_path / "disk")}
    monkeypatch.setattr(adapter, "placing", lambda *_asked: laid)
    loaded = load_model(tmp_path)
    assert loaded.model.model.transformer.h[1].mlp.c_fc.weight.is_meta and loaded.model.device.type == "cpu"
    assert_same_answer(loaded, theirs)


def test_a_kind_of_our_own_that_is_larger_than_a_gpu_runs_on_their_code(tmp_path, monkeypatch):
    theirs = written(tmp_path, "Llama")
    monkeypatch.setattr(adapter, "placing", lambda *_asked: {"device_map": "auto"})
    monkeypatch.setattr(hugging_face, "placing", lambda *_asked: True)
    loaded = load_model(tmp_path)
    assert isinstance(loaded.model, TransformersDecoder)
    assert_same_answer(loaded, theirs)


def test_only_what_is_larger_than_a_gpu_is_laid_over_several(monkeypatch):
    monkeypatch.setattr(adapter, "free_memory", lambda _device: 1000)
    for asked, placed in ((("cuda", 1000), {}), (("cuda:1", 1001), {"device_map": "auto"}), (("cpu", 1001), {})):
        assert adapter.placing(asked[1], torch.device(asked[0])) == placed


def test_too_little_memory_is_asked_before(tmp_path, monkeypatch):
    written_by_transformers(tmp_path, FOLDERS["gpt2"])
    monkeypatch.setattr("playground.models.files.available_memory", lambda: 2048)
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", None)  # whoever loads now fails
    assert_refused(tmp_path, r"needs .* of memory, and 2 KiB is free")
