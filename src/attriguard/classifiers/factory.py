"""From what a guard is given to a fitted classifier."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.linear import KINDS as LINEAR_KINDS
from attriguard.classifiers.linear import fit_linear
from attriguard.classifiers.module import check_module, is_module
from attriguard.classifiers.network import NetworkClassifier, Progress
from attriguard.errors import ParameterError

NETWORK = "nn"
KINDS = (*LINEAR_KINDS, NETWORK)


def network_of(classifier: Any) -> NetworkClassifier | None:
    """A new, untrained network with the options asked for; None where no network is asked for."""
    if isinstance(classifier, NetworkClassifier):
        return NetworkClassifier(**classifier.get_params())
    return NetworkClassifier() if isinstance(classifier, str) and classifier == NETWORK else None


def fit_classifier(
    classifier: Any,
    X: csr_array,
    codes: NDArray[np.int64],
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Classifier:
    """Learn from codes 0 … m - 1, each of which occurs; what was given is not changed.

    ``classifier``: "lr", "lr-ova", a linear classifier of scikit-learn, "nn", a `NetworkClassifier` (its options are
    used, whether it is trained or not), or a trained ``torch.nn.Module``, which is only checked.
    """
    if isinstance(classifier, str):
        check_choice(classifier, KINDS, name="classifier")
    network = network_of(classifier)
    if network is not None:
        return network.fit(X, codes, checkpoint=checkpoint, progress=progress)
    if checkpoint is not None:
        raise ParameterError("only the training of a network has checkpoints; use classifier='nn'")
    if is_module(classifier):
        return check_module(classifier, X, int(codes.max()) + 1)
    return fit_linear(classifier, X, codes)
