"""What the pictures of the tab work out and say, by node: V = 4 tokens, their probabilities easy to check by eye."""

from typing import Any

import pytest
from node import in_node

from playground.engine.stages import RULES, STAGES
from playground.tabs.one_answer.questions import Finding
from playground.tabs.one_answer.tab import presets
from playground.words import catalogue, told

TAB = "tabs/one_answer"
RUN = """
words.use(given.texts);
const probs = [0.4, 0.3, 0.2, 0.1];
const run = { id: "a", model: "m", prompt: "p", numSteps: 2, vocabSize: 4, tokenIds: [0, 3], promptIds: [2],
  forced: new Set(), params: { seed: 1 }, uniforms: [0.5, 0.95],
  logits: Float32Array.from([...probs, ...probs], Math.log),
  vocabulary: ["a", "b", "c", "d"], labels: ["a", "d"], pieces: ["a", "d"] };
const off = { temperature: 1, rule: "transformers", seed: 1 };
"""


def in_tab(script: str, facts: Any = None, **modules: str) -> Any:
    """What `script` returns; it sees `run`, `off` (all stages off), the modules of the tab and `given.facts`."""
    modules = {"words": "page/js/words.js", "rereading": "page/js/reread.js"} | {
        name: f"{TAB}/{file}.js" for name, file in modules.items()
    }
    return in_node(RUN + script, {"texts": catalogue(), "facts": facts}, **modules)


def card_of(stage: str, **settings: Any) -> dict[str, str]:
    """What the card of a stage says at step 1 of the run."""
    return in_tab(
        """
        const params = { ...off, ...given.facts.settings };
        const now = rereading.rereadStep(run, params, 1);
        const place = now.stages.findIndex(({ name }) => name === given.facts.stage);
        const before = place ? now.stages[place - 1] : { ...now.uncut, probs: now.modelProbs };
        return says.stageWords({ stage: now.stages[place], before, run, params, step: 1 });
        """,
        {"stage": stage, "settings": settings},
        says="stage_words",
    )


@pytest.mark.parametrize(
    ("stage", "settings", "why"),
    [
        ("top-k", {}, "Off."),
        ("top-k", {"top_k": 3}, "Keeps the 3 most likely, whatever their probability."),
        ("top-k", {"top_k": 4}, "Nothing to do: 4 came in, no more than k."),
        ("top-k", {"top_k": 3, "temperature": 0}, "Nothing to do: T = 0 has left one token."),
        ("penalty", {"repetition_penalty": 1.1}, "Changes 2 tokens seen in prompt and answer."),
        ("penalty", {"presence_penalty": 1, "penalty_counts_prompt": False}, "Changes 1 token seen in the answer."),
        ("top-p", {"top_p": 0.3}, "The most likely alone has 40.0 %."),
        ("top-p", {"top_p": 0.6}, "The most likely whose sum reaches 0.6."),
        ("top-p", {"top_p": 0.95}, "Nothing to do: all 4 are needed to reach 0.95."),
        ("top-p", {"top_k": 1, "top_p": 0.3}, "Nothing to do: one token is left."),
        ("min-p", {"min_p": 0.5}, "At least 20.0 %: 0.5 of the most likely."),
        ("min-p", {"min_p": 0.05}, "Nothing to do: all have at least 2.00 %."),
        ("typical-p", {"typical_p": 0.2},
         "Keeps tokens whose surprise is near the entropy, 1.28 nats. Not the most likely."),
        ("top-n-sigma", {"top_n_sigma": 1}, "Keeps logits within 1 standard deviation of the largest."),
        ("top-n-sigma", {"top_n_sigma": 4.5},
         "Nothing to do: all logits lie within 4.5 standard deviations of the largest."),
        ("temperature", {}, "Nothing to do: division by 1."),
        ("temperature", {"temperature": 0}, "Greedy: the most likely only."),
        ("temperature", {"temperature": 0.5}, "Sharper: 40.0 % → 53.3 % for the first."),
        ("temperature", {"temperature": 2}, "Flatter: 40.0 % → 32.5 % for the first."),
    ],
)  # fmt: skip
def test_a_card_says_what_its_stage_did(stage: str, settings: dict, why: str):
    assert card_of(stage, **settings)["why"] == why


