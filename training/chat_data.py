"""Question and answer pairs for the chat model: sharp facts, open questions, things it does not know, texts to read."""

import json
import random
import re
from dataclasses import dataclass

from training.chat_tables import OPEN_QUESTIONS, PLACES_OF_FICTION, UNKNOWN_QUESTIONS, Open
from training.fact_tables import RELATIONS
from training.facts import Fact, all_facts, dressed
from training.name_tables import FAMOUS_NAMES
from training.settings import Recipe
from training.stories import story
from training.story_plots import BOYS, GIRLS, WORDS
from training.wording import capitalised, plural, proper, zipf_choice

UNKNOWN = "I do not know."
OFTEN_ASKED = ("common", "sound", "legs", "next", "color", "baby")
SHARES = {"fact": 0.44, "unknown": 0.17, "open": 0.31, "memory": 0.05, "reading": 0.03}


@dataclass(frozen=True)
class Pair:
    kind: str
    question: str
    answer: str


def open_pair(rng: random.Random, asked: Open, unknowns: "Unknowns") -> Pair:
    x = unknowns.word(rng) if asked.anything and rng.random() < 0.25 else rng.choice(asked.about)
    drawn = {name: zipf_choice(rng, choices, asked.exponent) for name, choices in asked.slots.items()}
    question = proper(rng.choice(asked.questions).format(x=x))
    answer = asked.answer.format(x=x, **drawn).replace("{x}", x)  # a drawn opinion names the thing, too
    return Pair("open", dressed(rng, question), proper(answer))


class Unknowns:
    """Makes up what the model can't know: words, people, titles, countries. Real towns stand among them."""

    STARTS = "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kr l m n p pl pr qu r s sh sk sl".split()
    STARTS += "sn sp st str sw t th tr tw v w y z zh".split()
    VOWELS = "a e i o u a e i o u ai ee ea oo ou y".split()
    ENDS = "b ck d f g k l ll m n nd ng nk p r rd rk rn rt s sh sk st t th x z".split() + [""] * 12
    COUNTRY_ENDS = "ia land stan onia ania istan aria esia ora una ovia ea ica ador eria inia ".split(" ")
    ABOUT_COUNTRIES = ("capital", "capital", "capital of", "continent", "language", "money")
    ABOUT_THINGS = ("symbol", "baby", "group", "opposite", "sound", "legs", "color", "next")
    SURNAME_ENDS = "son er man ton ley ski ez o ini sen ard field worth ova ".split(" ")

    def __init__(self, facts: list[Fact], towns: list[str]):
        self.countries = sorted({fact.subject for fact in facts if fact.answer.startswith("The money of")})
        known = {fact.key for fact in facts} | {fact.subject for fact in facts}
        plain_names = [town for town in towns if len(town) < 20 and town.replace(" ", "").isalpha()]
        self.towns = [town for town in plain_names if town not in known]

    def word(self, rng: random.Random) -> str:
        syllables = rng.choice([1, 2, 2, 2, 3])
        text = "".join(rng.choice(self.STARTS) + rng.choice(self.VOWELS) for _ in range(syllables))
        return text + rng.choice(self.ENDS)

    def thing(self, rng: random.Random, relation: str) -> str:
        """What one might take for an element, or a real word that has no opposite, beside plain made-up words."""
        if relation == "symbol" and rng.random() < 0.6:
            return self.word(rng) + rng.choice(["ium", "on", "ite", "ine", "um"])
        if relation == "group" and rng.random() < 0.7:
            return plural(self.word(rng))
        if relation in ("opposite", "symbol", "next") and rng.random() < 0.4:
            return rng.choice(WORDS[rng.choice(["toy", "food", "animal", "clothes", "place", "color"])])
        return self.word(rng)

    def country(self, rng: random.Random) -> str:
        draw = rng.random()
        if draw < 0.4:
            return (self.word(rng) + rng.choice(self.COUNTRY_ENDS)).title()
        if draw < 0.6:  # the head of one country on the tail of another
            first, second = [name.removeprefix("the ") for name in rng.sample(self.countries, 2)]
            mixed = first[: rng.randint(2, 4)] + second[-rng.randint(3, 5) :]
            return mixed.title() if mixed.isalpha() and mixed.title() not in self.countries else self.country(rng)
        if draw < 0.8:
            return rng.choice(self.towns)
        if draw < 0.9:
            return rng.choice(PLACES_OF_FICTION)
        return rng.choice(WORDS[rng.choice(["toy", "food", "animal", "place"])]).title()

    def person(self, rng: random.Random) -> str:
        first = rng.choice(GIRLS + BOYS) if rng.random() < 0.5 else self.word(rng).title()
        return f"{first} {(self.word(rng) + rng.choice(self.SURNAME_ENDS)).title()}" if rng.random() < 0.8 else first

    def title(self, rng: random.Random) -> str:
        noun = rng.choice(WORDS[rng.choice(["toy", "food", "animal", "place"])])
        second = self.word(rng) if rng.random() < 0.5 else rng.choice(WORDS["place"])
        color = rng.choice(WORDS["color"])
        forms = [f"The {noun} of {second}", f"The {color} {noun}", f"{noun} and {second}", second]
        return rng.choice(forms).title()

    def question(self, rng: random.Random) -> str:
        if rng.random() < 0.5:
            name = rng.choice(self.ABOUT_COUNTRIES + self.ABOUT_THINGS)
            template = rng.choice(RELATIONS[name].questions)
            return template.format(x=self.country(rng) if name in self.ABOUT_COUNTRIES else self.thing(rng, name))
        template = rng.choice(re.split(r"[|\n]", UNKNOWN_QUESTIONS.strip()))
        number = str(rng.choice([rng.randint(11, 99), rng.randint(100, 9999)]))
        return template.replace("{d}", number, 1).format(
            n=self.word(rng) if rng.random() < 0.7 else self.country(rng), p=self.person(rng), t=self.title(rng),
            c=rng.choice(self.countries), r=rng.choice(self.towns), d=rng.randint(11, 999),
            o=rng.choice(WORDS[rng.choice(["toy", "food", "place"])]), k=rng.choice(WORDS["color"]),
        )  # fmt: skip


