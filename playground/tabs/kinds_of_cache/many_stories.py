"""How many of the stories each kind of cache still answers right, at one budget."""

from collections.abc import Generator, Sequence

from playground.models.text import LoadedModel
from playground.tabs.kinds_of_cache.comparison import GREEDY, MOST_NEW
from playground.tabs.kinds_of_cache.contenders import cache_of, contenders
from playground.tabs.kinds_of_cache.stories import Story


def right_answers(
    loaded: LoadedModel, asked: Sequence[Story], budget: int
) -> Generator[int, None, dict[str, list[bool]]]:
    """By kind, for each story. Yields how many answers there have been."""
    found: dict[str, list[bool]] = {}
    done = 0
    for story in asked:
        num_tokens = len(loaded.prompt_ids(story.prompt)) + MOST_NEW
        for contender in contenders(loaded.model, num_tokens, budget):
            cache = cache_of(loaded.model, contender)
            answer = loaded.generate(story.prompt, GREEDY, cache=cache, max_new_tokens=MOST_NEW).text
            found.setdefault(contender.name, []).append(story.is_right(answer))
            done += 1
            yield done
    return found
