"""A table that need not fit into memory, through the command, against what its two halves take by themselves.

The halves are DuckDB's own ``COPY (… ORDER BY user)`` of the same file, and ``guard.plan`` of the same users in memory,
block by block. Every run is a process of its own, so that time and memory are those of the command, start to end.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

from attriguard.bench.measure import Figure
from attriguard.progress import Progress, ProgressLike

USERS = 50_000
KILLS = 5
MEMORY = "2GB"
RATIO, MEMORY_GB, GROWTH, AGAINST_MEMORY = 1.5, 3.0, 11.0, 0.5
# Spark's own start is dear, so that it is held to a ceiling on large tables only.
SPARK_RATIO, SPARK_RATINGS = 3.0, 10_000_000
BLOCK_ROWS = 400_000
RUN = "from attriguard.cli import main; main()"
KEY = "the benchmark's own secret"


def run(*, n_users: int | None = None, progress: ProgressLike = None) -> list[Figure]:
    """Protect the twin's ratings in shuffled rows, Parquet to Parquet, and hold it against its halves."""
    n = n_users or USERS
    steps = iter(Progress.of(progress).parts(2, 1, 2, 3, 2, KILLS))
    with tempfile.TemporaryDirectory(prefix="attriguard-bench-") as place:
        folder = Path(place)
        next(steps).tell(f"ratings of {n:,} users")
        rows = _prepare(folder, n)
        next(steps).tell("DuckDB's sort and guard.plan by themselves")
        halves = _halves(folder)
        next(steps).tell("through the command")
        small, _ = timed(command_of(folder, "small.parquet", "small"))
        large, peak = timed(command_of(folder, "ratings.parquet", "whole"))
        next(steps).tell("the whole table in memory")
        memory, peak_memory = timed(command_of(folder, "ratings.parquet", "released.parquet", "--engine", "memory"))
        next(steps).tell("killed and resumed")
        differ = sum(_killed(folder, k, large) for k in range(KILLS))
        spark = _spark(folder, rows, large) if _has_spark() else []
    details = {
        "ratings": rows,
        "seconds": large,
        **halves,
        "seconds_in_memory": memory,
        "peak_in_memory_gb": peak_memory,
    }
    what = f"{rows:,} ratings in parts"
    return [
        Figure(f"{what} against DuckDB's sort and guard.plan", large / (halves["sort"] + halves["plan"]),
               "times the time", None, RATIO, details),
        Figure(f"{what} against the whole in memory", large / memory, "times the time", None, AGAINST_MEMORY),
        Figure(f"{what}: peak memory of all processes, --memory {MEMORY}", peak, "GB", None, MEMORY_GB),
        Figure("10 times the users", large / small, "times the time", None, GROWTH),
        Figure(f"killed at {KILLS} random moments and resumed: parts that differ", differ, "parts", None, 0),
        *spark,
    ]  # fmt: skip


def _has_spark() -> bool:
    """Whether Spark runs here: it needs Java, too, and on Windows programs of Hadoop's that do not come with it."""
    return bool(find_spec("pyspark") and which("java") and os.name != "nt")


def _spark(folder: Path, rows: int, embedded: float) -> list[Figure]:
    """The same through Spark on two cores: its time against the embedded engine's, and rows that differ."""
    import duckdb

    seconds, peak = timed(command_of(folder, "ratings.parquet", "spark", "--engine", "spark", "--master", "local[2]"))
    made, whole = (f"SELECT * FROM read_parquet('{folder / name}/part-*')" for name in ("spark", "whole"))
    counts = [
        duckdb.execute(f"SELECT count(*) FROM ({one} EXCEPT ALL {other})").fetchall()[0][0]
        for one, other in ((made, whole), (whole, made))
    ]
    ceiling, details = SPARK_RATIO if rows >= SPARK_RATINGS else None, {"seconds": seconds, "peak_gb": peak}
    what = f"{rows:,} ratings through Spark, local[2]"
    return [
        Figure(f"{what}, against in parts", seconds / embedded, "times the time", None, ceiling, details),
        Figure(f"{what}: rows that differ", sum(counts), "rows", None, 0),
    ]


