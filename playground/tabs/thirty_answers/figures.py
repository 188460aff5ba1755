"""Curves of the thirty answers: how many are different against a setting, predicted against observed."""

import html
from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from playground.numbers import count
from playground.style import layout
from playground.words import say

LOOKS = (("--kept", "circle", "solid"), ("--value", "diamond", "dash"))  # first and second prompt
SIZE_LOOKS = (("--muted", "triangle-up"), ("--value", "square"), ("--kept", "circle"))  # small, larger, largest sample
LEAST = 1e-4  # shares below this are at the left edge of the logarithmic axis
TICKS = (0.001, 0.01, 0.1, 1)
HOVER = "%{customdata}<extra></extra>"  # a sentence for each point


def knob_name(knob: str) -> str:
    return say(f"thirty_answers.knob.{knob}")


def distinct_figure(curves: Sequence[pd.DataFrame], knob: str) -> go.Figure:
    """For each prompt the mean over seeds, the band of about nine of ten seeds, and this seed's counts as markers.

    A frame for each prompt, a row for each value of the setting `knob`: prompt, `knob`, distinct, expected, low, high,
    answers, pool. A pool no larger than the answers has no band.
    """
    figure = go.Figure()
    for curve, look in zip(curves, LOOKS, strict=False):
        _add_curve(figure, curve, knob, look)
    values, number = curves[0][knob].tolist(), int(curves[0]["answers"].iloc[0])
    axis: dict[str, Any] = {"zeroline": False}
    if knob == "top_k":
        axis |= {"tickvals": axis_places(knob, values), "ticktext": value_labels(knob, values)}
    return figure.update_layout(
        layout(
            knob_name(knob),
            say("thirty_answers.curve.axis", count=number),
            xaxis=axis,
            yaxis={"range": [0, number * 1.05], "zeroline": False},
            hovermode="closest",
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
            margin={"l": 64, "r": 16, "t": 44, "b": 56},
        )
    )


def _add_curve(figure: go.Figure, curve: pd.DataFrame, knob: str, look: tuple[str, str, str]) -> None:
    colour, symbol, dash = look
    values, number = curve[knob].tolist(), int(curve["answers"].iloc[0])
    name, has_band = plain(curve["prompt"].iloc[0], 44), bool((curve["pool"] > curve["answers"]).all())
    if has_band:
        _add_band(figure, curve, knob, name, colour, dash)
    facts = zip(value_labels(knob, values), curve["distinct"].tolist(), strict=True)
    figure.add_scatter(
        x=axis_places(knob, values),
        y=curve["distinct"].tolist(),
        mode="markers",
        name=say("thirty_answers.curve.this_seed", prompt=name),
        showlegend=not has_band,
        marker={"color": f"var({colour})", "size": 12, "symbol": symbol},
        customdata=[
            say("thirty_answers.curve.point", knob=knob_name(knob), value=value, distinct=distinct, count=number)
            for value, distinct in facts
        ],
        hovertemplate=HOVER,
    )


def _add_band(figure: go.Figure, curve: pd.DataFrame, knob: str, name: str, colour: str, dash: str) -> None:
    values = curve[knob].tolist()
    places, means = axis_places(knob, values), curve["expected"].tolist()
    low, high = curve["low"].tolist(), curve["high"].tolist()
    edge = {"mode": "lines", "line": {"width": 0}, "showlegend": False, "hoverinfo": "skip"}
    figure.add_scatter(x=places, y=low, **edge)
    figure.add_scatter(x=places, y=high, fill="tonexty", fillcolor=f"var({colour}_band)", **edge)
    figure.add_scatter(
        x=places,
        y=means,
        mode="lines",
        name=name,
        line={"color": f"var({colour})", "width": 3, "dash": dash},
        customdata=[
            say("thirty_answers.curve.band", knob=knob_name(knob), value=value, mean=mean, low=least, high=most)
            for value, mean, least, most in zip(value_labels(knob, values), means, low, high, strict=True)
        ],
        hovertemplate=HOVER,
    )


def axis_places(knob: str, values: Sequence[float]) -> list[float]:
    """The values themselves. Top-k grows by leaps and ends with off: its marks are one after another."""
    return list(range(len(values))) if knob == "top_k" else list(values)


