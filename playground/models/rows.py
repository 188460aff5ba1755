"""Many answers to one prompt, as token ids. Shapes: B branches (rows of the batch), R answers, V vocabulary.

Answers that have written the same so far are one branch: one row of the batch, fed once. Only the work is shared.
Answer i has the random numbers of a run alone with its seed, and the same tokens, unless a number lies within rounding
(about 1e-5) of the boundary of two tokens: in a larger batch sums are added in another order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from playground.engine.arguments import whole_number
from playground.engine.generation import STOP_TOKEN, Decoder, LogitsProcessor, Request, feed_unseen, processed
from playground.engine.kv_cache import KVCache
from playground.engine.params import MOST_SEEDS, SamplingParams
from playground.engine.sampling import Distribution, Distributions, row_seed
from playground.words import say

MAX_BRANCHES = 256  # fed at once; the others wait, so that memory stays small and a pass is over soon
MAX_POSITIONS = 100_000  # of all these branches together: with a long prompt fewer are fed at once


@dataclass(frozen=True)
class RowsStep:
    """One forward pass of several answers."""

    index: int
    rows: list[int]  # which answers
    branches: list[int]  # the row of the batch that each of them is on
    uniforms: list[float]
    logits: Tensor  # (B, V)
    num_fed: int  # tokens that went through the model, all branches together
    cache_bytes: list[int]  # per layer
    request: Request
    token_ids: list[int]  # that each answer chose
    probs: list[float]  # of these tokens, after all stages
    stop_reasons: list[str | None]
    groups: list[tuple[Distributions, int]]  # what its settings make of the logits, and its row of them

    def distribution(self, place: int) -> Distribution:
        """From which the answer at this place of `rows` chose."""
        group, row = self.groups[place]
        return group[row]


def answer_rows(params: SamplingParams, n: int) -> list[tuple[SamplingParams, int]]:
    """The same settings n times, each with a seed of its own: that of `params` for the first."""
    return [(params, row_seed(params.seed, row)) for row in range(n)]


def sample_answers(
    model: Decoder,
    prompt_ids: Sequence[int],
    params: SamplingParams,
    n: int = 30,
    max_new_tokens: int = 64,
    stop_ids: Sequence[int] = (),
    logits_processors: Sequence[LogitsProcessor] = (),
) -> list[list[int]]:
    """n answers, each cut before its first stop id. Row i is what `generate` writes with `row_seed(params.seed, i)`."""
    rows = answer_rows(params, whole_number("n", n, 1))
    answers: list[list[int]] = [[] for _ in rows]
    for step in generate_rows(model, prompt_ids, rows, None, max_new_tokens, stop_ids, True, logits_processors):
        for row, token_id, reason in zip(step.rows, step.token_ids, step.stop_reasons, strict=True):
            if reason != STOP_TOKEN:
                answers[row].append(token_id)
    return answers


def generate_rows(
    model: Decoder,
    prompt_ids: Sequence[int],
    rows: Sequence[tuple[SamplingParams, int]],
    cache: KVCache | None = None,
    max_new_tokens: int = 64,
    stop_ids: Sequence[int] = (),
    share: bool = True,
    logits_processors: Sequence[LogitsProcessor] = (),
) -> Iterator[RowsStep]:
    """Several answers to one prompt, each under its own settings and seed. One prefill; a finished answer leaves.

    `share=False` feeds a row for each answer, also while some have written the same. With more than MAX_BRANCHES
    branches, or MAX_POSITIONS, passes feed that many at most, and answers end in any order. Raises as `generate` does.
    """
    if not rows:
        raise ValueError(say("models.answers.none"))
    cache = KVCache.of(model) if cache is None else cache
    request = Request.checked(model, prompt_ids, rows[0][0], max_new_tokens, stop_ids)
    text, room = request.begin(model, cache)
    seeds = {whole_number("seed", seed, 0, MOST_SEEDS - 1) for _, seed in rows}
    uniforms = {seed: request.uniforms(seed, room) for seed in seeds}
    settings = list(dict.fromkeys(params for params, _ in rows))
    number_of = {params: number for number, params in enumerate(settings)}
    setting_of = [number_of[params] for params, _ in rows]  # numbers: settings take long to compare
    waiting, begun = [_Part(cache, True, None, [text], list(range(len(rows))), [0] * len(rows))], False
    while waiting:
        part = waiting.pop()
        cache = part.take_cache()
        index = len(part.texts[0]) - len(request.prompt_ids)
        marks = [uniforms[rows[row][1]][index] for row in part.rows]
        logits, num_fed = feed_unseen(model, part.texts, cache, cache.told if begun else None)
        begun = True
        logits = processed(logits_processors, part.texts, logits)
        token_ids, probs, groups = _choose(
            request, settings, [setting_of[row] for row in part.rows], part, logits, marks
        )
        reasons = [request.end(token_id, index + 1, room) for token_id in token_ids]
        where = index, part.rows, part.branches, marks
        step = RowsStep(*where, logits, num_fed, cache.bytes_per_layer(), request, token_ids, probs, reasons, groups)
        yield step
        waiting += _going_on(part, cache, step, share)


@dataclass(frozen=True)
class _Part:
    """Branches that are fed together, and the cache of the branches they grew from."""

    cache: KVCache
    is_last: bool  # nobody else goes on from this cache: it need not be copied
    parents: list[int] | None  # its rows that the branches go on from; None: as they stand
    texts: list[list[int]]
    rows: list[int]  # the answers
    branches: list[int]  # of each of them

    def take_cache(self) -> KVCache:
        if not self.is_last:
            return self.cache.clone(self.parents)
        if self.parents is not None:
            self.cache.select_rows(self.parents)
        return self.cache


def _choose(
    request: Request,
    settings: list[SamplingParams],
    setting_of: list[int],
    part: _Part,
    logits: Tensor,
    uniforms: list[float],
) -> tuple[list[int], list[float], list[tuple[Distributions, int]]]:
    """Token ids, their probabilities and where they come from, for each answer of the part.

    Answers under the same settings are worked out together, and all rank the logits once.
    """
    places_of: dict[int, list[int]] = {}
    for place, setting in enumerate(setting_of):
        places_of.setdefault(setting, []).append(place)
    written = [text[len(request.prompt_ids) :] for text in part.texts]
    chosen: list = [None] * len(setting_of)
    plain = None
    for setting, places in places_of.items():
        params, branch_of = settings[setting], [part.branches[place] for place in places]
        branches = sorted(set(branch_of))
        if params.penalizes:
            group = request.distributions(logits[branches], [written[branch] for branch in branches], params)
        else:
            plain = plain or request.distributions(logits, written, params)
            group = plain.only(branches, params)
        row_of = {branch: row for row, branch in enumerate(branches)}
        at = [row_of[branch] for branch in branch_of]
        token_ids, probs = group.choose([uniforms[place] for place in places], at)
        for place, token_id, prob, row in zip(places, token_ids, probs, at, strict=True):
            chosen[place] = token_id, prob, (group, row)
    return tuple(list(column) for column in zip(*chosen, strict=True))


def _going_on(part: _Part, cache: KVCache, step: RowsStep, share: bool) -> list[_Part]:
    """The answers that have not ended, on their new branches, in parts of at most MAX_BRANCHES."""
    grown: dict[tuple, list[int]] = {}  # branch, token id (and answer, where none is shared) -> answers
    for row, branch, token_id, reason in zip(step.rows, step.branches, step.token_ids, step.stop_reasons, strict=True):
        if reason is None:
            grown.setdefault((branch, token_id) if share else (branch, token_id, row), []).append(row)
    keys, num_parents, parts = list(grown), len(part.texts), []
    most = max(1, min(MAX_BRANCHES, MAX_POSITIONS // (len(part.texts[0]) + 1)))
    for start in range(0, len(keys), most):
        some = keys[start : start + most]
        if len(some) <= num_parents:
            some = [some[place] for place in _at_their_parents([key[0] for key in some])]
        parents = [key[0] for key in some]
        texts = [[*part.texts[key[0]], key[1]] for key in some]
        pairs = [(row, branch) for branch, key in enumerate(some) for row in grown[key]]
        rows, branches = (list(column) for column in zip(*pairs, strict=True))
        as_they_stand = parents == list(range(num_parents))
        parts.append(_Part(cache, start == 0, None if as_they_stand else parents, texts, rows, branches))
    return parts


def _at_their_parents(parents: list[int]) -> list[int]:
    """An order of the branches that leaves most of them in the row of their parent: a long past is not copied."""
    order: list[int | None] = [None] * len(parents)
    others = []
    for place, parent in enumerate(parents):
        if parent < len(order) and order[parent] is None:
            order[parent] = place
        else:
            others.append(place)
    return [others.pop() if place is None else place for place in order]
