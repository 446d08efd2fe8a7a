"""Plots as SVG and PNG: readable in print and for the colour-blind, axes and units named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from io import BytesIO, StringIO
from math import isfinite
from textwrap import fill
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours and three more, which the colour-blind can tell from these and from each other. In grey some
# are alike: those differ in their dash, and any two in their marker (or hatching).
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#9431f9", "#673317", "#130894",
)  # fmt: skip
# More of them than colours, so that an eleventh line is not the first again.
MARKERS = ("o", "s", "^", "v", "P", "X", "*", "<", ">", "d", "p", "h")
DASHES = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)))
# Others' points look the same in every plot, and like no line of ours.
PUBLISHED: Mapping[str, Any] = {
    "linestyle": "none",
    "marker": "D",
    "color": "#000000",
    "markerfacecolor": "none",
    "markersize": 9,
}
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
ON_BARS: Mapping[str, Any] = {**PUBLISHED, "markerfacecolor": "#ffffff"}
SOFT = "#5b6675"
# More names than this on an axis, or longer ones, are turned.
FEW_NAMES, SHORT_NAME = 6, 9
# One size for a phone and for a desk, in inches: as wide as a phone, its words are still as large as small print.
WIDTH, HEIGHT, MARGIN = 5.2, 3.5, 0.08
WORDS = 11
# Letters that fit beside the axes, and beside a line of the legend.
ACROSS, UPWARDS, IN_LEGEND = 50, 33, 48
DOTS_PER_INCH = 150


@dataclass(frozen=True)
class Line:
    """One line of a plot, with an interval where it has one."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] = ()  # half the width of an interval round y
    published: bool = False  # others' points: hollow markers without a line


@dataclass(frozen=True)
class LinePlot:
    """Lines over a common axis; ``level`` is a named horizontal line to compare with, ``names`` those of x = 0, 1, …"""

    lines: Sequence[Line]
    x_label: str
    y_label: str
    level: tuple[str, float] | None = None
    names: Sequence[str] = ()
    log_x: bool = False
    log_y: bool = False
    caption: str = ""


@dataclass(frozen=True)
class BarPlot:
    """Groups of bars side by side, a bar of each kind a group; ``published`` are others' points on bars of a kind."""

    groups: Sequence[str]
    bars: Mapping[str, Sequence[float]]
    y_label: str
    x_label: str = ""
    log_y: bool = False
    caption: str = ""
    values: bool = field(default=False)  # write each bar's number above it
    spread: Mapping[str, Sequence[float]] = field(default_factory=dict)  # half the width of intervals, by kind
    published: Mapping[str, Sequence[float | None]] = field(default_factory=dict)
    published_name: str = "the paper's"


@dataclass(frozen=True)
class Drawing:
    """A plot as it is written to files."""

    svg: str
    png: bytes
    caption: str = ""


def line_plot(lines: Sequence[Line], *, x_label: str, y_label: str, level: tuple[str, float] | None = None) -> str:
    """Lines over a common axis, y from 0, as SVG."""
    return draw(LinePlot(lines, x_label, y_label, level)).svg


def draw(plot: LinePlot | BarPlot) -> Drawing:
    """The same numbers give the same files: no timestamp and no random ids."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with mpl.rc_context(
        {
            "svg.fonttype": "none",  # words stay words
            "svg.hashsalt": "attriguard",
            "font.size": WORDS,
            "axes.formatter.min_exponent": 5,  # 100 rather than 10²
        }
    ):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout=ConstrainedLayoutEngine(h_pad=MARGIN, w_pad=MARGIN))
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        if isinstance(plot, LinePlot):
            _lines(axes, plot)
        else:
            _bars(axes, plot)
        axes.set(xlabel=fill(plot.x_label, ACROSS), ylabel=fill(plot.y_label, UPWARDS))
        axes.grid(alpha=0.3, axis="both" if isinstance(plot, LinePlot) else "y")
        axes.spines[["top", "right"]].set_visible(False)
        _legend(figure, axes)
        return Drawing(_svg(figure, in_words(plot)), _png(figure), plot.caption)


def without_published(plot: LinePlot | BarPlot) -> LinePlot | BarPlot:
    """The plot without others' points."""
    if isinstance(plot, BarPlot):
        return replace(plot, published={})
    return replace(plot, lines=[line for line in plot.lines if not line.published])


