"""``attriguard ledger``: what was released of whom: shown, checked, and erased on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attriguard.cli import _options as o

if TYPE_CHECKING:
    import attriguard as ag

EXAMPLE = "Example: attriguard ledger show ledger/"
CHECK_EXAMPLE = "Example: attriguard ledger check ledger/ --key @secret.key --guard city.guard"
FORGET_EXAMPLE = "Example: attriguard ledger forget ledger/ 4711 --key @secret.key"
app = typer.Typer(help="What was released of whom: look at it, check it, erase a user.", no_args_is_help=True)

Folder = Annotated[
    Path, typer.Argument(metavar="LEDGER", help="The folder that --ledger of 'attriguard protect' wrote.")
]
Secret = Annotated[str | None, typer.Option("--key", help="The key of its releases; @FILE reads it from a file.")]


@app.callback(epilog=EXAMPLE)
def ledger() -> None:
    """What was released of whom: look at it, check it, erase a user."""


@app.command("show", epilog=EXAMPLE)
def show(path: Folder, as_json: o.AsJson = False, quiet: o.Quiet = False) -> None:
    """Show a ledger's releases, and how many ratings were kept, hidden, added and changed; nothing about a user."""
    import attriguard as ag

    _print(ag.describe_ledger(path), o.Shown(as_json, quiet))


@app.command("check", epilog=CHECK_EXAMPLE)
def check(
    path: Folder,
    key: Secret = None,
    guard: Annotated[Path | None, typer.Option(help="A guard file that must belong to it.")] = None,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Check that a ledger is whole and tells nothing twice, and that the key and the guard belong to it."""
    import attriguard as ag
    from attriguard.cli._shell import console

    card = ag.check_ledger(path, key=o.secret(key), guard=guard)
    _print(card, o.Shown(as_json, quiet))
    if not (as_json or quiet):
        console().print("the ledger is whole" + (", and of this key" if key else ""), soft_wrap=True)


@app.command("forget", epilog=FORGET_EXAMPLE)
def forget(
    path: Folder,
    user: Annotated[str, typer.Argument(metavar="USER", help="The user's id, as in the table.")],
    key: Secret = None,
    quiet: o.Quiet = False,
) -> None:
    """Erase a user's entries, on request: the next release takes the user as new."""
    import attriguard as ag
    from attriguard.cli._shell import console

    erased = ag.forget_user(path, user, key=o.secret(key))
    if not quiet:
        console().print(f"{erased:,} entries erased" if erased else "the ledger does not know this user")


def _print(card: ag.LedgerCard, shown: o.Shown) -> None:
    from attriguard._text import facts_text
    from attriguard.cli._shell import console, emit_json, print_table

    if shown.as_json:
        emit_json(card.record())
    elif not shown.quiet:
        console().print(facts_text(card.folder, card.facts), soft_wrap=True)
        print_table(card.table())
