"""A recorded run as tables: a row for each step, and a row for each candidate of one step."""

from collections.abc import Sequence

import pandas as pd
import torch

from playground.engine.params import SamplingParams
from playground.engine.trace import Trace


def trace_frame(trace: Trace, params: SamplingParams | None = None) -> pd.DataFrame:
    """One row a step, in numbers; with `params`, as re-read under them."""
    reread = trace.reread(params or trace.params)
    token_ids, first = torch.tensor(trace.token_ids)[:, None], len(trace.request.answer_ids)
    logits = trace.logits.gather(1, token_ids)  # (N, 1) of what was written
    ids = torch.arange(trace.logits.shape[1])
    before = (trace.logits > logits) | ((trace.logits == logits) & (ids < token_ids))
    frame = pd.DataFrame(
        {
            "step": range(first, first + len(trace)),
            "token_id": trace.token_ids,
            "model_prob": torch.softmax(trace.logits.double(), -1).gather(1, token_ids)[:, 0].numpy(),
            "prob": reread.probs.gather(1, token_ids)[:, 0].numpy(),
            "rank": (before.sum(-1) + 1).numpy(),
            "num_candidates": reread.num_candidates,
            "entropy": reread.distributions.entropy.numpy(),
            "uniform": trace.uniforms,
            "num_fed": trace.num_fed,
            "cache_bytes": [sum(layers) for layers in trace.cache_bytes],
        }
    )
    if trace.seconds:
        frame["seconds"] = trace.seconds
    return frame


def steps_table(trace: Trace, labels: Sequence[str], params: SamplingParams) -> pd.DataFrame:
    """Every step as it looks under `params`: what was written, what would be, what each stage left. Entropy in nats."""
    reread = trace.reread(params)
    table = trace_frame(trace, params)
    table.insert(2, "token", [labels[token_id] for token_id in trace.token_ids])
    table["would_pick_id"] = reread.chosen_ids
    table["would_pick"] = [labels[token_id] for token_id in reread.chosen_ids]
    for cut in reread.distributions.cuts:
        table[f"kept_after_{cut.name}"] = cut.num_kept.tolist()
    table["binding_stage"] = binding_stages(trace, params)
    return table


def binding_stages(trace: Trace, params: SamplingParams) -> list[str]:
    """For each step the last stage that cut anything, which is the one that decides how many tokens are left."""
    distributions = trace.reread(params).distributions
    names = ["none"] * len(trace)
    before = distributions.walk.uncut.num_kept
    for cut in distributions.cuts:
        for step in (cut.num_kept < before).nonzero()[0].tolist():
            names[step] = cut.name
        before = cut.num_kept
    return names


def candidates_table(
    trace: Trace, labels: Sequence[str], params: SamplingParams, step: int, top: int = 15
) -> pd.DataFrame:
    """The likeliest tokens of a step, and the one written: logit, the model's probability, that after each stage."""
    distribution = trace.reread(params).distributions[step]
    ranking = distribution.ranking.tolist()
    places = list(range(min(top, len(ranking))))
    written = ranking.index(trace.token_ids[step])
    if written not in places:
        places[-1] = written
    ids = [ranking[place] for place in places]
    table = pd.DataFrame(
        {
            "rank": [place + 1 for place in places],
            "token_id": ids,
            "token": [labels[token_id] for token_id in ids],
            "written": [place == written for place in places],
            "kept": (distribution.probs[ids] > 0).tolist(),
            "logit": distribution.logits[ids].tolist(),
            "model": distribution.model_probs[ids].tolist(),
        }
    )
    for stage in distribution.stages:
        table[stage.name] = stage.probs[ids].tolist()
    return table
