"""What experiments share: users, trained classifiers, noise, and attackers' predictions; each is made once and kept.

Everything stands in the work folder under a name that is made of its content (data, options, seed, the version of this
package), so that nothing is computed twice and nothing stale is used. Files take their names only when they are whole.
Versions of other packages are recorded with every result; they are no part of its name.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from attriguard._checks import check_choice
from attriguard._fingerprint import fingerprint
from attriguard.attacks import class_of, lineup
from attriguard.attacks.base import Attack
from attriguard.classifiers.base import Classifier, infer
from attriguard.classifiers.linear import fit_linear, make_estimator
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.readings import OUTPUTS, read_as
from attriguard.data.files import sweep
from attriguard.data.public_data import PublicData
from attriguard.data.sealed import read_record, write_record
from attriguard.errors import DataError
from attriguard.evaluation.accuracy import Curve, check_budgets
from attriguard.evaluation.audit import split_for_audit
from attriguard.evaluation.cache import Cache
from attriguard.evaluation.engine import Sampled, exact_curve, sampled_curve, seeds_of
from attriguard.evaluation.guards import fit_kept
from attriguard.evaluation.job import Job
from attriguard.evaluation.measure import Measure
from attriguard.evaluation.paper import PAPER_DATASET
from attriguard.experiments.blocks import NoiseBlock, emptied, find_in_blocks
from attriguard.experiments.profiles import Profile
from attriguard.guard import AttriGuard
from attriguard.mechanism.strategies import Divergence
from attriguard.mechanism.targets import make_target
from attriguard.noise.base import NoiseSearch
from attriguard.noise.constraints import Constraints, make_constraints
from attriguard.noise.policy import check_policy
from attriguard.noise.registry import get as get_search
from attriguard.plan import Plan, make_plan
from attriguard.progress import Progress, ProgressLike

LR_D, NN_D = "LR-D", "NN-D"
# Folders of the work folder, besides those of the cache.
PIECES, PHASE_ONE, EXPERIMENTS = "pieces", "phase-one", "experiments"
# Noise of very many entries is of no use to any of the budgets; these searches stop there on networks.
GREEDY = ("panda", "margin")
# Users whose noise one file holds, by defender; fewer where a search takes long, or its noise is in most entries.
BLOCKS = {LR_D: 4096, NN_D: 64}
FEWER = {"cw LR-D": 1, "cw NN-D": 4, "exact LR-D": 1, "fgsm LR-D": 16, "fgsm NN-D": 16}
SLOW = ("cw", "exact")  # too slow to be run once before the clock starts
HUGE = ("fgsm",)  # noise in most entries: only its size is kept


class Workspace:
    """One data set, one profile, one seed, one folder."""

    def __init__(self, data: PublicData, *, source: str, profile: Profile, folder: Path, seed: int = 0) -> None:
        self.data, self.source, self.profile, self.folder, self.seed = data, source, profile, folder, seed
        self.choices = profile.choices
        self._linear: dict[str, Classifier] = {}
        self.train, self.test = split_for_audit(data, seed)
        # Networks are kept: several experiments attack with the same one.
        self.cache = Cache(folder, keep_networks=True)
        self.measure = Measure(seed, profile.draws, self.cache)
        for part in (PIECES, PHASE_ONE, EXPERIMENTS):
            sweep(folder / part)
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
        """A name for the content of all parts, which must not depend on unseeded chance."""
        key = fingerprint(*parts)
        if key is None:
            raise DataError("an experiment must not depend on unseeded chance")
        return key

    def kept(self, make: Callable[[], Any], *parts: Any) -> Any:
        """A piece of an experiment that takes long, as JSON knows it; ``parts`` say what it is."""
        file = self.folder / PIECES / f"{self.key_of('piece', self.key, *parts)}.json"
        known = read_record(file)
        if known is None:
            file.parent.mkdir(parents=True, exist_ok=True)
            known = json.loads(json.dumps(make()))  # as it will be read, so that a second run gives the same
            write_record(known, file)
        return known

    def guard(self, train: PublicData | None = None, *, progress: ProgressLike = None, **options: Any) -> AttriGuard:
        """AttriGuard with LR-D and PANDA, as in the paper unless ``options`` say otherwise, learnt from ``train``.

        Without ``train`` it learns from the training users.
        """
        users = self.train if train is None else train
        progress = Progress.of(progress)
        progress.tell("LR-D learns")
        guard = AttriGuard(classifier=self.linear(users), scale=self.data.scale)
        guard = fit_kept(guard, users.X, users.y, self.cache, progress)
        return guard.set_params(**({"search": "panda"} | options))

    def linear(self, users: PublicData | None = None) -> Any:
        """LR-D as a guard takes it: an estimator or, where its C_i are read otherwise, learnt from ``users``."""
        chosen, train = self.choices, self.train if users is None else users
        estimator = chosen.linear if chosen.strength is None else make_estimator(chosen.linear, chosen.strength)
        if chosen.reading == OUTPUTS:
            return estimator
        key = self.key_of("LR-D", chosen.linear, chosen.strength, train.X, train.y)
        if key not in self._linear:
            self._linear[key] = read_as(fit_linear(estimator, train.X, train.y), chosen.reading)
        return self._linear[key]

    def _untrained(self, hidden: int | None = None) -> NetworkClassifier:
        """NN-D; the attacker does not know it, so its seed is not NN-A's."""
        profile = self.profile
        return NetworkClassifier.by_recipe(
            self.choices.recipe,
            hidden=profile.defender_units if hidden is None else hidden,
            epochs=profile.epochs,
            random_state=self.seed + 1,
        )

    def network(self, progress: ProgressLike = None, hidden: int | None = None) -> NetworkClassifier:
        """NN-D, trained, at the profile's size or another; a second call goes on from its checkpoint."""
        network = self._untrained(hidden)
        key = self.key_of(NN_D, network.get_params(), self.train.X, self.train.y)
        self.cache.networks.mkdir(parents=True, exist_ok=True)
        checkpoint = self.cache.networks / f"defender-{key}.safetensors"
        watched = Progress.of(progress).named(NN_D)
        return network.fit(self.train.X, self.train.y, checkpoint=checkpoint, progress=watched)

    def classifier(self, defender: str, progress: ProgressLike = None) -> Classifier:
        """The defender's classifier, trained. The workspace does not keep it: the paper's networks are large."""
        check_choice(defender, BLOCKS, name="defender")
        if defender == NN_D:
            return read_as(self.network(progress), self.choices.network_reading)
        return self.guard(progress=progress).classifier_

    def phase_one(
        self,
        defender: str = LR_D,
        search: Any = "panda",
        policy: str = "modify_add",
        users: int | None = None,
        progress: ProgressLike = None,
    ) -> NoiseBlock:
        """The noise for the first ``users`` of the attacked users (all, if None).

        Of a search whose noise is huge only cost and success are kept.
        """
        finder, X = get_search(search), self.X[:users]
        constraints = make_constraints(
            check_policy(policy), self.data.n_items, levels=self.data.scale.levels,
            maxiter=self.choices.maxiter if defender == NN_D and finder.name in GREEDY else None,
        )  # fmt: skip
        key = self.key_of(
            "phase one",
            defender,
            (self._untrained().get_params(), self.choices.network_reading)
            if defender == NN_D
            else (self.choices.linear, self.choices.strength, self.choices.reading),
            (constraints.step, constraints.levels, constraints.max_steps),
            self.seed,
            self.train.X,
            self.train.y,
            X,
            policy,
            finder.name,
            vars(finder),
            finder.revision,
        )
        learning, searching = Progress.of(progress).parts(1, 1)
        return find_in_blocks(
            Finder(partial(self.classifier, defender, learning), finder, X, constraints),
            X.shape[0],
            n_items=X.shape[1],
            m=self.data.m,
            size=FEWER.get(f"{finder.name} {defender}", BLOCKS[defender]),
            folder=self.folder / PHASE_ONE / key,
            progress=searching.named(f"{defender}, {finder.name}"),
        )

    def plan(
        self,
        defender: str = LR_D,
        search: str = "panda",
        policy: str = "modify_add",
        target: str = "train",
        progress: ProgressLike = None,
    ) -> Plan:
        """Both phases for all attacked users, at budget 0; an evaluation sets other budgets."""
        found = self.phase_one(defender, search, policy, progress=progress)
        mechanism = Divergence(make_target(target, np.bincount(self.train.y, minlength=self.data.m)))
        return make_plan(self.X, found.edits, mechanism, budget=0.0, infer=found.infer)

    def attack(self, name: str) -> Attack:
        """Untrained, at the profile's size; an attack that adapts to a guard gets the guard with LR-D."""
        profile = self.profile
        options: dict[str, Any] = {"random_state": self.seed, "hidden": profile.attacker_units, "rank": profile.rank}
        options |= {"recipe": self.choices.recipe, "noisy_matrix": self.choices.noisy_matrix}
        if not keeps_its_size(name):
            options["epochs"] = profile.epochs
        if name == "LRA-A" and self.choices.lra_units is not None:
            options["hidden"] = self.choices.lra_units
        return lineup([name], **options, guard=self.guard() if needs_guard(name) else None)[0]

    def curves(
        self,
        attack: str,
        plans: Mapping[str, Plan],
        budgets: Sequence[float],
        *,
        train: PublicData | None = None,
        progress: ProgressLike = None,
    ) -> dict[str, Curve]:
        """The attack's accuracy on untouched data and for every budget, exactly; it learns at most once.

        An attack that learns from the rows it attacks learns from one release for every budget.
        """
        users = self.train if train is None else train
        job = Job(self.y, (users.X, users.y), self.cache)
        attacker, ladder = self.attack(attack), check_budgets(budgets)
        watched = Progress.of(progress).named(attack)
        if attacker.learns_from_batch:
            return {
                name: sampled_curve(job, self._releases(plan, ladder), attacker, part)
                for (name, plan), part in watched.each(plans.items())
            }
        return {
            name: exact_curve(job, plan, attacker, ladder, part) for (name, plan), part in watched.each(plans.items())
        }

    def _releases(self, plan: Plan, ladder: tuple[float, ...]) -> Sampled:
        """One release of a plan for every budget."""
        seeds = seeds_of(self.seed, len(ladder), 1)
        return Sampled(Drawn(plan), plan.X, ladder, seeds, (plan.edits, plan.probabilities))


