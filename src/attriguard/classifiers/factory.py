"""From what a guard is given to a fitted classifier."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice
from attriguard._registry import Registry
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.linear import KINDS as LINEAR_KINDS
from attriguard.classifiers.linear import fit_linear
from attriguard.classifiers.module import check_module, is_module
from attriguard.classifiers.network import NetworkClassifier
from attriguard.errors import ParameterError
from attriguard.progress import ProgressLike

NETWORK = "nn"
KINDS = (*LINEAR_KINDS, NETWORK)
# What a guard file can hold, by the `kind` of the class.
CLASSIFIER_KINDS: Registry[Classifier] = Registry(
    "kind of classifier",
    "attriguard.classifiers.base:Classifier",
    {
        "linear": "attriguard.classifiers.linear:LinearClassifier",
        "network": "attriguard.classifiers.network:NetworkClassifier",
        "ensemble": "attriguard.classifiers.ensemble:Ensemble",
    },
)


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
    network = network_of(classifier)
    ready = isinstance(classifier, Classifier) and network is None  # trained already: there is nothing to learn
    if ready and classifier.kind:
        raise ParameterError(
            "this classifier was learnt already and came from a file; to learn anew, set another: "
            f"set_params(classifier=...), one of {', '.join(KINDS)} or an estimator"
        )
    if linear_only and (network is not None or is_module(classifier) or (ready and not classifier.is_linear)):
        raise ParameterError("this search needs a linear classifier; use classifier='lr', or search='probability'")
    if checkpoint is not None and network is None:
        raise ParameterError("only the training of a network has checkpoints; use classifier='nn'")


def fit_classifier(
    classifier: Any,
    X: csr_array,
    codes: NDArray[np.int64],
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    random_state: int | np.random.Generator | None = None,
    progress: ProgressLike = None,
) -> Classifier:
    """Learn from codes 0 … m - 1, each of which occurs; what was given is not changed.

    ``classifier``: "lr", "lr-ova", a linear classifier of scikit-learn, "nn", a `NetworkClassifier` (its options are
    used, whether it is trained or not), or a trained ``torch.nn.Module`` or `Classifier` of your own, which is only
    checked.
    """
    check_classifier(classifier, checkpoint)
    network = network_of(classifier, random_state)
    if network is not None:
        return network.fit(X, codes, checkpoint=checkpoint, progress=progress)
    m = int(codes.max()) + 1
    if is_module(classifier):
        return check_module(classifier, X, m)
    if isinstance(classifier, Classifier):
        return check_given(classifier, X.shape[1], m)
    return fit_linear(classifier, X, codes)


def check_given(classifier: Classifier, n_items: int, m: int) -> Classifier:
    """A trained classifier of one's own; refused where it is for other items or values."""
    if (classifier.n_items, classifier.m) != (n_items, m):
        raise ParameterError(
            f"the classifier {type(classifier).__name__} is for {classifier.n_items:,} items and {classifier.m} "
            f"values, the data has {n_items:,} and {m}"
        )
    return classifier
