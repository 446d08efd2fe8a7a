"""A semi-supervised attacker: he also learns from the rows that he attacks, as far as he is sure of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from attriguard._checks import check_count, check_number
from attriguard.attacks.base import Attack


class SelfTrained(Attack):
    """Any attack, trained again on what it infers from the attacked rows (self-training).

    **A row's prediction depends on the rows that are given with it** (``learns_from_batch``): ``predict_proba`` takes
    everything that was released at once. It labels the rows with what the attack infers, keeps those it is surest of,
    and trains a new attack on the attacker's own users and on these. The values of the attacked users are not used.

    An attacker who knows the guard as well is ``Retrained(SelfTrained(base), guard)``: the guard protects the
    attacker's own users, and the attacked rows stay as they were released.

    Parameters
    ----------
    base
        The attack to train; it is not changed.
    rounds
        How often the attacked rows are labelled and learnt from.
    share
        The share of the rows with the same inferred value that is learnt from: the surest.
    """

    plain_name = "an attack that also learns from the rows it attacks"
    summary = "another attack, trained again on what it infers from the attacked rows"
    learns_from_batch = True

    def __init__(self, base: Attack, *, rounds: int = 2, share: float = 0.5) -> None:
        self.base = base
        self.rounds = rounds
        self.share = share

    @property
    def name(self) -> str:  # type: ignore[override]  # of an instance: it depends on the base
        """The name of the base attack, followed by "self-trained"."""
        return f"{self.base.name} self-trained"

    def check_options(self) -> None:
        """There must be at least one round, and the share must lie in (0, 1]."""
        check_count(self.rounds, name="rounds")
        check_number(self.share, name="share", low=0.0, high=1.0, open_low=True)
        self.base.check_options()

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        self._own = X, codes
        self._attack = self.base.untrained().fit(X, codes, work=self._work, progress=self._progress)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        if not X.shape[0]:
            return np.empty((0, self.classes_.size))
        sure = self._attack.predict_proba(X)
        own, codes = self._own
        for _ in range(self.rounds):
            chosen = surest(sure, self.share)
            rows = csr_array(vstack([own, X[chosen]], format="csr"))
            labels = np.concatenate([codes, sure[chosen].argmax(axis=1)])
            sure = self.base.untrained().fit(rows, labels).predict_proba(X)
        return sure


def surest(sure: NDArray[np.float64], share: float) -> NDArray[np.int64]:
    """For every inferred value, the rows that an attack is surest of: this share of them, rounded up."""
    inferred, most = sure.argmax(axis=1), sure.max(axis=1)
    chosen = []
    for value in np.unique(inferred):
        rows = np.flatnonzero(inferred == value)
        order = np.argsort(-most[rows], kind="stable")
        chosen.append(rows[order[: int(np.ceil(share * rows.size))]])
    return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *chosen]))
