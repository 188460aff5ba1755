"""What race.js and work_picture.js draw, from the ticks of a race: plain numbers, labels and sentences."""

import secrets
from collections.abc import Iterator, Sequence
from time import perf_counter

from playground.engine.work import run_multiply_adds, times_read_again
from playground.models.text import LoadedModel
from playground.page.recording import TICK_SECONDS
from playground.tabs.cache_on_off.race import OFF, ON, RaceResult, RaceTick

HOW_TIMED = (
    "in turn on the same cores: every step is timed alone, and the side whose clock is behind goes next; "
    "a warm-up came first"
)


def race_values(
    loaded: LoadedModel, prompt_ids: Sequence[int], max_new_tokens: int, ticks: Iterator[RaceTick]
) -> Iterator[dict | None]:
    """The panel's value a few times a second and whenever a repeat has ended; None after the steps between."""
    value = {
        "id": secrets.token_hex(6),
        "phase": "running",
        "prompt_length": len(prompt_ids),
        "max_new": max_new_tokens,
        "sides": {side: {"token_ids": [], "labels": [], "fed": [], "clock": []} for side in (ON, OFF)},
        "status": "Both sides are writing, in turn on the same cores. A run too quick to watch is shown slowly after.",
        "result": None,
    }
    shown_at = perf_counter()
    for tick in ticks:
        if tick.repeat == 0:
            side = value["sides"][tick.side]
            side["token_ids"].append(tick.token_id)
            side["labels"].append(loaded.tokenizer.label(tick.token_id))
            side["fed"].append(tick.num_fed)
            side["clock"].append(tick.clock)
        else:
            value["status"] = f"Writing it again, only for the clocks: run {tick.repeat + 1} of {tick.repeats}."
        if tick.result:
            value["result"] = result_view(loaded, tick.result)
            value["max_new"] = max(len(side["token_ids"]) for side in value["sides"].values())
        if tick.result or perf_counter() - shown_at > TICK_SECONDS:
            yield _copied(value)
            shown_at = perf_counter()
        else:
            yield None


def _copied(value: dict) -> dict:
    """The race goes on while the page is sent this."""
    sides = {side: {key: list(items) for key, items in columns.items()} for side, columns in value["sides"].items()}
    return value | {"sides": sides}


def result_view(loaded: LoadedModel, result: RaceResult) -> dict:
    return {
        "equal": result.equal,
        "verdict": verdict(result),
        "ratios": key_ratios(loaded, result),
        "rows": result_rows(loaded, result),
        "why": why_not_as_fast(loaded, result),
        "conditions": f"{conditions(result)} The clocks above are the first run's.",
        "noise": noise(result),
        "seconds": {ON: result.on.seconds, OFF: result.off.seconds},
        "pays_from": result.pays_from,
    }


def verdict(result: RaceResult) -> str:
    gap = f"The largest difference of a logit in the run is {power_text(result.largest_gap)}."
    if result.equal:
        count = len(result.on.token_ids)
        return f"✓ {'All ' if count > 1 else ''}{count} token{'s are' if count > 1 else ' is'} equal. {gap}"
    return f"✗ The tokens part at token {result.first_difference + 1}. {gap}{why_parted(result)}"


def why_parted(result: RaceResult) -> str:
    """How so little can change a token: at the step where the two sides part. Empty where that does not explain it."""
    step = result.first_difference
    if step >= len(result.gaps):  # one side had ended
        return ""
    moved = f" At that step rounding moved a logit by up to {power_text(result.gaps[step])}"
    if result.greedy:
        return f"{moved}, and the two best tokens were closer than twice that." if step in result.near_ties else ""
    return f"{moved}. Both sides sample with the same number; it lay so near a boundary of two tokens that this did it."


def key_ratios(loaded: LoadedModel, result: RaceResult) -> list[list[str]]:
    work = _multiply_adds(loaded, result)
    speed = result.time_ratio
    return [
        [ratio(result.off.total_fed, result.on.total_fed), "fewer tokens fed"],
        [ratio(work[False], work[True]), "fewer multiply-adds"],
        [f"{speed:.1f} ×", "as fast, this run on this machine"],
    ]


