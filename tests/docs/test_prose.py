"""Lines of prose are at most 120 characters long, and examples import public names only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 120
# What stands deeper than attriguard.<module> is private to the package: a file there may be renamed at any time.
# A block of text shows what to write into the package.
FOR_THE_PACKAGE = re.compile(r"^ *```text\n.*?^ *```$", re.MULTILINE | re.DOTALL)
DEEP_IMPORT = re.compile(r"(?:from|import)\s+attriguard(?:\.\w+){2,}")
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
BUILT = ROOT / "docs" / "_build"
PAGES += sorted(
    page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md") if BUILT not in page.parents
)


def prose(text):
    """The lines of a page, numbered from 1, without tables and code blocks."""
    in_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith(("|", "    ")):
            yield number, line


@pytest.mark.parametrize("name", PAGES)
def test_lines_are_short_enough(name):
    long = [f"{name}:{k}: {len(line)}" for k, line in prose((ROOT / name).read_text()) if len(line) > LONGEST]
    assert not long, f"lines of more than {LONGEST} characters:\n" + "\n".join(long)


def test_tables_and_code_may_be_longer():
    wide = "x" * (LONGEST + 1)
    text = f"short\n| {wide} |\n```text\n{wide}\n```\n    {wide}\n{wide}\n"
    assert [(number, len(line)) for number, line in prose(text)] == [(1, 5), (7, LONGEST + 1)]


@pytest.mark.parametrize("name", PAGES)
def test_examples_import_public_names_only(name):
    assert not DEEP_IMPORT.findall(FOR_THE_PACKAGE.sub("", (ROOT / name).read_text()))


@pytest.mark.parametrize(
    ("line", "is_deep"),
    [
        ("from attriguard.noise.jsma import JSMA", True),
        ("import attriguard.noise.jsma", True),
        ("from attriguard.noise import JSMA", False),
        ("import attriguard as ag", False),
        ("see attriguard.noise.jsma", False),
    ],
)
def test_deep_imports_are_found(line, is_deep):
    assert bool(DEEP_IMPORT.findall(line)) == is_deep


def test_the_readme_fits_two_screens():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 110


def test_the_readmes_first_screen_says_how_to_start():
    first = "\n".join((ROOT / "README.md").read_text().splitlines()[:40])
    for said in ("make demo", "make test", "publish data", "do research", "protect yourself", "`conceal`"):
        assert said in first


def test_the_changelog_keeps_its_form():
    """Versions, newest first, and in each the kinds of changes, each once: keepachangelog.com."""
    heads = re.findall(r"^(##|###) (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heads[0] == ("##", "[Unreleased]")
    kinds = []
    for level, title in heads:
        if level == "##":
            assert re.fullmatch(r"\[Unreleased\]|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", title)
            kinds = []
        else:
            assert title in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
            assert title not in kinds
            kinds.append(title)
