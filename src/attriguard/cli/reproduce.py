"""``attriguard reproduce``: the paper's tables and figures, measured again, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attriguard.cli import _options as o

if TYPE_CHECKING:
    from attriguard.data.public_data import PublicData
    from attriguard.experiments.page import Reproduction
    from attriguard.experiments.workspace import Workspace

EXAMPLE = "Example: attriguard reproduce figure-5 table-1 --profile quick --work runs --output reproduction"


def reproduce(
    experiments: Annotated[
        list[str] | None, typer.Argument(metavar="[EXPERIMENT]...", help="Names as --list shows them; all otherwise.")
    ] = None,
    profile: Annotated[str, typer.Option(help="paper (as large as in the paper; hours) or quick (minutes).")] = "quick",
    dataset: Annotated[
        str | None,
        typer.Option(help="A named data set (see: attriguard datasets); the paper's if it is here, else the twin."),
    ] = None,
    work: Annotated[Path, typer.Option(help="A folder for what is kept on the way; the run goes on from it.")] = Path(
        "attriguard-work"
    ),
    output: Annotated[Path, typer.Option(help="A folder for the page, the figures and the numbers.")] = Path(
        "attriguard-reproduction"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same figures.")] = 0,
    list_all: Annotated[bool, typer.Option("--list", help="List the experiments and their state, and stop.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Measure the paper's tables and figures again, and test what it claims.

    Writes one page (index.html), the figures (SVG and PNG) and the numbers (results.json). An interrupted run goes on
    where it stopped: give the same command again. The page shows everything finished so far with the same data set,
    profile, seed and work folder.
    """
    from attriguard._checks import check_choice
    from attriguard.data.files import make_folder
    from attriguard.experiments import EXPERIMENTS, names
    from attriguard.experiments.profiles import PROFILES

    wanted = [check_choice(name, EXPERIMENTS, name="experiment") for name in experiments or names()]
    size = PROFILES[check_choice(profile, PROFILES, name="profile")]
    source, data = data_of(dataset)
    from attriguard.experiments.workspace import Workspace

    space = Workspace(data, source=source, profile=size, folder=work, seed=seed)
    if list_all:
        show_list(space, as_json=as_json)
        return
    make_folder(output)  # before the long work
    result = run(wanted, space)
    from attriguard.experiments.page import PAGE, record, write_reproduction

    write_reproduction(result, output)
    if as_json:
        from attriguard.cli._shell import emit_json

        emit_json(record(result))
        return
    show(result, output / PAGE)


def data_of(dataset: str | None) -> tuple[str, PublicData]:
    """The data set asked for; the paper's where its files are, otherwise the twin."""
    from attriguard.cli._shell import note
    from attriguard.data.named.datasets import find_dataset, load_dataset
    from attriguard.evaluation.paper import PAPER_DATASET

    if dataset is None:
        dataset = PAPER_DATASET if find_dataset(PAPER_DATASET) is not None else "twin"
        if dataset != PAPER_DATASET:
            note(f"attriguard: {PAPER_DATASET} is not on this machine, so the twin stands in for it")
    return dataset, load_dataset(dataset)


def run(wanted: list[str], space: Workspace) -> Reproduction:
    from attriguard.cli._shell import progress
    from attriguard.experiments.page import reproduce

    with progress(1) as advance:
        return reproduce(wanted, space, lambda what, _: advance(what, 0))


def show(result: Reproduction, page: Path) -> None:
    from rich.table import Table

    from attriguard.cli._shell import console
    from attriguard.experiments.page import claims_table, summary

    shown = claims_table(result)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for k, head in enumerate(shown.head):
        if k != 2:  # the claim's words are on the page
            table.add_column(head, no_wrap=k < 2)
    for row in shown.rows:
        table.add_row(*(cell for k, cell in enumerate(row) if k != 2))
    screen = console()
    screen.print(table)
    for each in result.finished:
        if each.numbers is None:
            screen.print(f"{each.experiment.name}: not run: {each.missing}", soft_wrap=True)
    screen.print(summary(result), soft_wrap=True)
    screen.print(f"The page: {page}", soft_wrap=True)


def show_list(space: Workspace, *, as_json: bool) -> None:
    from attriguard.cli._shell import console, emit_json
    from attriguard.experiments import get, names
    from attriguard.experiments.runner import state

    known: dict[str, Any] = {name: {"title": get(name).title, "state": state(get(name), space)} for name in names()}
    if as_json:
        emit_json(known)
        return
    screen = console()
    screen.print(f"{space.source}, profile {space.profile.name}, seed {space.seed}:", soft_wrap=True)
    for name, each in known.items():
        screen.print(f"{name:<16} {each['state']:<12} {each['title']}", soft_wrap=True)
