"""Every attack of the registry, from one table; and what the base class promises."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.errors import DataError, MissingExtraError, NotFittedError, ParameterError

NETWORK = {"hidden": 48, "epochs": 12, "random_state": 0}
# Options that make each attack small enough for a test.
ATTACKS = {
    "BA-A": {},
    "LR-A": {},
    "RF-A": {"n_trees": 20, "random_state": 0},
    "NN-A": NETWORK,
    "AT-A": NETWORK,
    "DD-A": NETWORK,
    "RC-A": NETWORK | {"n_points": 20},
    "LRA-A": NETWORK | {"rank": 40, "iterations": 30},
    "MLP-A": {"random_state": 0},
    "LNN-A": {"random_state": 0},
    "DS-A": {"random_state": 0},
    "GBM-A": {"random_state": 0, "rounds": 10},
    "NB-A": {"random_state": 0},
}
NEEDS_TORCH = [name for name in ATTACKS if "nn" in ag.attacks.class_of(name).needs]


@pytest.fixture(params=ATTACKS)
def attack(request, small_guard):
    if request.param in NEEDS_TORCH:
        pytest.importorskip("torch")
    needed = {"guard": small_guard} if "guard" in ag.attacks.class_of(request.param).needs else {}
    return ag.attacks.get(request.param, **(ATTACKS[request.param] | needed))


def test_it_learns_gives_probabilities_and_repeats(attack, small_twin):
    train, test = small_twin.split()
    proba = attack.fit(train.X, train.y).predict_proba(test.X)
    assert proba.shape == (test.n_users, small_twin.m)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    predicted = attack.predict(test.X)
    guess = np.bincount(test.y).max() / test.n_users
    assert (predicted == test.y).mean() >= (guess - 0.05 if attack.is_baseline else guess + 0.1)
    again = attack.untrained().fit(train.X, train.y).predict(test.X)
    np.testing.assert_array_equal(again, predicted)


def test_labels_keep_their_meaning(attack, small_twin):
    few = small_twin.take(np.arange(300))
    y = np.where(few.y == 0, -1, few.y)  # the first value is not disclosed by anybody
    attack.fit(few.X, y)
    assert attack.classes_.tolist() == [1, 2, 3]
    assert set(attack.predict(small_twin.test.X)) <= {1, 2, 3}


def test_mistakes_are_named(attack, small_twin):
    with pytest.raises(NotFittedError, match=attack.name):
        attack.predict(small_twin.X)
    with pytest.raises(DataError, match="at least two values"):
        attack.fit(small_twin.X, np.zeros(small_twin.n_users, dtype=int))
    few = small_twin.take(np.arange(200))
    attack.fit(few.X, few.y)
    with pytest.raises(DataError, match="7 features"):
        attack.predict(csr_array((2, 7)))


def test_every_registered_attack_is_in_these_tests(small_guard):
    assert ag.attacks.names() == list(ATTACKS)
    for name, attack in zip(ATTACKS, ag.attacks.lineup(ATTACKS, guard=small_guard, hidden=64), strict=True):
        assert attack.name == name
        assert attack.summary
        assert attack.plain_name
        assert set(attack.needs) <= {"guard", "nn"}
        if "hidden" not in attack.own_options:
            assert getattr(attack, "hidden", 64) == 64
    assert [name for name, cls in ag.attacks.ATTACKS.items() if cls.is_baseline] == ["BA-A"]


def test_a_lineup_leaves_the_small_network_its_own_size():
    paper, small = ag.attacks.lineup(["NN-A", "MLP-A"], hidden=64, epochs=2, random_state=5)
    assert (paper.hidden, paper.epochs, paper.random_state) == (64, 2, 5)
    assert (small.hidden, small.epochs, small.random_state) == (128, 8, 5)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ParameterError, match="unknown attack 'SVM-A'; known: BA-A, LR-A, RF-A, NN-A"):
        ag.attacks.get("SVM-A")
    with pytest.raises(ParameterError, match="unknown attack 'SVM-A'"):
        ag.attacks.lineup(["LR-A", "SVM-A"])


@pytest.mark.parametrize("name", NEEDS_TORCH)
def test_without_torch_the_extra_is_named(name, small_twin, small_guard, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    attack = ag.attacks.lineup([name], guard=small_guard, hidden=8)[0]
    with pytest.raises(MissingExtraError, match=r"attriguard\[nn\]"):
        attack.fit(small_twin.X, small_twin.y)


def test_the_small_network_needs_no_extra(small_twin, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    ag.attacks.get("MLP-A", random_state=0, epochs=1).fit(small_twin.X, small_twin.y)


def test_an_attack_that_needs_the_guard_says_so(small_guard, small_twin):
    with pytest.raises(ParameterError, match="AT-A adapts to the guard and needs it"):
        ag.attacks.get("AT-A").check_options()
    with pytest.raises(ParameterError, match="AT-A adapts to the guard and needs it"):
        ag.attacks.get("AT-A").fit(small_twin.X, small_twin.y)
    with pytest.raises(ParameterError, match="needs a fitted guard"):
        ag.attacks.get("AT-A", guard=ag.AttriGuard()).check_options()
    with pytest.raises(ParameterError, match="unknown adversarial training 'pgd'"):
        ag.attacks.get("AT-A", guard=small_guard, adversarial="pgd").check_options()
    ag.attacks.get("AT-A", adversarial="l0-pgd").check_options()


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [("DD-A", "temperature", 0), ("RC-A", "radius", -1), ("LRA-A", "rank", 1.5), ("MLP-A", "dropout", 2)],
)
def test_wrong_options_are_told_before_any_work(name, option, value):
    attack = ag.attacks.get(name, **{option: value})
    with pytest.raises(ParameterError, match=option):
        attack.check_options()


def test_what_people_extend_is_exported_and_nothing_else():
    shown = dir(ag.attacks)
    assert {"Attack", "Logistic", "SmallNetwork", "Retrained", "Detector", "get", "lineup"} <= set(shown)
    assert "importlib" not in shown
    for name in shown:
        assert getattr(ag.attacks, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        ag.attacks.Nobody  # noqa: B018


class Plugged(ag.attacks.Attack):
    """An attack from elsewhere."""

    name = "plugged"
    summary = "gives every value the same weight"

    def __init__(self, *, weight=1.0):
        self.weight = weight

    def _fit(self, X, codes):
        pass

    def _predict_proba(self, X):
        return np.full((X.shape[0], self.classes_.size), self.weight)


def test_an_attack_from_a_module_of_your_own(small_twin):
    place = f"{__name__}:Plugged"
    attack = ag.attacks.get(place, weight=2.0)
    assert attack.weight == 2.0
    assert attack.fit(small_twin.X, small_twin.y).predict(small_twin.X[:2]).tolist() == [0, 0]
    assert [each.name for each in ag.attacks.lineup(["LR-A", place], random_state=0)] == ["LR-A", "plugged"]
    with pytest.raises(ParameterError, match="must be a class derived from Attack"):
        ag.attacks.get("attriguard.defenses.blurme:BlurMe")


def test_an_attack_from_an_installed_package(tmp_path, monkeypatch):
    info = tmp_path / "plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[attriguard.attacks]\nplugged = {__name__}:Plugged\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert ag.attacks.names() == [*ATTACKS, "plugged"]
    assert isinstance(ag.attacks.get("plugged"), Plugged)


def test_long_training_shows_how_far_it_is(small_twin, small_guard):
    pytest.importorskip("torch")
    for name, options in {"DD-A": NETWORK, "LRA-A": NETWORK | {"rank": 5}, "RC-A": NETWORK, "MLP-A": {}}.items():
        shares = []
        attack = ag.attacks.get(name, **options)
        attack.fit(small_twin.X, small_twin.y, progress=lambda what, done, to=shares: to.append(done))
        assert shares == sorted(shares), name
        if name in ("DD-A", "LRA-A"):
            assert len(set(shares)) > 10
            assert shares[-1] == pytest.approx(1.0)
