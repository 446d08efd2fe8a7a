"""Concealing under a budget of everyone: how long the guard learns, and how long a million users take to plan."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from attriguard.bench.measure import Figure
from attriguard.progress import Progress, ProgressLike

# Users to learn from, and the seconds that may take on two idle cores; the last ones' guard plans.
LEARNING = {15_000: 10.0, 150_000: 60.0}
MILLION, MILLION_SECONDS = 1_000_000, 60.0
SETTLING = 2_000


def run(
    *, n_users: int | None = None, learning: dict[int, float] | None = None, progress: ProgressLike = None
) -> list[Figure]:
    """Seconds of learning, against a guard that misleads; and of a plan at one price, against one for each user.

    The plan is timed on as many users as the largest guard learnt from, or on ``n_users``, and scaled to a million.
    """
    from attriguard.data.named.twin import make_twin
    from attriguard.guard import AttriGuard

    steps, told = learning or LEARNING, Progress.of(progress)
    data = make_twin((n_users or max(steps)) + SETTLING)
    X, y = data.X[SETTLING:], data.y[SETTLING:]
    figures = []
    for n, ceiling in steps.items():
        seconds = {}
        for goal in ("mislead", "conceal"):
            told.tell(f"learning to {goal} from {n:,} users")
            guard = AttriGuard(goal=goal, budget_over="everyone", scale=data.scale, random_state=0)
            guard.fit(X[:100], y[:100])  # compiles, or loads what was compiled
            seconds[goal] = _timed(partial(guard.fit, X[:n], y[:n]))
        name = f"learning to conceal from {n:,} users"
        figures.append(Figure(name, seconds["conceal"], "s", None, ceiling, {"seconds_mislead": seconds["mislead"]}))
    guard.settle(data.X[:SETTLING])
    told.tell(f"a plan for {X.shape[0]:,} users")
    taken = {}
    for over in ("everyone", "user"):
        guard.set_params(budget_over=over).plan(X[:100])
        taken[over] = _timed(lambda: guard.plan(X))
    a_million = MILLION / X.shape[0] * taken["everyone"]
    details = {"users": X.shape[0], **{f"seconds_{over}": seconds for over, seconds in taken.items()}}
    return [
        *figures,
        Figure("a million users planned at one price", a_million, "s", None, MILLION_SECONDS, details),
        Figure("one price against a budget of each user", taken["everyone"] / taken["user"], "times the time"),
    ]


def _timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
