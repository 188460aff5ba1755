"""What a person does on the tab One answer, in a real browser."""

import csv
import io
import json
import re
from dataclasses import asdict

import pytest
import torch
from conftest import choose_model, drawn, generate, go_to, more_settings, new_run, slide, unreadable
from playwright.sync_api import BrowserContext, Page, Route, expect

from playground.engine.generation import generate as generate_steps
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.stages import RULES, STAGES
from playground.models.tables import steps_table
from playground.models.text import LoadedModel, TextTrace
from playground.page.controls import DEFAULTS

TEXT = "#live-answer .answer-text"
# Bars that leave a fifth of their height empty.
UNFILLED = """() => [...document.querySelectorAll(".bars")].flatMap((bars) => {
  const bottom = (element) => element.getBoundingClientRect().bottom;
  const rows = [...bars.querySelectorAll(".bar-row, .bar-cut")].filter((row) => row.checkVisibility());
  const empty = bottom(bars) - Math.max(...rows.map(bottom));
  return rows.length && empty > bars.clientHeight / 5 ? [`${empty} of ${bars.clientHeight} px`] : [];
})"""


@pytest.fixture
def tab(shared_page: Page) -> Page:
    """The tab with a new answer of 24 tokens; sliders, prompt and part are as a new page has them."""
    return with_an_answer(shared_page)


@pytest.fixture
def own_tab(browser_page: Page) -> Page:
    """The same on a page of its own, for tests that change more than an address sets."""
    return with_an_answer(browser_page)


def with_an_answer(page: Page) -> Page:
    go_to(page, "max_new_tokens=24&prompt=Once+upon+a+time&tab=sampling/answer-stages")
    settled(page)  # what the test before has asked for has come
    generate(page)
    return page


def settled(page: Page) -> str:
    """The answer once the model has caught up with the sliders."""
    drawn(page)
    expect(page.locator(TEXT)).to_have_attribute("aria-busy", "false")
    return page.locator(TEXT).text_content()


def preset(page: Page, name: str) -> None:
    page.locator(".presets").get_by_role("button", name=name, exact=True).click()


def set_controls(page: Page, settings: dict) -> None:
    """All sliders at once, as a preset does."""
    page.evaluate(
        """async (settings) => {
          const main = document.querySelector("script[type=module][src*='main.js']").src;
          (await import(main.replace("main.js", "controls.js"))).setControls(settings);
        }""",
        settings,
    )


def set_store(page: Page, patch: dict) -> None:
    """What a link would set."""
    page.evaluate(
        """async (patch) => {
          const main = document.querySelector("script[type=module][src*='main.js']").src;
          (await import(main.replace("main.js", "store.js"))).store.set(patch);
        }""",
        patch,
    )


def stage_names(page: Page) -> list[str]:
    return page.locator(".answer-tab .stage").evaluate_all("stages => stages.map((stage) => stage.dataset.stage)")


def test_stages_stand_in_the_order_of_the_rule_and_say_which_cut_last(tab: Page):
    preset(tab, "transformers default")
    expect(tab.locator("#slider-top_k")).to_have_attribute("aria-valuetext", "50")
    expect(tab.locator(".answer-tab .stage.is-binding")).to_have_attribute("data-stage", "top-k")
    expect(tab.locator(".answer-tab .stage.is-binding strong")).to_have_text("50")
    expect(tab.locator(".answer-tab [data-stage=top-p]")).to_have_class(re.compile("is-off"))
    assert stage_names(tab) == ["pass", "model", *RULES["transformers"].order, "sample"]

    preset(tab, "llama.cpp default")
    expect(tab.locator(".answer-tab .stage").nth(8)).to_have_attribute("data-stage", "temperature")
    assert stage_names(tab) == ["pass", "model", *RULES["llama.cpp"].order, "sample"]

    preset(tab, "Greedy")
    expect(tab.locator(".answer-tab .stage.is-binding")).to_have_attribute("data-stage", "temperature")
    expect(tab.locator(".answer-tab [data-stage=top-k] .stage-why")).to_have_text("Off.")
    set_controls(tab, {"presence_penalty": 1})
    expect(tab.locator(".answer-tab [data-stage=penalty] .stage-setting")).to_have_text("presence 1")
    preset(tab, "All off")
    expect(tab.locator(".answer-tab [data-stage=penalty] .stage-setting")).to_have_text("off")
    expect(tab.locator(".answer-tab .stages-verdict")).to_contain_text("No filter removes anything")
    expect(tab.locator(".answer-tab .stage.is-binding")).to_have_count(0)


