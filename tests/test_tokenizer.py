"""Text in, ids out and back: nothing lost, nothing shown too early, and a marker that is typed is text."""

import itertools
import json
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


PIECES = {  # decoders of Llama 2, of Gemma, and of XLNet's kind
    "llama": [
        tokenizers.decoders.Replace("▁", " "),
        tokenizers.decoders.ByteFallback(),
        tokenizers.decoders.Fuse(),
        tokenizers.decoders.Strip(" ", 1, 0),
    ],
    "gemma": [
        tokenizers.decoders.Replace("▁", " "),
        tokenizers.decoders.ByteFallback(),
        tokenizers.decoders.Fuse(),
    ],
    "metaspace": [tokenizers.decoders.ByteFallback(), tokenizers.decoders.Metaspace()],
}
OF_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def pieces_tokenizer_file(path: Path, kind: str) -> Path:
    """As SentencePiece makes them: ▁ for a space, and 256 tokens for the bytes of what has none."""
    trained = tokenizers.Tokenizer(tokenizers.models.BPE())
    trained.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trained.train_from_iterator(CORPUS, tokenizers.trainers.BpeTrainer(vocab_size=60, show_progress=False))
    model = json.loads(trained.to_str())["model"]
    names = ["<unk>", "<s>", "</s>", *OF_BYTES, *model["vocab"]]
    vocab, merges = {name: token_id for token_id, name in enumerate(names)}, [tuple(pair) for pair in model["merges"]]
    pieces = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True)
    )
    steps = [tokenizers.normalizers.Replace(" ", "▁")]
    steps = steps if kind == "gemma" else [tokenizers.normalizers.Prepend("▁"), *steps]
    pieces.normalizer = tokenizers.normalizers.Sequence(steps)
    pieces.decoder = tokenizers.decoders.Sequence(PIECES[kind])
    pieces.add_special_tokens(["<unk>", "<s>", "</s>"])
    pieces.save(str(path))
    return path


@pytest.fixture(scope="module", params=list(PIECES))
def pieces(request, tmp_path_factory) -> Tokenizer:
    return Tokenizer(pieces_tokenizer_file(tmp_path_factory.mktemp("pieces") / "tokenizer.json", request.param))


ADDED = ["ilÖveyou", "special token", "日本", "<think>"]


@pytest.fixture(scope="module", params=["small", *PIECES])
def with_added(request, tmp_path_factory) -> Tokenizer:
    """Tokens that were added, not special, after the training."""
    path = tmp_path_factory.mktemp("added") / "tokenizer.json"
    if request.param == "small":
        small_tokenizer_file(path)
    else:
        pieces_tokenizer_file(path, request.param)
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.add_tokens(ADDED)
    tokenizer.save(str(path))
    return Tokenizer(path)


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


@pytest.mark.parametrize("content", ADDED)
def test_an_added_token_stands_for_its_own_letters(with_added, content):
    """tokenizers#1392: their letters were read as bytes; "ilÖveyou" came out broken, "日本" was a KeyError."""
    token_id = with_added.token_to_id(content)
    assert with_added.token_bytes(token_id) == content.encode()
    assert with_added.label(token_id) == content.replace(" ", "␣")
    ids = with_added.encode(f"a {content} b")
    assert token_id in ids and not with_added.is_special(token_id)
    assert "".join(with_added.stream(ids)) == with_added.decode(ids)
    assert content in with_added.decode(ids)


@pytest.mark.parametrize("content", ADDED)
def test_an_added_token_typed_by_a_person_is_text(with_added, content):
    """transformers#1133: only the tokens marked special were text."""
    ids = with_added.encode_plain(f"a {content} b")
    assert with_added.token_to_id(content) not in ids
    assert with_added.decode(ids) == f"a {content} b"


@pytest.mark.parametrize("text", [*TRICKY, "hello world", "cat  on\nthe mat日"])
def test_pieces_with_marks_for_spaces_come_back_whole(pieces, text):
    ids = pieces.encode_plain(text)
    assert "".join(pieces.stream(ids)) == pieces.decode(ids) == text


def test_pieces_decode_as_their_own_library_does(pieces):
    """Where it decodes at all: bytes that are no text spoil their whole neighbourhood there."""
    for text in ["hello world", "naïve café", "日 a", "a b\n"]:
        ids = pieces.encode(text)
        assert pieces.decode(ids) == pieces._tokenizer.decode(ids)


def test_pieces_stream_as_their_own_library_does(pieces):
    for text in ["hello world", "the 日本 cat"]:
        ids = pieces.encode(text)
        stream = tokenizers.decoders.DecodeStream(skip_special_tokens=True)
        assert list(pieces.stream(ids)) == [stream.step(pieces._tokenizer, token_id) or "" for token_id in ids]


