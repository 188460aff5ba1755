"""The door in front of every route: what there is to ask for, who may ask, and how much may come in.

All of it is looked at before Gradio sees the request: a body is counted while it arrives and before it is read as JSON.
"""

import asyncio
import re
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.words import say

# What the page and its endpoints need. The rest of Gradio's routes (uploads, files, links to a state, proxies, tools of
# its developers) is not there, and so is whatever a later Gradio adds.
READ = re.compile(
    r"/(?:|(?:config|login|logout)/?|theme\.css|favicon\.ico|robots\.txt|manifest\.json|pwa_icon(?:/\d+)?"
    r"|(?:assets|static|scripts|lectures)/.+"
    r"|gradio_api/(?:(?:info|user|login_check|app_id)/?|openapi\.json|theme\.css|startup-events"
    r"|queue/(?:data|status)|call/[^/]+/[^/]+))"
)
SENT = re.compile(
    r"/(?:login/?|gradio_api/(?:queue/join|run/predict/?|call/[^/]+/?|component_server/?|cancel|reset/?))"
)
AGENTS = re.compile(r"/gradio_api/mcp(?:/.*)?")
FORM = re.compile(r"/login/?")  # the one that a form is sent to
FILES = re.compile(r"/gradio_api/component_server/?")  # a recorded run may come here, as text

MOST_BYTES = 512 * 1024  # of a body; the longest prompt that a model reads takes a fifth of that
MOST_FILE_BYTES = 20 * 1024**2  # of a body with a recorded run
MOST_PARTS = 1_000_000  # brackets and commas of a body: each may become an object of sixty bytes
DISCARDED_BYTES = 64 * 1024**2  # of a body that is too large: read and thrown away, so that the sender hears why
BODY_SECONDS = 30.0  # for a body to arrive
STALLED_SECONDS = 30.0  # a listener who takes nothing for so long is gone

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# Nothing is loaded from elsewhere or sent there. Gradio's page runs scripts that stand in its HTML, and makes functions
# of texts. Behind Gradio's relay its own scripts come from elsewhere: there this is left out.
OWN = {
    "default-src": ("'self'", "data:", "blob:", "'unsafe-inline'", "'unsafe-eval'"),
    "object-src": ("'none'",),
    "base-uri": ("'self'",),
    "form-action": ("'self'",),
}


@dataclass(frozen=True)
class Door:
    """How the server is reached, and who may show the page inside another one."""

    host: str = "127.0.0.1"  # that it listens on
    names: tuple[str, ...] = ()  # other names of this server: of a reverse proxy in front of it, or of a Space
    embedders: tuple[str, ...] = ()  # pages such as https://moodle.example.org that may hold this one in a frame
    share: bool = False  # behind Gradio's relay
    agents: bool = False  # the endpoints are also tools

    @property
    def is_local(self) -> bool:
        return is_loopback(self.host)

    def knows(self, host: str, shared: str | None = None) -> bool:
        """Whether the server has this name. A page of somebody else whose name leads here has another one."""
        name = name_of(host)
        if name in {name_of(each) for each in (self.host, *self.names, shared or "") if each} or is_loopback(name):
            return True
        return not self.is_local and _is_address(name)  # an address is no name that somebody could point here

    def policy(self) -> str:
        sources = ({} if self.share else OWN) | {"frame-ancestors": ("'self'", *self.embedders)}
        return "; ".join(" ".join((name, *values)) for name, values in sources.items())


def name_of(host: str) -> str:
    """Of "localhost:7860", "[::1]:7860" or "https://example.org" the name alone. Empty where there is none."""
    try:
        return urlsplit(host if "//" in host else f"//{host}").hostname or ""
    except ValueError:
        return ""


def is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        return bool(ip_address(name))
    except ValueError:
        return False


@dataclass(frozen=True)
class Refusal:
    status: int
    why: str  # one sentence

    def response(self, method: str) -> Response:
        headers = {"connection": "close"}
        if method in ("GET", "HEAD"):
            return PlainTextResponse(self.why, self.status, headers)
        return JSONResponse({"detail": self.why, "error": self.why}, self.status, headers)  # Gradio's script reads one


