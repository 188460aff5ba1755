"""Pictures that keep their DOM: a gr.HTML whose drawing is a JavaScript module."""

import json
import re
from collections.abc import Callable, Sequence
from functools import wraps
from html import unescape
from typing import Any

import gradio as gr
from gradio.blocks import Block
from plotly.graph_objects import Figure
from pydantic import ValidationError, validate_call

from playground.words import say, sentence

# A constant template: a value put through it could run code hidden in a prompt. The module draws with textContent.
_TEMPLATE = '<div class="panel-body"></div>'
# main.js may load after the panel; what is queued here it mounts when it comes.
_MOUNT = """
const queue = (window.playgroundPanels ??= []);
queue.push({ name: %s, element: element.querySelector('.panel-body') ?? element, props, trigger, watch,
             server: typeof server === 'undefined' ? null : server });
window.playgroundMount?.();
// events: %s
"""
_NAME = re.compile(r'name: ("[^"]*"), element')


def panel(
    name: str,
    value: Any = None,
    *,
    label: str | None = None,
    events: Sequence[str] = (),
    server_functions: list[Callable] | None = None,
    elem_id: str | None = None,
    elem_classes: Sequence[str] = (),
    **options: Any,
) -> gr.HTML:
    """A picture drawn by page/js/<name>.js or, where the name is "<tab>/<name>", by that module of the tab's folder.

    `events` are the names its script may trigger, e.g. panel.chosen(...). `server_functions` take what their type hint
    says; what they refuse, and a request of another type, comes back as {"problem": one sentence}.
    """
    return gr.HTML(
        value,
        label=label,
        html_template=_TEMPLATE,
        css_template="",
        js_on_load=_MOUNT % (json.dumps(name), " ".join(f"'{event}'" for event in events)),
        apply_default_css=False,
        server_functions=[_in_a_sentence(function) for function in server_functions or ()] or None,
        elem_id=elem_id,
        elem_classes=["panel", f"panel-{name.split('/')[-1]}", *elem_classes],
        **options,
    )


def panels_in_sight(demo: gr.Blocks) -> list[str]:
    """The names of those that stand on the page when it opens: of tabs the first is open."""
    named = {each: _NAME.search(each.js_on_load or "") for each in demo.blocks.values() if isinstance(each, gr.HTML)}
    return list(dict.fromkeys(json.loads(name[1]) for each, name in named.items() if name and _in_sight(each)))


def _in_sight(block: Block) -> bool:
    parent = block.parent
    return parent is None or (_in_sight(parent) and not (isinstance(block, gr.Tab) and block is not parent.children[0]))


def _in_a_sentence(function: Callable) -> Callable:
    """An error inside a server function would be HTTP 500, and the person would be told that no server is there."""
    checked = validate_call(function)

    @wraps(function)
    def answer(asked: Any) -> Any:
        try:
            return checked(asked)
        except gr.Error as error:
            return {"problem": unescape(error.message)}  # it was written for Gradio's toast, which shows HTML
        except ValidationError:
            return {"problem": say("page.unreadable_question")}
        except (TypeError, ValueError) as error:
            return {"problem": sentence(str(error))}

    return answer


def plot_panel(value: dict | None = None, *, elem_id: str | None = None, **options: Any) -> gr.HTML:
    """A Plotly curve in a kept div, with buttons for PNG and SVG; its value is `figure_json(figure)`."""
    return panel("plot", value, elem_id=elem_id, **options)


def figure_json(figure: Figure) -> dict:
    """Plain lists and numbers; colours stay CSS variables, which the page resolves."""
    return json.loads(figure.to_json(engine="json"))
