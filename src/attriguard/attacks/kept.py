"""Attackers who keep every release: they look at all of them together, or at what differs between them.

Rows are the releases of a user side by side, the first one first; of users that the attacker knows, too, so that he
learns from histories such as those he attacks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from attriguard._checks import check_count
from attriguard.attacks.base import Attack
from attriguard.attacks.logistic import Logistic
from attriguard.errors import ParameterError

Releases = Sequence[csr_array]


def union(releases: Releases) -> csr_array:
    """All that was ever shown of a user; of two ratings of an item the last one."""
    return reduce(lambda before, after: csr_array(after + _without(before, after)), releases)


def side_by_side(releases: Releases) -> csr_array:
    """Releases of the same users as rows of these attacks."""
    return csr_array(hstack(releases, format="csr"))


class Keeping(Attack):
    """Another attack, on all releases of a user so far; what it looks at is written by a subclass.

    Parameters
    ----------
    base
        The attack that looks at the releases; it is not changed. None: LR-A.
    releases
        How many of them stand side by side in a row.
    """

    needs = ("releases",)
    own_options = ("base", "releases")
    short: str  # the name, where LR-A looks

    def __init__(self, base: Attack | None = None, releases: int = 1) -> None:
        self.base = base
        self.releases = releases

    @property
    def name(self) -> str:  # type: ignore[override]  # of an instance: it depends on the base
        """What it looks at; and the name of the base attack, where that is another than LR-A."""
        return self.short if self.base is None else f"{self.short} by {self.base.name}"

    def check_options(self) -> None:
        """The base must be ready, and there must be a release."""
        check_count(self.releases, name="releases")
        self._base.check_options()

    @abstractmethod
    def look(self, releases: Releases) -> Sequence[csr_array]:
        """What the attacker looks at, one after the other; he learns from the last."""

    @property
    def _base(self) -> Attack:
        return Logistic() if self.base is None else self.base

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        rows = self.look(self._divided(X))[-1]
        self._attack = self._base.untrained().fit(rows, codes, work=self._work, progress=self._progress)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        sure = [self._attack.predict_proba(rows) for rows in self.look(self._divided(X))]
        tiny = np.finfo(np.float64).tiny
        return np.asarray(np.exp(np.mean([np.log(np.maximum(each, tiny)) for each in sure], axis=0)))

    def _divided(self, X: csr_array) -> list[csr_array]:
        n, width = self.releases, X.shape[1] // self.releases
        if n * width != X.shape[1]:
            raise ParameterError(f"{X.shape[1]:,} columns are not {n:,} releases of the same items side by side")
        return [csr_array(X[:, k * width : (k + 1) * width]) for k in range(n)]


class OnUnion(Keeping):
    """All that was ever shown of a user."""

    short = "UNION-A"
    plain_name = "an attack on all releases together"
    summary = "LR-A on all that was ever released of a user"

    def look(self, releases: Releases) -> Sequence[csr_array]:
        """The union."""
        return [union(releases)]


class OnDifferences(Keeping):
    """The last release; and what came and what went from each release to the next."""

    short = "DIFF-A"
    plain_name = "an attack on the differences between releases"
    summary = "LR-A on the last release, and on how often each item came and went from one release to the next"

    def look(self, releases: Releases) -> Sequence[csr_array]:
        """The last release, and beside it the shares of steps in which an item came, and in which it went."""
        steps = list(pairwise(releases))
        came = [_without(after, before) for before, after in steps]
        went = [_without(before, after) for before, after in steps]
        return [side_by_side([releases[-1], *(_share(each, releases[-1]) for each in (came, went))])]


class OnTurnover(Keeping):
    """What has disappeared, and what has come since the first release; nothing else."""

    short = "TURN-A"
    plain_name = "an attack on what disappeared and what came"
    summary = "LR-A on what has disappeared since it was released, and on what came after the first release"

    def look(self, releases: Releases) -> Sequence[csr_array]:
        """What was ever shown and is not in the last release, and what is in it and was not in the first."""
        first, last = releases[0], releases[-1]
        return [side_by_side([_without(union(releases), last), _without(last, first)])]


class OnHistory(Keeping):
    """Every release as it is, side by side."""

    short = "HIST-A"
    plain_name = "an attack retrained on whole histories"
    summary = "LR-A on all releases side by side, learnt from histories of users whose value is known"

    def look(self, releases: Releases) -> Sequence[csr_array]:
        """The releases side by side."""
        return [side_by_side(releases)]


class OnShares(Keeping):
    """The last release, and in which share of the releases each item was shown."""

    short = "SHARE-A"
    plain_name = "an attack on how often items were shown"
    summary = "LR-A on the last release, and on the share of releases that show each item"

    def look(self, releases: Releases) -> Sequence[csr_array]:
        """The last release, and the shares beside it."""
        return [side_by_side([releases[-1], _share(releases, releases[-1])])]


class OnAverage(Keeping):
    """Each release alone, and the mean of what they tell: as for releases that were drawn without a key."""

    short = "MEAN-A"
    plain_name = "an attack on each release, averaged"
    summary = "LR-A on each release alone; the mean of what they tell, which averages draws without a key"

    def look(self, releases: Releases) -> Sequence[csr_array]:
        """One release after the other."""
        return releases


def _share(shown: Releases, like: csr_array) -> csr_array:
    """In which share of them an item is shown; nothing is shown where there are none."""
    if not shown:
        return csr_array(like.shape, dtype=like.dtype)
    counts = csr_array(reduce(lambda a, b: a + b, (_pattern(each) for each in shown)))
    counts.data = counts.data / np.float32(len(shown))
    return counts


def _pattern(X: Any) -> csr_array:
    return csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)


def _without(X: csr_array, other: csr_array) -> csr_array:
    """The entries of X where the other has none."""
    left = csr_array(X - X.multiply(_pattern(other)))
    left.eliminate_zeros()
    return left
