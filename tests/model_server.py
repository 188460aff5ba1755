"""A server in this process that answers as vLLM 0.10 and later do, byte by byte of the protocol, and fails as asked.

Its model knows one answer. What it computes for real is the prefix cache: a prompt is cut into blocks of 16 words, and
a block is found if an earlier prompt was the same up to its end.
"""

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "Qwen/Qwen3-0.6B"
BLOCK = 16
# Each token with the probabilities of the most likely ones; the second was sampled though it is not the first.
ANSWER = [
    ("The", {"The": 0.5} | {f"w{number}": 0.2 / 2**number for number in range(19)}),
    (" big", {" capital": 0.7, " big": 0.2}),
    ("\n", {"\n": 0.5, " ": 0.25}),
    ("", {"": 0.99}),  # the end token has no text
]
HALF = b"\xe2\x82"  # half of a euro sign


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fault: str | None = None
        self.key: str | None = None
        self.tells_logprobs = self.tells_cached = True
        self.requests: list[tuple[str, dict]] = []
        self.filled: set[tuple[str, ...]] = set()
        self.go_on = threading.Event()  # a server that is slow waits for it

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_about) -> None:
        """Who asked has closed the connection."""

    def found(self, prompt: str) -> tuple[int, int]:
        """Tokens of the prompt, and how many of its first are in the cache; afterwards all full blocks are."""
        words = tuple(prompt.split())
        ends = range(BLOCK, len(words), BLOCK)
        hits = [end for end in ends if words[:end] in self.filled]
        self.filled.update(words[:end] for end in ends)
        return len(words), len(hits) * BLOCK


@contextmanager
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        server.go_on.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def log_message(self, *_args) -> None: ...

    def do_GET(self) -> None:
        if not self._refuses():
            self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model", "max_model_len": 4096}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body))
        if not self._refuses():
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.end_headers()
            self._answer(body)

    def _refuses(self) -> bool:
        fault, key = self.server.fault, self.server.key
        if key and self.headers["Authorization"] != f"Bearer {key}":
            self._send(401, {"error": "Unauthorized"})
        elif fault == "echoes the key":
            self._send(401, {"error": {"message": f"Incorrect API key: {self.headers['Authorization']}"}})
        elif fault == "no model":
            told = {"message": "The model `gpt-9` does not exist.", "type": "NotFoundError", "param": None, "code": 404}
            self._send(404, {"error": told})
        elif fault == "refused":
            self._send(
                400, {"object": "error", "message": "Requested sample logprobs of 20, maximum is 5", "code": 400}
            )
        elif fault == "broken":
            self._send(500, "Internal Server Error")
        elif fault == "moved":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:9/v1/models")
            self.end_headers()
        elif fault == "not JSON":
            self._send(200, "<!doctype html><img src=x onerror=alert(1)>")
        elif fault == "deep":
            self._send(500, "[" * 100_000)
        else:
            return False
        return True

    def _send(self, status: int, value) -> None:
        text = value if isinstance(value, str) else json.dumps(value)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def _answer(self, body: dict) -> None:
        is_chat, fault = "messages" in body, self.server.fault
        prompt = body["messages"][0]["content"] if is_chat else body["prompt"]
        if is_chat:
            self._chunk({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None}]})
        for place, (text, top) in enumerate(ANSWER[: body["max_tokens"]]):
            if place == 2 and self._fails(fault):
                return
            last = place == len(ANSWER) - 1
            choice = {"index": 0, "finish_reason": "stop" if last else None}
            made = self._of_chat if is_chat else self._of_text
            self._chunk({"choices": [choice | made(text, top)]})
        if fault == "endless":
            while True:
                self._chunk({"choices": [{"delta": {"content": "x"}, "logprobs": None}]})
        if body.get("stream_options", {}).get("include_usage"):
            count, found = self.server.found(prompt)
            details = {"cached_tokens": found} if self.server.tells_cached else None
            usage = {"prompt_tokens": count, "total_tokens": count + len(ANSWER), "completion_tokens": len(ANSWER)}
            self._chunk({"choices": [], "usage": usage | {"prompt_tokens_details": details}})
        self.wfile.write(b"data: [DONE]\n\n")

    def _fails(self, fault: str | None) -> bool:
        """In the middle of the answer. Whether it is the end of it."""
        if fault == "slow":
            self.server.go_on.wait(20)
        elif fault == "says so":
            self._chunk({"error": {"message": "EngineCore died", "type": "InternalServerError", "code": 500}})
        elif fault == "half a chunk":
            self.wfile.write(b'data: {"choices": [{"delta"\n\n')
        elif fault == "not a number":
            self.wfile.write(b'data: {"choices":[{"logprobs":{"content":[{"token":"x","logprob":NaN}]}}]}\n\n')
        elif fault == "huge":
            self.wfile.write(b"data: " + b"x" * 5_000_000)
        return fault in ("closes", "says so", "half a chunk", "not a number", "huge")

    def _of_chat(self, text: str, top: dict[str, float]) -> dict:
        entries = [_entry(other, prob) for other, prob in top.items()]
        told = {"content": [_entry(text, top[text]) | {"top_logprobs": entries}]}
        return {"delta": {"content": text}, "logprobs": told if self.server.tells_logprobs else None}

    def _of_text(self, text: str, top: dict[str, float]) -> dict:
        logs = {other: math.log(prob) for other, prob in top.items()}
        told = {"text_offset": [0], "token_logprobs": [logs[text]], "tokens": [text], "top_logprobs": [logs]}
        return {"text": text, "logprobs": told if self.server.tells_logprobs else None}

    def _chunk(self, chunk: dict) -> None:
        about = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1764538000, "model": MODEL}
        self.wfile.write(b"data: " + json.dumps(about | chunk).encode() + b"\n\n")
        self.wfile.flush()


def _entry(text: str, prob: float) -> dict:
    raw = HALF if text == " " else text.encode()  # as vLLM writes a token that is no whole character
    return {"token": "�" if raw == HALF else text, "logprob": math.log(prob), "bytes": list(raw)}