def result_rows(loaded: LoadedModel, result: RaceResult) -> list[list[str]]:
    """Name, cache on, cache off, ratio. Counts are exact; seconds are medians."""
    on, off, work = result.on, result.off, _multiply_adds(loaded, result)
    counted = (on.total_fed, off.total_fed) == (result.expected_fed_on, result.expected_fed_off)
    formula = "P + (N − 1) and P·N + N(N − 1)/2"
    read_again = sum(times_read_again(result.prompt_length, len(on.token_ids)))
    return [
        [
            f"tokens fed, {formula}, {'as counted' if counted else 'NOT as counted'}",
            f"{on.total_fed:,}",
            f"{off.total_fed:,}",
            ratio(off.total_fed, on.total_fed),
        ],
        ["multiply-adds", big_number(work[True]), big_number(work[False]), ratio(work[False], work[True])],
        _seconds("first token", on.first_token_seconds, off.first_token_seconds),
        _seconds("each later token (median)", on.later_token_seconds, off.later_token_seconds),
        _seconds("whole answer", on.total_seconds, off.total_seconds),
        ["cache at the end", cache_words(loaded, result), "nothing is kept", ""],
        ["old rows read again in a later pass", f"K and V {read_again:,} · Q 0", "all are computed again", ""],
    ]


def cache_words(loaded: LoadedModel, result: RaceResult) -> str:
    config, size = loaded.model.config, loaded.model.embedding.element_size()
    per_token = 2 * config.num_layers * config.num_kv_heads * config.head_dim * size
    return f"{result.on.cache_bytes / per_token:,.0f} tokens · {result.on.cache_bytes:,} bytes"


def why_not_as_fast(loaded: LoadedModel, result: RaceResult) -> str:
    """Why so many times fewer tokens are not so many times fewer seconds, with the numbers of this run."""
    on, off = result.on, result.off
    if len(on.token_ids) < 2 or len(off.token_ids) < 2:
        return "For one new token both sides read the prompt once: there is nothing to save yet."
    fed, last, single = off.num_fed[-1], off.seconds[-1], on.later_token_seconds
    weights = sum(parameter.numel() for parameter in loaded.model.parameters())
    return (
        f"{result.token_ratio:.1f} times fewer tokens, but {result.time_ratio:.1f} times the speed: the last pass "
        f"without the cache was over {fed:,} tokens and took {last / single:.1f} times as long as a pass over one, "
        f"not {fed:,} times. "
        f"Every pass pays a fixed price, however few tokens it carries: all {weights:,} weights are read and each "
        "operation is started once. And the tokens of one pass are computed side by side."
    )


def noise(result: RaceResult) -> str:
    """Empty for a quiet run."""
    if result.spread is None:
        return "One run of each side: how much the seconds scatter is not known."
    words = f"Noisy: the repeats lie {result.spread:.0%} apart. Run it again on a quieter machine."
    return words if result.noisy else ""


def conditions(result: RaceResult) -> str:
    """How the seconds came about."""
    repeats = f"Medians of {result.repeats} runs of each side" if result.repeats > 1 else "One run of each side"
    length = f"P = {result.prompt_length}, N = {len(result.on.token_ids)}"
    return f"{repeats}, {HOW_TIMED}. {length}. {result.machine}."


def ratio(off: float | None, on: float | None) -> str:
    return "–" if not off or not on else f"{off / on:.1f} ×"


def seconds_text(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    milliseconds = 1000 * seconds
    if milliseconds < 10:
        return f"{milliseconds:.2f} ms"
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{seconds:.2f} s"


def power_text(value: float) -> str:
    """0.00002 as 2.0 · 10⁻⁵, for people in the last row."""
    if value == 0 or value >= 0.01:
        return f"{value:.2g}"
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits} · 10" + str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def big_number(count: int) -> str:
    for size, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if count >= size:
            return f"{count / size:.3g} {word}"
    return f"{count:,}"


def _multiply_adds(loaded: LoadedModel, result: RaceResult) -> dict[bool, int]:
    """By whether there is a cache."""
    config, prompt_length = loaded.model.config, result.prompt_length
    return {
        cached: run_multiply_adds(config, prompt_length, len(side.token_ids), cached).total
        for cached, side in ((True, result.on), (False, result.off))
    }


def _seconds(name: str, on: float | None, off: float | None) -> list[str]:
    return [name, seconds_text(on), seconds_text(off), ratio(off, on)]
