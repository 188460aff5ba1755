"""The page: a bar that all tabs share, and the tabs."""

from collections.abc import Mapping

import gradio as gr

from playground import style
from playground.api import add_endpoints
from playground.models.remote import RemoteServer
from playground.models.text import LoadedModel
from playground.page.bar import build_bar
from playground.page.guard import Door
from playground.page.jobs import spare_gradio
from playground.page.model_box import Allowed
from playground.page.requests import check_handlers
from playground.page.serving import app_options, style_sheet
from playground.tabs.cache_on_off.tab import race_tab
from playground.tabs.inside_the_cache.tab import cache_tab
from playground.tabs.kinds_of_cache.tab import kinds_tab
from playground.tabs.one_answer.tab import sampling_tab
from playground.tabs.playground.tab import playground_tab
from playground.tabs.serving.tab import serving_tab
from playground.tabs.thirty_answers.tab import answers_tab, shared_answers
from playground.tabs.two_models.tab import two_models_tab
from playground.words import say

# Visitors whom Gradio remembers, each in some 30 kilobytes. Of who comes back later it makes the same again: the page's
# state is in the browser.
MOST_STATES = 1000


def build_page(
    models: Mapping[str, LoadedModel], server: RemoteServer | None = None, allowed: Allowed | None = None
) -> gr.Blocks:
    """server: one elsewhere, that the tab Serving may ask. allowed: what visitors may load beside these models."""
    with gr.Blocks(title=say("page.title"), fill_width=True) as demo:
        page = build_bar(models, allowed)
        shared_answers(page)
        with gr.Tabs(elem_id="tabs", overflow_behavior="wrap"):
            playground_tab(page)
            sampling_tab(page)
            answers_tab(page)
            race_tab(page)
            cache_tab(page)
            kinds_tab(page)
            serving_tab(page, server)
            two_models_tab(page)
        add_endpoints(page)
    check_handlers(demo)
    spare_gradio(demo)
    return demo


def launch_options(door: Door | None = None) -> dict:
    """What goes to `launch` in Gradio 6: looks, scripts, a guard, and nothing that leaves the machine."""
    fonts = [gr.themes.LocalFont("IBM Plex Sans", weights=(400, 700)), "DejaVu Sans", "sans-serif"]
    return {
        "theme": gr.themes.Base(font=fonts, font_mono=["DejaVu Sans Mono", "monospace"]),
        "css": style.css_variables() + style_sheet(),
        "app_kwargs": app_options(say("page.title"), say("page.description"), door or Door()),
        "run_history": False,
        "state_session_capacity": MOST_STATES,
        "max_file_size": 1,  # byte: guard.py has no route for uploads, and nothing waits behind it
        "ssr_mode": False,  # a second server in front of this one would answer past the guard
        "num_workers": 0,
        "max_threads": 1000,  # events that Gradio lets in at once: they wait in our own line, which tells them so
        "footer_links": [],
    }