def value_labels(knob: str, values: Sequence[float]) -> list[str]:
    return [say("thirty_answers.knob.off") if knob == "top_k" and not value else count(value) for value in values]


def agreement_figure(frame: pd.DataFrame, sizes: Sequence[int]) -> go.Figure:
    """For each answer its probability under the settings as a bar across, and each sample's share with its interval.

    A row for each answer: answer, predicted, model, and for each size N of `sizes`: observed_N, low_N, high_N. The
    model's own probability is shown where the settings change it.
    """
    figure, rows = go.Figure(), list(range(len(frame)))
    for place, (size, look) in enumerate(zip(sizes, SIZE_LOOKS[-len(sizes) :], strict=True)):
        _add_sample(figure, frame, size, [row + 0.24 * (place - 1) for row in rows], look)
    marks = [("predicted", "--ink", 34)]
    if (frame["model"] - frame["predicted"]).abs().max() > 1e-3:
        marks.insert(0, ("model", "--muted", 22))
    for column, colour, size in marks:
        name = say(f"thirty_answers.agreement.mark.{column}")
        figure.add_scatter(
            x=frame[column].clip(lower=LEAST).tolist(),
            y=rows,
            mode="markers",
            name=name,
            marker={"color": f"var({colour})", "symbol": "line-ns-open", "size": size, "line": {"width": 4}},
            customdata=[say("thirty_answers.agreement.share", name=name, share=share) for share in frame[column]],
            hovertemplate=HOVER,
        )
    least = say("thirty_answers.agreement.least", percent=100 * LEAST)
    return figure.update_layout(
        layout(
            say("thirty_answers.agreement.axis"),
            "",
            xaxis={"type": "log", "tickvals": [LEAST, *TICKS], "ticktext": [least, *map(_tick, TICKS)]},
            yaxis={
                "tickvals": rows,
                "ticktext": [plain(text or say("thirty_answers.empty"), 34) for text in frame["answer"]],
                "range": [len(rows) - 0.4, -0.6],
                "zeroline": False,
            },
            legend={"orientation": "h", "y": 1, "yref": "container", "yanchor": "top", "x": 0, "xref": "container"},
            margin={"l": 16, "r": 16, "t": 84, "b": 56},  # the legend has up to three lines
            height=170 + 42 * len(rows),
        )
    )


def narrow_axes(num_answers: int) -> dict[str, dict]:
    """What to change in the layout of `agreement_figure` where there is no room for texts: numbers for the answers."""
    return {
        "xaxis": {
            "ticktext": ["0", *map(_tick, TICKS[:-1]), ""],
            "tickangle": 0,
            "title": {"text": say("thirty_answers.agreement.narrow_axis")},
        },
        "yaxis": {"ticktext": [count(place + 1) for place in range(num_answers)]},
    }


def _add_sample(figure: go.Figure, frame: pd.DataFrame, size: int, places: list[float], look: tuple[str, str]) -> None:
    colour, symbol = look
    shares, low, high = (frame[f"{column}_{size}"] for column in ("observed", "low", "high"))
    shown = shares.clip(lower=LEAST)
    figure.add_scatter(
        x=shown,
        y=places,
        mode="markers",
        name=say("thirty_answers.agreement.sample", count=size),
        marker={"color": f"var({colour})", "size": 11, "symbol": symbol},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": high - shown,
            "arrayminus": (shown - low.clip(lower=LEAST)).clip(lower=0),
            "color": f"var({colour})",
            "thickness": 3,
            "width": 0,
        },
        customdata=[
            say("thirty_answers.agreement.point", share=share, count=size, low=least, high=most)
            for share, least, most in zip(shares, low, high, strict=True)
        ],
        hovertemplate=HOVER,
    )


def _tick(share: float) -> str:
    return say("thirty_answers.agreement.tick", percent=100 * share)


def plain(text: str, length: int) -> str:
    """Untrusted text for a label: one short line, and nothing in it that Plotly takes for markup."""
    line = " ".join(text.split())
    return html.escape(line if len(line) <= length else line[: length - 1] + "…", quote=False)
