"""What a person does on the tab Cache on / off, in a real browser."""

import re
import threading

import pytest
from playwright.sync_api import Browser, Page, expect

import playground.ui.race_tab as race_tab
from playground.experiments.clinic import FAULTS, hidden_fault
from playground.ui.clinic_part import diagnosis, reading
from playground.ui.lesson import read_lesson
from playground.ui.race_tab import stopped
from playground.ui.race_view import big_number, power_text, ratio, seconds_text

DONE = "#race-panel .panel-body[data-phase=done]"


def open_part(page: Page, part: str) -> None:
    page.get_by_role("tab", name="Cache on / off").click()
    page.get_by_role("tab", name=part, exact=True).click()


def fill_new_tokens(page: Page, count: int) -> None:
    page.get_by_label("New tokens", exact=True).fill(str(count))


@pytest.fixture
def race_page(browser_page: Page) -> Page:
    """Open at the race; replays are skipped, as a browser that asks for little motion skips them."""
    browser_page.emulate_media(reduced_motion="reduce")
    open_part(browser_page, "Race")
    return browser_page


def test_the_courses_numbers_with_one_press(race_page: Page):
    page = race_page
    page.get_by_role("button", name="183 + 64: the course's numbers").click()
    page.wait_for_selector(DONE)
    expect(page.locator(".race-result .verdict")).to_contain_text("✓ All 64 tokens are equal")
    expect(page.locator(".race-ratios")).to_contain_text("55.8 ×")
    fed = page.locator(".race-table tbody tr").first
    expect(fed).to_contain_text("as counted")
    expect(fed.locator("td")).to_have_text(["246", "13,728", "55.8 ×"])
    expect(page.locator(".work-number")).to_have_text(["246", "13,728"])
    for side in ("on", "off"):
        chips = page.locator(f".race-{side} .race-token")
        expect(chips).to_have_count(64)
        expect(page.locator(f".race-{side} .race-token[data-pair=equal]")).to_have_count(64)
    expect(page.locator("#race-steps .plot svg").first).to_be_visible()
    expect(page.locator("#race-sum .plot svg").first).to_be_visible()


def test_a_quick_run_is_shown_in_slow_motion_and_can_be_scrubbed(browser_page: Page):
    page = browser_page
    open_part(page, "Race")
    fill_new_tokens(page, 24)
    page.get_by_role("button", name="Start both").click()
    page.wait_for_selector(DONE)
    expect(page.locator(".race-pace")).to_contain_text("slower than they ran")
    expect(page.locator(".race-result .verdict")).to_be_hidden()  # not before the end of the replay
    page.get_by_role("button", name="Pause").click()
    playhead = page.get_by_label("Point in time of the runs")
    playhead.evaluate("range => { range.value = 0; range.dispatchEvent(new Event('input', { bubbles: true })); }")
    expect(page.locator(".race-off .race-key").nth(1)).to_have_text("0")
    expect(page.locator(".race-token:not(.is-to-come)")).to_have_count(0)
    playhead.evaluate("range => { range.value = 1000; range.dispatchEvent(new Event('input', { bubbles: true })); }")
    expect(page.locator(".race-result .verdict")).to_contain_text("✓")


def test_a_replay_goes_on_out_of_sight(browser_page: Page):
    """Pictures of a hidden tab have no width: drawn there, their cells got negative ones."""
    page = browser_page
    open_part(page, "Race")
    page.get_by_role("button", name="Start both").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible(timeout=30_000)
    page.get_by_role("tab", name="Playground").click()
    page.wait_for_timeout(600)  # the window's own check fails on errors in the console


def test_a_run_can_be_stopped_and_the_next_one_starts(race_page: Page):
    page = race_page
    page.get_by_role("button", name="183 + 64: the course's numbers").click()
    page.wait_for_selector(DONE)
    fill_new_tokens(page, 256)
    page.locator("#race-start").click()
    page.wait_for_selector("#race-panel .panel-body[data-phase=running]")
    page.locator("#race-stop").click()
    expect(page.locator(".race-status").first).to_have_text(re.compile("Stopped by hand"))
    fill_new_tokens(page, 4)
    page.locator("#race-start").click()
    expect(page.locator(".race-result .verdict")).to_contain_text("✓ All 4 tokens are equal")


def test_a_prompt_that_cannot_be_used_is_explained(race_page: Page):
    page = race_page
    for prompt, words in (("  ", "The prompt is empty"), ("word " * 3000, "Shorten it")):
        page.get_by_label("Prompt", exact=True).fill(prompt)
        page.locator("#race-start").click()
        expect(page.locator(".toast-body").last).to_contain_text(words)
        expect(page.locator("#race-panel .empty-note")).to_contain_text("Press Start")


def test_one_new_token_leaves_the_prompt_alone_in_the_cache(race_page: Page):
    page = race_page
    page.locator("#lesson-K13").click()
    page.wait_for_selector(DONE)
    rows = page.locator(".race-table tbody tr")
    fed = rows.nth(0).locator("td").first.text_content()
    expect(rows.filter(has_text="cache at the end")).to_contain_text(f"{fed} tokens")
    expect(page.locator(".race-why")).to_contain_text("nothing to save")


