"""What the browser asks to look into: checked, it becomes a `Text`."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Annotated, Any

from pydantic import BaseModel, Field

from playground.models.text import LoadedModel
from playground.page.requests import RequestError, checked, own_model_of
from playground.words import say

TokenIds = Annotated[list[int], Field(min_length=1)]


class Question(BaseModel):
    """An answer, and where the person looks in it. None: wherever there is most to see."""

    model: str
    prompt_ids: TokenIds
    token_ids: TokenIds  # of the answer
    layer: int | None = None
    position: int | None = None
    num_tokens: int | None = None


@dataclass(frozen=True)
class Text:
    """A recorded answer, and where the person looks in it."""

    loaded: LoadedModel
    prompt_ids: list[int]
    answer_ids: list[int]
    layer: int
    position: int  # of the token to change
    num_tokens: int | None = None  # to measure a cache of; None: those that the answer's cache holds

    @property
    def stored_ids(self) -> list[int]:
        """What the cache holds at the end: the last token was chosen and never fed."""
        return self.prompt_ids + self.answer_ids[:-1]

    @property
    def measured_ids(self) -> list[int]:
        """`num_tokens` of the stored ones, from the first on again where the text is shorter."""
        count = self.num_tokens or len(self.stored_ids)
        return list(islice(cycle(self.stored_ids), count))

    @property
    def labels(self) -> list[str]:
        return [self.loaded.tokenizer.label(token_id) for token_id in self.stored_ids]


def text_of(models: Mapping[str, LoadedModel], asked: Any) -> Text:
    """Raises RequestError. A layer, a position or a number of tokens out of range gives way to the nearest one."""
    question = checked(Question, asked)
    loaded = own_model_of(models, question.model)
    config = loaded.model.config
    num_stored = len(question.prompt_ids) + len(question.token_ids) - 1  # an answer may end with a full context
    if num_stored > config.max_positions:
        raise RequestError(say("inside_the_cache.problem.room", tokens=num_stored, room=config.max_positions))
    if not all(0 <= token_id < config.vocab_size for token_id in [*question.prompt_ids, *question.token_ids]):
        raise RequestError(say("inside_the_cache.problem.token_ids", last=config.vocab_size - 1))
    layer = 1 if question.layer is None else question.layer
    position = num_stored // 2 if question.position is None else question.position
    return Text(
        loaded,
        question.prompt_ids,
        question.token_ids,
        min(max(layer, 0), config.num_layers - 1),
        min(max(position, 1), max(1, num_stored - 1)),
        None if question.num_tokens is None else min(max(question.num_tokens, 1), config.max_positions),
    )
