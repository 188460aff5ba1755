"""What the pictures of the tab "Thirty answers" are given: plain JSON, worked out from a run."""

import time
from collections.abc import Generator, Iterator
from dataclasses import asdict
from html import unescape

import gradio as gr
import pandas as pd

from playground.engine.model import ContextFullError
from playground.engine.sampling import NoTokenError
from playground.models.text import LoadedModel
from playground.page.bar import TICK_SECONDS, prompt_ids_of
from playground.page.controls import sampling_params
from playground.page.machine import machine
from playground.page.panel import figure_json
from playground.page.spreadsheet import csv_text
from playground.tabs.thirty_answers.among_others import AmongOthers
from playground.tabs.thirty_answers.answers import (
    NUM_ANSWERS,
    TEXT,
    TOKENS,
    AnswerRequest,
    AnswerSet,
    draw_answer_set,
    drawing,
)
from playground.tabs.thirty_answers.batch_work import batch_work
from playground.tabs.thirty_answers.curve import POOL, CurvePool, curve_request
from playground.tabs.thirty_answers.figures import agreement_figure, axis_places, distinct_figure
from playground.tabs.thirty_answers.frequency import stated_against_observed
from playground.tabs.thirty_answers.tree import answer_tree

MANY = 3000
PROBLEMS = (gr.Error, ContextFullError, NoTokenError)  # said in the panel, where they stay until the next try


def answer_values(loaded: LoadedModel, prompt: str, controls: dict) -> tuple[dict, dict, dict]:
    """For answers.js, answer_tree.js and batch_picture.js. What is wrong with the request is said in the first."""
    try:
        params = sampling_params(controls)
        prompt_ids_of(loaded, prompt)
        start = time.perf_counter()
        drawn = draw_answer_set(loaded, prompt, params)
    except PROBLEMS as error:
        return {"problem": problem_of(error)}, gr.skip(), gr.skip()
    seconds = time.perf_counter() - start
    work = batch_work(drawn)
    answers = {
        "prompt": prompt,
        "max_new_tokens": drawn.max_new_tokens,
        "seconds": seconds,
        "machine": machine(),
        "views": {by: _view(drawn.compared_by(by)) for by in (TOKENS, TEXT)},
        "csv": answers_csv(drawn),
    }
    return (
        answers,
        answer_tree(loaded, drawn).to_json(),
        {
            "steps": work.steps_per_row,
            "prompt_length": drawn.prompt_length,
            "padded": work.padded,
            "dropped": work.dropped,
            "merged": work.merged,
            "filled": work.filled,
        },
    )


def _view(drawn: AnswerSet) -> dict:
    rows = [
        {
            "text": group.text,
            "rows": group.rows,
            "count": len(group.rows),
            "probability": group.probability,
            "model_probability": group.model_probability,
            "length": group.length,
            "stop": group.stop_reason,
        }
        for group in drawn.distinct
    ]
    return {"groups": drawn.groups, "rows": rows}


def answers_csv(drawn: AnswerSet) -> str:
    """The table of distinct answers; `settings` says in every line what they were drawn with."""
    frame = drawn.table().assign(prompt=drawn.prompt, settings=str(asdict(drawn.params)))
    return csv_text(frame)


def curve_values(loaded: LoadedModel, prompts: list[str], controls: dict, knob: str) -> Iterator[dict]:
    """For answers_curve.js: soon the counts of this seed, then the bands from a larger pool."""
    try:
        params = sampling_params(controls)
        for prompt in prompts[:1]:
            prompt_ids_of(loaded, prompt)
        prompts = [prompt for prompt in dict.fromkeys(prompts) if prompt and prompt.strip()]
        for rows in (NUM_ANSWERS, POOL):
            start, pools = time.perf_counter(), []
            for prompt in prompts:
                request = curve_request(prompt, params, knob, rows)
                pools.append(CurvePool(knob, tuple((yield from _drawing(loaded, request)))))
            yield _curve_value(loaded.name, pools, controls, time.perf_counter() - start)
    except PROBLEMS as error:
        yield {"problem": problem_of(error)}


