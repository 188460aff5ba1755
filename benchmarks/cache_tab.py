"""What the pictures of "Inside the cache" wait for, against writing the answer that they show with transformers."""

from collections.abc import Callable, Iterator
from functools import partial

import transformers

from benchmarks.against_transformers import generate_in, in_transformers
from benchmarks.measure import Figure, Goal, compare, processor_time
from playground.models.answers import at_once
from playground.models.loading import load_model
from playground.page.line import Work
from playground.tabs.inside_the_cache.question import Text, text_of
from playground.tabs.inside_the_cache.tab import (
    attention_pictures,
    growth_pictures,
    heads_pictures,
    keeping_pictures,
    reads_pictures,
    size_pictures,
    walk_pictures,
)

PROMPT, ANSWER = list(range(100, 283)), list(range(300, 556))  # a prompt of 183, 256 new tokens
STEP_BY_STEP = Goal(0.5, remark="at most twice as long: every step of the answer is run for what it reads")


def figures() -> Iterator[Figure]:
    base = load_model("minimind-base")
    theirs = in_transformers(base.model)
    text = text_of({base.name: base}, {"model": base.name, "prompt_ids": PROMPT, "token_ids": ANSWER})
    yield pictures("How it grows", growth_pictures, text, theirs, Goal(2))
    yield pictures("How big it is", size_pictures, text, theirs, Goal(2))
    yield pictures("Why it is safe", partial(keeping_pictures, {base.name: base}), text, theirs, Goal(2))
    yield pictures("Step by step", walk_pictures, text, theirs, Goal(2))
    yield pictures("What attention reads", attention_pictures, text, theirs, Goal(2))
    yield pictures("Heads and shapes", heads_pictures, text, theirs, Goal(2))
    yield pictures("When it helps", reads_pictures, text, theirs, STEP_BY_STEP)


def pictures(
    part: str, draw: Callable[[Text], Work], text: Text, theirs: transformers.PreTrainedModel, goal: Goal
) -> Figure:
    def write() -> object:
        return generate_in(theirs, text.prompt_ids, len(text.answer_ids), do_sample=False)

    return compare(
        f"{part}: all its pictures, against transformers writing an answer as long, ms",
        processor_time(lambda: at_once(draw(text))),
        processor_time(write),
        goal,
        f"prompt {len(PROMPT)} + {len(ANSWER)} new tokens, float32, 1 thread",
        rounds=5,
    )
