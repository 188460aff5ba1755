"""The clinic: plant a fault, look at what it does, or find out which one somebody else has hidden."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import gradio as gr
import torch

from playground.engine.params import SamplingParams
from playground.engine.work import ROUNDING
from playground.models.text import LoadedModel
from playground.page.bar import Page
from playground.page.jobs import QUIET
from playground.page.lesson import Section
from playground.page.line import StoppedError
from playground.page.panel import figure_json, panel, plot_panel
from playground.page.requests import RequestError, own_model_of, prompt_ids_of, sampling_params, system_of
from playground.tabs.cache_on_off.clinic import CHUNK, FAULTS, examine, hidden_fault, in_three_formats, stale_prompt
from playground.tabs.cache_on_off.figures import GapLine, gaps_figure
from playground.tabs.cache_on_off.race import RaceResult
from playground.tabs.cache_on_off.sweep import STORY
from playground.words import say, told

NUM_TOKENS = 24
# What the stale cache has seen: the first of them that is another text.
LAST_PROMPTS = (say("cache_on_off.clinic.last_prompt"), STORY)
FLOAT32_ROUNDING = ROUNDING[torch.float32]  # the clinic's measure, whatever the model is loaded in
TESTS = ("greedy", "sampled", "float32")


@dataclass(frozen=True)
class Patient:
    """What is planted, hidden or not, and the diagnosis."""

    fault: gr.Radio
    hide: gr.Checkbox
    riddle: gr.Column
    case: gr.Number
    another: gr.Button
    guess: gr.Dropdown
    answer: gr.Markdown


def clinic_part(page: Page, lessons: dict[str, Section]) -> None:
    with gr.Row(elem_classes="clinic-board"):
        with gr.Column(elem_classes="card clinic-area", scale=2, min_width=340):
            patient = _patient()
        with gr.Column(elem_classes="card", scale=5, min_width=340):
            gr.Markdown(f"## {say('cache_on_off.clinic.look')}", elem_classes="card-title")
            with gr.Row(elem_classes="race-buttons"):
                texts = {name: say(f"cache_on_off.clinic.test.{name}") for name in TESTS}
                buttons = {
                    name: gr.Button(
                        text, variant="primary" if name == "greedy" else "secondary", elem_id=f"clinic-{name}"
                    )
                    for name, text in texts.items()
                }
                stop = gr.Button(say("cache_on_off.race.stop"), elem_id="clinic-stop", scale=0, min_width=100)
            tests = [f"#clinic-{name}" for name in TESTS]
            status = panel("job_status", {"buttons": tests}, elem_id="clinic-status")
            evidence = panel("cache_on_off/clinic", elem_id="clinic-panel")
            lesson = lessons["K1"]
            gr.Markdown(f"## {lesson.title}\n\n{lesson.text}", elem_classes="lesson")
    inputs = [*page.request, patient.fault, patient.hide, patient.case]
    for test, button in buttons.items():
        work = partial(examined, page.models, test)
        page.jobs.on(button.click, work, inputs, [status, evidence], name="clinic", long=True, trigger_mode="multiple")
    page.jobs.stop(stop, "clinic")
    _bind(patient, evidence)


def _patient() -> Patient:
    choices = [(say(f"cache_on_off.clinic.fault.{name}.title"), name) for name in FAULTS]
    labels = {name: say(f"cache_on_off.clinic.label.{name}") for name in ("fault", "hide", "case", "another", "guess")}
    gr.Markdown(f"## {say('cache_on_off.clinic.title')}", elem_classes="card-title")
    fault = gr.Radio(choices, value="none", label=labels["fault"], elem_id="clinic-fault")
    hide = gr.Checkbox(False, label=labels["hide"], elem_id="clinic-hide")
    with gr.Column(visible=False) as riddle:
        with gr.Row():
            case = gr.Number(1, label=labels["case"], precision=0, minimum=0, maximum=9999, elem_id="clinic-case")
            another = gr.Button(labels["another"], elem_id="clinic-another", min_width=140)
        guess = gr.Dropdown(choices, value=None, label=labels["guess"], elem_id="clinic-guess")
        answer = gr.Markdown("", elem_id="clinic-answer")
    return Patient(fault, hide, riddle, case, another, guess, answer)


def _bind(patient: Patient, evidence: gr.HTML) -> None:
    """Evidence of one fault says nothing of another."""
    gone: dict = {}  # None would leave it

    def on_hide(hide: bool):
        return gr.update(visible=not hide), gr.update(visible=hide), gone, None, ""

    def on_another():
        return secrets.randbelow(10_000), gone, None, ""

    def on_guess(guess: Literal[tuple(FAULTS)] | None, case: float | None):
        return diagnosis(guess, hidden_fault(case_number(case))) if guess else ""

    quiet, guessed = {"queue": False, **QUIET}, [evidence, patient.guess, patient.answer]
    patient.fault.change(lambda: gone, None, evidence, **quiet)
    patient.hide.change(on_hide, patient.hide, [patient.fault, patient.riddle, *guessed], **quiet)
    patient.case.change(lambda: (gone, None, ""), None, guessed, **quiet)
    patient.another.click(on_another, None, [patient.case, *guessed], **quiet)
    patient.guess.input(on_guess, [patient.guess, patient.case], patient.answer, **quiet)


def formats_part(page: Page, lessons: dict[str, Section]) -> None:
    """The same test in three number formats."""
    texts = {name: say(f"cache_on_off.formats.{name}") for name in ("title", "start")}
    with gr.Row(elem_classes="race-buttons"):
        start = gr.Button(texts["start"], variant="primary", elem_id="clinic-formats", scale=0, min_width=330)
        stop = gr.Button(say("cache_on_off.race.stop"), elem_id="clinic-formats-stop", scale=0, min_width=100)
    with gr.Column(elem_classes="card"):
        gr.Markdown(f"## {texts['title']}", elem_classes="card-title")
        about = {"text": lessons["bits"].text, "buttons": ["#clinic-formats"]}
        status = panel("job_status", about, elem_id="clinic-bits")
        gaps = plot_panel(elem_id="clinic-gaps")
    work = partial(in_formats, page.models)
    page.jobs.on(start.click, work, page.request, [status, gaps], name="formats", long=True, trigger_mode="multiple")
    page.jobs.stop(stop, "formats")


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
    loaded, params = own_model_of(models, model_name), sampling_params(controls)
    prompt_ids = prompt_ids_of(loaded, prompt, system=system_of(loaded, controls))
    if hide and len(prompt_ids) < 2:  # some faults refuse it, which would tell them
        raise RequestError(say("cache_on_off.clinic.too_short_to_hide"))
    name = hidden_fault(case_number(case)) if hide else fault
    if test == "sampled" and params.temperature == 0:
        params = replace(params, temperature=1.0)
    last_prompt = stale_prompt(prompt_ids, [loaded.prompt_ids(text) for text in LAST_PROMPTS])
    greedy, in_float32 = test != "sampled", test == "float32"
    ticks = examine(loaded, prompt_ids, params, name, NUM_TOKENS, last_prompt, greedy=greedy, in_float32=in_float32)
    result = None
    try:
        yield {"text": told("cache_on_off.clinic.writing")}, None
        for tick in ticks:
            result = tick.result or result
            yield None
    except StoppedError:
        yield {"text": told("cache_on_off.clinic.stopped")}, None
        return
    shown = {"test": evidence_row(test, params, result), "last": strips(loaded, result)}
    yield {"text": ""}, {"id": secrets.token_hex(6), "planted": None if hide else planted(name), **shown}


def in_formats(
    models: Mapping[str, LoadedModel], model_name: str, prompt: str, controls: dict | None = None
) -> Iterator[tuple | None]:
    """A line for each number format, and the gaps of all."""
    loaded = own_model_of(models, model_name)
    prompt_ids, lines, said = prompt_ids_of(loaded, prompt, system=system_of(loaded, controls)), [], []
    try:
        for dtype, ticks in in_three_formats(loaded, prompt_ids):
            yield {"lines": [*said, told("cache_on_off.formats.writing", dtype=dtype)]}, None
            result = None
            for tick in ticks:
                result = tick.result or result
                yield None
            lines.append(GapLine(dtype, result.gaps, result.margins, result.first_difference))
            said.append(format_words(dtype, result))
            yield {"lines": list(said)}, figure_json(gaps_figure(lines))
    except StoppedError:
        yield {"lines": list(said)}, None


def case_number(case: float | None) -> int:
    return int(case) if isinstance(case, int | float) and abs(case) < 1e9 else 0


def planted(fault: str) -> list[dict]:
    """What was done wrong, and the trace it leaves."""
    return [told(f"cache_on_off.clinic.fault.{fault}.{part}", chunk=CHUNK) for part in ("planted", "traces")]


def evidence_row(test: str, params: SamplingParams, result: RaceResult) -> dict:
    """One line of evidence for clinic.js, and what it says."""
    both = min(len(result.on.uniforms), len(result.off.uniforms))
    key = "cache_on_off.clinic.sampled" if test == "sampled" else f"cache_on_off.clinic.test.{test}"
    return {
        "name": told(key, temperature=params.temperature, seed=params.seed),
        "equal": result.equal,
        "first_difference": result.first_difference,
        "first_gap": result.gaps[0],
        "largest_gap": result.largest_gap,
        "fed": result.on.num_fed[0],
        "prompt_length": result.prompt_length,
        "same_numbers": result.on.uniforms[:both] == result.off.uniforms[:both],
        "reading": [told(f"cache_on_off.clinic.reading.{name}") for name in reading(test, result)],
    }


def reading(test: str, result: RaceResult) -> list[str]:
    """What a careful person concludes from this test alone: the names of the sentences."""
    if result.largest_gap > FLOAT32_ROUNDING:
        where = "gap_in_prompt" if result.gaps[0] > FLOAT32_ROUNDING else "gap_in_steps"
        if test == "float32":
            return [where, "stays"]
        tie = result.greedy and result.first_difference in result.near_ties
        return [where, "try_float32", *(["near_tie"] if tie else [])]
    if test == "sampled":
        return ["equal_sampled" if result.equal else "in_sampling"]
    return ["innocent"]


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
    """Markdown."""
    planted_, traces = planted(guess)
    if guess == truth:
        return say("cache_on_off.clinic.right", planted=planted_, traces=traces)
    return say("cache_on_off.clinic.not_that", traces=traces)


def format_words(dtype: str, result: RaceResult) -> dict:
    facts = {"dtype": dtype, "gap": result.largest_gap, "near": len(result.near_ties), "steps": len(result.gaps)}
    facts["exact"] = sum(gap == 0 for gap in result.gaps)
    if result.equal:
        return told("cache_on_off.formats.equal", **facts)
    return told("cache_on_off.formats.diverge", token=result.first_difference + 1, **facts)
