"""The files of a model, read with care: each fault is one sentence that names the file."""

import json
import pickle
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from playground.engine.arguments import shown
from playground.words import say

INDEX = "model.safetensors.index.json"  # which shard holds which tensor
CPU = torch.device("cpu")
WEIGHT_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


class ModelFileError(ValueError):
    """A model file is missing or not what it should be."""


@dataclass(frozen=True)
class LoadStep:
    """How far the loading of a model is. Where `of` is 0, nobody knows how much there is to do."""

    stage: str  # download and read, in bytes; convert, in percent
    done: int = 0
    of: int = 0


def existing(path: Path) -> Path:
    """Refuses what a download may leave in place of a model file: a pointer of git-lfs, a web page."""
    if not path.is_file():
        raise ModelFileError(say("models.file.missing", path=str(path)))
    with path.open("rb") as file:
        start = file.read(200).lstrip().lower()
    if start.startswith(b"version https://git-lfs"):
        raise ModelFileError(say("models.file.git_lfs", path=str(path)))
    if start.startswith((b"<!doctype html", b"<html")):
        raise ModelFileError(say("models.file.web_page", path=str(path)))
    return path


def check_memory(num_bytes: int, path: Path, device: torch.device = CPU) -> None:
    """Before anything is loaded. A system that runs out of memory ends the program without a word."""
    free = free_memory(device)
    if free is not None and num_bytes > free:
        raise ModelFileError(say("models.file.memory", path=str(path), needed=num_bytes, free=free))


def free_memory(device: torch.device) -> int | None:
    """Bytes; None where nobody says."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return available_memory() if device.type == "cpu" else None


def available_memory() -> int | None:
    """Bytes that this process may still take, its container's limit included; None where the system does not say."""
    try:
        free = 1024 * int(re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text())[1])
    except (OSError, TypeError):
        return None
    try:
        most, taken = (int(Path("/sys/fs/cgroup", name).read_text()) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):  # "max": no limit
        return free
    return min(free, most - taken)


def read_json(path: Path) -> Any:
    raw = existing(path).read_bytes()
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # no JSON, or no text at all
        raise ModelFileError(say("models.file.not_json", path=str(path), reason=str(error))) from None


def _refuse_constant(name: str) -> None:
    raise ValueError(say("models.file.no_number", name=name))


def entry(settings: Any, key: str, kind: type, path: Path) -> Any:
    if not isinstance(settings, dict) or key not in settings:
        raise ModelFileError(say("models.file.no_entry", path=str(path), name=repr(key)))
    value = settings[key]
    if type(value) is not kind and not (kind is float and type(value) is int):
        facts = {"path": str(path), "name": key, "type": kind.__name__, "value": shown(value)}
        raise ModelFileError(say("models.file.type", **facts))
    return value


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    if path.suffix != ".safetensors":
        raise ModelFileError(say("models.file.pickle", path=str(path)))
    try:
        tensors = load_file(existing(path))
    except SafetensorError as error:
        raise ModelFileError(say("models.file.not_safetensors", path=str(path), reason=str(error))) from None
    return _plain_numbers(tensors, path)


def _plain_numbers(tensors: dict[str, torch.Tensor], path: Path) -> dict[str, torch.Tensor]:
    for name, tensor in tensors.items():
        if tensor.dtype not in WEIGHT_TYPES:  # without their scales the numbers mean something else
            kind = str(tensor.dtype).removeprefix("torch.")
            raise ModelFileError(say("models.file.quantized", path=str(path), name=repr(name), kind=kind))
    return tensors


def read_checkpoint(path: Path) -> dict[str, torch.Tensor]:
    """The state dict in a file of torch.save. That holds a pickle, of which only tensors and plain data are read."""
    try:
        with zipfile.ZipFile(existing(path)) as archive:
            packed = any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist())
        if packed:  # torch.save packs nothing: who does may hide any size in a small file
            raise ModelFileError(say("models.file.packed", path=str(path)))
        state = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except pickle.UnpicklingError:
        raise ModelFileError(say("models.file.code", path=str(path))) from None
    except (zipfile.BadZipFile, RuntimeError, EOFError, KeyError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(say("models.file.not_pth", path=str(path))) from None
    if not isinstance(state, dict) or not all(isinstance(tensor, torch.Tensor) for tensor in state.values()):
        raise ModelFileError(say("models.file.no_state_dict", path=str(path)))
    return _plain_numbers(state, path)


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
            raise ModelFileError(say("models.file.outside", path=str(index), name=repr(outside[0])))
        return [folder / name for name in sorted(shards)]
    if (folder / "model.safetensors").is_file():
        return [folder / "model.safetensors"]
    found = sorted(folder.glob("*.safetensors"))
    if not found:
        raise ModelFileError(say("models.file.no_weights", path=str(folder)))
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ModelFileError(say("models.file.unordered", path=str(folder), names=names, index=INDEX))
    return found
