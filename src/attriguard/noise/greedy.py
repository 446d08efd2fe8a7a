"""PANDA and its margin variant: Algorithm 1 of the paper.

Differences from the printed algorithm, all of them needed:

* Under Add_New the printed arg max has no factor (1 − x̄_j), so with τ = 1 it would pick the same saturated entry for
  ever. An entry that has reached its bound is no candidate here, under any policy.
* Where no entry can raise the objective any more, the printed loop would change nothing until maxiter; here it ends.
* `margin` may meet another rival after every step. An entry it has raised it does not lower again, nor the reverse, so
  it ends; where it ends without success, PANDA is tried.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._progress import Progress
from attriguard.classifiers.base import Classifier, linear_parts
from attriguard.classifiers.module import ModuleClassifier
from attriguard.classifiers.network import NetworkClassifier
from attriguard.errors import ParameterError
from attriguard.kernels.rows import rows_of
from attriguard.kernels.threads import over_users
from attriguard.noise.base import NoiseSearch, Rules
from attriguard.noise.candidates import classifier_candidates
from attriguard.noise.edits import Edits
from attriguard.noise.pairs import Engine, search_pairs

# Edits a (user, value) that the first buffer of a range of users has room for.
EDITS_A_PAIR = 4


class GreedySearch(NoiseSearch):
    """One entry after another, the one with the largest gain first, until C infers the value."""

    on_margin: ClassVar[bool]

    def _find(
        self,
        classifier: Classifier,
        X: csr_array,
        rules: Rules,
        kappa: NDArray[np.float64],
        locked: csr_array,
        progress: Progress | None = None,
    ) -> Edits:
        if classifier.is_linear:
            return self._find_linear(classifier, X, rules, kappa, locked)
        return search_pairs(
            engine_of(classifier),
            X,
            rules,
            kappa,
            locked,
            m=classifier.m,
            margin=self.on_margin,
            progress=progress,
        )

    def _find_linear(
        self,
        classifier: Classifier,
        X: csr_array,
        rules: Rules,
        kappa: NDArray[np.float64],
        locked: csr_array,
    ) -> Edits:
        from attriguard.kernels.greedy import EXTENDED, REACHED, greedy_search

        W, b = linear_parts(classifier)
        n, m = X.shape[0], W.shape[1]
        lists = classifier_candidates(classifier, W, rules.upper, margin=self.on_margin)
        rows, locked_rows = rows_of(X), rows_of(locked)
        counts = np.empty((n, m), dtype=np.int32)
        flags = np.empty((n, m), dtype=np.uint8)

        def search(start: int, stop: int) -> list[tuple[NDArray[np.int32], NDArray[np.float32]]]:
            parts = []
            room = max(1024, (stop - start) * m * EDITS_A_PAIR)
            while start < stop:
                items, values = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.float32)
                done, used = greedy_search(
                    *rows, *locked_rows[:2], W, b, rules.upper, rules.jump,
                    lists.items, lists.end, lists.whole,
                    rules.policy.modify, rules.policy.add, self.on_margin, rules.extend,
                    rules.step, rules.levels, kappa, rules.max_steps,
                    start, stop, counts, flags, items, values,
                )  # fmt: skip
                if done == start:  # not even one user fits
                    room *= 2
                    continue
                parts.append((items[:used].copy(), values[:used].copy()))
                start = done
            return parts

        parts = [part for chunk in over_users(n, search) for part in chunk]
        indptr = np.zeros(n * m + 1, dtype=np.int64)
        np.cumsum(counts.ravel(), out=indptr[1:])
        return Edits(
            indptr=indptr,
            items=np.concatenate([items for items, _ in parts] or [np.empty(0, dtype=np.int32)]),
            values=np.concatenate([values for _, values in parts] or [np.empty(0, dtype=np.float32)]),
            cost=counts.astype(np.float64),
            success=(flags & REACHED).astype(np.bool_),
            extended=(flags & EXTENDED).astype(np.bool_),
        )


def engine_of(classifier: Classifier) -> Engine:
    """How a classifier that is not linear gives its gradients."""
    if isinstance(classifier, NetworkClassifier):
        from attriguard.noise.hidden_layer import HiddenLayer

        return HiddenLayer(classifier)
    if isinstance(classifier, ModuleClassifier):
        from attriguard.noise.autograd import Autograd

        return Autograd(classifier)
    raise ParameterError(
        f"this search needs a linear classifier, a network or a torch.nn.Module, got {type(classifier).__name__}"
    )


class Panda(GreedySearch):
    """The paper's search: greedy on C_i."""

    name = "panda"
    summary = "the paper's Algorithm 1: greedy on the value's own decision function"
    on_margin = False


class Margin(GreedySearch):
    """Greedy on C_i − max C_k: on linear classifiers less noise, which transfers better."""

    name = "margin"
    summary = "Algorithm 1 on the lead over the closest other value"
    on_margin = True
