"""What a browser fetches at a visit: little files, packed, each once and none late."""

import gzip
import http.client
import json
import re
from urllib.parse import urlparse

import gradio as gr
import pytest
from playwright.sync_api import BrowserContext
from playwright.sync_api import Page as BrowserPage

from playground.page.browser_files import PACKAGE, needed
from playground.page.panel import panel, panels_in_sight

SCRIPTS = """() => performance.getEntriesByType("resource").map((each) => new URL(each.name).pathname)
  .filter((path) => path.startsWith("/scripts/"))"""
NAMED = """() => [...document.querySelectorAll("link[rel=modulepreload][href^='scripts/'], link[as=fetch]")]
  .map((link) => new URL(link.href).pathname)"""
# A browser says of what it had already that no byte came.
FETCHED = """() => performance.getEntriesByType("resource").filter((each) => each.transferSize > 0)
  .map((each) => new URL(each.name).pathname).filter((path) => /^[/](scripts|assets)[/]/.test(path))"""


def ask(url: str, path: str, asked: dict | None = None, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(urlparse(url).netloc, timeout=60)
    body = None if asked is None else json.dumps(asked)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET" if body is None else "POST", path, body, named)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


@pytest.fixture(scope="module")
def version(page_url: str) -> str:
    return re.search(r'<script type="module" src="scripts/(\w+)/', ask(page_url, "/")[1].decode())[1]


def test_a_script_is_sent_packed_and_kept_for_good_under_its_version_only(page_url: str, version: str):
    path, content = "page/js/svg.js", (PACKAGE / "page/js/svg.js").read_bytes()
    for address, kept in ((f"{version}/{path}", "immutable"), (path, "no-cache"), (f"{'0' * 16}/{path}", "no-cache")):
        answer, body = ask(page_url, f"/scripts/{address}", Accept_Encoding="gzip")
        assert answer.status == 200 and answer.getheader("cache-control").endswith(kept)
        assert answer.getheader("content-encoding") == "gzip" and gzip.decompress(body) == content
        assert answer.getheader("content-type") == "text/javascript; charset=utf-8"
    answer, body = ask(page_url, f"/scripts/{version}/{path}")
    assert answer.getheader("content-encoding") is None and body == content


def test_the_run_that_the_page_opens_with_is_the_same_packed_and_not(page_url: str):
    """800 KB were written as JSON and packed anew for each visitor."""
    components = json.loads(ask(page_url, "/config")[1])["components"]
    [opening] = [each["id"] for each in components if "opening" in (each["props"].get("server_fns") or ())]
    asked = {"component_id": opening, "fn_name": "opening", "data": None, "session_hash": "a"}
    told = {"asked": asked, "Content_Type": "application/json"}
    packed, letters = ask(page_url, "/gradio_api/component_server", **told, Accept_Encoding="gzip")
    plain, text = ask(page_url, "/gradio_api/component_server", **told)
    assert packed.getheader("content-encoding") == "gzip" and plain.getheader("content-encoding") is None
    assert gzip.decompress(letters) == text and int(packed.getheader("content-length")) == len(letters)
    assert json.loads(text)["run"]["model"] == "minimind-base"
    again = ask(page_url, "/gradio_api/component_server", **told, Accept_Encoding="gzip")[1]
    assert again == letters, "with the time of the packing in it: packed once"


def test_a_module_brings_what_it_imports_and_what_that_imports():
    scripts = {
        "a/one.js": b'import { two,\n  also } from "./two.js";\nimport "../b/three.js";\n',
        "a/two.js": b'export * from "./one.js";\nconst text = "./never.js";\n',
        "b/three.js": b'/** @type {import("./types.js").T} */\nexport function load(url = new URL("./data.json")) {}\n',
    }
    assert needed(scripts, ["a/one.js"]) == ["a/one.js", "a/two.js", "b/three.js"]


def test_a_panel_behind_another_tab_is_not_in_sight():
    with gr.Blocks() as demo:
        panel("bar")
        with gr.Tabs():
            with gr.Tab("first"):
                panel("one/picture")
                with gr.Tabs():
                    with gr.Tab("part"):
                        panel("one/part")
                    with gr.Tab("other part"):
                        panel("one/hidden")
            with gr.Tab("second"):
                panel("two/picture")
    assert panels_in_sight(demo) == ["bar", "one/picture", "one/part"]


def test_the_page_names_all_scripts_that_it_begins_with_and_no_other(browser_page: BrowserPage):
    """Each was first heard of from the one that imports it, and all from a script that Gradio started last."""
    browser_page.wait_for_function("() => !document.querySelector('.panel-body:not([data-mounted])')")
    fetched, named = set(browser_page.evaluate(SCRIPTS)), set(browser_page.evaluate(NAMED))
    assert len(named) > 40 and fetched == named, fetched ^ named


def test_who_comes_again_fetches_no_script(browser_page: BrowserPage, window: BrowserContext, page_url: str):
    """Sixty were asked for at each visit whether they had changed."""
    again = window.new_page()
    again.goto(page_url)
    again.wait_for_selector(".area-tokens .token")
    assert again.evaluate(FETCHED) == [] and len(again.evaluate(SCRIPTS)) > 40
    again.close()