CROWD = {"temperature": 1.25, "top_p": 0.95, "top_k": 1000, "min_p": 0.02, "typical_p": 0.95, "top_n_sigma": 1.5}
PENALTIES = {"repetition_penalty": 1.3, "presence_penalty": 0.5, "frequency_penalty": 0.2}


def test_no_card_of_a_stage_hides_a_part_of_its_words(tab: Page):
    """With nine cards in a row, "top-n-sigma off" and "> 99.9 % of the mass" lost their ends."""
    tab.locator("#live").uncheck()
    card = ".answer-tab .stage:not(.is-off)"
    parts = (".stage-head", ".stage-head *", ".stage-count", ".stage-count *", ".stage-why")
    boxes = tab.locator(", ".join([*(f"{card} {part}" for part in parts), ".answer-tab .rule-words"]))
    hidden = "(boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.textContent)"
    for name, settings in {"all off": {}, "crowded": CROWD, "all on": CROWD | PENALTIES}.items():
        set_controls(tab, asdict(SamplingParams(seed=1, **settings)))
        for width in (390, 1366, 1920):
            tab.set_viewport_size({"width": width, "height": 900})
            drawn(tab)
            assert boxes.evaluate_all(hidden) == [], (name, width)


def recorded_run(tab: Page, base: LoadedModel) -> TextTrace:
    """The run on the page with every stage off, frozen, and the same run here."""
    preset(tab, "All off")
    tab.locator("#live").uncheck()
    generate(tab)
    expect(tab.locator("#live-answer .note")).to_contain_text("the text would stay the same")
    trace = base.generate("Once upon a time", SamplingParams(seed=1), max_new_tokens=24)
    expect(tab.locator(TEXT)).to_have_text("".join(base.tokenizer.stream(trace.token_ids)), use_inner_text=False)
    return trace


def drag(page: Page, name: str, share: float) -> float:
    """Takes the handle with the mouse to this share of the slider's length; the value it stands on there."""
    slider = page.locator(f"#slider-{name}")
    box = slider.bounding_box()
    height, far = box["y"] + box["height"] / 2, box["x"] + 13 + share * (box["width"] - 26)  # 13: half the handle
    page.mouse.move(box["x"] + (13 if name == "top_n_sigma" else box["width"] - 13), height)
    page.mouse.down()
    page.mouse.move(far, height, steps=6)
    page.mouse.up()
    return float(slider.input_value())


@pytest.mark.parametrize("name", ["typical_p", "top_n_sigma"])
@pytest.mark.parametrize("rule", ["transformers", "llama.cpp"])
def test_a_dragged_sampler_keeps_as_many_tokens_as_python_does(tab: Page, base: LoadedModel, name: str, rule: str):
    trace = recorded_run(tab, base)
    more_settings(tab)
    set_controls(tab, {"rule": rule, "temperature": 1.3})
    seen = set()
    for share in (0.9, 0.5, 0.2, 0.04):
        set_controls(tab, {name: getattr(SamplingParams(), name)})
        value = drag(tab, name, share)
        params = SamplingParams(temperature=1.3, rule=rule, seed=1, **{name: value})
        assert value != getattr(SamplingParams(), name)
        kept = trace.reread(params).num_candidates
        for step in range(0, 24, 3):
            tab.locator(".area-answer .token").nth(step).click()
            words = f"{kept[step]:,} of 3,072 tokens remain" if kept[step] < 3072 else "all 3,072 tokens can be sampled"
            expect(tab.locator(".answer-tab .stages-verdict")).to_contain_text(words)
        seen.update(kept)
    more_settings(tab)
    assert len(seen) > 4, "the settings should make a difference"


def test_typical_p_may_cut_the_most_likely_token_and_the_page_shows_it(tab: Page, base: LoadedModel):
    trace = recorded_run(tab, base)
    set_controls(tab, {"typical_p": 0.2})
    steps = steps_of_a_cut_head(trace, SamplingParams(seed=1, typical_p=0.2))
    tab.locator(".area-answer .token").nth(steps[0]).click()
    expect(tab.locator(".area-candidates .card-head .note")).to_contain_text(f"token {steps[0] + 1} of")
    first = tab.locator(".area-candidates .bar-row").first
    expect(first).to_have_class(re.compile("is-cut"))
    expect(tab.locator(".area-candidates .bar-cut")).to_contain_text("cut by typical-p")
    expect(tab.locator(".answer-tab [data-stage=typical-p] .stage-why")).to_contain_text("cut.")
    step = trace.reread(SamplingParams(seed=1, typical_p=0.2)).distributions[steps[0]]
    kept = tab.locator(".area-candidates .bar-rows .bar-row:not(.is-cut)")
    expect(kept.locator(".bar-label")).to_have_text([base.labels[one.token_id] for one in step.top(8)])


