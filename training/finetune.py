"""The chat model: the base model, shown questions with their answers. Only the answers are learned."""

import random

import torch
from tokenizers import Tokenizer
from torch import Tensor

from playground.engine.model import Transformer
from training.chat_data import ChatData, chat_text
from training.learning import IGNORED, Plan, learn
from training.settings import Recipe, model_config
from training.tokenizer import load_tokenizer

Conversation = tuple[list[int], int]  # the ids, and where the answer begins


def finetune(recipe: Recipe, stop_after: int | None = None) -> float:
    batches = chat_batches(recipe, load_tokenizer(recipe))
    model = Transformer(model_config(recipe.vocab_size))
    base = torch.load(recipe.file("base.checkpoint.pt"), map_location="cpu", weights_only=True)
    model.load_state_dict(base["model"])

    def batch(step: int) -> tuple[Tensor, Tensor]:
        return padded(batches[step])

    plan = Plan(
        "chat", recipe.folder, len(batches), recipe.chat_learning_rate, recipe.save_every, stop_after,
        recipe.chat_embedding_rate,
    )  # fmt: skip
    return learn(model, batch, plan)


def chat_batches(recipe: Recipe, tokenizer: Tokenizer) -> list[list[Conversation]]:
    """Conversations of like length together, so that little is padding; then the batches in a random order."""
    rng = random.Random(f"chat {recipe.seed}")
    data = ChatData(recipe)
    batches: list[list[Conversation]] = []
    tokens = 0
    while tokens < recipe.chat_tokens:
        block = sorted(conversations(data, tokenizer, rng, 4000, recipe.trained_length), key=lambda each: len(each[0]))
        chosen: list[Conversation] = []
        for conversation in block:
            if chosen and (len(chosen) + 1) * len(conversation[0]) > recipe.batch_chat_tokens:
                batches.append(chosen)
                chosen = []
            chosen.append(conversation)
            tokens += len(conversation[0])
        batches.append(chosen)
    rng.shuffle(batches)
    return batches[: 1 + len(batches) * recipe.chat_tokens // tokens]


def conversations(
    data: ChatData, tokenizer: Tokenizer, rng: random.Random, count: int, longest: int
) -> list[Conversation]:
    pairs = [data.pair(rng) for _ in range(count)]
    prompts = tokenizer.encode_batch_fast([chat_text(pair.question) for pair in pairs])
    answers = tokenizer.encode_batch_fast([f"{pair.answer}<|im_end|>" for pair in pairs])
    made = [(prompt.ids + answer.ids, len(prompt.ids)) for prompt, answer in zip(prompts, answers, strict=True)]
    return [conversation for conversation in made if len(conversation[0]) <= longest]


def padded(conversations: list[Conversation]) -> tuple[Tensor, Tensor]:
    """inputs and targets (B, T): a target before the answer, or after its end, is ignored."""
    longest = max(len(ids) for ids, _ in conversations)
    inputs = torch.zeros(len(conversations), longest - 1, dtype=torch.long)
    targets = torch.full_like(inputs, IGNORED)
    for row, (ids, answer) in enumerate(conversations):
        inputs[row, : len(ids) - 1] = torch.tensor(ids[:-1])
        targets[row, answer - 1 : len(ids) - 1] = torch.tensor(ids[answer:])
    return inputs, targets
