"""The clinic: plant a fault, look at what it does, or find out which one somebody else has hidden."""

import secrets
from dataclasses import replace

import gradio as gr

from playground.engine.sampling import SamplingParams
from playground.experiments.clinic import FAULTS, ROUNDING, examine, hidden_fault, precision_results
from playground.experiments.race import RaceResult
from playground.experiments.sweep import STORY
from playground.figures.race import GapLine, gaps_figure
from playground.models.loading import LoadedModel
from playground.ui.bar import MODEL_QUEUE, Page, prompt_ids_of
from playground.ui.controls import sampling_params
from playground.ui.lesson import Section
from playground.ui.lesson_card import TO_THE_TOP, lesson_card
from playground.ui.panel import figure_json, panel, plot_panel
from playground.ui.race_view import power_text

NUM_TOKENS = 24
KEPT_TESTS = 8
LAST_PROMPT = "What is the capital of Italy?"  # what the stale cache has seen
MODEL_LINE = {"concurrency_id": MODEL_QUEUE, "concurrency_limit": 1, "show_progress": "hidden"}
TESTS = {
    "greedy": "1 · Greedy on both sides",
    "sampled": "2 · Sampled, as the sliders say",
    "float32": "Greedy, in float32",
}


def clinic_part(page: Page, lessons: dict[str, Section]) -> None:
    choices = [(fault.title, name) for name, fault in FAULTS.items()]
    with gr.Row(elem_classes="clinic-board"):
        with gr.Column(elem_classes="card clinic-area", scale=2, min_width=340):
            gr.Markdown("## What is wrong?", elem_classes="card-title")
            fault = gr.Radio(choices, value="none", label="Plant a fault", elem_id="clinic-fault")
            hide = gr.Checkbox(False, label="Hidden fault: find out which", elem_id="clinic-hide")
            with gr.Column(visible=False) as riddle:
                with gr.Row():
                    case = gr.Number(1, label="Case", precision=0, minimum=0, maximum=9999, elem_id="clinic-case")
                    another = gr.Button("Another case", elem_id="clinic-another", min_width=140)
                guess = gr.Dropdown(choices, value=None, label="My diagnosis", elem_id="clinic-guess")
                answer = gr.Markdown("", elem_id="clinic-answer")
        with gr.Column(elem_classes="card", scale=5, min_width=340):
            gr.Markdown("## Look at it", elem_classes="card-title")
            with gr.Row(elem_classes="race-buttons"):
                buttons = {name: gr.Button(words, elem_id=f"clinic-{name}") for name, words in TESTS.items()}
            evidence = panel("clinic", elem_id="clinic-panel")
    with gr.Row(elem_classes="lessons"):
        lesson = lesson_card("K1", lessons["K1"])
    with gr.Column(elem_classes="card"):
        gr.Markdown("## 16 bits, honestly", elem_classes="card-title")
        with gr.Row(elem_classes="race-buttons"):
            compare = gr.Button("Greedy in three number formats", elem_id="clinic-formats", scale=0, min_width=330)
            words = gr.Markdown(lessons["bits"].text, elem_id="clinic-bits")
        gaps = plot_panel(elem_id="clinic-gaps")

    def on_test(test: str, model_name, prompt, controls, fault, hide, case, shown):
        loaded, params = page.models[model_name], sampling_params(controls)
        prompt_ids = prompt_ids_of(loaded, prompt)
        name = hidden_fault(int(case or 0)) if hide else fault
        if test == "sampled" and params.temperature == 0:
            params = replace(params, temperature=1.0)
        result = examine(
            loaded,
            prompt_ids,
            params,
            name,
            NUM_TOKENS,
            loaded.prompt_ids(LAST_PROMPT if prompt.strip() != LAST_PROMPT else STORY),
            greedy=test != "sampled",
            in_float32=test == "float32",
        )
        row = evidence_row(loaded, test, params, result)
        rows = [*(shown or {}).get("tests", []), row][-KEPT_TESTS:]
        planted = None if hide else f"{FAULTS[name].planted} {FAULTS[name].traces}"
        return {"tests": rows, "last": strips(loaded, result), "planted": planted}

    def on_formats(model_name, prompt):
        loaded = page.models[model_name]
        prompt_ids, lines, parts = prompt_ids_of(loaded, prompt), [], []
        for dtype, result in precision_results(loaded, prompt_ids):
            lines.append(GapLine(dtype, result.gaps, result.margins, result.first_difference))
            parts.append(format_words(dtype, result))
            yield figure_json(gaps_figure(lines)), "\n".join(parts)

    def on_fault():
        return {}  # evidence of one fault says nothing of another; None would leave it

    def on_hide(hide):
        return gr.update(visible=not hide), gr.update(visible=hide), {}, None, ""

    def on_guess(guess, case):
        return diagnosis(guess, hidden_fault(int(case or 0))) if guess else ""

    def on_another():
        return secrets.randbelow(10_000), {}, None, ""

    inputs = [page.model_name, page.prompt, page.controls, fault, hide, case, evidence]
    for test, button in buttons.items():
        button.click(_bound(on_test, test), inputs, evidence, **MODEL_LINE)
    lesson.click(_bound(on_test, "greedy"), inputs, evidence, js=TO_THE_TOP, **MODEL_LINE)
    compare.click(on_formats, [page.model_name, page.prompt], [gaps, words], **MODEL_LINE)
    quiet = {"show_progress": "hidden", "queue": False}
    fault.change(on_fault, None, evidence, **quiet)
    hide.change(on_hide, hide, [fault, riddle, evidence, guess, answer], **quiet)
    case.change(lambda: ({}, None, ""), None, [evidence, guess, answer], **quiet)
    another.click(on_another, None, [case, evidence, guess, answer], **quiet)
    guess.input(on_guess, [guess, case], answer, **quiet)


