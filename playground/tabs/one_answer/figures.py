"""The curves beside the questions."""

import math
from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from playground import numbers, style
from playground.words import say


def tail_figure(tail: pd.DataFrame, min_p: float, num_tokens: int = 100) -> go.Figure:
    """Q8: the chance that an answer holds no token of the tail, against temperature."""
    figure = go.Figure()
    plain, with_min_p = say("one_answer.finding.Q8.plain"), say("one_answer.finding.Q8.with_min_p", min_p=min_p)
    for column, name, colour, dash in (
        ("none_in_answer", plain, "var(--ink)", "dash"),
        ("none_with_min_p", with_min_p, "var(--kept)", "solid"),
    ):
        figure.add_scatter(x=tail["temperature"], y=tail[column], name=name, **_line(colour, dash))
    titles = say("one_answer.finding.Q8.x"), say("one_answer.finding.Q8.y", tokens=num_tokens)
    return figure.update_layout(**style.layout(*titles, yaxis={"range": [-0.03, 1.03]}, height=280))


def kept_figure(kept: pd.DataFrame) -> go.Figure:
    """Q6: tokens kept at every step."""
    hover = say("one_answer.finding.Q6.hover", step="%{x}", kept="%{y}", mass="%{customdata}")
    figure = go.Figure(
        go.Scatter(
            x=kept["step"],
            y=kept["num_kept"],
            customdata=kept["kept_mass"].map(numbers.percent),
            hovertemplate=f"{hover}<extra></extra>",
            **_line("var(--kept)", "solid"),
        )
    )
    axis = {"type": "log", "dtick": 1, "range": [-0.1, 0.3 + max(1.0, math.log10(kept["num_kept"].max()))]}
    titles = say("one_answer.finding.Q6.x"), say("one_answer.finding.Q6.y")
    return figure.update_layout(**style.layout(*titles, yaxis=axis, height=280))


def penalties_figure(table: pd.DataFrame, values: Mapping[str, float]) -> go.Figure:
    """Q11: the logit of a token against how often it was seen; a curve for each penalty, with the value it has."""
    figure = go.Figure()
    looks = [("var(--kept)", "solid"), ("var(--ink)", "dash"), ("var(--muted)", "dot")]
    for column, (colour, dash) in zip(values, looks, strict=True):
        name = say(f"one_answer.finding.Q11.head.{column}", **values)
        figure.add_scatter(x=table["seen"], y=table[column], name=name, **_line(colour, dash))
    titles = say("one_answer.finding.Q11.x"), say("one_answer.finding.Q11.y")
    return figure.update_layout(**style.layout(*titles, height=280))


def _line(colour: str, dash: str) -> dict:
    return {"mode": "lines+markers", "line": {"color": colour, "width": 3, "dash": dash}}
