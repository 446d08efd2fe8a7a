"""Plain SGD for a network with one hidden layer, on CSR rows; forward and backward are written out.

Nothing of the size (items × hidden) is made besides the weights: a batch reads and changes only the rows of W1 of the
items that its users have.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_rng
from attriguard.classifiers.checkpoint import (
    History,
    State,
    last_is_best,
    mark_of,
    read_checkpoint,
    write_checkpoint,
)
from attriguard.classifiers.memory import check_fits, training_bytes
from attriguard.classifiers.network import UNITS_A_RANGE, NetworkClassifier
from attriguard.classifiers.torch_extra import load_torch
from attriguard.classifiers.weights import Weights, copied, first_weights
from attriguard.errors import ParameterError
from attriguard.kernels.bag import bag_forward, batch_forward, batch_update
from attriguard.kernels.rows import rows_of
from attriguard.kernels.threads import over_users
from attriguard.progress import Progress, ProgressLike

if TYPE_CHECKING:
    import torch

# Users whose validation accuracy is computed at a time.
VALIDATION_BLOCK = 256
# Sides of the dice that decide which units are left out: small numbers are drawn faster than fractions.
DICE = 2**16 - 1
# A checkpoint that is written in less than so many seconds is written after every epoch; another one not before so many
# times its own time has passed.
QUICK, SELDOM = 1.0, 10.0


def train(
    options: NetworkClassifier,
    X: csr_array,
    codes: NDArray[np.int64],
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: ProgressLike = None,
) -> tuple[Weights, History]:
    """The weights of the best epoch (the last one without validation), and loss and accuracy of each epoch."""
    load_torch()
    n_items, m = X.shape[1], int(codes.max()) + 1
    check_fits(
        training_bytes(hidden=options.hidden, n_items=n_items, m=m, batch_size=options.batch_size),
        what=f"training {options.hidden:,} hidden units on {n_items:,} items",
    )
    epochs = Progress.of(progress).parts(*[1.0] * options.epochs)
    mark = "" if checkpoint is None else mark_of(options, X, codes)
    state = None if checkpoint is None else read_checkpoint(Path(checkpoint), mark, (n_items, options.hidden, m))
    if state is None:
        state = first_state(options, n_items, m)
    run, keeper = Run.of(state, options), Keeper(checkpoint, mark, len(state.history))
    learn, held = split(X.shape[0], options.validation, state.seed)
    batches = -(-learn.size // options.batch_size)
    while len(state.history) < options.epochs and not gave_up(state.history, options.patience):
        number = len(state.history) + 1
        rate = options.rate(len(state.history))
        count = epochs[number - 1].counter(batches, f"training, epoch {number}")
        loss = run.epoch(X, codes, learn, rate, count)
        if not np.isfinite(loss):
            stopped(number, options.learning_rate)
            break
        history = [*state.history, (loss, run.accuracy(X[held], codes[held]) if held.size else None)]
        # A copy: what is kept must not change with the next epoch.
        best = copied(run.weights, state.best) if last_is_best(history) else state.best
        state = State(run.weights, best, run.chance.bit_generator.state, state.seed, history)
        keeper.keep(state)
    else:  # after a break, the weights are those of the epoch that failed
        keeper.finish(state)
    if state.best is None:
        raise ParameterError("the checkpoint holds no finished epoch; remove it to start again")
    return state.best, state.history


class Keeper:
    """Writes checkpoints; a large network's so seldom that they take at most a tenth of the time."""

    def __init__(self, path: str | os.PathLike[str] | None, mark: str, epochs: int) -> None:
        self.path = None if path is None else Path(path)
        self.mark, self.epochs = mark, epochs  # how many epochs the file holds
        self.took, self.written = 0.0, time.monotonic()

    def keep(self, state: State) -> None:
        """Write the state after an epoch, if it is time to."""
        if self.took < QUICK or time.monotonic() - self.written >= SELDOM * self.took:
            self.finish(state)

    def finish(self, state: State) -> None:
        """Write the state, unless the file holds it."""
        if self.path is None or len(state.history) == self.epochs:
            return
        began = time.monotonic()
        write_checkpoint(self.path, self.mark, state)
        self.written, self.epochs = time.monotonic(), len(state.history)
        self.took = self.written - began


def first_state(options: NetworkClassifier, n_items: int, m: int) -> State:
    """Before the first epoch: random weights, and the seed that everything random in this training comes from."""
    seed = int(check_rng(options.random_state).integers(2**62))
    chance = check_rng(seed)
    weights = first_weights(chance, n_items, options.hidden, m, initial=options.initial)
    return State(weights, None, chance.bit_generator.state, seed, [])


