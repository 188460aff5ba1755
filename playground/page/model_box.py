"""The box beside the list of models: a visitor names another one, and it is loaded while others go on with theirs.

Only on a server that was started with --allow-models. What is typed is never a path of the server, except below the
folder of --models; else it is "smollm2" or an id of the Hugging Face hub, which is asked without any account.
"""

import re
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
import torch
from pydantic import BaseModel, Field

from playground.models.files import LoadStep, ModelFileError
from playground.models.held import HeldModels
from playground.models.loading import Loading, loading, loading_from_hub
from playground.models.sources import HUB_ID, SMOLLM2, cache_folder
from playground.page.jobs import QUIET, Jobs, visitor_of
from playground.page.line import Work
from playground.page.panel import panel
from playground.page.requests import RequestError, checked, readable_errors
from playground.words import say, told

MOST_LETTERS = 200  # of a name
MOST_OFFERED = 1000  # entries of the folder that are looked at
FILES = (".gguf", ".pth")


@dataclass(frozen=True)
class Allowed:
    """What visitors may load, and where it goes."""

    folder: Path | None = None  # whose models are offered
    device: str = "cpu"
    dtype: torch.dtype = torch.float32

    def source(self, typed: str) -> tuple[str, Loading]:
        """The name under which the page has this model, and its loading, not begun. Raises RequestError."""
        path = below(self.folder, typed)
        if path is not None:
            return path.relative_to(self.folder.resolve()).as_posix(), loading(path, **self._into)
        if typed == SMOLLM2:
            return typed, loading(SMOLLM2, **self._into)
        if re.fullmatch(HUB_ID, typed):
            return typed, loading_from_hub(typed, **self._into)
        raise RequestError(say("page.model_box.unknown", folder=int(self.folder is not None)))

    def offered(self) -> list[str]:
        """What can be typed and is there already: models of the folder, and of folders in it."""
        found = [] if self.folder is None else [*self.folder.glob("*"), *self.folder.glob("*/*")]
        names = [path.relative_to(self.folder).as_posix() for path in found[:MOST_OFFERED]]
        return [SMOLLM2, *sorted(name for name in names if below(self.folder, name))]

    @property
    def _into(self) -> dict[str, Any]:
        return {"device": self.device, "dtype": self.dtype}

    def without_folders(self, reason: str) -> str:
        """What is wrong, without telling visitors where things lie on this server."""
        from huggingface_hub.constants import HF_HUB_CACHE

        own = self.folder and self.folder.resolve()
        for folder in (own, cache_folder(), HF_HUB_CACHE, Path(sys.executable).parent):
            reason = reason.replace(f"{folder}/", "").replace(str(folder), say("page.model_box.folder"))
        return reason


def below(folder: Path | None, typed: str) -> Path | None:
    """The model file or folder of that name, if it really lies in the folder; links out of it lead nowhere."""
    if folder is None or "\0" in typed:
        return None
    path, root = (folder / typed).resolve(), folder.resolve()
    return path if path != root and path.is_relative_to(root) and _is_model(path) else None


def _is_model(path: Path) -> bool:
    return path.suffix in FILES if path.is_file() else (path / "config.json").is_file()


class Wanted(BaseModel):
    """Of model_box.js."""

    name: str = Field(max_length=MOST_LETTERS)
    number: int = 0


def model_box() -> gr.HTML:
    """Its value has the models that the page offers now, or how a loading stands."""
    return panel("model_box", events=["asked", "stopped", "opened"], elem_id="model-box")


def bind_model_box(box: gr.HTML, model_name: gr.Dropdown, jobs: Jobs, models: HeldModels, allowed: Allowed) -> None:
    """What loads, what stops that, and how a page learns which models there are: when it opens, and at each look."""

    def load(question: Any) -> Work:
        name = yield from loaded(models, allowed, question)
        return {"names": list(models), "name": name}, gr.Dropdown(choices=list(models), value=name)

    def now() -> tuple[list[dict[str, Any]], Any]:
        known = {"names": list(models), "offered": allowed.offered(), "folder": int(allowed.folder is not None)}
        return [known], gr.Dropdown(choices=list(models))

    async def on_stop(request: gr.Request, question: Any) -> None:
        with readable_errors():
            jobs.loads.stop(visitor_of(request), checked(Wanted, question).number)

    both = [box, model_name]
    jobs.on(box.asked, load, box, both, name="load", long=True, asks=True, line=jobs.loads, trigger_mode="multiple")
    box.stopped(on_stop, box, None, queue=False, trigger_mode="multiple", **QUIET)
    for look in (partial(gr.on, None), box.opened, model_name.focus):  # the first: when the page opens
        look(now, None, both, queue=False, **QUIET)


def loaded(models: HeldModels, allowed: Allowed, question: Any) -> Work:
    """Yields what the box is to say, and returns the name of the model, which then is one of the page's."""
    typed = checked(Wanted, question).name.strip()
    if typed in models:
        return typed
    name, steps = allowed.source(typed)
    if name in models:
        return name
    try:
        with closing(steps):  # also where it is stopped
            made = yield from _watched(models, name, steps)
        models.add(replace(made, name=name))
    except (ModelFileError, OSError) as error:
        raise RequestError(say("page.model_box.failed", reason=allowed.without_folders(str(error)))) from None
    return name


def _watched(models: HeldModels, name: str, steps: Loading) -> Work:
    """Other models make room before the weights are read, and the box hears how far it is."""
    has_room = False
    while True:
        try:
            step: LoadStep = next(steps)
        except StopIteration as end:
            return end.value
        if step.stage == "read" and not has_room:
            models.make_room(name, step.of)
            has_room = True
        key = f"page.model_box.{step.stage}{'' if step.of else '_begins'}"
        yield {"said": told(key, name=name, done=step.done, of=step.of)}
