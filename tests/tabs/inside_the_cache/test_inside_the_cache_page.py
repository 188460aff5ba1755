"""The tab "Inside the cache": what its pictures are given, and what a person does there."""

import base64
import json
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from conftest import drawn, set_new_tokens, slide
from conftest import generate as press_generate
from playwright.sync_api import Locator, Page, expect

from playground.engine.batching import Batch
from playground.engine.cache_kinds import ConcatenatedLayerCache, LayerCache, StaticLayerCache
from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.engine.params import SamplingParams
from playground.models.answers import at_once
from playground.page.lesson import read_lesson
from playground.page.line import Work
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
    vectors_value,
)
from playground.tabs.inside_the_cache.claims import CLAIMS, READING, claims_value
from playground.tabs.inside_the_cache.figures import allocated_figure, growth_figure, reads_figure
from playground.tabs.inside_the_cache.growth import cache_growth, stored_rows
from playground.tabs.inside_the_cache.growth_values import copies_value, formula_value, ghost_curves, heat_value
from playground.tabs.inside_the_cache.keeping import APPENDED, Change, changes
from playground.tabs.inside_the_cache.keeping_values import (
    REASONS,
    SWAPPED_TOKENS,
    changes_value,
    most_likely_other,
    swap_value,
    verdict,
    walk_value,
)
from playground.tabs.inside_the_cache.question import Text, text_of
from playground.tabs.inside_the_cache.reads import count_reads
from playground.tabs.inside_the_cache.reads_values import heads_value, training_value
from playground.tabs.inside_the_cache.tab import (
    NOTHING,
    attention_pictures,
    growth_pictures,
    heads_pictures,
    keeping_pictures,
    reads_pictures,
    size_pictures,
    walk_pictures,
)
from playground.words import say


@pytest.fixture(scope="module")
def text(base) -> Text:
    prompt_ids = base.prompt_ids("Once upon a time, there was a little")
    answer_ids = [step.token_id for step in generate(base.model, prompt_ids, SamplingParams(seed=1), None, 20)]
    return Text(base, prompt_ids, answer_ids, layer=1, position=5)


def safe_pictures(text: Text) -> Work:
    """Those of "Why it is safe", without a second model."""
    return keeping_pictures({}, text)


PARTS = {
    "growth": growth_pictures,
    "size": size_pictures,
    "safe": safe_pictures,
    "walk": walk_pictures,
    "attention": attention_pictures,
    "heads": heads_pictures,
    "reads": reads_pictures,
}


def growth_of(text: Text, kind: str | LayerCache = "dynamic") -> pd.DataFrame:
    return cache_growth(stored_rows(text.loaded.model, text.stored_ids), len(text.prompt_ids), kind)


def all_of(pictures: Callable[[Text], Work], text: Text) -> list:
    """What each picture of a part is given in the end."""
    made = [each for each in pictures(text) if isinstance(each, tuple)]
    return [next(value for value in values if value is not None) for values in zip(*made, strict=True)]


# Values


def test_the_formula_names_its_factors_and_agrees_with_the_tensors(text):
    last = growth_of(text).groupby("step").filled_bytes.sum().iloc[-1]
    value = formula_value(text, int(last))
    names = [say(number["words"]) for number in value["numbers"][:-1]]
    assert names == ["K and V", "layers", "KV heads", "head size", "bytes per number", "tokens"]
    product = np.prod([number["number"] for number in value["numbers"][:-1]])
    measured = "Measured in the tensors of minimind-base:"
    assert say(value["note"]) == f"{measured} {product:,} bytes, the same."
    assert say(formula_value(text, 7)["note"]) == f"{measured} 7 bytes; the formula gives {product:,}."
    labels = [say(row["label"]) for row in value["groups"][0]["rows"]]
    assert labels == ["this cache", "all 4 heads", "16 bit", "8 bit"]


