"""What seconds were measured on: a time means little without it."""

import os
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import torch

from playground.models.held import memory_of
from playground.models.text import LoadedModel
from playground.words import say

# Products of smaller weights are over before a second thread has begun: on a calm machine two threads took as long as
# one and twice the processor time, and where others compute too they took many times as long.
SMALL_BYTES = 40_000_000
ALL_THREADS = torch.get_num_threads()  # as torch, or OMP_NUM_THREADS, has it at the start


def useful_threads(models: Mapping[str, LoadedModel]) -> int:
    """In how many threads these models compute: in one, unless a model is large."""
    is_large = any(memory_of(loaded) > SMALL_BYTES for loaded in models.values())
    return ALL_THREADS if is_large else 1


def machine() -> str:
    """In words: the processor, its cores and the threads in use."""
    threads, version = torch.get_num_threads(), str(torch.__version__)
    return say("page.machine", name=_processor(), cores=os.cpu_count() or 1, threads=threads, version=version)


@cache  # reading it takes as long as a step of the model
def _processor() -> str:
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = cpuinfo.read_text().splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    return name
