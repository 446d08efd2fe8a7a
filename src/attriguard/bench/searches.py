"""Table 2 of the paper: how often each noise search succeeds, how much noise it needs, how long it takes a user."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from attriguard.bench.measure import Figure
from attriguard.data.public_data import PublicData
from attriguard.noise.base import NoiseSearch
from attriguard.noise.constraints import Constraints
from attriguard.noise.edits import Edits

# The paper's success rates on LR-D, which each search is held to; margin is not among the paper's searches.
SUCCESS = {"fgsm": 1.0, "jsma": 1.0, "cw": 0.75, "panda": 1.0, "margin": 1.0}
# Users at a time, since FGSM changes thousands of entries for each of their values.
BLOCK = 50


def run(
    data: PublicData,
    *,
    users: int = 200,
    cw_users: int = 20,
    art_users: int = 40,
    hidden: int = 2000,
    epochs: int = 20,
    network_users: int = 20,
    network_cw_users: int = 4,
) -> list[Figure]:
    """On LR-D and on a network, over samples of the test users; CW over smaller ones, JSMA also against ART's.

    0 ``art_users`` or ``network_users`` leave that part out.
    """
    from attriguard.classifiers.linear import fit_linear
    from attriguard.classifiers.network import NetworkClassifier

    train, test = data.split()
    figures = table(data, fit_linear("lr-ova", train.X, train.y), "LR-D", sample(test, users), cw_users)
    if network_users:
        network = NetworkClassifier(hidden=hidden, epochs=epochs, random_state=0).fit(train.X, train.y)
        name = f"network of {hidden:,} units"
        figures += table(data, network, name, sample(test, network_users), network_cw_users)
    if art_users:
        figures.append(against_art(data, sample(test, art_users)))
    return figures


def sample(test: PublicData, users: int) -> csr_array:
    """Some of the test users, spread evenly."""
    return test.X[np.linspace(0, test.n_users - 1, min(users, test.n_users)).astype(np.int64)]


def rules_of(data: PublicData) -> Constraints:
    from attriguard.noise.constraints import make_constraints
    from attriguard.noise.policy import POLICIES

    return make_constraints(POLICIES["modify_add"], data.n_items, levels=data.scale.levels if data.scale else 0)


def table(data: PublicData, classifier: Any, name: str, X: csr_array, cw_users: int) -> list[Figure]:
    """Three figures a search, and how PANDA compares."""
    from attriguard.noise.registry import get_search

    rules, found = rules_of(data), {}
    for search in SUCCESS:
        rows = X[np.linspace(0, X.shape[0] - 1, cw_users).astype(np.int64)] if search == "cw" else X
        found[search] = measure(get_search(search), classifier, rows, rules)
    panda = found["panda"]
    figures = []
    for search, m in found.items():
        of = f"{name}, {search}"
        figures += [
            Figure(f"{of}: success", m["success"], f"of {m['users']} users × {data.m}", SUCCESS[search], None, m),
            Figure(f"{of}: noise", m["mean_l0"], "mean L0"),
            Figure(f"{of}: time", 1e3 * m["seconds_a_user"], "ms a user"),
        ]
    for search in ("fgsm", "jsma"):
        share = panda["mean_l0"] / found[search]["mean_l0"]
        figures.append(Figure(f"{name}, panda: noise against {search}'s", share, "of its mean L0", None, 1.0))
    for search in ("jsma", "cw"):
        faster = found[search]["seconds_a_user"] / panda["seconds_a_user"]
        figures.append(Figure(f"{name}, panda against {search}", faster, "times faster", 1.0))
    return figures


def measure(search: NoiseSearch, classifier: Any, X: csr_array, rules: Constraints) -> dict[str, float]:
    """Success, mean L0 of what was reached, and seconds a user, with nothing kept but the sums."""
    search.find(classifier, X[:1], rules)  # what is compiled or sorted once a model is not counted
    reached, pairs, noise, seconds = 0, 0, 0.0, 0.0
    for start in range(0, X.shape[0], BLOCK):
        begin = time.perf_counter()
        edits: Edits = search.find(classifier, X[start : start + BLOCK], rules)
        seconds += time.perf_counter() - begin
        reached, pairs = reached + int(edits.success.sum()), pairs + edits.success.size
        noise += float(edits.cost.sum())
    return {
        "success": reached / pairs,
        "mean_l0": noise / max(1, reached),
        "seconds_a_user": seconds / X.shape[0],
        "users": X.shape[0],
    }


def against_art(data: PublicData, X: csr_array) -> Figure:
    """JSMA and ART's SaliencyMapMethod, which has no conditions, on the same logistic regression and users."""
    from sklearn.linear_model import LogisticRegression

    from attriguard.bench.phase1 import _art
    from attriguard.classifiers.linear import INVERSE_REGULARISATION, MAX_ITERATIONS, as_linear
    from attriguard.noise.jsma import JSMA

    train, _ = data.split()
    model = LogisticRegression(C=INVERSE_REGULARISATION, max_iter=MAX_ITERATIONS).fit(train.X, train.y)
    theirs, classifier = _art(model, X.toarray(), data.m), as_linear(model, m=data.m)
    rules = rules_of(data)
    ours, pairs = (measure(search, classifier, X, rules) for search in (JSMA(), JSMA(pairs=True)))
    details = {"art": theirs, "single": ours, "pairs": pairs}
    share = ours["mean_l0"] / theirs["mean_l0"]
    return Figure("jsma: noise against ART's", share, "of its mean L0", None, 1.0, details)
