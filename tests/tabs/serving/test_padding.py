"""Padding: with a mask and positions it changes nothing, without it does; and the room that it takes."""

import pytest
import torch

from playground.engine.kv_cache import KVCache
from playground.engine.model import Transformer
from playground.models.answers import at_once
from playground.models.text import LoadedModel
from playground.page.bar import load_examples
from playground.tabs.serving.padding import (
    LEFT,
    MASK,
    NOTHING,
    POSITIONS,
    RIGHT,
    HidesPadding,
    SkipsPadding,
    padded_answers,
    reserved_places,
)
from playground.tabs.serving.padding_values import PADS, padding_values
from playground.tabs.serving.schedule import Served

ROUNDING = 1e-4


@pytest.mark.parametrize("num_pads", [1, 7, 40])
def test_what_the_model_is_told_decides(model: Transformer, num_pads: int):
    """Lesson K14: rounding with a mask and positions, units without."""
    alone, found = at_once(padded_answers(model, [5, 9, 2, 44], 0, num_pads, ()))
    by_way = {(each.side, each.told): each for each in found}
    for side in (LEFT, RIGHT):
        best = by_way[side, POSITIONS]
        assert best.token_ids == alone and max(best.first_difference, best.later_difference) < ROUNDING
    left, right = by_way[LEFT, MASK], by_way[RIGHT, MASK]
    assert left.token_ids == alone and left.later_difference < ROUNDING, "rotary positions: only distances count"
    assert by_way[LEFT, NOTHING].first_difference > 0.1
    for told in (NOTHING, MASK):
        assert by_way[RIGHT, told].first_difference < ROUNDING, "nothing before it reads what stands on the right"
    assert by_way[RIGHT, NOTHING].later_difference > 0.1 and right.later_difference > 0.1


def test_lesson_k14_one_pad_token_is_enough(chat: LoadedModel, base: LoadedModel):
    for loaded in (chat, base):
        for example in load_examples()[loaded.name][:3]:
            ids = loaded.prompt_ids(example["prompt"])
            _, found = at_once(padded_answers(loaded.model, ids, 0, min(PADS), loaded.stop_ids))
            off = {(each.side, each.told): max(each.first_difference, each.later_difference or 0) for each in found}
            for side in (LEFT, RIGHT):
                assert off[side, NOTHING] > 0.1 and off[side, POSITIONS] < ROUNDING
    assert min(PADS) == 1


def test_hidden_padding_leaves_keys_and_values_as_they_are_without_it(model: Transformer):
    """In the middle of a text too. What nobody will read again is dropped."""
    padded, plain = SkipsPadding.of(model, HidesPadding(2, 5)), KVCache.of(model)
    model(torch.tensor([[5, 9, 7, 7, 7, 2]]), padded)
    model(torch.tensor([[5, 9, 2]]), plain)
    assert padded.layers[0].positions.tolist() == [0, 1, 5]
    for ours, theirs in zip(padded.layers, plain.layers, strict=True):
        for kept, wanted in zip(ours.stored(), theirs.stored(), strict=True):
            torch.testing.assert_close(kept, wanted, atol=1e-5, rtol=0)


def test_room_is_counted_place_by_place():
    lengths = [(3, 1), (40, 10), (16, 1), (7, 30)]
    served = [Served(prompt, (0,) * new, 0, 0, new, 4) for prompt, new in lengths]
    places = reserved_places(served, 16, 128)
    tokens = [prompt + new - 1 for prompt, new in lengths]
    blocks = sum(len({place // 16 for place in range(count)}) for count in tokens)
    assert places == {"context": 4 * 128, "padded": 4 * (40 + 30 - 1), "blocks": 16 * blocks, "filled": sum(tokens)}
    equal = [Served(20, (0,) * 5, 0, 0, 5, 4)] * 3
    assert reserved_places(equal, 16, 128)["padded"] == reserved_places(equal, 1, 128)["filled"], "the control"


def test_the_page_is_given_six_boxes_then_the_room(chat: LoadedModel):
    asked = {"model": chat.name, "prompt": "What is the capital of France?", "pads": 24}
    value, reserved = at_once(padding_values({chat.name: chat}, asked))
    places = reserved["places"]
    assert [box["verdict"] == "right" for box in value["boxes"]] == [False, True, True, False, False, True]
    assert value["alone"].strip() == "The capital of France is Paris."
    assert places["filled"] < places["blocks"] < places["padded"] < places["context"]
    assert reserved["bytes_a_token"] == 2048
    with pytest.raises(ValueError, match="Pads"):
        next(padding_values({chat.name: chat}, asked | {"pads": 3}))
