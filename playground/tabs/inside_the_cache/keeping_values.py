"""What the pictures of "Why it may be kept" take: plain values, made from the experiments."""

from collections.abc import Generator

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.tabs.inside_the_cache.keeping import Change, SwappedCache, changes, swap_caches
from playground.tabs.inside_the_cache.question import Text
from playground.tabs.inside_the_cache.walk import walk_token
from playground.words import told

WALKED_POSITION = 1  # the second token


@torch.no_grad()
def likeliest_other(text: Text, position: int) -> int:
    """What the model would rather have written at that position: another token that makes sense there."""
    model, ids = text.loaded.model, text.stored_ids
    before = torch.tensor([ids[:position]], device=model.device)
    logits = model(before, KVCache.of(model), last_only=True)[0, -1].clone()
    logits[ids[position]] = -torch.inf
    return int(logits.argmax())


def changes_value(text: Text) -> Generator[None, None, dict]:
    """For changes.js."""
    replacement = likeliest_other(text, text.position)
    yield
    early = likeliest_other(text, 1)
    made = yield from changes(text.loaded.model, text.stored_ids, text.position, replacement, early)
    maps = [
        {
            "title": told(f"inside_the_cache.change.{change.name}.title"),
            "text": told(f"inside_the_cache.change.{change.name}.text", added=change.num_added),
            "verdict": verdict(change),
            "is_zero": max(change.earlier) <= change.rounding,
            "rounding": change.rounding,
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
        "maps": maps,
    }


def verdict(change: Change) -> dict:
    """One line that says how far the rows of unchanged tokens moved."""
    largest = max(change.earlier)
    if largest == 0:
        return told("inside_the_cache.verdict.zero")
    if largest <= change.rounding:
        return told("inside_the_cache.verdict.rounding", largest=largest)
    first = next(layer for layer, moved in enumerate(change.earlier) if moved > change.rounding)
    return told("inside_the_cache.verdict.moved", largest=largest, layer=first + 1)


def swap_value(text: Text) -> Generator[None, None, dict | None]:
    """For bars.js: the answer read again, layer 2 and then every layer with layer 1's keys and values of the prompt."""
    model = text.loaded.model
    if model.config.num_layers < 2:
        return None
    num_past = max(1, len(text.prompt_ids) - 1)  # the prompt's last token is fed: it chooses the first of the answer
    past, following = text.stored_ids[:num_past], text.stored_ids[num_past:]
    second, every = yield from swap_caches(model, past, following, 0, [[1], range(1, model.config.num_layers)])
    step = every.worst_step
    groups = [
        _best_tokens(text, told("inside_the_cache.swap.own"), second.logits[step], "kept"),
        _best_tokens(text, _how_far("second", second), second.swapped_logits[step], "off"),
        _best_tokens(text, _how_far("every", every), every.swapped_logits[step], "off"),
    ]
    note = told("inside_the_cache.swap.note", token=text.labels[num_past + step], rounding=second.rounding)
    return {"groups": groups, "note": note}


def _how_far(layers: str, swapped: SwappedCache) -> dict:
    return told(
        f"inside_the_cache.swap.{layers}",
        difference=swapped.largest_difference,
        others=swapped.other_choices,
        steps=len(swapped.logits),
    )


def _best_tokens(text: Text, title: dict, logits: Tensor, kind: str) -> dict:
    best = logits.softmax(-1).topk(3)
    rows = [
        {
            "label": text.loaded.tokenizer.label(token_id),
            "share": prob,
            "text": told("inside_the_cache.number.percent", share=prob),
            "kind": kind,
        }
        for prob, token_id in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]
    return {"title": title, "rows": rows}


def walk_value(text: Text) -> dict:
    """For stepper.js: the second token through the chosen layer."""
    walk = walk_token(text.loaded.model, text.stored_ids, WALKED_POSITION, text.layer)
    stages = [
        {
            "name": stage.name,
            "title": told(f"inside_the_cache.walk.{stage.name}.title"),
            "text": told(f"inside_the_cache.walk.{stage.name}.text", difference=walk.anew_difference),
            "rows": [vars(row) for row in stage.rows],
        }
        for stage in walk.stages
    ]
    return {
        "position": walk.position,
        "layer": walk.layer,
        "num_layers": text.loaded.model.config.num_layers,
        "labels": text.labels[: walk.position + 1],
        "stages": stages,
    }
