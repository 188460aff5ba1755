"""What a run recorded, and how the same path looks under other settings. Shapes: N steps, V vocabulary."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from playground.engine.generation import Request, Step
from playground.engine.params import SamplingParams
from playground.engine.ranking import Ranking
from playground.engine.sampling import Distributions
from playground.words import say


@dataclass(frozen=True)
class Reread:
    """The recorded path under other settings, all steps at once. The model did not run."""

    distributions: Distributions
    chosen_ids: list[int]  # what each step's own random number picks now
    token_ids: list[int]  # the recorded path
    forced: frozenset[int]

    @property
    def num_candidates(self) -> list[int]:
        """(N,) the nucleus size at every step."""
        return self.distributions.num_candidates.tolist()

    @property
    def probs(self) -> Tensor:
        """(N, V) after all stages."""
        return self.distributions.probs

    @property
    def first_difference(self) -> int | None:
        """The first step that would pick another token; the path after it is then no longer this model's."""
        pairs = enumerate(zip(self.chosen_ids, self.token_ids, strict=True))
        return next((step for step, (now, then) in pairs if now != then and step not in self.forced), None)


class Trace:
    """A recorded run, column by column; `steps` are views of it.

    It knows what it was asked for, so that reading it again under its own settings never differs.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        seconds: Sequence[float] = (),
        request: Request | None = None,
        forced: Iterable[int] = (),
    ) -> None:
        """request: that of the first step, if not given; forced: steps whose token a person chose."""
        steps = list(steps)
        if not steps:
            raise ValueError(say("engine.trace.empty"))
        self.request = request or steps[0].request
        if steps[0].index != len(self.request.answer_ids):
            raise ValueError(say("engine.trace.start", step=steps[0].index))
        self.forced = frozenset(forced)
        self.logits = torch.stack([step.distribution.logits for step in steps]).cpu()  # (N, V) as the stages read them
        self.token_ids = [step.token_id for step in steps]
        self.uniforms = [step.uniform for step in steps]
        self.num_fed = [step.num_fed for step in steps]
        self.cache_bytes = [step.cache_bytes for step in steps]  # per step and layer
        self.seconds = list(seconds)
        self.stop_reason = steps[-1].stop_reason

    @classmethod
    def record(cls, timed_steps: Iterable[tuple[Step, float]]) -> "Trace":
        """Runs `timed(generate(...))` to its end."""
        pairs = list(timed_steps)
        return cls([step for step, _ in pairs], [seconds for _, seconds in pairs])

    def __len__(self) -> int:
        return len(self.token_ids)

    @property
    def params(self) -> SamplingParams:
        return self.request.params

    @property
    def prompt_ids(self) -> list[int]:
        return self.request.prompt_ids

    @property
    def steps(self) -> list[Step]:
        distributions, first, last = self._under(self.params), len(self.request.answer_ids), len(self) - 1
        return [
            Step(
                first + row,
                self.token_ids[row],
                distributions[row],
                self.uniforms[row],
                self.num_fed[row],
                self.cache_bytes[row],
                self.stop_reason if row == last else None,
                self.request,
            )
            for row in range(len(self))
        ]

    def afresh(self) -> "Trace":
        """The same columns, without the order of the logits, which is worked out when asked for: 8 bytes a token."""
        other = copy.copy(self)
        other.__dict__.pop("_ranking", None)
        return other

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking(self.logits)

    def _under(self, params: SamplingParams) -> Distributions:
        if not params.penalizes:
            return Distributions(self.logits, params, self._ranking)
        given = self.request.answer_ids
        return self.request.distributions(
            self.logits, [[*given, *self.token_ids[:row]] for row in range(len(self))], params
        )

    def reread(self, params: SamplingParams) -> Reread:
        """What `params` make of the recorded logits: kept tokens, probabilities, and the picks of the same numbers."""
        distributions = self._under(params)
        chosen_ids, _ = distributions.choose(self.uniforms)
        return Reread(distributions, chosen_ids, self.token_ids, self.forced)
