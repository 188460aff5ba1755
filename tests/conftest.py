"""The models that tests run on, and the obvious slow ways that judge the fast ones."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from playground.engine.generation import Step
from playground.engine.model import ModelConfig, Transformer
from playground.engine.sampling import Distributions, SamplingParams
from playground.engine.trace import Trace
from playground.models.loading import LoadedModel, load_model

torch.set_num_threads(1)  # the tests share the machine; small models gain nothing from more

TINY = ModelConfig(
    vocab_size=61,
    hidden_size=64,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=16,
    intermediate_size=96,
    max_positions=128,
)


def tiny_model(config: ModelConfig = TINY, std: float = 0.1) -> Transformer:
    """Random weights, gradients off. At the usual std of 0.02 one token would hold all the probability."""
    model = Transformer(config)
    model.initialise(std=std, seed=0)
    return model.requires_grad_(False).eval()


def recorded(
    logits: Tensor, token_ids: Sequence[int], uniforms: Sequence[float], prompt_ids: Sequence[int] = ()
) -> Trace:
    """A trace with these logits (N, V), as if a model had given them."""
    steps = [
        Step(index, token_id, Distributions(row[None], SamplingParams())[0], uniform, 1, [0], None)
        for index, (row, token_id, uniform) in enumerate(zip(logits, token_ids, uniforms, strict=True))
    ]
    return Trace(steps, prompt_ids)


@pytest.fixture(scope="session")
def model() -> Transformer:
    return tiny_model()


@pytest.fixture(scope="session")
def chat() -> LoadedModel:
    """The embedded model that answers."""
    return load_model("minimind-chat")


@pytest.fixture(scope="session")
def base() -> LoadedModel:
    """The embedded model that goes on writing."""
    return load_model("minimind-base")
