"""The words beside a tab, from assets/lessons: a teacher edits the file, the page shows it."""

from dataclasses import dataclass
from pathlib import Path

from playground.assets import ASSETS

LESSONS = ASSETS / "lessons"


@dataclass(frozen=True)
class Section:
    title: str
    text: str


def read_lesson(name: str, folder: Path = LESSONS) -> dict[str, Section]:
    """The sections of a file, by the name before the colon of their heading: `## growth: How the cache grows`.

    Raises ValueError naming a heading without a name: the page would have nowhere to put its text.
    """
    sections = {}
    for part in ("\n" + (folder / f"{name}.md").read_text()).split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        key, colon, title = heading.partition(":")
        if not colon:
            raise ValueError(f"{name}.md: the heading {heading!r} must read 'name: title'")
        sections[key.strip()] = Section(title.strip(), text.strip())
    return sections
