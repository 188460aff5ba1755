"""What the picture of the calls takes."""

from collections.abc import Mapping
from pathlib import Path

from playground.models.text import LoadedModel
from playground.page.line import Progress, Work
from playground.page.requests import RequestError, own_model_of, prompt_ids_of, system_of
from playground.tabs.kinds_of_cache.update_calls import (
    STEPS,
    WINDOW,
    Call,
    Pairing,
    answer_of,
    pairings,
    recorded_calls,
    returned_by_theirs,
)
from playground.words import say, told

LONGEST = 512  # tokens of the prompt
LOOP = Path(__file__).with_name("loop_in_transformers.txt")  # a program that a test runs


def update_calls(
    models: Mapping[str, LoadedModel], _question: dict, model_name: str, prompt: str, controls: dict | None = None
) -> Work:
    """For update.js: every call of every kind, for the prompt of the bar."""
    loaded = own_model_of(models, model_name)
    prompt_ids = prompt_ids_of(loaded, prompt, system=system_of(loaded, controls))
    if len(prompt_ids) > LONGEST:
        raise RequestError(say("kinds_of_cache.problem.long", count=len(prompt_ids), most=LONGEST))
    answer_ids = yield from answer_of(loaded.model, prompt_ids)
    longest = len(prompt_ids) + STEPS
    kinds, made = pairings(longest), []
    for done, pairing in enumerate(kinds):
        passes = yield from recorded_calls(loaded.model, prompt_ids, answer_ids, pairing.layer)
        made.append(_kind_value(pairing, passes, longest))
        yield Progress(done + 1, len(kinds))
    label = loaded.tokenizer.label
    yield {
        "prompt": prompt,
        "prompt_length": len(prompt_ids),
        "labels": [label(token_id) for token_id in [*prompt_ids, *answer_ids]],
        "kinds": made,
    }


def _kind_value(pairing: Pairing, passes: list[list[Call]], longest: int) -> dict:
    limit = longest if pairing.name == "static" else WINDOW
    steps, seen = [], 0
    for calls in passes:
        num_new = calls[0].given[2]
        theirs = returned_by_theirs(pairing.theirs, seen, num_new, limit) if pairing.theirs else None
        steps.append([{**vars(call), "theirs": theirs} for call in calls])
        seen += num_new
    return {
        "name": pairing.name,
        "ours": type(pairing.layer).__name__,
        "theirs": pairing.theirs,
        "text": told(f"kinds_of_cache.update.kind.{pairing.name}", limit=limit),
        "steps": steps,
    }


def loop_text() -> dict:
    """For code.js."""
    return {"code": LOOP.read_text(encoding="utf-8")}


def theirs_value() -> dict:
    """For table.js: which caches run where, and what tests/tabs/kinds_of_cache/test_in_transformers.py compares."""
    return {
        "columns": [told(f"kinds_of_cache.theirs.{name}") for name in ("direction", "where", "result")],
        "rows": [
            [told(f"kinds_of_cache.theirs.row.{name}{column}") for column in ("", "_where", "_result")]
            for name in ("ours", "heavy", "theirs", "sliding")
        ],
        "note": told("kinds_of_cache.theirs.note"),
    }
