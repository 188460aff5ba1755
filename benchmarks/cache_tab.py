"""What the pictures of "Inside the cache" wait for, against writing the answer that they show with transformers."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import transformers

from benchmarks.against_transformers import generate_in, in_transformers
from benchmarks.measure import Figure, Goal, compare, processor_time
from playground.models.loading import load_model
from playground.page.lesson import read_lesson
from playground.tabs.inside_the_cache.tab import (
    attention_pictures,
    checked_text,
    growth_pictures,
    keeping_pictures,
    more_pictures,
)
from playground.tabs.inside_the_cache.values import Text

PROMPT, ANSWER = list(range(100, 283)), list(range(300, 556))  # a prompt of 183, 256 new tokens
STEP_BY_STEP = Goal(0.5, remark="at most twice as long: every step of the answer is run for what it reads")


def figures() -> Iterator[Figure]:
    base, words = load_model("minimind-base"), read_lesson("inside_the_cache")
    theirs = in_transformers(base.model)
    request = {"model": base.name, "prompt_ids": PROMPT, "token_ids": ANSWER}
    text = checked_text(SimpleNamespace(models={base.name: base}), request)
    yield pictures("How it grows", growth_pictures, text, theirs, Goal(2))
    yield pictures("Why it may be kept", lambda text: keeping_pictures(text, words), text, theirs, Goal(2))
    yield pictures("What attention reads", attention_pictures, text, theirs, Goal(2))
    yield pictures("Reads, heads, training", more_pictures, text, theirs, STEP_BY_STEP)


def pictures(
    part: str, draw: Callable[[Text], tuple], text: Text, theirs: transformers.PreTrainedModel, goal: Goal
) -> Figure:
    def write() -> object:
        return generate_in(theirs, text.prompt_ids, len(text.answer_ids), do_sample=False)

    return compare(
        f"{part}: all its pictures, against transformers writing an answer as long, ms",
        processor_time(lambda: draw(text)),
        processor_time(write),
        goal,
        f"prompt {len(PROMPT)} + {len(ANSWER)} new tokens, float32, 1 thread",
        rounds=5,
    )
