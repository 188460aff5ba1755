"""What the pictures of the tab "Thirty answers" are given: plain JSON, worked out from a run."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from playground.models.text import LoadedModel
from playground.page.line import Progress, in_steps
from playground.page.machine import machine
from playground.page.panel import figure_json
from playground.page.requests import (
    RequestError,
    known_settings,
    model_of,
    prompt_ids_of,
    sampling_params,
    text_of,
)
from playground.page.spreadsheet import csv_text
from playground.tabs.thirty_answers.among_others import AmongOthers, greedy_among_others
from playground.tabs.thirty_answers.answers import NUM_ANSWERS, TEXT, TOKENS, AnswerRequest, AnswerSet, drawing
from playground.tabs.thirty_answers.batch_work import batch_work
from playground.tabs.thirty_answers.curve import POOL, VALUES, CurvePool, curve_request
from playground.tabs.thirty_answers.figures import agreement_figure, axis_places, distinct_figure
from playground.tabs.thirty_answers.frequency import stated_against_observed
from playground.tabs.thirty_answers.tree import answer_tree

MANY = 3000


def asked_answers(models: Mapping[str, LoadedModel], _question: Any, *request: Any) -> Iterator[tuple | None]:
    """For a panel that asks: its question holds nothing but its number."""
    return answer_values(models, *request)


def answer_values(
    models: Mapping[str, LoadedModel], model_name: str, prompt: str, controls: dict
) -> Iterator[tuple[dict, dict, dict] | None]:
    """For answers.js, tree.js and batch.js."""
    loaded, params = model_of(models, model_name), sampling_params(controls)
    prompt_ids_of(loaded, prompt)
    start = time.perf_counter()
    [drawn] = yield from in_steps(drawing(loaded, AnswerRequest(prompt, (params,))))
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
    yield (
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


def all_values(
    models: Mapping[str, LoadedModel],
    num_panels: int,
    model_name: str,
    prompt: str,
    controls: dict,
    knob: str,
    second: str,
) -> Iterator[tuple | Progress | None]:
    """The answers, the curve and, with three panels, the agreement, one after another; then the tree and the batch."""
    nothing = (None,) * num_panels
    for value in answer_values(models, model_name, prompt, controls):
        yield value and (value[0], *nothing[1:], *value[1:])
    for value in curve_values(models, model_name, prompt, controls, knob, second):
        yield (None, value, *nothing[2:], None, None) if isinstance(value, dict) else value
    if num_panels == 3:
        for value in agreement_values(models, model_name, prompt, controls):
            yield (None, None, value, None, None) if isinstance(value, dict) else value


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


def curve_values(
    models: Mapping[str, LoadedModel], model_name: str, prompt: str, controls: dict, knob: str, second: str
) -> Iterator[dict | Progress]:
    """For curve.js: soon the counts of this seed, then the bands from a larger pool."""
    loaded, params = model_of(models, model_name), sampling_params(controls)
    if knob not in VALUES:
        raise RequestError(f"A curve goes along one of {', '.join(VALUES)}.")
    prompts = [prompt, *([second] if text_of(second).strip() else [])]
    for each in prompts:
        prompt_ids_of(loaded, each)
    for rows in (NUM_ANSWERS, POOL):
        start, pools = time.perf_counter(), []
        for each in dict.fromkeys(prompts):
            request = curve_request(each, params, knob, rows)
            sets = yield from in_steps(drawing(loaded, request), request.num_answers)
            pools.append(CurvePool(knob, tuple(sets)))
        yield _curve_value(loaded.name, pools, known_settings(controls), time.perf_counter() - start)


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


def agreement_values(
    models: Mapping[str, LoadedModel], model_name: str, prompt: str, controls: dict
) -> Iterator[dict | Progress]:
    """For agreement.js: how far the draws are, then the comparison."""
    loaded, start = model_of(models, model_name), time.perf_counter()
    request = AnswerRequest(prompt, (sampling_params(controls),), MANY)
    prompt_ids_of(loaded, prompt)
    [drawn] = yield from in_steps(drawing(loaded, request), request.num_answers)
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


def among_values(models: Mapping[str, LoadedModel], model_name: str, prompt: str) -> Iterator[tuple]:
    """What there is to say, and the rows of the table."""
    loaded = model_of(models, model_name)
    prompt_ids_of(loaded, prompt)
    yield {"text": ""}, among_rows(greedy_among_others(loaded, prompt))


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
