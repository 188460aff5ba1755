"""Goes on from the middle of a recorded answer: another token is forced, or the settings have changed.

What stands before that place is shared: its steps are the recorded ones, and its keys and values come from the cache
of the recorded run, cloned and cut back, so that two branches never write into one cache.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from playground.engine.generation import Decoder, Request, Step, generate, room_for, timed
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.trace import Trace
from playground.words import say


@dataclass(frozen=True)
class Branch:
    """A whole answer; its first `num_shared` steps are those of the recorded one."""

    trace: Trace
    cache: KVCache
    num_shared: int
    num_reused: int  # tokens, prompt included, that the kept cache saved from being fed again
    num_fed: int  # tokens fed to write the rest


def go_on(
    model: Decoder,
    recorded: Trace,
    num_shared: int,
    params: SamplingParams,
    forced_id: int | None = None,
    cache: KVCache | None = None,
    max_new_tokens: int = 64,
    stop_ids: Sequence[int] = (),
    only_next: bool = False,
) -> Generator[None, None, Branch]:
    """Keeps `num_shared` recorded steps, forces the next token if asked to, and writes the rest under `params`.

    `only_next`: one token and no more, for a person who chooses each of them.
    Yields after each step and returns the branch; `at_once` of playground.models.answers goes through.
    `cache`: of the recorded run after its last step; without one the shared text is fed again.
    Raises ValueError for a place or a token that does not exist, and what `generate` raises.
    """
    if not 0 <= num_shared <= len(recorded) - (forced_id is not None):
        raise ValueError(say("one_answer.branch.no_step", steps=len(recorded), step=num_shared))
    cache = cache.clone() if cache is not None else KVCache.of(model)
    request = Request.checked(model, recorded.prompt_ids, params, max_new_tokens, stop_ids)
    views = recorded.steps
    steps, seconds = views[:num_shared], list(recorded.seconds[:num_shared])
    forced = {step for step in recorded.forced if step < num_shared}
    if forced_id is not None:
        steps.append(_forced(views[num_shared], forced_id, request, room_for(model, cache), model))
        seconds += recorded.seconds[num_shared : num_shared + 1]
        forced.add(num_shared)
    elif steps:  # where the recorded run ended, this one may have room to go on
        reason = request.end(steps[-1].token_id, num_shared, room_for(model, cache))
        steps[-1] = replace(steps[-1], stop_reason=reason)
    path = [step.token_id for step in steps]
    num_reused, num_fed = cache.keep_common([*request.prompt_ids, *path]), 0
    if not steps or steps[-1].stop_reason is None:
        more = generate(model, request.prompt_ids, params, cache, max_new_tokens, stop_ids, path)
        for step, duration in timed(more):
            steps.append(step)
            seconds.append(duration)
            num_fed += step.num_fed
            yield None
            if only_next:
                break
    if len(seconds) < len(steps):  # the recorded steps were not timed
        seconds = []
    return Branch(Trace(steps, seconds, request, forced), cache, num_shared, num_reused, num_fed)


def _forced(step: Step, token_id: int, request: Request, room: int, model: Decoder) -> Step:
    """The recorded step, but a person chose."""
    if not 0 <= token_id < model.config.vocab_size:
        last = model.config.vocab_size - 1
        raise ValueError(say("one_answer.branch.no_token", token_id=token_id, last=last))
    return replace(step, token_id=token_id, stop_reason=request.end(token_id, step.index + 1, room))
