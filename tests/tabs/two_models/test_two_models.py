"""Two models on one prompt: what is measured, against the slow way; packed copies; the arithmetic of the pictures."""

import dataclasses
import gc
import math

import pytest
import tokenizers
import torch
from conftest import TINY, tiny_model
from node import in_node

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams
from playground.engine.sampling import kl_bits
from playground.models.altered import packed_copy
from playground.models.answers import at_once
from playground.models.text import LoadedModel
from playground.models.tokenizer import Tokenizer
from playground.page.controls import DEFAULTS
from playground.page.requests import RequestError
from playground.tabs.two_models import sides
from playground.tabs.two_models.pair import Pair, compare_models
from playground.tabs.two_models.pair_values import compared
from playground.tabs.two_models.sides import PackedCopy, Side, choices, forms_of
from playground.words import say

FACT, STORY = say("two_models.prompt.fact"), say("two_models.prompt.story")
PARAMS = SamplingParams(top_p=0.9, seed=1)
CONTROLS = DEFAULTS | {"max_new_tokens": 20}


def pair_of(left: Side, right: Side, prompt: str, params=PARAMS, most=24, copies=None) -> Pair:
    prompts = left.loaded.prompt_ids(prompt), right.loaded.prompt_ids(prompt)
    return at_once(compare_models(left, right, prompts, params, most, copies or PackedCopy()))


def last_of(work):
    made = [each for each in work if isinstance(each, tuple)]
    return made[-1]


@pytest.fixture(scope="module")
def story(base: LoadedModel) -> Pair:
    """As the second example asks for it."""
    return pair_of(Side(base), Side(base, "int8"), STORY)


