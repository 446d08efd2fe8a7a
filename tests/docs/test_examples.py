"""Every example in README.md and docs/ runs: Python blocks in one namespace a page, commands as a shell reads them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import attriguard as ag
from attriguard.cli import app
from attriguard.cli._shell import run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOK = sorted((DOCS / "notebook").glob("*.md"))
SITE = sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "notebook" and "_build" not in page.parts)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *SITE]
# {code-cell} is a cell of a tutorial, which may begin with lines of options.
BLOCK = re.compile(
    r"^```(python|console|sh|\{code-cell\})(?: ipython3)?\n((?::.*\n)*)(.*?)^```$", re.MULTILINE | re.DOTALL
)
INCLUDED = re.compile(r"^```\{include\}", re.MULTILINE)


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def folder(tmp_path, monkeypatch, spark_folder):
    """A working folder with the files that commands on the pages name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTRIGUARD_CACHE", str(tmp_path / "cache"))  # an example clears it
    monkeypatch.setenv("MPLBACKEND", "agg")
    twin = ag.load_dataset("twin", n_users=300, n_items=120, n_values=3, seed=2)
    ag.write_release(twin, twin.X, "ratings.csv")
    lines = ["user,city", *(f"{user},{twin.values[code]}" for user, code in zip(twin.users, twin.y, strict=True))]
    Path("users.csv").write_text("\n".join(lines) + "\n")
    names = list(zip(twin.items.tolist(), twin.item_names, strict=True))
    Path("titles.csv").write_text("\n".join(["item,title", *(f"{item},{name}" for item, name in names)]) + "\n")
    # Items are known by their ids where a guard has no titles.
    Path("my-ratings.csv").write_text("\n".join(["Title,Rating", *(f"{item},4" for item, _ in names[:20])]) + "\n")
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=name_of)
def test_examples_run(page, folder, monkeypatch):
    module = ModuleType(re.sub(r"\W", "_", f"examples_of_{name_of(page)}"))
    monkeypatch.setitem(sys.modules, module.__name__, module)  # so that "module:Class" finds the page's classes
    for block in BLOCK.finditer(page.read_text()):
        kind, text = block[1], block[3]
        if kind in ("python", "{code-cell}"):
            above = block.string.count("\n", 0, block.start(3))  # an error names the line of the page
            exec(compile("\n" * above + text, str(page), "exec"), module.__dict__)
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


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOK, ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"], ids=name_of)
def test_links_lead_somewhere(page):
    text = page.read_text()
    for target in re.findall(r"(?:\]\(|src=\")(?!https?://)([^)\"]+)", text):
        path, _, anchor = target.partition("#")
        linked = page.parent / path if path else page
        assert linked.exists(), target
        assert not anchor or INCLUDED.search(linked.read_text()) or anchor in anchors_of(linked), target
    for target in re.findall(r"^```\{include\} (.+)$|^:link: (.+)$", text, re.MULTILINE):
        assert any((page.parent / f"{name}{suffix}").is_file() for name in target if name for suffix in ("", ".md"))


def entries_of(page):
    """The pages that the tables of contents on a page name, with patterns resolved."""
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line and not line.startswith(":"):
                found = sorted(page.parent.glob(f"{line}.md"))
                assert found, f"{name_of(page)} names {line}, which is not there"
                yield from found


def test_the_site_leads_to_every_page():
    assert {*entries_of(DOCS / "index.md"), DOCS / "index.md"} == {*SITE, *NOTEBOOK}


def test_the_readme_leads_to_the_site_and_to_the_limits():
    linked = re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text())
    assert {"docs/index.md", "docs/limits.md", "CONTRIBUTING.md", "CHANGELOG.md"} <= set(linked)


def test_every_public_name_is_documented_with_an_example_that_runs():
    reference = "\n".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
    examples = "\n".join(text for page in SITE for _, _, text in BLOCK.findall(page.read_text()))
    for name in ag.__all__:
        assert re.search(rf"\bag\.{name}\b", examples), f"no example in docs/ uses ag.{name}"
        assert name == "__version__" or f":: attriguard.{name}\n" in reference, f"docs/api does not show ag.{name}"


def test_every_name_that_the_reference_shows_of_a_module_has_an_example_that_runs():
    shown = re.findall(r":: attriguard\.(\w+)\.(\w+)$", (DOCS / "api" / "modules.md").read_text(), re.MULTILINE)
    shown += [("errors", name) for name, kind in vars(ag.errors).items() if isinstance(kind, type)]
    assert len(shown) > 40
    examples = "\n".join(text for page in SITE for _, _, text in BLOCK.findall(page.read_text()))
    for module, name in shown:
        used = rf"\bag\.{module}\.{name}\b|^from attriguard\.{module}\S* import .*\b{name}\b"
        assert re.search(used, examples, re.MULTILINE), f"no example in docs/ uses ag.{module}.{name}"


def test_every_page_of_the_notebook_is_linked_from_its_index():
    index, *_ = [page for page in NOTEBOOK if page.name == "README.md"]
    for page in NOTEBOOK:
        assert page == index or f"({page.name})" in index.read_text()


def test_the_first_change_is_one_that_is_still_to_be_made(small_twin):
    """The attack of CONTRIBUTING.md's walk is not there yet, and works where it is pasted."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    source = re.search(r"^   ```text\n(.*?)^   ```$", page, re.MULTILINE | re.DOTALL).group(1)
    module = ModuleType("first_change")
    exec(compile(textwrap.dedent(source), "CONTRIBUTING.md", "exec"), module.__dict__)
    (made,) = (each for each in vars(module).values() if isinstance(each, type) and each is not module.Attack
               and issubclass(each, ag.attacks.Attack))  # fmt: skip
    assert made.name not in ag.attacks.names()
    assert f'"{made.name}": "attriguard.attacks.neighbours:{made.__name__}"' in page
    assert not (ROOT / "src/attriguard/attacks/neighbours.py").exists()
    train, test = small_twin.split()
    attack = made().fit(train.X, train.y)
    assert (attack.predict(test.X) == test.y).mean() > 1.3 * np.bincount(test.y).max() / test.n_users
