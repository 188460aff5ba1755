"""How a conversation is written for a model: by the chat template that came with it.

A template is Jinja and writes markers such as <|im_start|>, which are tokens. What a person typed is put in afterwards,
as text: a marker in it stays text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from playground.engine.arguments import shown
from playground.words import say

Turn = Mapping[str, str]  # {"role": "user", "content": "Hello"}
ROLES = ("system", "user", "assistant")
CHATML = Path(__file__).with_name("chatml.jinja").read_text()  # where a model has the markers and no template
# In a turn's place: a character that no text holds, between spaces that a template which trims takes away.
_SPACE = "\u2003"
_PLACE = re.compile(f"({_SPACE}?)\U0010ffff([0-9]+)\U0010ffff({_SPACE}?)")


class ChatTemplate:
    """`special_tokens` are those that the template may name: bos_token and the like."""

    def __init__(self, source: str = CHATML, special_tokens: Mapping[str, str] | None = None) -> None:
        """Raises ValueError for what is no Jinja."""
        # As transformers sets it up: templates are written for that.
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
        environment.filters["tojson"] = _to_json
        environment.globals |= {"raise_exception": _refuse, "strftime_now": _now}
        self.special_tokens = dict(special_tokens or {})
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise ValueError(say("models.template.no_jinja", reason=str(error))) from None

    def parts(self, turns: Sequence[Turn], answer: bool = True) -> list[tuple[str, bool]]:
        """The text in pieces: (piece, was it typed?). Otherwise as `pieces`."""
        return [(text, turn is not None) for text, turn in self.pieces(turns, answer)]

    def pieces(self, turns: Sequence[Turn], answer: bool = True) -> list[tuple[str, int | None]]:
        """The text in pieces: (piece, number of the turn whose content it is; None: of the template).

        `answer`: it ends where the model's answer begins.
        Raises ValueError for what is no conversation, or none that the template takes.
        """
        typed = [_content(turn) for turn in turns]
        places = [
            {"role": turn["role"], "content": f"{_SPACE}\U0010ffff{number}\U0010ffff{_SPACE}"}
            for number, turn in enumerate(turns)
        ]
        try:
            text = self._template.render(messages=places, add_generation_prompt=answer, **self.special_tokens)
        except Exception as error:  # a template raises what it likes
            raise ValueError(say("models.template.refuses", reason=str(error))) from None
        pieces, end = [], 0
        for place in _PLACE.finditer(text):
            number = int(place[2])
            content = typed[number] if place[1] else typed[number].lstrip()
            pieces += [(text[end : place.start()], None), (content if place[3] else content.rstrip(), number)]
            end = place.end()
        return [*pieces, (text[end:], None)]

    def after_an_answer(self) -> str:
        """What the template writes behind the model's turn: it begins with the token that ends one."""
        return self.pieces([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], False)[-1][0]


def as_turns(prompt: str | Sequence[Turn]) -> Sequence[Turn]:
    return [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt


def conversation(question: str, system: str = "", history: Sequence[str] = ()) -> str | list[Turn]:
    """A question behind a system prompt ("": none) and what was said before, questions and answers by turns. Alone it
    stays a text, which a base model takes too."""
    if not system and not history:
        return question
    first = [{"role": "system", "content": system}] if system else []
    texts = enumerate([*history, question])
    return [*first, *({"role": ROLES[1 + place % 2], "content": text} for place, text in texts)]


def last_text(prompt: str | Sequence[Turn]) -> str:
    """What was typed last. Raises ValueError where that is nothing, or `prompt` is no conversation."""
    texts = [_content(turn) for turn in as_turns(prompt)]
    if not texts or not texts[-1].strip():
        raise ValueError(say("models.prompt.empty"))
    return texts[-1]


def _content(turn: Any) -> str:
    if isinstance(turn, Mapping) and turn.get("role") in ROLES and isinstance(turn.get("content"), str):
        return turn["content"]
    raise ValueError(say("models.template.turn", roles=", ".join(ROLES), value=shown(turn)))


def _to_json(value: Any, **options: Any) -> str:
    """Jinja's own writes for HTML."""
    return json.dumps(value, ensure_ascii=False, indent=options.get("indent"))


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().strftime(form)
