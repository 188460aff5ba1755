"""What the pictures of the tab work out and say, by node: V = 4 tokens, their probabilities easy to check by eye."""

import random
from typing import Any

import pytest
import torch
from node import in_node

from playground.engine.params import SamplingParams
from playground.engine.sampling import next_token_distribution
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
        ("top-k", {"top_k": 3}, "The 3 most likely, whatever their probabilities."),
        ("top-k", {"top_k": 4}, "Nothing to do: 4 came in, no more than k."),
        ("top-k", {"top_k": 3, "temperature": 0}, "Nothing to do: T = 0 has left one token."),
        ("penalty", {"repetition_penalty": 1.1}, "Changes 2 tokens seen in prompt and answer."),
        ("penalty", {"presence_penalty": 1, "penalty_counts_prompt": False}, "Changes 1 token seen in the answer."),
        ("top-p", {"top_p": 0.3}, "The top token alone has 40.0 %."),
        ("top-p", {"top_p": 0.6}, "The smallest set of top tokens that adds up to at least 0.6."),
        ("top-p", {"top_p": 0.6, "rule": "minimind"}, "The smallest set of top tokens that adds up to more than 0.6."),
        ("top-p", {"top_p": 0.95}, "Nothing to do: all 4 are needed to reach 0.95."),
        ("top-p", {"top_k": 1, "top_p": 0.3}, "Nothing to do: one token is left."),
        ("min-p", {"min_p": 0.5}, "Tokens with at least 20.0 %: 0.5 times the top token."),
        ("min-p", {"min_p": 0.05}, "Nothing to do: all have at least 2.00 %."),
        ("typical-p", {"typical_p": 0.2},
         "Tokens whose surprise is near the entropy, 1.28 nats. The top token is cut."),
        ("top-n-sigma", {"top_n_sigma": 1}, "Logits within 1 standard deviation of the largest."),
        ("top-n-sigma", {"top_n_sigma": 4.5},
         "Nothing to do: all logits lie within 4.5 standard deviations of the largest."),
        ("temperature", {}, "Nothing to do: division by 1."),
        ("temperature", {"temperature": 0}, "Greedy: the most likely token only."),
        ("temperature", {"temperature": 0.5}, "Sharper: the top token goes from 40.0 % to 53.3 %."),
        ("temperature", {"temperature": 2}, "Flatter: the top token goes from 40.0 % to 32.5 %."),
    ],
)  # fmt: skip
def test_a_card_says_what_its_stage_did(stage: str, settings: dict, why: str):
    assert card_of(stage, **settings)["why"] == why


def test_every_stage_rule_and_preset_has_its_words():
    """They are asked for by the names of the tables: a new row without words would leave its card empty."""
    wanted = [f"page.stage.{name}" for name in ("pass", "model", *STAGES, "sample", "none")]
    wanted += [f"one_answer.stage.{setting.field}" for setting in STAGES["penalty"].settings]
    wanted += [f"one_answer.{part}.{name}" for name in RULES for part in ("rule_name", "rule_text")]
    wanted += [f"one_answer.preset.{preset['key']}.{part}" for preset in presets() for part in ("name", "text")]
    assert [key for key in wanted if key not in catalogue()] == []


def test_a_card_has_its_setting_and_what_is_left():
    assert card_of("top-k", top_k=3)["small"] == "kept, 90.0 % of what came in"
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
    assert said == "The 1 most likely tokens and 1 more that tie for the last place."


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
        "The token whose slice of the 0–1 line contains u.",
        "The run has d: it would diverge here.",
        "One token is left: the random number changes nothing.",
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


def test_a_pass_reads_what_the_cache_does_not_hold():
    first, second, picture = in_tab(
        """
        const fed = { ...run, promptLength: 5, numFed: [5, 1] };
        return [says.passWords(fed, 0), says.passWords(fed, 1), cards.passOf(5, 1)];
        """,
        says="stage_words",
        cards="stage_card",
    )
    assert [first["big"], first["small"], first["cached"]] == ["5", "tokens read", 0]
    assert [second["big"], second["small"], second["cached"]] == ["1", "token read", 5]
    assert second["why"] == "5 more come from the cache. Only the last row of logits is used."
    assert [picture["gone"].count("M"), picture["kept"].count("M")] == [5, 1]


