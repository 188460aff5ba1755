"""What the picture of the prompt's tokens is given: bounded, and without a run."""

import pytest

from playground.page.requests import RequestError
from playground.tabs.one_answer.reading import MOST_SHOWN, Read, reading_of


def test_of_a_long_prompt_the_ends_are_shown_and_all_is_counted(chat):
    reading = reading_of({chat.name: chat})
    prompt = "cat " * MOST_SHOWN
    made, ids = reading(Read(model=chat.name, prompt=prompt)), chat.prompt_ids(prompt)
    shown = [token["id"] for token in made["tokens"]]
    half = MOST_SHOWN // 2
    assert shown == ids[:half] + ids[-half:] and made["skipped"] == len(ids) - MOST_SHOWN > 0
    assert sum(made["counts"].values()) == len(ids)
    with pytest.raises(RequestError, match="Shorten it"):
        reading(Read(model=chat.name, prompt="cat " * 9000))
