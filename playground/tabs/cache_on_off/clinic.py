""" "The cache changed my answer": the usual causes, planted one at a time, and what tells them apart.

Engine and model stay as they are. A fault is what a caller does wrong around them: other settings, another cache, or a
view of the cache that tells the model something false.
"""

import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from playground.engine.generation import Decoder, Step, generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer, rotary_tables
from playground.engine.params import SamplingParams
from playground.models.altered import unmasked
from playground.models.text import LoadedModel
from playground.tabs.cache_on_off.race import RaceTick, Run, race_runs
from playground.words import say

CHUNK = 16  # tokens of a chunked prefill
FORMATS = {"bfloat16": torch.bfloat16, "float16": torch.float16}  # faults that are a number format
IN_THE_PROMPT = ("mask", "stale")  # faults that mix up tokens of the prompt


# In the catalogue each has its title, what was done wrong, and the trace it leaves.
FAULTS = ("none", "seed", "settings", "stream", "bfloat16", "float16", "position", "mask", "stale")


def clinic_runs(
    loaded: LoadedModel,
    prompt_ids: Sequence[int],
    params: SamplingParams,
    fault: str,
    max_new_tokens: int = 24,
    last_prompt_ids: Sequence[int] | None = None,
    in_float32: bool = False,
) -> tuple[Run, Run]:
    """Starters of the two sides, cache on and off, with the fault planted.

    `in_float32` computes in float32 whatever the model was loaded in, and so takes a 16-bit fault back.
    Raises ValueError for a fault that needs a longer prompt.
    """
    if fault not in FAULTS:
        raise ValueError(say("cache_on_off.clinic.unknown_fault", known=", ".join(FAULTS), fault=repr(fault)))
    if fault in IN_THE_PROMPT and len(prompt_ids) < 2:
        raise ValueError(say("cache_on_off.clinic.short_prompt"))
    wanted = torch.float32 if in_float32 else FORMATS.get(fault)
    model = loaded.model if wanted is None else in_format(loaded.model, wanted)
    ways = _Ways(model, prompt_ids, params, max_new_tokens, loaded.stop_ids)

    def off() -> Iterator[Step]:
        return ways.write("none")

    match fault:
        case "seed":
            return lambda: ways.write(seed=params.seed + 1), off
        case "settings":
            return ways.write, lambda: ways.write("none", temperature=0.0)
        case "stream":
            return ways.from_the_stream, lambda: ways.from_the_stream("none")
        case "position":
            return lambda: replace(ways, model=_OneBehind(model)).write(), off
        case "mask":
            return ways.without_mask, off
        case "stale":
            return lambda: ways.with_stale_cache(last_prompt_ids or list(reversed(prompt_ids))), off
    return ways.write, off


@dataclass(frozen=True)
class _Ways:
    """To write the same answer, right and wrong. Each call begins it anew."""

    model: Decoder
    prompt_ids: Sequence[int]
    params: SamplingParams
    max_new_tokens: int
    stop_ids: Sequence[int]

    def write(self, kind: str = "dynamic", cache: KVCache | None = None, **changes: Any) -> Iterator[Step]:
        """`changes` are of the settings."""
        cache = KVCache.of(self.model, kind) if cache is None else cache
        params = replace(self.params, **changes)
        return generate(self.model, self.prompt_ids, params, cache, self.max_new_tokens, self.stop_ids)

    def from_the_stream(self, kind: str = "dynamic") -> Iterator[Step]:
        # Who else draws from Python's own global stream moves it on.
        return self.write(kind, seed=random.getrandbits(53))

    def without_mask(self) -> Iterator[Step]:
        opened, cache = replace(self, model=unmasked(self.model)), KVCache.of(self.model)
        _feed_in_chunks(opened.model, self.prompt_ids, cache)
        num_fed = cache.position
        for step in opened.write(cache=cache):
            yield step if step.index else replace(step, num_fed=num_fed + step.num_fed)

    def with_stale_cache(self, last_prompt_ids: Sequence[int]) -> Iterator[Step]:
        cache = _filled(self.model, last_prompt_ids, len(self.prompt_ids) - 1)
        cache.told = (torch.tensor([list(self.prompt_ids[: cache.position])]),)  # what it is taken for
        return self.write(cache=cache)


