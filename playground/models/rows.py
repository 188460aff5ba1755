"""Many answers to one prompt, as token ids. Shapes: B branches (rows of the batch), R answers, V vocabulary.

Answers that have written the same so far are one branch: one row of the batch, fed once. Only the work is shared.
Answer i has the random numbers of a run alone with its seed, and the same tokens, unless a number lies within rounding
(about 1e-5) of the boundary of two tokens: in a larger batch sums are added in another order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from playground.engine.arguments import whole_number
from playground.engine.generation import STOP_TOKEN, Decoder, Request, feed_unseen
from playground.engine.kv_cache import KVCache
from playground.engine.params import MOST_SEEDS, SamplingParams
from playground.engine.sampling import Distribution, Distributions, NoTokenError, row_seed

MAX_BRANCHES = 256  # fed at once; the others wait, so that memory stays small


@dataclass
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
    token_ids: list[int] = field(default_factory=list)  # that each answer chose
    probs: list[float] = field(default_factory=list)  # of these tokens, after all stages
    stop_reasons: list[str | None] = field(default_factory=list)
    distributions: list[Distribution] = field(default_factory=list)


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
) -> list[list[int]]:
    """n answers, each cut before its first stop id. Row i is what `generate` writes with `row_seed(params.seed, i)`."""
    rows = answer_rows(params, whole_number("n", n, 1))
    answers: list[list[int]] = [[] for _ in rows]
    for step in generate_rows(model, prompt_ids, rows, None, max_new_tokens, stop_ids):
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
) -> Iterator[RowsStep]:
    """Several answers to one prompt, each under its own settings and seed. One prefill; a finished answer leaves.

    `share=False` feeds a row for each answer, also while some have written the same. With more than MAX_BRANCHES
    branches, passes feed that many at most, and answers end in any order. Raises as `generate` does.
    """
    if not rows:
        raise ValueError("at least one answer must be asked for")
    cache = KVCache.of(model) if cache is None else cache
    request = Request.checked(model, prompt_ids, rows[0][0], max_new_tokens, stop_ids)
    text, room = request.begin(model, cache)
    seeds = {whole_number("seed", seed, 0, MOST_SEEDS - 1) for _, seed in rows}
    uniforms = {seed: request.uniforms(seed, room) for seed in seeds}
    chooser = _Chooser(request, [params for params, _ in rows])
    waiting, begun = [_Part(cache, True, None, [text], list(range(len(rows))), [0] * len(rows))], False
    while waiting:
        part = waiting.pop()
        cache = part.take_cache()
        index = len(part.texts[0]) - len(request.prompt_ids)
        marks = [uniforms[rows[row][1]][index] for row in part.rows]
        logits, num_fed = feed_unseen(model, part.texts, cache, cache.told if begun else None)
        begun = True
        step = RowsStep(index, part.rows, part.branches, marks, logits, num_fed, cache.bytes_per_layer(), request)
        chooser.choose(step, part.texts)
        step.stop_reasons = [request.end(token_id, index + 1, room) for token_id in step.token_ids]
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


class _Chooser:
    """A token for each answer. Those under the same settings are worked out together, and all rank the logits once."""

    def __init__(self, request: Request, params_of: list[SamplingParams]) -> None:
        self.request = request
        self.settings = list(dict.fromkeys(params_of))
        number_of = {params: number for number, params in enumerate(self.settings)}
        self.setting_of = [number_of[params] for params in params_of]

    def choose(self, step: RowsStep, texts: list[list[int]]) -> None:
        """Fills in the tokens, their probabilities and distributions. Raises NoTokenError naming the step."""
        places_of: dict[int, list[int]] = {}
        for place, row in enumerate(step.rows):
            places_of.setdefault(self.setting_of[row], []).append(place)
        try:
            plain = None
            chosen: list[tuple[int, int, float, Distribution]] = []
            for setting, places in places_of.items():
                params = self.settings[setting]
                branches = sorted({step.branches[place] for place in places})
                if params.penalizes:
                    written = [texts[branch][len(self.request.prompt_ids) :] for branch in branches]
                    seen = [self.request.seen(one, params) for one in written]
                    group = Distributions.checked(step.logits[branches], params, seen)
                else:
                    plain = plain or Distributions.checked(step.logits, params)
                    group = plain.only(branches, params)
                row_of = {branch: row for row, branch in enumerate(branches)}
                at = [row_of[step.branches[place]] for place in places]
                token_ids, probs = group.choose([step.uniforms[place] for place in places], at)
                chosen += zip(places, token_ids, probs, (group[row] for row in at), strict=True)
        except NoTokenError as error:
            raise NoTokenError(f"step {step.index}: {error}") from None
        chosen.sort(key=lambda one: one[0])
        _, step.token_ids, step.probs, step.distributions = (list(column) for column in zip(*chosen, strict=True))


def _going_on(part: _Part, cache: KVCache, step: RowsStep, share: bool) -> list[_Part]:
    """The answers that have not ended, on their new branches, in parts of at most MAX_BRANCHES."""
    grown: dict[tuple, list[int]] = {}  # branch, token id (and answer, where none is shared) -> answers
    for row, branch, token_id, reason in zip(step.rows, step.branches, step.token_ids, step.stop_reasons, strict=True):
        if reason is None:
            grown.setdefault((branch, token_id) if share else (branch, token_id, row), []).append(row)
    keys, num_parents, parts = list(grown), len(part.texts), []
    for start in range(0, len(keys), MAX_BRANCHES):
        some = keys[start : start + MAX_BRANCHES]
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
