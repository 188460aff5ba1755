"""The tab "Inside the cache": what its pictures are given, and what a person does there."""

import base64
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import drawn
from conftest import generate as press_generate
from playwright.sync_api import Locator, Page, expect

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams
from playground.page import bar
from playground.page.lesson import read_lesson
from playground.page.requests import RequestError
from playground.tabs.inside_the_cache.attention import (
    ADDED,
    NO_MASK,
    TIMES_INFINITY,
    TIMES_ZERO,
    attention_weights,
    mask_row,
)
from playground.tabs.inside_the_cache.attention_values import (
    MATRIX_ROWS,
    attention_value,
    mask_value,
    shapes_value,
    sinks_value,
)
from playground.tabs.inside_the_cache.figures import allocated_figure, growth_figure, reads_figure, unit_of
from playground.tabs.inside_the_cache.growth import cache_growth, stored_rows
from playground.tabs.inside_the_cache.heads_values import classifier_value, heads_value, training_value
from playground.tabs.inside_the_cache.keeping import APPENDED, Change, changes
from playground.tabs.inside_the_cache.keeping_values import (
    changes_value,
    likeliest_other,
    swap_value,
    verdict,
    walk_value,
)
from playground.tabs.inside_the_cache.reads import count_reads
from playground.tabs.inside_the_cache.tab import (
    attention_pictures,
    checked_text,
    growth_pictures,
    keeping_pictures,
    more_pictures,
)
from playground.tabs.inside_the_cache.values import Text, formula_value, ghost_curves, heat_value, size_text


@pytest.fixture(scope="module")
def text(base) -> Text:
    prompt_ids = base.prompt_ids("Once upon a time, there was a little")
    answer_ids = [step.token_id for step in generate(base.model, prompt_ids, SamplingParams(seed=1), None, 20)]
    return Text(base, prompt_ids, answer_ids, layer=1, position=5)


def growth_of(text: Text, static_length: int | None = None) -> pd.DataFrame:
    return cache_growth(stored_rows(text.loaded.model, text.stored_ids), len(text.prompt_ids), static_length)


# Values


def test_the_formula_names_its_factors_and_agrees_with_the_tensors(text):
    last = growth_of(text).groupby("step").filled_bytes.sum().iloc[-1]
    value = formula_value(text, int(last))
    names = [number["words"] for number in value["numbers"][:-1]]
    assert names == ["K and V", "layers", "KV heads", "head size", "bytes per number", "tokens"]
    product = np.prod([int(number["number"].replace(",", "")) for number in value["numbers"][:-1]])
    assert value["note"] == f"Measured in the tensors: {product:,} bytes, the same."
    assert "not the formula's" in formula_value(text, 7)["note"]


def test_heat_maps_carry_the_stored_numbers(text):
    value = heat_value(text, stored_rows(text.loaded.model, text.stored_ids))
    rows, columns = len(text.stored_ids), value["num_heads"] * value["head_dim"]
    sent = np.frombuffer(base64.b64decode(value["keys"]), np.int8).reshape(rows, columns)
    keys, _ = stored_rows(text.loaded.model, text.stored_ids)[1]  # (KV, T, D)
    original = keys.transpose(0, 1).reshape(rows, columns).numpy()
    assert np.abs(sent / 127 * value["largest"]["keys"] - original).max() <= value["largest"]["keys"] / 127 / 2 + 1e-6


def test_sent_weights_are_the_models_to_five_digits(text):
    weights = attention_weights(text.loaded.model, text.stored_ids, num_rows=8)
    value = attention_value(text, weights)
    sent = np.frombuffer(base64.b64decode(value["weights"]), "<u2").reshape(weights.shape[1:]) / 65535
    assert np.abs(sent - weights[1].numpy()).max() < 1e-5
    assert value["first_row"] == len(text.stored_ids) - 8


def test_verdicts_tell_zero_rounding_and_a_real_change_apart(text):
    by_name = {change.name: change for change in changes(text.loaded.model, text.stored_ids, 5, 100, 200)}
    assert verdict(by_name["changed"]).endswith("exactly 0")
    assert verdict(by_name["unmasked"]).endswith("from layer 2 on")
    small = by_name["changed"].by_row * 0 + 1e-5
    assert verdict(Change(APPENDED, 5, small, rounding=1e-4)).endswith("1e-05, rounding")
    assert verdict(Change(APPENDED, 5, 20 * small, rounding=1e-4)).endswith("moved by up to 0.0002, from layer 1 on")


