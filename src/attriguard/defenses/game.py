"""The game-theoretic optimum (appendix A): the mechanism with the least privacy loss, by linear programming.

The attacker knows Pr(s, x) and the mechanism f(x'|x) and infers the best ŝ for what he sees. The defender chooses f:

    min Σ_x' y_x'   with   y_x' >= Σ_s Σ_x Pr(s, x) f(x'|x) d_p(s, ŝ)  for all x', ŝ   (what the attacker gets)
                           Σ_x,x' Pr(x) f(x'|x) d_q(x, x') <= β                         (the utility loss)
                           Σ_x' f(x'|x) = 1 for all x,   f >= 0

It has a variable for every pair of points, so it serves as a yardstick on small domains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import SUM_TOLERANCE, check_choice, check_number
from attriguard.defenses.game_size import MAX_VARIABLES, ProgramSize, check_size
from attriguard.errors import AttriGuardError, ParameterError

UTILITIES = ("l0", "l2")


@dataclass(frozen=True, eq=False, kw_only=True)
class Optimum:
    """The best mechanism for a budget."""

    channel: NDArray[np.float64]  # (n, n): f(x'|x), rows sum to 1
    privacy_loss: float
    utility_loss: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Game:
    """Everything but the mechanism; ``make_game`` checks and completes it."""

    joint: NDArray[np.float64]  # (m, n): Pr(s, x)
    privacy: NDArray[np.float64]  # (m, m): d_p(s, ŝ)
    utility: NDArray[np.float64]  # (n, n): d_q(x, x')

    @property
    def size(self) -> ProgramSize:
        """How large the linear program is."""
        return ProgramSize(points=self.joint.shape[1], values=self.joint.shape[0])

    def privacy_loss(self, channel: ArrayLike) -> float:
        """Σ_x' max_ŝ Σ_s Σ_x Pr(s, x) f(x'|x) d_p(s, ŝ): what the best attacker gets, whatever the mechanism."""
        seen = self.joint @ self._channel(channel)
        return float((self.privacy.T @ seen).max(axis=0).sum())

    def utility_loss(self, channel: ArrayLike) -> float:
        """L = Σ_x,x' Pr(x) f(x'|x) d_q(x, x')."""
        return float(self.joint.sum(axis=0) @ np.einsum("xz,xz->x", self._channel(channel), self.utility))

    @property
    def unprotected(self) -> float:
        """The privacy loss of the data as it is."""
        return float((self.privacy.T @ self.joint).max(axis=0).sum())

    @property
    def guessing(self) -> float:
        """The privacy loss of an attacker who sees nothing; no mechanism leaves less."""
        return float((self.privacy.T @ self.joint.sum(axis=1)).max())

    def solve(self, budget: float, *, max_variables: int = MAX_VARIABLES) -> Optimum:
        """The mechanism with the least privacy loss whose utility loss is at most ``budget``."""
        budget = check_number(budget, name="budget", low=0.0)
        check_size(self.size.points, self.size.values, max_variables)
        channel = _solve(self, budget)
        return Optimum(
            channel=channel, privacy_loss=self.privacy_loss(channel), utility_loss=self.utility_loss(channel)
        )

    def _channel(self, channel: ArrayLike) -> NDArray[np.float64]:
        f = np.asarray(channel, dtype=np.float64)
        if f.shape != self.utility.shape:
            raise ParameterError(f"a mechanism has a row and a column a point, {self.utility.shape}, got {f.shape}")
        if not (f >= -SUM_TOLERANCE).all() or np.abs(f.sum(axis=1) - 1).max() > SUM_TOLERANCE:
            raise ParameterError("every row of a mechanism must be a distribution: no negative entry, sum 1")
        return f


def make_game(
    points: ArrayLike, joint: ArrayLike, *, privacy: ArrayLike | None = None, utility: str | ArrayLike = "l0"
) -> Game:
    """A game over ``points`` (n, items), with ``joint`` (m, n) the probability of each value and point.

    ``privacy``: d_p, (m, m); 1 where the attacker is right and 0 elsewhere if not given. ``utility``: d_q, "l0" or "l2"
    of the noise, or (n, n) numbers.
    """
    p = _check_joint(joint)
    m, n = p.shape
    domain = np.asarray(points, dtype=np.float64)
    if domain.ndim != 2 or domain.shape[0] != n:
        raise ParameterError(f"the joint distribution has {n:,} points, but the points have shape {domain.shape}")
    d_p = np.eye(m) if privacy is None else _check_table(privacy, m, "privacy")
    if isinstance(utility, str):
        d_q = _distances(domain, check_choice(utility, UTILITIES, name="utility"))
    else:
        d_q = _check_table(utility, n, "utility")
        if np.diagonal(d_q).any():
            raise ParameterError("utility must be 0 on the diagonal: data released as it is loses nothing")
    return Game(joint=p, privacy=d_p, utility=d_q)


def _check_joint(joint: ArrayLike) -> NDArray[np.float64]:
    p = np.asarray(joint, dtype=np.float64)
    if p.ndim != 2 or not p.size or not np.isfinite(p).all() or (p < 0).any():
        raise ParameterError(
            "the joint distribution must be a table (values × points) of numbers that are not negative"
        )
    if abs(p.sum() - 1) > SUM_TOLERANCE:
        raise ParameterError(f"the joint distribution must sum to 1, but sums to {p.sum():.6g}")
    return p / p.sum()


def _check_table(table: ArrayLike, size: int, name: str) -> NDArray[np.float64]:
    numbers = np.asarray(table, dtype=np.float64)
    if numbers.shape != (size, size) or not np.isfinite(numbers).all() or (numbers < 0).any():
        raise ParameterError(
            f"{name} must be {size:,} × {size:,} numbers that are finite and not negative, got shape {numbers.shape}"
        )
    return numbers


def _distances(points: NDArray[np.float64], norm: str) -> NDArray[np.float64]:
    distance = np.zeros((points.shape[0], points.shape[0]))
    for entry in points.T:  # item by item: (n, n, items) numbers would not fit where (n, n) do
        noise = entry[:, None] - entry[None, :]
        distance += noise != 0 if norm == "l0" else noise**2
    return distance if norm == "l0" else np.sqrt(distance)


def _solve(game: Game, budget: float) -> NDArray[np.float64]:
    """f of the linear program, by HiGHS."""
    from scipy.optimize import linprog

    n = game.utility.shape[0]
    # A point that never occurs is released as it is: what f does there changes neither loss.
    present = np.flatnonzero(game.joint.sum(axis=0) > 0)
    bounded, limits, sums = _program(game, present, budget)
    k = present.size
    cost = np.concatenate([np.zeros(k * n), np.ones(n)])
    bounds = np.tile([[0.0, np.inf]], (cost.size, 1))
    result = linprog(cost, A_ub=bounded, b_ub=limits, A_eq=sums, b_eq=np.ones(k), bounds=bounds, method="highs")
    if result.status != 0:
        raise AttriGuardError(f"the game-theoretic optimum was not found: {result.message}")
    f = np.maximum(result.x[: k * n].reshape(k, n), 0.0)
    channel = np.eye(n)
    channel[present] = f / f.sum(axis=1, keepdims=True)
    return channel


def _program(game: Game, present: NDArray[np.int64], budget: float) -> tuple[csr_array, NDArray[np.float64], csr_array]:
    """A_ub, b_ub and A_eq. Variables: f(x'|x), row by row for the points that occur, then y.

    Probabilities are counted in n-ths, so that they are about 1 and not as small as the solver's tolerance.
    """
    from scipy.sparse import block_array, eye_array, kron

    n, k = game.utility.shape[0], present.size
    joint = game.joint[:, present] * n
    gains = game.privacy.T @ joint  # (m, k): at x, what the attacker gets for each ŝ
    spent = (joint.sum(axis=0)[:, None] * game.utility[present]).reshape(1, -1)
    attacker = [kron(csr_array(row[None, :]), eye_array(n)) for row in gains]
    blocks = [[csr_array(spent), None], *([part, -eye_array(n)] for part in attacker)]
    limits = np.concatenate([[budget * n], np.zeros(n * gains.shape[0])])
    sums = kron(eye_array(k), np.ones((1, n)))
    return block_array(blocks, format="csr"), limits, block_array([[sums, csr_array((k, n))]], format="csr")
