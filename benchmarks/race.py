"""What the cache saves on the embedded model, and our cached run against transformers' cached generate."""

from collections.abc import Iterator

import transformers

from benchmarks.against_transformers import NEW_TOKENS, PROMPT_TOKENS, generate_in, in_transformers
from benchmarks.measure import Figure, Goal, compare, processor_time
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.models.loading import load_model
from playground.models.text import LoadedModel
from playground.tabs.cache_on_off.sweep import text_of_length

GREEDY = SamplingParams(temperature=0)
CONDITIONS = f"prompt {PROMPT_TOKENS} + {NEW_TOKENS} new, greedy, same tokens, float32, 1 thread"


def figures() -> Iterator[Figure]:
    loaded = load_model("minimind-chat")
    prompt = loaded.prompt_ids(text_of_length(loaded, PROMPT_TOKENS))
    yield on_against_off(loaded, prompt)
    yield cached_against_transformers(loaded, prompt, in_transformers(loaded.model))


def run(loaded: LoadedModel, prompt: list[int], kind: str = "dynamic") -> tuple[list[int], int]:
    """Token ids, and how many tokens were fed for them."""
    steps = list(generate(loaded.model, prompt, GREEDY, KVCache(loaded.model.config.num_layers, kind), NEW_TOKENS))
    return [step.token_id for step in steps], sum(step.num_fed for step in steps)


def on_against_off(loaded: LoadedModel, prompt: list[int]) -> Figure:
    (on_ids, on_fed), (off_ids, off_fed) = run(loaded, prompt), run(loaded, prompt, "none")
    assert on_ids == off_ids, "both must write the same tokens"
    assert (on_fed, off_fed) == (246, 13_728), (on_fed, off_fed)
    return compare(
        "one answer with the cache, against without, ms",
        processor_time(lambda: run(loaded, prompt)),
        processor_time(lambda: run(loaded, prompt, "none")),
        Goal(4, remark="tokens fed 246 against 13,728"),
        CONDITIONS,
    )


def cached_against_transformers(loaded: LoadedModel, prompt: list[int], theirs: transformers.PreTrainedModel) -> Figure:
    def peer() -> list[int]:
        return generate_in(theirs, prompt, NEW_TOKENS, do_sample=False)[0, len(prompt) :].tolist()

    assert peer() == run(loaded, prompt)[0], "both must write the same tokens"
    return compare(
        "one cached answer, against transformers cached generate, ms",
        processor_time(lambda: run(loaded, prompt)),
        processor_time(peer),
        Goal(2),
        CONDITIONS,
    )
