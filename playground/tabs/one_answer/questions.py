"""What the buttons Q3 to Q11 set, and the numbers that their cards show: the words are in the catalogue."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from pydantic import BaseModel
from torch import Tensor

from playground.engine.params import SamplingParams
from playground.engine.sampling import next_token_distribution
from playground.engine.trace import Trace
from playground.models.text import LoadedModel
from playground.page.controls import ALL_OFF, DEFAULTS
from playground.page.line import Work, in_steps
from playground.page.panel import Figure, figure_json
from playground.page.recording import record_run
from playground.page.requests import RequestError, checked, sampling_params
from playground.page.runs import RunStore
from playground.tabs.one_answer import findings
from playground.tabs.one_answer.figures import kept_figure, penalties_figure, tail_figure
from playground.words import say, told

Row = dict[str, Any]


@dataclass(frozen=True)
class Finding:
    """What a run says to a question, for the texts one_answer.finding.<question>.

    A fact is a number, a text or what `told` made; in a row also None, for an empty cell.
    """

    rows: list[Row]  # of its table: a fact for each column
    facts: Row = field(default_factory=dict)  # of its sentence, and of the heads of the table
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

    def label(self, token_id: int | None) -> str | None:
        return None if token_id is None else self.loaded.labels[token_id]


def read_setups() -> dict[str, dict[str, Any]]:
    """For each question the model, the prompt and the sliders."""
    return tomllib.loads(Path(__file__).with_name("questions.toml").read_text(encoding="utf-8"))


def answer_question(models: Mapping[str, LoadedModel], runs: RunStore, question: Any) -> Work:
    """Values for the card, model, prompt, controls and run."""
    key = checked(CardQuestion, question).key
    if key not in FINDINGS:
        raise RequestError(say("one_answer.ask.unknown", key=key))
    setup = read_setups()[key]
    name = setup["model"] if setup["model"] in models else next(iter(models))
    controls = DEFAULTS | ALL_OFF | setup["settings"]
    run = yield from in_steps(record_run(models, runs, name, setup["prompt"], controls))
    found = FINDINGS[key](Asked(models[name], runs.get(run["id"]).trace, sampling_params(controls)))
    figure = figure_json(found.figure) if found.figure else None
    made = {"model": name, "prompt": setup["prompt"], "params": asdict(sampling_params(controls))}
    card = {"question": key, "facts": found.facts, "rows": found.rows, "figure": figure, "made": made}
    return card, name, setup["prompt"], controls, run | {"step": found.step}


# ---- one function a question


def _seed(asked: Asked) -> Finding:
    table = findings.other_temperatures(asked.trace, asked.params, [0.3, 0.7, 0.9, 1.1, 1.5])
    never = told("one_answer.finding.Q3.never")
    rows = [
        row
        | {
            "first_difference": never if step is None else told("one_answer.finding.Q3.at_step", step=step),
            "token_then": asked.label(row["token_then"]),
            "token_now": asked.label(row["token_now"]),
        }
        for row in table.to_dict("records")
        for step in [row["first_difference"]]
    ]
    return Finding(rows, {"seed": asked.params.seed, "uniform": asked.trace.uniforms[0]})


def _which_stage(asked: Asked) -> Finding:
    entropies, facts = _entropies(asked.trace), {"p": asked.params.top_p, "k": asked.params.top_k}
    steps = {"unsure": int(entropies.argmax()), "sure": int(entropies.argmin())}
    settings = {
        "top_p": SamplingParams(top_p=asked.params.top_p),
        "top_k": SamplingParams(top_k=asked.params.top_k),
        "both": asked.params,
    }
    rows = []
    for where, step in steps.items():
        place = told(f"one_answer.finding.Q4.{where}", step=step)
        for row in findings.deciding_stages(asked.trace.logits[step], settings).to_dict("records"):
            setting = told(f"one_answer.finding.Q4.{row['setting']}", **facts)
            stage = told(f"page.stage.{row['binding_stage']}")
            rows.append({"where": place} | row | {"setting": setting, "binding_stage": stage})
        both = rows[-1]
        facts |= {where: place, f"{where}_kept": both["num_kept"], f"{where}_stage": both["binding_stage"]}
    return Finding(rows, facts, step=steps["unsure"])


def _orders(asked: Asked) -> Finding:
    by_hand = findings.orders(torch.tensor([3.0, 2.0, 1.0]), SamplingParams(temperature=0.5, top_p=0.8))
    kept = {rule: asked.trace.reread(replace(asked.params, rule=rule)).num_candidates for rule in by_hand.rule}
    step = max(range(len(asked.trace)), key=lambda at: kept["llama.cpp"][at] - kept["transformers"][at])
    rows = []
    for hand in by_hand.itertuples():
        first, second, third = hand.probs
        probs = told("one_answer.finding.Q5.probs", first=first, second=second, third=third)
        rule, here = told(f"one_answer.rule_name.{hand.rule}"), kept[hand.rule][step]
        rows.append({"rule": rule, "num_kept": hand.num_kept, "probs": probs, "kept_here": here})
    facts = {"temperature": asked.params.temperature, "p": asked.params.top_p, "step": step}
    return Finding(rows, facts, step=step)


def _share(asked: Asked) -> Finding:
    table = findings.kept_per_step(asked.trace, asked.params)
    facts = {
        "p": asked.params.top_p,
        "ones": int((table.num_kept == 1).sum()),
        "steps": len(table),
        "tenth": asked.trace.logits.shape[1] // 10,
    }
    return Finding(table.head(6).to_dict("records"), facts, kept_figure(table))


def _top_k(asked: Asked) -> Finding:
    size, step = asked.trace.logits.shape[1], _least_sure(asked.trace)
    meanings = {0: "off", 1: "greedy", 50: "hidden", size: "all", size + 1: "more"}
    table = findings.top_k_values(asked.trace.logits[step], list(meanings))
    table.insert(1, "meaning", [told(f"one_answer.finding.Q7.meaning.{name}") for name in meanings.values()])
    lost = float(table[table.top_k == 50].lost_mass.iloc[0])
    return Finding(table.to_dict("records"), {"step": step, "lost": lost}, step=step)


def _tail(asked: Asked) -> Finding:
    min_p, temperatures = 0.05, [0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 1.8, 2.0]
    table = findings.tail_at_temperatures(asked.trace.logits, temperatures, min_p)
    rows = table[["temperature", "tail_mass", "none_in_answer", "none_with_min_p"]].to_dict("records")
    return Finding(rows, {"steps": len(asked.trace), "min_p": min_p}, tail_figure(table, min_p))


def _logprobs(asked: Asked) -> Finding:
    tables = [_five_meanings_at(asked, step) for step in range(len(asked.trace))]
    step = max(range(len(tables)), key=lambda at: _least_difference(tables[at]))
    table = tables[step]
    names = [*map(asked.label, table.index[:-1]), told("one_answer.finding.Q9.sum")]
    rows = [{"token": name} | row for name, row in zip(names, table.to_dict("records"), strict=True)]
    return Finding(rows, {"step": step}, step=step)


def _five_meanings_at(asked: Asked, step: int) -> pd.DataFrame:
    """Of the five tokens most likely under the settings."""
    seen = asked.trace.prompt_ids + asked.trace.token_ids[:step]
    distribution = next_token_distribution(asked.trace.logits[step], asked.params, seen)
    return findings.five_meanings(distribution, distribution.ranking[:5].tolist())


def _least_difference(table: pd.DataFrame) -> float:
    """Of each column from the one before it, in the row where it is largest; then the least of these."""
    return float(table.iloc[:-1].diff(axis=1).iloc[:, 1:].abs().max().min())


def _prompt_penalty(asked: Asked) -> Finding:
    logits, prompt_ids = asked.trace.logits[0], asked.trace.prompt_ids
    words = sorted(set(prompt_ids), key=lambda token_id: float(logits[token_id]))
    penalty = asked.params.repetition_penalty
    rows = [
        {"word": asked.label(word)} | row | {"rule": told(f"one_answer.finding.Q10.rule.{row['rule']}")}
        for word in dict.fromkeys((words[-1], words[0]))
        for row in findings.penalised_word(logits, word, penalty, prompt_ids).to_dict("records")
    ]
    return Finding(rows, {"penalty": penalty})


def _three_penalties(asked: Asked) -> Finding:
    values = {"repetition": 1.3, "presence": 0.5, "frequency": 0.5}
    settings = {name: SamplingParams(**{f"{name}_penalty": value}) for name, value in values.items()}
    logit = float(asked.trace.logits[0].max())
    table = findings.penalties_by_count(logit, list(range(6)), settings)
    return Finding(table.to_dict("records"), {"logit": logit} | values, penalties_figure(table, values))


FINDINGS: dict[str, Callable[[Asked], Finding]] = {
    "Q3": _seed,
    "Q4": _which_stage,
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
