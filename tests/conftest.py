"""Shared fixtures: small data, made once."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import settings

# Compiled kernels make the first example slow, and machines are busy: no deadline, and the same examples each time.
settings.register_profile("attriguard", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("attriguard")

ROOT = Path(__file__).parents[1]


def pytest_runtest_setup(item):
    """Windows has no kills, forks and modes; what it does otherwise is simulated in data/test_other_systems.py."""
    if sys.platform == "win32" and item.get_closest_marker("posix"):
        pytest.skip("POSIX only")


def real_data_folder() -> Path | None:
    """Where the paper's data is, if it is here: $ATTRIGUARD_DATA, or shared/data beside the project."""
    for folder in (os.environ.get("ATTRIGUARD_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (Path(folder) / "google-play" / "train_user.txt").is_file():
            return Path(folder)
    return None


@pytest.fixture(scope="session")
def google_play():
    """The paper's data."""
    folder = real_data_folder()
    if folder is None:
        pytest.skip("the paper's data is not here: set ATTRIGUARD_DATA to a folder that holds google-play/")
    import attriguard as ag

    return ag.load_dataset("google-play", folder / "google-play")


@pytest.fixture(scope="session")
def small_twin():
    import attriguard as ag

    return ag.load_dataset("twin", n_users=900, n_items=300, n_values=4, seed=3)


@pytest.fixture(scope="session")
def small_guard(small_twin):
    import attriguard as ag

    train, _ = small_twin.split()
    return ag.AttriGuard().fit(train.X, train.y, items=train.items, values=train.values)


@pytest.fixture
def squeezed_entries(monkeypatch):
    """Estimators take entries x > 1 as x / (1 + x), so that scikit-learn's checks run on the data they come with."""
    import numpy as np
    from scipy.sparse import issparse

    from attriguard import _checks

    strict = _checks.check_matrix

    def squeeze(x):
        return x / (1.0 + np.maximum(x, 0))  # a negative entry stays one: it must be refused

    def check(X, **options):
        if issparse(X):
            X = X.tocsr(copy=True)
            X.data = squeeze(X.data)
        elif X.dtype.kind in "fiu":
            X = squeeze(X)
        return strict(X, **options)

    monkeypatch.setattr(_checks, "check_matrix", check)


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """One result of every operation, small."""
    import attriguard as ag

    data = ag.load_dataset("twin", n_users=400, n_items=80, n_values=3)
    work = tmp_path_factory.mktemp("work")
    common = {"attacks": ["BA-A", "LR-A"], "random_state": 0}
    return {
        "audit": ag.audit(data, budgets=[1, 3], retrained="LR-A", **common),
        "evaluate": ag.evaluate(
            data, budgets=[1, 3], work=work, knowing=ag.Knowing(["LR-A"], detector=True, draws=1), **common
        ),
        "goals": ag.evaluate(
            data, budgets=[2], goals=["mislead", "conceal"], attacks=["LR-A"], random_state=[0, 1], members=1, work=work
        ),
        "compare": ag.compare(
            data, defenses=["AttriGuard", "random-deletions"], strengths={"AttriGuard": [1, 2]}, draws=1, work=work,
            cost=ag.RecommenderTest("PureSVD", holdouts=1), **common,
        ),
        "protect": ag.protect(data.to_arrow(), ag.learn(data), key=b"a secret of sixteen bytes"),
    }  # fmt: skip


class Outline(HTMLParser):
    """What a page holds, in its order; fails on a tag that is not closed."""

    VOID = ("meta", "link", "br", "img")

    def __init__(self, page):
        super().__init__()
        self.open, self.parts, self.addresses, self.text, self.entries, self.footer = [], [], [], [], {}, {}
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.parts.append((tag, given))
        self.addresses += [value for name, value in attrs if name in ("src", "href", "xlink:href") and value]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.parts.append((tag, dict(attrs)))
        self.addresses += [value for name, value in attrs if name in ("src", "href", "xlink:href") and value]

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open or "head" in self.open or not data.strip():
            return
        self.text.append(data.strip())
        if self.open[-1] == "dt":
            self.term = data.strip()
        elif self.open[-1] == "dd":
            told = self.footer if "footer" in self.open else self.entries
            told.setdefault(self.term, []).append(data.strip())

    def named(self, tag):
        return [given for name, given in self.parts if name == tag]


@pytest.fixture(scope="session")
def outline():
    """What a page holds; fails where it is not whole, needs something from outside, or cannot be read aloud."""

    def check(page):
        found = Outline(page)
        assert page.startswith('<!doctype html>\n<html lang="en">')
        assert all(address.startswith(("#", "data:")) for address in found.addresses)
        assert not re.search(r"https?://(?!www\.w3\.org/(1999/xlink|2000/svg))|url\((?!#)|@import|<script", page)
        assert all(given.get("scope") in ("col", "row") for given in found.named("th"))
        assert all(given["role"] == "img" and len(given["aria-label"]) > 30 for given in found.named("svg"))
        for section in page.split("<section")[1:]:  # charts before tables
            assert section.find("<table") == -1 or section.rfind("<svg") < section.find("<table")
        assert {"made", "with"} <= set(found.footer)
        return found

    return check


@pytest.fixture(scope="session")
def java():
    """Skips where there is no Java that Spark can use; everything else of Spark's is among what tests need."""
    if sys.platform == "win32":
        pytest.skip("on Windows Spark needs programs of Hadoop's, which are not installed with it")
    found = shutil.which("java")
    said = found and subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', said or "")
    if version is None or int(version.group(1)) < 17:
        pytest.skip("Spark needs Java 17 or newer, and there is none; on Debian: apt-get install default-jre-headless")


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory):
    """Where Spark puts its files. If a test has started Spark in this process, its Java ends with the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        yield tmp_path_factory.mktemp("spark")
        context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
        if context is not None and context._gateway is not None:
            if context._active_spark_context is not None:
                context._active_spark_context.stop()
            from attriguard.engines.spark_session import end_java

            end_java(context)


@pytest.fixture
def spark(java, spark_folder):
    """A session as a notebook has it. All tests of a process share it; where one has stopped it, a new one begins."""
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "600m",
                "spark.local.dir": str(spark_folder), "spark.sql.warehouse.dir": str(spark_folder / "warehouse"),
                "spark.sql.shuffle.partitions": "4", "spark.log.level": "OFF",
                "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}  # fmt: skip
    return SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()


# The pages stand in frames, since a window cannot be as narrow as a phone. What is beyond its frame would be cut.
RULER = """<script>
onload = () => { document.title = JSON.stringify([...document.querySelectorAll("iframe")].map(frame => {
  const page = frame.contentDocument, box = element => element.getBoundingClientRect();
  const all = what => [...page.querySelectorAll(what)];
  const told = found => found.map(each => each.textContent.slice(0, 60));
  const words = all("svg text").filter(each => box(each).height > 0);
  return {
    name: frame.name,
    beyond: Math.max(0, page.documentElement.scrollWidth - frame.clientWidth),
    cut: told(all("p, li, h1, h2, figcaption, svg, dt, dd, .stacked td").filter(e => box(e).right > frame.clientWidth)),
    narrow: told(all("figcaption").filter(each => box(each).width < 200)),
    outside: told(words.filter(each => { const whole = box(each.ownerSVGElement), own = box(each); return (
      own.left < whole.left - 4 || own.right > whole.right + 4 || own.top < whole.top - 4); })),
    small: told(words.filter(each => parseFloat(getComputedStyle(each).fontSize)
      * box(each.ownerSVGElement).width / each.ownerSVGElement.viewBox.baseVal.width < 9))
  }; })); };</script>"""


@pytest.fixture(scope="session")
def browser():
    """A real browser, to open pages with."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium here to open pages with")
    return found


@pytest.fixture
def readable(browser, tmp_path):
    """Fails where a page is cut, moves sideways, or has too small letters, on a phone or on a desk."""

    def check(pages):
        frames = [
            f'<iframe name="{name} {width}" style="width: {width}px" srcdoc="{html.escape(page)}"></iframe>'
            for name, page in pages.items()
            for width in (390, 1200)
        ]
        (tmp_path / "frames.html").write_text(f"<!doctype html><title></title><body>{''.join(frames)}{RULER}</body>")
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", (tmp_path / "frames.html").as_uri(),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
        found = json.loads(html.unescape(re.search("<title>(.*?)</title>", done.stdout).group(1)))
        assert [each.pop("name") for each in found] == [f"{name} {width}" for name in pages for width in (390, 1200)]
        assert found == [{"beyond": 0, "cut": [], "narrow": [], "outside": [], "small": []}] * len(frames)

    return check
