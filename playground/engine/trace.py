"""What a run recorded, and how the same path looks under other settings. Shapes: N steps, V vocabulary."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from playground.engine.generation import Step
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distributions, rank


@dataclass(frozen=True)
class Reread:
    """The recorded path under other settings, all steps at once. The model did not run."""

    distributions: Distributions
    chosen_ids: list[int]  # what each step's own random number picks now
    token_ids: list[int]  # the recorded path

    @property
    def num_candidates(self) -> list[int]:
        """(N,) the nucleus size at every step."""
        return self.distributions.num_candidates.tolist()

    @property
    def probs(self) -> Tensor:
        """(N, V) after all stages."""
        return self.distributions.by_token_id(self.distributions.candidate_probs)

    @property
    def first_difference(self) -> int | None:
        """The first step that would pick another token; the path after it is then no longer this model's."""
        pairs = zip(self.chosen_ids, self.token_ids, strict=True)
        return next((index for index, (now, then) in enumerate(pairs) if now != then), None)


class Trace:
    """Logits over the whole vocabulary, tokens and random numbers of every step."""

    def __init__(self, steps: Iterable[Step], prompt_ids: Sequence[int] = (), seconds: Sequence[float] = ()) -> None:
        self.steps = list(steps)
        if not self.steps:
            raise ValueError("a trace needs at least one step")
        self.prompt_ids = list(prompt_ids)
        self.seconds = list(seconds)
        self.params: SamplingParams = self.steps[0].distribution.batch.params

    @classmethod
    def record(cls, timed_steps: Iterable[tuple[Step, float]], prompt_ids: Sequence[int] = ()) -> "Trace":
        """Runs `timed(generate(...))` to its end."""
        pairs = list(timed_steps)
        return cls([step for step, _ in pairs], prompt_ids, [seconds for _, seconds in pairs])

    @property
    def token_ids(self) -> list[int]:
        return [step.token_id for step in self.steps]

    @property
    def stop_reason(self) -> str | None:
        return self.steps[-1].stop_reason

    @cached_property
    def logits(self) -> Tensor:
        """(N, V) float32 on the CPU, as the model gave them."""
        return torch.stack([step.distribution.logits for step in self.steps]).cpu()

    @cached_property
    def _ranking(self) -> Tensor:
        return rank(self.logits)

    def reread(self, params: SamplingParams) -> Reread:
        """What `params` make of the recorded logits: kept tokens, probabilities, and the picks of the same numbers."""
        if params.penalizes:
            path = self.token_ids
            start = self.prompt_ids if params.penalty_counts_prompt else []
            seen = [start + path[:index] for index in range(len(path))]
            distributions = Distributions.checked(self.logits, params, seen)
        else:
            distributions = Distributions(self.logits, params, ranking=self._ranking)
        chosen = distributions.choose([step.uniform for step in self.steps])
        return Reread(distributions, chosen, self.token_ids)

    def to_frame(self, params: SamplingParams | None = None) -> pd.DataFrame:
        """One row a step; with `params`, as re-read under them."""
        reread = self.reread(params or self.params)
        model_probs = torch.softmax(self.logits.double(), -1)
        token_ids = torch.tensor(self.token_ids)[:, None]
        candidates = reread.distributions.candidate_probs
        frame = pd.DataFrame(
            {
                "step": range(len(self.steps)),
                "token_id": self.token_ids,
                "model_prob": model_probs.gather(1, token_ids)[:, 0].numpy(),
                "prob": reread.probs.gather(1, token_ids)[:, 0].numpy(),
                "rank": ((self._ranking == token_ids).int().argmax(-1) + 1).numpy(),
                "num_candidates": reread.num_candidates,
                "entropy": -torch.xlogy(candidates, candidates).sum(-1).numpy(),
                "uniform": [step.uniform for step in self.steps],
                "num_fed": [step.num_fed for step in self.steps],
                "cache_bytes": [sum(step.cache_bytes) for step in self.steps],
            }
        )
        if self.seconds:
            frame["seconds"] = self.seconds
        return frame
