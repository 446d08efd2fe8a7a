"""Recommenders and rankings: brute force, parity with the packages' own predictions, seeds."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.base import clone

from attriguard import utility
from attriguard.errors import DataError, MissingExtraError, ParameterError
from attriguard.utility.ranking import Factors, top_items

EXTRAS = {"SVD": "surprise", "ALS": "implicit", "PureSVD": "numpy"}


@pytest.fixture(params=EXTRAS)
def name(request):
    pytest.importorskip(EXTRAS[request.param])
    return request.param


@pytest.fixture(scope="module")
def two_tastes():
    """Users 0 … 59 rate items 0 … 19, users 60 … 119 rate items 20 … 39, each half of them; nobody rates item 40."""
    chance = np.random.default_rng(0)
    rated = chance.random((120, 41)) < 0.5
    rated[:60, 20:] = rated[60:, :20] = rated[:, 40] = False
    return csr_array((rated * chance.integers(3, 6, rated.shape) / 5).astype(np.float32))


def random_factors(n, n_items, rank, seed):
    chance = np.random.default_rng(seed)
    draw = [chance.standard_normal(shape).astype(np.float32) for shape in ((n, rank), (n_items, rank), (n_items,))]
    return Factors(users=draw[0], items=draw[1], bias=draw[2])


@pytest.mark.parametrize("block", [1, 7, 1000, None])
@pytest.mark.parametrize("n", [1, 10, 29, 30])
def test_ranking_is_what_sorting_everything_gives(block, n):
    factors = random_factors(25, 30, 4, n)
    rated = csr_array(random_array((25, 30), density=0.4, rng=np.random.default_rng(1), dtype=np.float32))
    rows = np.array([3, 4, 24, 0, 11, 5, 6, 7, 8])
    best = top_items(factors, rated, rows, n, block=block)
    for row, found in zip(rows, best, strict=True):
        scores = factors.items @ factors.users[row] + factors.bias
        unrated = np.flatnonzero(rated[[row]].toarray().ravel() == 0)
        expected = unrated[np.argsort(-scores[unrated])][:n]
        assert found[: expected.size].tolist() == expected.tolist()
        assert (found[expected.size :] == -1).all()


def test_a_ranking_cannot_be_longer_than_the_items():
    with pytest.raises(ParameterError, match="number of items to recommend"):
        top_items(random_factors(3, 4, 2, 0), csr_array((3, 4), dtype=np.float32), np.arange(3), 5)


def test_a_seed_gives_the_same_factors(name, two_tastes):
    first, second = (utility.get(name, rank=8, random_state=7).fit(two_tastes).factors_ for _ in range(2))
    np.testing.assert_allclose(first.users, second.users, rtol=1e-5)
    np.testing.assert_allclose(first.items, second.items, rtol=1e-5)
    assert (first.bias == second.bias).all()


def test_no_global_randomness(name, two_tastes):
    shared = np.random.mtrand._rand
    before = shared.get_state()[1].copy()
    utility.get(name, rank=8).fit(two_tastes)
    assert (shared.get_state()[1] == before).all()


@pytest.mark.parametrize("which", ["ALS", "PureSVD"])
def test_taste_is_found(which, two_tastes):
    pytest.importorskip(EXTRAS[which])
    factors = utility.get(which, rank=2, random_state=0).fit(two_tastes).factors_
    best = top_items(factors, two_tastes, np.arange(120), 3)
    assert (best[:60] < 20).all()
    assert (best[60:] >= 20).all()


def test_pure_svd_is_the_truncated_svd(two_tastes):
    dense = two_tastes.toarray().astype(float)
    U, s, V = np.linalg.svd(dense, full_matrices=False)
    factors = utility.PureSVD(rank=5, random_state=0).fit(two_tastes).factors_
    np.testing.assert_allclose(factors.users @ factors.items.T, (U[:, :5] * s[:5]) @ V[:5], atol=1e-4)


def test_svd_ranks_by_surprises_own_predictions(two_tastes):
    """Predictions differ from the scores by μ + b_u, the same for all items of a user."""
    pytest.importorskip("surprise")
    X = two_tastes.copy()
    X.data[X.indptr[5] : X.indptr[6]] = 0  # a user without a rating
    X.eliminate_zeros()
    svd = utility.get("SVD", rank=6, epochs=5)
    model = svd.learn(X, 6, np.random.default_rng(3))
    factors = svd._fit(X, 6, np.random.default_rng(3))
    for user in (0, 5, 77, 119):
        predicted = np.array([model.predict(user, item, clip=False).est for item in range(X.shape[1])])
        gap = predicted - factors.scores(np.array([user]))[0]
        np.testing.assert_allclose(gap, gap[0], atol=1e-5)


def test_svd_learns_from_the_table_that_surprise_would_build(two_tastes):
    surprise = pytest.importorskip("surprise")
    pandas = pytest.importorskip("pandas")
    users, items = two_tastes.nonzero()
    frame = pandas.DataFrame({"user": users, "item": items, "rating": two_tastes.data.astype(np.float64) * 5})
    table = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(0, 5))).build_full_trainset()
    ours = utility.get("SVD", rank=3).learn(two_tastes, 3, np.random.default_rng(0)).trainset
    raw = {(table.to_raw_uid(u), table.to_raw_iid(i)): r for u, i, r in table.all_ratings()}
    assert {(u, i): r for u, i, r in ours.all_ratings()} == raw
    assert ours.global_mean == pytest.approx(table.global_mean)
    assert {len(column) for column in ours.ir.values()} == {len(column) for column in table.ir.values()}


def test_als_ranks_as_implicit_does(two_tastes):
    als = pytest.importorskip("implicit.als")
    from scipy.sparse import csr_matrix
    from threadpoolctl import threadpool_limits

    factors = utility.get("ALS", rank=8, random_state=0).fit(two_tastes).factors_
    with threadpool_limits(1, "blas"):
        model = als.AlternatingLeastSquares(factors=8, num_threads=1)
        model.user_factors, model.item_factors = factors.users, factors.items
        theirs, _ = model.recommend(np.arange(120), csr_matrix(two_tastes), N=5, filter_already_liked_items=True)
    assert (theirs == top_items(factors, two_tastes, np.arange(120), 5)).mean() > 0.99  # scores as good as equal


@pytest.mark.parametrize("which", ["SVD", "ALS"])
def test_a_missing_extra_is_one_line(which, two_tastes, monkeypatch):
    for package in ("surprise", "implicit", "implicit.als"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'attriguard\[recsys\]'"):
        utility.get(which).fit(two_tastes)


INSTANCES = [
    utility.SurpriseSVD(rank=7, epochs=3, top=10.0, random_state=5),
    utility.ImplicitALS(rank=7, iterations=4, regularization=0.5, alpha=2.0, random_state=5),
    utility.PureSVD(rank=7, random_state=5),
]


@pytest.mark.parametrize("one", INSTANCES, ids=lambda one: one.name)
class TestEveryRecommender:
    """What scikit-learn asks of an estimator, and what the registry says of it."""

    def test_a_clone_has_the_parameters_and_nothing_learnt(self, one, two_tastes):
        pytest.importorskip(EXTRAS[one.name])
        fitted = clone(one)
        assert fitted.fit(two_tastes) is fitted
        again = clone(fitted)
        assert again.get_params() == one.get_params() == fitted.get_params()
        assert not hasattr(again, "factors_")

    def test_parameters_are_kept_as_given_and_checked_in_fit(self, one, two_tastes):
        pytest.importorskip(EXTRAS[one.name])
        for parameter in one.get_params(deep=True):
            assert getattr(clone(one).set_params(**{parameter: "none"}), parameter) == "none"
            with pytest.raises(ParameterError, match=parameter):
                clone(one).set_params(**{parameter: "none"}).fit(two_tastes)
        with pytest.raises(ValueError, match="Invalid parameter"):
            clone(one).set_params(colour=1)

    def test_the_repr_is_one_short_text(self, one, two_tastes):
        pytest.importorskip(EXTRAS[one.name])
        text = repr(clone(one).fit(two_tastes))
        assert text.startswith(f"{type(one).__name__}(")
        assert "rank=7" in text
        assert len(text.splitlines()) <= 3

    def test_it_is_known_by_name_and_says_what_it_needs(self, one):
        assert utility.RECOMMENDERS[one.name] is type(one)
        assert one.summary
        assert one.needs == (("recsys",) if one.packages else ())


def test_the_table_of_instances_has_all_of_them():
    assert [one.name for one in INSTANCES] == utility.names() == list(EXTRAS)


def test_the_room_shows_what_is_meant_to_be_used():
    assert dir(utility) == sorted(utility.__all__)
    for name in dir(utility):
        assert callable(getattr(utility, name)) or name == "RECOMMENDERS"
    with pytest.raises(AttributeError, match="no attribute 'importlib2'"):
        utility.importlib2  # noqa: B018


def test_looking_names_up_loads_no_package_that_recommends():
    program = "import sys, attriguard.utility as u; u.names(); print({'sklearn', 'implicit'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "set()"


def test_bad_input(two_tastes):
    with pytest.raises(ParameterError, match="unknown recommender 'KNN'; known: SVD, ALS, PureSVD"):
        utility.get("KNN")
    with pytest.raises(ParameterError, match="PureSVD has no option 'epochs'"):
        utility.get("PureSVD", epochs=3)
    with pytest.raises(ParameterError, match="rank"):
        utility.PureSVD(rank=0).fit(two_tastes)
    with pytest.raises(DataError, match="has none"):
        utility.PureSVD().fit(csr_array((3, 4), dtype=np.float32))
    with pytest.raises(DataError, match="two users"):
        utility.PureSVD().fit(two_tastes[:1])


def test_scores_compare_options_by_what_is_found(small_twin):
    from sklearn.model_selection import GridSearchCV, cross_val_score

    from attriguard.utility import PureSVD

    X = small_twin.X
    scores = cross_val_score(PureSVD(rank=8, random_state=0), X, cv=3)
    chance = 5 / X.shape[1]  # held-out items among all, drawn blindly
    assert (scores > 2 * chance).all()
    search = GridSearchCV(PureSVD(random_state=0), {"rank": [4, 200]}, cv=3).fit(X)
    assert search.best_params_ == {"rank": 4}  # 200 singular vectors repeat the ratings that are there
    fitted = PureSVD(rank=4, random_state=0).fit(X)
    factors = fitted.factors_
    assert fitted.score(X) == fitted.score(X)
    assert fitted.factors_ is factors
