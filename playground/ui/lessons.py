"""The words beside a tab, from a text file that a teacher can edit.

## K8. Why is the first token slow?
A few sentences of markdown.
> What the button says
"""

from dataclasses import dataclass
from pathlib import Path

import gradio as gr

LESSONS = Path(__file__).parents[2] / "assets" / "lessons"


@dataclass(frozen=True)
class Lesson:
    key: str  # the question's number: K8
    question: str
    words: str
    button: str | None  # sets up and runs what settles the question


def read_lessons(name: str, folder: Path = LESSONS) -> dict[str, Lesson]:
    """The lessons of `<name>.md` by their key, in its order. Raises ValueError for a heading without a key."""
    lessons = {}
    for block in (folder / f"{name}.md").read_text().split("\n## ")[1:]:
        heading, _, body = block.partition("\n")
        key, dot, question = heading.partition(". ")
        if not dot:
            raise ValueError(f"{name}.md: the heading {heading!r} should read 'K8. The question'")
        lines = body.strip().splitlines()
        button = next((line[1:].strip() for line in lines if line.startswith(">")), None)
        words = "\n".join(line for line in lines if not line.startswith(">")).strip()
        lessons[key] = Lesson(key, question.strip(), words, button)
    return lessons


def lesson_card(lesson: Lesson) -> gr.Button | None:
    """Question, words and button; returns the button, for the tab to wire."""
    with gr.Column(elem_classes="card lesson", min_width=300):
        gr.Markdown(f"### {lesson.question}\n\n{lesson.words}")
        return gr.Button(lesson.button, size="sm", elem_id=f"lesson-{lesson.key}") if lesson.button else None
