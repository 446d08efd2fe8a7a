"""NB-A: what each rated item and each missing one says of the value, added up, and weighed by a regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_number, check_rng
from attriguard.attacks.base import Attack
from attriguard.classifiers.bayes import NaiveBayes, fit_weights, out_of_fold


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
        m = self.classes_.size
        self._bayes = NaiveBayes(X, codes, m)
        scores = out_of_fold(X, codes, m, check_rng(self.random_state))
        self._middle, self._spread = scores.mean(axis=0), scores.std(axis=0) + 1e-9
        self._model = fit_weights(self._scaled(scores), codes, self.C)

    def _scaled(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return (scores - self._middle) / self._spread

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return np.asarray(self._model.predict_proba(self._scaled(self._bayes.infer(X))))
