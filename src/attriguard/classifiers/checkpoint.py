"""Where training stands after an epoch, in one safetensors file, which is written whole or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._fingerprint import fingerprint
from attriguard.classifiers.weights import PARTS, Weights
from attriguard.data.files import check_file
from attriguard.errors import DataError, ParameterError

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


def write_tensors(tensors: dict[str, NDArray[Any]], path: Path, metadata: dict[str, str]) -> None:
    """Write a safetensors file beside ``path`` and rename it when it is whole; nothing is copied in memory."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    if path.is_dir():
        raise DataError(f"{path} is a folder; name the file to write")
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.touch()
        mode = beside.stat().st_mode  # what the user's umask says; safetensors would keep the file to its owner
        save_file(tensors, beside, metadata=metadata)
        beside.chmod(mode)
        beside.replace(path)
    except (OSError, SafetensorError) as error:
        raise DataError(f"{path} cannot be written: {error}; is there such a folder?") from error
    finally:
        beside.unlink(missing_ok=True)


def write_checkpoint(path: Path, mark: str, state: State) -> None:
    """Write the state after an epoch; ``mark`` is the `mark_of` options and data."""
    header = {"fingerprint": mark, "seed": state.seed, "history": state.history, "chance": state.chance}
    tensors = dict(state.weights.parts)
    if state.best is not None and not last_is_best(state.history):
        tensors |= {BEST + name: part for name, part in state.best.parts.items()}
    write_tensors(tensors, path, {HEADER: json.dumps(header)})


def read_checkpoint(path: Path, mark: str) -> State | None:
    """What `write_checkpoint` wrote; None where there is no such file yet."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        return None
    check_file(path)
    try:
        with safe_open(path, framework="numpy") as opened:
            header = json.loads((opened.metadata() or {})[HEADER])
            if header["fingerprint"] != mark:
                raise ParameterError(
                    f"{path} is the checkpoint of other options or data; name another file, or remove it"
                )
            weights = _weights_of(opened, "")
            # The last epoch's weights are there twice only where another epoch was better.
            best = _weights_of(opened, BEST if BEST + "W1" in opened.keys() else "")  # noqa: SIM118
        history = [(float(loss), accuracy) for loss, accuracy in header["history"]]
        return State(weights, best, header["chance"], int(header["seed"]), history)
    except ParameterError:
        raise
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is not a checkpoint, or is damaged; remove it to start again") from error


def _weights_of(opened: Any, prefix: str) -> Weights:
    # Copies: training works on them in place, and what the file gives may be read-only.
    return Weights(*(np.array(opened.get_tensor(prefix + name)) for name in PARTS))
