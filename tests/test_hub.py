"""A model of the Hugging Face hub: from its cache without a network, and what can't be fetched is one sentence."""

import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import huggingface_hub.constants as hub
import pytest
from test_hugging_face import assert_same_logits, written

from playground.models.files import ModelFileError
from playground.models.loading import load_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(hub, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    return tmp_path / "hub"


def test_a_model_in_the_cache_needs_no_network(cache, tmp_path):
    """As huggingface_hub lays it: blobs, and in the folder of the commit links to them."""
    theirs = written(tmp_path / "model", "Llama")
    repository = cache / "models--some-org--small.model-1"
    snapshot = repository / "snapshots" / COMMIT
    for folder in (repository / "refs", repository / "blobs", snapshot):
        folder.mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    for number, path in enumerate(sorted((tmp_path / "model").iterdir())):
        shutil.move(path, repository / "blobs" / str(number))
        (snapshot / path.name).symlink_to(repository / "blobs" / str(number))
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
