"""The door of the server: what may come in, from whom, and what is not there. Each case was open once."""

import asyncio
import http.client
import json
import os
import resource
import socket
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlparse

import gradio
import pytest
from http_client import Client

from playground import __main__ as start
from playground.page import guard as guard_module
from playground.page.guard import Door, Guard

REPOSITORY = Path(__file__).parents[2]
JSON = {"Content-Type": "application/json"}
PIECE = b"x" * 65536


def ask(url: str, method: str, path: str, body: object = None, **headers: str) -> http.client.HTTPResponse:
    """The answer, read to its end as `.text`. Names of headers with _ for -."""
    connection = http.client.HTTPConnection(urlparse(url).netloc, timeout=60)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps(body) if isinstance(body, dict) else body
    connection.request(method, path, body, (JSON if method == "POST" else {}) | named)
    answer = connection.getresponse()
    answer.text = answer.read().decode()
    connection.close()
    return answer


def is_one_sentence(answer: http.client.HTTPResponse) -> bool:
    said = json.loads(answer.text)["detail"] if answer.getheader("content-type") == "application/json" else answer.text
    return said.endswith(".") and "\n" not in said and "rror" not in said


def peak_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# ---- how much


def pieces(num_bytes: int, piece: bytes) -> Iterator[bytes]:
    """Made while it is sent, so that what grows is the server."""
    for _ in range(num_bytes // len(piece)):
        yield piece


@pytest.mark.parametrize("path", ["/gradio_api/queue/join", "/gradio_api/component_server", "/gradio_api/run/predict"])
@pytest.mark.parametrize("piece", [PIECE, b"[]," * 20_000], ids=["letters", "lists"])
def test_a_large_body_is_refused_and_never_held(page_url: str, path: str, piece: bytes):
    """60 MB of one prompt took 22 GB; of [[],[],...] 2.2 GB and ten seconds. No length is said: it is counted."""
    before = peak_bytes()
    answer = ask(page_url, "POST", path, pieces(50_000_000, piece))
    assert answer.status == 413 and is_one_sentence(answer)
    assert peak_bytes() - before < 50_000_000


def test_many_brackets_are_refused_where_a_recorded_run_of_that_size_may_pass(page_url: str):
    answer = ask(page_url, "POST", "/gradio_api/component_server", pieces(6_000_000, b"[]," * 20_000))
    assert answer.status == 413 and is_one_sentence(answer)


def test_what_is_said_of_the_length_is_not_trusted(page_url: str):
    address = (urlparse(page_url).hostname, urlparse(page_url).port)
    head = "POST /gradio_api/queue/join HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(address, timeout=60) as line:
        line.sendall(f"{head}Content-Length: {10**12}\r\n\r\n".encode())
        assert b" 413 " in line.recv(65536).split(b"\r\n")[0]  # at once: nobody waits for a terabyte
    with socket.create_connection(address, timeout=60) as line:
        line.sendall(f'{head}Content-Length: 5\r\n\r\n{{"data": ["{"x" * 100}"]}}'.encode())
        assert b" 422 " in line.recv(65536).split(b"\r\n")[0]
    assert Client(page_url).get("/config")["title"]


def test_deep_nesting_is_refused_without_a_traceback(page_url: str, capfd: pytest.CaptureFixture):
    for path in ("/gradio_api/queue/join", "/gradio_api/component_server"):
        assert ask(page_url, "POST", path, "[" * 100_000).status in (400, 422)
    assert "Traceback" not in "".join(capfd.readouterr())


# ---- from whom


@pytest.mark.parametrize("name", ["attacker.example", "localhost.attacker.example", "127.0.0.1.nip.io", "10.1.2.3"])
def test_a_name_that_is_not_the_servers_is_refused(page_url: str, name: str):
    """A page of that name whose address was changed to 127.0.0.1 would be of the same origin as this one."""
    for method, path in (("GET", "/"), ("GET", "/config"), ("POST", "/gradio_api/queue/join")):
        answer = ask(page_url, method, path, Host=name)
        assert answer.status == 421 and name in answer.text and is_one_sentence(answer)


@pytest.mark.parametrize("name", ["localhost:7860", "127.0.0.1", "[::1]:80", "127.9.9.9"])
def test_the_names_of_this_machine_are_its_own(page_url: str, name: str):
    assert ask(page_url, "GET", "/scripts/words/en.json", Host=name).status == 200


FOREIGN = [
    {"Origin": "https://attacker.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},  # a page of another server on this machine
    {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site", "Origin": "http://localhost:3000"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_no_other_page_may_ask(page_url: str, headers: dict):
    """A page of another site sent prompts of any size to a lecturer's own machine."""
    event = {"data": [], "fn_index": 0, "session_hash": "s"}
    answer = ask(page_url, "POST", "/gradio_api/queue/join", event, **headers)
    assert answer.status == 403 and is_one_sentence(answer)
    if "Origin" in headers:
        assert ask(page_url, "GET", "/config", **headers).status == 403


def test_this_page_may_ask_also_behind_a_proxy(page_url: str):
    event, host = {"data": [], "fn_index": 0, "session_hash": "s"}, urlparse(page_url).netloc
    for headers in (
        {},  # a program
        {"Origin": f"http://{host}", "Sec_Fetch_Site": "same-origin"},
        {"Origin": "https://lecture.example", "X_Forwarded_Host": "lecture.example"},
    ):
        assert ask(page_url, "POST", "/gradio_api/queue/join", event, **headers).status not in (403, 421), headers


def test_only_json_is_read(page_url: str):
    """A form or plain text any page may send without being asked; JSON it may not."""
    asked = {"data": "", "fn_name": "show", "component_id": 1, "session_hash": "s"}
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", ""):
        for path in ("/gradio_api/component_server", "/gradio_api/queue/join"):
            answer = ask(page_url, "POST", path, asked, Content_Type=kind)
            assert answer.status == 415 and is_one_sentence(answer)


# ---- what there is


CLOSED = [
    "/gradio_api/deep_link?session_hash=s",
    f"/gradio_api/file={REPOSITORY}/playground/build.py",
    f"/gradio_api/file/{REPOSITORY}/README.md",
    f"/file={REPOSITORY}/README.md",
    "/gradio_api/proxy=https://example.hf.space/",
    "/gradio_api/runs",
    "/gradio_api/token",
    "/gradio_api/heartbeat/s",
    "/gradio_api/upload_progress?upload_id=1",
    "/gradio_api/dev/reload",
    "/gradio_api/vibe-code",
    "/gradio_api/stream/s/1/2/playlist.m3u8",
    "/gradio_api/custom_component/a/client/b/c.js",
    "/monitoring",
    "/docs",
    "/static/../routes.py",
    "/assets/..%2f..%2froutes.py",
    "/scripts/page/serving.py",
    "/scripts/page/js/../../build.py",
    "/scripts/%2e%2e/playground/build.py",
]


@pytest.mark.parametrize("path", CLOSED)
def test_what_the_page_does_not_need_is_not_there(page_url: str, path: str):
    answer = ask(page_url, "GET", path)
    assert answer.status == 404 and "import" not in answer.text


def test_nothing_is_uploaded(page_url: str):
    """300 MB were kept on disk for ever."""
    folder = Path(os.environ.get("GRADIO_TEMP_DIR", Path(tempfile.gettempdir()) / "gradio"))
    before = set(folder.rglob("*"))
    form = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhello\r\n--x--\r\n'
    assert (
        ask(page_url, "POST", "/gradio_api/upload", form, Content_Type="multipart/form-data; boundary=x").status == 404
    )
    for method in ("PUT", "DELETE", "PATCH"):
        assert ask(page_url, method, "/gradio_api/queue/join").status in (404, 405)
    assert set(folder.rglob("*")) == before


def test_the_line_can_not_be_skipped(page_url: str):
    """/run/... ran at once what /queue/join made wait."""
    client = Client(page_url)
    queued = [each for each in client.get("/config")["dependencies"] if each["queue"] and each["backend_fn"]]
    assert len(queued) > 10
    for event in queued:
        status, answer = client.call(event["id"], *[None] * len(event["inputs"]))
        assert status == 404 and "queue" in answer["detail"]
    assert ask(page_url, "POST", "/gradio_api/run/generate", {"data": ["Hi"]}).status == 404
    assert ask(page_url, "POST", "/gradio_api/api/generate", {"data": ["Hi"]}).status == 404


def test_no_path_of_the_server_leaves_it(page_url: str):
    secret = {str(REPOSITORY), str(Path.home()), sys.prefix, tempfile.gettempdir(), str(Path(gradio.__file__).parent)}
    for path in (
        "/",
        "/config",
        "/gradio_api/info",
        "/gradio_api/openapi.json",
        "/theme.css",
        "/scripts/words/en.json",
    ):
        text = ask(page_url, "GET", path).text
        assert len(text) > 100 and not [each for each in secret if each != "/" and each in text], path


# ---- what goes out


def test_every_answer_says_how_the_browser_is_to_take_it(page_url: str):
    for method, path in (("GET", "/"), ("GET", "/scripts/page/js/main.js"), ("GET", "/nowhere"), ("POST", "/login")):
        answer = ask(page_url, method, path)
        assert answer.getheader("x-content-type-options") == "nosniff"
        assert answer.getheader("referrer-policy") == "same-origin"
        policy = answer.getheader("content-security-policy")
        assert policy.endswith("frame-ancestors 'self'") and policy.startswith("default-src 'self'")


def test_the_owner_says_who_may_show_the_page(monkeypatch: pytest.MonkeyPatch):
    moodle = ["--embed", "https://moodle.example.org"]
    policy = start.door_of(start.parse_flags(moodle)).policy()
    assert policy.endswith("frame-ancestors 'self' https://moodle.example.org")
    monkeypatch.setenv("SPACE_HOST", "me-playground.hf.space")
    monkeypatch.setenv("GRADIO_SERVER_NAME", "0.0.0.0")
    space = start.door_of(start.parse_flags([]))
    assert space.policy().endswith("frame-ancestors 'self' https://huggingface.co")
    assert space.knows("me-playground.hf.space") and space.knows("10.20.30.40:7860")
    assert not space.knows("attacker.example")


def test_the_door_knows_its_names():
    door = Door("0.0.0.0", names=("lecture.example.org",), share=True)
    assert (
        door.knows("lecture.example.org") and door.knows("LECTURE.example.org:443") and door.knows("192.168.1.7:7860")
    )
    assert door.knows("abc.gradio.live", "https://abc.gradio.live") and not door.knows("abc.gradio.live")
    assert not door.knows("") and not door.knows("[::1") and not Door().knows("192.168.1.7")
    assert Door("lab.example.org").knows("lab.example.org:7860")


# ---- who is slow


def through(
    app, door: Door, receive, method: str = "POST", path: str = "/gradio_api/queue/join", send=None
) -> list[dict]:
    """What the guard sends for one request."""
    sent: list[dict] = []

    async def keep(message: dict) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": b"", "root_path": ""}
    with ThreadPoolExecutor(1) as thread:  # in this one the browser's loop may be running
        thread.submit(asyncio.run, Guard(app, door)(scope, receive, send or keep)).result()
    return sent


async def never_reached(*_given) -> None:
    raise AssertionError("the guard should have answered")


def test_a_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(guard_module, "BODY_SECONDS", 0.05)

    async def receive() -> dict:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    assert through(never_reached, Door(), receive)[0]["status"] == 408


def test_who_takes_nothing_ends_the_answer(monkeypatch: pytest.MonkeyPatch):
    """The messages of a stream that was opened and not read piled up for ever."""
    monkeypatch.setattr(guard_module, "STALLED_SECONDS", 0.05)
    ended = []

    async def app(_scope, _receive, send) -> None:
        try:
            for _ in range(1000):
                await send({"type": "http.response.body", "body": b"x", "more_body": True})
        finally:
            ended.append(True)

    async def full(_message: dict) -> None:
        await asyncio.sleep(10)

    through(app, Door(), never_reached, "GET", "/gradio_api/queue/data", full)
    assert ended


def test_agents_have_their_own_address_only_when_it_is_wanted():
    async def app(_scope, _receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> dict:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    assert through(app, Door(agents=True), receive, path="/gradio_api/mcp/")[0]["status"] == 200
    assert through(app, Door(), receive, path="/gradio_api/mcp/")[0]["status"] == 404
