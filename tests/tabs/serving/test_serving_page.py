"""What a person does on the tab Serving, in a real browser."""

import json
import re

from conftest import choose_model, drawn, unreadable
from playwright.sync_api import Page, expect

from playground.words import say


def open_part(page: Page, part: str) -> None:
    page.get_by_role("tab", name=say("serving.tab"), exact=True).click()
    page.get_by_role("tab", name=say(f"serving.{part}.tab"), exact=True).click()


def assert_fits_two_screens(page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    drawn(page)
    assert page.evaluate("document.documentElement.scrollHeight") <= 2 * 768
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366
    assert unreadable(page, "#serving-parts") == []


def test_the_calculator_follows_boxes_sliders_lessons_and_a_pasted_file(browser_page: Page):
    page = browser_page
    open_part(page, "memory")
    panel = page.locator("#serving-calculator")
    users = panel.locator(".serving-first .key-large")
    expect(users).to_have_text("57")
    expect(panel.locator(".serving-user")).to_have_count(57)
    expect(panel.locator(".serving-measured")).to_contain_text(re.compile(r"hold 204,800 bytes .* gives 204,800"))
    assert_fits_two_screens(page)

    page.locator("#serving-tokens").fill("16384")
    expect(users).to_have_text("28")
    slider = panel.get_by_role("slider", name="Tokens each")
    slider.evaluate("range => { range.value -= 8; range.dispatchEvent(new Event('input', { bubbles: true })); }")
    expect(page.locator("#serving-tokens")).to_have_value("4096")
    expect(users).to_have_text("114")
    page.locator("#serving-machine").select_option("RTX 4090")
    expect(page.locator("#serving-memory")).to_have_value("24")
    page.locator("#serving-memory").fill("10")
    expect(users).to_have_text("0")
    expect(page.locator("#serving-machine")).to_have_value("own")

    page.locator("#lesson-K16_servers").click()
    expect(users).to_have_text("7")
    expect(page.locator("#serving-changes .serving-row", has_text="Window")).to_contain_text("29 users")

    page.locator("#serving-model").select_option("own")
    expect(panel.locator(".problem")).to_have_text(say("serving.config.empty"))
    box = page.locator("#serving-config")
    box.fill('{"num_hidden_layers": "<img src=x onerror=alert(1)>"}')
    expect(panel.locator(".problem")).to_contain_text("num_hidden_layers")
    box.fill(json.dumps({"num_hidden_layers": 10, "num_attention_heads": 4, "hidden_size": 64, "num_experts": 8}))
    expect(panel.locator(".problem")).to_have_text(say("serving.config.no_parameters"))
    page.locator("#serving-parameters").fill("1.5")
    expect(panel.locator(".problem")).to_be_empty()
    expect(panel.locator(".serving-legend")).to_contain_text("weights, 2.79 GiB")
    page.wait_for_function("location.hash.includes('serving-model=own')")


def test_both_ways_of_batching_are_drawn_and_equal_lengths_gain_nothing(browser_page: Page):
    page = browser_page
    open_part(page, "batching")
    panel = page.locator("#serving-schedules")
    number, pictures = panel.locator(".serving-first"), panel.locator(".schedule svg")
    expect(number.locator(".key-large")).to_have_text(re.compile(r"^(1\.[1-9]|[2-4]\.\d) ×$"))
    expect(pictures.nth(0).locator(".schedule-decode")).to_have_count(16)
    expect(pictures.nth(1)).to_have_attribute("aria-label", re.compile("steps"))
    expect(panel).to_contain_text("16 of 16 answers are the same in both")
    assert_fits_two_screens(page)
    waited = panel.locator(".schedule-idle:not([width='0'])")
    assert waited.count() > 0
    page.get_by_role("button", name=say("serving.lesson.equal.button")).click()
    expect(number).to_contain_text("1.0 ×")
    expect(number).to_contain_text("96 in both")
    expect(waited).to_have_count(0)
    page.locator("#batching-slots").select_option("16")
    expect(number).to_contain_text("24 in both")


def test_padding_is_told_or_not_and_follows_the_prompt(browser_page: Page):
    page = browser_page
    choose_model(page, "minimind-chat")
    page.get_by_label("Prompt", exact=True).fill("What is the capital of France?")
    open_part(page, "padding")
    boxes = page.locator(".padding-box")
    expect(page.locator(".padding-alone")).to_contain_text("The capital of France is Paris.")
    verdicts = ["wrong|lucky", "right", "right", "wrong|lucky", "wrong|lucky", "right"]
    for place, verdict in enumerate(verdicts):
        expect(boxes.nth(place)).to_have_attribute("data-verdict", re.compile(verdict))
    expect(page.locator("#serving-reserved .serving-row")).to_have_count(4)
    assert_fits_two_screens(page)
    page.locator("#lesson-K14").click()
    expect(page.locator("#padding-pads")).to_have_value("1")
    for place, verdict in enumerate(verdicts):
        expect(boxes.nth(place)).to_have_attribute("data-verdict", re.compile(verdict))


def test_a_shared_prompt_is_found_in_whole_blocks(browser_page: Page):
    page = browser_page
    open_part(page, "prefix")
    panel = page.locator("#serving-prefixes")
    share = panel.locator(".serving-first .key-large")
    measured = panel.locator(".prefix-measured:not(.is-stale)")
    expect(measured).to_contain_text("with blocks of 16")
    computed = panel.locator(".key-block").nth(1).locator(".key-large")
    assert f": {computed.text_content()} of " in measured.text_content(), "what was fed is what was counted"
    expect(panel.locator(".serving-row")).to_have_count(2)
    assert_fits_two_screens(page)
    size = panel.get_by_role("slider")
    size.evaluate("range => { range.value = 128; range.dispatchEvent(new Event('input', { bubbles: true })); }")
    expect(share).to_have_text("0 %")
    expect(measured).to_contain_text("with blocks of 128")
    page.locator("#prefix-block").fill("16")
    expect(share).not_to_have_text("0 %")
    page.get_by_role("button", name=say("serving.lesson.K15.button")).click()
    expect(share).to_have_text("0 %")
    expect(panel.locator(".prefix-found")).to_have_count(0)
    page.wait_for_function("location.hash.includes('prefix-order=time')")
