"""Models that visitors loaded: how many are kept, which goes first, and what nobody may lose."""

import gc
import weakref

import pytest
from conftest import TINY, tiny_model

from playground.models import held
from playground.models.files import ModelFileError
from playground.models.held import HeldModels, memory_of
from playground.models.text import LoadedModel
from playground.tabs.two_models.sides import choices


def tiny(name: str) -> LoadedModel:
    return LoadedModel(name, tiny_model(), None, False, (), TINY.max_positions)


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """What the models are told that the time is: one entry, in seconds."""
    now = [1000.0]
    monkeypatch.setattr(held.time, "monotonic", lambda: now[0])
    return now


SIZE = memory_of(tiny("x"))


def test_what_nobody_has_used_for_longest_goes_first(clock):
    models = HeldModels({"given": tiny("given")}, most_bytes=2 * SIZE + 1)
    for name in ("a", "b"):
        models.add(tiny(name))
        clock[0] += 10
    assert list(models) == ["given", "a", "b"] and models.num_bytes == 2 * SIZE
    clock[0] += held.IN_USE_SECONDS + 20
    models.use("a")  # a page that shows its answer
    models.add(tiny("c"))
    assert list(models) == ["given", "a", "c"] and "b" not in models
    with pytest.raises(KeyError):
        models["b"]
    clock[0] += held.IN_USE_SECONDS + 1
    assert models["a"].name == "a"  # a request
    models.add(tiny("d"))
    assert list(models) == ["given", "a", "d"]


def test_what_is_in_use_stays_and_the_newcomer_is_refused(clock):
    models = HeldModels({"given": tiny("given")}, most_bytes=SIZE)
    models.add(tiny("a"))
    with pytest.raises(ModelFileError, match="no room for b: what visitors have loaded before is in use; try again"):
        models.make_room("b", SIZE)
    with pytest.raises(ModelFileError, match=r"^b takes .* and what visitors load may take"):
        models.make_room("b", SIZE + 1)
    assert list(models) == ["given", "a"], "nobody was let go for one that is too large"
    clock[0] += held.IN_USE_SECONDS + 1
    with pytest.raises(ModelFileError, match="choose a smaller model"):
        models.make_room("b", SIZE + 1)
    assert list(models) == ["given", "a"]
    models.make_room("b", SIZE)
    assert list(models) == ["given"]


def test_no_more_than_a_few_are_kept_however_small(clock):
    models = HeldModels({}, most_bytes=100 * SIZE)
    for number in range(held.MOST_LOADED + 2):
        models.add(tiny(str(number)))
        clock[0] += held.IN_USE_SECONDS + 1
    assert list(models) == [str(number) for number in range(2, held.MOST_LOADED + 2)]


def test_a_model_that_was_let_go_counts_until_the_work_with_it_has_ended(clock):
    models = HeldModels({}, most_bytes=SIZE)
    models.add(tiny("a"))
    working, gone = models["a"], weakref.ref(models["a"].model)
    clock[0] += held.IN_USE_SECONDS + 1
    with pytest.raises(ModelFileError, match="no room for b"):
        models.make_room("b", SIZE)
    assert "a" not in models and gone() is working.model and models.num_bytes == SIZE
    del working
    gc.collect()
    assert gone() is None and models.num_bytes == 0
    models.make_room("b", SIZE)


def test_memory_that_the_machine_lacks_is_made_by_letting_go(clock, monkeypatch):
    models = HeldModels({}, most_bytes=10 * SIZE)
    models.add(tiny("a"))
    clock[0] += held.IN_USE_SECONDS + 1
    monkeypatch.setattr(held, "free_memory", lambda _device: SIZE)
    models.make_room("b", SIZE)
    assert "a" in models
    models.make_room("b", SIZE + 1)
    assert "a" not in models


def test_a_model_that_is_only_listed_is_let_go(clock):
    """Every page that looked which models there are kept them all."""
    models = HeldModels({"given": tiny("given")}, most_bytes=SIZE)
    models.add(tiny("a"))
    clock[0] += held.IN_USE_SECONDS + 1
    assert [each.name for each in models.values()] == list(models) == ["given", "a"]
    assert [name for name, _ in models.items()] == list(models)
    assert [side["model"] for side in choices(models)["sides"]][-1] == "a"
    models.add(tiny("b"))
    assert list(models) == ["given", "b"]
    clock[0] += held.IN_USE_SECONDS + 1
    assert models["b"].name == "b"
    with pytest.raises(ModelFileError, match="in use"):
        models.make_room("c", SIZE)
