"""DS-A: a deep set. A network that sees a user as the set of his ratings, and attends to some more than to others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from attriguard._checks import check_count, check_number, check_rng
from attriguard.attacks.base import Attack
from attriguard.classifiers.maths import softmax
from attriguard.classifiers.torch_extra import load_torch

if TYPE_CHECKING:
    import torch

# Users whose ratings are embedded at a time when predicting.
BLOCK = 2048


class DeepSet(Attack):
    """Every rating becomes a vector, ReLU(a + r·b) of its item's a and b; the vectors of a user are pooled three ways.

    The pools are the sum, the maximum, and the mean under weights that the item and the rating decide (attention). A
    network with one hidden layer takes them together. Adam trains everything at once; dropout also leaves out ratings.

    Parameters
    ----------
    width
        The length of a rating's vector.
    hidden
        Units of the hidden layer after the pools.
    epochs, batch_size, learning_rate, weight_decay, dropout
        As for MLP-A.
    random_state
        Seeds the first weights, the batches and the dropout.
    """

    name = "DS-A"
    plain_name = "deep set with attention"
    summary = "a neural network on the set of rated items, with attention"
    needs: ClassVar[tuple[str, ...]] = ("nn",)
    own_options = ("hidden", "epochs")

    def __init__(
        self,
        *,
        width: int = 64,
        hidden: int = 128,
        epochs: int = 8,
        batch_size: int = 256,
        learning_rate: float = 4e-3,
        weight_decay: float = 1e-5,
        dropout: float = 0.5,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.width = width
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.random_state = random_state

    def check_options(self) -> None:
        """Sizes and epochs must be whole numbers, 1 or more, and dropout must lie in [0, 0.99]."""
        for option in ("width", "hidden", "epochs", "batch_size"):
            check_count(getattr(self, option), name=option)
        check_number(self.learning_rate, name="learning_rate", low=0.0, open_low=True)
        check_number(self.dropout, name="dropout", low=0.0, high=0.99)

    def _fit(self, X: csr_array, codes: NDArray[np.int64]) -> None:
        torch = load_torch()
        chance = check_rng(self.random_state)
        dice = torch.Generator().manual_seed(int(chance.integers(2**62)))
        self._parts = self._first(X.shape[1], dice)
        truth = torch.from_numpy(codes)
        adam = torch.optim.Adam(self._parts.values(), lr=self.learning_rate, weight_decay=self.weight_decay)
        for _ in self._progress.each(range(self.epochs), lambda epoch: f"training, epoch {epoch + 1}"):
            order = chance.permutation(X.shape[0])
            for start in range(0, order.size, self.batch_size):
                batch = order[start : start + self.batch_size]
                adam.zero_grad()
                torch.nn.functional.cross_entropy(self._outputs(X[batch], dice), truth[batch]).backward()
                adam.step()
        for part in self._parts.values():
            part.requires_grad_(False)

    def _first(self, n_items: int, dice: torch.Generator) -> dict[str, torch.Tensor]:
        """The first weights: each layer's outputs are about as large as its inputs."""
        nn, pools = load_torch(), 3 * self.width

        def normal(*shape: int, scale: float) -> torch.Tensor:
            drawn: torch.Tensor = scale * nn.randn(*shape, generator=dice)
            return drawn.requires_grad_()

        return {
            "vectors": normal(n_items, 2 * self.width, scale=0.1),
            "attention": nn.zeros(n_items, 2, requires_grad=True),
            "inner": normal(pools, self.hidden, scale=(2.0 / pools) ** 0.5),
            "inner_bias": nn.zeros(self.hidden, requires_grad=True),
            "outer": normal(self.hidden, self.classes_.size, scale=self.hidden**-0.5),
            "outer_bias": nn.zeros(self.classes_.size, requires_grad=True),
        }

    def _outputs(self, X: csr_array, dice: torch.Generator | None = None) -> torch.Tensor:
        """(n, m): the scores before the softmax; with ``dice`` as in training, where a part drops out."""
        torch = load_torch()
        w, reduce = self._parts, torch.segment_reduce
        items = torch.from_numpy(X.indices.astype(np.int64))
        ratings = torch.from_numpy(X.data)[:, None]
        lengths = torch.from_numpy(np.diff(X.indptr).astype(np.int64))
        vectors, attention, width = w["vectors"][items], w["attention"][items], self.width
        vectors = self._dropped(torch.relu(vectors[:, :width] + ratings * vectors[:, width:]), dice)
        weight = torch.exp(attention[:, :1] + ratings * attention[:, 1:])
        sums = reduce(torch.cat([vectors, weight * vectors, weight], dim=1), "sum", lengths=lengths, initial=0)
        mean = sums[:, width:-1] / (sums[:, -1:] + 1e-6)
        largest = reduce(vectors, "max", lengths=lengths, initial=0)  # vectors are not negative
        pools = torch.cat([sums[:, :width], mean, largest], dim=1)
        active = self._dropped(torch.relu(pools @ w["inner"] + w["inner_bias"]), dice)
        return active @ w["outer"] + w["outer_bias"]

    def _dropped(self, active: torch.Tensor, dice: torch.Generator | None) -> torch.Tensor:
        if dice is None or not self.dropout:
            return active
        torch, keep = load_torch(), 1.0 - self.dropout
        return active * (torch.rand(active.shape, generator=dice) < keep) / keep

    def _predict_proba(self, X: csr_array) -> NDArray[np.float64]:
        blocks = [self._outputs(X[start : start + BLOCK]).numpy() for start in range(0, X.shape[0], BLOCK)]
        outputs: NDArray[Any] = np.concatenate([np.empty((0, self.classes_.size)), *blocks])
        return softmax(outputs)
