"""Every example in README.md and docs/ runs: Python blocks in one namespace a page, commands as a shell reads them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import attriguard as ag
from attriguard.cli import app
from attriguard.cli._shell import run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NOTEBOOK = sorted((ROOT / "docs" / "notebook").glob("*.md"))
BLOCK = re.compile(r"^```(python|console|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with the files that commands on the pages name."""
    monkeypatch.chdir(tmp_path)
    twin = ag.load_dataset("twin", n_users=300, n_items=120, n_values=3, seed=2)
    ag.write_release(twin, twin.X, "ratings.csv")
    lines = ["user,city", *(f"{user},{twin.values[code]}" for user, code in zip(twin.users, twin.y, strict=True))]
    Path("users.csv").write_text("\n".join(lines) + "\n")
    names = list(zip(twin.items.tolist(), twin.item_names, strict=True))
    Path("titles.csv").write_text("\n".join(["item,title", *(f"{item},{name}" for item, name in names)]) + "\n")
    # Items are known by their ids where a guard has no titles.
    Path("my-ratings.csv").write_text("\n".join(["Title,Rating", *(f"{item},4" for item, _ in names[:20])]) + "\n")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, folder, monkeypatch):
    module = ModuleType(f"examples_of_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # so that "module:Class" finds the page's classes
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(text, str(page), "exec"), module.__dict__)
            continue
        for line in text.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:1] == ["attriguard"]:  # the targets of make are what runs these tests
                assert run(app, words[1:]) == 0, line
            elif words[:1] == ["python3"]:
                subprocess.run(line.replace("python3", sys.executable, 1), shell=True, check=True)


def anchors_of(page):
    """The anchors that a page's headings have, made as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOK], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?://)([^)]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors_of(linked), target


def test_every_page_is_linked_from_the_readme():
    readme = (ROOT / "README.md").read_text()
    for page in PAGES[1:]:
        assert page.relative_to(ROOT).as_posix() in readme


def test_every_page_of_the_notebook_is_linked_from_its_index():
    index, *_ = [page for page in NOTEBOOK if page.name == "README.md"]
    for page in NOTEBOOK:
        assert page == index or f"({page.name})" in index.read_text()
