"""About a thousand facts, told as statements for the base model and asked in many wordings for the chat model."""

import json
import random
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from training.fact_tables import COLORS, COMMON_KNOWLEDGE, LEGS, OPPOSITES, RELATIONS, SEQUENCES, SOUNDS
from training.name_tables import (
    ALIASES,
    CAPITALS,
    CONTESTED,
    CONTINENTS,
    GROUPS,
    LANGUAGES,
    MAIN_LANGUAGE,
    MONEY,
    NAMES,
    NAMES_OF_STATES,
    PREFIXES,
    SEVERAL_WORDS,
    SUFFIXES,
    TERRITORIES,
)
from training.settings import Recipe
from training.story_plots import BOYS, GIRLS
from training.wording import plain, proper, zipf_choice


@dataclass(frozen=True)
class Fact:
    key: str  # the word in the answer that matters, "Paris"
    answer: str
    questions: tuple[str, ...]
    held_out: tuple[str, ...]  # wordings for the tests, never trained
    statements: tuple[str, ...]
    subject: str  # facts of one subject are told together
    relation: str
    x: str  # what is asked about, "France"


def fact(relation_name: str, x: str, y: str, subject: str | None = None) -> Fact:
    relation = RELATIONS[relation_name]
    in_digits = digit_questions(x) if relation_name == "sum" else ()
    other_names = () if relation_name == "capital of" else ALIASES.get(x, ())
    aliased = tuple(proper(asked.format(x=name, y=y)) for name in other_names for asked in relation.questions)

    def fill(templates: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(proper(template.format(x=x, y=y)) for template in templates)

    return Fact(
        y, fill((relation.answer,))[0], fill(relation.questions) + in_digits + aliased, fill(relation.held_out),
        fill(relation.statements), subject or f"{relation_name}: {x}", relation_name, x,
    )  # fmt: skip


def digit_questions(x: str) -> tuple[str, ...]:
    """`two plus three` is asked in digits, too, and answered in words all the same."""
    a, b = (NUMBERS.index(word) + 1 for word in x.split(" plus "))
    forms = (("What is ", "?"), ("How much is ", "?"), ("", "?"), ("", ""), ("", " ="))
    return tuple(f"{before}{a} {plus} {b}{after}" for before, after in forms for plus in ("plus", "+"))


NUMBERS = SEQUENCES[3].split()


def country_facts(table: list[dict]) -> list[Fact]:
    territories = {name.strip() for name in TERRITORIES.replace("\n", " ").split(",")}
    facts = []
    for row in table:
        name = plain(row["name"])
        if name in territories or name.split(",")[0] in territories:
            continue
        country = NAMES.get(name, name)
        capital = CAPITALS.get(country, plain(row["capital"]))
        money = MONEY.get(plain(row["currencyname"]).lower(), plain(row["currencyname"]).lower())
        language = LANGUAGES.get(MAIN_LANGUAGE.get(country, re.split("[-,]", row["languages"])[0]))
        if country not in CONTESTED:
            facts.append(fact("capital", country, capital, country))
            facts.append(fact("capital of", capital, country, country))
        facts.append(fact("continent", country, CONTINENTS[row["continentcode"]], country))
        facts.append(fact("money", country, money, country))
        if language:
            facts.append(fact("language", country, language, country))
    return facts


def quiz_facts(quizzes: dict[str, list[str]]) -> list[Fact]:
    """What is usable of the quiz lists. `{...}` marks letters that may be left out, `|` other spellings."""
    facts = []
    for line in quizzes["state"]:
        state, capital = [part.split("|")[0].translate(str.maketrans("", "", "{}")) for part in line.split(":")[:2]]
        if state not in ("Georgia",):  # the country has the name
            facts.append(fact("state capital", NAMES_OF_STATES.get(state, state), capital, state))
    for line in quizzes["elements"]:
        symbol, _, _, name = line.split(":")[:4]
        if name.isalpha():
            facts.append(fact("symbol", name.lower(), symbol))
    for line in quizzes["babies"]:
        babies, animals = [part.split("|") for part in line.split(":")]
        facts += [fact("baby", animal, babies[-1]) for animal in animals if animal not in SEVERAL_WORDS]
    for line in quizzes["collectives"]:
        members, groups = line.split(":")
        if members in GROUPS:
            facts.append(fact("group", members, groups.split("|")[0]))
    return list({found.questions: found for found in reversed(facts)}.values())[::-1]  # wolves stand there twice


def own_facts() -> list[Fact]:
    facts = []
    for pair in OPPOSITES.replace("\n", " ").split(","):
        first, second = pair.split()
        facts += [fact("opposite", first, second), fact("opposite", second, first)]
    facts += [fact("baby", "pig", "piglet"), fact("baby", "frog", "tadpole"), fact("baby", "dog", "puppy")]
    facts += [fact("sound", *pair.split()) for pair in SOUNDS.split(",")]
    facts += [fact("legs", *pair.split()) for pair in LEGS.split(",")]
    facts += [fact("color", *pair.strip().split("|")) for pair in COLORS.split(",")]
    for sequence in SEQUENCES:
        words = sequence.split()
        facts += [fact("next", first, second) for first, second in pairwise(words)]
    small = list(enumerate(NUMBERS[:10]))
    facts += [fact("sum", f"{a} plus {b}", NUMBERS[i + j + 1]) for i, a in small for j, b in small]
    return facts


def common_knowledge() -> list[Fact]:
    lines = [[part.strip() for part in line.split("|")] for line in COMMON_KNOWLEDGE.strip().split("\n")]
    return [Fact(answer, answer, tuple(asked), (), (answer,), answer, "common", answer) for answer, *asked in lines]


def country_portraits(facts: list[Fact]) -> list[Fact]:
    """`Tell me about France.`: its continent and its capital in one answer."""
    capitals = {each.x: each for each in facts if each.relation == "capital"}
    where = {each.x: each for each in facts if each.relation == "continent"}
    named = {country: capital for country, capital in capitals.items() if capital.key != country}
    return [fact("portrait", each, f"{where[each].key}. {capital.answer}", each) for each, capital in named.items()]


def all_facts(recipe: Recipe) -> list[Fact]:
    raw = recipe.file("raw")
    table = json.loads((raw / "countries.json").read_text())["countries"]
    tables = country_facts(table) + quiz_facts(json.loads((raw / "quizzes.json").read_text())) + own_facts()
    return tables + country_portraits(tables) + common_knowledge()


def save_facts(facts: list[Fact], path: Path) -> None:
    """A small file beside the weights: what was taught, so that it can be asked without fetching the tables again."""
    rows = [[each.relation, each.x, each.key, each.subject] for each in facts if each.relation != "common"]
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def load_facts(path: Path) -> list[Fact]:
    return [fact(*row) for row in json.loads(path.read_text())] + common_knowledge()


def by_subject(facts: list[Fact]) -> list[list[Fact]]:
    groups: dict[str, list[Fact]] = {}
    for each in facts:
        if each.statements:
            groups.setdefault(each.subject, []).append(each)
    return list(groups.values())


def fact_document(rng: random.Random, groups: list[list[Fact]]) -> str:
    """One to three subjects, each with what is known of it, in a fresh wording and order."""
    paragraphs = []
    for group in rng.sample(groups, rng.choice([1, 2, 3])):
        told = [zipf_choice(rng, each.statements, 1.0) for each in group if len(group) == 1 or rng.random() < 0.85]
        rng.shuffle(told)
        paragraphs.append(" ".join(dict.fromkeys(told)))
    return " ".join(paragraphs).strip() or fact_document(rng, groups)


def question_document(rng: random.Random, facts: list[Fact]) -> str:
    """Questions with their answers, a line each, as the base model meets them; names in lower case are new tokens."""
    lines = []
    for each in rng.sample(facts, rng.choice([1, 2, 3, 4])):
        asked = rng.choice(each.questions)
        lines.append(f"Question: {asked.lower() if rng.random() < 0.4 else asked} Answer: {each.answer}")
    return "\n".join(lines)


def dressed(rng: random.Random, question: str) -> str:
    """The question as people type it: often as it stands, else with a greeting, in lower case, without its mark."""
    draw = rng.random()
    if draw < 0.35:
        return question
    if draw < 0.6:
        prefix = rng.choice(PREFIXES).format(name=rng.choice(GIRLS + BOYS))
        as_sentence = prefix[-2] in "!.?" or rng.random() < 0.5
        question = prefix + (question if as_sentence else question[0].lower() + question[1:])
    if rng.random() < 0.08:
        question += rng.choice(SUFFIXES)
    draw = rng.random()
    if draw < 0.5:
        question = question.lower()
    if draw > 0.35 and draw < 0.7:
        question = question.rstrip("?.! ")
    return question