def test_a_planted_fault_is_found_in_two_steps(browser_page: Page):
    page = browser_page
    open_part(page, "Clinic")
    page.get_by_label("Another seed on one side").check()
    page.locator("#clinic-greedy").click()
    rows = page.locator("#clinic-panel tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("all equal")
    expect(page.locator(".clinic .verdict")).to_contain_text("the cache is innocent")
    page.get_by_label("The cache still holds the last prompt").check()
    expect(rows).to_have_count(0)
    page.locator("#clinic-greedy").click()
    expect(page.locator(".clinic .verdict")).to_contain_text("from the first token on")
    page.locator("#clinic-float32").click()
    expect(page.locator(".clinic .verdict")).to_contain_text("It stays in float32")


def test_a_hidden_fault_stays_hidden_until_it_is_named(browser_page: Page):
    page = browser_page
    open_part(page, "Clinic")
    page.get_by_label("Hidden fault: find out which").check()
    expect(page.locator("#clinic-fault")).to_be_hidden()
    page.get_by_label("Case").fill("7")
    page.locator("#clinic-greedy").click()
    expect(page.locator("#clinic-panel tbody tr")).to_have_count(1)
    truth = hidden_fault(7)
    assert FAULTS[truth].planted not in page.locator("#clinic-panel").inner_text()
    wrong = next(name for name in FAULTS if name != truth)
    for name, words in ((wrong, "Not that."), (truth, "Right.")):
        page.get_by_label("My diagnosis").click()
        page.get_by_role("option", name=FAULTS[name].title).click()
        expect(page.locator("#clinic-answer")).to_contain_text(words)


def test_three_number_formats_are_compared(browser_page: Page):
    page = browser_page
    open_part(page, "Clinic")
    page.locator("#clinic-formats").click()
    expect(page.locator("#clinic-bits")).to_contain_text(re.compile("float32: .*float16: .*bfloat16: ", re.DOTALL))
    expect(page.locator("#clinic-gaps .plot svg").first).to_be_visible()


@pytest.mark.parametrize(("part", "key"), [("First token", "first"), ("Short and long", "sweep")])
def test_a_measurement_tells_how_far_it_is_and_keeps_what_it_has_when_stopped(browser_page: Page, part: str, key: str):
    page = browser_page
    open_part(page, part)
    page.locator(f"#{key}-start").click()
    status = page.locator(f"#{key}-status")
    expect(page.locator(f"#{key}-picture .plot svg").first).to_be_visible(timeout=20_000)
    page.locator(f"#{key}-stop").click()
    expect(status).to_contain_text("Stopped. What was measured stays.")
    page.wait_for_timeout(1000)
    expect(status).to_contain_text("Stopped. What was measured stays.")
    page.reload()  # and it is there for who comes later
    open_part(page, part)
    expect(page.locator(f"#{key}-picture .plot svg").first).to_be_visible()


def test_two_visitors_take_turns(chromium: Browser, page_url: str, monkeypatch: pytest.MonkeyPatch):
    """Two races at once would time each other's noise."""
    inside, most, lock = 0, 0, threading.Lock()
    real_race = race_tab.race

    def counted(*given, **more):
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        try:
            yield from real_race(*given, **more)
        finally:
            with lock:
                inside -= 1

    monkeypatch.setattr(race_tab, "race", counted)
    windows = [chromium.new_context(reduced_motion="reduce") for _ in range(2)]
    pages = [window.new_page() for window in windows]
    for page in pages:
        page.goto(page_url)
        open_part(page, "Race")
        fill_new_tokens(page, 32)
    for page in pages:
        page.locator("#race-start").click()
    for page in pages:
        page.wait_for_selector(DONE)
    for window in windows:
        window.close()
    assert most == 1


def test_numbers_are_written_for_people():
    assert [seconds_text(value) for value in (None, 0.00123, 0.0456, 1.5)] == ["–", "1.23 ms", "46 ms", "1.50 s"]
    assert [big_number(value) for value in (999, 15_200_000_000, 291_000_000)] == ["999", "15.2 billion", "291 million"]
    assert [power_text(value) for value in (0.0, 2.04e-5, 1.5)] == ["0", "2.0 · 10⁻⁵", "1.5"]
    assert ratio(None, 1.0) == "–" and ratio(6.0, 2.0) == "3.0 ×"


def test_every_question_has_its_words_and_its_button():
    lessons = read_lesson("race")
    for key in ("K1", "K2", "K5", "K7", "K8", "K13"):
        assert lessons[key].title and "\n> " in lessons[key].text
    assert lessons["bits"].text


def test_stopping_a_run_that_is_over_changes_nothing():
    over = {"phase": "done", "sides": {}, "status": None}
    assert "phase" not in stopped(over)  # Gradio's mark for "leave it"
    assert stopped({"phase": "waiting"}) == {}
    assert stopped({"phase": "running", "sides": {}})["phase"] == "stopped"


def test_a_wrong_diagnosis_is_told_what_it_would_look_like():
    assert diagnosis("seed", "seed").startswith("**Right.**")
    assert FAULTS["mask"].traces in diagnosis("mask", "seed")


def test_each_test_is_read_as_a_careful_person_would():
    from test_race import result_of, side

    same, other = side([1, 1], token_ids=[5, 6]), side([1, 1], token_ids=[5, 7])
    assert "innocent" in reading("greedy", result_of(same, same, [0.0, 1e-6], [1.0, 1.0]))
    assert "in the drawing" in reading("sampled", result_of(same, other, [0.0, 1e-6], [1.0, 1.0]))
    assert "prompt's pass" in reading("greedy", result_of(same, same, [2.0, 2.0], [1.0, 1.0]))
    assert "not at the first" in reading("greedy", result_of(same, same, [0.0, 2.0], [9.0, 9.0]))
    assert "stays in float32" in reading("float32", result_of(same, same, [0.0, 2.0], [9.0, 9.0]))
