"""Jobs over HTTP, as the front end asks for them: what is told, Stop, wrong types, and a connection that is gone."""

import http.client
import threading
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace

import gradio as gr
import pytest
from conftest import generate, slide
from http_client import Client, last_value, values
from playwright.sync_api import Browser, expect

from playground.__main__ import build
from playground.engine.params import SamplingParams
from playground.models.text import LoadedModel
from playground.page import line as line_module
from playground.page.jobs import Jobs, has_left, visitor_of
from playground.page.recording import Recorder
from playground.page.runs import RunStore, payload
from playground.words import say


def first_job(stream: http.client.HTTPResponse) -> dict:
    return next(values(stream))["job"]


@pytest.fixture(scope="module")
def page(chat: LoadedModel) -> Iterator[SimpleNamespace]:
    """A page with one button: its work goes on until `gate` is open, and says what it was given."""
    seen = SimpleNamespace(gate=threading.Event(), running=threading.Event(), ended=[], given=[])

    def work(text, settings):
        seen.given.append((text, settings))
        try:
            while not seen.gate.is_set():
                seen.running.set()
                seen.gate.wait(0.01)
                yield None
            yield {"text": f"{text}!"}
        finally:
            seen.ended.append(text)

    def sections(picture: str):
        yield None, {"picture": picture}
        yield from work("sections", None)

    async def plain(request: gr.Request, text: str):
        left = partial(has_left, request)
        return await jobs.line.result(work(text, None), visitor_of(request), left=left)

    recorder = Recorder({chat.name: chat}, RunStore())
    with gr.Blocks() as demo:
        start, stop, text, settings, shown = gr.Button(), gr.Button(), gr.Textbox(), gr.HTML(), gr.HTML()
        name, prompt, controls, run, picture = gr.Textbox(), gr.Textbox(), gr.HTML(), gr.HTML(), gr.HTML()
        jobs = Jobs()
        jobs.on(start.click, work, [text, settings], shown, name="work")
        jobs.stop(stop)
        jobs.on(start.click, recorder.record, [name, prompt, controls], run, name="generate", joins=True)
        jobs.on(start.click, sections, text, [shown, picture], name="sections")
        start.click(plain, text, shown, concurrency_limit=None)
    _app, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, max_threads=200, _frontend=False)
    seen.line, seen.runs = jobs.line, recorder.runs
    seen.start, seen.stop, seen.record, seen.sections, seen.plain = demo.fns
    seen.new = lambda: Client(url)
    yield seen
    seen.gate.set()
    demo.close()


@pytest.fixture(autouse=True)
def closed_gate(page: SimpleNamespace):
    page.gate.clear(), page.running.clear()
    page.ended.clear(), page.given.clear()
    yield
    page.gate.set()
    until(lambda: len(page.line) == 0)


def until(condition) -> None:
    pause = threading.Event()
    for _ in range(4000):
        if condition():
            return
        pause.wait(0.005)
    raise AssertionError("it never came")


def test_the_page_is_told_how_a_job_goes_and_gets_what_it_made(page: SimpleNamespace):
    client = page.new()
    client.join(page.start, "hello", None, 7)
    stream = client.listen()
    page.gate.set()
    value = last_value(stream)
    assert value["text"] == "hello!" and value["job"] == {"number": 7, "state": "done", "beat": value["job"]["beat"]}
    assert page.given == [("hello", None)]


def test_a_visitor_who_waits_is_told_at_once(page: SimpleNamespace):
    first, second = page.new(), page.new()
    first.join(page.start, "one", None, 1)
    assert page.running.wait(20)
    second.join(page.start, "two", None, 1)
    told = first_job(second.listen())
    assert (told["state"], told["ahead"]) == ("queued", 1)