def _bound(on_test, test: str):
    return lambda *inputs: on_test(test, *inputs)


def evidence_row(loaded: LoadedModel, test: str, params: SamplingParams, result: RaceResult) -> dict:
    """One line of evidence, and what it says."""
    both = min(len(result.on.uniforms), len(result.off.uniforms))
    name = f"Sampled, T {params.temperature:g}, seed {params.seed}" if test == "sampled" else TESTS[test]
    return {
        "name": name,
        "equal": result.equal,
        "tokens": "all equal" if result.equal else f"part at token {result.first_difference + 1}",
        "first_gap": result.gaps[0],
        "largest_gap": result.largest_gap,
        "fed": f"{result.on.num_fed[0]} of {result.prompt_length}",
        "numbers": "the same" if result.on.uniforms[:both] == result.off.uniforms[:both] else "different",
        "says": reading(test, result),
    }


def reading(test: str, result: RaceResult) -> str:
    """What a careful person concludes from this test alone."""
    if result.largest_gap > ROUNDING:
        in_prompt = result.gaps[0] > ROUNDING
        where = "from the first token on: look at the prompt's pass" if in_prompt else "but not at the first token"
        close = (
            " Tokens part where two were closer than the gap." if result.first_difference in result.near_ties else ""
        )
        if test == "float32":
            return f"More than rounding, {where}. It stays in float32: the cache, the mask or the positions are wrong."
        return f"More than rounding, {where}. Is it the number format? Try float32.{close}"
    if test == "sampled" and not result.equal:
        return "The logits agree, the texts do not: the cause is in the drawing. Compare settings and random numbers."
    if test == "sampled":
        return "Equal, sampled too."
    return "Logits agree to rounding: the cache is innocent. If sampled texts differ, look at seed and settings."


def strips(loaded: LoadedModel, result: RaceResult) -> dict:
    """Both texts token under token, with the gap of each step, as far as both read the same text."""
    label = loaded.tokenizer.label
    return {
        "on": [label(token_id) for token_id in result.on.token_ids],
        "off": [label(token_id) for token_id in result.off.token_ids],
        "first_difference": result.first_difference,
        "gaps": result.gaps,
        "rounding": ROUNDING,
    }


def diagnosis(guess: str, truth: str) -> str:
    if guess == truth:
        return f"**Right.** {FAULTS[truth].planted} {FAULTS[truth].traces}"
    return f"**Not that.** With it you would see this: {FAULTS[guess].traces} Look again, or test once more."


def format_words(dtype: str, result: RaceResult) -> str:
    outcome = "all tokens equal" if result.equal else f"tokens part at token {result.first_difference + 1}"
    return (
        f"- **{dtype}**: largest gap {power_text(result.largest_gap)}; {outcome}. At {len(result.near_ties)} of "
        f"{len(result.gaps)} steps the two best tokens stand close enough for it to turn them over."
    )
