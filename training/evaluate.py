"""Holds the exported model against its bars, on texts, wordings and names that were not trained on.

`python -m training evaluate` prints the table of the model card. Each bar is a function that the tests call, too.
"""

import random
import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from statistics import mean

from playground import SamplingParams, generate
from playground.models.text import LoadedModel
from training.baselines import ByteGrams
from training.chat_data import UNKNOWN
from training.chat_tables import OPEN_QUESTIONS
from training.corpus import real_prose
from training.evaluation_texts import BASE_PROMPTS, OPEN_ASKED, SURE_QUESTIONS, UNKNOWN_ASKED
from training.facts import Fact, by_subject, fact_document
from training.measuring import (
    answers,
    answers_at,
    answers_to_all,
    base,
    bits_per_byte,
    chat,
    greedy_gives,
    is_word,
    known_facts,
    loss_per_token,
    words_in,
)
from training.name_tables import HELD_OUT_PREFIXES
from training.settings import Recipe
from training.stories import story
from training.wording import proper

TEMPERATURES = (0.0, 0.2, 0.5, 0.85, 1.0, 1.3)


@dataclass(frozen=True)
class Bar:
    what: str
    measured: str
    goal: str
    holds: bool


def fresh_losses() -> list[Bar]:
    rng = random.Random("fresh texts of the evaluation")
    groups = by_subject(known_facts())
    stories = loss_per_token(base(), [story(rng).text for _ in range(100)])
    facts = loss_per_token(base(), [fact_document(rng, groups) for _ in range(200)])
    return [
        Bar("loss per token on 100 fresh stories", f"{stories:.3f}", "at most 0.45", stories <= 0.45),
        Bar("loss per token on 200 fresh fact texts", f"{facts:.3f}", "at most 0.75", facts <= 0.75),
    ]


def prose_bits() -> list[Bar]:
    """Bits per byte on real prose that was not trained on, beside n-grams counted on the prose that was."""
    recipe = Recipe()
    if not (recipe.folder / "raw" / "austen.tsv").exists():
        return []  # needs the texts that `python -m training fetch` brings
    bars = []
    for source in ("bible", "austen", "wordnet"):
        held_out = real_prose(recipe, source, held_out=True)[:150]
        text, trained = "\n".join(held_out), "\n".join(real_prose(recipe, source))
        ours = bits_per_byte(base(), held_out)
        one, five = (ByteGrams(trained, order).bits_per_byte(text) for order in (1, 5))
        goal = f"at least 10% below a unigram's {one:.2f} and a 5-gram's {five:.2f}"
        bars.append(Bar(f"bits per byte on held-out prose: {source}", f"{ours:.2f}", goal, ours <= 0.9 * five))
    return bars


@cache
def base_texts(temperature: float) -> list[str]:
    params = SamplingParams(temperature=temperature, seed=3)
    said = answers_to_all(base(), [(prompt, params) for prompt in BASE_PROMPTS], 60)
    return [prompt + text for prompt, (text, _) in zip(BASE_PROMPTS, said, strict=True)]


def dictionary_words() -> list[Bar]:
    bars = []
    for temperature, goal in ((0.7, 0.98), (1.0, 0.94)):
        words = [word for text in base_texts(temperature) for word in words_in(text)]
        share = mean(is_word(word) for word in words)
        what = f"words of 20 base texts in a dictionary, T {temperature}"
        bars.append(Bar(what, f"{share:.1%}", f"at least {goal:.0%}", share >= goal))
    return bars


def fact_forms() -> dict[str, list[tuple[str, str]]]:
    """Each fact asked in five ways."""
    rng = random.Random("forms of the evaluation")
    facts = known_facts()
    trained = [(rng.choice(each.questions), each.answer) for each in facts]
    plain = [(rng.choice(each.questions[:4]), each.answer) for each in facts]
    return {
        "trained wordings": trained,
        "held-out wordings": [(rng.choice(each.held_out), each.answer) for each in facts if each.held_out],
        "in lower case": [(question.lower(), expected) for question, expected in plain],
        "without punctuation": [(question.rstrip("?.!"), expected) for question, expected in plain],
        "after a held-out greeting": [
            (rng.choice(HELD_OUT_PREFIXES) + asked[0].lower() + asked[1:], expected) for asked, expected in plain
        ],
    }


@cache  # two bars look at them
def right_in_forms() -> dict[str, list[bool]]:
    return {form: greedy_gives(asked) for form, asked in fact_forms().items()}


