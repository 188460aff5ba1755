"""A visitor loads another model from the page: what may be named, what others notice of it, and how it ends."""

import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub.constants as hub
import pytest
from conftest import new_run
from playwright.sync_api import BrowserContext, expect
from playwright.sync_api import Page as BrowserPage
from test_hugging_face import SIZES, written

from playground.build import build_page, launch_options
from playground.engine.packed import weight_bytes
from playground.models import held, loading
from playground.models.files import LoadStep
from playground.models.held import HeldModels
from playground.models.text import LoadedModel
from playground.page import model_box
from playground.page.controls import DEFAULTS
from playground.page.model_box import Allowed, loaded
from playground.page.recording import Recorder
from playground.page.requests import RequestError, model_of
from playground.page.runs import RunStore


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Beside what visitors may load lies a model that they may not."""
    root = tmp_path_factory.mktemp("server")
    written(root / "models" / "sub" / "tiny", "Llama")
    for name in ("broken", "other"):
        written(root / "models" / name, "Llama")
    weights = root / "models" / "broken" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    written(root / "secret", "Llama")
    (root / "models" / "link").symlink_to(root / "secret")
    (root / "models" / "notes.txt").write_text("nothing for visitors")
    return root / "models"


def through(work) -> tuple[list, object]:
    """What it yields and what it returns."""
    said = []
    while True:
        try:
            said.append(next(work))
        except StopIteration as end:
            return said, end.value


def test_a_model_of_the_folder_is_loaded_under_its_name_there(folder, chat: LoadedModel):
    models, allowed = HeldModels({chat.name: chat}), Allowed(folder)
    assert allowed.offered() == ["smollm2", "broken", "other", "sub/tiny"]
    said, name = through(loaded(models, allowed, {"name": " sub/tiny ", "number": 3}))
    assert name == "sub/tiny" and models[name].name == name and list(models) == [chat.name, name]
    counts = [each["said"]["facts"] for each in said]
    assert counts[0]["done"] == 0
    assert counts[-1]["done"] == counts[-1]["of"] == weight_bytes(models[name].model)
    assert through(loaded(models, allowed, {"name": str(folder / "sub" / "tiny")})) == ([], name), "it is there already"
    assert through(loaded(models, allowed, {"name": chat.name})) == ([], chat.name)


@pytest.mark.parametrize(
    "typed",
    ["../secret", "link", "/etc/passwd", "sub/../../secret", "notes.txt", ".", "", "\0", "sub", "~/x.gguf", "x"],
)
def test_no_other_path_is_read(folder, typed, monkeypatch):
    """Nor can a visitor tell whether it exists."""
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(model_box, "loading", None)  # whoever loads now fails
    with pytest.raises(RequestError, match="type smollm2, a model of the server's folder or an id") as outside:
        through(loaded(HeldModels({}), Allowed(folder), {"name": typed}))
    assert "secret" not in str(outside.value)


@pytest.mark.parametrize("typed", ["models/broken", "models/x.gguf", "models/x.pth"])
def test_what_looks_like_an_id_of_the_hub_is_never_a_path(folder, typed, monkeypatch):
    """The server may be started anywhere."""
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(model_box, "loading", None)
    asked = []
    monkeypatch.setattr(loading, "from_hub", lambda *given, **more: asked.append((given, more)) or iter([]))
    with pytest.raises(TypeError):  # that hub gives no folder
        through(loaded(HeldModels({}), Allowed(), {"name": typed}))
    assert asked == [((typed,), {"is_owner": False})]


def test_what_is_wrong_with_a_model_is_told_without_the_servers_folders(folder, monkeypatch):
    for name, said in (
        ("broken", "broken/model.safetensors is not a readable safetensors"),
        ("no/model", "not in Hug"),
    ):
        monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
        with pytest.raises(RequestError, match=f"^It can't be loaded: .*{said}") as wrong:
            through(loaded(HeldModels({}), Allowed(folder), {"name": name}))
        assert str(folder) not in str(wrong.value) and "\n" not in str(wrong.value)
    monkeypatch.setattr("playground.models.files.available_memory", lambda: 2048)
    with pytest.raises(RequestError, match=r"It can't be loaded: sub/tiny takes .* visitors load may take 1 KiB"):
        through(loaded(HeldModels({}), Allowed(folder), {"name": "sub/tiny"}))


def test_a_long_silence_of_a_conversion_leaves_the_line_to_tell_that_it_goes_on(folder):
    """The same value again and again is sent to no page: after 45 seconds each said that the connection was lost."""
    steps = (LoadStep("convert", done, 100) for done in (0, 0, 0, 7, 7))
    said = through(model_box._watched(HeldModels({}), "x", steps))[0]
    assert [each and each["said"]["facts"]["done"] for each in said] == [0, None, None, 7, None]


def test_a_recorded_run_keeps_no_model(folder, monkeypatch):
    """What was let go would stay in memory as long as somebody's answer does."""
    models, runs = HeldModels({}), RunStore()
    through(loaded(models, Allowed(folder), {"name": "other"}))
    written_run = through(Recorder(models, runs).record("other", "hello", DEFAULTS | {"max_new_tokens": 4}))[1]
    gone = weakref.ref(models["other"].model)
    monkeypatch.setattr(held, "MOST_LOADED", 1)
    monkeypatch.setattr(held, "IN_USE_SECONDS", -1.0)
    models.make_room("another", 1)
    assert gone() is None and runs.get(written_run["id"]).cache is not None


