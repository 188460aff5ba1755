"""What the pictures of "What attention reads" take: plain values, made from the experiments."""

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
    even_share,
    mask_need,
    mask_row,
    pass_shapes,
    sink_shares,
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


def shapes_value(text: Text) -> Generator[None, None, dict | None]:
    """For table.js: a prefill, a chunk and a decode step of this very text, shapes read from the tensors."""
    model, ids = text.loaded.model, text.stored_ids
    if len(ids) < 4:
        return None
    chunk = min(4, len(ids) - 2)
    need = mask_need(model, ids, chunk)
    yield
    shapes = pass_shapes(model, ids, [len(ids) - chunk - 1, chunk, 1])
    rows = [
        [
            told(f"inside_the_cache.shapes.{name}", tokens=one.new),
            *(_product(shape) for shape in (one.queries, one.keys, one.weights)),
            _product(one.mask) if one.mask else told("inside_the_cache.shapes.no_mask"),
        ]
        for name, one in zip(("prefill", "chunk", "decode_step"), shapes, strict=True)
    ]
    return {
        "columns": ["", *(told(f"inside_the_cache.shapes.{name}") for name in ("queries", "keys", "weights", "mask"))],
        "rows": rows,
        "note": told(
            "inside_the_cache.shapes.note", decode_step=need.decode_step, chunk=need.chunk, tokens=need.chunk_length
        ),
    }


def _product(shape: tuple[int, ...]) -> str:
    return " × ".join(map(plain, shape))


def mask_value(text: Text) -> dict | None:
    """For mask.js: what the two wrong masks would do to one row of the model's own scores."""
    ids = text.stored_ids
    if len(ids) < 3:
        return None  # nothing, or next to nothing, to hide
    num_rows = min(len(ids), MATRIX_ROWS)
    row = len(ids) - 1 - num_rows // 2
    scores = attention_scores(text.loaded.model, ids, num_rows)[text.layer, 0, row - len(ids)]
    masked = mask_row(scores.tolist(), [position > row for position in range(len(ids))])
    works = "broken" if isnan(masked.leak(TIMES_INFINITY)) else "lucky"
    return {
        "own": told(
            f"inside_the_cache.mask.own.{works}",
            token=text.labels[row],
            position=row,
            layer=text.layer + 1,
            leak=masked.leak(TIMES_ZERO),
            hidden=len(ids) - row - 1,
        )
    }
