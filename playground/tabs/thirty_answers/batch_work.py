"""What a batch computes when its rows end at different times."""

from dataclasses import dataclass

from playground.engine.generation import STOP_TOKEN
from playground.tabs.thirty_answers.answers import AnswerSet


@dataclass(frozen=True)
class BatchWork:
    """Tokens that go through the model, for the same answers written in four ways."""

    steps_per_row: tuple[int, ...]  # forward passes each row needed; the last one chose its end
    stopped: tuple[bool, ...]  # by a stop token; otherwise the length ran out
    minimind: int  # every row reads the prompt, and ended rows are fed the end token until the last one ends
    padded: int  # one prompt for all, ended rows stay
    dropped: int  # ours: one prompt for all, an ended row leaves
    merged: int  # one row for all rows that have written the same so far

    @property
    def num_steps(self) -> int:
        return max(self.steps_per_row)

    @property
    def filled(self) -> int:
        """End tokens that only fill the rectangle: just what `dropped` saves against `padded`."""
        return sum(self.num_steps - steps for steps in self.steps_per_row)


def batch_work(sampled: AnswerSet) -> BatchWork:
    # The token that a step chooses is fed in the next one: a row of s steps feeds the prompt and s - 1 tokens.
    answers, prompt = sampled.answers, sampled.prompt_length
    steps = tuple(answer.num_steps for answer in answers)
    prefixes = {answer.token_ids[:length] for answer in answers for length in range(1, answer.num_steps)}
    return BatchWork(
        steps,
        tuple(answer.stop_reason == STOP_TOKEN for answer in answers),
        minimind=len(steps) * (prompt + max(steps) - 1),
        padded=prompt + len(steps) * (max(steps) - 1),
        dropped=prompt + sum(steps) - len(steps),
        merged=prompt + len(prefixes),
    )
