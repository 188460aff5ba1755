"""What a person does on the tab Cache on / off, in a real browser."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
import torch
from conftest import drawn
from playwright.sync_api import Browser, Page, expect

import playground.tabs.cache_on_off.clinic as clinic
import playground.tabs.cache_on_off.race as race_module
import playground.tabs.cache_on_off.race_values as race_values
import playground.tabs.cache_on_off.sweep_part as sweep_part
from playground.engine.model import Transformer
from playground.engine.work import ROUNDING
from playground.page.lesson import read_lesson
from playground.tabs.cache_on_off.clinic import FAULTS, hidden_fault
from playground.tabs.cache_on_off.clinic_part import diagnosis, reading
from playground.tabs.cache_on_off.sweep import PROMPT_LENGTHS, race_at_length
from playground.words import say

DONE = "#race-panel .panel-body[data-phase=done]"


def open_part(page: Page, part: str) -> None:
    page.get_by_role("tab", name="Cache on / off").click()
    page.get_by_role("tab", name=part, exact=True).click()


def fill_new_tokens(page: Page, count: int) -> None:
    page.get_by_label("New tokens", exact=True).fill(str(count))


def play_slowly(page: Page) -> None:
    """So slowly that a busy machine can't come too late for a replay: a speed that the page itself does not offer."""
    page.get_by_label("Speed of the replay").evaluate(
        "select => { select.add(new Option('slow', '0.0005')); select.value = '0.0005';"
        " select.dispatchEvent(new Event('change')); }"
    )


def put_playhead(page: Page, thousandths: int) -> None:
    page.get_by_label("Point in time of the runs").evaluate(
        "(range, value) => { range.value = value; range.dispatchEvent(new Event('input', { bubbles: true })); }",
        thousandths,
    )


def fault_words(name: str, part: str) -> str:
    return say(f"cache_on_off.clinic.fault.{name}.{part}", chunk=clinic.CHUNK)


def number(text: str) -> float:
    """3.1 · 10⁻⁵ as a number."""
    digits, _, power = text.partition(" · 10")
    return float(f"{digits}e{power.translate(str.maketrans('⁻⁰¹²³⁴⁵⁶⁷⁸⁹', '-0123456789')) or 0}")


@pytest.fixture
def quick_sweep(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """Answers of two tokens, one run each; while the gate is closed a race waits before its first token."""
    seen = SimpleNamespace(measured=[], gate=threading.Event())
    seen.gate.set()

    def quick(loaded, length, _num_new):
        seen.measured.append((loaded.name, length))
        seen.gate.wait(30)
        yield from race_at_length(loaded, length, 2, repeats=1)

    monkeypatch.setattr(sweep_part, "race_at_length", quick)
    yield seen
    seen.gate.set()


def watched(work: Callable[..., Iterator]) -> tuple[Callable[..., Iterator], threading.Event]:
    """The same work, and an event that is set whenever none of it is under way."""
    ended = threading.Event()

    def told(*given, **more):
        ended.clear()
        try:
            return (yield from work(*given, **more))
        finally:
            ended.set()

    return told, ended


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
    expect(page.locator(".race-result .note")).to_contain_text("matches the formula")
    fed = page.locator(".race-table tbody tr").first
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
    play_slowly(page)
    fill_new_tokens(page, 24)
    page.get_by_role("button", name="Start both").click()
    page.wait_for_selector(DONE)
    expect(page.locator(".race-pace")).to_contain_text("slower than they ran")
    expect(page.locator(".race-result .verdict")).to_be_hidden()  # not before the end of the replay
    boxes = [page.locator(card).bounding_box() for card in (".race-area", ".work-area", ".race-curves")]
    assert boxes[0]["height"] == boxes[1]["height"]  # no hole beside the shorter one
    assert boxes[2]["width"] > boxes[0]["width"] + boxes[1]["width"]
    page.get_by_role("button", name="Pause").click()
    put_playhead(page, 0)
    expect(page.locator(".race-off .race-key").nth(1)).to_have_text("0")
    expect(page.locator(".race-token:not(.is-to-come)")).to_have_count(0)
    put_playhead(page, 1000)
    expect(page.locator(".race-result .verdict")).to_contain_text("✓")


def test_a_run_of_seconds_is_replayed_before_its_outcome(browser_page: Page, monkeypatch: pytest.MonkeyPatch):
    """Slow enough to be seen as it goes, it showed the outcome at once, and then replayed under it."""
    page, forward = browser_page, Transformer.forward
    monkeypatch.setattr(race_module, "ENOUGH_SECONDS", 0.0)
    monkeypatch.setattr(Transformer, "forward", lambda *given, **more: time.sleep(0.15) or forward(*given, **more))
    open_part(page, "Race")
    play_slowly(page)
    fill_new_tokens(page, 8)
    page.get_by_role("button", name="Start both").click()
    page.wait_for_selector(DONE)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".race-result .verdict")).to_be_hidden()


