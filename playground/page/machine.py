"""What seconds were measured on: a time means little without it."""

import os
import platform
import time
from functools import lru_cache
from pathlib import Path

import torch

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.work import pass_multiply_adds
from playground.words import say

LOOKED_AT = 256  # tokens of the pass that tells the speed


def machine() -> str:
    """In words: the processor, its cores and the threads in use."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = cpuinfo.read_text().splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    threads = torch.get_num_threads()
    return say("page.machine", name=name, cores=os.cpu_count() or 1, threads=threads, version=str(torch.__version__))


@lru_cache(maxsize=8)
@torch.no_grad()
def multiply_adds_a_second(model: Transformer) -> float:
    """Of a pass over many tokens: the best of four, measured once. Called where nobody else runs the model."""
    num_tokens = min(LOOKED_AT, model.config.max_positions)
    token_ids, best = torch.zeros(1, num_tokens, dtype=torch.long, device=model.device), float("inf")
    for _ in range(4):
        start = time.perf_counter()
        model(token_ids, KVCache.of(model, "none"), last_only=True).cpu()
        best = min(best, time.perf_counter() - start)
    return pass_multiply_adds(model.config, num_tokens, num_tokens).total / best
