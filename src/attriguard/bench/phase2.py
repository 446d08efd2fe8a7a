"""Phase II against cvxpy with Clarabel, on the same users' costs."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np

from attriguard.bench.measure import Figure, best_of
from attriguard.data.public_data import PublicData
from attriguard.errors import MissingExtraError
from attriguard.progress import Progress, ProgressLike

FLOOR = 2000.0
BUDGET = 1.0  # binds for nearly every user


def run(data: PublicData, *, users: int = 30, progress: ProgressLike = None) -> list[Figure]:
    """The time a user takes, and how close both come; ours on all test users, cvxpy on ``users`` of them."""
    try:
        cp: Any = import_module("cvxpy")
    except ImportError as error:
        raise MissingExtraError("this benchmark needs the extra 'bench': pip install 'attriguard[bench]'") from error
    from attriguard.guard import AttriGuard
    from attriguard.mechanism.solver import kl_divergence, solve_mechanism

    train, test = data.split()
    guard = AttriGuard().fit(train.X, train.y)
    cost, p = guard.plan(test.X).cost, guard.target_
    ours = best_of(lambda: solve_mechanism(p, cost, BUDGET), 15) / test.n_users

    M, parameter = cp.Variable(data.m), cp.Parameter(data.m, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.kl_div(p, M))), [parameter @ M <= BUDGET, cp.sum(M) == 1])
    parameter.value = cost[0]
    problem.solve(solver=cp.CLARABEL)  # compiles the problem; later solves only change its numbers
    sample = np.linspace(0, test.n_users - 1, users).astype(np.int64)
    Progress.of(progress).tell("cvxpy", 0.5)
    start, gaps = time.perf_counter(), []
    for u in sample:
        parameter.value = cost[u]
        problem.solve(solver=cp.CLARABEL)
        gaps.append(float(problem.value))
    theirs = (time.perf_counter() - start) / users
    worse = kl_divergence(p, solve_mechanism(p, cost[sample], BUDGET)) - np.array(gaps)
    details = {"seconds_a_user": ours, "seconds_a_user_cvxpy": theirs, "users": test.n_users, "users_cvxpy": users}
    return [
        Figure("Phase II against cvxpy with Clarabel", theirs / ours, "times faster", FLOOR, None, details),
        Figure("Phase II: KL above cvxpy's", float(worse.max()), "nats, at worst", None, 1e-7),
    ]