def test_heat_maps_carry_the_stored_numbers(text):
    value = heat_value(text, stored_rows(text.loaded.model, text.stored_ids))
    rows, columns = len(text.stored_ids), value["num_heads"] * value["head_dim"]
    sent = np.frombuffer(base64.b64decode(value["keys"]), np.int8).reshape(rows, columns)
    keys, _ = stored_rows(text.loaded.model, text.stored_ids)[1]  # (KV, T, D)
    original = keys.transpose(0, 1).reshape(rows, columns).numpy()
    assert np.abs(sent / 127 * value["largest"]["keys"] - original).max() <= value["largest"]["keys"] / 127 / 2 + 1e-6


def test_the_course_example_is_measured_in_the_model_of_the_page(text):
    value, *_ = all_of(size_pictures, replace(text, num_tokens=100))
    assert [number["number"] for number in value["numbers"][:-1]] == [2, 4, 2, 32, 4, 100]
    assert say(value["note"]) == "Measured in the tensors of minimind-base: 204,800 bytes, the same."
    assert value["stored"] == len(text.stored_ids) != 100


def test_copies_are_summed_over_layers_and_steps(text):
    growths = {
        "concatenated": growth_of(text, ConcatenatedLayerCache()),
        "growing": growth_of(text),
        "static": growth_of(text, StaticLayerCache(64)),
    }
    value = copies_value(growths)
    rows = {say(row["label"]): row["share"] for row in value["groups"][0]["rows"]}
    assert rows == {"torch.cat": 1, "doubling": 0, "static": 0}  # 28 tokens fit into 64
    assert say(value["groups"][0]["title"]) == "Bytes copied until 28 tokens are stored"


def test_sent_vectors_give_the_sent_weights(text):
    value = vectors_value(text)
    shape = {"queries": (4, -1, 32), "keys": (2, -1, 32)}
    queries, keys = (np.frombuffer(base64.b64decode(value[name]), "<f4").reshape(shape[name]) for name in shape)
    scores = queries[3, -1] @ keys[1].T / 32**0.5
    weights = np.exp(scores) / np.exp(scores).sum()
    expected = attention_weights(text.loaded.model, text.stored_ids)[1, 3, -1].numpy()
    np.testing.assert_allclose(weights, expected, atol=1e-6)


def test_shapes_are_those_of_this_answers_own_passes(text):
    """The prefill was an invented split of the text, with more tokens than the prompt has."""
    value = at_once(shapes_value(text))
    prompt, stored = len(text.prompt_ids), len(text.stored_ids)
    assert [say(column) for column in value["columns"][1:]] == [
        f"This answer's prefill: {prompt} new",
        f"Its last decode step: {stored - 1} past + 1 new",
        f"Its last 4 tokens as one chunk, {stored - 4} past",
    ]
    rows = {say(name).split(" (")[0]: cells for name, *cells in value["rows"]}
    assert rows["Q"] == [f"1 × 4 × {new} × 32" for new in (prompt, 1, 4)]
    assert rows["K"] == rows["V"] == [f"1 × 2 × {seen} × 32" for seen in (prompt, stored, stored)]
    assert rows["K and V in MiniMind"] == [f"1 × {seen} × 2 × 32" for seen in (prompt, stored, stored)]
    assert rows["mask"][0] == f"{prompt} × {prompt}" and say(rows["mask"][1]) == "none needed"


def test_the_mask_card_shows_the_row_that_leaks_most(text):
    """It showed the middle row, where next to nothing leaks."""
    leak, mean = map(float, re.findall(r"([\d.]+) %", say(mask_value(text)["own"])))
    assert leak > 50 and leak > 3 * mean


def test_the_swap_shows_the_step_that_suffers(base):
    own, second, _every = at_once(swap_value(base))["groups"]
    assert own["rows"][0]["share"] - second["rows"][0]["share"] > 0.15 or (
        own["rows"][0]["label"] != second["rows"][0]["label"]
    )
    assert re.search(r"[1-9]\d* of 97 steps prefer", say(second["title"]))


def test_every_claim_leads_to_a_part_of_the_page():
    value = json.loads(json.dumps(claims_value()))
    assert said(value) and len(value["claims"]) == len(CLAIMS) > 12
    for claim in CLAIMS:
        assert not claim.reason or (claim.part == "keeping" and claim.reason in REASONS)
    assert all(address.startswith("https://") for address in READING.values())


