"""What comes in from outside, checked: a right value comes out, or RequestError with one sentence."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from functools import partial, wraps
from html import escape
from inspect import Parameter, isasyncgenfunction, iscoroutinefunction, isfunction, signature
from typing import Annotated, Any, TypeVar

import gradio as gr
from gradio.blocks import BlockFunction
from pydantic import AfterValidator, BaseModel, TypeAdapter, ValidationError

from playground.engine.arguments import shown, whole_number
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams
from playground.models.held import HeldModels
from playground.models.template import conversation
from playground.models.text import LoadedModel
from playground.page.controls import DEFAULTS, MOST_NEW_TOKENS, MOST_SEED
from playground.words import say, sentence

# A prompt longer than that many letters a position can't fit: it is not tokenised to find out.
MOST_LETTERS_A_TOKEN = 64
# What one event may ask of the model: counted and not timed, or a busy machine would refuse what an idle one takes.
MOST_WORK = 500_000_000_000  # multiply-adds of long passes: about ten seconds on two cores
MOST_READS = 3000 * 24 * 512  # prompt tokens read by all passes over one token: 3,000 answers to a prompt as trained

Question = TypeVar("Question", bound=BaseModel)


class RequestError(ValueError):
    """What was asked for can't be had; its words are for the person at the page."""


