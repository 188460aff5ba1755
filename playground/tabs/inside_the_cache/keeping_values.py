"""What the pictures of "Why caching is safe" take: plain values, made from the experiments."""

from collections.abc import Generator

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.models.text import LoadedModel
from playground.tabs.inside_the_cache.keeping import (
    APPENDED,
    CHANGED,
    EARLY,
    ENCODED,
    FED_ON,
    MIXED,
    SCALED,
    SHIFTED,
    UNMASKED,
    Change,
    SwappedCache,
    changes,
    most_likely_text,
    swap_caches,
)
from playground.tabs.inside_the_cache.question import Text
from playground.tabs.inside_the_cache.walk import walk_token
from playground.words import say, told

WALKED_POSITION = 1  # the second token
# What is taken away, by the names of inside_the_cache.reason, and the experiments that show it.
REASONS = {
    "mask": (CHANGED, UNMASKED),
    "feed_forward": (CHANGED, MIXED),
    "weights": (SCALED,),
    "positions": (SHIFTED,),
    "added": (FED_ON, APPENDED, ENCODED),
    "early": (EARLY,),
}
SWAPPED_TOKENS = 97  # long enough that another layer's cache is seen to do harm


@torch.no_grad()
def most_likely_other(text: Text, position: int) -> int:
    """What the model would rather have written at that position: another token that makes sense there."""
    model, ids = text.loaded.model, text.stored_ids
    before = torch.tensor([ids[:position]], device=model.device)
    logits = model(before, KVCache.of(model), last_only=True)[0, -1].clone()
    logits[ids[position]] = -torch.inf
    return int(logits.argmax())


def changes_value(text: Text) -> Generator[None, None, dict]:
    """For changes.js."""
    replacement = most_likely_other(text, text.position)
    yield
    early = most_likely_other(text, 1)
    made = yield from changes(text.loaded.model, text.stored_ids, text.position, replacement, early)
    by_name = {change.name: _map(change) for change in made}
    reasons = [
        {"name": name, "maps": [by_name[each] for each in experiments if each in by_name]}
        for name, experiments in REASONS.items()
    ]
    return {
        "labels": text.labels,
        "position": text.position,
        "replacement": text.loaded.tokenizer.label(replacement),
        "reasons": [reason for reason in reasons if reason["maps"]],
    }


def _map(change: Change) -> dict:
    return {
        "title": told(f"inside_the_cache.change.{change.name}.title"),
        "text": told(f"inside_the_cache.change.{change.name}.text", added=change.num_added),
        "verdict": verdict(change),
        "is_zero": max(change.earlier) <= change.rounding,
        "rounding": change.rounding,
        "cells": change.by_row.tolist(),
        "earlier": change.earlier,
        "from_position": change.from_position,
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


def swap_value(loaded: LoadedModel) -> Generator[None, None, dict | None]:
    """For bars.js: a text of its own, read again with layer 1's keys and values in other layers."""
    model = loaded.model
    if model.config.num_layers < 2:
        return None
    prompt = say("inside_the_cache.swap.prompt")
    prompt_ids = loaded.prompt_ids(prompt)
    answer_ids = yield from most_likely_text(model, prompt_ids, SWAPPED_TOKENS)
    # The prompt's last token is fed: it chooses the first of the answer. The answer's last one is not.
    past, following = prompt_ids[:-1], [prompt_ids[-1], *answer_ids[:-1]]
    second, every = yield from swap_caches(model, past, following, 0, [[1], range(1, model.config.num_layers)])
    step = second.worst_step
    groups = [
        _best_tokens(loaded, told("inside_the_cache.swap.own"), second.logits[step], "kept"),
        _best_tokens(loaded, _how_far("second", second), second.swapped_logits[step], "off"),
        _best_tokens(loaded, _how_far("every", every), every.swapped_logits[step], "off"),
    ]
    note = told(
        "inside_the_cache.swap.note",
        model=loaded.name,
        prompt=prompt,
        tokens=len(following),
        token=loaded.tokenizer.label(following[step]),
        rounding=second.rounding,
    )
    return {"groups": groups, "note": note}


def _how_far(layers: str, swapped: SwappedCache) -> dict:
    return told(
        f"inside_the_cache.swap.{layers}",
        difference=swapped.largest_difference,
        others=swapped.other_choices,
        steps=len(swapped.logits),
    )


def _best_tokens(loaded: LoadedModel, title: dict, logits: Tensor, kind: str) -> dict:
    best = logits.softmax(-1).topk(3)
    rows = [
        {
            "label": loaded.tokenizer.label(token_id),
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
