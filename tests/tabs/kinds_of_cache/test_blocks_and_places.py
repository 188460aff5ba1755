"""What the tab says of shared blocks, devices and files, computed."""

from node import in_node
from test_kinds_of_cache import at_once

from playground.page.lesson import read_lesson
from playground.tabs.kinds_of_cache.blocks import ANSWER_TOKENS, NUM_ANSWERS, share_blocks
from playground.tabs.kinds_of_cache.blocks_values import requests, shared_blocks, where_it_lies
from playground.tabs.kinds_of_cache.places import BY_HEADS, BY_LAYERS, file_times, splits
from playground.words import say

ROW = 2 * 2 * 2 * 16 * 4  # bytes of a token of the tiny model


def common(first: list[int], other: list[int]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), min(len(first), len(other))
    )


def test_lesson_k15_hits_are_whole_blocks_of_the_same_beginning(chat):
    prompts = [chat.prompt_ids(prompt) for prompt in requests()]
    assert common(prompts[0], prompts[1]) > 128 and common(prompts[0], prompts[2]) < 4  # what the lesson speaks of
    for shared in at_once(share_blocks(chat.model, prompts, (1, 16, 128, 256))):
        size = shared.block_size
        hits = [0, common(prompts[0], prompts[1]) // size, common(prompts[0], prompts[2]) // size]
        assert [served.num_hits for served in shared.served] == hits
        assert [served.num_fed for served in shared.served] == [
            len(ids) - found * size for ids, found in zip(prompts, hits, strict=True)
        ]
        assert all(served.num_empty == -served.num_tokens % size for served in shared.served)
    assert hits == [0, 0, 0]  # the lesson's button: a prompt shorter than a block never hits
    assert read_lesson("kinds_of_cache")["K15"].button == "Blocks of 256 tokens"


def test_answers_share_their_prompt_and_copy_what_they_write_into(model):
    prompt = list(range(1, 19))  # 18 tokens: two whole blocks of 8 and a third with two
    (shared,) = at_once(share_blocks(model, [prompt], (8,)))
    assert shared.answers_shared == (2 + NUM_ANSWERS * 2) * 8 * ROW  # 12 tokens of each in two blocks of its own
    assert shared.answers_alone == NUM_ANSWERS * 4 * 8 * ROW
    assert shared.copied_bytes == (NUM_ANSWERS - 1) * 8 * ROW  # the last one has the block for itself
    assert ANSWER_TOKENS == 10


def test_a_block_is_drawn_as_far_as_it_is_filled():
    served = {"num_blocks": 3, "num_hits": 2, "num_empty": 6}
    made = in_node("return blocks.blocksOf(given, 8);", served, blocks="tabs/kinds_of_cache/blocks.js")
    assert made == [{"isHit": True, "filled": 1}, {"isHit": True, "filled": 1}, {"isHit": False, "filled": 0.25}]


def test_devices_hold_shares_and_heads_are_not_cut(chat):
    ids = chat.prompt_ids("What is the capital of France?")
    made, whole = at_once(splits(chat.model, ids)), 2048 * len(ids)
    assert made[BY_HEADS, 2].bytes_per_device == [whole / 2] * 2
    assert made[BY_HEADS, 4].bytes_per_device == [whole / 2] * 4  # two KV heads: nothing more to share
    assert made[BY_LAYERS, 4].bytes_per_device == [whole / 4] * 4
    assert made[BY_LAYERS, 2].travelling_bytes == 128 * 4  # one hidden vector
    assert made[BY_HEADS, 2].travelling_bytes == 2 * 4 * 2 * 128 * 4  # two sums in each of four layers


def test_a_file_holds_what_was_computed(model):
    times = at_once(file_times(model, list(range(1, 41)), (10, 40)))
    assert [(each.num_tokens, each.num_bytes) for each in times] == [(10, 10 * ROW), (40, 40 * ROW)]
    assert all(each.read_seconds > 0 and each.compute_seconds > 0 for each in times)


def test_the_pictures_get_what_they_show(chat):
    models = {"minimind-chat": chat}
    blocks = at_once(shared_blocks(models, {}, "minimind-chat"))
    assert [each["block_size"] for each in blocks["sizes"]] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    made = at_once(where_it_lies(models, {}, "minimind-chat"))
    assert list(made) == ["devices", "files"]
    for table in made.values():
        assert {len(row) for row in table["rows"]} == {len(table["columns"])} and say(table["note"])
