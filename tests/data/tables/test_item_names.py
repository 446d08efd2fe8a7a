"""Names of items: which columns they are in, and what happens to items without one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from attriguard.data.tables.item_names import name_items, read_item_names
from attriguard.errors import DataError


@pytest.mark.parametrize(
    ("columns", "item"),
    [
        (["movieId", "title", "genres"], "item"),
        (["id", "movie"], "movieId"),
        (["id", "name"], ""),
        (["app", "label", "price"], "app"),
        (["What", "App Name"], "what"),
        (["item_id", "item_name", "name"], ""),
        (["isbn", "Book-Title", "Book-Author"], "ISBN"),
        (["", "asin", "title"], ""),
        (["nr", "so it is called"], "Nr"),
        (["nr", "title"], ""),
    ],
)
def test_the_columns_are_found(columns, item) -> None:
    where = [name for name in columns if name]
    table = pa.table([pa.array([f"{name} 1", f"{name} 2"]) for name in columns], names=columns)
    assert read_item_names(table, item) == {f"{where[0]} 1": f"{where[1]} 1", f"{where[0]} 2": f"{where[1]} 2"}


@pytest.mark.parametrize("columns", [["item"], ["item", "genre", "price"], ["a", "b", "title"], ["a", "b"]])
def test_tables_without_them_are_refused(columns) -> None:
    table = pa.table({name: ["x"] for name in columns})
    with pytest.raises(DataError, match=r"must have a column of item ids and one of names.*its columns are"):
        read_item_names(table)


def test_ids_meet_whatever_their_types_and_the_first_name_counts(tmp_path) -> None:
    path = tmp_path / "titles.csv"
    path.write_bytes(
        '\ufeff"movieId";"title"\r\n7;"Alien; the film"\r\n9;\r\n12; Délicatessen \r\n7;Again\r\n'.encode()
    )
    names = read_item_names(path)
    assert names == {"7": "Alien; the film", "12": "Délicatessen"}
    shown, known = name_items(np.array([7, 9, 12]), names)
    assert (shown.tolist(), known) == (["Alien; the film", "9", "Délicatessen"], 2)
    assert name_items(np.array(["7", "x"], dtype=object), {"7": "Alien"})[0].tolist() == ["Alien", "x"]
    assert read_item_names({7: "Alien"}) == {"7": "Alien"}


def test_names_of_other_items_are_refused() -> None:
    with pytest.raises(DataError, match="name none of the 2 items; are the ids written as in"):
        name_items(np.array([1, 2]), {"x": "X"})
    with pytest.raises(DataError, match="a name is text"):
        read_item_names(pa.table({"item": [1], "title": [["x"]]}))
