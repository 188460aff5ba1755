"""The line in front of the model: who goes first, what waits, and every way to end."""

import asyncio
import threading
import time
from collections.abc import Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import gradio as gr
import pytest
import torch

from playground.page import line as line_module
from playground.page import machine
from playground.page.line import Line, Progress, StoppedError
from playground.page.requests import RequestError
from playground.words import say


def run(coroutine: Coroutine) -> Any:
    """In a loop of its own: in the thread of the tests the browser's may be running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def followed(line: Line, work: Generator, visitor: str = "me", number: int = 1, **options) -> list[tuple[dict, object]]:
    async def listen():
        return [news async for news in line.told(work, visitor, number, **options)]

    return run(asyncio.wait_for(listen(), 20))


def states(news: list[tuple[dict, object]]) -> list[str]:
    return list(dict.fromkeys(job["state"] for job, _ in news))


class Gate:
    """Work that waits at its first step until it is opened, so that others stand behind it."""

    def __init__(self) -> None:
        self.open, self.began = threading.Event(), threading.Event()

    def work(self, steps: int = 1) -> Generator:
        for _ in range(steps):
            self.began.set()
            assert self.open.wait(20)
            yield None


def in_background(
    line: Line, work: Generator, visitor: str, number: int = 1, **options
) -> tuple[threading.Thread, list]:
    news: list = []

    async def listen():
        async for each in line.told(work, visitor, number, **options):
            news.append(each)

    thread = threading.Thread(target=lambda: asyncio.run(listen()), daemon=True)
    thread.start()
    return thread, news


def until(condition) -> None:
    end = time.monotonic() + 20
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < end, "it never came"
        pause.wait(0.005)


def test_a_job_comes_with_what_it_made_and_ends_once():
    def work():
        yield {"text": "a"}
        yield Progress(1, 2)
        yield {"text": "ab"}

    news = followed(Line(), work())
    assert states(news)[-1] == "done"
    assert [job["state"] for job, _ in news].count("done") == 1
    assert news[-1][1] == {"text": "ab"}
    assert all(job["number"] == 1 for job, _ in news)


def test_what_work_returns_is_told_once_with_its_end():
    def work():
        yield {"text": "a"}
        yield None
        return {"text": "ab"}

    news = followed(Line(), work())
    assert [job["state"] for job, payload in news if payload == {"text": "ab"}] == ["done"]


def test_what_work_yields_last_is_told_with_its_end_and_once():
    """A section that only yields sent its last picture a second time when it ended."""

    def work():
        yield {"text": "a"}, None
        yield None, {"text": "b"}

    news = followed(Line(), work())
    assert news[-1][0]["state"] == "done" and news[-1][1] == ({"text": "a"}, {"text": "b"})
    assert [payload for _, payload in news[:-1]] == [None] * (len(news) - 1)


def test_what_was_told_before_the_end_is_not_told_again():
    line, gate = Line(), Gate()

    def work():
        yield {"text": "a"}
        yield from gate.work()

    thread, news = in_background(line, work(), "me")
    until(lambda: any(payload for _, payload in news))
    gate.open.set()
    thread.join(20)
    assert [payload for _, payload in news if payload] == [{"text": "a"}] and news[-1][0]["state"] == "done"


def test_work_that_joins_goes_on_together_a_step_each():
    line, gate, order = Line(), Gate(), []

    def steps(name: str):
        for _ in range(3):
            order.append(name)
            yield None

    threads = [in_background(line, gate.work(), "first")[0]]
    assert gate.began.wait(20)
    for name in "abc":
        threads.append(in_background(line, steps(name), name, joins=True)[0])
        until(lambda: len(line) == len(threads))
    gate.open.set()
    for thread in threads:
        thread.join(20)
    assert "".join(order) == "abcabcabc"


@pytest.mark.parametrize(("later", "expected"), [(0.0, "acacbbccd"), (60.0, "acacccbbd")])
def test_what_does_not_join_counts_as_if_it_had_come_later(
    monkeypatch: pytest.MonkeyPatch, later: float, expected: str
):
    """a begins; what b asked for does not join. If it counts from when it came, it goes when a has ended, before c."""
    monkeypatch.setattr(line_module, "LATER_SECONDS", later)
    line, gate, order = Line(), Gate(), []

    def steps(name: str, count: int):
        for _ in range(count):
            order.append(name)
            yield None

    threads = [in_background(line, gate.work(), "first")[0]]
    assert gate.began.wait(20)
    for name, joins, count in (("a", True, 2), ("b", False, 2), ("c", True, 4), ("d", False, 1)):
        threads.append(in_background(line, steps(name, count), name, joins=joins)[0])
        until(lambda: len(line) == len(threads))
    gate.open.set()
    for thread in threads:
        thread.join(20)
    assert "".join(order) == expected


def test_who_comes_late_joins_at_the_next_step():
    line, order, hold, begun = Line(), [], threading.Event(), threading.Event()

    def early():
        for step in range(4):
            order.append("early")
            if step == 1:
                begun.set()
                assert hold.wait(20)
            yield None

    def late():
        for _ in range(2):
            order.append("late")
            yield None

    first, _ = in_background(line, early(), "one", joins=True)
    assert begun.wait(20)
    second, _ = in_background(line, late(), "two", joins=True)
    until(lambda: len(line) == 2)
    hold.set()
    first.join(20), second.join(20)
    assert order == ["early", "early", "late", "early", "late", "early"]


def test_a_long_job_gets_a_piece_also_while_many_go_on_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_module, "LONGEST_REST", 0.05)
    monkeypatch.setattr(line_module, "PIECE_SECONDS", 0.0)
    line, order = Line(), []

    def steps(name: str, count: int):
        for _ in range(count):
            order.append(name)
            threading.Event().wait(0.005)
            yield None

    gate = Gate()
    threads = [in_background(line, gate.work(), "first")[0]]
    assert gate.began.wait(20)
    for name, options in (("a", {"joins": True}), ("b", {"joins": True}), ("L", {"long": True})):
        threads.append(in_background(line, steps(name, 60), name, **options)[0])
        until(lambda: len(line) == len(threads))
    gate.open.set()
    for thread in threads:
        thread.join(20)
    together = "".join(order).rstrip("L")
    assert 3 <= together.count("L") <= 20


def test_who_waits_is_told_at_once_how_many_are_in_front():
    line, gate = Line(), Gate()
    first, _ = in_background(line, gate.work(), "one")
    assert gate.began.wait(20)
    second, told = in_background(line, iter_of({"n": 2}), "two")
    until(lambda: told)
    assert told[0][0] == {"number": 1, "state": "queued", "ahead": 1, "beat": 0}
    third, later = in_background(line, iter_of({"n": 3}), "three")
    until(lambda: later)
    assert later[0][0]["ahead"] == 2
    gate.open.set()
    for thread in (first, second, third):
        thread.join(20)
    assert told[-1][0]["state"] == later[-1][0]["state"] == "done"


def iter_of(*items) -> Generator:
    yield from items


def test_short_work_passes_long_work_between_two_pieces(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_module, "PIECE_SECONDS", 0.0)
    line, order, hold = Line(), [], threading.Event()

    def long_work():
        for step in range(50):
            order.append("long")
            if step == 2:
                assert hold.wait(20)
            yield None

    def short_work():
        for _ in range(3):
            order.append("short")
            yield None

    long, _ = in_background(line, long_work(), "one", long=True)
    until(lambda: len(order) == 3)
    short, _ = in_background(line, short_work(), "two")
    until(lambda: len(line) == 2)
    hold.set()
    short.join(20), long.join(20)
    assert order[3:6] == ["short"] * 3
    assert order[6:] == ["long"] * 47


def test_a_long_job_keeps_the_model_for_a_piece():
    line, order, hold = Line(), [], threading.Event()

    def long_work():
        order.append("long")
        assert hold.wait(20)
        for _ in range(5):
            order.append("long")
            yield None

    long, _ = in_background(line, long_work(), "one", long=True)
    until(lambda: order)
    line._since = time.perf_counter() + 100  # the piece has just begun
    short, _ = in_background(line, (order.append("short") or None for _ in range(1)), "two")
    until(lambda: len(line) == 2)
    hold.set()
    short.join(20), long.join(20)
    assert order == [*["long"] * 6, "short"]


def test_a_long_job_is_not_starved_by_a_class(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_module, "LONGEST_REST", 0.02)
    monkeypatch.setattr(line_module, "PIECE_SECONDS", 0.0)
    line, gate, ended = Line(), Gate(), []
    threads = [in_background(line, gate.work(), "first")[0]]
    assert gate.began.wait(20)

    def long_work():
        yield None
        ended.append("long")

    def short_work(number: int):
        threading.Event().wait(0.03)  # as a model would take
        yield None
        ended.append(number)

    threads.append(in_background(line, long_work(), "long one", long=True)[0])
    until(lambda: len(line) == 2)
    for number in range(6):
        threads.append(in_background(line, short_work(number), f"visitor {number}")[0])
    until(lambda: len(line) == 8)
    gate.open.set()
    for thread in threads:
        thread.join(20)
    assert ended.index("long") < 6


def test_the_model_never_runs_twice_at_once():
    line, inside, most = Line(), [0], [0]

    def work():
        for _ in range(20):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            threading.Event().wait(0.001)
            inside[0] -= 1
            yield None

    threads = [in_background(line, work(), str(visitor), long=bool(visitor % 2))[0] for visitor in range(6)]
    for thread in threads:
        thread.join(20)
    assert most == [1] and len(line) == 0


def test_stop_reaches_what_was_asked_for_before_it_also_when_it_arrives_later():
    line = Line()
    line.stop("me", 5)
    assert states(followed(line, iter_of({}), number=5)) == ["stopped"]
    assert states(followed(line, iter_of({}), number=6))[-1] == "done"
    assert states(followed(line, iter_of({}), visitor="other", number=5))[-1] == "done"


def test_stop_of_one_card_leaves_the_others_alone():
    line = Line()
    line.stop("me", 5, ["curve"])
    assert states(followed(line, iter_of({}), number=5, name="curve")) == ["stopped"]
    assert states(followed(line, iter_of({}), number=5, name="generate"))[-1] == "done"


@pytest.mark.parametrize("also_yields", [True, False])
def test_stopped_work_may_show_what_it_has(also_yields: bool):
    line, gate = Line(), Gate()

    def work():
        try:
            yield from gate.work(1000)
        except StoppedError:
            if also_yields:
                yield {"text": "half"}
            return {"text": "half"}

    thread, news = in_background(line, work(), "me")
    assert gate.began.wait(20)
    line.stop("me", 1)
    gate.open.set()
    thread.join(20)
    assert news[-1][0]["state"] == "stopped" and news[-1][1] == {"text": "half"}


def test_what_waits_and_is_stopped_never_begins():
    line, gate, began = Line(), Gate(), []
    first, _ = in_background(line, gate.work(), "one")
    assert gate.began.wait(20)
    second, news = in_background(line, (began.append(1) for _ in range(1)), "two")
    until(lambda: news)
    line.stop("two", 1)
    second.join(20)
    assert news[-1][0]["state"] == "stopped"
    gate.open.set()
    first.join(20)
    assert not began


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RequestError("The prompt is empty."), "The prompt is empty."),
        (ValueError("temperature must be a number"), "Temperature must be a number."),
        (gr.Error("The prompt is &lt;b&gt;."), "The prompt is <b>."),
        (ZeroDivisionError("division by zero"), say("page.line.broken")),
    ],
)
def test_what_is_wrong_is_said_once_in_one_sentence_and_the_line_goes_on(error: Exception, sentence: str):
    line = Line()

    def work():
        yield None
        raise error

    news = followed(line, work())
    assert [(job["state"], job["problem"]) for job, _ in news if "problem" in job] == [("failed", sentence)]
    assert states(followed(line, iter_of({})))[-1] == "done"


def test_one_visitor_has_two_places_and_others_are_served():
    line, gate = Line(), Gate()
    threads = [in_background(line, gate.work(), "me", number)[0] for number in (1, 2)]
    until(lambda: len(line) == 2)
    refused = followed(line, iter_of({}), number=3)
    assert refused[-1][0]["state"] == "failed" and refused[-1][0]["problem"] == say("page.line.too_many")
    other, news = in_background(line, iter_of({"text": "mine"}), "other")
    gate.open.set()
    for thread in (*threads, other):
        thread.join(20)
    assert news[-1][0]["state"] == "done"


def picture_in_line() -> tuple[Line, Gate, threading.Thread, threading.Thread, list]:
    """Behind a pressed button's work that waits at the gate, a picture of the same visitor; the last: its news."""
    line, gate = Line(), Gate()
    pressed, _ = in_background(line, gate.work(), "me", 1)
    until(lambda: len(line) == 1)
    picture, news = in_background(line, iter_of({"text": "old"}), "me", 2, asks=True)
    until(lambda: len(line) == 2)
    return line, gate, pressed, picture, news


