"""What a person does on the tab Cache on / off, in a real browser."""

import re
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
import torch
from conftest import drawn, generate, set_new_tokens, slide, unreadable
from playwright.sync_api import Browser, Page, expect

import playground.tabs.cache_on_off.clinic as clinic
import playground.tabs.cache_on_off.race_values as race_values
import playground.tabs.cache_on_off.sweep_part as sweep_part
from playground.engine.model import Transformer
from playground.engine.work import ROUNDING
from playground.models.text import LoadedModel
from playground.page.controls import DEFAULTS
from playground.page.lesson import read_lesson
from playground.page.line import StoppedError
from playground.tabs.cache_on_off.clinic import FAULTS, hidden_fault
from playground.tabs.cache_on_off.clinic_part import diagnosis, examined, reading
from playground.tabs.cache_on_off.sweep import PROMPT_LENGTHS, race_at_length
from playground.words import say

DONE = "#race-panel .panel-body[data-phase=done]"
PARTS = (
    "Race",
    "Numbers and times",
    "The loop",
    "Work and length",
    "First token",
    "Prompt and answer length",
    "Clinic",
    "16 bits",
)


def open_part(page: Page, part: str) -> None:
    page.get_by_role("tab", name="Cache on / off").click()
    page.get_by_role("tab", name=part, exact=True).click()


def fill_new_tokens(page: Page, count: int) -> None:
    set_new_tokens(page, count)


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
def race_page(browser_page: Page, monkeypatch: pytest.MonkeyPatch) -> Page:
    """Open at the race, which has run by itself, however busy the machine is: the page's own comparison is of another
    prompt."""
    monkeypatch.setattr(race_values, "QUICK_SECONDS", 600.0)
    browser_page.get_by_label("Prompt", exact=True).fill("The little dog")
    open_part(browser_page, "Race")
    browser_page.wait_for_selector(DONE)
    return browser_page


def test_a_short_race_is_there_when_the_tab_opens_and_the_courses_numbers_with_one_press(race_page: Page):
    page = race_page
    verdict, picture = page.locator(".race .verdict"), page.locator(".race-picture")
    expect(verdict).to_contain_text(re.compile("✓ The same (1[0-6]|[2-9]) tokens"))
    expect(page.locator(".race-settings")).to_contain_text("at most 16 new tokens")
    boxes = page.locator(".race-head, .race-picture")
    assert boxes.nth(0).bounding_box()["y"] < boxes.nth(1).bounding_box()["y"] < 1080  # the verdict stands above
    new_tokens = page.get_by_label("New tokens", exact=True).input_value()
    prompt = page.get_by_label("Prompt", exact=True).input_value()
    page.get_by_role("button", name="Course example: 183-token prompt, 64 new tokens").click()
    expect(verdict).to_have_text("✓ The same 64 tokens, with the cache and without.")
    page.wait_for_selector(DONE)
    expect(page.locator(".race-finding").first).to_have_text("55.8 ×fewer tokens processed")
    expect(page.locator(".race .work-number")).to_have_text(["246", "13,728"])
    expect(picture).to_have_attribute("aria-label", re.compile("246 in all.*13,728"))
    expect(page.locator("#announcement")).to_contain_text("The same 64 tokens")
    expect(page.locator(".race-text:visible .race-token")).to_have_count(64)  # one text for both
    page.get_by_text("The numbers of every step").click()
    expect(page.locator(".race-numbers tr")).to_have_count(65)
    expect(page.locator(".race-numbers tr").nth(64)).to_have_text("641246")
    open_part(page, "Numbers and times")
    expect(page.locator(".race-table tbody tr").first.locator("td")).to_have_text(["246", "13,728", "55.8 ×"])
    expect(page.locator("#race-result .note")).to_contain_text("matches the formula")
    for plot in ("#race-steps", "#race-sum"):
        expect(page.locator(f"{plot} .plot svg").first).to_be_visible()
    # A button leaves nothing behind that the visitor did not set.
    assert page.get_by_label("New tokens", exact=True).input_value() == new_tokens
    assert page.get_by_label("Prompt", exact=True).input_value() == prompt


