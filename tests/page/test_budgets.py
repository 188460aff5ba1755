"""One person's question may not keep everybody waiting: what is too much is refused, and a smaller question offered."""

import itertools
import re

import pytest

from playground.engine.work import run_multiply_adds
from playground.models.text import LoadedModel
from playground.page.controls import DEFAULTS, MOST_NEW_TOKENS
from playground.page.requests import MOST_READS, MOST_WORK, RequestError, affordable, prompt_ids_of
from playground.tabs.cache_on_off.race_values import raced
from playground.tabs.inside_the_cache.question import text_of
from playground.tabs.inside_the_cache.tab import reads_pictures
from playground.tabs.thirty_answers import values as answers
from playground.tabs.thirty_answers.frequency import SIZES

LONG = " cat" * 1780


def first_of(work) -> object:
    return next(work)


def offered(refused: pytest.ExceptionInfo, words: str) -> int:
    """The number before these words in the sentence."""
    return int(re.search(rf"([\d,]+) {words}", str(refused.value))[1].replace(",", ""))


def test_what_is_affordable_is_the_largest_that_costs_no_more():
    for most, found in itertools.product((0, 1, 24, 25, 26, 10_000), (1, 5, 100)):
        slow = max([0, *(number for number in range(1, found + 1) if number**2 <= most)])
        assert affordable(found, lambda number: number**2, most) == slow


def test_a_race_that_is_too_long_says_how_many_tokens_are_not(chat: LoadedModel):
    """A prompt of 1,780 tokens and 256 new ones: the class waited for 37 seconds."""
    models = {chat.name: chat}
    with pytest.raises(RequestError, match=r"^Without a cache[^\n]*\.$") as refused:
        first_of(raced(models, chat.name, LONG, DEFAULTS | {"max_new_tokens": MOST_NEW_TOKENS}))
    most, length = offered(refused, "new tokens can"), len(chat.prompt_ids(LONG))
    costs = [run_multiply_adds(chat.model.config, length, number, cached=False).total for number in (most, most + 1)]
    assert costs[0] <= MOST_WORK < costs[1]
    first_of(raced(models, chat.name, LONG, DEFAULTS | {"max_new_tokens": most}))  # begins


def test_as_many_answers_as_the_page_asks_for_need_a_prompt_as_trained(chat: LoadedModel):
    """3,000 answers to a prompt of 2,020 tokens: 44 seconds."""
    models = {chat.name: chat}
    asked = {"model": chat.name, "prompt": LONG, "params": DEFAULTS}
    for work, more in ((answers.agreement_values, {}), (answers.curve_values, {"knob": "top_p", "second": LONG})):
        with pytest.raises(RequestError, match=r"^[\d,]+ answers to a prompt of [\d,]+ tokens[^\n]*\.$") as refused:
            first_of(work(models, asked | more))
        assert offered(refused, r"tokens\.") >= chat.trained_length
    assert prompt_ids_of(chat, LONG) and max(SIZES) * 24 * chat.trained_length <= MOST_READS


def test_reads_are_counted_of_every_answer_that_this_page_writes(chat: LoadedModel):
    """2,040 ids: 26 seconds, for one picture."""
    models, room = {chat.name: chat}, chat.model.config.max_positions
    asked = {"model": chat.name, "prompt_ids": [5], "token_ids": [7] * (room - 1)}
    with pytest.raises(RequestError, match=r"too many\. Write a shorter answer\.$"):
        first_of(reads_pictures(text_of(models, asked)))
    longest = {"prompt_ids": [5] * (room - MOST_NEW_TOKENS), "token_ids": [7] * MOST_NEW_TOKENS}
    first_of(reads_pictures(text_of(models, asked | longest)))
