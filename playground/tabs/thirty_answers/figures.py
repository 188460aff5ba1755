"""Curves of the thirty answers: distinct against a setting, stated against observed."""

import html
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from playground.style import layout

KNOBS = {"temperature": "temperature", "top_p": "top-p", "top_k": "top-k"}
LOOKS = (("--kept", "circle", "solid"), ("--value", "diamond", "dash"))  # first and second prompt
DRAWS = (("--muted", "triangle-up"), ("--value", "square"), ("--kept", "circle"))  # few, more, most draws
LEAST = 1e-4  # shares below this stand at the left edge of the logarithmic axis


def distinct_figure(curves: Sequence[pd.DataFrame], knob: str) -> go.Figure:
    """For each prompt the mean over seeds, the band of about nine of ten seeds, and this seed's counts as markers.

    A frame for each prompt, a row for each value of the setting `knob`: prompt, `knob`, distinct, expected, low, high,
    answers, pool. A pool no larger than the answers has no band.
    """
    figure = go.Figure()
    for curve, (colour, symbol, dash) in zip(curves, LOOKS, strict=False):
        values, number = curve[knob].tolist(), int(curve["answers"].iloc[0])
        name, has_band = plain(curve["prompt"].iloc[0], 44), bool((curve["pool"] > curve["answers"]).all())
        if has_band:
            _add_band(figure, curve, knob, name, colour, dash)
        figure.add_scatter(
            x=axis_places(knob, values),
            y=curve["distinct"].tolist(),
            mode="markers",
            name=f"{name}: this seed",
            showlegend=not has_band,
            marker={"color": f"var({colour})", "size": 12, "symbol": symbol},
            customdata=[[label] for label in value_labels(knob, values)],
            hovertemplate=f"{KNOBS[knob]} %{{customdata[0]}}: %{{y}} of {number}<extra>this seed</extra>",
        )
    values, number = curves[0][knob].tolist(), int(curves[0]["answers"].iloc[0])
    axis = {"zeroline": False}
    if knob == "top_k":
        axis |= {"tickvals": axis_places(knob, values), "ticktext": value_labels(knob, values)}
    return figure.update_layout(
        layout(
            KNOBS[knob],
            f"distinct answers of {number}",
            xaxis=axis,
            yaxis={"range": [0, number * 1.05], "zeroline": False},
            hovermode="closest",
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
            margin={"l": 64, "r": 16, "t": 44, "b": 56},
        )
    )


def _add_band(figure: go.Figure, curve: pd.DataFrame, knob: str, name: str, colour: str, dash: str) -> None:
    values = curve[knob].tolist()
    places, low, high = axis_places(knob, values), curve["low"].tolist(), curve["high"].tolist()
    edge = {"mode": "lines", "line": {"width": 0}, "showlegend": False, "hoverinfo": "skip"}
    figure.add_scatter(x=places, y=low, **edge)
    figure.add_scatter(x=places, y=high, fill="tonexty", fillcolor=f"var({colour}_band)", **edge)
    figure.add_scatter(
        x=places,
        y=curve["expected"].tolist(),
        mode="lines",
        name=name,
        line={"color": f"var({colour})", "width": 3, "dash": dash},
        customdata=list(zip(value_labels(knob, values), low, high, strict=True)),
        hovertemplate=(
            f"{KNOBS[knob]} %{{customdata[0]}}: mean %{{y:.1f}}, "
            "about 9 of 10 seeds %{customdata[1]:.1f} to %{customdata[2]:.1f}<extra></extra>"
        ),
    )


def axis_places(knob: str, values: Sequence[float]) -> list[float]:
    """Where the values stand: at themselves. Top-k grows by leaps and ends with off: there one after another."""
    return list(range(len(values))) if knob == "top_k" else list(values)


def value_labels(knob: str, values: Sequence[float]) -> list[str]:
    return ["off" if knob == "top_k" and not value else f"{value:g}" for value in values]


def agreement_figure(frame: pd.DataFrame, draws: Sequence[int]) -> go.Figure:
    """For each answer its probability under the settings as a bar across, and each number of draws with its interval.

    A row for each answer: answer, stated, model, and for each N in `draws`: observed N, low N, high N. The model's own
    probability is drawn where the settings change it.
    """
    rows = list(range(len(frame)))
    figure = go.Figure()
    looks = DRAWS[-len(draws) :]
    for offset, (number, (colour, symbol)) in enumerate(zip(draws, looks, strict=True)):
        shares = frame[f"observed {number}"]
        shown = shares.clip(lower=LEAST)
        figure.add_scatter(
            x=shown,
            y=[row + 0.24 * (offset - 1) for row in rows],
            mode="markers",
            name=f"{number:,} draws",
            marker={"color": f"var({colour})", "size": 11, "symbol": symbol},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": frame[f"high {number}"] - shown,
                "arrayminus": (shown - frame[f"low {number}"].clip(lower=LEAST)).clip(lower=0),
                "color": f"var({colour})",
                "thickness": 3,
                "width": 0,
            },
            customdata=list(zip(shares, frame[f"low {number}"], frame[f"high {number}"], strict=True)),
            hovertemplate=(
                f"%{{customdata[0]:.2%}} in {number:,} draws, "
                "95 % interval %{customdata[1]:.2%} to %{customdata[2]:.2%}<extra></extra>"
            ),
        )
    marks = [("stated", "these settings", "--accent", 34)]
    if (frame["model"] - frame["stated"]).abs().max() > 1e-3:
        marks.insert(0, ("model", "the model itself", "--muted", 22))
    for column, name, colour, size in marks:
        figure.add_scatter(
            x=frame[column].clip(lower=LEAST).tolist(),
            y=rows,
            mode="markers",
            name=name,
            marker={"color": f"var({colour})", "symbol": "line-ns-open", "size": size, "line": {"width": 4}},
            customdata=[[share] for share in frame[column]],
            hovertemplate=f"{name}: %{{customdata[0]:.2%}}<extra></extra>",
        )
    ticks = [LEAST, 0.001, 0.01, 0.1, 1]
    return figure.update_layout(
        layout(
            "share of the draws, logarithmic",
            "",
            xaxis={"type": "log", "tickvals": ticks, "ticktext": ["≤ 0.01 %", "0.1 %", "1 %", "10 %", "100 %"]},
            yaxis={
                "tickvals": rows,
                "ticktext": [plain(text or "(empty)", 34) for text in frame["answer"]],
                "range": [len(rows) - 0.4, -0.6],
                "zeroline": False,
            },
            legend={"orientation": "h", "y": 1, "yref": "container", "yanchor": "top", "x": 0, "xref": "container"},
            margin={"l": 16, "r": 16, "t": 84, "b": 56},  # the legend has up to three lines
            height=170 + 46 * len(rows),
        )
    )


def plain(text: str, length: int) -> str:
    """Untrusted text for a label: one short line, and nothing in it that Plotly takes for markup."""
    line = " ".join(text.split())
    return html.escape(line if len(line) <= length else line[: length - 1] + "…", quote=False)
