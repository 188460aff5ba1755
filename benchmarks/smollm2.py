"""SmolLM2 with its weights in three formats, each against transformers' `generate` with the same weights in float32."""

import sys
from collections.abc import Iterator
from pathlib import Path

import transformers

from benchmarks.against_transformers import generate_in, in_transformers
from benchmarks.measure import Figure, Goal, compare, processor_time
from playground.engine.generation import generate
from playground.engine.params import SamplingParams
from playground.models.loading import load_model
from playground.models.sources import MEMBER, cache_folder

QUESTION, NEW_TOKENS = "Tell me a story about a dragon.", 32
GOALS = {"float32": Goal(1.15), "float16": Goal(1.7, remark="aim 2"), "int8": Goal(2.2, remark="aim 3")}


def figures() -> Iterator[Figure]:
    if not (cache_folder() / Path(MEMBER).name).is_file():
        print("SmolLM2 is not here: `make run MODEL=smollm2` fetches it; its figures are left out", file=sys.stderr)
        return
    loaded = load_model("smollm2")
    prompt, greedy = loaded.prompt_ids(QUESTION), SamplingParams(temperature=0)
    theirs = in_transformers(loaded.model, transformers.LlamaConfig, transformers.LlamaForCausalLM)
    for weights, goal in GOALS.items():
        model = load_model("smollm2", weights=weights).model

        def ours(model=model) -> list[int]:
            return [step.token_id for step in generate(model, prompt, greedy, None, NEW_TOKENS)]

        def peer() -> list[int]:
            return generate_in(theirs, prompt, NEW_TOKENS, do_sample=False, eos_token_id=None)[
                0, len(prompt) :
            ].tolist()

        same = sum(mine == right for mine, right in zip(ours(), peer(), strict=True))
        assert weights != "float32" or same == NEW_TOKENS, "both must write the same tokens"
        yield compare(
            f"SmolLM2, weights in {weights}, one answer, against transformers generate in float32, ms",
            processor_time(ours),
            processor_time(peer),
            goal,
            f"prompt {len(prompt)} + {NEW_TOKENS} new tokens, greedy, {same} the same in the same place, 1 thread",
            rounds=3,
        )