def facts_known() -> list[Bar]:
    bars = []
    for form, asked in fact_forms().items():
        share = mean(right_in_forms()[form])
        goal = 0.99 if form == "trained wordings" else 0.95
        bars.append(Bar(f"facts exact, {form} ({len(asked)})", f"{share:.1%}", f"at least {goal:.0%}", share >= goal))
    capitals = [each for each in known_facts() if each.relation == "capital"]
    lost = [each.x for each, right in zip(capitals, capitals_right(capitals), strict=True) if not right]
    what = f"countries whose capital is lost, of {len(capitals)}"
    bars.append(Bar(what, ", ".join(lost) or "none", "none", not lost))
    return bars


def capitals_right(capitals: list[Fact]) -> list[bool]:
    return greedy_gives([(f"What is the capital of {each.x}?", each.answer) for each in capitals])


def sure_facts() -> list[Bar]:
    lowest = min(key_probability(question, key) for question, key in SURE_QUESTIONS)
    right = {question: num_right(question, key) for question, key in SURE_QUESTIONS}
    distinct = max(len(set(answers(question, 0.2))) for question, _ in SURE_QUESTIONS)
    worst = min(right, key=lambda question: right[question])
    enough = sum(count >= 290 for count in right.values())
    shown = f"{enough} of {len(right)} facts; fewest {right[worst]} of 300 ({worst})"
    return [
        Bar("sure facts: lowest chance of the word that counts", f"{lowest:.3f}", "at least 0.95", lowest >= 0.95),
        Bar("sure facts: at least 29 in 30 right at T 1.0", shown, "all", enough == len(right)),
        Bar("sure facts: distinct answers of 30 at T 0.2, most", str(distinct), "1", distinct == 1),
    ]


def num_right(question: str, key: str) -> int:
    """Of 300 answers at temperature 1: with 30, a fact that is right 98 times in 100 would fail one time in eight."""
    return sum(key.lower() in text.lower() for text in answers(question, 1.0, 300))


def key_probability(question: str, key: str) -> float:
    """The probability of the key's first token at the place where greedy decoding says it."""
    params = SamplingParams(temperature=0.0)
    for step in generate(chat().model, chat().prompt_ids(question), params, None, 32, chat().stop_ids):
        piece = chat().tokenizer.decode([step.token_id]).strip().lower()
        if piece and key.lower().startswith(piece):
            return step.distribution.model_probs[step.token_id].item()
    return 0.0


def distinct_answers(question: str) -> tuple[int, ...]:
    """How many of 30 answers differ, at each of TEMPERATURES."""
    return tuple(len(set(said)) for said in answers_at(question, TEMPERATURES).values())


def is_open(counts: tuple[int, ...]) -> bool:
    _, low, half, usual, one, high = counts
    return low <= 5 and half <= 12 and 10 <= usual <= 24 and one >= 15 and high >= 22


def temperature_is_visible() -> list[Bar]:
    table = [distinct_answers(question) for question in OPEN_ASKED]
    met = sum(is_open(counts) for counts in table)
    averages = [mean(column) for column in zip(*table, strict=True)]
    rising = all(low < high for low, high in pairwise(averages))
    shown = ", ".join(f"{average:.1f}" for average in averages)
    return [
        Bar(f"open questions within the bounds below, of {len(table)}", str(met), "at least 12", met >= 12),
        Bar("distinct of 30 on average at T 0, 0.2, 0.5, 0.85, 1.0, 1.3", shown, "rising", rising),
    ]


def could_have_said(question: str) -> re.Pattern:
    """All answers that the training data could hold for an open question."""
    for asked in OPEN_QUESTIONS:
        for x, wording in product(asked.about, asked.questions):
            if proper(wording.format(x=x)) == question:
                said = re.escape(asked.answer)
                for name, choices in asked.slots.items():
                    said = said.replace(re.escape(f"{{{name}}}"), f"(?:{'|'.join(map(re.escape, choices))})")
                said = said.replace(re.escape("{x}"), re.escape(x))  # a drawn opinion names the thing, too
                return re.compile(said.replace(r"\ a\ (?:", r"\ an?\ (?:"), re.IGNORECASE)
    raise ValueError(f"no open question is asked as {question!r}")


def stays_in_its_language() -> list[Bar]:
    """A tail of words that don't belong would raise the counts of distinct answers, and spoil what they are to show."""
    said = {question: answers_at(question, TEMPERATURES)[1.0] for question in OPEN_ASKED}
    known = {question: could_have_said(question) for question in OPEN_ASKED}
    share = mean(known[question].fullmatch(each) is not None for question in said for each in said[question])
    return [
        Bar("of 600 open answers at T 1.0, some training text could hold", f"{share:.0%}", "at least 80%", share >= 0.8)
    ]


