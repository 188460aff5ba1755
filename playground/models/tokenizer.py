"""Text in, ids out, and back: whole, as a stream, and as labels for single tokens."""

import codecs
import json
import re
import secrets
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import tokenizers

from playground.engine.arguments import shown
from playground.models.token_bytes import BYTE_NAME, spelling_of
from playground.words import say


class Tokenizer:
    """A tokenizer file of any kind. Tokens may be parts of a character."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()  # a file may ask for it
        self._tokenizer.no_padding()
        self._guarded, self._names = with_unwritable_markers(self._tokenizer)
        self._spelling = spelling_of(self._tokenizer)
        added = self._tokenizer.get_added_tokens_decoder()
        self._added = {token_id: token.content for token_id, token in added.items()}
        self._special_ids = {token_id for token_id, token in added.items() if token.special}
        self.vocab_size = 1 + max(self._tokenizer.get_vocab().values(), default=-1)  # some ids below may be no token's

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def encode_plain(self, text: str) -> list[int]:
        """A marker such as <|im_end|> typed by a person is text like any other, never a control token."""
        return self.encode_parts([(text, True)])

    def encode_parts(self, parts: Iterable[tuple[str, bool]]) -> list[int]:
        """A text in pieces (piece, was it typed?) as a whole: in a piece that was not typed, markers are tokens."""
        return [token_id for token_id, _ in self.encode_places(parts)]

    def encode_places(self, parts: Iterable[tuple[str, bool]]) -> list[tuple[int, int]]:
        """As `encode_parts`, each id with the number of the piece that it is of: of two that it spans the typed one."""
        pieces = [(_whole(piece) if typed else self._marked(piece), typed) for piece, typed in parts]
        starts = list(accumulate((len(piece) for piece, _ in pieces), initial=0))
        encoded = self._guarded.encode("".join(piece for piece, _ in pieces), add_special_tokens=False)

        def piece_of(start: int, end: int) -> int:
            first, last = (min(bisect_right(starts, place), len(pieces)) - 1 for place in (start, max(start, end - 1)))
            return next((number for number in range(first, last + 1) if pieces[number][1]), first)

        return [(token_id, piece_of(*span)) for token_id, span in zip(encoded.ids, encoded.offsets, strict=True)]

    def split_markers(self, text: str) -> list[str]:
        """A text of a template in pieces: every second one is a marker, which becomes one token."""
        return re.split(f"({self._markers.pattern})", text) if self._names else [text]

    def markers_in(self, text: str) -> list[str]:
        """Those that a person typed: they stay text."""
        return list(dict.fromkeys(self._markers.findall(text))) if self._names else []

    def _marked(self, text: str) -> str:
        return self._markers.sub(lambda found: self._names[found[0]], text) if self._names else text

    @cached_property
    def _markers(self) -> re.Pattern:
        return re.compile("|".join(map(re.escape, sorted(self._names, key=len, reverse=True))))

    @cached_property
    def first_ids(self) -> tuple[int, ...]:
        """What the file puts in front of a text: mostly nothing, or a token for the beginning."""
        bare, whole = (self._tokenizer.encode("a", add_special_tokens=added).ids for added in (False, True))
        places = range(len(whole) - len(bare) + 1)
        return next((tuple(whole[:place]) for place in places if whole[place : place + len(bare)] == bare), ())

    def decode(self, token_ids: Iterable[int], skip_special: bool = True) -> str:
        if self._spelling is None:
            return self._tokenizer.decode(list(token_ids), skip_special_tokens=skip_special)
        return "".join(self._pieces(token_ids, skip_special, to_the_end=True))

    def token_to_id(self, token: str) -> int:
        token_id = self._tokenizer.token_to_id(token)
        if token_id is None:
            raise ValueError(say("models.tokenizer.no_token", token=repr(token)))
        return token_id

    def has(self, token: str) -> bool:
        return self._tokenizer.token_to_id(token) is not None

    def is_special(self, token_id: int) -> bool:
        return token_id in self._special_ids

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes a token stands for: half a character, perhaps; none for an id that is no token's."""
        if not 0 <= token_id < self.vocab_size:
            raise ValueError(say("models.tokenizer.no_id", id=shown(token_id)))
        return self._bytes[token_id]

    @cached_property
    def _bytes(self) -> list[bytes]:
        return [self._read_bytes(token_id) for token_id in range(self.vocab_size)]

    def _read_bytes(self, token_id: int) -> bytes:
        written = self._added.get(token_id)  # as it is, in no alphabet of bytes
        token = self._tokenizer.id_to_token(token_id) or ""
        if self._spelling is None or (written is not None and not self._spelling.names_a_byte(written)):
            return (token if written is None else written).encode()
        return self._spelling.to_bytes(token)

    def label(self, token_id: int) -> str:
        """For a picture: the text, with spaces shown as ␣ and line ends as ⏎; bytes that are no text as <e2 82>."""
        raw = self.token_bytes(token_id)
        return label_of(raw) if raw else say("models.tokenizer.unused", id=token_id)

    def labels(self) -> list[str]:
        return [self.label(token_id) for token_id in range(self.vocab_size)]

    def stream(self, token_ids: Iterable[int]) -> Iterator[str]:
        """The text each token adds: "" while a character is incomplete. What was shown is never taken back."""
        if self._spelling is not None:
            return self._pieces(token_ids, skip_special=True)
        stream = tokenizers.decoders.DecodeStream(skip_special_tokens=True)
        return (stream.step(self._tokenizer, token_id) or "" for token_id in token_ids)

    def _pieces(self, token_ids: Iterable[int], skip_special: bool, to_the_end: bool = False) -> Iterator[str]:
        """`to_the_end`: a character that stays incomplete is shown at last, as �."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")  # holds back what may still become a character
        dropped = self._spelling.dropped_spaces
        for token_id in token_ids:
            hidden = token_id >= self.vocab_size or (skip_special and self.is_special(token_id))
            raw = b"" if hidden else self.token_bytes(token_id)
            while raw and dropped:
                raw, dropped = (raw[1:], dropped - 1) if raw.startswith(b" ") else (raw, 0)
            yield decoder.decode(raw)
        if to_the_end:
            yield decoder.decode(b"", final=True)


def label_of(raw: bytes) -> str:
    """A token's bytes for a picture, as `Tokenizer.label` says."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return "<" + raw.hex(" ") + ">"
    shown = text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥")
    return shown if shown.isprintable() else "<" + raw.hex(" ") + ">"


