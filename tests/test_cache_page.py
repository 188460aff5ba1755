"""The tab "Inside the cache": what its pictures are given, and what a person does there."""

import base64
import re
import time
from types import SimpleNamespace

import gradio as gr
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from playground.engine.generation import generate
from playground.engine.sampling import SamplingParams
from playground.experiments.attention import ADDED, NO_MASK, TIMES_INFINITY, TIMES_ZERO, attention_weights, mask_row
from playground.experiments.growth import cache_growth, stored_rows
from playground.experiments.keeping import APPENDED, ROUNDING, Change, changes
from playground.experiments.reads import count_reads
from playground.figures.cache import allocated_figure, growth_figure, reads_figure, unit_of
from playground.ui.attention_values import MATRIX_ROWS, attention_value, mask_value, shapes_value, sinks_value
from playground.ui.cache_tab import checked_text
from playground.ui.cache_values import Text, formula_value, ghost_curves, heat_value, size_text
from playground.ui.heads_values import classifier_value, heads_value, training_value
from playground.ui.keeping_values import changes_value, swap_value, verdict, walk_value
from playground.ui.lesson import read_lesson


@pytest.fixture(scope="module")
def text(base) -> Text:
    prompt_ids = base.prompt_ids("Once upon a time, there was a little")
    answer_ids = [step.token_id for step in generate(base.model, prompt_ids, SamplingParams(seed=1), None, 20)]
    return Text(base, prompt_ids, answer_ids, layer=1, position=5)


# Values


def test_the_formula_names_its_factors_and_agrees_with_the_tensors(text):
    last = cache_growth(text.loaded.model, text.prompt_ids, text.answer_ids).groupby("step").filled_bytes.sum().iloc[-1]
    value = formula_value(text, int(last))
    names = [number["words"] for number in value["numbers"][:-1]]
    assert names == ["K and V", "layers", "KV heads", "head size", "bytes per number", "tokens"]
    product = np.prod([int(number["number"].replace(",", "")) for number in value["numbers"][:-1]])
    assert value["note"] == f"Measured in the tensors: {product:,} bytes, the same."
    assert "not the formula's" in formula_value(text, 7)["note"]


def test_heat_maps_carry_the_stored_numbers(text):
    value = heat_value(text)
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
    by_name = {change.name: change for change in changes(text.loaded.model, text.stored_ids, 5, 100)}
    assert verdict(by_name["changed"]).endswith("exactly 0")
    assert verdict(by_name["unmasked"]).endswith("from layer 2 on")
    small = by_name["changed"].by_row * 0 + ROUNDING / 10
    assert verdict(Change(APPENDED, 5, small)).endswith("rounding")


def test_every_text_that_the_page_looks_up_is_in_the_lesson(text):
    words = read_lesson("cache")
    assert len(changes_value(text, words)["maps"]) == 6
    assert len(walk_value(text, words)["stages"]) == 8
    assert all(section.text and section.title for section in words.values())


def test_a_lesson_heading_without_a_name_is_refused(tmp_path):
    (tmp_path / "cache.md").write_text("## growth: Title\nWords\n\n## No name here\n")
    with pytest.raises(ValueError, match="No name here"):
        read_lesson("cache", tmp_path)


def test_units():
    assert [unit_of(size) for size in (3, 2048, 5 * 1024**2)] == [(1, "B"), (1024, "KiB"), (1024**2, "MiB")]
    assert size_text(204_800) == "200 KiB"


# Figures


def test_the_layers_of_the_growth_figure_add_up(text):
    growth = cache_growth(text.loaded.model, text.prompt_ids, text.answer_ids)
    tokens = growth.groupby("step").tokens.first().tolist()
    figure = growth_figure(growth, ghost_curves(text, tokens))
    lines = {trace.name: np.array(trace.y) for trace in figure.data}
    layers = [lines[f"layer {layer + 1}"] for layer in range(text.loaded.model.config.num_layers)]
    np.testing.assert_allclose(sum(layers), lines["all layers"])
    np.testing.assert_allclose(lines["16 bit"], lines["all layers"] / 2)
    np.testing.assert_allclose(np.diff(lines["all layers"], 2), 0, atol=1e-9)  # a straight line


