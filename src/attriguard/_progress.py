"""How long work tells what it is doing: called with what is going on, and how many more steps are done."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