def _drawing(loaded: LoadedModel, request: AnswerRequest) -> Generator[dict, None, list[AnswerSet]]:
    """Says every tick how far it is, so that the page can stop it there; returns a set for each of the settings."""
    steps, shown_at = drawing(loaded, request), time.perf_counter()
    while True:
        try:
            done = next(steps)
        except StopIteration as end:
            return end.value
        if time.perf_counter() - shown_at > TICK_SECONDS:
            shown_at = time.perf_counter()
            yield {"running": f"{done:,} of {request.num_answers:,} answers are complete …"}


def _curve_value(model: str, pools: list[CurvePool], controls: dict, seconds: float) -> dict:
    first = pools[0]
    views = {}
    for by in (TOKENS, TEXT):
        frames = [pool.curve(NUM_ANSWERS, by).to_frame() for pool in pools]
        views[by] = {"figure": figure_json(distinct_figure(frames, first.knob)), "csv": csv_text(pd.concat(frames))}
    rows = len(first.sets[0].answers)
    words = f"Marks: {NUM_ANSWERS} answers with this seed."
    if rows > NUM_ANSWERS:
        words += f" Line and band: mean over seeds and about nine of ten seeds, by rarefaction of {rows} rows a point."
    number = rows * len(first.values) * len(pools)
    return {
        "views": views,
        "knob": first.knob,
        "values": first.values,
        "places": axis_places(first.knob, first.values),
        "params": asdict(first.sets[0].params) | {first.knob: controls.get(first.knob)},
        "model": model,
        "prompt": first.prompt,
        "words": f"{words} {number:,} answers in {seconds:.2f} s.",
    }


def agreement_values(loaded: LoadedModel, prompt: str, controls: dict) -> Iterator[dict]:
    """For answers_agreement.js: how far the draws are, then the comparison."""
    start = time.perf_counter()
    try:
        request = AnswerRequest(prompt, (sampling_params(controls),), MANY)
        prompt_ids_of(loaded, prompt)
        [drawn] = yield from _drawing(loaded, request)
    except PROBLEMS as error:
        yield {"problem": problem_of(error)}
        return
    agreement = stated_against_observed(drawn)
    inside, rows = agreement.num_inside, len(agreement.frame)
    number = "1 distinct answer" if drawn.num_distinct == 1 else f"{drawn.num_distinct:,} distinct answers"
    test = (
        f"Chi-square {agreement.chi_square:.1f} on {agreement.degrees} degrees of freedom: "
        f"a difference this large comes by chance {agreement.p_value:.1%} of the time."
        if agreement.degrees
        else "Nothing to compare: one answer has all of the probability."
        if drawn.num_distinct == 1
        else f"Nothing to compare: no answer is likely enough to be expected five times in {MANY:,} draws."
    )
    yield {
        "figure": figure_json(agreement_figure(agreement.frame, agreement.draws)),
        "csv": csv_text(agreement.frame),
        "answers": agreement.frame["answer"].tolist(),
        "params": asdict(drawn.params),
        "model": loaded.name,
        "prompt": prompt,
        "words": f"{inside} of {rows} intervals of {MANY:,} draws hold the stated share (19 of 20 should). {test} "
        f"{number} in {MANY:,}, {time.perf_counter() - start:.2f} s.",
    }


def among_rows(results: list[AmongOthers]) -> list[list[str]]:
    return [
        [
            str(result.rows),
            f"{result.largest_difference:.1e}",
            f"{result.smallest_gap:.4f}",
            "yes" if result.first_flip is None else f"no, from step {result.first_flip} on",
        ]
        for result in results
    ]


def problem_of(error: Exception) -> str:
    """One sentence for the person at the page. The panel shows it as text, gr.Error would as HTML."""
    text = unescape(str(getattr(error, "message", error)).strip())
    return f"{text[:1].upper()}{text[1:]}"
