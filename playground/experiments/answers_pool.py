"""Thousands of answers to one prompt. Rows that begin alike share their forward passes until they part.

Row i draws with the numbers of the run alone with `row_seed(seed, i)`, by the same rule: only the work is shared. What
the two may differ in is rounding. In a batch sums are added in another order and logits move by about 1e-5, so a number
that lies nearer than that to the boundary of two tokens can fall on the other one. Shapes: B branches, V vocabulary.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from playground.engine.generation import CONTEXT_FULL, LENGTH, STOP_TOKEN, generate_rows
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distributions, draw_uniforms, row_seed
from playground.experiments.answers import ANSWER_TOKENS, NUM_ANSWERS, Answer, AnswerSet, make_answer
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
    n: int = NUM_ANSWERS
    max_new_tokens: int = ANSWER_TOKENS


@dataclass(frozen=True)
class _Branch:
    """What some rows have written so far."""

    token_ids: tuple[int, ...]
    model_probability: float
    rows: dict[int, list[int]]  # setting -> its rows
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


@torch.inference_mode()
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
        self.stop_ids = list(loaded_model.stop_ids)
        model = loaded_model.model
        self.is_stop = torch.zeros(model.config.vocab_size, dtype=torch.bool, device=model.device)  # (V,)
        self.is_stop[self.stop_ids] = True
        self.marks = {  # (n, steps) for each seed
            seed: np.stack([draw_uniforms(row_seed(seed, row), request.max_new_tokens) for row in range(request.n)])
            for seed in {params.seed for params in request.settings}
        }

    def root(self) -> _Branch:
        settings = range(len(self.settings))
        return _Branch((), 1.0, {setting: list(range(self.n)) for setting in settings}, dict.fromkeys(settings, ()))

    def grow(self, branches: list[_Branch], logits: Tensor) -> list[tuple[int, int, _Branch]]:
        """(parent, token id or STOP, longer branch) for logits (B, V)."""
        checked = Distributions.checked(logits, self.settings[0])  # raises; and ranks once for all settings
        grown: dict[tuple[int, int], _Branch] = {}  # by parent and token
        for setting in range(len(self.settings)):
            parents = [place for place, branch in enumerate(branches) if setting in branch.rows]
            for parent, row, token_id, prob in self._draw(setting, parents, branches, checked):
                branch = branches[parent]
                child = grown.get((parent, token_id))
                if child is None:
                    token_ids = branch.token_ids if token_id == STOP else (*branch.token_ids, token_id)
                    child = grown[parent, token_id] = _Branch(token_ids, 0.0, {}, {})
                if setting not in child.rows:
                    child.rows[setting] = []
                    child.token_probs[setting] = (*branch.token_probs[setting], prob)
                child.rows[setting].append(row)
        model_probs = self._model_probs(list(grown), logits)
        return [
            (parent, token_id, replace(child, model_probability=branches[parent].model_probability * model_prob))
            for ((parent, token_id), child), model_prob in zip(grown.items(), model_probs, strict=True)
        ]

    def _draw(
        self, setting: int, parents: list[int], branches: list[_Branch], checked: Distributions
    ) -> Iterator[tuple[int, int, int, float]]:
        """(parent, row, token id or STOP, probability): as `Distributions.choose`, for many rows a branch."""
        if not parents:
            return
        params, rows_of = self.settings[setting], [branches[parent].rows[setting] for parent in parents]
        batch = self._distributions(params, parents, branches, checked)
        if params.temperature == 0:
            for parent, rows, token_id in zip(parents, rows_of, batch.choose([0.0] * len(parents)), strict=True):
                yield from ((parent, row, STOP if token_id in self.stop_ids else token_id, 1.0) for row in rows)
            return
        probs, ranking = batch.candidate_probs, batch.ranking
        marks = np.zeros((len(parents), max(map(len, rows_of))))  # (B, most rows of a branch)
        for place, rows in enumerate(rows_of):
            marks[place, : len(rows)] = self.marks[params.seed][rows, len(branches[0].token_ids)]
        marks = torch.from_numpy(marks).to(probs.device)
        ranks = batch.places_of(marks)
        token_ids, chosen_probs = ranking.gather(1, ranks).tolist(), probs.gather(1, ranks).tolist()
        for place, (parent, rows) in enumerate(zip(parents, rows_of, strict=True)):
            stop_prob = None
            for row, token_id, prob in zip(rows, token_ids[place], chosen_probs[place], strict=False):
                if token_id not in self.stop_ids:
                    yield parent, row, token_id, prob
                    continue
                if stop_prob is None:
                    stop_prob = float(probs[place][self.is_stop[ranking[place, : probs.shape[-1]]]].sum())
                yield parent, row, STOP, stop_prob

    def _distributions(
        self, params: SamplingParams, parents: list[int], branches: list[_Branch], checked: Distributions
    ) -> Distributions:
        whole = len(parents) == len(branches)
        logits = checked.logits if whole else checked.logits[parents]
        if not params.penalizes:
            return Distributions(logits, params, ranking=checked.ranking if whole else checked.ranking[parents])
        start = self.prompt_ids if params.penalty_counts_prompt else []
        return Distributions.checked(logits, params, [[*start, *branches[parent].token_ids] for parent in parents])

    def _model_probs(self, choices: list[tuple[int, int]], logits: Tensor) -> list[float]:
        """What the model gave each (parent, token id or STOP)."""
        totals = logits.logsumexp(-1)
        parents = torch.tensor([parent for parent, _ in choices], device=logits.device)
        ids = [self.stop_ids if token_id == STOP else [token_id] for _, token_id in choices]
        width = max(map(len, ids))
        padded = torch.tensor([these + [-1] * (width - len(these)) for these in ids], device=logits.device)
        log_probs = logits[parents[:, None], padded.clamp(min=0)] - totals[parents][:, None]
        return log_probs.double().exp().masked_fill(padded < 0, 0).sum(-1).tolist()


def _feed(loaded_model: LoadedModel, waiting: _Waiting) -> tuple[KVCache, list[_Branch], Tensor]:
    """One forward pass, a token a branch: the branches in the order of the cache's rows, and logits (B, V)."""
    model = loaded_model.model
    cache = waiting.cache if waiting.last_use else waiting.cache.clone()
    branches = waiting.branches
    if len(branches) > waiting.num_parents:
        cache.select_rows(waiting.parents)
    else:
        rows = _rows_to_keep(waiting.parents)
        branches = [branches[place] for place in rows]
        _move_rows(cache, [waiting.parents[place] for place in rows])
    fed = torch.tensor([[branch.token_ids[-1]] for branch in branches], device=model.device)
    return cache, branches, model(fed, cache, last_only=True)[:, -1].float()


def _rows_to_keep(parents: list[int]) -> list[int]:
    """An order of the branches that leaves most of them in the row of their parent: a long past is not copied."""
    order: list[int | None] = [None] * len(parents)
    others = []
    for place, parent in enumerate(parents):
        if parent < len(order) and order[parent] is None:
            order[parent] = place
        else:
            others.append(place)
    return [others.pop() if place is None else place for place in order]


def _move_rows(cache: KVCache, parents: list[int]) -> None:
    """As `select_rows`, for no more rows than there are, where no row that is overwritten is anybody's parent."""
    moved = [row for row, parent in enumerate(parents) if row != parent]
    sources = [parents[row] for row in moved]

    def move(tensor: Tensor) -> Tensor:
        if moved:
            tensor[moved] = tensor[sources]
        return tensor[: len(parents)]

    for layer in cache.layers:
        layer.map_rows(move)


def _leaves(loaded_model: LoadedModel, branch: _Branch, reason: str) -> Iterator[Leaf]:
    for setting, rows in branch.rows.items():
        probs = list(branch.token_probs[setting])
        answer = make_answer(loaded_model, list(branch.token_ids), probs, branch.model_probability, reason)
        yield Leaf(setting, rows, answer)
