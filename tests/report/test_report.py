"""Pages and plots: escaped, whole, and the same for the same numbers."""

from __future__ import annotations

from xml.etree import ElementTree

from attriguard.report.page import Figure, Page, Section, Table, render, write_page
from attriguard.report.plots import BarPlot, Line, LinePlot, draw, line_plot


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


def test_text_from_data_is_escaped(tmp_path):
    evil = "<script>alert(1)</script>"
    page = Page(
        title=evil,
        lead=evil,
        sections=[Section(evil, [evil], [Table([evil], [[evil]], caption=evil), Figure("<svg></svg>", evil)], [evil])],
        facts=[(evil, evil)],
    )
    html = render(page)
    assert "<script" not in html
    assert "<svg></svg>" in html
    write_page(page, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == html
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
