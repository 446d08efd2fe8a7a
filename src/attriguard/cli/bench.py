"""``attriguard bench``: the speed figures, as ratios measured in one run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o

EXAMPLE = "Example: attriguard bench --only phase1,phase2 --dataset google-play --output bench.json"


@dataclass(frozen=True)
class Options:
    """The options of ``bench`` alone."""

    only: Annotated[
        str,
        typer.Option(
            help="Parts to run, with commas between, of startup, reading, phase1, phase2, million, bulk, releases, "
            "heavy, exact, network, conceal, searches; all otherwise."
        ),
    ] = ""
    dataset: Annotated[str, typer.Option(help="The data set for the parts that work on one.")] = "twin"
    users: Annotated[
        int | None, typer.Option(min=10, help="How many users bulk and releases have; 50,000 and 200,000 otherwise.")
    ] = None
    output: Annotated[Path | None, typer.Option(help="Also write the figures: .json, .csv, .parquet or .html.")] = None


def bench(own: Options, shown: o.Shown) -> None:
    """Measure what the program is held to, each figure against its floor, in one run.

    phase1, phase2 and searches compare with ART and cvxpy, which the extra 'bench' installs.
    """
    import attriguard as ag
    from attriguard.cli._shell import bar, show

    ag.check_outputs(result=own.output)
    with bar(shown) as progress:
        result = ag.benchmark(o.words(own.only), dataset=own.dataset, users=own.users, progress=progress)
    show(result, shown, saved=own.output)
