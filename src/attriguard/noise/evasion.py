"""What the evasion attacks of section 5.2 share: which constraints they can keep, rounding, and the check after it.

They know no policy: every entry may change, to any value, so they work under modify_add alone. What they find is
rounded to the rating scale, as in the paper, and only then does the classifier say whether they have succeeded.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.classifiers.base import Classifier
from attriguard.classifiers.outputs import Ints, Outputs, Rows
from attriguard.errors import ParameterError
from attriguard.noise.base import NoiseSearch, SearchTask
from attriguard.noise.constraints import Constraints
from attriguard.noise.edits import Edits
from attriguard.progress import Progress

# Entries of the dense rows of one block of users; memory for dense rows does not grow beyond that.
BLOCK_ENTRIES = 2**22

NO_CHANGES = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)


@dataclass(frozen=True, eq=False)
class Block:
    """Some users' data, dense; pair u·m + i is user u on the way to value i."""

    start: Rows  # (n, items)
    free: NDArray[np.bool_]  # (n, items): what may change
    kappa: NDArray[np.float64]
    m: int

    @property
    def users(self) -> Ints:
        """(pairs,): the user of each pair."""
        return np.repeat(np.arange(self.start.shape[0]), self.m)

    @property
    def values(self) -> Ints:
        """(pairs,): the value that each pair aims at."""
        return np.tile(np.arange(self.m), self.start.shape[0])


@dataclass(frozen=True, eq=False)
class Proposal:
    """Entry ``items[e]`` of ``pairs[e]``'s data becomes ``values[e]``; sorted by pair and item, each entry once."""

    pairs: Ints
    items: Ints
    values: Rows


class EvasionSearch(NoiseSearch):
    """A search that proposes changes for a block of users; rounding and checking is done here."""

    takes_steps: ClassVar[bool] = False

    def _find(self, classifier: Classifier, task: SearchTask, progress: Progress) -> Edits:
        outputs, n, m, constraints = classifier.outputs(), task.n_users, classifier.m, task.constraints
        size = max(1, BLOCK_ENTRIES // (self._rows_a_user(outputs) * max(1, constraints.n_items)))
        parts: list[Edits] = []
        count = progress.counter(n, "Phase I")
        for begin in range(0, n, size):
            part = task.of_users(slice(begin, begin + size))
            free = (part.locked.toarray() == 0) & (constraints.upper >= 0)
            block = Block(part.X.toarray(), free, part.confidence, m)
            proposal = self._propose(outputs, block, constraints)
            parts.append(checked(classifier, part.X, block, proposal, constraints.levels))
            self._watch(parts, n)
            count(part.n_users)
        nothing = _edits(*NO_CHANGES, np.empty((0, m), np.bool_))
        return Edits.joined(parts or [nothing])

    def check_constraints(self, constraints: Constraints) -> None:
        """Refuse other policies than modify_add, and additions."""
        if not (constraints.policy.modify and constraints.policy.add):
            raise ParameterError(
                f"the search {self.name!r} knows no policies and works under policy='modify_add' alone, got "
                f"{constraints.policy.name!r}; use search='probability', 'margin' or 'panda'"
            )
        if constraints.jump:
            raise ParameterError(
                f"the search {self.name!r} cannot keep to additions; use search='probability', 'margin' or 'panda', or "
                "additions=None"
            )
        super().check_constraints(constraints)

    def _rows_a_user(self, outputs: Outputs) -> int:
        """How many dense rows a user takes."""
        return outputs.m

    def _watch(self, parts: list[Edits], n_users: int) -> None:
        """Called after every block, with all that was found so far."""

    @abstractmethod
    def _propose(self, outputs: Outputs, block: Block, constraints: Constraints) -> Proposal:
        """What to change; entries that are not free must not be among it."""


def infers(scores: NDArray[np.floating], values: Ints, kappa: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Does C infer each row's value, with a lead of κ? In a tie it infers the first."""
    return np.where(kappa > 0, lead(scores, values)[0] >= kappa, scores.argmax(axis=1) == values)


def lead(scores: NDArray[np.floating], values: Ints) -> tuple[NDArray[np.floating], Ints]:
    """C_i − C_k for each row's value i and its closest rival k; and these rivals."""
    each, rest = np.arange(values.size), scores.copy()
    rest[each, values] = -np.inf
    rivals = rest.argmax(axis=1)
    return scores[each, values] - rest[each, rivals], rivals


def checked(classifier: Classifier, X: csr_array, block: Block, proposal: Proposal, levels: int) -> Edits:
    """The proposal rounded to the rating scale; no edits for pairs whose value C does not infer after that."""
    pairs, items, values = proposal.pairs, proposal.items, proposal.values
    if levels:
        values = (np.rint(values.astype(np.float64) * levels) / levels).astype(np.float32)
    real = values != block.start[pairs // block.m, items]
    pairs, items, values = pairs[real], items[real], values[real]
    n, m = X.shape[0], block.m
    success = np.empty((n, m), dtype=np.bool_)
    edits = _edits(pairs, items, values, success)
    for i in range(m):
        scores = classifier.decision_function(edits.apply(X, np.full(n, i)))
        success[:, i] = infers(scores, np.full(n, i), block.kappa)
    kept = success.ravel()[pairs]
    return edits if kept.all() else _edits(pairs[kept], items[kept], values[kept], success)


def _edits(pairs: Ints, items: Ints, values: Rows, success: NDArray[np.bool_]) -> Edits:
    counts = np.bincount(pairs, minlength=success.size)
    return Edits(
        indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        items=items.astype(np.int32),
        values=values,
        cost=counts.reshape(success.shape).astype(np.float64),
        success=success,
        extended=np.zeros_like(success),
    )
