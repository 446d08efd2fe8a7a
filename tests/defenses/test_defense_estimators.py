"""Defenses are scikit-learn estimators: its own checks, and a defense as a step of a pipeline."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import attriguard as ag
from attriguard.defenses import ChiSquare, RandomDeletions, TellingDeletions

BOUNDS = "its entries lie outside [0, 1]"
DRAWN = "it compares two releases, which are drawn anew"
# What these look for is looked for in the second run, where their entries are squeezed into [0, 1].
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
WITHIN_BOUNDS = {"random-deletions": {"check_estimators_pickle": DRAWN}}


def outcomes(estimator):
    """The checks of scikit-learn that fail, and how; and the checks that ran."""
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = {each["check_name"]: each["exception"] for each in results if each["status"] == "failed"}
    return failed, {each["check_name"] for each in results if each["status"] != "skipped"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", [TellingDeletions, RandomDeletions, ChiSquare], ids=lambda cls: cls.name)
def test_scikit_learns_checks(cls):
    failed, ran = outcomes(cls())
    assert len(ran) > 35
    assert failed.keys() == OUT_OF_BOUNDS.keys() & ran, failed


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", [TellingDeletions, RandomDeletions, ChiSquare], ids=lambda cls: cls.name)
def test_scikit_learns_checks_within_bounds(cls, squeezed_entries):
    failed, _ = outcomes(cls())
    assert failed.keys() == WITHIN_BOUNDS.get(cls.name, {}).keys(), failed


def test_a_defense_before_an_attack_in_a_pipeline(small_twin):
    """At the middle of its ladder it leaves the attacker less, though the attack is trained on what it releases."""
    few = small_twin.take(np.arange(400))
    plain = cross_val_score(ag.attacks.get("LR-A"), few.X, few.y, cv=3).mean()
    guarded = make_pipeline(TellingDeletions(scale=few.scale), ag.attacks.get("LR-A"))
    assert cross_val_score(guarded, few.X, few.y, cv=3).mean() < plain - 0.05
    assert guarded.set_params(tellingdeletions__scale=None)[0].scale is None


def test_transform_is_a_release_at_the_default_strength(small_twin):
    defense = TellingDeletions(scale=small_twin.scale).fit(small_twin.X, small_twin.y)
    assert defense.default_strength(small_twin.n_items) == 6
    assert (defense.transform(small_twin.X) != defense.release_for(small_twin.X, 6)).nnz == 0
    assert defense.default_strength(5) == 3  # of 1, 2, 3, 4
    with pytest.raises(NotFittedError):
        clone(defense).transform(small_twin.X)


def test_a_defense_that_must_be_told_the_truth_has_no_transform(small_twin):
    assert not hasattr(ChiSquare().fit(small_twin.X, small_twin.y), "transform")
    assert not hasattr(ChiSquare(), "fit_transform")


def test_a_fitted_defense_can_be_pickled_though_its_bar_cannot(small_twin):
    shown = []
    options = {"clusters": 10, "scale": small_twin.scale, "random_state": 0}
    defense = ag.defenses.get("QPM", **options)
    defense.fit(small_twin.X, small_twin.y, progress=lambda what, done: shown.append(what))
    assert shown == ["QPM clusters the users"]
    again = pickle.loads(pickle.dumps(defense))  # noqa: S301
    assert (again.release_for(small_twin.X, 1.0, 0) != defense.release_for(small_twin.X, 1.0, 0)).nnz == 0
