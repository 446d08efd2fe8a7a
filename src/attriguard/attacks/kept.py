"""An attacker who keeps every release: he looks at all of them together, or at what differs between them.

Rows are the releases of a user side by side, the first one first; of users that the attacker knows, too, so that he
learns from histories such as those he attacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from attriguard._checks import check_choice, check_count
from attriguard.attacks.base import Attack
from attriguard.errors import ParameterError

Releases = Sequence[csr_array]


def union(releases: Releases) -> csr_array:
    """All that was ever shown of a user; of two ratings of an item the last one."""
    return reduce(lambda before, after: csr_array(after + _without(before, after)), releases)


def differences(releases: Releases) -> csr_array:
    """The last release, what has disappeared before it, and what has come since the first."""
    first, last = releases[0], releases[-1]
    return _beside(last, _without(union(releases), last), _without(last, first))


def shares(releases: Releases) -> csr_array:
    """The last release, and in which share of the releases each item was shown."""
    shown = csr_array(reduce(lambda a, b: a + b, (_pattern(release) for release in releases)))
    shown.data = shown.data / np.float32(len(releases))
    return _beside(releases[-1], shown)


# What the attacker looks at; an average is over what he infers from each release alone.
VIEWS: dict[str, Callable[[Releases], csr_array]] = {
    "last": lambda releases: releases[-1],
    "union": union,
    "differences": differences,
    "shares": shares,
}
AVERAGE = "average"


def side_by_side(releases: Releases) -> csr_array:
    """Releases of the same users as rows of this attack."""
    return _beside(*releases)


class Keeping(Attack):
    """Any attack, on all releases of a user so far.

    Parameters
    ----------
    base
        The attack that looks at the releases; it is not changed.
    view
        "union": all that was ever shown. "differences": the last release, what has disappeared, and what has come.
        "shares": how often each item was shown. "average": each release alone, and the mean of what they tell, as for
        releases that were drawn without a key. "last": nothing but the last release.
    releases
        How many of them stand side by side in a row.
    """

    plain_name = "an attack on all releases together"
    summary = "another attack, on everything that was ever released of a user"
    own_options = ("view", "releases")

    def __init__(self, base: Attack, view: str = "union", releases: int = 1) -> None:
        self.base = base
        self.view = view
        self.releases = releases

    @property
    def name(self) -> str:  # type: ignore[override]  # of an instance: it depends on the base
        """The name of the base attack, and what it looks at."""
        return f"{self.base.name} on the {self.view}"

    def check_options(self) -> None:
        """The view must be known."""
        check_choice(self.view, (*VIEWS, AVERAGE), name="view")
        check_count(self.releases, name="releases")
        self.base.check_options()

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        rows = self._seen(X)[-1]
        self._attack = self.base.untrained().fit(rows, codes, work=self._work, progress=self._progress)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        sure = [self._attack.predict_proba(rows) for rows in self._seen(X)]
        tiny = np.finfo(np.float64).tiny
        return np.asarray(np.exp(np.mean([np.log(np.maximum(each, tiny)) for each in sure], axis=0)))

    def _seen(self, X: csr_array) -> list[csr_array]:
        """What he looks at, one after the other."""
        n, width = self.releases, X.shape[1] // self.releases
        if n * width != X.shape[1]:
            raise ParameterError(f"{X.shape[1]:,} columns are not {n:,} releases of the same items side by side")
        parts = [csr_array(X[:, k * width : (k + 1) * width]) for k in range(n)]
        return parts if self.view == AVERAGE else [VIEWS[self.view](parts)]


def _pattern(X: csr_array) -> csr_array:
    return csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)


def _without(X: csr_array, other: csr_array) -> csr_array:
    """The entries of X where the other has none."""
    left = csr_array(X - X.multiply(_pattern(other)))
    left.eliminate_zeros()
    return left


def _beside(*parts: Any) -> csr_array:
    return csr_array(hstack(parts, format="csr"))
