"""For reading.js: the tokens that go into the model, with what each is for. The model does not run."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from playground.models.reading import read_tokens
from playground.models.template import as_turns, conversation
from playground.models.text import LoadedModel, Prompt
from playground.page.requests import History, Text, model_of, prompt_ids_of, system_of

MOST_SHOWN = 400  # tokens: of a longer text the first and the last


class Read(BaseModel):
    """What is in the boxes."""

    model: str
    prompt: Text
    system: Text = ""
    history: History = []


def reading_of(models: Mapping[str, LoadedModel]) -> Callable[[Read], dict[str, Any]]:
    def reading(asked: Read) -> dict[str, Any]:
        loaded = model_of(models, asked.model)
        system = system_of(loaded, {"system": asked.system})
        prompt_ids_of(loaded, asked.prompt, system=system, history=asked.history)  # is it short enough?
        return reading_values(loaded, conversation(asked.prompt, system, asked.history))

    return reading


def reading_values(loaded: LoadedModel, prompt: Prompt) -> dict[str, Any]:
    tokens = read_tokens(loaded, prompt)
    skipped = max(0, len(tokens) - MOST_SHOWN)
    half = MOST_SHOWN // 2
    shown = [*tokens[:half], *tokens[-half:]] if skipped else tokens
    kinds = [token.kind for token in tokens]
    typed = loaded.tokenizer.markers_in("\n".join(turn["content"] for turn in as_turns(prompt)))
    return {
        "is_chat": loaded.is_chat,
        "tokens": [
            {"id": token.token_id, "label": loaded.labels[token.token_id], "kind": token.kind} for token in shown
        ],
        "skipped": skipped,  # behind the first half
        "counts": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
        "typed_markers": [
            {"marker": marker, "count": len(loaded.tokenizer.encode_plain(marker))} for marker in typed[:3]
        ],
    }