def test_every_text_that_the_page_looks_up_is_in_the_lesson(text):
    words = read_lesson("inside_the_cache")
    assert len(changes_value(text, words)["maps"]) == 6
    assert len(walk_value(text, words)["stages"]) == 8
    assert all(section.text and section.title for section in words.values())


def test_units():
    assert [unit_of(size) for size in (3, 2048, 5 * 1024**2)] == [(1, "B"), (1024, "KiB"), (1024**2, "MiB")]
    assert size_text(204_800) == "200 KiB"


# Figures


def test_the_layers_of_the_growth_figure_add_up(text):
    growth = growth_of(text)
    tokens = growth.groupby("step").tokens.first().tolist()
    figure = growth_figure(growth, ghost_curves(text, tokens))
    lines = {trace.name: np.array(trace.y) for trace in figure.data}
    layers = [lines[f"layer {layer + 1}"] for layer in range(text.loaded.model.config.num_layers)]
    np.testing.assert_allclose(sum(layers), lines["all layers"])
    np.testing.assert_allclose(lines["16 bit"], lines["all layers"] / 2)
    np.testing.assert_allclose(np.diff(lines["all layers"], 2), 0, atol=1e-9)  # a straight line


def test_a_buffer_is_never_smaller_than_what_fills_it(text):
    growing, static = growth_of(text), growth_of(text, static_length=64)
    filled, allocated, fixed = (np.array(trace.y) for trace in allocated_figure(growing, static, 64).data)
    assert (allocated >= filled).all() and (fixed >= filled).all() and len(set(fixed)) == 1


def test_queries_lie_on_the_ground(text):
    figure = reads_figure(count_reads(text.loaded.model, text.prompt_ids, text.answer_ids), len(text.prompt_ids))
    lines = {trace.name: list(trace.y) for trace in figure.data}
    assert set(lines["Q"]) == {0} and lines["K"] == lines["V"] and max(lines["K"]) == len(text.answer_ids) - 1


# What the browser asks for


def ask(base, **request):
    return checked_text(SimpleNamespace(models={"base": base}), {"model": "base", **request})


def test_a_request_gets_its_layer_and_token_or_the_middle(base):
    assert ask(base, prompt_ids=[1, 2, 3], token_ids=[4, 5]).stored_ids == [1, 2, 3, 4]
    assert ask(base, prompt_ids=[1, 2, 3], token_ids=[4, 5]).position == 2
    assert ask(base, prompt_ids=[1, 2, 3], token_ids=[4, 5], layer=99, position=99).layer == 3


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"model": "<img src=elsewhere>", "prompt_ids": [1], "token_ids": [1]},
        {"model": ["base"], "prompt_ids": [1], "token_ids": [1]},
        {"prompt_ids": 7, "token_ids": [1]},
        {"prompt_ids": [], "token_ids": [1]},
        {"prompt_ids": [1], "token_ids": [10**9]},
        {"prompt_ids": ["1; import os"], "token_ids": [1]},
        {"prompt_ids": [1] * 5000, "token_ids": [1]},
    ],
)
def test_a_bad_request_gets_one_sentence(base, request_):
    with pytest.raises(RequestError, match=r"Generate|must lie|positions") as error:
        ask(base, **request_)
    assert "<" not in str(error.value)  # the page shows the sentence as HTML


def test_a_single_token_has_no_past_and_no_next_token(base):
    text = ask(base, prompt_ids=[5], token_ids=[7])
    assert training_value(text) is None and mask_value(text) == {"own": ""} and shapes_value(text) is None
    assert all(growth_pictures(text)) and classifier_value(text) and heads_value(text)


@pytest.mark.parametrize("num_stored", [2, 3, 4])
def test_very_short_texts_have_fewer_pictures_and_no_error(base, num_stored):
    text = ask(base, prompt_ids=[5] * (num_stored - 1), token_ids=[9, 7])
    words, weights = read_lesson("inside_the_cache"), attention_weights(base.model, text.stored_ids)
    assert changes_value(text, words) and walk_value(text, words) and swap_value(text)
    assert attention_value(text, weights) and mask_value(text) and heads_value(text)
    assert classifier_value(text) and training_value(text) and all(growth_pictures(text))
    assert (shapes_value(text) is None) == (num_stored < 4)
    assert sinks_value(text, weights) is None


