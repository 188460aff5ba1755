"""What the pictures of a comparison take: plain values, made from the experiments."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel
from torch import Tensor

from playground.engine.model import Transformer
from playground.models.loading import embedded_names
from playground.models.text import LoadedModel
from playground.page.line import Work, in_steps
from playground.page.panel import figure_json
from playground.page.requests import RequestError, checked, own_model_of, prompt_ids_of, system_of, whole
from playground.tabs.kinds_of_cache.comparison import MOST_NEW, Comparison, Followed, compare_kinds
from playground.tabs.kinds_of_cache.contenders import Contender, bytes_per_token, contenders
from playground.tabs.kinds_of_cache.figures import perplexity_figure
from playground.tabs.kinds_of_cache.long_text import perplexity, smoothed, surprise_by_kind, text_ids
from playground.tabs.kinds_of_cache.many_stories import right_answers
from playground.tabs.kinds_of_cache.stories import Story, places_of, stories
from playground.words import say, told

BAR = "bar"  # in place of a story's number: the prompt of the bar
READER, STORYTELLER = "minimind-chat", "minimind-base"  # who answers the questions, who reads on
BUDGETS = 24, 160, 56  # tokens: least, most, and the one that the page opens with
SOME_BUDGETS = 24, 40, 56, 80, 120
LONGEST = 512  # tokens of a prompt from the bar: each of its positions is drawn
STRETCH = 48  # tokens over which perplexity is averaged


class Question(BaseModel):
    """Of compare.js."""

    story: str  # its number, or BAR
    budget: int  # tokens


def compared(
    models: Mapping[str, LoadedModel], asked: dict, model_name: str, prompt: str, controls: dict | None = None
) -> Work:
    """For compare.js."""
    question = checked(Question, {name: asked.get(name) for name in Question.model_fields})
    story, loaded = _asked(models, question.story, model_name)
    budget = whole("budget", question.budget, BUDGETS[0], BUDGETS[1])
    if story:
        prompt_ids = prompt_ids_of(loaded, story.prompt)
    else:
        prompt_ids = prompt_ids_of(loaded, prompt, system=system_of(loaded, controls))
    most = min(LONGEST, loaded.model.config.max_positions - MOST_NEW)
    if len(prompt_ids) > most:
        raise RequestError(say("kinds_of_cache.problem.long", count=len(prompt_ids), most=most))
    num_kinds = len(contenders(loaded.model, len(prompt_ids), budget))
    comparison = yield from in_steps(compare_kinds(loaded, prompt_ids, budget), of=num_kinds)
    yield comparison_value(loaded, story, comparison, budget)


def _asked(models: Mapping[str, LoadedModel], story: str, model_name: str) -> tuple[Story | None, LoadedModel]:
    """Its story, None for the prompt of the bar, and the model that reads it."""
    known = stories()
    if story == BAR:
        return None, own_model_of(models, model_name)
    if story.isdecimal() and int(story) < len(known):
        return known[int(story)], _first_of(models, READER, model_name)
    raise RequestError(say("kinds_of_cache.problem.story"))


def _first_of(models: Mapping[str, LoadedModel], *names: str) -> LoadedModel:
    """Some kinds look at queries and turn keys, which only models of this project let them."""
    return own_model_of(models, next((name for name in names if name in models), names[-1]))


def comparison_value(loaded: LoadedModel, story: Story | None, comparison: Comparison, budget: int) -> dict:
    per_token = bytes_per_token(loaded.model) * loaded.model.config.num_layers
    ids, label = comparison.prompt_ids + comparison.answer_ids, loaded.tokenizer.label
    return {
        "budget": budget,
        "budget_bytes": budget * per_token,
        "prompt_length": len(comparison.prompt_ids),
        "labels": [label(token_id) for token_id in ids],
        "word": story.word if story else None,
        "places": places_of(loaded, comparison.prompt_ids, story.word) if story else [],
        "question": story.question if story else None,
        "kinds": [_kind_value(loaded, story, comparison, kind, budget * per_token) for kind in comparison.kinds],
    }


def _kind_value(
    loaded: LoadedModel, story: Story | None, comparison: Comparison, kind: Followed, budget_bytes: int
) -> dict:
    answer = _text(loaded, kind.answer_ids)
    common = kind.answer_ids == comparison.answer_ids
    return {
        **kind_words(kind.contender),
        "held": [[runs(positions) for positions in layers] for layers in kind.held],
        "rounded": kind.rounded,
        "bytes": kind.num_bytes,
        "copied": kind.copied_bytes,
        "kl": kind.kl_bits,
        "chosen": [loaded.tokenizer.label(token_id) for token_id in kind.choices],
        "equal": kind.equal_until(comparison.answer_ids),
        "answer": answer,
        "is_right": story.is_right(answer) if story else common,
        "fits": kind.num_bytes[-1] <= budget_bytes,
        "seconds": kind.seconds_per_token,
    }


def kind_words(contender: Contender) -> dict:
    """Its name, and what it keeps."""
    name = contender.name
    return {
        "name": name,
        "title": told(f"kinds_of_cache.kind.{name}.title", **contender.facts),
        "text": told(f"kinds_of_cache.kind.{name}.text", **contender.facts),
    }


def runs(positions: Sequence[int]) -> list[list[int]]:
    """Ascending positions as [first, how many] of each run without a gap."""
    found: list[list[int]] = []
    for position in positions:
        if found and position == sum(found[-1]):
            found[-1][1] += 1
        else:
            found.append([position, 1])
    return found


def _text(loaded: LoadedModel, token_ids: list[int]) -> str:
    ended = token_ids[-1] in loaded.stop_ids
    return loaded.tokenizer.decode(token_ids[:-1] if ended else token_ids).strip()


def all_stories(models: Mapping[str, LoadedModel], budget: int, model_name: str) -> Work:
    """For bars.js: how many of the stories each kind answers right."""
    tokens = whole("budget", budget, BUDGETS[0], BUDGETS[1])
    loaded = _first_of(models, READER, model_name)
    told_stories = stories()
    of = len(told_stories) * len(contenders(loaded.model, 1, tokens))
    found = yield from in_steps(right_answers(loaded, told_stories, tokens), of=of)
    yield {
        "groups": [{"rows": [_share_row(name, right) for name, right in found.items()]}],
        "note": told("kinds_of_cache.stories.note", count=len(told_stories), budget=tokens, model=loaded.name),
    }


def _share_row(name: str, right: list[bool]) -> dict:
    return {
        "label": told(f"kinds_of_cache.short.{name}"),
        "share": sum(right) / len(right),
        "text": told("kinds_of_cache.stories.right", right=sum(right), count=len(right)),
        "kind": "kept",
    }


def readers(models: Mapping[str, LoadedModel]) -> list[str]:
    """The models that the long text can be read with: the small one first, then those that are not of this project."""
    own = [name for name, loaded in models.items() if isinstance(loaded.model, Transformer)]
    small = STORYTELLER if STORYTELLER in own else next(iter(models))
    return [small, *(name for name in own if name not in {*embedded_names(), small})]


def along_a_text(models: Mapping[str, LoadedModel], budget: int, reader: str) -> Work:
    """For plot.js: perplexity along a long text, and a row of numbers for each kind."""
    tokens = whole("budget", budget, BUDGETS[0], BUDGETS[1])
    loaded = own_model_of(models, reader)
    ids = text_ids(loaded, stories())
    of = len(ids) * len(contenders(loaded.model, len(ids), tokens))
    found = yield from in_steps(surprise_by_kind(loaded, ids, tokens), of=of)
    trained = loaded.trained_length if loaded.trained_length < len(ids) else None
    curves = {name: smoothed(nats, STRETCH) for name, nats in found.items()}
    yield figure_json(perplexity_figure(curves, trained)), perplexity_table(loaded.name, found, trained, tokens)


def perplexity_table(model: str, found: Mapping[str, Tensor], trained: int | None, budget: int) -> dict:
    """For table.js. trained: tokens of the text that are within the model's training; None: all of them."""
    facts = {"model": model, "tokens": len(next(iter(found.values()))) + 1, "budget": budget}
    note = "note_all" if trained is None else "note"
    return {
        "columns": [told(f"kinds_of_cache.long.{name}") for name in ("kind", "inside", "beyond")],
        "rows": [
            [
                told(f"kinds_of_cache.short.{name}"),
                _perplexity(nats if trained is None else nats[: trained - 1]),
                "–" if trained is None else _perplexity(nats[trained - 1 :]),
            ]
            for name, nats in found.items()
        ],
        "note": told(f"kinds_of_cache.long.{note}", **facts, **({} if trained is None else {"trained": trained})),
    }


def _perplexity(nats: Tensor) -> dict:
    return told("kinds_of_cache.number.perplexity", value=perplexity(nats))
