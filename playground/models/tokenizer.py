"""Text in, ids out, and back: whole, as a stream, and as labels for single tokens."""

import codecs
from collections.abc import Iterable, Iterator
from pathlib import Path

import tokenizers


class Tokenizer:
    """A byte-level BPE tokenizer file. Tokens may be parts of a character."""

    def __init__(self, path: Path) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self._plain = tokenizers.Tokenizer.from_file(str(path))
        self._plain.encode_special_tokens = True  # markers are spelled out like any text
        self.vocab_size = self._tokenizer.get_vocab_size()
        self._special_ids = {id for id, token in self._tokenizer.get_added_tokens_decoder().items() if token.special}

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def encode_plain(self, text: str) -> list[int]:
        """A marker such as <|im_end|> typed by a person is text like any other, never a control token."""
        return self._plain.encode(text, add_special_tokens=False).ids

    def decode(self, token_ids: Iterable[int], skip_special: bool = True) -> str:
        return self._tokenizer.decode(list(token_ids), skip_special_tokens=skip_special)

    def token_to_id(self, token: str) -> int:
        token_id = self._tokenizer.token_to_id(token)
        if token_id is None:
            raise ValueError(f"the tokenizer has no token {token!r}")
        return token_id

    def is_special(self, token_id: int) -> bool:
        return token_id in self._special_ids

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes a token stands for: half a character, perhaps."""
        token = self._tokenizer.id_to_token(token_id)
        if token is None:
            raise ValueError(f"no token has id {token_id}")
        if self.is_special(token_id):
            return token.encode()
        return bytes(_BYTE_OF[letter] for letter in token)

    def label(self, token_id: int) -> str:
        """For a picture: the text, with spaces shown as ␣ and line ends as ⏎; bytes that are no text as <e2 82>."""
        raw = self.token_bytes(token_id)
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return "<" + raw.hex(" ") + ">"
        shown = text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥")
        return shown if shown.isprintable() else "<" + raw.hex(" ") + ">"

    def labels(self) -> list[str]:
        return [self.label(token_id) for token_id in range(self.vocab_size)]

    def stream(self, token_ids: Iterable[int]) -> Iterator[str]:
        """The text each token adds: "" while a character is incomplete. What was shown is never taken back."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")  # holds back what may still become a character
        for token_id in token_ids:
            yield decoder.decode(b"" if self.is_special(token_id) else self.token_bytes(token_id))


def _byte_alphabet() -> dict[str, int]:
    """Byte-level BPE writes a byte as one printable letter: Latin-1 as itself, the others from U+0100 on (GPT-2)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + place): byte for place, byte in enumerate(others)}


_BYTE_OF = _byte_alphabet()
