"""What the pictures of "How it grows" and "How big it is" take: plain values, made from the experiments."""

import base64
from collections.abc import Sequence

import pandas as pd
import torch
from torch import Tensor

from playground.tabs.inside_the_cache.growth import CacheSize, ghost_sizes
from playground.tabs.inside_the_cache.question import Text
from playground.words import say, told

HEAT_ROWS = 320  # the last ones: a canvas may not be taller than 32,767 pixels


def formula_value(text: Text, measured_bytes: int) -> dict:
    """For size.js: the factors with their names, and the bytes found in the tensors beside their product."""
    size = _size(text)
    numbers = [{"number": factor, "words": told(f"inside_the_cache.factor.{name}")} for name, factor in size.factors]
    exact = told("inside_the_cache.size.exact", bytes=size.num_bytes)
    numbers.append({"number": size_told(size.num_bytes), "words": exact, "kind": "kept"})
    ghosts = ghost_sizes(text.loaded.model.config, size.tokens, size.bytes_per_number)
    rows = [(told("inside_the_cache.size.own"), size.num_bytes, "kept")]
    rows += [
        (told(f"inside_the_cache.ghost.{name}", **vars(ghost)), ghost.num_bytes, "ghost")
        for name, ghost in ghosts.items()
    ]
    agrees = "same" if measured_bytes == size.num_bytes else "differs"
    facts = {"measured": measured_bytes, "formula": size.num_bytes, "model": text.loaded.name}
    return {
        "num_tokens": text.num_tokens,
        "stored": len(text.stored_ids),
        "numbers": numbers,
        "groups": [{"title": told("inside_the_cache.size.compared"), "rows": size_bars(rows)}],
        "note": told(f"inside_the_cache.size.{agrees}", **facts),
    }


def copies_value(growths: dict[str, pd.DataFrame]) -> dict:
    """For bars.js: bytes that each kind of buffer had to copy, by the names of inside_the_cache.buffer."""
    copied = {name: int(growth.copied_bytes.sum()) for name, growth in growths.items()}
    growing = growths["growing"]
    last = growing[growing.step == growing.step.max()]
    rows = [(told(f"inside_the_cache.buffer.{name}"), num_bytes, "kept") for name, num_bytes in copied.items()]
    return {
        "groups": [
            {"title": told("inside_the_cache.copied.title", tokens=int(last.tokens.max())), "rows": size_bars(rows)}
        ],
        "note": told("inside_the_cache.copied.note", bytes=int(last.filled_bytes.sum())),
    }


def size_bars(rows: Sequence[tuple[str | int | dict, int, str]]) -> list[dict]:
    """Rows of bars.js from (label, bytes, kind)."""
    largest = max(1, *(num_bytes for _, num_bytes, _ in rows))
    return [
        {"label": label, "share": num_bytes / largest, "text": size_told(num_bytes), "kind": kind}
        for label, num_bytes, kind in rows
    ]


def size_told(num_bytes: int) -> dict:
    return told("inside_the_cache.number.bytes", bytes=num_bytes)


def ghost_curves(text: Text, tokens_per_step: Sequence[int]) -> dict[str, list[int]]:
    """Name to bytes per step, for the dashed lines."""
    config, per_number = text.loaded.model.config, _size(text).bytes_per_number
    steps = [ghost_sizes(config, tokens, per_number) for tokens in tokens_per_step]
    return {
        say(f"inside_the_cache.ghost.{name}", **vars(ghost)): [ghosts[name].num_bytes for ghosts in steps]
        for name, ghost in steps[0].items()
    }


def heat_value(text: Text, stored: Sequence[tuple[Tensor, Tensor]]) -> dict:
    """For heatmap.js: keys and values of one layer of `stored_rows`, a byte a number, the largest being 127."""
    config = text.loaded.model.config
    first_row = max(0, len(text.stored_ids) - HEAT_ROWS)
    keys, values = (rows[:, first_row:] for rows in stored[text.layer])
    return {
        "layer": text.layer,
        "num_layers": config.num_layers,
        "num_heads": config.num_kv_heads,
        "head_dim": config.head_dim,
        "prompt_length": len(text.prompt_ids),
        "first_row": first_row,
        "labels": text.labels[first_row:],
        "largest": {"keys": float(keys.abs().max()), "values": float(values.abs().max())},
        "keys": _as_bytes(keys),
        "values": _as_bytes(values),
    }


def _as_bytes(rows: Tensor) -> str:
    """(KV, T, D) to base64 of int8, row by row."""
    scaled = (rows.float() / rows.abs().max().clamp(min=1e-12) * 127).round().to(torch.int8)
    return base64.b64encode(scaled.transpose(0, 1).contiguous().cpu().numpy().tobytes()).decode()


def _size(text: Text) -> CacheSize:
    model = text.loaded.model
    tokens = len(text.measured_ids)
    return CacheSize.of(model.config, tokens, bytes_per_number=model.embedding.element_size())