def test_sent_weights_are_the_models_to_five_digits(text):
    weights = attention_weights(text.loaded.model, text.stored_ids, num_rows=8)
    value = attention_value(text, weights)
    sent = np.frombuffer(base64.b64decode(value["weights"]), "<u2").reshape(weights.shape[1:]) / 65535
    assert np.abs(sent - weights[1].numpy()).max() < 1e-5
    assert value["first_row"] == len(text.stored_ids) - 8


def test_verdicts_tell_zero_rounding_and_a_real_change_apart(text):
    made = at_once(changes(text.loaded.model, text.stored_ids, 5, 100, 200))
    by_name = {change.name: change for change in made}
    assert say(verdict(by_name["changed"])).endswith("exactly 0")
    assert say(verdict(by_name["unmasked"])).endswith("from layer 2 on")
    small = by_name["changed"].by_row * 0 + 1e-5
    assert say(verdict(Change(APPENDED, 5, small, rounding=1e-4))).endswith("1.0 · 10⁻⁵, which is rounding")
    moved = verdict(Change(APPENDED, 5, 20 * small, rounding=1e-4))
    assert say(moved).endswith("changed by up to 2.0 · 10⁻⁴, from layer 1 on")


def said(value: object) -> list[str]:
    """Every text in a value that Python told."""
    if isinstance(value, dict) and value.keys() == {"key", "facts"}:
        return [say(value)]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [text for part in parts for text in said(part)]


def test_every_text_of_every_part_can_be_said(text):
    for pictures in PARTS.values():
        assert json.dumps(all_of(pictures, text))
    assert said(json.loads(json.dumps(all_of(safe_pictures, text))))
    reasons = {reason["name"]: reason["maps"] for reason in at_once(changes_value(text))["reasons"]}
    assert {name: len(maps) for name, maps in reasons.items()} == {name: len(each) for name, each in REASONS.items()}
    assert all(say(map_["text"]).endswith("Tokens added: 8.") for map_ in reasons["added"])
    assert all(say(f"inside_the_cache.reason.{name}.{part}") for name in REASONS for part in ("name", "text"))
    assert say(walk_value(text)["stages"][0]["title"]) == "The vector arrives"
    assert all(section.text and section.title for section in read_lesson("inside_the_cache").values())


def test_what_the_stored_rows_lack_to_the_same_rows_computed_anew_is_only_said_where_there_is_something():
    fetch = "inside_the_cache.walk.fetch.text"
    assert say(fetch, difference=0.0).endswith("passed through this layer.")
    assert say(fetch, difference=2.4e-7).endswith(
        "layer. Computed again without a cache they differ by at most 2.4 · 10⁻⁷."
    )


def test_the_distances_of_all_other_numbers_of_heads_stand_in_one_sentence(text):
    note = say(at_once(heads_value(text))["note"])
    assert re.fullmatch(r"Over the 28 positions of .* in nats: [\d.]+ for 1, (0|< 1\.0 · 10⁻⁶) for 4\.", note)


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
    growing, static = growth_of(text), growth_of(text, StaticLayerCache(64))
    filled, allocated, fixed = (np.array(trace.y) for trace in allocated_figure(growing, static, 64).data)
    assert (allocated >= filled).all() and (fixed >= filled).all() and len(set(fixed)) == 1


def test_queries_lie_on_the_ground(text):
    counts = at_once(count_reads(text.loaded.model, text.prompt_ids, text.answer_ids))
    figure = reads_figure(counts, len(text.prompt_ids))
    lines = {trace.name: list(trace.y) for trace in figure.data}
    assert set(lines["Q"]) == {0} and lines["K"] == lines["V"] and max(lines["K"]) == len(text.answer_ids) - 1


# What the browser asks for


def ask(base, **request):
    return text_of({"base": base}, {"model": "base", **request})


