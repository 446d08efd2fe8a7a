"""Phase I against ART's SaliencyMapMethod, on the same logistic regression and users."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from attriguard.bench.measure import Figure, best_of
from attriguard.data.public_data import PublicData
from attriguard.errors import MissingExtraError

# How many times faster, at least.
FLOORS = {"panda": 2000.0, "margin": 1000.0}


def run(data: PublicData, *, users: int = 40) -> list[Figure]:
    from sklearn.linear_model import LogisticRegression

    from attriguard.classifiers.linear import INVERSE_REGULARISATION, MAX_ITERATIONS, as_linear
    from attriguard.noise.constraints import make_constraints
    from attriguard.noise.policy import POLICIES
    from attriguard.noise.registry import get_search

    train, test = data.split()
    model = LogisticRegression(C=INVERSE_REGULARISATION, max_iter=MAX_ITERATIONS).fit(train.X, train.y)
    sample = np.linspace(0, test.n_users - 1, users).astype(np.int64)
    theirs = _art(model, test.X[sample].toarray(), data.m)
    figures = []
    for name, floor in FLOORS.items():
        search = get_search(name)

        def whole(search: Any = search) -> Any:
            # A model of its own every time, so that the sorting of its candidate lists is counted, too.
            classifier = as_linear(model, m=data.m)
            return search.find(classifier, test.X, make_constraints(POLICIES["modify_add"], data.n_items))

        edits = whole()
        ours = best_of(whole, 7) / test.n_users
        details = {
            "seconds_a_user": ours,
            "seconds_a_user_art": theirs["seconds_a_user"],
            "users": test.n_users,
            "users_art": users,
            "values": data.m,
            "mean_l0_same_users": float(edits.cost[sample].mean()),
            "mean_l0_art": theirs["mean_l0"],
            "mean_l0": float(edits.cost.mean()),
            "success": float(edits.success.mean()),
            "success_art": theirs["success"],
        }
        figures += [
            Figure(
                f"Phase I {name} against ART", theirs["seconds_a_user"] / ours, "times faster", floor, None, details
            ),
            Figure(
                f"Phase I {name}: noise against ART's",
                details["mean_l0_same_users"] / theirs["mean_l0"],
                "of its mean L0",
                None,
                1.0,
            ),
            Figure(f"Phase I {name}: success under modify_add", details["success"], "of all pairs", 1.0),
        ]
    return figures


def _art(model: Any, x: np.ndarray, m: int) -> dict[str, float]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of frameworks that are not installed
            from art.attacks.evasion import SaliencyMapMethod
            from art.estimators.classification import SklearnClassifier
    except ImportError as error:
        raise MissingExtraError("this benchmark needs the extra 'bench': pip install 'attriguard[bench]'") from error
    attack = SaliencyMapMethod(
        SklearnClassifier(model, clip_values=(0, 1)), theta=1.0, gamma=1.0, batch_size=m, verbose=False
    )
    targets = np.eye(m)
    noise, success, start = 0, 0, time.perf_counter()
    for row in x:
        copies = np.repeat(row[None], m, axis=0)
        found = attack.generate(copies, y=targets)
        noise += int((found != copies).sum())
        success += int((model.predict(found) == np.arange(m)).sum())
    seconds = time.perf_counter() - start
    pairs = len(x) * m
    return {"seconds_a_user": seconds / len(x), "mean_l0": noise / pairs, "success": success / pairs}
