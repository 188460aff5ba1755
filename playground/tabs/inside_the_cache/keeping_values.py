"""What the pictures of "Why it may be kept" take: plain values, made from the experiments."""

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.page.lesson import Section
from playground.tabs.inside_the_cache.keeping import Change, SwappedCache, changes, swap_caches
from playground.tabs.inside_the_cache.values import Text
from playground.tabs.inside_the_cache.walk import walk_token

WALKED_POSITION = 1  # the second token


@torch.no_grad()
def likeliest_other(text: Text, position: int) -> int:
    """What the model would rather have written at that position: another token that makes sense there."""
    model, ids = text.loaded.model, text.stored_ids
    before = torch.tensor([ids[:position]], device=model.device)
    logits = model(before, KVCache.of(model), last_only=True)[0, -1].clone()
    logits[ids[position]] = -torch.inf
    return int(logits.argmax())


def changes_value(text: Text, words: dict[str, Section]) -> dict:
    """For changes.js."""
    replacement, second = (likeliest_other(text, position) for position in (text.position, 1))
    made = changes(text.loaded.model, text.stored_ids, text.position, replacement, second)
    maps = [
        {
            "title": words[change.name].title,
            "text": words[change.name].text + f" Tokens added: {change.num_added}." * bool(change.num_added),
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


def verdict(change: Change) -> str:
    """One line that says how far the rows of unchanged tokens moved."""
    largest = max(change.earlier)
    if largest == 0:
        return "Earlier keys and values: changed by exactly 0"
    if largest <= change.rounding:
        return f"Earlier keys and values: at most {largest:.0e}, rounding"
    first = next(layer for layer, moved in enumerate(change.earlier) if moved > change.rounding)
    return f"Earlier keys and values: moved by up to {largest:.2g}, from layer {first + 1} on"


def swap_value(text: Text) -> dict | None:
    """For bars.js: the answer read again, layer 2 and then every layer with layer 1's keys and values of the prompt."""
    model = text.loaded.model
    if model.config.num_layers < 2:
        return None
    num_past = max(1, len(text.prompt_ids) - 1)  # the prompt's last token is fed: it chooses the first of the answer
    past, following = text.stored_ids[:num_past], text.stored_ids[num_past:]
    one, all_ = swap_caches(model, past, following, 0, [[1], range(1, model.config.num_layers)])
    step = all_.worst_step
    groups = [
        _best_tokens(text, "Each layer reads its own", one.logits[step], "kept"),
        _best_tokens(text, f"Layer 2 reads layer 1's. {_how_far(one)}", one.swapped_logits[step], "off"),
        _best_tokens(text, f"Every layer reads layer 1's. {_how_far(all_)}", all_.swapped_logits[step], "off"),
    ]
    note = (
        f"The token after “{text.labels[num_past + step]}”, the step that suffers most. For comparison: its own cache "
        f"against no cache at all changes a logit by {one.rounding:.0e} at most."
    )
    return {"groups": groups, "note": note}


def _how_far(swapped: SwappedCache) -> str:
    others, steps = swapped.other_choices, len(swapped.logits)
    return f"Logits move by up to {swapped.largest_difference:.1f}; {others} of {steps} steps prefer another token."


def _best_tokens(text: Text, title: str, logits: Tensor, kind: str) -> dict:
    best = logits.softmax(-1).topk(3)
    rows = [
        {"label": text.loaded.tokenizer.label(token_id), "share": prob, "text": f"{100 * prob:.1f} %", "kind": kind}
        for prob, token_id in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]
    return {"title": title, "rows": rows}


def walk_value(text: Text, words: dict[str, Section]) -> dict:
    """For stepper.js: the second token through the chosen layer."""
    walk = walk_token(text.loaded.model, text.stored_ids, WALKED_POSITION, text.layer)
    stages = [
        {
            "name": stage.name,
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
