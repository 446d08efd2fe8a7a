"""The weights of a network with one hidden layer: their shapes, and how training starts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attriguard.errors import DataError, ParameterError

# The names of the four arrays, in their order.
PARTS = ("W1", "b1", "W2", "b2")
# Bounds of the random weights that training starts from: 1/√inputs, or √(6 / (inputs + outputs)) with biases of 0
# (Glorot and Bengio, 2010).
INITIAL = INPUTS, GLOROT = "inputs", "glorot"


@dataclass(frozen=True, eq=False)
class Weights:
    """Outputs relu(x W1 + b1) W2 + b2, float32 (or float64); W1 is (items, hidden), W2 (hidden, m)."""

    W1: NDArray[Any]
    b1: NDArray[Any]
    W2: NDArray[Any]
    b2: NDArray[Any]

    def __post_init__(self) -> None:
        hidden, m = self.W2.shape if self.W2.ndim == 2 else (-1, -1)
        if self.W1.ndim != 2 or self.W1.shape[1] != hidden or self.b1.shape != (hidden,) or self.b2.shape != (m,):
            raise ParameterError(
                "a network has weights (items, hidden), (hidden,), (hidden, m) and (m,), got "
                f"{self.W1.shape}, {self.b1.shape}, {self.W2.shape} and {self.b2.shape}"
            )

    @property
    def parts(self) -> dict[str, NDArray[Any]]:
        """The four arrays by their names, as files keep them."""
        return {name: getattr(self, name) for name in PARTS}

    @property
    def finite(self) -> bool:
        """Whether no weight is NaN or infinite."""
        with np.errstate(invalid="ignore", over="ignore"):
            # Sums, since one NaN or infinity is enough to show in them, and they need no memory.
            return all(np.isfinite(part.sum(dtype=np.float64)) for part in self.parts.values())


def copied(weights: Weights, into: Weights | None = None) -> Weights:
    """A copy of the weights, written into ``into`` where there is one."""
    if into is None:
        return Weights(*(part.copy() for part in weights.parts.values()))
    for target, part in zip(into.parts.values(), weights.parts.values(), strict=True):
        np.copyto(target, part)
    return into


def weights_from(tensors: Mapping[str, NDArray[Any]], prefix: str = "") -> Weights:
    """The weights among the tensors of a file, where their names begin with ``prefix``."""
    return Weights(*(tensor_of(tensors, prefix + name) for name in PARTS))


def tensor_of(tensors: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """One tensor of a file by its name; refused where the file does not hold it, or holds what are no weights."""
    if name not in tensors:
        raise DataError(f"the tensor {name!r} of the classifier is missing")
    found = np.asarray(tensors[name])
    # As float32, which kernels work with: a larger number is infinite there.
    largest = np.finfo(np.float32).max
    if found.dtype.kind != "f" or not found.size or not -largest <= found.min() <= found.max() <= largest:
        raise DataError(f"the tensor {name!r} of the classifier is not finite, or empty, or of another type")
    return found


def first_weights(
    chance: np.random.Generator, n_items: int, hidden: int, m: int, *, initial: str = INPUTS, inputs: int | None = None
) -> Weights:
    """Weights before training: uniform, and so small that the outputs are of order 1 (`INITIAL` says how small).

    ``inputs`` is how many inputs the first layer's bounds are for, where not for ``n_items``.
    """
    wide = n_items if inputs is None else inputs
    near, far = wide**-0.5, hidden**-0.5
    if initial == GLOROT:
        near, far = (6 / (wide + hidden)) ** 0.5, (6 / (hidden + m)) ** 0.5
    biases = 0.0 if initial == GLOROT else 1.0

    def uniform(shape: tuple[int, ...], bound: float) -> NDArray[np.float32]:
        part = chance.random(shape, dtype=np.float32)
        part -= np.float32(0.5)
        part *= np.float32(2.0 * bound)  # in place: the first layer may take gigabytes
        return part

    return Weights(
        uniform((n_items, hidden), near),
        uniform((hidden,), biases * near),
        uniform((hidden, m), far),
        uniform((m,), biases * far),
    )
