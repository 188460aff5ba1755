"""The base model: learns to continue text."""

import torch
from torch import Tensor

from playground.engine.model import Transformer
from training.corpus import Windows
from training.learning import Plan, learn
from training.settings import Recipe, model_config


def pretrain(recipe: Recipe, stop_after: int | None = None) -> float:
    windows = Windows(recipe.folder, recipe.trained_length)
    model = Transformer(model_config(recipe.vocab_size))
    model.initialise(recipe.initial_std, recipe.seed)

    def batch(step: int) -> tuple[Tensor, Tensor]:
        ids = torch.from_numpy(windows.batch(step, recipe.batch_sequences))
        return ids[:, :-1], ids[:, 1:]

    plan = Plan("base", recipe.folder, recipe.base_steps, recipe.base_learning_rate, recipe.save_every, stop_after)
    return learn(model, batch, plan)
