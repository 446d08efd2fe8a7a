"""AttriGuard is a scikit-learn estimator: its checks, dense data, pipelines, and a short repr."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import attriguard as ag

BOUNDS = "its entries lie outside [0, 1]"
DRAWN = "a release is drawn, one draw after another: a user's draw depends on the place in the data unless it is keyed"
# The checks that cannot hold with the data that scikit-learn makes; with entries in [0, 1] they are run again below.
OUT_OF_BOUNDS = {
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
    "check_transformer_data_not_an_array": BOUNDS,
    "check_transformer_general": BOUNDS,
    "check_transformer_preserve_dtypes": BOUNDS,
}
WITHIN_BOUNDS = {"check_methods_sample_order_invariance": DRAWN, "check_methods_subset_invariance": DRAWN}


def failures(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    assert len(results) > 45
    return {each["check_name"]: each["exception"] for each in results if each["status"] == "failed"}


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks():
    found = failures(ag.AttriGuard(random_state=0))
    assert found.keys() == OUT_OF_BOUNDS.keys(), found


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks_within_bounds(squeezed_entries):
    found = failures(ag.AttriGuard(random_state=0))
    assert found.keys() == WITHIN_BOUNDS.keys(), found


def test_dense_data_gives_the_same_plan(small_twin):
    train, test = small_twin.train, small_twin.test
    sparse = ag.AttriGuard().fit(train.X, train.y).plan(test.X)
    dense = ag.AttriGuard().fit(train.X.toarray(), train.y).plan(test.X.toarray())
    np.testing.assert_array_equal(dense.probabilities, sparse.probabilities)
    np.testing.assert_array_equal(dense.edits.items, sparse.edits.items)


def test_a_guard_stands_in_a_pipeline_before_an_attack(small_twin):
    few = small_twin.take(np.arange(300))
    guarded = make_pipeline(ag.AttriGuard(budget=4.0, random_state=0), ag.attacks.get("LR-A"))
    assert cross_val_score(guarded, few.X, few.y, cv=3).shape == (3,)
    search = GridSearchCV(guarded, {"attriguard__budget": [0.0, 8.0]}, cv=2).fit(few.X, few.y)
    assert search.best_params_ == {"attriguard__budget": 0.0}  # without changes the attack infers most


def test_clones_and_parameters():
    guard = ag.AttriGuard(ag.NetworkClassifier(hidden=7), budget=2.0)
    copy = clone(guard)
    assert copy.get_params()["classifier__hidden"] == 7
    assert copy.set_params(classifier__hidden=9).classifier.hidden == 9
    assert guard.classifier.hidden == 7
    assert len(repr(guard).splitlines()) <= 10


def test_short_reprs(small_twin, small_guard):
    plan = small_guard.plan(small_twin.test.X)
    for thing in (plan, small_twin, small_guard, small_guard.learnt_):
        assert len(repr(thing).splitlines()) <= 10
        assert len(repr(thing)) < 1500
    for thing in (plan, small_twin):
        html = thing._repr_html_()
        assert html.startswith("<table")
        assert f"{thing.X.shape[0]:,}" in html
