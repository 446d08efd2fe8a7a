"""The two pictures of the README, taken from the pages that `attriguard demo` writes.

attriguard demo --output demo.html && PYTHONPATH=tests/browser python docs/images/take.py demo.html
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from chromium import Chromium

import attriguard as ag

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1000, 940
# A user of the demo's data who keeps the city private, and has rated a fair number of apps.
FEWEST = 12


def export_of_one_user(folder: Path) -> Path:
    """The apps that one test user of the twin has rated, as a table of titles."""
    test = ag.load_dataset("twin").split()[1]
    counts = test.X.indptr[1:] - test.X.indptr[:-1]
    user = int((counts >= FEWEST).argmax())
    rated = test.X[[user]]
    lines = [f'"{test.item_names[item]}",{1 + 4 * x:.0f}' for item, x in zip(rated.indices, rated.data, strict=True)]
    path = folder / "my-ratings.csv"
    path.write_text("\n".join(["Title,Rating", *lines]), encoding="utf-8")
    return path


def take(audit: Path, person: Path) -> None:
    """One picture of each page."""
    with tempfile.TemporaryDirectory() as folder, Chromium() as browser:
        browser.open(audit)
        browser.screenshot(HERE / "audit-page.png", WIDTH, HEIGHT)
        browser.open(person)
        browser.look(WIDTH, HEIGHT)
        browser.set_files("#file", [export_of_one_user(Path(folder))])
        browser.wait("!document.getElementById('answers').hidden")
        browser.evaluate("document.getElementById('answers').scrollIntoView()")
        browser.screenshot(HERE / "person-page.png", WIDTH, HEIGHT)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    take(page, page.with_name(f"{page.stem}-person.html"))
