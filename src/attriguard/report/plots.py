"""Plots as SVG and PNG: readable in print and for the colour-blind, axes and units named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by marker and dash (or hatching) as well.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
# More of them than colours, so that a ninth line is not the first again.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "p", "<", ">", "h")
DASHES = ("-", "--", "-.", ":")
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
SOFT = "#5b6675"
# More names than this on an axis, or longer ones, are turned.
FEW_NAMES = 8
# More lines than this have their legend beside the plot.
FEW_LINES = 4
DOTS_PER_INCH = 150


@dataclass(frozen=True)
class Line:
    """One line of a plot, with an interval where it has one."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] = ()  # half the width of an interval round y
    published: bool = False  # the paper's points: hollow markers without a line, in the colour of the line before


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
    """Groups of bars side by side, a bar of each kind a group."""

    groups: Sequence[str]
    bars: Mapping[str, Sequence[float]]
    y_label: str
    x_label: str = ""
    log_y: bool = False
    caption: str = ""
    values: bool = field(default=False)  # write each bar's number above it


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

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "attriguard", "font.size": 11}):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        if isinstance(plot, LinePlot):
            _lines(axes, plot)
        else:
            _bars(axes, plot)
        axes.grid(alpha=0.3, axis="both" if isinstance(plot, LinePlot) else "y")
        axes.spines[["top", "right"]].set_visible(False)
        return Drawing(_svg(figure), _png(figure), plot.caption)


def _svg(figure: Figure) -> str:
    buffer = StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def _png(figure: Figure) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return buffer.getvalue()


def _lines(axes: Any, plot: LinePlot) -> None:
    k = -1
    for line in plot.lines:
        k += not line.published or k < 0
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        style: dict[str, Any] = {"linestyle": DASHES[k % len(DASHES)]}
        if line.published:
            style = {"linestyle": "none", "markerfacecolor": "none", "markersize": 10}
        axes.plot(line.x, line.y, label=line.name, color=colour, marker=marker, **style)
        if line.spread:
            low = [y - s for y, s in zip(line.y, line.spread, strict=True)]
            high = [y + s for y, s in zip(line.y, line.spread, strict=True)]
            axes.fill_between(line.x, low, high, color=colour, alpha=0.12, linewidth=0)
    if plot.level is not None:
        axes.axhline(plot.level[1], color=SOFT, linewidth=1, linestyle=(0, (1, 2)), label=plot.level[0])
    axes.set(xlabel=plot.x_label, ylabel=plot.y_label)
    if plot.log_x:
        axes.set_xscale("log")
    if plot.log_y:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if plot.names:
        _name_places(axes, plot.names)
    if len(plot.lines) > FEW_LINES:
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    elif len(plot.lines) + (plot.level is not None) > 1 or any(line.name for line in plot.lines):
        axes.legend(frameon=False)


def _bars(axes: Any, plot: BarPlot) -> None:
    width = 0.8 / len(plot.bars)
    for k, (name, heights) in enumerate(plot.bars.items()):
        places = [g - 0.4 + width * (k + 0.5) for g in range(len(plot.groups))]
        drawn = axes.bar(
            places, heights, width, label=name, color=COLOURS[k % len(COLOURS)], hatch=HATCHES[k % len(HATCHES)],
            edgecolor="white",
        )  # fmt: skip
        if plot.values:
            axes.bar_label(drawn, fmt="%.3g", fontsize=8)
    axes.set(xlabel=plot.x_label, ylabel=plot.y_label)
    if plot.log_y:
        axes.set_yscale("log")
    _name_places(axes, plot.groups)
    if len(plot.bars) > 1:  # above the bars, where nothing can be hidden
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(len(plot.bars), 4))


def _name_places(axes: Any, names: Sequence[str]) -> None:
    turned = len(names) > FEW_NAMES or any(len(line) > 14 for name in names for line in name.splitlines())
    axes.set_xticks(range(len(names)), names, rotation=60 if turned else 0, ha="right" if turned else "center")
    if turned:
        axes.tick_params(axis="x", labelsize=9)
