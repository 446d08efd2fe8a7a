"""Files that unpack to more than anybody asked for are refused before they fill the memory."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attriguard.data import bounds
from attriguard.data.bounds import gunzip, most_unpacked
from attriguard.data.tables.table import parse_table, read_table
from attriguard.errors import DataError


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that tests can reach."""
    monkeypatch.setattr(bounds, "ALWAYS_BYTES", 100_000)
    monkeypatch.setattr(bounds, "MOST_TIMES", 20)


def test_the_bound_is_the_larger_of_the_two() -> None:
    assert most_unpacked(4_400_000) == 1_000_000_000
    assert most_unpacked(50_000_000) == 5_000_000_000


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("rows", [24_999, 25_000])
def test_a_gzip_is_taken_up_to_the_bound_and_not_beyond(tmp_path: Path, rows: int) -> None:
    text = b"u,i\n" + b"1,2\n" * rows
    path = tmp_path / "r.csv.gz"
    path.write_bytes(gzip.compress(text))
    if len(text) <= 100_000:
        assert read_table(path).table.num_rows == rows
        return
    for given in (path, tmp_path / "named.csv"):
        given.write_bytes(path.read_bytes())
        with pytest.raises(DataError, match=r"unpacks to more than 100,000 bytes; .* or split it") as caught:
            read_table(given)
        assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="standard input has"):
        parse_table(path.read_bytes(), "standard input")


@pytest.mark.usefixtures("small")
def test_a_large_table_of_ratings_passes() -> None:
    """Beyond the size that is always taken, but packed as tables of ratings are."""
    chance = np.random.default_rng(0)
    rows = np.column_stack(
        [np.repeat(np.arange(2_000), 20), chance.integers(0, 500, 40_000), chance.integers(1, 6, 40_000)]
    )
    text = b"user,item,rating\n" + b"".join(b"%d,%d,%d\n" % tuple(row) for row in rows.tolist())
    assert len(text) > 300_000
    assert gunzip(gzip.compress(text), "r.csv.gz") == text


@pytest.mark.usefixtures("small")
def test_gzips_end_to_end_are_one_file_and_one_bound() -> None:
    part = gzip.compress(bytes(60_000))
    assert gunzip(part, "x") == bytes(60_000)
    assert gunzip(gzip.compress(b"a") + gzip.compress(b"b"), "x") == b"ab"
    with pytest.raises(DataError, match="more than 100,000 bytes"):
        gunzip(part + part, "x")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("text", [True, False])
def test_a_parquet_file_of_one_long_run_is_refused_by_its_footer(tmp_path: Path, text: bool) -> None:
    def table(rows: int) -> pa.Table:
        return pa.table({"user": pa.array(np.zeros(rows, dtype=np.int64)), "item": ["x" * 10 if text else 7] * rows})

    pq.write_table(table(6_000), tmp_path / "small.parquet")
    assert read_table(tmp_path / "small.parquet").table.num_rows == 6_000
    pq.write_table(table(60_000), tmp_path / "large.parquet")
    assert (tmp_path / "large.parquet").stat().st_size < 5_000
    for given in (tmp_path / "large.parquet", (tmp_path / "large.parquet").read_bytes()):
        with pytest.raises(DataError, match=r"unpacks to 60,000 rows and at least 960,000 bytes") as caught:
            read_table(given) if isinstance(given, Path) else parse_table(given, "standard input")
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_a_bomb_takes_no_more_memory_than_the_bound(tmp_path: Path) -> None:
    """4 GB of zeros in 4 MB; the bound is lowered to 50 MB, so that the test is quick."""
    member = gzip.compress(bytes(1 << 27), 6)
    (tmp_path / "bomb.csv.gz").write_bytes(member * 32)
    code = (
        "import sys; from attriguard.data import bounds; bounds.ALWAYS_BYTES = 50_000_000\n"
        "bounds.MOST_TIMES = 10\n"
        "from attriguard.data.tables.table import read_table; from attriguard.errors import DataError\n"
        "try: read_table(sys.argv[1])\n"
        "except DataError as error: print(error)\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "bomb.csv.gz")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    line, peak = done.stdout.splitlines()
    assert "unpacks to more than 50,000,000 bytes" in line
    assert int(peak) * 1024 < 600_000_000
