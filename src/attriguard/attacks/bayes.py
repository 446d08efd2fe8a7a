"""NB-A: what each rated item and each missing one says of the value, added up, and weighed by a regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number, check_rng
from attriguard.attacks.base import Attack

# How many users' weight the item's overall popularity has against its popularity among one value's users.
SMOOTHING = 20.0
# Folds of the training users: nobody's scores come from a naive Bayes that learnt from him.
FOLDS = 5
MAX_ITERATIONS = 1000


class Bayes(Attack):
    """Naive Bayes on what users have rated and what they have not, and a multinomial regression on its scores.

    Naive Bayes counts the same evidence several times, since items go together; the regression learns how much of it
    to believe. It has few numbers to learn, so it is strong where there are few users, or where a guard has taken away
    what tells most.

    Parameters
    ----------
    C
        The inverse of the strength of the regression's L2 penalty.
    random_state
        Seeds the folds of the training users.
    """

    name = "NB-A"
    plain_name = "weighed naive Bayes"
    summary = "what each rated and each missing item says, weighed by a regression"

    def __init__(self, *, C: float = 1.0, random_state: int | np.random.Generator | None = None) -> None:
        self.C = C
        self.random_state = random_state

    def check_options(self) -> None:
        """The penalty must be above 0."""
        check_number(self.C, name="C", low=0.0, open_low=True)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        from sklearn.linear_model import LogisticRegression

        m = self.classes_.size
        self._bayes = NaiveBayes(X, codes, m)
        scores = out_of_fold(X, codes, m, check_rng(self.random_state))
        self._middle, self._spread = scores.mean(axis=0), scores.std(axis=0) + 1e-9
        self._model = LogisticRegression(C=self.C, max_iter=MAX_ITERATIONS).fit(self._scaled(scores), codes)

    def _scaled(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return (scores - self._middle) / self._spread

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return np.asarray(self._model.predict_proba(self._scaled(self._bayes.infer(X))))


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


def out_of_fold(X: csr_array, codes: NDArray[np.int64], m: int, chance: np.random.Generator) -> NDArray[np.float64]:
    """(n, m): what naive Bayes infers of each user that it has not learnt from."""
    scores = np.empty((X.shape[0], m))
    fold = chance.permutation(X.shape[0]) % FOLDS
    for k in range(FOLDS):
        rest = fold != k if (fold != k).any() else fold == k
        scores[fold == k] = NaiveBayes(X[rest], codes[rest], m).infer(X[fold == k])
    return scores


def _rated(X: csr_array) -> csr_array:
    return csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)