def test_every_stage_rule_and_preset_has_its_words():
    """They are asked for by the names of the tables: a new row without words would leave its card empty."""
    wanted = [f"page.stage.{name}" for name in ("model", *STAGES, "sample", "none")]
    wanted += [f"one_answer.stage.{setting.field}" for setting in STAGES["penalty"].settings]
    wanted += [f"one_answer.{part}.{name}" for name in RULES for part in ("rule_name", "rule_text")]
    wanted += [f"one_answer.preset.{preset['key']}.{part}" for preset in presets() for part in ("name", "text")]
    assert [key for key in wanted if key not in catalogue()] == []


def test_a_card_has_its_setting_and_what_is_left():
    assert card_of("top-k", top_k=3)["small"] == "kept, 90.0 % of the mass"
    assert card_of("top-k", top_k=1000) | {"why": ""} == {"setting": "1,000", "big": "4", "small": "tokens", "why": ""}
    both = card_of("penalty", repetition_penalty=1.3, frequency_penalty=0.2)["setting"]
    assert both == "repetition 1.3, frequency 0.2"


def test_a_rule_says_that_greedy_skips_a_cut_before_it():
    assert card_of("top-k", top_k=2, temperature=0, rule="llama.cpp")["why"] == (
        "Skipped: at T = 0 the most likely token wins."
    )


def test_a_cut_that_keeps_ties_says_how_many():
    said = in_tab(
        """
        const even = { ...run, logits: Float32Array.of(0, 0, -2, -3, 0, 0, -2, -3) };
        const params = { ...off, rule: "minimind", top_k: 1 };
        const { uncut, stages, modelProbs } = rereading.rereadStep(even, params, 0);
        const stage = stages.find(({ name }) => name === "top-k");
        return says.stageWords({ stage, before: { ...uncut, probs: modelProbs }, run: even, params, step: 0 }).why;
        """,
        says="stage_words",
    )
    assert said == "The 1 most likely and 1 as likely as the last."


def test_the_last_card_tells_whether_the_run_has_the_token_that_is_picked_now():
    said = in_tab(
        """
        const why = (run, params, step) => says.sampleWords(rereading.rereadStep(run, params, step), run).why;
        return [why(run, off, 1), why(run, { ...off, top_k: 2 }, 1), why(run, { ...off, top_k: 1 }, 0),
                why({ ...run, forced: new Set([1]) }, off, 1)];
        """,
        says="stage_words",
    )
    assert said == [
        "Where u falls on the sum of the probabilities.",
        "The run has d: it would differ from here.",
        "One token left: the random number changes nothing.",
        "You chose d here.",
    ]


def test_the_bars_of_a_card_share_one_scale_and_show_what_was_cut():
    view, all_, kept = in_tab(
        """
        const now = rereading.rereadStep(run, { ...off, top_k: 2 }, 0);
        const view = cards.viewOf(now);
        const first = { ...now.uncut, probs: now.modelProbs };
        const cut = now.stages.find(({ name }) => name === "top-k");
        return [view, cards.barsOf(first, null, view), cards.barsOf(cut, first, view)];
        """,
        cards="stage_card",
    )
    assert view == {"from": 0, "to": 4, "top": pytest.approx(4 / 7)}
    assert [all_["kept"].count("M"), all_["gone"]] == [4, ""]
    assert [kept["kept"].count("M"), kept["gone"].count("M")] == [2, 2]


def test_the_other_rules_are_compared_and_not_under_a_penalty():
    all_, each, none = in_tab(
        """
        const warm = { ...off, temperature: 2, top_p: 0.65 };
        return [off, warm, { ...off, presence_penalty: 1 }].map((params) => row.comparison(run, params, 0));
        """,
        row="stages",
    )
    assert all_ == "At this step all four keep 4 tokens."
    assert each == "At this step: transformers keeps 3, MiniMind keeps 3, vLLM keeps 3, llama.cpp keeps 2."
    assert none == ""


