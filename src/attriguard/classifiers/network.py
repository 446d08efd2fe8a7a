"""A network with one hidden layer: the paper's NN-A and NN-D, trained on sparse rows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_choice, check_number
from attriguard._parameters import Parameters
from attriguard.classifiers.base import Classifier
from attriguard.classifiers.engines import Engine
from attriguard.classifiers.maths import log_softmax
from attriguard.classifiers.memory import check_fits
from attriguard.classifiers.outputs import Outputs
from attriguard.classifiers.weights import GLOROT, INITIAL, INPUTS, weights_from
from attriguard.classifiers.weights import Weights as Weights
from attriguard.data.locks import used_alone
from attriguard.errors import DataError, NotFittedError, ParameterError
from attriguard.kernels.threads import over_users
from attriguard.progress import ProgressLike

# Hidden units of the paper's networks (section 5.1).
DEFENDER_UNITS = 50_000
ATTACKER_UNITS = 30_000
# How networks of either side learn: as here, or as in the code that the paper's authors published
# (github.com/jinyuan-jia/AttriGuard).
OWN, AUTHORS = "own", "authors"
RECIPES: dict[str, dict[str, Any]] = {
    OWN: {},
    AUTHORS: {"epochs": 50, "learning_rate": 0.05, "decay": False, "shuffle": False, "initial": GLOROT},
}
# Pre-activations held at a time when many users' decision functions are asked for.
BLOCK_ENTRIES = 2**23
# Units a thread works on, at least.
UNITS_A_RANGE = 2048


class NetworkClassifier(Parameters, Classifier):
    """Input, one hidden layer of ReLUs, softmax; plain SGD with dropout.

    The decision functions are C_i = log p_i, with p the softmax of the outputs: the paper's confidences, in logarithms.
    The inferred value is the same, and so is the order in which PANDA finds entries, since ∂p_i = p_i ∂log p_i; but the
    gradient does not vanish where the network is sure. A lead C_i − C_k is the lead of the outputs.

    Parameters
    ----------
    hidden
        Hidden units: 50,000 in the paper's NN-D, 30,000 in its NN-A.
    epochs
        Passes over the training users, at most.
    learning_rate, batch_size
        Of the plain SGD.
    decay
        Let the rate fall from epoch to epoch, in equal steps, towards 0.
    shuffle
        Take the users in a new order in every epoch, not in the order in which they are given.
    initial
        How large random weights are before training: "inputs" (± 1/√inputs) or "glorot" (± √(6 / (inputs + outputs)),
        biases 0).
    dropout
        The share of hidden units that is left out, at random, for each user in each step.
    validation
        The share of users held back to measure each epoch; the best epoch is kept. 0: none, the last epoch is kept.
    patience
        Stop after this many epochs without a better one (with ``validation``).
    random_state
        Same seed, same weights: on one machine and one version of torch, with the same number of threads.
    """

    kind: ClassVar[str] = "network"

    def __init__(
        self,
        *,
        hidden: int = DEFENDER_UNITS,
        epochs: int = 12,
        learning_rate: float = 0.25,
        decay: bool = True,
        shuffle: bool = True,
        initial: str = INPUTS,
        batch_size: int = 100,
        dropout: float = 0.7,
        validation: float = 0.0,
        patience: int = 3,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.decay = decay
        self.shuffle = shuffle
        self.initial = initial
        self.batch_size = batch_size
        self.dropout = dropout
        self.validation = validation
        self.patience = patience
        self.random_state = random_state

    @classmethod
    def by_recipe(cls, recipe: str, **options: Any) -> Self:
        """An untrained network that learns by a recipe of `RECIPES`; an option that is None is the recipe's."""
        check_choice(recipe, RECIPES, name="recipe")
        return cls(**RECIPES[recipe] | {name: value for name, value in options.items() if value is not None})

    @classmethod
    def from_weights(cls, W1: ArrayLike, b1: ArrayLike, W2: ArrayLike, b2: ArrayLike) -> Self:
        """A fitted network from its weights: (items, hidden), (hidden,), (hidden, m), (m,)."""
        parts = [np.asarray(part) for part in (W1, b1, W2, b2)]
        dtype = np.float64 if all(part.dtype == np.float64 for part in parts) else np.float32
        weights = Weights(*(np.ascontiguousarray(part, dtype=dtype) for part in parts))
        network = cls(hidden=weights.b1.size)
        network._take(weights)
        return network

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The weights by their names: "W1", "b1", "W2", "b2"."""
        return self.weights.parts

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]]) -> Self:
        """The network of a guard file; shapes and finiteness are checked."""
        return cls.from_weights(**weights_from(tensors).parts)

    def fit(
        self,
        X: csr_array,
        codes: NDArray[np.int64],
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: ProgressLike = None,
    ) -> Self:
        """Learn from codes 0 … m - 1.

        With ``checkpoint``, finished epochs are written to that file, and a fit with the same options and data goes on
        from there. Every epoch is written, unless that takes longer than a second: then so few that writing takes a
        tenth of the time. Two fits cannot use one file at the same time: the second is refused.
        """
        from attriguard.classifiers.training import train

        self.check_options()
        with nullcontext() if checkpoint is None else used_alone(Path(checkpoint)):
            weights, self.history_ = train(self, X, codes, checkpoint=checkpoint, progress=progress)
        self._take(weights)
        return self

    def check_options(self) -> None:
        """Refuse options that no training can work with."""
        for name, low in (("hidden", 1), ("epochs", 1), ("batch_size", 1), ("patience", 1)):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < low:
                raise ParameterError(f"{name} must be a whole number, {low} or more, got {value!r}")
        check_number(self.learning_rate, name="learning_rate", low=0.0, open_low=True)
        check_choice(self.initial, INITIAL, name="initial")
        for name, high in (("dropout", 0.99), ("validation", 0.9)):
            check_number(getattr(self, name), name=name, low=0.0, high=high)

    def rate(self, epoch: int) -> float:
        """The learning rate of an epoch; the first one is 0."""
        return self.learning_rate * (1.0 - epoch / self.epochs) if self.decay else self.learning_rate

    def order(self, users: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.int64]:
        """The order in which an epoch takes the users."""
        return chance.permutation(users) if self.shuffle else users

    def _take(self, weights: Weights) -> None:
        if not weights.finite:
            raise DataError("the network's weights are not finite; did its training converge?")
        self.weights_ = weights
        self._units: NDArray[Any] | None = None

    @property
    def weights(self) -> Weights:
        """The trained weights; refused before training."""
        if not hasattr(self, "weights_"):
            raise NotFittedError("this network has not been trained yet: call fit(X, codes) first")
        return self.weights_

    @property
    def units(self) -> NDArray[Any]:
        """The first layer, unit by unit (hidden, items): a second copy, made when Phase I first needs it."""
        if self._units is None:
            W1 = self.weights.W1
            check_fits(W1.nbytes, what=f"a second copy of the first layer, {W1.shape[1]:,} hidden units,")
            self._units = np.ascontiguousarray(W1.T)
        return self._units

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "_units" in state:
            state["_units"] = None  # copies make their own when they need it
        return state

    @property
    def n_items(self) -> int:
        """The number of items: the rows of W1."""
        return int(self.weights.W1.shape[0])

    @property
    def m(self) -> int:
        """The number of values: the outputs of the softmax."""
        return int(self.weights.b2.size)

    def pre_activations(self, X: csr_array) -> NDArray[np.float64]:
        """(n, hidden): x W1 + b1, summed in float64."""
        from attriguard.kernels.bag import bag_forward
        from attriguard.kernels.rows import rows_of

        w, rows = self.weights, rows_of(X)
        pre = np.empty((X.shape[0], w.b1.size))
        over_users(
            w.b1.size, lambda start, stop: bag_forward(*rows, w.W1, w.b1, pre, start, stop), smallest=UNITS_A_RANGE
        )
        return pre

    def decision_function(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): log p_i, the logarithms of the softmax's outputs."""
        w = self.weights
        W2, scores = w.W2.astype(np.float64), np.empty((X.shape[0], self.m))
        block = max(1, BLOCK_ENTRIES // w.b1.size)
        for start in range(0, X.shape[0], block):
            pre = self.pre_activations(X[start : start + block])
            scores[start : start + block] = np.maximum(pre, 0.0, out=pre) @ W2 + w.b2
        return log_softmax(scores)

    def predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        """(n, m): how sure the network is of each value, the softmax's outputs."""
        return np.exp(self.decision_function(X))

    def outputs(self) -> Outputs:
        """What the softmax is taken of, with derivatives."""
        from attriguard.classifiers.hidden_layer import NetworkOutputs

        return NetworkOutputs(self)

    def pair_engine(self, *, softmax: bool = True) -> Engine:
        """An engine that follows each changed entry through the hidden layer; ``softmax`` says that C_i is log p_i."""
        from attriguard.classifiers.hidden_layer import HiddenLayer

        return HiddenLayer(self, softmax=softmax)