def test_what_a_picture_asked_for_gives_way_to_what_the_visitor_asks_for_next():
    """A lecturer who turned the pages was told to wait for pictures that were no longer in sight."""
    line, gate, pressed, picture, news = picture_in_line()
    newer, newer_news = in_background(line, iter_of({"text": "new"}), "me", 3, asks=True)
    picture.join(20)
    assert news[-1][0]["state"] == "stopped" and news[-1][0]["gave_way"]
    gate.open.set()
    pressed.join(20), newer.join(20)
    assert newer_news[-1][0]["state"] == "done" and newer_news[-1][1] == {"text": "new"}


def test_a_picture_does_not_give_way_to_what_was_stopped_on_its_way():
    line, gate, pressed, picture, news = picture_in_line()
    line.stop("me", 3, ["race"])
    assert states(followed(line, iter_of({}), number=3, name="race")) == ["stopped"]
    gate.open.set()
    pressed.join(20), picture.join(20)
    assert news[-1][0]["state"] == "done"


def test_a_newer_request_of_the_same_kind_takes_the_place_of_the_older():
    line, gate = Line(), Gate()
    blocker, _ = in_background(line, gate.work(), "other")
    assert gate.began.wait(20)
    older, old_news = in_background(line, iter_of({}), "me", 1, name="dots")
    until(lambda: old_news)
    newer, new_news = in_background(line, iter_of({}), "me", 2, name="dots")
    older.join(20)
    assert old_news[-1][0]["state"] == "stopped"
    gate.open.set()
    newer.join(20), blocker.join(20)
    assert new_news[-1][0]["state"] == "done"


