"""Pictures of one answer: the whole of it for a file, and the curves beside the questions."""

import html
import math

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from playground.figures import style

_CURVES = ["Nucleus size", "Entropy, nats", "Probability of the token written", "Its rank"]


def answer_figure(
    steps: pd.DataFrame, candidates: pd.DataFrame, step: int, vocab_size: int, conditions: str = ""
) -> go.Figure:
    """Tables of playground.models.tables: the candidates of one step on the left, the whole answer on the right."""
    figure = make_subplots(
        rows=4,
        cols=2,
        specs=[[{"rowspan": 4}, {}], [None, {}], [None, {}], [None, {}]],
        column_widths=[0.48, 0.52],
        vertical_spacing=0.07,
        horizontal_spacing=0.1,
        subplot_titles=[f"Next token at step {step}", *_CURVES],
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


def _candidate_bars(figure: go.Figure, candidates: pd.DataFrame) -> None:
    # Plotly reads tags in labels: a token is text, whatever it looks like.
    names = [
        f"{rank}. {html.escape(token)} " for rank, token in zip(candidates["rank"], candidates["token"], strict=True)
    ]
    after = candidates[candidates.columns[-1]]
    colours = ["var(--accent)" if written else "var(--kept)" for written in candidates["written"]]
    words = [f"{100 * p:.1f} %" if kept else "cut" for p, kept in zip(after, candidates["kept"], strict=True)]
    pale = go.Bar(x=candidates["model"], y=names, orientation="h", marker_color="var(--pale)")
    solid = go.Bar(x=after, y=names, orientation="h", marker_color=colours, width=0.45, text=words)
    figure.add_traces([pale, solid.update(textposition="outside", cliponaxis=False)], rows=1, cols=1)
    figure.update_yaxes(autorange="reversed", type="category", row=1, col=1)
    figure.update_xaxes(range=[0, 1.12], title_text="probability", row=1, col=1)


def _step_lines(figure: go.Figure, steps: pd.DataFrame, step: int, vocab_size: int) -> None:
    for row, column in enumerate(["num_candidates", "entropy", "prob", "rank"], start=1):
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
    figure.update_xaxes(title_text="decoding step", row=4, col=2)


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
