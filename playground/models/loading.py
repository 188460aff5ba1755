"""A model by its name, from a folder (this program's own or one in Hugging Face's format) or from a file.

No code that comes with a model is run.
"""

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from playground.assets import ASSETS
from playground.engine.model import Transformer
from playground.engine.packed import pack
from playground.models.configuration import own_config
from playground.models.files import LoadStep, ModelFileError, entry, read_checkpoint, read_json, read_weights
from playground.models.gguf import converted
from playground.models.hugging_face import Into, filled, from_hugging_face, read_tokenizer
from playground.models.sources import HUB_ID, SMOLLM2, from_hub, smollm2_file
from playground.models.text import LoadedModel
from playground.words import say, told

EMBEDDED = ASSETS / "model"
Loading = Generator[LoadStep, None, LoadedModel]


def embedded_names(folder: Path = EMBEDDED) -> list[str]:
    return list(_versions(read_json(folder / "config.json"), folder / "config.json"))


def load_model(
    name_or_path: str | Path,
    folder: Path = EMBEDDED,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
    weights: str = "float32",
) -> LoadedModel:
    """A version that `folder` names, "smollm2", a folder, a .gguf or .pth file, or "org/name" of the Hugging Face hub.

    Gradients are off. `weights`: one of FORMATS of engine/packed.py. A terminal is shown how far it is.
    Raises ModelFileError saying what is wrong and how to mend it.
    """
    return shown(loading(name_or_path, folder, device, dtype, weights))


def loading(
    name_or_path: str | Path,
    folder: Path = EMBEDDED,
    device: str = "cpu",
    dtype: torch.dtype = torch.float32,
    weights: str = "float32",
) -> Loading:
    """The same, step by step: before the weights are read, a step says how many bytes of memory they take.

    Closing this ends what is under way.
    """
    into = torch.device(device), dtype
    with _readable(str(name_or_path), device):
        loaded = yield from _loaded(name_or_path, folder, into)
        if weights != "float32":
            _pack(loaded, weights)
        return loaded


def loading_from_hub(repository: str, device: str = "cpu", dtype: torch.dtype = torch.float32) -> Loading:
    """A model of the hub that everybody may see: no folder of that name here, and without this account's token."""
    with _readable(repository, device):
        folder = yield from from_hub(repository, is_owner=False)
        return replace((yield from _from_folder(folder, (torch.device(device), dtype))), name=repository)


@contextmanager
def _readable(name: str, device: str) -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        raise ModelFileError(say("models.load.permission", path=str(error.filename))) from None
    except torch.OutOfMemoryError:
        raise ModelFileError(say("models.load.device_memory", name=name, device=device)) from None


def shown(steps: Loading) -> LoadedModel:
    """The model, with a bar for what takes longer than a moment."""
    from tqdm import tqdm

    bar, stage = None, ""
    try:
        while True:
            step = next(steps)
            if step.stage != stage:
                if bar is not None:
                    bar.close()
                unit = {} if step.stage == "convert" else {"unit": "B", "unit_scale": True, "unit_divisor": 1024}
                bar, stage = tqdm(desc=step.stage, delay=1, disable=None, leave=False, **unit), step.stage
            bar.total = step.of or None
            bar.update(step.done - bar.n)
    except StopIteration as end:
        return end.value
    finally:
        if bar is not None:
            bar.close()


def _loaded(wanted: str | Path, folder: Path, into: Into) -> Loading:
    names, path = embedded_names(folder), Path(wanted)
    if wanted in names:
        return (yield from _own_version(wanted, folder, into))
    if wanted == SMOLLM2:
        made, name = (yield from converted((yield from smollm2_file()))), SMOLLM2
    elif path.suffix == ".gguf":
        made, name = (yield from converted(path)), path.stem
    elif path.suffix == ".pth":
        return (yield from _from_checkpoint(path, into))
    elif path.is_dir():
        return (yield from _from_folder(path, into))
    elif re.fullmatch(HUB_ID, str(wanted)):
        made, name = (yield from from_hub(str(wanted))), str(wanted)
    else:
        raise ModelFileError(say("models.load.unknown", name=repr(str(wanted)), names=", ".join([*names, SMOLLM2])))
    return replace((yield from _from_folder(made, into)), name=name)


def _pack(loaded: LoadedModel, weights: str) -> None:
    if not isinstance(loaded.model, Transformer):
        raise ModelFileError(say("models.load.not_packed", model=loaded.name, form=weights))
    try:
        pack(loaded.model, weights)
    except ValueError as error:
        raise ModelFileError(str(error)) from None


def _from_folder(folder: Path, into: Into) -> Loading:
    settings = read_json(folder / "config.json")
    if not isinstance(settings, dict) or "versions" not in settings:
        return (yield from from_hugging_face(folder, settings, into))
    names = embedded_names(folder)
    if len(names) != 1:
        raise ModelFileError(say("models.load.several", path=str(folder), names=", ".join(names)))
    return (yield from _own_version(names[0], folder, into))


def _from_checkpoint(path: Path, into: Into) -> Loading:
    """MiniMind's own way: the weights in a .pth file, config.json and tokenizer.json beside it."""
    tensors = read_checkpoint(path)
    loaded = yield from from_hugging_face(path.parent, read_json(path.parent / "config.json"), into, tensors)
    return replace(loaded, name=path.stem)


def _own_version(name: str, folder: Path, into: Into) -> Loading:
    path = folder / "config.json"
    settings = read_json(path)
    version = _versions(settings, path)[name]
    file, is_chat = entry(version, "file", str, path), entry(version, "chat", bool, path)
    if Path(file).name != file:
        raise ModelFileError(say("models.file.outside", path=str(path), name=repr(file)))
    model = yield from filled(own_config(settings, path), read_weights(folder / file), folder / file, into)
    tokenizer = read_tokenizer(folder / "tokenizer.json", model.config.vocab_size)
    try:
        stop_ids = tuple(map(tokenizer.token_to_id, entry(version, "stop_tokens", list, path)))
    except ValueError as error:
        raise ModelFileError(say("models.load.stop_token", path=str(path), reason=str(error))) from None
    return LoadedModel(name, model, tokenizer, is_chat, stop_ids, entry(settings, "trained_length", int, path))


def _versions(settings: Any, path: Path) -> dict:
    try:
        return entry(settings, "versions", dict, path)
    except ModelFileError as error:
        readable = told("models.config.readable")
        raise ModelFileError(say("models.load.unreadable", reason=str(error), readable=readable)) from None
