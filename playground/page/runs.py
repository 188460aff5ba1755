"""Recorded runs: kept under a random id for exports and forks, and sent to the browser."""

import base64
import secrets
import sys
import threading
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import torch

from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.trace import Trace
from playground.models.text import LoadedModel


@dataclass(frozen=True)
class Run:
    """One answer with everything that the pictures read."""

    model_name: str
    prompt: str
    trace: Trace
    params: SamplingParams
    max_new_tokens: int
    pieces: list[str]  # what each token added to the text
    labels: list[str]  # of the whole vocabulary
    token_bytes: list[str]  # of the whole vocabulary, in hexadecimal
    own_vocabulary: bool = True  # not shared with a model on the page
    cache: KVCache | None = None  # after the last step; None for a run read from a file
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @classmethod
    def of(cls, loaded: LoadedModel, prompt: str, trace: Trace, params: SamplingParams, max_new_tokens: int, **more):
        pieces = list(loaded.tokenizer.stream(trace.token_ids))
        vocabulary = {"labels": loaded.labels, "token_bytes": loaded.token_bytes, "own_vocabulary": False}
        return cls(loaded.name, prompt, trace, params, max_new_tokens, pieces, **vocabulary, **more)

    @cached_property
    def num_bytes(self) -> int:
        """Of the logits, the cache and the texts. The vocabulary of a model on the page is shared by its runs."""
        texts = [self.prompt, *self.pieces]
        if self.own_vocabulary:
            texts += [*self.labels, *self.token_bytes]
        cache_bytes = self.cache.allocated_bytes if self.cache else 0
        return self.trace.num_bytes + cache_bytes + sum(map(sys.getsizeof, texts))


class RunStore:
    """The latest runs of all visitors, oldest out first: bounded in number and in bytes."""

    def __init__(self, most_runs: int = 200, most_bytes: int = 256 * 1024**2) -> None:
        self.most_runs = most_runs
        self.most_bytes = most_bytes
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()

    def put(self, run: Run, replaces: str | None = None) -> None:
        """`replaces`: a run that nobody can ask for any more."""
        with self._lock:
            self._runs.pop(replaces, None)
            self._runs[run.id] = run
            total = sum(kept.num_bytes for kept in self._runs.values())
            while len(self._runs) > 1 and (len(self._runs) > self.most_runs or total > self.most_bytes):
                total -= self._runs.pop(next(iter(self._runs))).num_bytes

    def get(self, run_id: str) -> Run | None:
        with self._lock:
            return self._runs.get(run_id)

    def __len__(self) -> int:
        return len(self._runs)


# ---- to the browser


def payload(run: Run, logits_from: int | None = 0, **more: Any) -> dict:
    """The run as page/js/run_data.js takes it. `logits_from`: the first step whose logits are sent; None: no step."""
    trace = run.trace
    value = {
        "id": run.id,
        "model": run.model_name,
        "prompt": run.prompt,
        "prompt_ids": trace.prompt_ids,
        "token_ids": trace.token_ids,
        "pieces": run.pieces,
        "uniforms": trace.uniforms,
        "num_fed": trace.num_fed,
        "cache_bytes": trace.cache_bytes,
        "seconds": trace.seconds,
        "stop_reason": trace.stop_reason or "stopped by hand",
        "params": asdict(run.params),
        "max_new_tokens": run.max_new_tokens,
        "forced": sorted(trace.forced),
        "vocab_size": trace.logits.shape[1],
    }
    if logits_from is not None:
        value["logits"] = _packed(trace.logits[logits_from:])
    return value | more


def _packed(logits: torch.Tensor) -> str:
    """float32, little-endian, as base64. Half the bytes would not do: from float16, 17 of 2,560 steps of a real answer
    kept other tokens, and every third one showed another percentage."""
    return base64.b64encode(logits.numpy().astype("<f4").tobytes()).decode()
