"""Array types in the kernels' signatures."""

from __future__ import annotations

from typing import Any

from numba.core import types as nb


def const(dtype: Any, ndim: int) -> Any:
    """An input array: a kernel only reads it, so read-only ones are welcome."""
    return nb.Array(dtype, ndim, "C", readonly=True)


def out(dtype: Any, ndim: int) -> Any:
    """An array that the caller owns and the kernel fills."""
    return nb.Array(dtype, ndim, "C")


# A CSR matrix without its shape: indptr, indices, data.
ROWS = (const(nb.int64, 1), const(nb.int32, 1), const(nb.float32, 1))
