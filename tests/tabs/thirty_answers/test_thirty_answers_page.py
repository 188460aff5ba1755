"""What a person does on the tab "Thirty answers", in a real browser."""

import csv
import io
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import PATIENCE, drawn, generate, more_settings, sample_anew, slide, unreadable
from playwright.sync_api import Locator, Page, Request, expect

from playground.tabs.thirty_answers import values as answers_values
from playground.tabs.thirty_answers.answers import sampling


@pytest.fixture
def tab(browser_page: Page) -> Page:
    """The tab, opened, with an open question asked of the chat model."""
    browser_page.get_by_label("Model").click()
    browser_page.get_by_role("option", name="minimind-chat").click()
    browser_page.get_by_label("Prompt", exact=True).fill("What should I do today?")
    browser_page.get_by_role("tab", name="Thirty answers").click()
    expect(browser_page.locator(".answers-status")).to_contain_text("in one batch")
    return browser_page


def distinct(page: Page) -> int:
    return int(page.locator(".answers-number").inner_text())


def settled(page: Page, name: str, value: float) -> int:
    """The count after a slider has rested and the answers have come."""
    slide(page, name, value)
    return arrived(page)


def arrived(page: Page) -> int:
    """The count when the answers to what has just been changed are there."""
    drawn(page)  # from now on the words are no longer those of the answers before
    expect(page.locator(".answers-status")).to_contain_text("in one batch")
    return distinct(page)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Answers are sampled while it is set, as it is at first."""
    gate = threading.Event()
    gate.set()

    def held(*request):
        gate.wait(PATIENCE / 1000)
        return (yield from sampling(*request))

    monkeypatch.setattr(answers_values, "sampling", held)
    sample_anew(monkeypatch)
    yield gate
    gate.set()


LONG = 5 * PATIENCE  # for the curve and the 3,000 answers: seconds of work, on a machine that others keep busy too


def part(page: Page, name: str) -> None:
    page.locator("#answers-parts").get_by_role("tab", name=name).click()


def curve_is_drawn(page: Page) -> None:
    """With its band, for what the page says now."""
    drawn(page)
    expect(page.locator("#answers-curve .panel-body")).not_to_have_class(re.compile("is-stale"), timeout=LONG)
    expect(page.locator("#answers-curve [role=status]")).to_contain_text("Band: where nine seeds in ten", timeout=LONG)


def odds_are_drawn(page: Page) -> None:
    drawn(page)
    expect(page.locator("#answers-agreement .panel-body")).not_to_have_class(re.compile("is-stale"), timeout=LONG)
    expect(page.locator("#answers-agreement [role=status]")).to_contain_text("(3,000 samples) contain", timeout=LONG)


def downloaded(page: Page, button: Locator) -> str:
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path()).read_text("utf-8-sig")


def test_answers_follow_the_sliders_and_are_honest_at_the_ends(tab: Page):
    numbers = [int(dot) for dot in tab.locator(".answers-dots .dot").all_inner_texts()]
    assert len(numbers) == 30 and max(numbers) == distinct(tab) == tab.locator(".answers-table tbody tr").count()
    assert settled(tab, "temperature", 0) == 1
    expect(tab.locator(".answers-words")).to_contain_text("different answer out of 30")
    settled(tab, "top_p", 1)
    settled(tab, "top_k", 0)
    assert settled(tab, "temperature", 2) > 20
    assert settled(tab, "top_k", 1) == 1
    settled(tab, "top_k", 0)
    assert settled(tab, "top_p", 0) == 1


def test_another_prompt_is_stale_at_once_and_its_answers_come(tab: Page, gate: threading.Event):
    """The page called the answers to another prompt fresh until Generate was pressed."""
    gate.clear()
    tab.get_by_label("Prompt", exact=True).fill("What is the capital of France?")
    expect(tab.locator(".answers-status")).to_contain_text("Stale")
    expect(tab.locator(".answers-words")).to_contain_text("What should I do today?")
    gate.set()
    expect(tab.locator(".answers-words")).to_contain_text("What is the capital of France?")
    expect(tab.locator(".answers-status")).to_contain_text("in one batch")


def test_both_tabs_show_the_same_answers_and_ask_once(browser_page: Page):
    page = browser_page
    generate(page, "Once upon a time")
    dots = page.locator(".area-answers")
    expect(dots.locator(".dots-words")).to_contain_text("most often")
    most_often = dots.locator(".dots-words").text_content().split(": ", 1)[1]
    asked = []
    page.on("request", lambda request: asked.append(request) if is_for_answers(request) else None)
    page.get_by_role("tab", name="Thirty answers").click()
    expect(page.locator(".answers-status")).to_contain_text("in one batch")
    assert page.locator(".answers-text").first.text_content() == most_often
    assert settled(page, "temperature", 0) == 1
    page.get_by_role("tab", name="Playground").click()
    expect(dots.locator(".key-number")).to_have_text("1")
    expect(dots.locator(".is-stale")).to_have_count(0)
    assert len(asked) == 1


def is_for_answers(request: Request) -> bool:
    """And not for the curve, which this tab has too."""
    return "queue/join" in request.url and '"knob"' not in (request.post_data or "")


def test_a_drag_asks_once_and_the_last_value_wins(tab: Page):
    asked = []
    tab.on("request", lambda request: asked.append(request.url) if "queue/join" in request.url else None)
    tab.locator("#slider-temperature").evaluate(
        """range => {
            for (let step = 20; step >= 0; step -= 1) {
                range.value = step / 10;
                range.dispatchEvent(new Event('input', { bubbles: true }));
            }
        }"""
    )
    expect(tab.locator(".answers-number")).to_have_text("1")
    expect(tab.locator(".answers-status")).to_contain_text("in one batch")
    assert distinct(tab) == 1
    assert len(asked) <= 3, "one for the answers, and what other tabs ask for when the sliders have settled"


def test_the_switch_compares_texts_and_the_table_goes_to_csv(tab: Page):
    settled(tab, "temperature", 1)
    before = distinct(tab)
    tab.get_by_role("button", name="the text differs").click()
    assert 1 <= distinct(tab) <= before
    assert tab.locator(".answers-table tbody tr").count() == distinct(tab)
    tab.get_by_role("button", name="the tokens differ").click()
    rows = list(csv.DictReader(io.StringIO(downloaded(tab, tab.locator(".answers-csv")))))
    assert len(rows) == before and sum(int(row["count"]) for row in rows) == 30
    assert all(0 < float(row["probability"]) <= 1 for row in rows)
    shown = tab.locator(".answers-table tbody tr").first.locator(".answers-text").inner_text()
    assert rows[0]["answer"] == shown


def test_the_curve_draws_itself_with_a_band_and_a_second_prompt_and_exports(tab: Page):
    """It was behind a button, though it takes less than two seconds."""
    curve = tab.locator("#answers-curve")
    curve_is_drawn(tab)
    expect(curve.locator(".legendtext")).to_have_text(["What should I do today?", "What is the capital of France?"])
    rows = list(csv.DictReader(io.StringIO(downloaded(tab, curve.get_by_role("button", name="CSV", exact=True)))))
    assert len(rows) == 18 and {row["prompt"] for row in rows} == {
        "What should I do today?",
        "What is the capital of France?",
    }
    for row in rows:
        assert 1 <= float(row["low"]) <= float(row["expected"]) <= float(row["high"]) <= 30, row
    assert "<svg" in downloaded(tab, curve.get_by_role("button", name="SVG"))[:200]
    expect(curve.locator(".answers-conditions")).to_contain_text(
        "minimind-chat: “What should I do today?” · Top-p 0.9, seed 1"
    )

    tab.get_by_label("Compare with").fill("")
    tab.get_by_label("Compare with").press("Enter")
    tab.get_by_role("radio", name="top-k").click()
    expect(curve.locator(".xtitle")).to_have_text("top-k", timeout=LONG)
    expect(curve.locator(".answers-conditions")).to_contain_text("Top-p 0.9")
    expect(curve.locator(".legendtext")).to_have_count(1)
    curve_is_drawn(tab)
    asked = []
    tab.on("request", lambda request: asked.append(request) if '"knob"' in (request.post_data or "") else None)
    slide(tab, "top_k", 90)
    arrived(tab)
    curve_is_drawn(tab)
    assert not asked, "its own slider only moves the mark"


def test_a_curve_is_stale_at_once_and_stop_ends_its_sampling(tab: Page, gate: threading.Event):
    curve = tab.locator("#answers-curve")
    words = curve.locator("[role=status]")
    curve_is_drawn(tab)
    gate.clear()
    slide(tab, "temperature", 0.4)
    slide(tab, "top_p", 0.5)
    expect(curve.locator(".panel-body")).to_have_class(re.compile("is-stale"))
    expect(words).to_contain_text(re.compile("Sampling|Waiting"))
    tab.locator("#stop").click()
    gate.set()
    expect(words).to_have_text("Stopped.")
    expect(curve.locator(".panel-body")).to_have_class(re.compile("is-stale"))
    curve.get_by_role("button", name="Sample again").click()
    curve_is_drawn(tab)
    expect(curve.locator(".answers-conditions")).to_contain_text("Top-p 0.5")


def test_the_tree_is_walked_with_the_keyboard_and_zoomed(tab: Page):
    settled(tab, "temperature", 1)
    part(tab, "Where they diverge")
    root = tab.locator("#answers-tree .tree-node").first
    root.focus()
    expect(root).to_have_attribute("aria-label", re.compile(r"30 of 30"))
    lit, nodes = tab.locator("#answers-tree .tree-node.is-lit"), tab.locator("#answers-tree .tree-node").count()
    expect(lit).to_have_count(nodes)
    tab.keyboard.press("ArrowRight")
    focused = tab.locator("#answers-tree .tree-node:focus")
    expect(focused).to_have_attribute("aria-level", "2")
    expect(focused).to_have_attribute("aria-label", re.compile(r"at this split"))
    tab.keyboard.press("ArrowDown")
    expect(focused).to_have_attribute("aria-level", "2")
    expect(lit).not_to_have_count(nodes)
    assert 0 < lit.count() < nodes
    tab.keyboard.press("ArrowLeft")
    expect(focused).to_have_attribute("aria-level", "1")

    world = tab.locator("#answers-tree svg > g")
    scale = world.get_attribute("transform")
    tab.keyboard.press("+")
    assert world.get_attribute("transform") != scale
    tab.get_by_role("button", name="Fit", exact=True).click()
    ends = sum(int(text.split()[0]) for text in tab.locator("#answers-tree .tree-end").all_text_contents() if text)
    assert ends == 30
    assert tab.locator("#answers-tree .tree-line").count() == tab.locator("#answers-tree .tree-node").count()


def test_the_batch_picture_counts_what_both_ways_compute(tab: Page):
    part(tab, "In a batch")
    batch = tab.locator("#answers-batch")
    expect(batch.locator(".batch-number")).to_have_count(4)
    numbers = [int(text.replace(",", "")) for text in batch.locator(".batch-number").all_inner_texts()]
    minimind, padded, dropped, merged = numbers
    assert merged < dropped < padded < minimind
    cells = [picture.locator(".batch-cell").count() for picture in batch.locator("svg").all()]
    filled = batch.locator(".batch-cell.is-filled").count()
    assert cells[0] - cells[1] == filled == padded - dropped
    assert batch.locator("svg").first.locator(".batch-cell.is-end").count() == 30


def test_a_preset_turns_off_what_it_does_not_name_and_three_thousand_samples_agree(tab: Page):
    more_settings(tab)
    slide(tab, "presence_penalty", 1)
    tab.get_by_label("Order of the stages").select_option("vllm")
    part(tab, "Predicted vs. observed")
    tab.locator("#lesson-Q13").click()
    expect(tab.get_by_label("Temperature value")).to_have_value("1")
    expect(tab.get_by_label("Presence penalty value")).to_have_value("0")  # the model's own probabilities, then
    expect(tab.get_by_label("Order of the stages")).to_have_value("transformers")
    odds_are_drawn(tab)
    agreement = tab.locator("#answers-agreement")
    expect(agreement.locator(".answers-conditions")).to_have_text(
        "minimind-chat: “What should I do today?” · Temperature 1, seed 1, transformers order"
    )
    inside, rows = map(int, re.match(r"(\d+) of (\d+)", agreement.locator("[role=status]").inner_text()).groups())
    assert inside >= rows - 2
    csv_button = agreement.get_by_role("button", name="CSV", exact=True)
    table = list(csv.DictReader(io.StringIO(downloaded(tab, csv_button))))
    assert sum(float(row["observed_3000"]) for row in table) == pytest.approx(1)
    for width in (390, 1280, 1920):
        tab.set_viewport_size({"width": width, "height": 800})
        drawn(tab)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_one_greedy_answer_alone_and_in_a_batch(tab: Page):
    part(tab, "In a batch")
    expect(tab.locator("#among tbody tr")).to_have_count(4)
    expect(tab.locator("#among tbody tr").last).to_contain_text("30")
    expect(tab.locator("#among tbody tr").last).to_contain_text("yes")


def test_an_empty_prompt_is_explained_in_the_panel(tab: Page):
    curve_is_drawn(tab)
    tab.get_by_label("Prompt", exact=True).fill("  ")
    slide(tab, "temperature", 0.5)
    expect(tab.locator("#answers .answers-problem")).to_contain_text("The prompt is empty")
    expect(tab.locator("#answers-curve .answers-problem")).to_contain_text("The prompt is empty")
    tab.get_by_label("Prompt", exact=True).fill("What should I do today?")
    settled(tab, "temperature", 0.6)
    expect(tab.locator("#answers .answers-problem")).to_be_empty()


def test_a_prompt_full_of_markup_stays_text_in_every_picture(tab: Page):
    prompt = "<img src=x onerror=alert(1)><b>bold</b>"
    tab.on("dialog", lambda dialog: pytest.fail(f"the prompt ran: {dialog.message}"))
    tab.get_by_label("Prompt", exact=True).fill(prompt)
    settled(tab, "temperature", 0.9)
    expect(tab.locator(".answers-words")).to_contain_text(prompt)
    expect(tab.locator("#answers-curve .legendtext").first).to_have_text(prompt, timeout=LONG)
    part(tab, "Where they diverge")
    expect(tab.locator("#answers-tree .tree-node").first).to_be_visible()
    part(tab, "Predicted vs. observed")
    odds_are_drawn(tab)


def test_no_part_of_the_tab_is_longer_than_two_screens_nor_wider_than_one(tab: Page):
    curve_is_drawn(tab)
    for name in ("How many are different?", "Where they diverge", "In a batch"):
        part(tab, name)
        expect(tab.locator("#answers-parts .card:visible").first).to_be_visible()
        for width, height in ((1366, 768), (390, None)):
            tab.set_viewport_size({"width": width, "height": height or 844})
            drawn(tab)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
            assert unreadable(tab, "#answers-parts") == [], name
            if height:
                below = "document.documentElement.scrollHeight - document.querySelector('#bar').offsetHeight"
                assert tab.evaluate(below) <= 2 * height, name  # the bar itself stays in sight


def test_many_moves_leave_the_tab_as_large_as_it_was(tab: Page):
    count = "document.querySelectorAll('#answers *, #answers-tree *, #answers-batch *').length"
    settled(tab, "temperature", 0.3)
    before = tab.evaluate(count)
    for temperature in (1.4, 0.1, 2, 0.7):
        settled(tab, "temperature", temperature)
    settled(tab, "temperature", 0.3)
    assert tab.evaluate(count) == before


def test_the_mark_on_the_curve_stands_where_the_slider_stands(tab: Page):
    mark = "() => document.querySelector('#answers-curve .plot').layout.shapes[0].x0"
    curve_is_drawn(tab)
    for temperature in (0, 0.6, 2):
        slide(tab, "temperature", temperature)
        tab.wait_for_function(f"({mark})() === {temperature}")
    tab.get_by_role("radio", name="top-k").click()
    expect(tab.locator("#answers-curve .xtitle")).to_have_text("top-k", timeout=LONG)
    typed = tab.get_by_label("Top-k value")
    for k, place in (("1", 0), ("20", 5), ("0", 8)):  # marks: 1, 2, 3, 5, 10, 20, 50, 100, off
        typed.fill(k)
        typed.press("Enter")
        tab.wait_for_function(f"({mark})() === {place}")
    typed.fill("7")
    typed.press("Enter")
    tab.wait_for_function(f"({mark})() > 3 && ({mark})() < 4")
