"""The page's own title and description in its HTML, and its own scripts.

Gradio's template shows its own name and an unfilled address, and starts our scripts only when its own have started.
"""

import re
from collections.abc import Callable
from html import escape

import gradio as gr
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.page.browser_files import Head

PREVIEW = re.compile(rb'\s*<meta\s+(?:property|name)="(?:og|twitter):[a-z]+"\s+content="[^"]*"\s*/>')
BASE = re.compile(rb"<base\s[^>]*>")  # what follows it may have an address


class LinkPreview:
    """ASGI middleware: puts title and description where Gradio's stood, and `head` of the page below them."""

    def __init__(self, app: ASGIApp, title: str, description: str, head: Callable[[gr.Blocks], Head]) -> None:
        self.app, self.head = app, head
        title, description = escape(title), escape(description)
        self.preview = (
            f"<title>{title}</title>"
            f'<meta name="description" content="{description}" />'
            f'<meta property="og:type" content="website" /><meta property="og:title" content="{title}" />'
            f'<meta property="og:description" content="{description}" />'
        ).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].rstrip("/") != scope.get("root_path", "").rstrip("/"):
            await self.app(scope, receive, send)
            return
        start: Message = {}
        body = b""

        async def hold(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
                return
            body += message.get("body", b"")
            if message.get("more_body"):
                return
            headers = MutableHeaders(scope=start)
            if headers.get("content-type", "").startswith("text/html"):
                head = self.head(scope["app"].get_blocks())
                body = PREVIEW.sub(b"", body).replace(b"<head>", b"<head>" + self.preview, 1)
                body = BASE.sub(lambda base: base[0] + head.first.encode(), body, count=1)
                body = body.replace(b"</head>", head.last.encode() + b"</head>", 1)
                headers["content-length"] = str(len(body))
            await send(start)
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, hold)
