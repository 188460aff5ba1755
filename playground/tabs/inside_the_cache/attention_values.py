"""What the pictures of "What attention reads" take: plain values, made from the experiments."""

import base64

import numpy as np
from torch import Tensor

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
from playground.tabs.inside_the_cache.values import Text

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
        {"label": f"head {head + 1}", "share": share, "text": f"{100 * share:.1f} %", "kind": "kept"}
        for head, share in enumerate(shares)
    ]
    num_above = sum(share > even for share in shares)
    note = (
        f"{num_above} of {len(shares)} heads of this layer give it more than {100 * even:.1f} %, its share if all were "
        f"read alike. Mean over rows {first_row} to {length - 1}."
    )
    return {
        "groups": [{"title": f"Weight on “{text.labels[0]}”, layer {text.layer + 1}", "rows": rows, "mark": even}],
        "note": note,
    }


def shapes_value(text: Text) -> dict | None:
    """For table.js: a prefill, a chunk and a decode step of this very text, shapes read from the tensors."""
    model, ids = text.loaded.model, text.stored_ids
    if len(ids) < 4:
        return None
    chunk = min(4, len(ids) - 2)
    splits = [len(ids) - chunk - 1, chunk, 1]
    need = mask_need(model, ids, chunk)
    names = ("prefill", f"chunk of {chunk}", "decode step")
    rows = [
        [
            name,
            _shape(one.queries),
            _shape(one.keys),
            _shape(one.weights),
            _shape(one.mask) if one.mask else "none needed",
        ]
        for name, one in zip(names, pass_shapes(model, ids, splits), strict=True)
    ]
    note = (
        f"Without the mask the last logits change by {need.decode_step:.1g} for a decode step, "
        f"and by {need.chunk:.2g} for a chunk of {need.chunk_length}."
    )
    columns = ["", "queries (1, heads, new, size)", "keys (1, KV heads, past + new, size)", "weights", "mask"]
    return {"columns": columns, "rows": rows, "note": note}


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(str(length) for length in shape)


def mask_value(text: Text) -> dict:
    """For mask.js: what the two wrong masks would do to one row of the model's own scores."""
    ids = text.stored_ids
    if len(ids) < 3:
        return {"own": ""}  # nothing, or next to nothing, to hide
    num_rows = min(len(ids), MATRIX_ROWS)
    row = len(ids) - 1 - num_rows // 2
    scores = attention_scores(text.loaded.model, ids, num_rows)[text.layer, 0, row - len(ids)]
    masked = mask_row(scores.tolist(), [position > row for position in range(len(ids))])
    broken = masked.leak(TIMES_INFINITY)
    infinity = "breaks the row (NaN)" if broken != broken else "happens to work"
    return {
        "own": f"The model's own scores of “{text.labels[row]}” (position {row}, layer {text.layer + 1}, head 1): "
        f"multiplying by 0 would give {100 * masked.leak(TIMES_ZERO):.0f} % of the weight to the {len(ids) - row - 1} "
        f"tokens after it; multiplying by −∞ {infinity}."
    }
