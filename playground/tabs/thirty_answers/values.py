"""What the pictures of the tab "Thirty answers" are given: plain JSON, worked out from a run."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

import pandas as pd
from pydantic import BaseModel

from playground.models.template import conversation
from playground.models.text import LoadedModel
from playground.page.line import Progress, Work, in_steps
from playground.page.machine import machine
from playground.page.panel import figure_json
from playground.page.requests import (
    History,
    RequestError,
    Text,
    checked,
    prompt_ids_of,
    sampling_params,
    system_of,
)
from playground.page.spreadsheet import csv_text
from playground.tabs.thirty_answers.among_others import AmongOthers, among_others
from playground.tabs.thirty_answers.answers import (
    ANSWER_TOKENS,
    NUM_ANSWERS,
    TEXT,
    TOKENS,
    AnswerRequest,
    AnswerSet,
    sampling,
)
from playground.tabs.thirty_answers.batch_work import batch_work
from playground.tabs.thirty_answers.curve import POOL, VALUES, CurvePool, curve_request
from playground.tabs.thirty_answers.figures import agreement_figure, axis_places, distinct_figure, narrow_axes
from playground.tabs.thirty_answers.frequency import SIZES, Agreement, predicted_vs_observed
from playground.tabs.thirty_answers.tree import answer_tree
from playground.words import say, told


class BarQuestion(BaseModel):
    """Of among.js: what is in the bar."""

    model: str
    prompt: Text
    system: Text = ""
    history: History = []  # of the run on the screen


class AnswersQuestion(BarQuestion):
    """Of asking.js and agreement.js: what is in the bar, or the run on the screen, and the present sliders."""

    params: dict


class CurveQuestion(AnswersQuestion):
    """Of curve.js."""

    knob: str  # the setting along which it goes
    second: str = ""  # another prompt, or nothing


def answer_values(models: Mapping[str, LoadedModel], question: Any) -> Work:
    """For the store, where every picture of the thirty answers finds them."""
    asked = checked(AnswersQuestion, question)
    loaded, params = _loaded(models, asked), sampling_params(asked.params)
    before, start = _before(loaded, asked), time.perf_counter()
    [sampled] = yield from in_steps(sampling(loaded, AnswerRequest(asked.prompt, (params,), **before)))
    seconds = time.perf_counter() - start
    return _what_was_asked(loaded, sampled, before) | {
        "max_new_tokens": sampled.max_new_tokens,
        "seconds": seconds,
        "machine": machine(),
        "views": {by: _view(sampled.compared_by(by)) for by in (TOKENS, TEXT)},
        "csv": answers_csv(sampled, **before),
        "tree": answer_tree(loaded, sampled).to_json(),
        "batch": _batch_value(sampled),
    }


def _loaded(models: Mapping[str, LoadedModel], asked: BarQuestion) -> LoadedModel:
    """The model, after a look at the prompt."""
    if asked.model not in models:
        raise RequestError(say("thirty_answers.no_model"))
    loaded = models[asked.model]
    prompt_ids_of(loaded, asked.prompt, **_before(loaded, asked))
    return loaded


def _before(loaded: LoadedModel, asked: BarQuestion) -> dict:
    """What the prompt stands behind."""
    return {"system": system_of(loaded, {"system": asked.system}), "history": tuple(asked.history)}


def _what_was_asked(loaded: LoadedModel, sampled: AnswerSet, before: dict) -> dict:
    """By which request.js knows whether it still is what the page asks for: for a base model, whatever stands in the
    box of the system prompt."""
    asked = {"model": loaded.name, "prompt": sampled.prompt, "params": asdict(sampled.params)}
    return asked | {name: value for name, value in before.items() if loaded.is_chat or name != "system"}


def _view(sampled: AnswerSet) -> dict:
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
        for group in sampled.distinct
    ]
    return {"groups": sampled.groups, "rows": rows}


def _batch_value(sampled: AnswerSet) -> dict:
    work = batch_work(sampled)
    return {
        "steps": work.steps_per_row,
        "prompt_length": sampled.prompt_length,
        "minimind": work.minimind,
        "padded": work.padded,
        "dropped": work.dropped,
        "merged": work.merged,
        "filled": work.filled,
    }


def answers_csv(sampled: AnswerSet, **before: Any) -> str:
    """The table of distinct answers; `settings` says in every line what they were sampled with."""
    settings = asdict(sampled.params) | {name: value for name, value in before.items() if value}
    return csv_text(sampled.table().assign(prompt=sampled.prompt, settings=str(settings)))


def curve_values(models: Mapping[str, LoadedModel], question: Any) -> Iterator[dict | Progress]:
    """For curve.js: soon the counts of this seed, then the bands from a larger pool."""
    asked = checked(CurveQuestion, question)
    loaded, params, knob = _loaded(models, asked), sampling_params(asked.params), asked.knob
    if knob not in VALUES:
        raise RequestError(say("thirty_answers.curve.no_such_knob", knobs=", ".join(VALUES)))
    prompts = [asked.prompt, *([asked.second] if asked.second.strip() else [])]
    before = _before(loaded, asked)
    for each in prompts:
        prompt_ids_of(loaded, each, POOL * len(VALUES[knob]) * len(prompts), ANSWER_TOKENS, **before)
    for rows in (NUM_ANSWERS, POOL):
        start, pools = time.perf_counter(), []
        for each in dict.fromkeys(prompts):
            request = replace(curve_request(each, params, knob, rows), **before)
            sets = yield from in_steps(sampling(loaded, request), request.num_answers)
            pools.append(CurvePool(knob, tuple(sets)))
        seconds = time.perf_counter() - start
        yield _what_was_asked(loaded, pools[0].sets[0], before) | _curve_value(pools, seconds)


def _curve_value(pools: list[CurvePool], seconds: float) -> dict:
    first = pools[0]
    views = {}
    for by in (TOKENS, TEXT):
        frames = [pool.curve(NUM_ANSWERS, by).to_frame() for pool in pools]
        views[by] = {"figure": figure_json(distinct_figure(frames, first.knob)), "csv": csv_text(pd.concat(frames))}
    rows = len(first.sets[0].answers)
    facts = {"count": NUM_ANSWERS, "number": rows * len(first.values) * len(pools), "seconds": seconds}
    return {
        "views": views,
        "knob": first.knob,
        "values": first.values,
        "places": axis_places(first.knob, first.values),
        "words": told("thirty_answers.curve.marks", **facts)
        if rows == NUM_ANSWERS
        else told("thirty_answers.curve.marks_and_band", rows=rows, **facts),
    }


def agreement_values(models: Mapping[str, LoadedModel], question: Any) -> Iterator[dict | Progress]:
    """For agreement.js: how many are sampled, then the comparison."""
    asked = checked(AnswersQuestion, question)
    loaded, start = _loaded(models, asked), time.perf_counter()
    before = _before(loaded, asked)
    request = AnswerRequest(asked.prompt, (sampling_params(asked.params),), max(SIZES), **before)
    prompt_ids_of(loaded, asked.prompt, request.num_answers, request.max_new_tokens, **before)
    [sampled] = yield from in_steps(sampling(loaded, request), request.num_answers)
    yield Progress(request.num_answers, request.num_answers)  # short work passes, also now
    agreement = predicted_vs_observed(sampled)
    yield _what_was_asked(loaded, sampled, before) | {
        "figure": figure_json(agreement_figure(agreement.frame, agreement.sizes)),
        "narrow": narrow_axes(len(agreement.frame)),
        "csv": csv_text(agreement.frame),
        "answers": agreement.frame["answer"].tolist(),
        "words": told(
            "thirty_answers.agreement.intervals",
            inside=agreement.num_inside,
            of=len(agreement.frame),
            samples=max(SIZES),
            test=_test_words(agreement, sampled.num_distinct),
            distinct=sampled.num_distinct,
            seconds=time.perf_counter() - start,
        ),
    }


def _test_words(agreement: Agreement, num_distinct: int) -> dict:
    if agreement.degrees:
        return told(
            "thirty_answers.agreement.test",
            chi_square=agreement.chi_square,
            degrees=agreement.degrees,
            chance=agreement.p_value,
        )
    if num_distinct == 1:
        return told("thirty_answers.agreement.one_answer")
    return told("thirty_answers.agreement.all_rare", samples=max(SIZES))


def among_values(models: Mapping[str, LoadedModel], question: Any) -> Work:
    """For among.js: a row for each size of the batch."""
    asked = checked(BarQuestion, question)
    loaded = _loaded(models, asked)
    prompt = conversation(asked.prompt, **_before(loaded, asked))
    results = yield from in_steps(among_others(loaded, prompt))
    return {"model": loaded.name, "prompt": asked.prompt, "rows": [_among_row(result) for result in results]}


def _among_row(result: AmongOthers) -> dict:
    return {
        "rows": result.rows,
        "change": result.largest_difference,
        "lead": result.smallest_gap,
        "flip": result.first_flip,
    }
