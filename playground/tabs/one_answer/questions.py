"""What the buttons Q3 to Q11 set, and what their cards say: words from assets/words, numbers from the run."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel
from torch import Tensor

from playground.engine.params import SamplingParams
from playground.engine.sampling import next_token_distribution
from playground.engine.trace import Trace
from playground.models.text import LoadedModel
from playground.page.controls import ALL_OFF, DEFAULTS
from playground.page.lesson import read_lesson
from playground.page.panel import Figure, figure_json
from playground.page.recording import record_run
from playground.page.requests import RequestError, checked, sampling_params
from playground.page.runs import RunStore
from playground.tabs.one_answer import findings as lessons
from playground.tabs.one_answer.figures import kept_figure, penalties_figure, tail_figure


@dataclass(frozen=True)
class Finding:
    """One sentence, a table of texts, and perhaps a curve."""

    sentence: str
    columns: list[str]
    rows: list[list[str]]
    figure: Figure | None = None
    step: int = 0  # where the pictures should look


class CardQuestion(BaseModel):
    """Of questions.js."""

    key: str


@dataclass(frozen=True)
class Asked:
    """What a question has to work with."""

    loaded: LoadedModel
    trace: Trace
    params: SamplingParams
    setup: dict[str, Any]  # of questions.toml

    def label(self, token_id: int) -> str:
        return self.loaded.labels[token_id]


def questions() -> list[dict[str, str]]:
    return [
        {"key": key, "title": section.title, "short": section.button}
        for key, section in read_lesson("one_answer").items()
    ]


def read_setups() -> dict[str, dict[str, Any]]:
    """For each question the model, the prompt and the sliders."""
    return tomllib.loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))


def answer_question(models: Mapping[str, LoadedModel], runs: RunStore, question: Any) -> Iterator[tuple | None]:
    """Values for the card, model, prompt, controls and run."""
    key = checked(CardQuestion, question).key
    if key not in FINDINGS:
        raise RequestError(f"There is no question {key!r}.")
    setup, section = read_setups()[key], read_lesson("one_answer")[key]
    name = setup["model"] if setup["model"] in models else next(iter(models))
    controls, last = DEFAULTS | ALL_OFF | setup["settings"], {}
    for value in record_run(models, runs, name, setup["prompt"], controls):
        last = value or last
        yield None
    trace = runs.get(last["id"]).trace
    found = FINDINGS[key](Asked(models[name], trace, sampling_params(controls), setup))
    card = {
        "title": section.title,
        "text": section.text.replace("\n", " "),
        "finding": found.sentence,
        "columns": found.columns,
        "rows": found.rows,
        "figure": figure_json(found.figure) if found.figure else None,
    }
    yield card, name, setup["prompt"], controls, last | {"step": found.step}


# ---- one function a question


def _seed(asked: Asked) -> Finding:
    table = lessons.other_temperatures(asked.trace, asked.params, [0.3, 0.7, 0.9, 1.1, 1.5])
    rows = []
    for row in table.itertuples():
        if row.first_difference is None:
            rows.append([f"T = {row.temperature}", "none", "", "", ""])
            continue
        tokens = [asked.label(row.token_then), asked.label(row.token_now)]
        rows.append([f"T = {row.temperature}", f"step {row.first_difference}", f"{row.uniform:.4f}", *tokens])
    return Finding(
        f"Seed {asked.params.seed} gives {asked.trace.uniforms[0]:.4f} at step 0 under every setting. "
        "The first step where the same number picks another token than at T = 1:",
        ["temperature", "parts at", "random number", "it was", "it becomes"],
        rows,
    )


def _who_binds(asked: Asked) -> Finding:
    unsure, sure = _least_sure(asked.trace), int(_entropies(asked.trace).argmin())
    logits = {f"step {step}, {name}": asked.trace.logits[step] for step, name in ((unsure, "unsure"), (sure, "sure"))}
    p, k = asked.params.top_p, asked.params.top_k
    settings = {f"top-p {p}": SamplingParams(top_p=p), f"top-k {k}": SamplingParams(top_k=k), "both": asked.params}
    table = lessons.who_binds(logits, settings)
    rows = [
        [row.prompt, row.setting, f"{row.num_kept:,}", f"{row.kept_mass:.1%}", row.binds] for row in table.itertuples()
    ]
    both = table[table.setting == "both"]
    words = [f"{row.prompt}: {row.num_kept} kept, {row.binds} binds" for row in both.itertuples()]
    return Finding(
        "; ".join(words) + ".", ["where", "setting", "tokens kept", "of the mass", "binds"], rows, step=unsure
    )


def _orders(asked: Asked) -> Finding:
    by_hand = lessons.orders(torch.tensor([3.0, 2.0, 1.0]), SamplingParams(temperature=0.5, top_p=0.8))
    kept = {rule: asked.trace.reread(replace(asked.params, rule=rule)).num_candidates for rule in by_hand.rule}
    step = max(range(len(asked.trace)), key=lambda at: kept["llama.cpp"][at] - kept["transformers"][at])
    rows = [
        [hand.rule, str(hand.num_kept), " ".join(f"{prob:.3f}" for prob in hand.probs), f"{kept[hand.rule][step]:,}"]
        for hand in by_hand.itertuples()
    ]
    columns = ["rule", "kept of 3, 2, 1", "probabilities", f"kept at step {step} of this run"]
    sentence = f"The same sliders, T = {asked.params.temperature} and p = {asked.params.top_p}, in four orders:"
    return Finding(sentence, columns, rows, step=step)


def _share(asked: Asked) -> Finding:
    table = lessons.kept_per_step(asked.trace, asked.params)
    ones, size = int((table.num_kept == 1).sum()), asked.trace.logits.shape[1]
    rows = [
        [f"step {row.step}", str(row.num_kept), f"{row.share_of_tokens:.2%}", f"{row.kept_mass:.1%}"]
        for row in table.head(6).itertuples()
    ]
    return Finding(
        f"With p = {asked.params.top_p} one token is kept at {ones} of {len(table)} steps. "
        f"A tenth of the vocabulary would be {size // 10:,}.",
        ["step", "tokens kept", "of the vocabulary", "of the mass"],
        rows,
        kept_figure(table),
    )


def _top_k(asked: Asked) -> Finding:
    size, step = asked.trace.logits.shape[1], _least_sure(asked.trace)
    table = lessons.top_k_values(asked.trace.logits[step], [0, 1, 50, size, size + 1])
    says = ["off", "greedy", "the hidden default", "the whole vocabulary", "more than there is"]
    rows = [
        [f"{row.top_k:,}", word, f"{row.num_kept:,}", f"{row.lost_mass:.2%}"]
        for row, word in zip(table.itertuples(), says, strict=True)
    ]
    lost = table[table.top_k == 50].lost_mass.iloc[0]
    return Finding(
        f"At step {step}, where this model is least sure, the hidden 50 throws away {lost:.2%} of what it says.",
        ["k", "", "tokens kept", "mass thrown away"],
        rows,
        step=step,
    )


def _tail(asked: Asked) -> Finding:
    min_p, temperatures = 0.05, [0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 1.8, 2.0]
    table = lessons.tail_at_temperatures(asked.trace.logits, temperatures, min_p)
    rows = [
        [f"{row.temperature}", f"{row.tail_mass:.2%}", f"{row.none_in_answer:.2%}", f"{row.none_with_min_p:.2%}"]
        for row in table.itertuples()
    ]
    return Finding(
        "The tail: tokens that the model finds less than a thousandth as likely as its first choice. "
        f"Mean over the {len(asked.trace)} steps of this answer.",
        ["temperature", "tail at one step", "100 tokens without it", f"the same, min-p {min_p}"],
        rows,
        tail_figure(table, min_p),
    )


def _logprobs(asked: Asked) -> Finding:
    step = _least_sure(asked.trace)
    seen = asked.trace.prompt_ids + asked.trace.token_ids[:step]
    distribution = next_token_distribution(asked.trace.logits[step], asked.params, seen)
    table = lessons.five_meanings(distribution, distribution.ranking[:5].tolist())
    names = [*(asked.label(token_id) for token_id in table.index[:-1]), "sum over all tokens"]
    rows = [[name, *(f"{value:.4f}" for value in row)] for name, row in zip(names, table.to_numpy(), strict=True)]
    return Finding(
        f"Step {step}, the five most likely tokens. The token is sampled from the last column. In transformers, the "
        "softmax of `logits` is the first column and that of `scores` is the last.",
        ["token", *table.columns],
        rows,
        step=step,
    )


def _prompt_penalty(asked: Asked) -> Finding:
    logits, prompt_ids = asked.trace.logits[0], asked.trace.prompt_ids
    words = sorted(set(prompt_ids), key=lambda token_id: float(logits[token_id]))
    rows = []
    for word in dict.fromkeys((words[-1], words[0])):
        table = lessons.penalised_word(logits, word, asked.params.repetition_penalty, prompt_ids)
        rows += [
            [asked.label(word), row.rule, f"{row.logit:.3f}", f"{row.prob:.3%}", f"{row.rank:,}"]
            for row in table.itertuples()
        ]
    return Finding(
        f"Step 0 with a penalty of {asked.params.repetition_penalty}: the words of the prompt with the largest and the "
        "smallest logit.",
        ["word", "rule", "logit", "probability", "rank"],
        rows,
    )


def _three_penalties(asked: Asked) -> Finding:
    settings = {
        "repetition 1.3": SamplingParams(repetition_penalty=1.3),
        "presence 0.5": SamplingParams(presence_penalty=0.5),
        "frequency 0.5": SamplingParams(frequency_penalty=0.5),
    }
    logit = float(asked.trace.logits[0].max())
    table = lessons.penalties_by_count(logit, list(range(6)), settings)
    rows = [[str(int(row[0])), *(f"{value:.2f}" for value in row[1:])] for row in table.to_numpy()]
    return Finding(
        f"The largest logit of step 0, {logit:.2f}, after its token was seen so many times:",
        ["times seen", *table.columns[1:]],
        rows,
        penalties_figure(table),
    )


FINDINGS: dict[str, Callable[[Asked], Finding]] = {
    "Q3": _seed,
    "Q4": _who_binds,
    "Q5": _orders,
    "Q6": _share,
    "Q7": _top_k,
    "Q8": _tail,
    "Q9": _logprobs,
    "Q10": _prompt_penalty,
    "Q11": _three_penalties,
}


def _entropies(trace: Trace) -> Tensor:
    """(N,) of the model's own probabilities, in nats."""
    return torch.special.entr(torch.softmax(trace.logits.double(), -1)).sum(-1)


def _least_sure(trace: Trace) -> int:
    return int(_entropies(trace).argmax())
