"""Faults that people with a keyboard, a phone, a screen reader, high contrast or a printer met on the page."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import conftest
import gradio as gr
import pytest
from conftest import drawn, more_settings, set_new_tokens, slide
from playwright.sync_api import Browser, BrowserContext, Locator, expect
from playwright.sync_api import Page as BrowserPage

from playground.page.controls import DEFAULTS
from playground.page.panel import panel

PHONE = {"width": 390, "height": 844}


def generate(page: BrowserPage, prompt: str = "Once upon a time", new_tokens: int = 24) -> None:
    set_new_tokens(page, new_tokens)
    page.get_by_label("Prompt", exact=True).fill(prompt)
    conftest.generate(page)


def opened(chromium: Browser, page_url: str, **options) -> BrowserPage:
    return loaded(chromium.new_context(viewport={"width": 1366, "height": 768}, **options), page_url)


def loaded(window: BrowserContext, page_url: str) -> BrowserPage:
    page = window.new_page()
    page.goto(page_url)
    page.wait_for_selector(".area-tokens .token")  # the answer that the page opens with
    return page


@pytest.fixture(scope="module")
def page(chromium: Browser, page_url: str) -> Iterator[BrowserPage]:
    """One page with one run, for all that leaves it as it was. Its browser speaks Japanese."""
    page = opened(chromium, page_url, locale="ja")
    generate(page)
    yield page
    page.context.close()


@pytest.fixture
def fresh(window: BrowserContext, page_url: str) -> Iterator[BrowserPage]:
    page = loaded(window, page_url)
    page.set_viewport_size({"width": 1366, "height": 768})
    yield page
    page.evaluate("localStorage.clear()")  # the window is also that of other tests
    page.close()


def colour(locator: Locator, of: str = "background-color") -> str:
    return locator.evaluate("(element, of) => getComputedStyle(element).getPropertyValue(of)", of)


# ---- what is said


def test_the_page_says_its_language_its_title_and_what_a_link_shows(page: BrowserPage):
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.evaluate("() => { document.documentElement.lang = 'ja'; }")  # as Gradio does when a language arrives
    expect(page.locator("html")).to_have_attribute("lang", "en")
    html = page.request.get(page.url).text()
    assert re.search("<title>How a language model writes</title>", html)
    titles = re.findall(r'(?:og|twitter):title" content="([^"]*)"', html)
    assert titles and set(titles) == {"How a language model writes"}
    assert (
        "Click to try out the app" not in html and "{url}" not in html and "gradio.app" not in html.split("</head>")[0]
    )


def test_tokens_are_not_translated(page: BrowserPage):
    assert page.locator(".token-strip:not([translate=no])").count() == 0


def test_a_screen_reader_hears_the_end_of_a_run_once_and_no_key_of_gradio(fresh: BrowserPage):
    fresh.evaluate(
        """() => { window.heard = []; const last = new Map();
        new MutationObserver(() => {
          for (const region of document.querySelectorAll('[aria-live], [role=status]')) {
            const words = region.textContent.trim();
            if (words && region.checkVisibility() && last.get(region) !== words) heard.push(words);
            last.set(region, words);
          } }).observe(document.body, { childList: true, subtree: true, characterData: true }); }"""
    )
    generate(fresh)
    # What it says of the bars may come after that.
    fresh.wait_for_function("heard.some((words) => words.includes('24 tokens in') && words.includes('The answer: '))")
    drawn(fresh)
    heard = fresh.evaluate("heard")
    assert sum("24 tokens" in words for words in heard) == 1
    assert not [words for words in heard if "common." in words or "Writing" in words]


def test_a_space_at_the_end_of_a_base_models_prompt_is_shown_and_said(fresh: BrowserPage):
    note, prompt = fresh.locator(".area-tokens .token-note"), fresh.locator(".area-tokens .token-prompt")
    for name, shown, said in (
        ("minimind-base", "The little cat␣", "The prompt ends with a space"),
        ("minimind-chat", "The little cat ", ""),
    ):
        fresh.locator("#model input").click()
        fresh.get_by_role("option", name=name).click()
        generate(fresh, "The little cat ")
        expect(prompt).to_have_text(re.compile(f"^{shown}$"))
        expect(note).to_have_text(re.compile(f"^{said}"))
    expect(note).not_to_contain_text("space")


# ---- the keyboard


def test_tab_closes_the_list_of_a_dropdown(fresh: BrowserPage):
    fresh.locator("#model input").focus()
    expect(fresh.locator("ul[role=listbox]").filter(visible=True)).to_have_count(1)
    fresh.keyboard.press("Tab")
    expect(fresh.locator("ul[role=listbox]").filter(visible=True)).to_have_count(0)


def test_everything_that_takes_the_focus_shows_it(page: BrowserPage):
    page.locator("body").click(position={"x": 2, "y": 2})
    seen = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        name, marked = page.evaluate(
            """() => { const one = document.activeElement, block = one.closest('.block') ?? one;
            const lines = [one, block].map((each) => getComputedStyle(each));
            return [one.outerHTML.slice(0, 90), lines.some((line) => line.outlineStyle !== 'none' &&
              parseFloat(line.outlineWidth) >= 2)]; }"""
        )
        seen.add(name)
        assert marked or name.startswith("<body"), name
    assert len(seen) > 15


def test_keys_go_by_their_place_and_can_be_turned_off(fresh: BrowserPage):
    press = """([code, key]) => document.body.dispatchEvent(
        new KeyboardEvent('keydown', { code, key, bubbles: true, cancelable: true }))"""
    generate(fresh)
    fresh.evaluate(press, ["KeyT", "е"])  # a Cyrillic layout
    expect(fresh.locator("#slider-temperature")).to_be_focused()
    fresh.get_by_role("button", name="? Keys").click()
    fresh.get_by_label("These keys are on").uncheck()
    fresh.keyboard.press("Escape")
    fresh.evaluate(press, ["KeyK", "k"])
    drawn(fresh)
    expect(fresh.locator("#slider-top_k")).not_to_be_focused()
    fresh.reload()
    fresh.wait_for_selector("#controls input[type=range]")
    fresh.get_by_role("button", name="? Keys").click()
    expect(fresh.get_by_label("These keys are on")).not_to_be_checked()


def test_arrow_keys_belong_to_what_has_the_focus(fresh: BrowserPage):
    generate(fresh)
    fresh.locator(".area-tokens .token").first.click()
    fresh.locator("body").press("ArrowRight")
    expect(fresh.locator(".area-distribution .card-head .note")).to_contain_text("token 2 of")
    fresh.get_by_role("tab", name="One answer").click()
    radios = fresh.get_by_role("radiogroup", name="Sampler order used by").get_by_role("radio")
    expect(radios.first).to_have_attribute("aria-checked", "true")
    radios.first.focus()
    fresh.keyboard.press("ArrowRight")
    expect(radios.nth(1)).to_be_focused()
    expect(radios.nth(1)).to_have_attribute("aria-checked", "true")
    fresh.locator("#slider-top_p").press("ArrowLeft")
    expect(fresh.locator(".area-candidates .card-head .note")).to_contain_text("token 2 of")


def test_a_card_is_enlarged_by_its_button_and_escape_puts_it_back(fresh: BrowserPage):
    card = fresh.locator(".area-distribution")
    rows = card.locator(".bar-row").count()
    card.get_by_role("button", name="Enlarge this picture").click()
    expect(card).to_have_class(re.compile("is-enlarged"))
    assert card.locator(".bar-row .bar-label").evaluate_all(IN_SIGHT) == rows
    for _ in range(12):
        fresh.keyboard.press("Tab")
        assert card.evaluate("card => card.contains(document.activeElement)")
    fresh.keyboard.press("Escape")
    expect(card).not_to_have_class(re.compile("is-enlarged"))
    expect(card.get_by_role("button", name="Enlarge this picture")).to_be_focused()


IN_SIGHT = """boxes => boxes.filter((box) => { const { left, right, top, bottom } = box.getBoundingClientRect();
    const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return at !== null && box.contains(at); }).length"""


# ---- sliders


def test_a_typed_value_is_taken_on_enter_or_on_leaving_the_box(fresh: BrowserPage):
    used = "() => document.querySelector('#slider-{}').getAttribute('aria-valuetext')"
    box, problem = fresh.get_by_label("Top-k value"), fresh.locator(".problem")
    before = fresh.evaluate(used.format("top_k"))
    box.fill("")
    box.press_sequentially("4000")
    expect(problem).to_contain_text(f"Still using {DEFAULTS['top_k']}")
    box.press("Enter")
    expect(box).to_have_value("4000")  # still to be mended by its owner
    more_settings(fresh)
    fresh.get_by_label("Seed", exact=True).focus()
    expect(box).to_have_value(str(DEFAULTS["top_k"]))
    expect(problem).to_contain_text(f"Still using {DEFAULTS['top_k']}")
    box.fill("400")
    drawn(fresh)
    assert fresh.evaluate(used.format("top_k")) == before
    box.press("Enter")
    fresh.wait_for_function(f"({used.format('top_k')})() === '400'")
    expect(problem).to_be_empty()
    tokens = fresh.get_by_label("New tokens", exact=True)
    tokens.fill("300")
    fresh.get_by_label("Prompt", exact=True).focus()
    expect(tokens).to_have_value("64")


def test_reset_brings_back_the_first_settings_and_off_is_another_button(fresh: BrowserPage):
    fresh.set_viewport_size({"width": 1920, "height": 1080})  # a smaller window has no room for "off"
    slide(fresh, "temperature", 0.3)
    slide(fresh, "top_k", 100)
    for name in ("Temperature", "Top-p", "Top-k"):
        fresh.get_by_role("button", name=f"Turn {name} off").click()
    boxes = [fresh.get_by_label(f"{name} value") for name in ("Temperature", "Top-p", "Top-k")]
    for box, off in zip(boxes, ("1", "1", "0"), strict=True):
        expect(box).to_have_value(off)
    more_settings(fresh)
    fresh.get_by_label("Seed", exact=True).fill("7")
    fresh.get_by_role("button", name="Reset").click()
    for box, key in zip(boxes, ("temperature", "top_p", "top_k"), strict=True):
        expect(box).to_have_value(f"{DEFAULTS[key]:g}")
    expect(fresh.get_by_label("Seed", exact=True)).to_have_value("1")
    place = float(fresh.locator("#slider-temperature").input_value())
    assert place == DEFAULTS["temperature"]


def test_on_a_phone_a_swipe_from_a_slider_scrolls_and_leaves_the_value(chromium: Browser, page_url: str):
    page = opened(chromium, page_url, has_touch=True, is_mobile=True)
    page.set_viewport_size(PHONE)
    generate(page)
    page.evaluate("scrollTo(0, 0)")
    box = page.locator("#slider-temperature").bounding_box()
    touch = page.context.new_cdp_session(page)

    def swipe(across: int, down: int) -> None:
        x, y = box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2
        for kind, part in (
            ("touchStart", 0),
            *(("touchMove", tenth / 10) for tenth in range(1, 11)),
            ("touchEnd", None),
        ):
            points = [] if part is None else [{"x": x + part * across, "y": y + part * down}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    slider, value = page.locator("#slider-temperature"), page.get_by_label("Temperature value")
    swipe(60, 0)
    expect(value).not_to_have_value("0.85")
    meant = value.input_value()
    swipe(0, -200)
    page.wait_for_function("scrollY > 100")
    expect(value).to_have_value(meant)
    expect(slider).to_have_value(meant)
    expect(slider).to_be_in_viewport()  # the sliders stay while the answer scrolls
    page.context.close()


def test_on_a_phone_answer_and_sliders_are_seen_together(chromium: Browser, page_url: str):
    page = opened(chromium, page_url, has_touch=True, is_mobile=True)
    page.set_viewport_size(PHONE)
    generate(page)
    page.locator(".area-tokens .token").first.scroll_into_view_if_needed()
    page.locator(".area-distribution h2").evaluate("title => title.scrollIntoView({ block: 'center' })")
    drawn(page)
    for name in ("temperature", "top_p", "top_k"):
        expect(page.locator(f"#slider-{name}")).to_be_in_viewport()
    expect(page.locator(".area-distribution h2")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.context.close()


# ---- seeing


def test_high_contrast_keeps_the_bars_and_the_marks(page: BrowserPage):
    page.emulate_media(forced_colors="active")
    try:
        ground = colour(page.locator(".area-distribution"))
        assert colour(page.locator(".area-distribution .bar-solid").first) not in (ground, "rgba(0, 0, 0, 0)")
        assert colour(page.locator(".area-tokens .token.is-chosen"), "outline-style") == "solid"
        assert colour(page.locator("#slider-temperature"), "forced-color-adjust") == "none"
        kinds = {colour(box, "background-image") for box in page.locator(".area-tokens .token").all()}
        assert len(kinds) > 2  # underlined by how many tokens could have stood there
    finally:
        page.emulate_media(forced_colors="none")


def test_paper_keeps_colours_and_whole_cards(page: BrowserPage):
    page.emulate_media(media="print")
    try:
        assert colour(page.locator(".area-distribution .bar-solid").first, "print-color-adjust") == "exact"
        assert colour(page.locator(".area-distribution"), "break-inside") == "avoid"
    finally:
        page.emulate_media(media="screen")


def test_a_checkbox_shows_its_tick_in_light_and_dark(page: BrowserPage):
    more_settings(page)
    box = page.get_by_label("Penalties count the prompt")
    for dark in (False, True):
        page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
        assert colour(box, "appearance") == "auto" and colour(box, "accent-color") != "auto"
    page.evaluate("document.body.classList.remove('dark')")
    more_settings(page)


def test_a_message_never_lies_on_what_is_pressed_next(fresh: BrowserPage):
    full = json.dumps({"detail": "Queue is full."})
    fresh.route("**/queue/join*", lambda route: route.fulfill(status=503, body=full, content_type="application/json"))
    fresh.get_by_role("button", name="Generate").click()
    expect(fresh.locator(".toast-body")).to_be_visible()
    for name in ("#generate", "#stop", "#slider-temperature", "#compare"):
        fresh.locator(name).click(trial=True, timeout=5000)


# ---- plots and files


def test_a_curve_has_a_name_a_table_and_a_file(fresh: BrowserPage):
    generate(fresh)
    fresh.get_by_role("tab", name="Inside the cache").click()
    fresh.get_by_role("tab", name="How big it is").click()
    curve = fresh.locator("#growth-curve")
    expect(curve.locator(".plot")).to_have_attribute("aria-label", re.compile("over .*: layer 1"))
    curve.get_by_text("Numbers", exact=True).click()
    expect(curve.locator("tbody tr")).to_have_count(24)
    cells = curve.locator("tbody tr").last.locator("td").all_inner_texts()
    expect(curve.locator(".plot .xtitle")).to_be_visible()  # drawn
    points = fresh.evaluate("document.querySelector('#growth-curve .plot')._fullData.map(({ y }) => y[y.length - 1])")
    assert [float(cell.replace(",", "")) for cell in cells] == pytest.approx(points, abs=5e-5)
    with fresh.expect_download() as saved:
        curve.get_by_role("button", name="Save as CSV").click()
    raw = Path(saved.value.path()).read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf") and len(raw.decode("utf-8-sig").splitlines()) == 25


def test_a_saved_table_begins_with_a_byte_order_mark_and_a_saved_run_does_not(fresh: BrowserPage, tmp_path):
    """Excel on Windows reads a CSV without it as another alphabet: every ␣ was garbled."""
    generate(fresh)
    fresh.get_by_role("tab", name="One answer").click()
    for name, mark in (("Table (CSV)", b"\xef\xbb\xbf"), ("Run (JSON)", b"{")):
        with fresh.expect_download() as saved:
            fresh.get_by_role("button", name=name).click()
        assert Path(saved.value.path()).read_bytes().startswith(mark)


def test_an_opened_run_brings_model_prompt_and_settings_and_says_when_it_was_not_timed(fresh: BrowserPage, tmp_path):
    generate(fresh, "The little dog")
    name = fresh.locator("#model input").input_value()
    fresh.get_by_role("tab", name="One answer").click()
    with fresh.expect_download() as saved:
        fresh.get_by_role("button", name="Run (JSON)").click()
    untimed = json.loads(Path(saved.value.path()).read_text()) | {"seconds": []}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(untimed))
    other = next(one for one in ("minimind-base", "minimind-chat") if one != name)
    fresh.locator("#model input").click()
    fresh.get_by_role("option", name=other).click()
    expect(fresh.locator("#model input")).to_have_value(other)
    fresh.get_by_label("Prompt", exact=True).fill("Something else")
    slide(fresh, "temperature", 0.3)
    set_new_tokens(fresh, 99)
    with fresh.expect_file_chooser() as chooser:
        fresh.get_by_role("button", name="Open a run").click()
    chooser.value.set_files(path)
    expect(fresh.locator("#exports [role=status]")).to_contain_text(re.compile(r"Opened \d+ steps"))
    expect(fresh.locator("#model input")).to_have_value(name)
    expect(fresh.get_by_label("Prompt", exact=True)).to_have_value("The little dog")
    expect(fresh.get_by_label("Temperature value")).to_have_value(f"{DEFAULTS['temperature']:g}")
    expect(fresh.get_by_label("New tokens", exact=True)).to_have_value("24")
    fresh.get_by_role("tab", name="Playground").click()
    expect(fresh.locator(".area-tokens .note")).to_contain_text(re.compile(r"\d+ tokens \(not timed\)"))


def test_an_error_inside_a_server_function_is_its_sentence():
    """It was HTTP 500, and the page said that the server did not answer."""

    def table(step: int) -> dict:
        if step < 0:
            raise gr.Error("Step can&#x27;t be below 0.", print_exception=False)
        return {"text": str(step)}

    asked = panel("any", server_functions=[table]).table
    assert asked(3) == {"text": "3"}
    assert asked(-1) == {"problem": "Step can't be below 0."}
    for wrong in (None, {}, "x", 1.5, float("inf")):
        assert asked(wrong) == {"problem": "This can't be read as a question of this page: reload the page."}
