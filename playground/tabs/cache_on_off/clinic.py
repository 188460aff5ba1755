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

CHUNK = 16  # tokens of a chunked prefill
FORMATS = {"bfloat16": torch.bfloat16, "float16": torch.float16}  # faults that are a number format
IN_THE_PROMPT = ("mask", "stale")  # faults that mix up tokens of the prompt


@dataclass(frozen=True)
class Fault:
    """What was done wrong, and the trace it leaves."""

    title: str
    planted: str
    traces: str


FAULTS = {
    "none": Fault(
        "Nothing is wrong",
        "Both sides get the same settings.",
        "Every token is equal, and in float32 no logit moves by more than rounding.",
    ),
    "seed": Fault(
        "Another seed on one side",
        "The cached side samples with seed + 1.",
        "Greedy: equal. Sampled: the logits are equal while the texts are, the random numbers are not.",
    ),
    "settings": Fault(
        "Sampling on one side only",
        "The cached side samples, the other takes the most likely token.",
        "Greedy: equal. Sampled: logits and random numbers are equal, the tokens part all the same.",
    ),
    "stream": Fault(
        "One global random stream",
        "Both sides take their numbers from the random stream of the whole process, which nobody winds back.",
        "Greedy: equal. Sampled: other random numbers, and others again when you run it again.",
    ),
    "bfloat16": Fault(
        "Both sides in bfloat16",
        "The model computes with 8 significant bits.",
        "A gap thousands of times that of float32, though the first token agrees; in float32 it is gone. Greedy tokens "
        "part only where the two best were close.",
    ),
    "float16": Fault(
        "Both sides in float16",
        "The model computes with 11 significant bits.",
        "As bfloat16, with a gap about eight times smaller.",
    ),
    "position": Fault(
        "Position off by one in the cached step",
        "The prompt is read right; each later token is told a position one too small.",
        "The first token's logits are equal. From the second on the gap is large, in float32 too.",
    ),
    "mask": Fault(
        "No mask in a chunked prefill",
        f"The cached side reads the prompt in chunks of {CHUNK}, and within a chunk tokens see those after them.",
        "The gap is large at the first token already, in float32 too. As many tokens are fed as should be.",
    ),
    "stale": Fault(
        "The cache still holds the last prompt",
        "The cached side got a cache that was not cleared: its keys and values belong to another text.",
        "The gap is large at the first token already, and fewer tokens were fed than the prompt has.",
    ),
}


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
        raise ValueError(f"fault must be one of {', '.join(FAULTS)}, got {fault!r}")
    if fault in IN_THE_PROMPT and len(prompt_ids) < 2:
        raise ValueError(
            "this fault needs a prompt of at least two tokens: a single one has no other to be mixed up with"
        )
    format_wanted = torch.float32 if in_float32 else FORMATS.get(fault)
    model = loaded.model if format_wanted is None else in_format(loaded.model, format_wanted)

    def start(kind: str, model: Decoder = model, params: SamplingParams = params) -> Iterator[Step]:
        return generate(model, prompt_ids, params, KVCache.of(model, kind), max_new_tokens, loaded.stop_ids)

    def from_the_stream(kind: str) -> Iterator[Step]:
        # Who else draws from Python's own global stream moves it on.
        return start(kind, params=replace(params, seed=random.getrandbits(53)))

    def without_mask() -> Iterator[Step]:
        open_model, cache = unmasked(model), KVCache.of(model)
        _feed_in_chunks(open_model, prompt_ids, cache)
        num_fed = cache.position
        for step in generate(open_model, prompt_ids, params, cache, max_new_tokens, loaded.stop_ids):
            yield step if step.index else replace(step, num_fed=num_fed + step.num_fed)

    def with_stale_cache() -> Iterator[Step]:
        cache = _filled(model, last_prompt_ids or list(reversed(prompt_ids)), len(prompt_ids) - 1)
        cache.told = (torch.tensor([list(prompt_ids[: cache.position])]),)  # what it is taken for
        return generate(model, prompt_ids, params, cache, max_new_tokens, loaded.stop_ids)

    def off() -> Iterator[Step]:
        return start("none")

    match fault:
        case "seed":
            return lambda: start("dynamic", params=replace(params, seed=params.seed + 1)), off
        case "settings":
            return lambda: start("dynamic"), lambda: start("none", params=replace(params, temperature=0.0))
        case "stream":
            return lambda: from_the_stream("dynamic"), lambda: from_the_stream("none")
        case "position":
            return lambda: start("dynamic", _OneBehind(model)), off
        case "mask":
            return without_mask, off
        case "stale":
            return with_stale_cache, off
    return lambda: start("dynamic"), off


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
    return random.Random(f"case {case}").choice(list(FAULTS))


class _OneBehind:
    """A model that is told, after the prompt, of one token less than its cache has seen. Neither of them is changed."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.config, self.device = model.config, model.device

    def __call__(self, token_ids: Tensor, cache: KVCache, last_only: bool = False) -> Tensor:
        return self.model(token_ids, _BehindView(cache), last_only)


class _BehindView:
    """A cache that tells a wrong position, and everything else as it is."""

    def __init__(self, cache: KVCache) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    @property
    def position(self) -> int:
        return max(0, self._cache.position - 1)


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
