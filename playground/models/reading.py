"""What a model really reads: the tokens that go in, and who wrote each of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from playground.models.template import Turn, as_turns
from playground.models.text import LoadedModel, Prompt

# What a token is: the beginning of every text; markers, the names of roles, line ends and other texts of a template,
# and what opens the model's turn; what was typed.
KINDS = ("first", "marker", "role", "newline", "template", "opening", "system", "user", "assistant", "text")
_LINE_ENDS = re.compile(r"(\n+)")


@dataclass(frozen=True)
class ReadToken:
    token_id: int
    kind: str  # one of KINDS
    turn: int | None = None  # of the conversation; None: nobody typed it


def read_tokens(loaded: LoadedModel, prompt: Prompt) -> list[ReadToken]:
    """The tokens of `loaded.prompt_ids(prompt)`; raises as that does."""
    if not loaded.is_chat:
        num_first = len(loaded.first_ids)
        ids = enumerate(loaded.prompt_ids(prompt))
        return [ReadToken(each, "text", 0) if place >= num_first else ReadToken(each, "first") for place, each in ids]
    pieces = _pieces(loaded, as_turns(prompt))
    places = loaded.tokenizer.encode_places([(text, turn is not None) for text, _, turn in pieces])
    tokens = [ReadToken(token_id, *pieces[number][1:]) for token_id, number in places]
    first = loaded.template.special_tokens.get("bos_token")
    if tokens and first and pieces[places[0][1]][0] == first:
        tokens[0] = ReadToken(tokens[0].token_id, "first")
    return tokens


def _pieces(loaded: LoadedModel, turns: Sequence[Turn]) -> list[tuple[str, str, int | None]]:
    """The text in pieces: (piece, its kind, number of the turn that it was typed in)."""
    pieces: list[tuple[str, str, int | None]] = []
    opening, length, marker = _opening(loaded, turns), 0, ""
    for text, turn in loaded.template.pieces(turns):
        if turn is not None:
            pieces.append((text, turns[turn]["role"], turn))
            length, marker = length + len(text), ""
            continue
        before, opens = (text[: max(0, opening - length)], text[max(0, opening - length) :])
        for number, part in enumerate(loaded.tokenizer.split_markers(before)):
            if number % 2:
                pieces.append((part, "marker", None))
            else:
                pieces += _template_pieces(part, marker)
            marker = part if number % 2 else ""
        pieces.append((opens, "opening", None))
        length += len(text)
    return [piece for piece in pieces if piece[0]]


def _template_pieces(text: str, marker: str) -> list[tuple[str, str, None]]:
    """What stands between two markers: a word right behind one is the name of a role."""
    lines = _LINE_ENDS.split(text)
    is_role = bool(marker) and lines[0].isalpha()
    kinds = ["newline" if place % 2 else "role" if is_role and not place else "template" for place in range(len(lines))]
    return [(line, kind, None) for line, kind in zip(lines, kinds, strict=True)]


def _opening(loaded: LoadedModel, turns: Sequence[Turn]) -> int:
    """Where in the text the template begins to open the model's turn."""
    whole, without = ("".join(text for text, _ in loaded.template.pieces(turns, answer)) for answer in (True, False))
    return len(without) if whole.startswith(without) else len(whole)
