"""The clinic: plant a fault, look at what it does, or find out which one somebody else has hidden."""

import secrets
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

import gradio as gr
import torch

from playground.engine.params import SamplingParams
from playground.engine.work import ROUNDING
from playground.models.text import LoadedModel
from playground.page.bar import MODEL_LINE, Page, StopFlags, prompt_ids_of
from playground.page.controls import readable_errors, sampling_params
from playground.page.lesson import Section
from playground.page.lesson_card import TO_THE_TOP, lesson_card
from playground.page.panel import figure_json, panel, plot_panel
from playground.tabs.cache_on_off.clinic import FAULTS, examine, hidden_fault, in_three_formats, stale_prompt
from playground.tabs.cache_on_off.figures import GapLine, gaps_figure
from playground.tabs.cache_on_off.race import RaceResult, race_result
from playground.tabs.cache_on_off.race_values import power_text
from playground.tabs.cache_on_off.sweep import STORY

NUM_TOKENS = 24
KEPT_TESTS = 8
LAST_PROMPTS = ("What is the capital of Italy?", STORY)  # what the stale cache has seen: one that is another text
FLOAT32_ROUNDING = ROUNDING[torch.float32]  # the clinic's measure, whatever the model is loaded in
TESTS = {
    "greedy": "1 · Greedy on both sides",
    "sampled": "2 · Sampled, as the sliders say",
    "float32": "Greedy, in float32",
}
WRITING = "both sides are writing …"


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
                stop = gr.Button("Stop", elem_id="clinic-stop", scale=0, min_width=100)
            status = gr.Markdown("", elem_id="clinic-status", elem_classes="race-status")
            evidence = panel("cache_on_off/clinic", elem_id="clinic-panel")
    with gr.Row(elem_classes="lessons"):
        lesson = lesson_card("K1", lessons["K1"])
    with gr.Column(elem_classes="card"):
        gr.Markdown("## 16 bits, honestly", elem_classes="card-title")
        with gr.Row(elem_classes="race-buttons"):
            compare = gr.Button("Greedy in three number formats", elem_id="clinic-formats", scale=0, min_width=330)
            stop_formats = gr.Button("Stop", elem_id="clinic-formats-stop", scale=0, min_width=100)
            words = gr.Markdown(lessons["bits"].text, elem_id="clinic-bits")
        gaps = plot_panel(elem_id="clinic-gaps")

    stops, formats_stops = StopFlags(), StopFlags()

    def on_test(test: str, session: str, model_name, prompt, controls, fault, hide, case, shown):
        yield gr.skip(), WRITING
        flag = stops.start(session)
        loaded, params = page.models[model_name], sampling_params(controls)
        prompt_ids = prompt_ids_of(loaded, prompt)
        if hide and len(prompt_ids) < 2:  # some faults refuse it, which would tell them
            raise gr.Error("To hide a fault, the prompt must have at least two tokens.", print_exception=False)
        name = hidden_fault(int(case or 0)) if hide else fault
        if test == "sampled" and params.temperature == 0:
            params = replace(params, temperature=1.0)
        last_prompt = stale_prompt(prompt_ids, [loaded.prompt_ids(text) for text in LAST_PROMPTS])
        with readable_errors():
            ticks = examine(
                loaded,
                prompt_ids,
                params,
                name,
                NUM_TOKENS,
                last_prompt,
                greedy=test != "sampled",
                in_float32=test == "float32",
            )
            result = race_result(takewhile(lambda _: not flag.is_set(), ticks))
        if result is None:
            return
        row = evidence_row(loaded, test, params, result)
        rows = [*(shown or {}).get("tests", []), row][-KEPT_TESTS:]
        planted = None if hide else f"{FAULTS[name].planted} {FAULTS[name].traces}"
        yield {"tests": rows, "last": strips(loaded, result), "planted": planted}, ""

    def on_formats(model_name, prompt, request: gr.Request):
        flag = formats_stops.start(request.session_hash)
        loaded = page.models[model_name]
        prompt_ids, lines, parts = prompt_ids_of(loaded, prompt), [], []
        with readable_errors():
            for dtype, ticks in in_three_formats(loaded, prompt_ids):
                yield gr.skip(), "\n".join([*parts, f"- **{dtype}**: {WRITING}"])
                result = race_result(takewhile(lambda _: not flag.is_set(), ticks))
                if result is None:
                    return
                lines.append(GapLine(dtype, result.gaps, result.margins, result.first_difference))
                parts.append(format_words(dtype, result))
                yield figure_json(gaps_figure(lines)), "\n".join(parts)

    def on_stop(request: gr.Request):
        stops.stop(request.session_hash)

    def on_stop_formats(request: gr.Request):
        formats_stops.stop(request.session_hash)

    def on_fault():
        return {}  # evidence of one fault says nothing of another; None would leave it

    def on_hide(hide):
        return gr.update(visible=not hide), gr.update(visible=hide), {}, None, ""

    def on_guess(guess, case):
        return diagnosis(guess, hidden_fault(int(case or 0))) if guess else ""

    def on_another():
        return secrets.randbelow(10_000), {}, None, ""

    inputs = [page.model_name, page.prompt, page.controls, fault, hide, case, evidence]
    outputs, quiet = [evidence, status], {"show_progress": "hidden", "queue": False}
    tests = [button.click(_bound(on_test, test), inputs, outputs, **MODEL_LINE) for test, button in buttons.items()]
    tests.append(lesson.click(_bound(on_test, "greedy"), inputs, outputs, js=TO_THE_TOP, **MODEL_LINE))
    halted = stop.click(on_stop, cancels=tests, queue=False)
    halted.then(lambda status: "Stopped. The tests before stay." if status else "", status, status, **quiet)
    for event in tests:
        event.failure(lambda: "", None, status, **quiet)
    formats = compare.click(on_formats, [page.model_name, page.prompt], [gaps, words], **MODEL_LINE)
    halted = stop_formats.click(on_stop_formats, cancels=[formats], queue=False)
    halted.then(stopped_formats, words, words, **quiet)
    formats.failure(lambda: lessons["bits"].text, None, words, **quiet)
    fault.change(on_fault, None, evidence, **quiet)
    hide.change(on_hide, hide, [fault, riddle, evidence, guess, answer], **quiet)
    case.change(lambda: ({}, None, ""), None, [evidence, guess, answer], **quiet)
    another.click(on_another, None, [case, evidence, guess, answer], **quiet)
    guess.input(on_guess, [guess, case], answer, **quiet)


