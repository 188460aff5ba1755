"""Lectures: the files of assets/lectures, which a teacher edits. A step is a place on the page, with words to say."""

import re
import tomllib
from pathlib import Path
from typing import Any

from playground.assets import ASSETS
from playground.words import say

FOLDER = ASSETS / "lectures"
NAME = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
ENTRIES = ("title", "say", "at")  # of a step
STEP = re.compile(r"\s*\[\[\s*step\s*\]\]")


class LectureError(ValueError):
    """What is wrong with a file, in one sentence that names the line."""


def read_lecture(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """Title and steps, as page/js/lecture.js takes them: a step has title, say, at and line. Raises LectureError."""
    path = folder / f"{name}.toml"
    if not NAME.fullmatch(name) or not path.is_file():
        raise LectureError(say("present.problem.no_file", name=name))
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        lecture = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:  # it names the line
        raise LectureError(say("present.problem.syntax", file=path.name, reason=str(error))) from None
    lines = text.splitlines()
    for entry in lecture.keys() - {"title", "start", "step"}:
        raise LectureError(
            say("present.problem.unknown_above", file=path.name, line=_line(lines, 0, entry), entry=entry)
        )
    if not isinstance(lecture.get("title"), str):
        raise LectureError(say("present.problem.no_title", file=path.name))
    start, steps = lecture.get("start", ""), lecture.get("step")
    if not isinstance(start, str):
        raise LectureError(say("present.problem.no_text", file=path.name, line=_line(lines, 0, "start"), entry="start"))
    if not isinstance(steps, list) or not steps:
        raise LectureError(say("present.problem.no_steps", file=path.name))
    begins = [place for place, line in enumerate(lines) if STEP.match(line)]
    checked = [_checked(path.name, lines, begin, step) for begin, step in zip(begins, steps, strict=False)]
    # Of a name that an address has twice the first counts: what the step says goes before what all steps share.
    return {
        "title": lecture["title"],
        "steps": [step | {"at": "&".join(filter(None, [step["at"], start]))} for step in checked],
    }


def _checked(file: str, lines: list[str], begin: int, step: dict[str, Any]) -> dict[str, Any]:
    """`begin`: the place of the line with which the step begins."""
    for entry in ENTRIES:
        if entry not in step:
            raise LectureError(say("present.problem.missing", file=file, line=begin + 1, entry=entry))
    for entry, value in step.items():
        facts = {"file": file, "line": _line(lines, begin, entry), "entry": entry}
        if entry not in ENTRIES:
            raise LectureError(say("present.problem.unknown", **facts))
        if not isinstance(value, str):
            raise LectureError(say("present.problem.no_text", **facts))
    texts = {entry: " ".join(step[entry].split()) for entry in ("title", "say")}
    return texts | {"at": step["at"].split("#")[-1], "line": _line(lines, begin, "at")}


def _line(lines: list[str], begin: int, entry: str) -> int:
    """The number, from 1, of the line that sets an entry; where no line does, of the first line of the step."""
    pattern = re.compile(rf"""\s*\[*\s*["']?{re.escape(entry)}["']?\s*[]=.]""")
    return next((place + 1 for place in range(begin, len(lines)) if pattern.match(lines[place])), begin + 1)
