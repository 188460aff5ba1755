"""A folder that transformers wrote gives transformers' logits here, or one sentence says why it can't be read."""

import json
from pathlib import Path

import pytest
import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file
from test_tokenizer import small_tokenizer_file

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams
from playground.models.configuration import OtherKindError, hugging_face_config
from playground.models.loading import LoadedModel, ModelFileError, load_model

TOKENS = torch.tensor([[5, 9, 2, 44, 60, 0, 17, 17, 3, 28, 31, 12]])
SIZES = {
    "vocab_size": 280,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "max_position_embeddings": 128,
}


def written(folder: Path, kind: str, shard: str = "1GB", **more) -> transformers.PreTrainedModel:
    """A random model of transformers, saved by transformers; norms and biases are random too, so that none is idle."""
    config = getattr(transformers, f"{kind}Config")(**{**SIZES, **more})
    torch.manual_seed(0)
    theirs = shuffled(getattr(transformers, f"{kind}ForCausalLM")(config))
    theirs.save_pretrained(folder, max_shard_size=shard)
    small_tokenizer_file(folder / "tokenizer.json", vocab_size=280)
    return theirs


def shuffled(theirs: transformers.PreTrainedModel) -> transformers.PreTrainedModel:
    """Weights so large that the model has opinions: at the usual size one token would hold all the probability."""
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(0.1 * torch.randn(parameter.shape) + (parameter.ndim == 1))
    return theirs.eval()


def change_config(folder: Path, file: str = "config.json", without: tuple[str, ...] = (), **changes) -> None:
    settings = json.loads((folder / file).read_text()) | changes
    (folder / file).write_text(json.dumps({key: value for key, value in settings.items() if key not in without}))


def assert_same_logits(loaded: LoadedModel, theirs: transformers.PreTrainedModel) -> None:
    ours = loaded.model(TOKENS, KVCache(loaded.model.config.num_layers))
    with torch.no_grad():
        torch.testing.assert_close(ours, theirs(TOKENS).logits, atol=1e-4, rtol=0)


def assert_same_answer(loaded: LoadedModel, theirs: transformers.PreTrainedModel) -> None:
    """The greedy tokens of their `generate`, and the logits of each step, with the cache and without."""
    prompt, greedy = TOKENS[0].tolist(), SamplingParams(temperature=0)
    settings = {"max_new_tokens": 10, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    right = theirs.generate(TOKENS, attention_mask=torch.ones_like(TOKENS), **settings)
    with torch.no_grad():
        whole = theirs(right).logits[0, len(prompt) - 1 : -1]
    for kind in ("dynamic", "none"):
        steps = list(generate(loaded.model, prompt, greedy, KVCache.of(loaded.model, kind), 10))
        assert [step.token_id for step in steps] == right[0, len(prompt) :].tolist()
        logits = torch.stack([step.distribution.logits for step in steps])
        torch.testing.assert_close(logits, whole, atol=1e-4, rtol=0)


def assert_refused(folder: Path, message: str) -> None:
    with pytest.raises(ModelFileError, match=message) as refusal:
        load_model(folder)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("Qwen3", {"head_dim": 32, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}),
        ("Qwen2", {"rms_norm_eps": 1e-5}),
        ("Llama", {}),
        ("Llama", {"head_dim": 8, "num_key_value_heads": 4}),
        ("Mistral", {"sliding_window": None}),
    ],
)
def test_the_logits_are_those_of_transformers(tmp_path, kind, more, tied):
    theirs = written(tmp_path, kind, **{**more, "tie_word_embeddings": tied})
    loaded = load_model(tmp_path)
    assert isinstance(loaded.model, Transformer)
    assert_same_logits(loaded, theirs)
    assert_same_answer(loaded, theirs)
    assert (loaded.name, loaded.trained_length) == (tmp_path.name, 128)


@pytest.mark.parametrize("kind", ["Qwen3", "Qwen2", "Llama"])
def test_what_a_file_leaves_out_is_what_transformers_puts_there(tmp_path, kind):
    """Never this project's own defaults: QK-norm and a theta of a million would give other logits for a Llama."""
    written(tmp_path, kind, head_dim=128) if kind == "Qwen3" else written(tmp_path, kind)
    left_out = ("rope_parameters", "rms_norm_eps", "tie_word_embeddings", "head_dim", "attention_bias", "hidden_act")
    change_config(tmp_path, without=left_out)
    theirs = getattr(transformers, f"{kind}ForCausalLM").from_pretrained(tmp_path)
    assert_same_logits(load_model(tmp_path), theirs)