def _prepare(folder: Path, n_users: int) -> int:
    """Shuffled ratings of the twin, those of a tenth of its users, and a guard that was learnt from others."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from attriguard.data.named.twin import make_twin
    from attriguard.guard import AttriGuard

    learnt = make_twin(seed=1)
    guard = AttriGuard(scale=learnt.scale).fit(learnt.X, learnt.y, items=learnt.items, values=learnt.values)
    guard.save(folder / "city.guard", metadata={"attribute": "city", "rated": True})
    write_key(folder)
    table = make_twin(n_users).to_arrow()
    table = table.take(pa.array(np.random.default_rng(0).permutation(table.num_rows)))
    pq.write_table(table, folder / "ratings.parquet")
    pq.write_table(table.filter(pa.array(table["user"].to_numpy() < n_users // 10)), folder / "small.parquet")
    return int(table.num_rows)


def write_key(folder: Path) -> None:
    """The secret of the releases."""
    (folder / "secret.key").write_text(KEY, encoding="ascii")
    (folder / "secret.key").chmod(0o600)


def command_of(folder: Path, source: str, output: str, *options: str, guard: str = "city.guard") -> list[str]:
    """The command that protects a file of the folder; by default in parts."""
    engine = options or ("--engine", "embedded", "--memory", MEMORY)
    return [
        sys.executable, "-c", RUN, "protect", str(folder / source), "--guard", str(folder / guard),
        "--key", f"@{folder / 'secret.key'}", "--output", str(folder / output), "--quiet", *engine,
    ]  # fmt: skip


def timed(command: list[str], after: Callable[[subprocess.Popen[bytes], float], bool] | None = None) -> Any:
    """Seconds that a command takes, and the peak memory of it and its children in GB, looked at ten times a second.

    ``after`` is asked as often, with the seconds so far, whether the command shall be killed.
    """
    start, peak = time.perf_counter(), 0.0
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    while process.poll() is None:
        peak = max(peak, _memory_of(process.pid))
        if after is not None and after(process, time.perf_counter() - start):
            process.kill()
        time.sleep(0.1)
    if process.returncode and after is None:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.perf_counter() - start, peak


def _memory_of(number: int) -> float:
    """The memory of a process and its children in GB, shared pages counted once; 0 where Linux does not tell."""
    total = 0.0
    try:
        children = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="utf-8").split()
        lines = Path(f"/proc/{number}/smaps_rollup").read_text(encoding="utf-8").splitlines()
        total += sum(float(line.split()[1]) for line in lines if line.startswith("Pss:")) / 2**20
    except OSError:
        return total
    return total + sum(_memory_of(int(child)) for child in children)


def _killed(folder: Path, k: int, seconds: float) -> int:
    """Kill a run at a random moment and resume it: how many parts differ from those of the run that was left alone."""
    command, moment = command_of(folder, "ratings.parquet", f"killed-{k}"), random.uniform(0.1, 0.95) * seconds
    timed(command, lambda _, passed: passed > moment)
    timed(command)
    whole, again = (_hashes(folder / name) for name in ("whole", f"killed-{k}"))
    return len(whole.items() ^ again.items())


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("part-*")}


def _halves(folder: Path) -> dict[str, float]:
    """Seconds of the two halves, in a process of their own."""
    command = [sys.executable, "-m", "attriguard.bench.bulk", str(folder)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def measure(folder: Path) -> dict[str, float]:
    """DuckDB's sort of the table, then the plans of its users block by block; reading a block is not counted."""
    import duckdb
    import numpy as np
    import pyarrow.parquet as pq

    from attriguard.data.blocks import complete_users
    from attriguard.data.ratings import read_ratings
    from attriguard.data.releases.release import align_items
    from attriguard.guard import load_guard

    guard, start = load_guard(folder / "city.guard"), time.perf_counter()
    with duckdb.connect(config={"memory_limit": MEMORY, "temp_directory": str(folder / "spill")}) as connection:
        connection.execute(
            f"COPY (SELECT * FROM read_parquet('{folder}/ratings.parquet') ORDER BY \"user\") "
            f"TO '{folder}/sorted.parquet' (FORMAT parquet)"
        )
    sort, plan = time.perf_counter() - start, 0.0
    with pq.ParquetFile(folder / "sorted.parquet") as file:
        for k, block in enumerate(complete_users(file.iter_batches(BLOCK_ROWS), "user")):
            X, _ = align_items(read_ratings(block, scale=guard.scale), np.asarray(guard.items_))
            if k == 0:
                guard.plan(X[:100])  # compiles, or loads what was compiled
            start = time.perf_counter()
            guard.plan(X)
            plan += time.perf_counter() - start
    return {"sort": sort, "plan": plan}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(Path(sys.argv[1]))))
