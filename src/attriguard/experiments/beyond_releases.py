"""Beyond the paper: twelve releases of ratings that arrive over time, and an attacker who keeps them all.

Half of each user's ratings are there at the first release; the others arrive evenly after it, in a seeded random order.
The twin's ratings have dates: half of all are there at the first release, and some users come later.
Three groups that share nobody: the guards' users, the attacker's users and the test users; the last two are released.
Guards are learnt anew for every third release, from what their users have by then. The budget is 4 changes a user on
average over users, at a price that is settled on a tenth of the guards' users. Every release is drawn anew, or drawn
under a key, or planned with a ledger; or with one that caps a user's changes at 4 over all releases, shown beside it.
The attacker knows the values of his own users and learns from their releases, in every way of the registry of those
who keep everything: from the union of all, from the differences, from what disappeared and what came, from all releases
side by side, from how often items were shown, and from each release alone, averaged; or he learns from their original
ratings. Beside it stands a single release of the final data, attacked by the same classifiers.

Rule: holds if, with the ledger, the strongest attacker who has all releases infers at most 0.02 more than the strongest
one who has a single release of the final data, behind "conceal" (the core), behind "mislead" and behind "both"; and if
he infers less than from as many keyed releases, and less than from as many that were redrawn, behind "conceal".
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from attriguard.attacks import KEEPING
from attriguard.attacks.base import Attack
from attriguard.attacks.kept import side_by_side, union
from attriguard.data.named.twin_dates import twin_days
from attriguard.data.public_data import PublicData
from attriguard.data.split import stratified_test_mask
from attriguard.evaluation.figures import rounded
from attriguard.evaluation.histories import LEDGER, SCHEMES, arrivals, changed, dated_arrivals, histories, upto
from attriguard.evaluation.protocol import halves
from attriguard.experiments.base import Check, Experiment, Numbers, share
from attriguard.experiments.curves import baseline_of
from attriguard.experiments.workspace import Workspace
from attriguard.goals import names as goal_names
from attriguard.guard import AttriGuard
from attriguard.progress import Progress
from attriguard.report.page import Table
from attriguard.report.plots import Line, LinePlot

RELEASES, ANEW, FIRST = 12, 3, 0.5
BUDGET, MORE = 4.0, 0.02
KEY = b"one key for all twelve releases"
# Who looks at what; the faster attackers try everything.
VIEWS = {"LR-A": tuple(KEEPING), "MLP-A": ("UNION-A", "DIFF-A"), "NB-A": tuple(KEEPING)}
# After how many releases the attacker is asked, and by whom the curve is drawn.
ASKED, CURVE = (1, 4, 8, 12), "LR-A"
# The share of a guard's users on whom its price is settled.
SETTLING = 0.1


class BeyondReleases(Experiment):
    """Release after release, redrawn, keyed and with a ledger, against attackers who keep everything."""

    name = "beyond-releases"
    title = "Beyond: release after release"
    claim = (
        "Not in the paper, which leaves it open: with a ledger, an attacker who keeps twelve releases infers hardly "
        "more than from one."
    )
    reported = "Nothing; it says that historical data may tell an attacker more."
    inputs = (
        "data",
        "guards of three goals on a half, learnt anew every third release",
        "LR-A, MLP-A and NB-A on the other",
    )
    in_paper = False
    effort = (300.0, 3000.0)
    revision = 3

    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Measure every goal; each is kept when it is done."""
        trial = _Trial(work)
        goals = {}
        for goal, part in progress.each(goal_names(), lambda goal: goal):
            goals[goal] = work.kept(partial(trial.goal, goal, part), "releases", self.revision, goal)
        return {
            "users": int(trial.test.n_users),
            "baseline": baseline_of(trial.test.y, work.train.y),
            "asked": list(ASKED),
            "goals": goals,
        }

    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The ledger against a single release, goal by goal, "conceal" first; then against the other schemes."""
        goals = numbers["goals"]
        found = []
        for goal in ("conceal", "mislead", "both"):
            single, kept = best(goals[goal]["single"]), best(goals[goal]["schemes"][LEDGER]["final"])
            found.append(
                Check(f'behind "{goal}", twelve releases with the ledger tell at most {MORE:g} more than one',
                      f"{share(kept)} against {share(single)}", kept <= single + MORE)
            )  # fmt: skip
        final = {scheme: best(goals["conceal"]["schemes"][scheme]["final"]) for scheme in SCHEMES}
        for scheme in SCHEMES[:2]:
            found.append(
                Check(f'behind "conceal", they tell less than twelve {scheme} ones',
                      f"{share(final[LEDGER])} against {share(final[scheme])}", final[LEDGER] < final[scheme])
            )  # fmt: skip
        return found

    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The strongest attacker behind "conceal"."""
        conceal = numbers["goals"]["conceal"]
        shown = ", ".join(f"{scheme} {share(best(conceal['schemes'][scheme]['final']))}" for scheme in SCHEMES)
        return "–", f"conceal, one release: {share(best(conceal['single']))}; twelve: {shown}"

    def show(self, numbers: Numbers) -> Sequence[LinePlot | Table]:
        """For every goal what the union of the releases tells, over the releases; and every attacker at the end."""
        plots = [self._plot(goal, each["schemes"], numbers) for goal, each in numbers["goals"].items()]
        attackers = list(next(iter(numbers["goals"].values()))["schemes"][LEDGER]["final"])
        rows = []
        for goal, each in numbers["goals"].items():
            single = [share(each["single"].get(name.split(" by ")[-1])) for name in attackers]
            rows.append([goal, "one release", f"{each['changes']:.2f}", *single])
            for scheme in SCHEMES:
                found = each["schemes"][scheme]
                rows.append([goal, scheme, f"{found['changes']:.2f}", *(share(found["final"][a]) for a in attackers)])
        return [
            *plots,
            Table(
                ["goal", "releases", "changes a user", *attackers], rows, numeric=range(2, 3 + len(attackers)),
                caption=f"share of users whose value is inferred after {RELEASES} releases; budget {BUDGET:g}",
            ),
        ]  # fmt: skip

    def _plot(self, goal: str, schemes: Mapping[str, Any], numbers: Numbers) -> LinePlot:
        lines = [Line(scheme, numbers["asked"], [100 * a for a in schemes[scheme]["curve"]]) for scheme in SCHEMES]
        return LinePlot(
            lines,
            "releases so far",
            "users whose value is inferred (%)",
            ("guessing", 100 * numbers["baseline"]),
            caption=f"Behind “{goal}”: {CURVE} on the union of all releases, learnt from users with the same history; "
            f"{numbers['users']:,} test users.",
        )