COURSE = {"prompt_ids": list(range(100, 283)), "token_ids": list(range(300, 556))}  # a prompt of 183, 256 new tokens


@pytest.mark.parametrize(
    ("pictures", "most_forwards"),
    [
        (growth_pictures, 1),
        (lambda text: keeping_pictures(text, read_lesson("inside_the_cache")), 18),
        (attention_pictures, 12),
        (more_pictures, 256 + 19),  # a pass for each step of the answer: they are what is counted
    ],
    ids=["growth", "keeping", "attention", "more"],
)
def test_each_part_runs_the_model_no_more_than_needed(base, monkeypatch, pictures, most_forwards):
    forward, calls = Transformer.forward, []

    def counted(*args, **options):
        calls.append(1)
        return forward(*args, **options)

    text = ask(base, **COURSE)
    monkeypatch.setattr(Transformer, "forward", counted)
    pictures(text)
    assert len(calls) <= most_forwards, len(calls)


def test_a_text_that_fills_the_context_is_looked_into_as_well(base):
    room = base.model.config.max_positions
    text = ask(base, prompt_ids=[5] * (room - 4), token_ids=[9, 7, 8, 6])
    *_, appended, fed_on, _ = changes_value(text, read_lesson("inside_the_cache"))["maps"]
    assert appended["text"].endswith("Tokens added: 1.") and fed_on["text"].endswith("Tokens added: 1.")


def test_the_early_token_is_chosen_for_its_own_place(base):
    """A token that the model likes to write twice: chosen for position 2, it stands at position 1 already."""
    every = torch.arange(base.model.config.vocab_size)
    pairs = torch.stack([torch.zeros_like(every), every], 1)
    best = base.model(pairs, KVCache(base.model.config.num_layers), last_only=True)[:, 0].argmax(-1)
    twice = int(every[best == every][0])
    text = ask(base, prompt_ids=[0, twice], token_ids=[twice - 1, 5, 6], position=2)
    assert likeliest_other(text, 2) == twice
    early = changes_value(text, read_lesson("inside_the_cache"))["maps"][2]
    assert early["title"] == read_lesson("inside_the_cache")["early"].title
    assert min(layer[1] for layer in early["cells"]) > 0.01


# In the browser


def open_tab(page: Page, name: str, prompt: str | None = None) -> None:
    if prompt is not None:
        page.get_by_label("Prompt", exact=True).fill(prompt)
        page.get_by_role("button", name="Generate").click()
    page.get_by_role("tab", name="Inside the cache").click()
    page.get_by_role("tab", name=name).click()


def set_step(page: Page, step: int) -> None:
    page.locator(".steps-range:visible").evaluate(
        "(range, step) => { range.value = step; range.dispatchEvent(new Event('input', { bubbles: true })); }", step
    )


def test_a_part_that_a_short_answer_has_not_goes_away(browser_page: Page):
    """After a long answer a text of one stored token: nothing of the long one may stay."""
    page = browser_page
    open_tab(page, "Why it may be kept", "Once upon a time")
    expect(page.locator(".change-map:visible")).to_have_count(6)
    page.get_by_label("New tokens", exact=True).fill("1")
    page.get_by_label("Prompt", exact=True).fill("a")
    page.get_by_role("button", name="Generate").click()
    expect(page.locator(".panel-source .panel-body:visible")).to_contain_text("Too short for some pictures")
    expect(page.locator(".change-map:visible")).to_have_count(0)
    expect(page.locator(".stepper-board:visible")).to_have_count(0)
    expect(page.locator(".compare-row:visible")).to_have_count(0)
    page.get_by_role("tab", name="What attention reads").click()
    expect(page.locator(".strip-words:visible")).to_contain_text("position 0")
    expect(page.locator(".fact-table:visible")).to_have_count(0)
    page.get_by_role("tab", name="Reads, heads, training").click()
    expect(page.locator(".fact-table:visible")).to_have_count(1)


def test_before_the_first_answer_the_tab_says_what_to_do(browser_page: Page):
    open_tab(browser_page, "How it grows")
    expect(browser_page.locator(".panel-source .panel-body:visible")).to_contain_text("Press Generate")
    expect(browser_page.locator(".cache-section .card:visible")).to_have_count(0)


