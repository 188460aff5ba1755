"""One tab of a browser over plain HTTP: it asks for events as Gradio's script does, and hears what comes of them."""

import http.client
import json
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlparse


class Client:
    def __init__(self, url: str) -> None:
        self.address, self.session = urlparse(url).netloc, uuid.uuid4().hex

    def get(self, path: str) -> Any:
        connection = http.client.HTTPConnection(self.address, timeout=60)
        connection.request("GET", path)
        try:
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def join(self, fn_index: int, *values) -> tuple[int, Any]:
        """Asks for an event: status and answer."""
        return self.post("/gradio_api/queue/join", data=values, fn_index=fn_index)

    def call(self, fn_index: int, *values) -> tuple[int, Any]:
        """Past the queue, as Stop goes."""
        return self.post("/gradio_api/run/predict", data=values, fn_index=fn_index)

    def post(self, path: str, **body) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.address, timeout=60)
        text = json.dumps({**body, "session_hash": self.session})
        connection.request("POST", path, text, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        try:
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def listen(self) -> http.client.HTTPResponse:
        self.connection = http.client.HTTPConnection(self.address, timeout=60)
        self.connection.request("GET", f"/gradio_api/queue/data?session_hash={self.session}")
        return self.connection.getresponse()

    def leave(self, stream: http.client.HTTPResponse) -> None:
        stream.close()
        self.connection.close()


def messages(stream: http.client.HTTPResponse) -> Iterator[dict]:
    for line in stream:
        if line.startswith(b"data:"):
            yield json.loads(line[5:])


def values(stream: http.client.HTTPResponse) -> Iterator[dict]:
    """Of the first output, a panel that hears of a job, until the event ends. Raises RuntimeError where it fails."""
    value = None
    for message in messages(stream):
        if message["msg"] == "process_completed":
            if not message["success"]:
                raise RuntimeError(message["output"]["error"])
            given = message["output"]["data"][0]
            assert given["__type__"] == "update" and "value" not in given, "all has been said"
            return
        if message["msg"] == "process_generating":
            given = message["output"]["data"][0]
            value = given if value is None else _changed(value, given)
            if isinstance(value, list):
                yield json.loads(json.dumps(value[0]))
    raise AssertionError("the stream ended before the event did")


def last_value(stream: http.client.HTTPResponse) -> dict:
    *_, last = values(stream)
    return last


def _changed(value: Any, edits: list) -> Any:
    """As Gradio's script does it: the first value comes whole, and of later ones what has changed."""
    for action, path, new in edits:
        if not path:
            value = value + new if action == "append" else new
            continue
        inner = value
        for step in path[:-1]:
            inner = inner[step]
        if action == "delete":
            del inner[path[-1]]
        elif action == "append":
            inner[path[-1]] += new
        elif action == "add" and isinstance(inner, list):
            inner.insert(path[-1], new)
        else:
            inner[path[-1]] = new
    return value
