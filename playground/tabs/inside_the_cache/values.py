"""What the pictures of cache growth take: plain values, made from the experiments."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.models.text import LoadedModel
from playground.tabs.inside_the_cache.figures import unit_of
from playground.tabs.inside_the_cache.growth import CacheSize, ghost_sizes

HEAT_ROWS = 320  # the last ones: a canvas may not be taller than 32,767 pixels


@dataclass(frozen=True)
class Text:
    """A recorded answer, and where the person looks in it."""

    loaded: LoadedModel
    prompt_ids: list[int]
    answer_ids: list[int]
    layer: int
    position: int  # of the token to change

    @property
    def stored_ids(self) -> list[int]:
        """What the cache holds at the end: the last token was chosen and never fed."""
        return self.prompt_ids + self.answer_ids[:-1]

    @property
    def labels(self) -> list[str]:
        return [self.loaded.tokenizer.label(token_id) for token_id in self.stored_ids]


def size_text(num_bytes: float) -> str:
    size, unit = unit_of(num_bytes)
    return f"{num_bytes / size:,.4g} {unit}"


def formula_value(text: Text, measured_bytes: int) -> dict:
    """For bars.js: the factors with their names, and the bytes found in the tensors beside their product."""
    size = _size(text)
    numbers = [{"number": f"{factor:,}", "words": name} for name, factor in size.factors]
    numbers.append({"number": size_text(size.num_bytes), "words": f"{size.num_bytes:,} bytes", "kind": "kept"})
    agrees = "the same" if measured_bytes == size.num_bytes else f"not the formula's {size.num_bytes:,}"
    config = text.loaded.model.config
    ghosts = ghost_sizes(config, size.tokens, size.bytes_per_number)
    largest = max(ghost.num_bytes for ghost in ghosts.values())
    rows = [
        ("this cache", size.num_bytes, "kept"),
        *((name, ghost.num_bytes, "ghost") for name, ghost in ghosts.items()),
    ]
    return {
        "numbers": numbers,
        "groups": [
            {
                "title": "The same text, one factor changed",
                "rows": [
                    {"label": name, "share": count / largest, "text": size_text(count), "kind": kind}
                    for name, count, kind in rows
                ],
            }
        ],
        "note": f"Measured in the tensors: {measured_bytes:,} bytes, {agrees}.",
    }


def ghost_curves(text: Text, tokens_per_step: list[int]) -> dict[str, list[int]]:
    """Name to bytes per step, for the dashed lines."""
    config, per_number = text.loaded.model.config, _size(text).bytes_per_number
    steps = [ghost_sizes(config, tokens, per_number) for tokens in tokens_per_step]
    return {name: [ghosts[name].num_bytes for ghosts in steps] for name in steps[0]}


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
    tokens = len(text.stored_ids)
    return CacheSize.of(model.config, tokens, bytes_per_number=model.embedding.element_size())
