"""The part "A real server": what Python sends, what the browser makes of it, and a visit to the page."""

import re
import threading
from collections.abc import Iterator

import pytest
from conftest import drawn, unreadable
from model_server import MODEL, ModelServer, model_server
from node import in_node
from playwright.sync_api import BrowserContext, Page, expect

from playground.build import build_page, launch_options
from playground.models.answers import at_once
from playground.models.remote import RemoteServer, RemoteStep, Usage
from playground.models.text import LoadedModel
from playground.page.line import Work
from playground.tabs.serving import remote_values as values_module
from playground.tabs.serving.remote_values import answer_value, remote_values, two_prompts
from playground.words import say

CONTROLS = {"temperature": 0.7, "top_p": 0.9, "top_k": 0, "min_p": 0.0, "seed": 3, "max_new_tokens": 8}


@pytest.fixture(scope="module")
def served() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


def asking(server: ModelServer, what: str = "bar", form: str = "chat", **controls) -> Work:
    return remote_values(RemoteServer(server.url), {"what": what, "form": form}, "Hi", CONTROLS | controls)


def asked(server: ModelServer, *what: str, **more) -> dict:
    """What the page shows at the end."""
    return at_once(asking(server, *what, **more))


def until_it_waits(server: ModelServer, work: Work) -> dict:
    """What the page is sent of an answer whose server is silent after two tokens."""
    server.go_on.clear()
    server.fault = "slow"
    while (value := next(work)) is None or len(value["answers"][0]["steps"]) < 2:
        pass
    server.fault = None
    return value


def test_an_answer_grows_and_ends_with_what_the_server_counted(served):
    work = asking(served, typical_p=0.5)
    grown = until_it_waits(served, work)
    served.go_on.set()
    end = at_once(work)
    assert [len(each["answers"][0]["steps"]) for each in (grown, end)] == [2, 4], "what was sent stays as it was"
    [made] = end["answers"]
    assert (made["prompt"], made["prompt_tokens"], made["found"]) == ("Hi", 1, 0)
    assert made["first"] > 0 and made["later"] >= 0
    assert end["model"] == MODEL and end["settings"] == "temperature 0.7, top_p 0.9, seed 3"
    assert end["not_sent"] == "typical_p"
    assert served.requests[-1][0] == "/v1/chat/completions"
    asked(served, form="text")
    assert served.requests[-1][0] == "/v1/completions" and served.requests[-1][1]["prompt"] == "Hi"


def test_the_time_of_a_token_is_that_of_a_token_where_pieces_hold_several():
    """transformers serve sent 20 tokens in 18 pieces."""
    steps = [RemoteStep("x", None, (), seconds) for seconds in (1.0, 2.0, 5.0)]
    assert answer_value("", steps, Usage(1, 5, None))["later"] == (5.0 - 1.0) / 4
    assert answer_value("", steps, None)["later"] == (5.0 - 1.0) / 2
    assert answer_value("", steps[:1], None)["later"] is None and answer_value("", [], None)["first"] is None


def test_of_two_prompts_that_begin_alike_the_second_finds_the_beginning(served):
    first, second = asked(served, "pair")["answers"]
    same = next(at for at, (a, b) in enumerate(zip(*map(str.split, two_prompts()), strict=False)) if a != b)
    assert first["found"] == 0 and second["found"] == same // 16 * 16 > 0


def test_what_is_stopped_closes_its_connection_at_the_servers_next_word(served):
    work = asking(served)
    until_it_waits(served, work)
    assert next(work) is None  # it waits, and can be stopped
    work.close()
    readers = [each for each in threading.enumerate() if each.name == "remote"]
    served.go_on.set()
    for each in readers:
        each.join(10)
    assert readers and not any(each.is_alive() for each in readers)


def test_nothing_is_read_after_the_word_that_follows_a_stop(served, monkeypatch):
    go_on, closed, words = threading.Event(), threading.Event(), []

    def answer(_server, _body):
        try:
            for number in range(6):
                if number == 2:
                    go_on.wait(20)
                words.append(number)
                yield RemoteStep("x", None, (), 1.0)
        finally:
            closed.set()

    monkeypatch.setattr(values_module, "answer", answer)
    work = asking(served)
    while (value := next(work)) is None or len(value["answers"][0]["steps"]) < 2:
        pass
    work.close()
    go_on.set()
    assert closed.wait(10) and words == [0, 1, 2]


