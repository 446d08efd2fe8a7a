"""FGSM, the fast gradient sign method (Goodfellow, Shlens and Szegedy, 2015), towards every value.

x + ε·sign(∇C_i), clipped to [0, 1]. C_i is what PANDA climbs: on a linear classifier the i-th decision function, so the
gradient is its weights (for one-vs-all logistic regression this is the sign of the loss's gradient, too); on a network
log p_i, the loss itself. The cross entropy over all C_1 … C_m of a linear classifier would change about twice as many
entries on the paper's data.

FGSM moves every entry that has a gradient: thousands for each (user, value), 8 bytes each in `Edits`. What does not fit
into memory is refused after the first users; ask for fewer users at a time.
"""

from __future__ import annotations

import numpy as np

from attriguard._checks import check_number
from attriguard.classifiers.memory import available_bytes
from attriguard.classifiers.outputs import Outputs
from attriguard.errors import ParameterError
from attriguard.noise.constraints import Constraints
from attriguard.noise.edits import Edits
from attriguard.noise.evasion import Block, EvasionSearch, Proposal, infers

# An edit's item and value take 8 bytes, and stand in memory twice: in their block, and in the joined result.
BYTES_AN_EDIT = 16


class FGSM(EvasionSearch):
    """One step along the signs of the gradient."""

    name = "fgsm"
    plain_name = "gradient sign"
    summary = "fast gradient sign method: one step of every entry (large noise)"

    def __init__(self, epsilon: float = 1.0) -> None:
        self.epsilon = check_number(epsilon, name="epsilon", low=0.0, high=1.0, open_low=True)

    def _propose(self, outputs: Outputs, block: Block, constraints: Constraints) -> Proposal:
        users, values = block.users, block.values
        before = block.start[users]
        point = outputs.at(before)
        step = np.float32(self.epsilon) * np.sign(point.slope(outputs.towards(point.scores, values)))
        after = np.clip(before + step.astype(np.float32), 0.0, 1.0)
        wanted = ~infers(point.scores, values, block.kappa[users])
        pairs, items = np.nonzero((after != before) & block.free[users] & wanted[:, None])
        return Proposal(pairs, items, after[pairs, items])

    def _watch(self, parts: list[Edits], n_users: int) -> None:
        done = sum(part.n_users for part in parts)
        free = available_bytes()
        needed = parts[-1].items.size / max(1, parts[-1].n_users) * (n_users - done) * BYTES_AN_EDIT
        if free is not None and needed > free:
            raise ParameterError(
                f"FGSM's noise for the other {n_users - done:,} users needs about {needed / 2**30:,.1f} GB of memory, "
                f"{free / 2**30:,.1f} GB are free; search for fewer users at a time"
            )
