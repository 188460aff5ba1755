"""The base model's text: documents of each source in one row of ids, cut into windows that begin with a document."""

import random
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from training.facts import all_facts, by_subject, fact_document, question_document
from training.settings import SHARES, Recipe
from training.stories import document
from training.wording import capitalised

END_OF_TEXT = 0
HELD_OUT_TITLES = ("Ruth", "Jonah", "James", "Persuasion")  # real prose that is never trained on


def real_prose(recipe: Recipe, source: str, held_out: bool = False) -> list[str]:
    """Passages of some 400 tokens, each after its title: a prompt without a title is left to the stories."""
    text = (recipe.file("raw") / f"{source}.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines()]
    if source == "wordnet":
        chosen = [line for line in lines if (zlib.crc32(line[1].encode()) % 40 == 0) == held_out]
        return [f"{word}: {capitalised(example)}{'' if example[-1] in '.?!' else '.'}" for word, example in chosen]
    lines = [line for line in lines if (line[0] in HELD_OUT_TITLES) == held_out]
    passages: list[str] = []
    title, text = "", ""
    for *titles, sentence in lines:
        if " ".join(titles) != title or len(text) > 1500:
            passages.append(f"{title}: {text}")
            title, text = " ".join(titles), ""
        text = f"{text} {sentence}".strip()
    return [*passages[1:], f"{title}: {text}"]


def sources(recipe: Recipe) -> dict[str, Callable[[random.Random], str]]:
    facts = all_facts(recipe)
    groups = by_subject(facts)

    def prose(name: str) -> Callable[[random.Random], str]:
        passages = real_prose(recipe, name)
        return lambda rng: rng.choice(passages)

    return {
        "stories": document,
        "facts": lambda rng: fact_document(rng, groups),
        "questions": lambda rng: question_document(rng, facts),
        "bible": prose("bible"),
        "wordnet": prose("wordnet"),
        "austen": prose("austen"),
    }


def build_corpus(recipe: Recipe, tokenizer: Tokenizer) -> None:
    """Writes runs/base.bin (token ids) and runs/base_starts.bin (where documents begin)."""
    rng = random.Random(f"corpus {recipe.seed}")
    started, documents = time.time(), []
    wanted = recipe.base_tokens * 1.25  # windows drop the end of the document that they cut
    for name, make in sources(recipe).items():
        documents += encoded(make, rng, tokenizer, int(wanted * SHARES[name]))
        print(f"corpus: {name} done after {time.time() - started:.0f} s", flush=True)
    rng.shuffle(documents)
    starts = np.cumsum([0, *(len(ids) for ids in documents)])[:-1]
    np.concatenate(documents).tofile(recipe.file("base.bin"))
    starts.astype(np.int64).tofile(recipe.file("base_starts.bin"))


def encoded(make: Callable, rng: random.Random, tokenizer: Tokenizer, wanted: int) -> list[np.ndarray]:
    documents, have = [], 0
    while have < wanted:
        for encoding in tokenizer.encode_batch_fast([make(rng) for _ in range(2000)]):
            ids = np.array([*encoding.ids, END_OF_TEXT], dtype=np.uint16)
            documents.append(ids)
            have += len(ids)
            if have >= wanted:
                break
    return documents


class Windows:
    """Training windows of `length` + 1 ids (inputs, and shifted by one the targets), each from a document on."""

    def __init__(self, folder: Path, length: int):
        self.ids = np.fromfile(folder / "base.bin", dtype=np.uint16)
        self.length = length
        starts = np.fromfile(folder / "base_starts.bin", dtype=np.int64)
        self.begins = list(spaced(starts, length, len(self.ids) - length - 1))

    def batch(self, step: int, count: int) -> np.ndarray:
        chosen = [self.begins[i % len(self.begins)] for i in range(step * count, (step + 1) * count)]
        return np.stack([self.ids[begin : begin + self.length + 1] for begin in chosen]).astype(np.int64)


def spaced(starts: np.ndarray, length: int, last: int) -> Iterator[int]:
    """The first document start at or after the end of the window before."""
    at = 0
    while at < len(starts) and starts[at] <= last:
        yield int(starts[at])
        at = max(at + 1, int(np.searchsorted(starts, starts[at] + length)))
