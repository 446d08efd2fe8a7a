"""AT-A: adversarial training. NN-A learns from rows that were changed to mislead."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice, check_rng
from attriguard.attacks._aware import KnowsGuard, check_guard
from attriguard.attacks._network import NetworkAttack
from attriguard.classifiers.maths import softmax
from attriguard.classifiers.network import ATTACKER_UNITS, OWN, Weights

KINDS = ("attriguard", "l0-pgd")
# Users whose gradients are computed at a time: (users × items) numbers are in memory.
BLOCK = 256


class AdversarialTraining(KnowsGuard, NetworkAttack):
    """NN-A, trained on rows that were changed to mislead it.

    Parameters
    ----------
    guard
        The fitted guard; needed for ``adversarial="attriguard"``.
    adversarial
        "attriguard": as in the paper, the guard protects every training user once. "l0-pgd": from the second epoch on,
        ``changes`` entries of every user are set to the bound that raises the current network's loss most.
    changes, rounds
        For "l0-pgd": how many entries of a user are changed, in how many rounds of gradients.
    hidden, epochs, recipe, random_state
        As for NN-A.
    """

    name = "AT-A"
    plain_name = "neural network, adversarially trained"
    summary = "a neural network that learns from ratings changed to mislead it"
    needs = ("guard", "nn")

    def __init__(
        self,
        *,
        guard: Any = None,
        adversarial: str = "attriguard",
        changes: int = 4,
        rounds: int = 2,
        hidden: int = ATTACKER_UNITS,
        epochs: int | None = None,
        recipe: str = OWN,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(hidden=hidden, epochs=epochs, recipe=recipe, random_state=random_state)
        self.guard = guard
        self.adversarial = adversarial
        self.changes = changes
        self.rounds = rounds

    def check_options(self) -> None:
        """The kind of training must be known, and its guard there and fitted."""
        if check_choice(self.adversarial, KINDS, name="adversarial training") == "attriguard":
            check_guard(self.guard, self.name)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        if self.adversarial == "attriguard":
            self._progress.tell("protecting the attacker's users")
            self.network_ = self._learn(self.guard.plan(X).release(check_rng(self.random_state)), codes)
            return
        from attriguard.attacks._soft import one_hot, train_soft

        truth = one_hot(codes, self.classes_.size)

        def refresh(weights: Weights, epoch: int) -> csr_array:
            return X if epoch == 1 else l0_pgd(weights, X, truth, changes=self.changes, rounds=self.rounds)

        self.network_ = train_soft(self._new_network(), X, truth, refresh=refresh, progress=self._progress)


def l0_pgd(weights: Weights, X: csr_array, truth: NDArray[np.float32], *, changes: int, rounds: int) -> csr_array:
    """Everyone's rows with at most ``changes`` entries moved to a bound, up the loss's gradient."""
    from scipy.sparse import vstack

    share = [changes // rounds + (k < changes % rounds) for k in range(rounds)]
    blocks = []
    for start in range(0, X.shape[0], BLOCK):
        rows = X[start : start + BLOCK].toarray()
        moved = np.zeros(rows.shape, dtype=np.bool_)
        for count in share:
            _move(weights, rows, moved, truth[start : start + BLOCK], count)
        blocks.append(csr_array(rows))
    return csr_array(vstack(blocks, format="csr"))


def _move(
    weights: Weights,
    rows: NDArray[np.float32],
    moved: NDArray[np.bool_],
    truth: NDArray[np.float32],
    count: int,
) -> None:
    """In place: the ``count`` entries a row that raise the loss most, by first order, go to their bound."""
    if not count:
        return
    pre = csr_array(rows) @ weights.W1 + weights.b1
    error = softmax(np.maximum(pre, 0) @ weights.W2 + weights.b2) - truth
    slope = ((error @ weights.W2.T) * (pre > 0)) @ weights.W1.T
    gain = np.where(slope > 0, (1 - rows) * slope, -rows * slope)
    gain[moved] = 0
    best = np.argpartition(-gain, count - 1, axis=1)[:, :count]
    at = np.arange(rows.shape[0])[:, None]
    useful = gain[at, best] > 0
    rows[at, best] = np.where(useful, slope[at, best] > 0, rows[at, best])
    moved[at, best] = True
