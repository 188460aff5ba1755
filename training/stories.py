"""Stories for small children, made by a grammar: a hero, an opening, a plot, now and then a filler, an ending."""

import random
from dataclasses import dataclass

from training.story_plots import (
    BOYS, ENDINGS, FILLERS, FIRST_MEETINGS, GIRLS, LISTS, OPENINGS, PLOTS, PREPOSITIONS, SCENES, SETTINGS, WORDS,
)  # fmt: skip
from training.wording import expand, plural, proper, zipf_choice


@dataclass(frozen=True)
class Story:
    sentences: list[str]  # beats of one to three sentences
    hero: str
    kind: str  # "girl", "dog", ...

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


class Cast:
    """Who and what one text is about. `values` looks a name up anew at each use, so the hero is not always named alike."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        girl = rng.random() < 0.5
        names, other_names = (GIRLS, BOYS) if girl else (BOYS, GIRLS)
        self.name, self.friend = zipf_choice(rng, names, 0.8), zipf_choice(rng, other_names, 0.8)
        child, other_child = ("girl", "boy") if girl else ("boy", "girl")
        self.kind = child if rng.random() < 0.5 else zipf_choice(rng, WORDS["animal"], 0.8)
        self.friend_kind = other_child if rng.random() < 0.5 else zipf_choice(rng, WORDS["animal"], 0.8)
        he, him, his = ("she", "her", "her") if girl else ("he", "him", "his")
        fhe, fhim, fhis = ("he", "him", "his") if girl else ("she", "her", "her")
        self.values = {
            "name": self.name, "friend": self.friend, "kind": self.kind, "fkind": self.friend_kind,
            "he": he, "him": him, "his": his, "He": he.title(), "fhe": fhe, "fhim": fhim, "fhis": fhis,
            "mom": zipf_choice(rng, ["Mom", "Mother", "Grandma"], 1.5),
        }  # fmt: skip
        for word, choices in WORDS.items():
            self.values[word] = zipf_choice(rng, choices, 0.9)
            self.values[word + "2"] = zipf_choice(rng, [c for c in choices if c != self.values[word]], 0.9)
        for place in ("place", "place2"):
            self.values["in_" + place] = f"{PREPOSITIONS.get(self.values[place], 'in')} the {self.values[place]}"
        for noun in ("food", "toy"):
            self.values[noun + "_plural"] = plural(self.values[noun])

    def say(self, template: str) -> str:
        hero = self.name if self.rng.random() < 0.85 else f"the {self.values['size']} {self.kind}"
        fresh = {word: zipf_choice(self.rng, WORDS[word], 0.9) for word in ("feeling", "trait", "size", "virtue")}
        fresh["size"] = self.values["size"]
        return expand(template.strip(), self.values | fresh | {"hero": hero}, self.rng)


def story(rng: random.Random) -> Story:
    cast = Cast(rng)
    plot = rng.choice(list(PLOTS))
    opening = zipf_choice(rng, OPENINGS, 0.7)
    beats = [cast.say(opening)]
    if rng.random() < 0.6 and plot not in FIRST_MEETINGS:
        settings = [setting for setting in SETTINGS if not ("{hobby}" in setting and "{hobby}" in opening)]
        beats.append(cast.say(zipf_choice(rng, settings, 0.7)))
    for line in PLOTS[plot].strip().split("\n"):
        beats.append(cast.say(line))
        if rng.random() < 0.06:
            beats.append(cast.say(zipf_choice(rng, FILLERS, 0.5)))
    beats.append(cast.say(zipf_choice(rng, ENDINGS, 0.7)))
    return Story(beats, cast.name, cast.kind)


def scene(rng: random.Random) -> str:
    return Cast(rng).say(rng.choice(SCENES))


def word_list(rng: random.Random) -> str:
    """A list whose next thing never depends on the things before: drawn with replacement, ended by a coin."""
    opening, kind, form = zipf_choice(rng, LISTS, 0.3)
    choices = [plural(food) for food in WORDS["food"]] if kind == "food_plural" else WORDS[kind]
    things = []
    while not things or (rng.random() < 0.88 and len(things) < 25):
        things.append(proper(form.format(thing=zipf_choice(rng, choices, 0.7))))
    things = [thing[0].lower() + thing[1:] for thing in things]
    return f"{opening} " + " and ".join(things) + "."


def document(rng: random.Random) -> str:
    """One text of the base model's training: mostly whole stories, some that begin in the middle, as prompts do."""
    draw = rng.random()
    if draw < 0.03:
        return word_list(rng)
    if draw < 0.25:
        return " ".join(scene(rng) for _ in range(rng.choice([1, 1, 2])))
    made = story(rng)
    if draw < 0.5:
        return " ".join(made.sentences[rng.randrange(1, len(made.sentences) - 1) :])
    return made.text
