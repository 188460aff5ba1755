"""A model server by its address: what is sent to it, what is read, and one sentence for everything that goes wrong."""

from collections.abc import Iterator

import httpx
import pytest
from model_server import ANSWER, MODEL, ModelServer, model_server

from playground.engine.params import SamplingParams
from playground.models import remote
from playground.models.remote import RemoteError, RemoteServer, RemoteStep, Usage, answer, model_name, request_body


@pytest.fixture
def served() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


def asked(server: ModelServer, prompt: str = "Hi", is_chat: bool = True, key: str | None = None, most: int = 8) -> list:
    there = RemoteServer(server.url, key=key)
    return list(answer(there, request_body(model_name(there), prompt, SamplingParams(), most, is_chat)))


@pytest.mark.parametrize("is_chat", [True, False])
def test_an_answer_is_read_as_the_server_tells_it(served, is_chat):
    *steps, usage = asked(served, "one two three", is_chat)
    assert [step.label for step in steps] == ["The", "␣big", "⏎", ""]
    for step, (text, top) in zip(steps, ANSWER, strict=True):
        assert step.prob == pytest.approx(top[text])
        assert [choice.prob for choice in step.top] == pytest.approx(sorted(top.values(), reverse=True))
    assert steps[1].top[0].label == "␣capital" and steps[1].label != steps[1].top[0].label
    assert steps[2].top[1].label == ("<e2 82>" if is_chat else "␣")  # only chat completions tell bytes
    times = [step.seconds for step in steps]
    assert times == sorted(times) and times[0] > 0
    assert usage == Usage(3, len(ANSWER), 0)


def test_a_second_prompt_with_the_same_start_finds_whole_blocks(served):
    start = "word " * 40
    first, second, other = (asked(served, prompt)[-1] for prompt in (start + "a", start + "b", "other " + start))
    assert (first.found_tokens, second.found_tokens, other.found_tokens) == (0, 32, 0)


def test_what_is_off_is_not_sent_and_what_no_server_takes_is_named(served):
    plain = request_body("m", "Hi", SamplingParams(), 8)
    assert set(plain) == {
        "model", "messages", "temperature", "top_p", "seed", "max_tokens", "logprobs", "top_logprobs", "stream",
        "stream_options",
    }  # fmt: skip
    params = SamplingParams(temperature=0.5, top_k=3, min_p=0.1, presence_penalty=1, typical_p=0.5, top_n_sigma=2)
    body = request_body("m", "Hi", params, 8)
    assert (body["temperature"], body["top_k"], body["min_p"], body["presence_penalty"]) == (0.5, 3, 0.1, 1)
    assert not {"typical_p", "top_n_sigma", "repetition_penalty"} & set(body)
    assert sorted(remote.not_sent(params)) == ["top_n_sigma", "typical_p"] and remote.not_sent(SamplingParams()) == []


def test_the_model_named_is_the_one_asked_and_the_key_goes_along(served):
    served.key = "sk-secret"
    assert model_name(RemoteServer(served.url, key="sk-secret")) == MODEL
    assert model_name(RemoteServer("http://127.0.0.1:9/v1", "other")) == "other"  # without a word to the server
    assert asked(served, key="sk-secret") and served.requests[-1][1]["model"] == MODEL
    assert "secret" not in repr(RemoteServer(served.url, key="sk-secret"))


def test_without_log_probabilities_there_is_the_text(served):
    served.tells_logprobs = served.tells_cached = False
    *steps, usage = asked(served)
    assert [(step.label, step.prob, step.top) for step in steps] == [(name, None, ()) for name in ("The", "␣big", "⏎")]
    assert usage.found_tokens is None


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("no model", "The server has no such model or address (404: “The model `gpt-9` does not exist.”)"),
        ("refused", "The server refuses the request (400: “Requested sample logprobs of 20, maximum is 5”)."),
        ("broken", "The server failed (500: “no reason given”)."),
        ("deep", "The server failed (500: “no reason given”)."),
        ("moved", "The server points to another address (302), which is not followed"),
        ("not JSON", "What the server sent can't be read"),
        ("closes", "The server closed the connection before the answer was complete."),
        ("says so", "The server failed in the middle of the answer: “EngineCore died”."),
        ("half a chunk", "What the server sent can't be read"),
        ("not a number", "What the server sent can't be read"),
        ("huge", "The server sent more than was asked for, and was cut off."),
        ("endless", "The server sent more than was asked for, and was cut off."),
    ],
)
def test_what_goes_wrong_is_one_sentence(served, fault, sentence):
    served.fault = fault
    with pytest.raises(RemoteError) as raised:
        asked(served)
    assert str(raised.value).startswith(sentence) and "\n" not in str(raised.value)


def test_what_came_before_a_fault_is_kept(served):
    served.fault = "closes"
    steps = answer(RemoteServer(served.url), request_body(MODEL, "Hi", SamplingParams(), 8))
    assert isinstance(next(steps), RemoteStep) and next(steps).label == "␣big"
    with pytest.raises(RemoteError, match="closed the connection"):
        next(steps)


def test_a_wrong_key_is_refused_and_never_told(served):
    served.key = "sk-right"
    with pytest.raises(RemoteError, match=r"refuses the key \(401: “Unauthorized”\): --engine-key-env"):
        asked(served, key="sk-wrong")
    served.key, served.fault = None, "echoes the key"
    with pytest.raises(RemoteError) as raised:
        asked(served, key="sk-wrong")
    assert "Incorrect API key: Bearer …" in str(raised.value) and "sk-wrong" not in str(raised.value)


def test_a_slow_server_and_none_at_all(served, monkeypatch):
    monkeypatch.setattr(remote, "TIMEOUT", httpx.Timeout(0.2, connect=5))
    served.fault = "slow"
    with pytest.raises(RemoteError, match="sent nothing for"):
        asked(served)
    monkeypatch.setattr(remote, "MOST_SECONDS", -1)
    served.fault = None
    with pytest.raises(RemoteError, match="took longer than"):
        asked(served)
    with pytest.raises(RemoteError, match="Nobody answers"):
        model_name(RemoteServer("http://127.0.0.1:9/v1"))


@pytest.mark.parametrize(
    "url",
    ["localhost:8000", "file:///etc/passwd", "http://", "http://a:b@host/v1", "http://host/v1?key=1", "http://h:99999"],
)
def test_an_address_is_one_of_http_and_holds_no_secret(url):
    with pytest.raises(ValueError, match="--engine must be like http://localhost:8000/v1"):
        RemoteServer(url)


def test_the_key_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("OUR_KEY", "sk-1\n")
    assert RemoteServer.of("http://host/v1/", None, "OUR_KEY") == RemoteServer("http://host/v1", None, "sk-1")
    for value in ("", "half ü"):
        monkeypatch.setenv("OUR_KEY", value)
        with pytest.raises(ValueError, match="OUR_KEY is not set, or holds no key"):
            RemoteServer.of("http://host/v1", None, "OUR_KEY")
