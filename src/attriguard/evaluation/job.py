"""One evaluation: it trains attacks, lets them predict, and keeps what they were right about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import UNDISCLOSED, check_labels
from attriguard._fingerprint import fingerprint
from attriguard.attacks.base import Attack
from attriguard.errors import DataError, NotFittedError
from attriguard.evaluation.cache import Arrays, Cache, is_of
from attriguard.evaluation.measure import Training
from attriguard.plan import Plan
from attriguard.progress import Progress
from attriguard.utility.norms import norms

FEWEST_PER_VALUE = 2


class Outcome(NamedTuple):
    """What one attack inferred from one release, and what the release cost."""

    right: NDArray[np.float64]  # 1 where the attack is right about the user
    l0: float  # changed ratings a user, on average
    l2: float  # length of the noise, on average


class Job:
    """What all attacks of one evaluation share: the users' true values, the training users, and the cache."""

    def __init__(self, truth: NDArray[Any], train: Training | None, cache: Cache | None) -> None:
        self.truth, self.train, self.cache = truth, train, cache
        self._last: tuple[Attack, Attack] | None = None

    def trained(self, attack: Attack, progress: Progress) -> Attack:
        """A trained copy, which the job forgets when the next attack comes; or the attack itself, trained before."""
        if self.train is None:
            if not hasattr(attack, "classes_"):
                raise NotFittedError(f"{attack.name} has not been trained yet: train it, or pass train=(X, y)")
            return self.known(attack)
        if self._last is not None and self._last[0] is attack:
            return self._last[1]
        self._last = None  # networks are large: there must not be two in memory
        folder = None if self.cache is None else self.cache.networks
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        progress.tell("learns")
        ready = self.known(attack.untrained().fit(*self.train, work=folder, progress=progress))
        self._last = attack, ready
        return ready

    def known(self, attack: Attack) -> Attack:
        """The attack, refused where a test user has a value that it cannot name: it would always be wrong."""
        unseen = int((~np.isin(self.truth, attack.classes_)).sum())
        if unseen:
            raise DataError(
                f"{unseen:,} of {self.truth.size:,} test users have a value that {attack.name} never saw in training; "
                "leave them out, or train on users of every value"
            )
        return attack

    def hits(self, attack: Attack, plan: Plan, progress: Progress) -> NDArray[np.bool_]:
        """(n, m + 1): is the attack right on each candidate and, last, on untouched data? From the cache, or new."""
        m, edits = plan.edits.m, plan.edits
        key = self._key(attack, plan.X, edits.indptr, edits.items, edits.values, self.truth)
        stored = self._load(key, lambda found: is_of(found["hits"], (self.truth.size, m + 1), np.uint8, 0, 1))
        if stored is not None:
            progress.tell("known already", 1.0)
            return stored["hits"].astype(np.bool_)
        learning, attacking = progress.parts(1, 1)
        ready = self.trained(attack, learning)
        hits = np.empty((self.truth.size, m + 1), dtype=np.bool_)
        count = attacking.counter(m + 1, "attacks")
        for i in range(m + 1):
            hits[:, i] = ready.predict(plan.X if i == m else plan.candidate(i)) == self.truth
            count(1)
        self._save(key, {"hits": hits.astype(np.uint8)})
        return hits

    def outcome(
        self, attack: Attack, X: csr_array, known_by: Any, release: Callable[[], csr_array], progress: Progress
    ) -> Outcome:
        """Is the attack right on one release, and what does it cost a user? From the cache, or new.

        ``known_by`` says what the release depends on besides ``X``.
        """
        key = self._key(attack, X, self.truth, known_by)
        stored = self._load(key, self._fits)
        if stored is None:
            released = release()
            right, noise = self.trained(attack, progress).predict(released) == self.truth, norms(X, released)
            stored = {"hits": right.astype(np.uint8), "norms": np.array([noise.mean_l0, noise.mean_l2])}
            self._save(key, stored)
        return Outcome(stored["hits"].astype(np.float64), *map(float, stored["norms"]))

    def _key(self, attack: Attack, *parts: Any) -> str | None:
        """The name of a prediction; None where it cannot be kept: attacks trained elsewhere are not identified."""
        return None if self.cache is None or self.train is None else fingerprint(attack, *self.train, *parts)

    def _fits(self, found: Arrays) -> bool:
        """Can this be the outcome of an attack on these users?"""
        finite = np.finfo(np.float64).max
        hits, noise = found["hits"], found["norms"]
        return is_of(hits, self.truth.shape, np.uint8, 0, 1) and is_of(noise, (2,), np.float64, 0.0, finite)

    def _load(self, key: str | None, fits: Callable[[Arrays], bool]) -> Arrays | None:
        return None if self.cache is None else self.cache.load(key, fits)

    def _save(self, key: str | None, arrays: Arrays) -> None:
        if self.cache is not None:
            self.cache.save(key, arrays)

    def finish(self) -> None:
        """Remove the checkpoints of networks, unless the cache is to keep them."""
        if self.cache is not None:
            self.cache.clear_networks()


def check_truth(y: ArrayLike, n_users: int) -> NDArray[Any]:
    """The values of the users who are attacked: all known, one a row."""
    truth = np.asarray(y)
    if truth.shape != (n_users,):
        raise DataError(f"y must have one value for each of the {n_users:,} users, got shape {truth.shape}")
    if n_users < 2:
        raise DataError("an evaluation needs at least two users")
    hidden = int((truth == UNDISCLOSED).sum()) if truth.dtype.kind in "iu" else 0
    if hidden:
        raise DataError(f"{hidden:,} of {n_users:,} test users do not disclose their value; leave them out")
    return truth


def check_training(train: Training) -> None:
    """Refuse training users with a value that nothing can be learnt about."""
    classes, codes = check_labels(train[1], train[0].shape[0])
    rare = int((np.bincount(codes[codes != UNDISCLOSED], minlength=classes.size) < FEWEST_PER_VALUE).sum())
    if rare:
        raise DataError(
            f"{rare} of {classes.size} values have a single training user; at least {FEWEST_PER_VALUE} are needed: "
            "merge or drop the rare ones"
        )
