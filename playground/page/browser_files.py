"""The files that a browser fetches: the page's scripts and words, and Gradio's own scripts.

A first visit asks for more than a hundred of them. So each is packed once. Its address changes with its content: a
browser that has it asks no more. And the page's HTML names those that it begins with, so that a script need not be
read before the next one is asked for.
"""

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import gradio as gr
import plotly
from gradio.routes import ORJSONResponse
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from playground.page.panel import panels_in_sight
from playground.words import catalogue, say

PACKAGE = Path(__file__).parents[1]
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
GRADIO = Path(gr.__file__).parent / "templates" / "frontend" / "assets"  # their names change with their content
TYPES = {".js": "text/javascript", ".json": "application/json", ".css": "text/css", ".svg": "image/svg+xml"}
MAIN, WORDS = "page/js/main.js", "words/en.json"
SAID_BY_PYTHON_ONLY = ("start.", "models.", "engine.")  # parts of the catalogue that the browser needs nothing of
FRESH = {"Cache-Control": "no-cache"}
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
VERSIONED = re.compile(r"([0-9a-f]{16})/(.+)")
IMPORT = re.compile(r'^(?:import|export)\s(?:[\w\s{},*]+\sfrom\s)?"(\.[^"]+)"', re.MULTILINE)


@dataclass(frozen=True)
class Head:
    """HTML for the page's head."""

    first: str  # before any script
    last: str  # what Gradio's template names is asked for sooner


class BrowserFiles:
    """Named files, read once when the server starts: of a folder that holds Python nothing else can be asked for."""

    def __init__(self) -> None:
        self.scripts = {path.relative_to(PACKAGE).as_posix(): path.read_bytes() for path in PACKAGE.rglob("*.js")}
        said = {key: text for key, text in catalogue().items() if not key.startswith(SAID_BY_PYTHON_ONLY)}
        self.scripts |= {"plotly.min.js": PLOTLY.read_bytes(), WORDS: json.dumps(said, ensure_ascii=False).encode()}
        self.gradio = {path.name: path for path in GRADIO.iterdir()}
        self.version = sha256(b"".join(sha256(each).digest() for each in self.scripts.values())).hexdigest()[:16]

    def send_script(self, request: Request) -> Response:
        """What is asked for by its version may be kept for good."""
        name = request.path_params["name"]
        versioned = VERSIONED.fullmatch(name)
        version, name = versioned.groups() if versioned else ("", name)
        return _sent(request, name, self.scripts.get(name), FOREVER if version == self.version else FRESH)

    def send_gradios(self, request: Request) -> Response:
        name = request.path_params["name"]
        return _sent(request, name, _content(self.gradio[name]) if name in self.gradio else None, FOREVER)

    def head(self, demo: gr.Blocks) -> Head:
        """Starts our scripts beside Gradio's, and fetches what they will ask for."""
        at = f"scripts/{self.version}/"
        # "scripts/page/js/store.js" is the module that the page uses, whatever the version.
        modules = {f"./scripts/{folder}/": f"./{at}{folder}/" for folder in ("page", "tabs")}
        fetched = [
            f'<link rel="preload" href="{at}{WORDS}" as="fetch" crossorigin />',
            *(f'<link rel="modulepreload" href="{at}{escape(name)}" />' for name in self._begun(demo)),
            f'<script type="module" src="{at}{MAIN}"></script>',
        ]
        return Head(f'<script type="importmap">{json.dumps({"imports": modules})}</script>', "".join(fetched))

    def _begun(self, demo: gr.Blocks) -> list[str]:
        """The modules that the page begins with."""
        panels = (f"tabs/{name}.js" if "/" in name else f"page/js/{name}.js" for name in panels_in_sight(demo))
        return needed(self.scripts, [MAIN, *panels])


class SameForAll(ORJSONResponse):
    """What a server function answers alike to everybody: written as JSON and packed once, not for each visitor."""

    def __init__(self, value: Any) -> None:
        super().__init__(value, headers={"vary": "accept-encoding"})
        headers = {"vary": "accept-encoding", "content-encoding": "gzip"}
        self._packed = Response(gzip.compress(self.body), media_type=self.media_type, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_packed = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        await (self._packed(scope, receive, send) if is_packed else super().__call__(scope, receive, send))


def needed(scripts: Mapping[str, bytes], begun: Iterable[str]) -> list[str]:
    """These modules and all that they import, each once: first those that are asked for first."""
    found = list(dict.fromkeys(begun))
    for name in found:
        imported = (urljoin(name, where) for where in IMPORT.findall(scripts[name].decode()))
        found += dict.fromkeys(each for each in imported if each not in found)
    return found


def _sent(request: Request, name: str, content: bytes | None, headers: dict[str, str]) -> Response:
    if content is None:
        return PlainTextResponse(say("page.no_script"), status_code=404)
    media_type, headers = TYPES.get(Path(name).suffix), headers | {"vary": "accept-encoding"}
    if media_type is None or "gzip" not in request.headers.get("accept-encoding", ""):  # letters of a font are packed
        return Response(content, media_type=media_type, headers=headers)
    return Response(_packed(content), media_type=media_type, headers=headers | {"content-encoding": "gzip"})


@cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


@cache
def _packed(content: bytes) -> bytes:
    return gzip.compress(content)
