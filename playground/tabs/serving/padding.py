"""What padding does: to the answer, where the model is not told what is padding, and to memory.

Shapes: T tokens, V vocabulary.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from playground.engine.cache_kinds import LayerCache
from playground.engine.generation import room_for
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.tabs.serving.schedule import Served

LEFT, RIGHT = "left", "right"
NOTHING, MASK, POSITIONS = "nothing", "mask", "positions"  # what the model is told of the padding
SIDES, TOLD = (LEFT, RIGHT), (NOTHING, MASK, POSITIONS)
ANSWER_TOKENS = 12


class HidesPadding(LayerCache):
    """Nobody reads the padding, which stands from `start` up to `end`. It reads itself, or its softmax would be NaN."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__()
        self.start, self.end = start, end

    def reads(self, query: int | Tensor, keys: Tensor) -> Tensor:
        return (keys < self.start) | (keys >= self.end) | (keys == query)


class SkipsPadding(KVCache):
    """Counts positions as if there were no padding."""

    def places(self, num_new: int) -> Tensor:
        start, end = self.layers[0].start, self.layers[0].end
        slots = torch.arange(self.position, self.position + num_new)
        return slots - (slots - start).clamp(0, end - start)


@dataclass(frozen=True)
class Padded:
    """One way of padding, against the same prompt without any."""

    side: str
    told: str
    token_ids: tuple[int, ...]  # greedy
    first_difference: float  # largest of any logit, for the first token
    later_difference: float | None  # for those after it, as long as both have written the same; None: at once another


def padded_answers(
    model: Transformer, prompt_ids: Sequence[int], pad_id: int, num_pads: int, stop_ids: Sequence[int]
) -> Generator[None, None, tuple[tuple[int, ...], list[Padded]]]:
    """The tokens without padding, then each way. Yields between the passes. Raises ValueError where it has no room."""
    length = len(prompt_ids)
    alone_ids, alone = yield from _greedy(model, list(prompt_ids), length - 1, KVCache.of(model), stop_ids)
    found = []
    for side in SIDES:
        pads = [pad_id] * num_pads
        text = [*pads, *prompt_ids] if side == LEFT else [*prompt_ids, *pads]
        start = 0 if side == LEFT else length
        last = len(text) - 1 if side == LEFT else length - 1  # the prompt's own last token, wherever it stands
        for told in TOLD:
            cache = _cache(model, told, start, start + num_pads)
            token_ids, logits = yield from _greedy(model, text, last, cache, stop_ids)
            found.append(Padded(side, told, token_ids, *_differences(alone_ids, alone, token_ids, logits)))
    return alone_ids, found


def _cache(model: Transformer, told: str, start: int, end: int) -> KVCache:
    if told == NOTHING:
        return KVCache.of(model)
    kind = SkipsPadding if told == POSITIONS else KVCache
    return kind.of(model, HidesPadding(start, end))


def _greedy(
    model: Transformer, text: list[int], last: int, cache: KVCache, stop_ids: Sequence[int]
) -> Generator[None, None, tuple[tuple[int, ...], list[Tensor]]]:
    """Token ids, and the logits (V,) of each. The first are read at the place `last` of the text."""
    room = min(ANSWER_TOKENS, room_for(model, cache) + 1 - len(text))
    token_ids, rows = [], []
    fed, place = text, last
    while len(token_ids) < max(1, room):
        with torch.inference_mode():
            rows.append(model(torch.tensor([fed], device=model.device), cache)[0, place].float())
        token_ids.append(int(rows[-1].argmax()))
        yield
        if token_ids[-1] in stop_ids:
            break
        fed, place = token_ids[-1:], 0
    return tuple(token_ids), rows


def _differences(
    alone_ids: Sequence[int], alone: Sequence[Tensor], token_ids: Sequence[int], logits: Sequence[Tensor]
) -> tuple[float, float | None]:
    first, *later = _while_same(alone_ids, alone, token_ids, logits)
    return first, max(later) if later else None


def _while_same(
    alone_ids: Sequence[int], alone: Sequence[Tensor], token_ids: Sequence[int], logits: Sequence[Tensor]
) -> Iterator[float]:
    for step, (ours, theirs) in enumerate(zip(alone, logits, strict=False)):
        if alone_ids[:step] != token_ids[:step]:
            return
        yield float((ours - theirs).abs().max())


# ---- memory


def reserved_places(served: Sequence[Served], block: int, max_positions: int) -> dict[str, int]:
    """Token places set aside where all of these are held at once, by the names of serving.reserved in the catalogue.

    An account over the lengths of a run: no buffer of these sizes is made.
    """
    tokens = [each.cached_tokens for each in served]
    longest_prompt = max(each.prompt_length for each in served)
    longest_answer = max(len(each.token_ids) for each in served)
    return {
        "context": len(tokens) * max_positions,
        "padded": len(tokens) * (longest_prompt + longest_answer - 1),
        "blocks": sum(-(-count // block) * block for count in tokens),
        "filled": sum(tokens),
    }