def test_a_buffer_is_never_smaller_than_what_fills_it(text):
    steps = text.prompt_ids, text.answer_ids
    growing = cache_growth(text.loaded.model, *steps)
    static = cache_growth(text.loaded.model, *steps, static_length=64)
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
        {"model": "elsewhere", "prompt_ids": [1], "token_ids": [1]},
        {"prompt_ids": 7, "token_ids": [1]},
        {"prompt_ids": [], "token_ids": [1]},
        {"prompt_ids": [1], "token_ids": [10**9]},
        {"prompt_ids": ["1; import os"], "token_ids": [1]},
        {"prompt_ids": [1] * 5000, "token_ids": [1]},
    ],
)
def test_a_bad_request_gets_one_sentence(base, request_):
    with pytest.raises(gr.Error, match=r"Generate|must lie|positions"):
        ask(base, **request_)


def test_a_single_token_has_no_past_and_no_next_token(base):
    text = ask(base, prompt_ids=[5], token_ids=[7])
    assert training_value(text) is None and mask_value(text) == {"own": ""} and shapes_value(text) is None
    assert heat_value(text) and classifier_value(text) and heads_value(text)


@pytest.mark.parametrize("num_stored", [2, 3, 4])
def test_very_short_texts_have_fewer_pictures_and_no_error(base, num_stored):
    text = ask(base, prompt_ids=[5] * (num_stored - 1), token_ids=[9, 7])
    words, weights = read_lesson("cache"), attention_weights(base.model, text.stored_ids)
    assert changes_value(text, words) and walk_value(text, words) and swap_value(text)
    assert attention_value(text, weights) and mask_value(text) and heads_value(text)
    assert classifier_value(text) and training_value(text) and heat_value(text)
    assert (shapes_value(text) is None) == (num_stored < 4)
    assert sinks_value(text, weights) is None


def test_each_experiment_takes_less_than_two_seconds(base):
    """The course's lengths: a prompt of 183 tokens, 64 new ones."""
    text = ask(base, prompt_ids=list(range(100, 283)), token_ids=list(range(300, 364)))
    words, ids = read_lesson("cache"), text.stored_ids
    for experiment in (
        lambda: cache_growth(base.model, text.prompt_ids, text.answer_ids),
        lambda: changes_value(text, words),
        lambda: walk_value(text, words),
        lambda: attention_value(text, attention_weights(base.model, ids, MATRIX_ROWS)),
        lambda: count_reads(base.model, text.prompt_ids, text.answer_ids),
        lambda: heads_value(text),
        lambda: training_value(text),
    ):
        start = time.perf_counter()
        experiment()
        assert time.perf_counter() - start < 2


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


def test_before_the_first_answer_the_tab_says_what_to_do(browser_page: Page):
    open_tab(browser_page, "How it grows")
    expect(browser_page.locator(".panel-cache_source .panel-body:visible")).to_contain_text("Press Generate")
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
    expect(page.locator(".panel-heatmap .panel-body").get_by_role("button", name="Layer 4")).to_have_attribute(
        "aria-pressed", "true"
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
    walk.get_by_role("button", name="Layer 3").click()
    expect(walk.locator("h3")).to_contain_text("through layer 3")


def test_a_person_follows_what_a_token_reads(browser_page: Page):
    page = browser_page
    open_tab(page, "What attention reads", "Once upon a time")
    panel = page.locator(".panel-attention .panel-body")
    expect(panel.locator(".strip-words")).to_contain_text("mean of all heads")
    set_step(page, 6)
    expect(panel.locator(".note")).to_contain_text("computes one row of")

    def weights() -> list[float]:
        return panel.locator(".token").evaluate_all("tokens => tokens.map(token => Number(token.dataset.weight))")

    mean = weights()
    assert sum(mean) == pytest.approx(1, abs=0.01)
    panel.get_by_role("button", name="Head 2").click()
    expect(panel.locator(".strip-words")).to_contain_text("head 2")
    assert sum(weights()) == pytest.approx(1, abs=0.01) and weights() != mean
    panel.get_by_role("button", name="Layer 4").click()
    expect(panel.locator(".strip-words")).to_contain_text("layer 4")
    expect(page.locator(".cache-section .fact-table:visible")).to_contain_text("none needed")


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
    open_tab(page, "What attention reads", "Once upon a time")
    expect(page.locator(".panel-attention .note")).to_contain_text("computes one row of")
    count = "document.querySelectorAll('*').length"
    set_step(page, 1)
    before = page.evaluate(count)
    for step in range(2, 30):
        set_step(page, step)
    expect(page.locator(".steps-words:visible")).to_contain_text("Step 29")
    assert page.evaluate(count) == before
