"""What it costs to record a run, and to read it again under another setting."""

import copy
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import torch
import transformers

from benchmarks.against_transformers import NEW_TOKENS, PROMPT_TOKENS, generate_in, in_transformers, prompt_of
from benchmarks.measure import Figure, Goal, Took, Way, compare, processor_time
from playground.engine.generation import generate, timed
from playground.engine.params import SamplingParams
from playground.engine.trace import Trace
from playground.models.loading import load_model
from playground.models.text import LoadedModel
from playground.page.binned import WHOLE_UP_TO, binned
from playground.page.controls import stage_table

CONDITIONS = f"prompt {PROMPT_TOKENS} + {NEW_TOKENS} new tokens, float32, 1 thread"
SCRIPT = Path(__file__).parents[1] / "playground" / "page" / "js" / "reread.js"
MOVES = 20  # of the temperature slider in a round, as in a drag
TOP_P = 0.9


def figures() -> Iterator[Figure]:
    loaded = load_model("minimind-chat")
    yield recording(loaded)
    theirs, prompt = in_transformers(loaded.model), prompt_of(loaded)
    trace = Trace.record(timed(generate(loaded.model, prompt, SamplingParams(seed=1), None, NEW_TOKENS)))
    yield reread("in Python", moves_in_python(trace), theirs, trace)
    if shutil.which("node"):
        with moves_in_node(trace) as moves:
            yield reread("in the browser's script (node)", moves, theirs, trace)
            with moves_in_node(of_a_large_vocabulary(trace)) as large_moves:
                yield large_reread(large_moves, moves)
    else:
        print("the browser's re-read is not measured: node is not installed", file=sys.stderr)


def recording(loaded: LoadedModel) -> Figure:
    prompt, params = prompt_of(loaded), SamplingParams(seed=1)

    def on() -> object:
        trace = Trace.record(timed(generate(loaded.model, prompt, params, None, NEW_TOKENS)))
        return trace.logits, trace.token_ids

    def off() -> list[int]:
        return [step.token_id for step in generate(loaded.model, prompt, params, None, NEW_TOKENS)]

    return compare(
        "recording logits, tokens and times of every step, against keeping the tokens alone, ms",
        processor_time(on),
        processor_time(off),
        Goal(0.9, remark="at most 10 % apart"),
        f"{CONDITIONS}, T 1",
        rounds=15,
    )


def reread(where: str, move: Way, theirs: transformers.PreTrainedModel, trace: Trace) -> Figure:
    """Beside what a page without recorded logits has to do when a slider moves. The peer is not our own model, which
    becomes faster: the ratio would then ask for more than it did."""

    def run_again() -> object:
        return generate_in(theirs, trace.prompt_ids, NEW_TOKENS, do_sample=True, temperature=0.8, top_k=0, top_p=TOP_P)

    return compare(
        f"one slider move re-reads a recorded run {where}, against transformers running the model again, ms",
        move,
        processor_time(run_again),
        Goal(100, most_ms=2.5, remark="which is 2.5 ms where the peer takes 250"),
        f"whole vocabulary of 3,072, mean of {MOVES} moves of temperature with top-p {TOP_P}; {CONDITIONS}",
    )


def large_reread(move: Way, embedded: Way) -> Figure:
    return compare(
        "one slider move re-reads a run of 49,152 tokens in the browser's script, against one of 3,072, ms",
        move,
        embedded,
        Goal(0.67, remark="at most one and a half times as long"),
        f"largest logits and tail in bins against a whole vocabulary, {NEW_TOKENS} steps, mean of {MOVES} moves",
    )


def of_a_large_vocabulary(trace: Trace) -> Trace:
    """The same run as if its logits had been those of 49,152 tokens: as many times further ones lie below them."""
    large = copy.copy(trace)
    spread = torch.randn(len(trace), 49_152 - trace.logits.shape[1], generator=torch.Generator().manual_seed(1))
    large.logits = torch.cat([trace.logits, trace.logits.mean(-1, keepdim=True) + trace.logits.std() * spread], dim=1)
    return large


def moves_in_python(trace: Trace) -> Way:
    """Kept, chosen and all probabilities after each move."""
    moves = cycle(range(100))

    def drag() -> None:
        for _ in range(MOVES):
            read = trace.reread(SamplingParams(temperature=0.503 + next(moves) / 100, top_p=TOP_P))
            assert read.num_candidates and read.chosen_ids and read.probs.shape == trace.logits.shape

    return processor_time(drag, parts=MOVES)


# First line in: a run. Then one number out for each line in: milliseconds of node's processor time for one move.
_NODE = """
const [script, moves, topP] = process.argv.slice(1);
const { rankRun, reread, useTable } = await import(script);
const { binnedOf } = await import(new URL("binned.js", script));
const { createInterface } = await import("node:readline");
let run = null, move = 0;
for await (const line of createInterface({ input: process.stdin })) {
  if (run === null) {
    run = JSON.parse(line);
    run.logits = Array.isArray(run.logits) ? Float32Array.from(run.logits) : binnedOf(run.logits);
    useTable(run.table);
    rankRun(run);
    continue;
  }
  const start = process.cpuUsage();
  for (let count = 0; count < moves; count++) {
    reread(run, { temperature: 0.503 + (move++ % 100) / 100, top_p: Number(topP) });
  }
  const { user, system } = process.cpuUsage(start); // microseconds, of all its threads
  console.log((user + system) / 1000 / moves);
}
"""


@contextmanager
def moves_in_node(trace: Trace) -> Iterator[Way]:
    """The same in a node that stays for all rounds, so that its compiler has seen the script before it is measured."""
    vocab_size = trace.logits.shape[1]
    is_large, texts = vocab_size > WHOLE_UP_TO, (trace.prompt_ids, trace.token_ids)
    run = {
        "numSteps": len(trace),
        "vocabSize": vocab_size,
        "logits": binned(trace.logits.numpy(), *texts) if is_large else trace.logits.flatten().tolist(),
        "tokenIds": trace.token_ids,
        "uniforms": trace.uniforms,
        "promptIds": trace.prompt_ids,
        "table": stage_table(),
    }
    command = ["node", "--input-type=module", "-e", _NODE, SCRIPT.as_uri(), str(MOVES), str(TOP_P)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:

        def drag() -> Took:
            print(file=node.stdin, flush=True)
            return Took(float(node.stdout.readline()))

        print(json.dumps(run), file=node.stdin, flush=True)
        yield drag
        node.stdin.close()
