"""New times for users: each as a visit that the user could have made.

A time between two neighbours, drawn evenly, would tell: the gaps beside it are too short. So several candidates are
proposed, each at a distance from one of the user's own times that is about one of the user's own gaps, and one of them
is taken with the weight f(a) · f(b) / f(a + b): how likely the user's own gaps f make it that a gap of a + b is two
gaps a and b. Everything depends on the user's own times alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attriguard.data.releases.chance import Draws

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
CANDIDATES = 16
# A gap is varied by up to this factor e^±JITTER, so that no two gaps are equal for no reason.
JITTER = 0.35
# Gaps are counted in bins of this width on the logarithm, up to the largest 64-bit number.
WIDTH = 0.5
BINS = int(46 / WIDTH) + 1


@dataclass(frozen=True, eq=False)
class Visits:
    """Users' times, user by user in the order of time; ``rows`` are the rows they stand in.

    User u has the times from ``start[u]`` on, ``count[u]`` of them. ``steps`` are, from the largest, what a user's
    times may all be multiples of, such as days; ``per_day`` is None where the length of a day is unknown.
    """

    users: Ints
    times: Ints
    rows: Ints
    n_users: int
    steps: list[int]
    per_day: int | None
    start: Ints = field(init=False)
    count: Ints = field(init=False)
    gaps: Ints = field(init=False)
    step: Ints = field(init=False)
    ties: Flags = field(init=False)
    shares: NDArray[np.float32] = field(init=False)
    usual: Floats = field(init=False)  # the density of each gap

    @classmethod
    def of(cls, users: Ints, times: Ints, rows: Ints, *, n_users: int, steps: list[int], per_day: int | None) -> Visits:
        """Sort the times of each user."""
        order = np.argsort(_keys(users, times), kind="stable")
        return cls(users[order], times[order], rows[order], n_users, steps, per_day)

    def __post_init__(self) -> None:
        count = np.bincount(self.users, minlength=self.n_users)
        start = np.cumsum(count) - count
        same = np.diff(self.users, append=-1) == 0
        gaps = np.where(same, np.diff(self.times, append=0), 0)
        step = _own_step(gaps, start, count, self.steps)
        ties = np.zeros(self.n_users, dtype=np.bool_)
        ties[self.users[same & (gaps == 0)]] = True
        shares = _shares(self.users[same], _log(gaps, step[self.users])[same], self.n_users)
        for name, value in (
            ("start", start), ("count", count), ("gaps", gaps), ("step", step), ("ties", ties), ("shares", shares)
        ):  # fmt: skip
            object.__setattr__(self, name, value)
        object.__setattr__(self, "usual", self.density(self.users, gaps))

    def density(self, users: Ints, gaps: Ints) -> Floats:
        """How likely a gap is for a user, up to a factor."""
        step = self.step[users]
        at = _log(gaps, step)
        left = np.minimum(at.astype(np.int64), BINS - 2)
        flat = self.shares.reshape(-1)
        base = users * BINS + left
        share = flat[base] + (at - left) * (flat[base + 1] - flat[base])
        return share / (gaps / step + 1.0)

    def draw(self, users: Ints, earliest: Ints, span: tuple[int, int], draws: Draws, turn: int) -> tuple[Ints, Ints]:
        """A time for each new row and the position of the own time beside it, -1 where none of the candidates will do.

        ``earliest`` is the first time that a new row may have; ``span`` the first and the last of the table.
        """
        best = np.full(users.size, np.inf)
        times, beside = np.zeros_like(users), np.full(users.size, -1, dtype=np.int64)
        able = self.count[users] > 1
        if not able.any():
            return times, beside
        low = np.maximum(earliest, span[0])
        for k in range(turn * CANDIDATES, (turn + 1) * CANDIDATES):
            time, position, weight = self._candidate(users, draws, k)
            weight = np.where(able & (time >= low) & (time <= span[1]), weight, 0.0)
            with np.errstate(divide="ignore"):
                race = -np.log1p(-draws.uniform("race", k)) / weight
            wins = race < best
            best[wins], times[wins], beside[wins] = race[wins], time[wins], position[wins]
        return times, beside

    def clash(self, users: Ints, times: Ints) -> Flags:
        """Which new rows have the time of another row of their user, for users who have no two rows at one time."""
        keys = _keys(np.concatenate((self.users, users)), np.concatenate((self.times, times)))
        old, new = keys[: self.times.size], keys[self.times.size :]
        found = np.searchsorted(old, new) < np.searchsorted(old, new, side="right")
        order = np.argsort(new, kind="stable")
        found[order[1:][np.diff(new[order]) == 0]] = True
        return found & ~self.ties[users]

    def _candidate(self, users: Ints, draws: Draws, k: int) -> tuple[Ints, Ints, Floats]:
        """A time beside one of the user's own, the position of the own one, and the candidate's weight."""
        count, start, step = self.count[users], self.start[users], self.step[users]
        slot = draws.choice("slot", count + 1, k)
        behind = np.where(slot == 0, False, np.where(slot == count, True, draws.uniform("side", k) < 0.5))
        position = np.minimum(start + np.where(behind, slot - 1, slot), self.times.size - 1)
        own = self.gaps[np.minimum(start + draws.choice("gap", np.maximum(count - 1, 1), k), self.gaps.size - 1)]
        wide = own * np.exp(JITTER * (2 * draws.uniform("jitter", k) - 1))
        distance = np.where(own == 0, 0, np.maximum(1, np.rint(wide / step)).astype(np.int64)) * step
        distance = self._at_own_hour(users, position, np.where(behind, distance, -distance), draws, k)
        inner = (slot > 0) & (slot < count)
        at = np.clip(start + slot - 1, 0, self.gaps.size - 1)
        rest = np.where(inner, self.gaps[at] - np.abs(distance), 0)
        fits = np.where(inner, rest >= np.where(self.ties[users], 0, step), True)
        a, b = self.density(users, np.abs(distance)), self.density(users, np.maximum(rest, 0))
        weight = np.where(inner, 2 * a * b / ((a + b) * self.usual[at]), 1.0)
        return self.times[position] + distance, position, np.where(fits, weight, 0.0)

    def _at_own_hour(self, users: Ints, position: Ints, distance: Ints, draws: Draws, k: int) -> Ints:
        """A distance of half a day and more leads to about the hour of one of the user's own times."""
        day, step = self.per_day, self.step[users]
        if day is None or day == 1:
            return distance
        other = self.start[users] + draws.choice("hour", self.count[users], k)
        other_time = self.times[np.minimum(other, self.times.size - 1)]
        # An hour at random within half an hour, in steps of the user's.
        spread = np.rint((draws.uniform("minutes", k) - 0.5) * (day / 24) / step).astype(np.int64) * step
        hour = (other_time - self.times[position] + spread) % day
        moved = np.rint((distance - hour) / day).astype(np.int64) * day + hour
        same_side = np.sign(moved) == np.sign(distance)
        return np.where((np.abs(distance) >= day // 2) & (step < day) & same_side, moved, distance)


def _keys(users: Ints, times: Ints) -> Ints:
    """Numbers that are in the order of users, and of times for one user."""
    low, high = (int(times.min()), int(times.max())) if times.size else (0, 0)
    if (int(users.max(initial=0)) + 1) * (high - low + 1) >= 2**62:
        times = np.unique(times, return_inverse=True)[1]
        low, high = 0, times.size
    return users * (high - low + 1) + (times - low)


def _own_step(gaps: Ints, start: Ints, count: Ints, steps: list[int]) -> Ints:
    """For each user the largest step that all of the user's gaps are multiples of."""
    shared = np.zeros(count.size, dtype=np.int64)
    having = count > 0
    if having.any():
        shared[having] = np.gcd.reduceat(gaps, start[having])
    result = np.full(count.size, steps[-1], dtype=np.int64)
    for step in reversed(steps):
        result[(shared > 0) & (shared % step == 0)] = step
    return result


def _log(gaps: Ints, step: Ints) -> Floats:
    """The place of a gap on the scale of bins."""
    return np.minimum(np.log1p(gaps / step) / WIDTH, BINS - 1)


def _shares(users: Ints, at: Floats, n_users: int) -> NDArray[np.float32]:
    """How many of a user's gaps are near the middle of each bin; one more is spread around the user's usual gap."""
    nearest = np.rint(at).astype(np.int64)
    counts = np.bincount(users * BINS + nearest, minlength=n_users * BINS).reshape(n_users, BINS).astype(np.float32)
    smooth = counts.copy()
    smooth[:, 1:] += counts[:, :-1]
    smooth[:, :-1] += counts[:, 1:]
    usual = np.bincount(users, weights=at, minlength=n_users) / np.maximum(np.bincount(users, minlength=n_users), 1)
    far = np.abs(np.arange(BINS, dtype=np.float32) - usual[:, None].astype(np.float32))
    smooth += np.float32(0.5) * np.exp(far * np.float32(-WIDTH / 1.5))
    return smooth
