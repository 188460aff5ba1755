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
from playground.page.runs import RunStore, payload
from playground.tabs.cache_on_off.clinic_part import examined, in_formats
from playground.tabs.cache_on_off.race_values import raced, raced_course
from playground.tabs.kinds_of_cache.comparison_values import BAR
from playground.tabs.kinds_of_cache.comparison_values import compared as kinds_compared
from playground.tabs.kinds_of_cache.update_values import update_calls
from playground.tabs.one_answer.turns import ask_on
from playground.tabs.serving.padding_values import padding_values
from playground.tabs.thirty_answers.values import agreement_values, among_values, answer_values, curve_values
from playground.tabs.two_models.pair_values import compared
from playground.tabs.two_models.sides import PackedCopy

CHAT, BASE = "minimind-chat", "minimind-base"
SETTINGS = DEFAULTS | {"max_new_tokens": 12}


@pytest.fixture
def runs() -> RunStore:
    return RunStore()


@pytest.fixture
def recorder(chat: LoadedModel, base: LoadedModel, runs: RunStore) -> Recorder:
    return Recorder({each.name: each for each in (chat, base)}, runs)


def talk(*texts: str, system: str = "") -> list[dict[str, str]]:
    first = [{"role": "system", "content": system}] if system else []
    return [*first, *({"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts))]


def written(recorder: Recorder, model: str, prompt: str, **settings: Any) -> dict:
    return at_once(recorder.record(model, prompt, SETTINGS | settings))


def test_a_system_prompt_goes_in_front_and_with_the_run(recorder: Recorder, runs: RunStore, chat: LoadedModel):
    said = written(recorder, CHAT, "Hi", system="Be brief.")
    assert said["system"] == "Be brief." and said["prompt"] == "Hi"
    assert said["prompt_ids"] == chat.prompt_ids(talk("Hi", system="Be brief."))
    again = from_json(to_json(runs.get(said["id"])))
    assert (again.system, again.prompt) == ("Be brief.", "Hi")


@pytest.mark.parametrize(
    "model, system",
    [(CHAT, ""), (CHAT, " \n"), (CHAT, None), (BASE, "Be brief.")],
)
def test_without_one_the_prompt_stands_alone(recorder: Recorder, model: str, system: str | None):
    """A base model has none: what stands in the box waits for a chat model."""
    said = written(recorder, model, "Hi", system=system)
    assert said["prompt_ids"] == recorder.models[model].prompt_ids("Hi") and said["system"] == ""


def in_the_bar(model: str, prompt: str, system: str) -> dict[str, Any]:
    """Everything else that asks the prompt of the bar, by what it is called."""
    controls = DEFAULTS | {"max_new_tokens": 2, "system": system}
    bar = {"model": model, "prompt": prompt, "system": system}
    sides = {side: {"model": model, "form": "loaded"} for side in ("left", "right")}
    return {
        "thirty": lambda models: answer_values(models, bar | {"params": controls}),
        "curve": lambda models: curve_values(models, bar | {"params": controls, "knob": "top_p"}),
        "agreement": lambda models: agreement_values(models, bar | {"params": controls}),
        "among others": lambda models: among_values(models, bar),
        "race": lambda models: raced(models, model, prompt, controls),
        "clinic": lambda models: examined(models, "greedy", model, prompt, controls, "none", False, None),
        "formats": lambda models: in_formats(models, model, prompt, controls),
        "kinds": lambda models: kinds_compared(models, {"story": BAR, "budget": 24}, model, prompt, controls),
        "calls": lambda models: update_calls(models, {}, model, prompt, controls),
        "padding": lambda models: padding_values(models, bar | {"pads": 8}),
        "two models": lambda models: compared(models, PackedCopy(), sides | {"prompt": None}, prompt, controls),
    }


@pytest.mark.parametrize("name", in_the_bar("", "", ""))
@pytest.mark.parametrize("model", [CHAT, BASE])
def test_whoever_asks_the_prompt_of_the_bar_asks_it_behind_the_system_prompt(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, name: str, model: str
):
    """The thirty answers and the race asked it alone, beside an answer that was written behind a system prompt."""
    written, prompt_ids = [], LoadedModel.prompt_ids
    monkeypatch.setattr(
        LoadedModel, "prompt_ids", lambda loaded, asked: written.append(asked) or prompt_ids(loaded, asked)
    )
    work = in_the_bar(model, "Hi", "Be brief.")[name](recorder.models)
    for _ in zip(range(3), work, strict=False):
        pass
    work.close()
    of_the_bar = [
        asked for asked in written if "Hi" in (asked, asked[-1]["content"] if isinstance(asked, list) else "")
    ]
    assert of_the_bar and all(
        asked == (talk("Hi", system="Be brief.") if model == CHAT else "Hi") for asked in of_the_bar
    )


def test_dots_beside_an_answer_stand_behind_its_conversation_and_the_course_has_its_own_prompt(recorder: Recorder):
    chat, turns = recorder.models[CHAT], ["What is a dog?", "A pet."]
    asked = {"model": CHAT, "prompt": "And a cat?", "system": "Be brief.", "history": turns, "params": SETTINGS}
    value = at_once(answer_values(recorder.models, asked))
    assert value["batch"]["prompt_length"] == len(chat.prompt_ids(talk(*turns, "And a cat?", system="Be brief.")))
    assert (value["system"], list(value["history"])) == ("Be brief.", turns) and "Be brief." in value["csv"]
    course = next(filter(None, raced_course(recorder.models, CHAT, SETTINGS | {"system": "Be brief."})))
    assert course["prompt_length"] == 183 and "system" not in course


def test_a_file_from_before_there_were_system_prompts_opens(recorder: Recorder, runs: RunStore):
    data = json.loads(to_json(runs.get(written(recorder, CHAT, "Hi")["id"])))
    del data["system"], data["history"]
    assert (from_json(json.dumps(data)).system, from_json(json.dumps(data)).history) == ("", ())
    for field, value, words in (
        ("system", 5, "text"),
        ("history", ["Hi"], "an answer to each question"),
        ("history", [1, 2], "text"),
        ("history", None, "a list"),
    ):
        with pytest.raises(RunFileError, match=f"“{field}”: .*{words}"):
            from_json(json.dumps(data | {field: value}))


def test_a_system_prompt_is_bounded_as_a_prompt_is(recorder: Recorder):
    for system, words in (("a" * 10**6, "letters"), ("cat " * 3000, "tokens"), (7, "must be text")):
        with pytest.raises(RequestError, match=words):
            written(recorder, CHAT, "Hi", system=system)


# ---- it goes on


def asked(recorder: Recorder, last: dict | None, *texts: str, visitor: str = "", **settings: Any) -> dict:
    """The answer to the last of these texts, on the cache of a run if there is one."""
    question = {"model": CHAT, "prompt": texts[-1], "history": texts[:-1], "run": last and last["id"]}
    return at_once(ask_on(recorder, json.loads(json.dumps(question)), SETTINGS | settings, visitor=visitor))


def text_of(run: dict) -> str:
    ended = run["stop_reason"] == "stop token"
    return "".join(run["pieces"][: -1 if ended else None])


@pytest.mark.parametrize("settings", [{"temperature": 0}, {"seed": 5}, {"seed": 6, "top_p": 1.0, "system": "A cat."}])
def test_the_kept_cache_changes_the_work_and_not_the_tokens(
    recorder: Recorder, runs: RunStore, chat: LoadedModel, settings: dict
):
    """Three turns: each is what a new start writes, and what the cache then holds weighs the same."""
    texts, last = [], None
    for question in ("What is a dog?", "And a cat?", "Which is larger?"):
        texts.append(question)
        kept = asked(recorder, last, *texts, **settings)
        fresh = asked(recorder, None, *texts, **settings)
        whole = chat.prompt_ids(talk(*texts, system=settings.get("system", "")))
        assert kept["prompt_ids"] == fresh["prompt_ids"] == whole
        assert kept["token_ids"] == fresh["token_ids"] and kept["cache_bytes"] == fresh["cache_bytes"]
        assert fresh["num_fed"][0] == len(whole) and fresh["held"] is None
        if last is not None:
            before = runs.get(last["id"]).cache
            assert kept["held"] == before.position == len(last["prompt_ids"]) + len(last["token_ids"]) - 1
            assert kept["num_fed"][0] == len(whole) - kept["held"] < len(whole) / 2
            assert before.num_bytes == sum(last["cache_bytes"][-1]), "that run can still be gone on from"
        texts.append(text_of(kept))
        last = kept
    again = from_json(to_json(runs.get(last["id"])))
    assert payload(again)["history"] == last["history"] == texts[:-2]


def test_where_the_text_changes_only_its_common_beginning_is_reused(recorder: Recorder):
    first = asked(recorder, None, "What is a dog?", temperature=0)
    second = asked(recorder, first, "What is a dog?", "It is a fish.", "Really?", temperature=0)
    ids = [*first["prompt_ids"], *first["token_ids"][:-1]]
    whole = second["prompt_ids"]
    common = next(n for n, (one, other) in enumerate(zip(ids, whole, strict=False)) if one != other)
    assert len(first["prompt_ids"]) <= common < second["held"] == len(ids)
    assert second["num_fed"][0] == len(whole) - common
    assert second["token_ids"] == asked(recorder, None, *second["history"], "Really?", temperature=0)["token_ids"]


def test_a_cache_that_has_gone_is_filled_again_and_nobody_else_may_use_it(chat: LoadedModel):
    runs = RunStore(most_runs=1)
    recorder = Recorder({chat.name: chat}, runs)
    first = asked(recorder, None, "Hi", visitor="a", temperature=0)
    texts = ("Hi", text_of(first), "And?")
    assert runs.own(first["id"], "a") and not runs.own(first["id"], "b")
    other = asked(recorder, first, *texts, visitor="b", temperature=0)
    assert other["held"] is None and other["num_fed"][0] == len(other["prompt_ids"])
    assert runs.get(first["id"]) is None, "there is room for one"
    gone = asked(recorder, first, *texts, visitor="a", temperature=0)
    assert gone["held"] is None and gone["token_ids"] == other["token_ids"]


def test_a_conversation_ends_with_the_context_and_a_base_model_has_none(recorder: Recorder):
    with pytest.raises(RequestError, match=r"^The conversation has [\d,]+ tokens by now[^\n]*Start anew\.$"):
        asked(recorder, None, "cat " * 1500, "dog " * 1500, "Hi")
    with pytest.raises(ValueError, match="has no turns"):
        at_once(ask_on(recorder, {"model": BASE, "prompt": "a", "history": ["b", "c"], "run": None}, SETTINGS))
    with pytest.raises(RequestError, match="each question there must be an answer"):
        at_once(ask_on(recorder, {"model": CHAT, "prompt": "a", "history": ["b"], "run": None}, SETTINGS))
