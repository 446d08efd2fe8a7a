"""Table 2 of the paper: how often each noise search succeeds, how much noise it needs, how long it takes a user."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from attriguard.bench.measure import Figure
from attriguard.data.public_data import PublicData
from attriguard.noise.base import NoiseSearch
from attriguard.noise.constraints import Constraints
from attriguard.noise.edits import Edits
from attriguard.progress import Progress, ProgressLike

# The paper's success rates on LR-D, which each search is held to; margin is not among the paper's searches.
SUCCESS = {"fgsm": 1.0, "jsma": 1.0, "cw": 0.75, "panda": 1.0, "margin": 1.0, "probability": 1.0}
# Users at a time, since FGSM changes thousands of entries for each of their values.
BLOCK = 50


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How many test users each search works on, and the network's size; 0 users leave a comparison out."""

    users: int = 200  # on LR-D
    cw_users: int = 20  # the same for CW, which takes long
    art_users: int = 40  # against ART's JSMA
    hidden: int = 2000
    epochs: int = 20
    network_users: int = 20
    network_cw_users: int = 4


def run(data: PublicData, *, sizes: Sizes | None = None, progress: ProgressLike = None) -> list[Figure]:
    """The table on LR-D and on a network, and JSMA against ART's on a logistic regression."""
    from attriguard.classifiers.linear import fit_linear
    from attriguard.classifiers.network import NetworkClassifier

    sizes = sizes or Sizes()
    linear, on_network, art = Progress.of(progress).parts(2, 5, 2)
    train, test = data.split()
    classifier = fit_linear("lr-ova", train.X, train.y)
    figures = table(data, classifier, "LR-D", sample(test, sizes.users), sizes.cw_users, linear)
    if sizes.network_users:
        on_network.tell("training the network")
        network = NetworkClassifier(hidden=sizes.hidden, epochs=sizes.epochs, random_state=0).fit(train.X, train.y)
        name, X = f"network of {sizes.hidden:,} units", sample(test, sizes.network_users)
        figures += table(data, network, name, X, sizes.network_cw_users, on_network)
    if sizes.art_users:
        art.tell("jsma against ART's")
        figures.append(against_art(data, sample(test, sizes.art_users)))
    return figures


def sample(test: PublicData, users: int) -> csr_array:
    """Some of the test users, spread evenly."""
    return test.X[np.linspace(0, test.n_users - 1, min(users, test.n_users)).astype(np.int64)]


def constraints_of(data: PublicData) -> Constraints:
    """Modify_Add on the rating scale of the data, as in the paper."""
    from attriguard.noise.constraints import make_constraints
    from attriguard.noise.policy import POLICIES

    return make_constraints(POLICIES["modify_add"], data.n_items, levels=data.scale.levels if data.scale else 0)


def table(
    data: PublicData, classifier: Any, name: str, X: csr_array, cw_users: int, progress: ProgressLike = None
) -> list[Figure]:
    """Success, noise and time of every search on one classifier, and PANDA's noise and time as shares of others'."""
    from attriguard.noise.registry import get as get_search

    rules, found = constraints_of(data), {}
    for search, _ in Progress.of(progress).each(SUCCESS, lambda search: f"{name}, {search}"):
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
    """Success, mean L0 of the noise that reached its value, and seconds a user; only the sums are kept in memory."""
    search.find(classifier, X[:1], rules)  # compiles and sorts what is done once a model, and is not timed
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
    """The noise of JSMA as a share of that of ART's SaliencyMapMethod, on the same logistic regression and users."""
    from sklearn.linear_model import LogisticRegression

    from attriguard.bench.art import saliency_maps
    from attriguard.classifiers.linear import INVERSE_REGULARISATION, MAX_ITERATIONS, as_linear
    from attriguard.noise.jsma import JSMA

    train, _ = data.split()
    model = LogisticRegression(C=INVERSE_REGULARISATION, max_iter=MAX_ITERATIONS).fit(train.X, train.y)
    theirs, classifier = saliency_maps(model, X.toarray(), data.m), as_linear(model, m=data.m)
    rules = constraints_of(data)
    ours, pairs = (measure(search, classifier, X, rules) for search in (JSMA(), JSMA(pairs=True)))
    details = {"art": theirs, "single": ours, "pairs": pairs}
    share = ours["mean_l0"] / theirs["mean_l0"]
    return Figure("jsma: noise against ART's", share, "of its mean L0", None, 1.0, details)
