"""The guard as an estimator: the contract, scikit-learn's conventions, and what it promises."""

from __future__ import annotations

import inspect
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

import attriguard as ag
from attriguard.errors import AttriGuardError, DataError, NotFittedError, ParameterError
from attriguard.noise.exact import Exact


def dense(X):
    return X.toarray()


def test_the_guard_is_never_told_a_protected_users_attribute():
    for method in (ag.AttriGuard.plan, ag.AttriGuard.transform, ag.Plan.release, ag.Plan.with_budget):
        assert not {"y", "labels", "attribute", "s"} & set(inspect.signature(method).parameters)


def test_contract(small_twin, small_guard):
    train, test = small_twin.split()
    plan = small_guard.plan(test.X)
    n, m = test.n_users, small_twin.m
    assert small_guard.classifier_.coef_.shape == (m, small_twin.n_items)
    assert small_guard.classifier_.intercept_.shape == (m,)
    assert plan.cost.shape == plan.success.shape == plan.probabilities.shape == (n, m)
    assert plan.success.all()
    np.testing.assert_allclose(plan.probabilities.sum(axis=1), 1, atol=1e-12)
    assert (plan.expected_cost <= 4.0 * (1 + 1e-9)).all()
    np.testing.assert_allclose(small_guard.target_, np.bincount(train.y) / train.n_users)
    for i in range(m):
        candidate = plan.candidate(i)
        assert isinstance(candidate, csr_array)
        assert (np.argmax(small_guard.classifier_.decision_function(candidate), axis=1) == i).all()
        assert ((candidate - test.X).count_nonzero(axis=1) == plan.cost[:, i]).all()
    smaller = plan.with_budget(1.0)
    assert smaller.edits is plan.edits
    assert (smaller.expected_cost <= 1.0 * (1 + 1e-9)).all()
    release = plan.release(random_state=0)
    assert release.shape == test.X.shape
    assert release.dtype == np.float32
    chosen = plan.draw(random_state=0)
    for u in range(n):
        assert (dense(release)[u] == dense(plan.candidate(int(chosen[u])))[u]).all()
    assert small_guard.transform(test.X).shape == test.X.shape


def test_seeds_repeat_and_no_seed_does_not(small_twin, small_guard):
    plan = small_guard.plan(small_twin.test.X)
    assert (dense(plan.release(random_state=5)) == dense(plan.release(random_state=5))).all()
    assert (dense(plan.release()) != dense(plan.release())).any()
    generator = np.random.default_rng(1)
    assert (dense(plan.release(generator)) != dense(plan.release(generator))).any()
    assert (dense(plan.release(key="a secret key to try")) == dense(plan.release(key="a secret key to try"))).all()
    assert (dense(plan.release(key="a secret key to try")) != dense(plan.release(key="another key to try!"))).any()
    with pytest.raises(ParameterError, match="either a key or a random_state"):
        plan.release(random_state=1, key="a secret key to try")


def test_a_keyed_release_follows_the_user_wherever_the_row_stands(small_twin, small_guard):
    test = small_twin.test
    order = np.random.default_rng(0).permutation(test.n_users)
    first = small_guard.plan(test.X, users=test.users).release(key="a secret key to try")
    second = small_guard.plan(test.X[order], users=test.users[order]).release(key="a secret key to try")
    assert (dense(first)[order] == dense(second)).all()


def test_scikit_learn_conventions(small_twin):
    train, test = small_twin.split()
    guard = ag.AttriGuard(policy="add_new", budget=2)
    assert clone(guard).get_params() == guard.get_params()
    with pytest.raises(SklearnNotFittedError):
        check_is_fitted(guard)
    with pytest.raises(NotFittedError, match="fit") as caught:
        guard.plan(test.X)
    assert isinstance(caught.value, SklearnNotFittedError)
    pipeline = make_pipeline(FunctionTransformer(), guard)
    assert pipeline.fit(train.X, train.y).transform(test.X).shape == test.X.shape
    assert not hasattr(clone(guard.fit(train.X, train.y)), "classifier_")
    check_is_fitted(guard)


def test_parameters_set_after_fit_take_effect_without_learning_again(small_twin, small_guard):
    test = small_twin.test
    guard = clone(small_guard).fit(small_twin.train.X, small_twin.train.y)
    before = guard.classifier_
    plan = guard.set_params(policy="add_new", target="uniform", budget=1.5).plan(test.X)
    assert guard.classifier_ is before
    assert np.ptp(plan.target) == 0
    assert (plan.expected_cost <= 1.5 * (1 + 1e-9)).all()
    had = dense(test.X) > 0
    for i in range(small_twin.m):
        assert (dense(plan.candidate(i))[had] == dense(test.X)[had]).all()


