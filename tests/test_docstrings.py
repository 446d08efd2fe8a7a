"""The examples in docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import attriguard.operations

MODULES = [f"attriguard.operations.{module.name}" for module in pkgutil.iter_modules(attriguard.operations.__path__)]


@pytest.mark.parametrize("name", ["attriguard.progress", "attriguard.data.tables.person", *MODULES])
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert not failed


def test_the_verbs_have_examples():
    finder = doctest.DocTestFinder()
    for name in ("learn", "protect", "bars"):
        module = importlib.import_module(f"attriguard.operations.{name}")
        assert any(test.examples for test in finder.find(module))
