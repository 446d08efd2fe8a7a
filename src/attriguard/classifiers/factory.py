"""From what a guard is given to a fitted classifier."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice
from attriguard._progress import Progress
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.ensemble import Ensemble
from attriguard.classifiers.linear import KINDS as LINEAR_KINDS
from attriguard.classifiers.linear import LinearClassifier, fit_linear
from attriguard.classifiers.module import check_module, is_module
from attriguard.classifiers.network import NetworkClassifier
from attriguard.errors import ParameterError

NETWORK = "nn"
KINDS = (*LINEAR_KINDS, NETWORK)


def network_of(classifier: Any, random_state: Any = None) -> NetworkClassifier | None:
    """A new, untrained network with the options asked for; None where no network is asked for.

    ``random_state`` is for a network that has none of its own.
    """
    if isinstance(classifier, NetworkClassifier):
        network = NetworkClassifier(**classifier.get_params())
    elif isinstance(classifier, str) and classifier == NETWORK:
        network = NetworkClassifier()
    else:
        return None
    return network.set_params(random_state=random_state) if network.random_state is None else network


def check_classifier(
    classifier: Any, checkpoint: str | os.PathLike[str] | None = None, *, linear_only: bool = False
) -> None:
    """Refuse at once what `fit_classifier` could not learn."""
    if isinstance(classifier, str):
        check_choice(classifier, KINDS, name="classifier")
    if isinstance(classifier, (LinearClassifier, Ensemble)):
        raise ParameterError(
            "this classifier was learnt already and came from a file; to learn anew, set another: "
            f"set_params(classifier=...), one of {', '.join(KINDS)} or an estimator"
        )
    if linear_only and (network_of(classifier) is not None or is_module(classifier)):
        raise ParameterError("this search needs a linear classifier; use classifier='lr', or search='margin'")
    if checkpoint is not None and network_of(classifier) is None:
        raise ParameterError("only the training of a network has checkpoints; use classifier='nn'")


def fit_classifier(
    classifier: Any,
    X: csr_array,
    codes: NDArray[np.int64],
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: int | np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Classifier:
    """Learn from codes 0 … m - 1, each of which occurs; what was given is not changed.

    ``classifier``: "lr", "lr-ova", a linear classifier of scikit-learn, "nn", a `NetworkClassifier` (its options are
    used, whether it is trained or not), or a trained ``torch.nn.Module``, which is only checked.
    """
    check_classifier(classifier, checkpoint)
    network = network_of(classifier, random_state)
    if network is not None:
        return network.fit(X, codes, checkpoint=checkpoint, progress=progress)
    if is_module(classifier):
        return check_module(classifier, X, int(codes.max()) + 1)
    return fit_linear(classifier, X, codes)
