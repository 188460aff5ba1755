"""What the pictures of two models take: plain values, made from the experiment."""

import math
from collections.abc import Mapping, Sequence
from statistics import median

from pydantic import BaseModel

from playground.engine.params import SamplingParams
from playground.models.text import LoadedModel
from playground.page.line import Work, in_steps
from playground.page.machine import machine
from playground.page.requests import Text, checked, new_tokens, prompt_ids_of, sampling_params, system_of, text_of
from playground.page.runs import Run, payload
from playground.tabs.two_models.alignment import first_difference
from playground.tabs.two_models.pair import Pair, Written, compare_models
from playground.tabs.two_models.sides import PackedCopy, Side, side_of
from playground.words import told

MOST_NEW = 64  # tokens: each is drawn, and its logits are sent twice


class Chosen(BaseModel):
    model: str
    form: str


class Question(BaseModel):
    """Of compare.js."""

    left: Chosen
    right: Chosen
    prompt: Text | None  # None: that of the bar


def compared(
    models: Mapping[str, LoadedModel], copies: PackedCopy, asked: dict, prompt: str, controls: dict | None
) -> Work:
    """For compare.js, and for the table below it."""
    question = checked(Question, {name: asked.get(name) for name in Question.model_fields})
    left, right = (side_of(models, each.model, each.form) for each in (question.left, question.right))
    prompt = text_of(prompt if question.prompt is None else question.prompt)
    params, most = sampling_params(controls), min(new_tokens(controls), MOST_NEW)
    systems = [system_of(side.loaded, controls) for side in (left, right)]
    prompts = tuple(
        prompt_ids_of(side.loaded, prompt, system=system) for side, system in zip((left, right), systems, strict=True)
    )
    pair = yield from in_steps(compare_models(left, right, prompts, params, most, copies), of=3)
    yield pair_value(left, right, prompt, params, most, pair, systems), costs_value(left, right, pair)


def pair_value(
    left: Side, right: Side, prompt: str, params: SamplingParams, most: int, pair: Pair, systems: Sequence[str]
) -> dict:
    """systems: the system prompts of both."""
    bits = pair.left.bits_per_byte(), pair.reading.bits_per_byte()
    return {
        "prompt": prompt,
        "titles": [left.title, right.title],
        "system": max(systems) if left.loaded.is_chat or right.loaded.is_chat else None,  # None: neither takes one
        "left": payload(Run.of(left.loaded, prompt, pair.left.trace, params, most, system=systems[0])),
        "reading": payload(Run.of(right.loaded, prompt, pair.reading.trace, params, most, system=systems[1])),
        "answers": [_labels(left, pair.left), _labels(right, pair.right)],
        "columns": [[*column.left, *column.right] for column in pair.columns],
        "different": first_difference(pair.columns),
        "equal": pair.num_equal,
        "places": pair.places,
        "kl": None if pair.kl_bits is None else [_sendable(one) for one in pair.kl_bits],
        "bits_per_byte": None if None in bits else [_sendable(one) for one in bits],
    }


def _labels(side: Side, written: Written) -> list[str]:
    return [side.loaded.labels[token_id] for token_id in written.trace.token_ids]


def _sendable(number: float) -> float | None:
    """JSON has no infinity: None is one."""
    return number if math.isfinite(number) else None


def costs_value(left: Side, right: Side, pair: Pair) -> dict:
    """For table.js."""
    sides = (left, pair.left), (right, pair.right)
    rows = {
        "weights": [told("two_models.number.bytes", bytes=written.weight_bytes) for _, written in sides],
        "cache": [told("two_models.number.bytes", bytes=written.cache_bytes_per_token) for _, written in sides],
        "formula": [_formula(side) for side, _ in sides],
        "time": [_time(written) for _, written in sides],
    }
    lengths = [len(written.trace.prompt_ids) for _, written in sides]
    steps = [max(len(written.trace) - 1, 0) for _, written in sides]
    return {
        "columns": [told("two_models.cost.what"), left.title, right.title],
        "rows": [[told(f"two_models.cost.{name}"), *cells] for name, cells in rows.items()],
        "note": told(
            "two_models.cost.note",
            left=steps[0], right=steps[1], prompt=lengths[0], other=lengths[1], machine=machine(),
        ),
    }  # fmt: skip


def _formula(side: Side) -> dict | None:
    config, model = side.loaded.model.config, side.loaded.model
    if not hasattr(config, "num_kv_heads"):  # of transformers: each architecture has its own
        return None
    each = model.embedding.element_size()
    facts = {"layers": config.num_layers, "heads": config.num_kv_heads, "size": config.head_dim, "each": each}
    num_bytes = 2 * config.num_layers * config.num_kv_heads * config.head_dim * each
    return told("two_models.cost.product", **facts, bytes=num_bytes)


def _time(written: Written) -> dict | None:
    seconds = written.trace.seconds[1:]  # the first step reads the prompt
    return told("two_models.number.milliseconds", seconds=median(seconds)) if seconds else None
