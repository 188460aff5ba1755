"""A folder in Hugging Face's format: on our own transformer where it is of that kind, else on transformers' code."""

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import torch

from playground.engine.arguments import shown
from playground.engine.generation import Decoder
from playground.engine.model import ModelConfig, Transformer, rotary_tables
from playground.models.adapter import load_adapted, placing
from playground.models.checkpoint import loading_tensors
from playground.models.configuration import FAMILIES, OtherKindError, hugging_face_config
from playground.models.files import LoadStep, ModelFileError, check_memory, existing, read_folder_weights, read_json
from playground.models.template import ChatTemplate
from playground.models.text import LoadedModel
from playground.models.tokenizer import Tokenizer
from playground.words import say

Into = tuple[torch.device, torch.dtype]  # where the weights go, and as what
CHATML_MARKERS = ("<|im_start|>", "<|im_end|>")
SPECIAL_TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token")


def from_hugging_face(
    folder: Path, settings: Any, into: Into, tensors: Mapping[str, torch.Tensor] | None = None
) -> Generator[LoadStep, None, LoadedModel]:
    """`tensors`, if they are given, instead of those in the folder."""
    path = folder / "config.json"
    try:
        config = hugging_face_config(settings, path)
    except OtherKindError as error:
        if tensors is not None:
            raise
        model: Decoder = yield from load_adapted(folder, settings, into, error)
    else:
        weights = read_folder_weights(folder) if tensors is None else tensors
        if tensors is None and placing(sum(each.numel() for each in weights.values()) * into[1].itemsize, into[0]):
            too_large = say("models.load.device_memory", name=str(folder), device=str(into[0]))
            model = yield from load_adapted(folder, settings, into, ModelFileError(too_large))
        else:
            model = yield from filled(config, weights, folder, into)
    vocab_size = model.config.vocab_size
    tokenizer = read_tokenizer(folder / "tokenizer.json", vocab_size)
    about = _tokenizer_settings(folder)
    template, first_ids = _template(folder, about, tokenizer), _first_ids(about, tokenizer)
    defaults = FAMILIES[settings["model_type"]].defaults if settings.get("model_type") in FAMILIES else {}
    stop_ids = _end_of_text_ids(folder, {**defaults, **settings}, vocab_size)
    if template:
        stop_ids = tuple(dict.fromkeys((*stop_ids, *_end_of_turn_ids(template, tokenizer))))
    more = {"first_ids": first_ids} | ({"template": template} if template else {})
    name = folder.resolve().name
    return LoadedModel(name, model, tokenizer, template is not None, stop_ids, model.config.max_positions, **more)


def filled(
    config: ModelConfig, tensors: Mapping[str, torch.Tensor], source: Path, into: Into
) -> Generator[LoadStep, None, Transformer]:
    """The weights are copied once, out of the mapped file into their own place, device and type."""
    device, dtype = into
    with torch.device("meta"):  # shapes without memory
        model = Transformer(config).to(dtype)
    num_bytes, done = sum(parameter.nbytes for parameter in model.parameters()), 0
    yield LoadStep("read", 0, num_bytes)  # who hears this may make room
    check_memory(num_bytes, source, device)
    model.to_empty(device=device)
    model.cos, model.signed_sin = (table.to(device, dtype) for table in rotary_tables(config))
    model.requires_grad_(False).eval()
    try:
        for more in loading_tensors(model, tensors):
            done += more
            yield LoadStep("read", done, num_bytes)
    except ValueError as error:
        raise ModelFileError(say("models.load.reason", path=str(source), reason=str(error))) from None
    return model


def read_tokenizer(path: Path, vocab_size: int) -> Tokenizer:
    existing(path)
    try:
        tokenizer = Tokenizer(path)
    except Exception as error:  # the tokenizers package raises nothing narrower
        raise ModelFileError(say("models.load.tokenizer", path=str(path), reason=str(error))) from None
    if tokenizer.vocab_size > vocab_size:
        sizes = {"tokens": tokenizer.vocab_size, "size": vocab_size}
        raise ModelFileError(say("models.load.tokenizer_size", **sizes))
    return tokenizer


def _tokenizer_settings(folder: Path) -> dict:
    path = folder / "tokenizer_config.json"
    settings = read_json(path) if path.is_file() else {}
    return settings if isinstance(settings, dict) else {}


def _template(folder: Path, about: dict, tokenizer: Tokenizer) -> ChatTemplate | None:
    """In a file of its own, in the tokenizer's settings, or ChatML where its markers are tokens; None: a base model."""
    path, source = folder / "chat_template.jinja", about.get("chat_template")
    if isinstance(source, list):  # several, by name
        named = {each.get("name"): each.get("template") for each in source if isinstance(each, dict)}
        source = named.get("default")
    if path.is_file():
        source = path.read_text(encoding="utf-8", errors="replace")
    elif not isinstance(source, str):
        return ChatTemplate() if all(map(tokenizer.has, CHATML_MARKERS)) else None
    special = {name: _content(about[name]) for name in SPECIAL_TOKENS if _content(about.get(name)) is not None}
    try:
        return ChatTemplate(source, special)
    except ValueError as error:
        raise ModelFileError(say("models.load.reason", path=str(folder), reason=str(error))) from None


def _content(token: Any) -> str | None:
    """A token in tokenizer_config.json is a text, or has one."""
    token = token.get("content") if isinstance(token, dict) else token
    return token if isinstance(token, str) else None


def _first_ids(about: dict, tokenizer: Tokenizer) -> tuple[int, ...]:
    """What stands in front of a text that is no conversation. The settings go before the tokenizer's own file."""
    start = _content(about.get("bos_token"))
    if about.get("add_bos_token") is False:
        return ()
    if about.get("add_bos_token") is True and start is not None and tokenizer.has(start):
        return (tokenizer.token_to_id(start),)
    return tokenizer.first_ids


def _end_of_turn_ids(template: ChatTemplate, tokenizer: Tokenizer) -> list[int]:
    """The token that the template writes behind the model's turn, if it writes one."""
    try:
        ids = tokenizer.encode_parts([(template.after_an_answer(), False)])
    except ValueError:  # it takes no conversation as short as that
        return []
    return [token_id for token_id in ids[:1] if tokenizer.is_special(token_id)]


def _end_of_text_ids(folder: Path, settings: dict, vocab_size: int) -> tuple[int, ...]:
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
        if type(end) is not int or not 0 <= end < vocab_size:
            facts = {"path": str(path), "size": vocab_size, "value": shown(end)}
            raise ModelFileError(say("models.load.end_of_text", **facts))
    return tuple(ends)
