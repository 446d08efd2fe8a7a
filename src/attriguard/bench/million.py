"""A plan for a million users: how time and memory grow. A new process does it, so that its peak memory is known."""

from __future__ import annotations

import json
import subprocess
import sys

from attriguard.bench.measure import Figure, peak_gb
from attriguard.progress import Progress, ProgressLike

SMALL, LARGE = 100_000, 1_000_000
GROWTH = 11.0
MEMORY_GB = 6.0


def run(*, small: int = SMALL, large: int = LARGE, progress: ProgressLike = None) -> list[Figure]:
    """How many times longer ``large`` users take than ``small``, and the peak memory, both of a new process."""
    Progress.of(progress).tell(f"a plan for {large:,} users")
    command = [sys.executable, "-m", "attriguard.bench.million", str(small), str(large)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [
        Figure(f"a plan for {large:,} users against {small:,}", found["growth"], "times the time", None, GROWTH, found),
        Figure(f"a plan for {large:,} users: peak memory", found["peak_gb"], "GB", None, MEMORY_GB),
    ]


def measure(small: int, large: int) -> dict[str, float]:
    """Plan for both numbers of users of the twin in this process; its peak memory so far is part of the result."""
    import time

    from attriguard.data.named.twin import make_twin
    from attriguard.guard import AttriGuard

    data = make_twin(large)
    guard = AttriGuard().fit(data.X[:15_000], data.y[:15_000])
    guard.plan(data.X[:1000])  # compiles, or loads what was compiled
    seconds = []
    for n in (small, large):
        X = data.X[:n]
        start = time.perf_counter()
        plan = guard.plan(X)
        seconds.append(time.perf_counter() - start)
    peak = peak_gb()
    return {
        "seconds_small": seconds[0],
        "seconds_large": seconds[1],
        "growth": seconds[1] / seconds[0],
        "peak_gb": peak,
        "microseconds_a_user": 1e6 * seconds[1] / large,
        "edits": int(plan.edits.items.size),
        "success": float(plan.success.mean()),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
