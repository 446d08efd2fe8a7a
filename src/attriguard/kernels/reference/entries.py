"""The twin of the kernel that looks up entries: a dictionary of all of them."""

from __future__ import annotations

from attriguard.kernels.reference.arrays import Ints


def find_places(
    indptr: Ints, indices: Ints, rows: Ints, columns: Ints, start: int, stop: int, places: Ints
) -> None:  # fmt: skip
    """The place of each wanted entry, -1 where there is none."""
    known = {
        (u, int(indices[place])): place for u in range(indptr.size - 1) for place in range(indptr[u], indptr[u + 1])
    }
    for w in range(start, stop):
        places[w] = known.get((int(rows[w]), int(columns[w])), -1)
