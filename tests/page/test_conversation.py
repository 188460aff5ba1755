"""System prompts and turns that go on: what Generate and Ask on write is what the library writes for the same talk."""

import json
from typing import Any

import pytest

from playground.models.answers import at_once
from playground.models.text import LoadedModel
from playground.page.controls import DEFAULTS
from playground.page.recording import Recorder
from playground.page.requests import RequestError
from playground.page.run_file import RunFileError, from_json, to_json
from playground.page.runs import RunStore

SETTINGS = DEFAULTS | {"max_new_tokens": 12}


@pytest.fixture
def runs() -> RunStore:
    return RunStore()


@pytest.fixture
def recorder(chat: LoadedModel, base: LoadedModel, runs: RunStore) -> Recorder:
    return Recorder({"chat": chat, "base": base}, runs)


def talk(*texts: str, system: str = "") -> list[dict[str, str]]:
    first = [{"role": "system", "content": system}] if system else []
    return [*first, *({"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts))]


def written(recorder: Recorder, model: str, prompt: str, **settings: Any) -> dict:
    return at_once(recorder.record(model, prompt, SETTINGS | settings))


def test_a_system_prompt_goes_in_front_and_with_the_run(recorder: Recorder, runs: RunStore, chat: LoadedModel):
    said = written(recorder, "chat", "Hi", system="Be brief.")
    assert said["system"] == "Be brief." and said["prompt"] == "Hi"
    assert said["prompt_ids"] == chat.prompt_ids(talk("Hi", system="Be brief."))
    again = from_json(to_json(runs.get(said["id"])))
    assert (again.system, again.prompt) == ("Be brief.", "Hi")


@pytest.mark.parametrize("model, system", [("chat", ""), ("chat", " \n"), ("chat", None), ("base", "Be brief.")])
def test_without_one_the_prompt_stands_alone(recorder: Recorder, model: str, system: str | None):
    """A base model has none: what stands in the box waits for a chat model."""
    said = written(recorder, model, "Hi", system=system)
    assert said["prompt_ids"] == recorder.models[model].prompt_ids("Hi") and said["system"] == ""


def test_a_file_from_before_there_were_system_prompts_opens(recorder: Recorder, runs: RunStore):
    data = json.loads(to_json(runs.get(written(recorder, "chat", "Hi")["id"])))
    del data["system"]
    assert from_json(json.dumps(data)).system == ""
    with pytest.raises(RunFileError, match="“system”: it should be text"):
        from_json(json.dumps(data | {"system": 5}))


def test_a_system_prompt_is_bounded_as_a_prompt_is(recorder: Recorder):
    for system, words in (("a" * 10**6, "letters"), ("cat " * 3000, "tokens"), (7, "must be text")):
        with pytest.raises(RequestError, match=words):
            written(recorder, "chat", "Hi", system=system)
