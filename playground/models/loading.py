"""Weights from files: the embedded model in assets/model. Safetensors only: a pickle could run code."""

import json
from dataclasses import dataclass, fields
from pathlib import Path

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
    return list(_read_json(folder / "config.json")["versions"])


def load_model(
    name: str, folder: Path = EMBEDDED, device: str = "cpu", dtype: torch.dtype = torch.float32
) -> LoadedModel:
    """One of the embedded versions, gradients off. Raises ModelFileError saying which file is wrong and how."""
    settings = _read_json(folder / "config.json")
    versions = settings.get("versions", {})
    if name not in versions:
        raise ModelFileError(f"no model is called {name!r}; there are {', '.join(versions)}")
    version = versions[name]
    known = {field.name for field in fields(ModelConfig)}
    try:
        model = Transformer(ModelConfig(**{key: value for key, value in settings.items() if key in known}))
        model.load_checkpoint_tensors(_read_weights(folder / version["file"]))
    except ValueError as error:
        raise ModelFileError(f"{folder / version['file']}: {error}") from None
    model.requires_grad_(False).to(device=device, dtype=dtype).eval()
    tokenizer = Tokenizer(_existing(folder / "tokenizer.json"))
    if tokenizer.vocab_size > model.config.vocab_size:
        raise ModelFileError(
            f"the tokenizer has {tokenizer.vocab_size} tokens, the model only {model.config.vocab_size}"
        )
    stop_ids = tuple(tokenizer.token_to_id(token) for token in version["stop_tokens"])
    return LoadedModel(name, model, tokenizer, version["chat"], stop_ids, settings["trained_length"])


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise ModelFileError(f"{path} is missing")
    return path


def _read_json(path: Path) -> dict:
    try:
        return json.loads(_existing(path).read_text())
    except json.JSONDecodeError as error:
        raise ModelFileError(f"{path} is not valid JSON: {error}") from None


def _read_weights(path: Path) -> dict[str, torch.Tensor]:
    if _existing(path).suffix != ".safetensors":
        raise ModelFileError(f"{path} is not a .safetensors file; pickled weights are never loaded")
    try:
        return load_file(path)
    except SafetensorError as error:
        raise ModelFileError(f"{path} is not a readable safetensors file: {error}") from None
