from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

import attriguard as ag
from attriguard.data.split import stratified_test_mask
from attriguard.errors import DataError, ParameterError


def make(n: int = 20, **changes: object) -> ag.PublicData:
    fields = {
        "X": csr_array(np.eye(n, 5, dtype=np.float32) * np.float32(0.4)),
        "users": np.arange(n) + 100,
        "items": np.array(list("abcde"), dtype=object),
        "scale": ag.RatingScale(1, 5, 1),
        "attribute": "city",
        "y": np.arange(n) % 3 - 1,
        "values": ("A", "B"),
    }
    return ag.PublicData(**(fields | changes))


def test_it_is_a_canonical_frozen_value() -> None:
    messy = coo_array(([0.4, 0.0, 0.2], ([1, 0, 0], [3, 2, 1])), shape=(20, 5))
    data = make(X=messy)
    assert isinstance(data.X, csr_array)
    assert data.X.dtype == np.float32
    assert data.X.nnz == 2
    assert data.X.has_canonical_format
    for array in (data.X.data, data.X.indices, data.X.indptr, data.y, data.users, data.items):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
    with pytest.raises(FrozenInstanceError):
        data.attribute = "x"
    assert (data.n_users, data.n_items, data.m) == (20, 5, 2)
    assert repr(data) == (
        "PublicData(20 users × 5 items, 2 ratings (1 to 5 in steps of 1), attribute 'city' with 2 values)"
    )


def test_the_html_is_a_table_of_facts_about_no_single_user() -> None:
    values = ("A & B", *(f"v{k}" for k in range(40)))
    users = np.array([f"secret{u}" for u in range(20)], dtype=object)
    data = make(values=values, users=users, attribute="<city>", test_mask=np.arange(20) > 15)
    html = data._repr_html_()
    for fact in (">20<", ">5<", "1 to 5 in steps of 1", "&lt;city&gt;", "41: A &amp; B, v0", "and 35 more", ">13<"):
        assert fact in html
    assert "16 training users, 4 test users" in html
    assert "secret" not in html
    assert html.count("<tr>") == 8
    assert "split" not in make()._repr_html_()
    likes = make(X=csr_array(np.eye(20, 5)), scale=ag.RatingScale.likes(), y=np.full(20, -1), values=(), attribute="")
    assert likes._repr_html_().count("<tr>") == 5
    assert "likes" in likes._repr_html_()
    assert len(repr(data).splitlines()) <= 10
    assert "secret" not in repr(data)


def test_the_callers_arrays_stay_writeable() -> None:
    users = np.arange(20)
    X = csr_array(np.eye(20, 5, dtype=np.float32))
    make(users=users, X=X)
    users[0] = 7
    X.data[0] = 0.5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"users": np.arange(3)}, r"users must have shape \(20,\)"),
        ({"items": np.arange(3)}, "items must have shape"),
        ({"y": [0, 1]}, "y must have shape"),
        ({"item_names": np.arange(3)}, "item_names"),
        ({"test_mask": np.zeros(3, bool)}, "test_mask"),
        ({"y": np.full(20, 2)}, "codes from -1"),
        ({"y": np.full(20, -2)}, "codes from -1"),
        ({"X": np.zeros(20)}, "two dimensions"),
        ({"X": csr_array(np.full((20, 5), 1.5))}, r"\[0, 1\]"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(DataError, match=words):
        make(**changes)


def test_take_by_mask_and_by_number() -> None:
    data = make(test_mask=np.arange(20) > 15)
    some = data.take([3, 1])
    assert some.users.tolist() == [103, 101]
    assert some.y.tolist() == [-1, 0]
    assert some.X.toarray().tolist() == data.X.toarray()[[3, 1]].tolist()
    assert some.test_mask is None
    assert some.values == data.values
    assert data.take(data.disclosed).n_users == data.disclosed.sum()
    assert data.take([-1]).users.tolist() == [119]
    assert data.take([]).n_users == 0
    with pytest.raises(IndexError):
        data.take([20])
    with pytest.raises(IndexError):
        data.take([True, False])


def test_a_data_set_that_comes_with_a_split_keeps_it() -> None:
    data = make(test_mask=np.arange(20) > 15)
    assert data.test.users.tolist() == [116, 117, 118, 119]
    assert data.train.n_users == 16
    assert data.split()[1].users.tolist() == data.test.users.tolist()
    assert data.split(test_size=0.5, random_state=0)[1].n_users == 10
    with pytest.raises(DataError, match="without a split"):
        _ = make().train


def test_splits_are_seeded_and_split_the_users() -> None:
    data = make()
    one, two = data.split(test_size=0.3, random_state=5), data.split(test_size=0.3, random_state=5)
    assert one[1].users.tolist() == two[1].users.tolist()
    assert sorted([*one[0].users, *one[1].users]) == data.users.tolist()
    different = {tuple(data.split(test_size=0.3, random_state=seed)[1].users) for seed in range(5)}
    assert len(different) > 1
    assert make().split()[1].n_users == 2


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=200).map(np.array), st.floats(0.01, 0.99), st.integers(0, 99))
def test_every_stratum_gets_its_share(y: np.ndarray, share: float, seed: int) -> None:
    mask = stratified_test_mask(y, share, seed)
    total = round(share * y.size)
    assert mask.sum() == total
    for stratum in np.unique(y):
        of_stratum = y == stratum
        assert abs(mask[of_stratum].sum() - of_stratum.sum() * total / y.size) < 1


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 7])
def test_a_share_is_between_0_and_1(share: float) -> None:
    with pytest.raises(ParameterError, match="test_size"):
        make().split(test_size=share)
