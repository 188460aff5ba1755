"""A recorded run as a file, and back. What a file holds comes from outside: its first wrong field is named."""

import base64
import binascii
import json
from typing import Annotated, Any

import torch
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from playground.engine.generation import Request, Step
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distributions
from playground.engine.trace import Trace
from playground.page.binned import unbinned
from playground.page.controls import MOST_SEED
from playground.page.requests import page_params
from playground.page.runs import Run, payload
from playground.words import say

FORMAT = "recorded run of the decoding playground"
MOST_STEPS, MOST_TOKENS = 4096, 300_000  # of a file: larger ones are no recording of this page
LARGEST_FILE = 16 * 1024**2  # characters: twice the longest run of this page
MOST_LOGITS = 16 * 1024**2  # of a file, when they are no longer in bins: 64 MiB


def _wrong(name: str, **facts: Any) -> PydanticCustomError:
    return PydanticCustomError(name, name, facts)  # its message is not shown: _sentence has the words


def _whole_characters(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _wrong("half_a_character") from None
    return text


Text = Annotated[str, AfterValidator(_whole_characters)]
TokenId = Annotated[int, Field(ge=0, lt=MOST_TOKENS)]
Count = Annotated[int, Field(ge=0, le=MOST_SEED)]  # a larger whole number would be rounded by the browser


def _from_bins(value: dict, num_steps: int, vocab_size: int) -> torch.Tensor:
    try:
        return torch.from_numpy(unbinned(value, num_steps, vocab_size))
    except (ValueError, TypeError, LookupError, OverflowError):
        raise _wrong("not_all_bins", steps=num_steps, tokens=vocab_size) from None


def _with_a_choice(logits: torch.Tensor) -> torch.Tensor:
    if not bool(logits.max(-1).values.isfinite().all()):
        raise _wrong("no_choice")
    return logits


class RunFileError(ValueError):
    """The text is not a recorded run; the message says what is wrong in one sentence."""


def to_json(run: Run) -> str:
    """What the browser has of the run, and the vocabulary: a page without this model can show it.

    All logits, or of a large vocabulary those in bins that page/binned.py makes. Raises RunFileError where `from_json`
    would not take it.
    """
    steps, tokens = run.trace.logits.shape
    if steps * tokens > MOST_LOGITS:
        raise RunFileError(say("page.run_file.too_many", steps=steps, tokens=tokens, most=MOST_LOGITS // tokens))
    text = json.dumps({"format": FORMAT, **payload(run), "labels": run.labels, "token_bytes": run.token_bytes})
    if len(text) > LARGEST_FILE:
        raise RunFileError(say("page.run_file.too_long_to_save", length=len(text), most=LARGEST_FILE))
    return text


def from_json(text: str) -> Run:
    """Reads what `to_json` wrote; the model does not run. Raises RunFileError."""
    if len(text) > LARGEST_FILE:
        raise RunFileError(say("page.run_file.too_long", length=len(text), most=LARGEST_FILE))
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise RunFileError(say("page.run_file.not_json")) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RunFileError(say("page.run_file.not_a_run"))
    try:
        return _RunFile.model_validate(data).run()
    except ValidationError as error:
        raise RunFileError(_sentence(error)) from None


def _sentence(error: ValidationError) -> str:
    """Of the first thing that is wrong. Its type, pydantic's or one of ours, is the name of a text."""
    first = error.errors(include_url=False, include_input=False)[0]
    wrong = say(f"page.run_file.wrong.{first['type']}", **first.get("ctx", {}))
    return say("page.run_file.can_not_be_shown", field=str(first["loc"][0]), wrong=wrong)


class _RunFile(BaseModel):
    """Fields are checked in this order, so that the later ones can be measured against the length of the answer."""

    model_config = ConfigDict(strict=True, arbitrary_types_allowed=True, allow_inf_nan=False)

    model: Text
    prompt: Text
    system: Text = ""  # older files have none, and no history
    history: list[Text] = []
    vocab_size: Annotated[int, Field(ge=1, le=MOST_TOKENS)]
    prompt_ids: Annotated[list[TokenId], Field(min_length=1)]
    token_ids: Annotated[list[TokenId], Field(min_length=1, max_length=MOST_STEPS)]
    pieces: list[Text]
    uniforms: list[Annotated[float, Field(ge=0, lt=1)]]
    num_fed: list[Count]
    cache_bytes: list[list[Count]]  # per step and layer
    seconds: list[Annotated[float, Field(ge=0, le=1e9)]]  # none, where the run was not timed
    stop_reason: Text
    params: SamplingParams
    max_new_tokens: Annotated[int, Field(ge=1, le=MOST_STEPS)]
    forced: list[Count]
    logits: torch.Tensor  # (N, V) float32
    labels: list[Text]
    token_bytes: list[Text]

    @field_validator("history")
    @classmethod
    def _in_pairs(cls, texts: list[str]) -> list[str]:
        if len(texts) % 2:
            raise _wrong("no_pairs", given=len(texts))
        return texts

    @field_validator("prompt_ids", "token_ids", "forced")
    @classmethod
    def _are_there(cls, ids: list[int], info: ValidationInfo) -> list[int]:
        known = info.data
        end = len(known.get("token_ids", ())) if info.field_name == "forced" else known.get("vocab_size", MOST_TOKENS)
        if max(ids, default=0) >= end and ids:
            raise _wrong("out_of_range", high=end - 1, value=max(ids))
        return ids

    @field_validator("pieces", "uniforms", "num_fed", "cache_bytes", "seconds")
    @classmethod
    def _one_a_step(cls, items: list, info: ValidationInfo) -> list:
        count = len(info.data.get("token_ids", ()))
        if len(items) != count and not (info.field_name == "seconds" and not items):
            raise _wrong("not_one_a_step", count=count, given=len(items))
        if info.field_name == "cache_bytes" and (not items[0] or len({len(layers) for layers in items}) > 1):
            raise _wrong("not_every_layer")
        return items

    @field_validator("labels", "token_bytes")
    @classmethod
    def _one_a_token(cls, items: list[str], info: ValidationInfo) -> list[str]:
        if len(items) != info.data.get("vocab_size"):
            raise _wrong("not_one_a_token", given=len(items))
        return items

    @field_validator("params", mode="plain")
    @classmethod
    def _settings(cls, settings: Any) -> SamplingParams:
        try:
            return page_params(settings)
        except (TypeError, AttributeError):  # no settings at all, or one that is unknown
            raise _wrong("no_settings") from None
        except ValueError as error:
            raise _wrong("setting", reason=str(error).rstrip(".")) from None

    @field_validator("logits", mode="plain")
    @classmethod
    def _numbers(cls, packed: Any, info: ValidationInfo) -> torch.Tensor:
        shape = len(info.data.get("token_ids", ())), info.data.get("vocab_size", 0)
        if shape[0] * shape[1] > MOST_LOGITS:
            raise _wrong("too_many_logits", steps=shape[0], tokens=shape[1], most=MOST_LOGITS)
        if isinstance(packed, dict):
            return _with_a_choice(_from_bins(packed, *shape))
        try:
            raw = base64.b64decode(packed, validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise _wrong("not_base64") from None
        if not raw or len(raw) != 4 * shape[0] * shape[1]:
            raise _wrong("not_all_logits", steps=shape[0], tokens=shape[1])
        return _with_a_choice(torch.frombuffer(bytearray(raw), dtype=torch.float32).reshape(shape))

    def run(self) -> Run:
        request = Request(self.prompt_ids, self.params, self.max_new_tokens)
        rows = Distributions(self.logits, self.params)
        columns = zip(self.token_ids, self.uniforms, self.num_fed, self.cache_bytes, strict=True)
        steps = [
            Step(index, token_id, rows[index], uniform, fed, layers, self.stop_reason, request)
            for index, (token_id, uniform, fed, layers) in enumerate(columns)
        ]
        trace = Trace(steps, self.seconds, forced=self.forced)
        written = self.model, self.prompt, trace, self.params, self.max_new_tokens
        talk = {"system": self.system, "history": tuple(self.history)}
        return Run(*written, self.pieces, self.labels, self.token_bytes, **talk)
