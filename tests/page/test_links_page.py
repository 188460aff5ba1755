"""The address of the page, presenting, the glossary and two answers side by side, in the browser."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import drawn, generate, slide
from playwright.sync_api import BrowserContext, expect
from playwright.sync_api import Page as BrowserPage

from playground.models.text import LoadedModel
from playground.page.lectures import read_lecture

STATE = """async () => {
  const { store } = await import(new URL("scripts/page/js/store.js", location.href.split("#")[0]).href);
  const { run, params, step, bar, layer, recipe } = store.get();
  const { temperature, top_p, top_k, seed, max_new_tokens } = params;
  return { answer: run?.logits ? run.pieces.join("") : null, ids: run?.tokenIds ?? null, step, bar, layer,
           sliders: { temperature, top_p, top_k, seed, max_new_tokens }, forced: recipe?.forced ?? null };
}"""


def state(page: BrowserPage) -> dict[str, Any]:
    return page.evaluate(STATE)


def address(page: BrowserPage) -> str:
    return page.evaluate("location.hash")


@contextmanager
def opened(window: BrowserContext, url: str) -> Iterator[BrowserPage]:
    page = window.new_page()
    page.goto(url)
    yield page
    page.close()


def arrived(page: BrowserPage, wanted: dict[str, Any]) -> None:
    """Waits until the page is where another was: the same answer, sliders, step."""
    page.wait_for_selector("#controls input[type=range]")
    page.wait_for_function(
        f"async (wanted) => JSON.stringify(await ({STATE})()) === JSON.stringify(wanted)", arg=wanted
    )


def open_tab(page: BrowserPage, name: str) -> None:
    page.locator(f"#tabs [role=tab][data-tab-id={name}]").click()
    expect(page.locator(f"[role=tab][data-tab-id={name}]")).to_have_attribute("aria-selected", "true")


def test_a_link_restores_everything_and_back_goes_back(
    browser_page: BrowserPage, window: BrowserContext, page_url: str
):
    """Reload lost prompt, sliders, tab and run, and the address never changed."""
    page = browser_page
    assert address(page) == ""
    generate(page, "The little dog & the cat # 50%")
    slide(page, "temperature", 1.4)
    slide(page, "top_p", 0.7)
    drawn(page)
    page.keyboard.press("Escape")
    page.locator(".token").nth(3).click()
    expect(page).to_have_url(re.compile("answer.temperature=.*step=3&tab=playground"))
    assert address(page).count("temperature=1.4") == 1 and len(address(page)) < 200
    first = state(page)
    assert first["step"] == 3 and first["sliders"]["temperature"] == 1.4

    open_tab(page, "cache")
    open_tab(page, "attention")
    expect(page).to_have_url(re.compile("&step=3&tab=cache/attention$"))  # the pictures have played, once
    before, length = address(page), page.evaluate("history.length")
    with opened(window, page_url + before) as other:
        arrived(other, state(page))
        expect(other.locator("[role=tab][data-tab-id=attention]")).to_have_attribute("aria-selected", "true")
        assert other.evaluate("location.hash") == before
    page.reload()
    arrived(page, first)
    assert address(page) == before

    page.go_back()
    expect(page.locator("[role=tab][data-tab-id=cache]")).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page.locator("[role=tab][data-tab-id=playground]")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("tab=playground$"))
    assert page.evaluate("history.length") == length


def test_the_address_does_not_follow_pictures_that_play(browser_page: BrowserPage):
    """A reload in mid-play went to the step that just passed by."""
    page = browser_page
    generate(page, "The little dog")
    page.evaluate("() => performance.now = ((now) => () => now() / 1000)(performance.now.bind(performance))")
    open_tab(page, "cache")
    expect(page.locator(".steps-range:visible")).to_have_value("0")  # and stays there, as slowly as it plays
    page.evaluate("() => dispatchEvent(new PageTransitionEvent('pagehide'))")
    assert "cacheStep" not in address(page) and "tab=cache/" in address(page)


def test_a_link_repeats_an_experiment_and_a_forced_token(
    browser_page: BrowserPage, window: BrowserContext, page_url: str
):
    page = browser_page
    generate(page)
    open_tab(page, "sampling")
    ids = state(page)["ids"]
    page.locator(".panel-distribution:visible .bar-row:not(.is-chosen)").first.click()
    page.wait_for_function(f"async (ids) => JSON.stringify((await ({STATE})()).ids) !== JSON.stringify(ids)", arg=ids)
    open_tab(page, "race")
    open_tab(page, "race-clinic")
    page.locator("#clinic-fault input[value=position]").check()
    page.locator("#clinic-greedy").click()
    expect(page.locator("#clinic-panel tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("forced=.*set.clinic-fault=position&do=clinic-greedy&tab=race/race-clinic$"))
    with opened(window, page.url) as other:
        arrived(other, state(page))
        expect(other.locator("#clinic-fault input[value=position]")).to_be_checked()
        expect(other.locator("#clinic-panel tbody tr")).to_have_count(1)


def test_a_hostile_address_sets_what_a_hand_could_set_and_nothing_else(
    window: BrowserContext, page_url: str, base: LoadedModel
):
    evil = "<img src=x onerror=window.hit=1>"
    names = "&".join(
        [f"prompt={evil}", "temperature=9", "seed=1e99", f"tab={evil}", f"figure={evil}", f"lecture={evil}:1",
         f"set.prompt={evil}", "do=stop", f"rule={evil}", "top_p=0.5", f"{evil}=1",
         "top_k=400000", "forced=0:900000"]  # there are models that have so many tokens
    )  # fmt: skip
    with opened(window, f"{page_url}#{names}") as page:
        expect(page.locator(".link-note")).to_contain_text(
            "temperature, seed, tab, figure, lecture, rule, <img src, forced"
        )
        expect(page.locator("#prompt textarea")).to_have_value(evil)
        now = state(page)
        assert now["sliders"]["top_p"] == 0.5 and now["sliders"]["temperature"] <= 2
        assert now["sliders"]["top_k"] == base.model.config.vocab_size
        assert page.evaluate("window.hit ?? 0") == 0 and page.locator("img[src=x]").count() == 0
        page.locator(".link-note").click()
        expect(page.locator(".link-note")).to_be_hidden()


def test_a_link_is_copied_and_an_answer_pinned_beside_the_next(browser_page: BrowserPage):
    page = browser_page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    generate(page)
    page.locator(".token").nth(4).click()
    pinned = page.locator(".panel-pinned:visible .pinned")
    page.get_by_role("button", name="Pin this answer").click()
    slide(page, "temperature", 0)
    drawn(page)
    sides = pinned.locator(".pinned-side")
    expect(sides.nth(1).locator(".pinned-number")).to_have_text(["100.0 %"])
    assert sides.nth(0).locator(".pinned-row").count() > 1
    expect(sides.nth(1).locator(".pinned-note").first).to_contain_text("T 0 ")
    first = sides.nth(0).locator(".pinned-text").inner_text()
    generate(page, "She was very")
    expect(sides.nth(0).locator(".pinned-text")).to_have_text(first)
    assert sides.nth(1).locator(".pinned-text").inner_text() == state(page)["answer"]

    page.locator("#copy-link").click()
    expect(page.locator("#copy-link")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.url and "prompt=She+was+very" in copied and "temperature=0" in copied
    page.get_by_role("button", name="Unpin").click()
    expect(pinned).to_be_hidden()


# ---- presenting

PRESENTED = """() => {
  const card = document.querySelector(".card.is-enlarged"), box = card.getBoundingClientRect();
  const strip = document.querySelector(".present-strip").getBoundingClientRect();
  const bar = document.querySelector("#controls").getBoundingClientRect();
  const zoom = Number(getComputedStyle(card).zoom);
  const seen = (element) => element.getClientRects().length && getComputedStyle(element).visibility === "visible";
  const letters = [...card.querySelectorAll("*")].filter((each) => seen(each) && !each.closest(".only-heard")
    && [...each.childNodes].some((child) => child.nodeType === 3 && child.data.trim()));
  const marks = [...card.querySelectorAll("svg, canvas, [class*=bar], .dot, .token")].filter(
    (each) => seen(each) && each.getBoundingClientRect().width > 10);
  const lowest = Math.max(...[...marks, ...letters].map((each) => each.getBoundingClientRect().bottom));
  return {
    free: [strip.bottom, bar.top, innerWidth], card: [box.top, box.bottom, box.width],
    hidden: card.scrollHeight - card.clientHeight, filled: (lowest - box.top) / box.height,
    smallest: Math.min(...letters.map((each) => parseFloat(getComputedStyle(each).fontSize) * zoom)),
    others: [...document.querySelectorAll(".card")].filter((each) => each !== card && seen(each)).length,
    marks: marks.length, empty: [...card.querySelectorAll(".empty-note")].filter(seen).map((each) => each.textContent),
  };
}"""


def presented(page: BrowserPage, figure: str) -> dict[str, Any]:
    expect(page.locator("body")).to_have_attribute("data-presented", figure)
    return page.evaluate(PRESENTED)


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_a_figure_is_presented_as_large_as_the_window_with_the_sliders_below(browser_page: BrowserPage, size):
    page = browser_page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    generate(page)
    page.locator("body").press("f")
    shown = presented(page, "distribution")
    top, bottom, width = shown["free"]
    assert shown["others"] == 0 and shown["marks"] > 0
    assert top <= shown["card"][0] and shown["card"][1] <= bottom + 1, "between the strip and the sliders"
    assert shown["card"][2] > 0.95 * width and shown["card"][1] - shown["card"][0] > 0.9 * (bottom - top)
    assert shown["filled"] > 0.8, "not a small picture in a large frame"
    step = state(page)["step"]
    page.keyboard.press("ArrowRight")
    drawn(page)
    assert state(page)["step"] == step + 1
    page.keyboard.press("t")
    expect(page.locator("#slider-temperature")).to_be_focused()
    expect(page).to_have_url(re.compile("figure=distribution"))
    page.keyboard.press("2")
    expect(page.locator("body")).not_to_have_attribute("data-presented", "distribution_")
    page.keyboard.press("Escape")
    expect(page.locator(".card.is-enlarged")).to_have_count(0)
    expect(page.locator("#generate")).to_be_visible()
    assert "is-presenting" not in page.locator("body").get_attribute("class")


def test_every_step_of_the_course_s_lecture_shows_its_figure(browser_page: BrowserPage):
    page = browser_page
    steps = read_lecture("decoding")["steps"]
    page.locator("#present").click()
    for number, step in enumerate(steps, 1):
        page.keyboard.press("PageDown")
        strip = page.locator(".present-strip")
        expect(strip.locator("h2")).to_have_text(step["title"])
        expect(strip.locator("p")).to_have_text(step["say"])
        expect(strip.locator(".present-count")).to_have_text(f"{number} of {len(steps)}")
        figure = re.search(r"figure=([\w.-]+)", step["at"])[1]
        expect(page.locator("body")).to_have_attribute("data-presented", figure)
        page.wait_for_function(
            "() => { const card = document.querySelector('.card.is-enlarged'); if (!card) return false;"
            f" const shown = ({PRESENTED})(); return shown.marks > 0 && !shown.empty.length && shown.others === 0; }}"
        )
    page.keyboard.press("PageUp")
    expect(page.locator(".present-strip h2")).to_have_text(steps[-2]["title"])
    expect(page).to_have_url(re.compile(f"lecture=decoding:{len(steps) - 1}"))


def test_a_mistake_in_a_lecture_is_told_where_the_sentence_would_stand(browser_page: BrowserPage):
    page = browser_page
    lecture = {"title": "t", "steps": [{"title": "a", "say": "b", "at": "temperature=7&figure=tokens", "line": 12}]}
    page.route("**/lectures/decoding.json", lambda route: route.fulfill(body=json.dumps(lecture)))
    page.locator("#present").click()
    page.keyboard.press("PageDown")
    expect(page.locator(".present-strip p")).to_have_text(
        "Line 12 of the lecture names something that this page can't set: temperature."
    )


# ---- the glossary


def test_terms_explain_themselves_to_pointer_keyboard_and_finger(browser_page: BrowserPage):
    page = browser_page
    generate(page)
    tip = page.get_by_role("tooltip")
    term = page.locator("#controls .term[data-term=top_k]")
    term.hover()
    expect(tip).to_contain_text("Keeps the k most likely tokens")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    page.locator("#controls .term[data-term=temperature]").focus()
    expect(tip).to_contain_text("Every logit is divided by it")
    page.locator("#slider-temperature").focus()
    expect(tip).to_be_hidden()
    for tab in ("playground", "sampling", "answers", "race", "cache"):
        open_tab(page, tab)
        if tab not in ("playground", "race"):  # these open with pictures and no text
            expect(page.locator("#tabs .term:visible").first).to_be_visible()
        wrong = page.evaluate("""() => [...document.querySelectorAll(".term")].filter((term) => {
          const text = document.getElementById(term.getAttribute("aria-describedby"))?.textContent;
          return !text || term.tabIndex !== 0;
        }).map((term) => term.outerHTML)""")
        assert wrong == []
        twice = page.evaluate("""() => [...document.querySelectorAll(".card")].filter((card) => {
          const terms = [...card.querySelectorAll(".term")].map((term) => term.dataset.term);
          return new Set(terms).size < terms.length;
        }).length""")
        assert twice == 0
    page.get_by_role("button", name="? Keys").click()
    expect(page.get_by_role("dialog").get_by_text("Lowers the logits of tokens")).to_be_visible()


def test_all_tabs_can_be_reached_on_a_phone(browser_page: BrowserPage):
    """One tab and "…" was all there was, and the menu opened below the screen."""
    page = browser_page
    page.set_viewport_size({"width": 390, "height": 844})
    for name in ("playground", "sampling", "answers", "race", "cache"):
        open_tab(page, name)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
