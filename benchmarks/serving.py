"""Requests of different lengths: our continuous batch against one after another, and against transformers' own."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import transformers
from transformers.generation.configuration_utils import ContinuousBatchingConfig

from benchmarks.against_transformers import in_transformers
from benchmarks.measure import Figure, Goal, compare, processor_time
from playground.engine.generation import generate
from playground.models.answers import at_once
from playground.models.loading import load_model
from playground.models.text import LoadedModel
from playground.tabs.serving.batching_values import MOST_NEW, workload
from playground.tabs.serving.schedule import CONTINUOUS, GREEDY, Asked, serve

SLOTS = 16
Answers = list[tuple[int, ...]]


def figures() -> Iterator[Figure]:
    loaded = load_model("minimind-chat")
    yield against_one_after_another(loaded)
    yield against_generate_batch(loaded, in_transformers(loaded.model))


def continuous(loaded: LoadedModel, asked: Sequence[Asked]) -> Answers:
    schedule = at_once(serve(loaded.model, asked, SLOTS, CONTINUOUS))
    return [served.token_ids for served in schedule.served]


def one_after_another(loaded: LoadedModel, asked: Sequence[Asked]) -> Answers:
    return [
        tuple(step.token_id for step in generate(loaded.model, *_of(each), stop_ids=each.stop_ids)) for each in asked
    ]


def _of(asked: Asked) -> tuple:
    return asked.prompt_ids, GREEDY, None, asked.max_new_tokens


def against_one_after_another(loaded: LoadedModel) -> Figure:
    lengths = [8 + 4 * number for number in range(16)]
    pairs = zip(workload(loaded, "equal"), lengths, strict=True)
    asked = [replace(each, max_new_tokens=length) for each, length in pairs]
    assert continuous(loaded, asked) == one_after_another(loaded, asked), "both must write the same tokens"
    prompts = [len(each.prompt_ids) for each in asked]
    return compare(
        "16 requests of different lengths in one continuous batch, against one after another, ms",
        processor_time(lambda: continuous(loaded, asked)),
        processor_time(lambda: one_after_another(loaded, asked)),
        Goal(3),
        f"prompts of {min(prompts)} to {max(prompts)} tokens, answers of {min(lengths)} to {max(lengths)}, greedy, "
        "same tokens, float32, 1 thread",
    )


def against_generate_batch(loaded: LoadedModel, theirs: transformers.PreTrainedModel) -> Figure:
    """So many that its set-up for each call, half a second here, is a small part. Its cache is sized for the slots:
    left to itself it takes most of the memory, and half a minute for that."""
    asked = 8 * workload(loaded, "ends")
    settings = transformers.GenerationConfig(
        max_new_tokens=MOST_NEW,
        do_sample=False,
        eos_token_id=list(loaded.stop_ids),
        pad_token_id=loaded.stop_ids[0],
    )
    sizes = ContinuousBatchingConfig(page_size=32, num_blocks=64, max_batch_tokens=256, max_requests_per_batch=SLOTS)
    prompts = [list(each.prompt_ids) for each in asked]

    def peer() -> Answers:
        written = theirs.generate_batch(
            prompts, generation_config=settings, continuous_batching_config=sizes, warmup=False
        )
        return [tuple(each.generated_tokens) for each in written.values()]

    transformers.logging.set_verbosity_error()
    assert sorted(peer()) == sorted(continuous(loaded, asked)), "both must write the same tokens"
    lengths = [len(each) for each in continuous(loaded, asked)]
    return compare(
        f"{len(asked)} requests in a continuous batch of {SLOTS}, against transformers generate_batch, ms",
        processor_time(lambda: continuous(loaded, asked)),
        processor_time(peer),
        Goal(0.77, remark="at most 1.3 times its time"),
        f"answers of {min(lengths)} to {max(lengths)} tokens, as they end, greedy, same tokens, float32, 1 thread",
        rounds=5,
    )
