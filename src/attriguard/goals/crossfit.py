"""Cross-fitting: every user is planned for by a guard that learnt from others.

A guard has memorised a part of what it learnt from. Noise that points away from a memorised value marks it, so that
whoever learns from the release infers more than from the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard.goals.base import Goal, Planner, Truth
from attriguard.noise.edits import Edits
from attriguard.plan import AtMost, Most, Plan, make_plan
from attriguard.progress import Progress, ProgressLike


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """A planner for one table that is made of several: planner k plans for the rows whose ``group`` is k."""

    planners: tuple[Planner, ...]
    group: NDArray[np.int64]

    @property
    def goal(self) -> Goal:
        """The goal that all of them have."""
        return self.planners[0].goal

    def take(self, rows: NDArray[np.int64]) -> CrossFitted:
        """The same for some rows of the table."""
        return CrossFitted(self.planners, self.group[rows])

    def priced(
        self, X: csr_array, rows: NDArray[np.int64], budget: float | None = None, truth: Truth | None = None
    ) -> CrossFitted:
        """The same with prices that were settled on some rows of each group, for a budget of everyone."""
        group = self.group[rows]
        priced = [planner.priced(X, rows[group == k], budget, truth) for k, planner in enumerate(self.planners)]
        return CrossFitted(tuple(priced), self.group)

    def learning_from(self, released: csr_array, codes: NDArray[np.int64]) -> CrossFitted:
        """The same that have seen what released rows tell, each of users for whom it does not plan.

        ``codes`` holds -1 for users whose value is not known.
        """
        others = [(self.group != k) & (codes >= 0) for k in range(len(self.planners))]
        pairs = enumerate(zip(self.planners, others, strict=True))
        seen = [planner.learning_from(released[rows], codes[rows], check_rng(k)) for k, (planner, rows) in pairs]
        return CrossFitted(tuple(seen), self.group)

    def plan(
        self,
        X: csr_array,
        *,
        budget: float | None = None,
        locked: csr_array | None = None,
        most: Most | None = None,
        truth: Truth | None = None,
        own: csr_array | None = None,
        users: NDArray[Any],
        progress: ProgressLike = None,
    ) -> Plan:
        """Both phases for the whole table; the result is a plan as any other."""
        rows = [np.flatnonzero(self.group == k) for k in range(len(self.planners))]
        pairs = list(zip(self.planners, rows, strict=True))
        used = [(planner, mine) for planner, mine in pairs if mine.size] or pairs[:1]
        parts = Progress.of(progress).parts(*[max(mine.size, 1.0) for _, mine in used])
        plans = [
            planner.plan(
                X[mine],
                budget=budget,
                locked=None if locked is None else locked[mine],
                most=most if most is None or np.ndim(most) == 0 else np.asarray(most)[mine],
                truth=None if truth is None else truth.take(mine),
                own=None if own is None else own[mine],
                users=users[mine],
                progress=part,
            )
            for (planner, mine), part in zip(used, parts, strict=True)
        ]
        joint = _Joint(tuple(mine for _, mine in used), tuple(plans))
        return make_plan(
            X,
            joint.together([plan.edits for plan in plans]),
            joint,
            budget=joint.in_rows([plan.budget for plan in plans]),
            infer=joint.infer,
            users=users,
            finder=joint,
        )


@dataclass(frozen=True, eq=False)
class _Joint:
    """Phases I and II of plans for different rows of one table, as those of one plan."""

    rows: tuple[NDArray[np.int64], ...]
    plans: tuple[Plan, ...]

    @property
    def target(self) -> NDArray[np.float64] | None:
        """The first plan's; the others' were learnt from nearly the same users."""
        return self.plans[0].target

    @property
    def shared(self) -> bool:
        """Whether the budget is an average over users; it is one within every group."""
        return self.plans[0].mechanism.shared

    @property
    def follows_budget(self) -> bool:
        """Whether another budget has other candidates."""
        return any(plan.follows_budget for plan in self.plans)

    def covers(self, X: csr_array, edits: Edits, budget: NDArray[np.float64]) -> bool:
        """Whether the candidates serve this budget, for everybody."""
        return all(
            plan.finder is None or plan.finder.covers(X[mine], edits.take(mine), budget[mine])
            for mine, plan in zip(self.rows, self.plans, strict=True)
        )

    def find(self, X: csr_array, budget: NDArray[np.float64], progress: Progress) -> Edits:
        """The candidates of every user, each from the guard that did not learn from the user."""
        parts = progress.parts(*[max(mine.size, 1.0) for mine in self.rows])
        return self.together(
            [
                plan.edits if plan.finder is None else plan.finder.find(X[mine], budget[mine], part)
                for mine, plan, part in zip(self.rows, self.plans, parts, strict=True)
            ]
        )

    def infer(self, X: csr_array) -> NDArray[np.int64]:
        """What each user's guard infers from the user's row."""
        return self.in_rows([plan.infer(X[mine]) for mine, plan in zip(self.rows, self.plans, strict=True)])

    def limited(self, most: Most) -> AtMost:
        """The same where no user gets more changes than that."""
        return AtMost(self, most)

    def probabilities(self, edits: Edits, budget: NDArray[np.float64]) -> NDArray[np.float64]:
        """Each plan's own mechanism for its rows."""
        pairs = zip(self.rows, self.plans, strict=True)
        return self.in_rows([plan.mechanism.probabilities(edits.take(mine), budget[mine]) for mine, plan in pairs])

    def together(self, parts: Sequence[Edits]) -> Edits:
        """Edits of the plans' users as edits of the table's."""
        widest = max(part.m for part in parts)
        joined = Edits.joined([part.widened(widest) for part in parts])
        return joined.take(np.argsort(np.concatenate(self.rows), kind="stable"))

    def in_rows(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Arrays with a row for each of the plans' users as one array in the table's order."""
        return np.concatenate(parts)[np.argsort(np.concatenate(self.rows), kind="stable")]
