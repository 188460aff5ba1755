"""A .gguf file becomes a folder in Hugging Face's format: read by transformers, dequantized to float32.

That takes the better part of a minute, so it is done once, and the folder is kept. It runs in a process of its own
(`python -m playground.models.gguf FILE FOLDER`): what transformers needs for it is gone from memory afterwards.
"""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Generator
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import playground
from playground.models.files import LoadStep, ModelFileError, check_memory, existing
from playground.models.sources import cache_folder, require, running
from playground.words import say

PACKAGES = ("transformers", "gguf", "accelerate")


def converted(path: Path) -> Generator[LoadStep, None, Path]:
    """The folder that holds the model of this file, made where it is not there yet. Raises ModelFileError."""
    with existing(path).open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelFileError(say("models.gguf.not_gguf", path=str(path)))
    folder = cache_folder() / f"{path.stem}-{_fingerprint(path)}"
    if folder.is_dir():
        return folder
    require(*PACKAGES)
    print(say("models.gguf.converting", path=str(path), folder=str(folder.parent)), file=sys.stderr, flush=True)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as temporary:
            made = Path(temporary) / "model"
            yield from _convert_elsewhere(path, made)
            os.replace(made, folder)
    except OSError as error:
        raise ModelFileError(say("models.source.not_kept", path=str(folder.parent), reason=str(error))) from None
    return folder


def _fingerprint(path: Path) -> str:
    """Another one when the file is another one; its bytes are not read for that, they may be many."""
    status = path.stat()
    return hashlib.sha256(f"{path.resolve()} {status.st_size} {status.st_mtime_ns}".encode()).hexdigest()[:12]


def _convert_elsewhere(path: Path, folder: Path) -> Generator[LoadStep, None, None]:
    root = str(Path(playground.__file__).parents[1])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    quiet = {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", __name__, str(path.resolve()), str(folder)]
    with running(command, env={**os.environ, "PYTHONPATH": paths, **quiet}) as program:
        for said in program.looks():
            percents = re.findall(r"GGUF.*?(\d+)%\|", said)  # the bar of transformers
            yield LoadStep("convert", int(percents[-1]) if percents else 0, 100)
    if program.code:
        lines = [line for line in program.said.splitlines() if line.strip()]
        raise ModelFileError(lines[-1] if lines else say("models.gguf.unreadable", path=str(path), reason="killed"))


def convert(path: Path, folder: Path) -> None:
    """In this process. Raises ModelFileError."""
    import torch
    import transformers
    from transformers.integrations.gguf import GgufHeader

    try:
        tensors = GgufHeader.from_file(str(path)).tensors
        num_bytes = sum(4 * prod(tensor.shape) for tensor in tensors)
        _check_size(path, tensors)
        check_memory(2 * num_bytes, path)  # the tensors, and the model that they are put into
        if (free := shutil.disk_usage(folder.parent).free) < num_bytes:
            raise ModelFileError(say("models.gguf.disk", path=str(folder.parent), needed=num_bytes, free=free))
        where, file = path.parent, path.name
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, gguf_file=file)
        model = transformers.AutoModelForCausalLM.from_pretrained(where, gguf_file=file, dtype=torch.float32)
        model.hf_quantizer = None  # what is saved is no GGUF any more
        for name in ("quantization_config", "unk_token_id"):
            vars(model.config).pop(name, None)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    except ModelFileError:
        raise
    except Exception as error:  # the reader raises whatever a broken file makes of its arithmetic
        reason = str(error).strip().splitlines()[:1] or [type(error).__name__]
        raise ModelFileError(say("models.gguf.unreadable", path=str(path), reason=reason[0])) from None


def _check_size(path: Path, tensors) -> None:
    """A download that broke off lacks the end of its tensors."""
    held = path.stat().st_size
    named = sum(tensor.nbytes for tensor in tensors)
    if held < named:
        raise ModelFileError(say("models.gguf.truncated", path=str(path), held=held, named=named))


if __name__ == "__main__":
    try:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))
    except ModelFileError as error:
        raise SystemExit(str(error)) from None
