"""The clinic: plant a fault, look at what it does, or find out which one somebody else has hidden."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import gradio as gr
import torch

from playground.engine.params import SamplingParams
from playground.engine.work import ROUNDING
from playground.models.text import LoadedModel
from playground.page.bar import Page
from playground.page.jobs import QUIET
from playground.page.lesson import Section
from playground.page.lesson_card import TO_THE_TOP, lesson_card
from playground.page.line import StoppedError
from playground.page.panel import figure_json, panel, plot_panel
from playground.page.requests import RequestError, model_of, prompt_ids_of, sampling_params
from playground.tabs.cache_on_off.clinic import FAULTS, examine, hidden_fault, in_three_formats, stale_prompt
from playground.tabs.cache_on_off.figures import GapLine, gaps_figure
from playground.tabs.cache_on_off.race import RaceResult
from playground.tabs.cache_on_off.race_values import power_text
from playground.tabs.cache_on_off.sweep import STORY

NUM_TOKENS = 24
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
            tests = [f"#clinic-{name}" for name in TESTS]
            status = panel("job_status", {"buttons": tests}, elem_id="clinic-status")
            evidence = panel("cache_on_off/clinic", elem_id="clinic-panel")
    with gr.Row(elem_classes="lessons"):
        lesson = lesson_card("K1", lessons["K1"])
    with gr.Column(elem_classes="card"):
        gr.Markdown("## 16 bits, honestly", elem_classes="card-title")
        with gr.Row(elem_classes="race-buttons"):
            compare = gr.Button("Greedy in three number formats", elem_id="clinic-formats", scale=0, min_width=330)
            stop_formats = gr.Button("Stop", elem_id="clinic-formats-stop", scale=0, min_width=100)
            said = {"text": lessons["bits"].text, "buttons": ["#clinic-formats"]}
            words = panel("job_status", said, elem_id="clinic-bits")
        gaps = plot_panel(elem_id="clinic-gaps")

    def on_fault():
        return {}  # evidence of one fault says nothing of another; None would leave it

    def on_hide(hide):
        return gr.update(visible=not hide), gr.update(visible=hide), {}, None, ""

    def on_guess(guess, case):
        return diagnosis(guess, hidden_fault(case_number(case))) if guess else ""

    def on_another():
        return secrets.randbelow(10_000), {}, None, ""

    inputs, quiet = [*page.request, fault, hide, case], {"queue": False, **QUIET}
    for test, button in [*buttons.items(), ("greedy", lesson)]:
        work, js = partial(examined, page.models, test), TO_THE_TOP if button is lesson else None
        page.jobs.on(button.click, work, inputs, [status, evidence], name="clinic", long=True, js=js)
    page.jobs.stop(stop, "clinic")
    formats = partial(in_formats, page.models)
    page.jobs.on(compare.click, formats, page.request[:2], [words, gaps], name="formats", long=True)
    page.jobs.stop(stop_formats, "formats")
    fault.change(on_fault, None, evidence, **quiet)
    hide.change(on_hide, hide, [fault, riddle, evidence, guess, answer], **quiet)
    case.change(lambda: ({}, None, ""), None, [evidence, guess, answer], **quiet)
    another.click(on_another, None, [case, evidence, guess, answer], **quiet)
    guess.input(on_guess, [guess, case], answer, **quiet)


def examined(
    models: Mapping[str, LoadedModel],
    test: str,
    model_name: str,
    prompt: str,
    controls: dict,
    fault: str,
    hide: bool,
    case: float | None,
) -> Iterator[tuple | None]:
    """One test of the page: how it stands, and the evidence."""
    yield {"text": WRITING}, None
    loaded, params = model_of(models, model_name), sampling_params(controls)
    prompt_ids = prompt_ids_of(loaded, prompt)
    if hide and len(prompt_ids) < 2:  # some faults refuse it, which would tell them
        raise RequestError("To hide a fault, the prompt must have at least two tokens.")
    name = hidden_fault(case_number(case)) if hide else fault
    if test == "sampled" and params.temperature == 0:
        params = replace(params, temperature=1.0)
    last_prompt = stale_prompt(prompt_ids, [loaded.prompt_ids(text) for text in LAST_PROMPTS])
    greedy, in_float32 = test != "sampled", test == "float32"
    ticks = examine(loaded, prompt_ids, params, name, NUM_TOKENS, last_prompt, greedy=greedy, in_float32=in_float32)
    result = None
    try:
        for tick in ticks:
            result = tick.result or result
            yield None
    except StoppedError:
        yield {"text": "Stopped. The tests before stay."}, None
        return
    planted = None if hide else f"{FAULTS[name].planted} {FAULTS[name].traces}"
    row = evidence_row(loaded, test, params, result)
    yield {"text": ""}, {"id": secrets.token_hex(6), "test": row, "last": strips(loaded, result), "planted": planted}


def in_formats(models: Mapping[str, LoadedModel], model_name: str, prompt: str) -> Iterator[tuple | None]:
    """A line for each number format, and the gaps of all."""
    loaded = model_of(models, model_name)
    prompt_ids, lines, parts = prompt_ids_of(loaded, prompt), [], []
    try:
        for dtype, ticks in in_three_formats(loaded, prompt_ids):
            yield {"lines": [*parts, f"{dtype}: {WRITING}"]}, None
            result = None
            for tick in ticks:
                result = tick.result or result
                yield None
            lines.append(GapLine(dtype, result.gaps, result.margins, result.first_difference))
            parts.append(format_words(dtype, result))
            yield {"lines": list(parts)}, figure_json(gaps_figure(lines))
    except StoppedError:
        yield {"lines": [*parts, "Stopped."]}, None


def case_number(case: float | None) -> int:
    return int(case) if isinstance(case, int | float) and abs(case) < 1e9 else 0


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


def format_words(dtype: str, result: RaceResult) -> str:
    outcome = "all tokens equal" if result.equal else f"tokens part at token {result.first_difference + 1}"
    return (
        f"{dtype}: largest gap {power_text(result.largest_gap)}; {outcome}. At {len(result.near_ties)} of "
        f"{len(result.gaps)} steps the two best tokens are closer than twice the gap: rounding can turn them over."
    )
