"""What seconds were measured on: a time means little without it."""

import os
import platform
from functools import cache
from pathlib import Path

import torch

from playground.words import say


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
