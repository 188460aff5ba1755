"""A conversation goes on: the next question is asked behind all that was said, on the cache of the last answer."""

from typing import Any

from pydantic import BaseModel

from playground.page.line import Work
from playground.page.recording import Recorder
from playground.page.requests import History, Text, checked


class NextTurn(BaseModel):
    """Of turns.js."""

    model: str
    prompt: Text
    history: History
    run: str | None = None  # the answer that the history ends with: its cache holds the beginning of the text


def ask_on(recorder: Recorder, question: Any, controls: dict | None, *, visitor: str = "") -> Work:
    """The run that answers the question. Where the cache of the run before it is gone, all is fed again."""
    asked = checked(NextTurn, question)
    last = recorder.runs.own(asked.run, visitor) if asked.run is not None else None
    kept = last if last is not None and last.model_name == asked.model else None
    talk = {"history": asked.history, "goes_on_from": kept}
    return (yield from recorder.record(asked.model, asked.prompt, controls, visitor=visitor, **talk))