def _bound(on_test, test: str):
    """A generator function with as many inputs as the button has, as Gradio wants to see it."""

    def on_event(model_name, prompt, controls, fault, hide, case, shown, request: gr.Request) -> Iterator[tuple]:
        yield from on_test(test, request.session_hash, model_name, prompt, controls, fault, hide, case, shown)

    return on_event


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
    if result.largest_gap > FLOAT32_ROUNDING:
        in_prompt = result.gaps[0] > FLOAT32_ROUNDING
        where = "from the first token on: look at the prompt's pass" if in_prompt else "but not at the first token"
        gap = f"More than float32 rounds, {where}."
        if test == "float32":
            return f"{gap} It stays in float32: the cache, the mask or the positions are wrong."
        tie = result.greedy and result.first_difference in result.near_ties
        close = " The tokens part where the two best were closer than twice the gap of that step." if tie else ""
        return f"{gap} Is it the number format? Try float32.{close}"
    if test == "sampled" and not result.equal:
        return "The logits agree, the texts do not: the cause is in the sampling. Compare settings and random numbers."
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
        "rounding": FLOAT32_ROUNDING,
    }


def diagnosis(guess: str, truth: str) -> str:
    if guess == truth:
        return f"**Right.** {FAULTS[truth].planted} {FAULTS[truth].traces}"
    return f"**Not that.** With it you would see this: {FAULTS[guess].traces} Look again, or test once more."


def stopped_formats(words: str) -> str:
    """What was said of the formats that are done; nothing new when none was under way."""
    done = [line for line in words.splitlines() if not line.endswith(WRITING)]
    return words if len(done) == len(words.splitlines()) else "\n".join([*done, "- Stopped."])


def format_words(dtype: str, result: RaceResult) -> str:
    outcome = "all tokens equal" if result.equal else f"tokens part at token {result.first_difference + 1}"
    return (
        f"- **{dtype}**: largest gap {power_text(result.largest_gap)}; {outcome}. At {len(result.near_ties)} of "
        f"{len(result.gaps)} steps the two best tokens are closer than twice the gap: rounding can turn them over."
    )
