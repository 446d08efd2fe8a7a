"""The second release of a table with a ledger, of which one user in a hundred has news, against the first.

The command keeps the bytecode of what it loads in the folder of the measurement: an installed command has it, and to
compile it anew in every process can take a quarter of the work of a second release.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from attriguard.bench.bulk import command_of, write_key
from attriguard.bench.measure import Figure
from attriguard.progress import Progress, ProgressLike

USERS = 200_000
# Each goal, and whose budget it has.
GUARDS = (("conceal", "everyone"), ("conceal", "user"), ("mislead", "user"))
SHARE, NEW_RATINGS = 0.01, 3
FIFTH = 0.2
# Users of the guard's on whom the price is settled; it does not learn from them.
SETTLING = 2_000
MEMORY = "4GB"


def run(*, n_users: int | None = None, progress: ProgressLike = None) -> list[Figure]:
    """Each goal's second release against its first, after a small one, for which kernels may have to be compiled."""
    n, told = n_users or USERS, Progress.of(progress)
    with tempfile.TemporaryDirectory(prefix="attriguard-bench-") as place:
        folder = Path(place)
        told.tell(f"ratings of {n:,} users")
        rows = _prepare(folder, n)
        write_key(folder)
        return [_figure(folder, goal, over, rows, told) for goal, over in GUARDS]


def _figure(folder: Path, goal: str, over: str, rows: int, told: Progress) -> Figure:
    from attriguard.data.named.twin import make_twin
    from attriguard.guard import AttriGuard

    told.tell(f"learning to {goal}")
    learnt, known = make_twin(seed=1), slice(SETTLING, None)
    guard = AttriGuard(scale=learnt.scale, goal=goal, budget_over=over)
    guard.fit(learnt.X[known], learnt.y[known], items=learnt.items, values=learnt.values)
    if over == "everyone":
        guard.settle(learnt.X[:SETTLING])
    path = folder / f"{goal}-{over}.guard"
    guard.save(path, metadata={"attribute": "city", "rated": True})
    seconds = {}
    for name in ("small", "first", "second"):
        told.tell(f"the {name} release")
        ledger = folder / f"{path.stem}-ledger{'-small' if name == 'small' else ''}"
        seconds[name] = _released(folder, name, path, ledger)
    news = f"{rows:,} ratings, {SHARE:.0%} of the users with news"
    what = f"{goal}, budget of {over}, {news}: the second release against the first"
    return Figure(what, seconds["second"] / seconds["first"], "times the time", None, FIFTH, seconds)


def _released(folder: Path, name: str, guard: Path, ledger: Path) -> float:
    """Seconds for a release in parts, through the command; what was written before is on the disk when it begins."""
    options = ("--engine", "embedded", "--memory", MEMORY, "--ledger", str(ledger))
    command = command_of(folder, f"{name}.parquet", f"{guard.stem}-{name}", *options, guard=guard.name)
    if hasattr(os, "sync"):
        os.sync()
    start = time.perf_counter()
    subprocess.run(command, stderr=subprocess.DEVNULL, check=True, env=_environment(folder))
    return time.perf_counter() - start


def _environment(folder: Path) -> dict[str, str]:
    """Where the command may keep bytecode, whatever is usual for this process; the small releases fill it."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return own | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def _prepare(folder: Path, n_users: int) -> int:
    """Ratings in shuffled rows, the same with some new ones, and those of a tenth of the users."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from attriguard.data.named.twin import make_twin

    rng, twin = np.random.default_rng(0), make_twin(n_users)
    table: Any = twin.to_arrow()
    some = rng.choice(n_users, max(1, int(SHARE * n_users)), replace=False)
    user, item = np.repeat(some, NEW_RATINGS), rng.integers(0, twin.n_items, some.size * NEW_RATINGS)
    fresh = np.unique(np.stack([user, item]), axis=1)
    fresh = fresh[:, np.asarray(twin.X[fresh[0], fresh[1]] == 0).ravel()]
    cells = [twin.users[fresh[0]], twin.items[fresh[1]], rng.integers(1, 6, fresh.shape[1])]
    more = pa.table([pa.array(each).cast(kind) for each, kind in zip(cells, table.schema.types, strict=True)],
                    schema=table.schema)  # fmt: skip
    small = table.filter(pa.array(table["user"].to_numpy() < n_users // 10))
    for name, rows in (("first", table), ("second", pa.concat_tables([table, more])), ("small", small)):
        pq.write_table(rows.take(pa.array(rng.permutation(rows.num_rows))), folder / f"{name}.parquet")
    return int(table.num_rows)
