"""CW in its L0 form (Carlini and Wagner, 2017), batched over users and, on networks, over values.

The inner L2 attack looks for the smallest ‖x' − x‖² + c·f(x'), f(x') = max(max_k C_k(x') − C_i(x') + κ + lead, 0), over
the entries that may change. The change of variable x' = ½(tanh w + 1) keeps them in [0, 1]; Adam moves w; c is searched
by bisection, upwards by tens where nothing is found. The L0 attack around it shrinks the set of entries that may
change: the least important of them, by |∂f/∂x_j|·|x'_j − x_j|, are put back, and the L2 attack starts again from where
it was, until it fails; the last success is kept.

The authors put back a few entries at a time, which on 10,000 items takes hundreds of rounds. Here a round puts back
``shrink`` of the set; where that was too much, half as many, down to a single entry, before the search ends. From the
second round on c only grows, as in their L0 attack.

tanh never reaches 0 or 1, and is flat near both: w starts `EDGE` inside, or no gradient would be left at entries of 0.
Rounding to the rating scale comes after all this, and undoes what led by too little: ``lead`` is what the attack asks
for on top of κ. The authors' 0.01 loses about half of the values on the paper's data; the default keeps nearly all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attriguard._checks import check_number
from attriguard.classifiers.outputs import Ints, Local, Outputs, Point, Rows
from attriguard.errors import ParameterError
from attriguard.noise.constraints import Constraints
from attriguard.noise.evasion import NO_CHANGES, Block, EvasionSearch, Proposal, infers, lead

# How far inside [0, 1] the search starts, and what still counts as no change.
EDGE = 1e-3
# Adam's averages of the gradient and of its square, and the term that keeps the quotient finite.
BETA_1, BETA_2, TINY = 0.9, 0.999, 1e-12


@dataclass(frozen=True, eq=False)
class Inner:
    """The inner L2 attack of some pairs; its columns are the entries that any of these pairs may change."""

    classify: Local
    which: Ints  # (pairs,): their rows in `classify`
    start: Rows  # (pairs, columns)
    allowed: NDArray[np.bool_]
    values: Ints
    asked: NDArray[np.float32]  # (pairs,): the lead at which f is 0

    def loss(self, x: Rows) -> tuple[NDArray[np.float32], Point, NDArray[np.float32]]:
        """f, where it was measured, and the mix of outputs whose gradient is f's."""
        point = self.classify(x, self.which)
        ahead, rivals = lead(point.scores, self.values)
        short = np.maximum(self.asked - ahead, 0.0).astype(np.float32)
        mix, each = np.zeros(point.scores.shape, dtype=np.float32), np.arange(short.size)
        mix[each, rivals], mix[each, self.values] = 1.0, -1.0
        return short, point, mix

    def only(self, at: Ints) -> Inner:
        """The attack of some of the pairs."""
        return Inner(self.classify, self.which[at], self.start[at], self.allowed[at], self.values[at], self.asked[at])