def _whole(text: str) -> str:
    """Raises ValueError for what is no text."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        letter, place = repr(text[error.start]), error.start + 1
        raise ValueError(say("models.prompt.half_a_character", letter=letter, place=place)) from None
    return text


def with_unwritable_markers(tokenizer: tokenizers.Tokenizer) -> tuple[tokenizers.Tokenizer, dict[str, str]]:
    """The same, but added tokens are called by names that nobody can type, which are returned too.

    No text becomes an added token then: neither as a whole nor because the model's vocabulary holds it.
    """
    settings = json.loads(tokenizer.to_str())
    vocab, kept = settings["model"]["vocab"], _ways_to_write(settings["model"])
    nonce, names, added = secrets.token_hex(8), {}, []
    for token in settings["added_tokens"]:
        token_id, content = token["id"], token["content"]
        if BYTE_NAME.fullmatch(content):
            continue
        name = f"\U0010ffff{nonce}-{token_id}\U0010ffff"
        if isinstance(vocab, dict):
            if content not in kept:
                vocab.pop(content, None)
            vocab[name] = token_id
        elif token_id < len(vocab):  # Unigram: the place is the id
            if content in kept:
                continue
            vocab[token_id][0] = name
        names[content] = name
        added.append({**token, "content": name})
    settings["added_tokens"] = added
    return tokenizers.Tokenizer.from_str(json.dumps(settings)), names


def _ways_to_write(model: dict) -> set[str]:
    """What the model itself needs: the token for unknown text, and all that it merges."""
    unknown = model.get("unk_token")
    if model.get("unk_id") is not None:
        unknown = model["vocab"][model["unk_id"]][0]
    prefix = model.get("continuing_subword_prefix") or ""
    merges = model.get("merges", [])
    return {unknown, *(part for a, b in merges for part in (a, b, a + b.removeprefix(prefix)))}