def test_a_filter_names_what_its_share_is_a_share_of():
    """92.2 % beside the question and 92.5 % on the card were one cut: of the model, and of what top-k had left."""
    came_in, model = in_tab(
        """
        const params = { ...off, top_k: 3, top_p: 0.7 };
        const now = rereading.rereadStep(run, params, 0);
        const place = now.stages.findIndex(({ name }) => name === "top-p");
        const [before, stage] = [now.stages[place - 1], now.stages[place]];
        const share = now.modelProbs.subarray(0, stage.stop).reduce((sum, prob) => sum + prob, 0);
        return [says.stageWords({ stage, before, run, params, step: 0 }).small, share];
        """,
        says="stage_words",
    )
    # 0.4 + 0.3 of the model; 7 of the 9 tenths that top-k lets through.
    assert model == pytest.approx(0.7, abs=1e-6) and came_in == "kept, 77.8 % of what came in"


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
    assert kept == {
        "difference": "−1.20 − (−0.92)",
        "temperature": "0.5",
        "weight": "0.5625",
        "sum": "1.8125",
        "stays": True,
    }
    assert (cut["weight"], cut["sum"], cut["stays"]) == ("0", "2.25", False)
    assert greedy is None


def test_two_curves_and_fewer_words_where_there_is_less_room():
    """With top-p off the upper one was called the size of a nucleus."""
    wide, narrow, cells = in_tab(
        """
        const read = rereading.reread(run, { ...off, top_k: 3 });
        const told = (isNarrow) => whole.curvesOf(run, read, isNarrow).map((curve) =>
          [curve.name, curve.say(curve.values[0], 0)]);
        return [told(false), told(true), whole.cellsOf(run, read, 1)];
        """,
        whole="whole_answer",
    )
    assert wide == [
        ["Tokens that can be sampled", "3 tokens"],
        ["Probability of the written token", "44.4 % (model 40.0 %)"],
    ]
    assert narrow == [["Can be sampled", "3 tokens"], ["Probability", "44.4 %"]]
    assert cells == [1, "d", "3", "0 %", "10.00 %", 4, "1.06 nats"]


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
    assert table["columns"] == ["temperature", "diverges at", "random number"]
    assert table["rows"] == [["T = 0.7", "step 2", "0.2500"], ["T = 1.5", "none", ""]]


# ---- a person chooses the tokens


def test_the_score_of_an_answer_is_what_torch_says():
    probs = torch.tensor([0.4, 0.3, 0.2, 0.1])
    model, none = in_tab(
        """
        const read = rereading.reread(run, { ...off, top_k: 3 });
        return [sampler.scoreOf(read, 2), sampler.scoreOf(read, 0)];
        """,
        sampler="sampler",
    )
    loss = torch.nn.functional.cross_entropy(probs.log().expand(2, 4), torch.tensor([0, 3]))
    assert model["model"] == pytest.approx(0.04, rel=1e-6)
    assert model["perplexity"] == pytest.approx(float(loss.exp()), rel=1e-5)
    assert model["settings"] == 0, "top-k has cut d"
    assert none is None


def test_what_is_typed_finds_tokens_with_a_space_and_without_the_exact_ones_first():
    labels = ["do", "␣dog", "␣do", "␣cat", "dot"]
    found = in_tab(
        """
        const ids = (typed, most) => sampler.suggestions({ ranking: [4, 3, 1, 2, 0] }, given.facts, typed, most)
          .map(({ id, place }) => [id, place]);
        return [ids("do", 9), ids("do", 2), ids(" d", 9), ids("x", 9), ids("", 9)];
        """,
        labels,
        sampler="sampler",
    )
    assert found == [[[2, 3], [0, 4], [4, 0], [1, 2]], [[2, 3], [0, 4]], [[1, 2], [2, 3]], [], []]


# ---- by hand

