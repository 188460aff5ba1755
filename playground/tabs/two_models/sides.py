"""Which models can stand left and right: each that is loaded, and a packed copy of it, one at a time."""

import weakref
from collections.abc import Generator, Mapping
from dataclasses import dataclass

from playground.engine.generation import Decoder
from playground.engine.model import Transformer
from playground.engine.packed import obstacle, weight_bytes
from playground.models.altered import packed_copy
from playground.models.files import available_memory
from playground.models.text import LoadedModel
from playground.page.requests import RequestError, model_of
from playground.words import say, told

AS_LOADED, PACKED = "loaded", ("float16", "int8")  # forms of the weights
BASE, CHAT = "minimind-base", "minimind-chat"


@dataclass(frozen=True)
class Side:
    loaded: LoadedModel
    form: str = AS_LOADED

    @property
    def title(self) -> dict:
        form = getattr(self.loaded.model, "weight_format", "float32") if self.form == AS_LOADED else self.form
        return told(f"two_models.side.{form}", model=self.loaded.name)

    @property
    def key(self) -> dict[str, str]:
        return {"model": self.loaded.name, "form": self.form}


def forms_of(loaded: LoadedModel) -> list[str]:
    can_be_packed = isinstance(loaded.model, Transformer) and not any(obstacle(loaded.model, form) for form in PACKED)
    return [AS_LOADED, *(PACKED if can_be_packed else ())]


def side_of(models: Mapping[str, LoadedModel], model_name: str, form: str) -> Side:
    loaded = model_of(models, model_name)
    if form not in forms_of(loaded):
        raise RequestError(say("two_models.problem.form", model=loaded.name))
    return Side(loaded, form)


def choices(models: Mapping[str, LoadedModel]) -> dict:
    """What can be chosen now, for choices.js: models may come and go while the page runs. The first example is what the
    tab opens with, on the prompt of the bar."""
    there = dict(models.items())
    sides = [Side(each, form) for each in there.values() for form in forms_of(each)]
    return {
        "sides": [{**side.key, "title": side.title} for side in sides],
        "examples": [
            {
                "title": told(f"two_models.example.{name}", left=left.title, right=right.title),
                "left": left.key,
                "right": right.key,
                "prompt": prompt,
            }
            for name, left, right, prompt in _examples(there)
        ],
    }


def _examples(there: dict[str, LoadedModel]) -> list[tuple[str, Side, Side, str | None]]:
    loaded = list(there.values())
    examples: list[tuple[str, Side, Side, str | None]] = []
    if BASE in there and CHAT in there:
        examples.append(("base_chat", Side(there[BASE]), Side(there[CHAT]), say("two_models.prompt.fact")))
    small, large = (choose(loaded, key=lambda each: bytes_of_weights(each.model)) for choose in (min, max))
    if bytes_of_weights(small.model) < bytes_of_weights(large.model):
        examples.append(("small_large", Side(small), Side(large), None))
    packable = [each for each in loaded if len(forms_of(each)) > 1]
    if packable:
        whole = next((each for each in packable if each is there.get(BASE)), packable[0])
        examples.append(("int8", Side(whole), Side(whole, "int8"), say("two_models.prompt.story")))
    return examples or [("alone", Side(loaded[0]), Side(loaded[-1]), None)]


def bytes_of_weights(model: Decoder) -> int:
    return weight_bytes(getattr(model, "model", model))  # one of transformers is inside a decoder of ours


class PackedCopy:
    """The newest packed copy of a model: one at a time for all visitors, since it takes a quarter to a half of the
    model's own memory. It goes when another one is asked for, or with its model."""

    def __init__(self) -> None:
        self._source: weakref.ref[Transformer] | None = None
        self._form = ""
        self._copy: Transformer | None = None

    def model_of(self, side: Side) -> Generator[None, None, Decoder]:
        """Yields while it packs. Raises RequestError where there is no memory for it."""
        model = side.loaded.model
        if side.form == AS_LOADED:
            return model
        if self._copy is None or self._source is None or self._source() is not model or self._form != side.form:
            self.forget()  # its memory is free before the next one takes some
            free, needed = available_memory(), weight_bytes(model) // 2
            if free is not None and needed > free:
                raise RequestError(say("two_models.problem.memory", model=side.loaded.name, needed=needed, free=free))
            copy = yield from packed_copy(model, side.form)
            self._source, self._form, self._copy = weakref.ref(model, self.forget), side.form, copy
        return self._copy

    def forget(self, source: weakref.ref | None = None) -> None:
        """`source`: only the copy of this one."""
        if source in (None, self._source):
            self._source, self._copy = None, None
