"""The same answer with the cache on and off: tokens, logits, tokens fed and seconds of both.

The two sides take turns on the same cores, one step at a time, each step timed alone; the side whose own clock is
behind goes next. So both start together, the quicker one pulls ahead by exactly what it is quicker, and a disturbance
of the machine meets both. Repeats after the first are only timed again.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import mean

from torch import Tensor

from playground.engine.generation import Step, generate, timed
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.work import tokens_fed_with_cache, tokens_fed_without_cache
from playground.models.text import LoadedModel
from playground.page.machine import machine

ON, OFF = "on", "off"
WARM_UP = -1  # in place of the number of a repeat
NOISY_SPREAD = 0.25  # of the median: repeats further apart than this make a run noisy
CLEAR_LEAD = 0.1  # a side is called ahead only when its clock shows that much less than the other's
ENOUGH_SECONDS = 6.0  # after this no further repeat begins: a long race is run once, and its spread is unknown

Run = Callable[[], Iterator[Step]]  # starts a run from its beginning


@dataclass(frozen=True)
class SideResult:
    """One side. All its seconds are of one repeat, the one with the median total, so that they add up."""

    token_ids: list[int]
    num_fed: list[int]  # per step, counted as they went in
    runs: list[list[float]]  # seconds of each step, for each repeat
    uniforms: list[float]  # the random number of each step
    cache_bytes: int  # of all layers, at the end
    stop_reason: str | None

    @property
    def total_fed(self) -> int:
        return sum(self.num_fed)

    @property
    def seconds(self) -> list[float]:
        """Of each step."""
        return sorted(self.runs, key=sum)[(len(self.runs) - 1) // 2]

    @property
    def total_seconds(self) -> float:
        return sum(self.seconds)

    @property
    def totals(self) -> list[float]:
        """Seconds of each repeat."""
        return [sum(run) for run in self.runs]

    @property
    def spread(self) -> float | None:
        """How far the repeats lie apart, as a part of their median; None for one repeat, of which nothing is known."""
        return (max(self.totals) - min(self.totals)) / self.total_seconds if len(self.runs) > 1 else None


@dataclass(frozen=True)
class RaceResult:
    prompt_length: int
    on: SideResult
    off: SideResult
    # Of the logits that the choice is made of, after penalties.
    gaps: list[float]  # largest difference of a logit at each step, while both sides read the same text
    margins: list[float]  # by how much the best logit leads the second, cache off
    machine: str
    greedy: bool = True  # both sides

    @property
    def repeats(self) -> int:
        return len(self.on.runs)

    @property
    def first_difference(self) -> int | None:
        """The first step where the tokens diverge, or where one side has none."""
        pairs = enumerate(zip(self.on.token_ids, self.off.token_ids, strict=False))
        diverged = next((step for step, (on, off) in pairs if on != off), None)
        shorter, longer = sorted((len(self.on.token_ids), len(self.off.token_ids)))
        return shorter if diverged is None and shorter < longer else diverged

    @property
    def equal(self) -> bool:
        return self.first_difference is None

    @property
    def largest_gap(self) -> float:
        return max(self.gaps)

    @property
    def near_ties(self) -> list[int]:
        """Steps where a greedy choice can flip: each of the two best logits may move by the gap, so a lead of up to
        twice the gap of that step."""
        pairs = enumerate(zip(self.gaps, self.margins, strict=True))
        return [step for step, (gap, margin) in pairs if margin <= 2 * gap]

    @property
    def expected_fed_on(self) -> int:
        return tokens_fed_with_cache(self.prompt_length, len(self.on.token_ids))

    @property
    def expected_fed_off(self) -> int:
        return tokens_fed_without_cache(self.prompt_length, len(self.off.token_ids))

    @property
    def token_ratio(self) -> float:
        return self.off.total_fed / self.on.total_fed

    @property
    def time_ratio(self) -> float:
        return self.off.total_seconds / self.on.total_seconds

    def time_range(self, part: Callable[[list[float]], float] = sum) -> tuple[float, float]:
        """Lowest and highest ratio off / on of a part of the seconds, over the repeats."""
        ratios = [part(off) / part(on) for on, off in zip(self.on.runs, self.off.runs, strict=True)]
        return min(ratios), max(ratios)

    @property
    def spread(self) -> float | None:
        """Of the side whose repeats lie further apart; None for one repeat."""
        return None if self.on.spread is None else max(self.on.spread, self.off.spread)

    @property
    def noisy(self) -> bool:
        return self.spread is not None and self.spread > NOISY_SPREAD

    @property
    def pays_from(self) -> int | None:
        """The first step from which the cached side is clearly ahead, and stays so, in every repeat. None where
        there is no such step, and for a single repeat, in which it may be chance."""
        if self.repeats < 2:
            return None
        leads = [
            [on < (1 - CLEAR_LEAD) * off for on, off in zip(cumulative(ours), cumulative(theirs), strict=False)]
            for ours, theirs in zip(self.on.runs, self.off.runs, strict=True)
        ]
        ahead = [all(at_step) for at_step in zip(*leads, strict=True)]
        behind = [step for step, is_ahead in enumerate(ahead) if not is_ahead]
        first = behind[-1] + 1 if behind else 0
        return first if first < len(ahead) else None


@dataclass(frozen=True)
class RaceTick:
    """One step of one side."""

    side: str  # ON or OFF
    repeat: int  # 0 is the one to watch, later ones only time it again; WARM_UP: nothing of it counts
    repeats: int  # how many are planned
    index: int
    token_id: int
    num_fed: int
    seconds: float
    clock: float  # seconds this side has run, in this repeat
    stop_reason: str | None
    result: RaceResult | None = None  # on the last tick of each repeat; it counts the repeats so far


@dataclass
class _Side:
    """A side while it runs."""

    name: str
    steps: Iterator[tuple[Step, float]]
    clock: float = 0.0
    done: bool = False
    seen: list[Step] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def advance(self) -> None:
        step, seconds = next(self.steps)
        self.seen.append(step)
        self.seconds.append(seconds)
        self.clock += seconds
        self.done = step.stop_reason is not None

    def tick(self, repeat: int, repeats: int, result: RaceResult | None = None) -> RaceTick:
        """Its newest step."""
        step, seconds = self.seen[-1], self.seconds[-1]
        return RaceTick(
            self.name,
            repeat,
            repeats,
            step.index,
            step.token_id,
            step.num_fed,
            seconds,
            self.clock,
            step.stop_reason,
            result,
        )


def race(
    loaded: LoadedModel,
    prompt_ids: Sequence[int],
    params: SamplingParams,
    max_new_tokens: int = 64,
    repeats: int = 3,
    past_stop: bool = False,
) -> Iterator[RaceTick]:
    """Cache on against cache off. `past_stop` writes on through stop tokens, for an answer of exactly that length.

    Stop iterating to cancel. Raises what `generate` raises, before the first tick.
    """
    stop_ids = () if past_stop else loaded.stop_ids

    def run(kind: str) -> Iterator[Step]:
        return generate(loaded.model, prompt_ids, params, KVCache.of(loaded.model, kind), max_new_tokens, stop_ids)

    return race_runs(lambda: run("dynamic"), lambda: run("none"), len(prompt_ids), repeats)


def race_runs(on: Run, off: Run, prompt_length: int, repeats: int = 3) -> Iterator[RaceTick]:
    """Any two runs of one prompt against each other, one step of one side a tick."""
    start = time.perf_counter()
    yield from _warm_up(on, off, repeats)
    gaps: list[float] = []
    margins: list[float] = []
    clocks: dict[str, list[list[float]]] = {ON: [], OFF: []}
    for repeat in range(repeats):
        sides = _Side(ON, timed(on())), _Side(OFF, timed(off()))
        turns = sides[::-1] if repeat % 2 else sides  # who begins changes: the first pass of a repeat may be a slow one
        while running := [side for side in turns if not side.done]:
            side = min(running, key=lambda side: side.clock)
            side.advance()
            if repeat == 0:
                _compare(sides, gaps, margins)
            result = None
            if all(side.done for side in sides):
                for each in sides:
                    clocks[each.name].append(each.seconds)
                result = RaceResult(
                    prompt_length,
                    *(_side_result(each, clocks[each.name]) for each in sides),
                    list(gaps),
                    list(margins),
                    machine(),
                    all(each.seen[0].request.params.temperature == 0 for each in sides),
                )
            yield side.tick(repeat, repeats, result)
        if time.perf_counter() - start > ENOUGH_SECONDS:
            return


def _warm_up(on: Run, off: Run, repeats: int) -> Iterator[RaceTick]:
    """Two passes of each side that do not count: the first pass of a process is slow."""
    for name, run in ((ON, on), (OFF, off)):
        side = _Side(name, timed(run()))
        while len(side.seen) < 2 and not side.done:
            side.advance()
            yield side.tick(WARM_UP, repeats)


def race_result(ticks: Iterator[RaceTick]) -> RaceResult | None:
    """Runs a race to its end; None when the ticks end before both sides have."""
    result = None
    for tick in ticks:
        result = tick.result or result
    return result


def cumulative(seconds: Sequence[float]) -> list[float]:
    total, sums = 0.0, []
    for step in seconds:
        total += step
        sums.append(total)
    return sums


def _compare(sides: tuple[_Side, _Side], gaps: list[float], margins: list[float]) -> None:
    """Adds the steps that both sides have now made, as long as both have written the same before."""
    on, off = (side.seen for side in sides)
    while len(gaps) < min(len(on), len(off)):
        step = len(gaps)
        if step and on[step - 1].token_id != off[step - 1].token_id:
            return
        other, logits = (seen[step].distribution.batch.penalized[0] for seen in (on, off))
        gaps.append(largest_difference(other, logits))
        best, second = logits.topk(2).values.tolist()
        margins.append(best - second)


def largest_difference(ours: Tensor, theirs: Tensor) -> float:
    return float((ours.float() - theirs.float()).abs().max())


def first_step(seconds: Sequence[float]) -> float:
    return seconds[0]


def later_step(seconds: Sequence[float]) -> float | None:
    """The mean step after the first, so that first + (N - 1) later steps are the total; None for a single step."""
    return mean(seconds[1:]) if len(seconds) > 1 else None


def _side_result(side: _Side, runs: list[list[float]]) -> SideResult:
    return SideResult(
        token_ids=[step.token_id for step in side.seen],
        num_fed=[step.num_fed for step in side.seen],
        runs=[list(run) for run in runs],
        uniforms=[step.uniform for step in side.seen],
        cache_bytes=sum(side.seen[-1].cache_bytes),
        stop_reason=side.seen[-1].stop_reason,
    )
