"""One loop writes an answer, token by token. Shapes: B rows, V vocabulary."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from playground.engine.arguments import whole_number, whole_numbers
from playground.engine.cache_kinds import NoCache
from playground.engine.kv_cache import KVCache
from playground.engine.model import ContextFullError, check_room
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distribution, Distributions, NoTokenError, draw_uniforms
from playground.words import say

PIECE_TOKENS = 256
STOP_TOKEN, LENGTH, CONTEXT_FULL = "stop token", "length", "context full"

# One's own step between the model and the stages: the text so far and its logits (V,) in, logits (V,) out.
LogitsProcessor = Callable[[list[int], Tensor], Tensor]


class DecoderConfig(Protocol):
    num_layers: int
    vocab_size: int
    max_positions: int


class Decoder(Protocol):
    """What the loop asks of a model: ours, or one of transformers through playground.models.adapter.

    It makes its pass inside `cache.one_pass(token_ids)`.
    """

    config: DecoderConfig
    device: torch.device

    def __call__(self, token_ids: Tensor, cache: KVCache, last_only: bool = False) -> Tensor:
        """Logits (B, T, V) of new tokens (B, T), or (B, 1, V) of the last; the cache takes in keys and values."""


@dataclass(frozen=True)
class Request:
    """What an answer is asked for: with the model, enough to write it again."""

    prompt_ids: list[int]
    params: SamplingParams
    max_new_tokens: int = 64
    stop_ids: list[int] = field(default_factory=list)
    answer_ids: list[int] = field(default_factory=list)  # already in the answer, which goes on after them

    @classmethod
    def checked(cls, model: Decoder, prompt_ids, params, max_new_tokens=64, stop_ids=(), answer_ids=()) -> "Request":
        """Takes numbers and vectors of numpy and torch too. Raises ValueError saying what is wrong."""
        last = model.config.vocab_size - 1
        prompt_ids = whole_numbers("prompt_ids", prompt_ids, 0, last)
        answer_ids = whole_numbers("answer_ids", answer_ids, 0, last)
        most = whole_number("max_new_tokens", max_new_tokens, 1)
        stop_ids = [one for one in dict.fromkeys(whole_numbers("stop_ids", stop_ids)) if one <= last]
        if not prompt_ids:
            raise ValueError(say("engine.request.empty"))
        if len(answer_ids) >= most:
            raise ValueError(say("engine.request.nothing_to_write", given=len(answer_ids), value=most))
        return cls(prompt_ids, params, most, stop_ids, answer_ids)

    def begin(self, model: Decoder, cache: KVCache) -> tuple[list[int], int]:
        """The text to go on from, and how many tokens there is room for, the text's included.

        Raises ContextFullError, or ValueError for a cache of other layers, before anything runs.
        """
        check_room(model.config, cache, 0)
        text, room = [*self.prompt_ids, *self.answer_ids], room_for(model, cache)
        if len(text) > room:
            raise ContextFullError(say("engine.request.no_room", count=len(text), room=room))
        return text, room

    def uniforms(self, seed: int, room: int) -> list[float]:
        """The random number of each step that there can be."""
        return draw_uniforms(seed, min(self.max_new_tokens, room + 1 - len(self.prompt_ids))).tolist()

    def distributions(
        self, logits: Tensor, written: Sequence[Sequence[int]], params: SamplingParams | None = None
    ) -> Distributions:
        """What (R, V) logits become where the answer so far is `written`, `answer_ids` included, one a row.

        Raises NoTokenError naming the step.
        """
        params = params or self.params
        counted = self.prompt_ids if params.penalty_counts_prompt else []
        seen = [[*counted, *one] for one in written] if params.penalizes else None
        try:
            return Distributions.checked(logits, params, seen)
        except NoTokenError as error:
            step = len(written[error.row])
            raise NoTokenError(say("engine.request.step", step=step, reason=str(error)), error.row) from None

    def end(self, token_id: int, num_written: int, room: int) -> str | None:
        """Why the answer ends with this token, its `num_written`-th, in a model and cache of `room` positions."""
        if token_id in self.stop_ids:
            return STOP_TOKEN
        if num_written >= self.max_new_tokens:
            return LENGTH
        return CONTEXT_FULL if len(self.prompt_ids) + num_written > room else None


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
    request: Request


def generate(
    model: Decoder,
    prompt_ids: Sequence[int],
    params: SamplingParams | None = None,
    cache: KVCache | None = None,
    max_new_tokens: int = 64,
    stop_ids: Sequence[int] = (),
    answer_ids: Sequence[int] = (),
    logits_processors: Sequence[LogitsProcessor] = (),
) -> Iterator[Step]:
    """Yields a Step for each new token; stop iterating to cancel.

    What the cache holds of the beginning of the text is not fed again, and what it holds of another text is dropped.
    `answer_ids` already stand in the answer: numbering, random numbers and penalties continue from there.
    `logits_processors` are no part of the request: the recorded logits are what they made of the model's, but whoever
    goes on from a recorded answer gives them again.
    Raises ValueError for an empty or unusable prompt, ContextFullError for one without room, NoTokenError naming
    the step.
    """
    params, cache = params or SamplingParams(), KVCache.of(model) if cache is None else cache
    request = Request.checked(model, prompt_ids, params, max_new_tokens, stop_ids, answer_ids)
    text, room = request.begin(model, cache)
    uniforms, told = request.uniforms(params.seed, room), None
    for index in range(len(request.answer_ids), len(uniforms)):
        logits, num_fed = feed_unseen(model, [text], cache, told)
        told = cache.told
        logits = processed(logits_processors, [text], logits)
        distribution = request.distributions(logits, [text[len(request.prompt_ids) :]])[0]
        token_id = distribution.choose(uniforms[index])
        text.append(token_id)
        reason = request.end(token_id, index + 1, room)
        bytes_per_layer = cache.bytes_per_layer()
        yield Step(index, token_id, distribution, uniforms[index], num_fed, bytes_per_layer, reason, request)
        if reason:
            return


def feed_unseen(
    model: Decoder, texts: list[list[int]], cache: KVCache, told: tuple[Tensor, ...] | None
) -> tuple[Tensor, int]:
    """Feeds what the cache has not seen: prefill, decode step, chunk, or without a cache everything.

    Returns the logits (B, V) of the last tokens, and how many tokens were fed. `told`: what the cache had been told
    after the last pass over these texts. If that has changed, it keeps what it holds of the text and drops the rest.
    """
    if cache.told is not told:
        with cache.all_or_nothing():
            cache.keep_common(texts[0])
            return feed_unseen(model, texts, cache, cache.told)
    unseen = torch.tensor([text[cache.position :] for text in texts], device=model.device)
    # Inference mode is quicker than no_grad: small operations spare the bookkeeping of gradients.
    with torch.inference_mode():
        logits = model(unseen, cache, last_only=True)[:, -1].float()
    return logits.clone(), unseen.numel()  # a tensor like any other again


def feed_in_pieces(model: Decoder, text: list[int], cache: KVCache) -> Iterator[None]:
    """Feeds all of a long text but its last piece: between two pieces others may use the model."""
    cache.keep_common(text)
    while len(text) - cache.position > PIECE_TOKENS and not isinstance(cache.layers[0], NoCache):
        feed_unseen(model, [text[: cache.position + PIECE_TOKENS]], cache, cache.told)
        yield


def processed(processors: Sequence[LogitsProcessor], texts: list[list[int]], logits: Tensor) -> Tensor:
    """(R, V) logits of these texts after one's own functions, one after another."""
    for process in processors:
        changed = [process(list(text), row.clone()) for text, row in zip(texts, logits, strict=True)]
        for given in changed:
            if np.shape(given) != logits.shape[1:]:
                got = str(None if given is None else tuple(np.shape(given)))
                raise ValueError(say("engine.request.processor", wanted=str(tuple(logits.shape[1:])), got=got))
        logits = torch.stack([torch.as_tensor(given).float() for given in changed])
    return logits


def room_for(model: Decoder, cache: KVCache) -> int:
    """Tokens that the model has positions for and the cache takes in."""
    return min(model.config.max_positions, cache.max_length or model.config.max_positions)


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
