"""The command line: one file a command, heavy imports inside the commands."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from attriguard import __version__
from attriguard.cli import (
    audit,
    bench,
    cache,
    datasets,
    demo,
    evaluate,
    extension,
    fit,
    guard,
    key,
    ledger,
    me,
    page,
    protect,
    reproduce,
)
from attriguard.cli._groups import flat
from attriguard.cli._shell import EXIT_CODES, in_process

# Loading makes many objects that stay: the usual 700 new ones between two looks for garbage cost a quarter of a second.
SELDOM = (10_000, 20, 100)

app = typer.Typer(
    name="attriguard",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Find out what published ratings give away, and release them so that they give away less.",
    epilog=f"Start with: attriguard demo. Every command has --help with an example. {EXIT_CODES}",
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"attriguard {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Find out what published ratings give away, and release them so that they give away less."""


app.add_typer(datasets.app, name="datasets")
app.add_typer(cache.app, name="cache")
app.add_typer(key.app, name="key")
app.add_typer(guard.app, name="guard")
app.add_typer(ledger.app, name="ledger")
for name, module in {
    "demo": demo,
    "fit": fit,
    "protect": protect,
    "audit": audit,
    "me": me,
    "page": page,
    "extension": extension,
    "evaluate": evaluate,
    "reproduce": reproduce,
    "bench": bench,
}.items():
    app.command(name, epilog=module.EXAMPLE)(flat(getattr(module, name)))


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script."""
    gc.set_threshold(*SELDOM)
    sys.exit(in_process(app, list(sys.argv[1:] if arguments is None else arguments)))


__all__ = ["app", "main"]
