"""What a person does on the tab "Kinds of cache", in a real browser."""

import re

from conftest import unreadable
from playwright.sync_api import Page, expect


def open_part(page: Page, part: str) -> None:
    page.get_by_role("tab", name="Kinds of cache").click()
    page.get_by_role("tab", name=part, exact=True).click()


def test_who_still_answers_right_is_there_when_the_tab_opens(browser_page: Page):
    page = browser_page
    open_part(page, "Same budget")
    rows, verdict = page.locator("#kinds-comparison .kinds-rows .kinds-row"), page.locator(".kinds-verdict")
    expect(rows).to_have_count(7)
    expect(verdict).to_contain_text("3 of 6 caches with the bytes of 56 tokens still answer “Clara”")
    assert [row.get_attribute("data-right") for row in rows.all()] == ["yes"] * 4 + ["no"] * 3
    expect(page.locator(".kinds-caption")).to_contain_text("Step 4 of 6")
    strip = rows.nth(4).locator("svg.kinds-strip")
    assert strip.locator(".kinds-held").count() == 4  # a window: one piece in each layer
    before = strip.locator(".kinds-held").first.get_attribute("x")
    page.get_by_label("Step of the answer").press("ArrowRight")
    expect(strip.locator(".kinds-held").first).to_have_attribute("x", str(int(before) + 1))
    strip.hover()
    expect(page.locator(".kinds-pointed")).to_have_text(re.compile(r"^Position \d+: “.+”$"))
    budget = page.locator("#kinds-budget")
    budget.press("End")
    expect(verdict).to_contain_text("6 of 6 caches with the bytes of 160 tokens")
    page.locator("#lesson-K16").click()
    expect(verdict).to_contain_text("3 of 6 caches with the bytes of 56 tokens")
    assert unreadable(page, "#kinds-parts") == []


def test_the_call_shows_its_shapes_step_by_step(browser_page: Page):
    page = browser_page
    page.get_by_label("Prompt", exact=True).fill("The little dog")
    open_part(page, "cache.update")
    cells = page.locator("#kinds-update-panel tbody tr").first.locator("td")
    ones = page.locator("#kinds-update-panel .kinds-one")
    expect(cells.nth(0)).to_have_text("(1, 2, 1, 32)")
    length = ones.count()
    expect(cells.nth(1)).to_have_text(f"(1, 2, {length}, 32)")
    page.get_by_label("Step of the answer").last.press("ArrowRight")
    expect(ones).to_have_count(length + 1)
    expect(cells.nth(1)).to_have_text(f"(1, 2, {length + 1}, 32)")
    page.get_by_label("Kind of cache").select_option(label="StaticLayerCache / StaticLayer")
    expect(cells.nth(2)).to_have_text(f"(1, 2, {length - 1 + 8}, 32)")  # all places, from the first step on
    expect(cells.last).to_have_text("the same")
    open_part(page, "In transformers")
    expect(page.locator("#kinds-loop code")).to_contain_text("DynamicCache(config=model.config)")
    assert unreadable(page, "#kinds-parts") == []


def test_blocks_are_found_or_not_and_the_tables_fill(browser_page: Page):
    page = browser_page
    open_part(page, "Paged")
    found = page.locator("#kinds-blocks .kinds-block[data-hit=yes]")
    expect(page.locator("#kinds-blocks .kinds-caption")).to_have_text("16 tokens in a block")
    expect(found).to_have_count(9)
    page.locator("#kinds-blocks input[type=range]").press("End")
    expect(page.locator("#kinds-blocks .kinds-caption")).to_have_text("256 tokens in a block")
    expect(found).to_have_count(0)
    open_part(page, "Where it lies")
    expect(page.locator("#kinds-parts tbody tr:visible")).to_have_count(5 + 2)
    assert unreadable(page, "#kinds-parts") == []
