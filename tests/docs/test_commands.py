"""Every command that pages, help and messages name is one: those that take seconds run, the others are parsed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from commands import Command, commands_of, commands_of_code, help_examples, parse

import attriguard as ag
from attriguard.cli import app
from attriguard.cli._shell import run

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "docs" / "_build"
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES += sorted(page for page in (ROOT / "docs").rglob("*.md") if BUILT not in page.parents)
# The attack that the first change of CONTRIBUTING.md makes.
TO_BE_MADE = "KNN-A"
# Minutes, the paper's data or the network: these examples are parsed. Those of audit and protect run with README.md.
NOT_RUN = ("demo", "evaluate", "reproduce", "bench", "datasets fetch", "audit", "protect")
# What others need: a key and a guard, and a ledger, which no example makes.
FIRST = ("attriguard key new", "attriguard fit")
LEDGER = "attriguard protect ratings.csv --guard city.guard --key @secret.key --ledger ledger --output told.csv"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_of_a_page_can_be_given(page):
    for command in commands_of(page.read_text(encoding="utf-8").replace(TO_BE_MADE, "LR-A")):
        try:
            parse(command)
        except Exception as error:
            pytest.fail(f"{command.text}\n{getattr(error, 'message', error)}")


def test_commands_of_help_and_messages_can_be_given():
    sources = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py"))]
    found = [*help_examples(), *(command for source in sources for command in commands_of_code(source))]
    assert len(found) > 30
    for command in found:
        parse(command)


@pytest.mark.parametrize(
    "wrong",
    [
        "attriguard protectt ratings.csv",
        "attriguard evaluate --datasett twin",
        "attriguard evaluate --dataset twins",
        "attriguard evaluate --attacks LR-A,NO-A",
        "attriguard reproduce figure-99",
        "attriguard fit ratings.csv --seed many --output city.guard",
        "attriguard fit ratings.csv",
        "attriguard ledger sho ledger/",
    ],
)
def test_what_is_no_command_is_found(wrong):
    (found,) = commands_of(f"```text\n{wrong}\n```\n")
    with pytest.raises(Exception, match=r"(?i)no such|unknown|missing|integer|^$"):
        parse(found)


def test_commands_are_found():
    page = "By `attriguard audit … --attribute\ncity`:\n\n```sh\n$ attriguard fit a \\\n    --like  # why\nls\n```\n"
    block, inline = commands_of(page)
    assert (block.words, block.part) == (["fit", "a", "--like"], False)
    assert (inline.words, inline.part) == (["audit", "--attribute", "city"], True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that examples of help name: tables with the user 4711 and a film, and what a person exports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTRIGUARD_CACHE", str(tmp_path / "cache"))
    twin = ag.load_dataset("twin", n_users=300, n_items=120, n_values=3, seed=2)
    film, user = "Heat (1995)", 4711
    ratings = twin.to_arrow().to_pandas().astype({"user": str, "item": str})
    users, items = ([str(each) for each in ids] for ids in (twin.users, twin.items))
    ratings = ratings.replace({"item": {items[0]: film}, "user": {users[0]: str(user)}})
    ratings.to_csv("ratings.csv", index=False)
    users[0], items[0] = str(user), film
    pd.DataFrame({"user": users, "city": [twin.values[code] for code in twin.y]}).to_csv("users.csv", index=False)
    pd.DataFrame({"item": items, "title": items}).to_csv("titles.csv", index=False)
    pd.DataFrame({"Title": items[:20], "Rating": 4}).to_csv("my-ratings.csv", index=False)


def test_examples_of_help_run(folder):
    texts = dict.fromkeys(example.text for example in help_examples())
    texts = [text for text in texts if not text.removeprefix("attriguard ").startswith(NOT_RUN)]
    first = [text for text in texts if text.startswith(FIRST)]
    for text in [*first, LEDGER, *(text for text in texts if text not in first)]:
        assert run(app, Command(text).words) == 0, text
