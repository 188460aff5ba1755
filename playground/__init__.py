"""The public names, for notebooks and tests."""

from playground.engine.generation import Step, generate, sample_answers, timed
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distribution, next_token_distribution
from playground.engine.trace import Trace
from playground.models.loading import load_model

__all__ = [
    "Distribution",
    "KVCache",
    "SamplingParams",
    "Step",
    "Trace",
    "generate",
    "load_model",
    "next_token_distribution",
    "sample_answers",
    "timed",
]
