"""One colour per idea, the same in every picture: Okabe-Ito, safe for colour-blind people, light and dark."""

import re

import plotly.graph_objects as go
import plotly.io

# name: (light, dark)
PALETTE = {
    "kept": ("#0072B2", "#56B4E9"),  # probability after the stages; cache on
    "pale": ("#B5D3E7", "#2C5876"),  # the model's own probability
    "accent": ("#D55E00", "#FFB000"),  # the chosen token, the newest column
    "accent_text": ("#B34A00", "#FFB000"),  # the same as words: 4.5 times as light or dark as what is behind them
    "off": ("#B0558A", "#E69AC8"),  # cache off
    "cut": ("#6F757E", "#9AA1AC"),  # what a stage removed
    "query": ("#0072B2", "#56B4E9"),
    "key": ("#C2410C", "#FF8A5B"),
    "value": ("#007A5A", "#3CC9A0"),
    "ink": ("#1A2433", "#F1F5F9"),
    "muted": ("#566173", "#A9B4C4"),
    "grid": ("#DDE3EA", "#334155"),
    "panel": ("#FFFFFF", "#1E293B"),
    "page": ("#F6F8FB", "#0B1220"),
    "above": ("#D55E00", "#FFB000"),  # a number above 0, told from one below it also without red and green
    "below": ("#0072B2", "#56B4E9"),
    "good": ("#007A5A", "#3CC9A0"),
    "kept_band": ("#0072B22E", "#56B4E938"),  # see-through, for bands of uncertainty
    "value_band": ("#007A5A2E", "#3CC9A038"),
}
FONT = "IBM Plex Sans, DejaVu Sans, sans-serif"


def css_variables() -> str:
    """The palette as CSS, for the page."""
    rows = ["".join(f"--{name}:{pair[dark]};" for name, pair in PALETTE.items()) for dark in (0, 1)]
    return f":root{{{rows[0]}}}\n.dark{{{rows[1]}}}\n"


def layout(x_title: str, y_title: str, **more) -> dict:
    """What all curves share. Sizes are for the last row of a lecture room."""
    axis = {"gridcolor": "var(--grid)", "zerolinecolor": "var(--grid)", "linecolor": "var(--grid)", "automargin": True}
    common = {
        "font": {"family": FONT, "size": 18, "color": "var(--ink)"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 64, "r": 24, "t": 16, "b": 56},
        "hoverlabel": {"font": {"size": 18}},
        "legend": {"orientation": "h", "y": 1.12, "x": 0},
        "xaxis": {"title": {"text": x_title}, **axis},
        "yaxis": {"title": {"text": y_title}, **axis},
    }
    for key, value in more.items():
        common[key] = common[key] | value if isinstance(value, dict) and key in common else value
    return common


def resolve(figure: go.Figure, dark: bool = False) -> go.Figure:
    """The same figure with real colours, for exports and notebooks, where no page defines the variables."""
    text = re.sub(r"var\(--(\w+)\)", lambda match: PALETTE[match[1]][dark], figure.to_json())
    background = PALETTE["panel"][dark]
    return plotly.io.from_json(text).update_layout(paper_bgcolor=background, plot_bgcolor=background)
