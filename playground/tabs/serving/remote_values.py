"""What remote.js is given: answers of the server that --engine names, as they come, and what it tells of them."""

from typing import Any, Literal

from pydantic import BaseModel

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
    params, most = sampling_params(controls), new_tokens(controls)
    model = model_name(server)
    answers: list[dict] = []
    for text in [prompt] if asked.what == BAR else two_prompts():
        body = request_body(model, text, params, most, asked.form == CHAT)
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
    return about | {"answers": answers}


def two_prompts() -> list[str]:
    return [
        say("serving.prefix.prompt.first", shared=say("serving.prefix.shared"), question=question_of(number))
        for number in range(2)
    ]


def answer_value(prompt: str, steps: list[RemoteStep], usage: Usage | None) -> dict:
    times = [step.seconds for step in steps]
    return {
        "prompt": prompt,
        "steps": [
            {"label": step.label, "prob": step.prob, "top": [[each.label, each.prob] for each in step.top]}
            for step in steps
        ],
        "first": times[0] if times else None,
        "later": (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None,
        "prompt_tokens": usage and usage.prompt_tokens,
        "found": usage and usage.found_tokens,
    }


def _settings(body: dict[str, Any]) -> str:
    return ", ".join(f"{name} {body[name]}" for name in SENT if name in body)
