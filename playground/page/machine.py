"""What seconds were measured on: a time means little without it."""

import os
import platform
from pathlib import Path

import torch


def machine() -> str:
    """In words: the processor, its cores and the threads in use."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        lines = cpuinfo.read_text().splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    threads = torch.get_num_threads()
    return f"{name}, {os.cpu_count()} cores, {threads} thread{'s' if threads > 1 else ''}, torch {torch.__version__}"