def test_a_replay_goes_on_out_of_sight(browser_page: Page):
    """Pictures of a hidden tab have no width: drawn there, their cells got negative ones."""
    page = browser_page
    open_part(page, "Race")
    fill_new_tokens(page, 8)
    page.locator("#race-start").click()
    page.wait_for_selector(DONE)
    page.get_by_role("tab", name="Playground").click()
    play_slowly(page)
    put_playhead(page, 0)
    page.locator("#race-panel button").evaluate("play => play.click()")
    page.wait_for_function("Number(document.querySelector('#race-panel input[type=range]').value) > 0")
    # Errors in the console fail the window's own check.


def test_a_run_can_be_stopped_and_the_next_one_starts(race_page: Page, monkeypatch: pytest.MonkeyPatch):
    """On a busy machine the answer had come to its end before the hand was at Stop: here it waits for the hand."""
    page, pressed, real_race = race_page, threading.Event(), race_values.race

    def held_race(*given, **more):
        for tick in real_race(*given, **more):
            yield tick
            if tick.repeat == 0 and tick.index == 1:
                assert pressed.wait(60)

    monkeypatch.setattr(race_values, "race", held_race)
    monkeypatch.setattr(race_values, "TICK_SECONDS", 0.0)
    fill_new_tokens(page, 4)
    page.locator("#race-start").click()
    tokens = page.locator("#race-panel .race-token")
    expect(tokens).to_have_count(3)  # one of each side, then a second one: it is held here
    expect(page.locator("#race-panel .panel-body")).to_have_attribute("data-phase", "running")
    with page.expect_response(re.compile("/run/")):  # the server knows of it
        page.locator("#race-stop").click()
    pressed.set()
    expect(page.locator("#race-panel .race-status")).to_have_text(say("cache_on_off.race.stopped"))
    expect(tokens).to_have_count(4)  # of 8: none after the step under way
    expect(page.locator(".race-result")).to_be_hidden()
    page.locator("#race-start").click()
    expect(page.locator(".race-result .verdict")).to_contain_text("✓ All 4 tokens are equal")
    expect(page.locator("#race-panel .race-status")).to_be_hidden()


def test_one_comparison_is_shown_by_both_tabs(race_page: Page):
    """Each tab told the same thing in other words, and only of its own runs."""
    page = race_page
    fill_new_tokens(page, 3)
    page.get_by_role("tab", name="Playground").click()
    page.locator("#compare").click()
    verdict = page.locator(".panel-compare .verdict")
    expect(verdict).to_contain_text("✓ All 3 tokens are equal")
    words = verdict.inner_text()
    page.get_by_role("tab", name="Cache on / off").click()
    expect(page.locator(".race-result .verdict")).to_have_text(words)
    expect(page.locator(".race-on .race-token")).to_have_count(3)
    expect(page.locator("#race-steps .plot svg").first).to_be_visible()
    fill_new_tokens(page, 2)
    page.locator("#race-start").click()
    expect(page.locator(".race-result .verdict")).to_contain_text("✓ All 2 tokens are equal")
    page.get_by_role("tab", name="Playground").click()
    expect(verdict).to_contain_text("✓ All 2 tokens are equal")


def test_a_prompt_that_cannot_be_used_is_explained(race_page: Page):
    page = race_page
    for prompt, words in (("  ", "The prompt is empty"), ("word " * 3000, "Shorten it")):
        page.get_by_label("Prompt", exact=True).fill(prompt)
        page.locator("#race-start").click()
        expect(page.locator("#race-panel .empty-note")).to_contain_text(words)


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
    assert fault_words(truth, "planted") not in page.locator("#clinic-panel").inner_text()
    wrong = next(name for name in FAULTS if name != truth)
    for name, words in ((wrong, "Not that."), (truth, "Right.")):
        page.get_by_label("My diagnosis").click()
        page.get_by_role("option", name=fault_words(name, "title")).click()
        expect(page.locator("#clinic-answer")).to_contain_text(words)


