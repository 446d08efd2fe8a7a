"""``attriguard audit``: ratings and attributes in, a page about what they give away out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o

EXAMPLE = "Example: attriguard audit ratings.csv --attributes users.csv --attribute city --output city.html"


@dataclass(frozen=True)
class Options:
    """The options of ``audit`` alone."""

    output: Annotated[
        Path, typer.Option(help="What to write: .html (a page), .json, .csv or .parquet (the figures).")
    ] = Path("attriguard-audit.html")
    attacks: Annotated[str, typer.Option(help="The attackers, with commas between; your own as MODULE:CLASS.")] = (
        "BA-A,LR-A,RF-A,MLP-A,NB-A"
    )
    retrained: Annotated[
        str,
        typer.Option(help="Attackers who are also shown as ones who know the guard and retrain; '' for none."),
    ] = "LR-A,MLP-A,NB-A"
    budgets: Annotated[str, typer.Option(help="The budgets, with commas between.")] = "1,2,4,8"
    all_goals: Annotated[
        bool, typer.Option("--all-goals", help="Also show all goals side by side; takes some minutes more.")
    ] = False
    seed: o.Seed = None
    ledger: Annotated[
        Path | None,
        typer.Option(help="A ledger: also attack what its releases told, as those do who keep them all; needs --key."),
    ] = None
    key: Annotated[str | None, typer.Option(help="The key of the ledger; @FILE reads it from a file.")] = None


@dataclass(frozen=True)
class Guard(o.Guard):
    """The guard that is tried: what ``protect`` would do."""

    goal: o.Goal = "conceal"


def audit(source: o.Source, own: Options, guard: Guard, columns: o.Columns, reading: o.Reading, shown: o.Shown) -> None:
    """How well could an attacker infer the attribute, which items give it away, and what does each budget buy?

    The verdict is one of three: gives it away, nothing found, too few users to tell. Writes one HTML page that needs no
    network and can be sent around: it shows no single user's attribute.
    """
    import attriguard as ag
    from attriguard.cli._shell import bar, check_files, show

    source.check()
    check_files(shown, result=own.output, tables=source.files)
    budgets, options = o.numbers(own.budgets, "budgets"), guard.options(seed=own.seed)
    with bar(shown) as progress:
        result = ag.audit(
            o.load(source, columns, reading, shown),
            attacks=o.plug_ins(own.attacks),
            budgets=budgets,
            retrained=o.plug_ins(own.retrained),
            all_goals=own.all_goals,
            random_state=own.seed,
            progress=progress,
            ledger=own.ledger,
            key=o.secret(own.key),
            **options,
        )
    show(result, shown, saved=own.output, seed=own.seed, read=source.told)
