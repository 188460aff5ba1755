"""Many answers to one prompt, as text, each with its probability. R answers, V vocabulary."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from playground.engine.arguments import whole_number
from playground.engine.generation import STOP_TOKEN, Decoder, LogitsProcessor, Request, feed_in_pieces
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.models.rows import RowsStep, answer_rows, generate_rows
from playground.models.tokenizer import Tokenizer

Written = TypeVar("Written")


@dataclass(frozen=True)
class Answer:
    """One row, cut before its first stop token."""

    token_ids: tuple[int, ...]
    text: str
    probability: float  # product of `token_probs`: how often these settings write exactly this
    model_probability: float  # the same tokens at temperature 1 with nothing cut
    token_probs: tuple[float, ...]  # of each token under the settings; for a stop, of all stop tokens together
    stop_reason: str

    @property
    def num_steps(self) -> int:
        """Forward passes it took: the stop token is one too."""
        return len(self.token_probs)


def write_answers(
    model: Decoder,
    tokenizer: Tokenizer,
    prompt_ids: Sequence[int],
    settings: Sequence[SamplingParams],
    n: int,
    max_new_tokens: int,
    stop_ids: Sequence[int],
    logits_processors: Sequence[LogitsProcessor] = (),
) -> Generator[int, None, list[list[Answer]]]:
    """n answers under each of the settings, all from one prefill; row i is the run alone with its seed.

    Yields how many are complete after each pass, and returns a list for each setting. Stop iterating to cancel.
    Raises as `generate` does.
    """
    n = whole_number("n", n, 1)
    rows = [row for params in settings for row in answer_rows(params, n)]
    token_ids: list[list[int]] = [[] for _ in rows]
    token_probs: list[list[float]] = [[] for _ in rows]
    model_probability, reasons, done = [1.0] * len(rows), [""] * len(rows), 0
    cache = KVCache.of(model)
    text, _ = Request.checked(model, prompt_ids, settings[0], max_new_tokens).begin(model, cache)
    for _ in feed_in_pieces(model, text, cache):
        yield done
    for step in generate_rows(model, text, rows, cache, max_new_tokens, stop_ids, True, logits_processors):
        pairs = zip(step.rows, step.token_ids, *_choice_probs(step), step.stop_reasons, strict=True)
        for row, token_id, prob, model_prob, reason in pairs:
            token_probs[row].append(prob)
            model_probability[row] *= model_prob
            if reason != STOP_TOKEN:
                token_ids[row].append(token_id)
            if reason:
                reasons[row] = reason
                done += 1
        yield done
    texts: dict[tuple[int, ...], str] = {}
    answers = []
    for ids, probs, model_prob, reason in zip(token_ids, token_probs, model_probability, reasons, strict=True):
        key = tuple(ids)
        if key not in texts:
            texts[key] = tokenizer.decode(ids)
        answers.append(Answer(key, texts[key], prod(probs), model_prob, tuple(probs), reason))
    return [answers[start : start + n] for start in range(0, len(rows), n)]


def at_once(writing: Generator[int, None, Written]) -> Written:
    """What `write_answers`, or a generator around it, returns, without stopping on the way."""
    while True:
        try:
            next(writing)
        except StopIteration as end:
            return end.value


def _choice_probs(step: RowsStep) -> tuple[list[float], list[float]]:
    """(R,) of each choice, under the settings and as the model gave it.

    A stop counts all stop tokens: the answer is the same whichever of them ends it.
    """
    stop_ids = step.request.stop_ids
    totals = step.logits.logsumexp(-1, keepdim=True)
    model_probs = (step.logits[step.branches, step.token_ids] - totals[step.branches, 0]).double().exp().tolist()
    probs = list(step.probs)
    for place, reason in enumerate(step.stop_reasons):
        if reason == STOP_TOKEN and len(stop_ids) > 1:
            log_probs = step.logits[step.branches[place], stop_ids] - totals[step.branches[place]]
            model_probs[place] = float(log_probs.double().exp().sum())
            probs[place] = float(step.distribution(place).probs[stop_ids].sum())
    return probs, model_probs
