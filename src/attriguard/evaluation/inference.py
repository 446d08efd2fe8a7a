"""How much attackers infer about users whose value is known: cross-validated, so that everyone is attacked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import rankdata

from attriguard._checks import check_rng
from attriguard.attacks.base import Attack
from attriguard.errors import DataError
from attriguard.evaluation.accuracy import Z95
from attriguard.progress import Progress

# Into so many groups users are divided, few and many; each group is attacked by who learnt from the others. Many users
# need fewer groups: half of them are enough to learn from, and the time goes into learning.
GROUPS, GROUPS_OF_MANY, MANY_USERS = 5, 2, 2000
# Guards of many users: with two groups each would know half of them, with five learning would take twice as long.
GROUPS_OF_GUARDS = 3
# A value with a single user cannot be learnt from one and tried on another.
FEWEST_PER_VALUE = 2

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Learnt = dict[int, Attack]  # group → the attack that learnt from all other groups


@dataclass(frozen=True, eq=False)
class Estimate:
    """A figure over users, and what each of them adds to its error, so that figures of the same users can be compared.

    ``influence`` is the figure's influence function: the variance of the figure is the sum of its squares (for an AUC
    that is DeLong's).
    """

    value: float
    influence: Floats = field(repr=False)

    @property
    def margin(self) -> float:
        """Half the width of a 95 % interval: how far other users of the same kind may lie from these."""
        return Z95 * float(np.sqrt(np.square(self.influence).sum()))

    def minus(self, other: Estimate) -> Estimate:
        """The difference of two figures of the same users; its interval takes into account that they go together."""
        return Estimate(self.value - other.value, self.influence - other.influence)

    def turned(self) -> Estimate:
        """The figure of who turns every answer round."""
        return Estimate(1.0 - self.value, -self.influence)


@dataclass(frozen=True)
class OfValue:
    """How much an attacker infers about one of the attribute's values."""

    users: int
    recall: float  # the share of its users for whom the attacker names it
    auc: float


@dataclass(frozen=True, eq=False)
class Inference:
    """What one attacker infers: accuracy, balanced accuracy, and AUC (macro, one value against the rest).

    ``learnt_from`` is "original" or "released": the rows of other users that the attacker learnt from.
    """

    attack: str
    learnt_from: str
    accuracy: Estimate
    balanced: Estimate
    auc: Estimate
    by_value: tuple[OfValue, ...]

    @property
    def retrained(self) -> bool:
        """Did the attacker learn from released rows?"""
        return self.learnt_from == "released"

    @property
    def at_best(self) -> Inference:
        """What he infers who sees that he is wrong more often than chance, beyond the interval, and turns his answers.

        Anybody who knows the values of some other users can see it. With more than two values only the AUC can be
        turned: there is no single other answer.
        """
        if self.auc.value + self.auc.margin >= 0.5:
            return self
        two = len(self.by_value) == 2
        by_value = tuple(OfValue(each.users, 1 - each.recall if two else each.recall, 1 - each.auc)
                         for each in self.by_value)  # fmt: skip
        turned = replace(self, auc=self.auc.turned(), by_value=by_value)
        return replace(turned, accuracy=self.accuracy.turned(), balanced=self.balanced.turned()) if two else turned


def divide(y: Ints, random_state: int | np.random.Generator | None, groups: int | None = None) -> Ints:
    """The group of every user, stratified: the users of a value go round the groups, in random order.

    So a value with two users has them in different groups, and whoever learns from all groups but one knows the value.
    """
    number = groups or (GROUPS if y.size < MANY_USERS else GROUPS_OF_MANY)
    chance = check_rng(random_state)
    shuffled = chance.permutation(y.size)
    order = shuffled[np.argsort(y[shuffled], kind="stable")]
    group = np.empty(y.size, dtype=np.int64)
    group[order] = np.arange(y.size) % number
    return group


def divide_for_guards(y: Ints, random_state: int | np.random.Generator | None) -> Ints:
    """The same for guards, each of which learns from all groups but one: the more they know, the more they hide."""
    return divide(y, random_state, None if y.size < MANY_USERS else GROUPS_OF_GUARDS)


def check_values(y: Ints, values: Sequence[str], attribute: str) -> None:
    """Refuse an attribute with a value that nothing can be learnt about."""
    counts = np.bincount(y[y >= 0], minlength=len(values))
    rare = int((counts < FEWEST_PER_VALUE).sum())
    if len(values) < 2 or rare:
        raise DataError(
            f"{rare} of the {len(values)} values of {attribute!r} have fewer than {FEWEST_PER_VALUE} users; merge or "
            "drop the rare ones with min_users (--min-users)"
        )