def test_bars_of_a_step_show_all_that_was_told_and_the_rest_as_one_block():
    step = {"label": "x", "prob": 0.0001, "top": [[f"t{n}", 0.5 / 2**n] for n in range(12)]}
    steps = [step, {**step, "label": "t9", "prob": 0.5 / 2**9}, {**step, "prob": None, "top": []}]
    outside, inside, silent = in_node("return given.map(remote.rowsOf)", steps, remote="tabs/serving/remote.js")
    assert silent == []
    for rows, told in ((outside, 5), (inside, 4)):
        assert [row["name"] for row in rows] == ["token"] * 8 + ["told", "untold"]
        assert [row["chosen"] for row in rows] == [False] * 7 + [True] + [False] * 2
        assert rows[-2]["count"] == told and sum(row["share"] for row in rows) == pytest.approx(1)
    assert inside[7]["label"] == "t9"


def test_without_a_server_the_request_is_refused_with_the_way_to_have_one():
    with pytest.raises(ValueError, match=r"python app\.py --engine http://localhost:8000/v1"):
        next(remote_values(None, {"what": "bar", "form": "chat"}, "Hi", CONTROLS))


# ---- in the browser


@pytest.fixture(scope="module")
def remote_url(chat: LoadedModel, served: ModelServer) -> Iterator[str]:
    demo = build_page({"minimind-chat": chat}, RemoteServer(served.url)).queue()
    _app, url, _share = demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, **launch_options())
    yield url
    demo.close()


def test_a_visitor_asks_the_server_and_sees_what_it_tells(window: BrowserContext, remote_url: str, served: ModelServer):
    page = window.new_page()
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(remote_url)
    part(page)
    panel = page.locator("#serving-remote")
    panel.get_by_role("button", name=say("serving.remote.send.pair")).click()
    rows = panel.locator(".fact-table tr")
    expect(rows).to_have_count(3)
    expect(panel.locator(".key-block").nth(2)).to_contain_text(re.compile(r"^[1-9]\d* ?of \d+ prompt tokens found"))
    tokens = panel.locator(".token")
    expect(tokens).to_have_text(["The", "␣big", "⏎", say("serving.remote.no_text")])
    tokens.nth(1).click()
    bars = panel.locator(".remote-bars .serving-row")
    expect(bars).to_have_text([re.compile("capital70"), re.compile("big20"), re.compile("not told10")])
    expect(bars.nth(1).locator("[data-kind=chosen]")).to_have_count(1)
    expect(page.locator("#remote-can tr")).to_have_count(10)
    tokens.nth(0).click()
    expect(bars).to_have_count(9)
    expect(bars.nth(7)).to_contain_text("13 more tokens")
    drawn(page)
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * 768
    assert unreadable(page, "#serving-parts") == []

    served.key = "sk-other"
    panel.get_by_role("button", name=say("serving.remote.send.bar")).click()
    expect(panel.locator(".is-problem")).to_contain_text("The server refuses the key (401: “Unauthorized”)")
    served.key, served.fault = None, "not JSON"
    panel.get_by_role("button", name=say("serving.remote.send.bar")).click()
    expect(panel.locator(".is-problem")).to_contain_text("What the server sent can't be read")
    expect(rows).to_have_count(3)  # those before are still there
    served.go_on.clear()
    served.fault = "slow"
    panel.get_by_role("button", name=say("serving.remote.send.bar")).click()
    expect(tokens).to_have_text(["The", "␣big"])
    page.locator("#remote-stop").click()
    expect(panel.get_by_role("status")).to_have_text(say("page.job.stopped"))  # though the server says nothing more
    served.go_on.set()
    assert "remote-form" not in page.url and not re.search("press", page.url)
    served.fault = None
    page.close()


def part(page: Page) -> None:
    page.get_by_role("tab", name=say("serving.tab"), exact=True).click()
    page.get_by_role("tab", name=say("serving.remote.tab"), exact=True).click()
