"""Every example in README.md and docs/ runs: Python blocks in one namespace a page, console blocks in a shell."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from attriguard.cli import app
from attriguard.cli._shell import run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": f"examples_of_{page.stem}"}
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(text, str(page), "exec"), namespace)
        else:
            for line in text.replace("\\\n", " ").splitlines():
                if line.startswith("$ attriguard "):
                    assert run(app, shlex.split(line, comments=True)[2:]) == 0, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target