def test_a_closed_tab_frees_the_model_while_it_runs_and_while_it_waits(
    page: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(line_module, "BEAT_SECONDS", 0.2)
    monkeypatch.setattr(line_module, "LOOK_SECONDS", 0.1)
    first, second, third = page.new(), page.new(), page.new()
    first.join(page.start, "one", None, 1)
    one = first.listen()
    assert page.running.wait(20)
    second.join(page.start, "two", None, 1)
    two = second.listen()
    assert first_job(two)["state"] == "queued"
    third.join(page.start, "three", None, 1)
    three = values(third.listen())
    assert next(three)["job"]["ahead"] == 2
    second.leave(two)
    until(lambda: len(page.line) == 2)
    first.leave(one)
    until(lambda: page.ended == ["one"])
    page.gate.set()
    assert [*three][-1]["text"] == "three!"
    assert [text for text, _ in page.given] == ["one", "three"], "the second was gone before its turn"


def test_the_logits_of_a_run_leave_the_server_once(page: SimpleNamespace, chat: LoadedModel):
    """They left it twice: Gradio ends a generator by sending its last values once more."""
    client, controls = page.new(), {"max_new_tokens": 12, "temperature": 0}
    client.join(page.record, chat.name, "Hello", controls, 1)
    sent = client.listen().read().decode()
    [run] = page.runs._runs.values()
    logits = payload(run)["logits"]
    assert len(logits) > 100_000 and sent.count(logits[-1000:]) == sent.count(logits) == 1
    assert len(sent) < len(logits) + 30_000

    client.join(page.record, chat.name, "Hello", controls, 2)
    value = last_value(client.listen())
    assert value["job"] == {"number": 2, "state": "done", "beat": value["job"]["beat"]}
    assert value == payload(page.runs.get(value["id"])) | {"job": value["job"], "held": None}


def test_a_picture_that_stays_is_sent_once(page: SimpleNamespace):
    client, picture = page.new(), "picture " * 100
    client.join(page.sections, picture, 1)
    stream = client.listen()
    sent = ""
    while picture not in sent:
        sent += stream.readline().decode()
    page.gate.set()
    assert picture not in stream.read().decode(), "the work has ended, and its picture is on the page"


def test_a_closed_tab_ends_a_plain_handler_too(page: SimpleNamespace, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(line_module, "BEAT_SECONDS", 0.2)
    monkeypatch.setattr(line_module, "LOOK_SECONDS", 0.1)
    client = page.new()
    client.join(page.plain, "plain")
    stream = client.listen()
    assert page.running.wait(20)
    client.leave(stream)
    until(lambda: page.ended == ["plain"])
    assert len(page.line) == 0


def test_what_visitors_are_written_side_by_side_is_what_each_is_written_alone(page: SimpleNamespace, chat: LoadedModel):
    """Long and short prompts, each with its own settings and seed."""
    blocker = page.new()
    blocker.join(page.start, "in front", None, 1)
    assert page.running.wait(20)
    asked = [
        ("Hello", {"seed": 1, "temperature": 1.2}),
        ("Tell me a story about a dragon and a cat who live in a house.", {"seed": 2, "top_p": 0.9}),
        ("Name three animals.", {"temperature": 0}),
        ("Why? " * 30, {"seed": 3, "repetition_penalty": 1.3}),
    ]
    clients = [page.new() for _ in asked]
    streams = []
    for client, (prompt, settings) in zip(clients, asked, strict=True):
        client.join(page.record, chat.name, prompt, {**settings, "max_new_tokens": 40}, 1)
        streams.append(values(client.listen()))
        assert next(streams[-1])["job"]["state"] == "queued"
    page.gate.set()
    for stream, (prompt, settings) in zip(streams, asked, strict=True):
        *_, value = stream
        alone = chat.generate(prompt, SamplingParams(**settings), max_new_tokens=40)
        assert value["token_ids"] == alone.token_ids and value["job"]["state"] == "done"
        assert value["num_fed"] == alone.num_fed and value["cache_bytes"] == alone.cache_bytes


def test_stop_is_ordered_by_the_server(page: SimpleNamespace):
    client, other = page.new(), page.new()
    client.join(page.start, "mine", None, 1)
    other.join(page.start, "theirs", None, 1)
    mine, theirs = client.listen(), other.listen()
    assert page.running.wait(20)
    client.call(page.stop, 2)
    assert last_value(mine)["job"]["state"] == "stopped"
    client.join(page.start, "late", None, 2)  # it left the page before Stop did
    assert last_value(client.listen())["job"]["state"] == "stopped"
    page.gate.set()
    assert last_value(theirs)["text"] == "theirs!"


@pytest.mark.parametrize("number", [None, {}, "7", -1, 1.5, True, 10**400, [1]])
def test_a_request_without_a_usable_number_is_a_request(page: SimpleNamespace, number):
    client = page.new()
    page.gate.set()
    client.join(page.start, "text", None, number)
    value = last_value(client.listen())
    assert value["text"] == "text!" and value["job"]["number"] == 0
    client.call(page.stop, number)


def test_a_page_load_does_not_queue_and_nobody_waits_in_gradios_queue():
    """300 page loads filled the queue."""
    demo = build()
    loads = [event for event in demo.fns.values() if any(name == "load" for _, name in event.targets)]
    assert loads and not any(event.queue for event in loads)
    queued = [event for event in demo.fns.values() if event.fn and event.queue]
    assert queued and all(event.concurrency_limit is None for event in queued), "they wait in our own line"


def test_a_picture_whose_request_is_refused_is_free_again_at_once_and_says_why(chromium: Browser, page_url: str):
    """The thirty dots waited 45 seconds for an answer to a request that the server had not taken in."""
    browser_page = chromium.new_context(viewport={"width": 1920, "height": 1080}).new_page()
    browser_page.goto(page_url)
    browser_page.wait_for_selector("#controls input[type=range]")
    generate(browser_page, "Name three animals.")
    browser_page.route("**/queue/join*", lambda route: route.fulfill(status=503, json={"detail": "Queue is full."}))
    slide(browser_page, "temperature", 1.2)
    dots, refused = browser_page.locator(".area-answers"), say("page.line.full")
    expect(dots).to_contain_text(refused, timeout=20_000)
    browser_page.unroute("**/queue/join*")
    slide(browser_page, "temperature", 0.6)
    expect(dots).not_to_contain_text(refused)
    browser_page.context.close()