def test_a_result_says_with_which_settings_and_when_they_are_no_longer_those(race_page: Page):
    page = race_page
    settings, stale = page.locator(".race-settings"), page.locator(".race-stale")
    expect(settings).to_contain_text(page.get_by_label("Prompt", exact=True).input_value())
    expect(stale).to_be_hidden()
    slide(page, "temperature", 0.3)
    expect(stale).to_contain_text("settings above have changed")
    page.locator("#race-start").click()
    expect(settings).to_contain_text("temperature 0.3")
    expect(stale).to_be_hidden()
    fill_new_tokens(page, 3)
    drawn(page)
    expect(stale).to_be_hidden()  # this run has a length of its own
    page.locator("#race-bar").click()
    expect(page.locator(".race .verdict")).to_contain_text("✓ The same 3 tokens")
    fill_new_tokens(page, 4)
    expect(stale).to_be_visible()


def test_a_replay_is_played_only_when_asked_for_and_both_clocks_come_back(race_page: Page):
    page = race_page
    clocks, replay = page.locator(".race-clock"), page.get_by_role("button", name="Replay")
    ended = clocks.all_inner_texts()
    expect(page.locator(".race-token[data-state=both]")).not_to_have_count(0)
    replay.click()
    expect(page.locator(".race-token[data-state=none]")).not_to_have_count(0)
    expect(page.locator(".race .verdict")).to_be_visible()  # nobody waits for the outcome
    page.get_by_role("tab", name="Playground").click()  # pictures of a hidden tab have no width
    drawn(page)
    page.get_by_role("tab", name="Cache on / off").click()
    page.get_by_role("button", name="End the replay").click()
    expect(page.locator(".race-token[data-state=none]")).to_have_count(0)
    assert clocks.all_inner_texts() == ended
    # Errors in the console fail the window's own check.


