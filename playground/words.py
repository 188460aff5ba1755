"""What a person reads: the texts of assets/words/<language>/, said with facts filled in.

A text is a subset of ICU's MessageFormat, the same that page/js/words.js reads:
    {name}                                       a text as it is, a number as 1,234
    {share, percent}                             a number spelled by a function of numbers.py; {nats, .2}: two digits
    {n, plural, =0 {none} one {# token} other {# tokens}}
A single apostrophe is an apostrophe, unless a brace or # follows it: '{' is a brace.
"""

import math
import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from playground import numbers
from playground.assets import ASSETS

FOLDER = ASSETS / "words"
MOST_LETTERS_SAID = 300  # of an error's sentence: it may quote what was sent
STYLES: dict[str, Callable[[float], str]] = {
    "bytes": numbers.bytes_,
    "milliseconds": numbers.milliseconds,
    "percent": numbers.percent,
    "plain": numbers.plain,
    "ratio": numbers.ratio,
    "seconds": numbers.seconds,
    "small": numbers.small,
}
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*", re.ASCII)
_STYLE = re.compile(r"\s*([a-z]+|\.[0-9])\s*\}")
_CASE = re.compile(r"\s*(=[0-9]+|[a-z]+)\s*\{")


def say(key: str | dict[str, Any], /, **facts: Any) -> str:
    """The text of a key with its facts filled in; or of what `told` made.

    A fact is a text, a number, or again what `told` made. Raises KeyError naming a key that is not in the catalogue or
    a fact that the text asks for, TypeError naming a fact that is nothing that can be said.
    """
    if isinstance(key, dict):
        return say(key["key"], **key["facts"])
    return _said(key, _message(key), facts, None)


def told(key: str, /, **facts: Any) -> dict[str, Any]:
    """For a value that goes to the browser, which says it: words.say(value) there."""
    if key not in catalogue():
        raise KeyError(f"no text is called {key!r}")
    return {"key": key, "facts": facts}


def sentence(text: str) -> str:
    """With a capital and a full stop, and not longer than one reads. Text, not HTML."""
    text = text.strip().encode("utf-8", "backslashreplace").decode()
    if len(text) > MOST_LETTERS_SAID:
        text = f"{text[: MOST_LETTERS_SAID - 1]}…"
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


@cache
def catalogue(language: str = "en") -> dict[str, str]:
    """All texts of a language by their keys, "<file>.<table>.<name>"."""
    texts: dict[str, str] = {}
    for path in sorted((FOLDER / language).glob("*.toml")):
        texts.update(_flattened(path.stem, tomllib.loads(path.read_text(encoding="utf-8")), path))
    return texts


