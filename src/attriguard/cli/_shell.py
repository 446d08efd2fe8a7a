"""What every command shares: the consoles, JSON output, and errors as one line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from attriguard.errors import AttriGuardError

if TYPE_CHECKING:
    from rich.console import Console

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


def console() -> Console:
    """Results go to standard output."""
    from rich.console import Console

    return Console(highlight=False)


def messages() -> Console:
    """Progress, notes and errors go to standard error, so that output can be piped."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def emit_json(result: Any) -> None:
    sys.stdout.write(json.dumps(result, indent=2, ensure_ascii=False, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays, and paths, as JSON knows them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def run(command: Callable[[Sequence[str]], Any], arguments: Sequence[str]) -> int:
    """Run a command line; a mistake of the user's becomes one line on standard error and exit code 2."""
    try:
        code = command(arguments)
    except AttriGuardError as error:
        fail(error)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        sys.stderr.write("attriguard: interrupted; no output file was changed\n")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return 0
    return int(code or 0)


def fail(error: BaseException) -> None:
    line = " ".join(str(error).split())
    sys.stderr.write(f"attriguard: error: {line}\n")
