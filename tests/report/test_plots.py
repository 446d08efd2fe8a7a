"""Plots can be read: lines that are told apart, and nothing cut off."""

from __future__ import annotations

from itertools import combinations

import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from attriguard.report import plots
from attriguard.report.plots import Line, LinePlot


def test_ten_lines_have_ten_colours_and_markers_that_can_be_told_apart():
    assert len(set(plots.COLOURS)) >= 10
    assert len(set(plots.MARKERS)) >= 10
    for one, other in combinations([*plots.COLOURS, plots.SOFT], 2):
        assert max(abs(a - b) for a, b in zip(to_rgb(one), to_rgb(other), strict=True)) > 0.2, (one, other)


@pytest.mark.parametrize(("lowest", "bottom"), [(2.0, 0.0), (-5.0, -5.0)])
def test_a_line_below_zero_is_shown(lowest, bottom):
    axes = Figure().subplots()
    plots._lines(axes, LinePlot([Line("loss", [1, 2], [lowest, 3.0])], "N", "loss (%)"))
    assert axes.get_ylim()[0] == bottom
