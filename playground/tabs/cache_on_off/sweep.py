"""How the three ratios off / on grow with prompt and answer, and what the first token waits for.

The first n steps of a long answer are the answer of n tokens, so one race per prompt length fills a whole row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from playground.engine.params import SamplingParams
from playground.engine.work import (
    run_multiply_adds,
    tokens_fed_with_cache,
    tokens_fed_without_cache,
)
from playground.models.text import LoadedModel
from playground.tabs.cache_on_off.race import RaceResult, RaceTick, cumulative, race
from playground.words import say

PROMPT_LENGTHS = (16, 64, 183, 256, 384)
ANSWER_LENGTHS = (1, 4, 16, 32, 64, 128)
FIRST_TOKEN_NEW = 8
LONGEST_PROMPT = 2048  # of the first-token line; a larger model's own limit would take minutes without a cache

STORY = say("cache_on_off.sweep.story")  # cut to the length that is wanted


def text_of_length(loaded: LoadedModel, length: int, source: str = STORY) -> str:
    """A text that makes a prompt of exactly `length` tokens, chat template included. Raises ValueError."""
    source, around = " ".join(source.split()), template_tokens(loaded)
    room = length - around
    if room < 1:
        raise ValueError(say("cache_on_off.sweep.too_short", least=around + 1, length=length))
    ids = loaded.tokenizer.encode_plain(source)
    while len(ids) < room:
        source += " " + source
        ids = loaded.tokenizer.encode_plain(source)
    text = loaded.tokenizer.decode(ids[:room])
    if (
        len(loaded.prompt_ids(text)) != length
    ):  # a tokenizer that spells the beginning of a text otherwise than the whole
        raise ValueError(say("cache_on_off.sweep.no_prompt", length=length))
    return text


def template_tokens(loaded: LoadedModel) -> int:
    """How many tokens of a prompt are the chat template."""
    return len(loaded.prompt_ids(STORY)) - len(loaded.tokenizer.encode_plain(STORY))


@dataclass(frozen=True)
class Cell:
    """An answer of `num_new` tokens to a prompt of `prompt_length`: work, and time if measured, cache off over on."""

    prompt_length: int
    num_new: int
    token_ratio: float
    multiply_add_ratio: float
    time_ratio: float | None = None
    seconds_on: float | None = None
    seconds_off: float | None = None
    noisy: bool = False


def race_at_length(loaded: LoadedModel, prompt_length: int, num_new: int, repeats: int = 3) -> Iterator[RaceTick]:
    """A greedy race over a prompt of exactly that many tokens."""
    prompt_ids = loaded.prompt_ids(text_of_length(loaded, prompt_length))
    return race(loaded, prompt_ids, SamplingParams(temperature=0.0), num_new, repeats, past_stop=True)


def cells(loaded: LoadedModel, result: RaceResult, answer_lengths: Sequence[int]) -> list[Cell]:
    """What a finished race says about all shorter answers."""
    seconds_on, seconds_off = cumulative(result.on.seconds), cumulative(result.off.seconds)
    made = []
    for cell in exact_cells(loaded, result.prompt_length, answer_lengths):
        if cell.num_new > len(seconds_on):
            break  # the context was full before
        on, off = seconds_on[cell.num_new - 1], seconds_off[cell.num_new - 1]
        made.append(replace(cell, time_ratio=off / on, seconds_on=on, seconds_off=off, noisy=result.noisy))
    return made


def exact_cells(loaded: LoadedModel, prompt_length: int, answer_lengths: Sequence[int]) -> list[Cell]:
    """The work alone, of the answers that the context has room for: nothing is measured for it."""
    config, made = loaded.model.config, []
    for num_new in answer_lengths:
        if prompt_length + num_new - 1 > config.max_positions:
            break
        work = [run_multiply_adds(config, prompt_length, num_new, cached).total for cached in (False, True)]
        fed = tokens_fed_without_cache(prompt_length, num_new), tokens_fed_with_cache(prompt_length, num_new)
        made.append(Cell(prompt_length, num_new, fed[0] / fed[1], work[0] / work[1]))
    return made


def sweep_frame(rows: Sequence[Cell]) -> pd.DataFrame:
    return pd.DataFrame([vars(cell) for cell in rows], columns=list(Cell.__dataclass_fields__))


def sweep_lengths(loaded: LoadedModel) -> list[int]:
    """The prompt lengths that this model has room for, with at least one new token."""
    shortest, limit = template_tokens(loaded), loaded.model.config.max_positions
    return [length for length in PROMPT_LENGTHS if shortest < length <= limit]


def first_token_lengths(loaded: LoadedModel, num_new: int = FIRST_TOKEN_NEW) -> list[int]:
    """16, 64, 256 and the longest prompt that leaves room for `num_new` tokens."""
    shortest = template_tokens(loaded)
    limit = min(loaded.model.config.max_positions, LONGEST_PROMPT) - num_new + 1
    return [length for length in (16, 64, 256) if shortest < length < limit] + [limit]
