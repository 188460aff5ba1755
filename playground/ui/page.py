"""The page: a bar that all tabs share, and the tabs."""

from pathlib import Path

import gradio as gr
import plotly

from playground.assets import ASSETS
from playground.figures import style
from playground.models.text import LoadedModel
from playground.ui.answers_tab import answers_tab
from playground.ui.bar import build_bar
from playground.ui.cache_tab import cache_tab
from playground.ui.playground_tab import playground_tab
from playground.ui.race_tab import race_tab
from playground.ui.sampling_tab import sampling_tab

PLOTLY = Path(plotly.__file__).parent / "package_data"
TITLE = "How a language model writes"


def build_page(models: dict[str, LoadedModel]) -> gr.Blocks:
    gr.set_static_paths([ASSETS / "js", ASSETS / "css", PLOTLY])
    with gr.Blocks(title=TITLE, fill_width=True) as demo:
        page = build_bar(models)
        with gr.Tabs(elem_id="tabs"):
            playground_tab(page)
            sampling_tab(page)
            answers_tab(page)
            race_tab(page)
            cache_tab(page)
    return demo


def launch_options() -> dict:
    """What goes to `launch` in Gradio 6: looks, scripts, and nothing that leaves the machine."""
    sheets = sorted((ASSETS / "css").glob("*.css"), key=lambda sheet: (sheet.name != "page.css", sheet.name))
    css = style.css_variables() + "".join(sheet.read_text() for sheet in sheets)
    fonts = [gr.themes.LocalFont("IBM Plex Sans", weights=(400, 700)), "DejaVu Sans", "sans-serif"]
    return {
        "theme": gr.themes.Base(font=fonts, font_mono=["DejaVu Sans Mono", "monospace"]),
        "css": css,
        "head": _head(),
        "run_history": False,
        "footer_links": [],
    }


def _head() -> str:
    served = "/gradio_api/file="
    return (
        f'<script defer src="{served}{PLOTLY / "plotly.min.js"}"></script>'
        f'<script type="module" src="{served}{ASSETS / "js" / "main.js"}"></script>'
    )
