"""Every handler, job, endpoint and server function of the page is given values that no browser sends: a right value is
taken, anything else gets one sentence, nothing ends in a traceback, and the visitor can go on."""

import math
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pytest
from http_client import Client, last_value, messages

from playground.tabs.cache_on_off import clinic_part, race_values
from playground.tabs.kinds_of_cache import comparison_values, update_calls
from playground.tabs.thirty_answers import values as answers_values
from playground.words import say

ODD = [None, {}, [{}], [[1]], math.inf, 10**400, 2**200, "\ud800", 1.5, True, -1]
# In the components of these names; others keep the value they are built with.
TYPED = {"prompt": "Hi", "controls": {"max_new_tokens": 1, "temperature": 0, "system": ""}}
QUESTIONS = {  # of the panels that ask
    "thirty_answers/asking": {"model": "minimind-chat", "prompt": " ", "params": {"temperature": 0}},
    "thirty_answers/curve": {"model": "minimind-chat", "prompt": " ", "params": {}, "knob": "top_k", "second": ""},
    "thirty_answers/agreement": {"model": "minimind-chat", "prompt": " ", "params": {"temperature": 0}},
    "thirty_answers/among": {"model": "minimind-chat", "prompt": " "},
    "one_answer/live": {"run": "", "shared": 0, "forced_id": 1, "params": {}, "only_next": True, "replace": False},
    "one_answer/questions": {"key": "Q3"},
    "one_answer/turns": {"model": "minimind-chat", "prompt": "Hi", "history": ["Hi", "Hello"], "run": ""},
    "inside_the_cache/source": {
        "model": "minimind-chat",
        "prompt_ids": [1, 2],
        "token_ids": [3],
        "layer": 0,
        "position": 1,
    },
}
ARGUMENTS = {"prompt": "Hi", "run": "", "n": 1, "max_new_tokens": 1}  # of the endpoints; others have a default


class Visitor:
    def __init__(self, url: str) -> None:
        self.client = Client(url)
        config = self.client.get("/config")
        self.components = {each["id"]: each["props"] for each in config["components"]}
        self.events = [each for each in config["dependencies"] if each["backend_fn"]]
        self.endpoints = self.client.get("/gradio_api/info")["named_endpoints"]
        self.can_go_on()

    @property
    def own_events(self) -> list[dict]:
        """Of the page, one of each kind: what has the same inputs and outputs runs the same function."""
        own = [each for each in self.events if each["api_visibility"] == "private"]
        return list({(*each["inputs"], None, *each["outputs"]): each for each in own}.values())

    def good(self, event: dict) -> list:
        """What the page would send."""
        props = [self.components[component] for component in event["inputs"]]
        return [TYPED.get(each.get("elem_id"), each.get("value")) for each in props]

    def asks(self, event: dict) -> str | None:
        """The panel whose question the event takes."""
        [(component, name), *_] = event["targets"]
        if name not in ("asked", "wanted"):
            return None
        return re.search('name: "(.*?)"', self.components[component]["js_on_load"])[1]

    def fault(self, event: dict, given: list) -> str | None:
        """What is wrong with the answer; None: nothing."""
        if not event["queue"]:
            status, answer = self.client.call(event["id"], *given)
            return None if status == 200 else fault_of(answer.get("error"))
        status, answer = self.client.join(event["id"], *given)
        if status != 200:
            return fault_of(answer.get("detail"))
        if event["api_visibility"] != "private":
            [done] = [each for each in messages(self.client.listen()) if each["msg"] == "process_completed"]
            return None if done["success"] else fault_of(done["output"]["error"])
        try:
            job = last_value(self.client.listen())["job"]
        except RuntimeError as error:
            return fault_of(error.args[0])
        return fault_of(job["problem"]) if job["state"] == "failed" else None

    def answers(self, event: dict, given: list) -> list:
        """All that comes back, as JSON."""
        if not event["queue"]:
            return [self.client.call(event["id"], *given)[1]]
        status, answer = self.client.join(event["id"], *given)
        return list(messages(self.client.listen())) if status == 200 else [answer]

    def can_go_on(self) -> bool:
        """Presses Generate. The run that it gave is asked about later."""
        generate = next(each for each in self.events if len(each["inputs"]) == 4 and each["queue"])
        self.client.join(generate["id"], *self.good(generate))
        value = last_value(self.client.listen())
        self.run_id = value.get("id", "")
        return value["job"]["state"] == "done"

    def faults(self, event: dict, good: list, places: Iterable[int]) -> list[str]:
        found = [(name, self.fault(event, given)) for name, given in spoilt(good, places)]
        found.append(("a good request afterwards", None if self.can_go_on() else "failed"))
        return [f"{event['api_name']} {event['id']}, {name}: {fault}" for name, fault in found if fault]


def fault_of(said: Any) -> str | None:
    """What keeps this from being one sentence for a person; None: nothing."""
    if not isinstance(said, str) or not said.endswith((".", "…")) or said == say("page.line.broken"):
        return f"no sentence: {said!r}"
    signs = ("\n", "rror:", "NoneType", "<class", "object", "hashable", "__")
    return f"for programmers: {said!r}" if any(sign in said for sign in signs) else None


