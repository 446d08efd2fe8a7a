"""Plots can be read: lines that are told apart, and nothing cut off."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from attriguard.report import plots
from attriguard.report.plots import BarPlot, Line, LinePlot, draw, in_words, without_published


def test_ten_lines_have_ten_colours_and_markers_that_can_be_told_apart():
    assert len(set(plots.COLOURS)) >= 10
    assert len(set(plots.MARKERS)) >= 10
    for one, other in combinations([*plots.COLOURS, plots.SOFT], 2):
        assert max(abs(a - b) for a, b in zip(to_rgb(one), to_rgb(other), strict=True)) > 0.2, (one, other)


# How colours look to eyes that lack one kind of cones, on linear red, green and blue (Machado and others, 2009).
SEEN = {
    "all cones": np.eye(3),
    "no red": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "no green": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "no blue": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour, eyes):
    """Lightness and two opponent colours (CIELAB), in which equal distances look about equal."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(SEEN[eyes]) @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", SEEN)
def test_the_colour_blind_tell_the_colours_apart(eyes):
    for one, other in combinations(plots.COLOURS, 2):
        assert np.linalg.norm(lab(one, eyes) - lab(other, eyes)) > 15, (one, other)


def test_in_grey_ten_lines_differ_in_marker_and_in_dash_or_lightness():
    grey = [lab(colour, "all cones")[0] for colour in plots.COLOURS]
    for one, other in combinations(range(10), 2):
        assert plots.MARKERS[one] != plots.MARKERS[other]
        same_dash = one % len(plots.DASHES) == other % len(plots.DASHES)
        assert not same_dash or abs(grey[one] - grey[other]) > 10, (one, other)


def test_others_points_look_like_no_line_and_can_be_left_out():
    assert plots.PUBLISHED["marker"] not in plots.MARKERS
    lines = LinePlot([Line("ours", [0, 1], [3, 2]), Line("theirs", [1], [1.5], published=True)], "N", "loss")
    bars = BarPlot(["a", "b"], {"ours": [1, 2]}, "loss", published={"ours": [None, 3]}, published_name="theirs")
    for plot in (lines, bars):
        assert "theirs" in draw(plot).svg
        assert "theirs" in in_words(plot)
        assert "theirs" not in draw(without_published(plot)).svg
    assert "theirs, ours: b 3" in in_words(bars)


def test_bars_have_intervals():
    plain = BarPlot(["a", "b"], {"ours": [1, 2]}, "loss")
    assert draw(plain).svg != draw(BarPlot(["a", "b"], {"ours": [1, 2]}, "loss", spread={"ours": [0.5, 1]})).svg


@pytest.mark.parametrize(("lowest", "bottom"), [(2.0, 0.0), (-5.0, -5.0)])
def test_a_line_below_zero_is_shown(lowest, bottom):
    axes = Figure().subplots()
    plots._lines(axes, LinePlot([Line("loss", [1, 2], [lowest, 3.0])], "N", "loss (%)"))
    assert axes.get_ylim()[0] == bottom
