"""Worker processes: what they load."""

from __future__ import annotations

import subprocess
import sys

import pytest

from attriguard.engines import processes

LOADS = """
import sys
import pyarrow
from attriguard._lazy import leave_pandas_out
leave_pandas_out()
import attriguard.engines.maker
pyarrow.array([1, 2])
print("pandas" in sys.modules)
import pandas
print(len(pandas.DataFrame({"a": [1]})))
"""


LIGHT = """
import sys
import attriguard as ag
ag.protect_files
print({"numpy", "pyarrow", "duckdb", "numba", "scipy"} & set(sys.modules))
"""


def test_workers_do_without_pandas_and_leave_it_to_others():
    pytest.importorskip("pandas")
    ran = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "1"]


@pytest.mark.parametrize(
    ("times", "memory", "workers", "n"),
    [(2, 10**9, 2, 0), (3, 2 * 10**9, 2, 1), (9, 4 * 10**9, 4, 3), (3, 10**9, 1, 0), (9, 10**9, 4, 0)],
)
def test_other_processes_start_early_for_a_large_table_where_there_is_room(tmp_path, times, memory, workers, n):
    table = tmp_path / "ratings.parquet"
    with open(table, "wb") as file:
        file.truncate(times * processes.START_BYTES)  # a sparse file: no disk is filled
    assert processes.early(table, memory, workers) == n


def test_a_process_that_was_asked_nothing_is_not_waited_for():
    with processes.started(1) as (worker,):
        assert worker.idle
    assert worker.process.returncode != 0  # it was stopped while it loaded


def test_a_process_that_was_asked_ends_by_itself():
    with processes.started(1) as (worker,):
        worker.tell({})
    assert not worker.idle
    assert worker.process.poll() is not None


def test_other_processes_start_before_anything_heavy_is_loaded():
    """What `protect_files` needs up to there is light: else they would wait for the load, too."""
    ran = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["set()"]