def test_of_two_requests_that_crossed_on_their_way_the_newer_one_goes_on():
    """A race begun by a button was stopped by the one that the tab had asked for by itself just before."""
    line, gate = Line(), Gate()
    pressed, news = in_background(line, gate.work(), "me", 2, name="race")
    until(lambda: len(line) == 1)
    assert states(followed(line, iter_of({}), number=1, name="race", asks=True)) == ["stopped"]
    gate.open.set()
    pressed.join(20)
    assert news[-1][0]["state"] == "done"


def test_who_goes_away_leaves_the_line():
    """As Gradio does when a tab is closed: it closes the generator."""
    line, gate = Line(), Gate()

    async def look_and_leave():
        news = line.told(gate.work(1000), "me", 1)
        async for job, _ in news:
            if job["state"] == "running":
                break
        await news.aclose()

    run(look_and_leave())
    gate.open.set()
    until(lambda: len(line) == 0)
    assert states(followed(line, iter_of({"text": "next"})))[-1] == "done"


def test_a_task_that_is_cancelled_leaves_the_line():
    line, gate = Line(), Gate()

    async def cancelled():
        async def listen():
            async for _ in line.told(gate.work(1000), "me", 1):
                pass

        task = asyncio.create_task(listen())
        await asyncio.to_thread(gate.began.wait, 20)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled(), "it went on until the work was over"

    run(cancelled())
    gate.open.set()
    until(lambda: len(line) == 0)


