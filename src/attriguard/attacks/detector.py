"""Detection of protected rows by their statistics, and an attack that first detects, then infers."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from sklearn.base import clone

from attriguard._checks import check_features, check_number, check_rng
from attriguard._fitted import EstimatorNotFittedError
from attriguard.attacks._aware import KnowsGuard, check_guard
from attriguard.attacks.base import Attack
from attriguard.errors import DataError
from attriguard.progress import Progress, ProgressLike

# Rows compared with all reference rows at a time.
BLOCK = 512
FEWEST_USERS = 20
# The forest on the statistics: leaves large enough not to learn single rows by heart.
N_TREES, LEAF = 100, 10
STATISTICS = (
    "ratings", "share at the top", "mean rating", "mean rarity", "rarest item", "rarity spread",
    "lead", "entropy", "largest probability", "local intrinsic dimensionality",
)  # fmt: skip


class Detector(KnowsGuard):
    """Tells protected rows from untouched ones, by statistics of the row.

    The statistics are: how many ratings the row has, how high they are and how rare their items; how clearly the
    guard's classifier infers a value (a guard stops as soon as a value leads); and the local intrinsic dimensionality
    among untouched rows.
    ``fit`` takes the attacker's own users, untouched; it protects them with the guard.

    Parameters
    ----------
    guard
        The fitted guard.
    neighbours
        How many of the nearest untouched rows the local intrinsic dimensionality is estimated from.
    references
        How many untouched rows are kept for that, at most.
    budget
        The budget that the attacker expects; None: the guard's own.
    random_state
        Seeds the choice of the references, the releases and the forest.
    """

    revision: ClassVar[int] = 1  # raise it when the scores change: stored results are then not used any more

    def __init__(
        self,
        guard: Any = None,
        *,
        neighbours: int = 20,
        references: int = 2000,
        budget: float | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.guard = guard
        self.neighbours = neighbours
        self.references = references
        self.budget = budget
        self.random_state = random_state

    def check_options(self) -> None:
        """The guard must be there and fitted, and there must be at least two neighbours."""
        check_guard(self.guard, "the detector")
        check_number(self.neighbours, name="neighbours", low=2)

    def fit(self, X: Any, y: Any = None, *, progress: ProgressLike = None) -> Self:
        """Learn from untouched rows (users × items); ``y`` is not used."""
        from sklearn.ensemble import RandomForestClassifier

        self.check_options()
        X = check_features(self, X, reset=True)
        if X.shape[0] < FEWEST_USERS:
            raise DataError(f"a detector needs at least {FEWEST_USERS} users to learn from, got {X.shape[0]}")
        Progress.of(progress).tell("learning what a release looks like")
        chance = check_rng(self.random_state)
        order = chance.permutation(X.shape[0])
        near = min(self.references, X.shape[0] // 2)
        self._near = _unit_rows(X[np.sort(order[:near])])
        users = X[np.sort(order[near:])]
        counts = np.bincount(X.indices, minlength=X.shape[1])
        self._rarity = -np.log((counts + 1) / (X.shape[0] + 2))
        release = self.guard.plan(users, budget=self.budget).release(chance)
        rows = np.vstack([self.statistics(users), self.statistics(release)])
        truth = np.repeat([False, True], users.shape[0])
        seed = int(chance.integers(2**31))
        self._model = RandomForestClassifier(N_TREES, min_samples_leaf=LEAF, random_state=seed).fit(rows, truth)
        return self

    def statistics(self, X: csr_array) -> NDArray[np.float64]:
        """(n, 10): see `STATISTICS`."""
        n = np.diff(X.indptr)
        rows = np.repeat(np.arange(X.shape[0]), n)
        some = np.maximum(n, 1)

        def mean(entries: NDArray[Any]) -> NDArray[np.float64]:
            return np.bincount(rows, weights=entries, minlength=X.shape[0]) / some

        rare = self._rarity[X.indices]
        rarest = np.zeros(X.shape[0])
        np.maximum.at(rarest, rows, rare)
        average = mean(rare)
        scores = np.asarray(self.guard.classifier_.decision_function(X), dtype=np.float64)
        ordered = np.sort(scores, axis=1)
        p = np.exp(scores - ordered[:, -1:])
        p /= p.sum(axis=1, keepdims=True)
        entropy = -(p * np.log(p + 1e-12)).sum(axis=1)
        return np.column_stack(
            [
                n, mean(X.data >= 1.0), mean(X.data), average, rarest, mean(np.square(rare)) - np.square(average),
                ordered[:, -1] - ordered[:, -2], entropy, p.max(axis=1), self._dimensionality(X),
            ]
        )  # fmt: skip

    def _dimensionality(self, X: csr_array) -> NDArray[np.float64]:
        """The maximum-likelihood estimate from distances to the nearest untouched rows (Amsaleg and others)."""
        k = min(self.neighbours, self._near.shape[0])
        found = np.empty(X.shape[0])
        rows = _unit_rows(X)
        for start in range(0, X.shape[0], BLOCK):
            alike = (rows[start : start + BLOCK] @ self._near.T).toarray()
            closest = np.sort(-np.partition(-alike, k - 1, axis=1)[:, :k], axis=1)  # the farthest first
            distance = np.sqrt(np.maximum(2.0 - 2.0 * closest, 1e-12))
            spread = np.log(distance / distance[:, :1]).mean(axis=1)
            found[start : start + BLOCK] = -1.0 / np.minimum(spread, -1e-3)
        return found

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """(n,): how sure the detector is that a row is protected, from 0 to 1."""
        if not hasattr(self, "_model"):
            raise EstimatorNotFittedError("the detector has not been trained yet: call fit(X) first")
        X = check_features(self, X)
        return np.asarray(self._model.predict_proba(self.statistics(X))[:, 1])

    def auc(self, untouched: Any, protected: Any) -> float:
        """How often a protected row scores above an untouched one: 0.5 is chance, 1 is always."""
        from sklearn.metrics import roc_auc_score

        scores = [self.score_samples(untouched), self.score_samples(protected)]
        return float(roc_auc_score(np.repeat([0, 1], [scores[0].size, scores[1].size]), np.concatenate(scores)))


class DetectThenAttack(Attack):
    """Rows that look protected go to the attack that knows the guard, others to the one that does not (section 6).

    Parameters
    ----------
    unaware
        The attack for rows that look untouched.
    aware
        The attack for rows that look protected.
    detector
        The untrained detector; like the attacks, it is not changed.
    threshold
        How sure the detector must be that a row is protected.
    """

    plain_name = "an attack that detects protected rows first"
    summary = "one attack for rows that look protected, another for rows that do not"
    needs = ("guard",)
    follows_budget = True

    def __init__(self, unaware: Attack, aware: Attack, detector: Detector, *, threshold: float = 0.5) -> None:
        self.unaware = unaware
        self.aware = aware
        self.detector = detector
        self.threshold = threshold

    @property
    def name(self) -> str:  # type: ignore[override]  # of an instance: it depends on the two attacks
        """The names of both attacks."""
        return f"{self.unaware.name} or {self.aware.name}, by detection"

    def check_options(self) -> None:
        """Both attacks and the detector must be ready to be trained."""
        for part in (self.unaware, self.aware, self.detector):
            part.check_options()

    def with_budget(self, budget: float) -> Attack:
        """A new, untrained attack whose aware attack and detector expect this budget."""
        return self.untrained(aware=self.aware.with_budget(budget), detector__budget=budget)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        learning, detecting = self._progress.parts(2, 1)
        self._unaware, self._aware = (
            attack.untrained().fit(X, codes, work=self._work, progress=part)
            for attack, part in learning.each((self.unaware, self.aware), lambda attack: attack.name)
        )
        self._detector = clone(self.detector).fit(X, progress=detecting)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        protected = self._detector.score_samples(X) >= self.threshold
        return np.where(protected[:, None], self._aware.predict_proba(X), self._unaware.predict_proba(X))


def _unit_rows(X: csr_array) -> csr_array:
    """Rows of length 1."""
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return csr_array(diags_array(1.0 / np.maximum(length, 1e-12)) @ X)
