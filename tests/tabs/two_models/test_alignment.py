"""Two answers side by side by their text: laws, and cases that can be checked by eye."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from playground.tabs.two_models.alignment import END, after_the_same_text, align, first_difference

TEXTS = st.text("ab é", max_size=12)
PIECES = st.lists(st.text("ab", max_size=3), max_size=6)


@st.composite
def two_cuts(draw) -> tuple[list[str], list[str]]:
    """One text in tokens, twice."""
    text = draw(TEXTS)
    return cut(text, draw(st.sets(st.integers(1, 11)))), cut(text, draw(st.sets(st.integers(1, 11))))


def cut(text: str, places: set[int]) -> list[str]:
    ends = [0, *sorted(place for place in places if place < len(text)), len(text)]
    return [text[start:stop] for start, stop in pairwise(ends) if start < stop]


def ends_of(pieces: list[str]) -> set[int]:
    return {len("".join(pieces[: count + 1])) for count in range(len(pieces))}


@given(PIECES, PIECES)
def test_every_token_stands_in_one_column_and_in_its_order(left, right):
    columns = align(left, right)
    assert [place for column in columns for place in range(*column.left)] == list(range(len(left)))
    assert [place for column in columns for place in range(*column.right)] == list(range(len(right)))
    assert all(column.left[0] < column.left[1] or column.right[0] < column.right[1] for column in columns)


@given(PIECES, PIECES)
def test_what_is_called_the_same_is_the_same_and_nothing_after_a_difference(left, right):
    columns = align(left, right)
    for column in columns:
        if column.same:
            assert "".join(left[slice(*column.left)]) == "".join(right[slice(*column.right)])
    place = first_difference(columns)
    same = columns if place is None else columns[:place]
    assert all(column.same for column in same)
    assert not any(column.same for column in columns[len(same) :])
    if place is not None:  # there was no further place where both texts so far end alike
        at, beside = columns[place].left[0], columns[place].right[0]
        one = {"".join(left[at:end]) for end in range(at + 1, len(left) + 1)}
        assert not one & {"".join(right[beside:end]) for end in range(beside + 1, len(right) + 1)}


@given(two_cuts())
def test_one_text_is_cut_where_both_cut_it(cuts):
    """The slow way: the letters at which a token ends in both."""
    left, right = cuts
    columns = align(left, right)
    assert all(column.same for column in columns)
    ends = {len("".join(left[: column.left[1]])) for column in columns}
    assert ends == ends_of(left) & ends_of(right)


@given(PIECES)
def test_equal_tokens_stand_one_to_one(pieces):
    columns = align(pieces, pieces)
    assert columns == [((place, place + 1), (place, place + 1), True) for place in range(len(pieces))]


def test_by_eye():
    columns = align(["The", " cat", "s", " ran", END], ["The", " ca", "ts", " sat"])
    assert [column.same for column in columns] == [True, True, False, False]
    assert columns[1][:2] == ((1, 3), (1, 3)) and columns[-1][:2] == ((4, 5), (4, 4))
    assert first_difference(columns) == 2
    assert after_the_same_text(columns, 5) == [0, 1, None, 3, None]
    assert align(["", "é"], ["é"]) == [((0, 2), (0, 1), True)]  # two halves of a character
    assert align(["a", END], ["a", END])[1].same and not align(["a", END], ["a", "b"])[1].same
