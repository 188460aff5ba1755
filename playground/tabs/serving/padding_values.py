"""Six ways of padding the prompt of the bar, for padding.js, and what sixteen requests set aside, for reserved.js."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from playground.engine.work import ROUNDING
from playground.models.text import LoadedModel
from playground.page.line import Work
from playground.page.requests import Text, checked, own_model_of, prompt_ids_of, system_of
from playground.tabs.serving.batching_values import NUM_REQUESTS, workload
from playground.tabs.serving.padding import Padded, padded_answers, reserved_places
from playground.tabs.serving.schedule import CONTINUOUS, serve

PADS = (1, 8, 24, 64)
BLOCK = 16  # tokens


class PaddingQuestion(BaseModel):
    """Of padding.js."""

    model: str
    prompt: Text
    system: Text = ""
    pads: Literal[PADS]


def padding_values(models: Mapping[str, LoadedModel], question: Any) -> Work:
    """The boxes for padding.js, then for reserved.js the room that is set aside."""
    asked = checked(PaddingQuestion, question)
    loaded = own_model_of(models, asked.model)
    prompt_ids = prompt_ids_of(loaded, asked.prompt, system=system_of(loaded, {"system": asked.system}))
    pad_id = loaded.stop_ids[0] if loaded.stop_ids else 0  # as most programs do where a model has no token for it
    alone, found = yield from padded_answers(loaded.model, prompt_ids, pad_id, asked.pads, loaded.stop_ids)
    rounding = ROUNDING.get(loaded.model.embedding.dtype, 1e-2)
    boxes = {
        "prompt": asked.prompt,
        "pads": asked.pads,
        "alone": _text(loaded, alone),
        "boxes": [_box(loaded, each, alone, rounding) for each in found],
    }
    yield boxes, None
    steps = serve(loaded.model, workload(loaded, "ends"), NUM_REQUESTS, CONTINUOUS)
    while True:
        try:
            next(steps)
            yield None
        except StopIteration as end:
            served = end.value.served
            break
    places = reserved_places(served, BLOCK, loaded.model.config.max_positions)
    return boxes, {"places": places, "bytes_a_token": served[0].bytes_a_token}


def _box(loaded: LoadedModel, each: Padded, alone: tuple[int, ...], rounding: float) -> dict:
    is_near = max(each.first_difference, each.later_difference or 0.0) <= rounding
    return {
        "side": each.side,
        "told": each.told,
        "text": _text(loaded, each.token_ids),
        "first": each.first_difference,
        "later": each.later_difference,
        "verdict": ("right" if is_near else "lucky") if each.token_ids == alone else "wrong",
    }


def _text(loaded: LoadedModel, token_ids: tuple[int, ...]) -> str:
    return loaded.tokenizer.decode([token_id for token_id in token_ids if token_id not in loaded.stop_ids])
