"""The page's own title and description in its HTML: Gradio's template shows its own name and an unfilled address."""

import re
from html import escape

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PREVIEW = re.compile(rb'\s*<meta\s+(?:property|name)="(?:og|twitter):[a-z]+"\s+content="[^"]*"\s*/>')


class LinkPreview:
    """ASGI middleware: puts title and description where Gradio's stood."""

    def __init__(self, app: ASGIApp, title: str, description: str) -> None:
        self.app = app
        title, description = escape(title), escape(description)
        self.head = (
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
                body = PREVIEW.sub(b"", body).replace(b"<head>", b"<head>" + self.head, 1)
                headers["content-length"] = str(len(body))
            await send(start)
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, hold)
