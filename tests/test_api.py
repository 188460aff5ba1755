"""The endpoints, driven as a program drives them."""

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from playground.models.text import LoadedModel

ENDPOINTS = ["/answers", "/compare", "/generate", "/growth", "/reread"]
ODD = [None, {}, [], "no", -1, 1.5, True, 2**200, "\ud800", 1e300]


@pytest.fixture(scope="module")
def client(page_url: str) -> Client:
    return Client(page_url, verbose=False)


def test_the_endpoints_are_few_and_named_and_their_arguments_plain(client: Client):
    named = client.view_api(return_format="dict")["named_endpoints"]
    assert sorted(named) == ENDPOINTS
    for name, endpoint in named.items():
        assert all(each["python_type"]["type"] in ("str", "int", "float", "bool") for each in endpoint["parameters"]), (
            name
        )
        assert endpoint["description"]
        assert [each["parameter_name"] for each in endpoint["parameters"] if not each["parameter_has_default"]] == (
            ["run"] if name == "/reread" else ["prompt"]
        )


def test_generate_writes_what_the_library_writes_and_reread_reads_it(client: Client, base: LoadedModel):
    given = client.predict("Once upon a time", "minimind-base", 12, temperature=0, api_name="/generate")
    trace = base.generate("Once upon a time", base_params(temperature=0), max_new_tokens=12)
    assert [row["token"] for row in given["steps"]] == [base.labels[token] for token in trace.token_ids]
    again = client.predict(given["run"], temperature=0, api_name="/reread")
    assert again["first_difference"] is None and len(again["steps"]) == len(given["steps"])


def test_a_system_prompt_is_one_for_a_chat_model_only(client: Client, chat: LoadedModel):
    asked = ("Hi", "minimind-chat", 4, "You are a cat.")
    given = client.predict(*asked, temperature=0, api_name="/generate")
    talk = [{"role": "system", "content": "You are a cat."}, {"role": "user", "content": "Hi"}]
    trace = chat.generate(talk, base_params(temperature=0), max_new_tokens=4)
    assert [row["token"] for row in given["steps"]] == [chat.labels[token] for token in trace.token_ids]
    with pytest.raises(AppError, match="The base model minimind-base has no system prompt"):
        client.predict("Hi", "minimind-base", 4, "You are a cat.", api_name="/generate")


def base_params(**settings):
    from playground.engine.params import SamplingParams

    return SamplingParams(**settings)


def test_answers_comparison_and_growth(client: Client):
    answers = client.predict("Hello", n=5, max_new_tokens=4, api_name="/answers")
    assert sum(row["count"] for row in answers["answers"]) == 5
    compared = client.predict("Hello", max_new_tokens=3, temperature=0, api_name="/compare")
    assert compared["equal"] and compared["new_tokens"] == 3
    rows = client.predict("Hello", api_name="/growth")["rows"]
    assert {row["layer"] for row in rows} and all(row["filled_bytes"] > 0 for row in rows)


@pytest.mark.parametrize("name", ENDPOINTS)
@pytest.mark.parametrize("odd", ODD, ids=[ascii(odd)[:12] for odd in ODD])
def test_odd_values_get_an_answer_or_one_sentence(client: Client, name: str, odd):
    first = "run" if name == "/reread" else "prompt"
    for given in (
        {first: odd},
        {first: "Hi", "temperature": odd},
        {first: "Hi", "seed": odd},
        {first: "Hi", "rule": odd},
    ):
        if name == "/growth" and len(given) > 1:
            given = {first: "Hi", "model": odd}
        if name in ("/generate", "/compare", "/answers"):
            given["max_new_tokens"] = 2
        try:
            assert isinstance(client.predict(**given, api_name=name), dict)
        except (AppError, ValueError, TypeError, UnicodeEncodeError) as error:  # the client refuses some by itself
            assert "rror" not in str(error)[:6] and str(error).strip()