def split(n_users: int, validation: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Users to learn from, and users held back."""
    order = np.random.default_rng([seed, 1]).permutation(n_users)
    held = round(validation * n_users)
    if held >= n_users:
        raise ParameterError(f"validation={validation:g} leaves none of {n_users:,} users to learn from")
    return np.sort(order[held:]), np.sort(order[:held])


def gave_up(history: History, patience: int) -> bool:
    """No better epoch for ``patience`` epochs."""
    accuracies = [accuracy for _, accuracy in history if accuracy is not None]
    return bool(accuracies) and len(accuracies) - 1 - int(np.argmax(accuracies)) >= patience


def stopped(number: int, rate: float) -> None:
    """Say that the loss of epoch ``number`` is not finite: a warning, or an error where no epoch was good."""
    advice = f"try a learning_rate below {rate:g}"
    if number == 1:
        raise ParameterError(f"the loss became infinite or NaN in the first epoch; {advice}")
    warnings.warn(
        f"the loss became infinite or NaN in epoch {number}: training stopped, the last good epoch is kept; {advice}",
        RuntimeWarning,
        stacklevel=2,
    )


@dataclass(eq=False)
class Run:
    """The weights in training, as NumPy arrays for the kernels and as tensors on the same memory."""

    weights: Weights
    options: NetworkClassifier
    chance: np.random.Generator

    @classmethod
    def of(cls, state: State, options: NetworkClassifier) -> Run:
        """A run that goes on where ``state`` was recorded; it changes the state's weights in place."""
        chance = check_rng(state.seed)
        chance.bit_generator.state = state.chance
        return cls(state.weights, options, chance)

    def epoch(
        self,
        X: csr_array,
        codes: NDArray[np.int64],
        users: NDArray[np.int64],
        rate: float,
        count: Callable[[int], None],
    ) -> float:
        """One pass over the users; the mean loss, or NaN as soon as one batch's is not finite."""
        import torch

        order = self.options.order(users, self.chance)
        total = 0.0
        for start in range(0, order.size, self.options.batch_size):
            batch = order[start : start + self.options.batch_size]
            total += self.step(X[batch], torch.from_numpy(codes[batch]), rate)
            if not np.isfinite(total):
                return float("nan")
            count(1)
        return total / users.size

    def step(self, X: csr_array, codes: torch.Tensor, rate: float) -> float:
        """One step of SGD; the batch's summed loss before it."""
        import torch

        w, rows, keep = self.weights, rows_of(X), 1.0 - self.options.dropout
        active = np.empty((X.shape[0], w.b1.size), dtype=np.float32)
        dice = self.chance.integers(DICE, size=active.shape, dtype=np.uint16)
        over_units(
            w.b1.size,
            lambda low, high: batch_forward(*rows, w.W1, w.b1, dice, keep * DICE, 1.0 / keep, active, low, high),
        )
        output = torch.addmm(torch.from_numpy(w.b2), torch.from_numpy(active), torch.from_numpy(w.W2))
        log_p, users = torch.log_softmax(output, dim=1), torch.arange(codes.numel())
        loss = -float(log_p[users, codes].sum())
        error = log_p.exp_()  # ∂loss/∂output = softmax - truth, the mean over the batch
        error[users, codes] -= 1.0
        slope = error.div_(codes.numel()).numpy()
        w.b2[:] -= np.float32(rate) * slope.sum(axis=0)
        over_units(
            w.b1.size,
            lambda low, high: batch_update(*rows, active, slope, rate, 1.0 / keep, w.W1, w.b1, w.W2, low, high),
        )
        return loss

    def hidden(self, X: csr_array) -> torch.Tensor:
        """(n, hidden): x W1 + b1."""
        import torch

        rows, w = rows_of(X), self.weights
        pre = np.empty((X.shape[0], w.b1.size), dtype=np.float32)
        over_units(w.b1.size, lambda low, high: bag_forward(*rows, w.W1, w.b1, pre, low, high))
        return torch.from_numpy(pre)

    def accuracy(self, X: csr_array, codes: NDArray[np.int64]) -> float:
        """The share of these users whose value the network infers, without dropout."""
        right = 0
        for start in range(0, X.shape[0], VALIDATION_BLOCK):
            block = slice(start, start + VALIDATION_BLOCK)
            scores = self.hidden(X[block]).clamp_(min=0.0).numpy() @ self.weights.W2 + self.weights.b2
            right += int((scores.argmax(axis=1) == codes[block]).sum())
        return right / X.shape[0]


def over_units(hidden: int, work: Callable[[int, int], None]) -> None:
    """A kernel over ranges of hidden units, on all cores."""
    over_users(hidden, work, smallest=UNITS_A_RANGE)
