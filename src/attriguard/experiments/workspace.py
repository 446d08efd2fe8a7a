"""What experiments share: users, trained classifiers, Phase I, and what attacks inferred; each made once and kept.

Everything stands in the work folder under a name that is made of its content (data, options, seed, the version of this
package), so that nothing is computed twice and nothing stale is used. Files take their names only when they are whole.
Versions of other packages are recorded with every result; they are no part of its name.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from attriguard._checks import check_choice
from attriguard._progress import Progress
from attriguard.attacks import lineup
from attriguard.attacks.base import Attack
from attriguard.classifiers.base import Classifier, infer
from attriguard.classifiers.network import NetworkClassifier
from attriguard.data.files import written_beside
from attriguard.data.public_data import PublicData
from attriguard.errors import DataError
from attriguard.evaluation.accuracy import Curve, check_budgets
from attriguard.evaluation.audit import split_for_audit
from attriguard.evaluation.cache import Cache, key_of
from attriguard.evaluation.engine import Job, exact_curve
from attriguard.evaluation.guards import fit_kept
from attriguard.evaluation.paper import PAPER_DATASET
from attriguard.experiments.blocks import Found, emptied, find_in_blocks
from attriguard.experiments.profiles import Profile
from attriguard.guard import AttriGuard
from attriguard.mechanism.strategies import Divergence
from attriguard.mechanism.targets import make_target
from attriguard.noise.constraints import make_constraints
from attriguard.noise.policy import check_policy
from attriguard.noise.registry import get_search
from attriguard.plan import Plan, make_plan

LR_D, NN_D = "LR-D", "NN-D"
# Noise of more entries than this is of no use to any of the budgets; greedy searches on networks stop there.
MAXITER, GREEDY = 50, ("panda", "margin")
# Users whose noise one file holds, by defender; fewer where a search takes long, or its noise is in most entries.
BLOCKS = {LR_D: 4096, NN_D: 64}
FEWER = {"cw LR-D": 1, "cw NN-D": 4, "exact LR-D": 1, "fgsm LR-D": 16, "fgsm NN-D": 16}
SLOW = ("cw", "exact")  # too slow to be run once before the clock starts
HUGE = ("fgsm",)  # noise in most entries: only its size is kept


class Workspace:
    """One data set, one profile, one seed, one folder."""

    def __init__(
        self,
        data: PublicData,
        *,
        source: str,
        profile: Profile,
        folder: Path,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> None:
        self.data, self.source, self.profile, self.folder, self.seed = data, source, profile, folder, seed
        self.report: Progress = progress or (lambda what, steps: None)
        self.train, self.test = split_for_audit(data, seed)
        # Networks are kept: several experiments attack with the same one.
        self.cache = Cache(folder, keep_networks=True)
        sweep(folder)
        count = min(profile.users or self.test.n_users, self.test.n_users)
        self.order = np.random.default_rng(seed).permutation(self.test.n_users)
        self.chosen = np.sort(self.order[:count])  # the test users who are protected and attacked
        self.X: csr_array = self.test.X[self.chosen]
        self.y = self.test.y[self.chosen]
        self.key = self.key_of(data.X, data.y, data.test_mask, data.values, profile, seed)

    @property
    def is_papers(self) -> bool:
        """Is this the paper's data, so that its numbers may be compared one by one?"""
        return self.source == PAPER_DATASET

    def key_of(self, *parts: Any) -> str:
        key = key_of(*parts)
        if key is None:
            raise DataError("an experiment must not depend on unseeded chance")
        return key

    @contextmanager
    def reporting(self, progress: Progress) -> Iterator[None]:
        """Report to someone else for a while."""
        former, self.report = self.report, progress
        try:
            yield
        finally:
            self.report = former

    def kept(self, make: Callable[[], Any], *parts: Any) -> Any:
        """A piece of an experiment that takes long, as JSON knows it; ``parts`` say what it is."""
        file = self.folder / "pieces" / f"{self.key_of('piece', self.key, *parts)}.json"
        with suppress(OSError, ValueError):  # a damaged one counts as missing
            return json.loads(file.read_text())
        file.parent.mkdir(parents=True, exist_ok=True)
        with written_beside(file) as opened:
            opened.write(json.dumps(make()).encode())
        return json.loads(file.read_text())

    def guard(self, train: PublicData | None = None, **options: Any) -> AttriGuard:
        """AttriGuard with LR-D and PANDA, as in the paper unless told otherwise, learnt from the training users."""
        users = self.train if train is None else train
        self.report("LR-D learns", 0)
        guard = fit_kept(AttriGuard(scale=self.data.scale), users.X, users.y, self.cache)
        return guard.set_params(**({"search": "panda"} | options))

    def _untrained(self) -> NetworkClassifier:
        """NN-D; the attacker does not know it, so its seed is not NN-A's."""
        profile = self.profile
        return NetworkClassifier(hidden=profile.defender_units, epochs=profile.epochs, random_state=self.seed + 1)

    def network(self) -> NetworkClassifier:
        network = self._untrained()
        key = self.key_of(NN_D, network.get_params(), self.train.X, self.train.y)
        self.cache.networks.mkdir(parents=True, exist_ok=True)
        return network.fit(
            self.train.X,
            self.train.y,
            checkpoint=self.cache.networks / f"defender-{key}.safetensors",
            progress=lambda what, steps: self.report(f"NN-D: {what}", 0),
        )

    def classifier(self, defender: str) -> Classifier:
        """A trained one. Networks of the paper's size are large, so nobody but the caller keeps it."""
        check_choice(defender, BLOCKS, name="defender")
        return self.network() if defender == NN_D else self.guard().classifier_

    def phase_one(
        self, defender: str = LR_D, search: Any = "panda", policy: str = "modify_add", users: int | None = None
    ) -> Found:
        """The noise for the first ``users`` of the attacked users (all, if None).

        Of a search whose noise is huge only cost and success are kept.
        """
        finder, X = get_search(search), self.X[:users]
        rules = make_constraints(
            check_policy(policy), self.data.n_items, levels=self.data.scale.levels,
            maxiter=MAXITER if defender == NN_D and finder.name in GREEDY else None,
        )  # fmt: skip
        key = self.key_of(
            "phase one",
            defender,
            self._untrained().get_params() if defender == NN_D else (),
            (rules.step, rules.levels, rules.max_steps),
            self.seed,
            self.train.X,
            self.train.y,
            X,
            policy,
            finder.name,
            vars(finder),
            finder.revision,
        )
        ready: list[Classifier] = []

        def find(block: slice) -> Found:
            if not ready:
                ready.append(self.classifier(defender))
                if finder.name not in SLOW:
                    finder.find(ready[0], X[:1], rules)  # compiled now, so that it is not timed
            self.report(f"{defender}, {finder.name}", 0)
            began = time.perf_counter()
            edits = finder.find(ready[0], X[block], rules)
            seconds = time.perf_counter() - began
            inferred = infer(ready[0], X[block])
            return Found(emptied(edits) if finder.name in HUGE else edits, inferred, seconds)

        return find_in_blocks(
            find,
            X.shape[0],
            size=FEWER.get(f"{finder.name} {defender}", BLOCKS[defender]),
            folder=self.folder / "phase-one" / key,
            progress=self.report,
        )

    def plan(
        self, defender: str = LR_D, search: str = "panda", policy: str = "modify_add", target: str = "train"
    ) -> Plan:
        """Both phases for all attacked users; the budget is set by whoever evaluates."""
        found = self.phase_one(defender, search, policy)
        return make_plan(
            X=self.X,
            edits=found.edits,
            inferred=found.inferred,
            mechanism=Divergence(make_target(target, np.bincount(self.train.y, minlength=self.data.m))),
            budget=0.0,
            users=np.arange(self.X.shape[0]),
        )

    def attack(self, name: str) -> Attack:
        """Untrained, at the profile's size; one who adapts to the guard gets the one with LR-D."""
        profile = self.profile
        options: dict[str, Any] = {"random_state": self.seed, "hidden": profile.attacker_units, "rank": profile.rank}
        if name != "MLP-A":  # small and quick already
            options["epochs"] = profile.epochs
        if name == "AT-A":
            options["guard"] = self.guard()
        return lineup([name], **options)[0]

    def curves(
        self, attack: str, plans: Mapping[str, Plan], budgets: Sequence[float], *, train: PublicData | None = None
    ) -> dict[str, Curve]:
        """The attack's accuracy on untouched data and for every budget, exactly; it learns at most once."""
        users = self.train if train is None else train
        job = Job(self.y, check_budgets(budgets), (users.X, users.y), self.cache, lambda *step: self.report(*step))
        attacker = self.attack(attack)
        return {name: exact_curve(job, plan, attacker) for name, plan in plans.items()}


def sweep(folder: Path) -> None:
    """Remove what killed runs were writing: `.name.pid.part` of processes that are no more."""
    if os.name != "posix":  # elsewhere there is no harmless way to ask
        return
    for part in folder.rglob(".*.part"):
        try:
            os.kill(int(part.suffixes[-2][1:]), 0)
        except ProcessLookupError:
            part.unlink(missing_ok=True)
        except (ValueError, IndexError, PermissionError):
            continue


def of_curve(curve: Curve, digits: int = 6) -> dict[str, Any]:
    """A curve as JSON knows it."""
    return {
        "attack": curve.attack,
        "users": curve.n_users,
        "before": None if curve.before is None else round(curve.before, digits),
        "budgets": list(curve.budgets),
        "accuracy": [round(a, digits) for a in curve.accuracy],
        "expected_cost": [round(c, digits) for c in curve.expected_cost],
    }
