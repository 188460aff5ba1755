"""The bar on top of every tab: model, prompt, sliders, Generate. It owns the recorded run that the pictures read."""

import base64
import json
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from playground.engine.generation import Step, generate, timed
from playground.engine.trace import Trace
from playground.models.loading import EMBEDDED, LoadedModel
from playground.ui.controls import controls_panel, new_tokens, sampling_params
from playground.ui.panel import panel

TICK_SECONDS = 0.15  # a stream of single tokens would cost more than the model
MODEL_QUEUE = "model"  # all that runs the model waits in one line, so that times are not disturbed


@dataclass(frozen=True)
class Page:
    """What a tab needs of the page."""

    models: dict[str, LoadedModel]
    model_name: gr.Dropdown
    prompt: gr.Textbox
    controls: gr.HTML  # its value is a dict for `sampling_params` and `new_tokens`
    run: gr.HTML  # what the last press of Generate recorded
    generated: Any  # the event that ends when a run is complete: page.generated.then(...)


def build_bar(models: dict[str, LoadedModel]) -> Page:
    first = next(iter(models))
    examples = load_examples()
    stops = StopFlags()
    with gr.Column(elem_id="bar"):
        with gr.Row(elem_id="bar-prompt", equal_height=True):
            model_name = gr.Dropdown(
                list(models), value=first, label="Model", elem_id="model", min_width=180, scale=1, filterable=False
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

        def vocabulary(name: str) -> list[str]:
            return models[name].tokenizer.labels()

        run = panel("run_data", server_functions=[vocabulary], elem_id="run")

    def on_generate(model_name, prompt, controls, request: gr.Request):
        yield from run_payloads(models[model_name], prompt, controls, stops.start(request.session_hash))

    def on_stop(request: gr.Request):
        stops.stop(request.session_hash)

    def on_model(name):
        return gr.Dropdown(_example_choices(examples, name), value=None)

    def on_example(prompt):
        return prompt if prompt else gr.skip()

    model_name.change(on_model, model_name, example, show_progress="hidden", queue=False)
    example.input(on_example, example, prompt, show_progress="hidden", queue=False)
    stop.click(on_stop, queue=False, show_progress="hidden")
    generated = gr.on(
        [start.click, prompt.submit],
        on_generate,
        [model_name, prompt, controls],
        run,
        concurrency_id=MODEL_QUEUE,
        concurrency_limit=1,
        show_progress="hidden",
    )
    return Page(models, model_name, prompt, controls, run, generated)


def prompt_ids_of(loaded: LoadedModel, prompt: str) -> list[int]:
    """Token ids of what is in the box, or gr.Error with one sentence that says what to do."""
    try:
        ids = loaded.prompt_ids(prompt or "")
    except ValueError as error:
        raise gr.Error(str(error), print_exception=False) from None
    room = loaded.model.config.max_positions
    if len(ids) > room - 1:
        raise gr.Error(
            f"The prompt has {len(ids):,} tokens; {loaded.name} reads at most {room - 1:,}. Shorten it.",
            print_exception=False,
        )
    return ids


def run_payloads(loaded: LoadedModel, prompt: str, controls: dict | None, stopped: threading.Event) -> Iterator[dict]:
    """The run as the browser takes it: what there is every tick, and at the end the logits of all steps too."""
    params = sampling_params(controls)
    prompt_ids = prompt_ids_of(loaded, prompt)
    run_id, steps, seconds, shown_at = secrets.token_hex(8), [], [], time.perf_counter()
    steps_with_times = timed(generate(loaded.model, prompt_ids, params, None, new_tokens(controls), loaded.stop_ids))
    for step, duration in steps_with_times:
        steps.append(step)
        seconds.append(duration)
        if stopped.is_set():
            break
        if step.stop_reason is None and time.perf_counter() - shown_at > TICK_SECONDS:
            shown_at = time.perf_counter()
            yield _payload(run_id, loaded, prompt, prompt_ids, steps, seconds)
    trace = Trace(steps, prompt_ids, seconds)
    logits = base64.b64encode(trace.logits.numpy().astype("<f4").tobytes()).decode()
    yield _payload(run_id, loaded, prompt, prompt_ids, steps, seconds) | {"logits": logits}


def _payload(
    run_id: str, loaded: LoadedModel, prompt: str, prompt_ids: list[int], steps: list[Step], seconds: list[float]
) -> dict:
    token_ids = [step.token_id for step in steps]
    return {
        "id": run_id,
        "model": loaded.name,
        "prompt": prompt,
        "prompt_ids": prompt_ids,
        "token_ids": token_ids,
        "pieces": list(loaded.tokenizer.stream(token_ids)),
        "uniforms": [step.uniform for step in steps],
        "num_fed": [step.num_fed for step in steps],
        "cache_bytes": [step.cache_bytes for step in steps],
        "seconds": seconds,
        "stop_reason": steps[-1].stop_reason or "stopped by hand",
        "vocab_size": loaded.model.config.vocab_size,
    }


class StopFlags:
    """One flag for each visitor's run. The oldest are forgotten: a closed tab leaves nothing behind."""

    LIMIT = 1000

    def __init__(self) -> None:
        self._flags: dict[str, threading.Event] = {}
        self._lock = threading.Lock()

    def start(self, session: str) -> threading.Event:
        with self._lock:
            self._flags.pop(session, None)
            while len(self._flags) >= self.LIMIT:
                self._flags.pop(next(iter(self._flags)))
            self._flags[session] = flag = threading.Event()
            return flag

    def stop(self, session: str) -> None:
        with self._lock:
            if session in self._flags:
                self._flags[session].set()


def load_examples(folder: Path = EMBEDDED) -> dict[str, list[dict]]:
    """For each model the prompts worth trying, each with what it shows. A folder without the file offers none."""
    path = folder / "examples.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def _example_choices(examples: dict[str, list[dict]], model_name: str) -> list[tuple[str, str]]:
    return [(f"{entry['prompt']} · {entry['shows']}", entry["prompt"]) for entry in examples.get(model_name, [])]


def _first_prompt(examples: dict[str, list[dict]], model_name: str) -> str:
    return next((entry["prompt"] for entry in examples.get(model_name, [])), "Once upon a time")
