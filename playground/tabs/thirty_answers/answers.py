"""Thirty answers to one prompt: how many are distinct, and how likely was each."""

from collections import Counter
from collections.abc import Generator, Hashable
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from playground.engine.params import SamplingParams
from playground.models.answers import Answer, at_once, write_answers
from playground.models.template import conversation
from playground.models.text import LoadedModel

TOKENS, TEXT = "tokens", "text"  # what makes two answers the same
NUM_ANSWERS, ANSWER_TOKENS = 30, 24  # in every tab


@dataclass(frozen=True)
class Group:
    """Answers that count as one."""

    text: str  # its most frequent spelling
    rows: tuple[int, ...]
    probability: float  # of the spellings seen, so a lower bound when texts are compared
    model_probability: float  # the same, at temperature 1 with nothing cut
    length: int  # tokens of that spelling
    stop_reason: str


@dataclass(frozen=True)
class AnswerSet:
    prompt: str
    params: SamplingParams
    max_new_tokens: int
    answers: tuple[Answer, ...]  # in row order
    prompt_length: int  # tokens
    compare: str = TOKENS

    def compared_by(self, compare: str) -> "AnswerSet":
        """The same answers, counted by TOKENS or by normalised TEXT."""
        return replace(self, compare=compare)

    @cached_property
    def distinct(self) -> list[Group]:
        """Most frequent first; the likelier first among equals, so that the order of the rows does not matter."""
        rows_of: dict[Hashable, list[int]] = {}
        for row, answer in enumerate(self.answers):
            rows_of.setdefault(_identity(answer, self.compare), []).append(row)
        groups = [self._group(rows) for rows in rows_of.values()]
        return sorted(groups, key=lambda group: (-len(group.rows), -group.probability, group.text))

    @property
    def num_distinct(self) -> int:
        return len(self.distinct)

    @property
    def counts(self) -> list[int]:
        return [len(group.rows) for group in self.distinct]

    @cached_property
    def groups(self) -> list[int]:
        """For each row the place of its answer in `distinct`: the number on its dot."""
        place_of = {row: place for place, group in enumerate(self.distinct) for row in group.rows}
        return [place_of[row] for row in range(len(self.answers))]

    def table(self) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "answer": [group.text for group in self.distinct],
                "count": self.counts,
                "share": [count / len(self.answers) for count in self.counts],
                "probability": [group.probability for group in self.distinct],
                "model_probability": [group.model_probability for group in self.distinct],
                "length": [group.length for group in self.distinct],
                "stop_reason": [group.stop_reason for group in self.distinct],
            }
        )

    def _group(self, rows: list[int]) -> Group:
        spellings = Counter(self.answers[row].token_ids for row in rows)
        first_with = {self.answers[row].token_ids: self.answers[row] for row in rows}
        answer = min(first_with.values(), key=lambda a: (-spellings[a.token_ids], -a.probability, a.token_ids))
        probability = sum(spelling.probability for spelling in first_with.values())
        model_probability = sum(spelling.model_probability for spelling in first_with.values())
        length = len(answer.token_ids)
        return Group(answer.text, tuple(rows), probability, model_probability, length, answer.stop_reason)


def normalise(text: str) -> str:
    """Without case, runs of spaces and one final full stop: " The Dog." and "the  dog" are the same."""
    return " ".join(text.split()).removesuffix(".").rstrip().casefold()


@dataclass(frozen=True)
class AnswerRequest:
    """n answers under each of the settings, to one prompt."""

    prompt: str
    settings: tuple[SamplingParams, ...]
    n: int = NUM_ANSWERS
    max_new_tokens: int = ANSWER_TOKENS
    system: str = ""  # the system prompt; "": none
    history: tuple[str, ...] = ()  # questions and answers by turns, before the prompt

    @property
    def num_answers(self) -> int:
        return self.n * len(self.settings)


def sampling(loaded: LoadedModel, request: AnswerRequest) -> Generator[int, None, list[AnswerSet]]:
    """Yields how many answers are complete, and returns a set for each of the settings. Raises as `generate` does."""
    prompt_ids = loaded.prompt_ids(conversation(request.prompt, request.system, request.history))
    written = yield from write_answers(
        loaded.model,
        loaded.tokenizer,
        prompt_ids,
        request.settings,
        request.n,
        request.max_new_tokens,
        loaded.stop_ids,
    )
    return [
        AnswerSet(request.prompt, params, request.max_new_tokens, tuple(answers), len(prompt_ids))
        for params, answers in zip(request.settings, written, strict=True)
    ]


def sample_answer_sets(loaded: LoadedModel, request: AnswerRequest) -> list[AnswerSet]:
    """As `sampling`, without stopping on the way."""
    return at_once(sampling(loaded, request))


def sample_answer_set(
    loaded: LoadedModel,
    prompt: str,
    params: SamplingParams,
    n: int = NUM_ANSWERS,
    max_new_tokens: int = ANSWER_TOKENS,
) -> AnswerSet:
    return sample_answer_sets(loaded, AnswerRequest(prompt, (params,), n, max_new_tokens))[0]


def _identity(answer: Answer, compare: str) -> Hashable:
    return normalise(answer.text) if compare == TEXT else answer.token_ids
