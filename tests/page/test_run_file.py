"""A recorded run leaves the page as a file and comes back; what is no such file is refused in one sentence."""

import base64
import json

import numpy as np
import orjson
import pytest
import torch
from test_binned_js import large_trace
from test_runs import recorded_run

from playground.engine.params import SamplingParams
from playground.models.tables import trace_frame
from playground.page.run_file import RunFileError, from_json, to_json
from playground.page.runs import Run, payload


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


def large_run(kind: str = "smooth", vocab_size: int = 12_000) -> Run:
    trace = large_trace(kind, vocab_size, seed=3)
    texts = [str(token_id) for token_id in range(vocab_size)]
    pieces = [texts[token_id] for token_id in trace.token_ids]
    return Run("m", "p", trace, SamplingParams(temperature=1.3), 64, pieces, texts, texts)


@pytest.mark.parametrize("kind", ["smooth", "ties", "impossible", "skewed"])
def test_of_a_large_vocabulary_a_file_holds_what_the_page_has_and_opens_again(kind: str):
    """All logits of 64 tokens of SmolLM2 made a file that was too large to be opened."""
    run = large_run(kind)
    text = to_json(run)
    again = from_json(text)
    sent, back = payload(run)["logits"], payload(again)["logits"]
    assert back["ids"] == sent["ids"] and back["logits"] == sent["logits"], "exact where the page says so"
    for params in (SamplingParams(), SamplingParams(temperature=1.5, top_p=0.95), SamplingParams(min_p=0.02)):
        before, after = run.trace.reread(params), again.trace.reread(params)
        assert after.distributions.entropy.numpy() == pytest.approx(before.distributions.entropy.numpy(), rel=2e-3)
        assert after.num_candidates == pytest.approx(before.num_candidates, rel=0.02)
        ids = torch.tensor(run.trace.token_ids)[:, None]
        assert after.probs.gather(1, ids).numpy() == pytest.approx(before.probs.gather(1, ids).numpy(), rel=2e-3)
    assert np.isneginf(again.trace.logits.numpy()).sum() == np.isneginf(run.trace.logits.numpy()).sum()
    assert to_json(from_json(to_json(again))).count("labels") == 1, "as often as somebody likes"


def test_bins_that_are_none_are_refused_and_a_small_file_can_not_fill_the_memory():
    run = large_run()
    data = json.loads(to_json(run))
    sizes, bins = data["logits"]["sizes"], data["logits"]["bins"]
    nan = base64.b64encode(np.full(len(base64.b64decode(bins)) // 4, np.nan, "<f4")).decode()
    wrong = [
        {"sizes": sizes[1:]},
        {"sizes": [[-1, 1], *sizes[1:]]},
        {"sizes": [[sizes[0][0] - 1, sizes[0][1]], *sizes[1:]]},
        {"sizes": "many"},
        {"id_bytes": 3},
        {"id_bytes": []},
        {"ids": data["logits"]["ids"].replace("A", "B", 9)},
        {"ids": base64.b64encode(np.full(sum(size for size, _ in sizes), 65_000, "<u2")).decode()},
        {"counts": base64.b64encode(np.full(sum(size for _, size in sizes), 7, "<u4")).decode()},
        {"bins": nan},
        {"bins": bins[:-8]},
        {"logits": 7},
    ]
    for change in wrong:
        with pytest.raises(RunFileError, match="“logits”: these are not"):
            from_json(json.dumps(data | {"logits": data["logits"] | change}))
    with pytest.raises(RunFileError, match="“logits”"):
        from_json(json.dumps(data | {"logits": {}}))
    with pytest.raises(RunFileError, match=r"200,000 numbers are more than"):
        from_json(json.dumps(data | {"vocab_size": 200_000, **one_a_step(data, 200)}))


def one_a_step(data: dict, count: int) -> dict:
    """The columns of a run, lengthened."""
    columns = ("token_ids", "pieces", "uniforms", "num_fed", "cache_bytes", "seconds")
    return {name: (data[name] * count)[: count if data[name] else 0] for name in columns}


@pytest.mark.parametrize("steps", [84, 512])
def test_what_would_not_open_again_is_not_saved(monkeypatch: pytest.MonkeyPatch, steps: int):
    run = large_run()
    logits = torch.zeros(1, 200_000).expand(steps, -1)
    if steps > 100:
        monkeypatch.setattr("playground.page.run_file.LARGEST_FILE", 5_000)
        logits = run.trace.logits
    run.trace.__dict__["logits"] = logits
    with pytest.raises(RunFileError, match=r"at most 83 new tokens, then save|generate fewer new tokens, then save"):
        to_json(run)
