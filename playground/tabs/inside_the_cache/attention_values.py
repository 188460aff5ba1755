"""What the pictures of "What attention reads" and the table of shapes take: plain values, made from the experiments."""

import base64
from collections.abc import Generator
from math import isnan

import numpy as np
from torch import Tensor

from playground.numbers import plain
from playground.tabs.inside_the_cache.attention import (
    TIMES_INFINITY,
    TIMES_ZERO,
    attention_scores,
    attention_vectors,
    even_share,
    mask_need,
    pass_shapes,
    sink_shares,
    worst_leak,
)
from playground.tabs.inside_the_cache.question import Text
from playground.words import told

MATRIX_ROWS = 96  # the last ones; more would be too small to see and slow to send


def attention_value(text: Text, weights: Tensor) -> dict:
    """For attention.js: one layer of the weights (L, H, rows, T), 65,535 for 1."""
    layer = (weights[text.layer].float() * 65535).round().cpu().numpy().astype("<u2")
    return {
        "layer": text.layer,
        "num_layers": weights.shape[0],
        "num_heads": weights.shape[1],
        "prompt_length": len(text.prompt_ids),
        "first_row": weights.shape[3] - weights.shape[2],
        "labels": text.labels,
        "weights": base64.b64encode(np.ascontiguousarray(layer).tobytes()).decode(),
    }


def sinks_value(text: Text, weights: Tensor) -> dict | None:
    """For bars.js: what each head of the layer leaves on the first token."""
    num_rows, length = weights.shape[2:]
    first_row = max(4, length - num_rows)  # the first rows have little else to read
    if length <= first_row:
        return None
    shares = sink_shares(weights[:, :, first_row - length :])[text.layer].tolist()
    even = even_share(first_row, length)
    rows = [
        {
            "label": told("inside_the_cache.head", number=head),
            "share": share,
            "text": told("inside_the_cache.number.percent", share=share),
            "kind": "kept",
        }
        for head, share in enumerate(shares, 1)
    ]
    return {
        "groups": [
            {
                "title": told("inside_the_cache.sinks.title", token=text.labels[0], layer=text.layer + 1),
                "rows": rows,
                "mark": even,
            }
        ],
        "note": told(
            "inside_the_cache.sinks.note",
            above=sum(share > even for share in shares),
            heads=len(shares),
            even=even,
            first=first_row,
            last=length - 1,
        ),
    }


def vectors_value(text: Text) -> dict:
    """For formula.js: the queries of the rows shown, and all keys and values of one layer."""
    vectors = attention_vectors(text.loaded.model, text.stored_ids, text.layer, MATRIX_ROWS)
    queries, keys, values = (heads.float().contiguous().cpu().numpy() for heads in vectors)
    return {
        "layer": text.layer,
        "num_layers": text.loaded.model.config.num_layers,
        "num_heads": queries.shape[0],
        "num_kv_heads": keys.shape[0],
        "head_dim": keys.shape[2],
        "prompt_length": len(text.prompt_ids),
        "first_row": keys.shape[1] - queries.shape[1],
        "labels": text.labels,
        **{name: _floats(heads) for name, heads in (("queries", queries), ("keys", keys), ("values", values))},
    }


def _floats(numbers: np.ndarray) -> str:
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode()


def shapes_value(text: Text) -> Generator[None, None, dict | None]:
    """For table.js: the first and the last pass of this answer, and its last tokens as one chunk."""
    model, ids, num_prompt = text.loaded.model, text.stored_ids, len(text.prompt_ids)
    if len(ids) < 4:
        return None
    chunk = min(4, len(ids) - 2)
    need = mask_need(model, ids, chunk)
    yield
    passes = {"prefill": pass_shapes(model, ids[:num_prompt], 0)}
    for name, past in (("decode_step", len(ids) - 1), ("chunk", len(ids) - chunk)):
        yield
        passes[name] = pass_shapes(model, ids, past)
    columns = [told(f"inside_the_cache.shapes.{name}", tokens=one.new, past=one.past) for name, one in passes.items()]
    rows = [
        [
            told(f"inside_the_cache.shapes.{name}"),
            *(_product(shape) for shape in (getattr(one, name) for one in passes.values())),
        ]
        for name in ("queries", "keys", "values", "keys_of_minimind", "weights", "mask")
    ]
    return {
        "columns": [told("inside_the_cache.shapes.tensor"), *columns],
        "rows": rows,
        "note": told(
            "inside_the_cache.shapes.note", decode_step=need.decode_step, chunk=need.chunk, tokens=need.chunk_length
        ),
    }


def _product(shape: tuple[int, ...] | None) -> str | dict:
    return " × ".join(map(plain, shape)) if shape else told("inside_the_cache.shapes.no_mask")


def mask_value(text: Text) -> dict | None:
    """For mask.js: what the two wrong masks would do to the model's own scores, where it is worst."""
    scores = attention_scores(text.loaded.model, text.stored_ids, MATRIX_ROWS)
    worst = worst_leak(scores)
    if worst is None:
        return None
    works = "broken" if isnan(worst.masked.leak(TIMES_INFINITY)) else "lucky"
    return {
        "own": told(
            f"inside_the_cache.mask.own.{works}",
            token=text.labels[worst.row],
            position=worst.row,
            layer=worst.layer + 1,
            head=worst.head + 1,
            leak=worst.masked.leak(TIMES_ZERO),
            mean=worst.mean_leak,
            hidden=sum(worst.masked.hidden),
        )
    }
