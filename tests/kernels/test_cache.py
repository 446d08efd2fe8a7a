"""Compiled once a machine: the second process loads what the first has compiled."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from attriguard.kernels import edits, greedy, kkt
for kernel in (greedy.greedy_search, edits.merge_rows, edits.merged_lengths, edits.l2_costs, kkt.solve_rows):
    assert len(kernel.signatures) == 1, kernel
    print(sum(kernel.stats.cache_misses.values()))
"""


def test_a_second_process_compiles_nothing(tmp_path):
    import os

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    misses = [
        subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert set(misses[0].stdout.split()) == {"1"}
    assert set(misses[1].stdout.split()) == {"0"}
