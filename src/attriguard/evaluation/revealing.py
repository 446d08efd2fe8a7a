"""Which items give the attribute away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

# An item that fewer users have rated says more about these users than about the attribute. It is not shown.
FEWEST_USERS = 10


@dataclass(frozen=True)
class RevealingItem:
    """An item, the value it points to, and how strongly."""

    column: int
    users: int
    bits: float  # mutual information between "has rated it" and the attribute
    value: int
    lift: float  # how many times as frequent the value is among the users who have rated the item


def revealing_items(X: csr_array, y: NDArray[np.int64], m: int, *, most: int = 20) -> list[RevealingItem]:
    """The items whose presence says most about the attribute, by mutual information."""
    disclosed = y >= 0
    onehot = np.zeros((int(disclosed.sum()), m))
    onehot[np.arange(onehot.shape[0]), y[disclosed]] = 1.0
    rated = X[disclosed].copy()
    rated.data = np.ones_like(rated.data)
    n = onehot.shape[0]
    with_item = np.asarray(rated.T @ onehot)  # (items, m): users of each value who have rated the item
    totals = onehot.sum(axis=0)
    users = with_item.sum(axis=1)
    bits = _information(with_item, users, totals, n) + _information(totals - with_item, n - users, totals, n)
    shown = np.flatnonzero(users >= FEWEST_USERS)
    best = shown[np.argsort(-bits[shown], kind="stable")][:most]
    found = []
    for column in best:
        lift = (with_item[column] / users[column]) / (totals / n)
        value = int(np.argmax(np.where(with_item[column] > 0, lift, 0.0)))
        found.append(RevealingItem(int(column), int(users[column]), float(bits[column]), value, float(lift[value])))
    return found


def _information(
    joint: NDArray[np.float64], row: NDArray[np.float64], totals: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Σ p(a, b) log2 p(a, b) / (p(a) p(b)) over the values, for one state of every item."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint / n * np.log2(joint * n / (row[:, None] * totals))
    return np.asarray(np.nan_to_num(terms).sum(axis=1))
