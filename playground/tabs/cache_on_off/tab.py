"""Cache on and off: one answer written twice, the work beside it, and the usual causes when it is not the same."""

from itertools import takewhile

import gradio as gr

from playground.page.bar import MODEL_LINE, Page, StopFlags, prompt_ids_of
from playground.page.controls import new_tokens, readable_errors, sampling_params
from playground.page.lesson import Section, read_lesson
from playground.page.lesson_card import TO_THE_TOP, lesson_card
from playground.page.panel import figure_json, panel, plot_panel
from playground.tabs.cache_on_off.clinic_part import clinic_part
from playground.tabs.cache_on_off.figures import cumulative_figure, step_times_figure
from playground.tabs.cache_on_off.race import race
from playground.tabs.cache_on_off.race_values import race_values
from playground.tabs.cache_on_off.sweep import text_of_length
from playground.tabs.cache_on_off.sweep_part import first_token_part, sweep_part

COURSE_PROMPT, COURSE_NEW = 183, 64
EMPTY: dict = {}  # a panel without a value; None would leave what it shows


def race_tab(page: Page) -> None:
    lessons = read_lesson("cache_on_off")
    with gr.Tab("Cache on / off", id="race"), gr.Tabs(elem_id="race-parts"):
        with gr.Tab("Race", id="race-run"):
            _race_part(page, lessons)
        with gr.Tab("First token", id="race-first"):
            first_token_part(page, lessons)
        with gr.Tab("Short and long", id="race-sweep"):
            sweep_part(page, lessons)
        with gr.Tab("Clinic", id="race-clinic"):
            clinic_part(page, lessons)


def _race_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Row(elem_classes="race-buttons"):
        start = gr.Button("Start both", variant="primary", elem_id="race-start", scale=0, min_width=180)
        stop = gr.Button("Stop", elem_id="race-stop", scale=0, min_width=100)
        course = gr.Button("183 + 64: the course's numbers", elem_id="race-course", scale=0, min_width=300)
        past_stop = gr.Checkbox(
            False, label="Exactly that many tokens, past the end token", elem_id="race-past", min_width=420, scale=0
        )
    with gr.Row(elem_classes="race-board"):
        with gr.Column(elem_classes="card race-area"):
            racers = panel("cache_on_off/race", elem_id="race-panel")
        with gr.Column(elem_classes="card work-area"):
            gr.Markdown("## The work, cell by cell", elem_classes="card-title")
            panel("cache_on_off/work_picture")
        with gr.Column(elem_classes="card race-outcome"):
            panel("cache_on_off/race_result", elem_id="race-result")
        with gr.Column(elem_classes="card race-curves"):
            per_step = plot_panel(elem_id="race-steps")
            in_sum = plot_panel(elem_id="race-sum")
    with gr.Row(elem_classes="lessons"):
        buttons = {key: lesson_card(key, lessons[key]) for key in ("K5", "K13", "K2")}

    stops = StopFlags()

    def on_start(model_name, prompt, controls, past_stop, request: gr.Request):
        loaded, params, count = page.models[model_name], sampling_params(controls), new_tokens(controls)
        prompt_ids = prompt_ids_of(loaded, prompt)
        ticks, flag = race(loaded, prompt_ids, params, count, past_stop=past_stop), stops.start(request.session_hash)
        value = None
        with readable_errors():
            for value in race_values(loaded, prompt_ids, count, takewhile(lambda _: not flag.is_set(), ticks)):
                yield value, gr.skip(), gr.skip()
        if flag.is_set():
            yield stopped(value), gr.skip(), gr.skip()
            return
        result = value["result"]
        on, off = result["seconds"]["on"], result["seconds"]["off"]
        yield (
            value | {"phase": "done", "status": None},
            figure_json(step_times_figure(on, off)),
            figure_json(cumulative_figure(on, off, result["pays_from"])),
        )

    def on_stop(request: gr.Request):
        stops.stop(request.session_hash)

    def on_course(model_name, controls):
        return course_prompt(page.models[model_name]), controls | {"max_new_tokens": COURSE_NEW}, True

    def on_one_token(controls):
        return controls | {"max_new_tokens": 1}

    inputs = [page.model_name, page.prompt, page.controls, past_stop]
    outputs = [racers, per_step, in_sum]
    waiting = start.click(None, None, racers, js="() => ({ phase: 'waiting' })")
    runs = [waiting.then(on_start, inputs, outputs, **MODEL_LINE)]
    for button in (course, buttons["K5"], buttons["K2"]):
        ready = button.click(
            on_course,
            [page.model_name, page.controls],
            [page.prompt, page.controls, past_stop],
            show_progress="hidden",
            js=TO_THE_TOP,
        )
        runs.append(ready.success(on_start, inputs, outputs, **MODEL_LINE))
    one = buttons["K13"].click(on_one_token, page.controls, page.controls, show_progress="hidden", js=TO_THE_TOP)
    runs.append(one.success(on_start, inputs, outputs, **MODEL_LINE))
    # What a cancelled run still had under way may arrive after a change made in the same event, so this comes after it.
    halted = stop.click(on_stop, cancels=runs, queue=False)
    halted.then(stopped, racers, racers, queue=False, show_progress="hidden")
    for run in runs:
        run.failure(stopped, racers, racers, queue=False, show_progress="hidden")


def stopped(value: dict | None) -> dict:
    """What the panel shows of a run that was stopped: all that there is, and that it was not the whole."""
    if not value or value.get("phase") not in ("running", "waiting"):
        return gr.skip()
    if "sides" not in value:
        return EMPTY
    return value | {"phase": "stopped", "status": "Stopped by hand: these are the tokens written so far."}


def course_prompt(loaded) -> str:
    """The prompt of the course's count: exactly 183 tokens, template included."""
    try:
        return text_of_length(loaded, COURSE_PROMPT)
    except ValueError as error:
        raise gr.Error(f"{error}.", print_exception=False) from None
