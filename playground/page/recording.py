"""One answer is written and recorded: the work behind Generate."""

import secrets
import time
from collections.abc import Generator, Mapping
from typing import Any

from playground.engine.generation import generate, timed
from playground.engine.kv_cache import KVCache
from playground.engine.trace import Trace
from playground.models.text import LoadedModel
from playground.page.line import StoppedError
from playground.page.requests import model_of, new_tokens, prompt_ids_of, sampling_params
from playground.page.runs import Run, RunStore, payload

TICK_SECONDS = 0.15  # a stream of single tokens would cost more than the model


def record_run(
    models: Mapping[str, LoadedModel],
    runs: RunStore,
    model_name: str,
    prompt: str,
    controls: dict | None,
    *,
    visitor: str = "",
) -> Generator[dict | None, None, dict | None]:
    """Yields the run as the browser takes it, every tick, and returns it with the logits of all steps.

    What was written until it was stopped is a run as well. Returns None where not a token was written.
    """
    loaded, params, most = model_of(models, model_name), sampling_params(controls), new_tokens(controls)
    prompt_ids, cache = prompt_ids_of(loaded, prompt), KVCache.of(loaded.model)
    run_id, steps, seconds, shown_at = secrets.token_hex(8), [], [], time.perf_counter()

    def run_so_far(**more: Any) -> Run:
        return Run.of(loaded, prompt, Trace(steps, seconds), params, most, id=run_id, **more)

    try:
        for step, duration in timed(generate(loaded.model, prompt_ids, params, cache, most, loaded.stop_ids)):
            steps.append(step)
            seconds.append(duration)
            if step.stop_reason is None and time.perf_counter() - shown_at > TICK_SECONDS:
                shown_at = time.perf_counter()
                yield payload(run_so_far(), logits_from=None)
            else:
                yield None
    except StoppedError:
        if not steps:
            return None
    run = run_so_far(cache=cache)
    runs.put(run, visitor)
    return payload(run)
