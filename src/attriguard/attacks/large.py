"""LNN-A: MLP-A's network with more units, more dropout and smaller steps."""

from __future__ import annotations

import numpy as np

from attriguard.attacks.mlp import SmallNetwork


class LargeNetwork(SmallNetwork):
    """One hidden layer of 512 ReLUs; its recipe was chosen on users of google-play and of the twin."""

    name = "LNN-A"
    plain_name = "larger neural network"
    summary = "a larger neural network trained with Adam"

    def __init__(
        self,
        *,
        hidden: int = 512,
        epochs: int = 6,
        batch_size: int = 256,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-5,
        dropout: float = 0.7,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        super().__init__(
            hidden=hidden,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            dropout=dropout,
            random_state=random_state,
        )
