"""What a person does on the tab "Two models", in a real browser."""

import re

from conftest import new_run, slide, unreadable
from playwright.sync_api import Page, expect


def test_two_answers_stand_above_each_other_and_the_sliders_read_both_again(browser_page: Page):
    page = browser_page
    page.get_by_role("tab", name="Two models").click()
    verdict, note = page.locator(".two-verdict"), page.locator("#two-answers .note").last
    expect(verdict).to_contain_text("KL divergence")  # it asks by itself
    expect(page.locator(".two-legend")).to_have_text("Above: minimind-baseBelow: minimind-chat")
    expect(note).to_contain_text("Prompt: “Once upon a time”")

    page.get_by_role("button", name="A story: 32 | 8 bits").click()
    expect(verdict).to_contain_text("The first 14 tokens are the same.")
    expect(page.locator(".two-legend")).to_contain_text("Below: minimind-base, 8 bits")
    columns, now = page.locator(".two-column"), page.locator(".two-token.is-now")
    expect(columns).to_have_count(64)
    expect(note).to_contain_text("Aligned by text: 64 tokens against 64.")
    assert columns.nth(14).evaluate("(column) => column.matches('.is-fork')")  # the first look goes there
    expect(page.locator(".two-caption")).to_contain_text("Step 14 of 63")
    assert (
        columns.nth(13)
        .locator(".two-line")
        .evaluate_all("(lines) => lines[0].textContent === lines[1].textContent && lines[0].textContent.length > 1")
    )
    heads, bars = page.locator(".two-heads p"), page.locator(".two-row-of-bars")
    expect(heads.first).to_contain_text(re.compile(r"\b(\d\d) tokens can be sampled"))
    expect(bars).to_have_count(8)
    expect(bars.locator(".bar-label").first).not_to_be_empty()

    slide(page, "top_p", 0.05)  # no model runs for it
    for side in (0, 1):
        expect(heads.nth(side)).to_contain_text("1 token can be sampled, entropy 0.00 nats")
    expect(note).to_contain_text("The sliders have moved since")
    expect(page.locator("#two-answers [role=status]")).to_have_text("")
    columns.nth(3).locator(".two-token").last.click()  # the token below stands for the same step
    expect(page.locator(".two-caption")).to_contain_text("Step 3 of 63")
    expect(now).to_have_count(1)
    page.locator(".two-curve").click(position={"x": 2, "y": 60})
    expect(page.locator(".two-bits-now")).to_contain_text(re.compile(r"^Step 0: .+ bits$"))
    expect(page.locator("#two-divergence .term")).to_have_text("KL divergence")
    expect(page.locator("#two-costs tbody tr")).to_have_count(4)

    page.locator("#two-left").focus()  # the list is asked for again
    page.locator("#two-left").select_option(label="minimind-chat, 8 bits")
    expect(page.locator(".two-legend")).to_have_text("Above: minimind-chat, 8 bitsBelow: minimind-base, 8 bits")
    expect(note).not_to_contain_text("The sliders have moved since")
    with new_run(page):
        page.get_by_label("Prompt", exact=True).fill("The little dog")
        page.locator("#generate").click()
    expect(note).to_contain_text("Prompt: “The little dog”")  # another prompt is compared too
    assert unreadable(page, "#two-models") == []
