"""Curves of the race: seconds per step and in sum, ratios over lengths, the wait for the first token, 16-bit gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log10
from statistics import median

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from playground import style
from playground.numbers import decimals
from playground.words import say

ON_LINE = {"color": "var(--kept)", "width": 3}
OFF_LINE = {"color": "var(--off)", "width": 3, "dash": "dash"}
LEAST_WIDTH = 330  # pixels of a table in which the numbers can be read
ABOUT_ONE = 1.2  # a measured ratio nearer to 1 is not told from it
DTYPE_COLOURS = {"float32": "var(--kept)", "float16": "var(--value)", "bfloat16": "var(--key)"}


def step_times_figure(on_seconds: Sequence[float], off_seconds: Sequence[float]) -> go.Figure:
    """What each token took, both sides on one axis."""
    figure = go.Figure(_both(on_seconds, off_seconds))
    return figure.update_layout(_axes("token", "each_token", **_titled("each_title")))


def cumulative_figure(
    on_seconds: Sequence[float], off_seconds: Sequence[float], pays_from: int | None = None
) -> go.Figure:
    """Both clocks after each token, and the token from which the cached side stays ahead."""
    on, off = list(accumulate(on_seconds)), list(accumulate(off_seconds))
    figure = go.Figure(_both(on, off))
    figure.update_layout(_axes("token", "since", **_titled("since_title")))
    if pays_from is not None:
        figure.add_vline(pays_from + 1, line={"color": "var(--ink)", "dash": "dot", "width": 2})
        figure.add_annotation(
            x=pays_from + 1,
            y=0.98,
            yref="paper",
            text=say("cache_on_off.figure.ahead", token=pays_from + 1),
            showarrow=False,
            xanchor="left" if pays_from < len(on) / 2 else "right",
            xshift=6 if pays_from < len(on) / 2 else -6,
            font={"color": "var(--ink)", "size": 18},
        )
    return figure


def sweep_figure(frame: pd.DataFrame, prompt_lengths: Sequence[int], answer_lengths: Sequence[int]) -> go.Figure:
    """Three tables in colour: how many times more tokens, multiply-adds and seconds the run without a cache takes.
    Of what is not known there is no table, or no cell."""
    names = [name for name in ("token_ratio", "multiply_add_ratio", "time_ratio") if frame[name].notna().any()]
    titles = {name: say(f"cache_on_off.figure.{name}") for name in names}
    figure = make_subplots(
        1, len(names), subplot_titles=list(titles.values()), shared_yaxes=True, horizontal_spacing=0.03
    )
    hover = say("cache_on_off.figure.cell", prompt="%{y}", answer="%{x}", ratio="%{text}") + "<extra></extra>"
    by_lengths = frame.set_index(["prompt_length", "num_new"])
    for column, name in enumerate(titles, start=1):
        known = by_lengths[name].dropna().to_dict()
        ratios = [[known.get((prompt, answer)) for answer in answer_lengths] for prompt in prompt_lengths]
        figure.add_heatmap(
            x=[str(length) for length in answer_lengths],
            y=[str(length) for length in prompt_lengths],
            z=[[None if ratio is None else log10(max(ratio, 1)) for ratio in row] for row in ratios],
            text=[["" if ratio is None else spelled_ratio(ratio, name) for ratio in row] for row in ratios],
            texttemplate="%{text}",
            hovertemplate=hover,
            colorscale=[[0, "var(--panel)"], [1, "var(--pale)"]],
            showscale=False,
            xgap=3,
            ygap=3,
            zmin=0,
            zmax=2.2,
            textfont={"size": 20},
            row=1,
            col=column,
        )
    figure.update_annotations(font={"size": 19})
    figure.update_layout(_layout("", say("cache_on_off.figure.prompt_tokens"), height=430, margin={"t": 44}))
    figure.update_layout(meta={"least_width": LEAST_WIDTH * len(names)})
    figure.update_xaxes(
        title_text=say("cache_on_off.figure.new_tokens"), type="category", showgrid=False, automargin=True
    )
    figure.update_yaxes(type="category", showgrid=False, automargin=True)
    return figure


def spelled_ratio(ratio: float, name: str) -> str:
    """Clocks are not so exact that a ratio near 1 is more than that."""
    if name == "time_ratio" and 1 / ABOUT_ONE < ratio < ABOUT_ONE:
        return say("cache_on_off.figure.about_one")
    return decimals(ratio, 1)


@dataclass(frozen=True)
class TimeLine:
    """Seconds of each step, on and off, for one prompt length."""

    prompt_length: int
    on_seconds: list[float]
    off_seconds: list[float]

    @property
    def words(self) -> str:
        """First and later tokens in numbers, with the cache and without."""
        on, off = self.on_seconds, self.off_seconds
        facts = {"prompt": self.prompt_length, "first_on": on[0], "first_off": off[0]}
        if len(on) < 2:
            return say("cache_on_off.figure.first", **facts)
        return say("cache_on_off.figure.first_and_later", later_on=median(on[1:]), later_off=median(off[1:]), **facts)


def first_token_figure(lines: Sequence[TimeLine]) -> go.Figure:
    """The prompt's pass, then the steps, end to end; each prompt on a scale of its own."""
    rows = max(1, len(lines))
    figure = make_subplots(rows, 1, subplot_titles=[line.words for line in lines], vertical_spacing=0.36 / rows)
    figure.update_annotations(x=0, xanchor="left", font={"size": 18})
    for row, line in enumerate(lines, start=1):
        figure.add_trace(_end_to_end("off", line.off_seconds, OFF_LINE["color"]), row=row, col=1)
        figure.add_trace(_end_to_end("on", line.on_seconds, ON_LINE["color"]), row=row, col=1)
    figure.update_layout(_layout("", "", barmode="overlay", bargap=0.25, height=136 * rows + 60, margin={"t": 36}))
    figure.update_xaxes(gridcolor="var(--grid)", zerolinecolor="var(--grid)", automargin=True)
    figure.update_yaxes(showgrid=False, automargin=True)
    figure.update_xaxes(title_text=say("cache_on_off.figure.end_to_end"), row=rows, col=1)
    return figure