def test_a_name_that_is_not_there_is_told_with_what_helps(chat: LoadedModel):
    with pytest.raises(RequestError, match=r"by starting it with --allow-models\.$"):
        model_of({chat.name: chat}, "gpt2")
    with pytest.raises(RequestError, match=r"^The model 'gpt2' is not loaded .* with the button \+ beside"):
        model_of(HeldModels({chat.name: chat}), "gpt2")


@pytest.fixture
def served(folder, chat: LoadedModel, monkeypatch) -> Iterator[SimpleNamespace]:
    """A page whose visitors may load; a load goes on when the gate opens."""
    given = SimpleNamespace(gate=threading.Event(), ended=[])
    plain = model_box.loading

    def slow(path: Path, **into):
        try:
            while not given.gate.wait(0.05):
                yield LoadStep("convert", 50, 100)
            return (yield from plain(path, **into))
        finally:
            given.ended.append(path.name)

    monkeypatch.setattr(model_box, "loading", slow)
    monkeypatch.setattr(held, "MOST_LOADED", 1)
    demo = build_page({chat.name: chat}, allowed=Allowed(folder)).queue(api_open=False)
    _app, given.url, _ = demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, **launch_options())
    yield given
    given.gate.set()
    demo.close()


def opened(window: BrowserContext, url: str) -> BrowserPage:
    page = window.new_page()
    page.goto(url)
    page.wait_for_selector(".area-tokens .token")
    page.locator(".model-open").click()
    return page


def ask_for(page: BrowserPage, name: str) -> None:
    page.get_by_label("Another model", exact=True).fill(name)
    page.locator(".model-load").click()


def test_others_go_on_while_a_model_is_loaded(window: BrowserContext, served: SimpleNamespace, monkeypatch):
    first, second = opened(window, served.url), opened(window, served.url)
    status, model = first.locator(".model-status"), first.get_by_label("Model", exact=True)
    expect(first.locator("#model-offered option[value='sub/tiny']")).to_have_count(1)
    ask_for(first, "../secret")
    expect(status).to_contain_text("This can't be loaded from here: type smollm2, a model of the server's folder or an")
    ask_for(first, "sub/tiny")
    expect(status).to_have_text("Converting sub/tiny: 50 %")
    ask_for(second, "broken")
    expect(second.locator(".model-status")).to_have_text("Another model is being loaded: 1 in front of you.")
    second.locator(".model-open").click()
    with new_run(second):
        second.locator("#generate").click()
    expect(status).to_have_text("Converting sub/tiny: 50 %")
    first.get_by_role("button", name="Stop").first.click()
    expect(status).to_have_text("Stopped.")
    assert served.ended == ["tiny"]
    expect(second.locator(".model-status")).to_have_text("Converting broken: 50 %")
    served.gate.set()
    expect(second.locator(".model-status")).to_contain_text("It can't be loaded: broken/model.safetensors is not a")
    expect(second.get_by_label("Model", exact=True)).to_have_value("minimind-chat")

    ask_for(first, "sub/tiny")
    expect(status).to_have_text("sub/tiny is loaded.")
    expect(model).to_have_value("sub/tiny")
    first.locator(".model-open").click()
    for position, k in ((200, SIZES["vocab_size"]), (0, 0)):  # the slider ends with the vocabulary of this model
        first.locator("#slider-top_k").fill(str(position))
        expect(first.locator("#slider-top_k")).to_have_js_property("value", str(position))
        expect(first.get_by_label("Top-k value")).to_have_value(str(k))
    first.get_by_role("tab", name="Kinds of cache").click()
    first.get_by_role("tab", name="A long text").click()
    expect(first.locator("#kinds-long-reader").get_by_label("sub/tiny")).to_be_visible()
    expect(first.locator("#lesson-sinks_real")).to_be_visible()
    first.get_by_role("tab", name="Playground").click()
    with new_run(first):
        first.locator("#generate").click()
    second.get_by_label("Model", exact=True).click()
    expect(second.get_by_role("option", name="sub/tiny")).to_be_visible()

    monkeypatch.setattr(held, "IN_USE_SECONDS", -1.0)  # nobody has used it for long
    second.locator(".model-open").click()
    ask_for(second, "other")
    expect(second.get_by_label("Model", exact=True)).to_have_value("other")
    first.locator("#generate").click()
    expect(first.locator(".run-words")).to_contain_text("The model 'sub/tiny' is not loaded (one that nobody uses is")
    expect(model).to_have_value("sub/tiny")
    for page in (first, second):
        page.close()