@pytest.mark.parametrize("size", sorted(SIZES.keys() - {"num_key_value_heads"}))
def test_a_size_left_out_is_asked_for(tmp_path, size):
    written(tmp_path, "Llama")
    change_config(tmp_path, without=(size,))
    assert_refused(tmp_path, rf"config\.json has no entry '{size}'")


def test_an_older_file_is_read_alike(tmp_path):
    """TinyLlama's entries: theta alone, `torch_dtype`, no head_dim; and the frequencies as tensors of their own."""
    theirs = written(tmp_path, "Llama", rope_parameters={"rope_type": "default", "rope_theta": 5e5})
    change_config(
        tmp_path,
        without=("rope_parameters", "head_dim", "mlp_bias", "dtype"),
        rope_theta=500000,
        rope_scaling=None,
        torch_dtype="bfloat16",
    )
    tensors = load_file(tmp_path / "model.safetensors")
    save_file(tensors | {"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(8)}, tmp_path / "model.safetensors")
    assert_same_logits(load_model(tmp_path), theirs)


def test_a_minimind_folder_is_read(tmp_path):
    """Its architecture is Qwen3's, its entries are its own."""
    theirs = written(tmp_path, "Qwen3", head_dim=16, rope_parameters={"rope_type": "default", "rope_theta": 1e6})
    settings = {**SIZES, "model_type": "minimind", "architectures": ["MiniMindForCausalLM"], "rms_norm_eps": 1e-6}
    settings |= {"rope_theta": 1e6, "hidden_act": "silu", "tie_word_embeddings": False, "dropout": 0.0}
    settings |= {"use_moe": False, "num_experts": 4, "inference_rope_scaling": False, "rope_scaling": None}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    assert_same_logits(load_model(tmp_path), theirs)
    change_config(tmp_path, without=("rope_theta",))
    assert_refused(tmp_path, r"config\.json has no entry 'rope_theta'")
    change_config(tmp_path, rope_theta=1e6, use_moe=True)
    assert_refused(tmp_path, r"asks for use_moe = True")


def test_a_model_in_shards_is_read_by_its_index(tmp_path):
    theirs = written(tmp_path, "Llama", shard="60KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 2
    assert_same_logits(load_model(tmp_path), theirs)


def test_a_shard_that_is_missing_or_elsewhere_is_named(tmp_path):
    written(tmp_path, "Llama", shard="60KB")
    index = tmp_path / "model.safetensors.index.json"
    shards = json.loads(index.read_text())["weight_map"]
    first = min(shards.values())
    (tmp_path / first).rename(tmp_path.parent / first)
    assert_refused(tmp_path, f"{first} is missing")
    index.write_text(json.dumps({"weight_map": {name: f"../{file}" for name, file in shards.items()}}))
    assert_refused(tmp_path, r"names '\.\./model.*', which is no file of its folder")


def test_weights_that_are_missing_or_many_are_told(tmp_path):
    written(tmp_path, "Llama")
    (tmp_path / "model.safetensors").rename(tmp_path / "b.safetensors")
    load_model(tmp_path)
    save_file({"x": torch.zeros(1)}, tmp_path / "a.safetensors")
    assert_refused(tmp_path, r"holds a\.safetensors, b\.safetensors, and no model\.safetensors\.index\.json says how")
    for file in ("a", "b"):
        (tmp_path / f"{file}.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04")
    assert_refused(tmp_path, r"holds no \.safetensors file; weights of other kinds are never loaded")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rope_scaling", {"rope_type": "llama3", "factor": 8.0}),
        ("rope_scaling", {"type": "linear", "factor": 2.0}),
        ("rope_parameters", {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0}),
        ("rope_parameters", {"rope_theta": 1e4, "partial_rotary_factor": 0.5}),
        ("rope_parameters", 1e4),
        ("use_sliding_window", True),
        ("layer_types", ["full_attention", "sliding_attention"]),
        ("layer_types", 2),
        ("hidden_act", "gelu"),
        ("attention_bias", True),
        ("quantization_config", {"quant_method": "gptq"}),
    ],
)
def test_what_our_transformer_does_not_do_is_named(tmp_path, key, value):
    """transformers gets it then: tests/test_adapter.py."""
    written(tmp_path, "Qwen3", head_dim=16)
    change_config(tmp_path, **{key: value})
    path = tmp_path / "config.json"
    with pytest.raises(OtherKindError, match=rf"asks for {key} = .*, which the transformer here does not do"):
        hugging_face_config(json.loads(path.read_text()), path)


def test_a_window_that_is_not_used_is_no_feature(tmp_path):
    theirs = written(tmp_path, "Qwen2")
    change_config(tmp_path, use_sliding_window=False, sliding_window=16, max_window_layers=1)
    assert_same_logits(load_model(tmp_path), theirs)


def test_an_unknown_entry_is_named(tmp_path):
    written(tmp_path, "Qwen3", head_dim=16)
    change_config(tmp_path, without=("rope_parameters",), rope_thetta=1e4)
    assert_refused(tmp_path, r"config\.json has an entry 'rope_thetta', which is not known here")


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"model_type": "gpt9", "architectures": ["GPT9LMHeadModel"]}, r"\(gpt9, GPT9LMHeadModel\)"),
        ({"model_type": "qwen3", "architectures": ["Qwen3ForSequenceClassification"]}, r"\(qwen3, Qwen3ForSequence"),
        ({"model_type": "qwen3_mega"}, r"\(qwen3_mega\)"),
        ({"model_type": ["llama"], "architectures": 5}, "another kind"),
        ({"n_layer": 12}, "no model that is known here"),
        ([], "no model that is known here"),
        (None, "no model that is known here"),
    ],
)
def test_another_model_is_told_which_folders_can_be_read(tmp_path, settings, named):
    (tmp_path / "config.json").write_text(json.dumps(settings))
    readable = "a folder can be read whose config.json has 'versions' .*Qwen3, Qwen2, Llama, Mistral or MiniMind"
    assert_refused(tmp_path, rf"config\.json describes .*{named}.*; {readable}")


