"""Starting the page: what hinders it is one sentence, and looking at it starts nothing."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import httpx
import pytest
import torch

from playground import __main__ as start
from playground.build import launch_options
from playground.models.files import ModelFileError
from playground.models.remote import RemoteServer

REPOSITORY = Path(__file__).parents[1]


def refusal(capsys, *flags: str) -> tuple[int, str]:
    """The exit code and what is printed, as a shell sees them."""
    with pytest.raises(SystemExit) as ended:
        start.main(list(flags))
    code = ended.value.code
    return (1, code) if isinstance(code, str) else (code, capsys.readouterr().err)


def test_an_unknown_model_is_one_sentence_that_lists_the_known_ones(capsys):
    code, said = refusal(capsys, "--model", "gpt-9")
    assert code == 1
    known = "there are minimind-base, minimind-chat, smollm2, and no such folder or file, nor is it an id (org/name)"
    assert said == f"The page can't start: no model is called 'gpt-9'; {known} of the Hugging Face hub"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--modle", "minimind-chat"], "unrecognized arguments: --modle"),
        (["--dtype", "int8"], "invalid choice: 'int8'"),
        (["--port", "99999"], "must be a number from 1 to 65535, got '99999'"),
        (["--port", "http"], "must be a number from 1 to 65535, got 'http'"),
        (["--auth", "somebody"], "must be a name and a password with a colon between them"),
        (["--auth", ":secret"], "must be a name and a password with a colon between them"),
        (["--embed", "moodle.example.org"], "must be like https://moodle.example.org, got 'moodle.example.org'"),
        (["--embed", "https://a.example; script-src *"], "must be like https://moodle.example.org"),
        (["--name", "https://a.example"], "must be a name like lecture.example.org, got 'https://a.example'"),
    ],
)
def test_a_wrong_flag_is_named(capsys, flags, said):
    code, printed = refusal(capsys, *flags)
    assert code == 2 and said in printed and "Traceback" not in printed


@pytest.mark.parametrize("device", ["abacus", "cuda:99"])
def test_a_device_that_is_not_there_is_one_sentence(capsys, device):
    code, said = refusal(capsys, "--device", device)
    assert code == 1 and said.startswith("The page can't start: ") and "\n" not in said


def test_a_model_that_can_not_be_read_is_one_sentence(capsys, monkeypatch):
    def broken(*_args, **_more):
        raise ModelFileError("chat.safetensors is missing")

    monkeypatch.setattr(start, "load_model", broken)
    assert refusal(capsys) == (1, "The page can't start: chat.safetensors is missing")


def test_a_port_that_is_taken_is_one_sentence(capsys, monkeypatch):
    with gr.Blocks() as empty:
        pass
    monkeypatch.setattr(start, "build", lambda *_flags: empty)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = refusal(capsys, "--port", str(port))
    assert code == 1
    assert said == (f"The page can't start: port {port} of 127.0.0.1 is taken or not to be had; --port chooses another")


@pytest.fixture
def launched(monkeypatch) -> list[dict]:
    """What an empty page is launched with."""
    given: list[dict] = []
    with gr.Blocks() as empty:
        pass
    monkeypatch.setattr(start, "build", lambda *_flags: empty)
    monkeypatch.setattr(empty, "launch", lambda **options: given.append(options))
    monkeypatch.delenv("GRADIO_SERVER_NAME", raising=False)
    return given


OPEN_TO_ALL = "Everybody who reaches 0.0.0.0 can use this page: --auth user:password asks for a password.\n"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], ""),
        (["--host", "localhost"], ""),
        (["--host", "0.0.0.0"], OPEN_TO_ALL),
        (["--host", "0.0.0.0", "--auth", "class:sampling"], ""),
        (["--host", "127.0.0.1", "--share"], OPEN_TO_ALL.replace("reaches 0.0.0.0", "knows its public address")),
    ],
)
def test_a_page_that_others_can_reach_says_so_and_how_to_ask_for_a_password(launched, capsys, flags, said):
    start.main(flags)
    assert capsys.readouterr().err == said
    [options] = launched
    assert options["server_name"] == (flags[1] if flags else "127.0.0.1")
    assert options["auth"] == (("class", "sampling") if "--auth" in flags else None)
    assert options["state_session_capacity"] >= 100 and not options["ssr_mode"]


def test_a_page_with_a_password_shows_nothing_without_it():
    from http_client import Client

    with gr.Blocks() as demo:
        gr.Button("secret button").click(lambda: None)
    options = launch_options() | {"auth": ("class", "samp:ling")}
    _app, url, _ = demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, **options)
    client = Client(url)
    try:
        assert "secret button" not in str(client.get("/config"))
        assert client.join(0)[0] == client.post("/gradio_api/component_server")[0] == 401
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        wrong = httpx.post(f"{url}login", content="username=class&password=no", headers=form)
        right = httpx.post(f"{url}login", content="username=class&password=samp:ling", headers=form)
        assert (wrong.status_code, right.status_code) == (400, 200)
        shown = httpx.get(f"{url}config", headers={"Cookie": right.headers["set-cookie"].split(";")[0]})
        assert "secret button" in shown.text
    finally:
        demo.close()


def test_a_server_elsewhere_is_known_by_its_address_and_its_key_by_a_variable(capsys, monkeypatch):
    assert start.server_of(start.parse_flags([])) is None
    monkeypatch.setenv("OUR_KEY", "sk-1")
    flags = ["--engine", "http://localhost:8000/v1/", "--engine-model", "m", "--engine-key-env", "OUR_KEY"]
    assert start.server_of(start.parse_flags(flags)) == RemoteServer("http://localhost:8000/v1", "m", "sk-1")
    code, said = refusal(capsys, "--engine", "localhost:8000")
    assert code == 1 and said.startswith("The page can't start: --engine must be like http://localhost:8000/v1")
    code, said = refusal(capsys, "--engine", "http://localhost:8000/v1", "--engine-key-env", "NOBODY_SET_THIS")
    assert code == 1 and "NOBODY_SET_THIS is not set, or holds no key" in said


def test_the_model_asked_for_is_offered_first(monkeypatch):
    offered = []
    monkeypatch.setattr(start, "load_model", lambda name, **_more: SimpleNamespace(name=name.removeprefix("/tmp/")))
    monkeypatch.setattr(
        start, "build_page", lambda models, _server, _allowed: offered.append(list(models)) or gr.Blocks()
    )
    for first in ("minimind-base", "minimind-chat", "smollm2", "/tmp/folder"):
        start.build(first=first)
    both = ["minimind-base", "minimind-chat"]
    assert offered[:2] == [both, both[::-1]]
    assert [names[0] for names in offered[2:]] == ["smollm2", "folder"] and all(
        len(names) == 3 for names in offered[2:]
    )


def test_a_gpu_holds_large_models_in_sixteen_bits_and_the_embedded_ones_exactly(monkeypatch):
    given = {}

    def load(name: str, **more) -> SimpleNamespace:
        given[name] = more["dtype"]
        return SimpleNamespace(name=name)

    monkeypatch.setattr(start, "load_model", load)
    monkeypatch.setattr(start, "build_page", lambda *_given: gr.Blocks())
    for device, dtype, large, small in (
        ("cuda", None, torch.bfloat16, torch.float32),
        ("cuda:1", "float32", torch.float32, torch.float32),
        ("cuda", "bfloat16", torch.bfloat16, torch.bfloat16),
        ("cpu", None, torch.float32, torch.float32),
    ):
        start.build(device, dtype, "smollm2")
        assert (given["smollm2"], given["minimind-chat"]) == (large, small)
        flags = start.parse_flags(["--device", device, "--allow-models", *(["--dtype", dtype] if dtype else [])])
        assert start.allowed_of(flags).dtype == large


def test_visitors_load_models_only_where_that_is_allowed(launched, capsys, tmp_path):
    assert start.allowed_of(start.parse_flags([])) is None and not start.asks_the_hub(["--port", "7861"])
    assert start.asks_the_hub(["--allow-models"]), "else only what is in its cache could be loaded"
    assert start.allowed_of(start.parse_flags(["--allow-models", "--models", str(tmp_path)])).folder == tmp_path
    alone, nowhere = ["--models", str(tmp_path)], ["--models", "nowhere"]
    for flags, said in ((alone, "needs --allow-models"), (nowhere, "must be a folder, got 'nowhere'")):
        code, printed = refusal(capsys, *flags)
        assert code == 2 and said in printed
    for flags, warned in ((["--host", "0.0.0.0"], True), (["--host", "0.0.0.0", "--auth", "a:b"], True), ([], False)):
        start.main(["--allow-models", *flags])
        assert ("can also load models of the Hugging Face hub" in capsys.readouterr().err) == warned


LOOK = """
import runpy, sys
import safetensors.torch
safetensors.torch.load_file = None  # whoever loads a model now fails
sys.argv = ["app.py", "--model", "{model}"]
{start}
import gradio, huggingface_hub
assert not gradio.analytics.analytics_enabled()
assert huggingface_hub.constants.HF_HUB_OFFLINE == {offline}
assert huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY
with gradio.Blocks() as page:
    pass
