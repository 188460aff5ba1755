"""What prefix.js is given: the prompts of eight requests in three orders, and what the model made of them."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from playground.engine.params import SamplingParams
from playground.models.answers import write_answers
from playground.models.text import LoadedModel
from playground.page.line import Work, in_steps
from playground.page.machine import machine
from playground.page.requests import checked, own_model_of, prompt_ids_of
from playground.tabs.serving.prefix import reuse
from playground.words import say, told

ORDERS = ("first", "time", "last")
NUM_REQUESTS, NUM_ANSWERS, ANSWER_TOKENS, MOST_BLOCK = 8, 30, 24, 128
REPEATS = 3


class PrefixQuestion(BaseModel):
    """Of prefix.js."""

    model: str
    order: Literal[ORDERS]
    block: int = Field(ge=1, le=MOST_BLOCK)
    answers: bool  # whether they are still to be written


def question_of(number: int) -> str:
    return say(f"serving.request.{number + 2}")  # the first of them asks for a story, as others do


def prompts_of(loaded: LoadedModel, order: str) -> list[list[int]]:
    """The shared text first, or behind the time of day, or behind the question."""
    prompts = []
    for number in range(NUM_REQUESTS):
        facts = {"shared": say("serving.prefix.shared"), "question": question_of(number), "minute": 10 + number}
        prompts.append(prompt_ids_of(loaded, say(f"serving.prefix.prompt.{order}", **facts)))
    return prompts


def prefix_values(models: Mapping[str, LoadedModel], question: Any) -> Work:
    asked = checked(PrefixQuestion, question)
    loaded = own_model_of(models, asked.model)
    prompts = {order: prompts_of(loaded, order) for order in ORDERS}
    runs = []
    for _ in range(REPEATS):
        runs.append((yield from in_steps(reuse(loaded.model, prompts[asked.order], asked.block))))
    ratios = [without / with_found for with_found, without in (run.seconds for run in runs)]
    value = {
        "prompts": prompts,
        "questions": [question_of(number) for number in range(NUM_REQUESTS)],
        "bytes_a_token": _bytes_a_token(loaded),
        "measured": told(
            "serving.prefix.measured",
            block=asked.block,
            fed=sum(runs[0].num_fed),
            all=sum(map(len, prompts[asked.order])),
            difference=max(run.difference for run in runs),
            low=min(ratios),
            high=max(ratios),
            repeats=REPEATS,
            machine=machine(),
        ),
        "fed": list(runs[0].num_fed),
    }
    if not asked.answers:
        return value
    yield value
    return value | {"answers": (yield from _answers(loaded, prompts["first"][0]))}


def _answers(loaded: LoadedModel, prompt_ids: list[int]) -> Work:
    """How many tokens of each of thirty answers were fed: all but its last."""
    settings, stop_ids = [SamplingParams(seed=1)], loaded.stop_ids
    writing = write_answers(loaded.model, loaded.tokenizer, prompt_ids, settings, NUM_ANSWERS, ANSWER_TOKENS, stop_ids)
    [answers] = yield from in_steps(writing)
    return {"prompt": len(prompt_ids), "tokens": [answer.num_steps - 1 for answer in answers]}


def _bytes_a_token(loaded: LoadedModel) -> int:
    config = loaded.model.config
    return 2 * config.num_layers * config.num_kv_heads * config.head_dim * loaded.model.embedding.element_size()
