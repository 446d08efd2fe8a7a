"""The paper's tables and figures, and experiments beyond them, one file each; they only compose the other rooms.

``get("figure-5")`` gives an experiment; a new experiment is one class in one file, and one line here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from attriguard._registry import Registry

if TYPE_CHECKING:
    from attriguard.experiments.base import Check as Check
    from attriguard.experiments.base import Experiment as Experiment
    from attriguard.experiments.profiles import PROFILES as PROFILES
    from attriguard.experiments.runner import run_one as run_one
    from attriguard.experiments.workspace import Workspace as Workspace
    from attriguard.report.plots import BarPlot as BarPlot
    from attriguard.report.plots import Line as Line
    from attriguard.report.plots import LinePlot as LinePlot

TABLE = {
    "figure-1": "attriguard.experiments.figure1:Figure1",
    "figure-2": "attriguard.experiments.figure2:Figure2",
    "table-1": "attriguard.experiments.table1:Table1",
    "figure-3": "attriguard.experiments.figure3:Figure3",
    "table-2": "attriguard.experiments.table2:Table2",
    "figure-4": "attriguard.experiments.figure4:Figure4",
    "figure-5": "attriguard.experiments.figure5:Figure5",
    "figure-6": "attriguard.experiments.figure6:Figure6",
    "figure-7": "attriguard.experiments.figure7:Figure7",
    "figure-8": "attriguard.experiments.figure8:Figure8",
    "figure-9": "attriguard.experiments.figure9:Figure9",
    "figure-10": "attriguard.experiments.figure10:Figure10",
    "appendix": "attriguard.experiments.appendix:Appendix",
    "beyond-choices": "attriguard.experiments.beyond_choices:BeyondChoices",
    "beyond-seeds": "attriguard.experiments.beyond_seeds:BeyondSeeds",
    "beyond-settings": "attriguard.experiments.beyond_settings:BeyondSettings",
    "beyond-searches": "attriguard.experiments.beyond_searches:BeyondSearches",
    "beyond-exact": "attriguard.experiments.beyond_exact:BeyondExact",
    "beyond-aware": "attriguard.experiments.beyond_aware:BeyondAware",
    "beyond-goals": "attriguard.experiments.beyond_goals:BeyondGoals",
    "beyond-optimum": "attriguard.experiments.beyond_optimum:BeyondOptimum",
    "beyond-knowledge": "attriguard.experiments.beyond_knowledge:BeyondKnowledge",
    "beyond-detection": "attriguard.experiments.beyond_detection:BeyondDetection",
    "beyond-releases": "attriguard.experiments.beyond_releases:BeyondReleases",
    "beyond-cost": "attriguard.experiments.beyond_cost:BeyondCost",
    "beyond-everyone": "attriguard.experiments.beyond_everyone:BeyondEveryone",
}
# What an experiment is written with; a module is loaded when one of its names is first asked for.
_EXPORTS = {
    "BarPlot": "attriguard.report.plots",
    "Check": "attriguard.experiments.base",
    "Experiment": "attriguard.experiments.base",
    "Line": "attriguard.report.plots",
    "LinePlot": "attriguard.report.plots",
    "PROFILES": "attriguard.experiments.profiles",
    "Workspace": "attriguard.experiments.workspace",
    "run_one": "attriguard.experiments.runner",
}

EXPERIMENTS: Registry[Experiment] = Registry("experiment", "attriguard.experiments.base:Experiment", TABLE)


def get(name: str) -> Experiment:
    """A new experiment by its name."""
    return EXPERIMENTS.make(name)


def names(*, papers_only: bool = False) -> list[str]:
    """The names of all experiments, or of the paper's tables and figures alone, in the order of the paper."""
    return [name for name in EXPERIMENTS if not papers_only or EXPERIMENTS[name].in_paper]


__all__ = [*_EXPORTS, "EXPERIMENTS", "get", "names"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'attriguard.experiments' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
