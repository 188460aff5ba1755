"""Text in, text out: what a notebook is given says the same as the ids and steps underneath."""

import pytest

from playground.engine.generation import generate
from playground.engine.kv_cache import KVCache
from playground.engine.params import SamplingParams

QUESTION, PARAMS = "What should I do today?", SamplingParams(top_p=0.9, seed=1)


def test_an_answer_is_that_of_the_loop_without_its_stop_token(chat):
    trace = chat.generate(QUESTION, PARAMS)
    steps = list(generate(chat.model, chat.prompt_ids(QUESTION), PARAMS, None, 64, chat.stop_ids))
    assert trace.token_ids == [step.token_id for step in steps]
    assert trace.stop_reason == "stop token" and trace.text == chat.tokenizer.decode(trace.token_ids[:-1])
    longer = chat.generate(QUESTION, PARAMS, stop_ids=(), max_new_tokens=len(trace) + 3)
    assert len(longer) == len(trace) + 3 and longer.stop_reason == "length"


def test_a_stream_joins_to_the_answer_and_goes_on_from_a_cache(chat):
    cache = KVCache.of(chat.model)
    pieces, steps = zip(*chat.stream(QUESTION, PARAMS, cache=cache), strict=True)
    assert "".join(pieces) == chat.generate(QUESTION, PARAMS).text
    assert [step.index for step in steps] == list(range(len(steps)))
    assert next(chat.stream(QUESTION, PARAMS, cache=cache))[1].num_fed == 1


def test_the_first_of_many_answers_is_the_answer(chat):
    first, *others = chat.answers(QUESTION, PARAMS, n=4)
    assert first.text == chat.generate(QUESTION, PARAMS).text and len(others) == 3
    certain = chat.answers(QUESTION, PARAMS, 2, 3, logits_processors=[lambda ids, logits: logits * 1e4])
    assert [answer.probability for answer in certain] == [1, 1]


def test_a_run_shows_itself_and_its_prompt_is_text(chat):
    trace = chat.generate("<b>hello</b>", PARAMS, max_new_tokens=6)
    shown = trace._repr_html_()
    assert "&lt;b&gt;hello" in shown and "<b>hello" not in shown and shown.count("<span") == len(trace)
    assert repr(trace.text) in repr(trace) and len(trace.table()) == len(trace)
    assert len(trace.figure(0).data) > 2
    assert list(trace.to_frame()) == [name for name in trace.table() if name in trace.to_frame()]
    for step in (99, 1.5):
        with pytest.raises(ValueError, match=f"step must be a whole number from 0 to {len(trace) - 1}, got {step}"):
            trace.figure(step)
