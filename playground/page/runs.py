"""Recorded runs: kept under a random id for exports and forks, and sent to the browser."""

import base64
import secrets
import sys
import threading
import time
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import torch

from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.trace import Trace
from playground.models.text import LoadedModel
from playground.page.binned import WHOLE_UP_TO, binned

SHOWN_SECONDS = 200.0  # a page speaks every minute; one that is not in sight, every second


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
    system: str = ""  # the system prompt; "": none
    history: tuple[str, ...] = ()  # questions and answers by turns, before the prompt

    @classmethod
    def of(cls, loaded: LoadedModel, prompt: str, trace: Trace, params: SamplingParams, max_new_tokens: int, **more):
        pieces = list(loaded.tokenizer.stream(trace.token_ids))
        vocabulary = {"labels": loaded.labels, "token_bytes": loaded.token_bytes, "own_vocabulary": False}
        return cls(loaded.name, prompt, trace, params, max_new_tokens, pieces, **vocabulary, **more)

    @cached_property
    def num_bytes(self) -> int:
        """Of the logits, the cache and the texts. The vocabulary of a model on the page is shared by its runs."""
        texts = [self.system, *self.history, self.prompt, *self.pieces]
        if self.own_vocabulary:
            texts += [*self.labels, *self.token_bytes]
        cache_bytes = self.cache.allocated_bytes if self.cache else 0
        return self.trace.logits.nbytes + cache_bytes + sum(map(sys.getsizeof, texts))

    def afresh(self) -> "Run":
        """The same, without what has been worked out from the logits: their order alone weighs twice as much."""
        return replace(self, trace=self.trace.afresh())


class RunStore:
    """The latest runs of all visitors, bounded in number and in bytes.

    What is too much goes from the visitor who holds most, the oldest first. Only when nobody has more than one do those
    go who have been away longest; a run that a page shows, and that visitor's newest, stay even then.
    """

    def __init__(
        self,
        most_runs: int = 500,
        most_bytes: int = 96 * 1024**2,
        most_open_bytes: int = 768 * 1024**2,  # with those that pages show
        most_file_bytes: int = 64 * 1024**2,  # read from files: in a room of their own
    ) -> None:
        self.most_runs, self.most_bytes = most_runs, most_bytes
        self.most_open_bytes, self.most_file_bytes = most_open_bytes, most_file_bytes
        self._runs: dict[str, Run] = {}
        self._owners: dict[str, str] = {}  # visitors, by run
        self._held: dict[str, list[str]] = {}  # runs, by visitor; who asked last comes last, and so do the newest runs
        self._shown: dict[str, tuple[str, float]] = {}  # by visitor: the run on his page, and when that was said
        self._files: dict[str, Run] = {}
        self._lock = threading.Lock()

    def put(self, run: Run, visitor: str = "", replaces: str | None = None) -> None:
        """`replaces`: a run that nobody can ask for any more."""
        with self._lock:
            self._drop(replaces)
            self._runs[run.id], self._owners[run.id] = run.afresh(), visitor
            self._held[visitor] = [*self._held.pop(visitor, []), run.id]
            while (victim := self._victim(run.id)) is not None:
                self._drop(victim)

    def put_file(self, run: Run) -> None:
        with self._lock:
            self._files[run.id] = run.afresh()
            while len(self._files) > 1 and self._bytes(self._files) > self.most_file_bytes:
                self._files.pop(next(iter(self._files)))

    def get(self, run_id: str) -> Run | None:
        with self._lock:
            run = self._runs.get(run_id) or self._files.get(run_id)
            self._asked(run_id)
            return run and run.afresh()

    def own(self, run_id: str, visitor: str) -> Run | None:
        """The run, if it is this visitor's and still kept."""
        return self.get(run_id) if self._owners.get(run_id) == visitor else None

    def show(self, run_id: str) -> dict[str, bool]:
        """A page says every minute that it shows this run, and hears whether it is still here."""
        with self._lock:
            visitor = self._owners.get(run_id)
            if visitor is not None:
                self._shown[visitor] = (run_id, time.monotonic())
                self._asked(run_id)
            return {"kept": visitor is not None or run_id in self._files}

    def __len__(self) -> int:
        return len(self._runs)

    @staticmethod
    def _bytes(runs: dict[str, Run]) -> int:
        return sum(run.num_bytes for run in runs.values())

    def _asked(self, run_id: str) -> None:
        visitor = self._owners.get(run_id)
        if visitor is not None:
            self._held[visitor] = self._held.pop(visitor)

    def _drop(self, run_id: str | None) -> None:
        if self._runs.pop(run_id, None) is None:
            return
        visitor = self._owners.pop(run_id)
        self._held[visitor].remove(run_id)
        if not self._held[visitor]:
            del self._held[visitor]
            self._shown.pop(visitor, None)

    def _victim(self, newest: str) -> str | None:
        """The run that goes next; None: all have room."""
        total = self._bytes(self._runs)
        if len(self._runs) <= self.most_runs and total <= self.most_bytes:
            return None
        shown = self._shown_now()
        spare = {
            visitor: [run_id for run_id in held[:-1] if run_id != shown.get(visitor)]
            for visitor, held in self._held.items()
        }
        most = max(spare, key=lambda visitor: self._bytes({each: self._runs[each] for each in spare[visitor]}))
        if spare[most]:
            return spare[most][0]
        rooms = total <= self.most_open_bytes
        away = [
            held[0] for visitor, held in self._held.items() if held[0] != newest and not (rooms and visitor in shown)
        ]
        return away[0] if away else None

    def _shown_now(self) -> dict[str, str]:
        """By visitor, of pages that spoke a moment ago."""
        now = time.monotonic()
        return {visitor: run_id for visitor, (run_id, at) in self._shown.items() if now - at < SHOWN_SECONDS}


# ---- to the browser


def payload(run: Run, logits_from: int | None = 0, **more: Any) -> dict:
    """The run as page/js/run_data.js takes it. `logits_from`: the first step whose logits are sent; None: no step.

    Those of a large vocabulary go in bins (page/binned.py): 64 steps of 49,152 tokens are 0.8 MB and not 17.
    """
    trace = run.trace
    value = {
        "id": run.id,
        "model": run.model_name,
        "system": run.system,
        "history": list(run.history),
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
        is_large = value["vocab_size"] > WHOLE_UP_TO
        rows = trace.logits.float().numpy()
        occurring = trace.prompt_ids, trace.token_ids
        value["logits"] = binned(rows, *occurring, logits_from) if is_large else packed(trace.logits[logits_from:])
    return value | more


def packed(logits: torch.Tensor) -> str:
    """float32, little-endian, as base64. Half the bytes would not do: from float16, 17 of 2,560 steps of a real answer
    kept other tokens, and every third one showed another percentage."""
    return base64.b64encode(logits.numpy().astype("<f4").tobytes()).decode()
