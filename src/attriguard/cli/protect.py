"""``attriguard protect``: ratings and a guard in, released ratings out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from attriguard.cli import _options as o
from attriguard.errors import ParameterError

EXAMPLE = "Example: attriguard protect ratings.csv --guard city.guard --output released.csv --key @secret.key"

NO_KEY = (
    "attriguard: note: without a key every release is drawn anew, and two releases of the same table tell more than "
    "one; use --key @FILE"
)


@dataclass(frozen=True)
class Options:
    """The options of ``protect`` alone."""

    ratings: Annotated[Path, typer.Argument(metavar="RATINGS", help="Ratings: a CSV or Parquet table; - for stdin.")]
    guard: Annotated[Path, typer.Option(help="The guard file that 'attriguard fit' wrote.")]
    output: Annotated[Path, typer.Option(help="The released table: .csv, .csv.gz, .tsv, .parquet; - for stdout.")]
    key: Annotated[
        str | None,
        typer.Option(
            envvar="ATTRIGUARD_KEY",
            show_envvar=True,
            help="A secret that fixes every user's draw, so that repeated releases do not average the noise away; "
            "@FILE reads it from a file.",
        ),
    ] = None
    seed: o.Seed = None
    plan: Annotated[
        Path | None, typer.Option(help="Also write every edit and its probability (.parquet); keep it to yourself.")
    ] = None
    locked: Annotated[
        Path | None,
        typer.Option(help="What must not change: a table with an item column, or with a user and an item column."),
    ] = None
    additions: Annotated[
        Path | None, typer.Option(help="What may be added: a table with an item column and, if you like, a rating.")
    ] = None


@dataclass(frozen=True)
class Overrides:
    """Parameters of the guard that may still be set."""

    goal: Annotated[
        str | None, typer.Option(help="mislead, conceal or both, for a guard learnt for both; else the guard's.")
    ] = None
    policy: Annotated[str | None, typer.Option(help="modify_exist, add_new or modify_add; else the guard's.")] = None
    budget: Annotated[float | None, typer.Option(help="Changed ratings a user, on average; else the guard's.")] = None
    target: Annotated[str | None, typer.Option(help="train or uniform; else the guard's.")] = None
    confidence: Annotated[str | None, typer.Option(help="A number, or auto; else the guard's.")] = None

    def options(self) -> dict[str, Any]:
        """Those that were named."""
        given = {**vars(self), "confidence": o.number_or_word(self.confidence)}
        return {name: value for name, value in given.items() if value is not None}


def protect(own: Options, overrides: Overrides, columns: o.Columns, shown: o.Shown) -> None:
    """Release a protected version of a table of ratings, in the same format.

    No user's attribute is needed, asked for, or written. An attacker who knows that you use a guard that misleads, and
    retrains on data protected by it, gets back most of what he lost; a guard that conceals holds better: see
    docs/limits.md.
    """
    import attriguard as ag
    from attriguard.cli._shell import bar, check_files, input_table, note, show, warn

    if own.key and own.seed is not None:
        raise ParameterError("give either --key or --seed: a keyed draw leaves nothing to chance")
    key = Path(own.key[1:]) if own.key and own.key.startswith("@") else own.key
    reads = [own.guard, own.locked, own.additions, key if isinstance(key, Path) else None]
    check_files(shown, tables=[own.ratings], table=own.output, plan=own.plan, read=reads)
    with bar(shown) as progress:
        released = ag.protect(
            input_table(own.ratings),
            own.guard,
            key=key,
            locked=own.locked,
            additions=own.additions,
            random_state=own.seed,
            progress=progress,
            **columns.given(),
            **overrides.options(),
        )
    warn(released.warnings)
    if not (own.key or own.seed is not None or shown.quiet):
        note(NO_KEY)
    if own.plan is not None:
        released.save_plan(own.plan)
    show(released, shown, saved=own.output, tables=False)
