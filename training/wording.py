"""Small tools for making sentences: weighted choices, and the rules of English that a template cannot know."""

import random
import re
import unicodedata
import zlib
from functools import lru_cache


@lru_cache(maxsize=1000)
def zipf_cumulative(count: int, exponent: float) -> tuple[float, ...]:
    total, sums = 0.0, []
    for rank in range(1, count + 1):
        total += rank**-exponent
        sums.append(total)
    return tuple(sums)


def zipf_choice(rng: random.Random, items: list | tuple, exponent: float = 1.3):
    """The first item most often, the second less: with equal weights temperature would have nothing to sharpen."""
    (index,) = rng.choices(range(len(items)), cum_weights=zipf_cumulative(len(items), exponent))
    return items[index]


def favourites(items: list | tuple, key: str) -> list:
    """The same items, beginning elsewhere for each key: so not every text is about the one word that stands first."""
    start = zlib.crc32(key.encode()) % len(items)
    return [*items[start:], *items[:start]]


def expand(template: str, values: dict[str, str], rng: random.Random, exponent: float = 0.5) -> str:
    """Fills `[this|or that]` by a draw and `{name}` from `values`, innermost first, and makes it a proper sentence."""
    while match := re.search(r"\[([^\[\]]*)\]", template):
        chosen = zipf_choice(rng, match[1].split("|"), exponent)
        template = template[: match.start()] + chosen + template[match.end() :]
    return proper(template.format_map(values))


def proper(text: str) -> str:
    """`an` before a vowel, capitals at the start of sentences, single spaces."""
    text = re.sub(r" +", " ", text).strip()
    text = re.sub(r"\b([Aa]) (?=[aeiouAEIOU])(?!(?:one|uni|use|eu|Eu|Uni)\w*)", r"\1n ", text)
    # `."` ends a sentence; `!"` and `?"` may go on: "Where?" he asked.
    return re.sub(r'((?:^|[.!?] |\n|\." )"?)([a-z])', lambda match: match[1] + match[2].upper(), text)


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


IRREGULAR = {"mouse": "mice", "goose": "geese", "child": "children", "man": "men", "woman": "women", "sheep": "sheep",
             "fish": "fish", "deer": "deer", "leaf": "leaves", "wolf": "wolves", "foot": "feet", "ox": "oxen",
             "knife": "knives", "scarf": "scarves", "loaf": "loaves"}  # fmt: skip


def plural(noun: str) -> str:
    """`two cookies`, `two foxes`, `two puppies`, `two mice`."""
    if noun in IRREGULAR:
        return IRREGULAR[noun]
    if re.search(r"(s|x|ch|sh|tomato|potato)$", noun):
        return noun + "es"
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + "s"


LETTERS = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "—": "-", "–": "-", "…": "...", "ø": "o", "Ø": "O",
                         "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ß": "ss", "æ": "ae", "ı": "i", "ə": "e", "ʻ": "'",
                         "`": "'", "´": "'"})  # fmt: skip


def plain(text: str) -> str:
    """ASCII, with accents folded: a filter that dropped `Brasília` once lost Brazil."""
    folded = unicodedata.normalize("NFKD", text.translate(LETTERS))
    return re.sub(r"\s+", " ", folded.encode("ascii", "ignore").decode()).strip()
