"""Searches by name, as objects that can be compared, shown and sent elsewhere; and what the room exports."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from attriguard import noise
from attriguard.errors import ParameterError
from attriguard.noise import FGSM, JSMA, SEARCHES, CarliniWagner, Exact, Margin, NoiseSearch, Panda, Probability
from attriguard.noise.registry import get as get_search
from attriguard.noise.registry import search_options

EXAMPLES = [Probability(), Margin(), Panda(), Exact(5.0), FGSM(0.3), JSMA(pairs=True), CarliniWagner(steps=9, lead=0.1)]


def test_the_table_of_examples_has_them_all():
    assert [search.name for search in EXAMPLES] == list(SEARCHES) == noise.names()


@pytest.mark.parametrize("search", EXAMPLES, ids=repr)
def test_every_search_says_what_it_is_and_survives_a_journey(search):
    assert SEARCHES[search.name] is type(search)
    assert search.summary
    again = pickle.loads(pickle.dumps(search))  # noqa: S301
    assert again == search
    assert hash(again) == hash(search)
    assert get_search(search.name, **search_options(search)) == search
    assert eval(repr(search)) == search  # noqa: S307
    assert get_search(search) is search


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(JSMA(pairs=True)) == "JSMA(pairs=True)"
    assert repr(Margin()) == "Margin()"
    assert repr(Exact(5)) == "Exact(time_limit=5.0)"


def test_searches_differ_by_kind_and_options():
    assert JSMA() != JSMA(pairs=True)
    assert Panda() != Margin()
    assert Panda() != "panda"
    assert len({JSMA(), JSMA(pairs=False), JSMA(decrease=True)}) == 2


def test_unknown_names_and_options_are_refused():
    for name in ("greedy", None, 3):
        with pytest.raises(
            ParameterError, match=r"unknown search .*; known: probability, margin, panda, exact, fgsm, jsma, cw"
        ):
            get_search(name)
    with pytest.raises(ParameterError, match="fgsm has no option 'steps'; its options are epsilon"):
        noise.get("fgsm", steps=3)


class Lazy(NoiseSearch):
    name = "margin"
    summary = "no search of the package, though it says so"

    def _find(self, classifier, task, progress):
        raise AssertionError


def test_a_search_of_ones_own_comes_by_place_but_cannot_be_saved():
    assert type(get_search(f"{__name__}:Lazy")).__name__ == "Lazy"
    assert search_options("margin") == {}
    with pytest.raises(ParameterError, match="no search of this package"):
        search_options(Lazy())


def test_the_room_exports_what_people_extend_and_loads_it_late():
    assert set(noise.__all__) == set(dir(noise))
    assert all(getattr(noise, name) is not None for name in noise.__all__)
    with pytest.raises(AttributeError, match="Rules"):
        noise.Rules  # noqa: B018
    code = (
        "import sys, attriguard.noise as n; assert 'attriguard.noise.base' not in sys.modules;"
        "n.JSMA; sys.exit('torch' in sys.modules or 'numba' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
