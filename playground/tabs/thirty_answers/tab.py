"""Thirty answers: how many are distinct, how that follows a slider, where they part, and what the batch computes."""

import gradio as gr

from playground.page.bar import MODEL_LINE, Page, prompt_ids_of
from playground.page.controls import ALL_OFF, readable_errors
from playground.page.lesson import read_lesson
from playground.page.lesson_card import lesson_card
from playground.page.panel import panel
from playground.tabs.thirty_answers.among_others import greedy_among_others
from playground.tabs.thirty_answers.values import MANY, agreement_values, among_rows, answer_values, curve_values

CHAT = "minimind-chat"
OPEN, FACT = "What should I do today?", "What is the capital of France?"
AMONG_HEADERS = ["rows in the batch", "largest change of a logit", "closest two best", "same text"]


def answers_tab(page: Page) -> None:
    lessons = read_lesson("thirty_answers")
    with gr.Tab("Thirty answers", id="answers"):
        with gr.Row(elem_classes="answers-board"):
            with gr.Column(elem_classes="card answers-set"):
                answers = panel("thirty_answers/answers", events=["wanted"], elem_id="answers")
            with gr.Column(elem_classes="card answers-curve-card"):
                gr.Markdown("## Distinct answers against a slider", elem_classes="card-title")
                with gr.Row(elem_classes="answers-curve-bar"):
                    knob = gr.Radio(
                        [("temperature", "temperature"), ("top-p", "top_p"), ("top-k", "top_k")],
                        value="temperature",
                        label="Along",
                        elem_id="answers-knob",
                        min_width=380,
                        scale=0,
                    )
                    second = gr.Textbox(
                        FACT, label="Second prompt, to compare", elem_id="answers-second", max_lines=1, min_width=220
                    )
                    draw = gr.Button("Draw the curve", elem_id="answers-draw", min_width=160, scale=0)
                    stop_curve = gr.Button("Stop", elem_id="answers-stop-curve", min_width=80, scale=0)
                curve = panel("thirty_answers/curve", elem_id="answers-curve")
        with gr.Row(elem_classes="answers-lessons"):
            buttons = {key: lesson_card(key, lessons[key]) for key in ("Q1", "Q2", "Q13")}
        with gr.Column(elem_classes="card"):
            gr.Markdown(f"## {lessons['tree'].title}\n{lessons['tree'].text}", elem_classes="card-title")
            tree = panel("thirty_answers/tree", elem_id="answers-tree")
        with gr.Row(elem_classes="answers-board"):
            with gr.Column(elem_classes="card"):
                gr.Markdown(f"## {lessons['batch'].title}\n{lessons['batch'].text}", elem_classes="card-title")
                batch = panel("thirty_answers/batch", elem_id="answers-batch")
            with gr.Column(elem_classes="card"):
                gr.Markdown(f"## {lessons['agreement'].title}\n{lessons['agreement'].text}", elem_classes="card-title")
                with gr.Row():
                    many = gr.Button(f"Draw {MANY:,} answers", elem_id="answers-many", min_width=200, scale=0)
                    stop = gr.Button("Stop", elem_id="answers-stop", min_width=80, scale=0)
                agreement = panel("thirty_answers/agreement", elem_id="answers-agreement")
        with gr.Column(elem_classes="card", visible=False, elem_id="answers-among-card") as among_card:
            gr.Markdown(f"## {lessons['among'].title}\n{lessons['among'].text}", elem_classes="card-title")
            among = gr.Dataframe(headers=AMONG_HEADERS, datatype="str", interactive=False, wrap=True, elem_id="among")

    def on_wanted(model_name, prompt, controls):
        return answer_values(page.models[model_name], prompt, controls)

    def on_draw(model_name, prompt, controls, knob, second):
        yield from curve_values(page.models[model_name], [prompt, second], controls, knob)

    def on_many(model_name, prompt, controls):
        yield from agreement_values(page.models[model_name], prompt, controls)

    def on_among(model_name, prompt):
        loaded = page.models[model_name]
        prompt_ids_of(loaded, prompt)
        with readable_errors():
            return among_rows(greedy_among_others(loaded, prompt)), gr.Column(visible=True)

    def on_preset(model_name, controls):
        model_name = CHAT if CHAT in page.models else model_name
        return model_name, OPEN, (controls or {}) | ALL_OFF, FACT, "temperature"

    request = [page.model_name, page.prompt, page.controls]
    three = [answers, tree, batch]
    curve_inputs = [*request, knob, second]
    answers.wanted(on_wanted, request, three, trigger_mode="always_last", **MODEL_LINE)
    asked = [draw.click, second.submit, knob.input]
    curving = [gr.on(asked, on_draw, curve_inputs, curve, trigger_mode="always_last", **MODEL_LINE)]
    drawing = [many.click(on_many, request, agreement, **MODEL_LINE)]
    preset = ([page.model_name, page.controls], [page.model_name, page.prompt, page.controls, second, knob])
    quiet = {"queue": False, "show_progress": "hidden"}
    for key in ("Q1", "Q13"):
        ready = buttons[key].click(on_preset, *preset, **quiet)
        ready.success(None, None, None, js=_scroll_to("answers"))  # a low window shows the words or the pictures
        drawn = ready.success(on_wanted, request, three, **MODEL_LINE)
        drawn = drawn.success(on_draw, curve_inputs, curve, **MODEL_LINE)
        curving.append(drawn)
        if key == "Q13":
            drawing.append(drawn.success(on_many, request, agreement, **MODEL_LINE))
    alone = buttons["Q2"].click(on_preset, *preset, **quiet)
    alone = alone.success(on_among, request[:2], [among, among_card], **MODEL_LINE)
    alone.success(None, None, None, js=_scroll_to("answers-among-card"))
    for button, picture, events in ((stop, agreement, drawing), (stop_curve, curve, curving)):
        # What a cancelled drawing still had under way may arrive after a change made in the same event.
        button.click(None, cancels=events, queue=False).then(stopped, picture, picture, **quiet)


def stopped(shown: dict | None) -> dict:
    return {"running": "Stopped."} if "running" in (shown or {}) else gr.skip()


def _scroll_to(elem_id: str) -> str:
    return f"() => document.getElementById('{elem_id}')?.scrollIntoView({{ block: 'nearest', behavior: 'smooth' }})"