class CarliniWagner(EvasionSearch):
    """The L0 attack.

    Parameters
    ----------
    steps
        Steps of Adam for each constant c.
    searches
        How many constants c are tried in the first round.
    learning_rate
        Of Adam.
    initial_constant, largest_constant
        Where the search for c begins, and where it gives up.
    lead
        How far the value must lead on top of κ, so that rounding does not undo it.
    shrink
        The share of the changed entries that a round puts back.
    """

    name = "cw"
    plain_name = "Carlini and Wagner"
    revision = 2
    summary = "Carlini and Wagner's L0 attack: repeated L2 attacks on fewer and fewer entries (slow)"

    def __init__(
        self,
        *,
        steps: int = 50,
        searches: int = 4,
        learning_rate: float = 0.2,
        initial_constant: float = 1.0,
        largest_constant: float = 1e4,
        lead: float = 0.5,
        shrink: float = 0.5,
    ) -> None:
        for name, number in (("steps", steps), ("searches", searches)):
            if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 1:
                raise ParameterError(f"{name} must be a whole number, 1 or more, got {number!r}")
        self.steps, self.searches = int(steps), int(searches)
        self.learning_rate = check_number(learning_rate, name="learning_rate", low=0.0, open_low=True)
        self.initial_constant = check_number(initial_constant, name="initial_constant", low=0.0, open_low=True)
        self.largest_constant = check_number(largest_constant, name="largest_constant", low=self.initial_constant)
        self.lead = check_number(lead, name="lead", low=0.0)
        self.shrink = check_number(shrink, name="shrink", low=0.0, high=1.0)

    def _rows_a_user(self, outputs: Outputs) -> int:
        return outputs.m if outputs.heavy else 1

    def _propose(self, outputs: Outputs, block: Block, constraints: Constraints) -> Proposal:
        scores, m = outputs.at(block.start).scores, block.m
        away = np.flatnonzero(~infers(scores[block.users], block.values, block.kappa[block.users]))
        # Pairs that are done together move among the columns of all of them, so those of one value are kept together,
        # unless a step's weights cost more than its rows.
        together = [away] if outputs.heavy else [away[away % m == i] for i in range(m)]
        parts = [Proposal(*NO_CHANGES)]
        for pairs in together:
            users = pairs // m
            found = self._shrink(outputs, block.start[users], block.free[users], block.kappa[users], pairs % m)
            at, items = np.nonzero(found != block.start[users])
            parts.append(Proposal(pairs[at], items, found[at, items]))
        pairs = np.concatenate([part.pairs for part in parts])
        order = np.argsort(pairs, kind="stable")  # within a pair the items are sorted already
        items, values = (np.concatenate([getattr(part, name) for part in parts]) for name in ("items", "values"))
        return Proposal(pairs[order], items[order], values[order])

    def _shrink(
        self, outputs: Outputs, start: Rows, free: NDArray[np.bool_], kappa: NDArray[np.float64], values: Ints
    ) -> Rows:
        """The L0 attack of each pair towards its value: the last success; unchanged where there was none."""
        n = start.shape[0]
        kept, allowed, importance = start.copy(), free.copy(), np.zeros(start.shape, dtype=np.float32)
        constant, first = np.full(n, self.initial_constant, dtype=np.float32), True
        drop, trial, active = np.zeros(n, dtype=np.int64), allowed, np.arange(n)
        while active.size:
            columns = np.flatnonzero(trial[active].any(axis=0))
            inner = Inner(
                outputs.among(start[active], columns),
                np.arange(active.size),
                start[np.ix_(active, columns)],
                trial[np.ix_(active, columns)],
                values[active],
                (kappa[active] + self.lead).astype(np.float32),
            )
            x, good, constant[active] = self._search(inner, kept[np.ix_(active, columns)], constant[active], first)
            _, point, mix = inner.loss(x)
            change = np.where(inner.allowed, np.abs(x - inner.start), 0.0)
            won = active[good]
            kept[won] = start[won]
            kept[np.ix_(won, columns)] = np.where(change >= EDGE, x, inner.start)[good]
            allowed[won] = kept[won] != start[won]
            importance[np.ix_(won, columns)] = (change * np.abs(point.slope(mix)))[good]
            active, drop, trial = self._next(active, good, allowed, importance, drop)
            first = False
        return kept

    def _next(
        self,
        active: Ints,
        good: NDArray[np.bool_],
        allowed: NDArray[np.bool_],
        importance: NDArray[np.float32],
        drop: Ints,
    ) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """The pairs that go on, how many entries each puts back, and the entries that it may still change."""
        left = allowed[active].sum(axis=1)
        share = np.maximum(1, (self.shrink * left).astype(np.int64))
        tried = drop[active]
        # After a success as large a share as before at most; after a failure half as many.
        drop = drop.copy()
        drop[active] = np.where(good, np.where(tried > 0, np.minimum(share, tried), share), tried // 2)
        going = (drop[active] > 0) & (left > 0)
        active = active[going]
        trial = allowed.copy()
        for u in active:
            items = np.flatnonzero(allowed[u])
            trial[u, items[np.argsort(importance[u, items], kind="stable")[: drop[u]]]] = False
        return active, drop, trial

    def _search(
        self, inner: Inner, begin: Rows, constant: NDArray[np.float32], first: bool
    ) -> tuple[Rows, NDArray[np.bool_], NDArray[np.float32]]:
        """The L2 attack at several c: x', whether it succeeded, and the least c that did."""
        best, least = inner.start.copy(), np.full(constant.size, np.inf, dtype=np.float32)
        low, high, c = np.zeros_like(constant), np.full_like(constant, np.inf), constant.copy()
        at, tries = np.arange(constant.size), self.searches if first else 1
        while at.size:
            x, distance = self._descend(inner.only(at), begin[at], c[at])
            won, better = np.isfinite(distance), distance < least[at]
            best[at[better]], least[at[better]] = x[better], distance[better]
            low[at], high[at] = np.where(won, low[at], c[at]), np.where(won, c[at], high[at])
            tries -= 1
            found = np.isfinite(high[at])
            at = at[np.where(found, tries > 0, c[at] < self.largest_constant)]
            bisected, raised = (low[at] + high[at]) / 2, np.minimum(c[at] * 10, self.largest_constant)
            c[at] = np.where(np.isfinite(high[at]), bisected, raised)
        good = np.isfinite(least)
        return best, good, np.where(good, high, constant)

    def _descend(self, inner: Inner, begin: Rows, c: NDArray[np.float32]) -> tuple[Rows, NDArray[np.float32]]:
        """Adam on w: the closest x' that succeeded, and its squared distance (infinite where none did)."""
        w = np.arctanh((2.0 * begin - 1.0) * np.float32(1.0 - EDGE))
        mean, square = np.zeros_like(w), np.zeros_like(w)
        best, least = inner.start.copy(), np.full(c.size, np.inf, dtype=np.float32)
        for step in range(1, self.steps + 1):
            tanh = np.tanh(w)
            x = np.where(inner.allowed, 0.5 * (tanh + 1.0), inner.start)
            short, point, mix = inner.loss(x)
            distance = np.square(x - inner.start).sum(axis=1)
            better = (short == 0) & (distance < least)
            best[better], least[better] = x[better], distance[better]
            mix *= (c * (short > 0))[:, None]
            gradient = (2.0 * (x - inner.start) + point.slope(mix)) * (0.5 * (1.0 - tanh * tanh)) * inner.allowed
            mean += (1.0 - BETA_1) * (gradient - mean)
            square += (1.0 - BETA_2) * (gradient * gradient - square)
            rate = self.learning_rate * np.sqrt(1.0 - BETA_2**step) / (1.0 - BETA_1**step)
            w -= np.float32(rate) * mean / (np.sqrt(square) + np.float32(TINY))
        return best, least
