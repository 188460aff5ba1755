"""A model server elsewhere, by its address: vLLM, or another that speaks OpenAI's protocol (/v1/chat/completions).

Only what it tells of an answer is here: its tokens as they come, the log-probabilities of the most likely ones, and how
many tokens of the prompt it found in its prefix cache. What comes from the server is counted before it is read, and
read only as the shapes below.
"""

import json
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, Field, ValidationError

from playground.engine.params import SamplingParams
from playground.models.tokenizer import label_of
from playground.words import say

MOST_TOP = 20  # log-probabilities a token: as many as vLLM and OpenAI give unless they are told otherwise
MOST_BYTES = 4 * 1024**2  # of one response
MOST_SECONDS = 120.0  # for one response
MOST_LETTERS = 120  # of the server's own words in a sentence, and of a token's name
TIMEOUT = httpx.Timeout(30.0, connect=5.0)  # seconds without a word
DONE = "[DONE]"
# What such servers call these settings. The first two are always sent; the others are known to vLLM, not to all, and
# are sent only where they do something.
ALWAYS = ("temperature", "top_p")
TAKEN = (*ALWAYS, "top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty")


class RemoteError(ValueError):
    """The server gave no answer, or none that can be read: one sentence for the person at the page."""


@dataclass(frozen=True)
class RemoteServer:
    """Where requests go. The key is never shown, not even in a traceback."""

    url: str  # up to and with /v1
    model: str | None = None  # None: the first that the server lists
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_plain = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
        except ValueError:
            is_plain = False
        if not is_plain or "@" in parts.netloc or parts.query or parts.fragment or not self.url.isprintable():
            raise ValueError(say("models.remote.address"))
        object.__setattr__(self, "url", self.url.rstrip("/"))

    @classmethod
    def of(cls, url: str, model: str | None, key_variable: str | None) -> "RemoteServer":
        """The key comes from the environment: the list of running programs would show a flag. Raises ValueError."""
        key = os.environ.get(key_variable, "").strip() if key_variable else None
        if key_variable and not (key and key.isascii() and key.isprintable()):
            raise ValueError(say("models.remote.no_key", variable=key_variable))
        return cls(url, model, key)


@dataclass(frozen=True)
class Choice:
    """One token with the probability that the server gives it."""

    label: str
    prob: float


@dataclass(frozen=True)
class RemoteStep:
    """A piece of the answer: a token where the server tells log-probabilities, otherwise what came in one message."""

    label: str
    prob: float | None  # None: the server told none
    top: tuple[Choice, ...]  # most likely first, at most MOST_TOP
    seconds: float  # since the request was sent


@dataclass(frozen=True)
class Usage:
    """What the server counted."""

    prompt_tokens: int
    new_tokens: int
    found_tokens: int | None  # of the prompt, in its prefix cache; None: not told


# ---- what is sent


def request_body(
    model: str, prompt: str, params: SamplingParams, max_new_tokens: int, is_chat: bool = True
) -> dict[str, Any]:
    """Sent to /chat/completions, or for a plain text to go on from to /completions."""
    settings = {name: getattr(params, name) for name in ALWAYS}
    settings |= {name: value for name, value in params.not_off().items() if name in TAKEN}
    asked = {"logprobs": True, "top_logprobs": MOST_TOP} if is_chat else {"logprobs": MOST_TOP}
    text = {"messages": [{"role": "user", "content": prompt}]} if is_chat else {"prompt": prompt}
    stream = {"stream": True, "stream_options": {"include_usage": True}}
    return {"model": model, **text, **settings, "seed": params.seed, "max_tokens": max_new_tokens, **asked, **stream}


def not_sent(params: SamplingParams) -> list[str]:
    """The settings that do something here and that no such server takes."""
    return [name for name in params.not_off() if name not in TAKEN]


# ---- what comes back

Number = Annotated[float, Field(allow_inf_nan=False)]


class _Entry(BaseModel):
    token: str
    logprob: Number
    bytes: list[Annotated[int, Field(ge=0, le=255)]] | None = None


class _Token(_Entry):
    top_logprobs: list[_Entry] | None = None


class _Logprobs(BaseModel):
    content: list[_Token] | None = None  # of chat completions
    tokens: list[str] | None = None  # of plain completions, as the next two
    token_logprobs: list[Number | None] | None = None
    top_logprobs: list[dict[str, Number] | None] | None = None


class _Delta(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    delta: _Delta | None = None
    text: str | None = None
    logprobs: _Logprobs | None = None
    finish_reason: str | None = None


class _Details(BaseModel):
    cached_tokens: Annotated[int, Field(ge=0)] | None = None


class _Usage(BaseModel):
    prompt_tokens: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)] = 0
    prompt_tokens_details: _Details | None = None


class _Chunk(BaseModel):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


class _Model(BaseModel):
    id: str


class _Models(BaseModel):
    data: list[_Model]


def model_name(server: RemoteServer) -> str:
    """The one that --engine-model names, or the first that the server lists. Raises RemoteError."""
    if server.model is not None:
        return server.model
    with _response(server, "GET", "/models") as lines:
        text = "".join(lines)
    try:
        [first, *_] = _Models.model_validate_json(text).data
    except ValueError:  # of pydantic, or an empty list
        raise RemoteError(say("models.remote.unreadable")) from None
    return first.id