HAND = """
const tokens = given.facts.values.map((value, place) => [`t${place}`, value]);
const hand = { kind: given.facts.kind, uniform: 0.4, tokens };
const params = { ...off, ...given.facts.settings };
"""


def by_hand(kind: str, values: list[float], **settings: Any) -> dict[str, Any]:
    facts = {"kind": kind, "values": values, "settings": settings}
    return in_tab(f"{HAND} return hands.resultsOf(hand, params);", facts, hands="by_hand")


@pytest.mark.parametrize(
    ("kind", "values", "settings", "kept"),
    [
        ("probs", [0.5, 0.25, 0.125, 0.125], {"top_p": 0.5}, [1, 2, 1, 1]),
        ("probs", [0.5, 0.25, 0.125, 0.125], {"top_p": 0.75}, [2, 3, 2, 2]),
        ("logits", [3, 2, 1], {"temperature": 0.5, "top_p": 0.8}, [1, 1, 1, 2]),
        ("logits", [3, 2, 1, 0, -1], {"temperature": 2, "min_p": 0.1}, [5, 5, 5, 3]),
        ("probs", [0.4, 0.3, 0.2, 0.1], {"top_p": 0.55, "top_k": 2}, [1, 1, 1, 1]),
        ("probs", [1, 0, 3], {}, [2, 2, 2, 2]),
    ],
)
def test_by_hand_the_four_libraries_keep_what_their_sources_say(kind: str, values: list, settings: dict, kept: list):
    """One token or two, by the library; and Python's engine is the judge of every number."""
    results = by_hand(kind, values, **settings)
    assert list(results["kept"].values()) == kept
    logits = torch.tensor(values, dtype=torch.float64)
    logits = (logits / logits.sum()).log().float() if kind == "probs" else logits.float()
    for rule, probs in results["rules"].items():
        expected = next_token_distribution(logits, SamplingParams(rule=rule, **settings))
        assert probs == pytest.approx(expected.probs.tolist(), abs=1e-6), rule
        assert results["kept"][rule] == expected.num_candidates
    assert results["model"] == pytest.approx(torch.softmax(logits, -1).tolist(), abs=1e-6)


def test_by_hand_agrees_with_python_on_random_numbers():
    chance = random.Random(5)
    for _case in range(4):
        values = [round(chance.uniform(-4, 4), 2) for _token in range(chance.randint(2, 8))]
        settings = {"temperature": chance.choice([0, 0.5, 1.7]), "top_p": round(chance.random(), 2), "top_k": 3}
        for rule, probs in by_hand("logits", values, **settings)["rules"].items():
            expected = next_token_distribution(torch.tensor(values), SamplingParams(rule=rule, **settings))
            assert probs == pytest.approx(expected.probs.tolist(), abs=1e-6), (rule, values, settings)


def test_by_hand_the_random_number_picks_the_token_and_the_numbers_change_their_kind():
    picked, logits, back = in_tab(
        f"""{HAND}
        const pick = (uniform) => hands.handRun({{ ...hand, uniform }}, params).tokenIds[0];
        const picked = [0, 0.49, 0.51, 0.8, 0.999].map(pick);
        const logits = hands.inKind(hand, "logits");
        return [picked, hands.resultsOf(logits, params).model, hands.inKind(logits, "probs").tokens];
        """,
        {"kind": "probs", "values": [0.5, 0.25, 0.25], "settings": {}},
        hands="by_hand",
    )
    assert picked == [0, 0, 1, 2, 2]
    assert logits == pytest.approx([0.5, 0.25, 0.25], abs=1e-4)
    assert back == [["t0", 0.5], ["t1", 0.25], ["t2", 0.25]]


def test_by_hand_only_numbers_are_taken():
    read = "return given.facts.map(([text, kind]) => hands.readValue(text, kind))"
    asked = [["0,5", "probs"], ["-1", "probs"], ["−1", "logits"], ["1e9", "logits"], ["", "probs"], ["a", "logits"]]
    assert in_tab(read, asked, hands="by_hand") == [0.5, None, -1, None, None, None]