@given(
    policy=st.sampled_from(["modify_exist", "add_new", "modify_add"]),
    search=st.sampled_from(["panda", "margin", "probability"]),
    budget=st.floats(0, 6),
    confidence=st.sampled_from([0.0, 1.0, 4.0, "auto"]),
    cost=st.sampled_from(["l0", "l2"]),
    step=st.sampled_from([1.0, 0.4]),
    seed=st.integers(0, 99),
)
def test_budget_policy_and_grid_are_kept_in_every_single_edit(
    small_twin, small_guard, policy, search, budget, confidence, cost, step, seed
):
    rows = np.random.default_rng(seed).choice(small_twin.test.n_users, 12, replace=False)
    X = small_twin.test.X[rows]
    guard = deepcopy(small_guard).set_params(
        policy=policy,
        search=search,
        budget=budget,
        confidence=confidence,
        cost=cost,
        step=step,
        scale=small_twin.scale,
    )
    plan = guard.plan(X)
    assert (plan.expected_cost <= budget * (1 + 1e-9)).all()
    assert np.abs(plan.probabilities.sum(axis=1) - 1).max() <= 1e-12
    assert (plan.probabilities[~plan.success] == 0).all()
    before = dense(X)
    for i in range(small_twin.m):
        after = dense(plan.candidate(i))
        assert after.min() >= 0
        assert after.max() <= 1
        assert np.allclose(after * 5, np.rint(after * 5), atol=1e-5)
        changed, kept = after != before, ~plan.extended[:, i, None]
        if policy == "modify_exist":
            assert not (changed & (before == 0) & kept).any()
        if policy == "add_new":
            assert not (changed & (before != 0) & kept).any()


def test_classifiers_that_can_be_brought(small_twin):
    train, test = small_twin.split()
    for classifier in ("lr", "lr-ova", LogisticRegression(C=0.3), RidgeClassifier()):
        plan = ag.AttriGuard(classifier=classifier).fit(train.X, train.y).plan(test.X)
        assert plan.success.all()
    with pytest.raises(ParameterError, match="linear classifier"):
        ag.AttriGuard(classifier=MultinomialNB()).fit(train.X, train.y)


def test_two_values_mirror_each_other():
    twin = ag.load_dataset("twin", n_users=400, n_items=150, n_values=2, seed=1)
    guard = ag.AttriGuard().fit(twin.X, twin.y)
    np.testing.assert_array_equal(guard.classifier_.coef_[0], -guard.classifier_.coef_[1])
    assert guard.plan(twin.X).success.all()


def test_undisclosed_users_are_not_learnt_from(small_twin):
    y = np.array(small_twin.y)
    y[::3] = -1
    kept = y != -1
    one = ag.AttriGuard().fit(small_twin.X, y)
    two = ag.AttriGuard().fit(small_twin.X[kept], y[kept])
    np.testing.assert_array_equal(one.classifier_.coef_, two.classifier_.coef_)
    assert one.counts_.sum() == kept.sum()


def test_labels_may_be_names(small_twin):
    names = np.array(small_twin.values)[small_twin.y]
    guard = ag.AttriGuard().fit(small_twin.X, names)
    assert list(guard.values_) == sorted(small_twin.values)


@pytest.mark.parametrize("nothing", [-1, "-1", None, float("nan")])
def test_among_names_undisclosed_is_still_no_value(small_twin, nothing):
    names = np.array(small_twin.values, dtype=object)[small_twin.y]
    names[::3] = nothing
    guard = ag.AttriGuard().fit(small_twin.X, names.tolist() if nothing == -1 else names)
    assert list(guard.values_) == sorted(small_twin.values)
    assert guard.counts_.sum() == len(names) - len(names[::3])


def test_a_fit_that_fails_leaves_the_guard_as_it_was(small_twin, small_guard):
    guard, X = deepcopy(small_guard), small_twin.test.X
    before = guard.plan(X)
    fewer = csr_array(small_twin.X[:, :50])
    with pytest.raises(ParameterError, match="unknown classifier"):
        guard.set_params(goal="both", classifier="svm", members=1).fit(fewer, small_twin.y)
    after = guard.set_params(goal="mislead").plan(X)
    np.testing.assert_array_equal(after.probabilities, before.probabilities)
    with pytest.raises(ParameterError, match="learnt with goal"):
        guard.set_params(goal="conceal").plan(X)


def test_locked_items_and_additions_by_id(small_twin):
    train, test = small_twin.split()
    ids = np.array([f"app-{j}" for j in range(train.n_items)])
    free = ag.AttriGuard().fit(train.X, train.y, items=ids)
    telling = ids[np.unique(free.plan(test.X).edits.items)[:40]].tolist()
    guard = ag.AttriGuard(locked=telling).fit(train.X, train.y, items=ids)
    assert not set(ids[guard.plan(test.X).edits.items]) & set(telling)
    some = ids[:150].tolist()
    guard = ag.AttriGuard(policy="add_new", additions=dict.fromkeys(some, 3), scale=(1, 5, 1)).fit(
        train.X, train.y, items=ids
    )
    plan = guard.plan(test.X)
    pairs = np.repeat(plan.extended.ravel(), np.diff(plan.edits.indptr))
    assert set(ids[plan.edits.items[~pairs]]) <= set(some)
    np.testing.assert_allclose(plan.edits.values[~pairs], 0.6, atol=1e-6)
    with pytest.raises(ParameterError, match="1 items that the data does not have"):
        ag.AttriGuard(locked=["nothing"]).fit(train.X, train.y, items=ids)
    with pytest.raises(ParameterError, match="column numbers"):
        ag.AttriGuard(locked=["app-1"]).fit(train.X, train.y)
    with pytest.raises(ParameterError, match="on the scale"):
        ag.AttriGuard(additions={"app-1": 9}, scale=(1, 5, 1)).fit(train.X, train.y, items=ids)


