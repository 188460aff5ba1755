"""Where answers diverge: their common beginnings merged into a tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playground.engine.generation import STOP_TOKEN
from playground.models.answers import Answer
from playground.models.text import LoadedModel
from playground.models.tokenizer import Tokenizer
from playground.tabs.thirty_answers.answers import AnswerSet


@dataclass(frozen=True)
class Node:
    """A stretch of tokens that all its rows share, up to the next fork or the end."""

    text: str
    token_ids: tuple[int, ...]
    count: int
    rows: tuple[int, ...]
    split_probability: float  # of the first token, where the rows diverged; 1 for the root
    probability: float  # of the whole answer up to here
    stop_reason: str  # "" unless the answer ends here
    children: tuple["Node", ...]  # most rows first

    def walk(self) -> Iterator["Node"]:
        yield self
        for child in self.children:
            yield from child.walk()

    def to_json(self) -> dict:
        """For the page."""
        return {
            "text": self.text,
            "count": self.count,
            "rows": list(self.rows),
            "split": self.split_probability,
            "probability": self.probability,
            "stop": self.stop_reason,
            "children": [child.to_json() for child in self.children],
        }


def answer_tree(loaded_model: LoadedModel, sampled: AnswerSet) -> Node:
    """The root is what all answers begin with, perhaps nothing. An end is a child of its own where others go on."""
    return _node(loaded_model.tokenizer, sampled.answers, tuple(range(len(sampled.answers))), 0, 1.0, 1.0)


def _node(
    tokenizer: Tokenizer, answers: Sequence[Answer], rows: tuple[int, ...], start: int, split: float, before: float
) -> Node:
    """Rows that agree up to `start`. `before` is the probability up to there."""
    first, end = answers[rows[0]], start
    branches = _branches(answers, rows, end)
    while len(branches) == 1 and None not in branches:
        end += 1
        branches = _branches(answers, rows, end)
    token_ids, probability = first.token_ids[start:end], before
    for prob in first.token_probs[start:end]:
        probability *= prob
    text = readable(tokenizer, token_ids)
    if set(branches) == {None}:
        return Node(text, token_ids, len(rows), rows, split, _ended(first, end, probability), first.stop_reason, ())
    children = []
    for token_id, mine in branches.items():
        answer = answers[mine[0]]
        if token_id is None:
            prob = answer.token_probs[end] if len(answer.token_probs) > end else 1.0
            children.append(Node("", (), len(mine), tuple(mine), prob, probability * prob, answer.stop_reason, ()))
        else:
            children.append(_node(tokenizer, answers, tuple(mine), end, answer.token_probs[end], probability))
    children.sort(key=lambda child: (-child.count, -child.split_probability, child.token_ids))
    return Node(text, token_ids, len(rows), rows, split, probability, "", tuple(children))


def _branches(answers: Sequence[Answer], rows: Sequence[int], place: int) -> dict[int | None, list[int]]:
    """Rows by their token at this place; None for those that have ended."""
    branches: dict[int | None, list[int]] = {}
    for row in rows:
        token_ids = answers[row].token_ids
        branches.setdefault(token_ids[place] if place < len(token_ids) else None, []).append(row)
    return branches


def _ended(answer: Answer, end: int, probability: float) -> float:
    return probability * (answer.token_probs[end] if answer.stop_reason == STOP_TOKEN else 1.0)


def readable(tokenizer: Tokenizer, token_ids: Sequence[int]) -> str:
    """The text of some tokens from the middle of an answer; where they cut a character, their bytes."""
    text = tokenizer.decode(token_ids)
    return "".join(map(tokenizer.label, token_ids)) if "�" in text else text
