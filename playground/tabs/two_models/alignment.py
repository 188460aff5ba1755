"""Two answers in tokens, side by side by their text: tokens that cover the same letters stand in one column."""

from collections.abc import Sequence
from typing import NamedTuple

END = "\0"  # what a stop token covers, by whatever name its model calls it


class Column(NamedTuple):
    """Tokens of the left answer beside those of the right one, each from a first up to, not including, a last."""

    left: tuple[int, int]
    right: tuple[int, int]
    same: bool  # they cover the same text


def align(left: Sequence[str], right: Sequence[str]) -> list[Column]:
    """Columns from the texts of the tokens, "" for a token that completes no character.

    While the answers say the same, a column ends at the first place where tokens of both end. From the first column
    that says something else on, the tokens stand beside each other one by one.
    """
    columns, at, beside = [], 0, 0
    while at < len(left) and beside < len(right):
        end, other_end = at + 1, beside + 1
        text, other = left[at], right[beside]
        while text != other:
            shorter_is_left = len(text) < len(other)
            whole, part = (other, text) if shorter_is_left else (text, other)
            if not whole.startswith(part) or (end == len(left) if shorter_is_left else other_end == len(right)):
                return columns + _one_by_one(at, len(left), beside, len(right))
            if shorter_is_left:
                text += left[end]
                end += 1
            else:
                other += right[other_end]
                other_end += 1
        columns.append(Column((at, end), (beside, other_end), True))
        at, beside = end, other_end
    return columns + _one_by_one(at, len(left), beside, len(right))


def _one_by_one(at: int, end: int, beside: int, other_end: int) -> list[Column]:
    count = max(end - at, other_end - beside)
    return [
        Column(
            (min(at + place, end), min(at + place + 1, end)),
            (min(beside + place, other_end), min(beside + place + 1, other_end)),
            False,
        )
        for place in range(count)
    ]


def first_difference(columns: Sequence[Column]) -> int | None:
    """The first column that does not say the same; None: both say the same to their end."""
    return next((place for place, column in enumerate(columns) if not column.same), None)


def after_the_same_text(columns: Sequence[Column], num_left: int) -> list[int | None]:
    """For each left token the right one with the same text before it; None inside a column, or where there is none."""
    places: list[int | None] = [None] * num_left
    for left, right, same in columns:
        if left[0] < left[1] and right[0] < right[1]:
            places[left[0]] = right[0]
        if not same:
            break
    return places