def checked(kind: type[Question], value: Any) -> Question:
    """A panel's question as the pydantic model says it should be; JSON's types are not turned into each other."""
    try:
        return kind.model_validate({} if value is None else value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        name = ".".join(str(part) for part in first["loc"]) or say("page.request.question")
        raise RequestError(sentence(say("page.request.field", name=name, problem=first["msg"]))) from None


def model_of(models: Mapping[str, LoadedModel], name: Any) -> LoadedModel:
    loaded = models.get(name) if isinstance(name, str) else None
    if loaded is None:
        key = "not_loaded" if isinstance(models, HeldModels) else "model"
        raise RequestError(say(f"page.request.{key}", name=shown(name), names=", ".join(models)))
    return loaded


def own_model_of(models: Mapping[str, LoadedModel], name: Any) -> LoadedModel:
    """For what looks inside, or counts the work: on our own transformer only."""
    loaded = model_of(models, name)
    if not isinstance(loaded.model, Transformer):
        raise RequestError(say("page.request.other_kind", model=loaded.name))
    if loaded.model.weight_format != "float32":
        raise RequestError(say("page.request.packed", model=loaded.name, form=loaded.model.weight_format))
    return loaded


def prompt_ids_of(
    loaded: LoadedModel,
    prompt: Any,
    num_answers: int = 1,
    answer_tokens: int = 1,
    system: str = "",
    history: Sequence[str] = (),
) -> list[int]:
    """Token ids of what is in the box, where so many answers to it are not too much.

    Behind a system prompt ("": none) and earlier turns, if there are any: questions and answers.
    """
    prompt, room = text_of(prompt), loaded.model.config.max_positions
    letters = sum(map(len, (prompt, system, *history)))
    if letters > MOST_LETTERS_A_TOKEN * room:
        raise RequestError(say("page.request.too_many_letters", count=letters, model=loaded.name))
    ids = loaded.prompt_ids(conversation(prompt, system, history))
    if len(ids) > room - 1:
        facts = {"count": len(ids), "model": loaded.name, "most": room - 1}
        raise RequestError(say(f"page.request.{'too_long_a_talk' if history else 'too_many_tokens'}", **facts))
    if len(ids) * num_answers * answer_tokens > MOST_READS:
        facts = {"count": len(ids), "answers": num_answers, "most": MOST_READS // (num_answers * answer_tokens)}
        raise RequestError(say("page.request.too_many_answers", **facts))
    return ids


def affordable(asked: int, work: Callable[[int], float], most: float = MOST_WORK) -> int:
    """The largest number up to `asked` whose work is at most `most`; more must be more work."""
    return bisect_right(range(1, asked + 1), most, key=work)


def text_of(prompt: Any) -> str:
    if prompt is None:
        return ""
    if not isinstance(prompt, str):
        raise RequestError(say("page.request.not_text"))
    try:
        prompt.encode()
    except UnicodeEncodeError:
        raise RequestError(say("page.request.half_a_character")) from None
    return prompt


Text = Annotated[str, AfterValidator(text_of)]  # half a character could not be sent back


def system_of(loaded: LoadedModel, controls: Any) -> str:
    """The system prompt, "" for none. A base model has none: what stands in the box waits for a chat model."""
    system = text_of(_settings(controls).get("system"))
    return system if loaded.is_chat and system.strip() else ""


def _in_pairs(texts: list[str]) -> list[str]:
    if len(texts) % 2:
        raise ValueError(say("page.request.no_pairs"))
    return texts


History = Annotated[list[Text], AfterValidator(_in_pairs)]  # questions and answers by turns


def sampling_params(controls: Any) -> SamplingParams:
    """The settings of the sliders. Raises ValueError."""
    known = {field.name for field in fields(SamplingParams)}
    return page_params({key: value for key, value in _settings(controls).items() if key in known})


def page_params(settings: dict[str, Any]) -> SamplingParams:
    """Settings that the browser can carry. Raises as SamplingParams does."""
    whole_number("seed", settings.get("seed", 0), 0, MOST_SEED)
    return SamplingParams(**settings)


def new_tokens(controls: Any) -> int:
    """How many tokens to write at most. Raises ValueError."""
    value = _settings(controls).get("max_new_tokens")
    try:
        return whole_number("max_new_tokens", value, 1, MOST_NEW_TOKENS)
    except ValueError:
        raise RequestError(say("page.controls.new_tokens", most=MOST_NEW_TOKENS, value=shown(value))) from None


def whole(name: str, value: Any, low: int, high: int) -> int:
    """A whole number of JSON, where 3.0 is one too. Raises ValueError."""
    return whole_number(name, int(value) if isinstance(value, float) and value.is_integer() else value, low, high)


def known_settings(controls: Any) -> dict[str, Any]:
    """Checked and built from known names: what goes back to the page must not hold what else was sent. May raise."""
    return asdict(sampling_params(controls)) | {"max_new_tokens": new_tokens(controls)}


def _settings(controls: Any) -> dict:
    if controls is None:
        return DEFAULTS
    if not isinstance(controls, dict):
        raise RequestError(say("page.request.settings"))
    return controls


def check_handlers(demo: gr.Blocks) -> None:
    """What reaches a handler outside the line is of the types that it names; else one sentence goes back."""
    for event in demo.fns.values():
        is_own = isfunction(event.fn) or isinstance(event.fn, partial)
        if is_own and not iscoroutinefunction(event.fn) and not isasyncgenfunction(event.fn):
            event.fn = _answered(event.fn)
    demo.validate_inputs = _refuse_too_few


def _answered(handler: Callable) -> Callable:
    types = types_of(handler)

    @wraps(handler)
    def answer(*values: Any) -> Any:
        with readable_errors():
            return handler(*checked_values(types, values))

    return answer


def types_of(function: Callable, count: int | None = None) -> TypeAdapter:
    """What its arguments, or its first `count`, must be by its type hints. What is given by name only is our own."""
    arguments = signature(function).parameters.values()
    hints = [each.annotation for each in arguments if each.kind is not Parameter.KEYWORD_ONLY][:count]
    return TypeAdapter(tuple[*(Any if hint is Parameter.empty else hint for hint in hints)])


def checked_values(types: TypeAdapter, values: Sequence[Any]) -> Sequence[Any]:
    """The values of an event as its handler, or its work, takes them. Raises RequestError."""
    try:
        return types.validate_python(tuple(values), strict=True)
    except ValidationError:
        raise RequestError(say("page.unreadable_question")) from None


def _refuse_too_few(event: BlockFunction, values: list) -> None:
    """In place of Gradio's own check, whose words are for the programmer."""
    if len(values) < len(event.inputs):
        with readable_errors():
            raise RequestError(say("page.unreadable_question"))


@contextmanager
def readable_errors() -> Iterator[None]:
    """For handlers outside the line: what is refused reaches the visitor as one sentence."""
    try:
        yield
    except gr.Error:  # a ValueError too
        raise
    except (TypeError, ValueError) as error:
        # Gradio shows the words of an error as HTML, and they may quote what a visitor sent: here they are text.
        raise gr.Error(escape(sentence(str(error))), print_exception=False) from None