def test_the_softmax_has_the_numbers_of_the_token_under_the_pointer():
    kept, cut, greedy = in_tab(
        """
        const formula = (place, params) =>
          softmax.formulaOf(rereading.rereadStep(run, params, 0), place, params, run);
        return [formula(1, { ...off, temperature: 0.5, top_k: 3 }), formula(3, { ...off, top_k: 3 }),
                formula(0, { ...off, temperature: 0 })];
        """,
        softmax="formula",
    )
    # Squares of 0.4, 0.3 and 0.2: 16 + 9 + 4 = 29 sixteenths.
    assert kept["fractions"] == [
        [["e", "(z − z₁) / T"], ["Σ e", "(zⱼ − z₁) / T", " over the 3 kept"]],
        [["e", "(−1.20 − (−0.92)) / 0.5"], ["1.8125"]],
        [["0.5625"], ["1.8125"]],
    ]
    assert kept["result"] == "= 31.0 %"
    assert cut["fractions"][2] == [["0"], ["2.25"]] and cut["result"] == "= 0 %"
    assert greedy == {"fractions": [], "result": "1"}


def test_four_curves_and_fewer_words_where_there_is_less_room():
    wide, narrow = in_tab(
        """
        const read = rereading.reread(run, { ...off, top_k: 3 });
        const told = (isNarrow) => whole.curvesOf(run, read, isNarrow).map((curve) =>
          [curve.name, curve.say(curve.values[0], 0)]);
        return [told(false), told(true)];
        """,
        whole="whole_answer",
    )
    assert wide == [
        ["Nucleus size", "3 tokens"],
        ["Entropy", "1.06 nats, as 2.9 equal tokens"],
        ["Probability of the token written", "44.4 % (model 40.0 %)"],
        ["Its rank", "1, the most likely"],
    ]
    assert [narrow[1][1], *narrow[2]] == ["1.06 nats", "Probability", "44.4 %"]


@pytest.mark.parametrize(
    ("settings", "step"),
    [({}, None), ({"top_k": 2}, 1), ({"seed": 2}, 0), ({"seed": 2, "temperature": 0}, 1)],
)
def test_the_live_answer_begins_where_the_sliders_change_it(settings: dict, step: int | None):
    """The run is a, d: its numbers are 0.5 of a, b and 0.95 of d. Hence the first is forced."""
    found = in_tab(
        """
        const params = { ...off, ...given.facts };
        const forced = { ...run, forced: new Set([0]) };
        return live.firstChange({ run: forced, params, reread: rereading.reread(forced, params) });
        """,
        settings,
        live="live",
    )
    assert found == step


def test_a_branch_goes_on_only_from_the_same_beginning():
    assert in_tab(
        """
        const same = (other, step) => fork.hasBeginning(run, { ...run, ...other }, step);
        return [same({}, 1), same({ tokenIds: [0, 1] }, 1), same({ tokenIds: [1, 3] }, 1), same({ prompt: "q" }, 1),
                same({}, 2)];
        """,
        fork="fork",
    ) == [True, True, False, False, False]


def test_a_table_has_its_heads_and_cells_in_words_and_an_empty_cell_where_there_is_nothing():
    row = {"temperature": 0.7, "first_difference": told("one_answer.finding.Q3.at_step", step=2), "uniform": 0.25}
    empty = {"temperature": 1.5, "first_difference": told("one_answer.finding.Q3.never"), "uniform": None}
    found = Finding([row, empty])
    table = in_tab("return ask.tableOf(given.facts)", {"question": "Q3"} | vars(found), ask="questions")
    assert table["columns"] == ["temperature", "parts at", "random number"]
    assert table["rows"] == [["T = 0.7", "step 2", "0.2500"], ["T = 1.5", "none", ""]]
