"""What prompts that begin alike share when their caches are made of blocks, for each size of a block."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from playground.engine.model import Transformer
from playground.engine.paged_cache import BlockPool, PagedCache
from playground.tabs.kinds_of_cache.contenders import whole_pass

BLOCK_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NUM_ANSWERS, ANSWER_TOKENS = 4, 10  # to one prompt


@dataclass(frozen=True)
class Served:
    """One prompt, when those before it have been read."""

    num_tokens: int
    num_hits: int  # whole blocks that were known
    num_fed: int  # tokens
    num_blocks: int
    num_empty: int  # places in its last block


@dataclass(frozen=True)
class Shared:
    """All prompts with blocks of one size."""

    block_size: int
    served: list[Served]
    bytes_shared: int  # of the prompts together
    bytes_alone: int  # if each had blocks of its own
    answers_shared: int  # bytes of NUM_ANSWERS to the first prompt
    answers_alone: int
    copied_bytes: int  # by copy on write, for these answers


def share_blocks(
    model: Transformer, prompts: Sequence[list[int]], sizes: Sequence[int] = BLOCK_SIZES
) -> Generator[int, None, list[Shared]]:
    """Yields how many sizes are done."""
    found = []
    for done, size in enumerate(sizes):
        pool = BlockPool(model.config.num_layers, size)
        served: list[Served] = []
        caches: list[PagedCache] = []
        for prompt in prompts:
            cache = pool.cache(prompt)
            hits, num_fed = len(cache.table), len(prompt) - cache.position
            whole_pass(model, cache, prompt[cache.position :])
            empty = len(cache.table) * size - len(prompt)
            served.append(Served(len(prompt), hits, num_fed, len(cache.table), empty))
            caches.append(cache)
            yield done
        together, alone = pool.num_bytes, sum(cache.num_bytes for cache in caches)
        found.append(Shared(size, served, together, alone, *_answers(model, size, prompts[0])))
        yield done + 1
    return found


def _answers(model: Transformer, size: int, prompt: list[int]) -> tuple[int, int, int]:
    """Bytes of several answers to one prompt that share its blocks, without sharing, and those copied on write."""
    pool = BlockPool(model.config.num_layers, size)
    first = pool.cache()
    whole_pass(model, first, prompt)
    answers = [first, *(first.clone() for _ in range(NUM_ANSWERS - 1))]
    for number, cache in enumerate(answers):
        for step in range(ANSWER_TOKENS):
            whole_pass(model, cache, [number * ANSWER_TOKENS + step])
    return pool.num_bytes, sum(cache.num_bytes for cache in answers), pool.copied_bytes
