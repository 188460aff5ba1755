"""A question that people ask, beside the button that settles it."""

import gradio as gr

from playground.page.lesson import Section

# For an event of a lesson's button: shows the top of the tab's part, where the answer appears.
TO_THE_TOP = (
    "(...given) => { document.querySelector('#race-parts').scrollIntoView({ behavior: 'smooth' }); return given; }"
)


def lesson_card(key: str, section: Section) -> gr.Button | None:
    """Title and text of a lesson; a line `> words` of its text becomes a button, returned for the tab to wire."""
    lines = section.text.splitlines()
    words = "\n".join(line for line in lines if not line.startswith(">")).strip()
    button = next((line[1:].strip() for line in lines if line.startswith(">")), None)
    with gr.Column(elem_classes="card lesson", min_width=300):
        gr.Markdown(f"### {section.title}\n\n{words}")
        return gr.Button(button, elem_id=f"lesson-{key}", elem_classes="lesson-button") if button else None
