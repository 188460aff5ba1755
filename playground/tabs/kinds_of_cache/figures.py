"""Curves of the kinds of cache."""

import plotly.graph_objects as go

from playground.style import layout
from playground.words import say

# Colour and dash: blue keeps everything, violet forgets tokens; green is on top of violet and lets it be seen.
LINES = {
    "full": ("var(--ink)", "solid"),
    "quantized": ("var(--kept)", "solid"),
    "turned": ("var(--kept)", "dash"),
    "heavy": ("var(--off)", "dot"),
    "window": ("var(--off)", "solid"),
    "sinks": ("var(--off)", "dash"),
    "streaming": ("var(--value)", "dash"),
}


def perplexity_figure(curves: dict[str, list[tuple[int, float]]], trained: int | None) -> go.Figure:
    """Perplexity of each stretch of the text, by kind; `trained`: where the model's training ends, if it does here."""
    figure = go.Figure()
    for name, points in curves.items():
        colour, dash = LINES[name]
        figure.add_scatter(
            x=[position for position, _ in points],
            y=[value for _, value in points],
            name=say(f"kinds_of_cache.short.{name}"),
            mode="lines",
            line={"width": 3, "color": colour, "dash": dash},
            hovertemplate="%{y:.2f}",
        )
    if trained is not None:
        figure.add_vline(x=trained, line={"color": "var(--muted)", "dash": "dash", "width": 2})
        figure.add_annotation(
            x=trained, y=1, yref="paper", xanchor="right", yanchor="top", showarrow=False, xshift=-8,
            text=say("kinds_of_cache.long.trained", tokens=trained), font={"size": 18, "color": "var(--muted)"},
        )  # fmt: skip
    axis = {"type": "log", "dtick": 1, "tickvals": [1, 2, 5, 10, 20, 50, 100]}
    return figure.update_layout(
        layout(
            say("kinds_of_cache.long.position"),
            say("kinds_of_cache.long.perplexity"),
            hovermode="x unified",
            yaxis={**axis},
            legend={"y": 1.3},
        )
    )
