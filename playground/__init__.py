"""The public names, for notebooks and tests."""

from playground.engine.cache_kinds import LayerCache
from playground.engine.generation import Request, Step, generate, timed
from playground.engine.kv_cache import KVCache
from playground.engine.model import ModelConfig, Transformer
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distribution, next_token_distribution
from playground.engine.taps import tapped
from playground.engine.trace import Reread, Trace
from playground.models.adapter import TransformersDecoder
from playground.models.answers import Answer
from playground.models.loading import load_model
from playground.models.rows import generate_rows, sample_answers
from playground.models.text import LoadedModel, TextTrace

__all__ = [
    "Answer",
    "Distribution",
    "KVCache",
    "LayerCache",
    "LoadedModel",
    "ModelConfig",
    "Request",
    "Reread",
    "SamplingParams",
    "Step",
    "TextTrace",
    "Trace",
    "Transformer",
    "TransformersDecoder",
    "generate",
    "generate_rows",
    "load_model",
    "next_token_distribution",
    "sample_answers",
    "tapped",
    "timed",
]
