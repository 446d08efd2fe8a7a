"""Shared fixtures: small data, made once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Compiled kernels make the first example slow, and machines are busy: no deadline, and the same examples each time.
settings.register_profile("attriguard", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("attriguard")

ROOT = Path(__file__).parents[1]


def real_data_folder() -> Path | None:
    """Where the paper's data is, if it is here: $ATTRIGUARD_DATA, or shared/data beside the project."""
    for folder in (os.environ.get("ATTRIGUARD_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (Path(folder) / "google-play" / "train_user.txt").is_file():
            return Path(folder)
    return None


@pytest.fixture(scope="session")
def google_play():
    """The paper's data."""
    folder = real_data_folder()
    if folder is None:
        pytest.skip("the paper's data is not here: set ATTRIGUARD_DATA to a folder that holds google-play/")
    import attriguard as ag

    return ag.load_dataset("google-play", folder / "google-play")


@pytest.fixture(scope="session")
def small_twin():
    import attriguard as ag

    return ag.load_dataset("twin", n_users=900, n_items=300, n_values=4, seed=3)


@pytest.fixture(scope="session")
def small_guard(small_twin):
    import attriguard as ag

    train, _ = small_twin.split()
    return ag.AttriGuard().fit(train.X, train.y, items=train.items, values=train.values)


@pytest.fixture
def squeezed_entries(monkeypatch):
    """Estimators take entries x > 1 as x / (1 + x), so that scikit-learn's checks run on the data they come with."""
    import numpy as np
    from scipy.sparse import issparse

    from attriguard import _checks

    strict = _checks.check_matrix

    def squeeze(x):
        return x / (1.0 + np.maximum(x, 0))  # a negative entry stays one: it must be refused

    def check(X, **options):
        if issparse(X):
            X = X.tocsr(copy=True)
            X.data = squeeze(X.data)
        elif X.dtype.kind in "fiu":
            X = squeeze(X)
        return strict(X, **options)

    monkeypatch.setattr(_checks, "check_matrix", check)
