"""The instruments of the evaluation: losses, answers, and whether greedy decoding would say a given thing."""

import gzip
import math
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import torch
from torch.nn import functional as F

from playground import KVCache, SamplingParams, load_model
from playground.engine.generation import STOP_TOKEN
from playground.models.text import LoadedModel
from training.facts import Fact, load_facts
from training.settings import MODEL_FOLDER

DICTIONARY = Path(__file__).parent / "words.txt.gz"  # Debian's american-english, as fetch brings it


@cache
def base() -> LoadedModel:
    return load_model("minimind-base")


@cache
def chat() -> LoadedModel:
    return load_model("minimind-chat")


@cache
def known_facts() -> list[Fact]:
    return load_facts(MODEL_FOLDER / "facts.json")


@cache
def dictionary() -> frozenset[str]:
    return frozenset(gzip.decompress(DICTIONARY.read_bytes()).decode().lower().split())


def token_losses(loaded: LoadedModel, text: str) -> torch.Tensor:
    """Nats for each token after the first."""
    ids = torch.tensor([loaded.tokenizer.encode(text)[: loaded.trained_length]])
    logits = loaded.model(ids, KVCache(loaded.model.config.num_layers, kind="none"))
    return F.cross_entropy(logits[0, :-1], ids[0, 1:], reduction="none")


def loss_per_token(loaded: LoadedModel, texts: Iterable[str]) -> float:
    return torch.cat([token_losses(loaded, text) for text in texts]).mean().item()


def bits_per_byte(loaded: LoadedModel, texts: Iterable[str]) -> float:
    nats, num_bytes = 0.0, 0
    for text in texts:
        losses = token_losses(loaded, text)
        nats += losses.sum().item()
        ids = loaded.tokenizer.encode(text)[1 : len(losses) + 1]
        num_bytes += len(loaded.tokenizer.decode(ids).encode())
    return nats / num_bytes / math.log(2)


def answer(loaded: LoadedModel, prompt: str, params: SamplingParams, max_new_tokens: int = 64) -> tuple[str, bool]:
    """The text, and whether the model ended it itself."""
    trace = loaded.generate(prompt, params, max_new_tokens=max_new_tokens)
    return trace.text, trace.stop_reason == STOP_TOKEN


def greedy(prompt: str) -> str:
    return answer(chat(), prompt, SamplingParams(temperature=0.0))[0]


@cache  # several bars look at the same thirty
def answers(prompt: str, temperature: float, n: int = 30) -> tuple[str, ...]:
    return tuple(answer.text for answer in chat().answers(prompt, SamplingParams(temperature, seed=7), n))


def greedy_gives(asked: list[tuple[str, str]]) -> list[bool]:
    """For each (question, answer): would greedy decoding give exactly this? One pass each, many at a time."""
    verdicts = []
    for begin in range(0, len(asked), 64):
        rows = []
        for question, expected in asked[begin : begin + 64]:
            prompt = chat().prompt_ids(question)
            rows.append((prompt, [*chat().tokenizer.encode(expected), chat().stop_ids[0]]))
        longest = max(len(prompt) + len(expected) for prompt, expected in rows)
        ids = torch.zeros(len(rows), longest, dtype=torch.long)
        for row, (prompt, expected) in enumerate(rows):
            ids[row, : len(prompt) + len(expected)] = torch.tensor(prompt + expected)
        choices = chat().model(ids, KVCache(chat().model.config.num_layers, kind="none")).argmax(-1)
        for row, (prompt, expected) in enumerate(rows):
            start = len(prompt) - 1
            verdicts.append(choices[row, start : start + len(expected)].tolist() == expected)
    return verdicts


def words_in(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]+(?:'[a-z]+)?", text)


def is_word(word: str) -> bool:
    return word.lower().removesuffix("'s") in dictionary()
