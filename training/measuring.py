"""The instruments of the evaluation: losses, answers, and whether greedy decoding would say a given thing."""

import gzip
import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import torch
from torch.nn import functional as F

from playground import KVCache, SamplingParams, Step, load_model
from playground.engine.batching import Batch
from playground.engine.generation import STOP_TOKEN
from playground.models.answers import at_once, write_answers
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


def side_by_side(
    loaded: LoadedModel, asked: list[tuple[str, SamplingParams]], max_new_tokens: int = 64
) -> Iterator[tuple[int, Step]]:
    """The steps of an answer to each (prompt, settings), with its place. The tokens are those that it gets alone."""
    batch = Batch(loaded.model)
    writing = {}
    for place, (prompt, params) in enumerate(asked):
        request = loaded.prompt_ids(prompt), params, KVCache.of(loaded.model), max_new_tokens, loaded.stop_ids
        writing[place] = batch.generate(*request)
    while writing:
        for place in list(writing):
            step, _seconds = next(writing[place])
            if step is None:  # between two pieces of a long prompt
                continue
            if step.stop_reason:
                del writing[place]
            yield place, step


def answers_to_all(
    loaded: LoadedModel, asked: list[tuple[str, SamplingParams]], max_new_tokens: int = 64
) -> list[tuple[str, bool]]:
    """What `answer` gives for each (prompt, settings)."""
    token_ids: list[list[int]] = [[] for _ in asked]
    ended = [False] * len(asked)
    for place, step in side_by_side(loaded, asked, max_new_tokens):
        ended[place] = step.stop_reason == STOP_TOKEN
        if not ended[place]:
            token_ids[place].append(step.token_id)
    return [(loaded.tokenizer.decode(ids), end) for ids, end in zip(token_ids, ended, strict=True)]


def greedy(prompt: str) -> str:
    return answer(chat(), prompt, SamplingParams(temperature=0.0))[0]


@cache  # several bars look at the same thirty
def answers_at(prompt: str, temperatures: tuple[float, ...], n: int = 30) -> dict[float, tuple[str, ...]]:
    """n answers at each temperature, all written in one batch."""
    settings = [SamplingParams(temperature, seed=7) for temperature in temperatures]
    request = chat().prompt_ids(prompt), settings, n, 64, chat().stop_ids
    written = at_once(write_answers(chat().model, chat().tokenizer, *request))
    return {at: tuple(answer.text for answer in each) for at, each in zip(temperatures, written, strict=True)}


def answers(prompt: str, temperature: float, n: int = 30) -> tuple[str, ...]:
    return answers_at(prompt, (temperature,), n)[temperature]


def greedy_gives(asked: list[tuple[str, str]]) -> list[bool]:
    """For each (question, answer): would greedy decoding give exactly this? One pass each, many at a time."""
    ids_of = [
        (chat().prompt_ids(question), [*chat().tokenizer.encode(expected), chat().stop_ids[0]])
        for question, expected in asked
    ]
    verdicts = [False] * len(asked)
    # Texts of like length go together: all are read as far as the longest.
    by_length = sorted(range(len(asked)), key=lambda place: sum(map(len, ids_of[place])))
    for begin in range(0, len(asked), 64):
        places = by_length[begin : begin + 64]
        rows = [ids_of[place] for place in places]
        longest = max(len(prompt) + len(expected) for prompt, expected in rows)
        ids = torch.zeros(len(rows), longest, dtype=torch.long)
        for row, (prompt, expected) in enumerate(rows):
            ids[row, : len(prompt) + len(expected)] = torch.tensor(prompt + expected)
        choices = chat().model(ids, KVCache(chat().model.config.num_layers, kind="none")).argmax(-1)
        for place, row, (prompt, expected) in zip(places, choices, rows, strict=True):
            start = len(prompt) - 1
            verdicts[place] = row[start : start + len(expected)].tolist() == expected
    return verdicts


def words_in(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]+(?:'[a-z]+)?", text)


def is_word(word: str) -> bool:
    return word.lower().removesuffix("'s") in dictionary()
