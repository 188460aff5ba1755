"""What remote.js is given: answers of the server that --engine names, as they come, and what it tells of them."""

from collections.abc import Iterator
from contextlib import closing
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Literal

from pydantic import BaseModel

from playground.engine.params import SamplingParams
from playground.models.remote import (
    RemoteServer,
    RemoteStep,
    Usage,
    answer,
    model_name,
    not_sent,
    request_body,
)
from playground.page.line import Work
from playground.page.requests import RequestError, Text, checked, new_tokens, sampling_params
from playground.tabs.serving.prefix_values import question_of
from playground.words import say

BAR, PAIR = "bar", "pair"  # the prompt of the bar; two prompts with the same instructions in front
CHAT, TEXT = "chat", "text"
FORMS = (CHAT, TEXT)
LOOK_SECONDS = 0.05  # how long Stop waits while the server is silent
SENT = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty", "frequency_penalty", "seed")
YES, TOLD, NO = "yes", "told", "no"  # told: if it was started so
# For remote_can.js, what a server can show, by the keys of serving.remote.can.
CAN = {"top": YES, "times": YES, "found": TOLD} | dict.fromkeys(
    ("rest", "sliders", "random", "switch", "bytes", "inside"), NO
)


class RemoteQuestion(BaseModel):
    """Of remote.js."""

    what: Literal[BAR, PAIR]
    form: Literal[FORMS]


def remote_values(server: RemoteServer | None, question: Any, prompt: Text, controls: Any) -> Work:
    """Each answer grows while its tokens arrive. Raises RequestError, and RemoteError for what the server does."""
    asked = checked(RemoteQuestion, question)
    if server is None:
        raise RequestError(say("serving.remote.none"))
    prompts = [prompt] if asked.what == BAR else two_prompts()
    params, most = sampling_params(controls), new_tokens(controls)
    return (yield from _aside(_answers(server, prompts, params, most, asked.form == CHAT)))


def _answers(
    server: RemoteServer, prompts: list[str], params: SamplingParams, most: int, is_chat: bool
) -> Iterator[dict]:
    model = model_name(server)
    answers: list[dict] = []
    for text in prompts:
        body = request_body(model, text, params, most, is_chat)
        about = {"model": model[:100], "settings": _settings(body), "not_sent": ", ".join(not_sent(params))}
        steps: list[RemoteStep] = []
        usage = None
        for news in answer(server, body):
            if isinstance(news, Usage):
                usage = news
            else:
                steps.append(news)
            yield about | {"answers": [*answers, answer_value(text, steps, usage)]}
        answers.append(answer_value(text, steps, usage))
    yield about | {"answers": answers}


def _aside(values: Iterator[dict]) -> Work:
    """The newest value; None while none comes. A thread of its own waits for the server, so Stop need not: after it
    that thread ends at the server's next word, or when a time limit of models/remote.py is over.
    """
    news: SimpleQueue[tuple[dict | None, Exception | None]] = SimpleQueue()  # (None, None) at the end
    nobody_waits = Event()

    def read() -> None:
        try:
            with closing(values):
                for value in values:
                    if nobody_waits.is_set():
                        return
                    news.put((value, None))
            news.put((None, None))
        except Exception as error:
            news.put((None, error))

    Thread(target=read, name="remote", daemon=True).start()
    try:
        newest = None
        while True:
            try:
                value, error = news.get(timeout=LOOK_SECONDS)
            except Empty:
                yield None
                continue
            if error:
                raise error
            if value is None:
                return newest
            newest = value
            if news.empty():
                yield newest
    finally:
        nobody_waits.set()


def two_prompts() -> list[str]:
    return [
        say("serving.prefix.prompt.first", shared=say("serving.prefix.shared"), question=question_of(number))
        for number in range(2)
    ]


def answer_value(prompt: str, steps: list[RemoteStep], usage: Usage | None) -> dict:
    times = [step.seconds for step in steps]
    count = max(len(times), usage.new_tokens if usage else 0)  # without log-probabilities a piece may be two tokens
    return {
        "prompt": prompt,
        "steps": [
            {"label": step.label, "prob": step.prob, "top": [[each.label, each.prob] for each in step.top]}
            for step in steps
        ],
        "first": times[0] if times else None,
        "later": (times[-1] - times[0]) / (count - 1) if len(times) > 1 else None,
        "prompt_tokens": usage and usage.prompt_tokens,
        "found": usage and usage.found_tokens,
    }


def _settings(body: dict[str, Any]) -> str:
    return ", ".join(f"{name} {body[name]}" for name in SENT if name in body)
