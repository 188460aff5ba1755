"""A whole answer as one picture, for a notebook and for a file."""

import html
import math

import pandas as pd
import plotly.graph_objects as go
from plotly.graph_objects import Figure
from plotly.subplots import make_subplots

from playground import numbers, style
from playground.words import say

_CURVES = ["num_candidates", "entropy", "prob", "rank"]  # columns of the table of steps


def answer_figure(
    steps: pd.DataFrame, candidates: pd.DataFrame, step: int, vocab_size: int, conditions: str = ""
) -> Figure:
    """Tables of playground.models.tables: the candidates of one step on the left, the whole answer on the right."""
    figure = make_subplots(
        rows=4,
        cols=2,
        specs=[[{"rowspan": 4}, {}], [None, {}], [None, {}], [None, {}]],
        column_widths=[0.48, 0.52],
        vertical_spacing=0.07,
        horizontal_spacing=0.1,
        subplot_titles=[
            say("models.figure.next_token", step=step),
            *(say(f"models.figure.{name}") for name in _CURVES),
        ],
    )
    _candidate_bars(figure, candidates)
    _step_lines(figure, steps, step, vocab_size)
    title = {"text": html.escape(conditions), "font": {"size": 17}, "x": 0.02, "y": 0.98}
    layout = style.layout("", "", showlegend=False, barmode="overlay", margin={"t": 96}, title=title)
    figure.update_layout(**{key: value for key, value in layout.items() if key not in ("xaxis", "yaxis", "legend")})
    figure.update_xaxes(gridcolor="var(--grid)", zerolinecolor="var(--grid)", automargin=True)
    figure.update_yaxes(gridcolor="var(--grid)", zerolinecolor="var(--grid)", automargin=True)
    figure.update_annotations(font_size=18)
    return figure


def _candidate_bars(figure: Figure, candidates: pd.DataFrame) -> None:
    # Plotly reads tags in labels: a token is text, whatever it looks like.
    names = [
        f"{rank}. {html.escape(token)} " for rank, token in zip(candidates["rank"], candidates["token"], strict=True)
    ]
    after = candidates[candidates.columns[-1]]
    colours = ["var(--accent)" if written else "var(--kept)" for written in candidates["written"]]
    words = [
        numbers.percent(p) if kept else say("models.figure.cut")
        for p, kept in zip(after, candidates["kept"], strict=True)
    ]
    pale = go.Bar(x=candidates["model"], y=names, orientation="h", marker_color="var(--pale)")
    solid = go.Bar(x=after, y=names, orientation="h", marker_color=colours, width=0.45, text=words)
    figure.add_traces([pale, solid.update(textposition="outside", cliponaxis=False)], rows=1, cols=1)
    figure.update_yaxes(autorange="reversed", type="category", row=1, col=1)
    figure.update_xaxes(range=[0, 1.12], title_text=say("models.figure.probability"), row=1, col=1)


def _step_lines(figure: Figure, steps: pd.DataFrame, step: int, vocab_size: int) -> None:
    for row, column in enumerate(_CURVES, start=1):
        line = {"color": "var(--kept)", "width": 2.5}
        figure.add_scatter(x=steps["step"], y=steps[column], mode="lines+markers", line=line, row=row, col=2)
        at = steps[steps["step"] == step]
        marker = {"color": "var(--accent)", "size": 12}
        figure.add_scatter(x=at["step"], y=at[column], mode="markers", marker=marker, row=row, col=2)
    top = math.log10(vocab_size)
    figure.update_yaxes(type="log", dtick=1, range=[-0.1, top], row=1, col=2)
    figure.update_yaxes(rangemode="tozero", row=2, col=2)
    figure.update_yaxes(range=[-0.05, 1.05], row=3, col=2)
    figure.update_yaxes(type="log", dtick=1, range=[top, -0.1], row=4, col=2)
    figure.update_xaxes(title_text=say("models.figure.step"), row=4, col=2)
