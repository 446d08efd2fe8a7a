"""What the site writes from the package itself: every command and option, every name, every word."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import typer

import attriguard as ag
from attriguard.cli import app
from attriguard.report.glossary import WORDS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", autouse=True)
def extension():
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    yield
    sys.path.pop(0)


@pytest.fixture
def written():
    import written

    return written


def every(command, path="attriguard"):
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from every(each, f"{path} {name}")


def test_every_command_and_option_is_in_the_reference(written):
    text = "\n".join(written.commands())
    sections = dict(re.findall(r"^## (attriguard.*?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    commands = dict(every(typer.main.get_command(app)))
    assert set(sections) == set(commands) - {"attriguard"}
    for path, section in sections.items():
        assert f"Usage: {path}" in section
        for option in commands[path].params:
            name = option.opts[0] if option.opts[0].startswith("-") else option.metavar or option.name
            shown = re.search(rf"^\| `.*{re.escape(name)}", section, re.MULTILINE | re.IGNORECASE)
            assert option.hidden or shown, f"{path}: {name}"


def test_a_sign_that_means_something_in_markdown_stays_itself(written):
    rows = [line for line in "\n".join(written.commands()).splitlines() if line.startswith("| `")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows), "a cell was cut in two"
    assert not any(re.search(r"(?<!\\)\[default", row) for row in rows)


REGISTRIES = ["attacks.ATTACKS", "attacks.KEEPING", "defenses.DEFENSES", "goals.GOALS", "noise.SEARCHES",
              "noise.COSTS", "utility.RECOMMENDERS"]  # fmt: skip


@pytest.mark.parametrize("registry", REGISTRIES)
def test_a_registry_is_a_table_and_its_public_classes_are_shown(written, registry):
    module, _, table = registry.partition(".")
    room, text = getattr(ag, module), "\n".join(written.named_things(registry))
    assert re.findall(r"^\| `(.+?)` \|", text, re.MULTILINE) == list(getattr(room, table))
    named = re.findall(rf"\| `attriguard\.{module}\.(\w+)` \|$", text, re.MULTILINE)
    assert [*dict.fromkeys(named)] == re.findall(rf"^\.\. autoclass:: attriguard\.{module}\.(\w+)$", text, re.MULTILINE)
    assert {each.__name__ for each in getattr(room, table).values() if each.__name__ in room.__all__} == set(named)


def test_every_word_is_in_the_glossary(written):
    text = "\n".join(written.words())
    assert all(f"{', '.join(spellings)}\n: " in text for spellings, _ in WORDS)


def test_dead_links_of_a_site_are_found(tmp_path):
    import links

    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "page.html").write_text('<h1 id="top"><a href="../index.html">up</a>')
    (tmp_path / "index.html").write_text(
        '<a href="sub/page.html#top">a</a> <a href="https://example.org/x">b</a> <img src="data:image/png;base64,x">'
        '<a href="sub/page.html#gone">c</a> <a href="nowhere.html?x=1">d</a> <a href="#">e</a>'
    )
    assert list(links.dead(tmp_path)) == ["index.html: sub/page.html#gone", "index.html: nowhere.html"]