def test_a_request_gets_its_layer_and_token_or_the_middle(base):
    assert ask(base, prompt_ids=[1, 2, 3], token_ids=[4, 5]).stored_ids == [1, 2, 3, 4]
    assert ask(base, prompt_ids=[1, 2, 3], token_ids=[4, 5]).position == 2
    assert ask(base, prompt_ids=[1, 2, 3], token_ids=[4, 5], layer=99, position=99).layer == 3
    many = ask(base, prompt_ids=[1, 2, 3], token_ids=[4, 5], num_tokens=10**6)
    assert len(many.measured_ids) == base.model.config.max_positions
    assert replace(many, num_tokens=6).measured_ids == [1, 2, 3, 4, 1, 2]


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
        {"prompt_ids": [1], "token_ids": [-1]},
        {"prompt_ids": [1], "token_ids": [True]},
        {"prompt_ids": [1], "token_ids": [1], "layer": "1"},
        {"prompt_ids": [1], "token_ids": [1], "num_tokens": 1.5},
        {"prompt_ids": [1] * 5000, "token_ids": [1]},
    ],
)
def test_a_bad_request_gets_one_sentence(base, request_):
    with pytest.raises(RequestError, match=r"^[A-Z].*\.$") as error:
        ask(base, **request_)
    assert "<" not in str(error.value)  # the page shows the sentence as HTML


def test_a_single_token_has_no_past_and_no_next_token(base):
    text = ask(base, prompt_ids=[5], token_ids=[7])
    assert at_once(training_value(text)) is None and mask_value(text) is None and at_once(shapes_value(text)) is None
    assert all(all_of(growth_pictures, text))
    assert [bool(value) for value in all_of(safe_pictures, text)] == [False, True]
    assert [bool(value) for value in all_of(walk_pictures, text)] == [False, True]
    assert [bool(value) for value in all_of(reads_pictures, text)] == [True, True, False]
    assert [bool(value) for value in all_of(size_pictures, text)] == [True, True, True, False]
    assert [bool(value) for value in all_of(heads_pictures, text)] == [True, True, False]


@pytest.mark.parametrize("num_stored", [2, 3, 4])
def test_very_short_texts_have_fewer_pictures_and_no_error(base, num_stored):
    text = ask(base, prompt_ids=[5] * (num_stored - 1), token_ids=[9, 7])
    for pictures in (growth_pictures, size_pictures, safe_pictures, walk_pictures, reads_pictures):
        assert all(all_of(pictures, text))
    attention, mask, sinks = all_of(attention_pictures, text)
    assert attention and mask and sinks == NOTHING
    assert [bool(value) for value in all_of(heads_pictures, text)] == [True, True, num_stored > 3]


COURSE = {"prompt_ids": list(range(100, 283)), "token_ids": list(range(300, 556))}  # a prompt of 183, 256 new tokens


