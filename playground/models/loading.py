"""A model by its name, from assets/model, or from a folder: this program's own or one in Hugging Face's format.

Weights are safetensors only: a pickle could run code.
"""

from pathlib import Path
from typing import Any

import torch

from playground.assets import ASSETS
from playground.engine.arguments import shown
from playground.engine.model import ModelConfig, Transformer
from playground.models.checkpoint import load_tensors
from playground.models.configuration import family_of, hugging_face_config, own_config
from playground.models.files import ModelFileError, entry, existing, read_folder_weights, read_json, read_weights
from playground.models.text import TURN_END, TURN_START, LoadedModel
from playground.models.tokenizer import Tokenizer
from playground.words import say, told

EMBEDDED = ASSETS / "model"


def embedded_names(folder: Path = EMBEDDED) -> list[str]:
    return list(_versions(read_json(folder / "config.json"), folder / "config.json"))


def load_model(
    name_or_folder: str | Path, folder: Path = EMBEDDED, device: str = "cpu", dtype: torch.dtype = torch.float32
) -> LoadedModel:
    """A version that `folder` names, or else a folder of its own; gradients off.

    Raises ModelFileError saying which file is wrong and how.
    """
    names = embedded_names(folder)
    if name_or_folder in names:
        loaded = _own_version(name_or_folder, folder)
    elif Path(name_or_folder).is_dir():
        loaded = _from_folder(Path(name_or_folder))
    else:
        name = repr(str(name_or_folder))
        raise ModelFileError(say("models.load.unknown", name=name, names=", ".join(names)))
    loaded.model.requires_grad_(False).to(device=device, dtype=dtype).eval()
    return loaded


def _from_folder(folder: Path) -> LoadedModel:
    settings = read_json(folder / "config.json")
    if not isinstance(settings, dict) or "versions" not in settings:
        return _hugging_face(folder, settings)
    names = embedded_names(folder)
    if len(names) != 1:
        raise ModelFileError(say("models.load.several", path=str(folder), names=", ".join(names)))
    return _own_version(names[0], folder)


def _own_version(name: str, folder: Path) -> LoadedModel:
    path = folder / "config.json"
    settings = read_json(path)
    version = _versions(settings, path)[name]
    file, is_chat = entry(version, "file", str, path), entry(version, "chat", bool, path)
    model = _filled(own_config(settings, path), read_weights(folder / file), folder / file)
    tokenizer = _read_tokenizer(folder / "tokenizer.json", model.config)
    try:
        stop_ids = tuple(map(tokenizer.token_to_id, entry(version, "stop_tokens", list, path)))
    except ValueError as error:
        raise ModelFileError(say("models.load.stop_token", path=str(path), reason=str(error))) from None
    return LoadedModel(name, model, tokenizer, is_chat, stop_ids, entry(settings, "trained_length", int, path))


def _hugging_face(folder: Path, settings: Any) -> LoadedModel:
    path = folder / "config.json"
    family = family_of(settings, path)
    model = _filled(hugging_face_config(settings, path), read_folder_weights(folder), folder)
    config = model.config
    tokenizer = _read_tokenizer(folder / "tokenizer.json", config)
    stop_ids = _end_of_text_ids(folder, {**family.defaults, **settings}, config)
    is_chat = tokenizer.has(TURN_START) and tokenizer.has(TURN_END)
    if is_chat:
        stop_ids = tuple(dict.fromkeys((*stop_ids, tokenizer.token_to_id(TURN_END))))
    return LoadedModel(folder.resolve().name, model, tokenizer, is_chat, stop_ids, config.max_positions)


def _end_of_text_ids(folder: Path, settings: dict, config: ModelConfig) -> tuple[int, ...]:
    """generation_config.json says it; where that is missing or silent, config.json."""
    path = folder / "generation_config.json"
    generation = read_json(path) if path.is_file() else None
    ends = generation.get("eos_token_id") if isinstance(generation, dict) else None
    if ends is None:
        path, ends = folder / "config.json", settings.get("eos_token_id")
    if ends is None:
        return ()
    ends = ends if isinstance(ends, list) else [ends]
    for end in ends:
        if type(end) is not int or not 0 <= end < config.vocab_size:
            facts = {"path": str(path), "size": config.vocab_size, "value": shown(end)}
            raise ModelFileError(say("models.load.end_of_text", **facts))
    return tuple(ends)


def _versions(settings: Any, path: Path) -> dict:
    try:
        return entry(settings, "versions", dict, path)
    except ModelFileError as error:
        readable = told("models.config.readable")
        raise ModelFileError(say("models.load.unreadable", reason=str(error), readable=readable)) from None


def _filled(config: ModelConfig, tensors: dict[str, torch.Tensor], source: Path) -> Transformer:
    model = Transformer(config)
    try:
        load_tensors(model, tensors)
    except ValueError as error:
        raise ModelFileError(say("models.load.reason", path=str(source), reason=str(error))) from None
    return model


def _read_tokenizer(path: Path, config: ModelConfig) -> Tokenizer:
    existing(path)
    try:
        tokenizer = Tokenizer(path)
    except Exception as error:  # the tokenizers package raises nothing narrower
        raise ModelFileError(say("models.load.tokenizer", path=str(path), reason=str(error))) from None
    if tokenizer.vocab_size > config.vocab_size:
        sizes = {"tokens": tokenizer.vocab_size, "size": config.vocab_size}
        raise ModelFileError(say("models.load.tokenizer_size", **sizes))
    return tokenizer
