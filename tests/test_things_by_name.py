"""Things by name: the table, plug-ins by "module:Class", and plug-ins from installed packages."""

from __future__ import annotations

import sys
import types

import pytest

from attriguard._registry import Registry
from attriguard.errors import ParameterError


class Base:
    pass


class Plain(Base):
    def __init__(self, *, size=1, seed=None):
        self.size, self.seed = size, seed


class Own(Plain):
    own_options = ("size",)


class Bare(Base):
    pass


class Stranger:
    pass


@pytest.fixture
def registry():
    return Registry(
        "thing",
        f"{__name__}:Base",
        {"plain": f"{__name__}:Plain", "own": f"{__name__}:Own", "bare": f"{__name__}:Bare"},
        group="attriguard.tests",
    )


def test_by_name_in_the_order_of_the_table(registry):
    assert list(registry) == ["plain", "own", "bare"]
    assert registry["plain"] is Plain
    assert registry.make("plain", size=3).size == 3


def test_unknown_names_and_options_say_what_is_known(registry):
    with pytest.raises(ParameterError, match=r"unknown thing 'plane'; known: plain, own, bare"):
        registry["plane"]
    with pytest.raises(ParameterError, match=r"plain has no option 'shape'; its options are size, seed"):
        registry.make("plain", shape=1)
    with pytest.raises(ParameterError, match="it has no options"):
        registry.make("bare", size=1)


def test_a_lineup_gives_each_what_it_knows_and_leaves_it_its_own(registry):
    plain, own, bare = registry.lineup(["plain", " own", "bare"], size=7, seed=3, other=None)
    assert (plain.size, plain.seed) == (7, 3)
    assert (own.size, own.seed) == (1, 3)
    assert isinstance(bare, Bare)


def test_module_and_class(registry):
    assert registry[f"{__name__}:Plain"] is Plain
    with pytest.raises(ParameterError, match="must be a class derived from Base"):
        registry[f"{__name__}:Stranger"]
    with pytest.raises(ParameterError, match="cannot be loaded"):
        registry["no_such_module:Thing"]
    with pytest.raises(ParameterError, match="cannot be loaded"):
        registry[f"{__name__}:Nobody"]


def test_installed_packages_add_their_own(registry, tmp_path, monkeypatch):
    info = tmp_path / "plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[attriguard.tests]\nplugged = plugged_module:Plugged\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = types.ModuleType("plugged_module")
    module.Plugged = type("Plugged", (Base,), {})
    monkeypatch.setitem(sys.modules, "plugged_module", module)
    assert list(registry) == ["plain", "own", "bare", "plugged"]
    assert registry["plugged"] is module.Plugged
    assert "plugged" in registry
