"""Figure 6, the part with networks: NN-D (50,000 hidden units) protects against NN-A (30,000), PANDA, p from training.

A long run: both networks are trained and Phase I searches for every test user. Every epoch and every block of users is
kept in the work folder; the same command goes on where it stopped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice
from attriguard.attacks.base import Attack
from attriguard.classifiers.base import infer
from attriguard.classifiers.network import ATTACKER_UNITS, DEFENDER_UNITS, NetworkClassifier
from attriguard.data.public_data import PublicData
from attriguard.errors import DataError
from attriguard.evaluation.accuracy import accuracy_over_budgets
from attriguard.experiments.blocks import edits_in_blocks
from attriguard.experiments.record import Clock, outcome, rounded
from attriguard.mechanism.targets import make_target
from attriguard.noise.base import make_rules
from attriguard.noise.greedy import Panda
from attriguard.noise.policy import POLICIES
from attriguard.plan import Plan, make_plan

# The authors' accuracy of NN-A when NN-D protects, by budget.
PUBLISHED = {0.3: 0.41, 0.5: 0.37, 1.0: 0.30, 2.0: 0.18, 3.0: 0.12, 4.0: 0.09, 5.0: 0.08}
TOLERANCE = 0.03
# Noise of more entries than this is of no use to any of the budgets.
MAXITER = 50
# Users whose edits one file holds.
BLOCK = 64

Progress = Callable[[str, int], None]


@dataclass(frozen=True)
class Profile:
    attacker_units: int
    defender_units: int
    epochs: int
    users: int | None  # None: all test users


PROFILES = {
    "paper": Profile(ATTACKER_UNITS, DEFENDER_UNITS, 12, None),
    "quick": Profile(600, 1000, 4, 80),
}


class Trained(Attack):
    """NN-A, trained already."""

    name = "NN-A"
    summary = "network with one hidden layer"

    def __init__(self, network: NetworkClassifier, n_items: int) -> None:
        self.network, self.n_items_ = network, n_items
        self.classes_: NDArray[Any] = np.arange(network.m)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        raise DataError("this attack has been trained already")

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        return self.network.predict_proba(X)


def n_steps(data: PublicData, profile: str) -> int:
    """For a progress bar: batches of both trainings, users of Phase I, values of the evaluation."""
    size = PROFILES[check_choice(profile, PROFILES, name="profile")]
    train, test = data.split()
    batches = NetworkClassifier(epochs=size.epochs).n_steps(train.n_users)
    return 2 * batches + min(test.n_users, size.users or test.n_users) + data.m


def run(data: PublicData, *, profile: str, work: Path, seed: int, progress: Progress) -> dict[str, Any]:
    size = PROFILES[check_choice(profile, PROFILES, name="profile")]
    work.mkdir(parents=True, exist_ok=True)
    clock = Clock(work)
    train, test = data.split()

    def trained(name: str, hidden: int, own_seed: int) -> NetworkClassifier:
        with clock.timing(f"training {name}"):
            network = NetworkClassifier(hidden=hidden, epochs=size.epochs, random_state=own_seed)
            return network.fit(
                train.X,
                train.y,
                checkpoint=work / f"{name.lower()}.safetensors",
                progress=lambda what, steps: progress(f"{name}: {what}", steps),
            )

    # The attacker does not know the defender's network, so the seeds differ.
    X, y = test.X[: size.users], test.y[: size.users]
    plan, defender = _defend(lambda: trained("NN-D", size.defender_units, seed + 1), X, data, work, clock, progress)
    attacker = trained("NN-A", size.attacker_units, seed)
    with clock.timing("attack"):
        curve = accuracy_over_budgets(
            plan,
            Trained(attacker, data.n_items),
            y,
            PUBLISHED,
            progress=lambda steps: progress("NN-A on every candidate", steps),
        )
    return {
        "figures": [
            outcome(
                f"NN-A at budget {budget:g}", found, published=PUBLISHED[budget], ceiling=PUBLISHED[budget] + TOLERANCE
            )
            | {"budget": budget, "expected_cost": rounded(cost)}
            for budget, found, cost in zip(curve.budgets, curve.accuracy, curve.expected_cost, strict=True)
        ],
        "users": X.shape[0],
        "values": data.m,
        "items": data.n_items,
        "NN-A": _of_network(attacker, test),
        "NN-D": defender,
        "phase_one": {
            "search": "panda",
            "policy": "modify_add",
            "maxiter": MAXITER,
            "mean_l0": rounded(plan.edits.cost.mean()),
            "success": rounded(plan.edits.success.mean(), 6),
        },
        "seconds": {part: rounded(seconds, 1) for part, seconds in clock.seconds.items()},
    }


def _defend(
    train_defender: Callable[[], NetworkClassifier],
    X: csr_array,
    data: PublicData,
    work: Path,
    clock: Clock,
    progress: Progress,
) -> tuple[Plan, dict[str, Any]]:
    """NN-D and Phase I; its weights are let go on return, so that there is room for the attacker's."""
    network = train_defender()
    rules = make_rules(POLICIES["modify_add"], data.n_items, levels=data.scale.levels, maxiter=MAXITER)
    with clock.timing("Phase I"):
        edits = edits_in_blocks(
            lambda users: Panda().find(network, X[users], rules, progress=progress),
            X.shape[0],
            size=BLOCK,
            folder=work,
            mark=_mark(network, X),
            progress=progress,
        )
    train, test = data.split()
    plan = make_plan(
        X=X,
        edits=edits,
        inferred=infer(network, X),
        target=make_target("train", np.bincount(train.y, minlength=data.m)),
        budget=0.0,
        users=np.arange(X.shape[0]),
    )
    return plan, _of_network(network, test)


def _of_network(network: NetworkClassifier, test: PublicData) -> dict[str, Any]:
    options = network.get_params()
    return {
        **{
            name: options[name]
            for name in ("hidden", "epochs", "learning_rate", "batch_size", "dropout", "random_state")
        },
        "test_accuracy": rounded(np.mean(infer(network, test.X) == test.y)),
        "loss": [rounded(loss) for loss, _ in network.history_],
    }


def _mark(network: NetworkClassifier, X: csr_array) -> str:
    """Of the network and the users: what the edits depend on."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (
        network.weights.b1,
        network.weights.W2,
        network.weights.b2,
        X.indptr.astype(np.int64),
        X.indices,
        X.data,
    ):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()
