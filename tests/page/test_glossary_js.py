"""The terms that the page explains: each has its words, and is found where it stands and nowhere else."""

import pytest
from node import in_node

from playground.words import catalogue

TERMS = sorted({key.split(".")[1] for key in catalogue() if key.startswith("glossary.")} - {"list"})


def found_in(text: str, known: list[str] | None = None) -> list[list[str]]:
    """[term, the letters that are marked] for each mark in a text, with the page's own spellings."""
    script = """
    const all = Object.entries(given.spelled).map(([key, spelled]) => ({ key, pattern: glossary.patternOf(spelled) }));
    const found = glossary.termsIn(given.text, all, new Set(given.known));
    return found.map(({ key, start, stop }) => [key, given.text.slice(start, stop)]);"""
    spelled = {term: catalogue()[f"glossary.{term}.spelled"] for term in TERMS}
    return in_node(script, {"spelled": spelled, "text": text, "known": known or []}, glossary="page/js/glossary.js")


def test_every_term_has_a_name_spellings_and_a_short_explanation():
    spellings: list[str] = []
    for term in TERMS:
        spelled, text = catalogue()[f"glossary.{term}.spelled"], catalogue()[f"glossary.{term}.text"]
        assert catalogue()[f"glossary.{term}.name"]
        assert 20 < len(text) < 240 and text.endswith(".")
        assert all(each == each.strip() != "" for each in spelled.split("|"))
        spellings += spelled.lower().split("|")
    assert len(spellings) == len(set(spellings)), "no spelling means two terms"


def test_the_course_s_words_are_explained():
    asked = "token logit softmax temperature top_p top_k min_p greedy seed prefill decode_step kv_cache grouped_heads"
    assert {*asked.split(), "perplexity", "entropy", "padding", "latency"} <= set(TERMS)


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("Nucleus size at each step", [["top_p", "Nucleus size"]]),
        ("The KV cache, and another cache", [["kv_cache", "KV cache"]]),
        ("A tokenizer is not a token.", [["token", "token"]]),
        ("Tokens, tokens, tokens", [["token", "Tokens"]]),
        ("top-p-like, untop-p, stop-p", []),
        ("Softmax of logits, after top-k", [["softmax", "Softmax"], ["logit", "logits"], ["top_k", "top-k"]]),
        ("Why does my prefix cache never hit?", [["prefix_sharing", "prefix cache"]]),
        ("an “attention sink”, and its attention", [["attention_sink", "attention sink"], ["attention", "attention"]]),
        ("Blocks, and one block", [["block", "Blocks"]]),
        ("", []),
        ("<b>seed</b>", [["seed", "seed"]]),
    ],
)  # fmt: skip
def test_a_term_is_marked_once_as_a_whole_word_the_longer_spelling_first(text, marks):
    assert found_in(text) == marks


def test_what_was_explained_above_is_not_marked_again():
    assert found_in("A token and its logit", ["token"]) == [["logit", "logit"]]
