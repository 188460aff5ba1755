"""Thousands of answers to one prompt. Rows that begin alike share their forward passes until they part.

Row i is still the run alone with `row_seed(seed, i)`: only the work is shared. Shapes: B branches, V vocabulary.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.engine.generation import CONTEXT_FULL, LENGTH, STOP_TOKEN, generate_rows
from playground.engine.kv_cache import KVCache
from playground.engine.sampling import Distributions, SamplingParams, draw_uniforms, row_seed
from playground.experiments.answers import Answer, AnswerSet, make_answer
from playground.models.loading import LoadedModel

MAX_BRANCHES = 256  # fed at once; the others wait, so that memory stays small
STOP = -1  # stands for all stop tokens: the answer is the same whichever of them ends it


@dataclass(frozen=True)
class Leaf:
    """A finished answer, and the rows that gave it."""

    setting: int
    rows: list[int]
    answer: Answer


@dataclass(frozen=True)
class AnswerRequest:
    """n answers under each of the settings, to one prompt."""

    prompt: str
    settings: tuple[SamplingParams, ...]
    n: int = 30
    max_new_tokens: int = 24


@dataclass(frozen=True)
class _Branch:
    """What some rows have written so far."""

    token_ids: tuple[int, ...]
    model_probability: float
    rows: dict[int, np.ndarray]  # setting -> its rows
    token_probs: dict[int, tuple[float, ...]]  # setting -> probability of each token


@dataclass(frozen=True)
class _Waiting:
    """Branches whose last token the model has not seen yet, and the cache of the branches they grew from."""

    cache: KVCache
    last_use: bool  # of the cache: it need not be copied
    num_parents: int
    parents: list[int]
    branches: list[_Branch]


def draw_answer_sets(loaded_model: LoadedModel, request: AnswerRequest) -> list[AnswerSet]:
    """One set for each of the settings. Raises as `generate` does."""
    return gather(loaded_model, request, answer_leaves(loaded_model, request))


def gather(loaded_model: LoadedModel, request: AnswerRequest, leaves: Iterable[Leaf]) -> list[AnswerSet]:
    """Puts each answer in its row."""
    answers: list[list[Answer | None]] = [[None] * request.n for _ in request.settings]
    for leaf in leaves:
        for row in leaf.rows:
            answers[leaf.setting][row] = leaf.answer
    prompt_length = len(loaded_model.prompt_ids(request.prompt))
    return [
        AnswerSet(request.prompt, params, request.max_new_tokens, tuple(rows), prompt_length)
        for params, rows in zip(request.settings, answers, strict=True)
    ]


@torch.no_grad()
def answer_leaves(loaded_model: LoadedModel, request: AnswerRequest) -> Iterator[Leaf]:
    """Yields each answer when the last token of its rows is drawn; stop iterating to cancel."""
    model, prompt_ids, last = loaded_model.model, loaded_model.prompt_ids(request.prompt), request.max_new_tokens - 1
    cache = KVCache(model.config.num_layers)
    prefill = next(generate_rows(model, prompt_ids, request.settings[:1], cache, request.max_new_tokens))
    grower = _Grower(loaded_model, request, prompt_ids)
    waiting: list[_Waiting] = []
    branches, logits = [grower.root()], prefill.distributions[0].logits[None]
    while True:
        index = len(branches[0].token_ids)
        full = len(prompt_ids) + index + 1 > model.config.max_positions
        at_end = LENGTH if index == last else CONTEXT_FULL if full else None
        going_on, parents = [], []
        for parent, token_id, branch in grower.grow(branches, logits):
            reason = STOP_TOKEN if token_id == STOP else at_end
            if reason:
                yield from _leaves(loaded_model, branch, reason)
            else:
                going_on.append(branch)
                parents.append(parent)
        for start in range(0, len(going_on), MAX_BRANCHES):
            part = slice(start, start + MAX_BRANCHES)
            waiting.append(_Waiting(cache, start == 0, len(branches), parents[part], going_on[part]))
        if not waiting:
            return
        cache, branches, logits = _feed(loaded_model, waiting.pop())


class _Grower:
    """Draws the next token of every row of every branch."""

    def __init__(self, loaded_model: LoadedModel, request: AnswerRequest, prompt_ids: list[int]) -> None:
        self.settings, self.n = request.settings, request.n
        self.prompt_ids = prompt_ids
        self.stop_ids = np.array(loaded_model.stop_ids, dtype=np.int64)
        self.marks = {  # (n, steps) for each seed
            seed: np.stack([draw_uniforms(row_seed(seed, row), request.max_new_tokens) for row in range(request.n)])
            for seed in {params.seed for params in request.settings}
        }

    def root(self) -> _Branch:
        settings = range(len(self.settings))
        return _Branch((), 1.0, {setting: np.arange(self.n) for setting in settings}, dict.fromkeys(settings, ()))

    def grow(self, branches: list[_Branch], logits: Tensor) -> list[tuple[int, int, _Branch]]:
        """(parent, token id or STOP, longer branch) for logits (B, V)."""
        drawn: dict[tuple[int, int], dict[int, tuple[np.ndarray, float]]] = {}  # (parent, token) -> setting -> rows
        checked = Distributions.checked(logits, self.settings[0])  # raises; and ranks once for all settings
        for setting in range(len(self.settings)):
            parents = [place for place, branch in enumerate(branches) if setting in branch.rows]
            for parent, token_id, rows, prob in self._draw(setting, parents, branches, checked):
                drawn.setdefault((parent, token_id), {})[setting] = (rows, prob)
        model_log_probs = torch.log_softmax(logits.double(), -1).cpu().numpy()
        grown = []
        for (parent, token_id), by_setting in drawn.items():
            branch, stopped = branches[parent], token_id == STOP
            model_prob = np.exp(model_log_probs[parent, self.stop_ids if stopped else token_id]).sum()
            probs = {setting: (*branch.token_probs[setting], prob) for setting, (_, prob) in by_setting.items()}
            token_ids = branch.token_ids if stopped else (*branch.token_ids, token_id)
            rows = {setting: rows for setting, (rows, _) in by_setting.items()}
            grown.append((parent, token_id, _Branch(token_ids, branch.model_probability * model_prob, rows, probs)))
        return grown

    def _draw(
        self, setting: int, parents: list[int], branches: list[_Branch], checked: Distributions
    ) -> Iterator[tuple[int, int, np.ndarray, float]]:
        """(parent, token id or STOP, rows, probability). The rule of `Distributions.choose`, for many rows a branch."""
        if not parents:
            return
        params, index = self.settings[setting], len(branches[0].token_ids)
        whole = len(parents) == len(branches)
        logits = checked.logits if whole else checked.logits[parents]
        if params.penalizes:
            start = self.prompt_ids if params.penalty_counts_prompt else []
            seen = [[*start, *branches[parent].token_ids] for parent in parents]
            batch = Distributions.checked(logits, params, seen)
        else:
            batch = Distributions(logits, params, ranking=checked.ranking if whole else checked.ranking[parents])
        if params.temperature == 0:
            for parent, token_id in zip(parents, batch.choose([0.0] * len(parents)), strict=True):
                yield parent, STOP if token_id in self.stop_ids else token_id, branches[parent].rows[setting], 1.0
            return
        ranked_ids, probs = batch.ranking.cpu().numpy(), batch.ranked_probs
        reached, probs = probs.cumsum(-1).cpu().numpy(), probs.cpu().numpy()
        last = batch.num_candidates.cpu().numpy() - 1
        marks = self.marks[params.seed][:, index]
        for place, parent in enumerate(parents):
            rows = branches[parent].rows[setting]
            ranks = np.minimum(np.searchsorted(reached[place], marks[rows], side="right"), last[place])
            token_ids = ranked_ids[place, ranks]
            stopped = np.isin(token_ids, self.stop_ids)
            if stopped.any():
                stop_prob = probs[place, np.isin(ranked_ids[place], self.stop_ids)].sum()
                yield parent, STOP, rows[stopped], float(stop_prob)
            for token_id in dict.fromkeys(token_ids[~stopped].tolist()):
                mine = token_ids == token_id
                yield parent, token_id, rows[mine], float(probs[place, ranks[mine.argmax()]])


def _feed(loaded_model: LoadedModel, waiting: _Waiting) -> tuple[KVCache, list[_Branch], Tensor]:
    """One forward pass, a token a branch: (B, V) logits."""
    model = loaded_model.model
    cache = waiting.cache if waiting.last_use else waiting.cache.clone()
    if waiting.parents != list(range(waiting.num_parents)):
        cache.select_rows(waiting.parents)
    fed = torch.tensor([[branch.token_ids[-1]] for branch in waiting.branches], device=model.device)
    return cache, waiting.branches, model(fed, cache, last_only=True)[:, -1].float()


def _leaves(loaded_model: LoadedModel, branch: _Branch, reason: str) -> Iterator[Leaf]:
    for setting, rows in branch.rows.items():
        probs = list(branch.token_probs[setting])
        answer = make_answer(loaded_model, list(branch.token_ids), probs, float(branch.model_probability), reason)
        yield Leaf(setting, rows.tolist(), answer)