assert page.queue()._queue.ANAYLTICS_CACHE_FREQUENCY == 1000000
assert page.queue()._queue.ANALYTICS_MAX_EVENTS == 100
"""
WAYS = {
    "python app.py": "import app\ntry: runpy.run_path('app.py', run_name='__main__')",
    "python -m playground": "try: runpy.run_module('playground', run_name='__main__')",
}


@pytest.mark.parametrize(
    ("way", "model", "said"),
    [
        ("python app.py", "gpt-9", "no model is called 'gpt-9'"),
        (
            "python -m playground",
            "nobody/nothing",
            "'nobody/nothing' is no folder here and not in Hugging Face's cache",
        ),
    ],
)
def test_both_ways_of_starting_load_no_model_too_early_and_set_gradio_up(tmp_path, way, model, said):
    """What gradio reads once, when it is imported, must stand before. The hub is asked only for a model of the hub."""
    named = ("GRADIO_ANALYTICS_ENABLED", "GRADIO_ANALYTICS_CACHE_FREQUENCY", "GRADIO_ANALYTICS_MAX_EVENTS")
    named = (*named, "HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY")
    environment = {key: value for key, value in os.environ.items() if key not in named}
    environment |= {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path)}  # where nobody answers
    started = WAYS[way] + "\nexcept SystemExit as refusal: print(refusal)"
    ended = subprocess.run(
        [sys.executable, "-c", LOOK.format(start=started, model=model, offline=model == "gpt-9")],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith(f"The page can't start: {said}")