class Drawn:
    """A plan as a defense that is drawn."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def release_for(self, X: csr_array, budget: float, random_state: np.random.Generator) -> csr_array:
        """One release of the plan's users."""
        return self.plan.with_budget(budget).release(random_state)


class Finder:
    """Phase I for a block of users; the classifier learns when the first block needs it."""

    def __init__(
        self, learn: Callable[[], Classifier], search: NoiseSearch, X: csr_array, constraints: Constraints
    ) -> None:
        self.learn, self.search, self.X, self.constraints = learn, search, X, constraints

    @cached_property
    def classifier(self) -> Classifier:
        """The defender's classifier, trained."""
        ready = self.learn()
        if self.search.name not in SLOW:
            self.search.find(ready, self.X[:1], self.constraints)  # compiled now, so that it is not timed
        return ready

    def __call__(self, block: slice) -> NoiseBlock:
        """The noise for the users of a block, and how long the search took."""
        classifier = self.classifier
        began = time.perf_counter()
        edits = self.search.find(classifier, self.X[block], self.constraints)
        seconds = time.perf_counter() - began
        inferred = infer(classifier, self.X[block])
        return NoiseBlock(emptied(edits) if self.search.name in HUGE else edits, inferred, seconds)


def keeps_its_size(attack: str) -> bool:
    """Is the attack small and quick already, so that no profile changes it?"""
    return bool(getattr(class_of(attack), "own_options", attack == "MLP-A"))


def needs_guard(attack: str) -> bool:
    """Does the attack adapt to a guard, so that it must be given one?"""
    cls = class_of(attack)
    return "guard" in getattr(cls, "needs", ("guard",) if getattr(cls, "needs_guard", False) else ())


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
