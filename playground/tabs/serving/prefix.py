"""A prompt that begins as an earlier one finds its first blocks in the cache, but only whole blocks.

prefix.js counts the same in the browser, for every block size.
"""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from torch import Tensor

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams

GREEDY = SamplingParams(temperature=0)


def found_tokens(prompts: Sequence[Sequence[int]], block: int) -> list[int]:
    """How many first tokens of each prompt lie in blocks that an earlier one has filled.

    A block is known by all tokens up to its end. The last token of a prompt is always computed: its logits choose the
    first token of the answer (as in vLLM, arXiv 2309.06180 and its automatic prefix caching).
    """
    filled: set[tuple[int, ...]] = set()
    found = []
    for prompt in prompts:
        ends = range(block, len(prompt) + 1, block)
        hits = 0
        while hits + block < len(prompt) and tuple(prompt[: hits + block]) in filled:
            hits += block
        found.append(hits)
        filled.update(tuple(prompt[:end]) for end in ends)
    return found


def blocks_for(tokens: int, block: int) -> int:
    return -(-tokens // block)


def new_blocks(prompts: Sequence[Sequence[int]], block: int) -> int:
    """Blocks that all prompts together need where found ones are shared."""
    pairs = zip(prompts, found_tokens(prompts, block), strict=True)
    return sum(blocks_for(len(prompt), block) - found // block for prompt, found in pairs)


@dataclass(frozen=True)
class AnswersRoom:
    """What n answers to one prompt need: each with the prompt for itself, and with it shared."""

    alone_tokens: int  # that go through the model
    shared_tokens: int
    alone_blocks: int
    shared_blocks: int


def answers_room(prompt_length: int, answer_tokens: Sequence[int], block: int) -> AnswersRoom:
    """answer_tokens: how many of each answer were fed; its last token never is. A prompt's last block that is not full
    is copied for each answer, which goes on writing into it."""
    blocks = [blocks_for(prompt_length + tokens, block) for tokens in answer_tokens]
    full = prompt_length // block
    return AnswersRoom(
        sum(prompt_length + tokens for tokens in answer_tokens),
        prompt_length + sum(answer_tokens),
        sum(blocks),
        full + sum(count - full for count in blocks),
    )


# ---- on the model


@dataclass(frozen=True)
class Reused:
    """All prompts up to their first token, with what was found in earlier caches and without."""

    num_fed: tuple[int, ...]  # tokens of each prompt that went through the model
    difference: float  # largest of any logit, between the two
    seconds: tuple[float, float]  # with and without


def reuse(model: Transformer, prompts: Sequence[Sequence[int]], block: int) -> Generator[None, None, Reused]:
    """Takes the found blocks out of the cache of the earlier prompt that has them. Yields between the passes."""
    caches: list[KVCache] = []
    fed, largest, seconds = [], 0.0, [0.0, 0.0]
    for place, (prompt, found) in enumerate(zip(prompts, found_tokens(prompts, block), strict=True)):
        cache = _beginning(caches, prompts[:place], prompt, found) or KVCache.of(model)
        rows: list[Tensor] = []
        for way, kept in enumerate((cache, KVCache.of(model))):
            start = time.perf_counter()
            [step] = generate(model, prompt, GREEDY, kept, max_new_tokens=1)
            seconds[way] += time.perf_counter() - start
            rows.append(step.distribution.logits)
            if way == 0:
                fed.append(step.num_fed)
            yield
        largest = max(largest, float((rows[0] - rows[1]).abs().max()))
        caches.append(cache)
    return Reused(tuple(fed), largest, (seconds[0], seconds[1]))


def _beginning(
    caches: Sequence[KVCache], earlier: Sequence[Sequence[int]], prompt: Sequence[int], found: int
) -> KVCache | None:
    """A copy of what an earlier cache holds of the first `found` tokens."""
    if not found:
        return None
    held = next(cache for cache, other in zip(caches, earlier, strict=True) if other[:found] == prompt[:found])
    copy = held.clone()
    copy.truncate(found)
    return copy
