"""Worker processes: what they load."""

from __future__ import annotations

import subprocess
import sys

import pytest

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


def test_workers_do_without_pandas_and_leave_it_to_others():
    pytest.importorskip("pandas")
    ran = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "1"]