def fed_in_pieces(pictures: Callable[[Text], Work], text: Text, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """For each piece, between two times that others may use the model: how many tokens each pass of it was fed."""
    forward, pieces = Transformer.forward, [[]]

    def counted(model, token_ids, *args, **options):
        pieces[-1].append(token_ids.shape[1])
        return forward(model, token_ids, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Transformer, "forward", counted)
        for _ in pictures(text):
            pieces.append([])
    return pieces


@pytest.mark.parametrize(
    ("pictures", "most_passes"),
    [
        (growth_pictures, 1),
        (size_pictures, 1),
        (safe_pictures, 19 + SWAPPED_TOKENS),  # the text of the swap is written first
        (walk_pictures, 4),
        (attention_pictures, 4),
        (heads_pictures, 14),
        (reads_pictures, 256 + 17),  # a pass for each step of the answer: they are what is counted
    ],
    ids=PARTS,
)
def test_a_part_runs_the_model_as_little_as_needed_and_lets_others_in_between(base, monkeypatch, pictures, most_passes):
    """Everybody waited for up to 26 seconds while one person looked into an answer that filled the context."""
    text = ask(base, **COURSE)
    pieces = fed_in_pieces(pictures, text, monkeypatch)
    assert sum(map(len, pieces)) <= most_passes
    assert max(map(sum, pieces)) <= len(text.stored_ids) + 20  # one pass over the whole text, a few tokens besides


@pytest.fixture(scope="module")
def narrow(base):
    """The embedded model as if its context ended after 64 tokens."""
    config = replace(base.model.config, max_positions=64)
    model = Transformer(config)
    model.load_state_dict(base.model.state_dict())
    return replace(base, model=model.requires_grad_(False).eval())


def test_a_text_that_fills_the_context_is_looked_into_as_well(narrow):
    room = narrow.model.config.max_positions
    text = ask(narrow, prompt_ids=[5] * (room - 4), token_ids=[9, 7, 8, 6])
    added = next(each["maps"] for each in at_once(changes_value(text))["reasons"] if each["name"] == "added")
    assert len(added) == 3 and all(say(map_["text"]).endswith("Tokens added: 1.") for map_ in added)


@pytest.mark.parametrize("num_stored", [33, 34, 63, 64])
def test_every_part_looks_into_a_long_answer_up_to_a_full_context(narrow, num_stored):
    """An answer that ended with a full context was refused, and above half of one the text was fed twice at once."""
    text = ask(narrow, prompt_ids=[5, 9] * 10, token_ids=[7] * (num_stored - 19))
    assert len(text.stored_ids) == num_stored
    for pictures in PARTS.values():
        assert all(all_of(pictures, text))
    assert len(at_once(changes_value(text))["reasons"]) == (5 if num_stored == 64 else 6)  # no room to add tokens
    recomputed = at_once(training_value(text))
    assert [row[1] for row in recomputed["rows"][-2:]] == [min(num_stored - 1, 32), 2 * min(num_stored - 1, 32)]
    assert ("note" in recomputed) == (num_stored > 33)


def test_one_token_more_than_the_context_holds_is_refused(narrow):
    with pytest.raises(RequestError, match="The text has 65 tokens; the model has 64 positions"):
        ask(narrow, prompt_ids=[5] * 60, token_ids=[7] * 6)


def test_the_early_token_is_chosen_for_its_own_place(base):
    """A token that the model likes to write twice: chosen for position 2, it stands at position 1 already."""
    every = torch.arange(base.model.config.vocab_size)
    pairs = torch.stack([torch.zeros_like(every), every], 1)
    best = base.model(pairs, KVCache(base.model.config.num_layers), last_only=True)[:, 0].argmax(-1)
    twice = int(every[best == every][0])
    text = ask(base, prompt_ids=[0, twice], token_ids=[twice - 1, 5, 6], position=2)
    assert most_likely_other(text, 2) == twice
    *_, (early,) = (reason["maps"] for reason in at_once(changes_value(text))["reasons"])
    assert say(early["title"]) == "Another second token, causal mask on"
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
    """After a long answer a text of one stored token: nothing of the long one may stay, and no card stands empty."""
    page = browser_page
    open_tab(page, "Why it is safe", "Once upon a time")
    expect(page.locator(".change-map:visible")).to_have_count(2)
    set_new_tokens(page, 1)
    page.get_by_label("Prompt", exact=True).fill("a")
    page.get_by_role("button", name="Generate").click()
    expect(page.locator(".panel-source .panel-body:visible")).to_contain_text("Some pictures need at least four tokens")
    expect(page.locator(".change-map:visible")).to_have_count(0)
    expect(page.locator(".cache-section .card:visible")).to_have_count(1)  # the one with a text of its own
    page.get_by_role("tab", name="What attention reads").click()
    expect(page.locator(".panel-attention .strip-words:visible")).to_contain_text("position 0")
    page.get_by_role("tab", name="Heads and shapes").click()
    expect(page.locator(".compare-row:visible").first).to_be_visible()
    expect(page.locator(".fact-table:visible")).to_have_count(0)
    page.get_by_role("tab", name="When it helps").click()
    expect(page.locator(".fact-table:visible")).to_have_count(1)


def test_a_person_watches_the_cache_grow(browser_page: Page):
    """It plays once and stands at the last step, whatever step the other tabs look at."""
    page = browser_page
    page.evaluate(
        """() => { window.steps = new Set(); new MutationObserver(() => {
            for (const each of document.querySelectorAll(".steps-words")) window.steps.add(each.textContent);
        }).observe(document.body, { subtree: true, childList: true, characterData: true }); }"""
    )
    press_generate(page, "Once upon a time")
    open_tab(page, "How it grows")
    words = page.locator(".steps-words:visible")
    page.wait_for_function("[...window.steps].some(text => text.startsWith('Step 0 of'))")
    expect(words).to_have_text(re.compile(r"^Step (\d+) of \1: .* is added to the cache$"))
    expect(page.get_by_role("button", name="▶ Play").locator("visible=true")).to_be_visible()

    source = page.locator(".panel-source .panel-body:visible")
    expect(source).to_contain_text("minimind-base on “Once upon a time” (temperature")
    expect(source).not_to_contain_text("has changed since")
    slide(page, "temperature", 1.5)
    expect(source).to_contain_text("has changed since")
    expect(page.locator(".panel-heatmap .note").first).to_contain_text("Layer 2:")

    grid = page.locator(".cache-section .panel-growth .panel-body")
    set_step(page, 3)
    expect(grid).to_contain_text("step 3")
    rows_at_3 = page.locator(".panel-heatmap .note").first.inner_text()
    page.evaluate("document.activeElement.blur()")  # a tab has arrow keys of its own
    page.keyboard.press("ArrowRight")
    expect(words).to_contain_text("Step 4 of")
    expect(grid).to_contain_text("step 4")
    expect(page.locator(".panel-heatmap .note").first).not_to_have_text(rows_at_3)
    page.get_by_role("button", name="▶ Play").locator("visible=true").click()
    expect(words).not_to_contain_text("Step 4 of")
    expect(words).to_have_text(re.compile(r"^Step (\d+) of \1: "))  # it ends by itself

    page.get_by_text("Numbers as a table").locator("visible=true").first.click()
    expect(page.locator(".panel-heatmap .plot-table tbody tr").first).to_contain_text("Keys")
    box = grid.locator("svg").bounding_box()
    grid.locator("svg").click(position={"x": 60, "y": box["height"] - 40})  # the lowest layer
    expect(page.locator(".panel-heatmap .panel-body").get_by_role("radio", name="Layer 4")).to_have_attribute(
        "aria-checked", "true"
    )
    expect(page.locator(".panel-heatmap .note").first).to_contain_text("Layer 4:")


def test_the_course_number_is_one_button_away(browser_page: Page):
    page = browser_page
    open_tab(page, "How big it is", "Once upon a time")
    note = page.locator(".panel-size .note").last
    expect(note).to_have_text(re.compile(r"Measured in the tensors of minimind-base: [\d,]+ bytes, the same\."))
    expect(page.locator("#growth-curve .main-svg").first).to_be_visible()
    page.get_by_role("radio", name="Course example: 100 tokens").click()
    expect(note).to_have_text("Measured in the tensors of minimind-base: 204,800 bytes, the same.")
    copied = page.locator(".cache-section .compare-row:visible", has_text="torch.cat")
    expect(copied).to_contain_text("MiB")


def test_a_person_takes_the_reasons_away_and_walks_through_a_layer(browser_page: Page, base):
    page = browser_page
    open_tab(page, "Why it is safe", "Once upon a time")
    maps = page.locator(".change-map")
    verdicts = maps.locator(".verdict")
    expect(verdicts.first).to_have_text("✓ Earlier keys and values: changed by exactly 0")
    expect(verdicts.nth(1)).to_contain_text("from layer 2 on")
    page.locator(".panel-changes .token").nth(2).click()
    expect(page.locator(".panel-changes .strip-words")).to_contain_text("at position 2")
    for reason, expected in (
        ("2 Feed-forward per position", ["✓", "✗"]),
        ("3 Frozen weights", ["✗"]),
        ("4 Fixed positions", ["✗"]),
        ("Add tokens", ["✓", "✓", "✗"]),
        ("Change the second token", ["✓"]),
    ):
        page.get_by_role("radio", name=reason).click()
        expect(verdicts).to_have_text([re.compile(f"^{mark} ") for mark in expected])
    expect(page.locator(".cache-section .compare-row:visible")).to_have_count(9)

    page.get_by_role("tab", name="Step by step").click()
    walk = page.locator(".panel-stepper .panel-body")
    expect(walk.locator("h3")).to_contain_text("Token 2")
    expect(walk.locator("h3")).to_contain_text("in layer 2")
    walk.get_by_role("button", name="Next").click()
    walk.get_by_role("button", name="Next").click()
    expect(walk.locator(".number-line[data-source=cache]")).to_have_count(2)
    walk.locator(".stepper-side").focus()
    page.keyboard.press("ArrowRight")
    expect(walk.locator("h4")).to_contain_text("4.")
    walk.get_by_role("radio", name="Layer 3").click()
    expect(walk.locator("h3")).to_contain_text("in layer 3")
    formula = page.locator(".panel-formula .panel-body")
    expect(formula.locator(".strip-words")).to_contain_text("in layer 3, head 1")
    expect(formula.locator(".formula-lines math")).to_have_count(3)
    formula.get_by_role("radio", name="Head 2").click()
    expect(formula.locator(".strip-words")).to_contain_text("head 2")
    set_step(page, 9)
    expect(formula.locator(".strip-words")).to_contain_text(f"position {len(base.prompt_ids('Once upon a time')) + 8}")
    page.get_by_role("tab", name="What attention reads").click()
    set_step(page, 9)
    tokens = page.locator(".panel-attention .token")
    expect(tokens.last).to_have_attribute("data-weight", "0")
    drawn(page)
    weights = tokens.evaluate_all("all => all.map(each => Number(each.dataset.weight))")
    percent = f"{100 * max(weights):.1f} %"  # the same layer and head, worked out again
    expect(formula.locator(".formula-lines math").nth(1)).to_contain_text(percent)


def framed_rows(matrix: Locator) -> float:
    """Rows of the matrix that the frame in the colour of the ink holds, counted in the picture itself."""
    return matrix.evaluate(
        """canvas => {
            const style = getComputedStyle(canvas), ink = canvas.getContext("2d");
            ink.fillStyle = style.getPropertyValue("--ink").trim();
            const [red, green, blue] = ink.fillStyle.match(/[0-9a-f]{2}/gi).map(part => parseInt(part, 16));
            const { data, width, height } = ink.getImageData(0, 0, canvas.width, canvas.height);
            const off = (place, part) => Math.abs(data[place] - part);
            const isInk = place => data[place + 3] > 200
                && off(place, red) + off(place + 1, green) + off(place + 2, blue) < 12;
            let most = 0;  // the frame's left side is the longest upright line of that colour
            for (let x = 124; x < width; x += 1) {  // left of it are letters
                let long = 0;
                for (let y = 0; y < height; y += 1) {
                    long = isInk(4 * (y * width + x)) ? long + 1 : 0;
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
    expect(panel.locator(".note").first).to_contain_text(
        f"computes the prompt's {prompt} rows, with a cache and without"
    )
    expect(matrix).to_have_attribute("aria-label", f"Attention weights, {prompt} rows, {prompt} of this step")
    assert framed_rows(matrix) == pytest.approx(prompt, abs=0.5)
    set_step(page, 6)
    expect(panel.locator(".note").first).to_contain_text(
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
    assert panel.locator(".token-strip").evaluate("strip => strip.tabIndex") == 0


def test_a_row_of_a_long_answer_that_was_not_sent_is_said_to_be_missing(browser_page: Page, base, monkeypatch):
    page = browser_page
    own = Batch.generate
    monkeypatch.setattr(
        Batch, "generate", lambda batch, *args: own(batch, *args[:4])
    )  # without the ids that end an answer
    set_new_tokens(page, MATRIX_ROWS + 20)
    open_tab(page, "What attention reads", "Once upon a time")
    panel, prompt = page.locator(".panel-attention .panel-body"), len(base.prompt_ids("Once upon a time"))
    num_stored = prompt + MATRIX_ROWS + 19
    expect(panel.locator(".token")).to_have_count(num_stored)
    set_step(page, 0)
    expect(panel.locator(".note").first).to_contain_text("this one is earlier")
    set_step(page, num_stored - MATRIX_ROWS - prompt + 1)  # the first row that is there
    expect(panel.locator(".note").first).not_to_contain_text("this one is earlier")
    page.get_by_role("tab", name="Step by step").click()
    formula = page.locator(".panel-formula .panel-body")
    expect(formula.locator(".formula-lines")).to_be_visible()
    set_step(page, 0)
    expect(formula).to_contain_text("too far back")
    expect(formula.locator(".formula-lines")).to_be_hidden()


def test_the_mask_played_with_in_the_browser_is_the_mask_of_python(browser_page: Page):
    page = browser_page
    open_tab(page, "What attention reads", "Once upon a time")
    inputs = page.locator(".mask-inputs input")
    for scores in ([1, 2, 3], [0.5, -2, -1], [4, 4, 0]):
        for place, score in enumerate(scores):
            inputs.nth(place).fill(str(score))
        drawn(page)
        expected = mask_row(scores, [False, False, True]).rows
        shown = [row.split("\t")[1:4] for row in page.locator(".mask-table tr").all_inner_texts()]
        names = (NO_MASK, ADDED, TIMES_ZERO, TIMES_INFINITY)
        assert shown == [["NaN" if w != w else f"{w:.3f}" for w in expected[name]] for name in names]
    expect(page.locator(".mask-table tr").last).to_contain_text("the row is broken")


def test_heads_and_the_smaller_questions_follow_a_new_answer(browser_page: Page):
    page = browser_page
    open_tab(page, "Heads and shapes", "Once upon a time")
    heads = page.locator(".repeat-head")
    expect(heads).to_have_text(["K1V1", "K2V2", "K1V1", "K1V1", "K2V2", "K2V2", "Q1", "Q2", "Q3", "Q4"])
    expect(page.locator(".compare-row:visible")).to_have_count(6)  # 1, 2 and 4 KV heads, twice
    expect(page.locator(".fact-table:visible")).to_contain_text("none needed")
    page.get_by_role("tab", name="When it helps").click()
    tables = page.locator(".cache-section .fact-table:visible")
    expect(tables.first).to_contain_text("multiply-adds")
    expect(page.locator("#reads-curve .main-svg").first).to_be_visible()
    before = tables.first.inner_text()
    page.get_by_label("Prompt", exact=True).fill("The little dog ran to the river and")
    page.get_by_role("button", name="Generate").click()
    expect(tables.first).not_to_have_text(before, use_inner_text=True)


def test_a_claim_leads_to_where_it_can_be_seen(browser_page: Page):
    page = browser_page
    open_tab(page, "True or false?", "Once upon a time")
    claim = page.locator(".claim", has_text="The feed-forward does not touch")
    claim.locator("summary").click()
    expect(claim).to_contain_text("the mask is causal")
    claim.get_by_role("button", name="See it in “Why it is safe”").click()
    expect(page.locator(".change-map:visible .verdict")).to_have_text([re.compile("^✗ .* from layer 2 on")])
    expect(page.get_by_role("radio", name="3 Frozen weights")).to_have_attribute("aria-checked", "true")
    page.get_by_role("tab", name="True or false?").click()
    page.set_viewport_size({"width": 390, "height": 844})
    claim = page.locator(".claim", has_text="grows exponentially")
    claim.locator("summary").click()
    claim.get_by_role("button", name="See it in “Cache on / off”").click()
    expect(page.locator("#race-parts")).to_be_visible()
    addresses = page.locator(".claim-links a").evaluate_all("links => links.map(link => link.href)")
    assert addresses == list(READING.values())


def test_no_picture_is_built_anew_by_a_step(browser_page: Page):
    page = browser_page
    press_generate(page, "Once upon a time")
    expect(page.locator(".area-answers .dots-words")).to_contain_text("most often")  # they follow the run, too
    open_tab(page, "What attention reads")
    expect(page.locator(".panel-attention .token").first).to_be_visible()
    count = "document.querySelector('#tabs').querySelectorAll('*').length"
    set_step(page, 1)
    expect(page.locator(".steps-words:visible")).to_contain_text("Step 1 of")
    drawn(page)
    before = page.evaluate(count)
    for step in range(2, 30):
        set_step(page, step)
    expect(page.locator(".steps-words:visible")).to_contain_text("Step 29")
    assert page.evaluate(count) == before
