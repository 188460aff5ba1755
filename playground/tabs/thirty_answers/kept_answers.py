"""Answers that were sampled before. The same question has the same answers, so the model does not write them again:
a whole class opens the page with one example, and moves sliders to the same round values.
"""

import json
import weakref
from collections.abc import Mapping
from typing import Any

from playground.engine.params import SamplingParams
from playground.models.text import LoadedModel
from playground.page.line import Work
from playground.page.requests import checked, sampling_params
from playground.tabs.thirty_answers.values import AnswersQuestion, answer_values


class KeptAnswers:
    """What `answer_values` made of each question. Where there is no more room, the one not asked for longest goes.

    Nothing in it says who asked: a question is its model, its text and its settings with the seed. Who asks what
    somebody has asked before can tell so from how soon the answers come, and from the seconds that they say they took.
    """

    most_bytes = 16 * 1024**2  # some five hundred sets of thirty

    def __init__(self) -> None:
        self._kept: dict[tuple, str] = {}  # JSON: it is as large as it is long, and nobody can change it for others

    def values(self, models: Mapping[str, LoadedModel], question: Any) -> Work:
        """As `answer_values`, for work in one line: two who ask the same come one after the other."""
        asked = checked(AnswersQuestion, question)
        key = _key(models, asked) if asked.model in models else None
        if key in self._kept:
            text = self._kept.pop(key)
            value = json.loads(text)
        else:
            value = yield from answer_values(models, question)
            text = json.dumps(value)
        self._kept[key] = text
        while sum(len(question) + len(text) for (_, question, _), text in self._kept.items()) > self.most_bytes:
            self._kept.pop(next(iter(self._kept)))
        return value

    def __len__(self) -> int:
        return len(self._kept)


def _key(models: Mapping[str, LoadedModel], asked: AnswersQuestion) -> tuple[weakref.ref, str, SamplingParams]:
    """All that decides the answers. Another model under the name of one that was let go is another one."""
    model = weakref.ref(models[asked.model].model)
    return model, asked.model_dump_json(exclude={"params"}), sampling_params(asked.params)
