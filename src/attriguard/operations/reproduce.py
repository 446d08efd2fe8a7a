"""``ag.reproduce``: the paper's tables and figures, measured again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attriguard._checks import check_choice
from attriguard.data.named.datasets import find_dataset, load_dataset
from attriguard.evaluation.paper import PAPER_DATASET
from attriguard.experiments import EXPERIMENTS, get, names
from attriguard.experiments.page import (
    PAGE,
    Reproduction,
    claims_table,
    drawings_of,
    record,
    reproduction_page,
    write_reproduction,
)
from attriguard.experiments.page import reproduce as run_experiments
from attriguard.experiments.profiles import PROFILES
from attriguard.experiments.runner import state
from attriguard.experiments.stated import summary
from attriguard.experiments.workspace import Workspace
from attriguard.operations.results import Result
from attriguard.progress import ProgressLike
from attriguard.report.page import Page, Table

TWIN = "twin"
WORK = "attriguard-work"


@dataclass(frozen=True, eq=False, repr=False)
class ReproductionResult(Result):
    """Which of the paper's claims hold, with every number that was measured."""

    found: Reproduction

    @property
    def headline(self) -> str:
        """How many claims hold."""
        measured = [(each.experiment, numbers) for each, numbers in self.found.measured]
        return summary(measured, self.found.source, self.found.profile)

    @property
    def remarks(self) -> Sequence[str]:
        """What could not be run."""
        missing = [each for each in self.found.finished if each.numbers is None]
        return [f"{each.experiment.name}: not run: {each.missing}" for each in missing]

    def rows(self) -> list[dict[str, Any]]:
        """One row a check of a claim."""
        return [
            {
                "experiment": each.experiment.name,
                "verdict": each.experiment.verdict(numbers),
                "check": check.text,
                "found": check.found,
                "passed": bool(check.passed),
            }
            for each, numbers in self.found.measured
            for check in each.experiment.checks(numbers)
        ]

    def record(self) -> dict[str, Any]:
        """Everything, as JSON knows it."""
        return record(self.found)

    def tables(self) -> list[Table]:
        """The claims and verdicts, without the claims' words, which are on the page."""
        table = claims_table(self.found)
        kept = [k for k in range(len(table.head)) if k != 2]
        return [Table([table.head[k] for k in kept], [[row[k] for k in kept] for row in table.rows])]

    def page(self) -> Page:
        """Claims, verdicts, figures and numbers."""
        return reproduction_page(self.found, drawings_of(self.found))

    def save_folder(self, folder: str | os.PathLike[str]) -> Path:
        """Write the page, the figures (SVG and PNG) and the numbers; gives the page's path."""
        write_reproduction(self.found, Path(folder))
        return Path(folder) / PAGE


@dataclass(frozen=True)
class ExperimentList:
    """Every experiment's title and state in one workspace."""

    dataset: str
    profile: str
    seed: int
    experiments: dict[str, dict[str, str]]


def list_experiments(**where: Any) -> ExperimentList:
    """Every experiment, and whether it is finished. ``where``: the options of `reproduce` but for the names."""
    space = _workspace(**where)
    listed = names(papers_only=space.profile.papers_only)
    known = {name: {"title": get(name).title, "state": state(get(name), space)} for name in listed}
    return ExperimentList(space.source, space.profile.name, space.seed, known)


def reproduce(
    wanted: Sequence[str] = (),
    *,
    dataset: str | None = None,
    profile: str = "quick",
    work: str | os.PathLike[str] = WORK,
    random_state: int = 0,
    earlier: str | os.PathLike[str] | None = None,
    notify: Callable[[str], None] | None = None,
    progress: ProgressLike = None,
) -> ReproductionResult:
    """Measure the paper's tables and figures again, and test what it claims.

    An interrupted run goes on where it stopped. The result holds everything that is finished in the work folder with
    the same data set, profile and seed.

    Parameters
    ----------
    wanted
        Names of experiments; all if none is named.
    dataset
        A named data set; None: the paper's where its files are, otherwise the twin.
    profile
        "quick" (minutes), "paper" (as large as in the paper; hours) or "strict" (as large, and with the paper's own
        choices wherever its text or its authors' code gives them; hours).
    work
        A folder for what is kept on the way.
    random_state
        The seed.
    earlier
        The ``results.json`` of a run with the same data set, profile and seed: its numbers are shown for experiments
        that the work folder does not have.
    notify
        Called with a line where the twin stands in for the paper's data.
    progress
        Where to report progress (see `Progress`).
    """
    for name in wanted:
        check_choice(name, EXPERIMENTS, name="experiment")
    space = _workspace(dataset, profile, work, random_state)
    if notify is not None and dataset is None and space.source == TWIN:
        notify(f"attriguard: {PAPER_DATASET} is not on this machine, so the twin stands in for it")
    chosen = wanted or names(papers_only=space.profile.papers_only)
    result = run_experiments(chosen, space, progress, None if earlier is None else Path(earlier))
    return ReproductionResult(result)


def _workspace(
    dataset: str | None = None,
    profile: str = "quick",
    work: str | os.PathLike[str] = WORK,
    random_state: int = 0,
) -> Workspace:
    """One data set, one profile, one seed, one folder."""
    size = PROFILES[check_choice(profile, PROFILES, name="profile")]
    if dataset is None:
        dataset = PAPER_DATASET if find_dataset(PAPER_DATASET) is not None else TWIN
    return Workspace(load_dataset(dataset), source=dataset, profile=size, folder=Path(work), seed=random_state)