def test_a_character_of_three_byte_tokens_is_shown_when_it_is_whole(pieces):
    ids = [pieces.token_to_id(name) for name in ("<0xE6>", "<0x97>", "<0xA5>", "<0x0A>", "</s>")]
    assert list(pieces.stream(ids)) == ["", "", "日", "\n", ""]
    assert [pieces.label(token_id) for token_id in ids] == ["<e6>", "<97>", "<a5>", "⏎", "</s>"]


@given(raw=st.lists(st.one_of(st.integers(0, 255), st.sampled_from([0xE6, 0x97, 0xA5, 0x20, 0x41])), max_size=16))
def test_byte_tokens_that_are_no_text_break_nothing_that_was_shown(pieces, raw):
    """vllm#24159: the library's own stream ends with "Invalid prefix" when a model writes half a character."""
    ids = [pieces.token_to_id(OF_BYTES[byte]) for byte in raw]
    shown = list(itertools.accumulate(pieces.stream(ids), initial=""))
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(shown))
    whole = pieces.decode(ids)
    assert whole.startswith(shown[-1]) and set(whole[len(shown[-1]) :]) <= {"\ufffd"}


def test_spaces_of_pieces_are_seen(pieces):
    ids = pieces.encode("the cat")
    assert pieces.label(ids[-1]).startswith("␣") or "␣" in "".join(map(pieces.label, ids))
    assert b"".join(map(pieces.token_bytes, ids)).strip() == b"the cat"


@pytest.mark.parametrize(
    "decoder", [None, tokenizers.decoders.WordPiece(), tokenizers.decoders.BPEDecoder("</w>")], ids=str
)
def test_other_kinds_are_read_by_their_own_library(tmp_path, decoder):
    """Their tokens depend on their neighbours; each still has a label and bytes."""
    words = {"<unk>": 0, "hello": 1, "##s": 2, "world</w>": 3, "日": 4, "a": 7}  # ids 5 and 6 are no token's
    other = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, "<unk>"))
    other.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    if decoder is not None:
        other.decoder = decoder
    other.save(str(tmp_path / "tokenizer.json"))
    ours = Tokenizer(tmp_path / "tokenizer.json")
    ids = [1, 2, 4, 3, 7]
    assert "".join(ours.stream(ids)) == ours.decode(ids) == other.decode(ids)
    assert ours.labels() == ["<unk>", "hello", "##s", "world</w>", "日", "<unused 5>", "<unused 6>", "a"]
    assert ours.token_bytes(5) == b""


def test_a_marker_in_the_vocabulary_of_a_unigram_is_no_way_to_write_it(tmp_path):
    """Unigram takes whole what its vocabulary holds: a typed </s> ended the text, although nothing marked it."""
    scores = [("<unk>", 0.0), ("</s>", 0.0), ("▁", -2.0), *((letter, -3.0) for letter in "ab<>/s")]
    unigram = tokenizers.Tokenizer(tokenizers.models.Unigram(scores, 0))
    unigram.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    unigram.decoder = tokenizers.decoders.Metaspace()
    unigram.add_special_tokens(["</s>", "<unk>"])
    unigram.save(str(tmp_path / "tokenizer.json"))
    ours = Tokenizer(tmp_path / "tokenizer.json")
    assert ours.encode("a</s>")[-1] == 1
    ids = ours.encode_plain("a</s>b")
    assert 1 not in ids and ours.decode(ids) == "a</s>b"
    assert 0 in ours.encode_plain("ax")  # what is unknown stays so


@pytest.mark.parametrize("text", ["\ud83d", "half \ude00 of one", "a\udfff"])
def test_half_an_emoji_is_said_to_be_no_text(small, pieces, text):
    """tiktoken#541, aider#3844: 'TextInputSequence must be str.' was all that was said."""
    for tokenizer in (small, pieces):
        with pytest.raises(ValueError, match=r"^The prompt holds half a character \('\\ud.*' at place \d+\)"):
            tokenizer.encode_plain(text)


def test_ids_beyond_the_tokenizer_add_nothing(small):
    """A model may have room for more tokens than its tokenizer names, and write one of them."""
    ids = [*small.encode("a"), 5000, *small.encode(" b")]
    assert "".join(small.stream(ids)) == small.decode(ids) == "a b"


def test_unknown_tokens_are_named(small):
    with pytest.raises(ValueError, match="no token '<odd>'"):
        small.token_to_id("<odd>")
    with pytest.raises(ValueError, match="no token has id 5000"):
        small.token_bytes(5000)
