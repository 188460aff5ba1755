"""What the cache saves on the embedded model, and our cached run against transformers' cached generate."""

from collections.abc import Iterator

import torch
import transformers

from benchmarks.against_transformers import NEW_TOKENS, PROMPT_TOKENS, in_transformers
from benchmarks.measure import Figure, alternate, rounded
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.experiments.sweep import text_of_length
from playground.models.loading import LoadedModel, load_model

GREEDY = SamplingParams(temperature=0)
CONDITIONS = f"prompt {PROMPT_TOKENS} + {NEW_TOKENS} new, greedy, same tokens, float32, 1 thread, median of 9 rounds"


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
    on, off, ratio = alternate(lambda: run(loaded, prompt), lambda: run(loaded, prompt, "none"))
    return Figure(
        "one answer with the cache, against without, ms",
        rounded(on),
        rounded(off),
        rounded(ratio),
        "ratio >= 4; tokens fed 246 against 13,728",
        ratio >= 4 and (on_fed, off_fed) == (246, 13_728),
        CONDITIONS,
    )


def cached_against_transformers(loaded: LoadedModel, prompt: list[int], theirs: transformers.PreTrainedModel) -> Figure:
    def peer() -> list[int]:
        ids = torch.tensor([prompt])
        text = theirs.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW_TOKENS, do_sample=False)
        return text[0, len(prompt) :].tolist()

    assert peer() == run(loaded, prompt)[0], "both must write the same tokens"
    ours_ms, theirs_ms, ratio = alternate(lambda: run(loaded, prompt), peer)
    return Figure(
        "one cached answer, against transformers cached generate, ms",
        rounded(ours_ms),
        rounded(theirs_ms),
        rounded(ratio),
        "ratio >= 2",
        ratio >= 2,
        CONDITIONS,
    )
