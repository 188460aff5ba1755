"""What the pictures of "Inside the cache" take: plain values for assets/js, made from the experiments."""

import base64
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.experiments.attention import (
    TIMES_INFINITY,
    TIMES_ZERO,
    attention_scores,
    even_share,
    mask_need,
    mask_row,
    pass_shapes,
    sink_shares,
)
from playground.experiments.classifier import read_once
from playground.experiments.growth import CacheSize, ghost_sizes, stored_rows
from playground.experiments.keeping import APPENDED, ROUNDING, Change, changes, swap_cache
from playground.experiments.kv_heads import compare_kv_heads
from playground.experiments.training_cache import train_with_cache
from playground.experiments.walk import walk_token
from playground.figures.cache import unit_of
from playground.models.loading import LoadedModel
from playground.ui.lesson import Section

MATRIX_ROWS = 96  # the last ones; more would be too small to see and slow to send
HEAT_ROWS = 320  # the last ones: a canvas may not be taller than 32,767 pixels
WALKED_POSITION = 1  # the second token


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


# Growth


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


def heat_value(text: Text) -> dict:
    """For heatmap.js: keys and values of one layer, a byte a number, the largest being 127."""
    config = text.loaded.model.config
    first_row = max(0, len(text.stored_ids) - HEAT_ROWS)
    keys, values = (rows[:, first_row:] for rows in stored_rows(text.loaded.model, text.stored_ids)[text.layer])
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


# Why it may be kept


@torch.no_grad()
def likeliest_other(text: Text) -> int:
    """What the model would rather have written at that position: another token that makes sense there."""
    model, ids = text.loaded.model, text.stored_ids
    before = torch.tensor([ids[: text.position]], device=model.device)
    logits = model(before, KVCache(model.config.num_layers), last_only=True)[0, -1].clone()
    logits[ids[text.position]] = -torch.inf
    return int(logits.argmax())


def changes_value(text: Text, words: dict[str, Section]) -> dict:
    """For changes.js."""
    replacement = likeliest_other(text)
    made = changes(text.loaded.model, text.stored_ids, text.position, replacement)
    maps = [
        {
            "title": words[change.name].title,
            "text": words[change.name].text,
            "verdict": verdict(change),
            "is_zero": max(change.earlier) < (ROUNDING if change.name == APPENDED else 1e-30),
            "cells": change.by_row.tolist(),
            "earlier": change.earlier,
            "from_position": change.from_position,
        }
        for change in made
    ]
    return {
        "labels": text.labels,
        "position": text.position,
        "replacement": text.loaded.tokenizer.label(replacement),
        "rounding": ROUNDING,
        "maps": maps,
    }


def verdict(change: Change) -> str:
    """One line that says how far the rows of unchanged tokens moved."""
    largest = max(change.earlier)
    if largest == 0:
        return "Earlier keys and values: changed by exactly 0"
    if largest < ROUNDING:
        return f"Earlier keys and values: at most {largest:.0e}, rounding"
    first = next(layer for layer, moved in enumerate(change.earlier) if moved >= ROUNDING)
    return f"Earlier keys and values: moved by up to {largest:.2f}, from layer {first + 1} on"


def swap_value(text: Text) -> dict | None:
    """For bars.js: the first token of the answer with layer 2 reading its own cache, and layer 1's."""
    model, tokenizer = text.loaded.model, text.loaded.tokenizer
    if model.config.num_layers < 2:
        return None
    swapped = swap_cache(model, text.prompt_ids if len(text.prompt_ids) > 1 else text.stored_ids)
    sides = (
        ("each layer its own", swapped.logits, "kept"),
        ("layer 1's cache in layer 2", swapped.swapped_logits, "off"),
    )
    groups = []
    for title, logits, kind in sides:
        best = logits.softmax(-1).topk(4)
        rows = [
            {"label": tokenizer.label(token_id), "share": prob, "text": f"{100 * prob:.1f} %", "kind": kind}
            for prob, token_id in zip(best.values.tolist(), best.indices.tolist(), strict=True)
        ]
        groups.append({"title": title, "rows": rows})
    note = f"For comparison: with its own cache against no cache at all, the largest change is {swapped.rounding:.0e}."
    number = {"number": f"{swapped.largest_difference:.1f}", "words": "largest change of a logit", "kind": "off"}
    return {"numbers": [number], "groups": groups, "note": note}


