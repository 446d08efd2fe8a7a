"""A network inside the guard: fit, plan, save, load, and the command line."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.base import clone

import attriguard as ag
from attriguard.classifiers.network import DEFENDER_UNITS, NetworkClassifier
from attriguard.errors import GuardFileError


@pytest.fixture(scope="module")
def guard(small_twin):
    train, _ = small_twin.split()
    return ag.AttriGuard(NetworkClassifier(hidden=150, epochs=8, random_state=0)).fit(
        train.X, train.y, items=train.items, values=train.values
    )


def test_fit_trains_a_copy_and_leaves_what_it_was_given(small_twin, guard):
    assert not hasattr(guard.classifier, "weights_")
    assert guard.classifier_.weights.W1.shape == (small_twin.n_items, 150)
    assert clone(guard).classifier.get_params() == guard.classifier.get_params()
    assert guard.get_params()["classifier__hidden"] == 150


def test_the_guards_seed_is_for_networks_without_one(small_twin):
    train = small_twin.train

    def weights(seed, own=None):
        network = NetworkClassifier(hidden=20, epochs=1, random_state=own)
        return ag.AttriGuard(network, random_state=seed).fit(train.X, train.y).classifier_.weights.W1

    assert (weights(0) == weights(0)).all()
    assert (weights(0) != weights(1)).any()
    assert (weights(None) != weights(None)).any()
    assert (weights(0, own=5) == weights(1, own=5)).all()


@pytest.mark.parametrize("search", ["panda", "margin", "probability"])
@pytest.mark.parametrize("policy", ["modify_exist", "add_new", "modify_add"])
def test_plans_keep_their_promises(small_twin, guard, search, policy):
    X = small_twin.test.X[:25]
    plan = clone_fitted(guard).set_params(search=search, policy=policy).plan(X)
    assert plan.success.mean() > 0.95
    assert (plan.expected_cost <= 4.0 * (1 + 1e-9)).all()
    before = X.toarray()
    for i in range(small_twin.m):
        after, kept = plan.candidate(i).toarray(), ~plan.extended[:, i, None]
        inferred = guard.classifier_.decision_function(plan.candidate(i)).argmax(axis=1)
        assert (inferred[plan.success[:, i]] == i).all()
        if policy == "modify_exist":
            assert not ((after != before) & (before == 0) & kept).any()
        if policy == "add_new":
            assert not ((after != before) & (before != 0) & kept).any()


def clone_fitted(guard):
    from copy import deepcopy

    return deepcopy(guard)


def test_progress_and_confidence(small_twin, guard):
    X, seen = small_twin.test.X[:8], []
    plan = (
        clone_fitted(guard).set_params(confidence="auto", budget=6.0).plan(X, progress=lambda *step: seen.append(step))
    )
    assert {what for what, _ in seen} == {"Phase I"}
    assert (plan.expected_cost <= 6.0 * (1 + 1e-9)).all()
    assert plan.cost.mean() > guard.plan(X).cost.mean()


def test_a_guard_with_a_network_comes_back_as_it_was(small_twin, guard, tmp_path, monkeypatch):
    guard.save(tmp_path / "city.guard")
    monkeypatch.setitem(sys.modules, "torch", None)  # protecting needs no torch
    loaded = ag.load_guard(tmp_path / "city.guard")
    X = small_twin.test.X[:20]
    one, two = guard.plan(X), loaded.plan(X)
    assert one.edits.items.tolist() == two.edits.items.tolist()
    assert (one.probabilities == two.probabilities).all()
    assert loaded.classifier.get_params() == guard.classifier.get_params()
    assert [file.name for file in tmp_path.iterdir()] == ["city.guard"]


def test_damaged_weights_are_refused(guard, tmp_path):
    from attriguard.data.sealed import read_sealed, write_sealed
    from attriguard.storage import HEADER

    guard.save(tmp_path / "g")
    known = read_sealed(HEADER, tmp_path / "g")
    for name, change in (("W1", None), ("b2", np.zeros(9, np.float32)), ("W2", np.full((150, 4), np.nan, np.float32))):
        changed = known.tensors | {f"classifier.{name}": change}
        parts = {name: part for name, part in changed.items() if part is not None}
        write_sealed(HEADER, known.header, parts, tmp_path / "bad")  # with a digest that is right
        with pytest.raises(GuardFileError, match="do not fit together"):
            ag.load_guard(tmp_path / "bad")
    assert set(known.tensors) == {f"classifier.{name}" for name in ("W1", "b1", "W2", "b2")}


def test_nn_is_the_papers_network():
    from attriguard.classifiers.factory import network_of

    assert network_of("nn").hidden == DEFENDER_UNITS == 50_000
    assert network_of("lr") is None


@pytest.fixture
def shell(capsys):
    from attriguard.cli import app
    from attriguard.cli._shell import run

    def call(*arguments):
        code = run(app, [str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def tables(tmp_path, small_twin):
    rows = small_twin.X.tocoo()
    ratings = [f"u{u},{small_twin.items[j]},{round(v * 5)}" for u, j, v in zip(*rows.coords, rows.data, strict=True)]
    (tmp_path / "ratings.csv").write_text("\n".join(["user,item,rating", *ratings]))
    users = [f"u{u},{small_twin.values[code]}" for u, code in enumerate(small_twin.y)]
    (tmp_path / "users.csv").write_text("\n".join(["user,city", *users]))
    return tmp_path


def test_the_command_line(shell, tables, monkeypatch):
    fit = ["fit", tables / "ratings.csv", "--attributes", tables / "users.csv", "--attribute", "city", "--output"]
    network = ["--classifier", "nn", "--guard-units", "80", "--epochs", "3", "--seed", "1"]
    code, out, err = shell(*fit, tables / "a.guard", *network)
    assert (code, err) == (0, "")
    assert "4 values" in out
    assert not (tables / "a.guard.training").exists()
    code, _, _ = shell(*fit, tables / "b.guard", *network)
    assert (tables / "a.guard").read_bytes() == (tables / "b.guard").read_bytes()
    assert shell("protect", tables / "ratings.csv", "--guard", tables / "a.guard", "--output", tables / "r.csv")[0] == 0

    original = NetworkClassifier.fit

    def interrupted(self, X, codes, *, checkpoint, progress):
        def stop(what, share):
            if share > 0.5:  # in the second epoch of three
                raise KeyboardInterrupt

        return original(self, X, codes, checkpoint=checkpoint, progress=stop)

    monkeypatch.setattr(NetworkClassifier, "fit", interrupted)
    code, _, err = shell(*fit, tables / "c.guard", *network)
    assert code == 130
    assert "give the same command again" in err
    assert not (tables / "c.guard").exists()
    monkeypatch.undo()
    assert shell(*fit, tables / "c.guard", *network)[0] == 0
    assert (tables / "c.guard").read_bytes() == (tables / "a.guard").read_bytes()


def test_bad_options_on_the_command_line(shell, tables, monkeypatch):
    fit = ["fit", tables / "ratings.csv", "--attributes", tables / "users.csv", "--attribute", "city"]
    fit += ["--output", tables / "x.guard"]
    code, _, err = shell(*fit, "--guard-units", "10")
    assert (code, "--classifier nn" in err) == (2, True)
    code, _, err = shell(*fit, "--classifier", "nn", "--guard-units", "0")
    assert (code, "hidden must be a whole number" in err) == (2, True)
    code, _, err = shell(*fit, "--classifier", "svm")
    assert (code, "known: lr, lr-ova, nn" in err) == (2, True)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = shell(*fit, "--classifier", "nn", "--guard-units", "10")
    assert (code, err.count("\n"), "attriguard[nn]" in err) == (2, 1, True)
    assert not (tables / "x.guard").exists()
