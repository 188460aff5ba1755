"""Requests of different lengths on few slots: a static batch waits for its longest answer, a continuous one does not.

A step gives one token to every request in a slot: those that join are prefilled in it, the others decode in one pass
together. Both ways run on the loaded model through the same kind of batch, and differ in when a slot is free again.
"""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

from playground.engine.batching import Batch
from playground.engine.generation import Decoder, Step
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams

STATIC, CONTINUOUS = "static", "continuous"
WAYS = (STATIC, CONTINUOUS)
GREEDY = SamplingParams(temperature=0)


@dataclass(frozen=True)
class Asked:
    """One request."""

    prompt_ids: tuple[int, ...]
    max_new_tokens: int
    stop_ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class Served:
    """What became of it. Steps are counted from 0."""

    prompt_length: int
    token_ids: tuple[int, ...]
    slot: int
    first: int  # the step that gave its first token
    held_until: int  # the step before which its slot was given to the next
    bytes_a_token: int  # in its cache at the end, of all layers

    @property
    def end(self) -> int:
        """The step after its last."""
        return self.first + len(self.token_ids)

    @property
    def cached_tokens(self) -> int:
        """At the end: the last one was never fed."""
        return self.prompt_length + len(self.token_ids) - 1


@dataclass(frozen=True)
class Schedule:
    """All requests, served in one way."""

    way: str
    num_slots: int
    served: tuple[Served, ...]  # in the order of the requests
    step_seconds: tuple[float, ...]
    num_passes: int  # through the model: a prefill for each request, and one for each step in which somebody decodes

    @property
    def num_steps(self) -> int:
        return len(self.step_seconds)

    @property
    def slot_use(self) -> float:
        """Share of the slots, over all steps, that gave a token."""
        return sum(len(each.token_ids) for each in self.served) / (self.num_steps * self.num_slots)

    @property
    def seconds(self) -> float:
        return sum(self.step_seconds)

    def first_token_seconds(self) -> list[float]:
        """Of each request, from the start of all: who waits for a slot waits here."""
        return [sum(self.step_seconds[: each.first + 1]) for each in self.served]

    def later_token_seconds(self) -> list[float | None]:
        """The mean from one token of a request to its next; None for a single token."""
        return [
            sum(self.step_seconds[each.first + 1 : each.end]) / (len(each.token_ids) - 1)
            if len(each.token_ids) > 1
            else None
            for each in self.served
        ]


@dataclass
class _Slot:
    """A request on its way."""

    number: int
    first: int
    writing: Iterator[tuple[Step | None, float]]
    steps: list[Step] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return bool(self.steps and self.steps[-1].stop_reason)

    def advance(self) -> None:
        """One token; a long prompt is fed in pieces before its first."""
        step = None
        while step is None:
            step, _ = next(self.writing)
        self.steps.append(step)
        if step.stop_reason:
            self.writing.close()  # its row leaves the batch


def serve(model: Decoder, asked: Sequence[Asked], num_slots: int, way: str) -> Generator[int, None, Schedule]:
    """Yields after each step how many requests are done. Raises as `generate` does."""
    batch, waiting, slots = Batch(model), list(enumerate(asked)), [None] * num_slots
    served: dict[int, Served] = {}
    seconds: list[float] = []
    while waiting or any(slots):
        start = time.perf_counter()
        empty = [place for place, slot in enumerate(slots) if slot is None]
        if way == CONTINUOUS or len(empty) == num_slots:
            for place, (number, request) in zip(empty, waiting[: len(empty)], strict=False):
                slots[place] = _Slot(number, len(seconds), _writing(batch, request))
            del waiting[: len(empty)]
        writing = [slot for slot in slots if slot and not slot.is_over]
        # Who joins comes last: else its second token would be written with the others' next one, a step early.
        for slot in sorted(writing, key=lambda slot: not slot.steps):
            slot.advance()
        seconds.append(time.perf_counter() - start)
        held = [slot for slot in slots if slot]
        if way == CONTINUOUS or all(slot.is_over for slot in held):
            for place, slot in enumerate(slots):
                if slot and slot.is_over:
                    served[slot.number] = _served(slot, asked[slot.number], place, len(seconds))
                    slots[place] = None
        yield len(served) + sum(1 for slot in slots if slot and slot.is_over)
    in_order = tuple(served[number] for number in range(len(asked)))
    return Schedule(way, num_slots, in_order, tuple(seconds), batch.num_passes)


def _writing(batch: Batch, request: Asked) -> Iterator[tuple[Step | None, float]]:
    cache = KVCache.of(batch.model)
    return batch.generate(request.prompt_ids, GREEDY, cache, request.max_new_tokens, request.stop_ids)


def _served(slot: _Slot, request: Asked, place: int, step: int) -> Served:
    prompt_length, token_ids = len(request.prompt_ids), tuple(step.token_id for step in slot.steps)
    bytes_a_token = sum(slot.steps[-1].cache_bytes) // (prompt_length + len(token_ids) - 1)
    return Served(prompt_length, token_ids, place, slot.first, step, bytes_a_token)
