"""The lessons beside a tab: the sections [lesson.<name>] of its file in assets/words, which a teacher edits."""

from dataclasses import dataclass

from playground.words import catalogue, say


@dataclass(frozen=True)
class Section:
    title: str
    text: str
    button: str | None = None  # what its button says, if it has one


def read_lesson(room: str) -> dict[str, Section]:
    """The lessons of a tab by their names. Raises TypeError for one without a title or a text."""
    start = f"{room}.lesson."
    entries: dict[str, dict[str, str]] = {}
    for key in catalogue():
        if key.startswith(start):
            name, _, part = key.removeprefix(start).partition(".")
            entries.setdefault(name, {})[part] = say(key)
    return {name: Section(**parts) for name, parts in entries.items()}
