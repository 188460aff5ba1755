"""Perplexity along a text that is longer than the model was trained on, under each kind of cache."""

from collections.abc import Generator, Sequence

import torch
from torch import Tensor

from playground.models.text import LoadedModel
from playground.tabs.kinds_of_cache.contenders import BLOCK, cache_of, contenders, whole_pass
from playground.tabs.kinds_of_cache.stories import Story

LENGTH = 1008  # tokens
# Pieces of a whole number of blocks: what is quantized when they are fed is what would be token by token.
PIECE = 3 * BLOCK


def text_ids(loaded: LoadedModel, told: Sequence[Story]) -> list[int]:
    """The stories one after another, without their questions."""
    ids: list[int] = []
    for story in told:
        ids += loaded.tokenizer.encode_plain(story.text + "\n")
    return ids[:LENGTH]


def surprise_by_kind(loaded: LoadedModel, ids: list[int], budget: int) -> Generator[int, None, dict[str, Tensor]]:
    """By kind, how many nats each token but the first costs: (T - 1,). Yields how many tokens have been fed."""
    found: dict[str, Tensor] = {}
    fed = 0
    for contender in contenders(loaded.model, len(ids), budget):
        cache, rows = cache_of(loaded.model, contender), []
        size = BLOCK if "bits" in contender.facts else PIECE
        for start in range(0, len(ids), size):
            rows.append(whole_pass(loaded.model, cache, ids[start : start + size]))
            fed += len(rows[-1])
            yield fed
        log_probs = torch.cat(rows)[:-1].log_softmax(-1)
        found[contender.name] = -log_probs.gather(1, torch.tensor(ids[1:])[:, None])[:, 0]
    return found


def perplexity(nats: Tensor) -> float:
    return float(nats.mean().exp())


def smoothed(nats: Tensor, width: int) -> list[tuple[int, float]]:
    """(position of the last token, perplexity) of each stretch of `width` tokens."""
    stretches = nats[: len(nats) // width * width].view(-1, width)
    return [((index + 1) * width, perplexity(stretch)) for index, stretch in enumerate(stretches)]