def learn_by_group(attack: Attack, X: csr_array, y: Ints, group: Ints, progress: Progress) -> Learnt:
    """For each group the attack, trained on the users of all others."""
    groups = np.unique(group)
    parts = progress.parts(*[1.0] * groups.size)
    return {
        int(k): attack.untrained().fit(X[group != k], y[group != k], progress=part)
        for k, part in zip(groups, parts, strict=True)
    }


def attack_by_group(learnt: Learnt, X: csr_array, group: Ints, m: int) -> Floats:
    """(n, m): how sure the attackers are of each value, for every user."""
    sure = np.zeros((group.size, m))
    for k, attack in learnt.items():
        mine = np.flatnonzero(group == k)
        sure[np.ix_(mine, attack.classes_)] = attack.predict_proba(X[mine])
    return sure


def out_of_group(
    attack: Attack, learn: csr_array, attacked: Sequence[csr_array], y: Ints, group: Ints, progress: Progress
) -> list[Floats]:
    """For each of the ``attacked`` matrices (n, m) probabilities: each group is attacked by who learnt from the others.

    All matrices have the same users and columns as ``learn``.
    """
    learnt = learn_by_group(attack, learn, y, group, progress)
    return [attack_by_group(learnt, rows, group, int(y.max()) + 1) for rows in attacked]


def inference(attack: str, learnt_from: str, sure: Floats, y: Ints, group: Ints) -> Inference:
    """The figures of one attacker's out-of-group probabilities."""
    n, m = sure.shape
    hits = (sure.argmax(axis=1) == y).astype(np.float64)
    users = np.bincount(y, minlength=m)
    recall = np.bincount(y, hits, minlength=m) / np.maximum(users, 1)
    accuracy = Estimate(float(hits.mean()), (hits - hits.mean()) / n)
    balanced = Estimate(float(recall.mean()), (hits - recall[y]) / (users[y] * m))
    aucs = [auc(sure[:, i], y == i, group) for i in range(m)]
    macro = Estimate(float(np.mean([each.value for each in aucs])), np.mean([each.influence for each in aucs], axis=0))
    by_value = tuple(
        OfValue(int(count), float(right), each.value) for count, right, each in zip(users, recall, aucs, strict=True)
    )
    return Inference(attack, learnt_from, accuracy, balanced, macro, by_value)


def auc(score: Floats, positive: NDArray[np.bool_], group: Ints) -> Estimate:
    """The share of pairs, one user with the value and one without, in which the one with it has the higher score.

    Only users of the same group are compared: scores of attackers who learnt from different users are on different
    scales.
    """
    # Of each user: how many pairs there are, and in how many the one with the value has the higher score.
    of_user, won_by = np.zeros(score.size), np.zeros(score.size)
    for k in np.unique(group):
        mine = np.flatnonzero(group == k)
        yes, no = mine[positive[mine]], mine[~positive[mine]]
        if not yes.size or not no.size:
            continue
        ranks = rankdata(score[mine])
        won_by[yes] = ranks[positive[mine]] - rankdata(score[yes])
        won_by[no] = yes.size - (ranks[~positive[mine]] - rankdata(score[no]))
        of_user[yes], of_user[no] = no.size, yes.size
    pairs = float(of_user[positive].sum())
    share = float(won_by[positive].sum()) / pairs if pairs else 0.5
    return Estimate(share, (won_by - share * of_user) / max(pairs, 1.0))


def mean_of(runs: Sequence[Inference]) -> Inference:
    """The mean of what one attacker infers about the same users in several runs."""

    def mean(figure: str) -> Estimate:
        each: list[Estimate] = [getattr(run, figure) for run in runs]
        return Estimate(float(np.mean([e.value for e in each])), np.mean([e.influence for e in each], axis=0))

    by_value = tuple(
        OfValue(each[0].users, float(np.mean([e.recall for e in each])), float(np.mean([e.auc for e in each])))
        for each in zip(*(run.by_value for run in runs), strict=True)
    )
    return replace(runs[0], accuracy=mean("accuracy"), balanced=mean("balanced"), auc=mean("auc"), by_value=by_value)


def strongest(found: Sequence[Inference], figure: str = "auc") -> Inference:
    """The attacker with the highest figure: "auc", "accuracy" or "balanced"."""
    return max(found, key=lambda each: float(getattr(each, figure).value))
