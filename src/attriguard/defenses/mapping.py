"""The convex program of Calmon and Fawaz (2012): the map with the least information about S in a distortion bound.

Given P(s, u) and d(u, û), choose P(û | u) with least mutual information I(S; Û) under E[d(U, Û)] ≤ Δ. The objective is
smooth relative to the entropy, so mirror descent fits: a step multiplies P(û | u) by exp(-η g - λ d), where g(u, û) =
Σ_s P(s | u) log(P(s, û) / P(s) P(û)) and λ ≥ 0 is what keeps the bound. With η = 1 it is an alternating minimisation in
the manner of Blahut and Arimoto, and never fails to improve; a longer step is taken where it keeps the same promise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The descent stops this near to the optimum (nats; certified), or where a round of steps gains less, or after so many.
TOLERANCE = 1e-5
LEAST_GAIN = 1e-7
ROUND = 20
MAX_ROUNDS = 50
# A step may leave this share of the bound unused: the multiplier needs not be found more exactly.
SLACK = 1e-5
MAX_TRIES = 100
# No probability falls below e^-60 of its row's largest: it could come back, and denormal numbers are slow.
FLOOR = -60.0


@dataclass(frozen=True)
class Mapping:
    """A random map of symbols to symbols."""

    probabilities: Array  # P(û | u)
    information: float  # I(S; Û) in nats
    gap: float  # how far the information is from the optimum, at most
    distortion: float  # E[d(U, Û)]


def least_information(joint: Array, distortion: Array, bound: float) -> Mapping:
    """The map with the least I(S; Û) whose expected distortion is at most ``bound``.

    ``joint``: P(s, u), values × symbols, no symbol without mass. ``distortion``: d(u, û), a (pseudo-)metric.
    """
    problem = _Problem(joint, distortion, bound)
    alone = problem.mass @ distortion
    if alone.min() <= bound:  # one symbol for everybody carries no information
        Q = np.zeros_like(distortion)
        Q[:, alone.argmin()] = 1.0
        return problem.result(Q, 0.0)
    if bound <= 0:  # symbols at no distance from each other may be mixed, and mixing never adds information
        Q = (distortion == 0).astype(np.float64)
        return problem.result(Q / Q.sum(axis=1, keepdims=True), 0.0)
    return problem.descend()


class _Problem:
    """One program: its data, and the steps of the descent."""

    def __init__(self, joint: Array, distortion: Array, bound: float) -> None:
        self.joint, self.d, self.bound = joint, distortion, bound
        self.prior = joint.sum(axis=1)
        self.mass = joint.sum(axis=0)
        self.given = (joint / self.mass).T  # P(s | u)

    def result(self, Q: Array, gap: float) -> Mapping:
        """The map Q with its figures."""
        return Mapping(Q, max(self.information(Q)[0], 0.0), gap, self.cost(Q))

    def information(self, Q: Array) -> tuple[float, Array]:
        """I(S; Û) and g, its gradient up to the factor P(u); its mean over P(u) P(û | u) is I again."""
        V = self.joint @ Q
        spread = self.prior[:, None] * V.sum(axis=0)
        logs = np.log(np.divide(V, spread, out=np.ones_like(V), where=V > 0))
        return float((V * logs).sum()), self.given @ logs

    def cost(self, Q: Array) -> float:
        """E[d(U, Û)] under the map Q."""
        return float(np.einsum("u,uv,uv->", self.mass, Q, self.d))

    def descend(self) -> Mapping:
        """Mirror descent in rounds, until the certified gap or the gain of a round is small."""
        Q, price = self.within_bound(np.zeros_like(self.d), 1.0)
        value, g = self.information(Q)
        step, bottom = 1.0, 0.0
        for _ in range(MAX_ROUNDS):
            before = value
            for _ in range(ROUND):
                Q, value, g, step, price = self.improved(Q, value, g, 1.5 * step, price)
            bottom = max(bottom, self.least(g, price))
            if value - bottom <= TOLERANCE or before - value <= LEAST_GAIN:
                break
        return self.result(Q, max(value - bottom, 0.0))

    def improved(
        self, Q: Array, value: float, g: Array, step: float, price: float
    ) -> tuple[Array, float, Array, float, float]:
        """One step, not longer than ``step``, that reaches what it promises: tangent plus divergence over the step."""
        logs = np.log(Q)
        while True:
            new, lam = self.within_bound(logs - step * g, step * price)
            reached, new_g = self.information(new)
            divergence = float(self.mass @ (new * (np.log(new) - logs)).sum(axis=1))
            promised = float(self.mass @ (new * g).sum(axis=1)) + divergence / step
            if step <= 1.0 or reached <= promised:
                return new, reached, new_g, step, lam / step
            step = max(1.0, step / 2)

    def within_bound(self, logs: Array, guess: float) -> tuple[Array, float]:
        """Rows proportional to exp(logs - λ d), with the least λ ≥ 0 that keeps the bound."""
        free = self.rows(logs, 0.0)
        if self.cost(free) <= self.bound:
            return free, 0.0
        low, high, lam = 0.0, np.inf, max(guess, 1e-6)
        for _ in range(MAX_TRIES):
            Q = self.rows(logs, lam)
            mean = (Q * self.d).sum(axis=1)
            over = float(self.mass @ mean) - self.bound
            if -SLACK * self.bound <= over <= 0:
                return Q, lam
            low, high = (lam, high) if over > 0 else (low, lam)
            # Newton's method, aimed at the middle of what is accepted; where it leaves the bracket, the bracket.
            slope = float(self.mass @ ((Q * self.d**2).sum(axis=1) - mean**2))
            newton = lam + (over + 0.5 * SLACK * self.bound) / slope if slope > 0 else np.inf
            halfway = 2 * lam if np.isinf(high) else 0.5 * (low + high)
            lam = newton if low < newton < min(high, 10 * lam) else halfway
        return self.rows(logs, high), high

    def rows(self, logs: Array, lam: float) -> Array:
        """Rows proportional to exp(logs - λ d), each with sum 1."""
        Q = logs - lam * self.d
        Q -= Q.max(axis=1, keepdims=True)
        np.exp(np.maximum(Q, FLOOR, out=Q), out=Q)
        Q /= Q.sum(axis=1, keepdims=True)
        return Q

    def least(self, g: Array, price: float) -> float:
        """A lower bound on the information of every map within the distortion bound.

        The tangent lies below the convex objective, and every price gives a dual bound below the tangent. The best
        price lies near the multiplier of the step.
        """
        tried = price * np.linspace(0.9, 1.1, 21)
        return max(float(self.mass @ (g + lam * self.d).min(axis=1)) - lam * self.bound for lam in tried)