def test_three_number_formats_are_compared(browser_page: Page):
    page = browser_page
    open_part(page, "Clinic")
    page.locator("#clinic-formats").click()
    parts = page.locator("#clinic-bits li")
    expect(parts).to_have_count(3)
    expect(parts.last).to_contain_text("largest gap")
    gaps = {}
    for dtype, text in zip(("float32", "float16", "bfloat16"), parts.all_inner_texts(), strict=True):
        assert text.startswith(f"{dtype}: largest gap ")
        gaps[dtype] = number(re.search("largest gap (.*?);", text)[1])
    # 24, 11 and 8 significant bits
    assert gaps["float32"] < ROUNDING[torch.float32] < 100 * gaps["float32"] < gaps["float16"] < gaps["bfloat16"]
    expect(page.locator("#clinic-gaps .plot .scatterlayer .trace .js-line")).to_have_count(4)  # three gaps, the lead


@pytest.mark.parametrize(("part", "key"), [("First token", "first"), ("Short and long", "sweep")])
def test_a_measurement_tells_how_far_it_is_and_keeps_what_it_has_when_stopped(
    browser_page: Page, monkeypatch: pytest.MonkeyPatch, part: str, key: str
):
    """On a busy machine all was measured before the hand was at Stop: here the second length waits for the hand."""
    page, pressed, begun = browser_page, threading.Event(), []

    def held(loaded, length, num_new):
        begun.append(length)
        for tick in race_at_length(loaded, length, num_new):
            yield tick
            if len(begun) == 2:
                assert pressed.wait(60)

    measured, ended = watched(held)
    monkeypatch.setattr(sweep_part, "race_at_length", measured)
    open_part(page, part)
    page.locator(f"#{key}-start").click()
    status = page.locator(f"#{key}-status")
    expect(page.locator(f"#{key}-picture .plot svg").first).to_be_visible()
    with page.expect_response(re.compile("/run/")):  # the server knows of it
        page.locator(f"#{key}-stop").click()
    pressed.set()
    expect(status).to_contain_text("Stopped. What was measured stays")
    assert ended.wait(30)  # what was still under way has arrived
    drawn(page)
    expect(status).to_contain_text("Stopped. What was measured stays")
    expect(page.locator(f"#{key}-picture .plot svg").first).to_be_visible()


def test_a_sweep_is_of_the_model_it_began_with(browser_page: Page, quick_sweep):
    """Each link of the chain read the model anew: another one's rows were mixed in, or a race ended in an error."""
    page = browser_page
    open_part(page, "Short and long")
    names = page.get_by_label("Model", exact=True)
    first = names.input_value()
    quick_sweep.gate.clear()
    page.locator("#sweep-start").click()
    expect(page.locator("#sweep-status")).to_contain_text("warming up")
    names.click()
    page.get_by_role("option").filter(has_not_text=first).first.click()
    quick_sweep.gate.set()
    expect(page.locator("#sweep-status")).to_contain_text(f"{first}: one run of each side")
    assert quick_sweep.measured == [(first, length) for length in PROMPT_LENGTHS]


def test_a_finished_sweep_stays_while_another_visitor_measures(browser_page: Page, quick_sweep):
    """Pressing Measure emptied the picture of everybody."""
    page = browser_page
    open_part(page, "Short and long")
    status = page.locator("#sweep-status")
    quick_sweep.gate.clear()
    page.locator("#sweep-start").click()
    expect(status).to_contain_text("warming up")  # no longer the words of an earlier measurement
    quick_sweep.gate.set()
    expect(status).to_contain_text("one run of each side")
    assert len(quick_sweep.measured) == len(PROMPT_LENGTHS)
    quick_sweep.gate.clear()
    other = page.context.new_page()
    other.goto(page.url)
    open_part(other, "Short and long")
    other.locator("#sweep-start").click()
    expect(other.locator("#sweep-status")).to_contain_text("warming up")
    page.reload()
    open_part(page, "Short and long")
    expect(status).to_contain_text("one run of each side")
    expect(page.locator("#sweep-picture .plot svg").first).to_be_visible()
    other.locator("#sweep-stop").click()
    quick_sweep.gate.set()
    expect(other.locator("#sweep-status")).to_contain_text("Stopped.")
    other.close()


@pytest.mark.parametrize(
    ("start", "stop", "says", "words"),
    [
        ("#clinic-greedy", "#clinic-stop", "#clinic-status", "Stopped. The tests before stay."),
        ("#clinic-formats", "#clinic-formats-stop", "#clinic-bits", "Stopped."),
    ],
)
def test_the_clinic_can_be_stopped(
    browser_page: Page, monkeypatch: pytest.MonkeyPatch, start: str, stop: str, says: str, words: str
):
    page, made, pressed, real_runs = browser_page, [], threading.Event(), clinic.race_runs

    def held_runs(*given, **more):
        for tick in real_runs(*given, **more):
            made.append(tick)
            yield tick
            assert pressed.wait(60)

    monkeypatch.setattr(clinic, "race_runs", held_runs)
    open_part(page, "Clinic")
    page.locator(start).click()
    expect(page.locator(says)).to_contain_text("both sides are writing")
    with page.expect_response(re.compile("/run/")):  # the server knows of it
        page.locator(stop).click()
    pressed.set()
    expect(page.locator(f"{says} .race-status")).to_have_text(words)
    assert len(made) <= 2, "the step under way when Stop came was the last"
    expect(page.locator("#clinic-panel tbody tr")).to_have_count(0)
    expect(page.locator(f"{says} li")).to_have_count(0)


