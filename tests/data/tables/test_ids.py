from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from attriguard.data.tables.csv_text import CsvStyle
from attriguard.data.tables.ids import count_distinct, encode_ids, lookup, union
from attriguard.data.tables.table import InputTable
from attriguard.errors import DataError


def encode(cells: object, *, csv: bool = False, **options: object):
    column = pa.table({"user": cells if isinstance(cells, pa.Array) else pa.array(cells, **options)})
    return encode_ids(InputTable(column, "t", CsvStyle() if csv else None), 0)


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.float32(), pa.float64(), pa.decimal128(5, 0)]
)
def test_numbers_of_any_type_are_whole_numbers(kind: pa.DataType) -> None:
    cells = [Decimal(k) for k in (10, 9, 10, 2)] if pa.types.is_decimal(kind) else [10, 9, 10, 2]
    ids, codes = encode(cells, type=kind)
    assert ids.dtype == np.int64
    assert ids.tolist() == [2, 9, 10]
    assert codes.tolist() == [2, 1, 2, 0]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("categorical", [False, True])
def test_text_is_kept_and_sorted(kind: pa.DataType, categorical: bool) -> None:
    cells = pa.array(["b", "é", "a", "b", "10", "9"], kind)
    if categorical:
        cells = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0, 3, 4]), pa.array(["b", "é", "a", "10", "9"], kind))
    ids, codes = encode(cells)
    assert ids.tolist() == ["10", "9", "a", "b", "é"]
    assert codes.tolist() == [3, 4, 2, 3, 0, 1]


def test_csv_text_is_whole_numbers_only_if_all_of_it_is() -> None:
    assert encode(["10", "-3", "0"], csv=True)[0].tolist() == [-3, 0, 10]
    assert encode(["007", "7"], csv=True)[0].tolist() == ["007", "7"]
    assert encode(["7", "x"], csv=True)[0].tolist() == ["7", "x"]
    assert encode(["9" * 19, "7"], csv=True)[0].tolist() == ["7", "9" * 19]
    assert encode(["+7"], csv=True)[0].tolist() == ["+7"]
    assert encode(["-0"], csv=True)[0].tolist() == ["-0"]
    assert encode(["7"])[0].tolist() == ["7"], "a text column of a frame stays text"


def test_blanks_around_a_csv_field_do_not_make_another_id() -> None:
    ids, codes = encode(["7", " 7", "8 "], csv=True)
    assert ids.tolist() == [7, 8]
    assert codes.tolist() == [0, 0, 1]


def test_hashes_beyond_63_bits() -> None:
    ids, codes = encode([2**64 - 1, 5], type=pa.uint64())
    assert ids.tolist() == [5, 2**64 - 1]
    assert codes.tolist() == [1, 0]
    assert lookup(ids, np.array([str(2**64 - 1)])).tolist() == [-1, 0]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (pa.array([1, None, 3]), r"row 2, column 'user': the id is missing \(1 such"),
        (pa.array(["a", ""]), "row 2, column 'user': an id must be"),
        (pa.array([1.0, 2.0, 2.5]), "row 3, column 'user': an id must be"),
        (pa.array([1.0, float("nan")]), "row 2"),
        (pa.array([2.0**60]), "row 1"),
        (pa.array([Decimal("1.5")]), "neither"),
        (pa.array([True, False]), "these bool values are neither"),
        (pa.array([b"x"]), "neither"),
        (pa.array([[1]]), "neither"),
        (pa.array([1], pa.timestamp("s")), "neither"),
        (pa.nulls(2), "the id is missing"),
        (pa.array([b"\xff"]).cast(pa.string(), safe=False), "neither"),
    ],
)
def test_what_is_no_id(cells: pa.Array, words: str) -> None:
    with pytest.raises(DataError, match=words):
        encode(cells)


def test_lookup_compares_text_where_types_differ() -> None:
    assert lookup([3, 1, 7], [1, 2, 3]).tolist() == [2, 0, -1]
    assert lookup([3, 1, 7], ["1", "3", "007"]).tolist() == [1, 0, -1]
    assert lookup(np.array(["3", "x"], dtype=object), np.array([3, 4], dtype=np.int32)).tolist() == [0, -1]
    assert lookup(np.array([], dtype=object), [1]).tolist() == []
    assert lookup([1], np.array([], dtype=np.int64)).tolist() == [-1]
    with pytest.raises(DataError, match="mixed types"):
        lookup(np.array([1, "a"], dtype=object), [1])


def test_union_is_sorted() -> None:
    assert union([5, 1], [3, 5]).tolist() == [1, 3, 5]
    assert union([5, 10], np.array(["x", "5"], dtype=object)).tolist() == ["10", "5", "x"]


@pytest.mark.parametrize("cells", [[], [3], [1, 1, 2, 5, 5], [5, 1, 5, 2, 1], [1, None, 1], ["b", "a", "b"]])
def test_distinct_cells_are_counted(cells: list[object]) -> None:
    column = pa.chunked_array([pa.array(cells[:2], pa.array(cells).type), pa.array(cells[2:], pa.array(cells).type)])
    assert count_distinct(column) == len(set(cells))


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("how", ["sorted", "close", "far"])
def test_whole_numbers_are_encoded_alike_however_they_lie(how: str, kind: pa.DataType) -> None:
    rng = np.random.default_rng(0)
    least = 0 if kind == pa.uint64() else -100
    numbers = rng.integers(least, 120, 500).astype(kind.to_pandas_dtype())
    if how == "far" and kind != pa.int8():
        numbers[7] = np.iinfo(np.int64).max
    if how == "sorted":
        numbers = np.sort(numbers)
    ids, codes = encode(pa.array(numbers))
    expected, places = np.unique(numbers, return_inverse=True)
    assert ids.dtype == np.int64
    assert ids.tolist() == expected.tolist()
    assert codes.tolist() == places.tolist()