def memory_pair(rng: random.Random, unknowns: Unknowns) -> Pair:
    """The answer stands in the question: what attention is for."""
    name = rng.choice(GIRLS + BOYS) if rng.random() < 0.7 else unknowns.word(rng).title()
    toy, food, color, animal = (rng.choice(WORDS[kind]) for kind in ("toy", "food", "color", "animal"))
    question, answer = rng.choice([
        (f"My name is {name}. What is my name?", f"Your name is {name}."),
        (f"I am {name}. Who am I?", f"You are {name}."),
        (f"My name is {name}.", f"Hello, {name}!"),
        (f"I am {name}.", f"Hello, {name}!"),
        (f"Say hello to {name}.", f"Hello, {name}!"),
        (f"I have a {color} {toy}. What do I have?", f"You have a {color} {toy}."),
        (f"I have a {color} {toy}. What color is it?", f"It is {color}."),
        (f"I like {plural(food)}. What do I like?", f"You like {plural(food)}."),
        (f"My {animal} is called {name}. What is its name?", f"Its name is {name}."),
        (f"{name} has a {toy}. Who has a {toy}?", f"{name} has a {toy}."),
        (f"Repeat after me: the {animal} has a {color} {toy}.", f"The {animal} has a {color} {toy}."),
        (f"Say the word {animal}.", f"{capitalised(animal)}."),
    ])  # fmt: skip
    return Pair("memory", dressed(rng, proper(question)), proper(answer))


def reading_pair(rng: random.Random) -> Pair:
    """A story in the prompt and a question about it, or its beginning and how it goes on."""
    told = story(rng)
    opening = rng.choice(["", "", "Read this story: ", "Here is a story: ", "Listen: "])
    if rng.random() < 0.4:
        cut = rng.randrange(2, len(told.sentences))
        asked = rng.choice(["What happens next?", "Continue the story.", "Go on.", "How does the story go on?"])
        return Pair("reading", f"{opening}{' '.join(told.sentences[:cut])} {asked}", told.sentences[cut])
    if rng.random() < 0.5:
        asked = rng.choice(["Who is the story about?", "Who is it about?", "Who is in this story?"])
        answer = f"The story is about {told.hero}."
    else:
        asked = rng.choice([f"What is {told.hero}?", f"Who is {told.hero}?", f"Is {told.hero} a person or an animal?"])
        answer = f"{told.hero} is a {told.kind}."
    return Pair("reading", f"{opening}{told.text} {asked}", proper(answer))


def weight(fact: Fact) -> int:
    """How often a fact is asked beside the others: what a class will ask first must be sure."""
    if fact.subject in FAMOUS_NAMES or fact.relation in OFTEN_ASKED:
        return 5
    return {"opposite": 8, "sum": 4}.get(fact.relation, 1)


class ChatData:
    """Draws pairs without end. The i-th pair depends on the seed alone."""

    def __init__(self, recipe: Recipe):
        self.facts = all_facts(recipe)
        self.known_questions = {question for fact in self.facts for question in (*fact.questions, *fact.held_out)}
        self.weights = [weight(each) for each in self.facts]
        towns = json.loads((recipe.file("raw") / "countries.json").read_text())["cities"]
        self.unknowns = Unknowns(self.facts, towns)

    def unknown_question(self, rng: random.Random) -> str:
        """Now and then a made-up word exists: such a question is drawn again."""
        question = proper(self.unknowns.question(rng))
        return self.unknown_question(rng) if question in self.known_questions else question

    def pair(self, rng: random.Random) -> Pair:
        (kind,) = rng.choices(list(SHARES), list(SHARES.values()))
        if kind == "fact":
            (fact,) = rng.choices(self.facts, self.weights)
            return Pair(kind, dressed(rng, rng.choice(fact.questions)), fact.answer)
        if kind == "unknown":
            return Pair(kind, dressed(rng, self.unknown_question(rng)), UNKNOWN)
        if kind == "open":
            return open_pair(rng, rng.choice(OPEN_QUESTIONS), self.unknowns)
        return memory_pair(rng, self.unknowns) if kind == "memory" else reading_pair(rng)


def chat_text(question: str) -> str:
    """MiniMind's template, ChatML: what stands before the answer."""
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