def spoilt(good: list, places: Iterable[int]) -> Iterator[tuple[str, list]]:
    """Too few; one odd value at a time; and of a dict one entry at a time that is odd or missing."""
    yield "nothing", []
    for place in places:
        for value in ODD:
            yield f"{place}: {value!a:.20}", [*good[:place], value, *good[place + 1 :]]
        for key in good[place] if isinstance(good[place], dict) else ():
            rest = {name: value for name, value in good[place].items() if name != key}
            for entries in (rest, *({**rest, key: value} for value in ODD)):
                name = f"{place}: {key} {entries.get(key, 'missing')!a:.20}"
                yield name, [*good[:place], entries, *good[place + 1 :]]


@pytest.fixture(scope="module")
def visitor(page_url: str) -> Visitor:
    return Visitor(page_url)


@pytest.fixture(autouse=True)
def nothing_is_logged(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture, caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    # What a right value starts must end soon.
    monkeypatch.setattr(clinic_part, "NUM_TOKENS", 2)
    monkeypatch.setattr(clinic_part, "in_three_formats", partial(clinic_part.in_three_formats, max_new_tokens=2))
    one_story = comparison_values.stories()[:1]
    monkeypatch.setattr(comparison_values, "stories", lambda: one_story)
    monkeypatch.setattr(update_calls, "STEPS", 1)
    for name in ("SHORT_NEW", "COURSE_NEW", "COURSE_PROMPT"):
        monkeypatch.setattr(race_values, name, 2)
    monkeypatch.setattr(answers_values, "POOL", 2)
    monkeypatch.setattr(answers_values, "SIZES", (2,))
    yield
    said = "".join(capfd.readouterr()) + caplog.text
    assert "Traceback" not in said, said[-4000:]


# Gradio takes such a dict, where a handler returns it, for a change of the component: here, of its script.
UPDATE = {"__type__": "update", "js_on_load": "alert(1)", "value": 1}


def holds_the_update(answer: Any) -> bool:
    if isinstance(answer, dict):
        return "js_on_load" in answer or any(map(holds_the_update, answer.values()))
    return isinstance(answer, list) and any(map(holds_the_update, answer))


def test_no_output_is_built_from_what_a_visitor_sends(visitor: Visitor):
    """A preset handed a visitor's dict back, and so a script to whoever opened a link to that visit."""
    assert holds_the_update([{"value": [UPDATE]}])
    tried = 0
    for event in visitor.own_events:
        good = visitor.good(event)
        numbered = event["queue"] and not visitor.asks(event)
        for place, value in enumerate(good[: len(good) - numbered]):  # the number of a request goes back as a number
            inside = [value | UPDATE] if isinstance(value, dict) else []
            for planted in (UPDATE, *inside):
                answers = visitor.answers(event, [*good[:place], planted, *good[place + 1 :]])
                assert answers and not holds_the_update(answers), (event["id"], place)
                tried += 1
    assert tried > 30


def test_handlers_and_jobs(visitor: Visitor):
    found, asked = [], set()
    for event in visitor.own_events:
        good, panel = visitor.good(event), visitor.asks(event)
        if panel and panel not in asked:
            good[0] = QUESTIONS.get(panel, {}) | ({"run": visitor.run_id} if "run" in QUESTIONS.get(panel, {}) else {})
            asked.add(panel)
        # Last come the numbers of requests: tests/page/test_jobs.py spoils them.
        places = range(len(good) if panel or not event["queue"] else len(good) - 1)
        found += visitor.faults(event, good, places)
    assert asked >= QUESTIONS.keys()
    assert not found, "\n".join(found)


def test_endpoints(visitor: Visitor):
    found, tried = [], set()
    for name, endpoint in visitor.endpoints.items():
        event = next(each for each in visitor.events if f"/{each['api_name']}" == name)
        arguments = {each["parameter_name"]: each.get("parameter_default") for each in endpoint["parameters"]}
        good = [ARGUMENTS.get(argument, default) for argument, default in arguments.items()]
        # Settings are the same everywhere.
        places = [place for place, argument in enumerate(arguments) if argument in ARGUMENTS or argument not in tried]
        tried |= arguments.keys()
        found += visitor.faults(event, good, places)
    assert not found, "\n".join(found)


def test_server_functions(visitor: Visitor):
    found = []
    for component, props in visitor.components.items():
        for name in props.get("server_fns") or ():
            for value in ODD:
                asked = {"component_id": component, "fn_name": name, "data": value}
                status, answer = visitor.client.post("/gradio_api/component_server", **asked)
                fault = fault_of(answer["problem"]) if status == 200 and "problem" in answer else None
                if fault or status not in (200, 422):
                    found.append(f"{name}, {value!a:.20}: {status} {fault or answer}")
    assert visitor.can_go_on() and not found, "\n".join(found)
