"""Answers are written and recorded: the work behind Generate."""

import secrets
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from typing import Any
from weakref import WeakValueDictionary

from playground.engine.batching import Batch
from playground.engine.generation import Decoder
from playground.engine.kv_cache import KVCache
from playground.engine.trace import Trace
from playground.models.text import LoadedModel
from playground.page.line import StoppedError
from playground.page.requests import model_of, new_tokens, prompt_ids_of, sampling_params, system_of
from playground.page.runs import Run, RunStore, payload

TICK_SECONDS = 0.15  # a stream of single tokens would cost more than the model
TICKS_A_SECOND = 10  # of all answers together: with many under way each is told of less often


class Recorder:
    """Writes answers; those that are under way at the same time go through the model together."""

    def __init__(self, models: Mapping[str, LoadedModel], runs: RunStore) -> None:
        self.models, self.runs = models, runs
        self._batches: WeakValueDictionary[int, Batch] = WeakValueDictionary()  # by model, while one is written

    def record(
        self,
        model_name: str,
        prompt: str,
        controls: dict | None,
        *,
        visitor: str = "",
        history: Sequence[str] = (),
        goes_on_from: Run | None = None,
    ) -> Generator[dict | None, None, dict | None]:
        """Yields the run as the browser takes it, every tick, and returns it with the logits of all steps.

        `history`: earlier questions and answers by turns. What the cache of `goes_on_from` holds of the beginning of
        the text is not fed again; that run keeps its cache. "held" of what is returned: how many tokens it had.
        What was written until it was stopped is a run as well. Returns None where not a token was written.
        """
        loaded, params, most = model_of(self.models, model_name), sampling_params(controls), new_tokens(controls)
        system = system_of(loaded, controls)
        prompt_ids = prompt_ids_of(loaded, prompt, system=system, history=history)
        kept, batch = goes_on_from and goes_on_from.cache, self._batch_of(loaded.model)
        cache = kept.clone() if kept else KVCache.of(loaded.model)
        asked = {"system": system, "history": tuple(history)}
        run_id, steps, seconds, shown_at = secrets.token_hex(8), [], [], time.perf_counter()

        def run_so_far(**more: Any) -> Run:
            return Run.of(loaded, prompt, Trace(steps, seconds), params, most, id=run_id, **asked, **more)

        try:
            with closing(batch.generate(prompt_ids, params, cache, most, loaded.stop_ids)) as writing:
                for step, duration in writing:
                    if step is not None:
                        steps.append(step)
                        seconds.append(duration)
                    now, rest = time.perf_counter(), max(TICK_SECONDS, len(batch) / TICKS_A_SECOND)
                    if steps and step.stop_reason is None and now - shown_at > rest:
                        shown_at = now
                        yield payload(run_so_far(), logits_from=None)
                    else:
                        yield None
        except StoppedError:
            if not steps:
                return None
        run = run_so_far(cache=cache)
        self.runs.put(run, visitor)
        return payload(run, held=kept.position if kept else None)

    def _batch_of(self, model: Decoder) -> Batch:
        """It goes with its last answer, so that nothing here keeps a model."""
        return self._batches.setdefault(id(model), Batch(model))


def record_run(
    models: Mapping[str, LoadedModel],
    runs: RunStore,
    model_name: str,
    prompt: str,
    controls: dict | None,
    *,
    visitor: str = "",
) -> Generator[dict | None, None, dict | None]:
    """One answer by itself."""
    return Recorder(models, runs).record(model_name, prompt, controls, visitor=visitor)
