"""Array types in the kernels' signatures."""

from __future__ import annotations

from typing import Any

from numba.core import types as nb

from attriguard.kernels import compiled as compiled  # says when a kernel is compiled


def const(dtype: Any, ndim: int) -> Any:
    """The type of an input array; since the kernel only reads it, a read-only array is accepted too."""
    return nb.Array(dtype, ndim, "C", readonly=True)


def out(dtype: Any, ndim: int) -> Any:
    """The type of an array that the caller owns and the kernel fills."""
    return nb.Array(dtype, ndim, "C")


# A CSR matrix without its shape: indptr, indices, data.
ROWS = (const(nb.int64, 1), const(nb.int32, 1), const(nb.float32, 1))
