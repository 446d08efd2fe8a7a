"""Reading a million ratings."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from attriguard.bench.measure import Figure, best_of
from attriguard.progress import Progress, ProgressLike

ROWS = 1_000_000
SECONDS = 2.0


def run(*, progress: ProgressLike = None) -> list[Figure]:
    """Seconds for a Parquet file whose ids are whole numbers, and for one whose ids are text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from attriguard.data.ratings import read_ratings

    rng = np.random.default_rng(0)
    pairs = rng.choice(40_000 * 5_000, size=ROWS, replace=False)
    columns = {"user": pairs // 5_000, "item": pairs % 5_000, "rating": rng.integers(1, 6, ROWS)}
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, _ in Progress.of(progress).each(("whole-number ids", "text ids"), str):
            table = pa.table(columns)
            if kind == "text ids":
                table = pa.table(
                    {
                        "user": pa.array([f"user-{u}" for u in columns["user"].tolist()]),
                        "item": pa.array([f"item-{i}" for i in columns["item"].tolist()]),
                        "rating": columns["rating"],
                    }
                )
            path = Path(folder) / "ratings.parquet"
            pq.write_table(table, path)

            def read(path: Path = path) -> object:
                return read_ratings(path)

            read()
            figures.append(Figure(f"reading {ROWS:,} ratings, {kind}", best_of(read, 3), "seconds", None, SECONDS))
    return figures
