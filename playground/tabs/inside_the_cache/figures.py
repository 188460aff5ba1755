"""Curves of the cache: growth layer by layer, allocated against used, and how often a row is read again."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from playground.numbers import bytes_, unit_of
from playground.style import layout
from playground.words import say

TEXT_PIXELS = 18


def growth_figure(growth: pd.DataFrame, ghosts: dict[str, list[int]]) -> go.Figure:
    """The layers' bytes on top of each other, step by step.

    growth: step, layer, filled_bytes. ghosts: name to total bytes per step under another choice, drawn as outlines.
    """
    per_layer = growth.pivot(index="step", columns="layer", values="filled_bytes")
    total, steps = per_layer.sum(axis=1), per_layer.index
    size, unit = unit_of(max([total.max(), *(max(sizes) for sizes in ghosts.values())]))
    figure = go.Figure()
    for layer in per_layer:
        figure.add_scatter(
            **_bytes_line(steps, per_layer[layer], size),
            stackgroup="layers",
            name=say("inside_the_cache.curve.layer", number=layer + 1),
            line={"width": 2, "color": "var(--panel)"},
            fillcolor="var(--pale)",
        )
    figure.add_scatter(
        **_bytes_line(steps, total, size),
        name=say("inside_the_cache.curve.all_layers"),
        line={"width": 3, "color": "var(--kept)"},
    )
    for name, sizes in ghosts.items():
        figure.add_scatter(
            **_bytes_line(steps, sizes, size),
            name=name,
            line={"width": 2.5, "dash": "dash", "color": "var(--muted)"},
        )
        height = "top" if sizes == min(ghosts.values()) else "bottom"  # the lowest goes below its line
        _write(figure, name, steps[-1], sizes[-1] / size, "var(--ink)", height=height)
    _write(figure, f"<b>{bytes_(total.iloc[-1])}</b>", steps[-1], total.iloc[-1] / size, "var(--kept)")
    return figure.update_layout(_bytes_layout(unit))


def allocated_figure(dynamic: pd.DataFrame, static: pd.DataFrame, static_length: int) -> go.Figure:
    """Bytes that hold tokens against bytes taken from the machine. Frames: step, filled_bytes, allocated_bytes."""
    growing, fixed = (frame.groupby("step")[["filled_bytes", "allocated_bytes"]].sum() for frame in (dynamic, static))
    filled, allocated, static_bytes = growing.filled_bytes, growing.allocated_bytes, fixed.allocated_bytes
    size, unit = unit_of(max(static_bytes.max(), allocated.max()))
    static_name = say("inside_the_cache.curve.static", tokens=static_length)
    lines = (
        (say("inside_the_cache.curve.filled"), filled, {"color": "var(--kept)"}),
        (say("inside_the_cache.curve.growing"), allocated, {"color": "var(--ink)", "shape": "hv"}),
        (static_name, static_bytes, {"color": "var(--muted)", "dash": "dash"}),
    )
    figure = go.Figure()
    for name, sizes, line in lines:
        figure.add_scatter(**_bytes_line(sizes.index, sizes, size), name=name, line={"width": 3, **line})
    figure.data[0].fill = "tozeroy"
    first, middle = growing.index[0], growing.index[len(growing) * 2 // 3]
    _write(figure, lines[0][0], middle, filled[middle] / size / 2, "var(--ink)")
    _write(figure, lines[1][0], first, allocated.iloc[0] / size, "var(--ink)", "left", "top")
    _write(figure, lines[2][0], first, static_bytes.iloc[0] / size, "var(--muted)", "left")
    return figure.update_layout(_bytes_layout(unit))


def reads_figure(reads: pd.DataFrame, prompt_length: int) -> go.Figure:
    """In how many later passes each stored row is read. reads: position, query, key, value."""
    figure = go.Figure()
    lines = (
        ("key", "K", 6, "solid"),
        ("value", "V", 2.5, "dash"),
        ("query", "Q", 4, "solid"),
    )  # K and V lie on each other
    for column, name, width, dash in lines:
        figure.add_scatter(
            x=reads.position,
            y=reads[column],
            name=name,
            mode=_mode(len(reads)),
            line={"width": width, "color": f"var(--{column})", "dash": dash, "shape": "hvh"},
            hovertemplate="%{y}",
        )
    figure.add_vrect(x0=-0.5, x1=prompt_length - 0.5, fillcolor="var(--grid)", opacity=0.5, line_width=0, layer="below")
    figure.add_annotation(
        x=-0.5,  # a short prompt's word would lie on the axis if it stood in the middle
        xanchor="left",
        y=0.5,
        yref="paper",
        text=say("inside_the_cache.reads.prompt"),
        showarrow=False,
        font={"color": "var(--muted)", "size": TEXT_PIXELS},
    )
    last = reads.position.iloc[-1]
    _write(figure, say("inside_the_cache.reads.keys"), last, reads.key.max(), "var(--ink)", "right", "top")
    queries = say("inside_the_cache.reads.queries", times=reads["query"].max())
    _write(figure, queries, 0, 0, "var(--query)", "left")
    common = layout(
        say("inside_the_cache.reads.position"),
        say("inside_the_cache.reads.passes"),
        hovermode="x unified",
        xaxis={"range": [-0.5, last + 0.5]},
        yaxis={"rangemode": "tozero"},
    )
    return figure.update_layout(common)


def _bytes_line(steps: Sequence[int], sizes: Sequence[int], unit_size: int) -> dict:
    return {
        "x": steps,
        "y": [num_bytes / unit_size for num_bytes in sizes],
        "mode": _mode(len(steps)),
        "customdata": [bytes_(num_bytes) for num_bytes in sizes],
        "hovertemplate": "%{customdata}",
    }


def _bytes_layout(unit: str) -> dict:
    step = say("inside_the_cache.curve.step")
    return layout(step, unit, showlegend=False, hovermode="x unified", yaxis={"rangemode": "tozero"})


def _mode(num_points: int) -> str:
    """A line of one point would be invisible."""
    return "lines" if num_points > 1 else "lines+markers"


def _write(
    figure: go.Figure, text: str, x: float, y: float, colour: str, side: str = "right", height: str = "bottom"
) -> None:
    """Words at a point: their left or right end there, their top or bottom."""
    figure.add_annotation(
        x=x, y=y, text=text, showarrow=False, xanchor=side, yanchor=height, font={"color": colour, "size": TEXT_PIXELS}
    )
