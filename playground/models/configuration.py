"""config.json, in this program's own format or in Hugging Face's, as a ModelConfig.

An entry that is not known here, or that asks for what our transformer does not do, is refused by name: passed over, it
would give other logits without a word.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from playground.engine.arguments import shown
from playground.engine.model import ModelConfig
from playground.models.files import ModelFileError, entry
from playground.words import say, told

# What other models may do and ours does not, each with the value that leaves it off.
ABSENT_FEATURES = {
    "attention_bias": False,  # of the output too
    "hidden_act": "silu",
    "inference_rope_scaling": False,
    "mlp_bias": False,
    "partial_rotary_factor": 1.0,
    "quantization_config": None,
    "rope_interleaved": False,
    "rope_scaling": None,
    "sliding_window": None,
    "use_moe": False,
    "use_mrope": False,
    "use_sliding_window": False,
}
OWN_KEYS = {"trained_length", "versions"}
SIZES = {  # Hugging Face's name -> ours
    "vocab_size": "vocab_size",
    "hidden_size": "hidden_size",
    "num_hidden_layers": "num_layers",
    "num_attention_heads": "num_heads",
    "num_key_value_heads": "num_kv_heads",
    "head_dim": "head_dim",
    "intermediate_size": "intermediate_size",
    "max_position_embeddings": "max_positions",
}
OTHERS = {"layer_types", "rms_norm_eps", "rope_parameters", "rope_theta", "tie_word_embeddings"}
# How a model was trained, stored, or is told to write: none of it changes a logit.
HARMLESS_KEYS = {
    "_model_name_or_path", "_name_or_path", "architectures", "attention_dropout", "auto_map", "bos_token_id",
    "dropout", "dtype", "eos_token_id", "flash_attn", "initializer_range", "is_llama_config", "max_window_layers",
    "model_type", "moe_intermediate_size", "norm_topk_prob", "num_experts", "num_experts_per_tok", "pad_token_id",
    "pretraining_tp", "router_aux_loss_coef", "torch_dtype", "transformers.js_config", "transformers_version",
    "unsloth_fixed", "unsloth_version", "use_cache",
}  # fmt: skip


@dataclass(frozen=True)
class Family:
    """A class of models with our architecture. `defaults`: what that class takes where its file says nothing."""

    architecture: str
    qk_norm: bool
    qkv_bias: bool
    defaults: dict[str, Any]


PLAIN = {"rope_theta": 1e4, "rms_norm_eps": 1e-6, "tie_word_embeddings": False}  # in all three classes of transformers
FAMILIES = {
    "qwen3": Family("Qwen3ForCausalLM", True, False, {**PLAIN, "head_dim": 128, "num_key_value_heads": 32}),
    "qwen2": Family("Qwen2ForCausalLM", False, True, {**PLAIN, "head_dim": None, "num_key_value_heads": 32}),
    # Where its file is silent, a Mistral has windows, which are transformers' business.
    "mistral": Family(
        "MistralForCausalLM",
        False,
        False,
        {**PLAIN, "head_dim": None, "num_key_value_heads": 8, "sliding_window": 4096, "eos_token_id": 2},
    ),
    "llama": Family(
        "LlamaForCausalLM", False, False, {**PLAIN, "head_dim": None, "num_key_value_heads": None, "eos_token_id": 2}
    ),
    # Its defaults changed from version to version, so what a file leaves out is asked for.
    "minimind": Family("MiniMindForCausalLM", True, False, {"head_dim": None, "tie_word_embeddings": True}),
}


class OtherKindError(ModelFileError):
    """The configuration asks for more than our own transformer does."""


def own_config(settings: dict, path: Path) -> ModelConfig:
    kinds = {field.name: field.type for field in fields(ModelConfig)}
    _refuse_unknown(settings, kinds.keys() | OWN_KEYS, path)
    for name in kinds.keys() - settings.keys():
        raise ModelFileError(say("models.file.no_entry", path=str(path), name=repr(name)))
    return _checked({name: settings[name] for name in kinds}, path)


def family_of(settings: Any, path: Path) -> Family:
    """By model_type, or by the name of the class where that is missing; both must agree."""
    settings = settings if isinstance(settings, dict) else {}
    classes = settings.get("architectures") or []
    if "model_type" in settings or classes:
        for model_type, family in FAMILIES.items():
            if settings.get("model_type", model_type) == model_type and classes in ([], [family.architecture]):
                return family
    readable = told("models.config.readable")
    raise OtherKindError(say("models.config.kind", path=str(path), kind=_called(settings), readable=readable))


def hugging_face_config(settings: dict, path: Path) -> ModelConfig:
    family = family_of(settings, path)
    filled = {**family.defaults, **settings, **_plain_rotary(settings, path)}
    if filled.get("use_sliding_window") is False:
        filled["sliding_window"] = None  # a width that is not used
    kinds = filled.get("layer_types") or []
    if not isinstance(kinds, list) or any(kind != "full_attention" for kind in kinds):
        raise _does_not("layer_types", filled, path)
    _refuse_unknown(filled, SIZES.keys() | OTHERS | HARMLESS_KEYS, path)
    hidden_size, num_heads = (_size(filled, key, path) for key in ("hidden_size", "num_attention_heads"))
    for key, implied in (("head_dim", hidden_size // num_heads), ("num_key_value_heads", num_heads)):
        if filled.get(key, implied) is None:
            filled[key] = implied
    values = {ours: _size(filled, theirs, path) for theirs, ours in SIZES.items()}
    values |= {key: entry(filled, key, float, path) for key in ("rope_theta", "rms_norm_eps")}
    values["tie_embeddings"] = entry(filled, "tie_word_embeddings", bool, path)
    return _checked({**values, "qk_norm": family.qk_norm, "qkv_bias": family.qkv_bias}, path)


def _plain_rotary(settings: dict, path: Path) -> dict[str, Any]:
    """The rotary entries, which stand in a group or alone, as two plain ones. Stretched positions are refused."""
    found = {}
    for group in ("rope_parameters", "rope_scaling"):
        rotary = settings.get(group) or {}
        if not isinstance(rotary, dict) or rotary.keys() - {"rope_type", "type", "rope_theta"}:
            raise _does_not(group, settings, path)
        if any(rotary.get(key, "default") != "default" for key in ("rope_type", "type")):
            raise _does_not(group, settings, path)
        found |= {"rope_theta": rotary["rope_theta"]} if "rope_theta" in rotary else {}
    return {**found, "rope_scaling": None}


def _refuse_unknown(settings: dict, known: set[str], path: Path) -> None:
    for key, value in settings.items():
        if key in ABSENT_FEATURES:
            if value != ABSENT_FEATURES[key]:
                raise _does_not(key, settings, path)
        elif key not in known:
            raise ModelFileError(say("models.config.unknown", path=str(path), name=repr(key)))


def _does_not(key: str, settings: dict, path: Path) -> OtherKindError:
    return OtherKindError(say("models.config.feature", path=str(path), name=key, value=shown(settings[key])))


def _called(settings: dict) -> dict:
    named = [str(settings["model_type"])] if settings.get("model_type") else []
    classes = settings.get("architectures")
    named += map(str, classes) if isinstance(classes, list) else []
    if not named:
        return told("models.config.no_kind")
    return told("models.config.other_kind", names=", ".join(named))


def _size(settings: dict, key: str, path: Path) -> int:
    size = entry(settings, key, int, path)
    if size < 1:
        raise ModelFileError(say("models.config.above_0", path=str(path), name=key, value=str(size)))
    return size


def _checked(values: dict[str, Any], path: Path) -> ModelConfig:
    try:
        return ModelConfig(**values)
    except ValueError as error:
        raise ModelFileError(say("models.load.reason", path=str(path), reason=str(error))) from None
