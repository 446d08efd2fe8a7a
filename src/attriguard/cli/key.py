"""``attriguard key new``: a random secret in a file that only its owner can read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli._options import AsJson, Quiet

EXAMPLE = "Example: attriguard key new secret.key"
app = typer.Typer(help="Make a key, which fixes every user's draw.", no_args_is_help=True)


@app.callback(epilog=EXAMPLE)
def key() -> None:
    """Make a key: a secret that fixes every user's draw, so that repeated releases do not average the noise away."""


@app.command("new", epilog=EXAMPLE)
def new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it must not be there yet.")],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a random key of 32 bytes to a new file that only you can read. Keep it, and keep it to yourself."""
    import attriguard as ag
    from attriguard.cli._shell import console, emit_json

    written = ag.new_key(path)
    if as_json:
        emit_json({"key": str(written)})
    elif not quiet:
        console().print(f"wrote {written}; use it with: attriguard protect … --key @{written}", soft_wrap=True)
