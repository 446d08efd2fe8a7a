"""``attriguard bench``: the speed figures, as ratios measured in one run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attriguard.cli import _options as o

if TYPE_CHECKING:
    from attriguard.bench.measure import Figure

EXAMPLE = "Example: attriguard bench --only phase1,phase2 --dataset google-play --output bench.json"
PARTS = ("startup", "reading", "phase1", "phase2", "million", "exact", "network", "conceal", "searches")


def bench(
    only: Annotated[str, typer.Option(help="Parts to run, with commas between.")] = ",".join(PARTS),
    dataset: Annotated[str, typer.Option(help="The data set for the parts that work on one.")] = "twin",
    output: Annotated[Path | None, typer.Option(help="Also write the figures to this JSON file.")] = None,
    as_json: o.AsJson = False,
) -> None:
    """Measure what the program is held to, each figure against its floor, in one run.

    phase1, phase2 and searches compare with ART and cvxpy, which the extra 'bench' installs.
    """
    from attriguard.cli._shell import console, emit_json, progress, write_json
    from attriguard.data.files import check_outputs

    check_outputs(output)
    names = [_check(name.strip()) for name in only.split(",")]
    figures: list[Figure] = []
    with progress(len(names)) as advance:
        for name in names:
            advance(name, 0)
            figures += _run(name, dataset)
            advance(name, 1)
    record = {"dataset": dataset, "machine": _machine(), "figures": [figure.record() for figure in figures]}
    if output is not None:
        write_json(record, output)
    if as_json:
        emit_json(record)
        return
    from rich.table import Table

    table = Table("figure", box=None, header_style="bold", pad_edge=False)
    table.add_column("measured", justify="right")
    table.add_column("unit")
    table.add_column("asked", justify="right")
    table.add_column("")
    for figure in figures:
        asked = f"≥ {figure.floor:g}" if figure.floor is not None else ""
        asked = f"≤ {figure.ceiling:g}" if figure.ceiling is not None else asked
        table.add_row(figure.name, f"{figure.value:,.4g}", figure.unit, asked, "" if figure.reached else "missed")
    console().print(table)


def _check(name: str) -> str:
    from attriguard._checks import check_choice

    return check_choice(name, PARTS, name="part")


def _run(name: str, dataset: str) -> list[Figure]:
    import importlib

    run: Callable[..., list[Figure]] = importlib.import_module(f"attriguard.bench.{name}").run
    if name in ("startup", "reading", "million"):
        return run()
    from attriguard.data.named.datasets import load_dataset

    data = load_dataset(dataset)
    return run(data, dataset=dataset) if name == "network" else run(data)


def _machine() -> dict[str, Any]:
    import platform
    from importlib.metadata import version

    from attriguard.kernels.threads import n_threads

    packages = ("numpy", "scipy", "scikit-learn", "numba", "attriguard")
    return {"python": platform.python_version(), "threads": n_threads(), **{p: version(p) for p in packages}}
