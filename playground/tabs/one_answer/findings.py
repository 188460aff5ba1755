"""The questions Q3 to Q11 about sampling, each settled by numbers from a run. Shapes: N steps, V vocabulary."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import torch
from torch import Tensor

from playground.engine.params import RULES, SamplingParams
from playground.engine.sampling import Distribution, next_token_distribution, penalize
from playground.engine.trace import Trace


def other_temperatures(trace: Trace, params: SamplingParams, temperatures: Sequence[float]) -> pd.DataFrame:
    """Q3. The same random numbers at other temperatures: the first step at which the number falls on another token."""
    rows = []
    for temperature in temperatures:
        reread = trace.reread(replace(params, temperature=temperature))
        step = reread.first_difference
        rows.append(
            {
                "temperature": temperature,
                "first_difference": step,
                "uniform": None if step is None else trace.uniforms[step],
                "token_then": None if step is None else trace.token_ids[step],
                "token_now": None if step is None else reread.chosen_ids[step],
            }
        )
    return pd.DataFrame(rows, dtype=object)  # as numbers, None would become NaN


def deciding_stages(logits: Tensor, settings: Mapping[str, SamplingParams]) -> pd.DataFrame:
    """Q4. For each setting on logits (V,): tokens kept, their probability by the model, and the stage that cut last."""
    rows = []
    for name, params in settings.items():
        distribution = next_token_distribution(logits, params)
        cutting = [stage.name for stage in distribution.stages if stage.cuts]
        rows.append(
            {
                "setting": name,
                "num_kept": distribution.num_candidates,
                "kept_mass": float(distribution.model_probs[distribution.candidate_ids].sum()),
                "binding_stage": cutting[-1] if cutting else "none",
            }
        )
    return pd.DataFrame(rows)


def orders(logits: Tensor, params: SamplingParams) -> pd.DataFrame:
    """Q5. The same sliders under the four rules: how many tokens stay, and their probabilities, the likeliest first."""
    rows = []
    for rule in RULES:
        distribution = next_token_distribution(logits, replace(params, rule=rule))
        probs = distribution.probs[distribution.ranking].tolist()
        rows.append({"rule": rule, "num_kept": distribution.num_candidates, "probs": probs})
    return pd.DataFrame(rows)


def kept_per_step(trace: Trace, params: SamplingParams) -> pd.DataFrame:
    """Q6. Tokens kept at every step, their share of the vocabulary, and their share of the model's probability."""
    reread = trace.reread(params)
    model_probs = torch.softmax(trace.logits.double(), -1)
    kept = torch.tensor(reread.num_candidates)
    return pd.DataFrame(
        {
            "step": range(len(trace)),
            "num_kept": kept.tolist(),
            "share_of_tokens": (kept / trace.logits.shape[1]).tolist(),
            "kept_mass": (model_probs * (reread.probs > 0)).sum(-1).tolist(),
        }
    )


def top_k_values(logits: Tensor, values: Sequence[int]) -> pd.DataFrame:
    """Q7. For each k: tokens kept, and how much of the model's probability is thrown away."""
    rows = []
    for k in values:
        distribution = next_token_distribution(logits, SamplingParams(top_k=k))
        kept = distribution.candidate_ids
        lost = 1 - float(distribution.model_probs.double()[kept].sum())
        rows.append({"top_k": k, "num_kept": distribution.num_candidates, "lost_mass": max(lost, 0.0)})
    return pd.DataFrame(rows)


def tail_at_temperatures(
    logits: Tensor, temperatures: Sequence[float], min_p: float, tail_below: float = 0.001, num_tokens: int = 100
) -> pd.DataFrame:
    """Q8. The chance of a token from the tail at one step, mean over (N, V) logits, and that `num_tokens` hold none.

    The tail: tokens that the model itself finds less than `tail_below` times as likely as its first choice.
    """
    model_probs = torch.softmax(logits.double(), -1)
    in_tail = model_probs < tail_below * model_probs.max(-1, keepdim=True).values
    rows = []
    for temperature in temperatures:
        chances = []
        for params in (SamplingParams(temperature), SamplingParams(temperature, min_p=min_p)):
            probs = torch.stack([next_token_distribution(row, params).probs.double() for row in logits])
            chances.append(float((probs * in_tail).sum(-1).mean()))
        rows.append(
            {
                "temperature": temperature,
                "tail_mass": chances[0],
                "tail_mass_with_min_p": chances[1],
                "none_in_answer": (1 - chances[0]) ** num_tokens,
                "none_with_min_p": (1 - chances[1]) ** num_tokens,
            }
        )
    return pd.DataFrame(rows)


def five_meanings(distribution: Distribution, token_ids: Sequence[int]) -> pd.DataFrame:
    """Q9. What "the probability of a token" can mean at one step: a column each; `sum` is over the whole vocabulary.

    "cut" is what the kept tokens had before the cuts: those who forget to renormalise print it.
    """
    stages = {stage.name: stage.probs.double() for stage in distribution.stages}
    columns = {
        "raw": distribution.model_probs.double(),
        "penalized": torch.softmax(distribution.batch.penalized[distribution.row].double(), -1),
        "tempered": stages["temperature"],
        "cut": stages["temperature"] * (distribution.probs > 0),
        "renormalised": distribution.probs.double(),
    }
    ids = list(token_ids)
    rows = {name: [*probs[ids].tolist(), float(probs.sum())] for name, probs in columns.items()}
    return pd.DataFrame(rows, index=[*ids, "sum"])


def penalised_word(logits: Tensor, word_id: int, penalty: float, prompt_ids: Sequence[int]) -> pd.DataFrame:
    """Q10. One word of the prompt under the repetition penalty, with the prompt, without it, and divided naively."""
    ours = SamplingParams(repetition_penalty=penalty)
    naive = logits.clone()
    naive[list(set(prompt_ids))] /= penalty
    rows = []
    for name, row in {
        "none": logits,
        "prompt": penalize(logits[None], [prompt_ids], ours)[0],
        "answer": penalize(logits[None], [[]], ours)[0],
        "naive": naive,
    }.items():
        # Of a word with a negative logit the probability is too small to see it change; its rank tells.
        rows.append({"rule": name, "logit": float(row[word_id]), "rank": int((row > row[word_id]).sum()) + 1})
    return pd.DataFrame(rows)


def penalties_by_count(logit: float, counts: Sequence[int], settings: Mapping[str, SamplingParams]) -> pd.DataFrame:
    """Q11. What becomes of one token's logit after it was seen 0, 1, 5 … times; a column for each setting."""
    columns = {
        name: [float(penalize(torch.tensor([[logit, 0.0]]), [[0] * count], params)[0, 0]) for count in counts]
        for name, params in settings.items()
    }
    return pd.DataFrame({"seen": list(counts), **columns})
