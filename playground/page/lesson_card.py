"""A question that people ask, beside the button that settles it."""

import gradio as gr

from playground.page.lesson import Section


def lesson_card(key: str, section: Section) -> gr.Button | None:
    """Title and text of a lesson, and its button, returned for the tab to wire."""
    with gr.Column(elem_classes="card lesson", min_width=300):
        gr.Markdown(f"## {section.title}\n\n{section.text}")
        if section.button is None:
            return None
        return gr.Button(section.button, elem_id=f"lesson-{key}", elem_classes="lesson-button")
