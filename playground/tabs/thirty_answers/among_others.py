"""Is a greedy answer the same alone as among others? Sums are rounded in another order in a larger batch.

If no logit moves by more than d, the greedy choice changes only where the two best are within 2 d: the best may fall by
d and the second rise by d.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from playground.engine.generation import Step, generate
from playground.engine.params import SamplingParams
from playground.models.answers import at_once
from playground.models.rows import answer_rows, generate_rows
from playground.models.text import LoadedModel, Prompt

BATCH_SIZES = (2, 4, 8, 30)
GREEDY = SamplingParams(temperature=0)


@dataclass(frozen=True)
class AmongOthers:
    """Row 0 is greedy; the other rows answer the same prompt at temperature 1."""

    rows: int
    largest_difference: float  # of any logit of row 0 from the run alone, as long as both have written the same
    smallest_gap: float  # between the two best logits of the run alone: no flip while twice the difference is less
    first_flip: int | None  # step whose token differs
    text: str
    text_alone: str

    @property
    def can_flip(self) -> bool:
        return self.smallest_gap <= 2 * self.largest_difference


def among_others(
    loaded_model: LoadedModel,
    prompt: Prompt,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    max_new_tokens: int = 24,
) -> Generator[None, None, list[AmongOthers]]:
    """Yields after each forward pass."""
    model, prompt_ids, stop_ids = loaded_model.model, loaded_model.prompt_ids(prompt), loaded_model.stop_ids
    alone = []
    for step in generate(model, prompt_ids, GREEDY, None, max_new_tokens, stop_ids):
        alone.append(step)
        yield
    gap = min(_gap(step.distribution.logits) for step in alone)
    results = []
    for rows in batch_sizes:
        batch, among = [(GREEDY, 0), *answer_rows(SamplingParams(seed=1), rows - 1)], []
        for step in generate_rows(model, prompt_ids, batch, None, max_new_tokens, stop_ids, share=False):
            if 0 in step.rows:
                place = step.rows.index(0)
                among.append((step.token_ids[place], step.logits[step.branches[place]]))
            yield
        texts = (
            loaded_model.tokenizer.decode([token_id for token_id in token_ids if token_id not in stop_ids])
            for token_ids in ([token_id for token_id, _ in among], [step.token_id for step in alone])
        )
        difference, flip = _compare(alone, among)
        results.append(AmongOthers(rows, difference, gap, flip, *texts))
    return results


def greedy_among_others(loaded_model: LoadedModel, prompt: str, **options: Any) -> list[AmongOthers]:
    """As `among_others`, without stopping on the way."""
    return at_once(among_others(loaded_model, prompt, **options))


def _compare(alone: list[Step], among: list[tuple[int, Tensor]]) -> tuple[float, int | None]:
    largest = 0.0
    for step, (token_id, logits) in zip(alone, among, strict=False):
        largest = max(largest, float((step.distribution.logits - logits).abs().max()))
        if token_id != step.token_id:
            return largest, step.index
    return largest, None


def _gap(logits: Tensor) -> float:
    best, second = logits.topk(2).values.tolist()
    return best - second
