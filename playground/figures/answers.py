"""Curves of the thirty answers: distinct against a setting, stated against observed."""

import html
from collections.abc import Sequence

import plotly.graph_objects as go

from playground.experiments.answers_curve import Curve
from playground.experiments.answers_frequency import Agreement
from playground.figures.style import layout

KNOBS = {"temperature": "temperature", "top_p": "top-p", "top_k": "top-k"}
LOOKS = (("--kept", "circle", "solid"), ("--value", "diamond", "dash"))  # first and second prompt
DRAWS = (("--muted", "triangle-up"), ("--value", "square"), ("--kept", "circle"))  # few, more, most draws
LEAST = 1e-4  # shares below this stand at the left edge of the logarithmic axis


def distinct_figure(curves: Sequence[Curve]) -> go.Figure:
    """For each prompt the mean over seeds, the band of about nine of ten seeds, and this seed's counts as markers."""
    figure = go.Figure()
    for curve, (colour, symbol, dash) in zip(curves, LOOKS, strict=False):
        places = axis_places(curve)
        name = plain(curve.prompt, 44)
        if curve.pool_size > curve.n:
            _add_band(figure, curve, places, name, colour, dash)
        figure.add_scatter(
            x=places,
            y=[point.num_distinct for point in curve.points],
            mode="markers",
            name=f"{name}: this seed",
            showlegend=curve.pool_size <= curve.n,
            marker={"color": f"var({colour})", "size": 12, "symbol": symbol},
            customdata=[[label] for label in value_labels(curve)],
            hovertemplate=f"{KNOBS[curve.knob]} %{{customdata[0]}}: %{{y}} of {curve.n}<extra>this seed</extra>",
        )
    first = curves[0]
    axis = {"zeroline": False}
    if first.knob == "top_k":
        axis |= {"tickvals": axis_places(first), "ticktext": value_labels(first)}
    return figure.update_layout(
        layout(
            KNOBS[first.knob],
            f"distinct answers of {first.n}",
            xaxis=axis,
            yaxis={"range": [0, first.n * 1.05], "zeroline": False},
            hovermode="closest",
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
            margin={"l": 64, "r": 16, "t": 44, "b": 56},
        )
    )


def _add_band(figure: go.Figure, curve: Curve, places: list[float], name: str, colour: str, dash: str) -> None:
    edge = {"mode": "lines", "line": {"width": 0}, "showlegend": False, "hoverinfo": "skip"}
    figure.add_scatter(x=places, y=[point.low for point in curve.points], **edge)
    figure.add_scatter(
        x=places,
        y=[point.high for point in curve.points],
        fill="tonexty",
        fillcolor=f"var({colour}_band)",
        **edge,
    )
    figure.add_scatter(
        x=places,
        y=[point.expected for point in curve.points],
        mode="lines",
        name=name,
        line={"color": f"var({colour})", "width": 3, "dash": dash},
        customdata=[
            [label, point.low, point.high] for label, point in zip(value_labels(curve), curve.points, strict=True)
        ],
        hovertemplate=(
            f"{KNOBS[curve.knob]} %{{customdata[0]}}: mean %{{y:.1f}}, "
            "about 9 of 10 seeds %{customdata[1]:.1f} to %{customdata[2]:.1f}<extra></extra>"
        ),
    )


def axis_places(curve: Curve) -> list[float]:
    """Where the values stand: at themselves. Top-k grows by leaps and ends with off: there one after another."""
    values = [point.value for point in curve.points]
    return list(range(len(values))) if curve.knob == "top_k" else values


def value_labels(curve: Curve) -> list[str]:
    return ["off" if curve.knob == "top_k" and not point.value else f"{point.value:g}" for point in curve.points]


def agreement_figure(agreement: Agreement) -> go.Figure:
    """For each answer the stated probability as a bar across, and each number of draws with its interval."""
    frame = agreement.frame
    rows = list(range(len(frame)))
    figure = go.Figure()
    looks = DRAWS[-len(agreement.draws) :]
    for offset, (draws, (colour, symbol)) in enumerate(zip(agreement.draws, looks, strict=True)):
        shares = frame[f"observed {draws}"]
        shown = shares.clip(lower=LEAST)
        figure.add_scatter(
            x=shown,
            y=[row + 0.24 * (offset - 1) for row in rows],
            mode="markers",
            name=f"{draws:,} draws",
            marker={"color": f"var({colour})", "size": 11, "symbol": symbol},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": frame[f"high {draws}"] - shown,
                "arrayminus": (shown - frame[f"low {draws}"].clip(lower=LEAST)).clip(lower=0),
                "color": f"var({colour})",
                "thickness": 3,
                "width": 0,
            },
            customdata=list(zip(shares, frame[f"low {draws}"], frame[f"high {draws}"], strict=True)),
            hovertemplate=(
                f"%{{customdata[0]:.2%}} in {draws:,} draws, "
                "95 % interval %{customdata[1]:.2%} to %{customdata[2]:.2%}<extra></extra>"
            ),
        )
    figure.add_scatter(
        x=frame["stated"].clip(lower=LEAST),
        y=rows,
        mode="markers",
        name="stated by the model",
        marker={"color": "var(--accent)", "symbol": "line-ns-open", "size": 34, "line": {"width": 4}},
        customdata=[[stated] for stated in frame["stated"]],
        hovertemplate="stated %{customdata[0]:.2%}<extra></extra>",
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
            legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
            margin={"l": 16, "r": 16, "t": 44, "b": 56},
            height=130 + 46 * len(rows),
        )
    )


def plain(text: str, length: int) -> str:
    """Untrusted text for a label: one short line, and nothing in it that Plotly takes for markup."""
    line = " ".join(text.split())
    return html.escape(line if len(line) <= length else line[: length - 1] + "…", quote=False)
