"""The bar on top of every tab: model, prompt, sliders, Generate. It owns the recorded run that the pictures read."""

import json
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from playground.engine.generation import generate, timed
from playground.engine.kv_cache import KVCache
from playground.engine.trace import Trace
from playground.models.loading import EMBEDDED
from playground.models.text import LoadedModel
from playground.page.controls import controls_panel, new_tokens, readable, readable_errors, sampling_params
from playground.page.panel import panel
from playground.page.runs import Run, RunStore, payload

TICK_SECONDS = 0.15  # a stream of single tokens would cost more than the model
# For every event that runs the model: they wait in one line, so that times are not disturbed.
MODEL_LINE = {"concurrency_id": "model", "concurrency_limit": 1, "show_progress": "hidden"}

# In the `js` of an event with the sliders among its inputs: says when the button was pressed, for StopFlags.
PRESSED_NOW = "{ ...controls, pressed_at: Date.now() }"


@dataclass(frozen=True)
class Page:
    """What a tab needs of the page."""

    models: dict[str, LoadedModel]
    model_name: gr.Dropdown
    prompt: gr.Textbox
    controls: gr.HTML  # its value is a dict for `sampling_params` and `new_tokens`
    run: gr.HTML  # what the last press of Generate recorded
    runs: RunStore  # the same on this side, for exports and forks
    generated: Any  # the event that ends when a run is complete: page.generated.then(...)
    stop: gr.Button  # stops what the bar's Generate started; a tab may let it stop its own events too


def build_bar(models: dict[str, LoadedModel]) -> Page:
    first = next(iter(models))
    examples = load_examples()
    stops = StopFlags()
    runs = RunStore()
    with gr.Column(elem_id="bar"):
        with gr.Row(elem_id="bar-prompt", equal_height=True):
            model_name = gr.Dropdown(
                list(models), value=first, label="Model", elem_id="model", min_width=215, scale=1, filterable=False
            )
            prompt = gr.Textbox(
                _first_prompt(examples, first), label="Prompt", lines=1, max_lines=3, elem_id="prompt", scale=5
            )
            example = gr.Dropdown(
                _example_choices(examples, first),
                value=None,
                label="Examples",
                elem_id="examples",
                min_width=200,
                scale=3,
            )
            start = gr.Button("Generate", variant="primary", elem_id="generate", min_width=150, scale=0)
            stop = gr.Button("Stop", elem_id="stop", min_width=80, scale=0)
        controls = controls_panel(models[first].model.config.vocab_size)

        def vocabulary_of(name: str) -> dict[str, Any]:
            loaded = models[name]
            return {
                "labels": loaded.labels,
                "token_bytes": loaded.token_bytes,
                "trained_length": loaded.trained_length,
            }

        run = panel("run_data", server_functions=[vocabulary_of], elem_id="run")

    def on_generate(model_name, prompt, controls, request: gr.Request):
        stopped = stops.start(request.session_hash, (controls or {}).get("pressed_at"))
        if stopped.is_set():  # while it waited for its turn
            yield gr.skip()
            return
        with readable_errors():
            yield from run_payloads(models[model_name], prompt, controls, stopped, runs)

    def on_stop(controls, request: gr.Request):
        stops.stop(request.session_hash, controls["pressed_at"])

    def on_model(name):
        return gr.Dropdown(_example_choices(examples, name), value=None)

    def on_chosen_model(name, prompt):
        """A prompt that a person wrote stays; an example of the other model gives way to this one's first."""
        own = [entry["prompt"] for entry in examples.get(name, [])]
        is_example = any(prompt == entry["prompt"] for entries in examples.values() for entry in entries)
        return own[0] if own and is_example and prompt not in own else gr.skip()

    def on_example(prompt):
        return prompt if prompt else gr.skip()

    model_name.change(on_model, model_name, example, show_progress="hidden", queue=False)
    model_name.input(on_chosen_model, [model_name, prompt], prompt, show_progress="hidden", queue=False)
    example.input(on_example, example, prompt, show_progress="hidden", queue=False)
    stop.click(
        on_stop,
        controls,
        queue=False,
        show_progress="hidden",
        js=f"(controls) => [{PRESSED_NOW}]",
    )
    generated = gr.on(
        [start.click, prompt.submit],
        on_generate,
        [model_name, prompt, controls],
        run,
        js=f"(model, prompt, controls) => [model, prompt, {PRESSED_NOW}]",
        **MODEL_LINE,
    )
    return Page(models, model_name, prompt, controls, run, runs, generated, stop)


