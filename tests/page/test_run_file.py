"""A recorded run leaves the page as a file and comes back; what is no such file is refused in one sentence."""

import base64
import json

import orjson
import pytest
import torch
from test_runs import recorded_run

from playground.engine.params import SamplingParams
from playground.models.tables import trace_frame
from playground.page.run_file import RunFileError, from_json, to_json
from playground.page.runs import payload


def test_a_run_read_from_its_file_is_the_run(model):
    run = recorded_run(model)
    again = from_json(to_json(run))
    assert payload(again) == payload(run) | {"id": again.id}
    assert (again.labels, again.token_bytes, again.cache) == (run.labels, run.token_bytes, None)
    assert trace_frame(again.trace, SamplingParams(top_p=0.5)).equals(trace_frame(run.trace, SamplingParams(top_p=0.5)))


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", '"run"', "{}", "[" * 100_000, '{"format": "something else"}'])
def test_a_file_that_is_no_run_is_one_sentence(text):
    with pytest.raises(RunFileError, match=r"^The file is (not JSON|JSON, but not)[^\n]*\.$"):
        from_json(text)


@pytest.mark.parametrize(
    "field", ["token_ids", "uniforms", "logits", "params", "labels", "cache_bytes", "prompt", "pieces"]
)
@pytest.mark.parametrize("value", [None, 7, [], [None], [[-1]], {"temperature": -3}, [1e400]])
def test_a_spoilt_field_is_named(model, field, value):
    data = json.loads(to_json(recorded_run(model, 2)))
    data[field] = value
    with pytest.raises(RunFileError, match=r"^The file[^\n]*\.$") as caught:
        from_json(json.dumps(data))
    assert f"“{field}”" in str(caught.value)


@pytest.mark.parametrize("logit", [float("nan"), float("inf")])
def test_logits_that_allow_no_choice_are_refused(model, logit):
    data = json.loads(to_json(recorded_run(model, 2)))
    logits = torch.full((2, model.config.vocab_size), logit)
    data["logits"] = base64.b64encode(logits.numpy().tobytes()).decode()
    with pytest.raises(RunFileError, match="from which a token can be chosen"):
        from_json(json.dumps(data))


@pytest.mark.parametrize("uniforms", [[0.5, 1], [1.0, 0.0]])
def test_a_random_number_of_one_is_refused(model, uniforms):
    """A draw gives numbers below 1; with 1 the table and the picture looked for a token behind the last."""
    data = json.loads(to_json(recorded_run(model, 2))) | {"uniforms": uniforms}
    with pytest.raises(RunFileError, match="“uniforms”: numbers must be less than 1"):
        from_json(json.dumps(data))


def test_seconds_are_there_for_every_step_or_not_at_all(model):
    """Some seconds but not all made the table fail when it was asked for."""
    data = json.loads(to_json(recorded_run(model, 3)))
    for count in (0, 3):
        assert len(trace_frame(from_json(json.dumps(data | {"seconds": [0.1] * count})).trace)) == 3
    for count in (1, 2, 4):
        with pytest.raises(RunFileError, match="“seconds”: there must be 3 entries"):
            from_json(json.dumps(data | {"seconds": [0.1] * count}))


HUGE = 10**30
SPOILT = [
    ("prompt", "\ud83d"),
    ("model", "a\udc00"),
    ("labels", ["\ud83d"] * 61),
    ("cache_bytes", [[HUGE, 1], [1, 1]]),
    ("cache_bytes", [[1, 2], [1]]),
    ("cache_bytes", [[], []]),
    ("cache_bytes", [[True, 1], [1, 1]]),
    ("cache_bytes", [[1.0, 1], [1, 1]]),
    ("num_fed", [HUGE, 1]),
    ("num_fed", [True, 1]),
    ("prompt_ids", [61]),
    ("prompt_ids", ["1"]),
    ("prompt_ids", []),
    ("token_ids", [1, -1]),
    ("token_ids", [HUGE, 1]),
    ("token_ids", [1] * 5000),
    ("vocab_size", HUGE),
    ("seconds", [float("nan"), 1]),
    ("uniforms", [float("inf"), 0.5]),
    ("forced", [2]),
    ("max_new_tokens", True),
    ("max_new_tokens", "12"),
    ("params", {"seed": HUGE}),
    ("params", {"penalty_counts_prompt": "yes"}),
    ("params", {"temperature": True}),
    ("params", {"colour": 1}),
    ("params", {"rule": []}),
    ("logits", "\ud83d"),
    ("logits", "!"),
    ("logits", ""),
]


@pytest.mark.parametrize(("field", "value"), SPOILT)
def test_what_the_browser_or_json_can_not_carry_is_refused_by_its_field(model, field, value):
    """Half an emoji or a number of thirty digits was taken, and the reply then could not be sent."""
    data = json.loads(to_json(recorded_run(model, 2))) | {field: value}
    with pytest.raises(RunFileError, match=rf"^The file can't be shown: “{field}”: [^\n]*\.$") as caught:
        from_json(json.dumps(data))
    str(caught.value).encode()  # it can be sent itself


def test_a_temperature_of_thirty_digits_can_be_sent(model):
    """A whole number of more than 64 bits stopped the reply."""
    data = json.loads(to_json(recorded_run(model, 2)))
    run = from_json(json.dumps(data | {"params": data["params"] | {"temperature": HUGE}}))
    assert orjson.loads(orjson.dumps(payload(run)))["params"]["temperature"] == 1e30


def test_a_field_that_is_missing_is_named(model):
    data = json.loads(to_json(recorded_run(model, 2)))
    for field in data.keys() - {"format", "id", "system", "history"}:  # older files have neither
        with pytest.raises(RunFileError, match=f"“{field}”: it is missing"):
            from_json(json.dumps({name: value for name, value in data.items() if name != field}))


def test_a_number_of_five_thousand_digits_is_one_sentence():
    """Python reads no such number: its own message told of sys.set_int_max_str_digits."""
    with pytest.raises(RunFileError, match=r"^The file is not JSON: open one"):
        from_json('{"seed": ' + "9" * 5000 + "}")
