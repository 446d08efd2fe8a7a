"""GBM-A: gradient-boosted trees on the most telling items, and on what naive Bayes makes of all of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count, check_number, check_rng
from attriguard.attacks.base import Attack
from attriguard.classifiers.bayes import NaiveBayes, out_of_fold

# A rating scale has few levels, so few bins do.
BINS = 32


class Boosting(Attack):
    """Histogram gradient boosting (scikit-learn's) on a few hundred columns.

    The columns are the ratings of the ``items`` with the largest chi-square statistic, the number of ratings, and for
    every value what a naive Bayes infers from all rated items. Trees on ten thousand columns would take hours, and
    trees on the most telling items alone do not see what the many others add up to.

    Parameters
    ----------
    items
        How many items become columns.
    rounds
        How many trees a value gets.
    learning_rate, leaves
        The weight of a tree, and how many leaves it has.
    random_state
        Seeds the folds of the training users, and the trees.
    """

    name = "GBM-A"
    plain_name = "gradient boosting"
    summary = "gradient-boosted trees on the most telling ratings"

    def __init__(
        self,
        *,
        items: int = 300,
        rounds: int = 30,
        learning_rate: float = 0.1,
        leaves: int = 8,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.items = items
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.random_state = random_state

    def check_options(self) -> None:
        """Items and rounds must be 1 or more, leaves 2 or more, and the learning rate above 0."""
        check_count(self.items, name="items")
        check_count(self.rounds, name="rounds")
        check_count(self.leaves, name="leaves", low=2)
        check_number(self.learning_rate, name="learning_rate", low=0.0, open_low=True)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        chance, m = check_rng(self.random_state), self.classes_.size
        self._top = most_telling(X, codes, self.items)
        scores = out_of_fold(X, codes, m, chance)
        self._bayes = NaiveBayes(X, codes, m)
        self._progress.tell("growing trees")
        self._model = HistGradientBoostingClassifier(
            max_iter=self.rounds,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.leaves,
            l2_regularization=1.0,
            max_bins=BINS,
            early_stopping=False,
            random_state=int(chance.integers(2**31)),
        ).fit(self._columns(X, scores), codes)

    def _columns(self, X: csr_array, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.hstack([scores, np.diff(X.indptr)[:, None], X[:, self._top].toarray()])

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        if not X.shape[0]:
            return np.empty((0, self.classes_.size))
        return np.asarray(self._model.predict_proba(self._columns(X, self._bayes.infer(X))))


def most_telling(X: csr_array, codes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The items with the largest chi-square statistic, at most so many, in their order."""
    from sklearn.feature_selection import chi2

    statistic = np.nan_to_num(chi2(X, codes)[0])
    return np.sort(np.argsort(-statistic, kind="stable")[:most])