def nucleus_sizes(loaded: LoadedModel, prompt: str) -> list[int]:
    params = SamplingParams(temperature=1.0, top_p=0.9, seed=1)
    return [
        step.distribution.num_candidates
        for step in generate(loaded.model, loaded.prompt_ids(prompt), params, None, 64, loaded.stop_ids)
    ]


def nucleus_breathes() -> list[Bar]:
    breathing = {question: nucleus_sizes(chat(), question) for question in OPEN_ASKED}
    good = [question for question, sizes in breathing.items() if min(sizes) == 1 and max(sizes) > 20]
    widest = max(breathing, key=lambda question: max(breathing[question]))
    shown = f"{len(good)} of {len(breathing)} open questions; widest {max(breathing[widest])} ({widest})"
    return [Bar("nucleus 1 at some step and above 20 at another, top-p 0.9, T 1", shown, "at least one", bool(good))]


def knows_its_limits() -> list[Bar]:
    said = answers_to_all(chat(), [(question, SamplingParams(temperature=0.0)) for question in UNKNOWN_ASKED])
    refused = mean(text.startswith(UNKNOWN.rstrip(".")) for text, _ in said)
    known = [question for form in fact_forms().values() for question, _ in form]
    right = [is_right for form in right_in_forms().values() for is_right in form]
    # What is answered rightly is not refused.
    doubtful = [(question, UNKNOWN) for question, is_right in zip(known, right, strict=True) if not is_right]
    wrongly = sum(greedy_gives(doubtful)) / len(known)
    return [
        Bar("of 50 unknown things answered with 'I do not know.'", f"{refused:.0%}", "at least 80%", refused >= 0.8),
        Bar(f"of {len(known)} questions about known things refused", f"{wrongly:.1%}", "at most 2%", wrongly <= 0.02),
    ]


def answers_end() -> list[Bar]:
    rng = random.Random("ends")
    facts = [question for question, _ in rng.sample(fact_forms()["trained wordings"], 130)]
    asked = [*OPEN_ASKED, *UNKNOWN_ASKED, *facts]
    greedy = [(question, SamplingParams(temperature=0.0)) for question in asked]
    sampled = [(each, SamplingParams(temperature=0.85, top_p=0.85, seed=seed)) for seed, each in enumerate(asked)]
    sharp, loose = (mean(end for _, end in answers_to_all(chat(), each)) for each in (greedy, sampled))
    return [
        Bar(f"greedy answers that end within 64 tokens (of {len(asked)})", f"{sharp:.1%}", "all", sharp == 1.0),
        Bar("the same at T 0.85, top-p 0.85", f"{loose:.1%}", "at least 98%", loose >= 0.98),
    ]


def repeats(text: str) -> bool:
    """A phrase of two to eight words that stands three times in a row."""
    return re.search(r"\b((?:[\w',.]+\s+){1,8}?)\1{2}", text + " ") is not None


LOOPING_PROMPT = 'Emma: "I am'


def greedy_loops() -> list[Bar]:
    settings = [SamplingParams(temperature=0.0), *(SamplingParams(temperature=0.7, seed=seed) for seed in range(30))]
    said = answers_to_all(base(), [(LOOPING_PROMPT, each) for each in settings], 60)
    looped, *sampled = (repeats(LOOPING_PROMPT + text) for text, _ in said)
    sampled = sum(sampled)
    what = f"'{LOOPING_PROMPT}': greedy repeats a phrase; texts of 30 at T 0.7 that do"
    return [Bar(what, f"{'yes' if looped else 'no'}; {sampled}", "yes; 0", looped and sampled == 0)]


BARS = (
    fresh_losses,
    prose_bits,
    dictionary_words,
    facts_known,
    sure_facts,
    temperature_is_visible,
    stays_in_its_language,
    nucleus_breathes,
    knows_its_limits,
    answers_end,
    greedy_loops,
)


def evaluate() -> None:
    print("| bar | measured | goal | met |\n| --- | --- | --- | --- |")
    for bar in (bar for measure in BARS for bar in measure()):
        print(f"| {bar.what} | {bar.measured} | {bar.goal} | {'yes' if bar.holds else '**no**'} |", flush=True)
    print(f"\n| distinct of 30 | {' | '.join(f'T {temperature:g}' for temperature in TEMPERATURES)} |")
    print("| --- |" + " --- |" * len(TEMPERATURES))
    for question in OPEN_ASKED:
        print(f"| {question} | {' | '.join(str(count) for count in distinct_answers(question))} |")
    for temperature in (0.7, 1.0):
        print(f"\nBase, T {temperature}:\n")
        for text in base_texts(temperature):
            print("- " + text.replace("\n", " / "))
