"""Pages and plots: escaped, whole, and the same for the same numbers."""

from __future__ import annotations

from xml.etree import ElementTree

from attriguard.report.origin import Origin
from attriguard.report.page import Figure, Page, Section, Table, render, write_page
from attriguard.report.plots import BarPlot, Line, LinePlot, draw, in_words, line_plot


def test_a_plot_is_xml_names_its_axes_and_repeats():
    lines = [Line("LR-A", [0, 1, 2], [40, 30, 10], [2, 2, 2]), Line("RF-A", [0, 1, 2], [45, 35, 15])]
    one = line_plot(lines, x_label="budget", y_label="users (%)", level=("guessing", 10))
    assert one == line_plot(lines, x_label="budget", y_label="users (%)", level=("guessing", 10))
    text = " ".join(ElementTree.fromstring(one).itertext())
    assert all(word in text for word in ("budget", "users (%)", "LR-A", "RF-A", "guessing"))


def test_drawings_repeat_and_name_their_axes():
    bars = BarPlot(["a", "b"], {"one": [1.0, 20.0], "two": [2.0, 3.0]}, "seconds", "search", log_y=True, values=True)
    lines = LinePlot(
        [Line("measured", [1, 2], [3, 4]), Line("the paper's", [1, 2], [3, 5], published=True)], "x", "y",
        names=["first", "second"], log_x=False, log_y=True,
    )  # fmt: skip
    for plot, words in ((bars, ("seconds", "search", "one", "two")), (lines, ("first", "second", "the paper's"))):
        one, two = draw(plot), draw(plot)
        assert one == two
        assert all(word in one.svg for word in words)


def test_a_plot_says_in_words_what_it_shows():
    nan = float("nan")
    lines = [Line("one", [0, 1, 2], [nan, 3.14159, 2.0]), Line("two", [1], [5]), Line("none", [1], [nan])]
    plot = LinePlot(lines, "place", "users\n(%)", ("guessing", 1.0), names=["a", "b", "c"])
    assert in_words(plot) == (
        "Line chart. users (%), over place. one: 3.14 at b, 2 at c; two: 5 at b; none: no figure; "
        "guessing: 1 everywhere."
    )
    bars = BarPlot(["<a>", "b"], {"one": [1.0, 20.0]}, "seconds")
    assert in_words(bars) == "Bar chart. seconds. one: <a> 1, b 20."
    (label,) = [ElementTree.fromstring(draw(bars).svg).get("aria-label")]
    assert label == in_words(bars)


def test_a_legend_hides_nothing_and_no_name_is_cut():
    names = [f"a name that is long enough to need a row of its own, number {k}" for k in range(3)]
    svgs = [draw(LinePlot([Line(name, [0, 1], [1, 2]) for name in names[:n]], "x", "y")).svg for n in (1, 3)]
    heights = [float(ElementTree.fromstring(svg).get("viewBox").split()[3]) for svg in svgs]
    assert heights[1] > heights[0] + 50
    assert all(ElementTree.fromstring(svg).get("viewBox").split()[2] == "374.4" for svg in svgs)


def test_text_from_data_is_escaped(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    evil = "<script>alert(1)</script>"
    page = Page(
        title=evil,
        lead=evil,
        sections=[Section(evil, [evil], [Table([evil], [[evil]], caption=evil), Figure("<svg></svg>", evil)], [evil])],
        facts=[(evil, evil)],
        words={evil: evil},
        origin=Origin(evil, evil, ((evil, evil),)),
    )
    html = render(page)
    assert "<script" not in html
    assert "<svg></svg>" in html
    write_page(page, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == html
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