def answer(server: RemoteServer, body: dict[str, Any]) -> Iterator[RemoteStep | Usage]:
    """The tokens as they come and, where the server tells it, what it counted. Raises RemoteError.

    Closing the iterator closes the connection, on which vLLM stops to write.
    """
    start, count, is_over = time.perf_counter(), 0, False
    with _response(server, "POST", "/chat/completions" if "messages" in body else "/completions", body) as lines:
        for line in lines:
            name, _, data = line.partition(":")
            if name != "data" or not (data := data.strip()):
                continue
            if data == DONE:
                return
            chunk = _read(server, data)
            for choice in chunk.choices[:1]:
                is_over = is_over or choice.finish_reason is not None
                for step in _steps(choice, time.perf_counter() - start):
                    count += 1
                    if count > body["max_tokens"]:
                        raise RemoteError(say("models.remote.too_much"))
                    yield step
            if chunk.usage:
                details = chunk.usage.prompt_tokens_details
                found = details.cached_tokens if details else None
                yield Usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens, found)
    if not is_over:
        raise RemoteError(say("models.remote.closed"))


def _read(server: RemoteServer, data: str) -> _Chunk:
    try:
        chunk = _Chunk.model_validate_json(data)
    except ValidationError:
        raise RemoteError(say("models.remote.unreadable")) from None
    if chunk.error:
        raise RemoteError(say("models.remote.failed_midway", said=_said(server, {"error": chunk.error})))
    return chunk


def _steps(choice: _Choice, seconds: float) -> Iterator[RemoteStep]:
    told = choice.logprobs
    if told and told.content:
        for token in told.content:
            top = [Choice(_label(each), _prob(each.logprob)) for each in token.top_logprobs or ()]
            yield _step(_label(token), _prob(token.logprob), top, seconds)
    elif told and told.tokens:
        for place, text in enumerate(told.tokens):
            own, all_of_it = _at(told.token_logprobs, place), _at(told.top_logprobs, place) or {}
            top = [Choice(_label_of_text(other), _prob(logprob)) for other, logprob in all_of_it.items()]
            yield _step(_label_of_text(text), None if own is None else _prob(own), top, seconds)
    else:
        text = choice.text if choice.delta is None else choice.delta.content
        if text:
            yield RemoteStep(_label_of_text(text), None, (), seconds)


def _step(label: str, prob: float | None, top: list[Choice], seconds: float) -> RemoteStep:
    ranked = sorted(top, key=lambda each: -each.prob)[: MOST_TOP + 1]  # the sampled token may come on top of them
    return RemoteStep(label, prob, tuple(ranked), seconds)


def _at(values: list | None, place: int) -> Any:
    return values[place] if values and place < len(values) else None


def _prob(logprob: float) -> float:
    return math.exp(min(logprob, 0.0))  # -9999 stands for minus infinity


def _label(entry: _Entry) -> str:
    """By its bytes where they are told: half a character has no text."""
    return label_of(bytes(entry.bytes))[:MOST_LETTERS] if entry.bytes else _label_of_text(entry.token)


def _label_of_text(text: str) -> str:
    return label_of(text.encode("utf-8", "replace"))[:MOST_LETTERS]


# ---- over the network


@contextmanager
def _response(server: RemoteServer, method: str, path: str, body: dict | None = None) -> Iterator[Iterator[str]]:
    """The lines of a response that is no refusal. Raises RemoteError, also while they are read."""
    # No compression: a small message could unpack to a large one. No redirects: the key goes nowhere else.
    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {server.key}"} if server.key else {})
    try:
        with (
            httpx.Client(timeout=TIMEOUT, follow_redirects=False) as client,
            client.stream(method, server.url + path, json=body, headers=headers) as response,
        ):
            lines = _lines(response, time.monotonic() + MOST_SECONDS)
            if response.status_code != httpx.codes.OK:
                raise _refusal(server, response.status_code, "".join(lines))
            yield lines
    except httpx.ConnectError:
        raise RemoteError(say("models.remote.nobody")) from None
    except httpx.TimeoutException:
        raise RemoteError(say("models.remote.slow", seconds=TIMEOUT.read)) from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError):
        raise RemoteError(say("models.remote.closed")) from None


def _lines(response: httpx.Response, deadline: float) -> Iterator[str]:
    """As they come; a limit for all of them, in bytes and in time."""
    rest, size = b"", 0
    for piece in response.iter_raw():
        size += len(piece)
        if size > MOST_BYTES:
            raise RemoteError(say("models.remote.too_much"))
        if time.monotonic() > deadline:
            raise RemoteError(say("models.remote.too_long", seconds=MOST_SECONDS))
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").rstrip("\r")
    if rest:
        yield rest.decode("utf-8", "replace")


def _refusal(server: RemoteServer, status: int, text: str) -> RemoteError:
    try:
        said = _said(server, json.loads(text))
    except (ValueError, RecursionError):
        said = ""
    kind = {401: "key", 403: "key", 404: "not_found", 429: "busy"}.get(status)
    kind = kind or ("failed" if status >= 500 else "moved" if 300 <= status < 400 else "refused")
    return RemoteError(say(f"models.remote.status.{kind}", status=status, said=said or say("models.remote.no_word")))


def _said(server: RemoteServer, reply: Any) -> str:
    """The server's own words about an error, short and without the key; "" where there are none."""
    for name in ("error", "message", "detail"):
        if isinstance(reply, dict) and name in reply:
            reply = reply[name]
    if not isinstance(reply, str):
        return ""
    words = " ".join(reply.split())
    words = words.replace(server.key, "…") if server.key else words
    return words if len(words) <= MOST_LETTERS else words[: MOST_LETTERS - 1] + "…"
