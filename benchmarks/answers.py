"""Thirty answers under nine temperatures against transformers, and what thirty cost beside one."""

from collections.abc import Iterator

import torch
import transformers

from benchmarks.against_transformers import PROMPT_TOKENS, in_transformers
from benchmarks.measure import Figure, Goal, compare, processor_time
from playground.engine.generation import generate
from playground.engine.params import SamplingParams
from playground.engine.sampling import row_seed
from playground.models.loading import load_model
from playground.models.text import LoadedModel
from playground.tabs.cache_on_off.sweep import text_of_length
from playground.tabs.thirty_answers.answers import sample_answer_set
from playground.tabs.thirty_answers.curve import VALUES, sample_curve_pool

ROWS, NEW_TOKENS = 30, 24
TEMPERATURES = VALUES["temperature"]
QUESTION, STORY = "What should I do today?", "Once upon a time"


def figures() -> Iterator[Figure]:
    chat, base = load_model("minimind-chat"), load_model("minimind-base")
    # A question after a text, about as long as the course's prompt; the question alone, where sharing the prompt saves
    # little; and the worst case: next to no prompt, rows that never end and soon all differ.
    after_text = f"{text_of_length(chat, PROMPT_TOKENS - 8)} {QUESTION}"
    yield sweep_against_transformers(chat, after_text, Goal(5))
    yield sweep_against_transformers(chat, QUESTION, Goal(5))
    yield sweep_against_transformers(base, STORY, Goal(1.5))
    yield thirty_beside_one(chat, QUESTION)
    yield thirty_beside_one(base, STORY)


def sweep_against_transformers(loaded: LoadedModel, prompt: str, goal: Goal) -> Figure:
    theirs = in_transformers(loaded.model)
    ids = torch.tensor([loaded.prompt_ids(prompt)])
    common = {
        "attention_mask": torch.ones_like(ids),
        "max_new_tokens": NEW_TOKENS,
        "eos_token_id": list(loaded.stop_ids),
        "pad_token_id": loaded.stop_ids[0],
    }

    def ours() -> list[list[tuple[int, ...]]]:
        pool = sample_curve_pool(loaded, prompt, SamplingParams(seed=1), rows=ROWS, max_new_tokens=NEW_TOKENS)
        return [[answer.token_ids for answer in drawn.answers] for drawn in pool.sets]

    def peer() -> list[torch.Tensor]:
        """Once per temperature; for temperature 0 one greedy row, as it refuses thirty."""
        texts = [theirs.generate(ids, do_sample=False, **common)]
        for temperature in TEMPERATURES[1:]:
            settings = {"do_sample": True, "temperature": float(temperature), "top_k": 0, "num_return_sequences": ROWS}
            texts.append(theirs.generate(ids, **settings, **common))
        return texts

    torch.manual_seed(1)
    transformers.logging.set_verbosity_error()
    greedy = [token for token in peer()[0][0, ids.shape[1] :].tolist() if token not in loaded.stop_ids]
    assert list(ours()[0][0]) == greedy, "both must write the same greedy answer"
    return compare(
        f"{len(TEMPERATURES)} x {ROWS} answers in one sweep, against transformers once per temperature, ms: "
        f"{loaded.name}, {ids.shape[1]} prompt tokens",
        processor_time(ours),
        processor_time(peer),
        goal,
        _conditions(loaded, prompt),
        rounds=5,
    )


def thirty_beside_one(loaded: LoadedModel, prompt: str) -> Figure:
    params, prompt_ids = SamplingParams(seed=1), loaded.prompt_ids(prompt)

    def thirty() -> list[tuple[int, ...]]:
        return [answer.token_ids for answer in sample_answer_set(loaded, prompt, params, ROWS, NEW_TOKENS).answers]

    def one() -> list[int]:
        alone = SamplingParams(seed=row_seed(params.seed, 7))
        return [step.token_id for step in generate(loaded.model, prompt_ids, alone, None, NEW_TOKENS, loaded.stop_ids)]

    assert list(thirty()[7]) == [token for token in one() if token not in loaded.stop_ids], "row 7 is the run alone"
    return compare(
        f"{ROWS} answers in one batch, against one of them alone, ms: {loaded.name}, {len(prompt_ids)} prompt tokens",
        processor_time(thirty),
        processor_time(one),
        Goal(0.1, remark="thirty cost at most ten; a slider rests 300 ms before they are drawn"),
        _conditions(loaded, prompt),
    )


def _conditions(loaded: LoadedModel, prompt: str) -> str:
    text = prompt if len(prompt) < 40 else f"{prompt[:30]} ..."
    return f"{text!r}, at most {NEW_TOKENS} new tokens, float32, 1 thread"