@dataclass(frozen=True)
class GapLine:
    """One number format: how far on and off lie apart at each step, and by how much the best token leads."""

    dtype: str
    gaps: list[float]
    margins: list[float]
    first_difference: int | None


def gaps_figure(lines: Sequence[GapLine]) -> go.Figure:
    """Largest logit gap of each step, and the lead of the top token: one below twice the gap can be overturned. A log
    axis has no 0: where the logits are equal to the last bit there is no point."""
    figure = go.Figure()
    if lines:
        margins = lines[0].margins
        figure.add_scatter(
            x=list(range(1, len(margins) + 1)),
            y=[margin or None for margin in margins],
            name=say("cache_on_off.figure.lead", dtype=lines[0].dtype),
            mode="lines+markers",
            line={"color": "var(--muted)", "width": 1.5},
            marker={"size": 6, "symbol": "diamond"},
        )
    for line in lines:
        colour = DTYPE_COLOURS[line.dtype]
        figure.add_scatter(
            x=list(range(1, len(line.gaps) + 1)),
            y=[gap or None for gap in line.gaps],
            name=say("cache_on_off.figure.gap", dtype=line.dtype),
            mode="lines+markers",
            marker={"size": 5},
            line={"color": colour, "width": 3, "dash": "solid" if line.dtype == "float32" else "dash"},
        )
        step = line.first_difference
        if step is not None and step < len(line.gaps) and line.gaps[step]:
            figure.add_scatter(
                x=[step + 1],
                y=[line.gaps[step]],
                mode="markers+text",
                marker={"symbol": "x", "size": 14, "color": colour},
                text=[say("cache_on_off.figure.diverge", dtype=line.dtype)],
                textposition="top center",
                textfont={"color": colour},
                showlegend=False,
            )
    axis = {"type": "log", "exponentformat": "power", "dtick": 1}
    return figure.update_layout(_axes("token", "apart", yaxis=axis, height=420))


def _axes(x: str, y: str, **more) -> dict:
    return _layout(say(f"cache_on_off.figure.{x}"), say(f"cache_on_off.figure.{y}"), **more)


def _layout(*titles: str, **more) -> dict:
    return style.layout(*titles, font={"size": 18}, hoverlabel={"font": {"size": 18}}, **more)


def _both(on: Sequence[float], off: Sequence[float]) -> list[go.Scatter]:
    return [_times("on", on, ON_LINE), _times("off", off, OFF_LINE)]


def _titled(title: str) -> dict:
    return {
        "title": {
            "text": say(f"cache_on_off.figure.{title}"),
            "font": {"size": 22},
            "x": 0,
            "xref": "container",
            "y": 0.97,
        },
        "margin": {"t": 76},
        "yaxis": {"rangemode": "tozero"},
        "height": 340,
    }


def _end_to_end(side: str, seconds: Sequence[float], colour: str) -> go.Bar:
    """One bar a step, each where the last one ended; the first solid, the others hatched."""
    ends = list(accumulate(seconds))
    return go.Bar(
        x=[1000 * one for one in seconds],
        base=[1000 * (end - one) for end, one in zip(ends, seconds, strict=True)],
        y=[say(f"cache_on_off.figure.side.{side}")] * len(seconds),
        orientation="h",
        showlegend=False,
        customdata=[[step + 1, 1000 * one] for step, one in enumerate(seconds)],
        hovertemplate=_hover(side, "%{customdata[0]}", "%{customdata[1]:.2f}"),
        marker={
            "color": colour,
            "line": {"color": "var(--panel)", "width": 1.5},
            "pattern": {"shape": [""] + ["/"] * (len(seconds) - 1), "size": 5, "solidity": 0.25},
        },
    )


def _hover(side: str, token: str, milliseconds: str) -> str:
    name = say(f"cache_on_off.comparison.column.{side}")
    return f"{say('cache_on_off.figure.hover', token=token, milliseconds=milliseconds)}<extra>{name}</extra>"


def _times(side: str, seconds: Sequence[float], line: dict) -> go.Scatter:
    return go.Scatter(
        x=list(range(1, len(seconds) + 1)),
        y=[1000 * one for one in seconds],
        name=say(f"cache_on_off.comparison.column.{side}"),
        mode="lines" if len(seconds) > 1 else "markers",
        line=line,
        hovertemplate=_hover(side, "%{x}", "%{y:.2f}"),
    )
