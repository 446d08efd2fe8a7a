"""What those infer who keep every release, of users whose value is known: cross-validated, as in an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard.attacks import KEEPING, keeping
from attriguard.attacks.base import Attack
from attriguard.attacks.kept import side_by_side
from attriguard.evaluation.exposure import averaged
from attriguard.evaluation.inference import Inference, inference, out_of_group
from attriguard.progress import Progress


@dataclass(frozen=True, eq=False)
class Kept:
    """What was inferred from the releases that a ledger has."""

    found: tuple[Inference, ...]
    n_releases: int
    n_users: int


def attack_history(
    releases: Sequence[csr_array],
    y: NDArray[np.int64],
    group: NDArray[np.int64],
    bases: Sequence[Attack],
    progress: Progress,
) -> tuple[Inference, ...]:
    """Everybody of the registry who keeps all releases; and the ``bases`` on all that was ever told.

    They learn from histories of users of the other groups.
    """
    n = len(releases)
    lineup = [*keeping(n), *(KEEPING.make("UNION-A", base=base, releases=n) for base in bases)]
    rows, found = side_by_side(releases), []
    for attack, part in progress.each(lineup, lambda attack: attack.name):
        (sure,) = out_of_group(attack, rows, [rows], y, group, part)
        one = averaged([inference(attack.name, "released", sure, y, group)], np.unique(group).size)
        found.append(one.at_best)
    return tuple(found)
