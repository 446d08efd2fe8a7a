"""``attriguard extension``: a guard as a browser extension for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o

EXAMPLE = "Example: attriguard extension city.guard --titles titles.csv --output city-extension"
# How a person puts the folder into the browser.
HOW = "to use it in Chromium or Chrome: open chrome://extensions, switch on developer mode, choose 'Load unpacked'"


@dataclass(frozen=True)
class Options:
    """The options of ``extension``."""

    guard: Annotated[Path, typer.Argument(metavar="GUARD", help="The guard file that 'attriguard fit' wrote.")]
    output: Annotated[Path, typer.Option(help="The folder to write; one that holds other files is refused.")]
    titles: Annotated[
        Path | None, typer.Option(help="A table with a row an item: its id, and the title that people know it by.")
    ] = None


def extension(own: Options, shown: o.Shown) -> None:
    """Write a browser extension: before a person rates a title, it says what the rating would tell.

    It works inside the browser with the guard's weights, asks for no site's data, and sends nothing anywhere.
    """
    import attriguard as ag
    from attriguard.cli._shell import console, emit_json, warn, write

    made = write(own.output, lambda folder: ag.write_extension(own.guard, folder, titles=own.titles))
    warn(made.warnings)
    if shown.as_json:
        emit_json(made.record())
    elif not shown.quiet:
        console().print(f"wrote {made.path.resolve()}\n{HOW}", soft_wrap=True)