def test_memory_of_stops_is_bounded():
    line = Line()
    for visitor in range(2 * line_module.MOST_STOPS):
        line.stop(str(visitor), 1)
    assert len(line._stops) <= line_module.MOST_STOPS


def returning(value) -> Generator:
    yield None
    return value


def test_a_result_is_the_last_that_was_made():
    line = Line()
    assert run(line.result(iter_of({"n": 1}, {"n": 2}), "me")) == {"n": 2}
    assert run(line.result(returning({"n": 3}), "me")) == {"n": 3}

    def work():
        yield None
        raise RequestError("No.")

    with pytest.raises(RequestError, match="No"):
        run(line.result(work(), "me"))


@pytest.mark.parametrize(("small_bytes", "expected"), [(10**9, 1), (0, 2)])
def test_a_small_model_computes_in_one_thread(monkeypatch: pytest.MonkeyPatch, chat, small_bytes: int, expected: int):
    """Two threads took twice the processor time for the same, and in a busy class many times as long."""
    monkeypatch.setattr(machine, "SMALL_BYTES", small_bytes)
    monkeypatch.setattr(machine, "ALL_THREADS", 2)

    def work():
        yield None
        return torch.get_num_threads()

    line = Line(partial(machine.useful_threads, {"chat": chat}))
    assert followed(line, work())[-1][1] == expected
    assert torch.get_num_threads() == 1  # that of others, here the test's
