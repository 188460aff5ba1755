"""The line in front of the model: who is next, how it goes, and how it ends.

Work is a plain generator. It yields what the page is to show meanwhile, `Progress`, or None where nothing is new, and
returns what the page is to show at the end. Between two yields nobody else uses the model, so a step is timed
undisturbed. One thread does all of it, a step at a time: no two runs of a model go on at once. (Models that visitors
load have a line of their own, and may slow down what runs meanwhile.)

Short work goes first, in the order of its arrival; long work lets it pass every PIECE_SECONDS. Work that joins goes
together with others of its kind, a step each in turn, as soon as the first of them is next: see engine/batching.py. It
is what a person has pressed, so other short work, which pictures ask for by themselves, counts as if it had come later.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from html import unescape
from typing import Any, TypeVar

import gradio as gr
import torch

from playground.page.requests import RequestError
from playground.words import say, sentence

PIECE_SECONDS = 0.25  # a long job keeps the model for so long, then lets short ones pass
LONGEST_REST = 3.0  # seconds: after so much short work a long job gets a piece, or a class would never let it end
BEAT_SECONDS = 5.0  # a job speaks at least so often: Gradio notices a closed tab when there is something to send
SETTLE_SECONDS = 0.02  # what is new waits so long for what is newer, or for the end: sending costs more than a step
LOOK_SECONDS = 1.0  # who waits far back looks so often how many are in front; the first few are told at once
TOLD_AT_ONCE = 3
LOOKS_A_SECOND = 25  # of all who wait: telling a class its places took a tenth of a core
LATER_SECONDS = 4.0  # so much later: in a class that asks for more than the machine can do, pictures wait longer
TOGETHER = 16  # jobs that go on together; more gain little, and each would wait longer for its next step
PLACES = 2  # of one visitor, for short work and for long
MOST_JOBS = 400  # of everybody
MOST_STOPS = 1000  # remembered; the oldest are forgotten
QUEUED, RUNNING, DONE, STOPPED, FAILED = "queued", "running", "done", "stopped", "failed"

Work = Generator[Any, None, Any]

Returned = TypeVar("Returned")

log = logging.getLogger(__name__)


class StoppedError(Exception):
    """Thrown into work that was stopped, at its last yield. Work that catches it may return what it has until then."""


@dataclass(frozen=True)
class Progress:
    done: float
    of: float


@dataclass(eq=False)
class Job:
    """A place in the line."""

    work: Work
    visitor: str
    number: int  # the page counts its requests
    name: str = ""  # what it does: a visitor's newer job of that name takes the older one's place
    long: bool = False
    joins: bool = False  # goes on together with others that do
    asks: bool = False  # a picture asked, nobody pressed: it gives way to what the visitor asks for next
    turn: int = 0  # if it joins: when it had its last step
    arrived: float = 0.0  # seconds
    state: str = QUEUED
    stopping: bool = False  # Stop was pressed, or nobody listens any more
    gave_way: bool = False
    knows: bool = False  # the work has been told so
    progress: Progress | None = None
    problem: str = ""
    payload: Any = None  # that the page has not been sent
    wake: Callable[[], None] = field(default=lambda: None)  # the listener, from any thread

    @property
    def is_over(self) -> bool:
        return self.state in (DONE, STOPPED, FAILED)


class Line:
    """Who is next at the model. One thread works; any thread, or event loop, may ask."""

    def __init__(self, threads: Callable[[], int] = torch.get_num_threads) -> None:
        """threads: in how many the model computes; asked when a job begins."""
        self.threads = threads
        self._jobs: list[Job] = []  # in order of arrival
        self._stops: dict[tuple[str, str], int] = {}  # visitor and name: the newest number that is stopped
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._current: Job | None = None
        self._since = self._last_long = 0.0  # when the current job got the model, and when a long one last had it
        self._turns = 0  # steps of jobs that go on together

    async def told(
        self,
        work: Work,
        visitor: str,
        number: int,
        name: str = "",
        long: bool = False,
        joins: bool = False,
        asks: bool = False,
    ) -> AsyncIterator[tuple[dict, Any]]:
        """(job, payload) as it goes, the payload None where there is none. Closing this iterator ends the job.

        Each payload comes once; of several that are made in quick succession, what is newest in them.
        """
        loop, news = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the server was closed
                loop.call_soon_threadsafe(news.set)

        job = Job(work, visitor, number, name, long, joins, asks, wake=wake)
        self.enter(job)
        beat, before, spoke_at = 0, None, loop.time()
        try:
            while True:
                with self._changed:
                    news.clear()
                    said, payload, is_over = self._said(job), job.payload, job.is_over
                    job.payload = None
                if payload is not None or said != before:
                    spoke_at = loop.time()
                    yield {**said, "beat": beat}, payload
                before = said
                if is_over:
                    return
                await _heard(news, max(LOOK_SECONDS, len(self) / LOOKS_A_SECOND))
                settled = loop.time() + SETTLE_SECONDS
                while not job.is_over and (rest := settled - loop.time()) > 0:
                    news.clear()
                    await _heard(news, rest)
                if loop.time() - spoke_at > BEAT_SECONDS:
                    beat, before = beat + 1, None
        finally:
            self._end(job)

    async def result(
        self,
        work: Work,
        visitor: str,
        name: str = "",
        long: bool = False,
        joins: bool = False,
        left: Callable[[], bool] = lambda: False,
    ) -> Any:
        """What the work returned, or yielded last. Raises RequestError where it fails.

        left: whether the visitor has gone away; then nobody waits for the result, and the work ends.
        """
        last = None
        async with aclosing(self.told(work, visitor, 0, name, long, joins)) as news:
            async for job, payload in news:
                last = last if payload is None else payload
                if job["state"] == FAILED or left():
                    raise RequestError(job.get("problem", say("page.job.stopped")))
        return last

    def enter(self, job: Job) -> None:
        with self._changed:
            of_visitor = [each for each in self._jobs if each.visitor == job.visitor and not each.stopping]
            alike = [each for each in of_visitor if job.name and each.name == job.name]
            is_late = any(each.number > job.number > 0 for each in alike)  # requests may cross on their way
            for older in [] if is_late else alike:
                of_visitor.remove(older)
                self._stop(older)
            rivals = [each for each in of_visitor if each.long == job.long]
            if is_late or any(job.number <= self._stops.get((job.visitor, name), -1) for name in ("", job.name)):
                job.state = STOPPED
            elif len(rivals) >= PLACES and not any(each.asks for each in rivals):
                job.state, job.problem = FAILED, say("page.line.too_many")
            elif len(self._jobs) >= MOST_JOBS:
                job.state, job.problem = FAILED, say("page.line.full")
            else:
                if len(rivals) >= PLACES:
                    oldest_picture = next(each for each in rivals if each.asks)
                    oldest_picture.gave_way = True
                    self._stop(oldest_picture)
                job.arrived = time.perf_counter()
                self._jobs.append(job)
                self._wake_worker()

    def stop(self, visitor: str, number: int, names: Sequence[str] = ("",)) -> None:
        """Ends all work of these names ("": all) that the visitor asked for up to that number, on its way or not."""
        with self._changed:
            for name in names:
                keep_newest(self._stops, (visitor, name), max(number, self._stops.get((visitor, name), -1)), MOST_STOPS)
            for job in list(self._jobs):
                if job.visitor == visitor and job.number <= number and ("" in names or job.name in names):
                    self._stop(job)

    def __len__(self) -> int:
        return len(self._jobs)

    def _end(self, job: Job) -> None:
        with self._changed:
            self._stop(job)

    def _stop(self, job: Job) -> None:
        job.stopping = True
        if job in self._jobs and job.state == QUEUED:
            self._over(job, STOPPED)

    def _over(self, job: Job, state: str, problem: str = "") -> None:
        if job in self._jobs:
            self._jobs.remove(job)
        job.state, job.problem = state, problem
        if job is self._current:
            self._current = None
        for each in (job, *self._jobs[:TOLD_AT_ONCE]):
            each.wake()

    def _said(self, job: Job) -> dict:
        said: dict[str, Any] = {"number": job.number, "state": job.state}
        if job.state == QUEUED:
            said["ahead"] = self._ahead(job)
        if job.state == RUNNING and job.progress:
            said["progress"] = {"done": job.progress.done, "of": job.progress.of}
        if job.state == FAILED:
            said["problem"] = job.problem
        if job.state == STOPPED and job.gave_way:
            said["gave_way"] = True
        return said

    def _ahead(self, job: Job) -> int:
        """Short work goes before long work, and what joins before what does not, unless that is at it already."""
        before = self._jobs[: self._jobs.index(job)]
        if job.joins:
            return sum(each.joins or (each.state == RUNNING and not each.long) for each in before)
        if not job.long:
            return sum(not each.long for each in before)
        return sum(not each.long for each in self._jobs) + sum(each.long for each in before)

    def _wake_worker(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="model", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._jobs:
                    self._changed.wait()
                job = self._current = self._next(time.perf_counter())
                begins = job.state == QUEUED
                if begins:
                    job.state = RUNNING
                    job.wake()
                stop_now = job.stopping and not job.knows
                job.knows |= stop_now
            if begins:
                torch.set_num_threads(self.threads())
            self._advance(job, stop_now)

    def _next(self, now: float) -> Job:
        current = self._current
        told = next((job for job in self._jobs if job.stopping and not job.knows), None)
        if told is not None:  # it is quick to say so
            return told
        if current is not None and current.long and now - self._since < PIECE_SECONDS:
            return current
        if current is not None and current.long:
            self._last_long = now
        short = current if current and not (current.long or current.joins) else self._next_short()
        long = next((job for job in self._jobs if job.long), None)
        if short is None or (long and now - self._last_long > LONGEST_REST and current is not short):
            self._since = now
            return long
        if long is None:
            self._last_long = now
        return short

    def _next_short(self) -> Job | None:
        """The first that came or, if it joins, the one of those together whose last step is longest ago."""
        together = [job for job in self._jobs if job.joins][:TOGETHER]
        alone = next((job for job in self._jobs if not (job.long or job.joins)), None)
        if not together or (alone and alone.arrived + LATER_SECONDS < together[0].arrived):
            return alone
        job = min(together, key=lambda each: each.turn)
        self._turns += 1
        job.turn = self._turns
        return job

    def _advance(self, job: Job, stop_now: bool) -> None:
        """One step of the work; what it says, or its end."""
        end = item = None
        try:
            item = job.work.throw(StoppedError()) if stop_now else next(job.work)
        except StopIteration as returned:
            end, item = (STOPPED if job.knows else DONE, ""), returned.value
        except StoppedError:
            end = (STOPPED, "")
        except (gr.Error, ValueError) as error:
            end = (FAILED, problem_of(error))
        except Exception:
            log.exception(say("page.line.log", name=job.name))
            end = (FAILED, say("page.line.broken"))
        with self._changed:
            if isinstance(item, Progress):
                job.progress = item
            else:
                job.payload = _merged(job.payload, item)
            if end:
                self._over(job, *end)
            elif item is not None:
                job.wake()


async def _heard(news: asyncio.Event, seconds: float) -> None:
    """Waits for news, but not longer. asyncio.wait_for would swallow that the task is cancelled when both meet."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await news.wait()


def _merged(before: Any, now: Any) -> Any:
    """What the page is to show after both: None, alone or in a tuple, leaves what was there."""
    if now is None:
        return before
    if not isinstance(now, tuple) or not isinstance(before, tuple):
        return now
    return tuple(old if new is None else new for old, new in zip(before, now, strict=True))


def problem_of(error: Exception) -> str:
    """One sentence. gr.Error holds HTML; the page shows text."""
    return sentence(unescape(error.message) if isinstance(error, gr.Error) else str(error))


def keep_newest(store: dict, key: Any, value: object, limit: int) -> None:
    """Puts `value` in as the newest; the oldest go, so that a closed tab leaves nothing behind."""
    store.pop(key, None)
    while len(store) >= limit:
        store.pop(next(iter(store)))
    store[key] = value


def in_steps(
    steps: Generator[Any, None, Returned], of: float | None = None
) -> Generator[Progress | None, None, Returned]:
    """Work that counts what is done of `of` and returns something: the count is told, or without `of` nothing."""
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            return end.value
        yield None if of is None else Progress(done, of)
