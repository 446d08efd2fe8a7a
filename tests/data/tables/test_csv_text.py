from __future__ import annotations

import codecs
import io
import traceback

import pyarrow as pa
import pytest

from attriguard.data.tables.csv_text import CsvStyle, parse_csv, render_csv
from attriguard.errors import DataError

CITIES = "user,city\n1,Boston\n2,Secretville,extra\n"


def again(content: bytes) -> bytes:
    table, style, _ = parse_csv(content, "t.csv")
    return b"".join(render_csv(table, style))


@pytest.mark.parametrize(
    "content",
    [
        b"user,item,rating\n1,2,5\n007,2,4.0\n",
        b"user,item,rating\r\n1,2,5\r\n1,3,4\r\n",
        b"user;item;rating\n1;2;5\n",
        b"user\titem\n1\t2\n",
        b"user|item\n1|2",
        codecs.BOM_UTF8 + b"user,item\nJos\xc3\xa9,2\n",
        b'user,title,rating\n1,"Good, Bad",5\n2,Ugly,4\n3,"say ""hi""",3\n4,"two\nlines",2\n',
        b'"user","item","rating"\n"a","x",5\n"b","y, z",4\n',
        b'"","user","item"\n"1","a","x"\n"2","b","y"\n',
        b"user,item,note\n1,2,\n,,\n 1, 2,x\n",
        b"a,a,a\n1,2,3\n",
        b"user,item\r1,2\r3,4\r",
        b"item\n1\n2\n",
    ],
)
def test_ordinary_csv_is_given_back_byte_for_byte(content: bytes) -> None:
    assert again(content) == content


def test_every_field_is_read_as_it_stands() -> None:
    table, style, rows_are_lines = parse_csv(b"id,x\n007,1.50\n7,NA\n+7,\n", "t.csv")
    assert table.to_pydict() == {"id": ["007", "7", "+7"], "x": ["1.50", "NA", ""]}
    assert style == CsvStyle()
    assert rows_are_lines


def test_rows_are_not_lines_where_a_field_or_a_blank_line_breaks_the_count() -> None:
    assert not parse_csv(b'a,b\n"x\ny",1\n', "t.csv")[2]
    assert not parse_csv(b"a,b\n\n1,2\n", "t.csv")[2]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"3:1.0 92:0.8\n5:1.0\n", "read_authors_format"),
        (b"1::1193::5::978300760\n", "read_movielens"),
        ("user,item\nJosé,1\n".encode("latin-1"), r"not UTF-8 text \(line 2\)"),
        ("user,item\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04 and so on", "spreadsheet"),
        (b"PAR1 and so on", "Parquet"),
        (b"user,item\n1,2\n1,2,3\n", "3 fields in line 3, but 2"),
        (b'user,item\n"1,2\n3,4\n', "first line"),
        (b",".join(b"%d" % k for k in range(5000)) + b"\n", "5,000 columns; a long table"),
    ],
)
def test_text_that_is_no_table_is_refused(content: bytes, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        parse_csv(content, "t.csv")
    assert str(caught.value).startswith("t.csv")
    assert "\n" not in str(caught.value)


def test_an_error_never_quotes_the_row() -> None:
    content = CITIES.encode()
    with pytest.raises(DataError, match="3 fields in line 3") as caught:
        parse_csv(content, "users.csv")
    assert "Secretville" not in "".join(traceback.format_exception(caught.value))


def test_types_become_text_and_nulls_become_empty_fields() -> None:
    table = pa.table(
        {
            "n": pa.array([1, None]),
            "x": [0.5, 4.0],
            "ok": [True, None],
            "cat": pa.array(["a,b", "c"]).dictionary_encode(),
            "view": pa.array(["v", 'w"'], pa.string_view()),
        }
    )
    assert b"".join(render_csv(table, CsvStyle())) == b'n,x,ok,cat,view\n1,0.5,true,"a,b",v\n,4,,c,"w"""\n'


def test_a_nested_column_cannot_be_csv() -> None:
    with pytest.raises(DataError, match="column 'tags' holds list"):
        list(render_csv(pa.table({"tags": [[1], [2]]}), CsvStyle()))


def test_many_blocks_are_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attriguard.data.tables.csv_text.BLOCK_ROWS", 7)
    table = pa.table({"a": [str(k) for k in range(50)], "b": ["x"] * 50})
    whole = b"".join(render_csv(table, CsvStyle(final_newline=False)))
    assert whole == b"a,b\n" + b"\n".join(b"%d,x" % k for k in range(50))
    assert pa.csv.read_csv(io.BytesIO(whole)).num_rows == 50
