"""Compiled once a machine: the second process loads what the first has compiled."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from attriguard.kernels import edits, greedy, kkt
for kernel in (greedy.greedy_search, edits.merge_rows, edits.merged_lengths, edits.l2_costs, kkt.solve_rows):
    assert len(kernel.signatures) == 1, kernel
    print(sum(kernel.stats.cache_misses.values()))
"""


def test_a_second_process_compiles_nothing(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    misses = [
        subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert set(misses[0].stdout.split()) == {"1"}
    assert set(misses[1].stdout.split()) == {"0"}


TOLD = """
from attriguard.progress import when_compiling
told = []
with when_compiling(lambda: told.append(1)):
    from attriguard.kernels import adam
print(len(told), adam.adam_step.stats.cache_hits.total() if hasattr(adam.adam_step.stats.cache_hits, "total") else "")
import numba
with when_compiling(lambda: told.append(1)):
    numba.njit(lambda x: x + 1)(2)
print(len(told))
"""


def test_whoever_shows_progress_is_told_of_compiling_once_a_machine(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run([sys.executable, "-c", TOLD], env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert runs[0].stdout.split() == ["1", "0", "1"]  # and a kernel of somebody else's is none of our business
    assert runs[1].stdout.split() == ["0", "1", "0"]
