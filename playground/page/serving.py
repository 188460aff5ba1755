"""The routes of the page beside Gradio's, and what stands in front of all routes."""

from functools import cache
from pathlib import Path

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from playground.page.browser_files import FRESH, BrowserFiles
from playground.page.guard import Door, Guard
from playground.page.lectures import LectureError, read_lecture
from playground.page.link_preview import LinkPreview
from playground.page.unheard import Unheard

PACKAGE = Path(__file__).parents[1]


def app_options(title: str, description: str, door: Door) -> dict:
    """For `launch(app_kwargs=...)`: the routes of the scripts, a guard in front of all routes, a title, and all
    compressed that gains by it."""
    files = BrowserFiles()

    async def send_script(request: Request) -> Response:
        return files.send_script(request)

    async def send_gradios(request: Request) -> Response:
        return files.send_gradios(request)

    def send_lecture(request: Request) -> Response:
        """Read anew each time: a teacher edits it while the page runs."""
        try:
            return JSONResponse(read_lecture(request.path_params["name"]), headers=FRESH)
        except LectureError as error:
            return JSONResponse({"title": "", "steps": [], "problem": str(error)}, headers=FRESH)

    routes = [
        Route("/scripts/{name:path}", send_script),
        Route("/assets/{name:path}", send_gradios),
        Route("/lectures/{name}.json", send_lecture),
    ]
    middleware = [
        Middleware(Guard, door=door),
        Middleware(Unheard),
        Middleware(GZipMiddleware, compresslevel=5),
        Middleware(LinkPreview, title=title, description=description, head=cache(files.head)),
    ]
    return {"routes": routes, "middleware": middleware}


def style_sheet() -> str:
    """The page's styles, then those of its tabs."""
    return "".join(
        path.read_text() for path in [*sorted(PACKAGE.glob("page/*.css")), *sorted(PACKAGE.glob("tabs/*/style.css"))]
    )
