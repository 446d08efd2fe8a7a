"""Releases of ratings that arrive over time: redrawn each time, under a key, or with a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.data.public_data import PublicData
from attriguard.guard import AttriGuard
from attriguard.ledger.entries import Entries
from attriguard.ledger.standing import stand
from attriguard.progress import Progress

REDRAWN, KEYED, LEDGER, CAPPED = "redrawn", "keyed", "ledger", "ledger, capped"
SCHEMES = (REDRAWN, KEYED, LEDGER, CAPPED)


def arrivals(X: csr_array, releases: int, seed: int, *, first: float) -> NDArray[np.int64]:
    """When each entry arrives, as the number of a release: a share ``first`` in the first, the others evenly after it.

    Each user's ratings arrive in a random order of their own.
    """
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    order = np.lexsort((rng.random(X.nnz), user))
    place = np.empty(X.nnz)
    place[order] = np.arange(X.nnz) - X.indptr[user[order]]
    rank = (place + rng.random(X.shape[0])[user]) / np.diff(X.indptr)[user]
    later = np.clip(np.floor((rank - first) / (1.0 - first) * (releases - 1)), 0, releases - 2) + 1
    return np.where(rank < first, 0, later).astype(np.int64)


def dated_arrivals(days: NDArray[np.int64], releases: int, *, first: float) -> NDArray[np.int64]:
    """The same for ratings with dates: a share ``first`` of all is there at the first release, the others come evenly.

    Users who come later are not in the first releases.
    """
    start, end = np.quantile(days, first), days.max() + 1
    step = np.floor((days - start) / (end - start) * (releases - 1)) + 1
    return np.where(days <= start, 0, np.clip(step, 1, releases - 1)).astype(np.int64)


def upto(data: PublicData, arrival: NDArray[np.int64], release: int) -> PublicData:
    """The data as it stands at a release."""
    there = arrival <= release
    ends = np.concatenate(([0], np.cumsum(there)))[data.X.indptr]
    X = csr_array((data.X.data[there], data.X.indices[there], ends), shape=data.X.shape)
    return replace(data, X=X, source=None)


@dataclass(frozen=True, eq=False)
class History:
    """The releases of the same users, one after the other, and how many ratings were changed in the last one."""

    releases: tuple[csr_array, ...]
    changes: float  # a user, on average: hidden, added or changed since the first release


def histories(
    data: PublicData,
    arrival: NDArray[np.int64],
    guards: Sequence[AttriGuard],
    key: bytes,
    seed: int,
    ever: int,
    progress: Progress,
) -> dict[str, History]:
    """Release the data once with each guard: by every scheme, the same guards and the same budgets.

    With the capped ledger, no user gets more than ``ever`` changes over all releases.
    """
    shown: dict[str, list[csr_array]] = {scheme: [] for scheme in SCHEMES}
    told = {LEDGER: Entries.of_arrow([]), CAPPED: Entries.of_arrow([])}
    parts = progress.parts(*np.ones(len(guards)))
    for t, (guard, part) in enumerate(zip(guards, parts, strict=True)):
        now = upto(data, arrival, t)
        anew, after = part.parts(1, 1)
        plan = guard.plan(now.X, users=now.users, progress=anew)
        shown[REDRAWN].append(plan.release(seed + t))
        shown[KEYED].append(plan.release(key=key))
        for scheme, most in ((LEDGER, None), (CAPPED, ever)):
            released, told[scheme] = _with_ledger(now, guard, told[scheme], (key, t), most, after)
            shown[scheme].append(released)
    changes = {scheme: changed(now.X, releases[-1]) for scheme, releases in shown.items()}
    return {scheme: History(tuple(shown[scheme]), changes[scheme]) for scheme in SCHEMES}


def _with_ledger(
    now: PublicData, guard: AttriGuard, told: Entries, keyed: tuple[bytes, int], ever: int | None, progress: Progress
) -> tuple[csr_array, Entries]:
    """The next release, and all that was told by then; a user's row number stands for his hash."""
    numbers = np.arange(now.n_users, dtype=np.uint64)
    standing = stand(now, now.items, told, numbers)
    news, (key, t) = standing.news, keyed
    most = None if ever is None else np.maximum(ever - standing.spent[news], 0)
    how = {"locked": standing.locked(None), "own": standing.own, "most": most, "users": now.users[news]}
    plan = guard.plan(standing.known, **how, progress=progress)
    choice = plan.draw(key=key, turn=0 if plan.target is not None else t)
    released = standing.released(plan.edits.apply(plan.X, choice))
    row, entries = standing.told_now(released, np.full(now.n_users, -1, dtype=np.int64), t + 1)
    new = replace(entries, user=numbers[row])
    return released, Entries.of_arrow([told.to_arrow(), new.to_arrow()])


def changed(X: csr_array, released: csr_array) -> float:
    """Entries that differ, a user, on average."""
    return float((released != X).nnz / max(X.shape[0], 1))
