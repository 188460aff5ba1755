"""What a person does on the first tab, in a real browser."""

import re
import threading
import time
from collections.abc import Iterator

import pytest
from conftest import PATIENCE, drawn, generate, new_run, sample_anew, set_new_tokens, slide
from playwright.sync_api import Browser, BrowserContext, Page, expect

from playground.engine.batching import Batch
from playground.engine.generation import generate as generate_steps
from playground.engine.params import SamplingParams
from playground.models.loading import LoadedModel
from playground.page.controls import DEFAULTS
from playground.page.requests import sampling_params
from playground.tabs.thirty_answers import values as thirty_answers
from playground.tabs.thirty_answers.answers import sampling


def bars(page: Page) -> str:
    return page.locator(".area-distribution .bars").inner_text()


def test_a_person_generates_drags_a_slider_and_compares(browser_page: Page):
    page = browser_page
    generate(page, "Once upon a time")
    expect(page.locator(".area-tokens .token").first).to_be_visible()

    before, node = bars(page), page.locator(".area-distribution .bars").element_handle()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    slide(page, "temperature", 0.3)
    page.wait_for_function(
        "before => document.querySelector('.area-distribution .bars').innerText !== before", arg=before
    )
    assert not requests, "a slider must not ask the server before it rests"
    assert node.evaluate("(old) => old === document.querySelector('.area-distribution .bars')"), (
        "the picture was rebuilt"
    )

    expect(page.locator(".area-answers .key-number")).to_have_text(re.compile(r"^\d+$"))


def test_both_runs_agree_and_the_picture_counts_their_work(browser_page: Page, base: LoadedModel):
    page = browser_page
    generate(page, "The little dog")
    prompt, answer = len(base.prompt_ids("The little dog")), page.locator(".area-tokens .token").count()
    page.get_by_role("button", name="Run both").click()
    with_cache, without = prompt + answer - 1, sum(prompt + step for step in range(answer))
    expect(page.locator(".panel-compare .work-number.work-number-on")).to_have_text(f"{with_cache:,}")
    expect(page.locator(".panel-compare .work-number.work-number-off")).to_have_text(f"{without:,}")
    expect(page.locator(".panel-compare .verdict")).to_contain_text(f"✓ The same {answer} tokens")
    expect(page.locator(".panel-compare .verdict")).to_contain_text(f"{without / with_cache:.1f} × fewer")
    generate(page, "Once upon a time")  # nothing has been compared for this answer yet
    expect(page.locator(".panel-compare .verdict")).to_have_text("")


def test_a_new_answer_is_shown_at_its_most_open_step(shared_page: Page, base: LoadedModel):
    page = shared_page
    generate(page, "She was very")
    trace = base.generate("She was very", sampling_params(DEFAULTS), max_new_tokens=DEFAULTS["max_new_tokens"])
    distributions = trace.reread(trace.params).distributions
    sizes = [distributions[step].num_candidates for step in range(len(trace))]
    expect(page.locator(".area-nucleus .key-number")).to_have_text(f"{max(sizes):,}")
    number = sizes.index(max(sizes)) + 1
    expect(page.locator(".area-distribution .card-head .note")).to_have_text(f"token {number} of {len(sizes)}")


