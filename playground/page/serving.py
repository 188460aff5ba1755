"""What the page's own scripts are served from: named files, so that a folder that holds Python is never handed out."""

from pathlib import Path

import plotly
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from playground.page.guard import Door, Guard
from playground.page.lectures import LectureError, read_lecture
from playground.page.link_preview import LinkPreview
from playground.page.unheard import Unheard
from playground.words import catalogue, say

PACKAGE = Path(__file__).parents[1]
PLOTLY = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
SAID_BY_PYTHON_ONLY = ("start.", "models.", "engine.")  # parts of the catalogue that the browser needs nothing of
FRESH = {"Cache-Control": "no-cache"}  # asked again at each visit, and sent again only when it has changed


def scripts() -> dict[str, Path]:
    """The modules of the page and of its tabs, by the end of their address."""
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.js")}
    return files | {"plotly.min.js": PLOTLY}


def app_options(title: str, description: str, door: Door) -> dict:
    """For `launch(app_kwargs=...)`: the routes of the scripts, a guard in front of all routes, a title, and all
    compressed that gains by it."""
    files = scripts()
    said = {key: text for key, text in catalogue().items() if not key.startswith(SAID_BY_PYTHON_ONLY)}

    def send(request: Request) -> Response:
        path = files.get(request.path_params["name"])
        if path is None:
            return PlainTextResponse(say("page.no_script"), status_code=404)
        return FileResponse(path, media_type="text/javascript", headers=FRESH)

    def send_words(_request: Request) -> Response:
        return JSONResponse(said, headers=FRESH)

    def send_lecture(request: Request) -> Response:
        """Read anew each time: a teacher edits it while the page runs."""
        try:
            return JSONResponse(read_lecture(request.path_params["name"]), headers=FRESH)
        except LectureError as error:
            return JSONResponse({"title": "", "steps": [], "problem": str(error)}, headers=FRESH)

    routes = [
        Route("/scripts/{name:path}", send),
        Route("/words/en.json", send_words),
        Route("/lectures/{name}.json", send_lecture),
    ]
    middleware = [
        Middleware(Guard, door=door),
        Middleware(Unheard),
        Middleware(GZipMiddleware),
        Middleware(LinkPreview, title=title, description=description),
    ]
    return {"routes": routes, "middleware": middleware}


def style_sheet() -> str:
    """The page's styles, then those of its tabs."""
    return "".join(
        path.read_text() for path in [*sorted(PACKAGE.glob("page/*.css")), *sorted(PACKAGE.glob("tabs/*/style.css"))]
    )
