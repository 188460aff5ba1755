"""What it costs to record a run, and to read it again under another setting."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from benchmarks.against_transformers import NEW_TOKENS, PROMPT_TOKENS, prompt_of
from benchmarks.measure import Figure, alternate, rounded
from playground.engine.generation import generate, timed
from playground.engine.params import SamplingParams
from playground.engine.trace import Trace
from playground.models.loading import LoadedModel, load_model

CONDITIONS = f"prompt {PROMPT_TOKENS} + {NEW_TOKENS} new tokens, float32, 1 thread, median of 9 rounds"
SCRIPT = Path(__file__).parents[1] / "assets" / "js" / "reread.js"


def figures() -> Iterator[Figure]:
    loaded = load_model("minimind-chat")
    yield recording(loaded)
    prompt = prompt_of(loaded)
    trace = Trace.record(timed(generate(loaded.model, prompt, SamplingParams(seed=1), None, NEW_TOKENS)), prompt)
    yield reread_in_python(loaded, trace)
    if shutil.which("node"):
        yield reread_in_browser_script(loaded, trace)
    else:
        print("the browser's re-read is not measured: node is not installed", file=sys.stderr)


def recording(loaded: LoadedModel) -> Figure:
    prompt, params = prompt_of(loaded), SamplingParams(seed=1)

    def on() -> object:
        trace = Trace.record(timed(generate(loaded.model, prompt, params, None, NEW_TOKENS)), prompt)
        return trace.logits, trace.token_ids

    def off() -> list[int]:
        return [step.token_id for step in generate(loaded.model, prompt, params, None, NEW_TOKENS)]

    with_it, without, ratio = alternate(on, off, rounds=15)
    return Figure(
        "recording logits, tokens and times of every step, against keeping the tokens alone, ms",
        rounded(with_it),
        rounded(without),
        rounded(ratio),
        "ratio >= 0.9: at most 10 % apart",
        ratio >= 0.9,
        CONDITIONS.replace("9 rounds", "15 rounds") + ", T 1",
    )


def reread_in_python(loaded: LoadedModel, trace: Trace) -> Figure:
    top_p = count(50)

    def read_again() -> object:
        reread = trace.reread(SamplingParams(temperature=0.8, top_p=next(top_p) / 100))
        return reread.num_candidates, reread.chosen_ids, reread.probs

    milliseconds, rerun, ratio = alternate(read_again, lambda: run_again(loaded, trace), rounds=15)
    return _reread_figure("in Python", milliseconds, rerun, ratio, "kept, chosen and all probabilities")


def reread_in_browser_script(loaded: LoadedModel, trace: Trace) -> Figure:
    milliseconds = _node_milliseconds(trace)
    _, rerun, _ = alternate(lambda: None, lambda: run_again(loaded, trace), rounds=5)
    ratio = rerun / milliseconds
    return _reread_figure("in the browser's script (node)", milliseconds, rerun, ratio, "temperature moves each time")


def run_again(loaded: LoadedModel, trace: Trace) -> list[int]:
    """What a page without recorded logits has to do when a slider moves."""
    params = SamplingParams(temperature=0.8, top_p=0.9, seed=1)
    return [step.token_id for step in generate(loaded.model, trace.prompt_ids, params, None, len(trace.steps))]


def _reread_figure(where: str, milliseconds: float, rerun: float, ratio: float, what: str) -> Figure:
    return Figure(
        f"one slider move re-reads {NEW_TOKENS} recorded steps {where}, against running the model again, ms",
        rounded(milliseconds),
        rounded(rerun),
        rounded(ratio),
        "ours <= 10 ms",
        milliseconds <= 10,
        f"whole vocabulary of 3,072, {what}, T 0.8 and top-p; {CONDITIONS}",
    )


_NODE = """
const { rankRun, reread } = await import(process.argv[1]);
const { readFileSync } = await import("node:fs");
const run = JSON.parse(readFileSync(0));
run.logits = Float32Array.from(run.logits);
rankRun(run);
const times = [];
for (let move = 0; move < 60; move++) {
  const start = performance.now();
  reread(run, { temperature: 0.5 + move / 100, top_p: 0.9 });
  times.push(performance.now() - start);
}
console.log(times.slice(10).sort((a, b) => a - b)[25]);
"""


def _node_milliseconds(trace: Trace) -> float:
    """The median of 50 moves after 10 to warm up."""
    run = {
        "numSteps": len(trace.steps),
        "vocabSize": trace.logits.shape[1],
        "logits": trace.logits.flatten().tolist(),
        "tokenIds": trace.token_ids,
        "uniforms": [step.uniform for step in trace.steps],
        "promptIds": trace.prompt_ids,
    }
    command = ["node", "--input-type=module", "-e", _NODE, SCRIPT.as_uri()]
    return float(subprocess.run(command, input=json.dumps(run), capture_output=True, text=True, check=True).stdout)
