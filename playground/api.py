"""The page for programs: a few endpoints with plain arguments, for gradio_client, HTTP and, with --mcp, for agents."""

import inspect
import json
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import gradio as gr
import pandas as pd

from playground.engine.params import SamplingParams
from playground.models.tables import steps_table
from playground.page.bar import Page
from playground.page.jobs import has_left, visitor_of
from playground.page.line import Work, in_steps
from playground.page.requests import (
    RequestError,
    model_of,
    prompt_ids_of,
    readable_errors,
    sampling_params,
    text_of,
    whole,
)
from playground.tabs.cache_on_off.race import race
from playground.tabs.cache_on_off.race_values import raced_ids, result_facts
from playground.tabs.inside_the_cache.growth import cache_growth, stored_rows
from playground.tabs.thirty_answers.answers import AnswerRequest, sampling
from playground.words import say

MOST_ANSWERS, MOST_API_TOKENS = 100, 256
SETTINGS = [
    inspect.Parameter(each.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=each.default, annotation=each.type)
    for each in fields(SamplingParams)
]


def add_endpoints(page: Page) -> None:
    """Called inside gr.Blocks."""
    first, models = next(iter(page.models)), page.models

    def generate(
        params: dict, prompt: str, model: str = first, max_new_tokens: int = 64, system: str = "", *, visitor: str
    ) -> Work:
        """Writes one answer, of a chat model under a system prompt if one is given. Gives its text, why it ended, a row
        for each step, and the id of the run for /reread."""
        if text_of(system).strip() and not model_of(models, model).is_chat:
            raise RequestError(say("page.request.no_system", model=model))
        asked = (model, prompt, params | {"max_new_tokens": max_new_tokens, "system": system})
        recorded = yield from in_steps(page.recorder.record(*asked, visitor=visitor))
        run = page.runs.get(recorded["id"])
        table = steps_table(run.trace, run.labels, run.params)
        text = "".join(run.pieces)
        return {"text": text, "stop_reason": run.trace.stop_reason, "run": run.id, "steps": rows_of(table)}

    def reread(params: dict, run: str) -> Work:
        """The steps of a recorded run under other settings; the model does not run."""
        kept = page.runs.get(text_of(run))
        if kept is None:
            raise RequestError(say("page.api.gone"))
        settings = sampling_params(params)
        change = kept.trace.reread(settings).first_difference
        yield None
        return {"first_difference": change, "steps": rows_of(steps_table(kept.trace, kept.labels, settings))}

    def answers(params: dict, prompt: str, model: str = first, n: int = 30, max_new_tokens: int = 24) -> Work:
        """Samples n answers to one prompt. Gives the distinct ones, most frequent first, each with its probability."""
        loaded, settings = model_of(models, model), sampling_params(params)
        count, most = whole("n", n, 1, MOST_ANSWERS), whole("max_new_tokens", max_new_tokens, 1, MOST_API_TOKENS)
        prompt_ids_of(loaded, prompt, count, most)
        [sampled] = yield from in_steps(sampling(loaded, AnswerRequest(prompt, (settings,), count, most)))
        return {"num_distinct": sampled.num_distinct, "answers": rows_of(sampled.table())}

    def compare(params: dict, prompt: str, model: str = first, max_new_tokens: int = 32) -> Work:
        """Writes one answer with the KV cache and without it. Gives tokens fed, seconds and whether both are equal."""
        loaded, settings = model_of(models, model), sampling_params(params)
        most = whole("max_new_tokens", max_new_tokens, 1, MOST_API_TOKENS)
        result, prompt_ids = None, raced_ids(loaded, prompt, most)
        for tick in race(loaded, prompt_ids, settings, most):
            result = tick.result or result
            yield None
        return result_facts(loaded, result)

    def growth(prompt: str, model: str = first) -> Work:
        """How many bytes each layer of the KV cache holds after every token of a text."""
        loaded = model_of(models, model)
        table = cache_growth(stored_rows(loaded.model, prompt_ids_of(loaded, prompt)), 1)
        yield None
        return {"rows": rows_of(table)}

    for work in (generate, reread, answers, compare, growth):
        gr.api(
            endpoint(page, work, long=work is compare, joins=work is generate),
            api_name=work.__name__,
            api_description=work.__doc__,
            concurrency_limit=None,
        )


def endpoint(page: Page, work: Callable[..., Work], *, long: bool, joins: bool) -> Callable:
    """The work as a coroutine whose arguments are the work's own and, for `params`, the settings one by one."""
    arguments = inspect.signature(work).parameters
    own = [each for each in arguments.values() if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    settings = SETTINGS if own[0].name == "params" else []
    plain = own[1:] if settings else own
    asked_by = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=gr.Request)
    names = [parameter.name for parameter in (*plain, *settings)]

    async def call(request, *values):
        given = dict(zip(names, values, strict=True))
        params, visitor = {each.name: given.pop(each.name) for each in settings}, visitor_of(request)
        if "visitor" in arguments:  # of work that keeps something
            given["visitor"] = visitor
        made = work(params, **given) if settings else work(**given)
        with readable_errors():
            left = partial(has_left, request)
            return await page.jobs.line.result(made, visitor, long=long, joins=joins, left=left)

    call.__name__, call.__doc__ = work.__name__, work.__doc__
    call.__signature__ = inspect.Signature([asked_by, *plain, *settings], return_annotation=dict)
    call.__annotations__ = {each.name: each.annotation for each in (asked_by, *plain, *settings)} | {"return": dict}
    return call


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """JSON has no NaN: it becomes null."""
    return json.loads(table.to_json(orient="records", double_precision=15))
