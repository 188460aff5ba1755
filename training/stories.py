"""Stories for small children, made by a grammar: a hero, an opening, a plot, now and then a filler, an ending."""

import random
from dataclasses import dataclass

from training.story_plots import (
    BOYS,
    ENDINGS,
    FILLERS,
    FIRST_MEETINGS,
    GIRLS,
    LISTS,
    OPENINGS,
    PLOTS,
    PREPOSITIONS,
    SCENES,
    SETTINGS,
    WORDS,
)  # fmt: skip
from training.wording import expand, favourites, plural, proper, zipf_choice


@dataclass(frozen=True)
class Story:
    sentences: list[str]  # beats of one to three sentences
    hero: str
    kind: str  # "girl", "dog", ...

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


class Cast:
    """Who and what one text is about. Each topic (a plot, a scene) has favourites of its own."""

    def __init__(self, rng: random.Random, topic: str):
        self.rng = rng

        def pick(items: list[str], exponent: float = 0.9) -> str:
            return zipf_choice(rng, favourites(items, topic), exponent)

        girl = rng.random() < 0.5
        names, other_names = (GIRLS, BOYS) if girl else (BOYS, GIRLS)
        self.name, self.friend = pick(names), pick(other_names)
        child, other_child = ("girl", "boy") if girl else ("boy", "girl")
        self.kind = child if rng.random() < 0.5 else pick(WORDS["animal"])
        self.friend_kind = other_child if rng.random() < 0.5 else pick(WORDS["animal"])
        he, him, his = ("she", "her", "her") if girl else ("he", "him", "his")
        fhe, fhim, fhis = ("he", "him", "his") if girl else ("she", "her", "her")
        self.values = {
            "name": self.name, "friend": self.friend, "kind": self.kind, "fkind": self.friend_kind,
            "he": he, "him": him, "his": his, "He": he.title(), "fhe": fhe, "fhim": fhim, "fhis": fhis,
            "mom": zipf_choice(rng, ["Mom", "Mother", "Grandma"], 1.5),
        }  # fmt: skip
        for word, choices in WORDS.items():
            self.values[word] = pick(choices)
            self.values[word + "2"] = pick([choice for choice in choices if choice != self.values[word]])
        for place in ("place", "place2"):
            self.values["in_" + place] = f"{PREPOSITIONS.get(self.values[place], 'in')} the {self.values[place]}"
        for noun in ("food", "toy", "animal"):
            self.values[noun + "_plural"] = plural(self.values[noun])

    def say(self, template: str) -> str:
        hero = self.name if self.rng.random() < 0.85 else f"the {self.values['size']} {self.kind}"
        fresh = {
            word: zipf_choice(self.rng, favourites(WORDS[word], template), 0.9)
            for word in ("feeling", "trait", "virtue")
        }
        return expand(template.strip(), self.values | fresh | {"hero": hero}, self.rng)


def story(rng: random.Random) -> Story:
    plot = rng.choice(list(PLOTS))
    cast = Cast(rng, plot)
    opening = zipf_choice(rng, OPENINGS, 0.4)
    beats = [cast.say(opening)]
    if rng.random() < 0.6 and plot not in FIRST_MEETINGS:
        settings = [setting for setting in SETTINGS if not ("{hobby}" in setting and "{hobby}" in opening)]
        beats.append(cast.say(zipf_choice(rng, favourites(settings, plot), 0.4)))
    for line in PLOTS[plot].strip().split("\n"):
        beats.append(cast.say(line))
        if rng.random() < 0.06:
            beats.append(cast.say(zipf_choice(rng, FILLERS, 0.3)))
    beats.append(cast.say(zipf_choice(rng, favourites(ENDINGS, plot), 0.6)))
    return Story(beats, cast.name, cast.kind)


def scene(rng: random.Random) -> str:
    template = rng.choice(SCENES)
    return Cast(rng, template).say(template)


def word_list(rng: random.Random) -> str:
    """A list whose next thing never depends on the things before: drawn with replacement, ended by a coin."""
    opening, kind, form = zipf_choice(rng, LISTS, 0.3)
    choices = [plural(food) for food in WORDS["food"]] if kind == "food_plural" else WORDS[kind]
    things = []
    while not things or (rng.random() < 0.88 and len(things) < 25):
        things.append(proper(form.format(thing=zipf_choice(rng, favourites(choices, opening), 0.7))))
    things = [thing[0].lower() + thing[1:] for thing in things]
    return f"{opening} " + " and ".join(things) + "."


def document(rng: random.Random) -> str:
    """One text of the base model's training: mostly whole stories, some that begin in the middle, as prompts do."""
    draw = rng.random()
    if draw < 0.03:
        return word_list(rng)
    if draw < 0.32:
        return " ".join(scene(rng) for _ in range(rng.choice([1, 1, 2])))
    made = story(rng)
    if draw < 0.52:
        return " ".join(made.sentences[rng.randrange(1, len(made.sentences) - 1) :])
    return made.text
