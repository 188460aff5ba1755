"""Two models on one prompt: each writes an answer of its own, then the right one reads the answer of the left one.

Reading, it is asked the same question at every step: what comes after this text? Shapes: N steps, V vocabulary.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

from playground.engine.generation import Decoder, feed_in_pieces, generate, room_for, timed
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.sampling import kl_bits
from playground.engine.trace import Trace
from playground.models.text import LoadedModel
from playground.tabs.two_models.alignment import END, Column, after_the_same_text, align, first_difference
from playground.tabs.two_models.sides import PackedCopy, Side, bytes_of_weights


@dataclass(frozen=True)
class Written:
    """What a model wrote, or read."""

    trace: Trace
    covers: list[str]  # the text that each token covers
    weight_bytes: int

    @property
    def text(self) -> str:
        return "".join(self.covers).removesuffix(END)

    @property
    def cache_bytes_per_token(self) -> float:
        """Measured: the tensors of all layers, over the tokens that they hold."""
        return sum(self.trace.cache_bytes[-1]) / (len(self.trace.prompt_ids) + len(self.trace) - 1)

    def bits_per_byte(self) -> float | None:
        """What the text costs, coded with the model's own probabilities; None without a text. The end costs nothing."""
        num_tokens = max((place + 1 for place, text in enumerate(self.covers) if text not in ("", END)), default=0)
        if not num_tokens:
            return None
        logits, ids = self.trace.logits[:num_tokens], self.trace.token_ids[:num_tokens]
        nats = sum(-float(row.double().log_softmax(-1)[token_id]) for row, token_id in zip(logits, ids, strict=True))
        return nats / math.log(2) / len("".join(self.covers[:num_tokens]).encode())


@dataclass(frozen=True)
class Pair:
    left: Written
    right: Written
    reading: Written  # the right model over the left answer
    same_vocabulary: bool
    columns: list[Column]  # of the two answers
    places: list[int | None]  # (N,) for each step of the left answer the step of `reading` after the same text
    kl_bits: list[float] | None  # as many as `reading` has steps; None where the vocabularies differ

    @property
    def num_equal(self) -> int:
        """Tokens of the left answer before the first one that is different; with other vocabularies, before the text is
        different."""
        if not self.same_vocabulary:
            place = first_difference(self.columns)
            return len(self.left.covers) if place is None else self.columns[place].left[0]
        names = [
            [END if text == END else token_id for token_id, text in zip(each.trace.token_ids, each.covers, strict=True)]
            for each in (self.left, self.right)
        ]
        pairs = list(zip(*names, strict=False))
        return next((step for step, (one, other) in enumerate(pairs) if one != other), len(pairs))


def compare_models(
    left: Side,
    right: Side,
    prompts: tuple[list[int], list[int]],
    params: SamplingParams,
    most: int,
    copies: PackedCopy,
) -> Generator[int, None, Pair]:
    """At most `most` new tokens each, to the token ids of the left prompt and of the right one.

    Yields how many of its three runs are done, also between tokens.
    """
    first, second = prompts
    written = yield from _during(0, _write(left, first, params, most, copies))
    other = yield from _during(1, _write(right, second, params, most, copies))
    same_vocabulary = have_same_vocabulary(left.loaded, right.loaded)
    token_ids = written.trace.token_ids if same_vocabulary else _ids_of(right.loaded, written)
    reading = yield from _during(2, _read(right, second, token_ids, params, copies))
    if same_vocabulary:
        places = [step if step < len(reading.trace) else None for step in range(len(written.trace))]
    else:
        places = after_the_same_text(align(written.covers, reading.covers), len(written.trace))
        _share_numbers(written.trace, reading.trace, places)
    bits = (yield from _kl_bits(written.trace, reading.trace)) if same_vocabulary else None
    return Pair(written, other, reading, same_vocabulary, align(written.covers, other.covers), places, bits)


def have_same_vocabulary(one: LoadedModel, other: LoadedModel) -> bool:
    """Does every id stand for the same bytes in both?"""
    return one.labels == other.labels and one.token_bytes == other.token_bytes


def _during(done: int, work: Generator) -> Generator:
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
        yield done


def _write(
    side: Side, prompt_ids: list[int], params: SamplingParams, most: int, copies: PackedCopy
) -> Generator[None, None, Written]:
    model = yield from copies.model_of(side)
    cache, steps, seconds = KVCache.of(model), [], []
    yield from feed_in_pieces(model, prompt_ids, cache)
    for step, duration in timed(generate(model, prompt_ids, params, cache, most, side.loaded.stop_ids)):
        steps.append(step)
        seconds.append(duration)
        yield
    return _written(side, model, Trace(steps, seconds))


def _read(
    side: Side, prompt_ids: list[int], token_ids: list[int], params: SamplingParams, copies: PackedCopy
) -> Generator[None, None, Written]:
    """Token by token as if it had written them, as far as its context goes: packed products depend on what else is in a
    pass."""
    model = yield from copies.model_of(side)
    cache, steps = KVCache.of(model), []
    yield from feed_in_pieces(model, prompt_ids, cache)
    token_ids = token_ids[: room_for(model, cache) - len(prompt_ids) + 1]
    for index, token_id in enumerate(token_ids):
        going_on = generate(model, prompt_ids, params, cache, len(token_ids), (), token_ids[:index])
        steps.append(replace(next(going_on), token_id=token_id))
        yield
    return _written(side, model, Trace(steps, forced=range(len(steps))))


def _written(side: Side, model: Decoder, trace: Trace) -> Written:
    covers = list(side.loaded.tokenizer.stream(trace.token_ids))
    if trace.token_ids[-1] in side.loaded.stop_ids:
        covers[-1] = END
    return Written(trace, covers, bytes_of_weights(model))


def _ids_of(reader: LoadedModel, written: Written) -> list[int]:
    """The answer in the reader's own tokens; where it has ended, the reader's own end."""
    end = reader.stop_ids[:1] if written.covers[-1] == END else ()
    return [*reader.tokenizer.encode_plain(written.text), *end] or [0]  # a run has a step at least


def _share_numbers(left: Trace, reading: Trace, places: list[int | None]) -> None:
    """At the same question both choose by the same random number."""
    for step, place in enumerate(places):
        if place is not None:
            reading.uniforms[place] = left.uniforms[step]


def _kl_bits(left: Trace, reading: Trace) -> Generator[int, None, list[float]]:
    """(N,) step by step: the doubles of all at once would take several times the memory of the logits."""
    bits = []
    for row, other in zip(left.logits, reading.logits, strict=False):
        bits += kl_bits(row[None], other[None])
        yield 3
    return bits
