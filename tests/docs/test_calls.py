"""Blocks that need Spark, Dask, Ray or an installer do not run everywhere: what they call is there and takes that."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from pathlib import Path

import pytest

import attriguard as ag
import attriguard.spark

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(py|toml|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (page.relative_to(DOCS).as_posix(), kind, text)
    for page in sorted(DOCS.rglob("*.md"))
    if "_build" not in page.parts
    for kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))
]


def called(tree):
    """Our functions that a piece of code calls, each with its call."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            first, *rest = ast.unparse(call.func).split(".")
            if first in ("ag", "attriguard"):
                function = ag
                for name in rest:
                    function = getattr(function, name)
                yield function, call


def check_calls(text):
    for function, call in called(ast.parse(text)):
        named = {word.arg: None for word in call.keywords}
        inspect.signature(function).bind(*call.args, **named)


@pytest.mark.parametrize("text", [text for _, kind, text in BLOCKS if kind == "py"])
def test_what_is_called_is_there(text):
    assert list(called(ast.parse(text)))
    check_calls(text)


@pytest.mark.parametrize("wrong", ["ag.protects(table)", "ag.spark.protect(df)", "ag.spark.protect(df, guard, kee=1)"])
def test_a_call_that_cannot_be_is_found(wrong):
    with pytest.raises((AttributeError, TypeError)):
        check_calls(wrong)


def test_entry_points_are_those_that_are_looked_for():
    (text,) = (text for _, kind, text in BLOCKS if kind == "toml")
    assert set(tomllib.loads(text)["project"]["entry-points"]) == {
        ag.attacks.ATTACKS._group,
        ag.defenses.DEFENSES._group,
    }


def test_plain_text_holds_commands_only():
    """tests/docs/test_commands.py looks at these; whatever else is code says of which kind."""
    strange = [page for page, kind, text in BLOCKS if kind == "text" and not text.startswith("attriguard ")]
    assert not strange
