"""Plots as SVG: readable in print and for the colour-blind, axes and units named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

# Okabe and Ito's colours, told apart by marker and dash as well.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")


@dataclass(frozen=True)
class Line:
    name: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] = ()  # half the width of an interval round y


def line_plot(lines: Sequence[Line], *, x_label: str, y_label: str, level: tuple[str, float] | None = None) -> str:
    """Lines over a common axis, y from 0; ``level`` is a named horizontal line to compare with."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    # No timestamp and no random ids: the same numbers give the same file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "attriguard", "font.size": 11}):
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for k, line in enumerate(lines):
            axes.plot(
                line.x,
                line.y,
                label=line.name,
                color=COLOURS[k % len(COLOURS)],
                marker=MARKERS[k % len(MARKERS)],
                linestyle=DASHES[k % len(DASHES)],
            )
            if line.spread:
                low = [y - s for y, s in zip(line.y, line.spread, strict=True)]
                high = [y + s for y, s in zip(line.y, line.spread, strict=True)]
                axes.fill_between(line.x, low, high, color=COLOURS[k % len(COLOURS)], alpha=0.12, linewidth=0)
        if level is not None:
            axes.axhline(level[1], color="#5b6675", linewidth=1, linestyle=(0, (1, 2)), label=level[0])
        axes.set(xlabel=x_label, ylabel=y_label)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        buffer = StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()