@pytest.fixture(scope="module")
def bytewise(tmp_path_factory) -> LoadedModel:
    """A model with other tokens: one for each byte, and an end."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE({letter: at for at, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    path = tmp_path_factory.mktemp("bytes") / "tokenizer.json"
    tokenizer.save(str(path))
    model = tiny_model(dataclasses.replace(TINY, vocab_size=257, max_positions=512))
    return LoadedModel("bytewise", model, Tokenizer(path), False, (256,), 512)


# ---- packed copies


def test_there_is_one_packed_copy_and_it_goes_with_its_model(chat, monkeypatch):
    made, copies = [], PackedCopy()
    monkeypatch.setattr(sides, "packed_copy", lambda model, form: made.append(form) or packed_copy(model, form))
    loaded = dataclasses.replace(chat, model=tiny_model())
    half = at_once(copies.model_of(Side(loaded, "float16")))
    assert at_once(copies.model_of(Side(loaded, "float16"))) is half and made == ["float16"]
    assert at_once(copies.model_of(Side(loaded))) is loaded.model
    assert at_once(copies.model_of(Side(loaded, "int8"))) is copies._copy is not half
    del loaded, half
    gc.collect()
    assert copies._copy is None
    monkeypatch.setattr(sides, "available_memory", lambda: 1000)
    with pytest.raises(
        RequestError, match=r"A packed copy of minimind-chat needs about 2\.4\d* MiB, and 1,000 B are free"
    ):
        at_once(copies.model_of(Side(chat, "int8")))


# ---- the comparison


def test_kl_is_the_sum_that_the_textbook_has():
    """(1/2, 1/4, 1/4) coded as (1/4, 1/2, 1/4): a quarter of a bit. The slow way for the rest, and 0 log 0 is 0."""
    assert kl_bits(torch.tensor([[2.0, 1, 1]]).log(), torch.tensor([[1.0, 2, 1]]).log()) == pytest.approx([0.25])
    true, other = (torch.randn(4, 30, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2))
    true[2, 7] = -math.inf
    slow = []
    for row, coded in zip(true.double().exp().tolist(), other.double().exp().tolist(), strict=True):
        probs = [(p / sum(row), q / sum(coded)) for p, q in zip(row, coded, strict=True)]
        slow.append(sum(p * math.log2(p / q) for p, q in probs if p > 0))
    assert kl_bits(true, other) == pytest.approx(slow, rel=1e-6)


def test_a_model_beside_itself_is_no_different(chat):
    pair = pair_of(Side(chat), Side(chat), "What should I do today?")
    assert pair.kl_bits == [0.0] * len(pair.left.trace) and all(column.same for column in pair.columns)
    assert pair.num_equal == len(pair.left.trace) == len(pair.right.trace)
    assert torch.equal(pair.reading.trace.logits, pair.left.trace.logits)
    assert pair.reading.trace.uniforms == pair.left.trace.uniforms


def test_both_answers_are_those_that_the_models_write_alone_and_the_right_one_reads_the_left_one(base, story):
    alone = list(generate(base.model, base.prompt_ids(STORY), PARAMS, None, 24, base.stop_ids))
    assert story.left.trace.token_ids == [step.token_id for step in alone]
    packed = at_once(packed_copy(base.model, "int8"))
    other = list(generate(packed, base.prompt_ids(STORY), PARAMS, None, 24, base.stop_ids))
    assert story.right.trace.token_ids == [step.token_id for step in other]
    equal = story.num_equal
    assert story.reading.trace.token_ids == story.left.trace.token_ids != story.right.trace.token_ids
    assert story.left.trace.token_ids[:equal] == story.right.trace.token_ids[:equal]
    assert story.left.trace.token_ids[equal] != story.right.trace.token_ids[equal]
    # As long as the texts are the same, reading is writing: the same passes give the same logits.
    assert torch.equal(story.reading.trace.logits[: equal + 1], story.right.trace.logits[: equal + 1])
    assert story.kl_bits == pytest.approx(kl_bits(story.left.trace.logits, story.reading.trace.logits))


def test_lesson_bits_they_shift_every_distribution_a_little_and_sixteen_bits_lose_nothing(base, story):
    """The file of the weights has 16 bits, so that nothing is left to be rounded."""
    assert 0 < story.num_equal < len(story.left.trace)
    assert min(story.kl_bits) > 0 and max(story.kl_bits) < 0.01
    half = pair_of(Side(base), Side(base, "float16"), STORY)
    assert max(half.kl_bits) < 1e-9 and half.num_equal == len(half.left.trace)


def test_other_tokens_are_compared_at_the_same_text(chat, bytewise):
    pair = pair_of(Side(chat), Side(bytewise), "What is the capital of France?")
    assert not pair.same_vocabulary and pair.kl_bits is None
    text, left, reading = pair.left.text, pair.left, pair.reading
    assert reading.text == text and bytes(chat.tokenizer.decode(left.trace.token_ids), "utf8") == text.encode()
    for step, place in enumerate(pair.places):  # a byte ends wherever a token does
        assert "".join(left.covers[:step]) == "".join(reading.covers[:place])
        assert reading.trace.uniforms[place] == left.trace.uniforms[step]
    assert reading.trace.token_ids[-1] == 256  # where the left answer ends, its own end is asked for
    back = pair_of(Side(bytewise), Side(chat), "What is the capital of France?", most=12)
    assert {place for place in back.places if place is not None} <= set(range(len(back.reading.trace)))
    assert back.places[0] == 0


def test_bits_per_byte_are_what_the_text_costs(chat, bytewise):
    """The slow way: one pass over the whole text, token by token."""
    pair = pair_of(Side(chat), Side(bytewise), "What is the capital of France?")
    for loaded, read in ((chat, pair.left), (bytewise, pair.reading)):
        prompt, ids = read.trace.prompt_ids, read.trace.token_ids[:-1]  # the last is the end
        logits = loaded.model(torch.tensor([[*prompt, *ids]]), KVCache.of(loaded.model))[0].double()
        rows = logits.log_softmax(-1)[len(prompt) - 1 : -1]
        bits = -sum(float(row[token_id]) for row, token_id in zip(rows, ids, strict=True)) / math.log(2)
        assert read.bits_per_byte() == pytest.approx(bits / len(pair.left.text.encode()), rel=1e-4)


def test_the_cache_per_token_is_measured_and_is_what_the_formula_says(chat, story):
    config = chat.model.config
    expected = 2 * config.num_layers * config.num_kv_heads * config.head_dim * 4
    assert story.left.cache_bytes_per_token == story.right.cache_bytes_per_token == expected
    assert story.right.weight_bytes < story.left.weight_bytes


# ---- what the page asks for and gets


def test_what_can_be_chosen_is_read_anew_each_time(base, chat, bytewise):
    models = {"minimind-base": base, "minimind-chat": chat}
    first = choices(models)
    assert len(first["sides"]) == 6 and [say(each["title"]) for each in first["sides"][:2]] == [
        "minimind-base",
        "minimind-base, 16 bits",
    ]
    assert [each["prompt"] for each in first["examples"]] == [FACT, STORY]
    models["bytewise"] = bytewise
    examples = [say(each["title"]) for each in choices(models)["examples"]]
    assert examples[1] == "bytewise | minimind-base"
    assert forms_of(dataclasses.replace(chat, model=at_once(packed_copy(chat.model, "int8")))) == ["loaded"]


def test_a_question_becomes_values_and_a_wrong_one_a_sentence(base, chat):
    models = {"minimind-base": base, "minimind-chat": chat}

    def ask(left=("minimind-base", "loaded"), right=("minimind-base", "int8"), prompt=STORY, controls=CONTROLS):
        sides = [dict(zip(("model", "form"), side, strict=True)) for side in (left, right)]
        question = {"left": sides[0], "right": sides[1], "prompt": prompt}
        return last_of(compared(models, PackedCopy(), question, "The little dog", controls))

    value, costs = ask()
    steps = len(value["left"]["token_ids"])
    assert steps == 20 == len(value["kl"]) == len(value["places"]) == len(value["answers"][0])
    assert value["reading"]["token_ids"] == value["left"]["token_ids"] and value["prompt"] == STORY
    assert value["columns"][value["different"]][0] == value["equal"]
    assert [say(cell) for cell in costs["rows"][1][1:]] == ["2 KiB", "2 KiB"]
    assert say(costs["rows"][2][1]) == "2 × 4 × 2 × 32 × 4 = 2 KiB"
    assert ask(prompt=None, controls=CONTROLS | {"max_new_tokens": 2})[0]["prompt"] == "The little dog"
    for wrong, message in (
        ({"left": ("nobody", "loaded")}, "minimind-base, minimind-chat"),
        ({"right": ("minimind-base", "int4")}, "can't be packed like that"),
        ({"prompt": 3}, "^Prompt: Input should be a valid string"),
    ):
        with pytest.raises(RequestError, match=message):
            ask(**wrong)


# ---- the arithmetic of the pictures

PICTURE = """
const run = (labels, logits, tokenId) => ({ numSteps: 1, vocabSize: labels.length, tokenIds: [tokenId], promptIds: [],
  uniforms: [0.6], vocabulary: labels, logits: Float32Array.from(logits, Math.log) });
