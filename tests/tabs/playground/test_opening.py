"""What a visitor sees first: a finished run, and one drag that moves every picture."""

import pytest
from conftest import drawn, slide
from playwright.sync_api import Browser, Page, expect

from playground.__main__ import build, launch_options


@pytest.fixture(scope="module")
def page(chromium: Browser):
    """As `python app.py` serves it."""
    demo = build()
    _app, url, _share = demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, **launch_options())
    page = chromium.new_page(viewport={"width": 1366, "height": 768})
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "queue/join" in request.url else None)
    page.goto(url)
    page.asked = asked
    yield page
    page.close()
    demo.close()


def test_it_opens_on_a_finished_run_and_asks_the_model_nothing(page: Page):
    expect(page.locator(".area-tokens .token")).to_have_text(
        ["You", "␣should", "␣go", "␣for", "␣a", "␣walk", "␣in", "␣the", "␣afternoon", ".", "<|im_end|>"]
    )
    expect(page.locator(".area-distribution h2")).to_have_text("What comes after “You should”?")
    expect(page.locator(".area-answers .key-number")).to_have_text("17")
    expect(page.locator(".panel-compare .verdict")).to_contain_text("✓ The same 11 tokens")
    expect(page.locator(".area-cache .key-number")).to_have_text("48 KiB")
    assert not page.asked


@pytest.mark.parametrize(
    ("temperature", "first", "candidates", "distinct"),
    [
        (0, "100.0 %", "1", "1"),
        (0.3, "100.0 %", "1", "1"),
        (0.6, "80.5 %", "3", "7"),
        (1, "42.4 %", "28", "17"),
        (1.4, "18.1 %", "522", "29"),
        (2, "5.17 %", "1,388", "30"),
    ],
)
def test_a_drag_of_temperature_moves_all_of_them(page: Page, temperature, first, candidates, distinct):
    slide(page, "temperature", temperature)
    drawn(page)
    expect(page.locator(".area-distribution .bar-row .bar-number").first).to_have_text(first)
    expect(page.locator(".area-nucleus .key-number")).to_have_text(candidates)
    expect(page.locator(".area-answers .key-number")).to_have_text(distinct)
