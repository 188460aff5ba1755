"""One loop writes one answer or thirty. Shapes: R rows still writing, V vocabulary."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.engine.kv_cache import KVCache
from playground.engine.model import ContextFullError, Transformer
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distribution, Distributions, NoTokenError, draw_uniforms, row_seed

STOP_TOKEN, LENGTH, CONTEXT_FULL = "stop token", "length", "context full"


@dataclass(frozen=True)
class Step:
    """One forward pass of one answer, and the token it chose."""

    index: int
    token_id: int
    distribution: Distribution
    uniform: float  # the random number that chose, in [0, 1)
    num_fed: int  # tokens that went through the model
    cache_bytes: list[int]  # per layer, after the pass
    stop_reason: str | None  # set on the last step


@dataclass(frozen=True)
class RowsStep:
    """One forward pass of several answers."""

    index: int
    rows: list[int]  # which answers are still written
    token_ids: list[int]  # the token each of them chose
    distributions: list[Distribution]
    uniforms: list[float]
    num_fed: int  # tokens that went through the model, all rows together
    cache_bytes: list[int]
    stop_reasons: list[str | None]


def generate(
    model: Transformer,
    prompt_ids: Sequence[int],
    params: SamplingParams,
    cache: KVCache | None = None,
    max_new_tokens: int = 64,
    stop_ids: Sequence[int] = (),
    answer_ids: Sequence[int] = (),
) -> Iterator[Step]:
    """Yields a Step for each new token; stop iterating to cancel.

    A cache that already holds the beginning of the text is used: only the rest is fed. `answer_ids` already stand in
    the answer: steps are numbered on from them, with the random numbers and penalties that a whole run would have.
    Raises ValueError for an empty or unusable prompt, ContextFullError for one without room, NoTokenError naming
    the step.
    """
    for step in generate_rows(model, prompt_ids, [params], cache, max_new_tokens, stop_ids, answer_ids):
        yield Step(
            step.index,
            step.token_ids[0],
            step.distributions[0],
            step.uniforms[0],
            step.num_fed,
            step.cache_bytes,
            step.stop_reasons[0],
        )


def generate_rows(
    model: Transformer,
    prompt_ids: Sequence[int],
    row_params: Sequence[SamplingParams],
    cache: KVCache | None = None,
    max_new_tokens: int = 64,
    stop_ids: Sequence[int] = (),
    answer_ids: Sequence[int] = (),
) -> Iterator[RowsStep]:
    """Several answers to one prompt, each under its own settings and seed. One prefill; a finished row leaves."""
    cache = cache or KVCache(model.config.num_layers)
    _check_request(model, prompt_ids, row_params, cache, max_new_tokens, answer_ids)
    rows, settings = list(range(len(row_params))), _without_seeds(row_params)
    uniforms = [draw_uniforms(params.seed, max_new_tokens) for params in row_params]
    texts = [[*prompt_ids, *answer_ids]]  # one text until the rows part after the prefill
    limit = min(model.config.max_positions, cache.max_length or model.config.max_positions)

    for index in range(len(answer_ids), max_new_tokens):
        logits, num_fed = _feed_unseen(model, texts, cache)
        if index == len(answer_ids) and len(rows) > 1:
            cache.expand_rows(len(rows))
            texts = [list(texts[0]) for _ in rows]
            logits = logits.expand(len(rows), -1)
        distributions = _distributions(logits, [settings[row] for row in rows], texts, len(prompt_ids), index)
        marks = [float(uniforms[row][index]) for row in rows]
        token_ids = _choose(distributions, marks)
        for text, token_id in zip(texts, token_ids, strict=True):
            text.append(token_id)
        at_end = LENGTH if index + 1 == max_new_tokens else CONTEXT_FULL if len(texts[0]) > limit else None
        stop_reasons = [STOP_TOKEN if token_id in stop_ids else at_end for token_id in token_ids]
        yield RowsStep(index, rows, token_ids, distributions, marks, num_fed, cache.bytes_per_layer(), stop_reasons)

        going_on = [place for place, reason in enumerate(stop_reasons) if reason is None]
        if not going_on:
            return
        if len(going_on) < len(rows):
            cache.select_rows(going_on)
            rows, texts = [rows[place] for place in going_on], [texts[place] for place in going_on]


def sample_answers(
    model: Transformer,
    prompt_ids: Sequence[int],
    params: SamplingParams,
    n: int = 30,
    max_new_tokens: int = 64,
    stop_ids: Sequence[int] = (),
) -> list[list[int]]:
    """n answers, each cut before its first stop id. Row i is what `generate` writes with `row_seed(params.seed, i)`."""
    answers: list[list[int]] = [[] for _ in range(n)]
    for step in generate_rows(model, prompt_ids, answer_params(params, n), None, max_new_tokens, stop_ids):
        for row, token_id in zip(step.rows, step.token_ids, strict=True):
            if token_id not in stop_ids:
                answers[row].append(token_id)
    return answers


def answer_params(params: SamplingParams, n: int) -> list[SamplingParams]:
    """The same settings n times, each with the seed of its row."""
    return [replace(params, seed=row_seed(params.seed, row)) for row in range(n)]


def timed(items: Iterable) -> Iterator[tuple]:
    """Yields (item, seconds that the item took to come)."""
    iterator = iter(items)
    while True:
        start = time.perf_counter()
        try:
            item = next(iterator)
        except StopIteration:
            return
        yield item, time.perf_counter() - start


def _feed_unseen(model: Transformer, texts: list[list[int]], cache: KVCache) -> tuple[Tensor, int]:
    """Feeds what the cache has not seen: prefill, decode step, chunk, or without a cache everything. (R, V) logits."""
    unseen = torch.tensor([text[cache.position :] for text in texts], device=model.device)
    with torch.inference_mode():  # quicker than no_grad: small operations spare the bookkeeping of gradients
        logits = model(unseen, cache, last_only=True)[:, -1].float()
    return logits.clone(), unseen.numel()  # a tensor like any other again


def _without_seeds(row_params: Sequence[SamplingParams]) -> list[SamplingParams]:
    """The settings of each row; rows that differ in nothing but the seed share one object."""
    if len(row_params) == 1:
        return list(row_params)
    known: dict[SamplingParams, SamplingParams] = {}
    bare = [replace(params, seed=0) for params in row_params]
    return [known.setdefault(params, params) for params in bare]


def _distributions(
    logits: Tensor, settings: list[SamplingParams], texts: list[list[int]], prompt_length: int, index: int
) -> list[Distribution]:
    """One Distribution a row. Rows that share their settings are worked out together."""
    groups: dict[int, list[int]] = {}
    for place, params in enumerate(settings):
        groups.setdefault(id(params), []).append(place)
    distributions: list[Distribution | None] = [None] * len(settings)
    for places in groups.values():
        params, seen = settings[places[0]], None
        if params.penalizes:
            start = 0 if params.penalty_counts_prompt else prompt_length
            seen = [texts[place][start:] for place in places]
        try:
            group = Distributions.checked(logits if len(groups) == 1 else logits[places], params, seen)
        except NoTokenError as error:
            raise NoTokenError(f"step {index}: {error}") from None
        for row, place in enumerate(places):
            distributions[place] = group[row]
    return distributions


def _choose(distributions: list[Distribution], marks: list[float]) -> list[int]:
    token_ids = [0] * len(marks)
    groups: dict[int, list[int]] = {}
    for place, distribution in enumerate(distributions):
        groups.setdefault(id(distribution.batch), []).append(place)
    for places in groups.values():
        batch = distributions[places[0]].batch
        chosen = batch.choose([marks[place] for place in places])
        batch.let_go()
        for place, token_id in zip(places, chosen, strict=True):
            token_ids[place] = token_id
    return token_ids


def _check_request(
    model: Transformer,
    prompt_ids: Sequence[int],
    row_params: Sequence[SamplingParams],
    cache: KVCache,
    max_new_tokens: int,
    answer_ids: Sequence[int],
) -> None:
    vocab_size, positions = model.config.vocab_size, model.config.max_positions
    if not len(prompt_ids):
        raise ValueError("the prompt is empty: write at least one character")
    for name, ids in (("prompt", prompt_ids), ("answer", answer_ids)):
        if len(ids) and (min(ids) < 0 or max(ids) >= vocab_size):
            raise ValueError(f"{name} ids must lie from 0 to {vocab_size - 1}, got {min(ids)} to {max(ids)}")
    if not row_params:
        raise ValueError("at least one answer must be asked for")
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens must be at least 1, got {max_new_tokens}")
    if len(answer_ids) >= max_new_tokens:
        raise ValueError(f"max_new_tokens must be above the {len(answer_ids)} tokens given, got {max_new_tokens}")
    room = min(positions, cache.max_length or positions)
    length = len(prompt_ids) + len(answer_ids)
    if length > room:
        raise ContextFullError(f"the prompt has {length} tokens, but there is room for {room}: shorten it")
    if cache.position >= length:
        raise ValueError(
            f"the cache already holds {cache.position} tokens and the prompt has {length}: "
            "nothing is left to feed; reset or crop the cache"
        )