def test_a_folder_of_another_format_is_no_folder_of_names(tmp_path):
    """Where names are looked up, a Qwen3 folder got only "has no entry 'versions'"."""
    written(tmp_path, "Qwen3", head_dim=16)
    with pytest.raises(ModelFileError, match=r"has no entry 'versions' .*; a folder can be read whose config\.json"):
        load_model("minimind-chat", tmp_path)


@pytest.mark.parametrize(
    ("in_config", "in_generation", "stop_ids"),
    [(7, None, [7]), (7, 9, [9]), (7, [9, 11], [9, 11]), ([7, 8], None, [7, 8]), (None, None, [])],
)
def test_the_answer_ends_where_the_files_say(tmp_path, in_config, in_generation, stop_ids):
    written(tmp_path, "Llama")
    change_config(tmp_path, eos_token_id=in_config)
    change_config(tmp_path, "generation_config.json", without=("eos_token_id",) if in_generation is None else ())
    if in_generation is not None:
        change_config(tmp_path, "generation_config.json", eos_token_id=in_generation)
    loaded = load_model(tmp_path)
    end_of_turn = loaded.tokenizer.token_to_id("<|im_end|>")
    assert list(loaded.stop_ids) == [*stop_ids, end_of_turn] and loaded.is_chat


@pytest.mark.parametrize("end", [280, -1, "</s>", [2, 999], True])
def test_an_end_that_is_no_token_is_told(tmp_path, end):
    written(tmp_path, "Llama")
    change_config(tmp_path, "generation_config.json", eos_token_id=end)
    assert_refused(tmp_path, r"generation_config\.json: eos_token_id must name tokens below 280")


def test_without_the_markers_of_a_chat_it_goes_on_writing(tmp_path):
    written(tmp_path, "Llama")
    plain = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "b": 1}, []))
    plain.save(str(tmp_path / "tokenizer.json"))
    loaded = load_model(tmp_path)
    assert not loaded.is_chat and loaded.stop_ids == (2,) and loaded.prompt_ids("ab") == [0, 1]
