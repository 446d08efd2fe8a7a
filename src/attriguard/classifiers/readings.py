"""What C_i is: the paper calls it the confidence that a user has value i, and leaves open which number that is.

Both readings infer the same value, and the lead of a value over another is the same number; but Algorithm 1 follows the
gradient of C_i, which is another one. The probability and its logarithm are one reading: ∂p_i = p_i ∂log p_i, so the
order of the entries is the same. On a one-vs-all regression both readings are one, as long as p_i is value i's own
probability: it grows with its own decision function and with nothing else.
"""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.engines import Engine, PlainEngine
from attriguard.classifiers.network import NetworkClassifier
from attriguard.classifiers.outputs import Outputs

# What the softmax is taken of, or what comes out of it.
OUTPUTS, PROBABILITY = "outputs", "probability"
READINGS = (OUTPUTS, PROBABILITY)


class Reading(Classifier):
    """A trained classifier whose C_i are the outputs before the softmax, or (the logarithms of) those behind it."""

    def __init__(self, classifier: Classifier, *, softmax: bool) -> None:
        self.classifier, self.softmax = classifier, softmax

    @property
    def m(self) -> int:
        """The number of values of the attribute."""
        return self.classifier.m

    @property
    def n_items(self) -> int:
        """The number of items, the columns of the data."""
        return self.classifier.n_items

    def decision_function(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): the classifier's own; the inferred value and the leads are the same for both readings."""
        return self.classifier.decision_function(X)

    def outputs(self) -> Outputs:
        """The classifier's own, read as asked."""
        own = copy.copy(self.classifier.outputs())
        own.softmax = self.softmax
        if self.softmax:
            own.jacobian = None  # the derivatives of log p_i are not the same at all rows
        return own

    def pair_engine(self) -> Engine:
        """The fast one of a network, else the plain one."""
        if isinstance(self.classifier, NetworkClassifier):
            return self.classifier.pair_engine(softmax=self.softmax)
        return PlainEngine(self.outputs())


def read_as(classifier: Classifier, reading: str) -> Classifier:
    """The classifier with C_i read as asked; itself where that is what it does anyway."""
    softmax = check_choice(reading, READINGS, name="reading") == PROBABILITY
    return classifier if classifier.outputs().softmax == softmax else Reading(classifier, softmax=softmax)
