"""What every command shares: the consoles, JSON output, progress, and errors as one line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attriguard.errors import AttriGuardError

if TYPE_CHECKING:
    import typer
    from rich.console import Console

    from attriguard.report.page import Table as PageTable

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


# Where the output goes to a file or a pipe, no line is cut.
WIDE = 250


def console() -> Console:
    """Results go to standard output; "[" is a character as any other, since names and paths may hold it."""
    from rich.console import Console

    return Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDE)


def print_table(shown: PageTable) -> None:
    """A table of a report: as wide as the terminal, with as little between the columns as needed."""
    from rich.table import Table

    screen = console()
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for k, head in enumerate(shown.head):
        table.add_column(head, justify="right" if k in shown.numeric else "left", no_wrap=True)
    for row in shown.rows:
        table.add_row(*row)
    if shown.caption:
        screen.print(shown.caption, style="italic", soft_wrap=not screen.is_terminal)
    screen.print(table)
    screen.print()


def messages() -> Console:
    """Progress, notes and errors go to standard error, so that output can be piped."""
    from rich.console import Console

    return Console(stderr=True, markup=False, highlight=False)


def note(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(text + "\n")


def emit_json(result: Any) -> None:
    sys.stdout.write(json.dumps(result, indent=2, ensure_ascii=False, default=_plain) + "\n")


def write_json(result: Any, path: Path) -> None:
    from attriguard.data.files import written_beside

    with written_beside(path) as file:
        file.write((json.dumps(result, indent=2, ensure_ascii=False, default=_plain) + "\n").encode())


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays, and paths, as JSON knows them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


@contextmanager
def progress(total: int, *, quiet: bool = False) -> Iterator[Callable[[str, float], None]]:
    """A bar on standard error (on a terminal only): call it with what is going on and how many steps are done."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    screen = messages()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=quiet or not screen.is_terminal,
    )
    with bar:
        task = bar.add_task("starting", total=total)

        def advance(description: str, steps: float = 0) -> None:
            bar.update(task, description=description, advance=steps)

        yield advance


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run a command line; a mistake of the user's becomes one line on standard error and exit code 2."""
    from typer.exceptions import Abort, TyperException

    try:
        code = app(args=list(arguments), prog_name="attriguard", standalone_mode=False)
    except AttriGuardError as error:
        return fail(str(error))
    except TyperException as error:
        message = error.format_message().rstrip(".")
        return fail(f"{message}; see: attriguard --help" if message else "")
    except (KeyboardInterrupt, Abort):
        code = EXIT_INTERRUPTED
    except MemoryError:
        return fail("this needs more memory than there is; try fewer users at a time")
    except BrokenPipeError:
        # Whoever read our output has gone; let the interpreter's last flush go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if code == EXIT_INTERRUPTED:
        note("attriguard: interrupted; no output file was changed")
    return int(code or 0)


def fail(message: str) -> int:
    line = " ".join(message.split())
    if line:
        note(f"attriguard: error: {line}")
    return EXIT_BAD_INPUT
