"""``attriguard guard``: what a guard file holds, and one that others may have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attriguard.cli import _options as o

if TYPE_CHECKING:
    import attriguard as ag

EXAMPLE = "Example: attriguard guard show city.guard"
SHARE_EXAMPLE = "Example: attriguard guard share city.guard --output public.guard --licence CC0"
app = typer.Typer(help="Look at a guard, and make one that others may have.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="GUARD", help="The guard file that 'attriguard fit' wrote.")]


@app.callback(epilog=EXAMPLE)
def guard() -> None:
    """Look at a guard, and make one that others may have."""


@app.command("show", epilog=EXAMPLE)
def show(path: File, as_json: o.AsJson = False, quiet: o.Quiet = False) -> None:
    """Show a guard's card: attribute, values, items, users, what was measured, licence, and the file's SHA-256."""
    import attriguard as ag
    from attriguard.cli._shell import check_files

    shown = o.Shown(as_json, quiet)
    check_files(shown, read=[path])
    _print(ag.describe_guard(path), shown)


@app.command("share", epilog=SHARE_EXAMPLE)
def share(
    path: File,
    output: Annotated[Path, typer.Option(help="The guard file to write.")],
    data: Annotated[str | None, typer.Option(help="What it was learnt from, for others to read.")] = None,
    licence: Annotated[str | None, typer.Option(help="Under which terms others may use it.")] = None,
    sign: Annotated[str | None, typer.Option(help="Sign it with a secret; @FILE reads it from a file.")] = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Write a guard that others may have: without the users it learnt from, exact counts, and private metadata."""
    import attriguard as ag
    from attriguard.cli._shell import check_files, console, write

    shown, secret = o.Shown(as_json, quiet), o.secret(sign)
    check_files(shown, output, read=[path, *([secret] if isinstance(secret, Path) else [])])
    card = write(output, lambda target: ag.share_guard(path, target, data=data, licence=licence, key=secret))
    _print(card, shown)
    if not (as_json or quiet):
        console().print(f"wrote {output}", soft_wrap=True)


def _print(card: ag.GuardCard, shown: o.Shown) -> None:
    from attriguard._text import facts_text
    from attriguard.cli._shell import console, emit_json

    if shown.as_json:
        emit_json(card.record())
    elif not shown.quiet:
        console().print(facts_text(card.file, card.facts), soft_wrap=True)