def test_a_person_watches_the_cache_grow(browser_page: Page):
    page = browser_page
    open_tab(page, "How it grows", "Once upon a time")
    note = page.locator(".formula .note").last
    expect(note).to_have_text(re.compile(r"Measured in the tensors: [\d,]+ bytes, the same\."))
    expect(page.locator("#growth-curve .main-svg").first).to_be_visible()

    grid = page.locator(".cache-section .panel-cache_growth .panel-body")
    set_step(page, 3)
    expect(grid).to_contain_text("step 3 wrote one column")
    rows_at_3 = page.locator(".panel-heatmap .note").inner_text()
    page.locator(".steps-range:visible").focus()
    page.keyboard.press("ArrowRight")
    expect(grid).to_contain_text("step 4 wrote one column")
    expect(page.locator(".panel-heatmap .note")).not_to_have_text(rows_at_3)
    page.get_by_role("button", name="▶ Play").click()
    expect(grid).not_to_contain_text("step 4 wrote")
    page.get_by_role("button", name="❚❚ Pause").click()

    box = grid.locator("svg").bounding_box()
    grid.locator("svg").click(position={"x": 60, "y": box["height"] - 40})  # the lowest layer
    expect(page.locator(".panel-heatmap .panel-body").get_by_role("radio", name="Layer 4")).to_have_attribute(
        "aria-checked", "true"
    )
    expect(page.locator(".panel-heatmap .note")).to_contain_text("Layer 4:")


def test_a_person_changes_a_token_and_walks_through_a_layer(browser_page: Page):
    page = browser_page
    open_tab(page, "Why it may be kept", "Once upon a time")
    maps = page.locator(".change-map")
    expect(maps.first.locator(".verdict")).to_have_text("Earlier keys and values: changed by exactly 0")
    expect(maps.nth(1).locator(".verdict")).to_contain_text("from layer 2 on")
    page.locator(".panel-changes .token").nth(2).click()
    expect(page.locator(".panel-changes .strip-words")).to_contain_text("at position 2")

    walk = page.locator(".panel-stepper .panel-body")
    expect(walk.locator("h3")).to_contain_text("Token 2")
    expect(walk.locator("h3")).to_contain_text("through layer 2")
    walk.get_by_role("button", name="Next").click()
    walk.get_by_role("button", name="Next").click()
    expect(walk.locator(".number-line[data-source=cache]")).to_have_count(2)
    walk.locator(".stepper-side").focus()
    page.keyboard.press("ArrowRight")
    expect(walk.locator("h4")).to_contain_text("4.")
    walk.get_by_role("radio", name="Layer 3").click()
    expect(walk.locator("h3")).to_contain_text("through layer 3")


def framed_rows(matrix: Locator) -> float:
    """Rows of the matrix whose first cell has the accent colour, counted in the picture itself."""
    return matrix.evaluate(
        """canvas => {
            const style = getComputedStyle(canvas), ink = canvas.getContext("2d");
            ink.fillStyle = style.getPropertyValue("--accent").trim();
            const [red, green, blue] = ink.fillStyle.match(/[0-9a-f]{2}/gi).map(part => parseInt(part, 16));
            const { data, width, height } = ink.getImageData(0, 0, canvas.width, canvas.height);
            const off = (place, part) => Math.abs(data[place] - part);
            const isAccent = place => off(place, red) + off(place + 1, green) + off(place + 2, blue) < 12;
            let most = 0;  // the frame's left side is the longest upright line of that colour
            for (let x = 0; x < width; x += 1) {
                let long = 0;
                for (let y = 0; y < height; y += 1) {
                    long = isAccent(4 * (y * width + x)) ? long + 1 : 0;
                    most = Math.max(most, long);
                }
            }
            return (most - 2) / Number(canvas.dataset.rowHeight);
        }"""
    )