def examine(
    loaded: LoadedModel,
    prompt_ids: Sequence[int],
    params: SamplingParams,
    fault: str,
    max_new_tokens: int = 24,
    last_prompt_ids: Sequence[int] | None = None,
    greedy: bool = False,
    in_float32: bool = False,
) -> Iterator[RaceTick]:
    """Both sides once. `greedy` sets temperature 0 on both, which takes all chance out: the first thing to try."""
    if greedy:
        params = replace(params, temperature=0.0)
    on, off = clinic_runs(loaded, prompt_ids, params, fault, max_new_tokens, last_prompt_ids, in_float32)
    return race_runs(on, off, len(prompt_ids), repeats=1)


def in_three_formats(
    loaded: LoadedModel, prompt_ids: Sequence[int], max_new_tokens: int = 48
) -> Iterator[tuple[str, Iterator[RaceTick]]]:
    """Greedy, cache on against off, in float32, float16 and bfloat16: how large the gap is, and what it decides."""
    for dtype in ("float32", "float16", "bfloat16"):
        fault = dtype if dtype in FORMATS else "none"
        yield (
            dtype,
            examine(
                loaded, prompt_ids, SamplingParams(), fault, max_new_tokens, greedy=True, in_float32=dtype == "float32"
            ),
        )


def stale_prompt(prompt_ids: Sequence[int], candidates: Sequence[Sequence[int]]) -> Sequence[int]:
    """The first of the texts that is another one as far as it would be kept: rows of the same text are no fault."""
    return next((ids for ids in candidates if not _agree(ids, prompt_ids[:-1])), candidates[0])


def _agree(ids: Sequence[int], others: Sequence[int]) -> bool:
    return all(one == other for one, other in zip(ids, others, strict=False))


def hidden_fault(case: int) -> str:
    """The fault behind a case number of the hidden mode: the same number, the same fault."""
    return random.Random(f"case {case}").choice(FAULTS)


class _OneBehind:
    """A model that is told, after the prompt, of one token less than its cache has seen. Neither of them is changed."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.config, self.device = model.config, model.device

    def __call__(self, token_ids: Tensor, cache: KVCache, last_only: bool = False) -> Tensor:
        return self.model(token_ids, _BehindView(cache), last_only)


class _BehindView:
    """A cache that tells wrong positions, and everything else as it is."""

    def __init__(self, cache: KVCache) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def places(self, num_new: int) -> slice:
        start = max(0, self._cache.position - 1)
        return slice(start, start + num_new)


@torch.no_grad()
def _feed_in_chunks(model: Transformer, prompt_ids: Sequence[int], cache: KVCache) -> None:
    """All but the last chunk, which is the run's own to feed."""
    while len(prompt_ids) - cache.position > CHUNK:
        model(torch.tensor([prompt_ids[cache.position : cache.position + CHUNK]], device=model.device), cache, True)


@torch.no_grad()
def _filled(model: Transformer, token_ids: Sequence[int], at_most: int) -> KVCache:
    """A cache that has seen these tokens, cut so that the next prompt still has something to feed."""
    cache = KVCache.of(model)
    if at_most > 0:
        model(torch.tensor([list(token_ids[:at_most])], device=model.device), cache, True)
    return cache


def in_format(model: Transformer, dtype: torch.dtype) -> Transformer:
    """The same weights in another number format; the model itself where it is in that format."""
    if model.embedding.dtype == dtype:
        return model
    other = copy.deepcopy(model).to(dtype=dtype)
    other.cos, other.signed_sin = (table.to(other.cos) for table in rotary_tables(model.config))  # not rounded twice
    return other