UNAWARE = ", learnt from originals"


def best(found: Mapping[str, float]) -> float:
    """The strongest attacker's accuracy."""
    return max(found.values())


class _Trial:
    """The users, their arrivals and the guards, which all goals share."""

    def __init__(self, work: Workspace) -> None:
        guards, mine, self.test = halves(work.train, work.test.take(work.chosen), work.seed)
        self.work, self.mine = work, mine
        self.released = _together(mine, self.test)
        self.arrival = self.arrivals(self.released, work.seed)
        held = stratified_test_mask(guards.y, SETTLING, work.seed)
        self.learning, self.settling = guards.take(~held), guards.take(held)
        self.times = [self.arrivals(users, work.seed + 1) for users in (self.learning, self.settling)]
        self._guards: dict[int, AttriGuard] = {}
        self._unaware: dict[str, Attack] = {}

    def arrivals(self, users: PublicData, seed: int) -> NDArray[np.int64]:
        """When each rating arrives: the twin's have dates."""
        if self.work.source == "twin":
            return dated_arrivals(twin_days(users), RELEASES, first=FIRST)
        return arrivals(users.X, RELEASES, seed, first=FIRST)

    def goal(self, goal: str, progress: Progress) -> dict[str, Any]:
        """One release of the final data, and twelve by every scheme, attacked."""
        learning, releasing, attacking = progress.parts(2, 2, 3)
        learnt = {t: self.guard(t, goal, learning) for t in (*range(0, RELEASES, ANEW), RELEASES - 1)}
        guards = [learnt[t - t % ANEW] for t in range(RELEASES)]
        found = histories(self.released, self.arrival, guards, KEY, self.work.seed, int(BUDGET), releasing)
        plan = learnt[RELEASES - 1].plan(self.released.X, users=self.released.users)
        single = plan.release(key=KEY)
        attacks = [self.work.attack(name) for name in VIEWS]
        return {
            "changes": rounded(changed(self.released.X, single)),
            "single": self.attacked([single], dict.fromkeys(attacks, ())),
            "schemes": {
                scheme: {
                    "changes": rounded(history.changes),
                    "final": self.attacked(history.releases, {a: VIEWS[a.name] for a in attacks}),
                    "curve": [self.curve(history.releases[:k], attacks[0]) for k in ASKED],
                }
                for (scheme, history), _ in attacking.each(list(found.items()), lambda each: each[0])
            },
        }

    def guard(self, t: int, goal: str, progress: Progress) -> AttriGuard:
        """The guard that is learnt at release t, with its price for a goal."""
        if t not in self._guards:
            users = upto(self.learning, self.times[0], t)
            made = AttriGuard(
                goal="both", search="margin", split=self.work.profile.goal_split or 0.5, scale=self.work.data.scale,
                budget=BUDGET, budget_over="everyone", random_state=self.work.seed,
            )  # fmt: skip
            self._guards[t] = made.fit(users.X, users.y, progress=progress)
        own = copy.copy(self._guards[t]).set_params(goal=goal)
        return own.settle(upto(self.settling, self.times[1], t).X)

    def attacked(self, releases: Sequence[csr_array], lineup: Mapping[Attack, Sequence[str]]) -> dict[str, float]:
        """What every attacker infers of the test users from these releases; without views, from the last one."""
        rows, n = side_by_side(releases), self.mine.n_users
        found, everything = {}, union(releases)
        for attack, views in lineup.items():
            for view in views:
                keeping = KEEPING.make(view, base=attack.untrained(), releases=len(releases))
                found[keeping.name] = self.accuracy(keeping.fit(rows[:n], self.mine.y).predict(rows[n:]))
            if not views:
                retrained = attack.untrained().fit(releases[-1][:n], self.mine.y)
                found[attack.name] = self.accuracy(retrained.predict(releases[-1][n:]))
            found[f"{attack.name}{UNAWARE}"] = self.accuracy(self.unaware(attack).predict(everything[n:]))
        return found

    def unaware(self, attack: Attack) -> Attack:
        """The attacker who learnt from original ratings; learnt once."""
        if attack.name not in self._unaware:
            self._unaware[attack.name] = attack.untrained().fit(self.mine.X, self.mine.y)
        return self._unaware[attack.name]

    def curve(self, releases: Sequence[csr_array], attack: Attack) -> float:
        """What the union of some releases tells an attacker who learns from such unions."""
        rows, n = union(releases), self.mine.n_users
        return self.accuracy(attack.untrained().fit(rows[:n], self.mine.y).predict(rows[n:]))

    def accuracy(self, inferred: Any) -> float:
        """The share of test users whose value is inferred."""
        return rounded(float((inferred == self.test.y).mean()), 6)


def _together(first: PublicData, second: PublicData) -> PublicData:
    """The users of both, the first ones first."""
    return PublicData(
        X=csr_array(vstack([first.X, second.X], format="csr")),
        users=np.concatenate([first.users, second.users]),
        items=first.items,
        scale=first.scale,
        attribute=first.attribute,
        y=np.concatenate([first.y, second.y]),
        values=first.values,
    )
