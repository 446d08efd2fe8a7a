"""``attriguard demo``: the whole job on the embedded data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attriguard.cli import _options as o

EXAMPLE = "Example: attriguard demo --output demo.html"
BUDGETS = (0.5, 1.0, 2.0, 3.0, 4.0)


def demo(
    output: Annotated[Path, typer.Option(help="The HTML page to write.")] = Path("attriguard-demo.html"),
    seed: Annotated[int, typer.Option(min=0, help="Seeds the forest; the data is always the same.")] = 0,
    as_json: o.AsJson = False,
) -> None:
    """Learn, attack, protect, attack again: the whole job on a synthetic data set, and an HTML page about it.

    16,238 users have rated apps; 1,631 of them keep their city private. Nothing is downloaded.
    """
    from attriguard.attacks import get
    from attriguard.cli._audit import present, run_audit
    from attriguard.data.files import check_outputs
    from attriguard.data.named.datasets import load_dataset
    from attriguard.guard import AttriGuard

    check_outputs(output)
    data = load_dataset("twin")
    result = run_audit(
        data,
        guard=AttriGuard(scale=data.scale),
        attacks=[get("BA-A"), get("LR-A"), get("RF-A", random_state=seed)],
        budgets=BUDGETS,
        knowing=get("MLP-A", random_state=seed),
        seed=seed,
    )
    present(
        result,
        output,
        title="AttriGuard on the twin: what ratings give away, and what a few changes do about it",
        source="the twin: synthetic users, apps and cities that behave like the paper's data",
        as_json=as_json,
    )
