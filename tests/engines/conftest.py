from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import attriguard as ag


@pytest.fixture(scope="session")
def data():
    return ag.load_dataset("twin", n_users=240, n_items=40, n_values=3)


@pytest.fixture(scope="session")
def guard(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("guard") / "city.guard"
    ag.learn(ag.load_dataset("twin", n_users=300, n_items=40, n_values=3, seed=1), budget=2.0, random_state=0).save(
        path
    )
    return path


@pytest.fixture(scope="session")
def plain(data):
    """Users, items and ratings, the rows in no order."""
    table = data.to_arrow()
    return table.take(pa.array(np.random.default_rng(0).permutation(table.num_rows)))


@pytest.fixture(scope="session")
def wide(plain):
    """The same with columns of every kind that can be released block by block."""
    rng, n = np.random.default_rng(1), plain.num_rows
    item, user = plain["item"].to_numpy(), plain["user"].to_numpy()
    rare = np.isin(user, np.unique(user)[:40])  # users who have all their rows at one time: others' times must serve
    when = np.where(rare, 1_600_000_000, 1_500_000_000 + rng.integers(0, 10**8, n))
    return (
        plain.append_column("when", pa.array(when.astype("datetime64[s]").astype("datetime64[ms]")))
        .append_column("title", pa.array([f"title {each}" for each in item]).dictionary_encode())
        .append_column("device", pa.array(np.where((user + rng.integers(0, 2, n)) % 3 == 0, "phone", "desk")))
        .append_column("token", pa.array([f"{each:016x}" for each in rng.integers(2**60, 2**63, n)]))
    )


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    monkeypatch.setenv("ATTRIGUARD_THREADS", "1")
