"""``attriguard reproduce``: a table or figure of the paper, measured again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from attriguard.cli import _options as o

EXAMPLE = "Example: attriguard reproduce figure-6 --profile quick --work figure-6 --output figure-6.json"


def reproduce(
    experiment: Annotated[str | None, typer.Argument(metavar="[EXPERIMENT]", help="Its name, as --list shows.")] = None,
    profile: Annotated[str, typer.Option(help="paper (as large as in the paper; hours) or quick (minutes).")] = "quick",
    dataset: Annotated[str, typer.Option(help="A named data set (see: attriguard datasets).")] = "twin",
    work: Annotated[Path, typer.Option(help="A folder for what is kept on the way; the run goes on from it.")] = Path(
        "attriguard-work"
    ),
    output: Annotated[Path | None, typer.Option(help="Also write the figures to this JSON file.")] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same figures.")] = 0,
    list_all: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Measure a table or figure of the paper again, beside what its authors published.

    An interrupted run goes on where it stopped: give the same command again.
    """
    from attriguard._checks import check_choice
    from attriguard.cli._shell import console, emit_json, write_json
    from attriguard.errors import ParameterError
    from attriguard.experiments import EXPERIMENTS

    if list_all:
        summaries = {name: summary for name, (_, summary) in EXPERIMENTS.items()}
        if as_json:
            emit_json(summaries)
        else:
            console().print("\n".join(f"{name}  {summary}" for name, summary in summaries.items()), soft_wrap=True)
        return
    if experiment is None:
        raise ParameterError("name an experiment; see: attriguard reproduce --list")
    check_choice(experiment, EXPERIMENTS, name="experiment")
    record = _run(experiment, dataset, profile, work, seed)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        write_json(record, output)
    if as_json:
        emit_json(record)
        return
    from rich.table import Table

    table = Table("figure", box=None, header_style="bold", pad_edge=False)
    for column in ("measured", "published", "at most"):
        table.add_column(column, justify="right")
    table.add_column("")
    for figure in record["figures"]:
        numbers = (f"{figure[name]:.3f}" for name in ("value", "published", "at_most"))
        table.add_row(figure["name"], *numbers, "" if figure["reached"] else "missed")
    console().print(table)


def _run(experiment: str, dataset: str, profile: str, work: Path, seed: int) -> dict[str, Any]:
    import importlib

    from attriguard.cli._shell import progress
    from attriguard.data.datasets import load_dataset
    from attriguard.experiments import EXPERIMENTS
    from attriguard.experiments.record import versions

    module = importlib.import_module(EXPERIMENTS[experiment][0])
    data = load_dataset(dataset)
    with progress(module.n_steps(data, profile)) as advance:
        found: dict[str, Any] = module.run(data, profile=profile, work=work, seed=seed, progress=advance)
    command = f"attriguard reproduce {experiment} --profile {profile} --dataset {dataset} --seed {seed}"
    return {
        "experiment": experiment,
        "command": command,
        "profile": profile,
        "dataset": dataset,
        "seed": seed,
        "versions": versions(),
        **found,
    }