def in_words(plot: LinePlot | BarPlot) -> str:
    """What a plot shows, for readers who cannot see it."""
    if isinstance(plot, BarPlot):
        bars = [
            f"{name}: " + ", ".join(f"{group} {height:.3g}" for group, height in zip(plot.groups, heights, strict=True))
            for name, heights in plot.bars.items()
        ]
        for name, points in plot.published.items():
            theirs = [f"{group} {y:.3g}" for group, y in zip(plot.groups, points, strict=True) if y is not None]
            bars.append(f"{plot.published_name}, {name}: {', '.join(theirs)}")
        return " ".join(f"Bar chart. {plot.y_label}. {'; '.join(bars)}.".split())

    places, lines = dict(enumerate(plot.names)), []
    for line in plot.lines:
        known = [(x, y) for x, y in zip(line.x, line.y, strict=True) if isfinite(y)]
        ends = [f"{y:.3g} at {places.get(int(x)) or format(x, '.3g')}" for x, y in known[:1] + known[1:][-1:]]
        lines.append(f"{line.name}: {', '.join(ends) or 'no figure'}")
    if plot.level is not None:
        lines.append(f"{plot.level[0]}: {plot.level[1]:.3g} everywhere")
    return " ".join(f"Line chart. {plot.y_label}, over {plot.x_label}. {'; '.join(lines)}.".split())


def _legend(figure: Figure, axes: Any) -> None:
    """Below the plot, where it hides nothing, in as many columns as fit; the figure grows by it."""
    handles, labels = axes.get_legend_handles_labels()
    if not any(labels) or (len(labels) == 1 and axes.containers):  # one kind of bars needs no name
        return
    names = [fill(label, IN_LEGEND) for label in labels]
    for columns in range(min(len(names), 4), 0, -1):
        legend = figure.legend(
            handles, names, loc="outside lower center", ncols=columns, frameon=False, columnspacing=1.2
        )
        extent = legend.get_window_extent()
        if extent.width <= figure.bbox.width or columns == 1:
            _grow(figure, extent.height)
            return
        legend.remove()


def _grow(figure: Figure, dots: float) -> None:
    """Room below the plot, so that the plot itself keeps its height."""
    figure.set_figheight(figure.get_figheight() + dots / figure.dpi)


def _svg(figure: Figure, words: str) -> str:
    """The drawing, which names itself in words; ids that nothing refers to are left out, since a page has many."""
    buffer = StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = re.sub(r'<g id="[^"]*"', "<g", buffer.getvalue())
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(words)}" ', 1)


def _png(figure: Figure) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return buffer.getvalue()


def _lines(axes: Any, plot: LinePlot) -> None:
    k = -1
    for line in plot.lines:
        if line.published:
            axes.plot(line.x, line.y, label=line.name, **PUBLISHED)
            continue
        k += 1
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        dash = DASHES[k % len(DASHES)]
        axes.plot(line.x, line.y, label=line.name, color=colour, marker=marker, linestyle=dash, markersize=5)
        if line.spread:
            low = [y - s for y, s in zip(line.y, line.spread, strict=True)]
            high = [y + s for y, s in zip(line.y, line.spread, strict=True)]
            axes.fill_between(line.x, low, high, color=colour, alpha=0.12, linewidth=0)
    if plot.level is not None:
        axes.axhline(plot.level[1], color=SOFT, linewidth=1, linestyle=(0, (1, 2)), label=plot.level[0])
    if plot.log_x:
        axes.set_xscale("log")
    if plot.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min([0, *(y for line in plot.lines for y in line.y)]))
    if plot.names:
        _name_places(axes, plot.names)


def _bars(axes: Any, plot: BarPlot) -> None:
    width = 0.8 / len(plot.bars)
    for k, (name, heights) in enumerate(plot.bars.items()):
        places = [g - 0.4 + width * (k + 0.5) for g in range(len(plot.groups))]
        drawn = axes.bar(
            places, heights, width, label=name, color=COLOURS[k % len(COLOURS)], hatch=HATCHES[k % len(HATCHES)],
            edgecolor="white", yerr=plot.spread.get(name), capsize=3, ecolor=SOFT,
        )  # fmt: skip
        if plot.values:
            axes.bar_label(drawn, fmt="%.3g")
        if name in plot.published:
            known = [(x, y) for x, y in zip(places, plot.published[name], strict=True) if y is not None]
            first = name == next(iter(plot.published))
            axes.plot(*zip(*known, strict=True), label=plot.published_name if first else None, **ON_BARS)
    if plot.log_y:
        axes.set_yscale("log")
    _name_places(axes, plot.groups)


def _name_places(axes: Any, names: Sequence[str]) -> None:
    turned = len(names) > FEW_NAMES or any(len(line) > SHORT_NAME for name in names for line in name.splitlines())
    axes.set_xticks(range(len(names)), names, rotation=60 if turned else 0, ha="right" if turned else "center")
    if turned:
        _grow(axes.figure, max(label.get_window_extent().height for label in axes.get_xticklabels()))
