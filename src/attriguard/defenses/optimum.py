"""The game-theoretic optimum as a defense: for data of so few items that the program of appendix A can be solved."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.defenses.base import Defense
from attriguard.defenses.game import Optimum, make_game
from attriguard.defenses.game_domain import empirical_joint, grid_points, locate
from attriguard.errors import ParameterError


class GameTheoretic(Defense):
    """The mechanism with the least privacy loss for the training users' distribution; budget: expected changes.

    The budget is an average over all users, not a bound for each. Data whose program would not fit is refused, with
    its size.
    """

    name = "game-theoretic"
    plain_name = "exact optimum"
    summary = "the optimum of the appendix's linear program, for a few items"
    needs = ("scale",)
    few_items_only = True
    strength = "budget"
    ladder = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        if not self.levels:
            raise ParameterError("game-theoretic needs a rating scale, which says what the points are: pass scale=")
        self._points = grid_points(X.shape[1], self.levels, n_values=int(codes.max()) + 1)
        self._game = make_game(self._points, empirical_joint(X, codes, self._points))
        self._solved: dict[float, Optimum] = {}

    def optimum(self, budget: float) -> Optimum:
        """The mechanism for a budget; solved once."""
        if budget not in self._solved:
            self._solved[budget] = self._game.solve(budget)
        return self._solved[budget]

    def _release(
        self, X: csr_array, strength: float, chance: np.random.Generator, truth: NDArray[np.int64] | None
    ) -> csr_array:
        rates = self.optimum(strength).channel[locate(X, self._points)]
        up_to: NDArray[np.float64] = np.cumsum(rates, axis=1)
        drawn = (chance.random(X.shape[0])[:, None] * up_to[:, -1:] >= up_to[:, :-1]).sum(axis=1)
        return csr_array(self._points[drawn])
