"""Stories with a question whose answer stands early: what is forgotten can't be said any more."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from playground.models.text import LoadedModel


@dataclass(frozen=True)
class Story:
    text: str
    question: str
    word: str  # the answer, as the story says it

    @property
    def prompt(self) -> str:
        return f"{self.text} {self.question}"

    def is_right(self, answer: str) -> bool:
        """Whether the answer names what it should, and nothing went on after its first sentence."""
        return answer.strip().rstrip(".").split()[-1:] == [self.word] and answer.count(".") <= 1


@cache
def stories() -> list[Story]:
    found = tomllib.loads(Path(__file__).with_name("stories.toml").read_text(encoding="utf-8"))
    return [Story(**entry) for entry in found["story"]]


def places_of(loaded: LoadedModel, prompt_ids: list[int], word: str) -> list[int]:
    """Positions of the prompt whose tokens spell the word, wherever it stands."""
    found: set[int] = set()
    for spelled in (f" {word}", word):
        ids = loaded.tokenizer.encode_plain(spelled)
        for start in range(len(prompt_ids) - len(ids) + 1):
            if prompt_ids[start : start + len(ids)] == ids:
                found |= set(range(start, start + len(ids)))
    return sorted(found)