@pytest.mark.parametrize(
    ("part", "button", "says"),
    [
        ("Race", "#race-start", "#race-panel .empty-note"),
        ("Clinic", "#clinic-greedy", "#clinic-status"),
        ("Clinic", "#clinic-formats", "#clinic-bits"),
    ],
)
def test_logits_that_allow_no_choice_are_explained(
    browser_page: Page, monkeypatch: pytest.MonkeyPatch, part: str, button: str, says: str
):
    """A 16-bit model may overflow; the visitor saw no more than "Error"."""
    forward = Transformer.forward
    monkeypatch.setattr(Transformer, "forward", lambda *given, **more: forward(*given, **more) * float("nan"))
    open_part(browser_page, part)
    browser_page.locator(button).click()
    expect(browser_page.locator(says)).to_contain_text("no token can be chosen")


def test_a_fault_of_the_prompt_is_refused_for_a_single_token(browser_page: Page):
    page = browser_page
    page.get_by_label("Model", exact=True).click()
    page.get_by_role("option", name="minimind-base").click()
    page.get_by_label("Prompt", exact=True).fill("The")
    open_part(page, "Clinic")
    page.get_by_label("The cache still holds the last prompt").check()
    page.locator("#clinic-greedy").click()
    expect(page.locator("#clinic-status")).to_contain_text("at least two tokens")
    page.get_by_label("Hidden fault: find out which").check()
    page.locator("#clinic-greedy").click()  # the same words for every fault: they tell nothing
    expect(page.locator("#clinic-status")).to_contain_text("To hide a fault")


def test_two_visitors_take_turns(chromium: Browser, page_url: str, monkeypatch: pytest.MonkeyPatch):
    """Two races at once would time each other's noise."""
    inside, most, lock = 0, 0, threading.Lock()
    real_race = race_values.race

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

    monkeypatch.setattr(race_values, "race", counted)
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


def test_every_question_has_its_words_and_its_button(browser_page: Page):
    page, lessons = browser_page, read_lesson("cache_on_off")
    for part, keys in {
        "Race": ("K2", "K5", "K13"),
        "First token": ("K8",),
        "Short and long": ("K7",),
        "Clinic": ("K1",),
    }.items():
        open_part(page, part)
        for key in keys:
            expect(page.get_by_role("heading", name=lessons[key].title, exact=True)).to_be_visible()
            expect(page.locator(f"#lesson-{key}")).to_have_text(lessons[key].button)
            expect(page.locator(".card.lesson", has=page.locator(f"#lesson-{key}"))).to_contain_text(
                lessons[key].text.splitlines()[0].split("**")[0]
            )
    expect(page.locator("#clinic-bits")).to_contain_text(lessons["bits"].text.splitlines()[0])


def test_a_wrong_diagnosis_is_told_what_it_would_look_like():
    assert diagnosis("seed", "seed").startswith("**Right.**")
    assert fault_words("mask", "traces") in diagnosis("mask", "seed")


def test_each_test_is_read_as_a_careful_person_would():
    from test_race import result_of, side

    same, other = side([1, 1], token_ids=[5, 6]), side([1, 1], token_ids=[5, 7])
    rounded, later, at_once = [0.0, 1e-6], [0.0, 2.0], [2.0, 2.0]
    assert reading("greedy", result_of(same, same, rounded, [1.0, 1.0])) == ["innocent"]
    assert reading("sampled", result_of(same, same, rounded, [1.0, 1.0])) == ["equal_sampled"]
    assert reading("sampled", result_of(same, other, rounded, [1.0, 1.0])) == ["in_sampling"]
    assert reading("greedy", result_of(same, same, at_once, [9.0, 9.0])) == ["gap_in_prompt", "try_float32"]
    assert reading("greedy", result_of(same, same, later, [9.0, 9.0])) == ["gap_in_steps", "try_float32"]
    tie = result_of(same, other, later, [9.0, 1.0])
    assert reading("greedy", tie) == ["gap_in_steps", "try_float32", "near_tie"]
    assert reading("float32", tie) == ["gap_in_steps", "stays"]
