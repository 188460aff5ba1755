"""The training pipeline, on a handful of texts: six steps of everything, and the laws of the data it makes."""

import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from playground import SamplingParams, generate, load_model
from training.__main__ import main
from training.chat_data import ChatData, chat_text
from training.chat_tables import OPEN_QUESTIONS
from training.corpus import END_OF_TEXT, Windows
from training.facts import all_facts, load_facts, save_facts
from training.finetune import padded
from training.learning import IGNORED, rate_at
from training.name_tables import HELD_OUT_PREFIXES
from training.pretrain import pretrain
from training.settings import Recipe, quick
from training.stories import document, story
from training.story_plots import PLOTS
from training.tokenizer import load_tokenizer, train_tokenizer
from training.wording import expand, plain, plural, proper, zipf_choice

COUNTRIES = [
    {"name": "France", "capital": "Paris", "currencyname": "Euro", "languages": "fr-FR", "continentcode": "EU"},
    {"name": "Brazil", "capital": "Brasília", "currencyname": "Real", "languages": "pt-BR", "continentcode": "SA"},
    {"name": "Japan", "capital": "Tokyo", "currencyname": "Yen", "languages": "ja", "continentcode": "AS"},
    {"name": "Egypt", "capital": "Cairo", "currencyname": "Pound", "languages": "ar-EG", "continentcode": "AF"},
]
QUIZZES = {
    "state": ["Alabama|Ala|AL:Montgomery:AL:goldenrod"],
    "elements": ["H:1:1.008:Hydrogen"],
    "babies": ["kitten:cat|fox"],
    "collectives": ["lions:pride"],
    "sexes": [],
}


def write_texts(folder: Path) -> None:
    raw = folder / "raw"
    raw.mkdir(parents=True)
    verses = [f"Genesis\t{1 + i // 10}\tVerse {i}: and there was light over the water." for i in range(200)]
    (raw / "bible.tsv").write_text("\n".join([*verses, "Ruth\t1\tThis book is held out."]))
    paragraphs = [f"Emma\tEmma number {i} walked to the village and talked with her father." for i in range(100)]
    (raw / "austen.tsv").write_text("\n".join([*paragraphs, "Persuasion\tThis novel is held out."]))
    (raw / "wordnet.tsv").write_text("\n".join(f"word\tthe word number {i} stands here" for i in range(200)))
    (raw / "countries.json").write_text(json.dumps({"countries": COUNTRIES, "cities": ["Lyon", "Osaka", "Luxor"]}))
    (raw / "quizzes.json").write_text(json.dumps(QUIZZES))
    (raw / "dictionary.txt").write_text("a\nthe\n")


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[Recipe, Path]:
    """Six steps of everything, by the command that a person would type."""
    folder, output = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("model")
    write_texts(folder)
    main(["--quick", "--folder", str(folder), "--output", str(output)])
    return quick(Recipe(folder=folder)), output


@pytest.fixture(scope="module")
def data(trained) -> ChatData:
    return ChatData(trained[0])


def test_six_steps_make_a_model_that_loads_and_writes(trained):
    _, output = trained
    for name in ("minimind-base", "minimind-chat"):
        loaded = load_model(name, output)
        steps = list(generate(loaded.model, loaded.prompt_ids("Once upon"), SamplingParams(seed=1), None, 4))
        assert len(steps) == 4 and loaded.trained_length == 128


def test_base_and_chat_differ_and_are_stored_in_half_precision_without_the_tied_head(trained):
    base, chat = (load_file(trained[1] / f"{name}.safetensors") for name in ("base", "chat"))
    assert {tensor.dtype for tensor in base.values()} == {torch.float16}
    assert "model.layers.3.self_attn.q_proj.weight" in base and "lm_head.weight" not in base
    assert not torch.equal(base["model.embed_tokens.weight"], chat["model.embed_tokens.weight"])


def test_an_interrupted_run_ends_with_the_same_weights(trained, tmp_path):
    recipe = replace(trained[0], base_tokens=4 * 2 * 32, batch_sequences=2, trained_length=32, save_every=2)
    states = []
    for name, stops in (("whole", [None]), ("interrupted", [3, None])):
        folder = tmp_path / name
        folder.mkdir()
        for file in ("base.bin", "base_starts.bin"):
            (folder / file).write_bytes((trained[0].folder / file).read_bytes())
        for stop in stops:
            pretrain(replace(recipe, folder=folder), stop_after=stop)
        states.append(torch.load(folder / "base.checkpoint.pt", weights_only=True)["model"])
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_a_finished_stage_is_not_repeated(trained, capsys):
    recipe, output = trained
    main(["--quick", "--folder", str(recipe.folder), "--output", str(output)])
    assert "loss" not in capsys.readouterr().out


def test_the_tokenizer_round_trips_any_text_and_knows_minimind_s_markers(trained):
    tokenizer = load_tokenizer(trained[0])
    for text in ("日本の首都は?", "수도는 어디입니까", "Столица Франции", "🙂👍🏽", " two  spaces\n", "naïve café"):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
    ids = tokenizer.encode(chat_text("Hi") + "Hello!<|im_end|>").ids
    assert tokenizer.encode("user\nassistant").tokens == ["user", "Ċ", "assistant"]
    assert ids[0] == 1 and ids.count(2) == 2 and tokenizer.token_to_id("<|endoftext|>") == END_OF_TEXT


