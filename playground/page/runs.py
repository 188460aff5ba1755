"""Recorded runs: kept under a random id for exports and forks, sent to the browser, written to a file and read back."""

import base64
import binascii
import json
import secrets
import sys
import threading
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

import torch

from playground.engine.generation import Request, Step
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distributions
from playground.engine.trace import Trace
from playground.models.text import LoadedModel
from playground.page.requests import page_params
from playground.words import say, told

FORMAT = "recorded run of the decoding playground"
MOST_STEPS, MOST_TOKENS = 4096, 300_000  # of a file: larger ones are no recording of this page
LARGEST_FILE = 128 * 1024**2  # characters


class RunFileError(ValueError):
    """The text is not a recorded run; the message says what is wrong in one sentence."""


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


# ---- to a file and back


def to_json(run: Run) -> str:
    """Everything, the vocabulary too: a page without this model can show the run."""
    return json.dumps({"format": FORMAT, **payload(run), "labels": run.labels, "token_bytes": run.token_bytes})


def from_json(text: str) -> Run:
    """Reads what `to_json` wrote; the model does not run. Raises RunFileError."""
    if len(text) > LARGEST_FILE:
        raise RunFileError(say("page.run_file.too_long", length=len(text), most=LARGEST_FILE))
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise RunFileError(say("page.run_file.not_json")) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RunFileError(say("page.run_file.not_a_run"))
    return _Reader(data).run()


class _Reader:
    """Takes the fields out one by one, so that the first wrong one is named."""

    def __init__(self, data: dict) -> None:
        self.data = data

    def run(self) -> Run:
        vocab_size = self.whole("vocab_size", 1, MOST_TOKENS)
        token_ids = self.items("token_ids", int, (1, MOST_STEPS), (0, vocab_size - 1))
        num_steps = len(token_ids)
        params = self.params()
        logits = self.logits(num_steps, vocab_size)
        rows = Distributions(logits, params)
        uniforms = self.items("uniforms", float, num_steps, (0, 1))
        if max(uniforms) >= 1:
            raise self.wrong("uniforms", "uniforms")
        num_fed = self.items("num_fed", int, num_steps, (0, 2**40))
        cache_bytes = [self.numbers(row, "cache_bytes") for row in self.listed("cache_bytes", num_steps)]
        stop_reason = self.text("stop_reason")
        prompt_ids = self.items("prompt_ids", int, (1, MOST_TOKENS), (0, vocab_size - 1))
        seconds = self.items("seconds", float, (0, num_steps), (0, 1e9))
        if len(seconds) not in (0, num_steps):
            raise self.wrong("seconds", "list_or_empty", length=num_steps)
        forced = self.items("forced", int, (0, num_steps), (0, num_steps - 1))
        request = Request(prompt_ids, params, self.whole("max_new_tokens", 1, MOST_STEPS))
        columns = zip(token_ids, uniforms, num_fed, cache_bytes, strict=True)
        steps = [
            Step(index, token_id, rows[index], uniform, fed, layers, stop_reason, request)
            for index, (token_id, uniform, fed, layers) in enumerate(columns)
        ]
        return Run(
            self.text("model"),
            self.text("prompt"),
            Trace(steps, seconds, forced=forced),
            params,
            request.max_new_tokens,
            self.texts("pieces", num_steps),
            self.texts("labels", vocab_size),
            self.texts("token_bytes", vocab_size),
        )

    def params(self) -> SamplingParams:
        settings = self.data.get("params")
        if not isinstance(settings, dict):
            raise self.wrong("params", "settings")
        unknown = sorted(settings.keys() - {field.name for field in fields(SamplingParams)})
        try:
            if unknown:
                raise ValueError(say("page.run_file.no_setting", name=repr(unknown[0])))
            return page_params(settings)
        except (TypeError, ValueError) as error:
            raise RunFileError(say("page.run_file.settings", reason=str(error))) from None

    def logits(self, num_steps: int, vocab_size: int) -> torch.Tensor:
        """(N, V) float32."""
        try:
            raw = base64.b64decode(self.text("logits"), validate=True)
        except binascii.Error:
            raise self.wrong("logits", "base64") from None
        if len(raw) != 4 * num_steps * vocab_size:
            raise self.wrong("logits", "logits", steps=num_steps, tokens=vocab_size)
        logits = torch.frombuffer(bytearray(raw), dtype=torch.float32).reshape(num_steps, vocab_size)
        if not bool(logits.max(-1).values.isfinite().all()):
            raise self.wrong("logits", "possible")
        return logits

    def text(self, name: str) -> str:
        if not isinstance(self.data.get(name), str):
            raise self.wrong(name, "text")
        return self.data[name]

    def texts(self, name: str, length: int) -> list[str]:
        items = self.listed(name, length)
        if not all(isinstance(item, str) for item in items):
            raise self.wrong(name, "texts")
        return items

    def whole(self, name: str, low: int, high: int) -> int:
        value = self.data.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(name, "whole", low=low, high=high)
        return value

    def items(self, name: str, kind: type, length: int | tuple[int, int], span: tuple[float, float]) -> list:
        items = self.listed(name, length)
        low, high = span
        accepted = (int,) if kind is int else (int, float)
        if not all(isinstance(item, accepted) and not isinstance(item, bool) and low <= item <= high for item in items):
            raise self.wrong(name, "whole_numbers" if kind is int else "numbers", low=low, high=high)
        return items

    def numbers(self, row: Any, name: str) -> list[int]:
        if not isinstance(row, list) or not all(isinstance(item, int) and item >= 0 for item in row):
            raise self.wrong(name, "bytes")
        return row

    def listed(self, name: str, length: int | tuple[int, int]) -> list:
        shortest, longest = length if isinstance(length, tuple) else (length, length)
        items = self.data.get(name)
        if not isinstance(items, list) or not shortest <= len(items) <= longest:
            if shortest == longest:
                raise self.wrong(name, "list", length=longest)
            raise self.wrong(name, "list_between", shortest=shortest, longest=longest)
        return items

    def wrong(self, name: str, wanted: str, **facts: Any) -> RunFileError:
        """`wanted`: a name of [run_file.wanted] in the catalogue."""
        return RunFileError(
            say("page.run_file.wrong", name=name, wanted=told(f"page.run_file.wanted.{wanted}", **facts))
        )
