"""One text under several kinds of cache: what each still holds, and how far its next token is from that of all.

Every kind reads the same text, the answer that the cache with everything wrote, so that steps can be compared; beside
that it writes an answer of its own. Shapes: N steps, L layers, V vocabulary.
"""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from playground.engine.cache_kinds import LayerCache
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.quantized_cache import QuantizedLayerCache
from playground.engine.sampling import kl_bits
from playground.models.text import LoadedModel
from playground.tabs.kinds_of_cache.contenders import Contender, cache_of, contenders, whole_pass

GREEDY = SamplingParams(temperature=0)
MOST_NEW = 24


@dataclass(frozen=True)
class Followed:
    """One kind, step by step along the common answer. Step n comes after n of its tokens."""

    contender: Contender
    held: list[list[list[int]]]  # (N, L, any) positions, or (N, L * KV, any) where each head holds its own
    rounded: list[int]  # (N,) of these, how many from the first on are stored as whole numbers of few bits
    num_bytes: list[int]  # (N,) of all layers
    copied_bytes: list[int]  # (N,) that had to move in the pass before the step
    kl_bits: list[float]  # (N,) from the distribution of the cache with everything
    choices: list[int]  # (N,) most likely token
    seconds: list[float]  # (N,) of the pass before the step; the first read the whole prompt
    answer_ids: list[int]  # written by itself

    @property
    def seconds_per_token(self) -> float | None:
        return median(self.seconds[1:]) if len(self.seconds) > 1 else None

    def equal_until(self, answer_ids: Sequence[int]) -> int:
        """How many tokens it would have chosen alike before the first other one."""
        pairs = enumerate(zip(self.choices, answer_ids, strict=True))
        return next((step for step, (own, common) in pairs if own != common), len(answer_ids))


@dataclass(frozen=True)
class Comparison:
    prompt_ids: list[int]
    answer_ids: list[int]  # of the cache with everything
    kinds: list[Followed]


def compare_kinds(loaded: LoadedModel, prompt_ids: list[int], budget: int) -> Generator[int, None, Comparison]:
    """`budget` in tokens of the unrounded cache. Yields how many kinds are done; between passes it yields too."""
    model = loaded.model
    answer_ids = yield from _answer(loaded, prompt_ids, KVCache.of(model), 0)
    num_fed = len(prompt_ids) + len(answer_ids) - 1
    followed: list[Followed] = []
    right: Tensor | None = None
    for done, contender in enumerate(contenders(model, num_fed, budget)):
        made, logits = yield from _follow(loaded, prompt_ids, answer_ids, contender, right, done)
        right = logits if right is None else right
        followed.append(made)
        yield done + 1
    return Comparison(prompt_ids, answer_ids, followed)


def _follow(
    loaded: LoadedModel,
    prompt_ids: list[int],
    answer_ids: list[int],
    contender: Contender,
    right: Tensor | None,
    done: int,
) -> Generator[int, None, tuple[Followed, Tensor]]:
    """With the logits (N, V). right: those of the cache with everything; None: these are they."""
    model, cache = loaded.model, cache_of(loaded.model, contender)
    held, rounded, num_bytes, copied, seconds, logits = [], [], [], [], [], []
    for ids in (prompt_ids, *([token_id] for token_id in answer_ids[:-1])):
        moved, start = _copied(cache), time.perf_counter()
        logits.append(whole_pass(model, cache, ids)[-1])
        seconds.append(time.perf_counter() - start)
        held.append([row for layer in cache.layers for row in _lines(layer)])
        rounded.append(_num_rounded(cache))
        num_bytes.append(cache.num_bytes)
        copied.append(_copied(cache) - moved)
        yield done
    own = torch.stack(logits)
    choices = own.argmax(-1).tolist()
    written = answer_ids
    if choices != answer_ids:
        written = yield from _answer(loaded, prompt_ids, cache_of(model, contender), done)
    distances = kl_bits(own if right is None else right, own)
    return Followed(contender, held, rounded, num_bytes, copied, distances, choices, seconds, written), own


def _answer(loaded: LoadedModel, prompt_ids: list[int], cache: KVCache, done: int) -> Generator[int, None, list[int]]:
    answer_ids = []
    for step in generate(loaded.model, prompt_ids, GREEDY, cache, MOST_NEW, loaded.stop_ids):
        answer_ids.append(step.token_id)
        yield done
    return answer_ids


def _lines(layer: LayerCache) -> list[list[int]]:
    """The positions that it holds, or those of each head."""
    return layer.positions.view(-1, layer.num_stored).sort(-1).values.tolist()


def _copied(cache: KVCache) -> int:
    return sum(layer.copied_bytes for layer in cache.layers)


def _num_rounded(cache: KVCache) -> int:
    first = cache.layers[0]
    return first.num_quantized if isinstance(first, QuantizedLayerCache) else 0