def test_the_tokenizer_is_the_same_each_time(trained, tmp_path):
    recipe = replace(trained[0], folder=tmp_path)
    write_texts(tmp_path)
    train_tokenizer(recipe)
    assert recipe.file("tokenizer.json").read_bytes() == trained[0].file("tokenizer.json").read_bytes()


def test_a_window_begins_where_a_document_begins(trained):
    windows = Windows(trained[0].folder, 128)
    starts = set(np.fromfile(trained[0].file("base_starts.bin"), dtype=np.int64).tolist())
    assert set(windows.begins) <= starts
    gaps = np.diff(windows.begins)
    assert gaps.min() >= 128  # no text is learned twice in one pass


def test_only_the_answer_is_learned():
    inputs, targets = padded([([1, 5, 6, 7, 8, 2], 4), ([1, 5, 9, 2], 2)])
    assert inputs.tolist() == [[1, 5, 6, 7, 8], [1, 5, 9, 0, 0]]
    assert targets.tolist() == [[IGNORED] * 3 + [8, 2], [IGNORED, 9, 2, IGNORED, IGNORED]]


def test_the_learning_rate_rises_then_falls_to_nothing():
    rates = [rate_at(step, 1000) for step in range(1000)]
    assert rates[0] < 0.02 and max(rates) == 1.0 and rates[-1] < 1e-4
    assert rates[200:] == sorted(rates[200:], reverse=True)


def test_stories_are_finished_sentences():
    """Born from `a apple`, `eat cookie` and unfilled {names} of a first version."""
    rng = random.Random(5)
    for text in (document(rng) for _ in range(1500)):
        assert not re.search(r"[{}\[\]|]", text), text
        assert not re.search(r"\b[Aa] [aeio]", text), text
        assert text[0] in '"' or text[0].isupper(), text
        assert text[-1] in '.!?"', text


def test_a_story_keeps_to_its_hero():
    rng = random.Random(6)
    for told in (story(rng) for _ in range(300)):
        assert told.hero in told.text


def test_there_are_twenty_plots_and_each_is_told():
    assert len(PLOTS) >= 20
    firsts = Counter(story(random.Random(seed)).sentences[-2] for seed in range(2000))
    assert len(firsts) > len(PLOTS)


def test_accents_are_folded_not_dropped(data):
    """A filter that dropped `Brasília` lost Brazil, and the model invented a capital."""
    assert plain("São Tomé, Yaoundé, Brasília") == "Sao Tome, Yaounde, Brasilia"
    assert "The capital of Brazil is Brasilia." in {fact.answer for fact in data.facts}


def test_english_that_a_template_can_not_know():
    assert proper("he saw a apple. it was a euro.") == "He saw an apple. It was a euro."
    assert proper('"come," said Tom. "now."') == '"Come," said Tom. "Now."'
    assert proper('"Where?" he asked.') == '"Where?" he asked.'
    assert [plural(noun) for noun in ("cookie", "fox", "berry", "mouse")] == ["cookies", "foxes", "berries", "mice"]
    assert expand("a [b|b] {c}", {"c": "d"}, random.Random(0)) == "A b d"


def test_the_first_is_drawn_most():
    rng = random.Random(0)
    counts = Counter(zipf_choice(rng, "abcd", 1.3) for _ in range(4000))
    assert [letter for letter, _ in counts.most_common()] == list("abcd")
    assert counts["a"] / counts["b"] == pytest.approx(2**1.3, rel=0.15)


def test_a_question_has_one_answer(data):
    answers: dict[str, set[str]] = {}
    for fact in data.facts:
        for question in (*fact.questions, *fact.held_out):
            answers.setdefault(question.lower().rstrip("?.! "), set()).add(fact.answer)
    assert not [question for question, given in answers.items() if len(given) > 1]


def test_held_out_wordings_are_never_trained(data):
    rng = random.Random(1)
    held_out = {question.lower().rstrip("?.") for fact in data.facts for question in fact.held_out}
    asked = [data.pair(rng).question.lower().rstrip("?.") for _ in range(5000)]
    assert not held_out & set(asked)


def test_greetings_are_filled_in_and_the_held_out_ones_never_trained(data):
    rng = random.Random(4)
    asked = [data.pair(rng).question for _ in range(5000)]
    assert any(question.startswith("Next question: ") for question in asked)
    assert not [question for question in asked if "{" in question or question.startswith(HELD_OUT_PREFIXES)]


def test_nothing_known_is_taught_to_be_unknown(data):
    rng = random.Random(2)
    known = {question for fact in data.facts for question in fact.questions}
    assert not known & {data.unknown_question(rng) for _ in range(5000)}


def test_the_grammar_of_open_answers_is_open_at_1_and_narrow_at_0_2():
    """Temperature acts on each draw: r ** -(exponent / temperature). This is what the model is to learn."""
    rng = random.Random(3)

    def distinct(asked, temperature: float) -> float:
        def draw() -> tuple:
            steepness = asked.exponent / temperature
            return tuple(zipf_choice(rng, range(len(words)), steepness) for words in asked.slots.values())

        return sum(len({draw() for _ in range(30)}) for _ in range(20)) / 20

    assert len(OPEN_QUESTIONS) >= 20
    for asked in OPEN_QUESTIONS:
        assert distinct(asked, 0.2) <= 5 and distinct(asked, 1.0) >= 15, asked.kind


def test_facts_are_the_same_after_a_round_trip(trained, tmp_path):
    facts = all_facts(trained[0])
    save_facts(facts, tmp_path / "facts.json")
    assert load_facts(tmp_path / "facts.json") == facts
