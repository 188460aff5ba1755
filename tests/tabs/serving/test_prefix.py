"""Shared prompts: blocks counted the slow way, the same in the browser, and what the model is really fed."""

import random

import pytest
from node import in_node

from playground.engine.model import Transformer
from playground.models.answers import at_once
from playground.models.text import LoadedModel
from playground.tabs.serving.prefix import answers_room, found_tokens, new_blocks, reuse
from playground.tabs.serving.prefix_values import ORDERS, prefix_values, prompts_of

BLOCKS = (1, 2, 3, 7, 16, 128)


def alike(first: list[int], second: list[int]) -> int:
    """Tokens with which both begin, one by one."""
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return same


def found_slowly(prompts: list[list[int]], block: int) -> list[int]:
    """Each prompt beside each earlier one: whole blocks of both that are alike, but not its last token."""
    found = []
    for place, prompt in enumerate(prompts):
        most = max((alike(prompt, other) for other in prompts[:place]), default=0)
        found.append(max(size for size in range(0, len(prompt), block) if size <= most))
    return found


def random_prompts(chance: random.Random) -> list[list[int]]:
    """That begin alike in different ways; some twice, some within another."""
    shared = [chance.randrange(5) for _ in range(chance.randint(0, 40))]
    prompts = [shared[: chance.randint(0, 40)] + [chance.randrange(3) for _ in range(chance.randint(1, 9))]
               for _ in range(chance.randint(1, 6))]  # fmt: skip
    return [*prompts, list(prompts[0])]


CASES = [(random_prompts(random.Random(seed)), block) for seed in range(40) for block in BLOCKS]


def test_whole_blocks_are_found_and_nothing_else():
    for prompts, block in CASES:
        assert found_tokens(prompts, block) == found_slowly(prompts, block)
    assert found_tokens([[1, 2, 3, 4], [1, 2, 3, 4]], 2) == [0, 2], "the last token is computed in any case"
    assert found_tokens([[1, 2, 3, 4], [1, 2, 3, 4, 5]], 2) == [0, 4]
    assert found_tokens([[1, 2, 3], [9, 2, 3]], 1) == [0, 0]


def test_blocks_are_counted_place_by_place():
    for prompts, block in CASES:
        held = 0
        for prompt, found in zip(prompts, found_slowly(prompts, block), strict=True):
            held += len({place // block for place in range(found, len(prompt))})
        assert new_blocks(prompts, block) == held
    chance = random.Random(1)
    for _ in range(50):
        prompt, tokens, block = chance.randint(1, 90), [chance.randint(0, 30) for _ in range(30)], chance.choice(BLOCKS)
        room = answers_room(prompt, tokens, block)
        alone = [(row, place // block) for row, each in enumerate(tokens) for place in range(prompt + each)]
        shared = {(0 if (number + 1) * block <= prompt else row + 1, number) for row, number in alone}
        assert (room.alone_blocks, room.shared_blocks) == (len(set(alone)), len(shared))
        assert room.alone_tokens == len(alone) and room.shared_tokens == prompt + sum(tokens)


def test_the_browser_counts_the_same():
    chance = random.Random(2)
    answers = [[chance.randint(1, 90), [chance.randint(0, 30) for _ in range(5)], block] for block in BLOCKS]
    script = """
      const { foundTokens, newBlocks, answersRoom } = prefix;
      return [given[0].map((each) => [foundTokens(...each), newBlocks(...each)]),
              given[1].map((each) => answersRoom(...each))];
    """
    blocks, rooms = in_node(script, [CASES, answers], prefix="tabs/serving/prefix.js")
    assert blocks == [[found_tokens(*case), new_blocks(*case)] for case in CASES]
    assert rooms == [vars(answers_room(*each)) for each in answers]


@pytest.mark.parametrize("block", [1, 4, 16])
def test_the_model_is_fed_just_what_was_not_found(model: Transformer, block: int):
    prompts = [[4] * 20 + [number, 7] for number in range(4)] + [[4] * 8]
    run = at_once(reuse(model, prompts, block))
    expected = [len(prompt) - found for prompt, found in zip(prompts, found_slowly(prompts, block), strict=True)]
    assert list(run.num_fed) == expected and sum(expected) < sum(map(len, prompts))
    assert run.difference < 1e-4


def test_lesson_k15_one_token_in_front_and_nothing_is_found(chat: LoadedModel):
    prompts = {order: prompts_of(chat, order) for order in ORDERS}
    hits = {order: sum(found_tokens(prompts[order], 16)) for order in ORDERS}
    assert hits["first"] > 400 and hits["time"] == hits["last"] == 0
    assert sum(found_tokens(prompts["first"], 128)) == 0, "the instructions are shorter than a block"


def test_the_page_is_given_prompts_and_what_the_model_was_fed(chat: LoadedModel):
    asked = {"model": chat.name, "order": "first", "block": 16, "answers": True}
    value = at_once(prefix_values({chat.name: chat}, asked))
    prompts = value["prompts"]["first"]
    pairs = zip(prompts, found_tokens(prompts, 16), strict=True)
    assert value["fed"] == [len(prompt) - found for prompt, found in pairs]
    assert value["answers"]["prompt"] == len(prompts[0]) and len(value["answers"]["tokens"]) == 30
    for wrong in ({"block": 0}, {"block": 129}, {"order": "x"}, {"answers": 1}):
        with pytest.raises(ValueError):
            next(prefix_values({chat.name: chat}, asked | wrong))
