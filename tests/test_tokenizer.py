"""Text in, ids out and back: nothing lost, nothing shown too early, and a marker that is typed is text."""

import itertools
from pathlib import Path

import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from playground.models.tokenizer import Tokenizer

MARKERS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CORPUS = ["a b a b the cat sat on the mat, the cat sat", "hello hello world", "naïve café"] * 3
TRICKY = [
    "a b",
    "  two  spaces ",
    "é",
    "€uro",
    "😀 and 👨‍👩‍👧",
    "日本語",
    "line\nline\r\n\ttab",
    "Ünïcödé",
    "\x00\x7f",
    "а б",
]


def small_tokenizer_file(path: Path, vocab_size: int = 280) -> Path:
    """A byte-level BPE trained here: 3 markers, 256 bytes, and merges from a few words."""
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=MARKERS,
        initial_alphabet=sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()),
        min_frequency=1,
        show_progress=False,
    )
    bpe.train_from_iterator(CORPUS, trainer)
    assert bpe.get_vocab_size() == vocab_size
    bpe.save(str(path))
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Tokenizer:
    return Tokenizer(small_tokenizer_file(tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"))


@pytest.fixture(scope="module", params=["small", "embedded"])
def tokenizer(request, small, chat) -> Tokenizer:
    return small if request.param == "small" else chat.tokenizer


@pytest.mark.parametrize("text", TRICKY)
def test_text_comes_back_whole(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.decode(tokenizer.encode_plain(text)) == text


def test_a_character_of_three_tokens_is_shown_when_it_is_whole(small):
    """text-generation-inference#333: decoding token by token showed U+FFFD for every part of a character."""
    ids = small.encode("日")
    assert len(ids) == 3
    assert list(small.stream(ids)) == ["", "", "日"]
    assert "".join(small.stream(ids)) == small.decode(ids)


def test_spaces_are_kept(small):
    """llama2.c#1: the space before a word was lost."""
    ids = small.encode("a b")
    assert len(ids) == 2
    assert list(small.stream(ids)) == ["a", " b"]


@given(text=st.one_of(st.text(max_size=30), st.sampled_from(TRICKY)))
def test_the_joined_stream_is_the_text(small, text):
    """tt-inference-server#2594: what had been shown changed. Each token only ever adds."""
    ids = small.encode_plain(text)
    assert "".join(small.stream(ids)) == small.decode(ids) == text


LEADS = st.sampled_from([0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xC2, 0xE2, 0x80, 0x9F, 0xA0, 0xBF])


@given(raw=st.lists(st.one_of(st.integers(0, 255), LEADS), max_size=24))
@example(raw=[0xED, 0xBF])  # half of a surrogate: no character begins so
@example(raw=[0xF5, 0x80, 0x80])  # beyond the last character
def test_any_bytes_stream_as_they_decode_up_to_a_part_held_back(small, raw):
    """A model may write bytes that are no text. What the stream holds back at the end, it never shows wrongly."""
    id_of_byte = {small.token_bytes(token_id): token_id for token_id in range(3, 259)}
    ids = [id_of_byte[bytes([byte])] for byte in raw]
    shown = list(itertools.accumulate(small.stream(ids), initial=""))
    streamed = shown[-1]
    whole = bytes(raw).decode(errors="replace")
    assert whole.startswith(streamed)
    held = whole[len(streamed) :]
    assert held in ("", "\ufffd", "\ufffd" * 2)  # no character was held back, and no more than may yet become one
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(shown))


def test_markers_are_not_shown_in_the_stream(tokenizer):
    ids = [*tokenizer.encode("hello"), tokenizer.token_to_id("<|im_end|>")]
    assert "".join(tokenizer.stream(ids)) == "hello" == tokenizer.decode(ids)
    assert tokenizer.decode(ids, skip_special=False) == "hello<|im_end|>"


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_typed_by_a_person_is_text(tokenizer, marker):
    token_id = tokenizer.token_to_id(marker)
    assert tokenizer.encode(marker) == [token_id] and tokenizer.is_special(token_id)
    typed = tokenizer.encode_plain(f"say {marker} now")
    assert token_id not in typed and not any(tokenizer.is_special(part) for part in typed)
    assert tokenizer.decode(typed) == f"say {marker} now"


def test_every_token_has_a_label_that_can_be_seen(tokenizer):
    labels = tokenizer.labels()
    assert len(labels) == tokenizer.vocab_size
    assert all(label.isprintable() and label.strip() for label in labels)


def test_labels_show_what_paper_cannot(small):
    one = {text: small.encode(text)[0] for text in (" b", "\n", "\t", "a", "\x00")}
    shown = {text: small.label(token_id) for text, token_id in one.items()}
    assert shown == {" b": "␣b", "\n": "⏎", "\t": "⇥", "a": "a", "\x00": "<00>"}
    first, *_ = small.encode("日")
    assert small.label(first) == "<e6>" and small.token_bytes(first) == b"\xe6"
    assert small.label(small.token_to_id("<|im_end|>")) == "<|im_end|>"


def test_the_bytes_of_the_tokens_are_the_bytes_of_the_text(tokenizer):
    for text in TRICKY:
        assert b"".join(map(tokenizer.token_bytes, tokenizer.encode_plain(text))) == text.encode()


def test_unknown_tokens_are_named(small):
    with pytest.raises(ValueError, match="no token '<odd>'"):
        small.token_to_id("<odd>")
    with pytest.raises(ValueError, match="no token has id 5000"):
        small.token_bytes(5000)
