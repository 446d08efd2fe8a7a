"""Twin of the search of the goal "conceal": every candidate is predicted anew, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from attriguard.kernels.reference.arrays import Floats, Ints, dense

# A step small enough to tell a slope by.
SMALL = 1e-6


def conceal(
    x: Floats,
    posterior: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    target: Floats,
    belief: Floats,
    fixed: NDArray[np.bool_],
    additions: dict[int, float],
    most: int,
    *,
    tried: int = 10**9,
    price: float = -1.0,
) -> tuple[list[int], list[float]]:
    """The changes of one user's dense row, one after another, each the one with the least leakage after it.

    Own ratings that are not fixed may be removed; ``additions`` maps items that may be added to their value. Of all
    changes, the ``tried`` are looked at in whose direction the leakage falls fastest, by its differences. Gives the
    changed items in order, and the leakage before the first and after each, in nats: Σ belief · max(0, log(posterior /
    target)). Where no larger number of changes can be worth ``price`` nats each, or there is no leakage, no more is
    changed.
    """

    def leakage_of(row: NDArray[np.float64]) -> float:
        return float(belief @ np.maximum(np.log(np.maximum(posterior(row), 1e-300) / target), 0.0))

    now = x.astype(np.float64)
    left = [(int(j), 0.0) for j in np.flatnonzero(x) if not fixed[j]]
    left += [(j, entry) for j, entry in additions.items() if x[j] == 0 and not fixed[j]]
    changes, leakage = [], [leakage_of(now)]
    for k in range(min(most, len(left))):
        if price * (k + 1) > min(leakage[c] + price * c for c in range(k + 1)):
            break
        if leakage[k] == 0.0:
            break
        rises = [leakage_of(_moved(now, j, entry, SMALL)) for j, entry in left]
        promising = [left[k] for k in np.argsort(rises, kind="stable")[:tried]]
        after = [leakage_of(_moved(now, j, entry, 1.0)) for j, entry in promising]
        item, entry = promising[int(np.argmin(after))]
        left.remove((item, entry))
        now[item] = entry
        changes.append(item)
        leakage.append(min(after))
    return changes, leakage


def _moved(row: NDArray[np.float64], j: int, value: float, share: float) -> NDArray[np.float64]:
    """The row, with entry j a share of its way to the value."""
    moved = row.copy()
    moved[j] += share * (value - row[j])
    return moved


def mean_posterior(
    row: NDArray[np.float64], W1: Floats, b1: Floats, ends: Ints, outputs: Floats, b2: Floats, counts: Floats
) -> NDArray[np.float64]:
    """The mean of the members' softmax outputs; member c has the units ``ends[c]`` to ``ends[c + 1]``, and counts."""
    active = np.maximum(row @ W1.astype(np.float64) + b1, 0.0)
    total = np.zeros(b2.shape[1])
    for c in range(ends.size - 1):
        units = slice(int(ends[c]), int(ends[c + 1]))
        scores = outputs[:, units].astype(np.float64) @ active[units] + b2[c]
        weight = np.exp(scores - scores.max())
        total += float(counts[c]) * weight / weight.sum()
    return np.asarray(total)


def conceal_rows(
    indptr: Ints, indices: Ints, data: Floats,
    free: Ints, pool: Ints, entry: Floats, locked_indptr: Ints, locked: Ints,
    own_indptr: Ints, own_indices: Ints, own_data: Floats,
    W1: Floats, b1: Floats, ends: Ints, outputs: Floats, b2: Floats, counts: Floats,
    priors: Floats, truth: Ints, left: float, guessed: float,
    tried: int, price: float,
    start: int, stop: int,
    found: Ints, items: Ints, values: Floats, leakage: Floats,
) -> None:  # fmt: skip
    """`conceal` for users ``start`` to ``stop``; after the last change a user's leakage stays as it is."""
    X = dense(indptr, indices, data, W1.shape[0])
    said_by = dense(own_indptr, own_indices, own_data, W1.shape[0]) if own_indptr.size > 1 else X
    posterior = partial(mean_posterior, W1=W1, b1=b1, ends=ends, outputs=outputs, b2=b2, counts=counts)
    for u in range(start, stop):
        own = slice(int(indptr[u]), int(indptr[u + 1]))
        fixed = np.zeros(W1.shape[0], dtype=np.bool_)
        fixed[indices[own]] = free[own] == 0
        fixed[locked[locked_indptr[u] : locked_indptr[u + 1]]] = True
        additions = dict(zip(pool.tolist(), entry.tolist(), strict=True))
        value = int(truth[u]) if truth.size else -1
        known = value >= 0
        belief = np.eye(priors.size)[value] if known else posterior(said_by[u].astype(np.float64))
        target, most = priors.astype(np.float64) * (left if known else guessed), items.shape[1]
        changes, after = conceal(X[u], posterior, target, belief, fixed, additions, most, tried=tried, price=price)
        found[u] = len(changes)
        for k, item in enumerate(changes):
            items[u, k], values[u, k] = item, 0.0 if X[u, item] else additions[item]
        leakage[u, : len(after)], leakage[u, len(after) :] = after, after[-1]


def posterior_rows(
    indptr: Ints, indices: Ints, data: Floats, W1: Floats, b1: Floats, ends: Ints, outputs: Floats, b2: Floats,
    counts: Floats, start: int, stop: int, posterior: NDArray[np.float64],
) -> None:  # fmt: skip
    """`mean_posterior` of users ``start`` to ``stop``."""
    X = dense(indptr, indices, data, W1.shape[0])
    for u in range(start, stop):
        posterior[u] = mean_posterior(X[u].astype(np.float64), W1, b1, ends, outputs, b2, counts)
