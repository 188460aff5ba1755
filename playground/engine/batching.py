"""Answers to different prompts, each under its own settings, written side by side (continuous batching).

A pass of the model over a token of each costs little more than over a token of one. Who comes joins at the next step,
and who has ended leaves. Shapes: B rows, V vocabulary.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from playground.engine.cache_kinds import LayerCache
from playground.engine.generation import PIECE_TOKENS, Decoder, Request, Step, feed_in_pieces, feed_unseen, timed
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams
from playground.engine.ragged_cache import RaggedCache
from playground.engine.ranking import Ranking
from playground.engine.sampling import Distribution, Distributions, NoTokenError

MOST_TOKENS = 512  # of a text that joins: all rows are read as far as the longest


@dataclass(eq=False)
class _Row:
    """An answer on its way."""

    request: Request
    settings: SamplingParams  # without the seed: equal ones are worked out together
    text: list[int]
    room: int
    uniforms: list[float]
    cache: KVCache  # while the row is in the ragged cache, the beginning of its text
    may_join: bool
    is_over: bool = False
    num_fed: int = 0  # tokens, since the last step
    seconds: float = 0.0  # that they took
    came: tuple[Step, float] | NoTokenError | None = None  # the next step and its seconds, not taken yet

    @property
    def index(self) -> int:
        """Of the next step."""
        return len(self.text) - len(self.request.prompt_ids)

    @property
    def uniform(self) -> float:
        return self.uniforms[self.index]


class Batch:
    """The answers that one model is writing. Who asks for the next step of one makes a pass for all that are ready."""

    def __init__(self, model: Decoder) -> None:
        self.model = model
        self.num_passes = 0  # through the model so far
        self._rows: list[_Row] = []
        self._inside: list[_Row] = []  # in the order of the ragged cache
        self._ragged = RaggedCache(model.config.num_layers)

    def __len__(self) -> int:
        return len(self._rows)

    def generate(
        self,
        prompt_ids: Sequence[int],
        params: SamplingParams,
        cache: KVCache,
        max_new_tokens: int = 64,
        stop_ids: Sequence[int] = (),
    ) -> Iterator[tuple[Step | None, float]]:
        """The steps of `timed(generate(...))`, with None as the step between two pieces of a long prompt.

        A step's seconds are those of its pass, whoever else it was for. The tokens are the same as alone, unless a
        random number lies within rounding (about 1e-5) of the boundary of two. At the end the cache holds the text.
        Raises as `generate` does.
        """
        request = Request.checked(self.model, prompt_ids, params, max_new_tokens, stop_ids)
        text, room = request.begin(self.model, cache)
        keeps_all = all(type(layer) is LayerCache for layer in cache.layers)
        is_short = len(text) + request.max_new_tokens <= MOST_TOKENS
        may_join = keeps_all and is_short and isinstance(self.model, Transformer)
        row = _Row(request, replace(params, seed=0), text, room, request.uniforms(params.seed, room), cache, may_join)
        self._rows.append(row)
        try:
            for _, seconds in timed(feed_in_pieces(self.model, text, cache)):
                row.num_fed, row.seconds = row.num_fed + PIECE_TOKENS, row.seconds + seconds
                self.num_passes += 1
                yield None, seconds
            while True:
                if row.came is None:
                    self._pass(row)
                came, row.came = row.came, None
                if isinstance(came, NoTokenError):
                    raise came
                yield came
                if came[0].stop_reason:
                    return
        finally:
            self._rows.remove(row)
            self._take_out(row)

    def _pass(self, row: _Row) -> None:
        """The next step of the row, and of all others that are ready for a pass over one token."""
        together = [each for each in self._rows if self._is_ready(each)]
        self.num_passes += 1
        if row not in together or len(together) == 1:
            self._take_out(row)
            start = time.perf_counter()
            logits, num_fed = feed_unseen(self.model, [row.text], row.cache, row.cache.told)
            row.num_fed, row.seconds = row.num_fed + num_fed, row.seconds + time.perf_counter() - start
            self._choose([row], logits)
            return
        for each in [each for each in self._inside if each not in together]:
            self._take_out(each)
        start = time.perf_counter()
        for each in together:
            if each not in self._inside:
                self._ragged.add(each.cache)
                self._inside.append(each)
        last = torch.tensor([[each.text[-1]] for each in self._inside], device=self.model.device)
        with torch.inference_mode():
            logits = self.model(last, self._ragged, last_only=True)[:, -1].float()
        logits, seconds = logits.clone(), time.perf_counter() - start  # a tensor like any other again
        for each in self._inside:
            each.num_fed, each.seconds = 1, seconds
        self._choose(self._inside, logits)

    def _is_ready(self, row: _Row) -> bool:
        """For a pass together over the last token of its text."""
        fed = row in self._inside or 0 < row.cache.position == len(row.text) - 1
        return row.may_join and row.came is None and fed and not row.is_over

    def _take_out(self, row: _Row) -> None:
        """Its text is in a cache of its own again."""
        if row in self._inside:
            place = self._inside.index(row)
            self._ragged.remove(place, row.cache)
            self._inside[place] = self._inside[-1]
            self._inside.pop()

    def _choose(self, rows: list[_Row], logits: Tensor) -> None:
        """The next token of each row by its row of logits (B, V): ranked once, and equal settings go together."""
        start, ranking, groups = time.perf_counter(), Ranking(logits), {}
        can_choose = logits.amax(-1).isfinite().tolist()
        for place, row in enumerate(rows):
            if row.request.params.penalizes or not can_choose[place]:
                try:
                    written = row.text[len(row.request.prompt_ids) :]
                    self._put(row, row.request.distributions(logits[place : place + 1], [written])[0])
                except NoTokenError as error:
                    row.came = error
            else:
                groups.setdefault(row.settings, []).append(place)
        plain = Distributions(logits, SamplingParams(), ranking)
        if len(groups) > 1 and any(settings.temperature for settings in groups):
            _ = ranking.head  # of all rows at once
        for settings, places in groups.items():
            group = plain.only(places, settings)
            token_ids, _ = group.choose([rows[place].uniform for place in places])
            for at, (place, token_id) in enumerate(zip(places, token_ids, strict=True)):
                self._put(rows[place], group[at], token_id)
        seconds = time.perf_counter() - start
        for row in rows:
            if not isinstance(row.came, NoTokenError):
                row.came = row.came[0], row.came[1] + seconds
            row.num_fed, row.seconds = 0, 0.0

    def _put(self, row: _Row, distribution: Distribution, token_id: int | None = None) -> None:
        """The step that comes next, with the seconds of its pass."""
        index, uniform = row.index, row.uniform
        token_id = distribution.choose(uniform) if token_id is None else token_id
        inside = row in self._inside
        cache_bytes = self._ragged.bytes_per_layer(len(row.text)) if inside else row.cache.bytes_per_layer()
        row.text.append(token_id)
        reason = row.request.end(token_id, index + 1, row.room)
        row.is_over = reason is not None
        step = Step(index, token_id, distribution, uniform, row.num_fed, cache_bytes, reason, row.request)
        row.came = step, row.seconds