class Guard:
    """ASGI middleware. Answers what may not pass with one sentence."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app, self.door = app, door
        self.policy = door.policy()
        self.arriving = asyncio.Semaphore(8)  # recorded runs that are held at a time: a slow one stops nobody
        self.read = asyncio.Semaphore(1)  # and of which something is made, several times as large

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # the page has none
        elif scope["type"] != "http":
            await self.app(scope, receive, send)
        else:
            await self._answer(scope, receive, self._with_headers(send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = Headers(scope=scope), path_of(scope)
        refusal = self._refusal(scope, path, headers)
        if refusal:
            await refusal.response(scope["method"])(scope, receive, send)
        elif scope["method"] in ("GET", "HEAD"):
            await self._unless_stalled(scope, receive, send)
        elif self._is_large(path, headers):
            async with self.arriving:
                await self._with_body(scope, receive, send, MOST_FILE_BYTES, self.read)
        else:
            await self._with_body(scope, receive, send, MOST_BYTES)

    def _refusal(self, scope: Scope, path: str, headers: Headers) -> Refusal | None:
        method, door = scope["method"], self.door
        reads = method in ("GET", "HEAD")
        agent = door.agents and AGENTS.fullmatch(path)
        if ".." in path.split("/") or not ((READ if reads else SENT).fullmatch(path) or agent):
            return Refusal(404, say("page.guard.nothing_here"))
        if method not in ("GET", "HEAD", "POST") and not agent:
            return Refusal(405, say("page.guard.nothing_here"))
        host, shared = headers.get("host", ""), _shared(scope) if door.share else None
        if not door.knows(host, shared):
            return Refusal(421, say("page.guard.host", host=name_of(host) or "?"))
        if not self._is_own(headers, host, reads, shared):
            return Refusal(403, say("page.guard.origin"))
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        forms = ("application/x-www-form-urlencoded", "multipart/form-data") if FORM.fullmatch(path) else ()
        if not reads and kind not in ("application/json", *forms):
            return Refusal(415, say("page.guard.kind"))
        return None

    def _is_own(self, headers: Headers, host: str, reads: bool, shared: str | None) -> bool:
        """Whether it was this page that asked, or a program; never another page in somebody's browser.

        A browser says where a request comes from, and no page can change what it says. A program says nothing.
        """
        if not reads and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return False
        origin = headers.get("origin")
        if origin is None:
            return True
        # A page of another origin can't set the second header: the browser would ask first, and hear nothing good.
        forwarded = headers.get("x-forwarded-host", "").partition(",")[0].strip()
        own = {each.lower() for each in (host, forwarded) if each}
        named = {name_of(each) for each in (*self.door.names, shared) if each}
        return urlsplit(origin).netloc.lower() in own or name_of(origin) in named

    def _is_large(self, path: str, headers: Headers) -> bool:
        length = headers.get("content-length", "")
        known = length.isascii() and length.isdigit()
        return bool(FILES.fullmatch(path)) and (not known or int(length) > MOST_BYTES)

    async def _with_body(
        self, scope: Scope, receive: Receive, send: Send, most: int, turn: AbstractAsyncContextManager | None = None
    ) -> None:
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await read_body(receive, most, Headers(scope=scope).get("content-length", ""))
        except TimeoutError:
            body = Refusal(408, say("page.guard.slow"))
        if body is None:  # the sender has gone
            return
        if isinstance(body, Refusal):
            await body.response(scope["method"])(scope, receive, send)
            return
        held = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return held.pop() if held else await receive()

        async with turn or nullcontext():
            await self._unless_stalled(scope, replay, send)

    async def _unless_stalled(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ends the answer to somebody who does not take it: what is to be sent would pile up here."""
        stalled = False

        async def send_soon(message: Message) -> None:
            nonlocal stalled
            try:
                async with asyncio.timeout(STALLED_SECONDS):
                    await send(message)
            except TimeoutError:
                stalled = True
                raise

        try:
            await self.app(scope, receive, send_soon)
        except Exception:
            if not stalled:
                raise

    def _with_headers(self, send: Send) -> Send:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers["Content-Security-Policy"] = self.policy
            await send(message)

        return with_headers


def path_of(scope: Scope) -> str:
    """Without the prefix under which a reverse proxy offers the page."""
    return scope["path"].removeprefix(scope.get("root_path", "").rstrip("/"))


async def read_body(receive: Receive, most: int, said_length: str) -> bytes | Refusal | None:
    """The whole body, counted as it comes: what was said of its length is believed only where it is too much."""
    too_large = Refusal(413, say("page.guard.too_large", most=most // 1024))
    if said_length.isascii() and said_length.isdigit() and int(said_length) > DISCARDED_BYTES:
        return too_large
    chunks: list[bytes] = []
    size = parts = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= most and parts <= MOST_PARTS:
            parts += sum(chunk.count(sign) for sign in (b"[", b"{", b","))
            chunks.append(chunk)
        else:
            chunks.clear()
        if not message.get("more_body") or size > DISCARDED_BYTES:
            return b"".join(chunks) if size <= most and parts <= MOST_PARTS else too_large


def _shared(scope: Scope) -> str | None:
    """The address that Gradio's relay has given this page, once it has."""
    return getattr(scope["app"].get_blocks(), "share_url", None)
