"""What every command shares: the consoles, JSON output, progress, results shown, and errors as one line."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attriguard._text import escape_controls, printable
from attriguard.cli._origin import origin_of, typed
from attriguard.errors import AttriGuardError, ParameterError, ReleaseRefusedError

if TYPE_CHECKING:
    import typer
    from rich.console import Console

    import attriguard as ag
    from attriguard.cli._options import Shown

EXIT_NO_OUTPUT, EXIT_BAD_INPUT, EXIT_REFUSED, EXIT_INTERRUPTED = 1, 2, 3, 130
EXIT_CODES = (
    "Exit codes: 0 done, 1 declined, or the output could not be written, 2 bad input, 3 a release refused because its "
    "check failed, 130 interrupted."
)
# In place of a file's name: standard input, or standard output.
STANDARD = Path("-")
# Where the output goes to a file or a pipe, no line is cut.
WIDE = 250
# The files that the running command has written, for the one who interrupts it.
written: ContextVar[tuple[Path, ...]] = ContextVar("written", default=())


def console() -> Console:
    """Results go to standard output; "[" is a character as any other, since names and paths may hold it."""
    from rich.console import Console

    return Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else WIDE)


def messages() -> Console:
    """Progress, notes and errors go to standard error, so that output can be piped."""
    from rich.console import Console

    return Console(stderr=True, markup=False, highlight=False)


def note(text: str) -> None:
    """One line on standard error, in which nothing from data steers the terminal."""
    if sys.stderr is not None:  # it may be closed
        sys.stderr.write(printable(" ".join(text.splitlines())) + "\n")


def write(path: Path, save: Callable[[Path], Any]) -> Any:
    """Write a file, and remember that it was written."""
    found = save(path)
    written.set((*written.get(), path))
    return found


def warn(warnings: Sequence[str]) -> None:
    """What an operation warns of, a line each on standard error."""
    for warning in warnings:
        note(f"attriguard: warning: {warning}")


def check_files(
    shown: Shown, *others: Path | None, tables: Sequence[Path] = (), table: Path | None = None, **files: Any
) -> None:
    """`ag.check_outputs` on the files of a command; ``tables``, which are read, and ``table`` may be "-"."""
    import attriguard as ag

    if list(tables).count(STANDARD) > 1:
        raise ParameterError("standard input holds one table: name a file for the other instead of -")
    if table == STANDARD and shown.as_json:
        raise ParameterError("--json and --output - would both write to standard output; name a file for the table")
    read = [path for path in tables if path != STANDARD] + list(files.pop("read", ()))
    ag.check_outputs(*others, table=None if table == STANDARD else table, read=read, **files)


def input_table(path: Path | None) -> Any:
    """What an operation is given for a table: the file, or for "-" the table that comes on standard input."""
    if path != STANDARD:
        return path
    import attriguard as ag

    return ag.parse_table(sys.stdin.buffer.read(), "standard input")


def emit_json(record: Any) -> None:
    """A record on standard output; where that is not UTF-8, letters are written as \\uXXXX, and none is lost."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    sys.stdout.write(escape_controls(json.dumps(record, indent=2, ensure_ascii=ascii_only, default=_plain)) + "\n")


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays, and paths, as JSON knows them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def show(
    result: ag.Result, shown: Shown, *, saved: Path | None = None, drawn: Path | None = None, tables: bool = True,
    seed: int | str | None = None, read: Iterable[Path] = (),
) -> None:  # fmt: skip
    """Write a result where it was asked for, and show it on the terminal: as JSON, or in words and tables.

    ``seed`` and the files that were ``read`` are told by record and page. Where a table goes to standard output, the
    words go to standard error.
    """
    result = result.with_origin(origin_of(seed, [path for path in read if path != STANDARD]))
    files = [path for path in (saved, drawn) if path is not None and path != STANDARD]
    for path in sorted(files, key=lambda path: path.suffix == ".html"):
        write(path, result.save)  # a page last, since it names the other
        result = result.with_origin(result.origin.writing(path))
    if saved == STANDARD:
        result.write_csv(sys.stdout.buffer)  # type: ignore[attr-defined]  # a release: no other result may go there
        sys.stdout.buffer.flush()
    if shown.as_json:
        emit_json(result.full_record() | ({"output": str(saved)} if saved else {}))
    if shown.as_json or shown.quiet:
        return
    screen = messages() if saved == STANDARD else console()
    screen.print(printable(result.headline), soft_wrap=True)
    if tables:
        screen.print()
        for table in result.tables():
            print_table(table, screen)
    for remark in result.remarks:
        screen.print(printable(remark), soft_wrap=True)
    for path in files:
        screen.print(f"wrote {path.resolve() if path.suffix == '.html' else path}", soft_wrap=True)