@pytest.mark.parametrize("size", [(1920, 1080), (1366, 768), (1280, 720)])
def test_the_first_tab_needs_no_scrolling(shared_page: Page, size: tuple[int, int]):
    page = shared_page
    generate(page, "Once upon a time")  # 64 tokens
    page.set_viewport_size({"width": size[0], "height": size[1]})
    drawn(page)
    assert page.evaluate("document.documentElement.scrollHeight") <= size[1]
    small = page.evaluate(
        """() => [...document.querySelectorAll('#tabs *, #bar *, #controls *')].filter((one) =>
            one.checkVisibility({ visibilityProperty: true }) && one.getClientRects().length
            && [...one.childNodes].some((text) => text.nodeType === 3 && text.textContent.trim())
            && parseFloat(getComputedStyle(one).fontSize) < 18 && !one.closest('.dot, .only-heard, .sr-only'))
            .map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert not small
    page.set_viewport_size({"width": 1920, "height": 1080})


def test_a_small_picture_opens_the_tab_that_has_the_large_one(shared_page: Page):
    page = shared_page
    for title, tab in (
        ("Tokens that could be sampled", "One answer"),
        ("Different answers", "Thirty answers"),
        ("Same answer", "Cache on / off"),
        ("KV cache when", "Inside the cache"),
    ):
        page.get_by_role("button", name=title).click()
        expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        page.get_by_role("tab", name="Playground").click()


def test_choosing_a_token_shows_its_step_everywhere(shared_page: Page):
    page = shared_page
    generate(page, "Once upon a time")
    page.locator(".area-tokens .token").nth(5).click()
    expect(page.locator(".area-distribution .card-head .note")).to_contain_text("token 6 of")
    page.locator(".area-nucleus svg").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".area-distribution .card-head .note")).to_contain_text("token 7 of")
    expect(page.locator(".area-tokens .token").nth(6)).to_have_attribute("aria-selected", "true")


def test_sliders_at_their_ends(browser_page: Page):
    page = browser_page
    generate(page, "Once upon a time")
    hints = ["0 = always the most likely token", "1 = off", "0 = off"]
    expect(page.locator(".controls-main .hint")).to_have_text(hints)
    candidates = page.locator(".area-nucleus .key-number")
    slide(page, "temperature", 0)
    expect(candidates).to_have_text("1")
    expect(page.locator(".area-answers .key-number")).to_have_text("1")
    slide(page, "temperature", 2)
    slide(page, "top_p", 0)
    expect(candidates).to_have_text("1")
    slide(page, "top_p", 1)
    slide(page, "top_k", 200)
    everything = int(page.get_by_label("Top-k value").input_value())
    expect(candidates).to_have_text(f"{everything:,}")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [("abc", "Temperature must be a number from 0 to 2"), ("", "Temperature must be"), ("3", "0 to 2")],
)
def test_letters_in_a_number_box_are_explained_and_change_nothing(shared_page: Page, typed: str, sentence: str):
    page = shared_page
    page.get_by_label("Temperature value").fill("0.7")
    page.get_by_label("Temperature value").press("Enter")
    page.get_by_label("Temperature value").fill(typed)
    expect(page.locator(".problem")).to_contain_text(sentence)
    expect(page.locator(".problem")).to_contain_text("Still using 0.7")
    page.get_by_label("Prompt", exact=True).focus()
    expect(page.get_by_label("Temperature value")).to_have_value("0.7")


@pytest.mark.parametrize(
    ("prompt", "sentence"), [("  ", "The prompt is empty"), ("word " * 3000, "reads at most 2,047. Shorten it")]
)
def test_a_prompt_that_cannot_be_used_gets_one_clear_sentence(shared_page: Page, prompt: str, sentence: str):
    page = shared_page
    page.get_by_label("Prompt", exact=True).fill(prompt)
    page.get_by_role("button", name="Generate").click()
    expect(page.locator("#run .run-words")).to_contain_text(sentence)
    expect(page.locator(".toast-body")).to_have_count(0)
    generate(page, "Once upon a time")  # nothing hangs afterwards


def test_two_clicks_at_once_make_one_answer(browser_page: Page, monkeypatch: pytest.MonkeyPatch):
    page, started, own = browser_page, [], Batch.generate

    def counted(batch: Batch, *request):
        started.append(request)
        return own(batch, *request)

    monkeypatch.setattr(Batch, "generate", counted)
    page.get_by_label("Prompt", exact=True).fill("Once upon a time")
    with new_run(page):
        page.get_by_role("button", name="Generate").dblclick()
    # The dots ask in the same line: a second run would have been before them.
    slide(page, "temperature", 0)
    expect(page.locator(".area-answers .key-number")).to_have_text("1")
    assert len(started) == 1
    expect(page.locator(".toast-body")).to_have_count(0)


def test_a_tab_closed_in_the_middle_of_a_run_leaves_the_page_working(
    chromium: Browser, page_url: str, browser_page: Page
):
    other = chromium.new_page()
    other.goto(page_url)
    set_new_tokens(other, 256)
    other.get_by_role("button", name="Generate").click()
    other.close()
    generate(browser_page, "Once upon a time")


def test_visitors_see_their_own_runs_only(chromium: Browser, page_url: str, browser_page: Page, base: LoadedModel):
    """At temperature 0 each window asks the server to go on from its own run: another's would bring another text."""
    generate(browser_page, "Once upon a time")
    other = chromium.new_page()
    other.goto(page_url)
    other.wait_for_selector(".area-tokens .token")
    generate(other, "The little dog")
    for page, prompt in ((browser_page, "Once upon a time"), (other, "The little dog")):
        page.get_by_role("tab", name="One answer").click()
        slide(page, "temperature", 0)
        expect(page.locator("#live-answer .answer-text")).to_have_text(greedy_text(base, prompt))
    other.close()


def greedy_text(loaded: LoadedModel, prompt: str) -> str:
    greedy, prompt_ids = SamplingParams(temperature=0), loaded.prompt_ids(prompt)
    steps = generate_steps(loaded.model, prompt_ids, greedy, None, DEFAULTS["max_new_tokens"], loaded.stop_ids)
    return loaded.tokenizer.decode([step.token_id for step in steps])


def test_a_prompt_is_text_and_never_runs(browser_page: Page):
    page = browser_page
    prompt = "<img src=x onerror=alert(1)>${alert(2)}{{value}}<script>alert(3)</script>"
    page.on("dialog", lambda dialog: pytest.fail(f"the prompt ran: {dialog.message}"))
    generate(page, prompt)
    expect(page.locator(".token-prompt")).to_have_text(prompt)
    expect(page.locator(".area-answers .key-number")).to_have_text(re.compile(r"^\d+$"))


def test_a_narrow_window_shows_everything_without_scrolling_sideways(browser_page: Page):
    page = browser_page
    generate(page, "Once upon a time")
    for width in (390, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_four_hundred_slider_moves_leave_the_page_as_large_as_it_was(browser_page: Page):
    page = browser_page
    generate(page, "Once upon a time")
    expect(page.locator(".area-answers .dots-words")).to_contain_text("most often")
    count = "document.querySelectorAll('.board *').length"
    slide(page, "top_k", 30)
    slide(page, "top_p", 1)  # where the drag ends: the ruler has one piece for each token kept
    wait_for_new_answers(page)
    before = page.evaluate(count)
    page.evaluate(
        """async () => {
            const range = document.querySelector('#slider-top_p');
            for (let move = 0; move < 400; move += 1) {
                range.value = (move % 100) / 100;
                range.dispatchEvent(new Event('input', { bubbles: true }));
                if (move % 10 === 0) await new Promise(requestAnimationFrame);
            }
            range.value = 1;
            range.dispatchEvent(new Event('input', { bubbles: true }));
        }"""
    )
    wait_for_new_answers(page)
    assert page.evaluate(count) == before


def wait_for_new_answers(page: Page) -> None:
    """After a slider has moved: the thirty answers are stale until those of the new settings are there."""
    drawn(page)  # from now on the old ones are called stale
    expect(page.locator(".area-answers .is-stale")).to_have_count(0)


def test_stop_ends_a_run_that_is_under_way_and_keeps_what_was_written(
    browser_page: Page, monkeypatch: pytest.MonkeyPatch
):
    page = browser_page
    slow_down(monkeypatch, seconds=0.1)
    page.get_by_role("button", name="Generate").click()
    expect(page.locator(".area-tokens .note")).to_contain_text("Writing")
    page.locator("#stop").click()
    expect(page.locator(".area-tokens .note")).to_contain_text("stopped by hand")
    expect(page.locator(".area-distribution .bar-row").first).to_be_visible()


class HeldAnswers:
    """Thirty answers that keep the model until `open` is set."""

    def __init__(self) -> None:
        self.began, self.open = threading.Event(), threading.Event()

    def sampling(self, *question):
        self.began.set()
        while not self.open.wait(0.01):
            yield 0
        return (yield from sampling(*question))


@pytest.fixture
def held_answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldAnswers]:
    held = HeldAnswers()
    sample_anew(monkeypatch)
    monkeypatch.setattr(thirty_answers, "sampling", held.sampling)
    yield held
    held.open.set()


@pytest.fixture
def other_page(window: BrowserContext, page_url: str) -> Iterator[Page]:
    """Of somebody else."""
    page = window.new_page()
    page.goto(page_url)
    page.wait_for_selector(".area-tokens .token")
    yield page
    page.close()


def test_stop_also_ends_a_run_that_waits_in_line(
    held_answers: HeldAnswers, other_page: Page, browser_page: Page, monkeypatch: pytest.MonkeyPatch
):
    slide(other_page, "temperature", 0.3)  # asks for thirty answers
    assert held_answers.began.wait(PATIENCE / 1000)
    started = slow_down(monkeypatch, seconds=0)
    browser_page.locator("#generate").click()
    expect(browser_page.locator("#run .run-words")).to_have_text("Waiting for the model: 1 in front of you.")
    browser_page.locator("#stop").click()
    expect(browser_page.locator("#generate")).not_to_have_attribute("aria-busy", "true")
    held_answers.open.set()
    generate(browser_page, "Once upon a time")
    assert len(started) == 1, "the run that waited stood in the same line, before this one, and never began"


def test_who_waits_for_the_model_is_told_so_and_how_many_are_in_front(
    held_answers: HeldAnswers, other_page: Page, browser_page: Page, monkeypatch: pytest.MonkeyPatch
):
    """With five curves before it, Generate said nothing for 47 seconds."""
    slide(other_page, "temperature", 0.3)  # asks for thirty answers
    assert held_answers.began.wait(PATIENCE / 1000)
    slow_down(monkeypatch, seconds=0.05)
    browser_page.locator("#generate").click()
    for place in (".area-tokens .note", "#run .run-words"):
        expect(browser_page.locator(place)).to_have_text("Waiting for the model: 1 in front of you.")
    expect(browser_page.locator("#generate")).to_have_attribute("aria-busy", "true")
    other_page.close()  # its answers end with it
    expect(browser_page.locator(".area-tokens .note")).to_contain_text("Writing")
    browser_page.locator("#stop").click()
    expect(browser_page.locator(".area-tokens .note")).to_contain_text("stopped by hand")
    expect(browser_page.locator("#generate")).not_to_have_attribute("aria-busy", "true")


def slow_down(monkeypatch: pytest.MonkeyPatch, seconds: float) -> list[list[int]]:
    """Every step of Generate takes this long, and no answer ends by itself. The prompts of the runs that began."""
    started, own = [], Batch.generate

    def slow_steps(batch: Batch, prompt_ids, params, cache, most, _stop_ids):
        started.append(prompt_ids)
        for step in own(batch, prompt_ids, params, cache, most):
            time.sleep(seconds)
            yield step

    monkeypatch.setattr(Batch, "generate", slow_steps)
    return started


def test_dots_are_of_the_run_on_the_screen_and_follow_the_sliders(browser_page: Page):
    page = browser_page
    generate(page, "Once upon a time")
    expect(page.locator(".area-answers .dots-words")).to_contain_text("most often")
    page.get_by_label("Prompt", exact=True).fill("Something else that was never run")
    slide(page, "temperature", 0)
    expect(page.locator(".area-answers .key-number")).to_have_text("1")
    words = page.locator(".area-answers .dots-words").text_content()
    assert words.startswith("most often, 30 ×: ")
    greedy = words.removeprefix("most often, 30 ×: ")
    generate(page, "Once upon a time")
    written = "".join(page.locator(".area-tokens .token").all_text_contents()).replace("␣", " ")
    assert written.startswith(greedy)


def test_another_model_brings_its_own_examples_and_leaves_a_persons_prompt_alone(browser_page: Page):
    page = browser_page
    box = page.get_by_label("Prompt", exact=True)
    before = box.input_value()
    choose_model(page, "minimind-chat")
    expect(box).not_to_have_value(before)
    box.fill("My own words")
    choose_model(page, "minimind-base")
    examples = page.locator(".example")
    expect(examples.first).to_have_text(before)
    expect(box).to_have_value("My own words")
    examples.nth(1).click()  # and it is generated
    chosen = examples.nth(1).text_content()
    expect(box).to_have_value(chosen)
    expect(page.locator(".token-prompt:visible")).to_have_text(chosen)


def choose_model(page: Page, name: str) -> None:
    page.get_by_label("Model", exact=True).click()
    page.get_by_role("option", name=name).click()


def test_keys_serve_a_lecturer_and_leave_typing_alone(browser_page: Page):
    page = browser_page
    box = page.get_by_label("Prompt", exact=True)
    box.fill("")
    box.press_sequentially("gcd?1")
    expect(box).to_have_value("gcd?1")
    box.fill("Once upon a time")
    page.locator("h2").first.click()
    with new_run(page):
        page.keyboard.press("g")
    page.locator(".area-tokens .token").first.click()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".area-distribution .card-head .note")).to_contain_text("token 2 of")
    page.keyboard.press("2")
    expect(page.locator(".area-distribution.is-enlarged")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".is-enlarged")).to_have_count(0)
    page.keyboard.press("t")
    page.keyboard.press("Home")
    expect(page.get_by_label("Temperature value")).to_have_value("0")
    page.locator("h2").first.click()
    page.keyboard.press("?")
    expect(page.locator("dialog.help")).to_be_visible()
