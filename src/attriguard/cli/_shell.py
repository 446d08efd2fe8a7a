"""What every command shares: the consoles, JSON output, progress, results shown, and errors as one line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attriguard.cli._origin import origin_of, typed
from attriguard.errors import AttriGuardError, ReleaseRefusedError

if TYPE_CHECKING:
    import typer
    from rich.console import Console

    import attriguard as ag
    from attriguard.cli._options import Shown

EXIT_BAD_INPUT, EXIT_REFUSED = 2, 3
EXIT_INTERRUPTED = 130
# Where the output goes to a file or a pipe, no line is cut.
WIDE = 250


def console() -> Console:
    """Results go to standard output; "[" is a character as any other, since names and paths may hold it."""
    from rich.console import Console

    return Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDE)


def messages() -> Console:
    """Progress, notes and errors go to standard error, so that output can be piped."""
    from rich.console import Console

    return Console(stderr=True, markup=False, highlight=False)


def note(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(text + "\n")


def warn(warnings: Sequence[str]) -> None:
    """What an operation warns of, a line each on standard error."""
    for warning in warnings:
        note(f"attriguard: warning: {warning}")


def emit_json(record: Any) -> None:
    """A record on standard output."""
    sys.stdout.write(json.dumps(record, indent=2, ensure_ascii=False, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays, and paths, as JSON knows them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def show(
    result: ag.Result, shown: Shown, *, saved: Path | None = None, drawn: Path | None = None, tables: bool = True,
    seed: int | str | None = None, read: Iterable[Path] = (),
) -> None:  # fmt: skip
    """Write a result where it was asked for, and show it on the terminal: as JSON, or in words and tables.

    ``seed`` and the files that were ``read`` are told by record and page.
    """
    result = result.with_origin(origin_of(seed, read))
    for path in sorted(filter(None, (saved, drawn)), key=lambda path: path.suffix == ".html"):
        result.save(path)  # a page last, since it names the other
        result = result.with_origin(result.origin.writing(path))
    if shown.as_json:
        emit_json(result.full_record() | ({"output": str(saved)} if saved else {}))
        return
    screen = console()
    screen.print(result.headline, soft_wrap=True)
    if tables:
        screen.print()
        for table in result.tables():
            print_table(table)
    for remark in result.remarks:
        screen.print(remark, soft_wrap=True)
    for path in filter(None, (saved, drawn)):
        screen.print(f"wrote {path.resolve() if path.suffix == '.html' else path}", soft_wrap=True)


def print_table(shown: ag.Table) -> None:
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


@contextmanager
def bar() -> Iterator[ag.Progress]:
    """A bar on standard error, on a terminal only, while the work goes on."""
    import attriguard as ag

    with ag.progress_bar(messages()) as progress:
        yield progress


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run a command line; a mistake of the user's becomes one line on standard error and exit code 2."""
    from typer.exceptions import Abort, TyperException

    typed.set(tuple(arguments))
    try:
        code = app(args=list(arguments), prog_name="attriguard", standalone_mode=False)
    except ReleaseRefusedError as error:
        return fail(str(error), EXIT_REFUSED)
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


def fail(message: str, code: int = EXIT_BAD_INPUT) -> int:
    """One line on standard error, and the exit code."""
    from attriguard.cli._options import as_typed

    line = as_typed(" ".join(message.split()))
    if line:
        note(f"attriguard: error: {line}")
    return code