def print_table(shown: ag.Table, screen: Console | None = None) -> None:
    """A table of a report: as wide as the terminal, with as little between the columns as needed."""
    from rich.table import Table

    screen = screen or console()
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1, 0, 0))
    for k, head in enumerate(shown.head):
        table.add_column(printable(head), justify="right" if k in shown.numeric else "left", no_wrap=True)
    for row in shown.rows:
        table.add_row(*(printable(" ".join(cell.splitlines())) for cell in row))
    if shown.caption:
        screen.print(printable(shown.caption), style="italic", soft_wrap=not screen.is_terminal)
    screen.print(table)
    screen.print()


@contextmanager
def bar(shown: Shown) -> Iterator[ag.Progress]:
    """A bar on standard error, on a terminal only, while the work goes on; none with --quiet."""
    import attriguard as ag

    if shown.quiet:
        yield ag.Progress()
        return
    with ag.progress_bar(messages()) as progress:
        yield progress


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run a command line; a mistake of the user's becomes one line on standard error.

    The exit code is 0 when the work is done, 1 where a question was answered with no or the output could not be
    written, 2 for bad input, 3 for a release that was refused because its check failed, and 130 after an interrupt.
    """
    from typer.exceptions import Abort, TyperException

    typed.set(tuple(arguments))
    written.set(())
    try:
        code = app(args=list(arguments), prog_name="attriguard", standalone_mode=False)
    except ReleaseRefusedError as error:
        return fail(str(error), EXIT_REFUSED)
    except AttriGuardError as error:
        return fail(str(error))
    except TyperException as error:
        return fail(_with_help(error.format_message().rstrip("."), getattr(error, "ctx", None)))
    except (KeyboardInterrupt, Abort):
        code = EXIT_INTERRUPTED
    except OSError as error:
        return fail(_not_written(error), EXIT_NO_OUTPUT)
    except MemoryError:
        return fail("this needs more memory than there is; try fewer users at a time")
    if code == EXIT_INTERRUPTED:
        files = ", ".join(map(str, written.get()))
        note(f"attriguard: interrupted; {f'written before that: {files}' if files else 'no output file was changed'}")
    return int(code or 0)


def in_process(app: typer.Typer, arguments: Sequence[str]) -> int:
    """`run` as a process: whatever standard output is, nobody sees a traceback."""
    if sys.stdout is None:
        return fail("standard output is closed; send it to a file, or to /dev/null", EXIT_NO_OUTPUT)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console may lack letters that names have
    code = run(app, arguments)
    try:
        sys.stdout.flush()
    except OSError as error:
        # What could not be written would be tried again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or fail(_not_written(error), EXIT_NO_OUTPUT)
    return code


def _not_written(error: OSError) -> str:
    """Which file could not be read or written, and why."""
    return f"{error.filename or 'standard output'} cannot be used: {error.strerror or type(error).__name__}"


def _with_help(message: str, context: Any) -> str:
    """A mistake in the command line, and the help of the command in which it was made."""
    if not message:
        return ""
    command = context.command_path if context is not None else "attriguard"
    return f"{message}{' See' if message.endswith('?') else '; see'}: {command} --help"


def fail(message: str, code: int = EXIT_BAD_INPUT) -> int:
    """One line on standard error, and the exit code, that of bad input unless another is given."""
    from attriguard.cli._options import as_typed

    line = as_typed(" ".join(message.split()))
    if line:
        note(f"attriguard: error: {line}")
    return code
