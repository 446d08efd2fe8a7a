from __future__ import annotations

import gzip
import os
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attriguard.data.tables.csv_text import CsvStyle
from attriguard.data.tables.table import InputTable, read_table, write_table
from attriguard.errors import DataError

TABLE = pa.table({"user": [1, 2], "item": ["a", "b"], "rating": [5.0, 4.0]})


def test_an_error_in_a_block_names_the_row_of_the_whole_table() -> None:
    block = InputTable(pa.table({"user": [1]}), "r.csv", rows_are_lines=True, first_row=1_200)
    assert block.at(0, 0) == "r.csv, row 1,201 (line 1,202), column 'user'"


def refused(given: object, words: str) -> str:
    with pytest.raises(DataError, match=words) as caught:
        read_table(given, "the ratings table")
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "tsv.gz", "txt", "CSV", "parquet", "pq"])
def test_every_format_goes_out_and_comes_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"ratings.of.mine.{suffix}"
    write_table(TABLE, path, None)
    back = read_table(path, "x")
    assert back.column_names == TABLE.column_names
    assert [str(cell) for cell in back.table.column("item").to_pylist()] == ["a", "b"]
    assert os.listdir(tmp_path) == [path.name]
    if "p" in suffix.split(".")[-1]:
        assert back.table.equals(TABLE)
        assert back.csv is None


def test_the_style_follows_the_suffix_of_the_output(tmp_path: Path) -> None:
    text = pa.table({"a": ["1"], "b": ["2"]})
    for name, style, expected in [
        ("x.csv", CsvStyle(delimiter=";"), b"a;b\n1;2\n"),
        ("x.csv", CsvStyle(delimiter="\t"), b"a,b\n1,2\n"),
        ("x.tsv", CsvStyle(newline="\r\n"), b"a\tb\r\n1\t2\r\n"),
        ("x.txt", CsvStyle(delimiter="|"), b"a|b\n1|2\n"),
    ]:
        write_table(text, tmp_path / name, style)
        assert (tmp_path / name).read_bytes() == expected


def test_a_parquet_file_with_text_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"user": ["abcdef"], "item": [1]}), path, compression="none", use_dictionary=False)
    path.write_bytes(path.read_bytes().replace(b"abcdef", b"abc\xb0ef"))
    assert "cannot be read as Parquet" in refused(path, "UTF8")


def test_a_name_of_a_column_is_no_cell(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("user," + "n" * 1_001 + "\n1,2\n")
    assert "1,001 letters, more than 1,000; is there a header line" in refused(tmp_path / "r.csv", "letters")
    (tmp_path / "r.csv").write_text("user," + "n" * 1_000 + "\n1,2\n")
    assert len(read_table(tmp_path / "r.csv").shown_columns) < 100


def test_the_same_table_gives_the_same_gzip(tmp_path: Path) -> None:
    for name in ("one.csv.gz", "two.csv.gz"):
        write_table(TABLE, tmp_path / name, None)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()


def test_a_gzip_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(gzip.compress(b"user,item\n1,2\n"))
    assert read_table(tmp_path / "r.csv", "x").table.num_rows == 1


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(TABLE.to_pydict()),
        pl.DataFrame(TABLE.to_pydict()),
        TABLE,
        TABLE.to_reader(),
    ],
    ids=["pandas", "polars", "pyarrow", "reader"],
)
def test_frames_that_speak_arrow(frame: object) -> None:
    table = read_table(frame, "the ratings table")
    assert table.table.to_pydict() == TABLE.to_pydict()
    assert table.name == "the ratings table"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def put(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    packed = gzip.compress(b"user,item\n" + os.urandom(5000).hex().encode())
    whole = tmp_path / "whole.parquet"
    pq.write_table(TABLE, whole)
    refused(tmp_path / "none.csv", "there is no file")
    refused(tmp_path / "none.parquet", "there is no file")
    refused(tmp_path, "is a folder")
    refused(put("cut.csv.gz", packed[:-500]), "not a whole gzip")
    refused(put("odd.csv.gz", b"user,item\n1,2\n"), "not a whole gzip")
    refused(put("cut.parquet", whole.read_bytes()[:-30]), "cannot be read as Parquet")
    refused(put("empty.parquet", b""), "cannot be read as Parquet")
    refused(put("header.csv", b"user,item\n"), "has no rows")
    refused(put("ratings.xlsx", b"PK"), r"ends in \.csv.*got \.xlsx")
    refused(put("ratings", b"user,item\n1,2\n"), "got none")
    refused(TABLE.slice(0, 0), "the ratings table has no rows")


def test_a_matrix_is_no_long_table(tmp_path: Path) -> None:
    wide = pa.table({f"item {k}": [0.0] for k in range(300)})
    pq.write_table(wide, tmp_path / "wide.parquet")
    refused(wide, "300 columns; a long table was expected")
    refused(tmp_path / "wide.parquet", r"wide\.parquet has 300 columns")


def test_things_that_are_no_table() -> None:
    refused([(1, 2, 3)], "got a list")
    refused(pl.DataFrame(TABLE.to_pydict()).lazy(), r"call \.collect\(\)")


def test_mixed_types_in_a_frame_name_the_column_and_no_value() -> None:
    message = refused(pd.DataFrame({"user": [1, "Secretville"], "item": [1, 2]}), "column 'user' .* mixed types")
    assert "Secretville" not in message


def test_where_a_row_is() -> None:
    table = InputTable(TABLE, "r.csv", CsvStyle(), rows_are_lines=True)
    assert table.at(1, 2) == "r.csv, row 2 (line 3), column 'rating'"
    assert InputTable(TABLE, "r.parquet").row(1) == "row 2"
    many = InputTable(pa.table({f"c{k}": [1] for k in range(20)}), "x")
    assert many.shown_columns.endswith("'c11' and 8 more")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(DataError, match="CSV cannot hold"):
        write_table(pa.table({"a": [[1]]}), path, None)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    for path, words in [
        (tmp_path / "none" / "out.csv", "cannot be written"),
        (tmp_path / "out.xlsx", r"ends in \.csv"),
    ]:
        with pytest.raises(DataError, match=words):
            write_table(TABLE, path, None)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        write_table(TABLE, tmp_path / "folder.csv", None)