def test_a_race_that_would_take_long_does_not_begin_unasked(browser_page: Page, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(race_values, "QUICK_SECONDS", 0.0)
    monkeypatch.setattr(race_values, "TICK_SECONDS", 0.0)
    browser_page.get_by_label("Prompt", exact=True).fill("The little dog")
    open_part(browser_page, "Race")
    expect(browser_page.locator("#race-panel [data-phase=empty] .empty-note")).to_contain_text("Press “Run both”")
    monkeypatch.undo()
    browser_page.locator("#race-start").click()
    expect(browser_page.locator(".race .verdict")).to_contain_text("✓")


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
    page.locator("#race-bar").click()
    tokens, verdict = page.locator(".race-text:visible .race-token"), page.locator(".race .verdict")
    expect(tokens).to_have_count(2)  # it is held here
    expect(page.locator("#race-panel .panel-body")).to_have_attribute("data-phase", "running")
    with page.expect_response(re.compile("/run/")):  # the server knows of it
        page.locator("#race-stop").click()
    pressed.set()
    expect(verdict).to_have_text(say("cache_on_off.race.stopped"))
    assert tokens.count() <= 3  # of 4: none after the step under way
    page.locator("#race-bar").click()
    expect(verdict).to_contain_text("✓ The same 4 tokens")


def test_one_comparison_is_shown_by_both_tabs(browser_page: Page):
    """Each tab told the same thing in other words, and only of its own runs."""
    page = browser_page
    fill_new_tokens(page, 3)
    generate(page)
    page.locator("#compare").click()
    verdict = page.locator(".panel-compare .verdict")
    expect(verdict).to_contain_text("✓ The same 3 tokens")
    page.get_by_role("tab", name="Cache on / off").click()
    expect(page.locator(".race .verdict")).to_contain_text("✓ The same 3 tokens")  # and nothing was run unasked
    expect(page.locator(".race-text:visible .race-token")).to_have_count(3)
    fill_new_tokens(page, 2)
    page.locator("#race-bar").click()
    expect(page.locator(".race .verdict")).to_contain_text("✓ The same 2 tokens")
    expect(page.locator("#race-steps .plot")).to_be_hidden()  # two points are no curve
    page.get_by_role("tab", name="Playground").click()
    expect(verdict).to_have_text("")  # the answer there has three


def test_a_prompt_that_cannot_be_used_is_explained(race_page: Page):
    page = race_page
    for prompt, words in (("  ", "The prompt is empty"), ("word " * 3000, "Shorten it")):
        page.get_by_label("Prompt", exact=True).fill(prompt)
        page.locator("#race-start").click()
        expect(page.locator("#race-panel .empty-note")).to_contain_text(words)


def test_the_loop_lights_its_lines_and_says_what_each_has_made(browser_page: Page):
    page = browser_page
    generate(page)
    open_part(page, "The loop")
    lit, values = page.locator(".loop-lines .is-lit"), page.locator(".loop-value")
    next_line = page.get_by_role("button", name="Next line")
    page.locator("#race-loop-panel .panel-body").evaluate("() => document.activeElement?.blur()")
    expect(page.locator(".loop-step")).to_contain_text("Step ")
    start = int(page.locator(".loop-step").inner_text().split()[1])
    expect(lit).to_contain_text("feed_unseen(")
    for piece in ("text[cache.position :]", "[:, -1]", "request.distributions", ".choose(", "text.append("):
        next_line.click()
        expect(lit).to_have_count(1)
        expect(lit).to_contain_text(piece)
    next_line.click()
    expect(page.locator(".loop-step")).to_contain_text(f"Step {start + 1} of")
    expect(values.first).to_contain_text("1 token that the cache has not seen")
    fed = page.locator(".loop-side .work-number").first.text_content()
    page.get_by_role("radio", name="Without").click()
    expect(values.first).to_contain_text(f"{fed} tokens that the cache has not seen")  # P + n: what was fed until now
    expect(values.nth(1)).to_contain_text("logits. The highest: ")


def test_the_curves_follow_the_length_and_the_prompt(browser_page: Page):
    page = browser_page
    open_part(page, "Work and length")
    captions, factors = page.locator(".growth-chart figcaption"), page.locator(".growth-table tr").nth(1).locator("td")
    expect(captions.nth(1)).to_contain_text("After 64 tokens: 67 with the cache, O(n); 2,272 without, O(n²).")
    expect(factors).to_have_text(["1.96 ×", "3.80 ×"])
    page.get_by_role("radio", name="183-token prompt").click()
    expect(captions.nth(1)).to_contain_text("246 with the cache, O(n); 13,728 without")
    expect(factors).to_have_text(["1.26 ×", "2.30 ×"])
    page.get_by_role("radio", name="Logarithmic").click()
    page.get_by_role("radio", name="Multiply-adds").click()
    expect(captions.nth(1)).to_contain_text("291 million with the cache; 15.2 billion without")
    expect(page.locator(".growth-below")).to_contain_text("An LSTM with the 4 layers")


def test_no_part_is_longer_than_two_screens_and_nothing_is_smaller_than_18_px(race_page: Page):
    page = race_page
    page.set_viewport_size({"width": 1366, "height": 768})
    page.get_by_role("tab", name="Playground").click()
    generate(page)
    for part in PARTS:
        open_part(page, part)
        if part == "Numbers and times":
            expect(page.locator("#race-sum .plot svg").first).to_be_visible()
        drawn(page)
        height = page.evaluate("document.documentElement.scrollHeight")
        assert height <= 2 * 768, f"{part}: {height} px"
        assert unreadable(page, "#race-parts") == [], part


def test_a_planted_fault_is_found_in_two_steps(browser_page: Page):
    page = browser_page
    open_part(page, "Clinic")
    page.get_by_label("A different seed on one side").check()
    page.locator("#clinic-greedy").click()
    rows = page.locator("#clinic-panel tbody tr")
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("all the same")
    expect(page.locator(".clinic .verdict")).to_contain_text("the cache is innocent")
    page.get_by_label("The cache still holds the last prompt").check()
    expect(rows).to_have_count(0)
    page.locator("#clinic-greedy").click()
    expect(page.locator(".clinic .verdict")).to_contain_text("from the first token on")
    page.locator("#clinic-float32").click()
    expect(page.locator(".clinic .verdict")).to_contain_text("It is still there in float32")


def test_a_hidden_fault_stays_hidden_until_it_is_named(browser_page: Page):
    page = browser_page
    open_part(page, "Clinic")
    page.get_by_label("Hide a fault and let me find it").check()
    expect(page.locator("#clinic-fault")).to_be_hidden()
    page.get_by_role("spinbutton", name="Case").fill("7")
    page.locator("#clinic-greedy").click()
    expect(page.locator("#clinic-panel tbody tr")).to_have_count(1)
    truth = hidden_fault(7)
    assert fault_words(truth, "planted") not in page.locator("#clinic-panel").inner_text()
    wrong = next(name for name in FAULTS if name != truth)
    for name, words in ((wrong, "Not that one."), (truth, "Right.")):
        page.get_by_label("My diagnosis").click()
        page.get_by_role("option", name=fault_words(name, "title")).click()
        expect(page.locator("#clinic-answer")).to_contain_text(words)


def test_three_number_formats_are_compared(browser_page: Page):
    page = browser_page
    open_part(page, "16 bits")
    page.locator("#clinic-formats").click()
    parts = page.locator("#clinic-bits li")
    expect(parts).to_have_count(3)
    expect(parts.last).to_contain_text("largest difference")
    gaps = {}
    for dtype, text in zip(("float32", "float16", "bfloat16"), parts.all_inner_texts(), strict=True):
        assert text.startswith(f"{dtype}: largest difference ")
        gaps[dtype] = number(re.search("largest difference (.*?);", text)[1])
    # 24, 11 and 8 significant bits
    assert gaps["float32"] < ROUNDING[torch.float32] < 100 * gaps["float32"] < gaps["float16"] < gaps["bfloat16"]
    expect(page.locator("#clinic-gaps .plot .scatterlayer .trace .js-line")).to_have_count(4)  # three gaps, the lead


@pytest.mark.parametrize("name", ["sweep", "clinic"])
def test_what_is_stopped_before_its_first_step_says_so(chat: LoadedModel, name: str):
    """It went on saying that it was warming up."""
    models = {chat.name: chat}
    measurement = sweep_part.Measurement("sweep", "K7", 2, lambda loaded: [8], lambda *known: None, {})
    work = {
        "sweep": lambda: measurement.measure(SimpleNamespace(models=models), chat.name),
        "clinic": lambda: examined(models, "greedy", chat.name, "Hello", DEFAULTS, "none", False, None),
    }[name]()
    next(work)
    said, _ = work.throw(StoppedError())
    assert say(said["text"]).startswith("Stopped.")
    assert list(work) == []


@pytest.mark.parametrize(("part", "key"), [("First token", "first"), ("Prompt and answer length", "sweep")])
def test_a_measurement_tells_how_far_it_is_and_keeps_what_it_has_when_stopped(
    shared_page: Page, monkeypatch: pytest.MonkeyPatch, part: str, key: str
):
    """On a busy machine all was measured before the hand was at Stop: here the second length waits for the hand."""
    page, pressed, second, begun = shared_page, threading.Event(), threading.Event(), []

    def held(loaded, length, num_new):
        begun.append(length)
        for tick in race_at_length(loaded, length, num_new):
            yield tick
            if len(begun) == 2:
                second.set()
                assert pressed.wait(60)

    measured, ended = watched(held)
    monkeypatch.setattr(sweep_part, "race_at_length", measured)
    open_part(page, part)
    page.locator(f"#{key}-start").click()
    status = page.locator(f"#{key}-status")
    assert second.wait(60)
    expect(page.locator(f"#{key}-picture .plot svg").first).to_be_visible()
    with page.expect_response(re.compile("/run/")):  # the server knows of it
        page.locator(f"#{key}-stop").click()
    pressed.set()
    expect(status).to_contain_text("Stopped. What was measured so far stays")
    assert ended.wait(30)  # what was still under way has arrived
    drawn(page)
    expect(status).to_contain_text("Stopped. What was measured so far stays")
    expect(page.locator(f"#{key}-picture .plot svg").first).to_be_visible()


def test_a_sweep_is_of_the_model_it_began_with(browser_page: Page, quick_sweep):
    """Each link of the chain read the model anew: another one's rows were mixed in, or a race ended in an error."""
    page = browser_page
    open_part(page, "Prompt and answer length")
    names = page.get_by_label("Model", exact=True)
    first = names.input_value()
    quick_sweep.gate.clear()
    page.locator("#sweep-start").click()
    expect(page.locator("#sweep-status")).to_contain_text("warming up")
    names.click()
    page.get_by_role("option").filter(has_not_text=first).first.click()
    # What is known of the other one has come: later it would take the place of what was measured.
    expect(page.locator("#sweep-status")).to_contain_text(re.compile("Five prompts|one run of each side"))
    quick_sweep.gate.set()
    expect(page.locator("#sweep-status")).to_contain_text(f"{first}: one run of each side")
    assert quick_sweep.measured == [(first, length) for length in PROMPT_LENGTHS]


def test_a_finished_sweep_stays_while_another_visitor_measures(browser_page: Page, quick_sweep):
    """Pressing Measure emptied the picture of everybody."""
    page = browser_page
    open_part(page, "Prompt and answer length")
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
    open_part(other, "Prompt and answer length")
    other.locator("#sweep-start").click()
    expect(other.locator("#sweep-status")).to_contain_text("warming up")
    page.reload()
    open_part(page, "Prompt and answer length")
    expect(status).to_contain_text("one run of each side")
    expect(page.locator("#sweep-picture .plot svg").first).to_be_visible()
    other.locator("#sweep-stop").click()
    quick_sweep.gate.set()
    expect(other.locator("#sweep-status")).to_contain_text("Stopped.")
    other.close()


@pytest.mark.parametrize(
    ("part", "start", "stop", "says", "words"),
    [
        ("Clinic", "#clinic-greedy", "#clinic-stop", "#clinic-status", "Stopped. Earlier tests stay."),
        ("16 bits", "#clinic-formats", "#clinic-formats-stop", "#clinic-bits", "Stopped."),
    ],
)
def test_the_clinic_can_be_stopped(
    shared_page: Page, monkeypatch: pytest.MonkeyPatch, part: str, start: str, stop: str, says: str, words: str
):
    page, made, pressed, real_runs = shared_page, [], threading.Event(), clinic.race_runs

    def held_runs(*given, **more):
        for tick in real_runs(*given, **more):
            made.append(tick)
            yield tick
            assert pressed.wait(60)

    monkeypatch.setattr(clinic, "race_runs", held_runs)
    open_part(page, part)
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
        ("16 bits", "#clinic-formats", "#clinic-bits"),
    ],
)
def test_logits_that_allow_no_choice_are_explained(
    shared_page: Page, monkeypatch: pytest.MonkeyPatch, part: str, button: str, says: str
):
    """A 16-bit model may overflow; the visitor saw no more than "Error"."""
    forward = Transformer.forward
    monkeypatch.setattr(Transformer, "forward", lambda *given, **more: forward(*given, **more) * float("nan"))
    open_part(shared_page, part)
    shared_page.locator(button).click()
    expect(shared_page.locator(says)).to_contain_text("no token can be chosen")


