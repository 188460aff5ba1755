"""What seconds were measured on: a time means little without it."""

import os
import platform
from pathlib import Path

import torch

from playground.words import say


def machine() -> str:
    """In words: the processor, its cores and the threads in use."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = cpuinfo.read_text().splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    threads = torch.get_num_threads()
    return say("page.machine", name=name, cores=os.cpu_count() or 1, threads=threads, version=str(torch.__version__))
