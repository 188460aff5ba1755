"""How a benchmark judges: by the middle of its rounds, and a goal is missed only when every set of rounds misses it."""

import time
from collections.abc import Iterable
from dataclasses import replace

import pytest

from benchmarks.__main__ import report
from benchmarks.measure import MOST_SETS, Figure, Goal, Took, Way, compare, processor_time


def taking(milliseconds: Iterable[float]) -> Way:
    """A way that takes so long each time; a further time would be an error."""
    times = iter(milliseconds)
    return lambda: Took(next(times))


def judged(peer_ms: list[float], goal: Goal, rounds: int = 3) -> Figure:
    """Ours takes 10 ms each time."""
    return compare("a figure", lambda: Took(10), taking(peer_ms), goal, "conditions", rounds)


def test_the_ratio_is_the_middle_one_of_the_rounds_and_the_first_round_does_not_count():
    figure = judged([9999, 40, 20, 30], Goal(3))
    assert (figure.ours, figure.peer, figure.ratio, figure.ratio_range) == (10, 30, 3, (2, 4))
    assert figure.holds and figure.sets == 1
    assert figure.conditions == "conditions, median of 3 rounds"


def test_a_goal_that_one_set_misses_is_measured_again():
    figure = judged([0, 10, 10, 10, 0, 30, 30, 30], Goal(3))
    assert (figure.holds, figure.sets, figure.ratio, figure.ratio_range) == (True, 2, 3, (3, 3))


def test_a_goal_is_missed_when_every_set_misses_it():
    figure = judged([0, 29, 29, 29] * MOST_SETS, Goal(3))
    assert (figure.holds, figure.sets, figure.ratio) == (False, MOST_SETS, 2.9)


@pytest.mark.parametrize(
    ("ours_ms", "ratio", "met"), [(2.5, 10, True), (5, 100, True), (5, 99, False)], ids=["fast", "slow machine", "slow"]
)
def test_a_goal_in_milliseconds_is_a_ratio_on_a_slower_machine(ours_ms: float, ratio: float, met: bool):
    assert Goal(100, most_ms=2.5).is_met(ours_ms, ratio) == met


def test_each_way_is_first_in_every_other_round():
    order = []

    def named(name: str) -> Way:
        return lambda: order.append(name) or Took(1)

    compare("a figure", named("ours"), named("peer"), Goal(1), "conditions", rounds=3)
    assert order == ["peer", "ours", "ours", "peer"] * 2


def test_all_threads_of_the_process_count_and_the_others_are_told(monkeypatch: pytest.MonkeyPatch):
    """Half a second of the process passes, 0.3 of it in the thread that measures, for ten equal things."""
    monkeypatch.setattr(time, "process_time", iter([7.0, 7.5]).__next__)
    monkeypatch.setattr(time, "thread_time", iter([1.0, 1.3]).__next__)
    took = processor_time(lambda: None, parts=10)()
    assert took == pytest.approx((50, 20))
    figure = compare("a figure", lambda: took, lambda: Took(50), Goal(1), "conditions")
    assert figure.conditions.endswith("other threads of the process: 40% of ours, 0% of the peer's")


def test_the_summary_names_what_was_missed(capsys):
    met = judged([0, 30, 30, 30], Goal(3))
    missed = replace(met, figure="another figure", ratio=2.9, holds=False)
    assert report([met]) == 0
    assert "every goal holds" in capsys.readouterr().err
    assert report([met, missed]) == 1
    said = capsys.readouterr()
    assert "1 goals missed" in said.err and "another figure: 2.9" in said.err and "a figure: 3" not in said.err
    assert len(said.out.splitlines()) == 2
