"""``attriguard extension``: a guard in, a browser extension for people out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli._options import AsJson, Quiet

EXAMPLE = "Example: attriguard extension city.guard --output city-extension"


def extension(
    guard: Annotated[Path, typer.Argument(metavar="GUARD", help="The guard file.")],
    output: Annotated[Path, typer.Option(help="The folder to write; one that holds other files is refused.")],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write a browser extension that says what a rating would tell before a person gives it.

    It works inside the browser with the guard's weights, asks for no site's data, and sends nothing.
    """
    import attriguard as ag
    from attriguard.cli._shell import console, emit_json

    folder = ag.write_extension(guard, output)
    if as_json:
        emit_json({"extension": str(folder)})
    elif not quiet:
        how = "open chrome://extensions, switch on developer mode, choose 'Load unpacked', and name this folder"
        console().print(f"wrote {folder}; to use it in Chromium or Chrome: {how}", soft_wrap=True)
