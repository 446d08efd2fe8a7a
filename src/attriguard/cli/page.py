"""``attriguard page``: a guard as one HTML file for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o
from attriguard.errors import ParameterError

EXAMPLE = "Example: attriguard page city.guard --titles titles.csv --output city.html"


@dataclass(frozen=True)
class Options:
    """The options of ``page``."""

    output: Annotated[Path, typer.Option(help="The HTML page to write.")]
    guard: Annotated[
        Path | None, typer.Argument(metavar="GUARD", help="The guard file that 'attriguard fit' wrote.")
    ] = None
    titles: Annotated[
        Path | None, typer.Option(help="A table with a row an item: its id, and the title that people know it by.")
    ] = None
    dataset: Annotated[
        str | None, typer.Option(help="Learn a guard from a named data set instead (see: attriguard datasets).")
    ] = None
    attribute: Annotated[
        list[str] | None, typer.Option(help="The attribute of the data set; several times for a combination.")
    ] = None
    seed: o.Seed = None


def page(own: Options, shown: o.Shown) -> None:
    """Write a page for people: what their ratings say about them, and what to change.

    One file with the guard and its search in it. It needs no server, sends nothing anywhere, and works from disk. With
    --dataset, a guard for all goals is learnt from that data set first.
    """
    import attriguard as ag
    from attriguard.cli._shell import bar, check_files, console, emit_json, warn, write

    if (own.guard is None) == (own.dataset is None):
        raise ParameterError("name either a GUARD, or a data set with --dataset (see: attriguard datasets)")
    if own.dataset is None and (own.attribute or own.seed is not None):
        raise ParameterError("--attribute and --seed are for --dataset; a guard is learnt already")
    check_files(shown, own.output, read=[path for path in (own.guard, own.titles) if path is not None])
    with bar(shown) as progress:
        named = own.attribute[0] if own.attribute and len(own.attribute) == 1 else own.attribute
        source = own.guard or ag.load_dataset(str(own.dataset), attribute=named)
        made = write(
            own.output,
            lambda path: ag.write_page(source, path, titles=own.titles, random_state=own.seed, progress=progress),
        )
    warn(made.warnings)
    if shown.as_json:
        emit_json(made.record())
    elif not shown.quiet:
        what = f"{made.items:,} items and {len(made.values)} values of {made.attribute!r}, {made.size / 1e6:.1f} MB"
        console().print(f"a page for people: {what}\nwrote {made.path.resolve()}", soft_wrap=True)