def prompt_ids_of(loaded: LoadedModel, prompt: str) -> list[int]:
    """Token ids of what is in the box, or gr.Error with one sentence that says what to do."""
    with readable_errors():
        ids = loaded.prompt_ids(prompt or "")
    room = loaded.model.config.max_positions
    if len(ids) > room - 1:
        raise readable(f"The prompt has {len(ids):,} tokens; {loaded.name} reads at most {room - 1:,}. Shorten it")
    return ids


def run_payloads(
    loaded: LoadedModel, prompt: str, controls: dict | None, stopped: threading.Event, runs: RunStore
) -> Iterator[dict]:
    """The run as the browser takes it: what there is every tick, and at the end the logits of all steps too."""
    params, most = sampling_params(controls), new_tokens(controls)
    prompt_ids, cache = prompt_ids_of(loaded, prompt), KVCache.of(loaded.model)
    run_id, steps, seconds, shown_at = secrets.token_hex(8), [], [], time.perf_counter()
    for step, duration in timed(generate(loaded.model, prompt_ids, params, cache, most, loaded.stop_ids)):
        steps.append(step)
        seconds.append(duration)
        if stopped.is_set():
            break
        if step.stop_reason is None and time.perf_counter() - shown_at > TICK_SECONDS:
            shown_at = time.perf_counter()
            so_far = Trace(steps, seconds)
            yield payload(Run.of(loaded, prompt, so_far, params, most, id=run_id), logits_from=None)
    trace = Trace(steps, seconds)
    run = Run.of(loaded, prompt, trace, params, most, id=run_id, cache=cache)
    runs.put(run)
    yield payload(run)


class StopFlags:
    """One flag for each visitor's run. The oldest are forgotten: a closed tab leaves nothing behind.

    Times are of the visitor's own clock, in milliseconds: they tell a run that was stopped while it waited in line from
    one that was started after an earlier stop.
    """

    LIMIT = 1000

    def __init__(self) -> None:
        self._flags: dict[str, threading.Event] = {}
        self._stopped_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def start(self, session: str, pressed_at: float | None = None) -> threading.Event:
        """The flag of a run whose button was pressed then; it is set already when Stop was pressed since."""
        flag = threading.Event()
        with self._lock:
            keep_newest(self._flags, session, flag, self.LIMIT)
            if pressed_at is not None and self._stopped_at.get(session, pressed_at) > pressed_at:
                flag.set()
        return flag

    def stop(self, session: str, pressed_at: float | None = None) -> None:
        with self._lock:
            if session in self._flags:
                self._flags[session].set()
            if pressed_at is not None:
                keep_newest(self._stopped_at, session, pressed_at, self.LIMIT)


def keep_newest(store: dict, key: str, value: object, limit: int) -> None:
    """Puts `value` in as the newest; the oldest go, so that a closed tab leaves nothing behind."""
    store.pop(key, None)
    while len(store) >= limit:
        store.pop(next(iter(store)))
    store[key] = value


def load_examples(folder: Path = EMBEDDED) -> dict[str, list[dict]]:
    """For each model the prompts worth trying, each with what it shows. A folder without the file offers none."""
    path = folder / "examples.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def _example_choices(examples: dict[str, list[dict]], model_name: str) -> list[tuple[str, str]]:
    return [(f"{entry['prompt']} · {entry['shows']}", entry["prompt"]) for entry in examples.get(model_name, [])]


def _first_prompt(examples: dict[str, list[dict]], model_name: str) -> str:
    return next((entry["prompt"] for entry in examples.get(model_name, [])), "Once upon a time")
