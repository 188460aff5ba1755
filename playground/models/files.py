"""The files of a model, read with care: each fault is one sentence that names the file."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

INDEX = "model.safetensors.index.json"  # which shard holds which tensor
WEIGHT_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class ModelFileError(ValueError):
    """A model file is missing or not what it should be."""


def existing(path: Path) -> Path:
    """Refuses what a download may leave in place of a model file: a pointer of git-lfs, a web page."""
    if not path.is_file():
        raise ModelFileError(f"{path} is missing")
    with path.open("rb") as file:
        start = file.read(200).lstrip().lower()
    if start.startswith(b"version https://git-lfs"):
        raise ModelFileError(f"{path} is a git-lfs pointer, not the file itself: 'git lfs pull' fetches it")
    if start.startswith((b"<!doctype html", b"<html")):
        raise ModelFileError(f"{path} is a web page, not the file itself: download it again")
    return path


def read_json(path: Path) -> Any:
    raw = existing(path).read_bytes()
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # no JSON, or no text at all
        raise ModelFileError(f"{path} is not valid JSON: {error}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def entry(settings: Any, key: str, kind: type, path: Path) -> Any:
    if not isinstance(settings, dict) or key not in settings:
        raise ModelFileError(f"{path} has no entry {key!r} where one is needed")
    value = settings[key]
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise ModelFileError(f"{path}: {key} must be of type {kind.__name__}, got {value!r}")
    return value


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    if path.suffix != ".safetensors":
        raise ModelFileError(f"{path} is not a .safetensors file; pickled weights are never loaded")
    try:
        tensors = load_file(existing(path))
    except SafetensorError as error:
        raise ModelFileError(f"{path} is not a readable safetensors file: {error}") from None
    for name, tensor in tensors.items():
        if tensor.dtype not in WEIGHT_TYPES:  # without their scales the numbers mean something else
            kind = str(tensor.dtype).removeprefix("torch.")
            raise ModelFileError(f"{path}: {name!r} is stored as {kind}; quantized weights can't be read")
    return tensors


def read_folder_weights(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors of all shards that the index names, of model.safetensors, or of the only .safetensors file."""
    tensors = {}
    for path in _weight_files(folder):
        tensors |= read_weights(path)
    return tensors


def _weight_files(folder: Path) -> list[Path]:
    index = folder / INDEX
    if index.is_file():
        shards = {str(name) for name in entry(read_json(index), "weight_map", dict, index).values()}
        outside = [name for name in shards if Path(name).name != name]
        if outside:
            raise ModelFileError(f"{index} names {outside[0]!r}, which is no file of its folder")
        return [folder / name for name in sorted(shards)]
    if (folder / "model.safetensors").is_file():
        return [folder / "model.safetensors"]
    found = sorted(folder.glob("*.safetensors"))
    if not found:
        raise ModelFileError(f"{folder} holds no .safetensors file; weights of other kinds are never loaded")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ModelFileError(f"{folder} holds {names}, and no {INDEX} says how they belong together")
    return found
