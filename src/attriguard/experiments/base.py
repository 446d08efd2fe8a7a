"""The base of all experiments. An experiment is one table or figure: it says what the paper claims, and tests it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from attriguard.experiments.workspace import Workspace
    from attriguard.progress import Progress
    from attriguard.report.page import Table
    from attriguard.report.plots import BarPlot, LinePlot

HOLDS, PARTLY, FAILS = "holds", "holds partly", "does not hold"
# Told apart by sign as well as by words.
SIGNS = {HOLDS: "✓", PARTLY: "◐", FAILS: "✗"}
Numbers = dict[str, Any]


@dataclass(frozen=True)
class Check:
    """A part of the claim: what must be so, what was found, and whether it passes."""

    text: str
    found: str
    passed: bool


@dataclass(frozen=True)
class Told:
    """A number that the paper's text or one of its tables gives, and the same as it was measured here."""

    what: str
    paper: str
    measured: str


class Experiment(ABC):
    """A plug-in writes `run`, `checks`, `main` and `show`.

    Everything but `run` works on what `run` gave, so that a page can be made again without measuring. Times are kept
    under the key "seconds", wherever they stand: they are the only numbers that may differ from run to run.
    """

    name: ClassVar[str]  # as in --list: "figure-5"
    title: ClassVar[str]
    claim: ClassVar[str]  # the paper's, in one sentence
    reported: ClassVar[str]  # what the paper says it measured
    inputs: ClassVar[tuple[str, ...]]  # the shared parts it needs
    effort: ClassVar[tuple[float, float]]  # about how many CPU seconds it takes when the others are done: quick, paper
    in_paper: ClassVar[bool] = True  # it measures a table or figure of the paper again
    sizes_of_its_own: ClassVar[bool] = False  # other test users and seeds than the page; its notes say which
    revision: ClassVar[int] = 1  # raise it when the numbers change: stored ones are then not used any more

    @abstractmethod
    def run(self, work: Workspace, progress: Progress) -> Numbers:
        """Measure. The numbers hold only what JSON knows."""

    @abstractmethod
    def checks(self, numbers: Numbers) -> Sequence[Check]:
        """The parts of the claim; the first part is the core."""

    @abstractmethod
    def main(self, numbers: Numbers) -> tuple[str, str]:
        """The main number: as the paper has it, and as measured."""

    @abstractmethod
    def show(self, numbers: Numbers) -> Sequence[LinePlot | BarPlot | Table]:
        """Plots and tables."""

    def told(self, numbers: Numbers) -> Sequence[Told]:
        """The numbers that the paper's text gives for this experiment, beside ours."""
        return ()

    def beside(self, numbers: Numbers, others: Mapping[str, Numbers]) -> Numbers:
        """The numbers together with what an experiment shows of others on the same page, by name."""
        return numbers

    def notes(self, numbers: Numbers) -> Sequence[str]:
        """Where the numbers differ from the paper's, or anything else a reader must know."""
        return ()

    def verdict(self, numbers: Numbers) -> str:
        """All checks pass: the claim holds. Its core, the first one, fails: it does not. Otherwise it holds partly."""
        passed = [check.passed for check in self.checks(numbers)]
        return HOLDS if all(passed) else PARTLY if passed[0] else FAILS


def share(value: float | None) -> str:
    """A share of users, as tables show it."""
    return "–" if value is None else f"{value:.3f}"
