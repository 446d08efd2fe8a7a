"""The public names: each is there, type checkers know it, and none is loaded before it is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import attriguard as ag


@pytest.mark.parametrize("name", ag.__all__)
def test_every_public_name_is_there(name):
    assert getattr(ag, name) is not None
    assert name in dir(ag)


def test_type_checkers_know_every_public_name():
    tree = ast.parse(Path(ag.__file__).read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    known = [alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert sorted([*known, "__version__"]) == sorted(ag.__all__)


@pytest.mark.parametrize("module", [ag.evaluation, ag.experiments], ids=lambda module: module.__name__)
def test_a_module_shows_what_it_exports_and_nothing_else(module):
    assert dir(module) == sorted(module.__all__)
    assert all(getattr(module, name) is not None for name in module.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        module.Nobody  # noqa: B018


def test_nothing_is_loaded_before_it_is_asked_for():
    code = (
        "import sys, attriguard as ag; ag.evaluation; ag.experiments;"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'attriguard.evaluation.engine')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("registry", ["attacks.ATTACKS", "defenses.DEFENSES", "noise.SEARCHES", "noise.COSTS",
                                      "goals.GOALS", "utility.RECOMMENDERS"])  # fmt: skip
def test_whatever_has_a_name_says_what_it_is_and_needs(registry):
    module, _, table = registry.partition(".")
    for name, cls in getattr(getattr(ag, module), table).items():
        assert cls.name == name
        assert 3 < len(cls.plain_name) < 40
        assert len(cls.summary) > 10
        assert isinstance(cls.needs, tuple)
