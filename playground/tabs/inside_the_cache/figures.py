"""Curves of the cache: growth layer by layer, allocated against filled, and how often a row is read again."""

import pandas as pd
import plotly.graph_objects as go

from playground.style import layout

UNITS = ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"), (1, "B"))


def unit_of(num_bytes: float) -> tuple[int, str]:
    """The unit in which a number of bytes reads well: (1024, "KiB") for 20,480."""
    return next((size, name) for size, name in UNITS if num_bytes >= size or size == 1)


def growth_figure(growth: pd.DataFrame, ghosts: dict[str, list[int]]) -> go.Figure:
    """The layers' bytes on top of each other, step by step.

    growth: step, layer, filled_bytes. ghosts: name to total bytes per step under another choice, drawn as outlines.
    """
    per_layer = growth.pivot(index="step", columns="layer", values="filled_bytes")
    highest = max([per_layer.sum(axis=1).max(), *(max(sizes) for sizes in ghosts.values())])
    size, unit = unit_of(highest)
    mode = _mode(len(per_layer))
    figure = go.Figure()
    for layer in per_layer:
        figure.add_scatter(
            x=per_layer.index,
            y=per_layer[layer] / size,
            stackgroup="layers",
            name=f"layer {layer + 1}",
            mode=mode,
            line={"width": 2, "color": "var(--panel)"},
            fillcolor="var(--pale)",
            hovertemplate=f"%{{y:.1f}} {unit}",
        )
    figure.add_scatter(
        x=per_layer.index,
        y=per_layer.sum(axis=1) / size,
        name="all layers",
        mode=mode,
        line={"width": 3, "color": "var(--kept)"},
        hovertemplate=f"<b>%{{y:.1f}} {unit}</b>",
    )
    for name, sizes in ghosts.items():
        figure.add_scatter(
            x=per_layer.index,
            y=[one / size for one in sizes],
            name=name,
            mode=mode,
            line={"width": 2.5, "dash": "dash", "color": "var(--muted)"},
            hovertemplate=f"%{{y:.1f}} {unit}",
        )
        height = "top" if sizes == min(ghosts.values()) else "bottom"  # the lowest goes below its line
        _write(figure, name, per_layer.index[-1], sizes[-1] / size, "var(--ink)", height=height)
    total = per_layer.sum(axis=1).iloc[-1]
    _write(figure, f"<b>{total / size:.1f} {unit}</b>", per_layer.index[-1], total / size, "var(--kept)")
    return figure.update_layout(
        layout("step", unit, showlegend=False, hovermode="x unified", yaxis={"rangemode": "tozero"})
    )


def allocated_figure(dynamic: pd.DataFrame, static: pd.DataFrame, static_length: int) -> go.Figure:
    """Bytes that hold tokens against bytes taken from the machine. Frames: step, filled_bytes, allocated_bytes."""
    growing, fixed = (frame.groupby("step")[["filled_bytes", "allocated_bytes"]].sum() for frame in (dynamic, static))
    size, unit = unit_of(max(fixed.allocated_bytes.max(), growing.allocated_bytes.max()))
    lines = (
        ("filled", growing.filled_bytes, "var(--kept)", "solid", "linear"),
        ("growing buffer", growing.allocated_bytes, "var(--accent)", "solid", "hv"),
        (f"static buffer, {static_length:,} tokens", fixed.allocated_bytes, "var(--off)", "dash", "linear"),
    )
    mode = _mode(len(growing))
    figure = go.Figure()
    for name, sizes, colour, dash, shape in lines:
        figure.add_scatter(
            x=sizes.index,
            y=sizes / size,
            name=name,
            mode=mode,
            line={"width": 3, "color": colour, "dash": dash, "shape": shape},
            fill="tozeroy" if name == "filled" else None,
            hovertemplate=f"%{{y:.1f}} {unit}",
        )
    first = growing.index[0]
    middle = growing.index[len(growing) * 2 // 3]
    _write(figure, lines[0][0], middle, growing.filled_bytes[middle] / size / 2, "var(--ink)")
    _write(figure, lines[1][0], first, growing.allocated_bytes.iloc[0] / size, "var(--accent)", "left", "top")
    _write(figure, lines[2][0], first, fixed.allocated_bytes.iloc[0] / size, "var(--off)", "left")
    common = layout("step", unit, showlegend=False, hovermode="x unified", yaxis={"rangemode": "tozero"})
    return figure.update_layout(common)


def reads_figure(reads: pd.DataFrame, prompt_length: int) -> go.Figure:
    """In how many later passes each stored row is read. reads: position, query, key, value."""
    mode = _mode(len(reads))
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
            mode=mode,
            line={"width": width, "color": f"var(--{column})", "dash": dash, "shape": "hvh"},
            hovertemplate="%{y}",
        )
    figure.add_vrect(x0=-0.5, x1=prompt_length - 0.5, fillcolor="var(--grid)", opacity=0.5, line_width=0, layer="below")
    figure.add_annotation(
        x=(prompt_length - 1) / 2, y=0.5, yref="paper", text="prompt", showarrow=False, font={"color": "var(--muted)"}
    )
    last = reads.position.iloc[-1]
    _write(figure, "K and V: by every later step", last, reads.key.max(), "var(--ink)", "right", "top")
    again = reads["query"].max()
    _write(figure, f"Q: by up to {again}" if again else "Q: never again", 0, 0, "var(--query)", "left")
    common = layout(
        "position of the row",
        "later passes that read it",
        hovermode="x unified",
        xaxis={"range": [-0.5, last + 0.5]},
        yaxis={"rangemode": "tozero"},
    )
    return figure.update_layout(common)


def _mode(num_points: int) -> str:
    """A line of one point would be invisible."""
    return "lines" if num_points > 1 else "lines+markers"


def _write(
    figure: go.Figure, text: str, x: float, y: float, colour: str, side: str = "right", height: str = "bottom"
) -> None:
    """Words at a point: their left or right end there, their top or bottom."""
    figure.add_annotation(
        x=x, y=y, text=text, showarrow=False, xanchor=side, yanchor=height, font={"color": colour, "size": 16}
    )
