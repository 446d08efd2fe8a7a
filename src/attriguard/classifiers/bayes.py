"""Naive Bayes on what users have rated and what they have not, and a regression that weighs what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.weights import Weights

# How many users' weight the item's overall popularity has against its popularity among one value's users.
SMOOTHING = 20.0
# Folds of the training users: nobody's scores come from a naive Bayes that learnt from him.
FOLDS = 5
MAX_ITERATIONS = 1000


class NaiveBayes:
    """What users have rated, independent given the value; in ``codes`` some of the m values may be missing."""

    def __init__(self, X: csr_array, codes: NDArray[np.int64], m: int) -> None:
        n = X.shape[0]
        members = csr_array((np.ones(n), (codes, np.arange(n))), shape=(m, n))
        users = np.bincount(codes, minlength=m)
        overall = (np.bincount(X.indices, minlength=X.shape[1]) + 0.5) / (n + 1.0)
        share = ((members @ _rated(X)).toarray() + SMOOTHING * overall) / (users[:, None] + SMOOTHING)
        self.weights = np.log(share / (1.0 - share)).T
        self.start = np.log1p(-share).sum(axis=1) + np.log((users + 1.0) / (n + m))

    def infer(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): the logarithm of the posterior."""
        scores = _rated(X) @ self.weights + self.start
        return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))

    def leads(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): what the ratings say of each value less what they say on average; a rating counts by its height."""
        weights, start = self.centred()
        return np.asarray(X @ weights + start)

    def centred(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The weights and the start of `leads`."""
        return self.weights - self.weights.mean(axis=1, keepdims=True), self.start - self.start.mean()


def folds_of(n: int, chance: np.random.Generator) -> list[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """For each fold of n users, who is learnt from and who is in it."""
    fold = chance.permutation(n) % FOLDS
    return [(fold != k if (fold != k).any() else fold == k, fold == k) for k in range(FOLDS) if (fold == k).any()]


def out_of_fold(X: csr_array, codes: NDArray[np.int64], m: int, chance: np.random.Generator) -> NDArray[np.float64]:
    """(n, m): what naive Bayes infers of each user that it has not learnt from."""
    scores = np.empty((X.shape[0], m))
    for rest, mine in folds_of(X.shape[0], chance):
        scores[mine] = NaiveBayes(X[rest], codes[rest], m).infer(X[mine])
    return scores


def learn_weighed_bayes(X: csr_array, codes: NDArray[np.int64], chance: np.random.Generator) -> Weights:
    """Learn from codes 0 … m - 1, each of which occurs: a naive Bayes and its regression, as a network of 2m units.

    Naive Bayes counts the same evidence several times, since items go together; the regression learns how much of it
    to believe. Both are linear, so a unit for each value's lead and one for its negative say exactly what they say.
    """
    m = int(codes.max()) + 1
    scores = np.empty((X.shape[0], m))
    for rest, mine in folds_of(X.shape[0], chance):
        scores[mine] = NaiveBayes(X[rest], codes[rest], m).leads(X[mine])
    coef, intercept = _weighed(scores, codes)
    weights, start = NaiveBayes(X, codes, m).centred()
    # Nobody has rated it, so nothing is known about it.
    weights[np.bincount(X.indices, minlength=X.shape[1]) == 0] = 0.0
    parts = (np.hstack([weights, -weights]), np.hstack([start, -start]), np.vstack([coef.T, -coef.T]), intercept)
    return Weights(*(np.ascontiguousarray(part, dtype=np.float32) for part in parts))


def fit_weights(scores: NDArray[np.float64], codes: NDArray[np.int64], C: float = 1.0) -> Any:
    """A multinomial regression on a few scores a user, from scikit-learn.

    Its matrices are small. With several threads in each product it would mostly wait for them, many times as long as it
    works where other processes use the cores, and the last digits would hang on their number.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        return LogisticRegression(C=C, max_iter=MAX_ITERATIONS).fit(scores, codes)


def _weighed(scores: NDArray[np.float64], codes: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A multinomial regression on scores: (m, m) weights and (m,) intercepts."""
    middle, spread = scores.mean(axis=0), scores.std(axis=0) + 1e-9
    model = fit_weights((scores - middle) / spread, codes)
    coef, intercept = model.coef_ / spread, model.intercept_
    if coef.shape[0] == 1:  # two values: it has the second one's lead over the first
        coef, intercept = np.vstack([np.zeros_like(coef), coef]), np.array([0.0, intercept[0]])
    return coef, intercept - coef @ middle


def _rated(X: csr_array) -> csr_array:
    return csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)
