"""Algorithm 1 on the value's probability, and on its lead where one step is enough."""

from __future__ import annotations

from attriguard._checks import check_number
from attriguard.kernels.aims import DECREASE, PROBABILITY
from attriguard.noise.greedy import GreedySearch


class Probability(GreedySearch):
    """Greedy on p_i, the last step on the lead; on a network the smaller of what `panda` and `margin` find.

    Parameters
    ----------
    decrease
        A decrease counts as so many times its gain, on a linear classifier.
    shorter
        Take the way of `margin` where it needs fewer changes, on a linear classifier.
    """

    name = "probability"
    plain_name = "greedy search on the probability"
    summary = "Algorithm 1 on the value's probability, its last step on the lead over the closest other value"
    aim = PROBABILITY

    def __init__(self, *, decrease: float = DECREASE, shorter: bool = False) -> None:
        self.decrease = check_number(decrease, name="decrease", low=1.0)
        self.shorter = shorter
