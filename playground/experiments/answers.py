"""Thirty answers to one prompt: how many are distinct, and how likely was each. R rows still written, V vocabulary."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd
import torch

from playground.engine.generation import STOP_TOKEN, RowsStep, answer_params, generate_rows
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distributions
from playground.models.loading import LoadedModel

TOKENS, TEXT = "tokens", "text"  # what makes two answers the same
NUM_ANSWERS, ANSWER_TOKENS = 30, 24  # as every tab draws them


@dataclass(frozen=True)
class Answer:
    """One row of the batch, cut before its first stop token."""

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


@dataclass(frozen=True)
class Group:
    """Answers that count as one."""

    text: str  # its most frequent spelling
    rows: tuple[int, ...]
    probability: float  # of the spellings seen, so a lower bound when texts are compared
    model_probability: float  # the same, at temperature 1 with nothing cut
    length: int  # tokens of that spelling
    stop_reason: str


@dataclass(frozen=True)
class AnswerSet:
    prompt: str
    params: SamplingParams
    max_new_tokens: int
    answers: tuple[Answer, ...]  # in row order
    prompt_length: int  # tokens
    compare: str = TOKENS

    def compared_by(self, compare: str) -> "AnswerSet":
        """The same answers, counted by TOKENS or by normalised TEXT."""
        return replace(self, compare=compare)

    @cached_property
    def distinct(self) -> list[Group]:
        """Most frequent first; the likelier first among equals, so that the order of the rows does not matter."""
        rows_of: dict[Hashable, list[int]] = {}
        for row, answer in enumerate(self.answers):
            rows_of.setdefault(_identity(answer, self.compare), []).append(row)
        groups = [self._group(rows) for rows in rows_of.values()]
        return sorted(groups, key=lambda group: (-len(group.rows), -group.probability, group.text))

    @property
    def num_distinct(self) -> int:
        return len(self.distinct)

    @property
    def counts(self) -> list[int]:
        return [len(group.rows) for group in self.distinct]

    @cached_property
    def groups(self) -> list[int]:
        """For each row the place of its answer in `distinct`: the number on its dot."""
        place_of = {row: place for place, group in enumerate(self.distinct) for row in group.rows}
        return [place_of[row] for row in range(len(self.answers))]

    def table(self) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "answer": [group.text for group in self.distinct],
                "count": self.counts,
                "share": [count / len(self.answers) for count in self.counts],
                "probability": [group.probability for group in self.distinct],
                "model probability": [group.model_probability for group in self.distinct],
                "length": [group.length for group in self.distinct],
                "stop reason": [group.stop_reason for group in self.distinct],
            }
        )

    def _group(self, rows: list[int]) -> Group:
        spellings = Counter(self.answers[row].token_ids for row in rows)
        first_with = {self.answers[row].token_ids: self.answers[row] for row in rows}
        answer = min(first_with.values(), key=lambda a: (-spellings[a.token_ids], -a.probability, a.token_ids))
        probability = sum(spelling.probability for spelling in first_with.values())
        model_probability = sum(spelling.model_probability for spelling in first_with.values())
        length = len(answer.token_ids)
        return Group(answer.text, tuple(rows), probability, model_probability, length, answer.stop_reason)


def normalise(text: str) -> str:
    """Without case, runs of spaces and one final full stop: " The Dog." and "the  dog" are the same."""
    return " ".join(text.split()).removesuffix(".").rstrip().casefold()


def sample_answer_set(
    loaded_model: LoadedModel,
    prompt: str,
    params: SamplingParams,
    n: int = NUM_ANSWERS,
    max_new_tokens: int = ANSWER_TOKENS,
) -> AnswerSet:
    """n answers in one batch. Row i draws with the numbers of the run alone with `row_seed(params.seed, i)`, however
    many rows there are: the same answer, unless a number lies within rounding (about 1e-5) of a boundary."""
    return sample_answer_sets(loaded_model, prompt, [params], n, max_new_tokens)[0]


def sample_answer_sets(
    loaded_model: LoadedModel,
    prompt: str,
    settings: Sequence[SamplingParams],
    n: int = NUM_ANSWERS,
    max_new_tokens: int = ANSWER_TOKENS,
) -> list[AnswerSet]:
    """n answers under each of the settings, all in one batch that shares one prefill. Raises as `generate` does."""
    prompt_ids = loaded_model.prompt_ids(prompt)
    row_params = [row for params in settings for row in answer_params(params, n)]
    steps = generate_rows(loaded_model.model, prompt_ids, row_params, None, max_new_tokens, loaded_model.stop_ids)
    answers = collect_answers(loaded_model, steps, len(row_params))
    return [
        AnswerSet(prompt, params, max_new_tokens, tuple(answers[place * n : (place + 1) * n]), len(prompt_ids))
        for place, params in enumerate(settings)
    ]


def collect_answers(loaded_model: LoadedModel, steps: Iterable[RowsStep], num_rows: int) -> list[Answer]:
    """Runs the batch to its end. What it keeps of a step is one number a row, not the distributions."""
    stop_ids = loaded_model.stop_ids
    token_ids: list[list[int]] = [[] for _ in range(num_rows)]
    token_probs: list[list[float]] = [[] for _ in range(num_rows)]
    model_probability = [1.0] * num_rows
    reasons = [""] * num_rows
    for step in steps:
        for row, token_id, (prob, model_prob), reason in zip(
            step.rows, step.token_ids, chosen_probs(step, stop_ids), step.stop_reasons, strict=True
        ):
            token_probs[row].append(prob)
            model_probability[row] *= model_prob
            reasons[row] = reason or ""
            if reason != STOP_TOKEN:
                token_ids[row].append(token_id)
    return [
        make_answer(loaded_model, token_ids[row], token_probs[row], model_probability[row], reasons[row])
        for row in range(num_rows)
    ]


def make_answer(
    loaded_model: LoadedModel,
    token_ids: list[int],
    token_probs: list[float],
    model_probability: float,
    stop_reason: str,
) -> Answer:
    probability = 1.0
    for prob in token_probs:
        probability *= prob
    text = loaded_model.tokenizer.decode(token_ids)
    return Answer(tuple(token_ids), text, probability, model_probability, tuple(token_probs), stop_reason)


def chosen_probs(step: RowsStep, stop_ids: Sequence[int]) -> list[tuple[float, float]]:
    """For each row the probability of its choice: under the settings, and as the model gave it."""
    pairs: list[tuple[float, float]] = [(0.0, 0.0)] * len(step.rows)
    places_of: dict[int, list[int]] = {}
    for place, distribution in enumerate(step.distributions):
        places_of.setdefault(id(distribution.batch), []).append(place)
    for places in places_of.values():
        batch = step.distributions[places[0]].batch
        batch_rows = [step.distributions[place].row for place in places]
        chosen = [step.token_ids[place] for place in places]
        for place, pair in zip(places, probs_of_choices(batch, batch_rows, chosen, stop_ids), strict=True):
            pairs[place] = pair
    return pairs


def probs_of_choices(
    batch: Distributions, rows: Sequence[int], token_ids: Sequence[int], stop_ids: Sequence[int]
) -> list[tuple[float, float]]:
    """(under the settings, as the model gave it) of token i in row i of the batch. A stop counts all stop tokens:
    the answer is the same whichever of them ends it."""
    rows = torch.as_tensor(rows)
    stops = list(stop_ids)
    wanted = [stops if token_id in stop_ids else [token_id] for token_id in token_ids]
    width = max(map(len, wanted))
    ids = torch.tensor([ids + [-1] * (width - len(ids)) for ids in wanted], device=batch.logits.device)  # (R, width)
    padding, ids = ids < 0, ids.clamp(min=0)
    logits = batch.logits[rows].double()
    model_probs = (logits.gather(1, ids) - logits.logsumexp(-1, keepdim=True)).exp().masked_fill(padding, 0).sum(-1)
    if batch.params.temperature == 0:
        return [(1.0, model_prob) for model_prob in model_probs.tolist()]
    ranking, ranked_probs = batch.ranking[rows], batch.ranked_probs[rows]
    probs = torch.zeros(len(rows), dtype=torch.float64, device=ranking.device)
    for column in range(width):
        matches = (ranking == ids[:, column : column + 1]) & ~padding[:, column : column + 1]
        probs += (ranked_probs * matches).sum(-1)
    return list(zip(probs.tolist(), model_probs.tolist(), strict=True))


def _identity(answer: Answer, compare: str) -> Hashable:
    return normalise(answer.text) if compare == TEXT else answer.token_ids
