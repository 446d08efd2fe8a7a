"""Where training stands after an epoch, in one sealed file, which is written whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard._fingerprint import fingerprint
from attriguard.classifiers.weights import Weights, copied, weights_from
from attriguard.data.files import check_file
from attriguard.data.sealed import BROKEN, read_sealed, write_sealed
from attriguard.errors import AttriGuardError, DataError, ParameterError

if TYPE_CHECKING:
    from attriguard.classifiers.network import NetworkClassifier

# The loss of every epoch, and its accuracy on the users held back (None without validation).
History = list[tuple[float, float | None]]

HEADER = "attriguard-training"
BEST = "best."
# Options that may differ between the run that wrote a checkpoint and the run that continues it.
FREE = ("patience",)


def last_is_best(history: History) -> bool:
    """Is the last epoch the best one? Without validation it always is."""
    accuracies = [accuracy for _, accuracy in history if accuracy is not None]
    return not accuracies or accuracies[-1] > max(accuracies[:-1], default=-1.0)


@dataclass(frozen=True, eq=False)
class State:
    """After an epoch: the weights, the best epoch's, the generator, and how each epoch went (loss, accuracy)."""

    weights: Weights
    best: Weights | None  # None before the first epoch
    chance: Any  # the state of a NumPy generator
    seed: int
    history: History


def mark_of(options: NetworkClassifier, X: csr_array, codes: NDArray[np.int64]) -> str:
    """The content of options and data: training does not continue from a checkpoint with another mark."""
    fixed = {name: value for name, value in options.get_params().items() if name not in FREE}
    if isinstance(fixed["random_state"], np.random.Generator):
        fixed["random_state"] = None  # every process has another one
    return fingerprint("training", fixed, X, codes) or ""


def write_checkpoint(path: Path, mark: str, state: State) -> None:
    """Write the state after an epoch; ``mark`` is the `mark_of` options and data."""
    header = {"fingerprint": mark, "seed": state.seed, "history": state.history, "chance": state.chance}
    tensors = dict(state.weights.parts)
    if state.best is not None and not last_is_best(state.history):
        tensors |= {BEST + name: part for name, part in state.best.parts.items()}
    write_sealed(HEADER, header, tensors, path)


def read_checkpoint(path: Path, mark: str, shapes: tuple[int, int, int]) -> State | None:
    """What `write_checkpoint` wrote for items, hidden units and values; None where there is no such file yet."""
    if not path.exists():
        return None
    check_file(path)
    try:
        found = read_sealed(HEADER, path)
        if found.header["fingerprint"] == mark:
            return _state(found.header, found.tensors, shapes)
    except (*BROKEN, AttriGuardError) as error:
        raise DataError(f"{path} is not a checkpoint, or is damaged; remove it to start again") from error
    raise ParameterError(f"{path} is the checkpoint of other options or data; name another file, or remove it")


def _state(header: dict[str, Any], tensors: dict[str, NDArray[Any]], shapes: tuple[int, int, int]) -> State:
    """The state in a file, checked: kernels that train believe the shapes."""
    weights = _weights(tensors, "", shapes)
    # The last epoch's weights are there twice only where another epoch was better.
    best = _weights(tensors, BEST, shapes) if BEST + "W1" in tensors else copied(weights)
    history = [(float(loss), accuracy) for loss, accuracy in header["history"]]
    seed, chance = header["seed"], header["chance"]
    good = [np.isfinite(loss) and (rate is None or 0.0 <= rate <= 1.0) for loss, rate in history]
    if not good or not all(good) or type(seed) is not int or seed < 0:
        raise ValueError("a history or a seed that no training has")
    check_rng(seed).bit_generator.state = chance  # refuses what is no state of a generator
    return State(weights, best, chance, seed, history)


def _weights(tensors: dict[str, NDArray[Any]], prefix: str, shapes: tuple[int, int, int]) -> Weights:
    """Float32 weights of these shapes, which training may change in place."""
    found = weights_from(tensors, prefix)
    if (*found.W1.shape, found.b2.size) != shapes or any(part.dtype != np.float32 for part in found.parts.values()):
        raise ValueError("weights of another network")
    return Weights(*(np.require(part, requirements=["C", "W"]) for part in found.parts.values()))