def steps_of_a_cut_head(trace: TextTrace, params: SamplingParams) -> list[int]:
    """Steps where the most likely token cannot be sampled, and the few that can stand among the first rows."""
    distributions = trace.reread(params).distributions
    return [
        step
        for step in range(len(trace))
        if 1 < distributions[step].num_candidates < 6
        and 0 < distributions[step].ranking.tolist().index(distributions[step].top(1)[0].token_id) < 4
    ]


def test_the_table_tells_what_the_new_stages_kept(tab: Page, base: LoadedModel):
    trace = recorded_run(tab, base)
    params = SamplingParams(temperature=1.2, typical_p=0.6, top_n_sigma=1.5, seed=1)
    set_controls(tab, asdict(params))
    drawn(tab)
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Table (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    table = steps_table(trace, base.labels, params)
    for name in STAGES:
        assert [int(row[f"kept_after_{name}"]) for row in rows] == table[f"kept_after_{name}"].tolist()
    assert [row["binding_stage"] for row in rows] == table["binding_stage"].tolist()
    assert {"typical-p", "top-n-sigma"} <= set(table["binding_stage"])


@pytest.mark.parametrize("seed", [2**60 + 1, 2**53, 10**30])
def test_a_run_with_a_seed_that_the_browser_would_round_is_refused(tab: Page, tmp_path, seed: int):
    """Opened and generated again it wrote another text, and did not say so."""
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Run (JSON)").click()
    run = json.loads(download.value.path().read_text())
    run["params"]["seed"] = seed
    changed, before = tmp_path / "run.json", tab.locator(TEXT).text_content()
    changed.write_text(json.dumps(run))
    tab.locator("#exports input[type=file]").set_input_files(changed)
    rule = f"seed must be a whole number from 0 to 9007199254740991, got {seed}"
    words = f"The file can't be shown: “params”: {rule}. Save the run again."
    expect(tab.locator("#exports [role=status]")).to_have_text(words)
    expect(tab.get_by_label("Seed", exact=True)).to_have_value("1")
    assert tab.locator(TEXT).text_content() == before


SETTINGS = [
    {"temperature": 1.4},
    {"temperature": 0.7, "top_p": 0.9, "rule": "llama.cpp", "seed": 5},
    {"temperature": 1.9, "top_k": 40, "min_p": 0.02, "presence_penalty": 0.7, "rule": "minimind"},
    {"temperature": 1.2, "repetition_penalty": 1.3, "penalty_counts_prompt": False, "rule": "vllm"},
    {"temperature": 0.0, "frequency_penalty": 0.4},
]


def test_the_text_follows_the_hand_and_is_what_the_model_writes_under_those_settings(tab: Page, chat, base):
    loaded = {each.name: each for each in (chat, base)}[tab.get_by_label("Model", exact=True).input_value()]
    prompt_ids = loaded.prompt_ids(tab.get_by_label("Prompt", exact=True).input_value())
    texts = set()
    for settings in SETTINGS:
        params = SamplingParams(**{"seed": 1} | settings)
        set_controls(tab, asdict(params))
        steps = generate_steps(loaded.model, prompt_ids, params, None, 24, loaded.stop_ids)
        text = "".join(loaded.tokenizer.stream(step.token_id for step in steps))
        expect(tab.locator(TEXT)).to_have_text(text, use_inner_text=False)
        texts.add(text)
    assert len(texts) > 2, "the settings should make a difference"


def test_a_frozen_answer_is_struck_where_it_became_impossible(tab: Page):
    preset(tab, "All off")
    slide(tab, "temperature", 1.6)
    frozen = settled(tab)
    tab.locator("#live").uncheck()
    preset(tab, "Greedy")
    expect(tab.locator("#live-answer .note")).to_contain_text("would change at step")
    assert tab.locator(TEXT).text_content() == frozen
    expect(tab.locator(".area-answer .token.is-impossible").first).to_be_visible()
    expect(tab.locator(".area-answer .token.is-fork")).to_have_count(1)
    step = int(re.search(r"step (\d+)", tab.locator("#live-answer .note").text_content())[1])
    assert tab.locator(".area-answer .token.is-fork").get_attribute("data-step") == str(step)
    expect(tab.locator(".whole-fork-words")).to_be_visible()


def test_arrow_keys_walk_along_the_answer(tab: Page):
    tab.locator(".area-answer .token").first.click()
    tab.locator(".whole-answer").focus()
    for key, step in (("ArrowRight", 1), ("End", 23), ("ArrowRight", 23), ("ArrowLeft", 22), ("Home", 0)):
        tab.keyboard.press(key)
        expect(tab.locator(".area-candidates .card-head .note")).to_contain_text(f"token {step + 1} of")
    expect(tab.locator(".whole-answer")).to_have_attribute("aria-valuenow", "0")


def test_a_token_under_the_pointer_explains_itself(tab: Page):
    tab.locator(".area-candidates .bar-row").nth(1).hover()
    tip = tab.locator(".area-candidates .tip")
    expect(tip).to_contain_text(re.compile(r"id \d+ · bytes [0-9a-f ]+ · logit −?\d+\.\d{3} · rank 2"))
    expect(tip.locator("tr")).to_have_count(1 + len(STAGES))
    shown = tab.locator(".area-candidates .bar-row").nth(1).locator(".bar-number").text_content()
    result = tab.locator(".answer-tab .formula-result").text_content().removeprefix("= ")
    assert shown.startswith(result) or result == "0 %"


def test_a_forced_token_goes_on_from_the_kept_cache_beside_the_first_answer(tab: Page):
    preset(tab, "All off")
    first = settled(tab)
    tab.locator(".area-answer .token").nth(6).click()
    expect(tab.locator(".area-candidates .card-head .note")).to_contain_text("token 7 of")
    other = tab.locator(".area-candidates .bar-row:not(.is-chosen)").first
    label = other.locator(".bar-label").text_content()
    other.click()
    expect(tab.locator("#branches .branch")).to_have_count(2)
    expect(tab.locator("#branches .branch-forced").nth(1)).to_have_text(label)
    reused, whole, fed = map(int, re.findall(r"\d+", tab.locator("#branches .card-head .note").text_content()))
    assert reused == whole - fed and fed <= 17, "the shared beginning must not be fed again"
    expect(tab.locator(".answer-tab [data-stage=sample] .stage-why")).to_contain_text(f"You chose {label}")
    tab.locator("#branches .branch").first.click()
    expect(tab.locator(TEXT)).to_have_text(first)


def held_fork(page: Page) -> list[Route]:
    """Questions for a branch don't reach the server: they wait in the list."""
    held = []

    def hold(route: Route) -> None:
        asks_for_branch = re.search(r'"forced_id":\d', route.request.post_data or "")
        held.append(route) if asks_for_branch else route.continue_()

    page.route("**/queue/join*", hold)
    return held


def click_another_token(page: Page, step: int) -> None:
    page.locator(".area-answer .token").nth(step).click()
    expect(page.locator(".area-candidates .card-head .note")).to_contain_text(f"token {step + 1} of")
    page.locator(".area-candidates .bar-row:not(.is-chosen)").first.click()


def test_a_branch_that_comes_after_another_answer_is_not_shown_over_it(own_tab: Page):
    tab = own_tab
    held = held_fork(tab)
    click_another_token(tab, 3)
    expect(tab.locator("#branches .card-head .note")).to_contain_text("Continuing with")
    tab.get_by_label("Prompt", exact=True).fill("The little dog")
    tab.locator("#generate").click()
    expect(tab.locator(".area-answer .token-prompt")).to_have_text("The little dog")
    settled(tab)
    assert len(held) == 1
    held[0].continue_()
    expect(tab.locator("#branches .card-head .note")).to_contain_text("The answer was written again meanwhile")
    expect(tab.locator(".area-answer .token-prompt")).to_have_text("The little dog")
    expect(tab.locator("#branches .branch")).to_have_count(0)


def test_the_live_answer_waits_while_a_branch_is_on_its_way(own_tab: Page):
    """It took the place of the run on the server, and then there was nothing to go on from."""
    tab = own_tab
    slide(tab, "temperature", 1.3)
    settled(tab)
    held = held_fork(tab)
    click_another_token(tab, 3)
    asked = []
    tab.on(
        "request", lambda request: asked.append(request) if '"forced_id":null' in (request.post_data or "") else None
    )
    slide(tab, "temperature", 0.1)
    expect(tab.locator(TEXT)).to_have_attribute("aria-busy", "true")
    assert len(held) == 1 and not asked
    forked = re.search(r'"run":"\w+"', held[0].request.post_data)[0]
    held[0].continue_()
    expect(tab.locator("#branches .branch")).to_have_count(2)
    slide(tab, "temperature", 1.9)
    expect(tab.locator("#live-answer .note")).to_contain_text("tokens written again")
    assert asked and not any(forked in request.post_data for request in asked), "it goes on from the branch"


def test_the_cut_says_how_much_of_the_models_own_probability_it_keeps(tab: Page):
    """At T = 1.5 the card of top-p has another number: what it kept of the warmer probabilities."""
    set_controls(tab, {"temperature": 1.5, "top_p": 0.6, "top_k": 0})
    tab.locator("#live").uncheck()
    line, words = tab.locator(".area-candidates .bar-cut"), None
    for step in range(24):
        tab.locator(".area-answer .token").nth(step).click()
        expect(tab.locator(".area-candidates .card-head .note")).to_contain_text(f"token {step + 1} of")
        words = re.fullmatch(
            r"(\d) tokens kept; the others cut by top-p \(([\d.]+) % of the probability\)", line.text_content()
        )
        if words and float(words[2]) > 5:
            break
    assert words, "a step where several tokens are kept, and the rest would have counted"
    total = 0
    for place in range(int(words[1])):
        tab.locator(".area-candidates .bar-row").nth(place).hover()
        total += float(tab.locator(".area-candidates .tip td").first.text_content())
    assert float(words[2]) == pytest.approx(100 * (1 - total), abs=0.1) and total < 0.95


def test_a_run_is_taken_home_and_opened_again_without_the_model(own_tab: Page, tmp_path):
    tab = own_tab
    preset(tab, "MiniMind generate")
    text = settled(tab)
    saved = {}
    for name in ("Table (CSV)", "Run (JSON)", "Picture (SVG)"):
        with tab.expect_download() as download:
            tab.get_by_role("button", name=name).click()
        saved[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[name])
    rows = saved["Table (CSV)"].read_text(encoding="utf-8-sig").strip().split("\n")
    assert len(rows) == 1 + tab.locator(".area-answer .token").count() and rows[0].startswith("step,token_id,token")
    assert saved["Picture (SVG)"].read_text().startswith("<svg")

    run = json.loads(saved["Run (JSON)"].read_text())
    run["labels"] = ["<img src=x onerror=alert(1)>"] * len(run["labels"])
    run["model"] = "a model that is not here"
    saved["Run (JSON)"].write_text(json.dumps(run))
    preset(tab, "All off")
    tab.on("dialog", lambda dialog: pytest.fail("a label ran as code"))
    tab.locator("#exports input[type=file]").set_input_files(saved["Run (JSON)"])
    expect(tab.locator("#exports")).to_contain_text("the model did not run")
    expect(tab.locator(TEXT)).to_have_text(text)
    expect(tab.locator("#slider-top_k")).to_have_attribute("aria-valuetext", "50")
    expect(tab.locator(".area-candidates .bar-label").first).to_have_text(run["labels"][0])
    assert tab.locator("img[src=x]").count() == 0
    slide(tab, "temperature", 1.9)
    expect(tab.locator("#live-answer .note")).to_contain_text("which is not on this page")

    bad = tmp_path / "bad.json"
    bad.write_text('{"format": "poem"}')
    tab.locator("#exports input[type=file]").set_input_files(bad)
    expect(tab.locator("#exports")).to_contain_text("not a recorded run")


def test_a_question_sets_the_page_and_closing_it_brings_back_what_was_there(tab: Page):
    """It left its prompt, its model and all of its sliders behind, and said so nowhere."""
    slide(tab, "temperature", 1.3)
    text = settled(tab)
    tab.get_by_role("button", name="Does the order matter?").click()
    card = tab.locator(".ask-card")
    expect(card.locator("h2")).to_have_text("Does the order matter?")
    expect(card.locator("tbody tr")).to_have_count(4)
    expect(tab.locator("#slider-top_p")).to_have_value("0.8")
    kept = card.locator("tbody tr").evaluate_all("rows => rows.map((row) => row.cells[1].textContent)")
    assert kept == ["1", "1", "1", "2"]
    expect(card).to_contain_text("Temperature 0.5, Top-p 0.8, seed 1, llama.cpp order")
    expect(card.locator(".ask-stale")).to_be_hidden()
    card.get_by_role("button", name="Close").click()
    expect(card).to_be_hidden()
    expect(tab.locator("#slider-temperature")).to_have_value("1.3")
    expect(tab.locator("#slider-top_p")).to_have_value(str(DEFAULTS["top_p"]))
    expect(tab.locator(TEXT)).to_have_text(text, use_inner_text=False)


def test_the_numbers_of_a_question_are_stale_when_the_sliders_move(tab: Page):
    tab.get_by_role("button", name="Does the order matter?").click()
    stale = tab.locator(".ask-card .ask-stale")
    expect(tab.locator(".ask-card tbody tr")).to_have_count(4)
    expect(tab.locator("#slider-top_p")).to_have_value("0.8")  # it has set the page
    expect(stale).to_be_hidden()
    slide(tab, "temperature", 1.9)
    expect(stale).to_be_visible()
    tab.locator(".ask-card").get_by_role("button", name="Close").click()
    expect(tab.locator("#slider-temperature")).to_have_value("1.9")  # somebody has gone on from there


def test_the_switch_and_the_open_question_are_chosen_in_the_store(tab: Page):
    """A link sets them there: the page must follow it as it follows a click."""
    set_store(tab, {"live": False})
    expect(tab.locator("#live")).not_to_be_checked()
    expect(tab.locator("#live-answer .note")).to_contain_text("Live is off")
    set_store(tab, {"live": True, "question": "Q3"})
    expect(tab.locator("#live")).to_be_checked()
    card, button = tab.locator(".ask-card"), tab.get_by_role("button", name="Same seed, other text?")
    expect(card.locator("tbody tr")).to_have_count(5)
    expect(card.locator("th").nth(1)).to_have_text("diverges at")
    expect(card.locator(".ask-finding")).to_contain_text("Seed 1 gives 0.")
    expect(button).to_have_attribute("aria-pressed", "true")
    set_store(tab, {"question": None})
    expect(card).to_be_hidden()
    expect(button).to_have_attribute("aria-pressed", "false")


def test_a_long_drag_leaves_no_nodes_behind(tab: Page):
    tab.locator("#live").uncheck()
    count = "document.querySelectorAll('.answer-tab *').length"
    slide(tab, "temperature", 0.5)
    drawn(tab)
    bars = tab.locator(".area-candidates .bars")
    before, node, said = tab.evaluate(count), bars.element_handle(), bars.inner_text()
    tab.evaluate(
        """async () => {
          const range = document.querySelector("#slider-temperature");
          for (let tick = 0; tick < 450; tick += 1) {
            range.value = 0.5 + (tick % 100) / 100;
            range.dispatchEvent(new Event("input", { bubbles: true }));
            if (tick % 10 === 0) await new Promise(requestAnimationFrame);
          }
          range.value = 0.5;
          range.dispatchEvent(new Event("input", { bubbles: true }));
          await new Promise(requestAnimationFrame);
        }"""
    )
    drawn(tab)
    assert abs(tab.evaluate(count) - before) <= 20, "the pictures keep their nodes; only marks of axes may come and go"
    assert node.evaluate("(old) => old === document.querySelector('.area-candidates .bars')")
    assert bars.inner_text() == said, "what it shows is where the drag ended"


def part(page: Page, name: str) -> None:
    page.locator("#answer-parts").get_by_role("tab", name=name).click()


def chosen(page: Page, base: LoadedModel, ids: list[int]) -> None:
    """The answer so far is these tokens."""
    text = "".join(base.tokenizer.stream(ids))
    expect(page.locator("#sampler .sampler-chosen")).to_have_text(text, use_inner_text=False)


def test_a_person_samples_token_by_token_and_the_score_is_what_python_says(tab: Page, base: LoadedModel):
    preset(tab, "All off")
    settled(tab)
    part(tab, "You are the sampler")
    sampler, ids = tab.locator("#sampler"), []
    typed = sampler.get_by_label("Or type any token")
    sampler.get_by_role("button", name="Start over").click()  # the most open step is the one looked at
    expect(sampler.locator(".sampler-scores dd").first).to_have_text("–")
    expect(sampler.get_by_role("button", name="Take back one token")).to_be_disabled()
    for text in (" the", None, "dog"):
        if text:
            typed.fill(text)
            first = sampler.locator(".sampler-suggestions button").first
            expect(first).to_contain_text(f"␣{text.strip()} ")
            ids.append(int(first.get_attribute("data-id")))
            typed.press("Enter")
        else:
            row = sampler.locator(".bar-rows .bar-row").nth(1)
            ids.append(base.labels.index(row.locator(".bar-label").text_content()))
            row.click()
        chosen(tab, base, ids)
    prompt_ids = base.prompt_ids("Once upon a time")
    logits = base.model(torch.tensor([[*prompt_ids, *ids]]), KVCache.of(base.model), last_only=False)[0]
    probs = torch.softmax(logits.double(), -1)[len(prompt_ids) - 1 : -1][range(3), ids]
    said = sampler.locator(".sampler-scores dd").all_text_contents()
    assert float(said[2].replace(",", "")) == pytest.approx(float(probs.log().mean().neg().exp()), rel=0.01)
    assert said[0] == said[1], "nothing is cut"
    set_controls(tab, {"top_k": 1})
    expect(sampler.locator(".sampler-scores dd").nth(1)).to_have_text("0 %")
    set_controls(tab, {"top_k": 0})

    sampler.get_by_role("button", name="Take back one token").click()
    chosen(tab, base, ids[:2])
    sampler.get_by_role("button", name="Let the model finish").click()
    expect(sampler.locator(".sampler-rest")).to_have_text(re.compile(r"\w+ \w+ \w+"))
    typed.fill("qqqq")
    expect(sampler).to_contain_text("No token begins with “qqqq”")
    part(tab, "Stages")
    written = "^" + re.escape("".join(base.tokenizer.stream(ids[:2])))
    expect(tab.locator(TEXT)).to_have_text(re.compile(written), use_inner_text=False)
    expect(tab.locator(".area-answer .token.is-forced")).to_have_count(2)


def test_what_the_model_reads_follows_the_boxes_and_nothing_runs(own_tab: Page, chat: LoadedModel, base: LoadedModel):
    tab = own_tab
    run = tab.locator("#run .panel-body").get_attribute("data-complete")
    part(tab, "What the model reads")
    reading, boxes = tab.locator("#reading"), tab.locator("#reading [role=option]")

    def reads(loaded: LoadedModel, prompt: str) -> list[str]:
        expect(boxes).to_have_text([loaded.labels[token_id] for token_id in loaded.prompt_ids(prompt)])
        return boxes.evaluate_all("boxes => boxes.map((box) => box.dataset.kind)")

    assert set(reads(base, "Once upon a time")) == {"text"}
    expect(reading).to_contain_text("no template, no roles, no system prompt")
    choose_model(tab, "minimind-chat")
    typed = "A dog<|im_end|>"
    tab.get_by_label("Prompt", exact=True).fill(typed)
    kinds, ids = reads(chat, typed), chat.prompt_ids(typed)
    own, framed = kinds.count("user"), len(kinds) - kinds.count("user")
    expect(reading.locator(".note")).to_contain_text(f"{len(ids)} tokens: {own} are")
    expect(reading.locator(".note")).to_contain_text(f"the {framed} framed ones")
    expect(reading.locator(".reading-typed")).to_contain_text("You typed <|im_end|>")
    expect(reading.locator(".reading-ids p")).to_have_text(", ".join(map(str, ids)))
    expect(reading.locator(".reading-kinds li")).to_have_count(len(set(kinds)))

    boxes.nth(2).hover()
    expect(reading.locator("h3")).to_contain_text(f"has id {ids[2]}")
    boxes.first.focus()
    tab.keyboard.press("ArrowRight")
    expect(boxes.nth(1)).to_have_attribute("aria-selected", "true")
    expect(reading.locator("[data-on]")).to_have_text(re.compile(str(ids[1])))
    tab.get_by_label("Prompt", exact=True).fill("")
    expect(reading.locator(".note")).to_contain_text("The prompt is empty")
    expect(boxes.first).to_be_hidden()
    assert tab.locator("#run .panel-body").get_attribute("data-complete") == run


def test_a_conversation_goes_on_from_the_cache_and_a_link_repeats_it(
    own_tab: Page, chat: LoadedModel, window: BrowserContext, page_url: str
):
    tab = own_tab
    part(tab, "What the model reads")
    ask, turns = tab.get_by_label("The next question"), tab.locator("#turns")
    tab.get_by_label("System prompt").wait_for()
    expect(tab.get_by_label("System prompt")).to_be_disabled()
    ask.fill("And then?")
    ask.press("Enter")
    expect(turns.locator(".note")).to_contain_text("has no turns")
    expect(ask).to_have_value("And then?")

    choose_model(tab, "minimind-chat")
    tab.get_by_label("System prompt").fill("Answer in one sentence.")
    tab.get_by_label("Prompt", exact=True).fill("What is a dog?")
    with new_run(tab):
        tab.locator("#generate").click()
    ask.fill("And a cat?")
    boxes = tab.locator("#reading [role=option]")

    params = SamplingParams(top_p=DEFAULTS["top_p"], seed=DEFAULTS["seed"])
    talk = [{"role": "system", "content": "Answer in one sentence."}, {"role": "user", "content": "What is a dog?"}]
    first = chat.generate(talk, params, max_new_tokens=24)
    talk += [{"role": "assistant", "content": first.text}, {"role": "user", "content": "And a cat?"}]
    ids, held = chat.prompt_ids(talk), len(first.prompt_ids) + len(first) - 1
    expect(boxes).to_have_text([chat.labels[token_id] for token_id in ids])
    with new_run(tab):
        turns.get_by_role("button", name="Ask on").click()
    answers = [first.text, chat.generate(talk, params, max_new_tokens=24).text]
    expect(turns.locator(".turns-answer")).to_have_text(answers)
    expect(turns.locator(".turns-question")).to_have_text(["What is a dog?", "And a cat?"])
    said = f"Fed {len(ids) - held} new tokens; {held} are in the cache already. A new start would have fed {len(ids)}."
    expect(turns.locator(".turns-fed")).to_have_text(said)
    expect(turns.locator(".turns-alone")).to_contain_text("without this conversation")
    expect(ask).to_have_value("")

    expect(tab).to_have_url(re.compile("system=Answer.*answer.history=.*tab=sampling/answer-reading"))
    other = window.new_page()
    other.goto(tab.url)
    expect(other.locator("#turns .turns-answer")).to_have_text(answers)
    expect(other.locator("#turns .turns-fed")).to_have_text(
        f"The cache has gone: all {len(ids)} tokens were fed again."
    )
    expect(other.get_by_label("System prompt")).to_have_value("Answer in one sentence.")
    other.close()
    with new_run(tab):
        turns.get_by_role("button", name="Start anew").click()
    expect(turns.locator(".turns-answer")).to_have_text([first.text])
    expect(turns.locator(".turns-fed")).to_be_hidden()
    expect(turns.locator(".turns-alone")).to_be_hidden()
    tab.get_by_role("tab", name="Thirty answers").click()
    expect(tab.locator(".answers-board .answers-conditions").first).to_contain_text(
        "“What is a dog?” · system prompt “Answer in one sentence.”"
    )


def test_a_text_that_was_written_again_says_what_each_pass_read(tab: Page):
    """The tokens fed at each step were overwritten by how many the new text had needed in all."""
    slide(tab, "temperature", 1.6)
    settled(tab)
    for step, words in ((0, "4 tokens read"), (9, "1 token read")):
        tab.locator(".area-answer .token").nth(step).click()
        expect(tab.locator(".answer-tab [data-stage=pass] .stage-count")).to_have_text(words.replace(" ", "", 1))


def test_by_hand_the_libraries_differ_where_it_can_be_checked_by_eye(tab: Page):
    part(tab, "By hand")
    hand = tab.locator("#by-hand")
    hand.get_by_role("button", name="½, ¼, ⅛, ⅛ at p = 0.5").click()
    expect(hand.locator(".hand-verdict")).to_have_text(
        "At this step: transformers keeps 1, MiniMind keeps 2, vLLM keeps 1, llama.cpp keeps 1."
    )
    hand.get_by_role("button", name="logits 3, 2, 1 at T = 0.5, p = 0.8").click()
    expect(hand.locator(".hand-verdict")).to_contain_text("vLLM keeps 1, llama.cpp keeps 2")
    expect(tab.locator("#slider-temperature")).to_have_value("0.5")
    expect(hand.get_by_role("radio", name="logits")).to_have_attribute("aria-checked", "true")
    hand.get_by_role("radio", name="llama.cpp").click()
    cells = hand.locator(".hand-table tbody tr").evaluate_all("rows => rows.map((row) => row.cells[6].textContent)")
    assert cells == ["88.1 %", "11.9 %", "cut"]
    expect(hand.locator(".bar-rows .bar-row.is-cut .bar-label")).to_have_text(["C"])
    hand.get_by_label("Number of token 3").fill("2,5")
    hand.get_by_label("Number of token 3").press("Enter")
    expect(hand.locator(".bar-rows .bar-label").nth(1)).to_have_text("C")
    hand.get_by_label("Number of token 3").fill("many")
    hand.get_by_label("Number of token 3").press("Tab")
    expect(hand.get_by_role("alert")).to_contain_text("A logit must be a number")
    hand.locator("#hand-luck").evaluate(
        "(range) => { range.value = 0.99; range.dispatchEvent(new Event('input', { bubbles: true })); }"
    )
    expect(hand.locator("[data-stage=sample] strong")).to_have_text("C")  # of A and C, in that order


def test_no_part_of_the_tab_is_longer_than_two_screens_nor_wider_than_one(own_tab: Page):
    tab = own_tab
    for name in ("Stages", "You are the sampler", "What the model reads", "By hand"):
        tab.set_viewport_size({"width": 1366, "height": 768})  # on a phone the parts are in a menu
        part(tab, name)
        expect(tab.locator("#answer-parts :is(.bar-row, .reading-token):visible").first).to_be_visible()
        for width, height in ((1366, 768), (390, None)):
            tab.set_viewport_size({"width": width, "height": height or 844})
            drawn(tab)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
            assert unreadable(tab, "#answer-parts") == [], name
            assert tab.evaluate(UNFILLED) == [], name
            if height:
                below = "document.documentElement.scrollHeight - document.querySelector('#bar').offsetHeight"
                assert tab.evaluate(below) <= 2 * height, name  # the bar itself stays in sight
