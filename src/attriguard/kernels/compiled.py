"""Compiled kernels: where numba keeps them, and word to whoever shows progress while one is compiled."""

from __future__ import annotations

from pathlib import Path

from numba import njit
from numba.core.event import Event, Listener, register

from attriguard.progress import tell_compiling


class _Compiling(Listener):
    """Numba calls it when it compiles something that it has not kept from before."""

    def on_start(self, event: Event) -> None:
        """Tell of a kernel of ours, and of no other."""
        if event.data["dispatcher"].py_func.__module__.startswith("attriguard."):
            tell_compiling()

    def on_end(self, event: Event) -> None:
        """Nothing is told."""


register("numba:compile", _Compiling())


def compiled_folder() -> Path:
    """Where numba keeps what it has compiled of the files in this folder; nothing is compiled to find out."""

    def example() -> None: ...

    return Path(njit(cache=True)(example).stats.cache_path or "")
