"""A model of the Hugging Face hub: from its cache without a network, and what can't be fetched is one sentence."""

import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub.constants as hub
import pytest
from test_hugging_face import assert_same_logits, written

from playground.models import sources
from playground.models.answers import at_once
from playground.models.files import LoadStep, ModelFileError
from playground.models.loading import load_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def in_the_cache(cache: Path, model: Path):
    """As huggingface_hub lays it: blobs, and in the folder of the commit links to them."""
    theirs = written(model, "Llama")
    repository = cache / "models--some-org--small.model-1"
    snapshot = repository / "snapshots" / COMMIT
    for folder in (repository / "refs", repository / "blobs", snapshot):
        folder.mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    for number, path in enumerate(sorted(model.iterdir())):
        shutil.move(path, repository / "blobs" / str(number))
        (snapshot / path.name).symlink_to(repository / "blobs" / str(number))
    return theirs


def test_a_model_in_the_cache_needs_no_network(cache, tmp_path):
    theirs = in_the_cache(cache, tmp_path / "model")
    loaded = load_model("some-org/small.model-1")
    assert_same_logits(loaded, theirs)
    assert loaded.name == "some-org/small.model-1"


def test_what_is_not_in_the_cache_needs_one():
    with pytest.raises(
        ModelFileError, match=r"'some/model' is no folder here .* HF_HUB_OFFLINE not set, it is fetched"
    ):
        load_model("some/model")


@pytest.fixture
def answered(monkeypatch) -> Iterator[dict]:
    """A hub on this machine that answers every question alike."""
    answer = {}

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(answer["status"])
            self.send_header("X-Error-Code", answer["code"])
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_arguments) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    yield answer
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (404, "RepoNotFound", "is no folder here and no model on the Hugging Face hub that this account may see"),
        (403, "GatedRepo", r"is given only to those who have accepted its terms on huggingface\.co"),
        (418, "", ".* and the hub can't be reached"),
    ],
)
def test_what_the_hub_refuses_is_one_sentence(answered, status, code, said):
    answered.update(status=status, code=code)
    with pytest.raises(ModelFileError, match=rf"^'some/model' {said}") as refusal:
        load_model("some/model")
    assert "\n" not in str(refusal.value)


def test_a_download_says_how_far_it_is_and_ends_where_it_is_stopped():
    """As snapshot_download does it: one bar of all bytes, told of every piece by its threads."""
    went_on, ended = threading.Event(), threading.Event()

    def fetch(tqdm_class) -> str:
        files, received = tqdm_class(total=2, desc="Fetching 2 files"), tqdm_class(total=0, unit="B", initial=0)
        received.total += 100
        received.update(40)
        files.update(1)
        went_on.wait(60)
        try:
            received.update(60)
        finally:
            ended.set()
        return "folder"

    steps = sources._in_a_thread(fetch)
    assert next(step for step in steps if step.done) == LoadStep("download", 40, 100)
    went_on.set()
    with pytest.raises(StopIteration) as end:
        while True:
            next(steps)
    assert end.value.value == "folder"
    went_on.clear(), ended.clear()
    steps = sources._in_a_thread(fetch)
    next(step for step in steps if step.done)
    steps.close()
    went_on.set()
    assert ended.wait(60)


def test_what_does_not_fit_is_not_fetched(monkeypatch):
    def file(name: str, size: int) -> SimpleNamespace:
        return SimpleNamespace(filename=name, file_size=size, will_download=True)

    monkeypatch.setattr("playground.models.files.available_memory", lambda: 5000)
    sources._check_download([file("model.safetensors", 9000), file("tokenizer.json", 50_000)])
    with pytest.raises(ModelFileError, match="of memory, and"):
        sources._check_download([file("a.safetensors", 9000), file("b.safetensors", 9000)])
    monkeypatch.setattr(sources.shutil, "disk_usage", lambda _path: SimpleNamespace(free=1000))
    with pytest.raises(ModelFileError, match=r"has 1,000 B free, and what is to be fetched takes 8\.79 KiB"):
        sources._check_download([file("model.safetensors", 9000)])


def test_a_visitor_sees_only_what_everybody_may_see(answered, cache, tmp_path):
    """Not with the token of whoever runs the server, nor what that account has in its cache and others may not have."""
    in_the_cache(cache, tmp_path / "model")
    answered.update(status=403, code="GatedRepo")
    assert at_once(sources.from_hub("some-org/small.model-1")).name == COMMIT
    with pytest.raises(ModelFileError, match="is given only to those who have accepted its terms"):
        at_once(sources.from_hub("some-org/small.model-1", is_owner=False))
