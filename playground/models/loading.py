"""Weights from files: the embedded model in assets/model. Safetensors only: a pickle could run code."""

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from playground.engine.model import ModelConfig, Transformer
from playground.models.tokenizer import Tokenizer

EMBEDDED = Path(__file__).parents[2] / "assets" / "model"


class ModelFileError(ValueError):
    """A model file is missing or not what it should be."""


@dataclass(frozen=True)
class LoadedModel:
    name: str
    model: Transformer
    tokenizer: Tokenizer
    is_chat: bool
    stop_ids: tuple[int, ...]
    trained_length: int  # tokens; further positions were never trained

    def prompt_ids(self, text: str) -> list[int]:
        """A chat model gets the text as a user's turn (ChatML, as MiniMind), a base model as it is."""
        if not text.strip():
            raise ValueError("The prompt is empty: write something for the model to answer or go on from.")
        ids = self.tokenizer.encode_plain(text)
        if not self.is_chat:
            return ids
        encode = self.tokenizer.encode
        return [*encode("<|im_start|>user\n"), *ids, *encode("<|im_end|>\n<|im_start|>assistant\n")]


def embedded_names(folder: Path = EMBEDDED) -> list[str]:
    return list(_entry(_read_json(folder / "config.json"), "versions", folder / "config.json"))


def load_model(
    name: str, folder: Path = EMBEDDED, device: str = "cpu", dtype: torch.dtype = torch.float32
) -> LoadedModel:
    """One of the embedded versions, gradients off. Raises ModelFileError saying which file is wrong and how."""
    path = folder / "config.json"
    settings = _read_json(path)
    versions = _entry(settings, "versions", path)
    if name not in versions:
        raise ModelFileError(f"no model is called {name!r}; there are {', '.join(versions)}")
    file, is_chat, stop_tokens = (_entry(versions[name], key, path) for key in ("file", "chat", "stop_tokens"))
    model = _read_model(path, settings, folder / file)
    tokenizer = _read_tokenizer(folder / "tokenizer.json")
    if tokenizer.vocab_size > model.config.vocab_size:
        raise ModelFileError(
            f"the tokenizer has {tokenizer.vocab_size} tokens, the model only {model.config.vocab_size}"
        )
    try:
        stop_ids = tuple(tokenizer.token_to_id(token) for token in stop_tokens)
    except ValueError as error:
        raise ModelFileError(f"{path} names a stop token, but {error}") from None
    model.requires_grad_(False).to(device=device, dtype=dtype).eval()
    return LoadedModel(name, model, tokenizer, is_chat, stop_ids, _entry(settings, "trained_length", path))


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise ModelFileError(f"{path} is missing")
    return path


def _read_json(path: Path) -> dict:
    raw = _existing(path).read_bytes()
    try:
        return json.loads(raw)
    except ValueError as error:  # no JSON, or no text at all
        raise ModelFileError(f"{path} is not valid JSON: {error}") from None


def _entry(settings: dict, key: str, path: Path) -> Any:
    if not isinstance(settings, dict) or key not in settings:
        raise ModelFileError(f"{path} has no entry {key!r} where one is needed")
    return settings[key]


def _read_model(config_path: Path, settings: dict, weights_path: Path) -> Transformer:
    known = {field.name for field in fields(ModelConfig)}
    try:
        config = ModelConfig(**{key: value for key, value in settings.items() if key in known})
    except ValueError as error:
        raise ModelFileError(f"{config_path}: {error}") from None
    tensors = _read_weights(weights_path)
    model = Transformer(config)
    try:
        model.load_checkpoint_tensors(tensors)
    except ValueError as error:
        raise ModelFileError(f"{weights_path}: {error}") from None
    return model


def _read_tokenizer(path: Path) -> Tokenizer:
    _existing(path)
    try:
        return Tokenizer(path)
    except Exception as error:  # the tokenizers package raises nothing narrower
        raise ModelFileError(f"{path} is not a tokenizer file: {error}") from None


def _read_weights(path: Path) -> dict[str, torch.Tensor]:
    if path.suffix != ".safetensors":
        raise ModelFileError(f"{path} is not a .safetensors file; pickled weights are never loaded")
    try:
        return load_file(_existing(path))
    except SafetensorError as error:
        raise ModelFileError(f"{path} is not a readable safetensors file: {error}") from None
