"""A byte-level BPE tokenizer: any text round-trips; the words of the stories and the names of the facts are short."""

import random

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from training.chat_data import ChatData
from training.corpus import real_prose
from training.facts import all_facts
from training.name_tables import FAMOUS_NAMES
from training.settings import Recipe
from training.stories import document

ROLES = ("user", "assistant")  # one token each: they stand in every chat prompt, and on the page
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]  # ids 0, 1, 2, as in MiniMind


def train_tokenizer(recipe: Recipe) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=recipe.vocab_size,
        special_tokens=SPECIAL_TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sample(recipe), trainer)
    tokenizer.save(str(recipe.file("tokenizer.json")))
    return tokenizer


def load_tokenizer(recipe: Recipe) -> Tokenizer:
    return Tokenizer.from_file(str(recipe.file("tokenizer.json")))


def sample(recipe: Recipe) -> list[str]:
    """About 4 MB. Facts count several times: a name that is one token is learned sooner."""
    rng = random.Random(f"tokenizer {recipe.seed}")
    texts = [document(rng) for _ in range(3000)]
    for fact in all_facts(recipe):
        often = 40 if fact.subject in FAMOUS_NAMES else 4
        texts += [*fact.statements, fact.answer, *fact.questions[:3]] * often
    data = ChatData(recipe)
    for _ in range(8000):
        pair = data.pair(rng)
        if pair.kind in ("open", "memory"):
            texts += [pair.question, pair.answer]
    prose = [text for source in ("bible", "wordnet", "austen") for text in real_prose(recipe, source)]
    return texts + rng.sample(prose, len(prose) // 8) + list(ROLES) * 5000