def test_a_person_follows_what_a_token_reads(browser_page: Page, base):
    page = browser_page
    open_tab(page, "What attention reads", "Once upon a time")
    panel = page.locator(".panel-attention .panel-body")
    expect(panel.locator(".strip-words")).to_contain_text("mean of all heads")
    matrix, prompt = panel.locator(".matrix"), len(base.prompt_ids("Once upon a time"))
    set_step(page, 0)
    expect(panel.locator(".note")).to_contain_text(f"computes the prompt's {prompt} rows, with a cache and without")
    expect(matrix).to_have_attribute("aria-label", f"Attention weights, {prompt} rows, {prompt} of this step")
    assert framed_rows(matrix) == pytest.approx(prompt, abs=0.5)
    set_step(page, 6)
    expect(panel.locator(".note")).to_contain_text(
        f"one row of {prompt + 6} weights. Without it, all {prompt + 6} rows"
    )
    expect(matrix).to_have_attribute("aria-label", f"Attention weights, {prompt + 6} rows, 1 of this step")
    assert framed_rows(matrix) == pytest.approx(1, abs=0.5)

    def weights() -> list[float]:
        return panel.locator(".token").evaluate_all("tokens => tokens.map(token => Number(token.dataset.weight))")

    mean = weights()
    assert sum(mean) == pytest.approx(1, abs=0.01)
    panel.get_by_role("radio", name="Head 2").click()
    expect(panel.locator(".strip-words")).to_contain_text("head 2")
    assert sum(weights()) == pytest.approx(1, abs=0.01) and weights() != mean
    panel.get_by_role("radio", name="Layer 4").click()
    expect(panel.locator(".strip-words")).to_contain_text("layer 4")
    expect(page.locator(".cache-section .fact-table:visible")).to_contain_text("none needed")


def test_a_row_of_a_long_answer_that_was_not_sent_is_said_to_be_missing(browser_page: Page, base, monkeypatch):
    page = browser_page
    monkeypatch.setattr(bar, "generate", lambda *args: generate(*args[:5]))  # without the ids that end an answer
    page.get_by_label("New tokens", exact=True).fill(str(MATRIX_ROWS + 20))
    open_tab(page, "What attention reads", "Once upon a time")
    panel, prompt = page.locator(".panel-attention .panel-body"), len(base.prompt_ids("Once upon a time"))
    num_stored = prompt + MATRIX_ROWS + 19
    expect(panel.locator(".token")).to_have_count(num_stored)
    expect(panel.locator(".note")).to_contain_text("this one stands before them")
    set_step(page, num_stored - MATRIX_ROWS - prompt + 1)  # the first row that is there
    expect(panel.locator(".note")).not_to_contain_text("this one stands before them")


def test_the_mask_played_with_in_the_browser_is_the_mask_of_python(browser_page: Page):
    page = browser_page
    open_tab(page, "What attention reads", "Once upon a time")
    inputs = page.locator(".mask-inputs input")
    for scores in ([1, 2, 3], [0.5, -2, -1], [4, 4, 0]):
        for place, score in enumerate(scores):
            inputs.nth(place).fill(str(score))
        expected = mask_row(scores, [False, False, True]).rows
        shown = [row.split("\t")[1:4] for row in page.locator(".mask-table tr").all_inner_texts()]
        names = (NO_MASK, ADDED, TIMES_ZERO, TIMES_INFINITY)
        assert shown == [["NaN" if w != w else f"{w:.3f}" for w in expected[name]] for name in names]
    expect(page.locator(".mask-table tr").last).to_contain_text("the row is broken")


def test_the_smaller_questions_are_answered_and_follow_a_new_answer(browser_page: Page):
    page = browser_page
    open_tab(page, "Reads, heads, training", "Once upon a time")
    tables = page.locator(".cache-section .fact-table:visible")
    expect(tables.first).to_contain_text("multiply-adds")
    expect(page.locator("#reads-curve .main-svg").first).to_be_visible()
    expect(page.locator(".compare-row:visible")).to_have_count(6)  # 1, 2 and 4 KV heads, twice
    before = tables.first.inner_text()
    page.get_by_label("Prompt", exact=True).fill("The little dog ran to the river and")
    page.get_by_role("button", name="Generate").click()
    expect(tables.first).not_to_have_text(before, use_inner_text=True)


def test_no_picture_is_built_anew_by_a_step(browser_page: Page):
    page = browser_page
    press_generate(page, "Once upon a time")
    expect(page.locator(".area-answers .dots-words")).to_contain_text("distinct of 30")  # they follow the run, too
    open_tab(page, "What attention reads")
    expect(page.locator(".panel-attention .note")).to_contain_text("Step 0 computes")
    count = "document.querySelector('#tabs').querySelectorAll('*').length"
    set_step(page, 1)
    expect(page.locator(".steps-words:visible")).to_contain_text("Step 1")
    drawn(page)
    before = page.evaluate(count)
    for step in range(2, 30):
        set_step(page, step)
    expect(page.locator(".steps-words:visible")).to_contain_text("Step 29")
    assert page.evaluate(count) == before
