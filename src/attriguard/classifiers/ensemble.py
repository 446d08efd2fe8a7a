"""Small networks and a naive Bayes whose posteriors are averaged. "conceal" changes what this average depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.bayes import learn_weighed_bayes
from attriguard.classifiers.member import train_member
from attriguard.classifiers.small import Recipe
from attriguard.classifiers.weights import Weights, tensor_of, weights_from
from attriguard.errors import DataError, ParameterError
from attriguard.kernels.rows import rows_of
from attriguard.kernels.threads import over_users
from attriguard.progress import Progress, ProgressLike

# Networks of a guard's ensemble by default.
MEMBERS = 8
# What the naive Bayes beside them counts in the mean (docs/notebook/everyone.md).
BAYES_SHARE = 0.5
# An epoch has at least this many batches, unless they would become smaller than the smallest batch. With few users
# the batches get smaller, and the number of steps stays; with very many they get larger.
BATCHES, MOST_BATCHES = 28, 300
SMALLEST_BATCH, LARGEST_BATCH = 32, 1_024
# A member sees about this many rows, and every user's at least so often: with more it knows its own users too well, and
# what it removes protects others less (docs/notebook/goals.md).
ROWS, FEWEST_EPOCHS = 130_000, 3

Part = NDArray[np.float32]
Net = tuple[Part, Part, NDArray[np.int64], Part, Part, Part]


class Ensemble(Classifier):
    """C_i is the logarithm of the members' mean posterior of value i; ``shares`` says what each counts in the mean."""

    kind: ClassVar[str] = "ensemble"

    def __init__(self, members: Sequence[Weights], prior: ArrayLike, shares: ArrayLike | None = None) -> None:
        self.members = tuple(members)
        equal = np.full(len(self.members), 1.0 / max(len(self.members), 1))
        self.shares = np.ascontiguousarray(equal if shares is None else shares, dtype=np.float32)
        self.prior = np.ascontiguousarray(prior, dtype=np.float32)  # what is known of users without any rating
        if not self.members:
            raise ParameterError("an ensemble needs at least one member")
        if len({(w.W1.shape[0], w.b2.size) for w in self.members}) > 1:
            raise ParameterError("the members of an ensemble must know the same items and values")
        if self.prior.shape != self.members[0].b2.shape or not ((self.prior > 0) & np.isfinite(self.prior)).all():
            raise ParameterError("the prior of an ensemble must be positive, one number a value")
        one_each = self.shares.shape == (len(self.members),)
        if not (one_each and (self.shares > 0).all() and abs(self.shares.sum() - 1.0) < 1e-4):
            raise ParameterError("the shares of an ensemble must be positive and add up to 1, one number a member")
        if not all(w.finite for w in self.members):
            raise DataError("the ensemble's weights are not finite; did its training converge?")
        # The members side by side, as the kernel takes them: ends[k] to ends[k + 1] are the units of member k.
        self.ends = np.cumsum([0, *(w.b1.size for w in self.members)], dtype=np.int64)
        self.W1 = np.ascontiguousarray(np.hstack([w.W1 for w in self.members]), dtype=np.float32)
        self.b1 = np.concatenate([w.b1 for w in self.members]).astype(np.float32)
        self.W2_rows = np.ascontiguousarray(np.vstack([w.W2 for w in self.members]).T, dtype=np.float32)
        self.b2 = np.vstack([w.b2 for w in self.members]).astype(np.float32)

    @property
    def m(self) -> int:
        """The number of values, the same for all members."""
        return int(self.b2.shape[1])

    @property
    def n_items(self) -> int:
        """The number of items, the same for all members."""
        return int(self.W1.shape[0])

    @property
    def net(self) -> Net:
        """The members as kernels take them."""
        return self.W1, self.b1, self.ends, self.W2_rows, self.b2, self.shares

    def fewer(self, members: int) -> Ensemble:
        """The same with at most so many of the members that count least; together they count what all of them did."""
        light = np.isclose(self.shares, self.shares.min())
        kept = ~light | (np.cumsum(light) <= members)
        shares = np.where(light, light.sum() / (light & kept).sum(), 1.0) * self.shares
        return Ensemble([w for w, keep in zip(self.members, kept, strict=True) if keep], self.prior, shares[kept])

    def joined_by(self, member: Weights) -> Ensemble:
        """The same with one more member, which takes half of what the first one counts."""
        first = self.shares[0] / 2
        return Ensemble([self.members[0], member, *self.members[1:]], self.prior, [first, first, *self.shares[1:]])

    def predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): the mean of the members' posteriors."""
        posterior = np.empty((X.shape[0], self.m))
        rows = rows_of(X.astype(np.float32, copy=False))
        model = (*rows, *self.net)

        def work(start: int, stop: int) -> None:
            from attriguard.kernels.conceal import posterior_rows

            posterior_rows(*model, start, stop, posterior)

        over_users(X.shape[0], work)
        return posterior

    def decision_function(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): the logarithms of the mean posteriors."""
        return np.asarray(np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny)))

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The prior, what members count ("shares"), and their weights ("member0.W1", "member0.b1", …)."""
        parts = {f"member{k}.{name}": part for k, w in enumerate(self.members) for name, part in w.parts.items()}
        return parts | {"prior": self.prior, "shares": self.shares}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]]) -> Self:
        """The ensemble of a guard file; members are counted by their names, shapes and finiteness are checked."""
        count = len({name.partition(".")[0] for name in tensors if name.startswith("member")})
        shares = tensor_of(tensors, "shares") if "shares" in tensors else None  # earlier guards: all alike
        return cls([weights_from(tensors, f"member{k}.") for k in range(count)], tensor_of(tensors, "prior"), shares)


def fit_ensemble(
    X: csr_array,
    codes: NDArray[np.int64],
    *,
    members: int,
    chance: np.random.Generator,
    progress: ProgressLike = None,
) -> Ensemble:
    """Learn from codes 0 … m - 1, each of which occurs: so many networks, which differ by their random draws alone.

    A naive Bayes that a regression weighs stands beside them. It reads a little from every rating, which networks do
    not, and attackers who do infer most behind a guard without it.
    """
    number = check_count(members, name="members")
    recipe, seeds = recipe_for(X.shape[0]), chance.integers(2**63, size=number)
    steps = Progress.of(progress)
    count = None if steps.quiet else steps.counter(number, "the members learn")

    def learn(start: int, stop: int) -> list[Weights]:
        return [train_member(recipe, X, codes, np.random.default_rng(seed)) for seed in seeds[start:stop]]

    weights = [member for part in over_users(number, learn, smallest=1, count=count) for member in part]
    bayes = learn_weighed_bayes(X, codes, chance)
    shares = [BAYES_SHARE, *[(1.0 - BAYES_SHARE) / number] * number]
    return Ensemble([bayes, *weights], np.bincount(codes) / codes.size, shares)


def recipe_for(n_users: int) -> Recipe:
    """How a member learns from so many users."""
    usual = Recipe()
    largest = max(usual.batch_size, min(n_users // MOST_BATCHES, LARGEST_BATCH))
    size = int(np.clip(n_users // BATCHES, SMALLEST_BATCH, largest))
    epochs = int(np.clip(-(-ROWS // n_users), FEWEST_EPOCHS, usual.epochs))
    return replace(usual, batch_size=size, epochs=epochs).check()
