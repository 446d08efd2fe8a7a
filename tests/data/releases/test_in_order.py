"""A sorted table is released the same, be its columns made from the released matrix or gathered cell by cell."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import attriguard as ag
from attriguard.data.releases import release as module
from attriguard.data.releases.orders import Level
from attriguard.data.releases.release import align_items, make_release
from attriguard.data.releases.survey import Survey
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError

KEY = b"a secret of 16 b"
ITEMS = np.array([1, 2, 9, 10, 11, 100])


def survey_of(data, users="numbers"):
    source = data.source
    return Survey(
        {}, data.items[:0], order=(Level(source.user, users), Level(source.item, "numbers")), complete=True
    )  # fmt: skip


def both_ways(table, items=ITEMS, seed=0, order="keep", users="numbers", chance=None, share=0.5):
    """A release as it is made, and as it is gathered; and whether the former was made from the matrix.

    ``users`` says what is known of the order of a block; None: the table is the whole. ``share`` of it changes.
    """
    data = ag.read_ratings(
        InputTable(table, "t", None), scale=(1, 5, 1), like="rating" not in table.column_names, duplicates="mean"
    )
    rng = np.random.default_rng(seed)
    X = align_items(data, items)[0].toarray()
    levels = rng.integers(0, data.scale.levels + 1, X.shape) / data.scale.levels
    released = csr_array(np.where(rng.random(X.shape) < share, levels, X).astype(np.float32))
    given = {"items": items, "survey": users and survey_of(data, users), "order": order}
    given |= {"key": KEY} if chance is None else {"random_state": chance}
    make, used = module.release_in_order, []

    def watched(*arguments):
        found = make(*arguments)
        used.append(found is not None)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "release_in_order", watched)
        quick = make_release(data, released, **given)
        patch.setattr(module, "release_in_order", lambda *_: None)
        slow = make_release(data, released, **given)
    return quick, slow, used == [True]


def same(one, other):
    assert one.table.schema.equals(other.table.schema, check_metadata=True)
    assert one.table.equals(other.table)
    assert one.summary == other.summary
    assert (one.csv, one.types, one.filled, one.telltale, one.order_note) == (
        other.csv, other.types, other.filled, other.telltale, other.order_note,
    )  # fmt: skip
    for name in ("added", "added_users", "added_columns"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.survey.order == other.survey.order
    assert one.survey.settled == other.survey.settled


def rows_of(n_users, seed, ratings=True):
    rng = np.random.default_rng(seed)
    pairs = [(u, i) for u in range(n_users) for i in ITEMS.tolist() if rng.random() < 0.6]
    columns = {"user": [u for u, _ in pairs], "item": [i for _, i in pairs]}
    if ratings:
        columns["rating"] = rng.integers(1, 6, len(pairs)).tolist()
    return pa.table({name: pa.array(cells, pa.int64()) for name, cells in columns.items()})


@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from(["numbers", "together"]))
@settings(max_examples=60)
def test_sorted_tables_of_numbers_are_made_from_the_matrix(n_users, seed, ratings, users):
    table = rows_of(n_users, seed, ratings)
    if not table.num_rows:
        return
    for order in ("keep", "sorted"):
        quick, slow, used = both_ways(table, seed=seed, order=order, users=users)
        assert used
        same(quick, slow)


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int32(), pa.uint64()])
@pytest.mark.parametrize("rating", [pa.int8(), pa.float32(), pa.float64(), pa.decimal128(20, 0)])
def test_columns_keep_their_types(kind, rating):
    table = rows_of(6, 1)
    table = pa.table({name: table[name].cast(rating if name == "rating" else kind) for name in table.column_names})
    quick, slow, used = both_ways(table.select(["rating", "item", "user"]))
    assert used == (not pa.types.is_decimal(rating))
    same(quick, slow)


def test_what_pandas_noted_comes_along():
    quick, slow, used = both_ways(pa.Table.from_pandas(rows_of(6, 1).to_pandas(), preserve_index=None))
    assert used
    same(quick, slow)
    assert quick.table.to_pandas().index.equals(pd.RangeIndex(quick.table.num_rows))


@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.sampled_from([0.0, 0.1, 0.5]))
@settings(max_examples=60)
def test_whole_tables_in_any_order(n_users, seed, ratings, users_in_order, share):
    table, rng = rows_of(n_users, seed, ratings), np.random.default_rng(seed)
    table = table.take(pa.array(rng.permutation(table.num_rows)))
    if not table.num_rows:
        return
    if users_in_order:
        table = table.sort_by("user")
    for order, chance in (("keep", None), ("sorted", None), ("keep", seed), ("shuffled", seed)):
        quick, slow, used = both_ways(table, seed=seed, order=order, users=None, chance=chance, share=share)
        assert used or order == "shuffled" or not quick.summary.added
        same(quick, slow)


def test_a_generator_goes_on_as_if_the_rows_were_gathered():
    after = []
    for make in (module.release_in_order, lambda *_: None):
        generator = np.random.default_rng(3)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "release_in_order", make)
            both_ways(rows_of(6, 1), users=None, chance=generator)
        after.append(generator.random())
    assert after[0] == after[1]


def other_rating(table):
    first = table["rating"].to_numpy().copy()
    first[0] = 6 - first[0] if first[0] != 3 else 5
    return table.set_column(2, "rating", pa.chunked_array([first]))


OTHERS = {
    "text": lambda table: table.set_column(1, "item", table["item"].cast(pa.string())),
    "categories": lambda table: table.set_column(1, "item", table["item"].dictionary_encode()),
    "a rating beside the grid": lambda table: table.set_column(
        2, "rating", pa.chunked_array([table["rating"].to_numpy() + np.eye(1, table.num_rows)[0] * 1e-9])
    ),
    "a pair twice": lambda table: pa.concat_tables([table.slice(0, 1), other_rating(table)]),
    "numbers that count as text": lambda table: table.set_column(
        0, "user", pa.chunked_array([table["user"].to_numpy() + 10**18])
    ),
    "another column": lambda table: table.append_column("note", pa.array(["a"] * table.num_rows)),
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_tables_are_gathered(what):
    table = OTHERS[what](rows_of(6, 1))
    if what == "another column":
        data = ag.read_ratings(InputTable(table, "t", None), scale=(1, 5, 1))
        released = align_items(data, ITEMS)[0]
        made = make_release(data, released, items=ITEMS, key=KEY)
        assert made.table.column_names == table.column_names
        return
    quick, slow, used = both_ways(table)
    assert not used
    same(quick, slow)


def test_items_that_the_catalogue_lacks_stay():
    quick, slow, used = both_ways(rows_of(6, 1), items=ITEMS[1:])
    assert not used
    same(quick, slow)
    assert 1 in quick.table["item"].to_pylist()


def test_a_catalogue_in_another_order_is_gathered():
    quick, slow, used = both_ways(rows_of(6, 1), items=ITEMS[::-1].copy())
    assert not used
    same(quick, slow)


def test_an_item_that_does_not_fit_the_column_is_refused_as_ever():
    table = rows_of(6, 1)
    narrow = table.set_column(1, "item", table["item"].cast(pa.int8()))
    with pytest.raises(DataError, match="do not fit"):
        both_ways(narrow, items=np.append(ITEMS, 1000))