def _flattened(prefix: str, table: dict[str, Any], path: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    for name, entry in table.items():
        key = f"{prefix}.{name}"
        if isinstance(entry, dict):
            texts.update(_flattened(key, entry, path))
        elif isinstance(entry, str):
            texts[key] = entry.strip("\n")
        else:
            raise ValueError(f"{path.name}: {key} must be a text, got {entry!r}")
    return texts


# ---- a text, read into its parts


class Slot(NamedTuple):
    """Where a fact goes. `cases`: the parts to say, by what the fact is: "=0", or a plural category."""

    fact: str
    style: str | None = None
    cases: dict[str, list] | None = None


NUMBER_SIGN = Slot("#")  # in a plural: its number


@cache
def _message(key: str) -> list[str | Slot]:
    texts = catalogue()
    if key not in texts:
        raise KeyError(f"no text is called {key!r}")
    try:
        return parse(texts[key])
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def parse(text: str) -> list[str | Slot]:
    """The parts of a text. Raises ValueError that names what can't be read."""
    parts, end = _parts(text, 0, in_plural=False)
    if end < len(text):
        raise ValueError(f"a brace is closed that was not opened: {text[end:][:30]!r}")
    return parts


def facts_of(parts: list[str | Slot]) -> set[str]:
    """The names of all facts that a text may ask for."""
    names = set()
    for part in parts:
        if isinstance(part, Slot) and part is not NUMBER_SIGN:
            names |= {part.fact}.union(*map(facts_of, (part.cases or {}).values()))
    return names


def _parts(text: str, at: int, in_plural: bool) -> tuple[list[str | Slot], int]:
    """From `at` up to the brace that closes this stretch, or the end."""
    parts: list[str | Slot] = []
    letters = ""
    while at < len(text) and text[at] != "}":
        if text[at] == "'":
            quoted, at = _apostrophe(text, at, in_plural)
            letters += quoted
        elif text[at] == "{" or (text[at] == "#" and in_plural):
            slot, at = _slot(text, at + 1, in_plural) if text[at] == "{" else (NUMBER_SIGN, at + 1)
            parts += [letters, slot] if letters else [slot]
            letters = ""
        else:
            letters += text[at]
            at += 1
    return ([*parts, letters] if letters else parts), at


def _apostrophe(text: str, at: int, in_plural: bool) -> tuple[str, int]:
    """What an apostrophe means here, and where to go on."""
    following = text[at + 1 : at + 2]
    if following == "'":
        return "'", at + 2
    if not following or following not in ("{}#" if in_plural else "{}"):
        return "'", at + 1
    end = text.find("'", at + 1)
    return (text[at + 1 :], len(text)) if end < 0 else (text[at + 1 : end], end + 1)


def _slot(text: str, at: int, in_plural: bool) -> tuple[Slot, int]:
    """What stands after an opening brace, and the place after the closing one."""
    name = _NAME.match(text, at)
    if not name:
        raise ValueError(f"a name should follow the brace: {text[at:][:30]!r}")
    at = name.end()
    if text[at : at + 1] == "}":
        return Slot(name[1]), at + 1
    if text[at : at + 1] != ",":
        raise ValueError(f"a comma or a closing brace should follow {name[1]!r}: {text[at:][:30]!r}")
    plural = re.compile(r"\s*plural\s*,").match(text, at + 1)
    if plural:
        cases, at = _cases(text, plural.end())
        return Slot(name[1], None, cases), at
    style = _STYLE.match(text, at + 1)
    if not style or not (style[1] in STYLES or style[1].startswith(".")):
        raise ValueError(f"{name[1]!r} is to be spelled in a way that is not known: {text[at + 1 :][:30]!r}")
    return Slot(name[1], style[1]), style.end()


def _cases(text: str, at: int) -> tuple[dict[str, list], int]:
    cases = {}
    while case := _CASE.match(text, at):
        cases[case[1]], at = _parts(text, case.end(), in_plural=True)
        if at == len(text):
            raise ValueError(f"the braces of the case {case[1]!r} are not closed")
        at += 1
    end = re.compile(r"\s*\}").match(text, at)
    if not end or "other" not in cases:
        raise ValueError(
            f"a plural needs cases like 'one {{...}}', the case 'other', and a closing brace: {text[at:]!r}"
        )
    return cases, end.end()


# ---- a text, said


def _said(key: str, parts: list[str | Slot], facts: dict[str, Any], number: float | None) -> str:
    return "".join(part if isinstance(part, str) else _filled(key, part, facts, number) for part in parts)


def _filled(key: str, slot: Slot, facts: dict[str, Any], number: float | None) -> str:
    if slot is NUMBER_SIGN:
        return numbers.count(number or 0)
    if slot.fact not in facts:
        raise KeyError(f"{key} asks for {slot.fact!r}")
    fact = facts[slot.fact]
    if isinstance(fact, str | dict) and slot.style is None and slot.cases is None:
        return fact if isinstance(fact, str) else say(fact)
    if isinstance(fact, bool) or not hasattr(fact, "__float__"):
        raise TypeError(f"{key}: {slot.fact!r} can't be said, got {fact!r}")
    if slot.cases is not None:
        return _said(key, _case(slot.cases, fact), facts, fact)
    if slot.style is None:
        return numbers.count(fact)
    return numbers.decimals(fact, int(slot.style[1:])) if slot.style[0] == "." else STYLES[slot.style](fact)


def _case(cases: dict[str, list], number: float) -> list[str | Slot]:
    """Of a plural: the case for just this number, else that of its category."""
    if not math.isfinite(number):
        return cases["other"]
    number = int(number) if number == int(number) else float(number)  # 1.0 is said as 1
    return cases.get(f"={number}", cases.get(_plural_rule()(number), cases["other"]))


@cache
def _plural_rule(language: str = "en") -> Callable[[float], str]:
    from babel import Locale  # only a plural needs it, and it takes long to import

    return Locale.parse(language).plural_form
