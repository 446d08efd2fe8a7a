"""``ag.progress_bar``: progress as a bar, on a terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attriguard.progress import Progress, when_compiling

COMPILING = "compiling for this machine, once"


@contextmanager
def progress_bar(console: Any = None) -> Iterator[Progress]:
    """A bar while the work goes on; it is gone afterwards.

    ``console``: a console of rich; standard error if not given. Where that is neither a terminal nor a notebook,
    nothing is shown.

    Examples
    --------
    >>> import attriguard as ag
    >>> data = ag.load_dataset("twin", n_users=300, n_items=50, n_values=2)
    >>> with ag.progress_bar() as progress:
    ...     guard = ag.learn(data, progress=progress)
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    screen = Console(stderr=True) if console is None else console
    if not (screen.is_terminal or screen.is_jupyter):
        yield Progress()
        return
    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
    )
    task = bar.add_task("starting", total=1.0)
    with bar, when_compiling(lambda: bar.update(task, description=COMPILING)):
        yield Progress(lambda what, share: bar.update(task, description=what or "working", completed=share))