def walk_value(text: Text, words: dict[str, Section]) -> dict:
    """For stepper.js: the second token through the chosen layer."""
    walk = walk_token(text.loaded.model, text.stored_ids, WALKED_POSITION, text.layer)
    stages = [
        {
            "title": words[stage.name].title,
            "text": words[stage.name].text,
            "rows": [vars(row) for row in stage.rows],
        }
        for stage in walk.stages
    ]
    stages[2]["text"] += f" Computed again without a cache they differ by {walk.anew_difference:.0e} at most." * (
        walk.anew_difference > 0
    )
    return {
        "position": walk.position,
        "layer": walk.layer,
        "num_layers": text.loaded.model.config.num_layers,
        "labels": text.labels[: walk.position + 1],
        "stages": stages,
    }


# What attention reads


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


# Heads, one pass, training


def heads_value(text: Text) -> dict:
    """For bars.js."""
    results = compare_kv_heads(text.loaded.model, text.stored_ids)
    largest = max(result.bytes_per_layer for result in results)

    def name(result) -> str:
        return f"{result.num_kv_heads}{' (trained)' * result.is_trained}"

    sizes = [
        {
            "label": name(result),
            "share": result.bytes_per_layer / largest,
            "text": size_text(result.bytes_per_layer),
            "kind": "kept" if result.is_trained else "ghost",
        }
        for result in results
    ]
    moved = [
        {
            "label": name(result),
            "share": result.same_choice,
            "text": f"{100 * result.same_choice:.0f} %",
            "kind": "kept" if result.is_trained else "off",
        }
        for result in results
    ]
    distances = ", ".join(
        f"{_small(result.kl)} for {result.num_kv_heads}" for result in results if not result.is_trained
    )
    return {
        "groups": [
            {"title": "KV heads: bytes per layer, measured", "rows": sizes},
            {"title": "KV heads: same likeliest next token", "rows": moved},
        ],
        "note": f"Over the {len(text.stored_ids)} positions of this answer. KL to the trained distribution of the next "
        f"token, mean in nats: {distances}.",
    }


def _small(number: float) -> str:
    """Two digits; what is rounding only, as such."""
    return "0" if number == 0 else "< 0.000001" if number < 1e-6 else f"{number:.2g}"


def classifier_value(text: Text) -> dict:
    """For table.js."""
    cached, uncached = (read_once(text.loaded.model, text.stored_ids, kind) for kind in ("dynamic", "none"))
    difference = float((cached.logits - uncached.logits).abs().max())
    rows = [
        ["tokens computed", f"{cached.num_fed:,}", f"{uncached.num_fed:,}"],
        ["multiply-adds", f"{cached.multiply_adds:,}", f"{uncached.multiply_adds:,}"],
        ["rows read from the cache", cached.rows_from_cache, uncached.rows_from_cache],
        ["kept afterwards", size_text(cached.kept_bytes), size_text(uncached.kept_bytes)],
        ["milliseconds, median of 5", f"{1000 * cached.seconds:.2f}", f"{1000 * uncached.seconds:.2f}"],
    ]
    note = f"Largest difference of a logit: {difference:.1g}."
    return {"columns": ["one pass", "cache on", "cache off"], "rows": rows, "note": note}


def training_value(text: Text) -> dict:
    """For table.js."""
    result = train_with_cache(text.loaded.model, text.stored_ids)
    rows = [
        ["loss, cache on", f"{result.loss:.4f} nats per token"],
        ["loss, difference to cache off", f"{result.loss_difference:.1g}"],
        [
            "gradients, largest difference",
            f"{result.gradient_difference:.1g} (largest gradient {result.gradient_size:.2g})",
        ],
        ["rows in layer 1 after the forward", result.rows_after_forward],
        ["and after computing it again", result.rows_after_recomputing],
    ]
    return {"columns": ["one training step", "measured"], "rows": rows}
