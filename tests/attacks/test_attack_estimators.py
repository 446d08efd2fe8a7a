"""Attacks are scikit-learn estimators: its own checks, copies that keep a fitted guard, and its model selection."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import check_estimator

import attriguard as ag
from attriguard.attacks import (
    Boosting,
    Detector,
    DetectThenAttack,
    Forest,
    Logistic,
    MechanismInversion,
    Retrained,
    SmallNetwork,
)
from attriguard.attacks.baseline import Baseline
from attriguard.errors import ParameterError

LIGHT = [
    Baseline(),
    Logistic(),
    Forest(n_trees=3, random_state=0),
    SmallNetwork(hidden=16, epochs=12, batch_size=16, learning_rate=0.05, random_state=0),
    Boosting(rounds=5, random_state=0),
]
UNDISCLOSED = "it takes -1 for a class; here -1 is a user who does not disclose the attribute"
BOUNDS = "its entries lie outside [0, 1]"
# What these look for is looked for in the second run, where their entries are squeezed into [0, 1].
OUT_OF_BOUNDS = {
    "check_classifier_data_not_an_array": BOUNDS,
    "check_classifiers_classes": BOUNDS,
    "check_classifiers_regression_target": BOUNDS,
    "check_classifiers_train": BOUNDS,
    "check_dict_unchanged": BOUNDS,
    "check_dont_overwrite_parameters": BOUNDS,
    "check_estimators_dtypes": BOUNDS,
    "check_estimators_fit_returns_self": BOUNDS,
    "check_estimators_overwrite_params": BOUNDS,
    "check_estimators_pickle": BOUNDS,
    "check_f_contiguous_array_estimator": BOUNDS,
    "check_fit2d_1feature": BOUNDS,
    "check_fit2d_1sample": BOUNDS,
    "check_fit2d_predict1d": BOUNDS,
    "check_fit_check_is_fitted": BOUNDS,
    "check_fit_idempotent": BOUNDS,
    "check_methods_sample_order_invariance": BOUNDS,
    "check_methods_subset_invariance": BOUNDS,
    "check_n_features_in": BOUNDS,
    "check_n_features_in_after_fitting": BOUNDS,
    "check_pipeline_consistency": BOUNDS,
    "check_readonly_memmap_input": BOUNDS,
}
WITHIN_BOUNDS = {"check_classifiers_classes": UNDISCLOSED}


def failures(estimator):
    """The checks of scikit-learn that fail, and how."""
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    assert len(results) > 40
    return {each["check_name"]: each["exception"] for each in results if each["status"] == "failed"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("attack", LIGHT, ids=lambda attack: attack.name)
def test_scikit_learns_checks(attack):
    found = failures(attack)
    assert found.keys() == OUT_OF_BOUNDS.keys(), found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("attack", LIGHT, ids=lambda attack: attack.name)
def test_scikit_learns_checks_within_bounds(attack, squeezed_entries):
    found = failures(attack)
    assert found.keys() == WITHIN_BOUNDS.keys(), found


@pytest.fixture
def few(small_twin):
    return small_twin.take(np.arange(300))


def aware(guard):
    """Everything that takes the fitted guard."""
    plain = Logistic(C=0.5)
    retrained = Retrained(plain, guard, draws=2, random_state=0)
    detector = Detector(guard, neighbours=5, random_state=0)
    return [
        retrained,
        MechanismInversion(plain, guard, most=2),
        ag.attacks.get("AT-A", guard=guard, hidden=8),
        detector,
        DetectThenAttack(plain, retrained, detector),
    ]


@pytest.mark.parametrize("place", range(5))
def test_a_copy_is_untrained_but_its_guard_is_not(place, small_guard):
    attack = aware(small_guard)[place]
    copy = clone(attack)
    assert repr(copy) == repr(attack)
    assert len(repr(attack)) < 400
    options, copied = attack.get_params(), copy.get_params()
    assert options.keys() == copied.keys()
    assert not any("guard__" in name for name in options)  # a search over options must not change the shared guard
    for name, value in options.items():
        if name.endswith("guard"):
            assert copied[name] is value is small_guard
        elif hasattr(value, "get_params"):
            assert copied[name] is not value
        else:
            assert copied[name] == value
    copy.check_options()  # the guard is there, and fitted


def test_a_wrapping_attack_has_the_options_and_the_name_of_its_base(small_guard):
    attack = Retrained(Logistic(), small_guard)
    attack.set_params(base__C=2.0, draws=1)
    assert (attack.base.C, attack.draws, attack.name) == (2.0, 1, "LR-A retrained")
    assert attack.set_params(base=Baseline()).name == "BA-A retrained"
    assert clone(attack).with_budget(2.0).get_params()["budget"] == 2.0
    with pytest.raises(ParameterError, match="guard__budget would change the guard for everyone"):
        attack.set_params(guard__budget=1.0)


def test_a_missing_guard_is_told_by_fit_and_before(few):
    attack = DetectThenAttack(Logistic(), Retrained(Logistic()), Detector())
    with pytest.raises(ParameterError, match="LR-A retrained adapts to the guard"):
        attack.check_options()
    with pytest.raises(ParameterError, match="LR-A retrained adapts to the guard"):
        attack.fit(few.X, few.y)


def test_model_selection_with_attacks(few, small_guard):
    scores = cross_val_score(Retrained(Logistic(), small_guard, draws=1, random_state=0), few.X, few.y, cv=3)
    assert scores.min() > 0.3
    search = GridSearchCV(Retrained(Logistic(), small_guard, draws=1, random_state=0), {"base__C": [1e-4, 1.0]}, cv=2)
    assert search.fit(few.X, few.y).best_params_ == {"base__C": 1.0}
    pipeline = make_pipeline(MaxAbsScaler(), Logistic()).fit(few.X, few.y)
    assert pipeline.score(few.X, few.y) > 0.6


def test_names_come_back_and_dense_data_is_taken(few, small_twin):
    names = np.array(small_twin.values)[few.y]
    attack = Logistic().fit(few.X.toarray(), names)
    predicted = attack.predict(few.X)
    assert set(predicted) <= set(names)
    assert attack.score(few.X, names) == (predicted == names).mean() > 0.6
    np.testing.assert_array_equal(attack.predict(few.X.toarray()), predicted)


def test_a_trained_attack_can_be_pickled_though_its_bar_cannot(few):
    shown = []
    attack = SmallNetwork(epochs=2, random_state=0)
    attack.fit(few.X, few.y, progress=lambda what, done: shown.append(what))
    assert shown
    again = pickle.loads(pickle.dumps(attack))  # noqa: S301
    np.testing.assert_array_equal(again.predict(few.X), attack.predict(few.X))
