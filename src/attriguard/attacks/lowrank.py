"""LRA-A: low-rank approximation. NN-A learns from rows that a matrix factorisation has de-noised."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from attriguard._checks import check_count, check_rng
from attriguard.attacks._network import NetworkAttack
from attriguard.classifiers.maths import softmax
from attriguard.classifiers.network import ATTACKER_UNITS, OWN


class LowRank(NetworkAttack):
    """The de-noised row of a user is U V, with V (rank × items) learnt from the training users.

    It is never made: with an orthonormal basis Q of V's rows, V = L Q, the first layer sees U V W1 = (U L)(Q W1), and a
    step of SGD on W1 changes nothing but Q W1. So the network learns on U L, rank numbers a user, as it would on the
    rows themselves.

    With ``noisy_matrix`` the rows that are attacked are factorised together with the training users', as the paper
    has it; the network then learns anew for every table that is attacked.
    """

    name = "LRA-A"
    plain_name = "neural network on de-noised data"
    summary = "a neural network on ratings that a matrix factorisation has de-noised"

    def __init__(
        self,
        *,
        rank: int = 500,
        iterations: int = 40,
        noisy_matrix: bool = False,
        hidden: int = ATTACKER_UNITS,
        epochs: int | None = None,
        recipe: str = OWN,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(hidden=hidden, epochs=epochs, recipe=recipe, random_state=random_state)
        self.rank = rank
        self.iterations = iterations
        self.noisy_matrix = noisy_matrix

    @property
    def learns_from_batch(self) -> bool:
        """With ``noisy_matrix``."""
        return self.noisy_matrix

    def check_options(self) -> None:
        """Rank and iterations must be whole numbers, 1 or more."""
        check_count(self.rank, name="rank")
        check_count(self.iterations, name="iterations")

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        if self.noisy_matrix:
            self._known = X, codes  # what is learnt depends on the rows that are attacked
        else:
            self._learn_from(X, codes, X)

    def _learn_from(self, X: csr_array, codes: NDArray[np.int64], matrix: csr_array) -> None:
        """Factorise the matrix, and learn from the de-noised rows of X."""
        from attriguard.attacks._factors import factorise
        from attriguard.attacks._soft import one_hot, train_soft

        rank = min(int(self.rank), *matrix.shape)
        network = self._new_network()
        factorising, training = self._progress.parts(1, 2)
        count = factorising.counter(self.iterations, f"factorising, rank {rank}")
        chance = check_rng(self.random_state)
        self._V = factorise(matrix, rank, iterations=self.iterations, chance=chance, count=count)
        self._L = np.asarray(np.linalg.qr(self._V.T, mode="r")).T
        self.network_ = train_soft(
            network,
            self._rows(X),
            one_hot(codes, self.classes_.size),
            inputs=X.shape[1],  # Q W1 is as large, entry by entry, as W1
            progress=training,
        )

    def _rows(self, X: csr_array) -> NDArray[np.float32]:
        from attriguard.attacks._factors import factors_of

        return np.asarray(factors_of(X, self._V, iterations=self.iterations) @ self._L, dtype=np.float32)

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        if self.noisy_matrix:
            rows, codes = self._known
            self._learn_from(rows, codes, csr_array(vstack([rows, X], format="csr")))
        w, sure = self.network_.weights, np.empty((X.shape[0], self.classes_.size))
        block = max(1, 2**24 // w.b1.size)
        rows = self._rows(X)
        for start in range(0, X.shape[0], block):
            active = np.maximum(rows[start : start + block] @ w.W1 + w.b1, 0)
            sure[start : start + block] = softmax(active @ w.W2 + w.b2)
        return sure