def test_a_user_whose_items_are_all_locked_is_reported_and_left_alone(small_twin, small_guard):
    X = small_twin.test.X[:3]
    everything = csr_array(np.ones(X.shape, dtype=np.float32))
    plan = small_guard.plan(X, locked=everything)
    assert plan.success.sum(axis=1).tolist() == [1, 1, 1]
    assert plan.success[np.arange(3), plan.inferred].all()
    assert (dense(plan.release()) == dense(X)).all()


def test_users_without_ratings(small_twin, small_guard):
    empty = csr_array((2, small_twin.n_items), dtype=np.float32)
    assert small_guard.plan(empty).success.all()
    guard = deepcopy(small_guard).set_params(policy="modify_exist")
    plan = guard.plan(empty)
    assert plan.extended.sum(axis=1).tolist() == [small_twin.m - 1] * 2  # only by additions, and marked


def test_no_users_at_all(small_twin, small_guard):
    plan = small_guard.plan(csr_array((0, small_twin.n_items), dtype=np.float32))
    assert plan.probabilities.shape == (0, small_twin.m)
    assert plan.release(random_state=0).shape == (0, small_twin.n_items)


def test_the_exact_search_through_the_guard(small_twin, small_guard):
    X = small_twin.test.X[:4]
    guard = deepcopy(small_guard).set_params(search=Exact(time_limit=20))
    exact, margin = guard.plan(X), small_guard.plan(X)
    assert (exact.cost <= margin.cost).all()
    assert (exact.edits.bound <= exact.cost).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"policy": "modify"}, "unknown policy 'modify'; known: modify_exist, add_new, modify_add"),
        ({"search": "magic"}, "unknown search 'magic'; known: probability, margin, panda, exact"),
        ({"target": "fair"}, "unknown target 'fair'; known: train, uniform"),
        ({"target": [0.5, 0.5]}, "4 numbers"),
        ({"target": [0.5, 0.5, 0.5, -0.5]}, "negative"),
        ({"target": [0.5, 0.5, 0.5, 0.5]}, "sum to 1"),
        ({"budget": -1}, "negative or NaN"),
        ({"budget": float("nan")}, "negative or NaN"),
        ({"budget": "lots"}, "number"),
        ({"classifier": "svm"}, "unknown classifier 'svm'"),
        ({"confidence": -2}, "confidence"),
        ({"confidence": "high"}, "confidence"),
        ({"cost": "l7"}, "unknown cost"),
        ({"step": 0}, "step"),
        ({"maxiter": -1}, "maxiter"),
        ({"scale": 5}, "scale"),
        ({"locked": "12"}, "list of items"),
        ({"locked": 12}, "list of items, got int"),
        ({"locked": iter([1, 2])}, "list of items, got list_iterator"),
        ({"additions": (j for j in range(3))}, "list of items, got generator"),
        ({"budget": [1.0, 2.0]}, "plan"),
        ({"search": "exact", "maxiter": 5}, "no use for step and maxiter"),
        ({"search": "exact", "classifier": "nn"}, "needs a linear classifier"),
    ],
)
def test_bad_parameters_are_named(small_twin, parameters, message):
    with pytest.raises(AttriGuardError, match=message):
        ag.AttriGuard(**parameters).fit(small_twin.X, small_twin.y)


def test_bad_data_is_named(small_twin, small_guard):
    X = small_twin.test.X
    bad = X.copy()
    bad.data = bad.data.copy()
    cases = [
        (csr_array(X[:, :-1]), "expecting 300 features"),
        (X * 5, r"\[0, 1\]"),
        (X.astype(np.complex128), "real numbers"),
    ]
    for value, message in cases:
        with pytest.raises(DataError, match=message):
            small_guard.plan(value)
    bad.data[0] = np.nan
    with pytest.raises(DataError, match="NaN"):
        small_guard.plan(bad)
    with pytest.raises(DataError, match="at least two values"):
        ag.AttriGuard().fit(X, np.zeros(X.shape[0], dtype=int))
    with pytest.raises(DataError, match="one value a user"):
        ag.AttriGuard().fit(X, [0, 1])
    with pytest.raises(DataError, match="fractions"):
        ag.AttriGuard().fit(X, np.full(X.shape[0], 0.5))
    with pytest.raises(ParameterError, match="one a user"):
        small_guard.plan(X, budget=[1, 2])
    with pytest.raises(DataError, match="one id a row"):
        small_guard.plan(X, users=[1])
    with pytest.raises(ParameterError, match="index lies between"):
        small_guard.plan(X).candidate(99)
