"""The curves beside the questions."""

import math

import pandas as pd
import plotly.graph_objects as go

from playground import style


def tail_figure(tail: pd.DataFrame, min_p: float, num_tokens: int = 100) -> go.Figure:
    """Q8: the chance that an answer holds no token of the tail, against temperature."""
    figure = go.Figure()
    for column, name, colour, dash in (
        ("none_in_answer", "temperature alone", "var(--accent)", "dash"),
        ("none_with_min_p", f"with min-p {min_p}", "var(--kept)", "solid"),
    ):
        line = {"color": colour, "width": 3, "dash": dash}
        figure.add_scatter(x=tail["temperature"], y=tail[column], mode="lines+markers", name=name, line=line)
    figure.update_layout(
        **style.layout(
            "temperature", f"chance of no tail token in {num_tokens}", yaxis={"range": [-0.03, 1.03]}, height=320
        )
    )
    return figure


def kept_figure(kept: pd.DataFrame) -> go.Figure:
    """Q6: tokens kept at every step."""
    figure = go.Figure(
        go.Scatter(
            x=kept["step"],
            y=kept["num_kept"],
            mode="lines+markers",
            line={"color": "var(--kept)", "width": 3},
            customdata=kept["kept_mass"],
            hovertemplate="step %{x}: %{y} kept, %{customdata:.1%} of the mass<extra></extra>",
        )
    )
    axis = {"type": "log", "dtick": 1, "range": [-0.1, 0.3 + max(1.0, math.log10(kept["num_kept"].max()))]}
    figure.update_layout(**style.layout("decoding step", "tokens kept", yaxis=axis, height=320))
    return figure


def penalties_figure(table: pd.DataFrame) -> go.Figure:
    """Q11: the logit of a token against how often it was seen."""
    figure = go.Figure()
    looks = [("var(--kept)", "solid"), ("var(--accent)", "dash"), ("var(--off)", "dot")]
    for column, (colour, dash) in zip(table.columns[1:], looks, strict=True):
        line = {"color": colour, "width": 3, "dash": dash}
        figure.add_scatter(x=table["seen"], y=table[column], mode="lines+markers", name=column, line=line)
    figure.update_layout(**style.layout("times the token was seen", "its logit", height=320))
    return figure