const side = (made, params) => ({ run: made, now: reread.rereadStep(made, params, 0) });
const left = run(["a", "b", "c", "d"], [0.5, 0.25, 0.15, 0.1], 1);
const right = run(["x", "b", "a"], [0.7, 0.2, 0.1], 1);
const params = { temperature: 1, top_p: given.top_p, seed: 0 };
return [pair.rowsOf(side(left, params), side(right, params)), pair.rowsOf(side(left, params), null)];
"""
MODULES = {"pair": "tabs/two_models/pair.js", "reread": "page/js/reread.js"}


def test_tokens_stand_in_one_row_by_their_text():
    rows, alone = in_node(PICTURE, {"top_p": 1.0}, **MODULES)
    bars = {row["label"]: row["bars"] for row in rows}
    assert [row["label"] for row in rows] == ["x", "a", "b", "c", "d", None]  # by the longer bar; then all others
    assert [bars["a"][side]["prob"] for side in (0, 1)] == pytest.approx([0.5, 0.1])
    assert bars["x"][0]["model"] == 0 == bars["c"][1]["model"]  # a token that it does not have
    for side in (0, 1):
        assert sum(row["bars"][side]["prob"] for row in rows) == pytest.approx(1)
        assert sum(row["bars"][side]["model"] for row in rows) == pytest.approx(1)
    assert [row["label"] for row in rows if row["chosen"]] == ["b"]
    assert [[row["label"] for row in rows if row["bars"][side]["sampled"]] for side in (0, 1)] == [["b"], ["x"]]
    assert all(row["bars"][1] is None for row in alone)


def test_the_sliders_cut_both_sides():
    rows, _ = in_node(PICTURE, {"top_p": 0.7}, **MODULES)
    kept = {row["label"]: [bar["kept"] for bar in row["bars"]] for row in rows}
    assert kept.pop("x") == [False, True] and kept.pop("a") == kept.pop("b") == [True, False]
    assert all(each == [False, False] for each in kept.values())


def test_where_to_look_first_and_what_is_said():
    script = """
    const left = { numSteps: 3, params: { top_p: 0.9, seed: 1 } };
    const same = { left, different: null, equal: 3, columns: [], kl: [0.1, null, 0.2], answers: [["a", "b", "c"]] };
    const columns = [[0, 2, 0, 1], [2, 3, 1, 2]];
    const differs = { ...same, columns, different: 1, equal: 2 };
    return [pair.firstStep(same), pair.firstStep(differs), pair.verdict(same), pair.verdict(differs),
      pair.verdict({ ...differs, kl: null }), pair.klFacts([0.1, 0.3]), pair.klFacts(same.kl),
      pair.isMoved({ left, system: null }, { top_p: 0.9, seed: 1, system: "s" }),
      pair.isMoved({ left, system: "s" }, { top_p: 0.9, seed: 1, max_new_tokens: 9, system: "s" }),
      pair.isMoved({ left, system: "" }, { top_p: 0.9, seed: 1, system: "s" }),
      pair.isMoved({ left, system: null }, { top_p: 0.8, seed: 1 }),
      choices.chosenOf("int8:org/a:b")];"""
    made = in_node(script, **MODULES, choices="tabs/two_models/choices.js")
    assert made[:2] == [1, 2]
    assert [say(each) for each in made[2:5]] == [
        "Both write the same answer: 3 tokens.",
        "The first 2 tokens are the same.",
        "The first 2 tokens say the same.",
    ]
    assert made[5] == {"mean": pytest.approx(0.2), "most": 0.3} and made[6] == {"mean": "Infinity", "most": "Infinity"}
    assert made[7:11] == [False, False, True, True] and made[11] == {"form": "int8", "model": "org/a:b"}
