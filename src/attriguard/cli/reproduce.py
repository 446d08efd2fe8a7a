"""``attriguard reproduce``: the paper's tables and figures, measured again, on one page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attriguard.cli import _options as o

if TYPE_CHECKING:
    import attriguard as ag

EXAMPLE = "Example: attriguard reproduce figure-5 table-1 --profile quick --work runs --output reproduction"


@dataclass(frozen=True)
class Options:
    """The options of ``reproduce`` alone."""

    experiments: Annotated[
        list[str] | None, typer.Argument(metavar="EXPERIMENT", help="Names as --list shows them; all otherwise.")
    ] = None
    profile: Annotated[
        str,
        typer.Option(help="quick (minutes), paper (the paper's sizes; hours) or strict (its own choices, too; hours)."),
    ] = "quick"
    dataset: Annotated[
        str | None,
        typer.Option(help="A named data set (see: attriguard datasets); the paper's if it is here, else the twin."),
    ] = None
    work: Annotated[Path, typer.Option(help="A folder for what is kept on the way; the run goes on from it.")] = Path(
        "attriguard-work"
    )
    output: Annotated[Path, typer.Option(help="A folder for the page, the figures and the numbers.")] = Path(
        "attriguard-reproduction"
    )
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same figures.")] = 0
    earlier: Annotated[
        Path | None,
        typer.Option(help="A results.json of the same data set, profile and seed: for what is not in the work folder."),
    ] = None
    list_all: Annotated[bool, typer.Option("--list", help="List the experiments and their state, and stop.")] = False


def reproduce(own: Options, shown: o.Shown) -> None:
    """Measure the paper's tables and figures again, and test what it claims.

    Writes one page (index.html), the figures (SVG and PNG) and the numbers (results.json). An interrupted run goes on
    where it stopped: give the same command again. The page shows everything finished so far with the same data set,
    profile, seed and work folder.
    """
    import attriguard as ag
    from attriguard.cli._shell import bar, console, note, show, write

    where: dict[str, Any] = {"dataset": own.dataset, "profile": own.profile, "work": own.work, "random_state": own.seed}
    if own.list_all:
        show_list(ag.list_experiments(**where), shown)
        return
    ag.check_outputs(own.output / "index.html")
    with bar(shown) as progress:
        how: dict[str, Any] = {"notify": None if shown.quiet else note, "progress": progress, "earlier": own.earlier}
        result = ag.reproduce(own.experiments or (), **how, **where)
    page = write(own.output, result.save_folder)
    show(result, shown)
    if not (shown.as_json or shown.quiet):
        console().print(f"The page: {page}", soft_wrap=True)


def show_list(known: ag.ExperimentList, shown: o.Shown) -> None:
    """Every experiment and its state."""
    from attriguard.cli._shell import console, emit_json

    if shown.as_json:
        emit_json(known.experiments)
        return
    screen = console()
    screen.print(f"{known.dataset}, profile {known.profile}, seed {known.seed}:", soft_wrap=True)
    for name, each in known.experiments.items():
        screen.print(f"{name:<16} {each['state']:<12} {each['title']}", soft_wrap=True)