def test_a_fault_of_the_prompt_is_refused_for_a_single_token(browser_page: Page):
    page = browser_page
    page.get_by_label("Model", exact=True).click()
    page.get_by_role("option", name="minimind-base").click()
    page.get_by_label("Prompt", exact=True).fill("The")
    open_part(page, "Clinic")
    page.get_by_label("The cache still holds the last prompt").check()
    page.locator("#clinic-greedy").click()
    expect(page.locator("#clinic-status")).to_contain_text("at least two tokens")
    page.get_by_label("Hide a fault and let me find it").check()
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
    windows = [chromium.new_context() for _ in range(2)]
    pages = [window.new_page() for window in windows]
    for page in pages:
        page.goto(page_url)
        open_part(page, "Race")
        fill_new_tokens(page, 32)
    for page in pages:
        page.locator("#race-bar").click()
    for page in pages:
        expect(page.locator(".race-settings")).to_contain_text("at most 32 new tokens")
        page.wait_for_selector(DONE)
    for window in windows:
        window.close()
    assert most == 1


def test_every_question_has_its_words(browser_page: Page):
    page, lessons = browser_page, read_lesson("cache_on_off")
    for part, keys in {
        "The loop": ("K2", "K13"),
        "Work and length": ("K5",),
        "First token": ("K8",),
        "Prompt and answer length": ("K7",),
        "Clinic": ("K1",),
    }.items():
        open_part(page, part)
        for key in keys:
            card = page.locator(".lesson", has=page.get_by_role("heading", name=lessons[key].title, exact=True)).first
            expect(card).to_contain_text(lessons[key].text.splitlines()[0].split("**")[0])
    open_part(page, "16 bits")
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
