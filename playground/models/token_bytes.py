"""What a token's name stands for. Byte-level tokenizers write each byte as a letter; SentencePiece writes a space as ▁
and a byte without a token of its own as <0x0A>."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import tokenizers

BYTE_NAME = re.compile("<0x[0-9A-Fa-f]{2}>")


@dataclass(frozen=True)
class Spelling:
    to_bytes: Callable[[str], bytes]
    byte_names: bool = False  # <0x0A> is a line end
    dropped_spaces: int = 0  # at the beginning of a text: SentencePiece puts one before the first word

    def names_a_byte(self, token: str) -> bool:
        return self.byte_names and BYTE_NAME.fullmatch(token) is not None


def spelling_of(tokenizer: tokenizers.Tokenizer) -> Spelling | None:
    """Told from the decoder; None for a kind whose tokens depend on their neighbours, as WordPiece's."""
    decoder = json.loads(tokenizer.to_str())["decoder"] or {"type": None}
    listed = decoder.get("decoders", [decoder])
    steps = {step["type"]: step for step in listed if step["type"] != "Fuse"}
    if steps.keys() == {"ByteLevel"}:
        return Spelling(_bytes_of_letters)
    if len(listed) > len({step["type"] for step in listed}) or not steps:
        return None
    if not steps.keys() <= {"Replace", "ByteFallback", "Metaspace", "Strip"}:
        return None
    return _piece_spelling(steps)


def _piece_spelling(steps: dict[str, dict]) -> Spelling | None:
    space, dropped = None, 0
    if metaspace := steps.get("Metaspace"):
        space, dropped = metaspace["replacement"], int(metaspace["prepend_scheme"] != "never")
    if replace := steps.get("Replace"):
        space = replace["pattern"].get("String")
        if space is None or replace["content"] != " ":
            return None
    if strip := steps.get("Strip"):
        dropped = strip["start"]
        if strip["content"] != " " or strip["stop"]:
            return None
    byte_names = "ByteFallback" in steps

    def to_bytes(piece: str) -> bytes:
        if byte_names and BYTE_NAME.fullmatch(piece):
            return bytes([int(piece[3:5], 16)])
        return (piece if space is None else piece.replace(space, " ")).encode()

    return Spelling(to_bytes, byte_names, dropped)


def _byte_alphabet() -> dict[str, int]:
    """Byte-level BPE writes a byte as one printable letter: Latin-1 as itself, the others from U+0100 on (GPT-2)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + place): byte for place, byte in enumerate(others)}


_BYTE_OF = _byte_alphabet()


def _bytes_of_letters(token: str) -> bytes:
    known = all(letter in _BYTE_OF for letter in token)
    return bytes(_BYTE_OF[letter] for letter in token) if known else token.encode()
